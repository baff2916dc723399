//! `svn cleanup` beside Debian's svn.

use std::fs;

use crate::fixture::Fixture;

#[test]
fn every_option() {
    let fixture = Fixture::rich();
    fixture.commit("external", |wc| {
        fixture.svn(
            wc,
            &["ps", "-q", "svn:externals", "^/branches/one ext", "trunk"],
        );
    });
    let pair = &fixture.pair;
    pair.both(&["checkout", "-q", &fixture.at("trunk"), "wc"])
        .success();
    pair.each(|folder| {
        for path in [
            "wc/unversioned",
            "wc/plain/x.o",
            "wc/ext/unversioned",
            "wc/a.tmp",
            "wc/text/y.o",
        ] {
            fs::write(folder.join(path), "mine\n").unwrap();
        }
        fs::create_dir_all(folder.join("wc/folder/in")).unwrap();
        fs::write(folder.join("wc/folder/in/x"), "mine\n").unwrap();
        fs::write(folder.join("wc/.svn/tmp/left"), "garbage\n").unwrap();
    });
    for args in [
        vec!["cleanup", "wc"],
        vec!["cleanup", "--include-externals", "wc"],
        vec!["cleanup", "--vacuum-pristines", "wc"],
        vec!["cleanup", "-q", "--remove-ignored", "wc/plain"],
        vec!["cleanup", "--remove-ignored", "wc"],
        vec!["cleanup", "--remove-unversioned", "wc/plain"],
        vec!["cleanup", "--remove-unversioned", "wc"],
        vec![
            "cleanup",
            "--remove-unversioned",
            "--include-externals",
            "wc",
        ],
        vec!["cleanup", "nothing"],
        vec!["cleanup", "--remove-unversioned", "nothing"],
        vec!["cleanup", "wc/plain/a.txt"],
        vec!["cleanup", "svn://host/x"],
    ] {
        pair.both_local_unordered(&args);
        pair.assert_same_tree("wc");
        pair.assert_same_db("wc");
    }
}

#[test]
fn a_lock_that_was_left_behind() {
    let fixture = Fixture::rich();
    let pair = &fixture.pair;
    pair.both(&["checkout", "-q", &fixture.at("trunk"), "wc"])
        .success();
    pair.each(|folder| {
        let db = rusqlite::Connection::open(folder.join("wc/.svn/wc.db")).unwrap();
        db.execute("INSERT INTO wc_lock VALUES (1, '', -1)", [])
            .unwrap();
    });
    pair.both_local(&["update", "wc"]);
    pair.both_local(&["status", "wc"]);
    pair.both_local(&["cleanup", "wc/plain"]);
    pair.both(&["cleanup", "wc"]).success();
    pair.both(&["update", "wc"]).success();
    pair.assert_same_db("wc");
}
