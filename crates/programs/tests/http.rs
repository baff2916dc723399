//! Checkout, update and export over http:// beside Debian's svn.

use std::fs;

use sylvan_testutil::Apache;

use crate::fixture::Fixture;

/// The rich repository, served by Apache as well.
fn served() -> (Fixture, Apache) {
    let fixture = Fixture::rich();
    let apache = Apache::start(&fixture.pair.root().join("served"));
    (fixture, apache)
}

#[test]
fn both_protocols_give_the_same_rows() {
    let (fixture, apache) = served();
    let pair = &fixture.pair;
    for version in ["v2", "v1"] {
        let trunk = apache.url(&format!("{version}/repos/trunk"));
        // The order in which contents arrive is not fixed.
        pair.both_unordered(&["checkout", &trunk, version])
            .success();
        pair.assert_same_tree(version);
        pair.assert_same_db(version);
        pair.both_unordered(&["update", "-r1", version]).success();
        pair.assert_same_db(version);
        pair.both_unordered(&["update", version]).success();
        pair.assert_same_tree(version);
        pair.assert_same_db(version);
        pair.both_unordered(&["export", &trunk, &format!("{version} tree")])
            .success();
        pair.assert_same_tree(&format!("{version} tree"));
        pair.both(&["status", version]).success();
    }
}

#[test]
fn externals_and_redirects() {
    let (fixture, apache) = served();
    fixture.commit("externals", |wc| {
        let value = "^/branches/one/plain ext\n^/trunk/text/all file\n/v2/repos/trunk/text abs";
        fixture.svn(
            wc,
            &["propset", "-q", "svn:externals", value, "branches/one"],
        );
        fs::write(wc.join("branches/one/plain/b.txt"), "again\n").unwrap();
    });
    let pair = &fixture.pair;
    let one = apache.url("v2/repos/branches/one");
    pair.both_local_unordered(&["checkout", &one, "wc"]);
    pair.assert_same_tree("wc");
    for wc in ["wc", "wc/ext", "wc/abs"] {
        pair.assert_same_db(wc);
    }
    let moved = apache.url("moved/repos/trunk");
    pair.both_unordered(&["checkout", &moved, "moved"])
        .success();
    pair.assert_same_db("moved");
    pair.both_unordered(&["export", &moved, "moved tree"])
        .success();
    pair.both_local(&["checkout", &apache.url("away/repos/trunk"), "away"]);
}

/// Commands that only read follow redirects of URLs, and tell of them.
#[test]
fn redirects_of_what_only_reads() {
    let (fixture, apache) = served();
    let pair = &fixture.pair;
    let at = |path: &str| apache.url(&format!("moved/repos/{path}"));
    let file = at("trunk/plain/a.txt");
    let file = file.as_str();
    let missing = at("trunk/nothing here");
    pair.both(&["cat", file]).success();
    pair.both(&["cat", &missing, file, &format!("{file}@1")]);
    pair.both(&["cat", "-r1", &at("branches/one/plain/a.txt@HEAD")]);
    pair.both(&["list", &at("trunk/plain")]).success();
    pair.both(&["list", "-v", "-R", &at("trunk@1")]).success();
    pair.both_unordered(&["list", "--xml", &at("trunk/plain")])
        .success();
    pair.both(&["list", &missing]);
    pair.both(&["log", &at("trunk"), "plain", "text"]).success();
    pair.both(&["log", "-q", &at("branches/one")]).success();
    pair.both(&["log", "--xml", file]).success();
    pair.both(&["info", &at("trunk")]).success();
    pair.both(&["info", "--show-item", "url", file]).success();
    pair.both(&["info", &missing, file]);
    for away in ["away/repos/trunk", "away/repos/trunk/plain/a.txt"] {
        let away = apache.url(away);
        for command in ["cat", "list", "log", "info"] {
            pair.both(&[command, &away]);
        }
    }
    pair.both(&["info", "^/trunk", file]);

    // A working copy of a repository that moved.
    let url = apache.url("v2/repos/trunk/plain");
    pair.both_unordered(&["checkout", "-q", &url, "wc"])
        .success();
    pair.each(|folder| {
        let db = rusqlite::Connection::open(folder.join("wc/.svn/wc.db")).unwrap();
        let moved = "UPDATE repository SET root = replace(root, '/v2/', '/moved/')";
        db.execute(moved, []).unwrap();
    });
    pair.both(&["info", "--show-item", "url", "wc"]).success();
    pair.both_local(&["status", "-u", "wc"]);
    pair.both_local(&["list", "^/"]);
    for args in [
        &["cat", "-rHEAD", "wc/a.txt"][..],
        &["list", "wc"],
        &["log", "wc"],
        &["info", "-rHEAD", "wc"],
        &["export", "-rHEAD", "wc", "tree"],
    ] {
        // Subversion fails an assertion.
        let run = pair.run_ours(args);
        let is_refused = run.stderr.contains("170000: URL '") && run.code == 1;
        assert!(is_refused, "svn {args:?}: {}", run.stderr);
    }
}
