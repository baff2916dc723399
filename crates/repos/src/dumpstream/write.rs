//! Writes dump streams.

use std::fmt::Display;
use std::io::Write as _;

use sylvan_core::path::raw;
use sylvan_core::{Props, Revnum};

use super::header;

/// Returns the first record of a stream.
pub fn stream_start(version: i32) -> String {
    format!("{}: {version}\n\n", header::MAGIC)
}

/// Returns the record of a repository's UUID.
pub fn uuid_record(uuid: &str) -> String {
    format!("{}: {uuid}\n\n", header::UUID)
}

/// Properties as a stream has them.
#[derive(Clone, Debug, Default)]
pub struct PropBlock(Vec<u8>);

impl PropBlock {
    /// Makes one of properties.
    pub fn of(props: &Props) -> Self {
        let mut block = Self::default();
        for (name, value) in props {
            block.put(name, value);
        }
        block
    }

    /// Makes one of what makes `new` of `old`.
    pub fn of_change(old: &Props, new: &Props) -> Self {
        let mut block = Self::default();
        for (name, value) in new {
            if old.get(name) != Some(value) {
                block.put(name, value);
            }
        }
        for name in old.keys().filter(|name| !new.contains_key(*name)) {
            block.delete(name);
        }
        block
    }

    /// Adds a property.
    pub fn put(&mut self, name: &str, value: &[u8]) {
        self.0.reserve(name.len() + value.len() + 32);
        // Writing to bytes in memory cannot fail.
        let _ = write!(self.0, "K {}\n{name}\nV {}\n", name.len(), value.len());
        self.0.extend_from_slice(value);
        self.0.push(b'\n');
    }

    /// Adds that a property is gone.
    pub fn delete(&mut self, name: &str) {
        let text = format!("D {}\n{name}\n", name.len());
        self.0.extend_from_slice(text.as_bytes());
    }

    /// Ends the block.
    pub fn finish(mut self) -> Vec<u8> {
        self.0.extend_from_slice(b"PROPS-END\n");
        self.0
    }
}

/// Appends the record of a revision; `others` are headers that it has besides. Without `props`, it
/// has no properties, not even none.
pub fn revision_record(
    revision: Revnum,
    others: &[(&[u8], &[u8])],
    props: Option<&Props>,
    out: &mut Vec<u8>,
) {
    push_header(out, header::REVISION_NUMBER, revision);
    for (name, value) in others {
        out.extend_from_slice(name);
        out.extend_from_slice(b": ");
        out.extend_from_slice(value);
        out.push(b'\n');
    }
    let block = props.map(|props| PropBlock::of(props).finish());
    if let Some(block) = &block {
        push_header(out, header::PROP_CONTENT_LENGTH, block.len());
        push_header(out, header::CONTENT_LENGTH, block.len());
    }
    out.push(b'\n');
    out.extend_from_slice(&block.unwrap_or_default());
    out.push(b'\n');
}

fn push_header(out: &mut Vec<u8>, name: &str, value: impl Display) {
    // Writing to bytes in memory cannot fail.
    let _ = writeln!(out, "{name}: {value}");
}

/// The record of a node, as far as it comes before the text.
#[derive(Clone, Debug, Default)]
pub struct NodeRecord(Vec<u8>);

impl NodeRecord {
    /// Begins a record.
    pub fn new(path: &str) -> Self {
        let mut record = Self(Vec::with_capacity(path.len() + 480));
        record.push_path(header::NODE_PATH, path);
        record
    }

    /// Adds a header with a path.
    pub fn push_path(&mut self, name: &str, path: &str) {
        self.push_bytes(name.as_bytes(), &raw::to_bytes(path));
    }

    /// Adds a header.
    pub fn push(&mut self, name: &str, value: impl Display) {
        push_header(&mut self.0, name, value);
    }

    /// Adds a header that need not be text.
    pub fn push_bytes(&mut self, name: &[u8], value: &[u8]) {
        for part in [name, b": ", value, b"\n"] {
            self.0.extend_from_slice(part);
        }
    }

    /// Ends the headers; the node has neither properties nor text.
    pub fn finish_bare(mut self) -> Vec<u8> {
        self.0.push(b'\n');
        self.0
    }

    /// Ends the headers with the lengths of what follows, and adds the properties.
    pub fn finish(mut self, props: Option<Vec<u8>>, text: Option<u64>) -> Vec<u8> {
        let mut total = 0;
        if let Some(props) = &props {
            self.push(header::PROP_CONTENT_LENGTH, props.len());
            total += props.len() as u64;
        }
        if let Some(len) = text {
            self.push(header::TEXT_CONTENT_LENGTH, len);
            total = total.saturating_add(len);
        }
        self.push(header::CONTENT_LENGTH, total);
        self.0.push(b'\n');
        self.0.extend_from_slice(&props.unwrap_or_default());
        self.0
    }
}
