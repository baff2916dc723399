//! Repositories that we write, compared with what Debian's svnadmin writes in the same steps.

use std::collections::BTreeMap;
use std::path::Path;

use sylvan_core::{ErrorCode, RelPath, RelPathBuf, Revnum, Timestamp};
use sylvan_fs::format::FormatNumber;
use sylvan_fs::lock::{Access, LockRequest, LockTarget};
use sylvan_fs::{CreateOptions, FileSystem, Options, Txn};
use sylvan_testutil::Sandbox;

use crate::read::{self, VARIANTS};
use crate::{history, load, model};

fn now() -> Timestamp {
    Timestamp::from_micros(1_600_000_000_123_456)
}

fn rel(path: &str) -> &RelPath {
    RelPath::new(path).unwrap()
}

fn options() -> Options {
    Options {
        flush_to_disk: false,
        ..Options::default()
    }
}

/// Lists a tree: permissions, and content where it is the same for all repositories.
fn listing(sandbox: &Sandbox, db: &str) -> String {
    sandbox.sh(&format!(
        "cd {db}; find . ! -name 'rep-cache.db*' -printf '%P %y %m\\n' | LC_ALL=C sort; \
         find . -type f ! -name uuid ! -name fsfs.conf ! -path './revprops/*' ! -name 'rep-cache.db*' | LC_ALL=C sort | xargs md5sum"
    ))
}

#[test]
fn a_new_file_system_is_as_debians_svnadmin_makes_it() {
    for (version, number) in [
        ("1.1", 1),
        ("1.4", 2),
        ("1.5", 3),
        ("1.6", 4),
        ("1.8", 6),
        ("1.9", 7),
        ("1.14", 8),
    ] {
        let sandbox = Sandbox::new();
        sandbox.sh(&format!(
            "rm -rf repo; svnadmin create --compatible-version {version} repo; cp -rp repo ours; rm -rf ours/db"
        ));
        let create = CreateOptions {
            format: FormatNumber::new(number).unwrap(),
            ..CreateOptions::default()
        };
        FileSystem::create(&sandbox.join("ours/db"), &create, options(), now()).unwrap();
        assert_eq!(
            listing(&sandbox, "ours/db"),
            listing(&sandbox, "repo/db"),
            "{version}"
        );
        let verified = sandbox.run("svnadmin", &["verify", "-q", "ours"]);
        assert!(verified.status.success(), "{verified:?}");
    }
}

/// Makes an empty repository `ours` of a variant, with the folder `db` as Debian's svnadmin makes
/// it, since files are edited there.
fn empty(sandbox: &Sandbox, (version, change): (&str, &str)) -> FileSystem {
    let change = change.replace("repo", "ours");
    sandbox.sh(&format!(
        "svnadmin create --compatible-version {version} ours; {change}"
    ));
    FileSystem::open_with(&sandbox.join("ours/db"), options()).unwrap()
}

fn same_files(sandbox: &Sandbox, variant: (&str, &str), what: &str) {
    let files = |db: &str| sandbox.sh(&format!("cd {db}/{what}; find . -type f | LC_ALL=C sort"));
    let names = files("repo/db");
    assert_eq!(files("ours/db"), names, "{variant:?}");
    for name in names.lines() {
        let read = |db: &str| std::fs::read(sandbox.join(format!("{db}/{what}/{name}"))).unwrap();
        let (ours, theirs) = (read("ours/db"), read("repo/db"));
        if ours != theirs {
            let at = ours.iter().zip(&theirs).take_while(|(a, b)| a == b).count();
            let near = |bytes: &[u8]| {
                let part = &bytes[at.saturating_sub(200)..bytes.len().min(at + 200)];
                String::from_utf8_lossy(part).into_owned()
            };
            panic!(
                "{variant:?} {what}/{name} differs at {at}\nours:\n{}\ntheirs:\n{}",
                near(&ours),
                near(&theirs)
            );
        }
    }
}

#[test]
fn revisions_are_byte_for_byte_those_of_debians_svnadmin() {
    let dump = history::dump(1, 40);
    for (version, change) in VARIANTS {
        // Compressors differ; what they are given must not.
        let plain = "printf '[deltification]\\ncompression=none\\n' >>repo/db/fsfs.conf";
        let compresses = !change.contains("compression=none") && *version != "1.1";
        if *version == "1.4" || *version == "1.5" || change.contains("zlib") {
            continue;
        }
        let change = match compresses {
            true => format!(
                "{change}{}{plain}",
                if change.is_empty() { "" } else { "; " }
            ),
            false => (*change).to_owned(),
        };
        let variant = (*version, change.as_str());
        let sandbox = Sandbox::new();
        read::create(&sandbox, variant, &dump);
        let fs = empty(&sandbox, variant);
        load::load(&fs, &dump);
        // What is noted of representations is all in the database then.
        drop(fs);
        same_files(&sandbox, variant, "revs");
        same_files(&sandbox, variant, "revprops");
        let rows = "echo 'select * from rep_cache order by hash' | sqlite3";
        let script = |db: &str| {
            sandbox.sh(&format!(
                "cat {db}/current; test ! -f {db}/rep-cache.db || {rows} {db}/rep-cache.db"
            ))
        };
        assert_eq!(script("ours/db"), script("repo/db"), "{variant:?}");
        for file in ["txn-current", "format", "min-unpacked-rev"] {
            let read = |db: &str| std::fs::read(sandbox.join(format!("{db}/{file}"))).ok();
            assert_eq!(read("ours/db"), read("repo/db"), "{file}");
        }
        assert_eq!(
            sandbox.sh(
                "find ours/db/transactions ours/db/txn-protorevs -mindepth 1 2>/dev/null || true"
            ),
            ""
        );
    }
}

#[test]
fn what_we_write_in_each_format_is_verified_and_dumped_by_debians_svnadmin() {
    let dump = history::dump(9, 30);
    for variant in VARIANTS {
        let sandbox = Sandbox::new();
        read::create(&sandbox, *variant, &dump);
        let fs = empty(&sandbox, *variant);
        load::load(&fs, &dump);
        sandbox.sh(
            "svnadmin verify -q ours; svnadmin dump -q repo >a; svnadmin dump -q ours >b; \
                    grep -av ^UUID a >a2; grep -av ^UUID b >b2; cmp a2 b2",
        );
        let revisions = model::parse(&std::fs::read(sandbox.join("b")).unwrap());
        read::compare(&sandbox.join("ours/db"), &revisions);
        // Each goes on where the other ended.
        sandbox.sh("svn mkdir -q -m x file://$PWD/ours/next");
        let fs = FileSystem::open_with(&sandbox.join("ours/db"), options()).unwrap();
        let mut txn = Txn::begin(&fs, fs.youngest().unwrap(), now()).unwrap();
        txn.make_file(rel("next/file")).unwrap();
        txn.commit(&Access::default(), now()).unwrap();
        sandbox.sh("svn rm -q -m x file://$PWD/ours/next/file; svnadmin verify -q ours");
    }
}

fn put(txn: &mut Txn, path: &str, text: &str) {
    if txn.kind(rel(path)).unwrap() == sylvan_core::NodeKind::None {
        txn.make_file(rel(path)).unwrap();
    }
    let mut writer = txn.begin_text(rel(path)).unwrap();
    writer.push(text.as_bytes()).unwrap();
    writer.finish(None).unwrap();
}

fn greek(sandbox: &Sandbox) -> FileSystem {
    let fs = FileSystem::open_with(&sandbox.join("repo/db"), options()).unwrap();
    let mut txn = Txn::begin(&fs, Revnum::ZERO, now()).unwrap();
    for dir in ["A", "A/B", "A/C", "D"] {
        txn.make_dir(rel(dir)).unwrap();
    }
    for file in ["iota", "A/mu", "A/B/lambda", "D/gamma"] {
        put(&mut txn, file, &format!("This is the file '{file}'.\n"));
    }
    txn.commit(&Access::default(), now()).unwrap();
    fs
}

/// What one side does to the tree.
type Change = fn(&mut Txn);

#[test]
fn parallel_changes_merge_or_conflict_by_subversions_rules() {
    let cases: &[(&str, Change, Change, Result<(), &str>)] = &[
        (
            "two files",
            |t| put(t, "iota", "1"),
            |t| put(t, "A/mu", "2"),
            Ok(()),
        ),
        (
            "two files of a folder",
            |t| put(t, "A/mu", "1"),
            |t| put(t, "A/B/lambda", "2"),
            Ok(()),
        ),
        (
            "the same file",
            |t| put(t, "A/mu", "1"),
            |t| put(t, "A/mu", "2"),
            Err("/A/mu"),
        ),
        (
            "two additions",
            |t| put(t, "A/new", "1"),
            |t| put(t, "A/new", "1"),
            Err("/A/new"),
        ),
        (
            "additions beside",
            |t| put(t, "A/x", "1"),
            |t| put(t, "A/y", "1"),
            Ok(()),
        ),
        (
            "deleted and changed",
            |t| t.delete(rel("A/mu")).unwrap(),
            |t| put(t, "A/mu", "2"),
            Err("/A/mu"),
        ),
        (
            "changed and deleted",
            |t| put(t, "A/mu", "2"),
            |t| t.delete(rel("A/mu")).unwrap(),
            Err("/A/mu"),
        ),
        (
            "deleted twice",
            |t| t.delete(rel("A/mu")).unwrap(),
            |t| t.delete(rel("A/mu")).unwrap(),
            Err("/A/mu"),
        ),
        (
            "folder deleted, file changed",
            |t| t.delete(rel("A")).unwrap(),
            |t| put(t, "A/mu", "2"),
            Err("/A"),
        ),
        (
            "deleted elsewhere",
            |t| t.delete(rel("D")).unwrap(),
            |t| put(t, "A/mu", "2"),
            Ok(()),
        ),
        (
            "props of a folder, an addition",
            |t| put(t, "A/x", "1"),
            |t| t.set_node_prop(rel("A"), "p", Some(b"v".to_vec())).unwrap(),
            Err("/A"),
        ),
        (
            "props of a folder, a change below",
            |t| put(t, "A/mu", "1"),
            |t| t.set_node_prop(rel("A"), "p", Some(b"v".to_vec())).unwrap(),
            Ok(()),
        ),
        (
            "their props of a folder",
            |t| t.set_node_prop(rel("A"), "p", Some(b"v".to_vec())).unwrap(),
            |t| put(t, "A/mu", "1"),
            Err("/A"),
        ),
        (
            "mergeinfo on both sides",
            |t| {
                t.set_node_prop(rel("A/mu"), "svn:mergeinfo", Some(b"/x:1".to_vec()))
                    .unwrap();
            },
            |t| {
                t.set_node_prop(rel("A/B/lambda"), "svn:mergeinfo", Some(b"/x:1".to_vec()))
                    .unwrap();
            },
            Ok(()),
        ),
    ];
    for (name, theirs, ours, expected) in cases {
        let sandbox = Sandbox::new();
        let fs = greek(&sandbox);
        let base = fs.youngest().unwrap();
        let mut late = Txn::begin(&fs, base, now()).unwrap();
        ours(&mut late);
        let mut early = Txn::begin(&fs, base, now()).unwrap();
        theirs(&mut early);
        early.commit(&Access::default(), now()).unwrap();
        let result = late.commit(&Access::default(), now());
        match (result, expected) {
            (Ok(committed), Ok(())) => assert_eq!(committed.revision.number(), 3, "{name}"),
            (Err(error), Err(path)) => {
                assert_eq!(error.code(), ErrorCode::FS_CONFLICT, "{name}");
                assert_eq!(error.message(), format!("Conflict at '{path}'"), "{name}");
                late.abort().unwrap();
            }
            (result, _) => panic!("{name}: {result:?}"),
        }
        sandbox.sh("svnadmin verify -q repo");
    }
}

#[test]
fn commits_of_both_programs_interleave() {
    let sandbox = Sandbox::new();
    let fs = greek(&sandbox);
    drop(fs);
    let db = sandbox.join("repo/db");
    let ours: Vec<_> = (0..3)
        .map(|writer| {
            let db = db.clone();
            std::thread::spawn(move || {
                for number in 0..10 {
                    let fs = FileSystem::open_with(&db, options()).unwrap();
                    let mut txn = Txn::begin(&fs, fs.youngest().unwrap(), now()).unwrap();
                    put(
                        &mut txn,
                        &format!("A/ours-{writer}-{number}"),
                        &format!("{number}\n"),
                    );
                    txn.commit(&Access::default(), now()).unwrap();
                }
            })
        })
        .collect();
    let theirs: Vec<_> = (0..2)
        .map(|writer| {
            let url = sandbox.url();
            std::thread::spawn(move || {
                for number in 0..10 {
                    let path = format!("{url}/A/theirs-{writer}-{number}");
                    let done = std::process::Command::new("svn")
                        .args(["mkdir", "-q", "-m", "x", &path])
                        .output()
                        .unwrap();
                    assert!(done.status.success(), "{done:?}");
                }
            })
        })
        .collect();
    ours.into_iter().for_each(|thread| thread.join().unwrap());
    theirs.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(sandbox.sh("svnlook youngest repo"), "51\n");
    assert_eq!(sandbox.sh("svnlook tree -N repo A | wc -l"), "54\n");
    sandbox.sh("svnadmin verify -q repo");
}

#[test]
fn a_persisted_transaction_is_seen_by_debians_programs_and_goes_on() {
    for version in ["1.4", "1.8", "1.14"] {
        let sandbox = Sandbox::new();
        sandbox.sh(&format!(
            "rm -rf repo; svnadmin create --compatible-version {version} repo"
        ));
        let fs = greek(&sandbox);
        let mut txn = Txn::begin(&fs, fs.youngest().unwrap(), now()).unwrap();
        put(&mut txn, "A/new", "a new file\n");
        txn.set_node_prop(rel("A"), "color", Some(b"red".to_vec()))
            .unwrap();
        txn.set_prop("svn:log", Some(b"the log".to_vec()));
        txn.persist().unwrap();
        let name = txn.id().to_string();
        assert_eq!(sandbox.sh("svnadmin lstxns repo"), format!("{name}\n"));
        assert_eq!(
            sandbox.sh(&format!("svnlook changed -t {name} repo")),
            "_U  A/\nA   A/new\n"
        );
        assert_eq!(
            sandbox.sh(&format!("svnlook cat -t {name} repo A/new")),
            "a new file\n"
        );
        assert_eq!(
            sandbox.sh(&format!("svnlook log -t {name} repo")),
            "the log\n"
        );
        assert_eq!(
            sandbox.sh(&format!("svnlook propget -t {name} repo color A")),
            "red"
        );
        let id = txn.id();
        drop(txn);
        let mut txn = Txn::open(&fs, id).unwrap();
        let error = Txn::open(&fs, id).unwrap_err();
        assert_eq!(error.code(), ErrorCode::FS_REP_BEING_WRITTEN);
        put(&mut txn, "A/mu", "changed\n");
        put(&mut txn, "A/C/copy", "a new file\n");
        let mut text = Vec::new();
        std::io::Read::read_to_end(&mut txn.contents(rel("A/new")).unwrap(), &mut text).unwrap();
        assert_eq!(text, b"a new file\n");
        txn.commit(&Access::default(), now()).unwrap();
        drop(Txn::begin(&fs, fs.youngest().unwrap(), now()).unwrap());
        assert_eq!(Txn::list(&fs).unwrap(), []);
        assert_eq!(
            sandbox.sh("svnlook changed repo"),
            "_U  A/\nA   A/C/copy\nU   A/mu\nA   A/new\n"
        );
        assert_eq!(sandbox.sh("svnlook cat repo A/C/copy"), "a new file\n");
        sandbox.sh("svnadmin verify -q repo");
    }
}

#[test]
fn revision_properties_change_packed_or_not() {
    for compress in ["false", "true"] {
        let sandbox = Sandbox::new();
        sandbox.sh(&format!(
            "sed -i 's/sharded 1000/sharded 8/' repo/db/format; printf '[packed-revprops]\\nrevprop-pack-size=1\\ncompress-packed-revprops={compress}\\n' >repo/db/fsfs.conf"
        ));
        std::fs::write(sandbox.join("dump"), history::dump(3, 20)).unwrap();
        // A pack of Subversion 1.14 that has contents nobody refers to fails its own verification, so
        // the history is dumped instead.
        sandbox.sh("svnadmin load -q repo <dump; svnadmin pack -q repo");
        let fs = FileSystem::open_with(&sandbox.join("repo/db"), options()).unwrap();
        for (revision, len) in [
            (0, 5),
            (1, 2000),
            (3, 300),
            (7, 400),
            (5, 1),
            (9, 3000),
            (19, 10),
            (3, 900),
            (5, 900),
            (4, 900),
        ] {
            let revision = Revnum::new(revision).unwrap();
            let value = "v".repeat(len);
            fs.change_revprop(revision, "svn:log", None, Some(value.as_bytes()))
                .unwrap();
            assert_eq!(fs.revprops(revision).unwrap()["svn:log"], value.as_bytes());
            assert_eq!(
                sandbox.sh(&format!("svnlook log -r {revision} repo")),
                format!("{value}\n")
            );
        }
        let mut reader = fs.revprops_reader();
        for number in (0..20).chain([3, 19, 1]) {
            let revision = Revnum::new(number).unwrap();
            assert_eq!(
                reader.read(revision).unwrap(),
                fs.revprops(revision).unwrap()
            );
        }
        let one = Revnum::new(1).unwrap();
        let error = fs
            .change_revprop(one, "x", Some(Some(b"y")), Some(b"z"))
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "E160049: revprop 'x' has unexpected value in filesystem"
        );
        fs.change_revprop(one, "x", Some(None), Some(b"z")).unwrap();
        fs.change_revprop(one, "x", None, None).unwrap();
        sandbox.sh("svnadmin dump -q repo >dumped; svnadmin setrevprop repo -r 2 x dump");
        assert!(
            fs.revprops(Revnum::new(2).unwrap())
                .unwrap()
                .contains_key("x")
        );
        assert_eq!(
            sandbox.sh("ls repo/db/revprops/0.pack | grep -c svn- || true"),
            "0\n"
        );
    }
}

#[test]
fn locks_are_shared_with_debians_programs() {
    let sandbox = Sandbox::new();
    let fs = greek(&sandbox);
    let targets = |paths: &[&str]| -> BTreeMap<RelPathBuf, LockTarget> {
        paths
            .iter()
            .map(|path| (rel(path).to_owned(), LockTarget::default()))
            .collect()
    };
    let request = LockRequest {
        comment: Some("why".to_owned()),
        ..LockRequest::default()
    };
    let locked = fs
        .lock(
            &targets(&["A/mu", "A/B/lambda", "A", "none"]),
            "jo",
            &request,
            now(),
        )
        .unwrap();
    let lock = locked[rel("A/mu")].as_ref().unwrap().clone();
    assert_eq!(
        locked[rel("none")].as_ref().unwrap_err().to_string(),
        "E160013: Path '/none' doesn't exist in HEAD revision"
    );
    assert_eq!(
        locked[rel("A")].as_ref().unwrap_err().code(),
        ErrorCode::FS_NOT_FILE
    );
    let shown = sandbox.sh("svnadmin lslocks repo | grep -e ^Path -e Token -e Owner");
    assert!(
        shown.contains("Path: /A/B/lambda\n")
            && shown.contains(&format!("UUID Token: {}\nOwner: jo\n", lock.lock.token)),
        "{shown}"
    );
    let again = fs.lock(&targets(&["A/mu"]), "al", &request, now()).unwrap();
    assert_eq!(
        again[rel("A/mu")].as_ref().unwrap_err().code(),
        ErrorCode::FS_PATH_ALREADY_LOCKED
    );
    // A commit needs the lock of each path it changes.
    let mut txn = Txn::begin(&fs, fs.youngest().unwrap(), now()).unwrap();
    txn.check_locks();
    put(&mut txn, "A/mu", "changed");
    let error = txn.commit(&Access::default(), now()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::FS_NO_USER);
    let mut access = Access {
        user: Some("jo".into()),
        ..Access::default()
    };
    assert_eq!(
        txn.commit(&access, now()).unwrap_err().code(),
        ErrorCode::FS_BAD_LOCK_TOKEN
    );
    access
        .tokens
        .insert(lock.lock.token.clone(), lock.lock.path.clone());
    txn.commit(&access, now()).unwrap();
    let mut txn = Txn::begin(&fs, fs.youngest().unwrap(), now()).unwrap();
    txn.check_locks();
    txn.delete(rel("A")).unwrap();
    assert_eq!(
        txn.commit(&access, now()).unwrap_err().code(),
        ErrorCode::FS_BAD_LOCK_TOKEN
    );
    sandbox.sh("echo x >c; svnadmin lock repo /iota al c");
    let paths: Vec<_> = fs
        .locks_below(RelPath::ROOT, now())
        .unwrap()
        .into_iter()
        .map(|lock| lock.lock.path.into_string())
        .collect();
    assert_eq!(paths, ["A/B/lambda", "A/mu", "iota"]);
    assert_eq!(
        fs.lock_on(rel("iota"), now())
            .unwrap()
            .unwrap()
            .lock
            .comment
            .as_deref(),
        Some("x\n")
    );
    let tokens = |token: &str| BTreeMap::from([(rel("A/mu").to_owned(), token.to_owned())]);
    let wrong = fs
        .unlock(&tokens("opaquelocktoken:x"), "jo", false, now())
        .unwrap();
    assert_eq!(
        wrong[rel("A/mu")].as_ref().unwrap_err().code(),
        ErrorCode::FS_NO_SUCH_LOCK
    );
    fs.unlock(&tokens(&lock.lock.token), "jo", false, now())
        .unwrap()[rel("A/mu")]
    .as_ref()
    .unwrap();
    sandbox.sh("svnadmin rmlocks repo /A/B/lambda /iota");
    assert_eq!(fs.locks_below(RelPath::ROOT, now()).unwrap(), []);
    assert_eq!(sandbox.sh("find repo/db/locks -type f | wc -l"), "0\n");
}

#[test]
fn large_files_stream() {
    let sandbox = Sandbox::new();
    let fs = greek(&sandbox);
    let piece: Vec<u8> = (0..1u64 << 20)
        .map(|at| (at.wrapping_mul(at) >> 11) as u8)
        .collect();
    for round in 0..2u8 {
        let mut txn = Txn::begin(&fs, fs.youngest().unwrap(), now()).unwrap();
        if round == 0 {
            txn.make_file(rel("large")).unwrap();
        }
        put(&mut txn, "A/mu", &format!("{round}"));
        let mut writer = txn.begin_text(rel("large")).unwrap();
        for number in 0..12u8 {
            let mut piece = piece.clone();
            piece
                .iter_mut()
                .step_by(7)
                .for_each(|byte| *byte ^= number.wrapping_mul(29) + round);
            writer.push(&piece).unwrap();
        }
        writer.finish(None).unwrap();
        put(&mut txn, "iota", &format!("after {round}"));
        txn.commit(&Access::default(), now()).unwrap();
    }
    sandbox.sh("svnadmin verify -q repo");
    assert_eq!(sandbox.sh("svnlook filesize repo large"), "12582912\n");
    assert!(Path::new(&sandbox.join("repo/db/revs/0/3")).exists());
}

/// Opens a file system with caches that know nothing yet.
fn fresh(sandbox: &Sandbox, db: &str) -> FileSystem {
    FileSystem::open_with(&sandbox.join(db), options()).unwrap()
}

fn verify(fs: &FileSystem) -> sylvan_core::Result<()> {
    let (youngest, cancel) = (fs.youngest()?, sylvan_io::Cancel::new());
    fs.verify_metadata(Revnum::ZERO, youngest, &cancel)?;
    for number in 0..=youngest.number() {
        fs.verify_revision(Revnum::new(number).unwrap(), &cancel)?;
    }
    Ok(())
}

#[test]
fn repositories_of_both_programs_are_verified() {
    let dump = history::dump(12, 25);
    for variant in [VARIANTS[0], VARIANTS[5], VARIANTS[9], VARIANTS[10]] {
        let sandbox = Sandbox::new();
        read::create(&sandbox, variant, &dump);
        verify(&fresh(&sandbox, "repo/db")).unwrap();
        load::load(&empty(&sandbox, variant), &dump);
        verify(&fresh(&sandbox, "ours/db")).unwrap();
    }
}

#[test]
fn a_flipped_byte_is_found() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.join("dump"), history::dump(4, 6)).unwrap();
    sandbox.sh("svnadmin load -q repo <dump; chmod -R u+w repo/db");
    for revision in [1, 4, 6] {
        let path = sandbox.join(format!("repo/db/revs/0/{revision}"));
        let good = std::fs::read(&path).unwrap();
        for at in (0..good.len()).step_by(good.len() / 60 + 1) {
            let mut bad = good.clone();
            bad[at] ^= 0x10;
            std::fs::write(&path, &bad).unwrap();
            assert!(
                verify(&fresh(&sandbox, "repo/db")).is_err(),
                "r{revision} byte {at}"
            );
        }
        for len in [0, 1, good.len() / 2, good.len() - 1] {
            std::fs::write(&path, &good[..len]).unwrap();
            assert!(
                verify(&fresh(&sandbox, "repo/db")).is_err(),
                "r{revision} cut at {len}"
            );
        }
        std::fs::write(&path, &good).unwrap();
    }
    verify(&fresh(&sandbox, "repo/db")).unwrap();
}
