//! What the user's configuration and the environment say.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use sylvan_testutil::tree;

use crate::SVN;
use crate::fixture::Fixture;

#[test]
fn booleans_that_are_none() {
    let fixture = Fixture::empty();
    let url = fixture.at("");
    fixture.commit("one", |wc| {
        fs::write(wc.join("f"), "one\n").unwrap();
        fixture.svn(wc, &["add", "-q", "f"]);
    });
    let pair = &fixture.pair;
    pair.both(&["checkout", "-q", &url, "wc"]).success();
    for option in [
        "config:auth:store-passwords",
        "config:auth:store-auth-creds",
        "config:auth:ssl-client-cert-file-prompt",
        "config:miscellany:interactive-conflicts",
        "config:miscellany:use-commit-times",
        "config:working-copy:exclusive-locking",
        "config:working-copy:busy-timeout",
        "servers:global:store-passwords",
        "servers:global:store-auth-creds",
        "servers:global:store-plaintext-passwords",
        "servers:global:store-ssl-client-cert-pp",
        "servers:global:store-ssl-client-cert-pp-plaintext",
    ] {
        let option = format!("{option}=maybe");
        for words in [
            &["status", "wc"][..],
            &["cat", "wc/f"],
            &["log", "-q", &url],
            &["update", "wc"],
            &["checkout", "-q", &url, "new"],
            &["cleanup", "wc"],
            &["export", "-q", "wc", "tree"],
        ] {
            pair.both_local(&[words, &["--config-option", &option]].concat());
            pair.each(|folder| {
                let _ = fs::remove_dir_all(folder.join("new"));
                let _ = fs::remove_dir_all(folder.join("tree"));
            });
        }
    }
    let two = "config:auth:store-passwords=a";
    let more = "config:miscellany:interactive-conflicts=b";
    pair.both(&["status", "--config-option", more, "--config-option", two]);
    let yes = "config:miscellany:use-commit-times=On";
    pair.both(&["update", "wc", "--config-option", yes])
        .success();
}

#[test]
fn dates_in_keywords_are_those_of_the_local_zone() {
    let fixture = Fixture::empty();
    fixture.commit("one", |wc| {
        fs::write(wc.join("f"), "$Date$ $Id$ $D$\n").unwrap();
        fixture.svn(wc, &["add", "-q", "f"]);
        let keywords = "Date Id D=%d%_%D";
        fixture.svn(wc, &["propset", "-q", "svn:keywords", keywords, "f"]);
    });
    let pair = &fixture.pair;
    let mut seen = BTreeSet::new();
    for (n, zone) in ["UTC", "America/St_Johns", "XYZ-5:45", "Asia/Tokyo"]
        .iter()
        .enumerate()
    {
        let run = |program: &str, folder: &Path, args: &[&str]| {
            let output = pair
                .command(Path::new(program), folder)
                .env("TZ", zone)
                .args(args)
                .output()
                .unwrap();
            assert!(output.status.success(), "{output:?}");
            String::from_utf8(output.stdout).unwrap()
        };
        let name = format!("wc{n}");
        let tree = format!("tree{n}");
        let file = fixture.at("f");
        for args in [
            &["checkout", "-q", &*fixture.url, &*name][..],
            &["export", "-q", &fixture.url, &tree],
            &["cat", &file],
            &["cat", "-rBASE", &format!("{name}/f")],
            &["log", "-q", &file],
            &["list", "-v", &file],
            &["info", &file],
        ] {
            let theirs = run("svn", &pair.theirs(), args);
            assert_eq!(theirs, run(SVN, &pair.ours(), args), "{zone} {args:?}");
        }
        pair.assert_same_tree(&name);
        pair.assert_same_tree(&tree);
        let text = fs::read_to_string(pair.ours().join(&name).join("f")).unwrap();
        let date = text.split("$Date: ").nth(1).unwrap();
        seen.insert(date[..25].to_owned());
    }
    assert_eq!(seen.len(), 4, "{seen:?}");
}

/// The threads of a checkout, as the system names them.
fn workers_of_checkout(fixture: &Fixture, name: &str, set: Option<&str>, more: &[&str]) -> usize {
    let url = fixture.at("trunk");
    let trace = fixture.pair.root().join("trace");
    let mut command = fixture
        .pair
        .command(Path::new("strace"), &fixture.pair.ours());
    command
        .args(["-f", "-qq", "-e", "trace=clone,clone3", "-o"])
        .arg(&trace)
        .args([SVN, "checkout", "-q", &url, name])
        .args(more);
    if let Some(set) = set {
        command.env("SYLVAN_WORKERS", set);
    }
    assert!(command.status().unwrap().success());
    let text = fs::read_to_string(trace).unwrap();
    text.lines().filter(|line| line.contains("clone")).count()
}

/// On a network file system each lock is a round trip, and makes it forget the pages it has.
#[test]
fn a_checkout_seldom_locks_the_database() {
    let fixture = Fixture::rich();
    let trace = fixture.pair.root().join("trace");
    let status = fixture
        .pair
        .command(Path::new("strace"), &fixture.pair.ours())
        .args(["-f", "-qq", "-e", "trace=fcntl", "-o"])
        .arg(&trace)
        .args([SVN, "checkout", "-q", &fixture.at("trunk"), "wc"])
        .status();
    assert!(status.unwrap().success());
    let text = fs::read_to_string(trace).unwrap();
    let shared = "F_SETLK, {l_type=F_RDLCK, l_whence=SEEK_SET, l_start=1073741826";
    let locks = text.lines().filter(|line| line.contains(shared)).count();
    // Opening, locking, a look at the root, the report, the editor's two, and at the end another
    // one for externals, bumping and unlocking; between them batches, of which there is one.
    assert!((5..=16).contains(&locks), "{locks} in\n{text}");
}

#[test]
fn the_number_of_workers_can_be_set() {
    let fixture = Fixture::rich();
    let pair = &fixture.pair;
    let one = workers_of_checkout(&fixture, "one", Some("1"), &[]);
    let nine = workers_of_checkout(&fixture, "nine", Some("9"), &[]);
    assert_eq!(nine, one + 8);
    let option = ["--config-option", "config:working-copy:workers=9"];
    let configured = workers_of_checkout(&fixture, "configured", None, &option);
    assert_eq!(configured, nine);
    // The environment has the last word, if it makes sense.
    assert_eq!(
        workers_of_checkout(&fixture, "both", Some("1"), &option),
        one
    );
    for (n, nonsense) in ["0", "-3", "many", ""].iter().enumerate() {
        let name = format!("nonsense{n}");
        let workers = workers_of_checkout(&fixture, &name, Some(nonsense), &option);
        assert_eq!(workers, nine, "{nonsense:?}");
    }
    let expected = tree(&pair.ours().join("one"));
    for name in ["nine", "configured", "both", "nonsense2"] {
        assert_eq!(tree(&pair.ours().join(name)), expected);
    }
}
