//! Sessions against Debian's Apache with mod_dav_svn.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use sylvan_core::{Depth, ErrorCode, NodeKind, RelPath, RelPathBuf, Revnum, Sha1, Timestamp, Url};
use sylvan_delta::{CheckingEditor, CountingEditor, ReportEntry};
use sylvan_ra::auth::AuthOptions;
use sylvan_ra::{
    Capability, DirEntryFields, LogOptions, Session, UpdateOptions, open, open_following,
};
use sylvan_testutil::Apache;

use crate::dump::{Dump, context, context_for, jrandom};

/// A server with a repository of four revisions.
struct Fixture {
    server: Apache,
    root: std::path::PathBuf,
    _scratch: tempfile::TempDir,
}

/// All tests only read, so one server serves them all.
fn fixture() -> &'static Fixture {
    static FIXTURE: OnceLock<Fixture> = OnceLock::new();
    FIXTURE.get_or_init(|| {
        assert!(Apache::is_installed(), "apache2 with mod_dav_svn is needed");
        let scratch = tempfile::tempdir().expect("the temp folder is writable");
        let root = scratch.path().join("served");
        std::fs::create_dir(&root).expect("a fresh folder is writable");
        let server = Apache::start(&root);
        server.create_repository("r");
        fill(&server.url("basic/r"), scratch.path());
        Fixture {
            server,
            root,
            _scratch: scratch,
        }
    })
}

fn svn(folder: &Path, args: &[&str]) -> String {
    let output = Command::new("svn")
        .args(args)
        .args(["--username", Apache::USER, "--password", Apache::PASSWORD])
        .args(["--non-interactive", "--no-auth-cache"])
        .env("LC_ALL", "C.UTF-8")
        .current_dir(folder)
        .output()
        .expect("svn is installed");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "svn {args:?}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Makes the four revisions: nodes of all kinds, changes, copies, deletions, a lock.
fn fill(url: &str, scratch: &Path) {
    let wc = scratch.join("wc");
    svn(scratch, &["checkout", "-q", url, "wc"]);
    let write = |path: &str, text: &[u8]| {
        let path = wc.join(path);
        std::fs::create_dir_all(path.parent().expect("a path has a parent")).expect("writable");
        std::fs::write(path, text).expect("the working copy is writable");
    };
    write("trunk/A/f", b"hello\n");
    write("trunk/A/B/big", &b"0123456789abcdef\n".repeat(40_000));
    write("trunk/A/empty", b"");
    write("trunk/\u{fc} b/\u{e4}<&>#%.txt", b"odd\n");
    write("trunk/x", b"gone soon\n");
    write(
        "trunk/raw",
        &(0..=255).cycle().take(200_000).collect::<Vec<u8>>(),
    );
    for number in 0..120 {
        let text = format!("file {number}\n").repeat(number + 1);
        write(&format!("trunk/many/{number:03}"), text.as_bytes());
    }
    std::fs::create_dir(wc.join("branches")).expect("writable");
    svn(&wc, &["add", "-q", "trunk", "branches"]);
    svn(&wc, &["propset", "-q", "svn:executable", "*", "trunk/A/f"]);
    svn(&wc, &["propset", "-q", "my:odd", "a<b>&\n", "trunk/A"]);
    svn(&wc, &["propset", "-q", "inherit", "me", "trunk"]);
    std::fs::write(scratch.join("value"), b"bin\x01\xff").expect("writable");
    let value = scratch.join("value");
    let file = value.to_str().expect("a UTF-8 path");
    svn(&wc, &["propset", "-q", "binary", "-F", file, "trunk/A/f"]);
    svn(&wc, &["commit", "-q", "-m", "first <log>"]);
    svn(&wc, &["update", "-q"]);
    write("trunk/A/f", b"hello\nmore\n");
    let mut big = b"0123456789abcdef\n".repeat(40_000);
    big.extend_from_slice(b"tail\n");
    write("trunk/A/B/big", &big);
    svn(&wc, &["delete", "-q", "trunk/x"]);
    svn(&wc, &["propdel", "-q", "binary", "trunk/A/f"]);
    svn(&wc, &["commit", "-q", "-m", "second\n\nwith lines"]);
    svn(&wc, &["update", "-q"]);
    svn(&wc, &["copy", "-q", "trunk", "branches/b"]);
    svn(&wc, &["commit", "-q", "-m", "third"]);
    svn(&wc, &["update", "-q"]);
    write("branches/b/A/f", b"on the branch\n");
    svn(&wc, &["commit", "-q", "-m", "fourth"]);
    svn(&wc, &["lock", "-q", "-m", "why <&", "trunk/A/f"]);
}

fn session(kind: &str, path: &str) -> Box<dyn Session> {
    session_with(kind, path, &[])
}

fn session_with(kind: &str, path: &str, options: &[(&str, &str)]) -> Box<dyn Session> {
    let url = Url::parse(&fixture().server.url(&format!("{kind}/r{path}"))).expect("a good URL");
    open(&url, &context(options)).unwrap_or_else(|error| panic!("{error:?}"))
}

fn rel(path: &str) -> &RelPath {
    RelPath::new(path).expect("a canonical path")
}

fn rev(number: i64) -> Revnum {
    Revnum::new(number).expect("not negative")
}

fn options(rev: Option<Revnum>) -> UpdateOptions {
    UpdateOptions {
        rev,
        target: String::new(),
        depth: Some(Depth::Infinity),
        send_copyfrom_args: false,
        ignore_ancestry: false,
    }
}

fn at(number: i64, start_empty: bool) -> Vec<ReportEntry> {
    vec![ReportEntry::SetPath {
        path: RelPathBuf::root(),
        rev: rev(number),
        depth: Depth::Infinity,
        start_empty,
        lock_token: None,
    }]
}

#[derive(Debug, PartialEq, Eq)]
struct Tree {
    lines: Vec<String>,
    contents: BTreeMap<String, Vec<u8>>,
}

fn checkout(session: &mut dyn Session, number: Option<i64>) -> Tree {
    let mut editor = CheckingEditor::new(Dump::default());
    let to = number.map(rev);
    session
        .update(&options(to), &at(number.unwrap_or(4), true), &mut editor)
        .unwrap_or_else(|error| panic!("{error:?}"));
    let dump = editor.into_inner();
    assert!(dump.ended && !dump.aborted);
    let contents = dump.contents.clone();
    Tree {
        lines: dump.lines(),
        contents,
    }
}

/// Reads a tree on disk.
fn files_below(root: &Path, at: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(at).expect("readable") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            files_below(root, &path, found);
        } else {
            let name = path.strip_prefix(root).expect("below the root");
            let name = name.to_str().expect("a UTF-8 name").to_owned();
            found.insert(name, std::fs::read(&path).expect("readable"));
        }
    }
}

const KINDS: [&str; 5] = ["v2", "v1", "skelta", "prefer", "gzip"];

#[test]
fn checkouts_are_the_same_by_every_way() {
    let scratch = tempfile::tempdir().unwrap();
    for number in [1, 4] {
        let url = fixture().server.url("v2/r/trunk");
        let revision = format!("-r{number}");
        let folder = format!("export{number}");
        svn(scratch.path(), &["export", "-q", &revision, &url, &folder]);
        let mut expected = BTreeMap::new();
        let exported = scratch.path().join(folder);
        files_below(&exported, &exported, &mut expected);
        let mut first: Option<Tree> = None;
        for kind in KINDS {
            for bulk in ["auto", "yes", "no"] {
                for compression in ["auto", "yes", "no"] {
                    let settings = [
                        ("http-bulk-updates", bulk),
                        ("http-compression", compression),
                    ];
                    let mut session = session_with(kind, "/trunk", &settings);
                    let tree = checkout(&mut *session, Some(number));
                    assert_eq!(tree.contents, expected, "{kind} {bulk} {compression}");
                    match &first {
                        None => first = Some(tree),
                        Some(first) => {
                            assert_eq!(tree.lines, first.lines, "{kind} {bulk} {compression}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn few_connections_do_as_well() {
    for connections in ["2", "3", "8"] {
        let settings = [
            ("http-bulk-updates", "no"),
            ("http-max-connections", connections),
            ("http-chunked-requests", "yes"),
        ];
        let mut few = session_with("v2", "/trunk", &settings);
        assert_eq!(checkout(&mut *few, None).contents.len(), 125);
    }
}

#[test]
fn updates_bring_deltas_against_what_is_there() {
    let mut before = session("v2", "/trunk");
    let bases = checkout(&mut *before, Some(1)).contents;
    let after = checkout(&mut *before, Some(4)).contents;
    let mut all = Vec::new();
    for kind in KINDS {
        for bulk in ["auto", "yes", "no"] {
            let mut session = session_with(kind, "/trunk", &[("http-bulk-updates", bulk)]);
            let mut editor = CheckingEditor::new(Dump {
                bases: bases.clone(),
                ..Dump::default()
            });
            session
                .update(&options(Some(rev(4))), &at(1, false), &mut editor)
                .unwrap_or_else(|error| panic!("{kind} {bulk}: {error:?}"));
            let dump = editor.into_inner();
            assert_eq!(dump.contents["A/f"], after["A/f"]);
            assert_eq!(dump.contents["A/B/big"], after["A/B/big"]);
            all.push((kind, bulk, dump.lines()));
        }
    }
    for (kind, bulk, lines) in &all {
        assert_eq!(lines, &all[0].2, "{kind} {bulk}");
    }
    assert!(all[0].2.contains(&"delete x".to_owned()));
}

#[test]
fn known_contents_are_not_fetched() {
    let mut session = session("skelta", "/trunk");
    let mut editor = CheckingEditor::new(Dump {
        known: vec![Sha1::of(b"hello\nmore\n"), Sha1::of(b"")],
        ..Dump::default()
    });
    session
        .update(&options(None), &at(4, true), &mut editor)
        .unwrap();
    let lines = editor.into_inner().lines();
    assert!(lines.contains(&"known A/f".to_owned()));
    assert!(lines.contains(&"known A/empty".to_owned()));
    assert!(!lines.iter().any(|line| line.starts_with("A/f = ")));
}

#[test]
fn switch_goes_to_another_url_and_back_from_a_switched_child() {
    for bulk in ["yes", "no"] {
        let mut session = session_with("v2", "/trunk", &[("http-bulk-updates", bulk)]);
        let bases = checkout(&mut *session, Some(4)).contents;
        let branch = Url::parse(&fixture().server.url("v2/r/branches/b")).unwrap();
        let mut editor = CheckingEditor::new(Dump {
            bases: bases.clone(),
            ..Dump::default()
        });
        session
            .switch(&options(None), &branch, &at(4, false), &mut editor)
            .unwrap();
        let dump = editor.into_inner();
        assert_eq!(dump.contents["A/f"], b"on the branch\n");
        assert_eq!(dump.contents.len(), 1);

        let mut report = at(4, false);
        report.push(ReportEntry::LinkPath {
            path: rel("A").to_owned(),
            url: branch.join(rel("A")),
            rev: rev(3),
            depth: Depth::Infinity,
            start_empty: false,
            lock_token: None,
        });
        let mut editor = CheckingEditor::new(Dump {
            bases,
            ..Dump::default()
        });
        session
            .update(&options(None), &report, &mut editor)
            .unwrap();
        let dump = editor.into_inner();
        assert_eq!(dump.contents["A/f"], b"on the branch\n");
    }
}

#[test]
fn status_names_what_is_new_without_contents() {
    for kind in KINDS {
        let mut session = session(kind, "/trunk");
        let mut editor = CheckingEditor::new(CountingEditor::default());
        session
            .status(&options(None), &at(1, false), &mut editor)
            .unwrap();
        let counted = editor.into_inner();
        assert_eq!(counted.files, 2, "{kind}");
        assert_eq!(counted.deletions, 1);
        assert_eq!(counted.text_bytes, 0);
        assert!(counted.is_closed);
    }
}

#[test]
fn a_missing_revision_aborts_the_edit() {
    let mut session = session("v2", "/trunk");
    let mut dump = Dump::default();
    let error = session
        .update(&options(Some(rev(99))), &at(1, false), &mut dump)
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::FS_NO_SUCH_REVISION, "{error:?}");
    assert!(dump.aborted && !dump.ended);
}

#[test]
fn facts_about_the_repository() {
    let path = fixture().root.join("r");
    let uuid = Command::new("svnlook")
        .arg("uuid")
        .arg(path)
        .output()
        .unwrap();
    let uuid = String::from_utf8(uuid.stdout).unwrap();
    for kind in ["v2", "v1"] {
        let mut session = session(kind, "/trunk/A/f");
        assert_eq!(session.uuid().unwrap(), uuid.trim());
        let root = session.repos_root().unwrap();
        assert_eq!(root.as_str(), fixture().server.url(&format!("{kind}/r")));
        assert_eq!(session.latest_rev().unwrap(), rev(4));
        assert_eq!(session.latest_rev().unwrap(), rev(4));
        assert!(session.has_capability(Capability::Depth).unwrap());
        assert!(session.has_capability(Capability::Mergeinfo).unwrap());
        assert!(session.has_capability(Capability::List).unwrap());
        let other = Url::parse("http://elsewhere/x").unwrap();
        let error = session.reparent(&other).unwrap_err();
        assert_eq!(error.code(), ErrorCode::RA_ILLEGAL_URL);
        session.reparent(&root.join(rel("branches"))).unwrap();
        assert_eq!(session.check_path(rel("b"), None).unwrap(), NodeKind::Dir);
        let props = session.rev_proplist(rev(2)).unwrap();
        assert_eq!(props["svn:log"], b"second\n\nwith lines");
        assert_eq!(props["svn:author"], b"jrandom");
        let date = String::from_utf8(props["svn:date"].clone()).unwrap();
        let moment = Timestamp::parse_iso(&date).unwrap();
        assert_eq!(session.dated_rev(moment).unwrap(), rev(2));
        assert_eq!(session.rev_prop(rev(2), "none").unwrap(), None);
        let error = session.rev_proplist(rev(77)).unwrap_err();
        assert_eq!(error.code(), ErrorCode::FS_NO_SUCH_REVISION, "{error:?}");
    }
}

#[test]
fn nodes_are_found_at_revisions() {
    for kind in ["v2", "v1"] {
        let mut session = session(kind, "/trunk");
        for (path, at, expected) in [
            ("", None, NodeKind::Dir),
            ("A/f", None, NodeKind::File),
            ("x", None, NodeKind::None),
            ("x", Some(1), NodeKind::File),
            ("\u{fc} b/\u{e4}<&>#%.txt", Some(2), NodeKind::File),
            ("A", Some(0), NodeKind::None),
        ] {
            let found = session.check_path(rel(path), at.map(rev)).unwrap();
            assert_eq!(found, expected, "{kind} {path}@{at:?}");
            let stat = session.stat(rel(path), at.map(rev)).unwrap();
            assert_eq!(stat.map_or(NodeKind::None, |entry| entry.kind), expected);
        }
        let entry = session.stat(rel("A/f"), Some(rev(4))).unwrap().unwrap();
        assert_eq!(entry.size, Some(11));
        assert!(entry.has_props);
        assert_eq!(entry.created_rev, Some(rev(2)));
        assert_eq!(entry.last_author.as_deref(), Some("jrandom"));
        let entry = session.stat(rel("A/empty"), None).unwrap().unwrap();
        assert_eq!((entry.size, entry.has_props), (Some(0), false));
    }
}

#[test]
fn files_and_folders_are_read() {
    for kind in ["v2", "v1", "gzip"] {
        let mut session = session(kind, "/trunk");
        let mut content = Vec::new();
        let (read, props) = session
            .read_file(rel("A/f"), Some(rev(1)), Some(&mut content))
            .unwrap();
        assert_eq!(content, b"hello\n");
        assert_eq!(read, rev(1));
        assert_eq!(props["svn:executable"], b"*");
        assert_eq!(props["binary"], b"bin\x01\xff");
        assert_eq!(props["svn:entry:committed-rev"], b"1");
        let mut big = Vec::new();
        let (read, _) = session
            .read_file(rel("A/B/big"), None, Some(&mut big))
            .unwrap();
        assert_eq!((read, big.len()), (rev(4), 40_000 * 17 + 5));
        let error = session.read_file(rel("A"), None, None).unwrap_err();
        assert_eq!(
            error.to_lines(""),
            "E160017: Can't get text contents of a directory\n"
        );
        let error = session.read_file(rel("none"), None, None).unwrap_err();
        assert_eq!(error.code(), ErrorCode::FS_NOT_FOUND);

        let dir = session
            .read_dir(rel("A"), None, Some(DirEntryFields::ALL))
            .unwrap();
        let names: Vec<_> = dir.entries.keys().map(String::as_str).collect();
        assert_eq!(names, ["B", "empty", "f"]);
        assert_eq!(dir.entries["f"].size, Some(11));
        assert_eq!(dir.entries["B"].kind, NodeKind::Dir);
        assert_eq!(dir.entries["B"].size, None);
        assert_eq!(dir.props["my:odd"], b"a<b>&\n");
        let root = session.read_dir(RelPath::ROOT, None, Some(DirEntryFields::KIND));
        assert!(root.unwrap().entries.contains_key("\u{fc} b"));
        let error = session
            .read_dir(rel("A/f"), None, Some(DirEntryFields::ALL))
            .unwrap_err();
        assert_eq!(error.code(), ErrorCode::FS_NOT_DIRECTORY);
    }
}

#[test]
fn lists_are_svns() {
    let theirs = svn(
        &fixture().root,
        &["list", "-R", &fixture().server.url("v2/r/trunk")],
    );
    let mut theirs: Vec<_> = theirs.lines().collect();
    theirs.sort_unstable();
    for kind in ["v2", "v1"] {
        let mut session = session(kind, "/trunk");
        let mut list = |path: &str, patterns: Option<&[String]>, depth| {
            let mut found = Vec::new();
            session
                .list(
                    rel(path),
                    None,
                    patterns,
                    depth,
                    DirEntryFields::ALL,
                    &mut |path, entry| {
                        let slash = if entry.kind == NodeKind::Dir { "/" } else { "" };
                        found.push(format!("{}{slash}", path.as_str()));
                        Ok(())
                    },
                )
                .unwrap();
            found.sort();
            found
        };
        let ours = list("", None, Depth::Infinity);
        assert_eq!(ours[0], "/", "the listed folder itself");
        assert_eq!(ours[1..], theirs);
        assert_eq!(list("A", None, Depth::Files), ["/", "empty", "f"]);
        assert_eq!(list("A/f", None, Depth::Infinity), [""]);
        let patterns = ["b*".to_owned()];
        assert_eq!(
            list("A", Some(&patterns), Depth::Infinity),
            ["B/", "B/big"],
            "case makes no difference"
        );
    }
}

#[test]
fn logs_are_svns() {
    for kind in ["v2", "v1"] {
        let mut session = session(kind, "/branches/b");
        let mut options = LogOptions {
            paths: vec![RelPathBuf::root()],
            start: Some(rev(4)),
            end: Some(rev(1)),
            limit: 0,
            discover_changed_paths: true,
            strict_node_history: false,
            include_merged_revisions: false,
            revprops: None,
        };
        let mut log = |options: &LogOptions| {
            let mut entries = Vec::new();
            session
                .log(options, &mut |entry| {
                    entries.push(entry);
                    Ok(())
                })
                .unwrap();
            entries
        };
        let entries = log(&options);
        let revs: Vec<_> = entries.iter().map(|entry| entry.rev.unwrap()).collect();
        assert_eq!(revs, [rev(4), rev(3), rev(2), rev(1)]);
        assert_eq!(entries[2].revprops["svn:log"], b"second\n\nwith lines");
        let copied = &entries[1].changed_paths.as_ref().unwrap()[0];
        assert_eq!(copied.0, "/branches/b");
        assert_eq!(copied.1.action, 'A');
        assert_eq!(copied.1.copy_from, Some(("/trunk".to_owned(), rev(2))));
        let second: Vec<_> = entries[2]
            .changed_paths
            .iter()
            .flatten()
            .map(|(path, change)| format!("{} {path}", change.action))
            .collect();
        assert_eq!(second, ["M /trunk/A/B/big", "M /trunk/A/f", "D /trunk/x"]);
        options.strict_node_history = true;
        options.limit = 5;
        options.discover_changed_paths = false;
        options.revprops = Some(vec!["svn:author".to_owned()]);
        let entries = log(&options);
        assert_eq!(entries.len(), 2);
        assert_eq!(entries[0].changed_paths, None);
        assert_eq!(entries[0].revprops.len(), 1);
        options.limit = 1;
        assert_eq!(log(&options).len(), 1);
    }
}

#[test]
fn history_is_followed() {
    for kind in ["v2", "v1"] {
        let mut session = session(kind, "/branches/b");
        let found = session
            .locations(rel("A/f"), rev(4), &[rev(4), rev(1)])
            .unwrap();
        let found: BTreeMap<_, _> = found.into_iter().collect();
        assert_eq!(found[&rev(4)].as_str(), "branches/b/A/f");
        assert_eq!(found[&rev(1)].as_str(), "trunk/A/f");
        let segments = session
            .location_segments(rel("A/f"), Some(rev(4)), None, None)
            .unwrap();
        let shown: Vec<_> = segments
            .iter()
            .map(|segment| {
                let path = segment.path.as_ref().map(|path| path.as_str());
                (segment.start.number(), segment.end.number(), path)
            })
            .collect();
        assert_eq!(
            shown,
            [(3, 4, Some("branches/b/A/f")), (1, 2, Some("trunk/A/f"))]
        );
        let root = session.repos_root().unwrap();
        session.reparent(&root).unwrap();
        let deleted = session.deleted_rev(rel("trunk/x"), rev(1), rev(4)).unwrap();
        assert_eq!(deleted, Some(rev(2)));
        let deleted = session.deleted_rev(rel("trunk/A"), rev(1), rev(4)).unwrap();
        assert_eq!(deleted, None);
        let inherited = session.inherited_props(rel("trunk/A/f"), rev(4)).unwrap();
        let shown: Vec<_> = inherited
            .iter()
            .map(|item| {
                (
                    item.path.as_str(),
                    item.props.keys().next().unwrap().as_str(),
                )
            })
            .collect();
        assert_eq!(shown, [("trunk", "inherit"), ("trunk/A", "my:odd")]);
    }
}

#[test]
fn locks_are_told() {
    for kind in ["v2", "v1"] {
        let mut session = session(kind, "/trunk");
        let lock = session.lock(rel("A/f")).unwrap().unwrap();
        assert_eq!(lock.path.as_str(), "trunk/A/f");
        assert_eq!(lock.owner, "jrandom");
        assert_eq!(lock.comment.as_deref(), Some("why <&"));
        assert!(lock.token.starts_with("opaquelocktoken:"));
        assert!(lock.created.micros() > 0);
        assert_eq!(session.lock(rel("A/empty")).unwrap(), None);
        assert_eq!(session.lock(rel("none")).unwrap(), None);
        let locks = session.locks(RelPath::ROOT, Depth::Infinity).unwrap();
        assert_eq!(locks.len(), 1);
        assert_eq!(locks[0].token, lock.token);
        assert_eq!(locks[0].created, lock.created);
        assert_eq!(session.locks(RelPath::ROOT, Depth::Files).unwrap(), []);
        assert_eq!(session.locks(rel("A"), Depth::Immediates).unwrap().len(), 1);
        assert_eq!(session.locks(rel("none"), Depth::Infinity).unwrap(), []);
    }
}

#[test]
fn users_are_asked_for() {
    for (kind, realm_host) in [("basic", "basic/r"), ("digest", "digest/r")] {
        let url = Url::parse(&fixture().server.url(realm_host)).unwrap();
        let trunk = url.join(rel("trunk"));
        let mut session = open(&trunk, &context_for(&[], jrandom())).unwrap();
        assert_eq!(checkout(&mut *session, None).contents.len(), 125, "{kind}");
        let mut parallel = open(
            &trunk,
            &context_for(&[("http-bulk-updates", "no")], jrandom()),
        )
        .unwrap();
        assert_eq!(checkout(&mut *parallel, None).contents.len(), 125, "{kind}");

        let wrong = AuthOptions {
            password: Some("wrong".to_owned()),
            ..jrandom()
        };
        for auth in [AuthOptions::default(), wrong] {
            let error = open(&url, &context_for(&[], auth)).err().unwrap();
            assert_eq!(
                error.to_lines("svn: "),
                format!(
                    "svn: E170013: Unable to connect to a repository at URL '{url}'\n\
                     svn: E215004: No more credentials or we tried too many times.\nAuthentication failed\n"
                )
            );
        }
        let only_ntlm = context_for(&[("http-auth-types", "ntlm")], jrandom());
        let error = open(&url, &only_ntlm).err().unwrap();
        assert!(error.has_code(ErrorCode(120_191)), "{error:?}");
    }
}

#[test]
fn redirects_are_told_or_followed() {
    let server = &fixture().server;
    let moved = Url::parse(&server.url("moved/r/trunk")).unwrap();
    let target = server.url("v2/r/trunk");
    let error = open(&moved, &context(&[])).err().unwrap();
    assert_eq!(
        error.to_lines(""),
        format!("E170011: Repository moved permanently to '{target}'\n")
    );
    let mut told = Vec::new();
    let session = open_following(&moved, &context(&[]), &mut |url| {
        told.push(url.as_str().to_owned());
        Ok(())
    })
    .unwrap();
    assert_eq!(session.url().as_str(), target);
    assert_eq!(told, [target.as_str()]);
    let away = Url::parse(&server.url("away/r/trunk")).unwrap();
    let error = open_following(&away, &context(&[]), &mut |_| Ok(()))
        .err()
        .unwrap();
    assert_eq!(
        error.to_lines(""),
        format!("E170011: Repository moved temporarily to '{target}'\n")
    );
}

#[test]
fn errors_are_svns() {
    let server = &fixture().server;
    let port = sylvan_testutil::free_port();
    for url in [
        server.url("v2/none"),
        server.url("nowhere"),
        format!("http://127.0.0.1:{port}/r"),
        "http://no-such-host.invalid/r".to_owned(),
    ] {
        let theirs = Command::new("svn")
            .args(["info", "--non-interactive", &url])
            .env("LC_ALL", "C.UTF-8")
            .output()
            .unwrap();
        let theirs = String::from_utf8(theirs.stderr).unwrap();
        let ours = open(&Url::parse(&url).unwrap(), &context(&[]))
            .err()
            .unwrap();
        assert_eq!(ours.to_lines("svn: "), theirs, "{url}");
    }
}
