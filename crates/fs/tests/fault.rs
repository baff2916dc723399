//! Lets each durable step of what changes a file system fail, and kills the process there. In a
//! process of its own, since steps are counted for the whole process.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use sylvan_core::{RelPath, Revnum, Timestamp};
use sylvan_fs::lock::Access;
use sylvan_fs::{FileSystem, HotcopyMode, Options, PackOptions, Txn};
use sylvan_io::{Cancel, fault};
use sylvan_testutil::Sandbox;

type Result = sylvan_core::Result<()>;

/// Steps are counted for all threads.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Of the steps at which a process is killed, only some are tried, since each takes a second.
/// `SYLVAN_TEST_STRIDE` is another number, 1 for all of them.
const STRIDE: usize = 7;

fn stride() -> usize {
    let stride = std::env::var("SYLVAN_TEST_STRIDE").ok();
    stride.map_or(STRIDE, |stride| stride.parse().unwrap())
}

fn alone() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

fn now() -> Timestamp {
    Timestamp::from_micros(1_600_000_000_000_000)
}

fn commit(fs: &FileSystem, number: u64) -> Result {
    let mut txn = Txn::begin(fs, fs.youngest()?, now())?;
    let path = format!("file-{number}");
    let path = RelPath::new(&path)?;
    txn.make_file(path)?;
    let mut writer = txn.begin_text(path)?;
    writer.push(format!("content {number}\n").repeat(50).as_bytes())?;
    writer.finish(None)?;
    txn.set_node_prop(
        RelPath::ROOT,
        "number",
        Some(number.to_string().into_bytes()),
    )?;
    txn.commit(&Access::default(), now()).map(drop)
}

fn verify(fs: &FileSystem) {
    let (youngest, cancel) = (fs.youngest().unwrap(), Cancel::new());
    fs.verify_metadata(Revnum::ZERO, youngest, &cancel).unwrap();
    for number in 0..=youngest.number() {
        fs.verify_revision(Revnum::new(number).unwrap(), &cancel)
            .unwrap();
    }
}

#[test]
fn a_commit_that_fails_at_any_step_changes_nothing_and_the_next_succeeds() {
    let _alone = alone();
    for version in ["1.4", "1.14"] {
        let sandbox = Sandbox::new();
        // Each second revision begins a shard.
        sandbox.sh(&format!(
            "rm -rf repo; svnadmin create --compatible-version {version} repo; \
             sed -i 's/sharded 1000/sharded 2/' repo/db/format"
        ));
        let db = sandbox.join("repo/db");
        for step in 1.. {
            let fs = FileSystem::open(&db).unwrap();
            let before = fs.youngest().unwrap();
            fault::arm(&format!("fail:{step}:ENOSPC")).unwrap();
            let result = commit(&fs, step);
            let steps = fault::steps();
            fault::disarm();
            let fs = FileSystem::open(&db).unwrap();
            let after = fs.youngest().unwrap();
            match result {
                Ok(()) => assert_eq!(after, before.next(), "step {step}"),
                Err(error) => {
                    assert!(steps >= step, "{error:?}");
                    // Only bringing the name of `current` to the disk is after the change.
                    let late = error.to_lines("").contains("Can't flush file");
                    assert!(
                        after == before || late && after == before.next(),
                        "{error:?}"
                    );
                }
            }
            verify(&fs);
            commit(&fs, step + 1000).unwrap();
            if steps < step {
                assert!(step > 10, "there are more steps than that");
                break;
            }
        }
        verify(&FileSystem::open(&db).unwrap());
        sandbox.sh("svnadmin verify -q repo");
        assert_eq!(sandbox.sh("find repo/db -name 'svn-*' | wc -l"), "0\n");
    }
}

/// What is done to the file system in a folder `repo/db`.
fn operate(operation: &str, dir: &Path) -> Result {
    let (db, cancel) = (dir.join("repo/db"), Cancel::new());
    match operation {
        "commit" => {
            let fs = FileSystem::open(&db)?;
            let next = fs.youngest()?.next().number().cast_unsigned();
            commit(&fs, next)
        }
        "pack" => {
            let fs = FileSystem::open(&db)?;
            fs.pack(&PackOptions::default(), &cancel, &mut |_| Ok(()))
        }
        "upgrade" => FileSystem::upgrade(&db, Options::default(), &cancel, &mut |_| Ok(())),
        "hotcopy" => FileSystem::hotcopy(
            &db,
            &dir.join("copy/db"),
            HotcopyMode::Incremental,
            Options::default(),
            &cancel,
            &mut |_| Ok(()),
        ),
        "setrevprop" => {
            let fs = FileSystem::open(&db)?;
            for number in [2, 7] {
                let value = "a longer log message ".repeat(60);
                let revision = Revnum::new(number).unwrap();
                fs.change_revprop(revision, "svn:log", None, Some(value.as_bytes()))?;
            }
            Ok(())
        }
        _ => panic!("{operation}"),
    }
}

/// Begun by [`attempt`] in a process of its own.
#[test]
#[ignore = "kills its process"]
fn child() {
    let Ok(plan) = std::env::var("SYLVAN_TEST_PLAN") else {
        return;
    };
    let dir = std::env::current_dir().unwrap();
    let operation = std::env::var("SYLVAN_TEST_OPERATION").unwrap();
    fault::arm(&plan).unwrap();
    let result = operate(&operation, &dir);
    let steps = fault::steps();
    fault::disarm();
    std::fs::write(dir.join("steps"), steps.to_string()).unwrap();
    result.unwrap();
}

/// What became of an operation to which a fault was done.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Killed,
    Failed,
    /// It came to its end in spite of the fault, or before it.
    Done {
        steps: u64,
    },
}

/// Does an operation under a plan, in a process of its own.
fn attempt(operation: &str, dir: &Path, plan: &str) -> Outcome {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--ignored"])
        .env("SYLVAN_TEST_PLAN", plan)
        .env("SYLVAN_TEST_OPERATION", operation)
        .current_dir(dir)
        .output()
        .unwrap();
    if output.status.signal() == Some(9) {
        return Outcome::Killed;
    }
    let steps = std::fs::read_to_string(dir.join("steps")).unwrap();
    if output.status.success() {
        let steps = steps.parse().unwrap();
        return Outcome::Done { steps };
    }
    assert!(plan.starts_with("fail"), "{output:?}");
    Outcome::Failed
}

/// Runs a check for each operation and format, a few at a time: faults are done in other processes.
fn for_each_operation(check: impl Fn(&Sandbox, &str) + Sync) {
    let jobs = [
        ("hotcopy", "1.4"),
        ("hotcopy", "1.14"),
        ("pack", "1.6"),
        ("pack", "1.14"),
        ("upgrade", "1.4"),
        ("upgrade", "1.6"),
        ("setrevprop", "1.4"),
        ("setrevprop", "1.14"),
        ("commit", "1.4"),
        ("commit", "1.14"),
    ];
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while let Some((operation, version)) =
                    jobs.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    let sandbox = Sandbox::new();
                    prepare(&sandbox, operation, version);
                    check(&sandbox, operation);
                }
            });
        }
    });
}

/// Who recovers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Us,
    Subversion,
}

/// Checks that what a killed process left in `work/NAME` can be recovered, and that both programs
/// can go on then.
fn check_recovery(sandbox: &Sandbox, name: &str, by: By) {
    let db = sandbox.join("recovered/db");
    let copy = format!("rm -rf recovered; cp -r work/{name} recovered");
    if by == By::Us {
        sandbox.sh(&copy);
        FileSystem::recover(&db, Options::default(), &Cancel::new()).unwrap();
    } else {
        sandbox.sh(&format!("{copy}; svnadmin recover recovered"));
    }
    let fs = FileSystem::open(&db).unwrap();
    verify(&fs);
    commit(&fs, 1000).unwrap();
    sandbox.sh("svn mkdir -q -m x file://$PWD/recovered/next; svnadmin verify -q recovered");
}

/// Makes `base/repo`, and for a hotcopy `base/copy` of what it was before.
fn prepare(sandbox: &Sandbox, operation: &str, version: &str) {
    sandbox.sh(&format!(
        "mkdir base; cd base; svnadmin create --compatible-version {version} repo; \
         sed -i 's/sharded 1000/sharded 3/' repo/db/format; \
         printf '[packed-revprops]\\nrevprop-pack-size=1\\n' >>repo/db/fsfs.conf; url=file://$PWD/repo; \
         for i in 1 2 3 4; do svn mkdir -q -m x $url/d$i; done; svnadmin hotcopy -q repo copy; \
         svn cp -q -m x $url/d1 $url/d1/c; echo text >file; svn import -q -m log file $url/file; \
         svn ps -q p v -m x $url -r 6 --revprop 2>/dev/null || true; \
         for i in 5 6 7; do svn mkdir -q -m x $url/d$i; done"
    ));
    if operation != "hotcopy" {
        sandbox.sh("rm -r base/copy");
    }
    let packed = match operation {
        "hotcopy" | "setrevprop" => version != "1.4",
        "upgrade" => version == "1.6",
        _ => false,
    };
    if packed {
        sandbox.sh("svnadmin pack -q base/repo");
    }
}

#[test]
fn what_is_killed_at_any_step_leaves_a_sound_file_system_and_the_next_run_succeeds() {
    let _alone = alone();
    for_each_operation(|sandbox, operation| {
        let stride = if operation == "commit" { 1 } else { stride() };
        let changed = if operation == "hotcopy" {
            "copy"
        } else {
            "repo"
        };
        let dump = "svnadmin dump -q";
        let before = sandbox.sh(&format!("{dump} base/repo | md5sum"));
        let work = sandbox.join("work");
        let db = work.join(changed).join("db");
        for step in (1..).step_by(stride) {
            sandbox.sh("rm -rf work; cp -r base work");
            let outcome = attempt(operation, &work, &format!("kill:{step}"));
            verify(&FileSystem::open(&db).unwrap());
            let name = format!("work/{changed}");
            let verified = sandbox.run("svnadmin", &["verify", "-q", &name]);
            // A shard that is new in a copy is named in two files, one after the other, and
            // Subversion's verification looks beyond the youngest revision between them.
            let beyond = String::from_utf8_lossy(&verified.stderr).contains("No such revision");
            let sound = verified.status.success() || operation == "hotcopy" && beyond;
            assert!(sound, "{operation} {step}: {verified:?}");
            if operation == "commit" || step % 2 == 1 {
                check_recovery(sandbox, changed, By::Us);
            }
            if operation == "commit" || step % 2 == 0 {
                check_recovery(sandbox, changed, By::Subversion);
            }
            operate(operation, &work).unwrap();
            verify(&FileSystem::open(&db).unwrap());
            sandbox.sh(&format!("svnadmin verify -q work/{changed}"));
            let after = sandbox.sh(&format!("{dump} work/repo | md5sum"));
            match operation {
                "pack" | "upgrade" => assert_eq!(after, before, "{operation} {step}"),
                "hotcopy" => {
                    let copied = sandbox.sh(&format!("{dump} work/copy | md5sum"));
                    assert_eq!(copied, before, "{operation} {step}");
                }
                _ => {}
            }
            if outcome != Outcome::Killed {
                assert!(step > 4, "{operation} has more steps than that");
                break;
            }
            assert!(step < 1000, "{operation} has no end");
        }
        sandbox.sh("svn mkdir -q -m x file://$PWD/work/repo/next; svnadmin verify -q work/repo");
    });
}

#[test]
fn a_commit_killed_after_another_was_leaves_what_can_be_recovered() {
    let _alone = alone();
    let sandbox = Sandbox::new();
    prepare(&sandbox, "commit", "1.14");
    let work = sandbox.join("work");
    // The first step at which the revision is whole, but not the youngest.
    let mut whole = None;
    for step in 1.. {
        sandbox.sh("rm -rf work; cp -r base work");
        if attempt("commit", &work, &format!("kill:{step}")) != Outcome::Killed {
            break;
        }
        if work.join("repo/db/revs/3/10").exists() {
            whole = Some(step);
            break;
        }
    }
    let whole = whole.unwrap();
    for step in 1..whole {
        sandbox.sh("rm -rf work; cp -r base work");
        for step in [whole, step] {
            let plan = format!("kill:{step}");
            assert_eq!(attempt("commit", &work, &plan), Outcome::Killed);
        }
        check_recovery(&sandbox, "repo", By::Us);
        check_recovery(&sandbox, "repo", By::Subversion);
    }
}

#[test]
fn what_fails_at_any_step_leaves_a_sound_file_system_and_the_next_run_succeeds() {
    let _alone = alone();
    for_each_operation(|sandbox, operation| {
        let work = sandbox.join("work");
        let repositories = match operation {
            "hotcopy" => &["repo", "copy"][..],
            _ => &["repo"],
        };
        for step in 1.. {
            sandbox.sh("rm -rf work; cp -r base work");
            let outcome = attempt(operation, &work, &format!("fail:{step}:ENOSPC"));
            for name in repositories {
                verify(&FileSystem::open(&work.join(name).join("db")).unwrap());
            }
            operate(operation, &work).unwrap();
            if step % stride() as u64 == 0 {
                sandbox.sh("for r in work/*/; do svnadmin verify -q $r; done");
            }
            let left = sandbox.sh("find work/*/db -name 'svn-*'");
            assert_eq!(left, "", "{operation} {step}");
            match outcome {
                Outcome::Done { steps } if steps < step => break,
                _ => assert!(step < 1000, "{operation} has no end"),
            }
        }
    });
}
