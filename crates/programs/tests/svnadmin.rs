//! `svnadmin` beside Subversion's: the same words in two folders with the same repositories.

use std::fmt::Write as _;
use std::path::Path;

use sylvan_testutil::{Pair, Run};

use crate::{SVN, SVNADMIN};

/// Runs a line of words in a folder; `''` is an empty word, `^` stands for a blank.
fn run(pair: &Pair, program: &str, folder: &Path, line: &str) -> Run {
    let words = line.split_whitespace().map(|word| match word {
        "''" => String::new(),
        word => word.replace('^', " "),
    });
    let output = pair
        .command(Path::new(program), folder)
        .args(words)
        .output();
    Run::from(output.unwrap()).without(folder)
}

/// Runs each line with both and compares what they print and return; then the folders' trees.
fn walk(lines: &str) -> Pair {
    let pair = scene();
    walk_in(&pair, lines);
    pair
}

fn walk_in(pair: &Pair, lines: &str) {
    let mut differences = String::new();
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let theirs = run(pair, "svnadmin", &pair.theirs(), line);
        let ours = run(pair, SVNADMIN, &pair.ours(), line);
        if theirs != ours {
            let _ = writeln!(
                differences,
                "svnadmin {line}\n  svnadmin: {theirs:?}\n  ours:     {ours:?}"
            );
        }
    }
    assert!(differences.is_empty(), "\n{differences}");
}

/// Two folders with the same repository `r` of 12 revisions, sharded by 4, and files to read.
fn scene() -> Pair {
    let pair = Pair::new(SVN);
    let script = "set -e
        svnadmin create r
        echo 'layout sharded 4' > layout; sed -i 's/^layout.*/layout sharded 4/' r/db/format
        url=file://$PWD/r
        svn mkdir -q -m one $url/trunk
        svn checkout -q $url wc
        for i in 2 3 4 5 6 7 8 9 10 11; do
            echo $i > wc/trunk/f$i; svn add -q wc/trunk/f$i; svn commit -q -m $i wc
        done
        svnadmin setuuid r f7a3d1b0-6f9f-43b6-9a36-9a5a2e5b1f6d
        rm -rf wc layout
        printf 'why\\n' > text; printf 'a\\r\\nb\\n' > mixed; printf 'a\\r\\nb\\r\\n' > crlf
        printf '\\377\\n' > binary; : > empty; mkdir dir; touch dir/x";
    let folder = pair.theirs();
    let made = pair
        .command(Path::new("sh"), &folder)
        .args(["-c", script])
        .output();
    let made = Run::from(made.unwrap());
    assert_eq!(made.code, 0, "{made:?}");
    copy_to_ours(&pair);
    pair
}

/// Makes our folder a copy of theirs, so that dates are the same.
fn copy_to_ours(pair: &Pair) {
    std::fs::remove_dir_all(pair.ours()).unwrap();
    let mut copy = std::process::Command::new("cp");
    copy.arg("-a").args([pair.theirs(), pair.ours()]);
    assert!(copy.status().unwrap().success());
}

#[test]
fn words_that_make_no_sense() {
    walk(
        "
        foo
        info
        info nonexist
        info dir
        info file:///x
        info r x
        info -r 3 r
        info --bogus
        info --quiet=1 r
        -M x info r
        -M -1 info r
        -r a:b info r
        -r1 -r2 info r
        -r
        --revision
        -qZ info r
        --version -q x
        --version -r 3
        --version -q
        help foo
        create
        create r
        create r/x/y
        create no/such/folder
        create --fs-type foo x
        create text
        create dir
        create --compatible-version 1.0 x
        create --compatible-version 0.9 x
        create --compatible-version 1.15 x
        create --compatible-version a.b x
        create --compatible-version 1 x
        create --compatible-version 1.8 --fs-type fsx x
        setlog r
        setlog r x
        setlog r -r 0:1 x
        setlog -r HEAD r x
        setlog -r5 r nofile
        setlog -r99 r text
        setlog -r0 r text
        lstxns -r 50 r
        lstxns -r 0:0 r
        lstxns -r 3 r
        rmtxns r 0-1 xx
        rmlocks r
        rmlocks nonexist
        rmlocks r a /b //c/
        lock r
        lock r iota jo text
        lock r trunk jo text
        lock r trunk/f2 jo nofile
        lock r trunk/f2 jo binary
        lock r trunk/f2 jo text token
        unlock r iota jo tok
        rev-size r
        rev-size r -r50
        rev-size -q r -r HEAD
        deltify r -r 30
        deltify r -r 3:1
        deltify r -r BASE
        freeze r
        freeze r -- nosuchprogram a
        freeze nonexist ls
        freeze r -- sh -c kill^-9^$$
        freeze -F nofile -- ls
        freeze -F text
        list-dblogs nonexist
        setuuid r x
        setuuid r x y
        setrevprop r -t 0-1 a text
        setrevprop r -t x a text
        setrevprop r -t 0-1 --use-pre-revprop-change-hook a text
        setrevprop r -r0 a svn://x/y
        setrevprop r -r99 a text
        setrevprop r -r0 a mixed
        setrevprop r -r0 a binary
        setrevprop r -r0 svn:date text
        setrevprop r -r0 svn:wc:x text
        setrevprop r -r0 --use-pre-revprop-change-hook a text
        delrevprop r -r0 -t x a
        delrevprop r a
        recover nonexist
        upgrade nonexist
        recover r x
        pack r x
        pack nonexist
        hotcopy r
        hotcopy nonexist h
        hotcopy r r
        hotcopy r dir
        hotcopy r no/such/folder
        hotcopy r file:///x
        build-repcache -r 1:0 r
        build-repcache -r 99 r
        lslocks r a b
        lslocks r .svn
        lslocks r trunk/.svn@2
        lslocks r svn://x/y/../z
        lslocks r svn://x/y@3
        ",
    );
}

#[test]
fn what_changes_a_repository() {
    let pair = walk(
        "
        info r
        setrevprop r -r1 a crlf
        setrevprop r -r1 --use-post-revprop-change-hook b text
        setrevprop r -r2 svn:log empty
        delrevprop r -r3 svn:author
        delrevprop r -r3 none
        setlog -r4 --bypass-hooks r text
        setuuid r 01234567-89ab-cdef-0123-456789abcdef
        lock r trunk/f2 jo text opaquelocktoken:1
        lock r //trunk/f3/ jo crlf opaquelocktoken:2
        lock -q r trunk/f4 jo empty opaquelocktoken:3
        lock --bypass-hooks r trunk/f5 jo empty opaquelocktoken:4
        lock r trunk/f2 kim text
        unlock r trunk/f3 kim opaquelocktoken:2
        unlock r trunk/f3 jo opaquelocktoken:1
        unlock r trunk/f3 jo opaquelocktoken:2
        rmlocks r trunk/f2 trunk/f2
        rmlocks -q r trunk/f4 trunk/f9
        unlock -q --bypass-hooks r trunk/f5 jo opaquelocktoken:4
        lslocks r
        deltify r
        deltify -q r
        deltify -r 1:3 r
        deltify -r {2001-01-01} r
        rev-size -r 0 r
        rev-size -r 5 -q r
        freeze r -- sh -c exit^3
        freeze r -- sh -c echo^hi;echo^ho>&2
        list-dblogs r
        list-unused-dblogs r
        create new
        ",
    );
    for name in ["README.txt", "conf", "hooks", "locks"] {
        // Names and permissions; the words are ours.
        let list = |folder: &Path| {
            let path = folder.join("new").join(name);
            let script = "find $0 -printf '%P %y %m\\n' | LC_ALL=C sort";
            let mut shell = pair.command(Path::new("sh"), folder);
            shell.args(["-c", script]).arg(path);
            Run::from(shell.output().unwrap())
        };
        assert_eq!(list(&pair.ours()), list(&pair.theirs()), "{name}");
    }
    pair.each(|folder| std::fs::remove_dir_all(folder.join("new")).unwrap());
    // Setting the UUID makes a new instance ID.
    pair.each(|folder| std::fs::remove_file(folder.join("r/db/uuid")).unwrap());
    pair.assert_same_tree("r");
}

#[test]
fn locks_are_described() {
    let pair = scene();
    let script = "svnadmin lock -q r trunk/f2 jo text opaquelocktoken:1
        svnadmin lock -q r trunk/f3 jo empty opaquelocktoken:2
        svnadmin lock -q r trunk/f4 jo crlf opaquelocktoken:3
        mkdir new; cp text new/at@2; svn import -q -m at new file://$PWD/r/trunk; rm -r new
        svnadmin lock -q r trunk/at@2 jo text";
    let shell = pair
        .command(Path::new("sh"), &pair.theirs())
        .args(["-ec", script])
        .output();
    assert_eq!(Run::from(shell.unwrap()).code, 0);
    copy_to_ours(&pair);
    let sorted = |program: &str, folder: &Path, line: &str| {
        let mut lines: Vec<String> = run(&pair, program, folder, line)
            .stdout
            .lines()
            .map(str::to_owned)
            .collect();
        lines.sort();
        lines
    };
    for line in [
        "lslocks r",
        "lslocks r /trunk/f2",
        "lslocks r trunk",
        "lslocks r none",
        "lslocks r none/../trunk/./f2",
        "lslocks r trunk/f2@",
        "lslocks r trunk/at@2",
        "lslocks r trunk/at@2@",
    ] {
        assert_eq!(
            sorted(SVNADMIN, &pair.ours(), line),
            sorted("svnadmin", &pair.theirs(), line),
            "{line}"
        );
    }
}

#[test]
fn transactions_are_listed_changed_and_removed() {
    let pair = scene();
    let script =
        "printf '#!/bin/sh\nkill -9 $PPID\n' > r/hooks/pre-commit; chmod +x r/hooks/pre-commit
        svn mkdir -q -m x file://$PWD/r/new || true
        rm r/hooks/pre-commit; svnadmin lstxns r";
    let shell = pair
        .command(Path::new("sh"), &pair.theirs())
        .args(["-ec", script])
        .output();
    let name = Run::from(shell.unwrap()).stdout;
    let name = name.trim();
    assert!(name.starts_with("11-"), "{name}");
    copy_to_ours(&pair);
    let lines = "
        lstxns r
        lstxns -r 8 r
        lstxns -r HEAD r
        setrevprop r -t TXN svn:log crlf
        setrevprop r -t TXN other binary
        delrevprop r -t TXN svn:date
        ";
    walk_in(&pair, &lines.replace("TXN", name));
    pair.assert_same_tree("r/db/transactions");
    let lines = "rmtxns r TXN TXN\nlstxns r\nrmtxns -q r TXN";
    walk_in(&pair, &lines.replace("TXN", name));
    pair.assert_same_tree("r/db");
}

#[test]
fn administration_of_whole_repositories() {
    let pair = walk(
        "
        recover r
        upgrade r
        hotcopy r copy
        hotcopy r copy
        hotcopy --incremental r copy
        hotcopy -q --clean-logs r quiet
        pack r
        pack r
        pack -q r
        hotcopy --incremental r copy
        info r
        build-repcache r
        build-repcache -q -r 3 r
        build-repcache -r 3:5 r
        rev-size -r 5 r
        rev-size -r 11 r
        ",
    );
    pair.each(|folder| {
        for name in ["r", "copy", "quiet"] {
            let line = format!("verify -q {name}");
            assert_eq!(run(&pair, "svnadmin", folder, &line).code, 0, "{name}");
        }
    });
    pair.each(|folder| {
        for name in ["r", "copy", "quiet"] {
            for file in ["rep-cache.db", "uuid"] {
                std::fs::remove_file(folder.join(name).join("db").join(file)).unwrap();
            }
        }
        std::fs::remove_dir_all(folder.join("copy/locks")).unwrap();
        std::fs::remove_dir_all(folder.join("quiet/locks")).unwrap();
    });
    pair.assert_same_tree("r");
    pair.assert_same_tree("quiet");
    pair.assert_same_tree("copy");
}

#[test]
fn repositories_of_old_formats_are_made_and_upgraded() {
    for minor in [1, 3, 4, 5, 6, 7, 8, 9, 10, 14] {
        let pair = Pair::new(SVN);
        let lines = format!("create --compatible-version 1.{minor} r\ninfo r\nupgrade r\ninfo r");
        let without_uuid = |program: &str, folder: &Path, line: &str| {
            let mut run = run(&pair, program, folder, line);
            let lines = run.stdout.lines().filter(|line| !line.starts_with("UUID"));
            run.stdout = lines.collect::<Vec<_>>().join("\n");
            run
        };
        for line in lines.lines() {
            assert_eq!(
                without_uuid(SVNADMIN, &pair.ours(), line),
                without_uuid("svnadmin", &pair.theirs(), line),
                "{line} after 1.{minor}"
            );
        }
        assert_eq!(run(&pair, "svnadmin", &pair.ours(), "verify -q r").code, 0);
    }
    let pair = Pair::new(SVN);
    walk_in(
        &pair,
        "
        create --pre-1.4-compatible a
        create --pre-1.5-compatible b
        create --pre-1.6-compatible c
        create --bdb-txn-nosync --bdb-log-keep --config-dir nowhere d
        ",
    );
    let formats = |folder: &Path| {
        let script = "cat ?/format ?/db/format; ls ?";
        let mut shell = pair.command(Path::new("sh"), folder);
        Run::from(shell.args(["-c", script]).output().unwrap())
    };
    assert_eq!(formats(&pair.ours()), formats(&pair.theirs()));
}

#[test]
fn other_kinds_of_file_systems_are_not_supported() {
    let pair = Pair::new(SVN);
    let made = run(&pair, SVNADMIN, &pair.ours(), "create --fs-type bdb b");
    assert_eq!(
        made.stderr,
        "svnadmin: warning: The \"bdb\" repository back-end is deprecated, consider using \"fsfs\" \
         instead.\nsvnadmin: E160033: Failed to load module for FS type 'bdb'\n"
    );
    let made = run(&pair, SVNADMIN, &pair.ours(), "create --fs-type fsx b");
    let refused = "svnadmin: E160033: Failed to load module for FS type 'fsx'\n";
    assert_eq!((made.code, made.stderr.as_str()), (1, refused));
    assert!(!pair.ours().join("b").exists());
}

/// Runs a line with a fault at one durable step, each time `stride` steps later, until it comes to
/// its end. After each, what is a repository is whole, the line does its work when it is run again, and commits go on.
fn break_steps(pair: &Pair, stride: usize, prepare: &str, repositories: &[&str], line: &str) {
    let folder = pair.ours();
    let shell = |script: &str| {
        let run = pair
            .command(Path::new("sh"), &folder)
            .args(["-ec", script])
            .output();
        Run::from(run.unwrap())
    };
    let verify = |when: &str| {
        for name in repositories {
            if folder.join(name).join("format").exists() {
                let verified = run(pair, "svnadmin", &folder, &format!("verify -q {name}"));
                assert_eq!((verified.code, verified.stderr.as_str()), (0, ""), "{when}");
            }
        }
    };
    let all = std::env::var_os("SYLVAN_TEST_STRIDE").is_some();
    let stride = if all { 1 } else { stride };
    for (kind, error) in [("kill", ""), ("fail", ""), ("fail-from", ":ENOSPC")] {
        let mut passed = 0;
        for step in (1..).step_by(stride) {
            let plan = format!("{kind}:{step}{error}");
            let prepared = shell(prepare);
            assert_eq!(prepared.code, 0, "{prepared:?}");
            let mut broken = pair.command(Path::new(SVNADMIN), &folder);
            broken.args(line.split(' ')).env("SYLVAN_FAULT", &plan);
            let broken = Run::from(broken.output().unwrap());
            verify(&format!("{line}, {plan}: {broken:?}"));
            // Some steps may fail.
            passed = if broken.code == 0 { passed + 1 } else { 0 };
            if passed > 4 || passed > 0 && !all {
                assert!(step > 5, "{line} has no steps");
                break;
            }
            if broken.code == 0 {
                continue;
            }
            let again = run(pair, SVNADMIN, &folder, line);
            assert_eq!(again.code, 0, "{line} after {plan}: {again:?}");
            verify(&format!("{line} after {plan}"));
            let next = shell(&format!(
                "svn mkdir -q -m next file://$PWD/{}/next",
                repositories[0]
            ));
            assert_eq!(next.code, 0, "a commit after {plan}: {next:?}");
        }
    }
}

#[test]
fn a_fault_at_any_step_damages_nothing() {
    let pair = scene();
    let fresh = "rm -rf w; cp -a r w";
    break_steps(&pair, 1, fresh, &["w"], "setrevprop w -r 3 a text");
    break_steps(&pair, 1, fresh, &["w"], "setuuid w");
    break_steps(&pair, 12, fresh, &["w"], "pack -q w");
    let packed = run(&pair, SVNADMIN, &pair.ours(), "pack -q r");
    assert_eq!(packed.code, 0);
    break_steps(&pair, 1, fresh, &["w"], "setrevprop w -r 3 a text");
}

#[test]
fn a_fault_at_any_step_of_an_upgrade_damages_nothing() {
    let pair = scene();
    let old = "rm -rf w old; svnadmin create --compatible-version 1.4 old
        svn mkdir -q -m x file://$PWD/old/trunk; cp -a old w";
    break_steps(&pair, 1, old, &["w"], "upgrade w");
}

#[test]
fn a_fault_at_any_step_of_a_copy_damages_nothing() {
    let pair = scene();
    let script = "cp -a r base; svnadmin hotcopy -q base copy
        for i in 1 2 3; do svn mkdir -q -m $i file://$PWD/base/x$i; done";
    let shell = pair
        .command(Path::new("sh"), &pair.ours())
        .args(["-ec", script])
        .output();
    assert_eq!(Run::from(shell.unwrap()).code, 0);
    let fresh = "rm -rf w; cp -a copy w";
    break_steps(
        &pair,
        17,
        fresh,
        &["w", "base"],
        "hotcopy -q --incremental base w",
    );
}
