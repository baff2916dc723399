//! Upgrades, recovery and the like, compared with Debian's svnadmin and svnfsfs.

use std::fmt::Write as _;

use sylvan_core::{ErrorCode, NodeKind, RelPath, Revnum, Timestamp};
use sylvan_fs::index::{Item, ItemKind};
use sylvan_fs::lock::Access;
use sylvan_fs::stats::Histogram;
use sylvan_fs::tree::Strictness;
use sylvan_fs::{FileSystem, Options, Tree, Txn, UpgradeNotice};
use sylvan_io::Cancel;
use sylvan_testutil::Sandbox;

use crate::history;
use crate::read::{self, VARIANTS};

fn open(sandbox: &Sandbox, name: &str) -> FileSystem {
    FileSystem::open(&sandbox.join(name).join("db")).unwrap()
}

fn now() -> Timestamp {
    Timestamp::from_micros(1_600_000_000_000_000)
}

fn rel(path: &str) -> &RelPath {
    RelPath::new(path).unwrap()
}

fn rev(number: i64) -> Revnum {
    Revnum::new(number).unwrap()
}

fn upgrade(sandbox: &Sandbox, name: &str) -> String {
    let mut lines = String::new();
    let mut notify = |notice| {
        let _ = match notice {
            UpgradeNotice::PackedRevprops(shard) => {
                writeln!(lines, "Packed revision properties in shard {shard}")
            }
            UpgradeNotice::RemovedRevprops(shard) => {
                writeln!(
                    lines,
                    "Removed non-packed revision properties in shard {shard}"
                )
            }
            UpgradeNotice::FormatBumped(number) => {
                writeln!(lines, "Bumped repository format to {}", number.number())
            }
        };
        Ok(())
    };
    let db = sandbox.join(name).join("db");
    FileSystem::upgrade(&db, Options::default(), &Cancel::new(), &mut notify).unwrap();
    lines
}

fn listing(sandbox: &Sandbox, name: &str) -> String {
    sandbox.sh(&format!(
        "cd {name}/db; find . ! -name 'rep-cache.db*' -printf '%P %y %m\\n' | LC_ALL=C sort; \
         find . -type f ! -name uuid ! -name fsfs.conf ! -name 'rep-cache.db*' | LC_ALL=C sort | xargs md5sum; head -1 uuid; wc -l <uuid"
    ))
}

#[test]
fn upgrades_are_those_of_debians_svnadmin() {
    for (at, variant) in VARIANTS.iter().enumerate() {
        let sandbox = Sandbox::new();
        read::create(&sandbox, *variant, &history::dump_with(50, 20, 1));
        if at % 2 == 1 {
            sandbox.sh("svnadmin pack -q repo || true");
        }
        sandbox.sh("cp -rp repo ours");
        let theirs = sandbox.sh("svnadmin upgrade repo | grep -v '^Repository lock\\|^Please wait\\|^$\\|^Upgrade completed' || true");
        // The last notice is of the repository itself.
        let theirs = theirs.replace("Bumped repository format to 5\n", "");
        assert_eq!(upgrade(&sandbox, "ours"), theirs, "{variant:?}");
        assert_eq!(
            listing(&sandbox, "ours"),
            listing(&sandbox, "repo"),
            "{variant:?}"
        );
        assert_eq!(upgrade(&sandbox, "ours"), "");
        sandbox.sh("svnadmin verify -q ours; svn mkdir -q -m x file://$PWD/ours/next");
        let fs = open(&sandbox, "ours");
        let mut txn = Txn::begin(&fs, fs.youngest().unwrap(), now()).unwrap();
        txn.make_dir(rel("next/dir")).unwrap();
        txn.commit(&Access::default(), now()).unwrap();
        sandbox.sh("svnadmin verify -q ours");
    }
}

#[test]
fn recovery_finds_the_youngest_revision_and_the_counters() {
    for variant in VARIANTS.iter().step_by(2) {
        let sandbox = Sandbox::new();
        read::create(&sandbox, *variant, &history::dump_with(51, 20, 1));
        for damage in [
            "rm repo/db/current",
            "echo x >repo/db/current",
            "sed -i 's/20/7/' repo/db/current",
            "true",
        ] {
            let current = sandbox.sh(&format!("cat repo/db/current; {damage}"));
            let db = sandbox.join("repo/db");
            FileSystem::recover(&db, Options::default(), &Cancel::new()).unwrap();
            assert_eq!(sandbox.sh("cat repo/db/current"), current, "{variant:?}");
            sandbox.sh("svnadmin verify -q repo");
        }
        sandbox.sh("sed -i 's/^20/21/' repo/db/current");
        let recover = || {
            FileSystem::recover(&sandbox.join("repo/db"), Options::default(), &Cancel::new())
                .unwrap_err()
                .to_lines("svnadmin: ")
        };
        let same = || {
            let theirs = sandbox.sh("svnadmin recover repo 2>&1 >/dev/null || true");
            // Subversion stumbles over missing properties where there are no shards.
            assert!(
                theirs.contains("Assertion") || theirs == recover(),
                "{theirs}"
            );
        };
        same();
        sandbox
            .sh("sed -i 's/^21/20/' repo/db/current; f=$(find repo/db/revprops -name 20); rm $f");
        same();
        sandbox.sh("mkdir $(dirname $(find repo/db/revs -name 20) | sed s/revs/revprops/)/20");
        same();
    }
}

#[test]
fn the_cache_of_representations_is_built_as_debians_svnadmin_builds_it() {
    for variant in VARIANTS.iter().skip(5) {
        let sandbox = Sandbox::new();
        read::create(&sandbox, *variant, &history::dump(52, 25));
        sandbox.sh("sed -i 's/^enable-rep-sharing=no//' repo/db/fsfs.conf; rm -f repo/db/rep-cache.db; cp -r repo ours; svnadmin build-repcache -q repo -r 3:20");
        let fs = open(&sandbox, "ours");
        let mut seen = Vec::new();
        fs.build_rep_cache(
            Some(rev(3)),
            Some(rev(20)),
            &Cancel::new(),
            &mut |revision| {
                seen.push(revision.number());
                Ok(())
            },
        )
        .unwrap();
        assert_eq!(seen, (3..=20).collect::<Vec<_>>());
        let rows = |name: &str| {
            sandbox.sh(&format!(
                "echo 'select * from rep_cache order by hash; pragma user_version' | sqlite3 {name}/db/rep-cache.db"
            ))
        };
        assert_eq!(rows("ours"), rows("repo"));
        sandbox.sh("svnadmin build-repcache -q repo");
        fs.build_rep_cache(None, None, &Cancel::new(), &mut |_| Ok(()))
            .unwrap();
        assert_eq!(rows("ours"), rows("repo"));
    }
    let sandbox = Sandbox::new();
    sandbox.sh("svnadmin create --compatible-version 1.5 old; printf '[rep-sharing]\\nenable-rep-sharing=no\\n' >repo/db/fsfs.conf");
    for name in ["old", "repo"] {
        let error = open(&sandbox, name)
            .build_rep_cache(None, None, &Cancel::new(), &mut |_| Ok(()))
            .unwrap_err();
        let theirs = sandbox.sh(&format!("svnadmin build-repcache -q {name} 2>&1 || true"));
        // The program has a warning for the second.
        let known =
            theirs == error.to_lines("svnadmin: ") || theirs.contains("rep-sharing disabled");
        assert!(known, "{theirs} {error:?}");
    }
}

#[test]
fn uuids_are_set_and_copies_told_apart() {
    let sandbox = Sandbox::new();
    let fs = open(&sandbox, "repo");
    let before = (fs.uuid().to_owned(), fs.instance_id().to_owned());
    fs.set_uuid(Some(&before.0), None).unwrap();
    let again = open(&sandbox, "repo");
    assert_eq!(again.uuid(), before.0);
    assert_ne!(again.instance_id(), before.1);
    fs.set_uuid(None, Some("i")).unwrap();
    let again = open(&sandbox, "repo");
    assert_ne!(again.uuid(), before.0);
    assert_eq!(again.instance_id(), "i");
    assert_eq!(sandbox.sh("svnlook uuid repo").trim_end(), again.uuid());
    let info = again.info().unwrap();
    assert_eq!((info.minor_version, info.packed_shards()), (10, (0, 0)));
}

#[test]
fn nobody_writes_while_it_is_frozen() {
    let sandbox = Sandbox::new();
    sandbox.sh(
        "svn mkdir -q -m x file://$PWD/repo/a; echo x >file; svn import -q -m log file file://$PWD/repo/x",
    );
    let fs = open(&sandbox, "repo");
    let db = sandbox.join("repo/db");
    let committed = fs
        .freeze(|| {
            let locked = |name: &str| {
                !std::process::Command::new("flock")
                    .args(["-n", db.join(name).to_str().unwrap(), "true"])
                    .status()
                    .unwrap()
                    .success()
            };
            assert!(locked("write-lock") && locked("pack-lock"));
            assert!(!locked("txn-current-lock"));
            let busy = sandbox.run(
                "sqlite3",
                &["repo/db/rep-cache.db", "delete from rep_cache"],
            );
            assert!(!busy.status.success());
            Ok(5)
        })
        .unwrap();
    assert_eq!(committed, 5);
    sandbox.sh("svn mkdir -q -m x file://$PWD/repo/b");
}

#[test]
fn options_of_commits_are_heeded() {
    let sandbox = Sandbox::new();
    sandbox.sh("sed -i 's/sharded 1000/sharded 3/' repo/db/format; printf '[debug]\\npack-after-commit=yes\\nverify-before-commit=yes\\n' >repo/db/fsfs.conf");
    let fs = open(&sandbox, "repo");
    for number in 1..=7 {
        let mut txn = Txn::begin(&fs, fs.youngest().unwrap(), now()).unwrap();
        txn.make_file(rel(&format!("f{number}"))).unwrap();
        let committed = txn.commit(&Access::default(), now()).unwrap();
        assert!(committed.after.is_none());
    }
    assert_eq!(
        sandbox.sh("ls repo/db/revs; cat repo/db/min-unpacked-rev"),
        "0.pack\n1.pack\n2\n6\n"
    );
    sandbox.sh("svnadmin verify -q repo");
    // A revision that cannot be verified is not made.
    sandbox.sh("svnadmin setrevprop repo -r 1 x dump 2>/dev/null || true; chmod u+w repo/db/revs/1.pack/pack; truncate -s 200 repo/db/revs/1.pack/pack");
    let fs = FileSystem::open(&sandbox.join("repo/db")).unwrap();
    let mut txn = Txn::begin(&fs, fs.youngest().unwrap(), now()).unwrap();
    txn.set_node_prop(RelPath::ROOT, "x", Some(b"y".to_vec()))
        .unwrap();
    assert!(txn.commit(&Access::default(), now()).is_err());
    assert_eq!(sandbox.sh("cat repo/db/current"), "7\n");
}

#[test]
fn origins_of_nodes_are_noted_as_subversion_notes_them() {
    let sandbox = Sandbox::new();
    read::create(&sandbox, ("1.1", ""), &history::dump_with(53, 30, 1));
    sandbox.sh("cp -r repo ours");
    let fs = open(&sandbox, "ours");
    let root = fs.revision_root(fs.youngest().unwrap()).unwrap();
    let paths = sandbox.sh("svnlook tree --full-paths repo | sed 's,/$,,' | grep .");
    // Blaming and merging ask for origins; reading dumps does not.
    for path in paths.lines() {
        let origin = root.origin_revision(rel(path)).unwrap();
        assert_eq!(root.origin_revision(rel(path)).unwrap(), origin);
        assert!(
            root.find(rel(path))
                .unwrap()
                .unwrap()
                .created_revision()
                .unwrap()
                >= origin
        );
    }
    assert!(
        std::fs::read_dir(sandbox.join("ours/db/node-origins"))
            .unwrap()
            .count()
            > 1
    );
    sandbox.sh("svnadmin verify -q ours");
    let first = sandbox.sh("cat ours/db/node-origins/1*");
    assert!(
        first.contains("K 1\n") && first.ends_with("END\n"),
        "{first}"
    );
}

fn items(fs: &FileSystem, revision: i64) -> Vec<Item> {
    let mut items = Vec::new();
    fs.dump_index(rev(revision), &Cancel::new(), &mut |item| {
        items.push(*item);
        Ok(())
    })
    .unwrap();
    items
}

#[test]
fn indexes_are_read_and_written() {
    let sandbox = Sandbox::new();
    let variant = (
        "1.14",
        "sed -i 's/sharded 1000/sharded 7/' repo/db/format; printf '[io]\\nl2p-page-size=4\\np2l-page-size=1\\n' >repo/db/fsfs.conf",
    );
    read::create(&sandbox, variant, &history::dump_with(54, 18, 1));
    sandbox.sh("svnadmin pack -q repo");
    for revision in [3, 15, 16] {
        let fs = open(&sandbox, "repo");
        let items = items(&fs, revision);
        let mut text =
            String::from("       Start       Length Type   Revision     Item Checksum\n");
        for item in &items {
            let kind = match item.kind {
                ItemKind::Unused => "none ",
                ItemKind::FileRep => "frep ",
                ItemKind::DirRep => "drep ",
                ItemKind::FileProps => "fprop",
                ItemKind::DirProps => "dprop",
                ItemKind::NodeRev => "node ",
                ItemKind::Changes => "chgs ",
            };
            let _ = writeln!(
                text,
                "{:12x} {:12x} {kind} {:9} {:8} {:08x}",
                item.offset, item.size, item.revision, item.number, item.checksum
            );
        }
        assert_eq!(
            text,
            sandbox.sh(&format!("svnfsfs dump-index -r {revision} repo"))
        );
        let path = sandbox.sh(&format!(
            "f=$(find repo/db/revs -name {revision}); echo ${{f:-repo/db/revs/0.pack/pack}}"
        ));
        let path = sandbox.join(path.trim_end());
        let whole = std::fs::read(&path).unwrap();
        // In any order, after the old ones were damaged.
        let reversed = || items.iter().rev().copied().collect();
        fs.load_index(rev(revision), reversed()).unwrap();
        assert!(std::fs::read(&path).unwrap() == whole);
        sandbox.sh(&format!("chmod u+w {0}; printf x >>{0}", path.display()));
        open(&sandbox, "repo")
            .load_index(rev(revision), reversed())
            .unwrap();
        assert!(std::fs::read(&path).unwrap() == whole);
        let mut wrong = items.clone();
        wrong.remove(1);
        let error = fs.load_index(rev(revision), wrong).unwrap_err();
        assert_eq!(error.code(), ErrorCode::INVALID_INPUT);
        assert!(
            error
                .message()
                .starts_with("Missing index data for offset ")
        );
        let error = fs
            .load_index(rev(revision), items[..2].to_vec())
            .unwrap_err();
        assert!(error.message().starts_with("New index data ends at "));
    }
    let fs = open(&sandbox, "repo");
    fs.verify_metadata(Revnum::ZERO, rev(18), &Cancel::new())
        .unwrap();
}

fn commas(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[test]
fn statistics_are_those_of_svnfsfs() {
    for (version, change) in [
        ("1.8", ""),
        ("1.14", ""),
        ("1.14", "; svnadmin pack -q repo"),
    ] {
        let sandbox = Sandbox::new();
        let shards = "sed -i 's/sharded 1000/sharded 7/' repo/db/format";
        read::create(&sandbox, (version, shards), &history::dump_with(55, 30, 1));
        sandbox.sh(&format!("true{change}"));
        let fs = open(&sandbox, "repo");
        let mut progress = Vec::new();
        let stats = fs
            .stats(&Cancel::new(), &mut |revision| {
                progress.push(revision.number());
                Ok(())
            })
            .unwrap();
        assert_eq!(progress, [0, 7, 14, 21, 28]);
        let theirs = sandbox.sh("svnfsfs stats repo 2>/dev/null | tr -s ' '");
        let has = |line: String| assert!(theirs.contains(&line), "no '{line}' in {theirs}");
        has(format!(
            "{} bytes in {} revisions",
            commas(stats.total_size),
            commas(stats.revision_count)
        ));
        has(format!(
            "{} bytes in {} changes",
            commas(stats.change_len),
            commas(stats.change_count)
        ));
        has(format!(
            "{} bytes in {} node revision records",
            commas(stats.total_nodes.size),
            commas(stats.total_nodes.count)
        ));
        has(format!(
            "{} bytes in {} directory noderevs",
            commas(stats.dir_nodes.size),
            commas(stats.dir_nodes.count)
        ));
        for (what, reps) in [("", &stats.total_reps), ("directory ", &stats.dir_reps)] {
            has(format!(
                "{} bytes in {} {what}representations",
                commas(reps.total.packed_size),
                commas(reps.total.count)
            ));
            has(format!(
                "{} bytes with rep-sharing off",
                commas(reps.expanded_size)
            ));
        }
        let total = &stats.total_reps;
        has(format!(
            "{:.3} average delta chain length",
            total.chain_len as f64 / total.total.count as f64
        ));
        has(format!(
            "{} bytes in header & footer overhead",
            commas(total.total.overhead_size)
        ));
        let count =
            |histogram: &Histogram| histogram.lines.iter().map(|line| line.count).sum::<u64>();
        assert_eq!(count(&stats.rep_size), stats.total_reps.total.count);
        assert!(stats.largest_changes.len() > 20);
        for change in stats.largest_changes.iter().take(5) {
            has(format!(
                "{} r{} /{}",
                commas(change.size),
                change.revision,
                change.path.as_str()
            )
            .replace("  ", " "));
        }
    }
}

#[test]
fn trees_of_revisions_and_transactions_are_seen_alike() {
    let sandbox = Sandbox::new();
    let fs = open(&sandbox, "repo");
    let mut txn = Txn::begin(&fs, Revnum::ZERO, now()).unwrap();
    txn.make_dir(rel("d")).unwrap();
    for name in ["d/a", "d/b"] {
        txn.make_file(rel(name)).unwrap();
        let mut writer = txn.begin_text(rel(name)).unwrap();
        writer.push(b"the text of both\n").unwrap();
        writer.finish(None).unwrap();
    }
    txn.commit(&Access::default(), now()).unwrap();
    let root = fs.revision_root(rev(1)).unwrap();
    let mut txn = Txn::begin(&fs, rev(1), now()).unwrap();
    txn.set_node_prop(rel("d/a"), "p", Some(b"v".to_vec()))
        .unwrap();
    let mut writer = txn.begin_text(rel("d/b")).unwrap();
    writer.push(b"another text....\n").unwrap();
    writer.finish(None).unwrap();
    txn.make_file(rel("d/new")).unwrap();
    txn.delete(rel("d/new")).unwrap();
    let (old, new) = (Tree::from(&root), Tree::from(&txn));
    assert_eq!(new.kind(rel("d/a/x")).unwrap(), NodeKind::None);
    let node = |tree: &Tree<'_>, path: &str| tree.node(rel(path)).unwrap().len().unwrap();
    assert_eq!(node(&old, "d/a"), node(&new, "d/b"));
    for strictness in [Strictness::Quick, Strictness::Strict] {
        let differ = |path: &str| {
            let (a, b) = (old.node(rel(path)).unwrap(), new.node(rel(path)).unwrap());
            let props = a.props_differ(&b, strictness).unwrap();
            (props, a.contents_differ(&b, strictness).unwrap())
        };
        assert_eq!(differ("d/a"), (true, false));
        assert_eq!(differ("d/b"), (false, true));
    }
    let dir = new.node(rel("d")).unwrap();
    let names: Vec<_> = dir
        .entries()
        .unwrap()
        .entries()
        .iter()
        .map(|entry| entry.name.clone())
        .collect();
    assert_eq!(names, ["a", "b"]);
    let mut contents = dir.child("b").unwrap().unwrap().contents().unwrap();
    assert_eq!(contents.read_to_end().unwrap(), "another text....\n");
    assert_eq!(dir.created_revision(), None);
    assert_eq!(new.paths_changed().unwrap().len(), 2);
    assert_eq!(old.paths_changed().unwrap().len(), 3);
    assert_eq!(new.revprops().unwrap().len(), 1);
    let error = dir.contents().map(drop).unwrap_err();
    assert_eq!(error.code(), ErrorCode::FS_NOT_FILE);
}
