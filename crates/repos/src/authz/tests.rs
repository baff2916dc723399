use super::*;

fn parse(text: &str) -> Result<Authz> {
    Authz::parse(text.as_bytes(), None, &mut |_| {})
}

/// Returns the word of `svnauthz` for the rights on a path.
fn access(authz: &Authz, user: &str, path: &str, reach: Reach) -> &'static str {
    let user = authz.for_user("calc", Some(user).filter(|user| !user.is_empty()));
    match [Rights::WRITE, Rights::READ].map(|rights| user.allows(path, rights, reach)) {
        [true, true] => "rw",
        [false, true] => "r",
        [false, false] => "no",
        [true, false] => "w",
    }
}

const RULES: &str = "
[aliases]
boss = jo
[groups]
devs = ann, @more, &boss
more = bob
none =
[/]
* = r
$anonymous =
@none = rw
[/trunk]
@devs = rw
[calc:/trunk/secret]
~@devs =
$authenticated = r
[/trunk/secret]
ann =
[:glob:/**/*.key]
* =
&boss = r
[:glob:/trunk/*/build*]
kim = rw
[paint:/]
kim = rw
[/branches]
kim = rw
[/branches/kim]
kim =
";

#[test]
fn the_nearest_rule_counts() {
    let authz = parse(RULES).unwrap();
    for (user, path, expected) in [
        ("", "/", "r"),
        ("", "/trunk", "r"),
        ("kim", "/", "r"),
        ("kim", "/trunk/a", "r"),
        ("ann", "/trunk/a", "rw"),
        ("bob", "/trunk", "rw"),
        ("jo", "trunk/a/b/c", "rw"),
        // The rule for the repository goes before that for any.
        ("ann", "/trunk/secret/x", "r"),
        ("kim", "/trunk/secret", "r"),
        ("kim", "/a/b/x.key", "no"),
        ("kim", "/x.key", "no"),
        ("jo", "/trunk/x.key", "r"),
        ("jo", "/trunk/x.key/below", "r"),
        ("kim", "/trunk/x/builds/a", "rw"),
        ("kim", "/trunk/build", "r"),
        ("kim", "/branches/x", "rw"),
        ("kim", "/branches/kim/x", "no"),
        ("kim", "//branches//kim/", "no"),
    ] {
        assert_eq!(
            access(&authz, user, path, Reach::Path),
            expected,
            "{user} {path}"
        );
    }
}

#[test]
fn what_is_below_counts_where_it_is_asked_for() {
    let authz = parse(RULES).unwrap();
    for (user, path, expected) in [
        ("kim", "/", "no"),
        ("kim", "/branches", "no"),
        ("jo", "/", "r"),
        ("jo", "/trunk", "r"),
    ] {
        let found = access(&authz, user, path, Reach::Recursive);
        assert_eq!(found, expected, "{user} {path}");
    }
    let authz = parse("[/]\n* = rw\n[/a]\njo = r\n").unwrap();
    assert_eq!(access(&authz, "jo", "/a", Reach::Recursive), "r");
    assert_eq!(access(&authz, "jo", "/b", Reach::Recursive), "rw");
    // So it is in Subversion, which takes the root for one of its children.
    assert_eq!(access(&authz, "jo", "/", Reach::Recursive), "rw");
    assert_eq!(access(&authz, "ann", "/", Reach::Recursive), "rw");
    // A later `**` covers what is below.
    let authz = parse("[/a/b]\n* =\n[:glob:/a/**]\n* = rw\n").unwrap();
    assert_eq!(access(&authz, "jo", "/a", Reach::Recursive), "rw");
    assert_eq!(access(&authz, "jo", "/", Reach::Recursive), "no");
}

#[test]
fn rights_anywhere_are_known_without_a_path() {
    let authz = parse(RULES).unwrap();
    let anywhere = |user, rights| authz.for_user("calc", user).allows_anywhere(rights);
    assert!(anywhere(None, Rights::READ));
    assert!(!anywhere(None, Rights::WRITE));
    assert!(anywhere(Some("kim"), Rights::WRITE));
    assert!(!anywhere(Some("eve"), Rights::WRITE));
    assert!(anywhere(Some("eve"), Rights::READ));
}

#[test]
fn mistakes_are_told_as_subversion_does() {
    for (rules, messages) in [
        (
            "[/]\n* = rw\n[/]\n",
            "Section appears more than once in the authz file: [/]",
        ),
        (
            "[bogus]\n",
            "Section is not valid in the authz file: [bogus]",
        ),
        (
            "[calc:groups]\n",
            "Section is not valid in the authz file: [calc:groups]",
        ),
        ("[:/x]\n", "Empty repository name in authz rule [:/x]"),
        (
            "[:glob::/x]\n",
            "Empty repository name in authz rule [:glob::/x]",
        ),
        (
            "[:bad:/x]\n",
            "Invalid type token 'bad' in authz rule [:bad:/x]",
        ),
        (
            "[/a//b]\n",
            "Non-canonical path '/a//b' in authz rule [/a//b]|Found empty name in authz rule path",
        ),
        (
            "[x:/a/]\n",
            "Non-canonical path '/a/' in authz rule [x:/a/]|Found empty name in authz rule path",
        ),
        (
            "[/a/./b]\n",
            "Non-canonical path '/a/./b' in authz rule [/a/./b]|Found '.' in authz rule path",
        ),
        (
            "[/..]\n",
            "Non-canonical path '/..' in authz rule [/..]|Found '..' in authz rule path",
        ),
        (
            "[:glob:/a/**/**]\n[:glob:/a/**]\n",
            "Section [:glob:/a/**] describes the same rule as section [:glob:/a/**/**]",
        ),
        (
            "[/a]\n[:glob:/a]\n",
            "Section [:glob:/a] describes the same rule as section [/a]",
        ),
        (
            "[groups]\n@a = b\n",
            "Group name '@a' may not begin with '@'",
        ),
        (
            "[groups]\na = b\na = c\n",
            "Can't override definition of group '@a'",
        ),
        ("[groups]\na = @a\n", "Recursive definition of group '@a'"),
        (
            "[groups]\na = @b\nb = x, @a\n",
            "Recursive definition of group '@a'",
        ),
        ("[groups]\na = @b\n", "Undefined group '@b'"),
        ("[groups]\na = &b\n", "Alias '&b' was never defined"),
        (
            "[aliases]\n&a = b\n",
            "Alias name '&a' may not begin with '&'",
        ),
        (
            "[aliases]\na = b\na = c\n",
            "Can't override definition of alias '&a'",
        ),
        ("[/]\n&a = r\n", "Alias '&a' was never defined"),
        (
            "[/]\n@a = r\n",
            "Access entry refers to undefined group '@a'",
        ),
        (
            "[/]\n~~a = r\n",
            "Access entry '~~a' has more than one inversion; double negatives are not permitted",
        ),
        (
            "[/]\n** = r\n",
            "Access entry '**' is not valid; it must be a single '*'",
        ),
        ("[/]\n~* = r\n", "Access entry '~*' will never match"),
        (
            "[/]\n$none = r\n",
            "Access entry token '$none' is not valid; should be '$anonymous' or '$authenticated'",
        ),
        (
            "[/]\na = rx\n",
            "The access mode 'x' in access entry 'a' of rule [/] is not valid",
        ),
        (
            "[/]\na = w\n",
            "Write-only access entry 'a' of rule [/] is not valid",
        ),
    ] {
        let error = parse(rules).unwrap_err();
        let told: Vec<_> = error.chain().map(Error::message).collect();
        assert_eq!(told.join("|"), messages);
        assert_eq!(error.code(), sylvan_core::ErrorCode::AUTHZ_INVALID_CONFIG);
    }
}

#[test]
fn groups_may_be_in_a_file_of_their_own() {
    let read = |rules: &str, groups: &str| {
        Authz::parse(rules.as_bytes(), Some(groups.as_bytes()), &mut |_| {})
    };
    let authz = read("[/]\n@a = rw\n", "[groups]\na = jo\n").unwrap();
    assert_eq!(access(&authz, "jo", "/x", Reach::Path), "rw");
    for (rules, groups, message) in [
        (
            "[groups]\na = jo\n",
            "[groups]\nb = jo\n",
            "Authz file cannot contain any groups when global groups are being used.",
        ),
        (
            "",
            "[/]\n",
            "Section is not valid in the global group file: [/]",
        ),
        (
            "",
            "[groups]\n[groups]\n",
            "Section appears more than once in the global groups file: [groups]",
        ),
        (
            "",
            "[groups]\n~a = b\n",
            "Global group name '~a' may not begin with '~'",
        ),
        (
            "",
            "[groups]\na = b\na = b\n",
            "Can't override definition of global group '@a'",
        ),
    ] {
        assert_eq!(read(rules, groups).unwrap_err().message(), message);
    }
}

#[test]
fn empty_groups_are_warned_of() {
    let mut warnings = Vec::new();
    Authz::parse(RULES.as_bytes(), None, &mut |warning| {
        warnings.push(warning.to_string());
    })
    .unwrap();
    assert_eq!(
        warnings,
        ["E220003: Ignoring access entry for empty group '@none'"]
    );
}

#[test]
fn wildcards_match_as_they_do_in_subversion() {
    for (pattern, path, matches) in [
        ("/*", "/a", true),
        ("/*", "/a/b", true),
        ("/*/x", "/x", false),
        ("/**/x", "/x", true),
        ("/**/x", "/a/b/x", true),
        ("/a/**", "/a", true),
        ("/a/**", "/b", false),
        ("/a*", "/ab", true),
        ("/a*", "/ba", false),
        ("/*a", "/ba", true),
        ("/*a", "/ab", false),
        ("/*a*", "/bac", true),
        ("/a?", "/a", false),
        ("/\\*", "/*", true),
        ("/\\*", "/x", false),
        ("/a\\*", "/a*", true),
        ("/a\\*", "/ab", false),
        ("/*\\*", "/x*", true),
        ("/*\\*", "/x", false),
        ("/**/*/x", "/x", false),
        ("/**/*/x", "/a/x", true),
    ] {
        let rules = format!("[/]\n* =\n[:glob:{pattern}]\njo = r\n");
        let found = access(&parse(&rules).unwrap(), "jo", path, Reach::Path);
        assert_eq!(found, if matches { "r" } else { "no" }, "{pattern} {path}");
    }
}

#[test]
fn rules_of_any_bytes_do_no_harm() {
    let mut seed = 1_u64;
    for _ in 0..3000 {
        let mut text = RULES.as_bytes().to_vec();
        for _ in 0..4 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let at = usize::try_from(seed >> 33).unwrap() % text.len();
            text[at] = b"[]:/*~@&$=\n ar\\?"[usize::try_from(seed >> 20).unwrap() % 16];
        }
        crate::fuzz::authz(&text);
    }
}
