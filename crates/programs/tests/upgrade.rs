//! `svn upgrade` beside Debian's, on working copies of old formats that are made here.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use sylvan_core::Md5;
use sylvan_testutil::{Pair, wc_rows};

use crate::SVN;
use crate::twin::{assert_same_wc, both, pair, script};

/// The fields of an entry in text.
const FIELDS: [&str; 36] = [
    "name",
    "kind",
    "revision",
    "url",
    "repos",
    "schedule",
    "text-time",
    "checksum",
    "committed-date",
    "committed-rev",
    "last-author",
    "has-props",
    "has-prop-mods",
    "cachable-props",
    "present-props",
    "prop-reject-file",
    "conflict-old",
    "conflict-new",
    "conflict-wrk",
    "copied",
    "copyfrom-url",
    "copyfrom-rev",
    "deleted",
    "absent",
    "incomplete",
    "uuid",
    "lock-token",
    "lock-owner",
    "lock-comment",
    "lock-creation-date",
    "changelist",
    "keep-local",
    "working-size",
    "depth",
    "tree-conflicts",
    "file-external",
];

/// The revision that all is of.
const CHANGED: &str = "committed-date=2024-01-02T03:04:05.000000Z|committed-rev=1|last-author=jo";

/// Makes the administrative folder of `dir`. A line of `entries` is `name|kind|field=value|…`; `files`
/// are below the administrative folder, and those in `text-base` give entries their checksum.
fn old_folder(dir: &Path, format: u32, url: &str, entries: &str, files: &[(&str, &str)]) {
    let adm = dir.join(".svn");
    for name in ["text-base", "prop-base", "props", "tmp"] {
        fs::create_dir_all(adm.join(name)).unwrap();
    }
    if format <= 7 {
        fs::create_dir_all(adm.join("wcprops")).unwrap();
    }
    let entries = entries.replace("URL", url);
    let mut text = if format < 7 {
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<wc-entries xmlns=\"svn:\">\n".to_owned()
    } else {
        format!("{format}\n")
    };
    for line in entries.lines() {
        let mut columns = line.trim().split('|');
        let name = columns.next().unwrap_or_default();
        let kind = columns.next().unwrap_or_default();
        let mut set: Vec<(&str, String)> = vec![("name", name.into()), ("kind", kind.into())];
        let base = format!("text-base/{name}.svn-base");
        if let Some((_, base)) = files.iter().find(|(path, _)| *path == base) {
            set.push(("checksum", Md5::of(base.as_bytes()).to_string()));
        }
        set.extend(columns.filter_map(|column| {
            let (field, value) = column.split_once('=')?;
            Some((field, value.to_owned()))
        }));
        if format < 7 {
            let attributes = set.iter().map(|(field, value)| {
                let flag = value == field;
                format!("\n   {field}=\"{}\"", if flag { "true" } else { value })
            });
            let _ = writeln!(text, "<entry{}/>", attributes.collect::<String>());
        } else {
            let last = set
                .iter()
                .filter_map(|(field, _)| FIELDS.iter().position(|known| known == field));
            for field in &FIELDS[..=last.max().unwrap()] {
                let value = set.iter().find(|(name, _)| name == field);
                let _ = writeln!(text, "{}", value.map_or("", |(_, value)| value));
            }
            text.push_str("\x0c\n");
        }
    }
    if format < 7 {
        text.push_str("</wc-entries>\n");
        fs::write(adm.join("format"), format!("{format}\n")).unwrap();
    }
    fs::write(adm.join("entries"), text).unwrap();
    for (path, text) in files {
        fs::write(adm.join(path), text).unwrap();
    }
}

fn url(folder: &Path) -> String {
    format!("file://{}/repo", folder.display())
}

const UUID: &str = "d3ad3e1b-4ea8-4cc5-9ac6-6a9c5d0f0001";

/// Writes a property as a file has it.
fn props(name: &str, value: &str) -> String {
    format!(
        "K {}\n{name}\nV {}\n{value}\nEND\n",
        name.len(),
        value.len()
    )
}

/// Makes a working copy of 1.6 with a node in each state that it knows.
fn make_1_6(folder: &Path) {
    let (wc, url) = (folder.join("wc"), url(folder));
    for dir in ["A", "C/D", "gone", "kept", "fresh", "link"] {
        fs::create_dir_all(wc.join(dir)).unwrap();
    }
    let top = format!("revision=1|url=URL|repos=URL|uuid={UUID}|{CHANGED}");
    let trees = "((conflict victim file update deleted edited \
                 (version 14 http://host/r  1 2 6 victim 4 file) (version 0  2 -1 0  0 )) \
                 (conflict A dir merge edited deleted \
                 (version 14 http://host/r  1 2 1 A 3 dir) (version 14 http://host/r  1 3 1 A 4 none)))"
        .replace("14 http://host/r  ", "13 http://host/r ");
    let file = format!("file|{CHANGED}|text-time=2024-01-02T03:04:05.000000Z|working-size=5");
    old_folder(
        &wc,
        10,
        &url,
        &format!(
            "|dir|{top}|tree-conflicts={trees}|prop-reject-file=dir_conflicts.prej\n\
             A|dir\nC|dir|schedule=add|copied=copied|copyfrom-url=URL/A|copyfrom-rev=1\ngone|dir\nkept|dir\nfresh|dir|schedule=add\n\
             left|dir|depth=exclude\nmissing|dir\nsecret|dir|absent=absent|revision=1\nlink|dir\n\
             plain|{file}\n\
             changed|{file}|changelist=a list\n\
             new|file|schedule=add|revision=0\n\
             removed|{file}|schedule=delete\n\
             replaced|{file}|schedule=replace|revision=0\n\
             copy|{file}|schedule=add|copied=copied|copyfrom-url=URL/plain|copyfrom-rev=1\n\
             was|file|deleted=deleted|revision=1\n\
             again|file|deleted=deleted|schedule=add|revision=1\n\
             other|{file}|url=URL/elsewhere/other\n\
             locked|{file}|lock-token=opaquelocktoken:1|lock-owner=jo|lock-comment=c|\
             lock-creation-date=2024-01-02T03:04:05.000000Z\n\
             fight|{file}|conflict-old=fight.r1|conflict-new=fight.r2|conflict-wrk=fight.mine|\
             prop-reject-file=fight.prej"
        ),
        &[
            ("text-base/plain.svn-base", "text\n"),
            ("text-base/changed.svn-base", "text\n"),
            ("text-base/removed.svn-base", "gone\n"),
            ("text-base/replaced.svn-revert", "old\n"),
            ("prop-base/replaced.svn-revert", &props("p", "old")),
            ("text-base/copy.svn-base", "text\n"),
            ("text-base/other.svn-base", "other\n"),
            ("text-base/locked.svn-base", "locked\n"),
            ("text-base/fight.svn-base", "fight\n"),
            ("prop-base/plain.svn-base", &props("p", "v")),
            ("prop-base/changed.svn-base", &props("p", "v")),
            ("props/changed.svn-work", &props("p", "local")),
            ("props/plain.svn-work", &props("p", "v")),
            ("dir-prop-base", &props("d", "v")),
            ("dir-props", ""),
            (
                "all-wcprops",
                &format!(
                    "{}plain\n{}",
                    props("svn:wc:ra_dav:version-url", "/r/!svn/ver/1"),
                    props("svn:wc:ra_dav:version-url", "/r/!svn/ver/1/plain")
                ),
            ),
        ],
    );
    let below = |path: &str| {
        format!(
            "|dir|{}",
            top.replace("url=URL", &format!("url=URL/{path}"))
        )
    };
    old_folder(&wc.join("A"), 10, &url, &below("A"), &[]);
    old_folder(
        &wc.join("kept"),
        10,
        &url,
        &format!("{}|depth=files", below("kept")),
        &[],
    );
    old_folder(&wc.join("link"), 10, &url, &below("branch/link"), &[]);
    old_folder(
        &wc.join("gone"),
        10,
        &url,
        &format!(
            "{}|schedule=delete\nf|{file}|schedule=delete",
            below("gone")
        ),
        &[("text-base/f.svn-base", "gone\n")],
    );
    old_folder(
        &wc.join("fresh"),
        10,
        &url,
        &format!("|dir|revision=0|url=URL/fresh|repos=URL|uuid={UUID}|schedule=add"),
        &[],
    );
    let copied = format!(
        "{}|schedule=add|copied=copied|copyfrom-url=URL/A|copyfrom-rev=1",
        below("C")
    );
    old_folder(
        &wc.join("C"),
        10,
        &url,
        &format!(
            "{copied}\nD|dir|copied=copied\nf|{file}|copied=copied\n\
             x|{file}|schedule=delete|copied=copied\n\
             y|{file}|schedule=add|copied=copied|copyfrom-url=URL/z|copyfrom-rev=1\n\
             z|file|schedule=add|revision=0"
        ),
        &[
            ("text-base/f.svn-base", "f\n"),
            ("text-base/x.svn-base", "x\n"),
            ("text-base/y.svn-base", "y\n"),
        ],
    );
    old_folder(
        &wc.join("C/D"),
        10,
        &url,
        &format!("{}|copied=copied", below("C/D")),
        &[],
    );
    for (name, text) in [
        ("plain", "text\n"),
        ("changed", "mine\n"),
        ("new", "new\n"),
        ("replaced", "new\n"),
        ("copy", "text\n"),
        ("fight.mine", "1\n"),
        ("fight.prej", "1\n"),
        ("C/f", "f\n"),
    ] {
        fs::write(wc.join(name), text).unwrap();
    }
}

/// Makes a working copy of Subversion 1.3 or before, which does not know its repository.
fn make_1_0(folder: &Path) {
    let (wc, url) = (folder.join("wc"), url(folder));
    fs::create_dir_all(wc.join("A")).unwrap();
    old_folder(
        &wc,
        4,
        &url,
        &format!("|dir|revision=0|url=URL/|{CHANGED}\nA|dir\nf|file|{CHANGED}|schedule="),
        &[
            ("text-base/f.svn-base", "f\n"),
            ("README.txt", "old\n"),
            ("empty-file", ""),
            ("dir-wcprops", &props("u", "/v/1")),
        ],
    );
    old_folder(
        &wc.join("A"),
        4,
        &url,
        &format!("|dir|revision=0|url=URL/A|{CHANGED}|incomplete=incomplete"),
        &[],
    );
}

/// Makes a working copy of Subversion 1.7 of a present one.
fn make_1_7(folder: &Path) {
    let wc = folder.join("wc");
    let script = "svn checkout -q \"$URL\" wc; cd wc; echo x > f; mkdir A; svn add -q f A; \
                  svn commit -qm1; svn copy -q \"$URL/A\" \"$URL/B\" -m2; svn update -q; \
                  svn switch -q \"$URL/B\" A --ignore-ancestry; echo y > g; svn add -q g";
    let made = Command::new("sh")
        .args(["-ec", script])
        .current_dir(folder)
        .env("URL", url(folder))
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let db = rusqlite::Connection::open(wc.join(".svn/wc.db")).unwrap();
    db.execute_batch(
        "DROP INDEX I_NODES_MOVED; DROP INDEX I_PRISTINE_MD5;
         ALTER TABLE NODES DROP COLUMN inherited_props;
         CREATE INDEX I_ACTUAL_CHANGELIST ON ACTUAL_NODE (changelist);
         INSERT INTO actual_node (wc_id, local_relpath, parent_relpath, conflict_old, conflict_new,
           conflict_working, prop_reject, tree_conflict_data)
         VALUES (1, 'f', '', 'f.r1', 'f.r2', 'f.mine', 'f.prej', NULL),
           (1, 'v', '', NULL, NULL, NULL, NULL, '(conflict v file switch added added \
            (version 0  2 -1 0  0 ) (version 13 http://host/r 1 3 1 v 4 file))');
         PRAGMA user_version = 29;",
    )
    .unwrap();
    drop(db);
    for name in ["f.mine", "f.prej"] {
        fs::write(wc.join(name), "x").unwrap();
    }
}

fn upgraded(make: impl Fn(&Path)) -> Pair {
    let pair = pair();
    pair.each(make);
    // Subversion goes through folders in no order.
    let said = script(
        &pair,
        "$S upgrade wc | LC_ALL=C sort; ls -A wc/.svn | grep -v -e entries -e format -e journal",
    );
    assert!(said.contains("Upgraded 'wc'\n"), "{said}");
    assert_same_wc(&pair, "wc");
    both(&pair, &["upgrade", "wc"]);
    pair
}

#[test]
fn working_copies_of_1_6_are_upgraded() {
    let pair = upgraded(make_1_6);
    both(&pair, &["cleanup", "wc"]);
    both(&pair, &["info", "wc/copy", "wc/C/y"]);
}

#[test]
fn working_copies_of_1_0_ask_their_repository() {
    upgraded(make_1_0);
}

#[test]
fn databases_of_1_7_are_upgraded() {
    upgraded(make_1_7);
}

#[test]
fn old_working_copies_are_refused_elsewhere() {
    let pair = pair();
    pair.each(make_1_6);
    let version = "sed \"s/client version '[^']*'/client version/\"";
    for command in [
        "status wc",
        "update wc",
        "info wc/plain",
        "upgrade wc/A",
        "add wc/A/x",
        "cleanup wc",
    ] {
        script(&pair, &format!("$S {command} 2>&1 | {version}"));
    }
}

#[test]
fn what_cannot_be_upgraded_is_told() {
    let pair = pair();
    script(
        &pair,
        "svn checkout -q $URL wc; mkdir wc/sub plain; $S upgrade plain wc/sub; $S upgrade none; \
         $S upgrade $URL; for f in 12 18 19 28 3; do sqlite3 wc/.svn/wc.db \
         \"pragma user_version=$f\"; $S upgrade wc; done; mkdir -p old/.svn; \
         printf '10\\n' > old/.svn/entries; $S upgrade old",
    );
    let with_logs = |folder: &Path| {
        make_1_0(folder);
        fs::write(folder.join("wc/A/.svn/log"), "").unwrap();
    };
    script(&pair, "rm -rf wc");
    pair.each(with_logs);
    both(&pair, &["upgrade", "wc"]);
}

#[test]
fn externals_are_upgraded_and_recorded() {
    let pair = pair();
    pair.each(|folder| {
        make_1_0(folder);
        let wc = folder.join("wc");
        let defined = "ext file:///none/x\nURL/A inner\n^/B absent".replace("URL", &url(folder));
        fs::write(
            wc.join(".svn/dir-prop-base"),
            props("svn:externals", &defined),
        )
        .unwrap();
        fs::create_dir_all(wc.join("inner")).unwrap();
        old_folder(
            &wc.join("inner"),
            8,
            &url(folder),
            &format!("|dir|revision=0|url=URL/A|repos=URL|uuid={UUID}|{CHANGED}"),
            &[],
        );
    });
    script(
        &pair,
        "$S upgrade wc | LC_ALL=C sort; sqlite3 wc/.svn/wc.db 'select local_relpath, kind, \
                   def_local_relpath, def_repos_relpath from externals'; $S status -q wc/inner",
    );
}

#[test]
fn what_nobody_can_tell_the_format_of_is_left_alone() {
    let pair = pair();
    pair.each(make_1_0);
    let wc = pair.ours().join("wc");
    // Entries as XML do not say it themselves.
    fs::remove_file(wc.join(".svn/format")).unwrap();
    let upgraded = pair.run_ours(&["upgrade", "wc"]);
    assert!(
        upgraded.code != 0 && upgraded.stderr.contains("E1550"),
        "{}",
        upgraded.stderr
    );
    assert!(wc.join(".svn/text-base/f.svn-base").exists() && wc.join("A/.svn/entries").exists());
    assert!(!wc.join(".svn/wc.db").exists());
}

#[test]
fn two_upgrades_at_once() {
    let pair = pair();
    pair.each(make_1_0);
    let wc = pair.ours().join("wc");
    let held = fs::File::open(wc.join(".svn/entries")).unwrap();
    held.try_lock().unwrap();
    let upgraded = pair.run_ours(&["upgrade", "-q", "wc"]);
    assert!(upgraded.stderr.contains("E155004"), "{}", upgraded.stderr);
    drop(held);
    pair.run_ours(&["upgrade", "-q", "wc"]).success();
    assert_eq!(pair.run_ours(&["cat", "wc/f"]).success().stdout, "f\n");
}

#[test]
fn a_killed_upgrade_loses_nothing() {
    let pair = pair();
    pair.each(make_1_0);
    script(&pair, "cp -a wc saved; $S upgrade -q wc");
    let wc = pair.ours().join("wc");
    let mut whole = wc_rows(&wc);
    whole.remove("WORK_QUEUE");
    for step in 1.. {
        let restored = Command::new("sh")
            .args(["-ec", "rm -rf wc; cp -a saved wc"])
            .current_dir(pair.ours())
            .status();
        assert!(restored.unwrap().success());
        let mut command = pair.command(Path::new(SVN), &pair.ours());
        let killed = command
            .args(["upgrade", "wc"])
            .env("SYLVAN_FAULT", format!("kill:{step}"))
            .output()
            .unwrap();
        if killed.status.success() {
            assert!(step > 10);
            return;
        }
        // Before the database has its name, it is an old working copy still.
        let again = pair.run_ours(&["upgrade", "-q", "wc"]);
        assert_eq!((again.code, &*again.stderr), (0, ""), "step {step}");
        let mut rows = wc_rows(&wc);
        rows.remove("WORK_QUEUE");
        assert_eq!(rows, whole, "step {step}");
        let status = pair.run_theirs_in(&pair.ours(), &["status", "wc"]);
        assert_eq!(status.code, 0, "step {step}: {}", status.stderr);
        let text = pair.run_theirs_in(&pair.ours(), &["cat", "wc/f"]);
        assert_eq!((text.code, &*text.stdout), (0, "f\n"), "step {step}");
        assert!(!wc.join("A/.svn").exists(), "step {step}");
        assert!(!wc.join(".svn/tmp/wcng").exists() && wc.join(".svn/entries").exists());
    }
}
