//! Copies, compared with those of Debian's svnadmin.

use sylvan_core::{Result, Revnum};
use sylvan_fs::{CopiedRevisions, FileSystem, HotcopyMode, Options};
use sylvan_io::Cancel;
use sylvan_testutil::Sandbox;

use crate::history;
use crate::read::{self, VARIANTS};

/// Copies `repo/db` to a folder in the sandbox, and says what svnadmin would print.
fn hotcopy(sandbox: &Sandbox, target: &str, mode: HotcopyMode) -> Result<String> {
    let mut lines = String::new();
    let mut notify = |CopiedRevisions { start, end }| {
        lines.push_str(&if start == end {
            format!("* Copied revision {start}.\n")
        } else {
            format!("* Copied revisions from {start} to {end}.\n")
        });
        Ok(())
    };
    FileSystem::hotcopy(
        &sandbox.join("repo/db"),
        &sandbox.join(target).join("db"),
        mode,
        Options::default(),
        &Cancel::new(),
        &mut notify,
    )?;
    Ok(lines)
}

/// Names, permissions and contents, but for what is never the same.
fn listing(sandbox: &Sandbox, name: &str) -> String {
    sandbox.sh(&format!(
        "cd {name}/db; find . ! -name 'rep-cache.db*' -printf '%P %y %m\\n' | LC_ALL=C sort; \
         find . -type f ! -name uuid ! -name 'rep-cache.db*' | LC_ALL=C sort | xargs md5sum; head -1 uuid; \
         test ! -f rep-cache.db || (stat -c %a rep-cache.db; echo 'select * from rep_cache order by hash' | sqlite3 rep-cache.db)"
    ))
}

/// Makes `ours` of the folders of a repository, without a file system.
const SHELL: &str = "mkdir ours ours/db; chmod g+s ours/db; cp -rp repo/[!d]* ours";

#[test]
fn a_copy_is_as_debians_svnadmin_makes_it() {
    let dump = history::dump_with(40, 32, 1);
    for (at, variant) in VARIANTS.iter().enumerate() {
        let sandbox = Sandbox::new();
        read::create(&sandbox, *variant, &dump);
        sandbox.sh("svnadmin setrevprop repo -r 2 svn:author dump; svnadmin lock --bypass-hooks repo trunk/none jo dump 2>/dev/null || true");
        if at % 2 == 0 {
            sandbox.sh("svnadmin pack -q repo || true");
        }
        // Somebody locked a file, and somebody asked where a node comes from.
        sandbox.sh("f=$(svnlook tree --full-paths repo | grep '[^/]$' | head -1); svnadmin lock -q --bypass-hooks repo \"$f\" jo dump");
        sandbox.sh(SHELL);
        let theirs = sandbox.sh("svnadmin hotcopy repo theirs");
        let ours = hotcopy(&sandbox, "ours", HotcopyMode::Full).unwrap();
        assert_eq!(ours, theirs, "{variant:?}");
        assert_eq!(
            listing(&sandbox, "ours"),
            listing(&sandbox, "theirs"),
            "{variant:?}"
        );
        sandbox.sh("svnadmin verify -q ours; svn mkdir -q -m x file://$PWD/ours/next; svnadmin verify -q ours");
    }
}

#[test]
fn a_copy_is_brought_up_to_date() {
    // With one change each, since contents that nothing refers to are lost when Subversion packs.
    let dump = history::dump_with(41, 24, 1);
    for variant in VARIANTS.iter().step_by(3) {
        let sandbox = Sandbox::new();
        read::create(&sandbox, *variant, &dump);

        sandbox.sh(SHELL);
        sandbox.sh("svnadmin hotcopy -q repo theirs");
        hotcopy(&sandbox, "ours", HotcopyMode::Incremental).unwrap();
        for step in [
            "true",
            "svnadmin setrevprop repo -r 3 svn:author dump",
            "for i in 1 2 3 4 5 6 7 8 9; do svn mkdir -q -m x file://$PWD/repo/m$i; done",
            "svnadmin pack -q repo || true",
            "for i in 1 2 3 4 5 6 7 8 9; do svn mkdir -q -m x file://$PWD/repo/n$i; done; svnadmin pack -q repo || true",
            // The packed file becomes larger, and may be cut.
            "head -c 9000 /dev/urandom | base64 >big; svnadmin setrevprop repo -r 3 svn:log big",
        ] {
            // Times are what tells that properties of the same length changed.
            sandbox.sh(&format!("sleep 0.02; {step}"));
            let theirs = sandbox.sh("svnadmin hotcopy --incremental repo theirs");
            let ours = hotcopy(&sandbox, "ours", HotcopyMode::Incremental).unwrap();
            assert_eq!(ours, theirs, "{variant:?} {step}");
            sandbox.sh("svnadmin verify -q ours");
        }
        // What Subversion leaves of packed properties that were replaced, we remove.
        sandbox.sh(
            "for r in ours theirs; do (cd $r/db; find revs revprops current min-unpacked-rev -type f | \
             LC_ALL=C sort | xargs md5sum) >$r.list; done; \
             diff ours.list theirs.list | grep '^<' && exit 1; true",
        );
    }
}

#[test]
fn unsuitable_targets_are_refused_in_subversions_words() {
    let sandbox = Sandbox::new();
    sandbox.sh(
        "for i in 1 2 3; do svn mkdir -q -m x file://$PWD/repo/m$i; done
         svnadmin create --compatible-version 1.8 format
         svnadmin create uuid
         svnadmin hotcopy -q repo shards; sed -i 's/sharded 1000/sharded 3/' shards/db/format
         svnadmin hotcopy -q repo more; svn mkdir -q -m x file://$PWD/more/m4
         svnadmin hotcopy -q repo packed; sed -i 's/sharded 1000/sharded 2/' repo/db/format packed/db/format
         sed -i 's/sharded 1000/sharded 2/' more/db/format uuid/db/format; mkdir packed/db/revs/1 packed/db/revprops/1
         mv packed/db/revs/0/[23] packed/db/revs/1; mv packed/db/revprops/0/[23] packed/db/revprops/1; svnadmin pack -q packed
         mkdir other other/db; echo bdb >other/db/fs-type; mkdir file; touch file/db",
    );
    for target in ["format", "uuid", "shards", "more", "packed"] {
        let expected = sandbox.sh(&format!(
            "svnadmin hotcopy --incremental repo {target} 2>&1 || true"
        ));
        let error = hotcopy(&sandbox, target, HotcopyMode::Incremental).unwrap_err();
        assert_eq!(error.to_lines("svnadmin: "), expected, "{target}");
    }
    let refused = |target| {
        hotcopy(&sandbox, target, HotcopyMode::Full)
            .unwrap_err()
            .message()
    };
    assert!(refused("other").ends_with("destination ('bdb')"));
    assert!(refused("file").ends_with("already exists and is a file"));
    assert_eq!(refused("repo"), "Hotcopy source and destination are equal");
    sandbox.sh("rm repo/db/fsfs.conf; mkdir conf");
    assert!(refused("conf").contains("The file '"));
}

#[test]
fn copies_of_a_busy_source_are_whole() {
    let sandbox = Sandbox::new();
    sandbox.sh("sed -i 's/sharded 1000/sharded 4/' repo/db/format");
    sandbox.sh(SHELL);
    let url = sandbox.url();
    let writer = std::thread::spawn(move || {
        for number in 0..25 {
            let path = format!("{url}/m{number}");
            let done = std::process::Command::new("svn")
                .args(["mkdir", "-q", "-m", "x", &path])
                .output()
                .unwrap();
            assert!(done.status.success(), "{done:?}");
        }
    });
    while !writer.is_finished() {
        hotcopy(&sandbox, "ours", HotcopyMode::Incremental).unwrap();
        sandbox.sh("svnadmin verify -q ours; svnadmin pack -q repo");
    }
    writer.join().unwrap();
    hotcopy(&sandbox, "ours", HotcopyMode::Incremental).unwrap();
    let fs = FileSystem::open(&sandbox.join("ours/db")).unwrap();
    assert_eq!(fs.youngest().unwrap(), Revnum::new(25).unwrap());
    sandbox.sh("svnadmin dump -q repo >a; svnadmin dump -q ours >b; cmp a b");
}
