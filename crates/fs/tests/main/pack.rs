//! Packing, compared with Debian's svnadmin.

use sylvan_core::Revnum;
use sylvan_fs::{FileSystem, Options, PackNotice, PackOptions};
use sylvan_io::Cancel;
use sylvan_testutil::Sandbox;

use crate::{history, model, read};

fn open(sandbox: &Sandbox, name: &str) -> FileSystem {
    let options = Options {
        flush_to_disk: false,
        ..Options::default()
    };
    FileSystem::open_with(&sandbox.join(name).join("db"), options).unwrap()
}

fn pack(fs: &FileSystem) -> Vec<PackNotice> {
    let mut notices = Vec::new();
    let mut notify = |notice| {
        notices.push(notice);
        Ok(())
    };
    let (options, cancel) = (PackOptions::default(), Cancel::new());
    fs.pack(&options, &cancel, &mut notify).unwrap();
    notices
}

/// Lists names, permissions and contents of what packing touches.
fn listing(sandbox: &Sandbox, name: &str) -> String {
    sandbox.sh(&format!(
        "cd {name}/db; find revs revprops min-unpacked-rev -printf '%P %y %m %p\\n' | LC_ALL=C sort; \
         find revs revprops min-unpacked-rev -type f | LC_ALL=C sort | xargs md5sum"
    ))
}

const SHARDED: &str = "sed -i 's/sharded 1000/sharded 7/' repo/db/format";

/// File system versions that can be packed, and what is changed in them.
const PACKABLE: &[(&str, &str)] = &[
    ("1.6", ""),
    ("1.8", ""),
    ("1.8", "; svnadmin upgrade repo >/dev/null"),
    ("1.9", ""),
    ("1.14", ""),
    (
        "1.14",
        "; printf '[deltification]\\ncompression=none\\nmax-linear-deltification=3\\n[io]\\nblock-size=1\\nl2p-page-size=4\\np2l-page-size=1\\n[packed-revprops]\\nrevprop-pack-size=1\\n' >repo/db/fsfs.conf",
    ),
    (
        "1.14",
        "; sed -i 's/sharded 7/sharded 50/' repo/db/format; printf '[deltification]\\nmax-linear-deltification=8\\n' >repo/db/fsfs.conf",
    ),
];

#[test]
fn packed_shards_are_byte_for_byte_those_of_debians_svnadmin() {
    for (at, (version, change)) in PACKABLE.iter().enumerate() {
        let sandbox = Sandbox::new();
        let dump = history::dump_with(20 + at as u64, 110, 1);
        read::create(&sandbox, (version, &format!("{SHARDED}{change}")), &dump);
        sandbox.sh("cp -rp repo ours; svnadmin pack -q repo");
        let fs = open(&sandbox, "ours");
        let notices = pack(&fs);
        let shards =
            fs.min_unpacked_rev().unwrap().number() / fs.format().shard_size.map_or(1, i64::from);
        assert!(shards > 1);
        let expected: Vec<_> = (0..shards)
            .flat_map(|shard| [PackNotice::Start(shard), PackNotice::End(shard)])
            .collect();
        assert_eq!(notices, expected);
        assert_eq!(pack(&fs), [PackNotice::Nothing(Some(shards))]);
        assert!(
            listing(&sandbox, "ours") == listing(&sandbox, "repo"),
            "{version} {change}: {}",
            sandbox.sh("diff -rq ours/db repo/db || true")
        );
    }
}

#[test]
fn what_is_packed_reads_as_before_and_goes_on() {
    for (version, change) in PACKABLE {
        let sandbox = Sandbox::new();
        // With contents that are replaced in the revision that wrote them.
        let dump = history::dump(31, 40);
        read::create(&sandbox, (version, &format!("{SHARDED}{change}")), &dump);
        sandbox.sh("svnadmin dump -q repo >a");
        let fs = open(&sandbox, "repo");
        pack(&fs);
        sandbox.sh("svnadmin verify -q repo; svnadmin dump -q repo >b; cmp a b");
        let revisions = model::parse(&std::fs::read(sandbox.join("b")).unwrap());
        read::compare(&sandbox.join("repo/db"), &revisions);
        fs.verify_metadata(Revnum::ZERO, fs.youngest().unwrap(), &Cancel::new())
            .unwrap();
        sandbox.sh(
            "for i in 1 2 3 4 5 6 7 8; do svn mkdir -q -m x file://$PWD/repo/new$i; done; \
             svnadmin setrevprop repo -r 3 svn:author dump; svnadmin pack -q repo",
        );
        let fs = open(&sandbox, "repo");
        fs.change_revprop(Revnum::new(4).unwrap(), "svn:log", None, Some(b"new"))
            .unwrap();
        pack(&fs);
        sandbox.sh("svnadmin verify -q repo");
    }
}

#[test]
fn few_items_at_a_time_pack_too() {
    let sandbox = Sandbox::new();
    read::create(&sandbox, ("1.14", SHARDED), &history::dump(4, 30));
    sandbox.sh("svnadmin dump -q repo >a");
    let fs = open(&sandbox, "repo");
    // A few items; revisions with more are copied as they are.
    let options = PackOptions {
        max_memory: 216 * 20,
    };
    fs.pack(&options, &Cancel::new(), &mut |_| Ok(())).unwrap();
    sandbox.sh("svnadmin verify -q repo; svnadmin dump -q repo >b; cmp a b");
}

#[test]
fn what_cannot_be_packed_says_so() {
    let sandbox = Sandbox::new();
    sandbox.sh("svnadmin create --compatible-version 1.5 old");
    let (options, cancel) = (PackOptions::default(), Cancel::new());
    let error = open(&sandbox, "old")
        .pack(&options, &cancel, &mut |_| Ok(()))
        .unwrap_err();
    assert_eq!(
        error.to_lines("svnadmin: "),
        sandbox.sh("svnadmin pack -q old 2>&1 || true")
    );
    sandbox.sh("sed -i '/layout/d; /addressing/d' repo/db/format; mv repo/db/revs/0 x; mv x/0 repo/db/revs; mv repo/db/revprops/0 y; mv y/0 repo/db/revprops");
    assert_eq!(pack(&open(&sandbox, "repo")), [PackNotice::Nothing(None)]);
}

#[test]
fn left_overs_of_a_killed_run_are_removed() {
    let sandbox = Sandbox::new();
    read::create(&sandbox, ("1.14", SHARDED), &history::dump(4, 30));
    sandbox.sh(
        "cp -r repo copy; svnadmin pack -q repo; cp -r copy/db/revs/3 repo/db/revs; \
         mkdir copy/db/revs/0.pack; echo x >copy/db/revs/0.pack/pack",
    );
    assert_eq!(
        pack(&open(&sandbox, "repo")),
        [PackNotice::Nothing(Some(4))]
    );
    assert_eq!(
        sandbox.sh("ls repo/db/revs"),
        "0.pack\n1.pack\n2.pack\n3.pack\n4\n"
    );
    pack(&open(&sandbox, "copy"));
    sandbox.sh("svnadmin verify -q copy");
}
