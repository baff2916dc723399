//! Local operations, commits and merges that are killed at each of their durable steps.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use sylvan_testutil::{Run, tree, wc_rows};

use crate::SVN;

/// More steps than any of these operations has.
const MANY: usize = 1000;

/// A repository with two revisions, and a working copy of the first with local changes.
const BEGINNING: &str = r#"set -e; svnadmin create repo; svn checkout -q "$URL" wc; cd wc
mkdir -p a/b c; printf '1\n2\n3\n4\n5\n' > a/merged; cp a/merged a/conflict; echo x > a/b/x
echo '$Rev$' > c/keys; echo gone > c/gone; svn add -q a c; svn propset -q svn:keywords Rev c/keys
svn propset -q p v a; svn commit -qm1; svn update -q
sed -i s/1/one/ a/merged; sed -i s/3/theirs/ a/conflict; svn rm -q c/gone; echo n > c/new
svn add -q c/new; svn propset -q p theirs a; svn commit -qm2; svn update -qr1
sed -i s/5/five/ a/merged; sed -i s/3/mine/ a/conflict; svn propset -q q mine a
echo plain > a/b/added; svn add -q a/b/added; echo free > a/b/unversioned
svn move -q a/b/x c/x; echo 2 >> c/keys"#;

struct Scene {
    dir: tempfile::TempDir,
    /// How many threads the program under test is to have.
    workers: Option<&'static str>,
}

type State = (Vec<String>, BTreeMap<&'static str, Vec<String>>);

impl Scene {
    /// Makes what [`BEGINNING`] says, and what `more` does in the working copy.
    fn new(more: &str) -> Self {
        let scene = Self {
            dir: tempfile::tempdir().unwrap(),
            workers: None,
        };
        let made = scene.sh(&format!(
            "{BEGINNING}\n{more}\ncd ..; mkdir saved; cp -a repo wc saved"
        ));
        assert_eq!((made.code, &*made.stderr), (0, ""), "{}", made.stdout);
        scene
    }

    fn sh(&self, script: &str) -> Run {
        let url = format!("file://{}/repo", self.dir.path().display());
        self.run(Command::new("sh").args(["-c", script]).env("URL", url))
    }

    fn run(&self, command: &mut Command) -> Run {
        command
            .current_dir(self.dir.path())
            .env("LC_ALL", "C.UTF-8")
            .env("HOME", self.dir.path());
        Run::from(command.output().unwrap())
    }

    fn svn(&self, program: &str, args: &str, plan: Option<String>) -> Run {
        let mut command = Command::new(program);
        command.current_dir(self.wc()).args(args.split(' '));
        if let Some(plan) = plan {
            command.env("SYLVAN_FAULT", plan);
        }
        if let Some(workers) = self.workers {
            command.env("SYLVAN_WORKERS", workers);
        }
        command
            .env("LC_ALL", "C.UTF-8")
            .env("HOME", self.dir.path());
        Run::from(command.output().unwrap())
    }

    fn wc(&self) -> PathBuf {
        self.dir.path().join("wc")
    }

    fn restore(&self) {
        let restored = self.sh("rm -rf repo wc; cp -a saved/repo saved/wc .");
        assert_eq!(restored.code, 0, "{}", restored.stderr);
    }

    /// Returns what is on disk and in the database, without pristine texts that nothing uses, times of
    /// commits, and what cleanup records of files.
    fn state(&self) -> State {
        const LEFT_OUT: [&str; 3] = ["translated_size=", "last_mod_time=", "changed_date="];
        let mut tables = wc_rows(&self.wc());
        tables.remove("PRISTINE");
        for row in tables.values_mut().flatten() {
            let kept = row.split('|').filter(|column| {
                let name = LEFT_OUT.iter().find(|name| column.starts_with(**name));
                name.is_none()
            });
            *row = kept.collect::<Vec<_>>().join("|");
        }
        (tree(&self.wc()), tables)
    }

    /// Kills `operation` at each step, and lets cleanup of either program in turn do what is left;
    /// `judge` then says what must hold.
    fn kill_everywhere(&self, operation: &str, judge: impl Fn(&State, &str)) {
        for step in 1..MANY {
            self.restore();
            let killed = self.svn(SVN, operation, Some(format!("kill:{step}")));
            let what = format!("step {step} of {operation}: {}", killed.stderr);
            if killed.code == 0 {
                assert!(step > 2, "{operation} has no steps");
                return;
            }
            let program = if step % 2 == 1 { SVN } else { "svn" };
            let cleaned = self.svn(program, "cleanup", None);
            assert_eq!(cleaned.code, 0, "cleanup after {what}: {}", cleaned.stderr);
            judge(&self.state(), &what);
        }
        panic!("{operation} never succeeds");
    }

    /// Requires the state before or after `operation`, wherever it is killed.
    fn is_whole_or_not_done(&self, operation: &str) {
        let before = self.state();
        let done = self.svn(SVN, operation, None);
        assert_eq!(done.code, 0, "{operation}: {}", done.stderr);
        let after = self.state();
        assert!(before != after, "{operation} does nothing");
        self.kill_everywhere(operation, |state, what| {
            let near = if state.1 == before.1 { &before } else { &after };
            assert_eq!(state, near, "{what}");
        });
    }

    /// Requires `operation` to go on, wherever it is killed, by being done again; `then` settles what it
    /// may tell of what was half done.
    fn goes_on(&self, operation: &str, then: &str) {
        let done = self.svn(SVN, operation, None);
        assert_eq!(done.code, 0, "{operation}: {}", done.stderr);
        self.svn(SVN, then, None);
        let after = without_markers(self.state());
        self.kill_everywhere(operation, |_, what| {
            let again = self.svn(SVN, operation, None);
            assert_eq!(again.code, 0, "after {what}: {}", again.stderr);
            self.svn(SVN, then, None);
            assert_eq!(without_markers(self.state()), after, "{what}");
        });
    }
}

/// A kill may leave an empty file with the name that a file beside a conflict was to have, as with
/// Subversion; the next one gets another name.
fn without_markers((mut tree, mut tables): State) -> State {
    tree.retain(|line| !line.starts_with("/a/conflict."));
    for row in tables.values_mut().flatten() {
        for number in 2..9 {
            *row = row.replace(&format!("conflict.{number}."), "conflict.");
        }
    }
    (tree, tables)
}

macro_rules! whole_or_not {
    ($($test:ident: $operation:literal),* $(,)?) => {
        $(#[test]
        fn $test() {
            Scene::new("").is_whole_or_not_done($operation);
        })*
    };
}

whole_or_not!(
    killed_add: "add --force a",
    killed_delete: "delete --force a",
    killed_copy: "copy a copied",
    killed_move: "move a moved",
    killed_revert: "revert -R .",
    killed_propset: "propset -R svn:eol-style native .",
);

#[test]
fn killed_commit() {
    let scene = Scene::new("svn revert -q a/conflict; svn update -q");
    scene.is_whole_or_not_done("commit -m three");
    let verified = scene.sh("svnadmin verify -q repo; svnlook youngest repo");
    assert_eq!((&*verified.stdout, &*verified.stderr), ("3\n", ""));
}

#[test]
fn killed_resolve() {
    let scene = Scene::new("svn update -q --accept postpone");
    scene.is_whole_or_not_done("resolve --accept theirs-full a/conflict");
}

#[test]
fn killed_merging_update() {
    Scene::new("").goes_on("update --accept postpone", "status");
}

/// As on a network file system: files are replaced in batches from many threads.
#[test]
fn killed_update_far_away() {
    let mut scene = Scene::new(
        r#"svn revert -q -R .; svn cleanup -q --remove-unversioned; mkdir d; cd d
for n in 1 2 3 4 5 6 7 8 9; do echo $n > f$n; done; cp f1 f10; cd ..; svn add -q d; svn commit -qm3
svn update -q; for n in 1 2 3 4 5 6 7 8; do echo more >> d/f$n; done; svn rm -q d/f9
svn commit -qm4; svn update -qr3"#,
    );
    scene.workers = Some("16");
    scene.goes_on("update", "status");
}

#[test]
fn killed_revert_far_away() {
    let mut scene = Scene::new("for f in a/merged a/conflict c/keys; do echo x >> $f; done");
    scene.workers = Some("16");
    scene.is_whole_or_not_done("revert -R .");
}

#[test]
fn killed_merging_switch() {
    let scene = Scene::new("svn copy -qm3 ^/a@2 ^/branch");
    // As with Subversion, a move whose source was switched, but not its target, is a tree conflict.
    scene.goes_on(
        "switch --accept postpone --ignore-ancestry ^/branch a",
        "resolve --accept mine-conflict a/b/x",
    );
}
