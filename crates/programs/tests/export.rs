//! `svn export` beside Debian's svn.

use std::fs;
use std::os::unix::fs::symlink;

use crate::fixture::Fixture;

#[test]
fn folders_from_the_repository() {
    let fixture = Fixture::rich();
    let pair = &fixture.pair;
    let trunk = fixture.at("trunk");
    pair.both(&["export", &trunk]).success();
    pair.both(&["export", "-r1", &trunk, "r1"]).success();
    pair.both(&["export", "-q", &format!("{trunk}@2"), "quiet"])
        .success();
    pair.both(&["export", "--ignore-keywords", &trunk, "no keywords"])
        .success();
    for eol in ["LF", "CR", "CRLF"] {
        pair.both(&["export", "--native-eol", eol, &trunk, eol])
            .success();
    }
    for depth in ["empty", "files", "immediates", "infinity"] {
        pair.both(&["export", "--depth", depth, &trunk, depth])
            .success();
    }
    pair.both(&[
        "export",
        &fixture.at("trunk/empty/folder"),
        "./empty folder",
    ]);
    pair.assert_same_tree(".");
    let time = |folder: std::path::PathBuf| {
        fs::metadata(folder.join("trunk/plain/a.txt"))
            .unwrap()
            .modified()
            .unwrap()
    };
    assert_eq!(time(pair.theirs()), time(pair.ours()));
}

#[test]
fn files_from_the_repository() {
    let fixture = Fixture::rich();
    let pair = &fixture.pair;
    pair.each(|folder| fs::create_dir_all(folder.join("there/a.txt")).unwrap());
    for (from, to) in [
        ("plain/a.txt", ""),
        ("plain/a.txt", "."),
        ("plain/b.txt", "there"),
        ("plain/a.txt", "there"),
        ("plain/a.txt", "new name"),
        ("plain/a.txt", "no/such/folder"),
        ("plain/a.txt", "a.txt"),
        ("plain/link", "a link"),
        ("text/all", ""),
        ("text/run.sh", ""),
        ("text/CRLF", ""),
        ("odd names/at@sign@", ""),
        ("plain/nothing", ""),
        ("plain/binary", ""),
    ] {
        let url = fixture.at(&format!("trunk/{from}"));
        let mut args = vec!["export", &*url];
        if !to.is_empty() {
            args.push(to);
        }
        pair.both_local(&args);
    }
    pair.both(&[
        "export",
        "--force",
        &fixture.at("trunk/plain/b.txt"),
        "a.txt",
    ])
    .success();
    pair.assert_same_tree(".");
}

#[test]
fn what_is_in_the_way() {
    let fixture = Fixture::rich();
    let pair = &fixture.pair;
    let trunk = fixture.at("trunk");
    pair.each(|folder| {
        fs::create_dir_all(folder.join("folder/plain/b.txt")).unwrap();
        fs::create_dir_all(folder.join("merged/plain")).unwrap();
        fs::write(folder.join("merged/plain/a.txt"), "mine\n").unwrap();
        fs::write(folder.join("merged/plain/mine.txt"), "mine\n").unwrap();
        symlink("../..", folder.join("merged/text")).unwrap();
        fs::write(folder.join("file"), "mine\n").unwrap();
    });
    for args in [
        vec!["export", &trunk, "folder"],
        vec!["export", &trunk, "file"],
        vec!["export", "--force", &trunk, "file"],
        vec!["export", &fixture.at("nothing"), "x"],
        vec!["export", &fixture.at("trunk@77"), "x"],
        vec!["export"],
        vec!["export", "a", "b", "c"],
        vec!["export", &trunk, "svn://host/x"],
        vec!["export", &trunk, "x@3"],
        vec!["export", "not-versioned", "x"],
        vec!["export", "-rBASE", &trunk, "x"],
        vec!["export", "--native-eol", "nonsense", &trunk, "x"],
    ] {
        pair.both_local(&args);
    }
    // Where something is in the way, how far the export came is not fixed.
    for to in ["folder", "merged"] {
        let args = ["export", "-q", "--force", &trunk, to];
        let theirs = pair.run_theirs(&args);
        let ours = pair.run_ours(&args);
        assert_eq!(theirs.code, ours.code, "{to}: {}", ours.stderr);
    }
    assert!(
        !pair.root().join("text").exists(),
        "nothing is written through a symlink"
    );
}

#[test]
fn from_a_working_copy() {
    let fixture = Fixture::rich();
    let pair = &fixture.pair;
    pair.both(&["checkout", "-q", &fixture.at("trunk"), "wc"])
        .success();
    for folder in [pair.ours(), pair.theirs()] {
        fs::write(folder.join("wc/text/all"), "$Id$ mine $Rev$\n").unwrap();
        fs::write(folder.join("wc/text/CRLF"), "mine\r\n").unwrap();
        fs::write(folder.join("wc/plain/new"), "new\n").unwrap();
        fs::write(folder.join("wc/plain/unversioned"), "mine\n").unwrap();
        fixture.svn(&folder, &["add", "-q", "wc/plain/new"]);
        fixture.svn(&folder, &["rm", "-q", "wc/plain/b.txt", "wc/empty"]);
        fixture.svn(&folder, &["cp", "-q", "wc/text", "wc/text copied"]);
        for path in ["wc/text/all", "wc/text copied/all"] {
            let file = fs::File::options()
                .write(true)
                .open(folder.join(path))
                .unwrap();
            file.set_modified(
                std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000),
            )
            .unwrap();
        }
    }
    pair.both(&["export", "wc", "working"]).success();
    pair.both(&["export", "-rBASE", "wc", "base"]).success();
    pair.both(&["export", "-r1", "wc", "one"]).success();
    pair.both(&["export", "wc/text/all", "a file"]).success();
    pair.both(&["export", "wc/plain/link", "a link"]).success();
    pair.both(&["export", "--depth", "files", "wc/plain", "files"])
        .success();
    pair.both(&[
        "export",
        "--native-eol",
        "CRLF",
        "--ignore-keywords",
        "wc",
        "crlf",
    ])
    .success();
    pair.assert_same_tree(".");
    for args in [
        vec!["export", "wc", "working"],
        vec!["export", "--force", "wc", "working"],
        vec!["export", "wc/plain/a.txt", "working"],
        vec!["export", "wc/plain/a.txt", "a file"],
        vec!["export", "--force", "wc/plain/a.txt", "a file"],
        vec!["export", "wc/no/thing", "x"],
        vec!["export", "wc/plain/unversioned", "x"],
    ] {
        pair.both_local(&args);
    }
    pair.assert_same_tree(".");
}
