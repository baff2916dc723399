//! `svnversion` beside Subversion's.

use std::path::Path;

use sylvan_testutil::{Pair, Run, Svnserve};

use crate::{SVN, SVNVERSION};

fn run(pair: &Pair, program: &str, args: &[&str]) -> Run {
    pair.command(Path::new(program), &pair.theirs())
        .args(args)
        .output()
        .unwrap()
        .into()
}

/// Runs both in Subversion's folder and requires the same.
fn same(pair: &Pair, args: &[&str]) -> Run {
    let ours = run(pair, SVNVERSION, args);
    assert_eq!(ours, run(pair, "svnversion", args), "svnversion {args:?}");
    ours
}

#[test]
fn arguments_that_make_no_sense() {
    let pair = Pair::new(SVN);
    for args in [
        &["-x"][..],
        &["--foo"],
        &["--quiet=1"],
        &["-?"],
        &["a", "b", "c"],
        &["-nZ"],
        &["-"],
    ] {
        assert_eq!(same(&pair, args).code, 1);
    }
}

#[test]
fn what_is_not_under_version_control() {
    let pair = Pair::new(SVN);
    std::fs::create_dir(pair.theirs().join("d")).unwrap();
    std::fs::write(pair.theirs().join("f"), "").unwrap();
    std::os::unix::fs::symlink("f", pair.theirs().join("l")).unwrap();
    for args in [
        &[][..],
        &["d"],
        &["f"],
        &["l"],
        &["nothing"],
        &["nothing/x"],
        &["-n", "d"],
        &["-q", "d", "trail"],
        &["/dev/null"],
        &["file:///x"],
        &["d/../f"],
    ] {
        same(&pair, args);
    }
}

#[test]
fn version_is_a_number() {
    let pair = Pair::new(SVN);
    assert_eq!(same(&pair, &["--version", "-q"]).stdout, "1.14.2\n");
    let text = run(&pair, SVNVERSION, &["--version"]).success().stdout;
    assert!(text.starts_with("svnversion, version 1.14.2 (Sylvan "));
    let help = run(&pair, SVNVERSION, &["-h"]).success().stdout;
    assert!(help.starts_with("usage: svnversion [OPTIONS] [WC_PATH [TRAIL_URL]]\n"));
    assert!(help.contains("\nValid options:\n  -n [--no-newline]        : "));
}

/// Runs Subversion's own svn in the folder that both look at.
fn svn(pair: &Pair, args: &[&str]) {
    let _ = pair.run_theirs(args).success();
}

/// Makes a repository of two revisions and a working copy `wc` of its trunk at the first one.
fn working_copy(pair: &Pair) -> (Svnserve, String) {
    let server = Svnserve::start(pair.root());
    let url = server.create_repository("repo");
    let tree = pair.theirs().join("tree");
    std::fs::create_dir_all(tree.join("trunk/d")).unwrap();
    std::fs::create_dir_all(tree.join("branch")).unwrap();
    for file in ["trunk/f", "trunk/d/g", "branch/h"] {
        std::fs::write(tree.join(file), "text\n").unwrap();
    }
    svn(pair, &["import", "-q", "-m", "", "tree", &url]);
    let trunk = format!("{url}/trunk");
    svn(pair, &["checkout", "-q", &trunk, "wc"]);
    std::fs::write(pair.theirs().join("wc/d/g"), "more\n").unwrap();
    svn(pair, &["commit", "-q", "-m", "", "wc"]);
    svn(pair, &["update", "-q", "-r1", "wc"]);
    (server, url)
}

#[test]
fn states_of_a_working_copy() {
    let pair = Pair::new(SVN);
    let (_server, url) = working_copy(&pair);
    let both = || {
        for args in [
            &["wc"][..],
            &["-c", "wc"],
            &["-n", "wc/d"],
            &["wc/d/g"],
            &["wc/nothing"],
            &["wc", "/trunk"],
            &["wc", "trunk"],
            &["wc", "branch"],
            &["-c", "wc/d", "/d"],
        ] {
            same(&pair, args);
        }
        same(&pair, &["wc"]).stdout
    };
    assert_eq!(both(), "1\n");
    svn(&pair, &["update", "-q", "wc/d"]);
    assert_eq!(both(), "1:2\n");
    std::fs::write(pair.theirs().join("wc/f"), "changed\n").unwrap();
    assert_eq!(both(), "1:2M\n");
    svn(&pair, &["revert", "-q", "wc/f"]);
    svn(&pair, &["propset", "-q", "p", "v", "wc/d"]);
    assert_eq!(both(), "1:2M\n");
    svn(&pair, &["revert", "-q", "wc/d"]);
    let branch = format!("{url}/branch");
    svn(
        &pair,
        &["switch", "-q", "--ignore-ancestry", &branch, "wc/d"],
    );
    assert_eq!(both(), "1:2S\n");
    svn(&pair, &["update", "-q", "--set-depth=files", "wc"]);
    assert_eq!(both(), "2P\n");
    svn(&pair, &["mkdir", "-q", "wc/new"]);
    assert_eq!(both(), "2MP\n");
    let added = same(&pair, &["wc/new"]);
    assert_eq!(added.stdout, "Uncommitted local addition, copy or move\n");
    std::fs::remove_file(pair.theirs().join("wc/f")).unwrap();
    both();
}
