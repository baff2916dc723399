//! The proto-revision: the revision file while it grows.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sylvan_core::{Result, Revnum, Sha1};
use sylvan_io::file::{self, MODE_FILE, NewFile};

use super::rep::Written;
use crate::cache::Cache;
use crate::index::l2p::L2pBuilder;
use crate::index::{Fnv1a32x4, ITEM_FIRST_USER, Item, ItemKind};
use crate::node_rev::Representation;
use crate::rev_file::RevFile;

/// What is kept in memory; the rest goes to the file.
const IN_MEMORY: usize = 4 << 20;

/// The items of a revision to be. The end is in memory, and all of it as long as it is small.
#[derive(Debug)]
pub(super) struct Proto {
    path: PathBuf,
    file: Option<NewFile>,
    /// How much is in the file.
    flushed: u64,
    pub(super) tail: Vec<u8>,
    pub(super) items: Vec<Item>,
    pub(super) l2p: Vec<(u64, u64)>,
    pub(super) next_item: u64,
    /// Representations of this transaction, by digest.
    pub(super) by_sha1: HashMap<Sha1, Representation>,
    /// What the caches are to know of them after the commit.
    pub(super) written: Vec<Written>,
    /// How much text is in it.
    pub(super) kept: usize,
    /// Of the bytes since [`Proto::begin_item`] that are in the file already.
    checksum: Fnv1a32x4,
    item_start: u64,
}

impl Proto {
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
            file: None,
            flushed: 0,
            tail: Vec::new(),
            items: Vec::new(),
            l2p: Vec::new(),
            next_item: ITEM_FIRST_USER,
            by_sha1: HashMap::new(),
            written: Vec::new(),
            kept: 0,
            checksum: Fnv1a32x4::default(),
            item_start: 0,
        }
    }

    pub(super) fn len(&self) -> u64 {
        self.flushed + self.tail.len() as u64
    }

    /// Notes that an item begins here.
    pub(super) fn begin_item(&mut self) -> u64 {
        self.checksum = Fnv1a32x4::default();
        self.item_start = self.len();
        self.item_start
    }

    /// Returns where the item that was begun last begins.
    pub(super) const fn item_start(&self) -> u64 {
        self.item_start
    }

    /// Moves what is in memory to the file, if that is much.
    pub(super) fn spill(&mut self) -> Result<()> {
        if self.tail.len() > IN_MEMORY {
            self.flush()?;
        }
        Ok(())
    }

    /// Moves what is in memory to the file.
    pub(super) fn flush(&mut self) -> Result<()> {
        if self.file.is_none() {
            self.file = Some(file::create_final(&self.path, MODE_FILE)?);
        }
        if let Some(file) = &mut self.file {
            file.write_all(&self.tail)?;
        }
        let from = self.item_start.saturating_sub(self.flushed);
        let from = usize::try_from(from)
            .unwrap_or(usize::MAX)
            .min(self.tail.len());
        self.checksum.update(&self.tail[from..]);
        self.flushed += self.tail.len() as u64;
        self.tail.clear();
        Ok(())
    }

    /// Takes back the item that was begun.
    pub(super) fn cancel_item(&mut self) -> Result<()> {
        self.truncate(self.item_start)
    }

    /// Takes back all from an offset on.
    pub(super) fn truncate(&mut self, len: u64) -> Result<()> {
        match len.checked_sub(self.flushed) {
            Some(left) => self.tail.truncate(usize::try_from(left).unwrap_or(0)),
            None => {
                self.tail.clear();
                if let Some(file) = &mut self.file {
                    file.truncate(len)?;
                }
                self.flushed = len;
            }
        }
        Ok(())
    }

    /// Ends the item that was begun, under a number.
    pub(super) fn end_item(&mut self, kind: ItemKind, number: u64) {
        let from = self.item_start.saturating_sub(self.flushed);
        let from = usize::try_from(from)
            .unwrap_or(usize::MAX)
            .min(self.tail.len());
        self.checksum.update(&self.tail[from..]);
        self.items.push(Item {
            offset: self.item_start,
            size: self.len() - self.item_start,
            kind,
            // Set when it is known.
            revision: Revnum::ZERO,
            number,
            checksum: self.checksum.finish(),
        });
    }

    /// Takes the next number for the item that was begun.
    pub(super) fn number_item(&mut self) -> u64 {
        let number = self.next_item;
        self.next_item += 1;
        self.l2p.push((number, self.item_start));
        number
    }

    /// Opens bytes of the proto-revision for reading.
    pub(super) fn open(&self, offset: u64, len: u64, cache: &Cache) -> Result<(Arc<RevFile>, u64)> {
        if let Some(start) = offset.checked_sub(self.flushed) {
            let start = usize::try_from(start).unwrap_or(usize::MAX);
            let end = start.saturating_add(usize::try_from(len).unwrap_or(usize::MAX));
            let bytes = self
                .tail
                .get(start..end.min(self.tail.len()))
                .unwrap_or(&[]);
            let file = RevFile::of_bytes(bytes.to_vec(), Revnum::ZERO, cache);
            return Ok((Arc::new(file), 0));
        }
        if offset + len > self.flushed {
            // An item that is partly in memory: only while it is written.
            let mut bytes = read_range(&self.path, offset, self.flushed - offset)?;
            let rest = usize::try_from(offset + len - self.flushed).unwrap_or(usize::MAX);
            bytes.extend_from_slice(&self.tail[..rest.min(self.tail.len())]);
            let file = RevFile::of_bytes(bytes, Revnum::ZERO, cache);
            return Ok((Arc::new(file), 0));
        }
        let file = RevFile::open(self.path.clone(), Revnum::ZERO, false, cache)?;
        let file = file.ok_or_else(|| crate::text::corrupt("Truncated protorev file detected"))?;
        Ok((Arc::new(file), offset))
    }

    /// Returns the log-to-phys index to be.
    pub(super) fn l2p_index(&self) -> Result<L2pBuilder> {
        let mut builder = L2pBuilder::default();
        builder.next_revision();
        for (number, offset) in &self.l2p {
            builder.add(*number, *offset)?;
        }
        Ok(builder)
    }

    /// Takes over a file that is there, with what is known of it.
    pub(super) fn resume(&mut self, len: u64) -> Result<()> {
        let mut file = file::append(&self.path)?;
        file.truncate(len)?;
        self.file = Some(file);
        self.flushed = len;
        Ok(())
    }

    /// Takes a file that is there for reading alone.
    pub(super) fn look_at(&mut self, len: u64) {
        self.flushed = len;
    }

    /// Writes what is left to the file, gives it its final permissions and brings it to the disk if
    /// `sync`.
    pub(super) fn seal(&mut self, mode: u32, sync: bool) -> Result<()> {
        if self.file.is_none() {
            self.file = Some(file::create_final(&self.path, mode)?);
        }
        self.flush()?;
        let Some(file) = &self.file else {
            return Ok(());
        };
        if file.meta()?.mode != mode {
            file::set_mode(&self.path, mode)?;
        }
        if sync { file.sync() } else { Ok(()) }
    }

    /// Gives the file its final name, after [`Proto::seal`].
    pub(super) fn move_to(&mut self, path: &Path) -> Result<()> {
        file::rename(&self.path, path)?;
        self.file = None;
        Ok(())
    }

    /// Removes the file, if there is one.
    pub(super) fn discard(&mut self) -> Result<()> {
        if self.file.take().is_some() {
            file::remove_if_exists(&self.path)?;
        }
        Ok(())
    }
}

fn read_range(path: &Path, offset: u64, len: u64) -> Result<Vec<u8>> {
    use std::os::unix::fs::FileExt as _;
    let mut bytes = vec![0; usize::try_from(len).unwrap_or(usize::MAX)];
    file::open(path)?
        .read_exact_at(&mut bytes, offset)
        .map_err(|error| {
            let action = format!("Can't read file '{}'", path.display());
            sylvan_core::Error::io(&error, action)
        })?;
    Ok(bytes)
}
