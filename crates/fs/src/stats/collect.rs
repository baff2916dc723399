//! Counts what revisions consist of.

use std::collections::HashMap;
use std::sync::Arc;

use sylvan_core::{NodeKind, RelPath, Result, Revnum};
use sylvan_io::Cancel;

use super::{Histogram, LargeChange, RepPackStats, RepStats, Stats};
use crate::fs::{FileSystem, read_node_rev};
use crate::id::{NodeRevId, Place};
use crate::index::ItemKind;
use crate::node_rev::{NodeRev, Representation};
use crate::rep::{END, Opened, RepHeader};
use crate::rev_file::RevFile;

/// How many of the largest changes are told.
const LARGEST: usize = 64;
/// How many revisions of a linear layout are told as one.
const PROGRESS: i64 = 1000;

/// What the first node that uses a representation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Unused,
    DirProps,
    FileProps,
    Dir,
    File,
}

/// A representation.
#[derive(Clone, Copy, Debug)]
struct Rep {
    size: u64,
    expanded_size: u64,
    references: u64,
    header_size: u64,
    kind: Kind,
    chain_len: u64,
}

type RepId = (Revnum, u64);

struct Collector<'a> {
    fs: &'a FileSystem,
    cancel: &'a Cancel,
    stats: Stats,
    reps: HashMap<RepId, Rep>,
}

impl FileSystem {
    /// Counts what all revisions consist of; `progress` is told each revision that begins a shard.
    ///
    /// # Errors
    /// [`FS_CORRUPT`](sylvan_core::ErrorCode::FS_CORRUPT) and what `progress` returned.
    pub fn stats(
        &self,
        cancel: &Cancel,
        progress: &mut dyn FnMut(Revnum) -> Result<()>,
    ) -> Result<Stats> {
        let youngest = self.youngest()?;
        let packed = self.min_unpacked_rev()?;
        let mut collector = Collector {
            fs: self,
            cancel,
            stats: Stats::default(),
            reps: HashMap::new(),
        };
        let step = self.format().shard_size.map_or(PROGRESS, i64::from);
        let mut number = 0;
        while number <= youngest.number() {
            let revision = Revnum::new(number).unwrap_or_default();
            let count = if revision < packed { step } else { 1 };
            collector.read_file(revision, count)?;
            if number % step == 0 {
                progress(revision)?;
            }
            number += count;
        }
        Ok(collector.finish())
    }
}

impl Collector<'_> {
    fn read_file(&mut self, first: Revnum, count: i64) -> Result<()> {
        let file = self.fs.rev_file(first)?;
        if self.fs.format().is_logical() {
            return self.read_logical(&file);
        }
        for number in first.number()..first.number() + count {
            self.cancel.check()?;
            self.read_physical(&file, Revnum::new(number).unwrap_or_default())?;
        }
        Ok(())
    }

    /// Takes all items of a file.
    fn read_logical(&mut self, file: &Arc<RevFile>) -> Result<()> {
        let (p2l, end) = (file.p2l()?, file.read_footer()?.l2p_offset);
        self.stats.total_size += end;
        let mut links = Vec::new();
        for page in 0..p2l.header.page_count() {
            self.cancel.check()?;
            for item in file.described_items(&p2l, page)? {
                if item.offset >= end || item.size == 0 {
                    continue;
                }
                match item.kind {
                    ItemKind::Unused => {}
                    ItemKind::NodeRev => {
                        let rev = read_node_rev(file, item.offset)?;
                        self.add_node(&rev, item.size, None)?;
                    }
                    ItemKind::Changes => {
                        let len = usize::try_from(item.size).unwrap_or(usize::MAX);
                        let text = file.read(item.offset, len)?;
                        let lines = text.iter().filter(|byte| **byte == b'\n').count();
                        self.stats.change_count += lines as u64 / 2;
                        self.stats.change_len += item.size;
                    }
                    _ => links.push(((item.revision, item.number), item.offset)),
                }
            }
        }
        // Deltas are against older revisions, or against what stands before.
        links.sort_by_key(|(id, _)| *id);
        for (id, offset) in links {
            let opened = Opened {
                file: Arc::clone(file),
                offset,
            };
            let (header, start) = opened.read_header(0)?;
            let chain_len = self.chain_len(&header);
            let rep = self.reps.entry(id).or_insert(Rep {
                size: 0,
                expanded_size: 0,
                references: 0,
                header_size: 0,
                kind: Kind::Unused,
                chain_len: 0,
            });
            (rep.header_size, rep.chain_len) = (start - offset, chain_len);
        }
        Ok(())
    }

    /// Takes a revision by its tree.
    fn read_physical(&mut self, file: &Arc<RevFile>, revision: Revnum) -> Result<()> {
        let (start, end) = self.fs.rev_bounds(file, revision)?;
        let trailer = self.fs.trailer(file, revision)?;
        self.stats.total_size += end - start;
        self.fs.changes(revision, |_| {
            self.stats.change_count += 1;
            Ok(())
        })?;
        let (root, changes) = (trailer.root - start, trailer.changes - start);
        let trailer_len = format!("{root} {changes}\n").len() as u64;
        self.stats.change_len += (end - trailer.changes).saturating_sub(trailer_len);
        self.read_tree(file, trailer.root, revision)
    }

    /// Takes the node at an offset and all below it, each content once.
    fn read_tree(&mut self, file: &Arc<RevFile>, root: u64, revision: Revnum) -> Result<()> {
        let mut offsets = vec![root];
        while let Some(offset) = offsets.pop() {
            self.cancel.check()?;
            let (rev, len) = crate::fs::read_node_rev_and_len(file, offset)?;
            let is_new = self.add_node(&rev, len, Some(file))?;
            if rev.kind != NodeKind::Dir || !is_new {
                continue;
            }
            let directory = self.fs.directory(&rev)?;
            // The last that is pushed is the first that is taken.
            for entry in directory.entries().iter().rev() {
                if let Some(item) = item_in(&entry.id, revision) {
                    offsets.push(self.fs.item_offset(file, revision, item)?);
                }
            }
        }
        Ok(())
    }

    fn chain_len(&self, header: &RepHeader) -> u64 {
        match header {
            RepHeader::Delta(base) => {
                let base = self.reps.get(&(base.revision, base.item_index));
                1 + base.map_or(0, |base| base.chain_len.min(254))
            }
            _ => 1,
        }
    }

    /// Adds a node; tells whether it is the first to use its content.
    fn add_node(
        &mut self,
        rev: &NodeRev,
        len: u64,
        physical: Option<&Arc<RevFile>>,
    ) -> Result<bool> {
        let is_dir = rev.kind == NodeKind::Dir;
        let (text, props) = if is_dir {
            (Kind::Dir, Kind::DirProps)
        } else {
            (Kind::File, Kind::FileProps)
        };
        let nodes = if is_dir {
            &mut self.stats.dir_nodes
        } else {
            &mut self.stats.file_nodes
        };
        for nodes in [nodes, &mut self.stats.total_nodes] {
            nodes.count += 1;
            nodes.size += len;
        }
        let new_text = self.add_reference(rev.text.as_ref(), text, physical)?;
        let new_props = self.add_reference(rev.props.as_ref(), props, physical)?;
        for (kind, rep) in [(text, new_text), (props, new_props)] {
            if let Some((revision, rep)) = rep {
                let is_added = rev.predecessor.is_none();
                self.add_change(&rep, revision, &rev.created_path, kind, is_added);
            }
        }
        Ok(new_text.is_some())
    }

    /// Counts the use of a representation; returns it at the first time.
    fn add_reference(
        &mut self,
        rep: Option<&Representation>,
        kind: Kind,
        physical: Option<&Arc<RevFile>>,
    ) -> Result<Option<(Revnum, Rep)>> {
        let Some((rep, revision)) = rep.and_then(|rep| Some((rep, rep.revision?))) else {
            return Ok(None);
        };
        let id = (revision, rep.item_index);
        let known = self.reps.get(&id).copied();
        let mut found = match (known, physical) {
            (Some(known), _) => known,
            (None, Some(file)) => self.read_physical_rep(file, id)?,
            (None, None) => Rep {
                size: 0,
                expanded_size: 0,
                references: 0,
                header_size: 0,
                kind,
                chain_len: 0,
            },
        };
        found.references += 1;
        if found.references == 1 {
            (found.size, found.expanded_size) = (rep.size, rep.expanded_size);
            found.kind = kind;
        }
        self.reps.insert(id, found);
        Ok((found.references == 1).then_some((revision, found)))
    }

    fn read_physical_rep(&self, file: &Arc<RevFile>, (revision, item): RepId) -> Result<Rep> {
        let offset = self.fs.item_offset(file, revision, item)?;
        let opened = Opened {
            file: Arc::clone(file),
            offset,
        };
        let (header, start) = opened.read_header(0)?;
        Ok(Rep {
            size: 0,
            expanded_size: 0,
            references: 0,
            header_size: start - offset,
            kind: Kind::Unused,
            chain_len: self.chain_len(&header),
        })
    }

    fn add_change(
        &mut self,
        rep: &Rep,
        revision: Revnum,
        path: &RelPath,
        kind: Kind,
        is_added: bool,
    ) {
        let stats = &mut self.stats;
        add_largest(&mut stats.largest_changes, rep.size, revision, path);
        stats.rep_size.add(rep.size);
        stats.node_size.add(rep.expanded_size);
        if is_added {
            stats.added_rep_size.add(rep.size);
            stats.added_node_size.add(rep.expanded_size);
        }
        let (reps, texts): (&mut Histogram, &mut Histogram) = match kind {
            Kind::Unused => return stats.unused_rep.add(rep.size),
            Kind::DirProps => (&mut stats.dir_prop_rep, &mut stats.dir_prop),
            Kind::FileProps => (&mut stats.file_prop_rep, &mut stats.file_prop),
            Kind::Dir => (&mut stats.dir_rep, &mut stats.dir),
            Kind::File => (&mut stats.file_rep, &mut stats.file),
        };
        reps.add(rep.size);
        texts.add(rep.expanded_size);
        if kind == Kind::File {
            let entry = stats.by_extension.entry(extension(path)).or_default();
            entry.node_histogram.add(rep.expanded_size);
            entry.rep_histogram.add(rep.size);
        }
    }

    fn finish(self) -> Stats {
        let mut stats = self.stats;
        stats.revision_count = self.fs.known_youngest().number().cast_unsigned() + 1;
        for rep in self.reps.values() {
            let of_kind = match rep.kind {
                Kind::Unused => None,
                Kind::DirProps => Some(&mut stats.dir_prop_reps),
                Kind::FileProps => Some(&mut stats.file_prop_reps),
                Kind::Dir => Some(&mut stats.dir_reps),
                Kind::File => Some(&mut stats.file_reps),
            };
            if let Some(of_kind) = of_kind {
                add_rep(of_kind, rep);
                add_rep(&mut stats.total_reps, rep);
            }
        }
        stats
    }
}

fn item_in(id: &NodeRevId, revision: Revnum) -> Option<u64> {
    match id.place {
        Place::Revision(place, item) if place == revision => Some(item),
        _ => None,
    }
}

/// What the name of a file ends with.
fn extension(path: &RelPath) -> String {
    let name = path.as_str().rsplit('/').next().unwrap_or("");
    match name.rfind('.') {
        Some(at) if at > 0 => name[at..].to_owned(),
        _ => "(none)".to_owned(),
    }
}

fn add_largest(largest: &mut Vec<LargeChange>, size: u64, revision: Revnum, path: &RelPath) {
    let least = match largest.last() {
        Some(last) if largest.len() == LARGEST => last.size,
        _ => 1,
    };
    if size < least {
        return;
    }
    largest.truncate(LARGEST - 1);
    let at = largest.partition_point(|change| change.size >= size);
    largest.insert(
        at,
        LargeChange {
            size,
            revision,
            path: path.to_owned(),
        },
    );
}

fn add_rep(stats: &mut RepStats, rep: &Rep) {
    add_rep_pack(&mut stats.total, rep);
    if rep.references == 1 {
        add_rep_pack(&mut stats.uniques, rep);
    } else {
        add_rep_pack(&mut stats.shared, rep);
    }
    stats.references += rep.references;
    let expanded_size = rep.references.wrapping_mul(rep.expanded_size);
    stats.expanded_size = stats.expanded_size.wrapping_add(expanded_size);
    stats.chain_len += rep.chain_len;
}

fn add_rep_pack(stats: &mut RepPackStats, rep: &Rep) {
    stats.count += 1;
    // Sizes are what the files say.
    stats.packed_size = stats.packed_size.wrapping_add(rep.size);
    stats.expanded_size = stats.expanded_size.wrapping_add(rep.expanded_size);
    stats.overhead_size += rep.header_size + END.len() as u64;
}
