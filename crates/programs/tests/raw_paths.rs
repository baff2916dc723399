//! Paths that are not UTF-8, as programs before Subversion 1.6 let them in: shown, reported, brought
//! out and copied as Subversion does.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;

use sylvan_core::Md5;
use sylvan_testutil::{Pair, Run};

use crate::{SVN, SVNADMIN, SVNDUMPFILTER, SVNLOOK};

/// Two folders with a repository `r` of four revisions in which the folder `?\E6` was once `A`, and
/// its dump.
fn scene() -> Pair {
    let pair = Pair::new(SVN);
    let script = "svnadmin create --compatible-version 1.8 r
        url=file://$PWD/r; svn mkdir -q -m 1 $url/A; echo text > file
        svn import -q -m 2 file $url/A/f; svn cp -q -m 3 $url/A/f $url/A/g
        svn checkout -q $url wc; echo more >> wc/A/f; svn ps -q p v wc/A; svn commit -q -m 4 wc
        rm -rf wc file";
    let made = shell(&pair, script);
    assert_eq!(made.code, 0, "{made:?}");
    for number in 1..=4 {
        rename(&pair.theirs().join(format!("r/db/revs/0/{number}")));
    }
    let copied = shell(
        &pair,
        "svnadmin dump -q r > dump; rm -r ../ours; cp -a . ../ours",
    );
    assert_eq!(copied.code, 0, "{copied:?}");
    pair
}

fn shell(pair: &Pair, script: &str) -> Run {
    let mut shell = pair.command(Path::new("sh"), &pair.theirs());
    Run::from(shell.args(["-ec", script]).output().unwrap())
}

/// Gives the folder `A` another name in a revision file, without a change of any length.
fn rename(path: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    let start = find(&bytes, b"K 1\nA\n").unwrap();
    let len = find(&bytes[start..], b"END\n").unwrap() + 4;
    let listing = bytes[start..start + len].to_vec();
    let renamed = replaced(&listing, b"\nA\n", b"\n\xe6\n");
    for (from, to) in [
        (&listing[..], &renamed[..]),
        (hex(&listing).as_bytes(), hex(&renamed).as_bytes()),
        (b" /A\n", b" /\xe6\n"),
        (b" /A/", b" /\xe6/"),
    ] {
        bytes = replaced(&bytes, from, to);
    }
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o644)).unwrap();
    std::fs::write(path, bytes).unwrap();
}

fn hex(text: &[u8]) -> String {
    Md5::of(text).to_string()
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    while let Some(at) = find(&bytes, from) {
        bytes.splice(at..at + from.len(), to.iter().copied());
    }
    bytes
}

/// Compares what both print in their folders, where `is_sorted` without regard to the order of lines;
/// the input is the dump. A name that is not UTF-8 comes first in ours and after ASCII in theirs.
fn compare(pair: &Pair, lines: &str, is_sorted: bool) {
    let mut told = String::new();
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (program, words) = line.split_once(' ').unwrap();
        let ours = match program {
            "svn" => SVN,
            "svnadmin" => SVNADMIN,
            "svndumpfilter" => SVNDUMPFILTER,
            "svnlook" => SVNLOOK,
            other => panic!("{other} is not tested here"),
        };
        let call = |program: &str, folder: &Path| {
            let dump = std::fs::File::open(folder.join("dump")).unwrap();
            let words = words.replace("PWD", &folder.to_string_lossy());
            let mut command = pair.command(Path::new(program), folder);
            let output = command.args(words.split(' ')).stdin(Stdio::from(dump));
            let output = output.output().unwrap();
            let shown = |bytes: &[u8]| {
                let mut lines: Vec<_> = bytes.split(|byte| *byte == b'\n').collect();
                if is_sorted {
                    lines.sort_unstable();
                }
                lines.join(&b'\n').escape_ascii().to_string()
            };
            (
                output.status.code(),
                shown(&output.stdout),
                shown(&output.stderr).replace(&*folder.to_string_lossy(), "[cwd]"),
            )
        };
        let (theirs, ours) = (call(program, &pair.theirs()), call(ours, &pair.ours()));
        if theirs != ours {
            let _ = writeln!(told, "{line}\n  theirs: {theirs:?}\n  ours: {ours:?}");
        }
    }
    assert!(told.is_empty(), "\n{told}");
}

const READING: &str = "
    svnadmin verify r
    svnadmin verify -q r
    svnadmin verify --keep-going r
    svnadmin verify -r 2 r
    svnadmin verify --metadata-only r
    svnadmin dump r
    svnadmin dump -q r
    svnadmin dump --deltas r
    svnadmin dump --incremental -r 2:3 r
    svnadmin dump --exclude /A r
    svnlook tree r
    svnlook tree --full-paths --show-ids r
    svnlook changed r
    svnlook changed --copy-info -r 3 r
    svnlook dirs-changed r
    svnlook history r
    svn ls -R file://PWD/r
    svn log -v file://PWD/r
    ";

#[test]
fn what_is_not_utf8_is_read_and_told() {
    let pair = scene();
    compare(&pair, READING, false);
    // The order of headers is another from run to run.
    compare(
        &pair,
        "svndumpfilter exclude A\nsvndumpfilter include A",
        true,
    );
}

#[test]
fn what_is_not_utf8_is_copied_and_packed_but_not_made_anew() {
    let pair = scene();
    compare(
        &pair,
        "
        svnadmin create new
        svnadmin load new
        svnadmin hotcopy r copy
        svnadmin dump copy
        svnadmin upgrade copy
        svnadmin pack copy
        svnadmin dump copy
        ",
        false,
    );
    // A commit writes the folder above such a name anew, and a copy the path it comes from.
    let stream = "SVN-fs-dump-format-version: 2\n\nRevision-number: 5\nProp-content-length: 56\n\
        Content-length: 56\n\nK 8\nsvn:date\nV 27\n2026-01-02T03:04:05.000000Z\nPROPS-END\n\nNode-path: new\nNode-kind: dir\nNode-action: add\n\n\n\
        Node-path: B\nNode-kind: dir\nNode-action: add\nNode-copyfrom-rev: 4\n\
        Node-copyfrom-path: \u{1}\n\n\nNode-path: B/f\nNode-action: delete\n\n\n\
        Node-path: \u{1}/g\nNode-kind: file\nNode-action: delete\n\n\n";
    let stream = replaced(stream.as_bytes(), b"\x01", b"\xe6");
    pair.each(|folder| std::fs::write(folder.join("dump"), &stream).unwrap());
    compare(
        &pair,
        "
        svnadmin load r
        svnadmin dump r
        svnlook tree --full-paths r
        svnlook changed --copy-info r
        ",
        true,
    );
    // What ours wrote is read by both.
    let crossed = shell(&pair, "rm -r r; cp -a ../ours/r r");
    assert_eq!(crossed.code, 0, "{crossed:?}");
    compare(&pair, READING, true);
}
