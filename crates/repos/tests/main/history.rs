//! Logs, blames, locations, mergeinfo, listings.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use sylvan_core::repository::{LogEntry, LogOptions};
use sylvan_core::{Error, NodeKind, RelPath, RelPathBuf, Revnum, Timestamp};
use sylvan_fs::tree::MergeinfoInheritance;
use sylvan_repos::authz::{Authz, Reach, Rights};
use sylvan_repos::{FileRevsOptions, ReadAccess, Repos};
use sylvan_testutil::Sandbox;

use crate::scene;
use crate::wire::{Item, Server, text};

fn rev(number: i64) -> Revnum {
    Revnum::new(number).unwrap()
}

fn path(path: &str) -> RelPathBuf {
    RelPathBuf::new(path).unwrap()
}

pub(crate) fn shown<T>(result: Result<T, Error>, show: impl FnOnce(T) -> String) -> String {
    match result {
        Ok(value) => show(value),
        Err(error) => error.chain().fold(String::new(), |mut text, link| {
            let _ = writeln!(text, "{}: {}", link.code(), link.message());
            text
        }),
    }
}

pub(crate) fn theirs(
    result: Result<Vec<Item>, String>,
    show: impl Fn(&[Item]) -> String,
) -> String {
    match result {
        Ok(items) => show(&items),
        Err(failure) => failure,
    }
}

/// A repository and both programs that know it.
pub(crate) struct Both {
    pub(crate) repos: Repos,
    pub(crate) server: Server,
}

impl Both {
    pub(crate) fn open(repository: &Path) -> Self {
        Self {
            repos: Repos::open(repository).unwrap(),
            server: Server::open(repository),
        }
    }

    /// Returns all paths that ever were.
    pub(crate) fn paths(&self) -> Vec<RelPathBuf> {
        let youngest = self.repos.fs().youngest().unwrap();
        let mut all = BTreeSet::new();
        for number in 0..=youngest.number() {
            let root = self.repos.fs().revision_root(rev(number)).unwrap();
            let mut left = vec![root.root_node().unwrap()];
            while let Some(node) = left.pop() {
                all.insert(node.path().to_owned());
                if node.kind() == NodeKind::Dir {
                    let entries = node.entries().unwrap();
                    let children = entries.entries().iter();
                    left.extend(children.map(|entry| node.child(&entry.name).unwrap().unwrap()));
                }
            }
        }
        all.into_iter().collect()
    }

    fn log(&mut self, options: &LogOptions) -> (String, String) {
        let mut entries = Vec::new();
        let mut open = 0;
        let ours = self.repos.log(options, ReadAccess::ALL, &mut |entry| {
            // The end of what followed an entry that was not sent: the server drops it.
            if entry.rev.is_some() || open > 0 {
                open += usize::from(entry.has_children);
                open -= usize::from(entry.rev.is_none());
                entries.push(entry);
            }
            Ok(())
        });
        let ours = shown(ours, |()| entries.iter().map(show_entry).collect());
        let paths: Vec<_> = options
            .paths
            .iter()
            .map(|path| text(path.as_str()))
            .collect();
        let number = |rev: Option<Revnum>| rev.map_or(String::new(), |rev| rev.to_string());
        let revprops = match &options.revprops {
            None => "all-revprops ( )".to_owned(),
            Some(names) => {
                let names: Vec<_> = names.iter().map(|name| text(name)).collect();
                format!("revprops ( {} )", names.join(" "))
            }
        };
        let command = format!(
            "( log ( ( {} ) ( {} ) ( {} ) {} {} {} {} {revprops} ) ) ",
            paths.join(" "),
            number(options.start),
            number(options.end),
            options.discover_changed_paths,
            options.strict_node_history,
            options.limit,
            options.include_merged_revisions,
        );
        let theirs = theirs(self.server.ask(&command), show_log);
        (ours, theirs)
    }

    fn file_revs(&mut self, path: &RelPath, options: FileRevsOptions) -> (String, String) {
        let mut all = String::new();
        let ours = self
            .repos
            .file_revs(path, options, ReadAccess::ALL, &mut |found| {
                let (path, revision, merged) = (found.path, found.revision, found.merged);
                let changes = found.prop_changes.iter().cloned().collect();
                push_file_rev(&mut all, path.as_str(), revision.number(), merged, &changes);
                let _ = writeln!(all, "  delta {}", found.text_changed);
                Ok(())
            });
        let ours = shown(ours, |()| all);
        let number = |rev: Option<Revnum>| rev.map_or(String::new(), |rev| rev.to_string());
        let command = format!(
            "( get-file-revs ( {} ( {} ) ( {} ) {} ) ) ",
            text(path.as_str()),
            number(options.start),
            number(options.end),
            options.include_merged_revisions
        );
        (ours, theirs(self.server.ask(&command), show_file_revs))
    }
}

impl Both {
    fn compare_mergeinfo(
        &mut self,
        path: &RelPath,
        peg: Revnum,
        (inheritance, word): (MergeinfoInheritance, &str),
        below: bool,
    ) {
        let paths = [path.to_owned()];
        let ours = self
            .repos
            .mergeinfo(&paths, Some(peg), inheritance, below, ReadAccess::ALL);
        let ours = shown(ours, |catalog| {
            let lines = catalog
                .iter()
                .map(|(path, mergeinfo)| format!("{path}\n{}\n", mergeinfo.to_text().unwrap()));
            lines.collect()
        });
        let quoted = text(path.as_str());
        let answer = self.server.ask(&format!(
            "( get-mergeinfo ( ( {quoted} ) ( {peg} ) {word} {below} ) ) "
        ));
        let theirs = theirs(answer, |items| {
            let found = items[0].list().iter();
            let mut found: Vec<_> = found
                .map(|item| (item.list()[0].text(), item.list()[1].text()))
                .collect();
            found.sort();
            let lines = found
                .iter()
                .map(|(path, value)| format!("{}\n{value}\n", path.trim_start_matches('/')));
            lines.collect()
        });
        assert_eq!(ours, theirs, "{path}@{peg} {word} {below}");
    }
}

type PropChanges = std::collections::BTreeMap<String, Option<Vec<u8>>>;

fn push_file_rev(all: &mut String, path: &str, revision: i64, merged: bool, changes: &PropChanges) {
    let path = path.trim_start_matches('/');
    let _ = writeln!(all, "{path}@{revision} merged {merged} {changes:?}");
}

fn show_file_revs(items: &[Item]) -> String {
    let mut all = String::new();
    let mut has_delta = None;
    for item in items {
        match item {
            Item::List(entry) => {
                let changes = entry[3].list().iter().map(|change| {
                    let change = change.list();
                    let value = change[1].list().first().map(|value| value.bytes().to_vec());
                    (change[0].text(), value)
                });
                let (path, revision) = (entry[0].text(), entry[1].number());
                let merged = entry.get(4).is_some_and(Item::is_true);
                push_file_rev(&mut all, &path, revision, merged, &changes.collect());
                has_delta = Some(false);
            }
            Item::Text(piece) if piece.is_empty() => {
                let _ = writeln!(all, "  delta {}", has_delta.unwrap());
            }
            Item::Text(_) => has_delta = Some(true),
            other => assert_eq!(other.word(), "done"),
        }
    }
    all
}

fn show_entry(entry: &LogEntry) -> String {
    let mut shown = String::new();
    let rev = entry.rev.map_or(-1, Revnum::number);
    let _ = writeln!(
        shown,
        "r{rev} children {} subtractive {}",
        entry.has_children, entry.subtractive_merge
    );
    for (name, value) in &entry.revprops {
        let _ = writeln!(shown, "  {name}={}", String::from_utf8_lossy(value));
    }
    for (path, change) in entry.changed_paths.iter().flatten() {
        let _ = write!(
            shown,
            "  {} {path} {} {} {}",
            change.action,
            change.kind,
            change.text_modified.unwrap(),
            change.props_modified.unwrap()
        );
        if let Some((source, revision)) = &change.copy_from {
            let _ = write!(shown, " from {source}@{revision}");
        }
        shown.push('\n');
    }
    shown
}

fn show_log(items: &[Item]) -> String {
    let mut shown = String::new();
    for item in items {
        let Item::List(entry) = item else {
            assert_eq!(item.word(), "done");
            continue;
        };
        let is_end = entry[6].is_true();
        let rev = if is_end { -1 } else { entry[1].number() };
        let subtractive = entry.get(9).is_some_and(Item::is_true);
        let children = entry[5].is_true();
        let _ = writeln!(
            shown,
            "r{rev} children {children} subtractive {subtractive}"
        );
        let mut props = Vec::new();
        for (at, name) in [(2, "svn:author"), (3, "svn:date"), (4, "svn:log")] {
            props.extend(
                entry[at]
                    .list()
                    .iter()
                    .map(|value| (name.to_owned(), value.text())),
            );
        }
        for prop in entry[8].list() {
            props.push((prop.list()[0].text(), prop.list()[1].text()));
        }
        props.sort();
        for (name, value) in props {
            let _ = writeln!(shown, "  {name}={value}");
        }
        let mut changes = std::collections::BTreeMap::new();
        for change in entry[0].list() {
            let change = change.list();
            let details = change[3].list();
            let mut line = format!(
                "  {} {} {} {} {}",
                change[1].word(),
                change[0].text(),
                details[0].text(),
                details[1].word(),
                details[2].word()
            );
            if let [source, revision] = change[2].list() {
                let _ = write!(line, " from {}@{}", source.text(), revision.number());
            }
            changes.insert(change[0].text(), line);
        }
        for line in changes.values() {
            shown.push_str(line);
            shown.push('\n');
        }
    }
    shown
}

fn options(paths: &[&str], start: i64, end: i64) -> LogOptions {
    LogOptions {
        paths: paths.iter().map(|name| path(name)).collect(),
        start: Revnum::new(start),
        end: Revnum::new(end),
        limit: 0,
        discover_changed_paths: true,
        strict_node_history: false,
        include_merged_revisions: false,
        revprops: None,
    }
}

#[test]
fn logs_are_debians() {
    let sandbox = Sandbox::new();
    scene::make(&sandbox, "--compatible-version 1.14");
    let mut both = Both::open(&sandbox.join("repo"));
    let youngest = both.repos.fs().youngest().unwrap().number();
    assert!(youngest >= 30, "{youngest}");
    let paths = both.paths();
    for path in &paths {
        for peg in [youngest, youngest - 9, 13, 5, 1] {
            for (start, end) in [(peg, 0), (0, peg), (peg, peg / 2)] {
                for bits in 0..4 {
                    let mut options = options(&[path.as_str()], start, end);
                    options.strict_node_history = bits & 1 != 0;
                    options.include_merged_revisions = bits & 2 != 0;
                    // Debian's adds what revisions changed that are not sent to the next entry.
                    options.discover_changed_paths = bits & 2 == 0;
                    let (ours, theirs) = both.log(&options);
                    assert_eq!(ours, theirs, "{options:?}");
                }
            }
        }
    }
}

#[test]
fn logs_of_several_paths_end_at_their_limit() {
    let sandbox = Sandbox::new();
    scene::make(&sandbox, "--compatible-version 1.5");
    let mut both = Both::open(&sandbox.join("repo"));
    let several = ["trunk/f", "branches/c/dir", "trunk/dir/sub"];
    for limit in [1, 2, 7] {
        for (start, end) in [(26, 0), (0, 26)] {
            let mut options = options(&several, start, end);
            options.limit = limit;
            let (ours, theirs) = both.log(&options);
            assert_eq!(ours, theirs, "{options:?}");
            options.paths.clear();
            options.revprops = Some(vec!["svn:author".to_owned()]);
            let (ours, theirs) = both.log(&options);
            assert_eq!(ours, theirs, "{options:?}");
        }
    }
    for (paths, start) in [(&["no/such"][..], 26), (&["trunk"][..], 99)] {
        let (ours, theirs) = both.log(&options(paths, start, 0));
        assert!(theirs.starts_with('E'), "{theirs}");
        assert_eq!(ours, theirs);
    }
}

#[test]
fn revisions_of_files_are_debians() {
    let sandbox = Sandbox::new();
    scene::make(&sandbox, "");
    let mut both = Both::open(&sandbox.join("repo"));
    let youngest = both.repos.fs().youngest().unwrap().number();
    for path in both.paths() {
        for (start, end) in [(0, youngest), (0, 20), (8, 18), (youngest, 0), (20, 9)] {
            for include_merged_revisions in [false, true] {
                let options = FileRevsOptions {
                    start: Revnum::new(start),
                    end: Revnum::new(end),
                    include_merged_revisions,
                };
                let (ours, theirs) = both.file_revs(&path, options);
                assert_eq!(ours, theirs, "{path} {options:?}");
            }
        }
    }
}

#[test]
fn histories_are_debians() {
    let sandbox = Sandbox::new();
    scene::make(&sandbox, "");
    let mut both = Both::open(&sandbox.join("repo"));
    let youngest = both.repos.fs().youngest().unwrap();
    let all: Vec<_> = (0..=youngest.number()).map(rev).collect();
    let every = all
        .iter()
        .map(Revnum::to_string)
        .collect::<Vec<_>>()
        .join(" ");
    for path in both.paths() {
        for peg in [rev(4), rev(13), rev(18), rev(26), youngest] {
            let Both { repos, server } = &mut both;
            let quoted = text(path.as_str());
            let ours = repos.trace_locations(&path, peg, &all, ReadAccess::ALL);
            let ours = shown(ours, |found| {
                let lines = found
                    .iter()
                    .map(|(revision, path)| format!("{revision} /{path}\n"));
                lines.collect()
            });
            let answer = server.ask(&format!(
                "( get-locations ( {quoted} {peg} ( {every} ) ) ) "
            ));
            let theirs_shown = theirs(answer, |items| {
                let lists = items.iter().filter(|item| matches!(item, Item::List(_)));
                let mut found: Vec<_> = lists
                    .map(|item| (item.list()[0].number(), item.list()[1].text()))
                    .collect();
                found.sort_by_key(|(revision, _)| std::cmp::Reverse(*revision));
                let lines = found
                    .iter()
                    .map(|(revision, path)| format!("{revision} {path}\n"));
                lines.collect()
            });
            assert_eq!(ours, theirs_shown, "{path}@{peg}");

            let ours = repos.location_segments(&path, Some(peg), None, None, ReadAccess::ALL);
            let ours = shown(ours, |segments| {
                let lines = segments.iter().map(|segment| {
                    let path = segment.path.as_deref().map_or("-", RelPath::as_str);
                    format!("{}:{} {path}\n", segment.start, segment.end)
                });
                lines.collect()
            });
            let answer = server.ask(&format!(
                "( get-location-segments ( {quoted} ( {peg} ) ( {peg} ) ( 0 ) ) ) "
            ));
            let theirs_shown = theirs(answer, |items| {
                let lists = items.iter().filter(|item| matches!(item, Item::List(_)));
                let lines = lists.map(|item| {
                    let item = item.list();
                    let path = item[2].list().first().map_or("-".to_owned(), Item::text);
                    format!("{}:{} {path}\n", item[0].number(), item[1].number())
                });
                lines.collect()
            });
            assert_eq!(ours, theirs_shown, "{path}@{peg}");

            let ours = shown(repos.deleted_revision(&path, peg, youngest), |found| {
                found.map_or("none".to_owned(), |revision| revision.to_string())
            });
            let answer = server.ask(&format!(
                "( get-deleted-rev ( {quoted} {peg} {youngest} ) ) "
            ));
            let theirs_shown = match answer {
                Ok(items) => items[0].number().to_string(),
                Err(_) => "none".to_owned(),
            };
            assert_eq!(ours, theirs_shown, "{path}@{peg}");
        }
    }
}

#[test]
fn mergeinfo_is_debians() {
    let sandbox = Sandbox::new();
    scene::make(&sandbox, "");
    for (inheritance, word) in [
        (MergeinfoInheritance::Explicit, "explicit"),
        (MergeinfoInheritance::Inherited, "inherited"),
        (MergeinfoInheritance::NearestAncestor, "nearest-ancestor"),
    ] {
        // A server of its own: their cache takes explicit for inherited.
        let mut both = Both::open(&sandbox.join("repo"));
        for path in both.paths() {
            for peg in [8, 13, 19, 21, 30].map(rev) {
                for below in [false, true] {
                    both.compare_mergeinfo(&path, peg, (inheritance, word), below);
                }
            }
        }
    }
}

#[test]
fn revisions_are_found_by_date() {
    let sandbox = Sandbox::new();
    scene::make(&sandbox, "");
    let mut both = Both::open(&sandbox.join("repo"));
    let dates: Vec<_> = (0..=30)
        .map(|number| {
            let props = both.repos.fs().revprops(rev(number)).unwrap();
            String::from_utf8(props["svn:date"].clone()).unwrap()
        })
        .collect();
    for date in &dates {
        let time = Timestamp::parse_iso(date).unwrap();
        for offset in [-1, 0, 1, 10_000_000_000] {
            let time = Timestamp::from_micros(time.micros() + offset);
            let answer = both
                .server
                .ask(&format!("( get-dated-rev ( {} ) ) ", text(&time.to_iso())));
            let theirs = answer.unwrap()[0].number();
            assert_eq!(
                both.repos.dated_revision(time).unwrap(),
                rev(theirs),
                "{date}"
            );
        }
    }
}

#[test]
fn what_may_not_be_read_is_left_out() {
    let sandbox = Sandbox::new();
    scene::make(&sandbox, "");
    let rules = "[/]\n* = r\n[/branches/b]\n* =\n[/trunk/dir/g]\n* =\n";
    std::fs::write(sandbox.join("repo/conf/authz"), rules).unwrap();
    std::fs::write(
        sandbox.join("repo/conf/svnserve.conf"),
        "[general]\nanon-access = read\nauth-access = read\nauthz-db = authz\n",
    )
    .unwrap();
    let mut both = Both::open(&sandbox.join("repo"));
    let authz = Authz::parse(rules.as_bytes(), None, &mut |_| {}).unwrap();
    let user = authz.for_user("repo", Some("tester"));
    let check =
        |_: Revnum, path: &RelPath| Ok(user.allows(path.as_str(), Rights::READ, Reach::Path));
    let access = ReadAccess::new(&check);
    for path in [
        "",
        "trunk",
        "trunk/dir",
        "branches/a",
        "branches/c/f",
        "trunk/dir/g2",
    ] {
        for strict_node_history in [false, true] {
            let mut options = options(&[path], 18, 0);
            options.strict_node_history = strict_node_history;
            let mut entries = Vec::new();
            let ours = both.repos.log(&options, access, &mut |entry| {
                entries.push(entry);
                Ok(())
            });
            let ours = shown(ours, |()| entries.iter().map(show_entry).collect());
            let command = format!(
                "( log ( ( {} ) ( 18 ) ( 0 ) true {strict_node_history} 0 false all-revprops ( ) ) ) ",
                text(path)
            );
            assert_eq!(ours, theirs(both.server.ask(&command), show_log), "{path}");
        }
    }
}
