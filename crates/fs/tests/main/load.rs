//! Loads a dump stream by our transactions, in the steps of Debian's svnadmin.

use std::collections::BTreeMap;

use sylvan_core::{RelPath, Revnum, Timestamp};
use sylvan_fs::lock::Access;
use sylvan_fs::{FileSystem, Txn};

use crate::model::{Record, take_record};

fn rel(path: &str) -> &RelPath {
    RelPath::new(path).unwrap()
}

/// Commits each revision of the stream but the first, in which only properties are.
pub(crate) fn load(fs: &FileSystem, dump: &[u8]) {
    let mut rest = dump;
    let mut open: Option<Txn> = None;
    while let Some(record) = take_record(&mut rest) {
        if record.head.contains_key("Revision-number") {
            commit(open.take());
            open = begin(fs, record);
        } else if record.head.contains_key("Node-path") {
            apply(open.as_mut().unwrap(), record);
        }
    }
    commit(open);
}

fn begin(fs: &FileSystem, record: Record) -> Option<Txn> {
    let props = record.props.unwrap_or_default();
    let youngest = fs.youngest().unwrap();
    if record.head["Revision-number"] == "0" {
        let lock = fs.write_lock().unwrap();
        fs.set_revprops(&lock, Revnum::ZERO, &props).unwrap();
        return None;
    }
    let mut txn = Txn::begin(fs, youngest, Timestamp::from_micros(0)).unwrap();
    txn.keep_date();
    for (name, value) in props {
        txn.set_prop(&name, Some(value));
    }
    Some(txn)
}

fn commit(txn: Option<Txn>) {
    if let Some(mut txn) = txn {
        let access = Access::default();
        let committed = txn.commit(&access, Timestamp::from_micros(0)).unwrap();
        assert!(committed.after.is_none(), "{:?}", committed.after);
    }
}

fn apply(txn: &mut Txn, record: Record) {
    let path = record.head["Node-path"].clone();
    let path = rel(&path);
    match record.head["Node-action"].as_str() {
        "delete" => txn.delete(path).unwrap(),
        "add" => add(txn, path, &record.head),
        _ => {}
    }
    if let Some(props) = &record.props {
        for name in txn.node_props_at(path).unwrap().keys() {
            txn.set_node_prop(path, name, None).unwrap();
        }
        for (name, value) in props {
            txn.set_node_prop(path, name, Some(value.clone())).unwrap();
        }
    }
    if let Some(text) = &record.text {
        let mut writer = txn.begin_text(path).unwrap();
        text.chunks(16 << 10)
            .for_each(|piece| writer.push(piece).unwrap());
        writer.finish(Some(sylvan_core::Md5::of(text))).unwrap();
    }
}

fn add(txn: &mut Txn, path: &RelPath, head: &BTreeMap<String, String>) {
    if let Some(revision) = head.get("Node-copyfrom-rev") {
        let revision = Revnum::parse(revision).unwrap();
        let root = txn.fs().revision_root(revision).unwrap();
        txn.copy(&root, rel(&head["Node-copyfrom-path"]), path)
            .unwrap();
    } else if head["Node-kind"] == "dir" {
        txn.make_dir(path).unwrap();
    } else {
        txn.make_file(path).unwrap();
    }
}
