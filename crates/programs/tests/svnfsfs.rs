//! `svnfsfs` beside Debian's.

use std::process::Output;

use sylvan_testutil::{Run, Sandbox};

use crate::SVNFSFS;

/// Makes a repository with shards of four revisions, two of them packed.
fn packed(version: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.sh(&format!(
        "rm -r repo; svnadmin create --compatible-version {version} repo
         sed -i 's/layout sharded 1000/layout sharded 4/' repo/db/format
         svn checkout -q $URL wc; cd wc
         for i in 1 2 3 4 5 6 7 8 9; do
             echo $i >> g; seq 1 $i > f$i.txt; mkdir d$i; seq 1 100$i > d$i/x.c
             svn add -q --force .; svn ps -q p $i d$i; svn ps -q q $i f$i.txt; svn ci -qm $i
         done
         svn up -q; echo a > .hidden; echo b > d1/y.C; echo b > d1/z.C; svn add -q .hidden d1/*.C
         svn cp -q d1 copy; svn ci -qm 10
         [ {version} = 1.3 ] || svnadmin pack -q ../repo"
    ));
    sandbox
}

fn both(sandbox: &Sandbox, args: &[&str]) -> (Run, Run) {
    let run = |output: Output| Run::from(output);
    (
        run(sandbox.run(SVNFSFS, args)),
        run(sandbox.run("svnfsfs", args)),
    )
}

#[test]
fn statistics_are_those_of_subversion() {
    for version in ["1.3", "1.6", "1.8", "1.14"] {
        let sandbox = packed(version);
        let (ours, theirs) = both(&sandbox, &["stats", "repo"]);
        assert_eq!(ours.stderr, "");
        // Endings that have as much of something come in no order there.
        let sorted = |run: &Run| {
            let mut lines: Vec<String> = run.stdout.lines().map(str::to_owned).collect();
            lines.sort();
            lines.join("\n")
        };
        assert_eq!(sorted(&ours), sorted(&theirs), "{version}");
        let until = |run: &Run| {
            let end = run.stdout.find("Extensions by number");
            run.stdout[..end.unwrap()].to_owned()
        };
        assert_eq!(until(&ours), until(&theirs), "{version}");
    }
}

#[test]
fn indexes_are_printed_and_loaded() {
    let sandbox = packed("1.14");
    for revision in ["-r0", "-r2", "-r7", "-r8", "-r10", "-rHEAD", "-r99"] {
        let (ours, theirs) = both(&sandbox, &["dump-index", "repo", revision]);
        assert_eq!(ours, theirs, "{revision}");
    }
    let before = std::fs::read(sandbox.join("repo/db/revs/1.pack/pack")).unwrap();
    sandbox.sh(&format!(
        "{SVNFSFS} dump-index repo -r5 > index
         # In another order, without what is no item, and with wrong checksums.
         sed '1d; s/........$/junk/' index | tac | {SVNFSFS} load-index repo
         svnadmin verify -q repo"
    ));
    let after = std::fs::read(sandbox.join("repo/db/revs/1.pack/pack")).unwrap();
    assert!(before == after, "the pack file changed");
}

#[test]
fn mistakes_are_reported_as_by_subversion() {
    let sandbox = Sandbox::new();
    sandbox.sh(
        "svnadmin create --compatible-version 1.8 old; mkdir -p bdb/db; echo bdb > bdb/db/fs-type
         mkdir -p none/db",
    );
    for line in [
        "",
        "foo",
        "-q",
        "--nope",
        "stats",
        "stats nope",
        "stats bdb",
        "stats none",
        "stats http://x/y",
        "stats -r1 repo",
        "stats --version repo",
        "stats -M x repo",
        "dump-index -r x repo",
        "dump-index -r 1 -r 2 repo",
        "dump-index -r 1 repo",
        "dump-index old",
        "--version -r1",
        "--version -q",
        "help nope",
    ] {
        let args: Vec<&str> = line.split_whitespace().collect();
        let (ours, theirs) = both(&sandbox, &args);
        assert_eq!(ours, theirs, "svnfsfs {line}");
    }
    for input in [
        "0 1 foo 1 1",
        "0 1 none -1 1",
        "0 zz none 1 1",
        "0 11",
        "0 11 drep 0 1",
        "1 11 drep 0 1",
        "0 11 drep 0 1\\n10 1 node 0 2",
        "",
    ] {
        let said = |program: &str| {
            let script = format!("printf '{input}\\n' | {program} load-index repo");
            Run::from(sandbox.run("sh", &["-c", &script]))
        };
        assert_eq!(said(SVNFSFS), said("svnfsfs"), "{input}");
    }
}
