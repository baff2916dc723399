use std::path::Path;
use std::process::Command;

use sylvan_io::Category;
use sylvan_io::config::{Config, ConfigOption, Directories};

struct Svn {
    dir: tempfile::TempDir,
}

impl Svn {
    /// Makes a working copy by Debian's svn.
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let svn = Self { dir };
        let admin = Command::new("svnadmin")
            .args(["create", "repos"])
            .current_dir(svn.path())
            .status();
        assert!(admin.unwrap().success());
        let url = format!("file://{}/repos", svn.path().display());
        svn.run(&["checkout", "-q", &url, "wc"]);
        svn
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Runs svn with the configuration; returns standard output and error.
    fn run(&self, args: &[&str]) -> (String, String) {
        let output = Command::new("svn")
            .args(args)
            .args(["--config-dir", "conf"])
            .current_dir(self.path())
            .env("HOME", self.path())
            .env("LC_ALL", "C.UTF-8")
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr))
    }

    fn directories() -> Directories {
        Directories::only("conf")
    }
}

#[test]
#[ignore = "needs svn"]
fn files_are_read_as_by_svn() {
    let svn = Svn::new();
    for text in [
        "x=1",
        "[a\n",
        " [a]\n",
        "[a]\n b=c\n",
        "[a]\nb\n",
        "[a]\n #\n",
        "[a]\nb=c\n#\n\n d\n",
        "[]\nx=1\n",
        "\n\n[a]\n\n\nb\n",
        "[a]\nx=\n  y\n z\n\n q\n",
        "[a]\n\tb\n",
        "[a]\n=\n",
        "\u{feff}[a]\nb\n",
        "[a]\r\nb=1\r\n c\r\nd\r\n",
    ] {
        let path = svn.path().join("conf/config");
        std::fs::write(&path, text).unwrap();
        let (_, theirs) = svn.run(&["info", "wc"]);
        let conf = Directories::only(svn.path().join("conf"));
        let ours = match Config::load(&conf) {
            Ok(_) => String::new(),
            Err(error) => error.to_lines("svn: ").replace(
                &path.display().to_string(),
                &Svn::directories()
                    .user
                    .unwrap()
                    .join("config")
                    .display()
                    .to_string(),
            ),
        };
        assert_eq!(ours, theirs, "{text:?}");
    }
}

#[test]
#[ignore = "needs svn"]
fn values_are_those_of_svn() {
    let svn = Svn::new();
    let names = ["a", "b", "ab", "v-1", "%(x)s", "w"];
    for name in names {
        std::fs::write(svn.path().join("wc").join(name), "").unwrap();
    }
    for text in [
        "global-ignores = a b",
        "global-ignores: a\n  ab",
        "Global-Ignores = %(one)s%(two)s\none = a\ntwo = b",
        "global-ignores = %(one)s\none = %(two)s\ntwo = %(one)s a",
        "global-ignores = %(x)s",
        "global-ignores = %(none)s a",
        "global-ignores = v-%(one)s\n[DEFAULT]\none=1",
        "global-ignores = v-%(one)s\none=2\n[DEFAULT]\none=1",
        "other = 1\n[default]\nglobal-ignores = w",
        "global-ignores = a\n[MISCELLANY]\nglobal-ignores = b",
        "global-ignores = a = b : w",
    ] {
        let text = format!("[miscellany]\n{text}\n");
        std::fs::write(svn.path().join("conf/config"), &text).unwrap();
        let (shown, _) = svn.run(&["status", "wc"]);
        let conf = Directories::only(svn.path().join("conf"));
        let config = Config::load(&conf).unwrap();
        let ignores = config.get(Category::Config, "miscellany", "global-ignores");
        for name in names {
            let is_shown = shown.contains(&format!("?       wc/{name}\n"));
            let matches = ignores.is_some_and(|patterns| {
                patterns
                    .split_ascii_whitespace()
                    .any(|pattern| sylvan_core::glob::matches(pattern, name))
            });
            assert_eq!(matches, !is_shown, "{text} {name} {ignores:?}");
        }
    }
}

#[test]
#[ignore = "needs svn"]
fn options_of_the_command_line_as_by_svn() {
    let svn = Svn::new();
    for argument in [
        "config:miscellany:use-commit-times=yes",
        "config:miscellany:use-comit-times=yes",
        "x",
        "a:b",
        "a:b:c",
        ":b:c=d",
        "config:general:x=y",
        "config:tunnels:x=y",
        "servers:groups:q=w",
        "servers:group:http-timeout=5",
        "sevrers:global:http-timeout=5",
        "config:DEFAULT:x=y",
        "config:auth:password-store=x",
        "config:working-copy:busy-timeout=5",
        "servers:global:http=1",
    ] {
        let (_, theirs) = svn.run(&["info", "wc", "--config-option", argument]);
        let mut ours = String::new();
        match ConfigOption::parse(argument) {
            Err(error) => ours = error.to_lines("svn: "),
            Ok((option, warning)) => {
                let more = Config::default().apply(&[option], "--config-option");
                for warning in warning.into_iter().chain(more) {
                    ours.push_str(&warning.to_warning("svn: "));
                }
            }
        }
        assert_eq!(ours, theirs, "{argument}");
    }
}
