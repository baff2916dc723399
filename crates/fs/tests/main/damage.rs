//! Damaged repositories: what Debian's svnadmin reports, we report.

use sylvan_core::Revnum;
use sylvan_fs::change::ChangeKind;
use sylvan_fs::{FileSystem, Options};
use sylvan_io::Cancel;
use sylvan_testutil::Sandbox;

use crate::history::{self, Random};
use crate::read;

/// Verifies all there is; `None` if nothing is wrong.
fn verify(sandbox: &Sandbox) -> Option<String> {
    let check = || {
        let options = Options {
            flush_to_disk: false,
            ..Options::default()
        };
        let fs = FileSystem::open_with(&sandbox.join("repo/db"), options)?;
        let (youngest, cancel) = (fs.youngest()?, Cancel::new());
        fs.verify_metadata(Revnum::ZERO, youngest, &cancel)?;
        for number in 0..=youngest.number() {
            let revision = Revnum::new(number).unwrap_or_default();
            fs.verify_revision(revision, &cancel)?;
            follow_changes(&fs, revision)?;
        }
        Ok::<(), sylvan_core::Error>(())
    };
    check().err().map(|error| error.to_lines(""))
}

/// Looks at each changed path, as whoever replays a revision does.
fn follow_changes(fs: &FileSystem, revision: Revnum) -> sylvan_core::Result<()> {
    let root = fs.revision_root(revision)?;
    fs.changes(revision, |change| {
        if change.kind != ChangeKind::Delete {
            return root.node(&change.path).map(drop);
        }
        // Nothing is deleted here that was not there before.
        let before = fs.revision_root(revision.previous().unwrap_or_default())?;
        before.node(&change.path)?;
        match &change.id {
            Some(id) => fs.node_rev(id).map(drop),
            None => Ok(()),
        }
    })
}

#[test]
fn what_subversion_finds_damaged_we_find() {
    // Of each, so many bytes are flipped, and so many of the flips that we overlook are shown to
    // Debian's svnadmin.
    const FLIPS: usize = 120;
    for (at, version) in ["1.8", "1.9", "1.14"].into_iter().enumerate() {
        let sandbox = Sandbox::new();
        let shards = "sed -i 's/sharded 1000/sharded 5/' repo/db/format";
        read::create(&sandbox, (version, shards), &history::dump_with(60, 13, 1));
        sandbox.sh("svnadmin pack -q repo; chmod -R u+w repo/db");
        let files =
            sandbox.sh("find repo/db/revs repo/db/revprops -type f -size -30k | LC_ALL=C sort");
        let files: Vec<_> = files.lines().collect();
        let mut random = Random::new(70 + at as u64);
        let mut missed = Vec::new();
        for _ in 0..FLIPS {
            let path = sandbox.join(files[random.below(files.len())]);
            let good = std::fs::read(&path).unwrap();
            if good.is_empty() {
                continue;
            }
            let mut bad = good.clone();
            let at = random.below(bad.len());
            bad[at] ^= 1 << random.below(8);
            std::fs::write(&path, &bad).unwrap();
            if verify(&sandbox).is_none() && missed.len() < 40 {
                let theirs = sandbox.run("svnadmin", &["verify", "-q", "repo"]);
                if !theirs.status.success() {
                    let said = String::from_utf8_lossy(&theirs.stderr).into_owned();
                    let near = &bad[at.saturating_sub(60)..bad.len().min(at + 60)];
                    let near = near.escape_ascii().to_string();
                    missed.push(format!("{} {at}: {said}\n{near}", path.display()));
                }
            }
            std::fs::write(&path, &good).unwrap();
        }
        assert_eq!(verify(&sandbox), None);
        assert!(missed.is_empty(), "{version}: {}", missed.join("\n"));
    }
}

#[test]
fn a_size_that_is_too_large_is_found() {
    let sandbox = Sandbox::new();
    sandbox.sh(
        "rm -rf repo; svnadmin create --compatible-version 1.8 repo; mkdir import; \
         seq 100 >import/numbers; seq 50 >import/more; svn import -q -m x import $URL/trunk; \
         chmod u+w repo/db/revs/0/1",
    );
    assert_eq!(verify(&sandbox), None);
    let path = sandbox.join("repo/db/revs/0/1");
    let good = std::fs::read(&path).unwrap();
    let mut tried = 0;
    for start in 0..good.len() {
        let Some(rest) = good[start..].strip_prefix(b"text: 1 ") else {
            continue;
        };
        // The size follows the offset; its first digit becomes one more.
        let at = rest.iter().position(|byte| *byte == b' ').unwrap();
        let mut bad = good.clone();
        bad[start + 8 + at + 1] += 1;
        std::fs::write(&path, &bad).unwrap();
        assert!(verify(&sandbox).is_some(), "at {start}");
        let theirs = sandbox.run("svnadmin", &["verify", "-q", "repo"]);
        assert!(!theirs.status.success(), "at {start}");
        tried += 1;
    }
    assert_eq!(tried, 4);
}

#[test]
fn what_the_cache_of_representations_has_beyond_the_youngest_revision_is_found() {
    let sandbox = Sandbox::new();
    sandbox.sh(
        "seq 100 >numbers; svn import -q -m x numbers $URL/numbers; \
         echo \"update rep_cache set revision = 50\" | sqlite3 repo/db/rep-cache.db",
    );
    let found = verify(&sandbox).unwrap();
    let theirs = sandbox.run("svnadmin", &["verify", "-q", "repo"]);
    let theirs = String::from_utf8(theirs.stderr).unwrap();
    assert!(theirs.contains(found.trim_end()), "{theirs} {found}");
}
