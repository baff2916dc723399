//! What a dump stream says, as trees.

use std::collections::BTreeMap;

use sylvan_core::Props;

/// A file or folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) is_dir: bool,
    pub(crate) props: Props,
    pub(crate) text: Vec<u8>,
}

/// A change of a revision, as the stream tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) action: String,
    pub(crate) path: String,
    pub(crate) copyfrom: Option<(i64, String)>,
}

/// A revision: its properties, its changes, and the tree after it.
#[derive(Clone, Debug)]
pub(crate) struct Revision {
    pub(crate) props: Props,
    pub(crate) changes: Vec<Change>,
    pub(crate) tree: BTreeMap<String, Entry>,
}

/// Reads a whole stream of full texts.
pub(crate) fn parse(dump: &[u8]) -> Vec<Revision> {
    let mut revisions: Vec<Revision> = Vec::new();
    let mut rest = dump;
    while let Some(record) = take_record(&mut rest) {
        if record.head.contains_key("Revision-number") {
            let tree = revisions
                .last()
                .map(|last| last.tree.clone())
                .unwrap_or_default();
            revisions.push(Revision {
                props: record.props.unwrap_or_default(),
                changes: Vec::new(),
                tree,
            });
        } else if let Some(path) = record.head.get("Node-path").cloned() {
            apply(&mut revisions, &path, record);
        }
    }
    revisions
}

/// A record of the stream.
pub(crate) struct Record {
    pub(crate) head: BTreeMap<String, String>,
    pub(crate) props: Option<Props>,
    pub(crate) text: Option<Vec<u8>>,
}

fn apply(revisions: &mut [Revision], path: &str, record: Record) {
    let action = record.head["Node-action"].clone();
    let copyfrom = record.head.get("Node-copyfrom-rev").map(|revision| {
        (
            revision.parse().unwrap(),
            record.head["Node-copyfrom-path"].clone(),
        )
    });
    let mut copied = Vec::new();
    if let Some((revision, source)) = &copyfrom {
        let revision: i64 = *revision;
        for (from, entry) in &revisions[revision as usize].tree {
            if let Some(below) = from.strip_prefix(source.as_str())
                && (below.is_empty() || below.starts_with('/'))
            {
                copied.push((format!("{path}{below}"), entry.clone()));
            }
        }
    }
    let now = revisions.last_mut().unwrap();
    now.changes.push(Change {
        action: action.clone(),
        path: path.to_owned(),
        copyfrom,
    });
    let below = format!("{path}/");
    if action == "delete" || action == "replace" {
        now.tree
            .retain(|other, _| other != path && !other.starts_with(&below));
    }
    if action == "delete" {
        return;
    }
    now.tree.extend(copied);
    let entry = now.tree.entry(path.to_owned()).or_insert_with(|| Entry {
        is_dir: record.head["Node-kind"] == "dir",
        props: Props::new(),
        text: Vec::new(),
    });
    if let Some(props) = record.props {
        entry.props = props;
    }
    if let Some(text) = record.text {
        entry.text = text;
    }
}

/// Reads the next record.
pub(crate) fn take_record(rest: &mut &[u8]) -> Option<Record> {
    while let [b'\n', later @ ..] = *rest {
        *rest = later;
    }
    if rest.is_empty() {
        return None;
    }
    let mut head = BTreeMap::new();
    loop {
        let at = rest.iter().position(|byte| *byte == b'\n').unwrap();
        let line = std::str::from_utf8(&rest[..at]).unwrap().to_owned();
        *rest = &rest[at + 1..];
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(": ").unwrap();
        head.insert(name.to_owned(), value.to_owned());
    }
    let mut section = |name: &str| {
        let len: usize = head.get(name)?.parse().unwrap();
        let (now, later) = rest.split_at(len);
        *rest = later;
        Some(now.to_vec())
    };
    let props = section("Prop-content-length").map(|text| {
        let body = text.strip_suffix(b"PROPS-END\n").unwrap();
        sylvan_core::hash_dump::read(&[body, b"END\n"].concat()).unwrap()
    });
    let text = section("Text-content-length");
    Some(Record { head, props, text })
}
