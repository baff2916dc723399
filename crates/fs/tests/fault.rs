//! Lets each durable step of a commit fail. In a process of its own, since steps are counted for
//! the whole process.

use sylvan_core::{RelPath, Revnum, Timestamp};
use sylvan_fs::lock::Access;
use sylvan_fs::{FileSystem, Txn};
use sylvan_io::{Cancel, fault};
use sylvan_testutil::Sandbox;

fn now() -> Timestamp {
    Timestamp::from_micros(1_600_000_000_000_000)
}

fn commit(fs: &FileSystem, number: u64) -> sylvan_core::Result<()> {
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
