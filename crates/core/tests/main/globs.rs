use sylvan_core::glob;

use crate::sandbox::Sandbox;

#[test]
#[ignore = "needs svn"]
fn globs_as_svn() {
    let sandbox = Sandbox::new();
    let names = [
        "a", "b", "ab", "abc", "a.o", ".o", ".hidden", "[a", "[ab]", "a]", "-", "a-c", "\\", "\\a",
        "*", "?", "x*y", "ä", "é", "^", "!", "]", "~", "#a#", ".#a", "aXbXc", "ABC",
    ];
    for name in names {
        sandbox.write(&format!("wc/{name}"), "");
    }
    for pattern in [
        "*", "?", "??", "???", "a*", "*a*", "*.o", ".*", "[ab]", "[!ab]", "[^ab]", "[a-c]", "[]]",
        "[!]]", "[]-a]", "[a-]", "[-a]", "[a", "[a\\]", "\\[a", "\\*", "\\?", "\\\\", "\\", "\\a",
        "[\\]]", "[a\\-c]", "a-c", "x[*]y", "x?y", "*\\", "#*#", ".#*", "a*b*c", "*b*", "[[]a",
        "[!!]", "[^^]", "[A-Z]*", "**", "*?", "[--a]", "[a-\\c]", "[", "[]", "[!]", "a[]",
    ] {
        let option = format!("config:miscellany:global-ignores={pattern}");
        let status = sandbox.svn(["status", "--config-option", &option, "wc"]);
        for name in names {
            let is_shown = status
                .lines()
                .any(|line| line == format!("?       wc/{name}"));
            assert_eq!(glob::matches(pattern, name), !is_shown, "{pattern} {name}");
        }
    }
}
