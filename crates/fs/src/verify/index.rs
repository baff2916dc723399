//! Compares the indexes with each other and with the items.

use sylvan_core::{Error, ErrorCode, Result, Revnum};
use sylvan_io::Cancel;

use crate::fs::FileSystem;
use crate::index::p2l::P2lHeader;
use crate::index::{Fnv1a32x4, ITEM_CHANGES, Item, ItemKind, damaged};
use crate::rev_file::{P2l, RevFile};
use crate::text::corrupt;

/// How much of an item is read at once.
const PIECE: u64 = 256 << 10;

impl FileSystem {
    /// Checks the file that has a revision, and returns the first revision after it.
    pub(super) fn verify_indexes(&self, revision: Revnum, cancel: &Cancel) -> Result<Revnum> {
        let file = self.rev_file(revision)?;
        file.verify_index_digests()?;
        let count = if file.packed {
            self.shard_size().cast_signed()
        } else {
            1
        };
        let end = file.start.number() + count;
        let p2l = file.p2l()?;
        for number in file.start.number()..end {
            cancel.check()?;
            let revision = Revnum::new(number).unwrap_or_default();
            self.verify_l2p(&file, &p2l, revision)?;
        }
        let range = file.start.number()..end;
        self.verify_p2l(&file, &p2l, &range, cancel)?;
        Ok(Revnum::new(end).unwrap_or_default())
    }

    /// Checks that each item of a revision is where its number says.
    fn verify_l2p(&self, file: &RevFile, p2l: &P2l, revision: Revnum) -> Result<()> {
        let shard_size = self.shard_size();
        let mut page_items: Option<(usize, Vec<Item>)> = None;
        for number in 0..file.item_count(revision, shard_size)? {
            let Some(offset) = file.l2p(revision, number, shard_size)? else {
                continue;
            };
            let page = p2l.header.page_of(offset, revision)?;
            let known = page_items.take().filter(|(known, _)| *known == page);
            let (_, items) = page_items.insert(match known {
                Some(known) => known,
                None => (page, file.page_items(p2l, page)?),
            });
            let found = items
                .iter()
                .find(|item| item.offset == offset && item.size > 0);
            let Some(item) = found else {
                return Err(inconsistent(format!(
                    "p2l index entry not found for PHYS {offset} returned by l2p index for LOG \
                     r{revision}:i{number}"
                )));
            };
            if (item.revision, item.number) != (revision, number) {
                return Err(inconsistent(format!(
                    "p2l index info LOG r{}:i{} does not match l2p index for LOG \
                     r{revision}:i{number}",
                    item.revision, item.number
                )));
            }
        }
        Ok(())
    }

    /// Checks that the items cover the file, that each has its number, and their checksums.
    fn verify_p2l(
        &self,
        file: &RevFile,
        p2l: &P2l,
        revisions: &std::ops::Range<i64>,
        cancel: &Cancel,
    ) -> Result<()> {
        let start = file.start;
        let mut offset = 0;
        for page in 0..p2l.header.page_count() {
            cancel.check()?;
            for item in file.described_items(p2l, page)? {
                if item.size == 0 {
                    continue;
                }
                if item.offset != offset {
                    return Err(inconsistent(format!(
                        "p2l index entry for revision r{start} is non-contiguous between offsets  \
                         {offset} and {}",
                        item.offset
                    )));
                }
                self.verify_item(file, &p2l.header, &item, revisions)?;
                offset = item.end();
            }
        }
        if offset < p2l.header.file_size {
            return Err(inconsistent(format!(
                "p2l does not cover offset {offset} for revision {start}"
            )));
        }
        Ok(())
    }

    fn verify_item(
        &self,
        file: &RevFile,
        header: &P2lHeader,
        item: &Item,
        revisions: &std::ops::Range<i64>,
    ) -> Result<()> {
        let Item { offset, number, .. } = *item;
        let revision = item.revision;
        if (item.kind == ItemKind::Changes) != (number == ITEM_CHANGES) {
            return Err(damaged(format!(
                "p2l index entry for changes in revision r{revision} is item {number} of type {} \
                 at offset {offset}",
                item.kind.number()
            )));
        }
        let is_ours = revisions.contains(&revision.number());
        if item.kind == ItemKind::Unused {
            if !is_ours {
                return Err(inconsistent(format!(
                    "Empty P2L entry for PHYS {offset} refers to revision {revision} outside the \
                     rev / pack file ({}-{})",
                    revisions.start,
                    revisions.end - 1
                )));
            }
            // The last one is what the last page covers beyond the end.
            return if offset < header.file_size {
                ensure_zeros(file, item)
            } else {
                Ok(())
            };
        }
        if !is_ours {
            return Err(inconsistent(format!(
                "p2l index info LOG r{revision}:i{number} does not match l2p index for LOG \
                 r{revision}:i{number}"
            )));
        }
        let mapped = file.l2p(revision, number, self.shard_size())?;
        if mapped != Some(offset) {
            let mapped = mapped.map_or_else(|| "-1".to_owned(), |mapped| mapped.to_string());
            return Err(inconsistent(format!(
                "l2p index entry PHYS {mapped}does not match p2l index value LOG \
                 r{revision}:i{number} for PHYS {offset}"
            )));
        }
        let mut sum = Fnv1a32x4::default();
        each_piece(file, item, |piece| {
            sum.update(piece);
            Ok(())
        })?;
        if sum.finish() == item.checksum {
            return Ok(());
        }
        Err(corrupt(format!(
            "Checksum mismatch in item at offset {offset} of length {} bytes in file {}",
            item.size,
            file.path().display()
        )))
    }
}

fn inconsistent(message: String) -> Error {
    Error::new(ErrorCode::FS_INDEX_INCONSISTENT, message)
}

fn each_piece(
    file: &RevFile,
    item: &Item,
    mut work: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut at = item.offset;
    let mut piece = bytes::Bytes::new();
    while at < item.end() {
        let len = (item.end() - at).min(PIECE);
        piece = file.read_into(at, usize::try_from(len).unwrap_or(0), piece)?;
        work(&piece)?;
        at += len;
    }
    Ok(())
}

fn ensure_zeros(file: &RevFile, item: &Item) -> Result<()> {
    let mut at = item.offset;
    each_piece(file, item, |piece| {
        if let Some(found) = piece.iter().position(|byte| *byte != 0) {
            return Err(corrupt(format!(
                "Empty section in file {} contains non-NUL data at offset {}",
                file.path().display(),
                at + found as u64
            )));
        }
        at += piece.len() as u64;
        Ok(())
    })
}
