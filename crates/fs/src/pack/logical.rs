//! Pack files with logical addressing: the items of a shard in a new order.
//!
//! Lists of changed paths come first, then properties of files, properties of folders (the newest
//! first), and then node-revisions with their representations, see [`super::order`]. An item that
//! would cross the end of a block begins the next one, if few bytes are lost.

use std::collections::HashMap;
use std::sync::Arc;

use sylvan_core::{Result, Revnum};
use sylvan_io::Cancel;

use super::order::{self, ItemId, Placed};
use super::{PackOptions, PackWriter, physical};
use crate::cache::Cache;
use crate::error::no_such_revision;
use crate::fs::{FileSystem, read_node_rev};
use crate::index::l2p::L2pBuilder;
use crate::index::{self, ITEM_UNUSED, Item, ItemKind};
use crate::rep::{Opened, RepHeader};
use crate::rev_file::RevFile;
use crate::text::corrupt;

/// What Subversion reckons for each item.
const ITEM_MEMORY: usize = 216;
/// Readers of node-revisions read so much ahead.
const NODE_REV_MARGIN: u64 = 80;
/// Subversion heeds larger blocks only where it reads them whole, which it does not by default.
const LARGEST_BLOCK: u64 = 0x1000;
/// Files that are open or in memory at a time, in bytes.
const SOURCES: usize = 24 << 20;

/// A pack file that is being made.
struct Packer<'a> {
    fs: &'a FileSystem,
    cancel: &'a Cancel,
    out: &'a mut PackWriter,
    sources: Cache,
    /// The first revision of the shard.
    first: Revnum,
    items: Vec<Item>,
    /// How many revisions the shard has.
    count: usize,
    /// For each revision of which there is something, its items: number and offset.
    offsets: Vec<Vec<(u64, u64)>>,
}

/// The items of some revisions, by what they are.
#[derive(Default)]
struct Part {
    changes: Vec<Item>,
    file_props: Vec<Item>,
    dir_props: Vec<Item>,
    reps: HashMap<ItemId, Item>,
    /// The representations in the order of the files.
    rep_order: Vec<ItemId>,
    nodes: Vec<Placed>,
    bases: HashMap<ItemId, ItemId>,
}

impl FileSystem {
    pub(super) fn pack_logical(
        &self,
        first: Revnum,
        options: &PackOptions,
        cancel: &Cancel,
        out: &mut PackWriter,
    ) -> Result<()> {
        let count = usize::try_from(self.shard_size()).unwrap_or(usize::MAX);
        let mut packer = Packer {
            fs: self,
            cancel,
            out,
            sources: Cache::new(SOURCES),
            first,
            items: Vec::new(),
            count,
            offsets: Vec::new(),
        };
        packer.place_all((options.max_memory / ITEM_MEMORY) as u64)?;
        packer.write_indexes()
    }
}

impl Packer<'_> {
    fn end(&self) -> i64 {
        self.first.number().saturating_add(self.count as i64)
    }

    fn source(&self, revision: Revnum) -> Result<Arc<RevFile>> {
        let key = self.fs.key(crate::cache::Kind::File, revision, 0);
        if let Some(file) = self.sources.file(&key) {
            return Ok(file);
        }
        let path = self.fs.layout().rev(revision);
        let file = RevFile::open(path, revision, false, &self.sources)?;
        let file = Arc::new(file.ok_or_else(|| no_such_revision(revision))?);
        self.sources.put_file(key, &file, file.weight());
        Ok(file)
    }

    /// Places all revisions, as many at a time as have no more than `max_items`.
    fn place_all(&mut self, max_items: u64) -> Result<()> {
        let mut start = self.first.number();
        let mut count = 0;
        for number in self.first.number()..self.end() {
            self.cancel.check()?;
            let revision = Revnum::new(number).unwrap_or_default();
            let here = self
                .source(revision)?
                .item_count(revision, self.fs.shard_size())?;
            if here <= max_items - count {
                count += here;
                continue;
            }
            self.place(start, number)?;
            (start, count) = (number, here);
            if here > max_items {
                self.append(revision)?;
                (start, count) = (number + 1, 0);
            }
        }
        self.place(start, self.end())
    }

    /// Reads what a revision consists of; all its bytes must be described.
    fn read_items(&self, file: &RevFile) -> Result<Vec<Item>> {
        let (p2l, footer) = (file.p2l()?, file.read_footer()?);
        let mut items = Vec::new();
        let mut end = 0;
        for page in 0..p2l.header.page_count() {
            for item in file.described_items(&p2l, page)? {
                if item.offset >= footer.l2p_offset || item.size == 0 {
                    continue;
                }
                if item.offset != end {
                    let path = file.path().display();
                    return Err(corrupt(format!(
                        "Index of '{path}' does not describe offset {end}"
                    )));
                }
                end = item.end();
                items.push(item);
            }
        }
        if end == footer.l2p_offset {
            return Ok(items);
        }
        let path = file.path().display();
        Err(corrupt(format!(
            "Index of '{path}' does not describe offset {end}"
        )))
    }

    /// Copies a very large revision as it is.
    fn append(&mut self, revision: Revnum) -> Result<()> {
        let file = self.source(revision)?;
        let start = self.out.len();
        for mut item in self.read_items(&file)? {
            physical::copy(&file, item.offset, item.size, self.out)?;
            item.offset += start;
            self.note(item);
        }
        Ok(())
    }

    fn note(&mut self, item: Item) {
        let at = usize::try_from(item.revision.number() - self.first.number());
        let at = at.unwrap_or(usize::MAX);
        if at < self.count && item.kind != ItemKind::Unused {
            if at >= self.offsets.len() {
                self.offsets.resize_with(at + 1, Vec::new);
            }
            self.offsets[at].push((item.number, item.offset));
        }
        self.items.push(item);
    }

    /// Places the revisions from `start` up to but without `end`.
    fn place(&mut self, start: i64, end: i64) -> Result<()> {
        let mut part = Part::default();
        let start_revision = Revnum::new(start).unwrap_or_default();
        for number in start..end {
            self.cancel.check()?;
            let revision = Revnum::new(number).unwrap_or_default();
            let file = self.source(revision)?;
            for item in self.read_items(&file)? {
                if item.revision != revision {
                    return Err(corrupt(format!(
                        "Item of r{} in the file of r{revision}",
                        item.revision
                    )));
                }
                part.add(item, &file, start_revision)?;
            }
        }
        for items in [&mut part.changes, &mut part.file_props, &mut part.dir_props] {
            items.sort_by_key(|item| std::cmp::Reverse((item.revision, item.number)));
            items.iter().try_for_each(|item| self.store(item))?;
        }
        order::sort(
            &mut part.nodes,
            &part.bases,
            self.fs.conf().max_linear_deltification,
        );
        self.store_nodes(part)
    }

    fn store_nodes(&mut self, mut part: Part) -> Result<()> {
        let nodes = std::mem::take(&mut part.nodes);
        let heads = nodes.iter().flat_map(|node| {
            let head = node.is_head.then_some(node.node_rev);
            head.into_iter().chain(node.rep)
        });
        let others = nodes.iter().map(|node| node.node_rev);
        // A text that was replaced within its transaction is the content of no node.
        let order = std::mem::take(&mut part.rep_order);
        for id in heads.chain(others).chain(order) {
            if let Some(item) = part.reps.remove(&id) {
                self.store(&item)?;
            }
        }
        Ok(())
    }

    fn store(&mut self, item: &Item) -> Result<()> {
        self.cancel.check()?;
        let margin = match item.kind {
            ItemKind::NodeRev => NODE_REV_MARGIN,
            _ => 0,
        };
        self.pad(item.size.saturating_add(margin))?;
        let file = self.source(item.revision)?;
        let offset = self.out.len();
        physical::copy(&file, item.offset, item.size, self.out)?;
        self.note(Item { offset, ..*item });
        Ok(())
    }

    /// Fills the block up, if an item of `size` does not fit in and little is lost.
    fn pad(&mut self, size: u64) -> Result<()> {
        let block = self.fs.conf().block_size.min(LARGEST_BLOCK);
        let offset = self.out.len();
        let left = block - offset % block;
        if left >= size || left >= (block / 50).max(512) {
            return Ok(());
        }
        self.out.push_zeros(left)?;
        self.note(Item {
            offset,
            size: left,
            kind: ItemKind::Unused,
            revision: self.first,
            number: ITEM_UNUSED,
            checksum: 0,
        });
        Ok(())
    }

    fn write_indexes(self) -> Result<()> {
        let mut l2p = L2pBuilder::default();
        for at in 0..self.count {
            l2p.next_revision();
            for (number, offset) in self.offsets.get(at).into_iter().flatten() {
                l2p.add(*number, *offset)?;
            }
        }
        let end = self.out.len();
        let bytes = index::after_items(l2p, &self.items, self.first, end, self.fs.conf());
        self.out.push(&bytes)
    }
}

impl Part {
    fn add(&mut self, item: Item, file: &Arc<RevFile>, start: Revnum) -> Result<()> {
        let id = (item.revision, item.number);
        match item.kind {
            ItemKind::Unused => return Ok(()),
            ItemKind::Changes => self.changes.push(item),
            ItemKind::FileProps => self.file_props.push(item),
            ItemKind::DirProps => self.dir_props.push(item),
            ItemKind::FileRep | ItemKind::DirRep => {
                let opened = Opened {
                    file: Arc::clone(file),
                    offset: item.offset,
                };
                if let (RepHeader::Delta(base), _) = opened.read_header(0)?
                    && base.revision >= start
                {
                    self.bases.insert(id, (base.revision, base.item_index));
                }
                self.add_rep(item)?;
            }
            ItemKind::NodeRev => {
                let rev = read_node_rev(file, item.offset)?;
                let rep = rev
                    .text
                    .and_then(|rep| Some((rep.revision?, rep.item_index)));
                let rep = rep.filter(|(revision, _)| *revision >= start);
                self.nodes.push(Placed::new(&rev, id, rep));
                self.add_rep(item)?;
            }
        }
        Ok(())
    }

    fn add_rep(&mut self, item: Item) -> Result<()> {
        let id = (item.revision, item.number);
        self.rep_order.push(id);
        match self.reps.insert(id, item) {
            None => Ok(()),
            Some(_) => Err(corrupt(format!(
                "Item {} of r{} is there twice",
                id.1, id.0
            ))),
        }
    }
}
