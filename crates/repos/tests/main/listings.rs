//! What is told of nodes, listings and properties that are handed down, compared with what Debian's
//! svnserve answers.

use std::fmt::Write as _;

use sylvan_core::repository::{DirEntry, DirEntryFields};
use sylvan_core::{Depth, RelPath, Revnum};
use sylvan_fs::Root;
use sylvan_io::Cancel;
use sylvan_repos::{ListOptions, ReadAccess};
use sylvan_testutil::Sandbox;

use crate::history::{Both, shown, theirs};
use crate::scene;
use crate::wire::{Item, text};

const REVISIONS: [i64; 5] = [0, 7, 15, 26, 30];

fn root(both: &Both, number: i64) -> Root {
    let revision = Revnum::new(number).unwrap();
    both.repos.fs().revision_root(revision).unwrap()
}

/// Shows an entry; `None` for a field that was not asked for or is not told.
fn show(entry: &DirEntry) -> String {
    format!(
        "{} {} {} {} {:?} {:?}\n",
        entry.kind,
        entry.size.unwrap_or(0),
        entry.has_props,
        entry.created_rev.map_or(-1, Revnum::number),
        entry.time.map(|time| time.to_iso()),
        entry.last_author
    )
}

/// Shows an entry as `stat` answers it: all fields, the last two in lists.
fn show_theirs(entry: &[Item]) -> String {
    let [kind, size, has_props, rev, time, author] = entry else {
        panic!("{entry:?}");
    };
    let optional = |item: &Item| item.list().first().map(Item::text);
    format!(
        "{} {} {} {} {:?} {:?}\n",
        kind.word(),
        known_size(size),
        has_props.is_true(),
        rev.number(),
        optional(time),
        optional(author)
    )
}

/// A folder has none.
fn known_size(item: &Item) -> i64 {
    match item {
        Item::Word(_) => 0,
        item => item.number(),
    }
}

#[test]
fn nodes_are_told_of_as_by_debians() {
    let sandbox = Sandbox::new();
    scene::make(&sandbox, "");
    let mut both = Both::open(&sandbox.join("repo"));
    for path in both.paths() {
        for number in REVISIONS {
            let ours = both.repos.stat(&root(&both, number), &path);
            let ours = shown(ours, |entry| entry.as_ref().map_or(String::new(), show));
            let command = format!("( stat ( {} ( {number} ) ) ) ", text(path.as_str()));
            let answer = theirs(both.server.ask(&command), |items| {
                let entry = items[0].list().first();
                entry.map_or(String::new(), |entry| show_theirs(entry.list()))
            });
            assert_eq!(ours, answer, "{path}@{number}");
        }
    }
}

#[test]
fn listings_are_debians() {
    let sandbox = Sandbox::new();
    scene::make(&sandbox, "");
    let mut both = Both::open(&sandbox.join("repo"));
    let patterns: [Option<&[&str]>; 5] = [
        None,
        Some(&["*"]),
        Some(&["f", "g*"]),
        Some(&["H", "*.TXT", "[a-c]"]),
        Some(&[]),
    ];
    for path in [
        "",
        "trunk",
        "trunk/dir",
        "branches/c",
        "trunk/f",
        "none",
        "tags",
    ] {
        for number in REVISIONS {
            for depth in [
                Depth::Empty,
                Depth::Files,
                Depth::Immediates,
                Depth::Infinity,
            ] {
                for patterns in patterns {
                    compare_list(&mut both, (path, number), depth, patterns);
                }
            }
        }
    }
}

fn compare_list(
    both: &mut Both,
    (path, number): (&str, i64),
    depth: Depth,
    patterns: Option<&[&str]>,
) {
    let owned = patterns.map(|patterns| patterns.iter().map(|text| (*text).to_owned()));
    let owned: Option<Vec<String>> = owned.map(Iterator::collect);
    let options = ListOptions {
        patterns: owned.as_deref(),
        depth,
        fields: DirEntryFields::ALL,
    };
    let mut lines = String::new();
    let (root, cancel) = (root(both, number), Cancel::new());
    let where_ = RelPath::new(path).unwrap();
    let ours = both.repos.list(
        &root,
        where_,
        options,
        ReadAccess::ALL,
        &cancel,
        &mut |path, entry| {
            let _ = write!(lines, "{} {}", where_.join(path), show(entry));
            Ok(())
        },
    );
    let ours = shown(ours, |()| lines);
    let patterns = match patterns {
        None => String::new(),
        Some(patterns) => {
            let patterns: Vec<_> = patterns.iter().map(|pattern| text(pattern)).collect();
            format!("( {} )", patterns.join(" "))
        }
    };
    let fields = "kind size has-props created-rev time last-author";
    let command = format!(
        "( list ( {} ( {number} ) {depth} ( {fields} ) {patterns} ) ) ",
        text(path)
    );
    let answer = theirs(both.server.ask(&command), show_list);
    assert_eq!(ours, answer, "{command}");
}

/// Shows entries as `list` sends them, each field in a list of its own.
fn show_list(items: &[Item]) -> String {
    let mut lines = String::new();
    let entries = items.iter().filter_map(|item| match item {
        Item::List(entry) if entry.len() > 2 => Some(entry),
        _ => None,
    });
    for entry in entries {
        let field = |at: usize| entry.get(at).and_then(|field| field.list().first());
        let path = entry[0].text();
        let _ = writeln!(
            lines,
            "{} {} {} {} {} {:?} {:?}",
            path.trim_start_matches('/'),
            entry[1].word(),
            field(2).map_or(0, known_size),
            field(3).is_some_and(Item::is_true),
            field(4).map_or(-1, Item::number),
            field(5).map(Item::text),
            field(6).map(Item::text)
        );
    }
    lines
}

#[test]
fn properties_are_handed_down_as_by_debians() {
    let sandbox = Sandbox::new();
    scene::make(&sandbox, "");
    sandbox.sh("svn propset -q a b wc wc/branches wc/trunk wc/trunk/dir; svn propset -q c d wc; svn commit -q -m props wc");
    let mut both = Both::open(&sandbox.join("repo"));
    for path in both.paths() {
        for number in [0, 15, 30, 31] {
            let root = root(&both, number);
            // Their server looks for the path itself.
            if root.find(&path).unwrap().is_none() {
                continue;
            }
            let ours = both
                .repos
                .inherited_props(&root, &path, None, ReadAccess::ALL);
            let ours = shown(ours, |inherited| {
                inherited.iter().fold(String::new(), |mut lines, of| {
                    for (name, value) in &of.props {
                        let value = value.escape_ascii();
                        let _ = writeln!(lines, "{} {name}={value}", of.path);
                    }
                    lines
                })
            });
            let command = format!("( get-iprops ( {} ( {number} ) ) ) ", text(path.as_str()));
            let answer = theirs(both.server.ask(&command), |items| {
                let mut lines = String::new();
                for of in items[0].list() {
                    let [path, props] = of.list() else {
                        panic!("{of:?}");
                    };
                    let mut told: Vec<_> = props.list().iter().map(Item::list).collect();
                    told.sort_by_key(|prop| prop[0].text());
                    for prop in told {
                        let value = prop[1].bytes().escape_ascii();
                        let _ = writeln!(lines, "{} {}={value}", path.text(), prop[0].text());
                    }
                }
                lines
            });
            assert_eq!(ours, answer, "{path}@{number}");
        }
    }
}
