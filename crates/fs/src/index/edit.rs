//! Reads the whole phys-to-log index of a file, and writes the indexes anew.

use sylvan_core::{Error, ErrorCode, Result, Revnum};
use sylvan_io::{Cancel, file};

use super::l2p::L2pBuilder;
use super::{Fnv1a32x4, Item, ItemKind};
use crate::cache::Cache;
use crate::fs::FileSystem;
use crate::rev_file::{BLOCK, RevFile};

impl FileSystem {
    /// Gives each item of the file that has a revision to `sink`, in the order of their offsets.
    ///
    /// # Errors
    /// [`ErrorCode::FS_UNSUPPORTED_FORMAT`] with physical addressing, those of the index, and what
    /// `sink` returned.
    pub fn dump_index(
        &self,
        revision: Revnum,
        cancel: &Cancel,
        sink: &mut dyn FnMut(&Item) -> Result<()>,
    ) -> Result<()> {
        self.ensure_logical()?;
        let file = self.rev_file(revision)?;
        let p2l = file.p2l()?;
        let end = p2l.header.file_size;
        let mut offset = 0;
        for page in 0..p2l.header.page_count() {
            for item in file.described_items(&p2l, page)? {
                if offset >= end {
                    return Ok(());
                }
                cancel.check()?;
                sink(&item)?;
                offset = item.end();
            }
        }
        Ok(())
    }

    fn ensure_logical(&self) -> Result<()> {
        if self.format().is_logical() {
            return Ok(());
        }
        Err(Error::from_code(ErrorCode::FS_UNSUPPORTED_FORMAT))
    }

    /// Replaces both indexes of the file that has a revision by what `items` say, which must cover
    /// the file, in any order. Checksums are made anew.
    ///
    /// # Errors
    /// [`ErrorCode::FS_UNSUPPORTED_FORMAT`] with physical addressing,
    /// [`ErrorCode::INVALID_INPUT`] if they overlap or leave holes. If the indexes cannot be
    /// written, the file may be left without them.
    pub fn load_index(&self, revision: Revnum, mut items: Vec<Item>) -> Result<()> {
        self.ensure_logical()?;
        items.sort_by_key(|item| item.offset);
        let Some(last) = items.last() else {
            return Ok(());
        };
        let end = last.end();
        check_covered(&items)?;
        let _lock = self.write_lock()?;
        self.ensure_revision_exists(revision)?;
        let (path, start, packed) = self.rev_file_path(revision);
        // Nothing of it is to be remembered.
        let found = RevFile::open(path.clone(), start, packed, &Cache::new(0))?;
        let rev_file = found.ok_or_else(|| crate::error::no_such_revision(revision))?;
        if let Ok(footer) = rev_file.read_footer()
            && footer.l2p_offset != end
        {
            return Err(invalid(format!(
                "New index data ends at {end:x}, old index ended at {:x}",
                footer.l2p_offset
            )));
        }
        for item in &mut items {
            item.checksum = checksum(&rev_file, item)?;
        }
        let indexes = self.make_indexes(start, &items, end)?;
        let mode = file::stat(&path)?.mode;
        file::set_read_only(&path, false)?;
        let mut out = file::append(&path)?;
        out.truncate(end)?;
        out.write_all(&indexes)?;
        if self.options().flush_to_disk {
            out.sync()?;
        }
        drop(out);
        file::set_mode(&path, mode)
    }

    fn make_indexes(&self, start: Revnum, items: &[Item], l2p_offset: u64) -> Result<Vec<u8>> {
        let mut by_revision: Vec<&Item> = items
            .iter()
            .filter(|item| item.kind != ItemKind::Unused)
            .collect();
        by_revision.sort_by_key(|item| item.revision);
        let mut l2p = L2pBuilder::default();
        let mut last = None;
        for item in by_revision {
            if last != Some(item.revision) {
                last = Some(item.revision);
                l2p.next_revision();
            }
            l2p.add(item.number, item.offset)?;
        }
        let conf = self.conf();
        Ok(super::after_items(l2p, items, start, l2p_offset, conf))
    }
}

fn invalid(text: String) -> Error {
    Error::new(ErrorCode::INVALID_INPUT, text)
}

fn check_covered(items: &[Item]) -> Result<()> {
    let mut expected = 0;
    for item in items {
        if item.offset < expected {
            return Err(invalid(format!(
                "Overlapping index data for offset {expected:x}"
            )));
        }
        if item.offset > expected {
            return Err(invalid(format!(
                "Missing index data for offset {expected:x}"
            )));
        }
        expected = item.end();
    }
    Ok(())
}

/// Makes the checksum of an item; nothing has zero.
fn checksum(file: &RevFile, item: &Item) -> Result<u32> {
    if item.kind == ItemKind::Unused {
        return Ok(0);
    }
    let mut sum = Fnv1a32x4::default();
    let (mut at, end) = (item.offset, item.end());
    while at < end {
        let len = (end - at).min(BLOCK as u64) as usize;
        sum.update(&file.read_once(at, len)?);
        at += len as u64;
    }
    Ok(sum.finish())
}
