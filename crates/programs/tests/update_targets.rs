//! `svn update` beside Debian's svn.

use std::fs;
use std::path::Path;

use crate::fixture::Fixture;

fn checked_out() -> Fixture {
    let fixture = Fixture::rich();
    let trunk = fixture.at("trunk");
    fixture
        .pair
        .both(&["checkout", "-q", "-r1", &trunk, "wc"])
        .success();
    fixture
}

#[test]
fn forth_and_back_through_the_revisions() {
    let fixture = checked_out();
    let pair = &fixture.pair;
    for rev in [
        "HEAD",
        "1",
        "2",
        "PREV",
        "HEAD",
        "BASE",
        "COMMITTED",
        "{2100-01-01}",
    ] {
        pair.both(&["update", "-r", rev, "wc"]).success();
        pair.assert_same_tree("wc");
        pair.assert_same_db("wc");
    }
    pair.both(&["update", "-r", "99", "wc"]);
    pair.both(&["update", "-q", "wc"]).success();
    pair.assert_same_db("wc");
}

#[test]
fn several_targets_and_what_is_none() {
    let fixture = checked_out();
    let pair = &fixture.pair;
    pair.each(|folder| fs::write(folder.join("wc/unversioned"), "").unwrap());
    for args in [
        vec![
            "update",
            "wc/plain",
            "wc/text/id",
            "nothing/here",
            "wc/unversioned",
        ],
        vec!["update", "nothing/here"],
        vec!["update", "wc/unversioned"],
        vec!["update", "wc/missing"],
        vec!["update", "-q", "nothing/here", "wc"],
        vec!["update", "svn://host/x"],
        vec!["update", "wc@2"],
        vec!["update", "wc/plain/a.txt"],
        vec!["update", "-r1", "wc/plain/a.txt", "wc/plain/gone.txt"],
        vec!["update", "wc/plain/gone.txt"],
    ] {
        pair.both(&args);
        pair.assert_same_db("wc");
    }
}

#[test]
fn depths_are_kept_and_set() {
    let fixture = checked_out();
    let pair = &fixture.pair;
    for args in [
        vec!["update", "--depth", "files", "wc"],
        vec!["update", "--depth", "immediates", "wc"],
        vec!["update", "--set-depth", "immediates", "wc"],
        vec!["update", "wc"],
        vec!["update", "--set-depth", "files", "wc/plain"],
        vec!["update", "--set-depth", "infinity", "wc/text"],
        vec!["update", "--set-depth", "exclude", "wc/empty"],
        vec!["update", "--set-depth", "exclude", "wc"],
        vec!["update", "-r1", "wc"],
        vec!["update", "wc"],
        vec!["update", "--set-depth", "infinity", "wc"],
        vec!["update", "--set-depth", "empty", "wc"],
        vec!["update", "--parents", "wc/plain/deep/er"],
        vec!["update", "wc/text"],
        vec!["update", "--set-depth", "infinity", "wc"],
    ] {
        pair.both_local_unordered(&args);
        pair.assert_same_tree("wc");
        pair.assert_same_db("wc");
    }
}

#[test]
fn missing_files_are_restored() {
    let fixture = checked_out();
    let pair = &fixture.pair;
    pair.each(|folder| {
        fs::remove_file(folder.join("wc/plain/b.txt")).unwrap();
        fs::remove_file(folder.join("wc/plain/link")).unwrap();
        fs::remove_file(folder.join("wc/text/run.sh")).unwrap();
        fs::remove_dir_all(folder.join("wc/plain/deep")).unwrap();
    });
    pair.both_unordered(&["update", "wc"]).success();
    pair.assert_same_tree("wc");
    pair.assert_same_db("wc");
}

#[test]
fn local_changes_stay() {
    let fixture = checked_out();
    let pair = &fixture.pair;
    let change = |folder: &Path| {
        fs::write(folder.join("wc/plain/b.txt"), "mine\n").unwrap();
        fs::write(folder.join("wc/plain/new.txt"), "new\n").unwrap();
    };
    pair.each(change);
    pair.both(&["update", "wc"]).success();
    pair.assert_same_tree("wc");
    pair.assert_same_db("wc");
    pair.both(&["status", "wc"]).success();
}

#[test]
fn unversioned_nodes_in_the_way() {
    let fixture = checked_out();
    fixture.commit("more", |wc| {
        fs::write(wc.join("trunk/plain/added.txt"), "theirs\n").unwrap();
        fs::create_dir(wc.join("trunk/plain/added folder")).unwrap();
        fixture.svn(
            wc,
            &[
                "add",
                "-q",
                "trunk/plain/added.txt",
                "trunk/plain/added folder",
            ],
        );
    });
    let pair = &fixture.pair;
    pair.each(|folder| {
        fs::write(folder.join("wc/plain/added.txt"), "mine\n").unwrap();
        fs::create_dir(folder.join("wc/plain/added folder")).unwrap();
    });
    pair.both(&["update", "--force", "wc"]).success();
    pair.assert_same_tree("wc");
    pair.assert_same_db("wc");
    pair.both(&["status", "wc"]).success();
}

#[test]
fn changelists_choose_targets() {
    let fixture = checked_out();
    let pair = &fixture.pair;
    for folder in [pair.ours(), pair.theirs()] {
        fixture.svn(
            &folder,
            &["changelist", "-q", "mine", "wc/plain/a.txt", "wc/text/id"],
        );
    }
    pair.both_unordered(&["update", "--changelist", "mine", "wc"])
        .success();
    pair.assert_same_db("wc");
}
