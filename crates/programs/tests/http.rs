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
