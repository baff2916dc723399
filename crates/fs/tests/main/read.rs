//! Reads repositories of all formats, made by Debian's svnadmin, and compares every revision.

use std::collections::BTreeMap;
use std::path::Path;

use sylvan_core::{NodeKind, RelPath, Revnum};
use sylvan_fs::change::ChangeKind;
use sylvan_fs::{FileSystem, Node};
use sylvan_testutil::Sandbox;

use crate::history;
use crate::model::{self, Entry};

/// How a repository is made before the history is loaded.
pub(crate) const VARIANTS: &[(&str, &str)] = &[
    ("1.1", ""),
    ("1.4", ""),
    ("1.5", ""),
    ("1.5", "sed -i 's/sharded 1000/sharded 7/' repo/db/format"),
    (
        "1.5",
        "sed -i 's/sharded 1000/linear/; s/layout linear/layout linear/' repo/db/format; mv repo/db/revs/0 repo/db/x; mv repo/db/x/0 repo/db/revs/0; mv repo/db/revprops/0 repo/db/y; mv repo/db/y/0 repo/db/revprops/0; rmdir repo/db/x repo/db/y",
    ),
    ("1.6", "sed -i 's/sharded 1000/sharded 7/' repo/db/format"),
    ("1.8", "sed -i 's/sharded 1000/sharded 7/' repo/db/format"),
    (
        "1.8",
        "sed -i 's/sharded 1000/sharded 7/' repo/db/format; svnadmin upgrade repo >/dev/null",
    ),
    ("1.9", "sed -i 's/sharded 1000/sharded 7/' repo/db/format"),
    ("1.14", "sed -i 's/sharded 1000/sharded 7/' repo/db/format"),
    (
        "1.14",
        "printf '[deltification]\\ncompression=none\\nmax-linear-deltification=1\\n[io]\\nl2p-page-size=4\\np2l-page-size=1\\n' >repo/db/fsfs.conf",
    ),
    (
        "1.14",
        "printf '[deltification]\\ncompression=zlib-9\\nmax-deltification-walk=3\\nenable-dir-deltification=no\\n[rep-sharing]\\nenable-rep-sharing=no\\n' >repo/db/fsfs.conf",
    ),
    (
        "1.14",
        "sed -i 's/sharded 1000/sharded 7/' repo/db/format; printf '[deltification]\\nenable-props-deltification=false\\n[packed-revprops]\\ncompress-packed-revprops=true\\nrevprop-pack-size=1\\n' >repo/db/fsfs.conf",
    ),
];

/// Makes the repository `repo` of a variant and loads a history.
pub(crate) fn create(sandbox: &Sandbox, (version, change): (&str, &str), dump: &[u8]) {
    std::fs::write(sandbox.join("dump"), dump).unwrap();
    sandbox.sh(&format!(
        "rm -rf repo; svnadmin create --compatible-version {version} repo; {change}\n\
         svnadmin load -q --ignore-uuid --no-flush-to-disk repo <dump"
    ));
}

fn dump_of(sandbox: &Sandbox) -> Vec<u8> {
    sandbox.sh("svnadmin dump -q repo >dump.out");
    std::fs::read(sandbox.join("dump.out")).unwrap()
}

fn rev(number: usize) -> Revnum {
    Revnum::new(number as i64).unwrap()
}

/// Reads a whole tree.
pub(crate) fn walk(node: &Node, tree: &mut BTreeMap<String, Entry>) {
    let is_dir = node.kind() == NodeKind::Dir;
    let mut text = Vec::new();
    if is_dir {
        for entry in node.entries().unwrap().entries() {
            let child = node.child(&entry.name).unwrap().unwrap();
            assert_eq!((child.kind(), child.id()), (entry.kind, &entry.id));
            walk(&child, tree);
        }
    } else {
        let mut reader = node.contents().unwrap();
        while let Some(piece) = reader.next_piece().unwrap() {
            text.extend_from_slice(&piece);
        }
        assert_eq!(node.len().unwrap(), text.len() as u64);
        assert_eq!(node.md5().unwrap(), sylvan_core::Md5::of(&text));
        if let Some(sha1) = node.sha1() {
            assert_eq!(sha1, sylvan_core::Sha1::of(&text));
        }
    }
    let props = (*node.props().unwrap()).clone();
    assert_eq!(node.has_props(), !props.is_empty());
    assert_eq!(
        node.has_mergeinfo() && node.kind() == NodeKind::File,
        !is_dir && node.has_mergeinfo()
    );
    if !node.path().is_root() {
        tree.insert(
            node.path().as_str().to_owned(),
            Entry {
                is_dir,
                props,
                text,
            },
        );
    }
}

/// Compares all that a file system says with what a dump stream says.
pub(crate) fn compare(db: &Path, revisions: &[model::Revision]) {
    let fs = FileSystem::open(db).unwrap();
    assert_eq!(fs.youngest().unwrap(), rev(revisions.len() - 1));
    for (number, expected) in revisions.iter().enumerate() {
        let revision = rev(number);
        assert_eq!(fs.revprops(revision).unwrap(), expected.props, "r{number}");
        let mut tree = BTreeMap::new();
        walk(
            &fs.revision_root(revision).unwrap().root_node().unwrap(),
            &mut tree,
        );
        if tree != expected.tree {
            for (path, entry) in &expected.tree {
                assert_eq!(tree.get(path), Some(entry), "r{number} {path}");
            }
            panic!("r{number} has too much");
        }
        compare_changes(&fs, revision, expected);
    }
}

fn compare_changes(fs: &FileSystem, revision: Revnum, expected: &model::Revision) {
    let mut changes = Vec::new();
    fs.changes(revision, |change| {
        changes.push(change);
        Ok(())
    })
    .unwrap();
    let mut found: Vec<_> = changes
        .iter()
        .map(|change| {
            let action = match change.kind {
                ChangeKind::Add => "add",
                ChangeKind::Delete => "delete",
                ChangeKind::Modify => "change",
                ChangeKind::Replace | ChangeKind::Reset => "replace",
            };
            let copyfrom = change.copyfrom();
            model::Change {
                action: action.to_owned(),
                path: change.path.as_str().to_owned(),
                copyfrom: copyfrom
                    .map(|(revision, path)| (revision.number(), path.as_str().to_owned())),
            }
        })
        .collect();
    found.sort_by(|a, b| a.path.cmp(&b.path));
    // A stream tells a replacement by a copy in two records.
    let mut told: BTreeMap<&str, model::Change> = BTreeMap::new();
    for change in &expected.changes {
        let before = told.insert(&change.path, change.clone());
        if before.is_some_and(|before| before.action == "delete") {
            told.get_mut(change.path.as_str()).unwrap().action = "replace".to_owned();
        }
    }
    assert_eq!(found, told.into_values().collect::<Vec<_>>(), "{revision}");
}

#[test]
fn every_revision_of_every_format_reads_as_debians_svnadmin_dumps_it() {
    let dump = history::dump(1, 40);
    for variant in VARIANTS {
        let sandbox = Sandbox::new();
        create(&sandbox, *variant, &dump);
        let revisions = model::parse(&dump_of(&sandbox));
        let db = sandbox.join("repo/db");
        compare(&db, &revisions);
        // Packing moves everything while a file system is open.
        let open = FileSystem::open(&db).unwrap();
        let before = open.min_unpacked_rev().unwrap();
        sandbox.run("svnadmin", &["pack", "-q", "repo"]);
        compare(&db, &revisions);
        let sharded = open.format().shard_size == Some(7) && open.format().number.has_packing();
        assert_eq!(open.revprops(rev(8)).unwrap(), revisions[8].props);
        assert!(open.revision_root(rev(9)).unwrap().root_node().is_ok());
        assert_eq!(
            open.min_unpacked_rev().unwrap() > before,
            sharded,
            "{variant:?}"
        );
    }
}

#[test]
fn a_compatible_version_before_fsfs_is_refused() {
    let error = sylvan_fs::format::FormatNumber::for_minor_version(0).unwrap_err();
    assert_eq!(
        error.to_string(),
        "E160043: FSFS is not compatible with Subversion prior to 1.1"
    );
}

#[test]
fn ids_history_and_log_are_those_of_debians_programs() {
    let dump = history::dump(5, 60);
    for variant in [("1.1", ""), ("1.14", "")] {
        let sandbox = Sandbox::new();
        create(&sandbox, variant, &dump);
        let fs = FileSystem::open(&sandbox.join("repo/db")).unwrap();
        let root = fs.revision_root(fs.youngest().unwrap()).unwrap();
        let mut lines = String::new();
        print_ids(&root.root_node().unwrap(), &mut lines);
        assert_eq!(
            lines,
            sandbox.sh("svnlook tree --full-paths --show-ids repo")
        );
        let paths = sandbox.sh("svnlook tree --full-paths repo");
        for path in paths.lines().step_by(5) {
            let path = path.trim_end_matches('/');
            let mut history = root.history(RelPath::new(path).unwrap()).unwrap();
            let mut ours = String::new();
            while let Some(location) = history.previous(true).unwrap() {
                ours.push_str(&format!(
                    "{:>8}   /{}\n",
                    location.revision,
                    location.path.as_str()
                ));
            }
            let theirs = sandbox.run("svnlook", &["history", "repo", path]);
            let theirs = String::from_utf8(theirs.stdout).unwrap();
            let theirs: String = theirs
                .lines()
                .skip(2)
                .map(|line| format!("{line}\n"))
                .collect();
            assert_eq!(ours, theirs, "{path}");
        }
    }
}

fn print_ids(node: &Node, lines: &mut String) {
    let path = node.path().as_str();
    let slash = if node.kind() == NodeKind::Dir {
        "/"
    } else {
        ""
    };
    lines.push_str(&format!("{path}{slash} <{}>\n", node.id()));
    if node.kind() == NodeKind::Dir {
        for entry in node.entries().unwrap().entries() {
            print_ids(&node.child(&entry.name).unwrap().unwrap(), lines);
        }
    }
}

#[test]
fn what_cannot_be_opened_is_told_in_subversions_words() {
    let sandbox = Sandbox::new();
    let db = sandbox.join("repo/db");
    let path = db.display();
    for (break_it, message) in [
        (
            "echo foo >repo/db/fs-type",
            "E160033: Unknown FS type 'foo'".to_owned(),
        ),
        (
            "echo fsfs >repo/db/fs-type; printf 8fbd2a38-0000-4000-8000-000000000001x >repo/db/uuid",
            format!("E200002: Can't read length line in file '{path}/uuid'"),
        ),
        (
            "echo fsfs >repo/db/fs-type; chmod u+w repo/db/format; echo 9 >repo/db/format",
            "E160043: Expected FS format between '1' and '8'; found format '9'".to_owned(),
        ),
        (
            "printf '8\\nlayout x\\n' >repo/db/format",
            format!(
                "E125006: '{path}/format' contains invalid filesystem format option 'layout x'"
            ),
        ),
    ] {
        sandbox.sh(break_it);
        let error = FileSystem::open(&db).unwrap_err();
        assert_eq!(error.to_string(), message);
        let theirs = sandbox.run("svnlook", &["youngest", "repo"]);
        let theirs = String::from_utf8(theirs.stderr).unwrap();
        // They are told the path as it was given.
        let message = message.replace(&format!("{path}"), "repo/db");
        assert!(theirs.contains(&message), "{theirs}");
    }
}
