//! `svn checkout` beside Debian's svn.

use std::fs;
use std::os::unix::fs::symlink;

use crate::fixture::Fixture;

#[test]
fn a_rich_tree_is_the_same_on_disk_and_in_the_database() {
    let fixture = Fixture::rich();
    let pair = &fixture.pair;
    pair.both(&["checkout", &fixture.at("trunk"), "wc"])
        .success();
    pair.assert_same_tree("wc");
    pair.assert_same_db("wc");
    // Each program goes on with what the other made.
    for folder in [pair.ours(), pair.theirs()] {
        for command in ["status", "update", "cleanup", "status"] {
            let theirs = pair.run_theirs_in(&folder, &[command, "wc"]);
            let ours = pair.run_ours_in(&folder, &[command, "wc"]);
            assert_eq!(theirs, ours, "svn {command}");
            assert_eq!(theirs.code, 0, "{}", theirs.stderr);
        }
    }
    pair.assert_same_tree("wc");
    pair.assert_same_db("wc");
}

#[test]
fn the_whole_repository_and_old_revisions() {
    let fixture = Fixture::rich();
    let pair = &fixture.pair;
    pair.both(&["checkout", &fixture.url]).success();
    pair.assert_same_tree("repos");
    pair.assert_same_db("repos");
    let trunk = fixture.at("trunk");
    for (args, path) in [
        (vec!["checkout", "-r1", &trunk, "r1"], "r1"),
        (vec!["co", "-q", "-r", "HEAD", &trunk, "head"], "head"),
        (
            vec!["co", "--revision={2100-01-01}", &trunk, "dated"],
            "dated",
        ),
    ] {
        pair.both(&args).success();
        pair.assert_same_tree(path);
        pair.assert_same_db(path);
    }
    let pegged = format!("{trunk}@2");
    pair.both(&["checkout", &pegged]).success();
    pair.assert_same_db("trunk");
    let moved = fixture.at("branches/one@3");
    pair.both(&["checkout", "-r2", &moved, "before the copy"])
        .success();
    pair.assert_same_db("before the copy");
}

#[test]
fn every_depth() {
    let fixture = Fixture::rich();
    let pair = &fixture.pair;
    let trunk = fixture.at("trunk");
    for depth in ["empty", "files", "immediates", "infinity"] {
        pair.both(&["checkout", "--depth", depth, &trunk, depth])
            .success();
        pair.assert_same_tree(depth);
        pair.assert_same_db(depth);
    }
    pair.both(&["checkout", "-N", &trunk, "files again"])
        .success();
    pair.assert_same_db("files again");
    // Again, deeper.
    pair.both(&["checkout", "--depth", "immediates", &trunk, "empty"])
        .success();
    pair.assert_same_db("empty");
    pair.both(&["checkout", &trunk, "files"]).success();
    pair.assert_same_db("files");
}

#[test]
fn several_urls() {
    let fixture = Fixture::rich();
    let pair = &fixture.pair;
    let (trunk, one) = (fixture.at("trunk"), fixture.at("branches/one"));
    pair.both(&["checkout", &trunk, &one]).success();
    pair.both(&["checkout", "-q", &trunk, &one, "below/here"])
        .success();
    for path in ["trunk", "one", "below/here/trunk", "below/here/one"] {
        pair.assert_same_tree(path);
        pair.assert_same_db(path);
    }
}

#[test]
fn what_cannot_be_checked_out() {
    let fixture = Fixture::rich();
    let pair = &fixture.pair;
    let trunk = fixture.at("trunk");
    pair.both(&["checkout", "-q", &trunk, "wc"]).success();
    pair.each(|folder| {
        fs::write(folder.join("file"), "").unwrap();
        symlink("wc", folder.join("link")).unwrap();
    });
    let (nothing, file, other) = (
        fixture.at("no/thing"),
        fixture.at("trunk/plain/a.txt"),
        fixture.at("branches/one"),
    );
    for args in [
        vec!["checkout"],
        vec!["checkout", "only/a/path"],
        vec!["checkout", "path", "other"],
        vec!["checkout", &nothing, "x"],
        vec!["checkout", &file, "x"],
        vec!["checkout", &other, "wc"],
        vec!["checkout", &trunk, "file"],
        vec!["checkout", &trunk, "file/below"],
        vec!["checkout", &trunk, "link"],
        vec!["checkout", "-r", "99", &trunk, "x"],
        vec!["checkout", "-r", "BASE", &trunk, "x"],
        vec!["checkout", "-r", "nonsense", &trunk, "x"],
        vec!["checkout", "-r", "1", &other, "x"],
        vec!["checkout", "--set-depth", "files", &trunk, "x"],
        vec!["checkout", "nothing://host/x", "x"],
        vec!["checkout", "svn://127.0.0.1:1/x", "x"],
    ] {
        pair.both_local(&args);
    }
    pair.assert_same_tree(".");
}

#[test]
fn force_takes_unversioned_nodes_over() {
    let fixture = Fixture::rich();
    let pair = &fixture.pair;
    let trunk = fixture.at("trunk");
    pair.each(|folder| {
        fs::create_dir_all(folder.join("wc/plain")).unwrap();
        fs::create_dir_all(folder.join("wc/unrelated")).unwrap();
        fs::write(folder.join("wc/plain/a.txt"), "mine\n").unwrap();
        fs::write(folder.join("wc/plain/b.txt"), "second\n").unwrap();
    });
    pair.both(&["checkout", "--force", &trunk, "wc"]).success();
    pair.assert_same_tree("wc");
    pair.both(&["status", "wc"]).success();
    let ours = fs::read_to_string(pair.ours().join("wc/plain/a.txt")).unwrap();
    assert_eq!(ours, "mine\n");
}
