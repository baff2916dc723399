//! Local changes met by what comes in: scenes that Debian's svn prepares, in which both programs
//! then do the same.
//!
//! A scene in the files of `merging/` is a line `== NAME`, lines of shell that prepare a working copy
//! `wc` of `$URL`, and steps: `$ …` is run by the program under test and by Debian's, each in its
//! own copy, `% …` by Debian's in both. After each step output, disk and database must be equal.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sylvan_testutil::{Run, tree, wc_rows};

use crate::SVN;

struct Stage {
    scratch: tempfile::TempDir,
}

impl Stage {
    fn new() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        for name in ["base", "home", "bin-ours", "bin-theirs"] {
            fs::create_dir(scratch.path().join(name)).unwrap();
        }
        symlink(SVN, scratch.path().join("bin-ours/svn")).unwrap();
        symlink("/usr/bin/svn", scratch.path().join("bin-theirs/svn")).unwrap();
        Self { scratch }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.scratch.path().join(below)
    }

    fn sh(&self, script: &str, folder: &str, svn: &str) -> Run {
        let path = std::env::var("PATH").unwrap_or_default();
        let bin = self.path(&format!("bin-{svn}"));
        let output = Command::new("sh")
            .args(["-c", script])
            .current_dir(self.path(folder))
            .env_clear()
            .env("PATH", format!("{}:{path}", bin.display()))
            .env("HOME", self.path("home"))
            .env("LC_ALL", "C.UTF-8")
            .env("TZ", "UTC")
            .env("URL", format!("file://{}", self.path("repo").display()))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        Run::from(output)
    }

    /// What a step left behind, as text that must be equal.
    fn state(&self, who: &str) -> Vec<String> {
        let mut lines = tree(&self.path(who));
        let wc = self.path(who).join("wc");
        for (table, rows) in wc_rows(&wc) {
            let kept = rows
                .into_iter()
                // Texts that nothing refers to are garbage.
                .filter(|row| !row.contains("refcount=0|"));
            lines.extend(kept.map(|row| format!("{table} {row}")));
        }
        lines
    }
}

/// Leaves out what differs for good reason: where the copies are, names of temporary files, and what
/// Subversion tells of its search for moves, of which empty lines stay.
fn normal(text: &str, stage: &Stage) -> String {
    let mut kept = String::new();
    for line in text.replace('\r', "\n").lines() {
        let skipped = line.starts_with("Searching tree conflict details")
            || line.trim_start().starts_with("Checking r")
            || line.trim().is_empty();
        if !skipped {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    for who in ["ours", "theirs"] {
        kept = kept.replace(&stage.path(who).display().to_string(), "HERE");
    }
    while let Some(at) = kept.find(".svn/tmp/") {
        let end = kept[at..]
            .find(['\n', ' ', '\''])
            .map_or(kept.len(), |end| at + end);
        kept.replace_range(at..end, "TEMPORARY");
    }
    kept
}

fn play(name: &str, lines: &[&str]) {
    let stage = Stage::new();
    let is_step = |line: &&str| line.starts_with("$ ") || line.starts_with("% ");
    let first = lines.iter().position(is_step).unwrap_or(lines.len());
    let (prepare, steps) = lines.split_at(first);
    let checkout = if lines.iter().any(|line| line.contains("$URL")) {
        "svnadmin create ../repo && svn mkdir -qm0 $URL/trunk && svn co -q $URL/trunk wc"
    } else {
        "svnadmin create ../repo && svn co -q $URL wc"
    };
    let script = format!("set -e\n{checkout}\n{}", prepare.join("\n"));
    let made = stage.sh(&script, "base", "theirs");
    assert_eq!((made.code, &*made.stderr), (0, ""), "{name} is prepared");
    for who in ["ours", "theirs"] {
        let copied = stage.sh(&format!("cp -a base {who}"), "", "theirs");
        assert_eq!(copied.code, 0);
    }
    for step in steps {
        let command = step.get(2..).filter(|_| is_step(step)).unwrap_or(step);
        let program = if step.starts_with("$ ") {
            "ours"
        } else {
            "theirs"
        };
        let ours = stage.sh(command, "ours", program);
        let theirs = stage.sh(command, "theirs", "theirs");
        let told = |run: &Run| {
            format!(
                "{}\n{}\n{}",
                run.code,
                normal(&run.stdout, &stage),
                normal(&run.stderr, &stage)
            )
        };
        assert_eq!(told(&ours), told(&theirs), "{name}: {step}");
        let (ours, theirs) = (stage.state("ours"), stage.state("theirs"));
        let only = |some: &[String], others: &[String]| {
            let found = some.iter().filter(|line| !others.contains(line));
            found.cloned().collect::<Vec<_>>().join("\n")
        };
        assert!(
            ours == theirs,
            "{name}: {step}\nonly ours:\n{}\nonly theirs:\n{}",
            only(&ours, &theirs),
            only(&theirs, &ours)
        );
    }
}

fn play_all(file: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/merging")
        .join(file);
    let text = fs::read_to_string(path).unwrap();
    let mut scenes: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        match line.strip_prefix("== ") {
            Some(name) => scenes.push((name, Vec::new())),
            None => scenes.last_mut().unwrap().1.push(line),
        }
    }
    assert!(!scenes.is_empty());
    for (name, lines) in scenes {
        play(name, &lines);
    }
}

#[test]
fn updates_do_what_subversions_do() {
    play_all("update.txt");
}

#[test]
fn conflicts_are_settled_as_subversion_settles_them() {
    play_all("resolve.txt");
}

#[test]
fn switches_and_relocations_do_what_subversions_do() {
    play_all("switch.txt");
}
