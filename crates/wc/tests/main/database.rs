use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rusqlite::Connection;
use rusqlite::types::Value;
use sylvan_core::{Depth, Dirent, RelPathBuf, Revnum, Url};
use sylvan_testutil::Sandbox;
use sylvan_wc::{Options, RootNode, WorkingCopy};

fn rows(wc: &Path, query: &str) -> Vec<Vec<String>> {
    let database = Connection::open(wc.join(".svn/wc.db")).unwrap();
    let mut statement = database.prepare(query).unwrap();
    let columns = statement.column_count();
    let mut rows = statement.query([]).unwrap();
    let mut all = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        let row = (0..columns).map(|column| match row.get::<_, Value>(column).unwrap() {
            Value::Text(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
            other => format!("{other:?}"),
        });
        all.push(row.collect());
    }
    all
}

fn dirent(path: &Path) -> Dirent {
    Dirent::new(path.to_str().unwrap())
}

/// Makes an empty working copy at revision 0 with svn, and one with us.
fn pair(options: &Options) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.sh("svn -q co $URL theirs; mkdir ours");
    let uuid = sandbox.sh("svnlook uuid repo");
    let node = RootNode {
        repos_root: Url::parse(&sandbox.url()).unwrap(),
        repos_uuid: uuid.trim().into(),
        repos_path: RelPathBuf::root(),
        revision: Revnum::ZERO,
        depth: Depth::Infinity,
    };
    WorkingCopy::create(&dirent(&sandbox.join("ours")), &node, options).unwrap();
    sandbox
}

#[test]
fn new_database_is_that_of_svn() {
    let sandbox = pair(&Options::default());
    let (theirs, ours) = (sandbox.join("theirs"), sandbox.join("ours"));
    for query in [
        "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY rowid",
        "SELECT tbl, idx, stat FROM sqlite_stat1",
        "SELECT * FROM sqlite_sequence ORDER BY name",
        "PRAGMA user_version",
        "PRAGMA page_size",
        "PRAGMA encoding",
        "PRAGMA auto_vacuum",
        "SELECT * FROM repository",
        "SELECT * FROM wcroot",
        "SELECT count(*) FROM pristine",
        "SELECT wc_id, local_relpath, op_depth, parent_relpath, repos_id, repos_path, revision,
           presence, kind, depth FROM nodes",
    ] {
        assert_eq!(rows(&theirs, query), rows(&ours, query), "{query}");
    }
    assert_eq!(
        sandbox.sh("svn status ours; svn info --show-item revision ours"),
        "0\n"
    );
}

#[test]
fn administrative_folder_is_that_of_svn() {
    let sandbox = pair(&Options::default());
    for name in ["", "entries", "format", "pristine", "tmp", "wc.db"] {
        let of = |wc: &str| {
            let path = sandbox.join(wc).join(".svn").join(name);
            let found = std::fs::metadata(&path).unwrap();
            let content =
                (name == "entries" || name == "format").then(|| std::fs::read(&path).unwrap());
            (found.mode(), content)
        };
        assert_eq!(of("theirs"), of("ours"), "{name}");
    }
    let names = sandbox.sh("ls -A ours/.svn");
    assert!(names.split_whitespace().all(|name| {
        [
            "entries",
            "format",
            "pristine",
            "tmp",
            "wc.db",
            "wc.db-journal",
        ]
        .contains(&name)
    }));
}

#[test]
fn both_can_use_one_working_copy_at_once() {
    let sandbox = Sandbox::new();
    sandbox.sh("svn -q co $URL wc; touch wc/a; svn -q add wc/a");
    let path = dirent(&sandbox.join("wc"));
    let (wc, root) = WorkingCopy::open(&path, &Options::default()).unwrap();
    assert!(wc.db().node(&root.child("a").unwrap()).unwrap().is_some());
    sandbox.sh("touch wc/b; svn -q add wc/b; svn -q rm --force wc/a");
    assert!(wc.db().node(&root.child("a").unwrap()).unwrap().is_none());
    assert!(wc.db().node(&root.child("b").unwrap()).unwrap().is_some());
}

/// The errors of the working copy `wc` that a script spoils, by svn and by us.
fn errors(script: &str, target: &str) -> (String, String) {
    let sandbox = Sandbox::new();
    sandbox.sh(&format!("svn -q co $URL wc; {script}"));
    let output = sandbox.run("svn", &["info", target]);
    let theirs = String::from_utf8_lossy(&output.stderr).into_owned();
    let path = dirent(&sandbox.join(target));
    let ours = match WorkingCopy::open(&path, &Options::default()) {
        Ok(_) => String::new(),
        Err(error) => error.to_lines("svn: "),
    };
    let root = sandbox.path().display().to_string();
    let theirs = theirs.replace("svn: E155036: Please see the 'svn upgrade' command\n", "");
    let theirs: String = match theirs.find("client version '") {
        // Theirs names its own version.
        Some(at) => {
            let end = theirs[at..]
                .find(" (expects")
                .map_or(theirs.len(), |end| at + end);
            format!("{}client version '…'{}", &theirs[..at], &theirs[end..])
        }
        None => theirs,
    };
    let version = format!("client version '{}'", env!("CARGO_PKG_VERSION"));
    let ours = ours.replace(&version, "client version '…'");
    (theirs.replace(&root, "DIR"), ours.replace(&root, "DIR"))
}

#[test]
fn damaged_old_and_new_working_copies_are_refused_as_by_svn() {
    for (script, target) in [
        ("head -c 200000 /dev/urandom > wc/.svn/wc.db", "wc"),
        (
            "head -c 200000 /dev/urandom > wc/.svn/wc.db; mkdir wc/sub",
            "wc/sub/x/y",
        ),
        ("truncate -s 8192 wc/.svn/wc.db", "wc"),
        (": > wc/.svn/wc.db", "wc"),
        ("rm wc/.svn/wc.db", "wc"),
        ("sqlite3 wc/.svn/wc.db 'pragma user_version = 99'", "wc"),
        ("sqlite3 wc/.svn/wc.db 'pragma user_version = 29'", "wc"),
        ("sqlite3 wc/.svn/wc.db 'delete from wcroot'", "wc"),
        ("rm wc/.svn/wc.db; echo 10 > wc/.svn/entries", "wc"),
        ("rm wc/.svn/wc.db; echo 3 > wc/.svn/entries", "wc"),
        (
            "rm wc/.svn/wc.db; echo '<?xml?>' > wc/.svn/entries; echo 4 > wc/.svn/format",
            "wc",
        ),
        ("rm -r wc/.svn/*", "wc"),
        ("rm -r wc/.svn", "wc"),
        ("rm -r wc", "wc"),
        (
            "rm -r wc; mkdir -p a/.svn; echo 9 > a/.svn/entries",
            "a/b/c",
        ),
    ] {
        let (theirs, ours) = errors(script, target);
        // For paths that are no working copy svn warns and goes on.
        let warned = theirs.contains("warning: W155007");
        if warned {
            assert!(
                ours.starts_with("svn: E155007: "),
                "{script}: {theirs}{ours}"
            );
        } else {
            assert!(!theirs.is_empty(), "{script}");
            assert_eq!(theirs, ours, "{script}");
        }
    }
}

#[test]
fn symlinks_lead_to_working_copies_and_are_nodes_in_them() {
    let sandbox = Sandbox::new();
    sandbox.sh(
        "svn -q co $URL wc; svn -q co $URL other; ln -s wc outside; ln -s ../other wc/inside
         mkdir wc/dir; ln -s dir wc/versioned; svn -q add wc/dir wc/versioned; ln -s nowhere dangling",
    );
    let open = |path: &str| {
        WorkingCopy::open(&dirent(&sandbox.join(path)), &Options::default())
            .map(|(wc, path)| {
                let root = wc.root().as_str().to_owned();
                (
                    root.rsplit('/').next().unwrap().to_owned(),
                    path.as_str().to_owned(),
                )
            })
            .map_err(|error| error.code().number())
    };
    let found = |root: &str, path: &str| Ok((root.to_owned(), path.to_owned()));
    assert_eq!(open("outside"), found("outside", ""));
    assert_eq!(open("wc/inside"), found("inside", ""));
    assert_eq!(open("wc/versioned"), found("wc", "versioned"));
    assert_eq!(open("wc/dir/x"), found("wc", "dir/x"));
    assert_eq!(open("dangling"), Err(155_007));
}
