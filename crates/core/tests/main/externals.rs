use sylvan_core::time::Clock;
use sylvan_core::{TimeZone, Timestamp, externals};

use crate::sandbox::Sandbox;

#[test]
#[ignore = "needs svn"]
fn definitions_are_accepted_as_by_svn() {
    let sandbox = Sandbox::new();
    let clock = Clock {
        now: Timestamp::from(std::time::SystemTime::now()),
        zone: TimeZone::utc(),
    };
    let dir = sandbox.path("wc").display().to_string();
    for value in [
        "",
        "#x",
        "a",
        "a b",
        "a b c",
        "a b c d",
        "a b c d e",
        "^/a b",
        "b ^/a",
        "http://h/a b",
        "b http://h/a",
        "http://h/a http://h/b",
        "-r1 a b",
        "-r 1 a b",
        "a -r1 b",
        "a -r 1 b",
        "a b -r1",
        "-r1 http://h/a b",
        "-r1 b http://h/a",
        "b -r1 http://h/a",
        "http://h/a -r1 b",
        "-rHEAD a b",
        "-r{2013-01-01} a b",
        "-r{x} a b",
        "-r1:2 a b",
        "-r a b",
        "-r1 a",
        "-r1",
        "a@1 b",
        "a@HEAD b",
        "a@x b",
        "a@ b",
        "a@1:2 b",
        "b http://h/a@x",
        "^/a /b",
        "^/a .",
        "^/a ..",
        "^/a b/../c",
        "^/a ../b",
        "^/a b/..",
        "^/a ./b/",
        "^/a //b",
        "'a b' c",
        "\"a b\" 'c d'",
        "'a b c",
        "a\\ b c",
        "a' b' c",
        "a\\' b",
        "\\a b",
        "a\\",
        "a \\",
        "'a'b c",
        "''  b",
        "a ''",
        "^/a b\n^/c b",
        "^/a b\r\n^/c d\r\n",
        "\t^/a\tb\t",
    ] {
        let ours = externals::parse(&dir, value, &clock).and_then(|items| {
            match externals::duplicate_targets(&items).first() {
                None => Ok(()),
                Some(target) => Err(sylvan_core::Error::new(
                    sylvan_core::ErrorCode::WC_DUPLICATE_EXTERNALS_TARGET,
                    format!(
                        "Invalid svn:externals property on '{dir}': target '{target}' appears more \
                         than once"
                    ),
                )),
            }
        });
        let theirs = sandbox.try_svn(["propset", "-q", "svn:externals", "--", value, "wc"]);
        match (ours, theirs) {
            (Ok(()), Ok(_)) => {}
            (Err(ours), Err(theirs)) => {
                let hint = "svn: E205000: Try 'svn help propset' for more information\n";
                let theirs = theirs.strip_prefix(hint).unwrap_or(&theirs);
                assert_eq!(ours.to_lines("svn: "), theirs, "{value:?}");
            }
            (ours, theirs) => panic!("{value:?}: {ours:?} {theirs:?}"),
        }
    }
}
