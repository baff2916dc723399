use std::collections::BTreeMap;

use sylvan_core::{Depth, Dirent, NodeKind, Revnum};
use sylvan_io::Cancel;
use sylvan_testutil::Sandbox;
use sylvan_wc::conflict::Location;
use sylvan_wc::info::{self, Info, InfoOptions};
use sylvan_wc::revision_status::{self, Revisions};
use sylvan_wc::{Options, WorkingCopy, status};

use crate::flat_xml::{self, Entry};
use crate::status::compare;

/// Asks both for information on all nodes, and for the revisions of some.
pub(crate) fn check(sandbox: &Sandbox, name: &str) {
    for (target, depth) in [
        ("wc", Depth::Infinity),
        ("wc", Depth::Immediates),
        ("wc/A", Depth::Files),
        ("wc/iota", Depth::Empty),
        ("wc/A/B/E", Depth::Empty),
    ] {
        let args = ["info", "--xml", "--depth", depth.as_str(), target];
        let output = sandbox.run("svn", &args);
        let theirs = output
            .status
            .success()
            .then(|| flat_xml::entries(&String::from_utf8(output.stdout).unwrap()));
        let path = Dirent::new(sandbox.join(target).to_str().unwrap());
        let (wc, relpath) = WorkingCopy::open(&path, &Options::default()).unwrap();
        let mut ours = Vec::new();
        let options = InfoOptions {
            depth,
            ..InfoOptions::default()
        };
        let found = info::walk(&wc, &relpath, &options, &Cancel::new(), &mut |info| {
            ours.push(entry(sandbox, &wc, &info));
            Ok(())
        });
        match (theirs, found) {
            (Some(mut theirs), Ok(())) => {
                // The victims at the end come in no order.
                let is_victim = |entry: &Entry| entry.1.get("@kind").is_some_and(|k| k == "none");
                let at = theirs.iter().position(is_victim).unwrap_or(theirs.len());
                theirs[at..].sort();
                compare(&theirs, &ours, &format!("{name}: {args:?}"));
            }
            (None, Err(_)) => {}
            (theirs, found) => panic!("{name}: {args:?}: {theirs:?} {found:?}"),
        }
    }
    check_revisions(sandbox, name);
}

fn check_revisions(sandbox: &Sandbox, name: &str) {
    for (target, args, revisions) in [
        ("wc", vec!["-n"], Revisions::Current),
        ("wc", vec!["-n", "-c"], Revisions::Committed),
        ("wc/A", vec!["-n"], Revisions::Current),
        ("wc/A/D", vec!["-n"], Revisions::Current),
    ] {
        let mut line = args.clone();
        line.push(target);
        let output = sandbox.run("svnversion", &line);
        let theirs = String::from_utf8(output.stdout).unwrap();
        let path = Dirent::new(sandbox.join(target).to_str().unwrap());
        let (wc, relpath) = WorkingCopy::open(&path, &Options::default()).unwrap();
        let ours = match revision_status::read_recorded(&wc, &relpath, revisions, None) {
            Ok(mut found) => {
                found.modified |= status::local_changes(&wc, &relpath, &Cancel::new()).unwrap();
                let number = |revision: Option<Revnum>| revision.map_or(-1, Revnum::number);
                let mut shown = number(found.min).to_string();
                if found.min != found.max {
                    shown.push_str(&format!(":{}", number(found.max)));
                }
                for (flag, letter) in [
                    (found.modified, 'M'),
                    (found.switched, 'S'),
                    (found.sparse, 'P'),
                ] {
                    if flag {
                        shown.push(letter);
                    }
                }
                if found.min.is_none() {
                    shown = "Uncommitted local addition, copy or move".into();
                }
                shown
            }
            Err(error) => format!("{error}"),
        };
        if output.status.success() && !theirs.starts_with("Unversioned") {
            assert_eq!(theirs, ours, "{name}: svnversion {line:?}");
        }
    }
}

fn entry(sandbox: &Sandbox, wc: &WorkingCopy, info: &Info) -> Entry {
    let root = Dirent::new(sandbox.join("").to_str().unwrap());
    let shown = wc.local_path(&info.path);
    let mut fields = BTreeMap::new();
    let mut set = |key: &str, value: String| {
        if !value.is_empty() {
            fields.insert(key.to_owned(), value);
        }
    };
    if info.kind != NodeKind::Unknown {
        set("@kind", info.kind.as_str().into());
    }
    set(
        "@revision",
        match info.revision {
            Some(revision) => revision.to_string(),
            None => "Resource is not under version control.".into(),
        },
    );
    if let Some(url) = info.url() {
        set("url", url.as_str().into());
        let below = info.repos_path.as_ref().unwrap();
        set(
            "relative-url",
            format!("^/{}", sylvan_core::path::uri_encode(below.as_str())),
        );
    }
    if let Some(repository) = &info.repository {
        set("repository/root", repository.root.as_str().into());
        set("repository/uuid", repository.uuid.clone());
    }
    if info.kind != NodeKind::None {
        set("wc-info/wcroot-abspath", wc.root().as_str().into());
    }
    set("wc-info/schedule", info.schedule.as_str().into());
    set(
        "wc-info/depth",
        match (info.depth, info.kind) {
            (Some(depth), _) => depth.as_str().into(),
            (None, NodeKind::File) => "infinity".into(),
            (None, _) => "unknown".into(),
        },
    );
    if let Some((url, rev)) = &info.copied_from {
        set("wc-info/copy-from-url", url.as_str().into());
        set("wc-info/copy-from-rev", rev.to_string());
    }
    if let Some(time) = info.recorded_time {
        set("wc-info/text-updated", time.to_iso());
    }
    if let Some(checksum) = info.checksum {
        set("wc-info/checksum", checksum.to_string());
    }
    set(
        "wc-info/changelist",
        info.changelist.clone().unwrap_or_default(),
    );
    let below = |path: &Option<sylvan_core::RelPathBuf>| {
        path.as_ref()
            .map_or(String::new(), |path| path.as_str().to_owned())
    };
    set("wc-info/moved-from", below(&info.moved_from));
    set("wc-info/moved-to", below(&info.moved_to));
    if info.changed_rev.is_some() || info.changed_date.is_some() {
        let number = info.changed_rev.map_or(-1, Revnum::number);
        set("commit@revision", number.to_string());
        set(
            "commit/author",
            info.changed_author.clone().unwrap_or_default(),
        );
        if let Some(date) = info.changed_date {
            set("commit/date", date.to_iso());
        }
    }
    if let Some(lock) = &info.lock {
        set("lock/token", lock.token.clone());
        set("lock/owner", lock.owner.clone());
        set("lock/comment", lock.comment.clone().unwrap_or_default());
        set("lock/created", lock.created.to_iso());
    }
    conflicts(wc, info, &mut fields);
    (shown.strip_prefix(&root).unwrap().to_owned(), fields)
}

/// As svn shows them, once for each conflict that the node has.
fn conflicts(wc: &WorkingCopy, info: &Info, fields: &mut BTreeMap<String, String>) {
    let Some(found) = &info.conflict else { return };
    let conflict = &found.conflict;
    let local = |path: &Option<sylvan_core::RelPathBuf>| {
        path.as_ref().map_or(String::new(), |path| {
            wc.local_path(path).as_str().to_owned()
        })
    };
    let sides = [
        ("source-left", &conflict.left),
        ("source-right", &conflict.right),
    ];
    if let Some(tree) = &conflict.tree {
        let mut set = |key: &str, value: &str| {
            fields.insert(format!("tree-conflict@{key}"), value.to_owned());
        };
        set("victim", info.path.basename());
        set("kind", found.local_kind.as_str());
        set("operation", conflict.operation.as_str());
        set("action", tree.action.xml_word());
        set("reason", tree.reason.xml_word());
        for (side, location) in sides {
            version(fields, "tree-conflict", side, location);
        }
        return;
    }
    fields.insert(
        "conflict@operation".into(),
        conflict.operation.as_str().into(),
    );
    for (side, location) in sides {
        version(fields, "conflict", side, location);
    }
    if let Some(text) = &conflict.text {
        fields.insert("conflict@type".into(), "text".into());
        for (key, path) in [
            ("prev-base-file", &text.old),
            ("prev-wc-file", &text.mine),
            ("cur-base-file", &text.theirs),
        ] {
            fields.insert(format!("conflict/{key}"), local(path));
        }
    }
    if let Some(props) = &conflict.props {
        fields.insert("conflict@type".into(), "property".into());
        fields.insert("conflict/prop-file".into(), local(&props.marker));
    }
}

fn version(
    fields: &mut BTreeMap<String, String>,
    parent: &str,
    side: &str,
    location: &Option<Location>,
) {
    let Some(location) = location else { return };
    let mut set = |key: &str, value: String| {
        fields.insert(format!("{parent}/version@{side}-{key}"), value);
    };
    set("repos-url", location.repos_root.as_str().into());
    set("path-in-repos", location.path.as_str().into());
    set(
        "revision",
        location.revision.map_or(-1, Revnum::number).to_string(),
    );
    set("kind", location.kind.as_str().into());
}
