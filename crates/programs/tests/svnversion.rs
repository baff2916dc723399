//! `svnversion` beside Subversion's.

use std::path::Path;

use sylvan_testutil::{Pair, Run};

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
