//! Checkouts and updates that are broken at each of their durable steps, and then finished.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use sylvan_testutil::{Svnserve, tree, wc_rows};

use crate::SVN;

/// More steps than any of these operations has.
const MANY: u32 = 1000;

struct Scene {
    dir: tempfile::TempDir,
    server: Svnserve,
}

impl Scene {
    /// Makes a repository with two revisions of a small tree.
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let served = dir.path().join("served");
        fs::create_dir(&served).unwrap();
        let server = Svnserve::start(&served);
        let scene = Self { dir, server };
        let url = scene.server.create_repository("r");
        let script = format!(
            r#"set -e; export LC_ALL=C.UTF-8
            svn checkout -q {url} make; cd make; mkdir -p a/b empty
            echo one > f1; echo two > a/f2; echo two > a/b/same; : > a/b/none
            echo '$Rev$' > a/keys; printf '#!/bin/sh\n' > run; printf 'x\ny\n' > lines
            svn add -q f1 a empty run lines; svn propset -q svn:keywords Rev a/keys
            svn propset -q svn:executable x run; svn propset -q svn:eol-style CRLF lines
            svn propset -q p v a; svn commit -q -m 1; svn update -q
            echo more >> f1; svn rm -q a/b empty; echo 2 >> a/keys; svn propdel -q p a
            mkdir new; echo n > new/n; svn add -q new; svn propdel -q svn:executable run
            svn commit -q -m 2"#
        );
        let made = Command::new("sh")
            .args(["-c", &script])
            .current_dir(scene.dir.path())
            .status();
        assert!(made.unwrap().success());
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn run(&self, program: &str, plan: Option<String>, args: &[&str]) -> ExitStatus {
        let mut command = Command::new(program);
        command
            .args(args)
            .arg("-q")
            .current_dir(self.dir.path())
            .env("LC_ALL", "C.UTF-8")
            .env("HOME", self.dir.path())
            .env_remove("SYLVAN_FAULT");
        if let Some(plan) = plan {
            command.env("SYLVAN_FAULT", plan);
        }
        let run = command.output().unwrap();
        run.status
    }

    /// Breaks `operation` (with `before` done first) at each step; finishes it with ours after odd
    /// steps, with Subversion's own programs after even ones.
    fn break_everywhere(&self, plan: &str, suffix: &str, before: &[&[&str]], operation: &[&str]) {
        for args in before {
            assert!(self.run("svn", None, args).success());
        }
        let reference = self.path("reference");
        let _ = fs::remove_dir_all(&reference);
        assert!(self.run("svn", None, operation).success());
        fs::rename(self.path("wc"), &reference).unwrap();
        let wanted = state(&reference);
        for step in 1..MANY {
            for args in before {
                assert!(self.run("svn", None, args).success());
            }
            let broken = self.run(SVN, Some(format!("{plan}:{step}{suffix}")), operation);
            if broken.success() {
                assert!(step > 20, "only {step} steps");
                return;
            }
            let what = format!("{plan} at step {step} of {operation:?}");
            let finished = if step % 2 == 1 || !self.path("wc/.svn/wc.db").exists() {
                self.run(SVN, None, operation)
            } else {
                assert!(
                    self.run("svn", None, &["cleanup", "wc"]).success(),
                    "{what}"
                );
                self.run("svn", None, &["update", operation[1], "wc"])
            };
            assert!(finished.success(), "{what}");
            assert_eq!(state(&self.path("wc")), wanted, "{what}");
            fs::remove_dir_all(self.path("wc")).unwrap();
        }
        panic!("{operation:?} never succeeds");
    }
}

type State = (Vec<String>, BTreeMap<&'static str, Vec<String>>);

/// Returns what is on disk and in the database, without pristine texts that nothing uses.
fn state(wc: &Path) -> State {
    let mut rows = wc_rows(wc);
    rows.remove("PRISTINE");
    (tree(wc), rows)
}

#[test]
fn killed_checkouts_are_finished() {
    let scene = Scene::new();
    let url = scene.server.url("r");
    scene.break_everywhere("kill", "", &[], &["checkout", "-r2", &url, "wc"]);
}

#[test]
fn killed_updates_are_finished() {
    let scene = Scene::new();
    let url = scene.server.url("r");
    let before: &[&[&str]] = &[&["checkout", "-r1", &url, "wc"]];
    scene.break_everywhere("kill", "", before, &["update", "-r2", "wc"]);
}

#[test]
fn checkouts_on_a_full_disk_are_finished() {
    let scene = Scene::new();
    let url = scene.server.url("r");
    scene.break_everywhere(
        "fail-from",
        ":ENOSPC",
        &[],
        &["checkout", "-r2", &url, "wc"],
    );
}
