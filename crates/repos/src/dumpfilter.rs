//! Leaves paths out of a dump stream.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use sylvan_core::mergeinfo::{Mergeinfo, Part, RangeList};
use sylvan_core::{Error, ErrorCode, Props, Result, Revnum};
use sylvan_io::Cancel;

use crate::dumpstream::{
    self, Body, Deltas, Headers, NodeRecord, PropBlock, Sink, header, revision_record,
};
use crate::filter::PathFilter;

/// What is left out, and what becomes of the rest.
#[derive(Clone, Debug)]
pub struct DumpFilterOptions {
    /// Which paths stay.
    pub filter: PathFilter,
    /// Whether revisions are dropped of which nothing is left.
    pub drop_empty_revisions: bool,
    /// Whether all revisions without a change are dropped, but 0.
    pub drop_all_empty_revisions: bool,
    /// Whether what is left is numbered without gaps.
    pub renumber: bool,
    /// Whether merge sources that are left out are dropped from mergeinfo.
    pub skip_missing_merge_sources: bool,
    /// Whether revisions of which nothing is left keep their properties.
    pub preserve_revprops: bool,
}

/// Takes the stream that is left, and hears what became of revisions.
pub trait DumpFilterReceiver {
    /// The next bytes of the stream.
    ///
    /// # Errors
    /// Ends the work.
    fn bytes(&mut self, bytes: &[u8]) -> Result<()>;

    /// A revision is left, under a number, or none.
    ///
    /// # Errors
    /// Ends the work.
    fn revision(&mut self, old: Revnum, new: Option<Revnum>) -> Result<()>;
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DumpFilterSummary {
    /// How many revisions were dropped.
    pub dropped_revisions: u64,
    /// What became of each revision, if they were renumbered; `None` for one that was dropped.
    pub renumbered: BTreeMap<Revnum, Option<Revnum>>,
    /// The nodes that were dropped, absolute paths in the order of paths.
    pub dropped_nodes: Vec<String>,
}

/// Copies a dump stream without some paths.
///
/// # Errors
/// Those of [`dumpstream::parse`]; [`ErrorCode::INCOMPLETE_DATA`] if the source of a copy or a merge
/// that stays is left out; what `receiver` returned.
pub fn filter_dump(
    stream: &mut dyn Read,
    options: &DumpFilterOptions,
    cancel: &Cancel,
    receiver: &mut dyn DumpFilterReceiver,
) -> Result<DumpFilterSummary> {
    let drops = options.drop_empty_revisions || options.drop_all_empty_revisions;
    let mut filter = Filter {
        options,
        receiver,
        renumbers: options.renumber && drops,
        dropped: 0,
        dropped_nodes: BTreeSet::new(),
        history: BTreeMap::new(),
        last_live: None,
        oldest: None,
        revision: None,
        node: None,
    };
    dumpstream::parse(stream, &mut filter, Deltas::Texts, cancel)?;
    let renumbered = filter.history.into_iter();
    let mut dropped_nodes: Vec<String> = filter.dropped_nodes.into_iter().collect();
    dropped_nodes.sort_by(|a, b| sylvan_core::path::compare(a, b));
    Ok(DumpFilterSummary {
        dropped_revisions: filter.dropped,
        renumbered: renumbered
            .map(|(old, fate)| (old, fate.new.filter(|_| !fate.dropped)))
            .collect(),
        dropped_nodes,
    })
}

/// What became of a revision.
#[derive(Clone, Copy, Debug)]
struct Fate {
    /// The number of it, or of the last before it that was left.
    new: Option<Revnum>,
    dropped: bool,
}

struct Filter<'f> {
    options: &'f DumpFilterOptions,
    receiver: &'f mut dyn DumpFilterReceiver,
    renumbers: bool,
    dropped: u64,
    dropped_nodes: BTreeSet<String>,
    history: BTreeMap<Revnum, Fate>,
    last_live: Option<Revnum>,
    /// The first revision after 0 that is left, by its old number.
    oldest: Option<Revnum>,
    revision: Option<Revision>,
    node: Option<Node>,
}

/// A revision, which is held back until it is known whether something of it is left.
#[derive(Debug)]
struct Revision {
    old: Revnum,
    new: Revnum,
    headers: Headers,
    props: Props,
    has_nodes: bool,
    had_dropped_nodes: bool,
    written: bool,
}

/// A node, which is held back until its properties are complete.
struct Node {
    path: String,
    record: NodeRecord,
    props: PropBlock,
    has_props: bool,
    has_prop_delta: bool,
    text_len: Option<u64>,
    written: bool,
}

fn malformed() -> Error {
    Error::new(
        ErrorCode::STREAM_MALFORMED_DATA,
        "Dumpstream data appears to be malformed",
    )
}

impl Filter<'_> {
    fn write_revision(&mut self) -> Result<()> {
        let options = self.options;
        let revision = self.revision.as_mut().ok_or_else(malformed)?;
        revision.written = true;
        let drops = options.drop_empty_revisions || options.drop_all_empty_revisions;
        let is_emptied = !revision.has_nodes && revision.had_dropped_nodes;
        if is_emptied && !options.preserve_revprops && !drops {
            // It stays for its number alone.
            let date = revision.props.remove("svn:date");
            let text = b"This is an empty revision for padding.".to_vec();
            revision.props = Props::from([("svn:log".to_owned(), text)]);
            revision
                .props
                .extend(date.map(|date| ("svn:date".to_owned(), date)));
        }
        let stays = revision.has_nodes
            || revision.old == Revnum::ZERO
            || if options.drop_empty_revisions {
                !revision.had_dropped_nodes
            } else {
                !options.drop_all_empty_revisions
            };
        let (old, new) = (revision.old, revision.new);
        if stays {
            let record = Self::revision_bytes(revision);
            self.receiver.bytes(&record)?;
            if old > Revnum::ZERO {
                self.oldest.get_or_insert(old);
            }
            self.last_live = Some(new);
        } else {
            self.dropped += 1;
        }
        if self.renumbers {
            let fate = Fate {
                new: self.last_live,
                dropped: !stays,
            };
            self.history.insert(old, fate);
        }
        self.receiver.revision(old, stays.then_some(new))
    }

    fn revision_bytes(revision: &Revision) -> Vec<u8> {
        const OWN: [&str; 3] = [
            header::REVISION_NUMBER,
            header::PROP_CONTENT_LENGTH,
            header::CONTENT_LENGTH,
        ];
        let is_other = |name: &[u8]| !OWN.iter().any(|own| own.as_bytes() == name);
        let headers = revision.headers.iter();
        let others: Vec<_> = headers.filter(|(name, _)| is_other(name)).collect();
        let props = Some(&revision.props).filter(|props| !props.is_empty());
        let mut record = Vec::new();
        revision_record(revision.new, &others, props, &mut record);
        record
    }

    fn is_skipped(&self, path: &str) -> bool {
        !self.options.filter.allows(path)
    }

    fn begin_node(&mut self, headers: &Headers) -> Result<Option<Node>> {
        let path = absolute(headers, header::NODE_PATH)?.unwrap_or_default();
        if self.is_skipped(&path) {
            self.dropped_nodes.insert(path);
            self.revision
                .as_mut()
                .ok_or_else(malformed)?
                .had_dropped_nodes = true;
            return Ok(None);
        }
        let text_len = headers.number(header::TEXT_CONTENT_LENGTH);
        let text_len = text_len.map(|len| u64::try_from(len).unwrap_or(0));
        let is_file = headers.get(header::NODE_KIND) == Some(b"file");
        let mut headers = headers.clone();
        if let Some(source) = absolute(&headers, header::NODE_COPYFROM_PATH)?
            && self.is_skipped(&source)
        {
            // A file whose new content is here need not be a copy.
            if text_len.is_none() || !is_file {
                return Err(Error::new(
                    ErrorCode::INCOMPLETE_DATA,
                    format!("Invalid copy source path '{source}' for '{path}'"),
                ));
            }
            headers.remove(header::NODE_COPYFROM_PATH);
            headers.remove(header::NODE_COPYFROM_REV);
        }
        let revision = self.revision.as_mut().ok_or_else(malformed)?;
        revision.has_nodes = true;
        if !revision.written {
            self.write_revision()?;
        }
        let record = self.node_record(&path, &headers)?;
        Ok(Some(Node {
            path,
            record,
            props: PropBlock::default(),
            has_props: false,
            has_prop_delta: headers.is_true(header::PROP_DELTA),
            text_len,
            written: false,
        }))
    }

    /// Copies headers, those first that readers expect there, without lengths, which may change.
    fn node_record(&self, path: &str, headers: &Headers) -> Result<NodeRecord> {
        const OWN: [&str; 6] = [
            header::NODE_PATH,
            header::NODE_KIND,
            header::NODE_ACTION,
            header::CONTENT_LENGTH,
            header::PROP_CONTENT_LENGTH,
            header::TEXT_CONTENT_LENGTH,
        ];
        let mut record = NodeRecord::new(path.strip_prefix('/').unwrap_or(path));
        if let Some(kind) = headers.get(header::NODE_KIND) {
            record.push_bytes(header::NODE_KIND.as_bytes(), kind);
        }
        let action = headers.get(header::NODE_ACTION).ok_or_else(|| {
            Error::new(
                ErrorCode::INCOMPLETE_DATA,
                format!("Missing Node-action for path '{path}'"),
            )
        })?;
        record.push_bytes(header::NODE_ACTION.as_bytes(), action);
        for (name, value) in headers.iter() {
            if OWN.iter().any(|own| own.as_bytes() == name) {
                continue;
            }
            if self.renumbers && name == header::NODE_COPYFROM_REV.as_bytes() {
                let old = headers.revision(header::NODE_COPYFROM_REV);
                let new = old.and_then(|old| self.history.get(&old)?.new);
                let new = new.ok_or_else(|| {
                    Error::new(
                        ErrorCode::NODE_UNEXPECTED_KIND,
                        format!("No valid copyfrom revision in filtered stream for '{path}'"),
                    )
                })?;
                record.push(header::NODE_COPYFROM_REV, new);
                continue;
            }
            record.push_bytes(name, value);
        }
        Ok(record)
    }

    fn flush_node(&mut self, text: Option<u64>) -> Result<()> {
        let Some(node) = self.node.as_mut().filter(|node| !node.written) else {
            return Ok(());
        };
        node.written = true;
        let props = std::mem::take(&mut node.props);
        let props = node.has_props.then(|| props.finish());
        let record = std::mem::take(&mut node.record).finish(props, text);
        self.receiver.bytes(&record)
    }

    /// Leaves out of mergeinfo what is left out of the stream, and renumbers it.
    fn adjusted_mergeinfo(&self, value: &[u8]) -> Result<Vec<u8>> {
        let mut mergeinfo = Mergeinfo::parse(value)?;
        let skips = self.options.skip_missing_merge_sources;
        if let Some(oldest) = self.oldest.filter(|_| skips) {
            // The first revision is no merge: it has all that was before it.
            mergeinfo = mergeinfo.part(0, oldest.number(), Part::Outside);
        }
        let mut left = Mergeinfo::default();
        for (source, mut ranges) in mergeinfo.0 {
            if self.is_skipped(&source) {
                if skips {
                    continue;
                }
                return Err(Error::new(
                    ErrorCode::INCOMPLETE_DATA,
                    format!(
                        "Missing merge source path '{source}'; try with \
                         --skip-missing-merge-sources"
                    ),
                ));
            }
            if self.renumbers {
                self.renumber(&mut ranges)?;
            }
            left.0.insert(source, ranges);
        }
        left.canonicalize()?;
        Ok(left.to_text()?.into_bytes())
    }

    fn renumber(&self, ranges: &mut RangeList) -> Result<()> {
        let new = |old: i64, which: &str| {
            let fate = Revnum::new(old).and_then(|old| self.history.get(&old));
            let new = fate.and_then(|fate| fate.new).map(Revnum::number);
            new.ok_or_else(|| {
                Error::new(
                    ErrorCode::NODE_UNEXPECTED_KIND,
                    format!("No valid revision range '{which}' in filtered stream"),
                )
            })
        };
        for range in &mut ranges.0 {
            (range.start, range.end) = (new(range.start, "start")?, new(range.end, "end")?);
        }
        Ok(())
    }

    fn unexpected_delta(&self, node: &Node) -> Error {
        let revision = self.revision.as_ref().map_or(Revnum::ZERO, |one| one.old);
        Error::new(
            ErrorCode::STREAM_MALFORMED_DATA,
            format!(
                "Delta property block detected, but deltas are not enabled for node '{}' in \
                 original revision {revision}",
                node.path
            ),
        )
    }
}

/// Returns a path of the stream with a slash before it.
fn absolute(headers: &Headers, name: &str) -> Result<Option<String>> {
    let Some(path) = headers.path_text(name)? else {
        return Ok(None);
    };
    let slash = if path.starts_with('/') { "" } else { "/" };
    Ok(Some(format!("{slash}{path}")))
}

impl Sink for Filter<'_> {
    fn magic(&mut self, version: i32) -> Result<()> {
        self.receiver
            .bytes(dumpstream::stream_start(version).as_bytes())
    }

    fn uuid(&mut self, uuid: &[u8]) -> Result<()> {
        let uuid = String::from_utf8_lossy(uuid);
        self.receiver
            .bytes(dumpstream::uuid_record(&uuid).as_bytes())
    }

    fn revision(&mut self, headers: &Headers) -> Result<()> {
        let old = headers.revision(header::REVISION_NUMBER);
        let old = old.unwrap_or(Revnum::ZERO);
        let dropped = if self.renumbers { self.dropped } else { 0 };
        let new = old.number() - i64::try_from(dropped).unwrap_or(0);
        self.revision = Some(Revision {
            old,
            new: Revnum::new(new).unwrap_or_default(),
            headers: headers.clone(),
            props: Props::new(),
            has_nodes: false,
            had_dropped_nodes: false,
            written: false,
        });
        Ok(())
    }

    fn revision_prop(&mut self, name: &str, value: Vec<u8>) -> Result<()> {
        let revision = self.revision.as_mut().ok_or_else(malformed)?;
        revision.props.insert(name.to_owned(), value);
        Ok(())
    }

    fn node(&mut self, headers: &Headers) -> Result<()> {
        self.node = self.begin_node(headers)?;
        Ok(())
    }

    fn remove_node_props(&mut self) -> Result<()> {
        if let Some(node) = &mut self.node {
            node.has_props = true;
        }
        Ok(())
    }

    fn node_prop(&mut self, name: &str, value: Vec<u8>) -> Result<()> {
        let Some(node) = &self.node else {
            return Ok(());
        };
        if !node.has_props && !node.has_prop_delta {
            return Err(self.unexpected_delta(node));
        }
        let value = if name == "svn:mergeinfo" {
            self.adjusted_mergeinfo(&value)?
        } else {
            value
        };
        if let Some(node) = &mut self.node {
            node.has_props = true;
            node.props.put(name, &value);
        }
        Ok(())
    }

    fn delete_node_prop(&mut self, name: &str) -> Result<()> {
        let Some(node) = &self.node else {
            return Ok(());
        };
        if !node.has_prop_delta {
            return Err(self.unexpected_delta(node));
        }
        if let Some(node) = &mut self.node {
            node.has_props = true;
            node.props.delete(name);
        }
        Ok(())
    }

    fn text(&mut self, _: bool, body: &mut Body<'_>) -> Result<()> {
        let Some(node) = &self.node else {
            return Ok(());
        };
        self.flush_node(Some(node.text_len.unwrap_or(0)))?;
        while let Some(piece) = body.next_piece()? {
            self.receiver.bytes(piece)?;
        }
        Ok(())
    }

    fn end_node(&mut self) -> Result<()> {
        if self.node.is_none() {
            return Ok(());
        }
        self.flush_node(None)?;
        self.node = None;
        self.receiver.bytes(b"\n\n")
    }

    fn end_revision(&mut self) -> Result<()> {
        let written = self.revision.as_ref().is_none_or(|one| one.written);
        if !written {
            self.write_revision()?;
        }
        self.revision = None;
        Ok(())
    }
}
