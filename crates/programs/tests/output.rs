//! What becomes of output that nobody takes.

use std::fs::File;
use std::path::Path;
use std::process::Stdio;

use sylvan_testutil::Pair;

use crate::SVN;

#[test]
fn closed_pipes_are_quiet() {
    let pair = Pair::new(SVN);
    let mut child = pair
        .command(Path::new(SVN), pair.root())
        .args(["help", "log"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.stderr, b"");
}

#[test]
fn full_disks_are_reported() {
    let pair = Pair::new(SVN);
    let run = |program: &Path| {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = pair
            .command(program, pair.root())
            .args(["--version", "-q"])
            .stdout(full)
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stderr))
    };
    assert_eq!(run(Path::new(SVN)), run(Path::new("svn")));
    assert_eq!(run(Path::new(SVN)).0, Some(1));
}
