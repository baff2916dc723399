//! `svnauthz` beside Debian's, byte for byte.

use std::os::unix::fs::symlink;
use std::process::Command;

use sylvan_testutil::{Run, Sandbox};

use crate::SVNAUTHZ;

fn run(sandbox: &Sandbox, program: &str, args: &[&str]) -> Run {
    let output = Command::new(program)
        .args(args)
        .current_dir(sandbox.path())
        .env("LC_ALL", "C.UTF-8")
        .output()
        .unwrap_or_else(|error| panic!("{program} does not start: {error}"));
    Run {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn both(sandbox: &Sandbox, args: &[&str]) -> Run {
    let theirs = run(sandbox, "/usr/bin/svnauthz", args);
    assert_eq!(run(sandbox, SVNAUTHZ, args), theirs, "{args:?}");
    theirs
}

const RULES: &str = "[groups]
devs = ann, bob
none =
[/]
* = r
@none = rw
[calc:/trunk]
@devs = rw
[:glob:/**/*.key]
* =
bob = r
";

#[test]
fn answers_are_debians() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.join("rules"), RULES).unwrap();
    std::fs::write(sandbox.join("bad"), "[/]\n~* = r\n").unwrap();
    std::fs::write(sandbox.join("worse"), "[/\n").unwrap();
    std::fs::write(sandbox.join("no-groups"), "[/]\n@devs = rw\n").unwrap();
    std::fs::write(sandbox.join("groups"), "[groups]\ndevs = ann\n").unwrap();
    for line in [
        "validate rules",
        "validate ./rules",
        "validate bad",
        "validate worse",
        "validate no-groups",
        "validate none",
        "validate .",
        "validate /dev/null",
        "validate",
        "validate a b",
        "validate ^/rules",
        "validate http://localhost/rules",
        "validate file:///none/rules",
        "validate -t 0-0 repo",
        "validate -t 0-0 repo file:///x",
        "validate --username x rules",
        "validate --version rules",
        "accessof rules",
        "accessof rules --path /trunk",
        "accessof rules --path trunk --username ann",
        "accessof rules --path /trunk --username ann --repository calc",
        "accessof rules --path /trunk --username ann --repository calc -R",
        "accessof rules --path //trunk/./x/ --username=ann --repository calc",
        "accessof rules --path /x.key --username bob",
        "accessof rules --path /x.key --username eve",
        "accessof rules --path /x.key --username eve --is no",
        "accessof rules --path /x.key --username eve --is rw",
        "accessof rules --path /x.key --username bob --is r",
        "accessof rules --username bob --is no",
        "accessof rules --is r",
        "accessof rules --is rx",
        "accessof rules -R",
        "accessof no-groups --groups-file groups --username ann",
        "accessof no-groups --groups-file groups --username ann --path /",
        "accessof no-groups --groups-file none",
        "accessof rules --groups-file groups",
        "accessof",
        "accessof rules --path",
        "bogus",
        "--bogus",
        "-q",
        "--version --path x",
        "help bogus",
        "",
    ] {
        let args: Vec<_> = line.split_whitespace().collect();
        both(&sandbox, &args);
    }
}

#[test]
fn rules_may_be_in_a_repository() {
    let sandbox = Sandbox::new();
    sandbox.sh(
        "svn checkout -q $URL wc; mkdir wc/conf; printf '[/]\\n* = r\\n' >wc/conf/authz
         printf '[x]\\n' >wc/conf/bad; svn add -q wc/conf; svn commit -q -m m wc
         svnadmin dump -q repo >/dev/null",
    );
    let url = sandbox.url();
    for line in [
        format!("validate {url}/conf/authz"),
        format!("validate {url}/conf//authz"),
        format!("accessof {url}/conf/authz --path / --username x"),
        format!("validate {url}/conf/bad"),
        format!("validate {url}/conf/none"),
        format!("validate {url}/conf"),
        "validate -t 1-1 repo conf/authz".to_owned(),
        "validate -t 1-1 none conf/authz".to_owned(),
    ] {
        let args: Vec<_> = line.split_whitespace().collect();
        both(&sandbox, &args);
    }
}

#[test]
fn help_and_version_are_ours() {
    let sandbox = Sandbox::new();
    for args in [
        &["help"][..],
        &["-h"],
        &["help", "validate", "accessof"],
        &["--version"],
    ] {
        let ours = run(&sandbox, SVNAUTHZ, args);
        assert_eq!((ours.code, ours.stderr.as_str()), (0, ""));
        let theirs = run(&sandbox, "/usr/bin/svnauthz", args).stdout;
        // What scripts look for is there.
        for line in theirs.lines().filter(|line| line.starts_with("usage:")) {
            assert!(ours.stdout.contains(line), "{line}");
        }
    }
}

#[test]
fn the_old_name_only_validates() {
    let sandbox = Sandbox::new();
    let old = sandbox.join("svnauthz-validate");
    symlink(SVNAUTHZ, &old).unwrap();
    std::fs::write(sandbox.join("rules"), RULES).unwrap();
    for args in [&["rules"][..], &["none"], &["--help"], &["a", "b"]] {
        let theirs = run(&sandbox, "/usr/bin/svnauthz-validate", args);
        assert_eq!(
            run(&sandbox, old.to_str().unwrap(), args),
            theirs,
            "{args:?}"
        );
    }
    let help = run(&sandbox, old.to_str().unwrap(), &[]);
    assert!(help.code == 0 && help.stdout.starts_with("general usage: svnauthz"));
}
