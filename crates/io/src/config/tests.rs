use sylvan_core::ErrorCode;

use super::*;

fn parse(text: &str) -> ConfigFile {
    let mut file = ConfigFile::default();
    file.parse(text.as_bytes()).unwrap();
    file
}

#[test]
fn dialect() {
    let file = parse(
        "\u{feff}# comment\r\n\
         [One] junk\r\n\
         name = value  \r\n\
         Colon: a = b\n\
         equals = a : b\n\
         long =  first \n\
         \t second \n\
         \x20\x20third=3\n\
         \n\
         empty =\n\
         [two]\n\
         name=2\n\
         [ONE]\n\
         more = 1\n\
         NAME = changed",
    );
    for (section, option, value) in [
        ("one", "name", Some("changed")),
        ("ONE", "NAME", Some("changed")),
        ("One", "colon", Some("a = b")),
        ("One", "equals", Some("a : b")),
        ("One", "long", Some("first second third=3")),
        ("One", "empty", Some("")),
        ("One", "more", Some("1")),
        ("two", "name", Some("2")),
        ("two", "more", None),
        ("three", "name", None),
    ] {
        assert_eq!(file.get(section, option), value, "{section} {option}");
    }
}

#[test]
fn errors_name_the_line() {
    for (text, message) in [
        ("a=b", "line 1: Section header expected"),
        ("[s]\n\n =b", "line 2: Option expected"),
        ("[s]\nab", "line 1: Option must end with ':' or '='"),
        ("[s", "line 1: Section header must end with ']'"),
        (
            " [s]",
            "line 1: Section header must start in the first column",
        ),
        ("[s]\n #", "line 1: Comment must start in the first column"),
    ] {
        let error = ConfigFile::default().parse(text.as_bytes()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::MALFORMED_FILE);
        assert_eq!(error.message(), message);
    }
}

#[test]
fn variables_are_expanded() {
    let file = parse(
        "[DEFAULT]\nroot = /r\ndir = %(root)s/%(leaf)s\n\
         [s]\nleaf = x\npath = %(dir)s/p\nodd = %(nope)s 100%(root)s %(\n\
         loop = %(pool)s\npool = a%(loop)s\nuses = <%(loop)s>\n\
         [t]\nleaf = y\n",
    );
    for (section, option, value) in [
        ("s", "path", Some("/r/x/p")),
        ("s", "dir", Some("/r/x")),
        ("t", "dir", Some("/r/y")),
        ("t", "root", Some("/r")),
        ("DEFAULT", "dir", Some("/r/%(leaf)s")),
        ("s", "odd", Some("%(nope)s 100/r %(")),
        ("s", "loop", Some("")),
        ("s", "uses", Some("")),
        ("u", "root", None),
    ] {
        assert_eq!(file.get(section, option), value, "{section} {option}");
    }
    let mut bomb = String::from("[s]\na0 = 0123456789\n");
    for i in 1..60 {
        let before = i - 1;
        bomb.push_str(&format!("a{i} = %(a{before})s%(a{before})s\n"));
    }
    assert_eq!(parse(&bomb).get("s", "a59"), Some(""));
}

#[test]
fn words_and_numbers() {
    let mut file = parse("[s]\na = Yes\nb = oFF\nc = maybe\nd = ASK\ne = 12\nf =\n");
    assert!(file.get_bool("s", "a", false).unwrap());
    assert!(!file.get_bool("s", "b", true).unwrap());
    assert!(file.get_bool("s", "x", true).unwrap());
    let error = file.get_bool("s", "c", true).unwrap_err();
    assert_eq!(
        error.to_string(),
        "E125009: Config error: invalid boolean value 'maybe' for '[s] c'"
    );
    assert_eq!(file.get_yes_no_ask("s", "d", Some(true)).unwrap(), None);
    assert_eq!(file.get_yes_no_ask("s", "a", None).unwrap(), Some(true));
    assert_eq!(file.get_i64("s", "e", 0).unwrap(), 12);
    let error = file.get_i64("s", "f", 0).unwrap_err();
    assert_eq!(
        error.to_string(),
        "E200004: Could not convert '' into a number"
    );
    file.set("new", "a", "1");
    assert_eq!(file.get("new", "A"), Some("1"));
}

#[test]
fn servers_by_group() {
    let mut config = Config::default();
    for (section, option, value) in [
        ("groups", "near", "*.example.org, localhost"),
        ("groups", "far", "*.com"),
        ("near", "http-timeout", "10"),
        ("global", "http-timeout", "0x20"),
        ("global", "http-bulk-updates", "no"),
    ] {
        config.set(Category::Servers, section, option, value);
    }
    assert_eq!(config.server_group("svn.example.org"), Some("near"));
    assert_eq!(
        config.server_i64("localhost", "http-timeout", 0).unwrap(),
        10
    );
    assert_eq!(config.server_i64("x.com", "http-timeout", 0).unwrap(), 32);
    assert!(
        !config
            .server_bool("localhost", "http-bulk-updates", true)
            .unwrap()
    );
    assert_eq!(config.server_option("localhost", "x"), None);
    for (text, number) in [
        ("017", Some(15)),
        ("-5", Some(-5)),
        ("5x", None),
        ("+-5", None),
    ] {
        config.set(Category::Servers, "global", "n", text);
        assert_eq!(config.server_i64("h", "n", 0).ok(), number, "{text}");
    }
}

#[test]
fn config_options() {
    let (option, warning) = ConfigOption::parse("servers:global:http-timeout=a:b=c").unwrap();
    assert_eq!((option.value.as_str(), warning.is_none()), ("a:b=c", true));
    let (option, warning) = ConfigOption::parse("config:helpers:diff-cmmd=").unwrap();
    assert_eq!(
        warning.unwrap().message(),
        "Ignoring unknown value 'diff-cmmd'; did you mean 'diff-cmd'?"
    );
    let mut config = Config::default();
    assert!(config.apply(&[option], "--config-option").is_empty());
    assert_eq!(
        config.get(Category::Config, "helpers", "diff-cmmd"),
        Some("")
    );
    let (option, warning) = ConfigOption::parse("zzz:a:b=c").unwrap();
    assert_eq!(warning.unwrap().message(), "Ignoring unknown value 'zzz'");
    assert_eq!(
        config.apply(&[option], "--config-option")[0].message(),
        "Unrecognized file in argument of --config-option"
    );
    for bad in [
        "",
        "a:b",
        "a:b:c",
        ":b:c=d",
        "a::c=d",
        "a:b:=d",
        "a:b:c:d=e",
    ] {
        let error = ConfigOption::parse(bad).unwrap_err();
        assert_eq!(error.code(), ErrorCode::CL_ARG_PARSING_ERROR, "{bad}");
    }
}

#[test]
fn user_wins_over_system() {
    let dir = tempfile::tempdir().unwrap();
    let system = dir.path().join("etc");
    std::fs::create_dir(&system).unwrap();
    std::fs::write(system.join("config"), "[auth]\na=system\nb=system\n").unwrap();
    std::fs::write(dir.path().join("config"), "[auth]\nA=user\n").unwrap();
    let directories = Directories {
        system: Some(system),
        user: Some(dir.path().to_owned()),
    };
    let config = Config::load(&directories).unwrap();
    assert_eq!(config.get(Category::Config, "auth", "a"), Some("user"));
    assert_eq!(config.get(Category::Config, "auth", "b"), Some("system"));
    std::fs::write(dir.path().join("servers"), "junk").unwrap();
    let error = Config::load(&directories).unwrap_err();
    let path = dir.path().join("servers");
    assert_eq!(
        error.to_lines("svn: "),
        format!(
            "svn: E200002: Error while parsing config file: {}:\n\
             svn: E200002: line 1: Section header expected\n",
            path.display()
        )
    );
}
