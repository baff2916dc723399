//! `svnlook` beside Debian's, on one repository.

use std::path::Path;
use std::process::Command;

use sylvan_testutil::{Run, Sandbox};

use crate::SVNLOOK;

/// Runs a call in the sandbox.
fn run(sandbox: &Sandbox, program: &str, args: &[String]) -> Run {
    let mut command = Command::new(program);
    command
        .args(args)
        .current_dir(sandbox.path())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", sandbox.join("home"))
        .env("LC_ALL", "C.UTF-8")
        .env("TZ", "Europe/Berlin")
        .stdin(std::process::Stdio::null());
    let output = command.output();
    Run::from(output.unwrap_or_else(|error| panic!("{program} does not start: {error}")))
}

/// Splits a line into words; `'` quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (at, part) in line.split('\'').enumerate() {
        if at % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// Compares all calls; `TXN` stands for a transaction's name.
fn compare(sandbox: &Sandbox, calls: &str, txn: &str) {
    let mut differ = Vec::new();
    for line in calls.lines() {
        let args = words(&line.replace("TXN", txn));
        let ours = run(sandbox, SVNLOOK, &args);
        let theirs = run(sandbox, "svnlook", &args);
        let in_order = |run: &Run| {
            let mut lines: Vec<&str> = run.stdout.lines().collect();
            // Properties come in no order there.
            if args.first().is_some_and(|command| command == "proplist") {
                lines.sort_unstable();
            }
            (run.code, lines.join("\n"), run.stderr.clone())
        };
        if in_order(&ours) != in_order(&theirs) {
            differ.push(format!(
                "svnlook {line}\nours: {ours:#?}\ntheirs: {theirs:#?}"
            ));
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n\n"));
}

#[test]
fn everything_is_shown_as_by_subversion() {
    let sandbox = Sandbox::new();
    sandbox.sh(include_str!("look/make.sh"));
    let txn = sandbox.sh("ls repo/db/transactions");
    let txn = txn.trim().trim_end_matches(".txn");
    compare(&sandbox, include_str!("look/commands"), txn);
}

#[test]
fn old_formats_are_looked_at() {
    for version in ["1.3", "1.5", "1.8"] {
        let sandbox = Sandbox::new();
        sandbox.sh(&format!(
            "rm -r repo; svnadmin create --compatible-version {version} repo
             svn checkout -q $URL wc; cd wc; mkdir a; echo 1 > a/f; svn add -q a; svn ci -qm 1
             svn up -q; svn cp -q a b; echo 2 > b/f; svn ps -q p v b; svn rm -q a; svn ci -qm 2"
        ));
        compare(
            &sandbox,
            "changed repo\nchanged repo --copy-info\ndiff repo\ndirs-changed repo\n\
             history repo b/f --show-ids\ntree repo --show-ids\nproplist repo b",
            "",
        );
    }
}

#[test]
fn large_files_are_compared_in_bounded_memory() {
    let sandbox = Sandbox::new();
    sandbox.sh(
        "svn checkout -q $URL wc; cd wc; seq -f %0300.0f 1 20000 > f; svn add -q f; svn ci -qm 1
         sed -i 's/1234$/x/; s/9999$/y/' f; svn ci -qm 2; mkdir ../tmp",
    );
    let theirs = sandbox.run("svnlook", &["diff", "repo"]);
    let mut command = Command::new(SVNLOOK);
    command.args(["diff", "repo"]).current_dir(sandbox.path());
    let output = command.env("TMPDIR", sandbox.join("tmp")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.stdout == theirs.stdout, "the differences differ");
    assert!(is_empty(&sandbox.join("tmp")), "a temporary file is left");
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().next().is_none()
}
