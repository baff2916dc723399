use std::collections::BTreeMap;

use sylvan_core::{Depth, Dirent, ErrorCode, Revnum};
use sylvan_io::Cancel;
use sylvan_testutil::Sandbox;
use sylvan_wc::status::{Status, StatusKind, StatusOptions, walk};
use sylvan_wc::{Options, WorkingCopy};

use crate::flat_xml::{self, Entry};

/// What to ask both: arguments of svn, and the same as options.
fn questions() -> Vec<(&'static str, Vec<&'static str>, StatusOptions)> {
    let ignores = StatusOptions::DEFAULT_IGNORES.split_whitespace();
    let options = StatusOptions {
        global_ignores: ignores.map(str::to_owned).collect(),
        ..StatusOptions::default()
    };
    let all = StatusOptions {
        all: true,
        ..options.clone()
    };
    let everything = StatusOptions {
        no_ignore: true,
        ..all.clone()
    };
    let mut questions = vec![
        ("wc", vec![], options.clone()),
        ("wc", vec!["-v"], all.clone()),
        ("wc", vec!["-v", "--no-ignore"], everything.clone()),
    ];
    for depth in [Depth::Empty, Depth::Files, Depth::Immediates] {
        let options = StatusOptions {
            depth: Some(depth),
            ..everything.clone()
        };
        let args = match depth {
            Depth::Empty => vec!["-v", "--no-ignore", "--depth", "empty"],
            Depth::Files => vec!["-v", "--no-ignore", "--depth", "files"],
            _ => vec!["-v", "--no-ignore", "--depth", "immediates"],
        };
        questions.push(("wc", args, options));
    }
    for target in [
        "wc/A", "wc/A/B", "wc/iota", "wc/A/mu", "wc/empty", "wc/A/D", "wc/new", "wc/link",
    ] {
        questions.push((target, vec!["-v"], all.clone()));
    }
    questions
}

fn ours(sandbox: &Sandbox, target: &str, options: &StatusOptions) -> Result<Vec<Entry>, ErrorCode> {
    let path = Dirent::new(sandbox.join(target).to_str().unwrap());
    let (wc, relpath) =
        WorkingCopy::open(&path, &Options::default()).map_err(|error| error.code())?;
    let root = Dirent::new(sandbox.join("").to_str().unwrap());
    let mut plain = Vec::new();
    let mut by_changelist: BTreeMap<String, Vec<Entry>> = BTreeMap::new();
    walk(
        &wc,
        &relpath,
        options,
        &Cancel::new(),
        &mut |path, status| {
            let shown = wc.local_path(path);
            let shown = shown.strip_prefix(&root).unwrap().to_owned();
            if status.node == StatusKind::None {
                return Ok(());
            }
            let mut fields = fields(&status);
            if let Some(from) = &status.moved_from {
                let from = wc.local_path(from);
                fields.insert(
                    "wc-status@moved-from".into(),
                    relative(&path_of(sandbox, target), &from, target),
                );
            }
            if let Some(to) = &status.moved_to {
                let to = wc.local_path(to);
                fields.insert(
                    "wc-status@moved-to".into(),
                    relative(&path_of(sandbox, target), &to, target),
                );
            }
            match status.changelist {
                None => plain.push((shown, fields)),
                Some(changelist) => {
                    fields.insert("changelist".into(), changelist.clone());
                    by_changelist
                        .entry(changelist)
                        .or_default()
                        .push((shown, fields));
                }
            }
            Ok(())
        },
    )
    .map_err(|error| error.code())?;
    plain.extend(by_changelist.into_values().flatten());
    Ok(plain)
}

fn path_of(sandbox: &Sandbox, target: &str) -> Dirent {
    Dirent::new(sandbox.join(target).to_str().unwrap())
}

/// As svn shows paths of moves: relative to the target, which is named as the user did.
fn relative(target_path: &Dirent, path: &Dirent, target: &str) -> String {
    let target_names: Vec<_> = target_path.as_str().split('/').collect();
    let names: Vec<_> = path.as_str().split('/').collect();
    let common = target_names
        .iter()
        .zip(&names)
        .take_while(|(a, b)| a == b)
        .count();
    let ups = target_names.len() - common;
    let mut shown = match ups {
        0 => vec![target],
        ups => vec![".."; ups],
    };
    shown.extend(&names[common..]);
    shown.join("/")
}

fn fields(status: &Status) -> BTreeMap<String, String> {
    let mut fields = BTreeMap::new();
    let mut set = |key: &str, value: String| fields.insert(key.to_owned(), value);
    let item = match status.node {
        StatusKind::Conflicted if !status.versioned && status.conflicted => StatusKind::Missing,
        StatusKind::Conflicted | StatusKind::Modified => status.text,
        node => node,
    };
    set("wc-status@item", item.as_str().into());
    let props = match status.node {
        StatusKind::Deleted => StatusKind::None,
        _ => status.props,
    };
    set("wc-status@props", props.as_str().into());
    for (key, flag) in [
        ("wc-locked", status.wc_locked),
        ("copied", status.copied),
        ("switched", status.switched),
        ("file-external", status.file_external),
        ("tree-conflicted", status.tree_conflicted),
    ] {
        if flag {
            set(&format!("wc-status@{key}"), "true".into());
        }
    }
    let number = |revision: Option<Revnum>| revision.map_or(-1, Revnum::number).to_string();
    if status.versioned && !status.copied {
        set("wc-status@revision", number(status.revision));
    }
    if status.changed_rev.is_some() {
        set("wc-status/commit@revision", number(status.changed_rev));
        if let Some(author) = &status.changed_author {
            set("wc-status/commit/author", author.clone());
        }
        if let Some(date) = status.changed_date {
            set("wc-status/commit/date", date.to_iso());
        }
    }
    if let Some(lock) = &status.lock {
        set("wc-status/lock/token", lock.token.clone());
        set("wc-status/lock/owner", lock.owner.clone());
        if let Some(comment) = &lock.comment {
            set("wc-status/lock/comment", comment.clone());
        }
        set("wc-status/lock/created", lock.created.to_iso());
    }
    fields
}

fn theirs(sandbox: &Sandbox, target: &str, args: &[&str]) -> Option<Vec<Entry>> {
    let mut line = vec!["status", "--xml", "--ignore-externals"];
    line.extend(args);
    line.push(target);
    let output = sandbox.run("svn", &line);
    if !output.status.success() || String::from_utf8_lossy(&output.stderr).contains("W155") {
        return None;
    }
    Some(flat_xml::entries(
        &String::from_utf8(output.stdout).unwrap(),
    ))
}

/// Asks both for the status of the working copy of a scene.
pub(crate) fn check(sandbox: &Sandbox, name: &str) {
    for (target, args, options) in questions() {
        let theirs = theirs(sandbox, target, &args);
        match ours(sandbox, target, &options) {
            Ok(mut ours) => {
                // Their changelists come in no order.
                let mut theirs = theirs.unwrap_or_else(|| panic!("{name}: svn refuses {target}"));
                let by_changelist = |entry: &Entry| entry.1.get("changelist").cloned();
                theirs.sort_by_key(by_changelist);
                ours.sort_by_key(by_changelist);
                compare(&theirs, &ours, &format!("{name}: {args:?} {target}"));
            }
            Err(code) => assert!(theirs.is_none(), "{name}: {code:?} for {target}"),
        }
    }
}

pub(crate) fn compare(theirs: &[Entry], ours: &[Entry], what: &str) {
    let show = |entries: &[Entry]| {
        entries
            .iter()
            .map(|(path, fields)| format!("{path} {fields:?}"))
            .collect::<Vec<_>>()
    };
    let (theirs, ours) = (show(theirs), show(ours));
    if theirs != ours {
        let only = |a: &[String], b: &[String], sign| {
            a.iter()
                .filter(|line| !b.contains(line))
                .map(|line| format!("{sign}{line}\n"))
                .collect::<String>()
        };
        panic!(
            "{what}\n{}{}{}",
            only(&theirs, &ours, '-'),
            only(&ours, &theirs, '+'),
            if only(&theirs, &ours, ' ').is_empty() {
                format!("order: {theirs:#?} {ours:#?}")
            } else {
                String::new()
            }
        );
    }
}
