//! The log-to-phys index.

use sylvan_core::{Error, ErrorCode, Result, Revnum};

use super::numbers::{self, Numbers};
use super::{damaged, overflow};

pub(crate) const PREFIX: &str = "L2P-INDEX\n";

/// The tables at the index's beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct L2pHeader {
    first_revision: Revnum,
    page_size: u64,
    /// For each revision, its first page; and one more for the end.
    first_pages: Vec<usize>,
    pages: Vec<Page>,
}

/// Where the entries of a page are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    /// From the index's beginning.
    pub(crate) offset: u64,
    pub(crate) len: u64,
    pub(crate) entries: u64,
}

impl L2pHeader {
    /// Parses the tables at the beginning of an index of `len` bytes; `head` has them all.
    /// `shard_size` is what a pack file covers.
    pub(crate) fn parse(head: &[u8], len: u64, first: Revnum, shard_size: u64) -> Result<Self> {
        let mut numbers = Numbers::after_prefix(head, PREFIX)?;
        if i64::try_from(numbers.next()?) != Ok(first.number()) {
            return Err(damaged(
                "Index rev / pack file revision numbers do not match",
            ));
        }
        let page_size = numbers.next()?;
        if !page_size.is_power_of_two() || page_size > u64::from(u32::MAX) {
            return Err(damaged("L2P index page size is not a power of two"));
        }
        let revision_count = numbers.next()?;
        if revision_count != 1 && revision_count != shard_size {
            return Err(damaged("Invalid number of revisions in L2P index"));
        }
        let page_count = numbers.next()?;
        if page_count < revision_count {
            return Err(damaged("Fewer L2P index pages than revisions"));
        }
        // Each page takes two bytes of the table at least.
        let page_count = usize::try_from(page_count)
            .ok()
            .filter(|count| *count as u64 <= len / 2)
            .ok_or_else(|| damaged("L2P index page count implausibly large"))?;
        let mut first_pages = vec![0];
        let mut page = 0usize;
        for _ in 0..revision_count {
            let count = numbers.next()?;
            if count == 0 {
                return Err(damaged("Revision with no L2P index pages"));
            }
            page = usize::try_from(count)
                .ok()
                .and_then(|count| page.checked_add(count))
                .filter(|page| *page <= page_count)
                .ok_or_else(|| damaged("L2P page table exceeded"))?;
            first_pages.push(page);
        }
        if page != page_count {
            return Err(damaged(
                "Revisions do not cover the full L2P index page table",
            ));
        }
        let pages = Self::parse_pages(&mut numbers, page_count, page_size, len)?;
        Ok(Self {
            first_revision: first,
            page_size,
            first_pages,
            pages,
        })
    }

    fn parse_pages(
        numbers: &mut Numbers<'_>,
        count: usize,
        page_size: u64,
        index_len: u64,
    ) -> Result<Vec<Page>> {
        let mut pages = Vec::new();
        for _ in 0..count {
            let len = numbers.next()?;
            if len == 0 {
                return Err(damaged("Empty L2P index page"));
            }
            let entries = numbers.next()?;
            // Each entry takes a byte at least.
            if entries > page_size || entries > len {
                return Err(damaged("Page exceeds L2P index page size"));
            }
            pages.push(Page {
                offset: 0,
                len,
                entries,
            });
        }
        let mut offset = (PREFIX.len() + numbers.at()) as u64;
        for page in &mut pages {
            page.offset = offset;
            offset = offset
                .checked_add(page.len)
                .filter(|end| *end <= index_len)
                .ok_or_else(|| damaged("L2P index pages exceed the index"))?;
        }
        Ok(pages)
    }

    /// Returns the page that has an item, its number in the index, and which entry it is there.
    pub(crate) fn find(&self, revision: Revnum, item: u64) -> Result<(Page, usize, usize)> {
        let pages = self.pages_of(revision)?;
        let page_no = item / self.page_size;
        let limit = self.page_size.saturating_mul(pages.len() as u64);
        let page_no = usize::try_from(page_no)
            .ok()
            .filter(|page| *page < pages.len())
            .ok_or_else(|| {
                overflow(format!(
                    "Item index {item} exceeds l2p limit of {limit} for revision {revision}"
                ))
            })?;
        let page = self.pages[pages.start + page_no];
        // Less than the page size, which is 32 bits.
        let entry = usize::try_from(item % self.page_size).unwrap_or(usize::MAX);
        Ok((page, pages.start + page_no, entry))
    }

    fn pages_of(&self, revision: Revnum) -> Result<std::ops::Range<usize>> {
        usize::try_from(revision.number() - self.first_revision.number())
            .ok()
            .and_then(|at| Some(*self.first_pages.get(at)?..*self.first_pages.get(at + 1)?))
            .ok_or_else(|| {
                Error::new(
                    ErrorCode::FS_INDEX_REVISION,
                    format!("Revision {revision} not covered by item index"),
                )
            })
    }

    /// Returns how many item numbers a revision has.
    pub(crate) fn item_count(&self, revision: Revnum) -> Result<u64> {
        let pages = self.pages_of(revision)?;
        let last = self.pages[pages.end - 1].entries;
        Ok((pages.len() as u64 - 1) * self.page_size + last)
    }
}

/// The offsets of a page; `None` for numbers that are not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Offsets(Vec<u64>);

impl Offsets {
    /// Parses a page.
    pub(crate) fn parse(bytes: &[u8], page: Page) -> Result<Self> {
        let mut numbers = Numbers::new(bytes);
        let mut offsets = Vec::new();
        let mut offset = 0i64;
        for _ in 0..page.entries {
            offset = offset
                .checked_add(numbers.next_signed()?)
                .ok_or_else(|| damaged("Corrupt index: number too large"))?;
            offsets.push(u64::try_from(offset).unwrap_or(0));
        }
        if !numbers.is_at_end() {
            return Err(damaged(
                "L2P actual page size does not match page table value.",
            ));
        }
        Ok(Self(offsets))
    }

    /// Returns the offset of an item; `item` and `revision` are for errors.
    pub(crate) fn get(&self, entry: usize, item: u64, revision: Revnum) -> Result<Option<u64>> {
        let offset = self.0.get(entry).copied();
        let offset = offset.ok_or_else(|| {
            overflow(format!(
                "Item index {item} too large in revision {revision}"
            ))
        })?;
        Ok(offset.checked_sub(1))
    }

    pub(crate) fn weight(&self) -> usize {
        self.0.len() * 8 + 64
    }
}

/// Collects offsets and writes the index.
#[derive(Debug, Default)]
pub(crate) struct L2pBuilder {
    /// For each revision, the offset of each item plus one, zero for none.
    revisions: Vec<Vec<u64>>,
}

impl L2pBuilder {
    /// Begins the next revision.
    pub(crate) fn next_revision(&mut self) {
        self.revisions.push(Vec::new());
    }

    /// Adds an item of the revision begun last.
    pub(crate) fn add(&mut self, item: u64, offset: u64) -> Result<()> {
        if self.revisions.is_empty() {
            self.next_revision();
        }
        let at = usize::try_from(item)
            .ok()
            .filter(|at| *at < i32::MAX as usize)
            .ok_or_else(|| overflow(format!("Item index {item} too large in l2p proto index")))?;
        if let Some(offsets) = self.revisions.last_mut() {
            if offsets.len() <= at {
                offsets.resize(at + 1, 0);
            }
            offsets[at] = offset.saturating_add(1);
        }
        Ok(())
    }

    /// Returns the index.
    pub(crate) fn finish(&self, first: Revnum, page_size: u64) -> Vec<u8> {
        let mut pages = Vec::new();
        let (mut page_counts, mut page_table) = (Vec::new(), Vec::new());
        let page_len = usize::try_from(page_size).unwrap_or(usize::MAX);
        for offsets in &self.revisions {
            page_counts.push(offsets.len().div_ceil(page_len) as u64);
            for page in offsets.chunks(page_len) {
                let start = pages.len();
                let mut before = 0i64;
                for offset in page {
                    let offset = offset.cast_signed();
                    numbers::put_signed(offset.wrapping_sub(before), &mut pages);
                    before = offset;
                }
                page_table.push((pages.len() - start) as u64);
                page_table.push(page.len() as u64);
            }
        }
        let mut out = PREFIX.as_bytes().to_vec();
        let head = [
            first.number().cast_unsigned(),
            page_size,
            page_counts.len() as u64,
            page_table.len() as u64 / 2,
        ];
        numbers::put_all(head.iter().chain(&page_counts).chain(&page_table), &mut out);
        out.extend_from_slice(&pages);
        out
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rev(number: i64) -> Revnum {
        Revnum::new(number).unwrap()
    }

    proptest! {
        #[test]
        fn what_is_written_is_found(
            revisions in prop::collection::vec(prop::collection::vec(prop::option::of(0u64..1 << 40), 1..9), 1..5)
        ) {
            let mut builder = L2pBuilder::default();
            for items in &revisions {
                builder.next_revision();
                builder.add(0, 5).unwrap();
                for (item, offset) in items.iter().enumerate() {
                    if let Some(offset) = offset {
                        builder.add(item as u64, *offset).unwrap();
                    }
                }
            }
            let index = builder.finish(rev(7), 4);
            let header = L2pHeader::parse(&index, index.len() as u64, rev(7), revisions.len() as u64).unwrap();
            for (at, items) in revisions.iter().enumerate() {
                let revision = rev(7 + at as i64);
                for (item, offset) in items.iter().enumerate().skip(1) {
                    if item as u64 >= header.item_count(revision).unwrap() {
                        prop_assert!(offset.is_none());
                        continue;
                    }
                    let (page, _, entry) = header.find(revision, item as u64).unwrap();
                    let bytes = &index[page.offset as usize..(page.offset + page.len) as usize];
                    let offsets = Offsets::parse(bytes, page).unwrap();
                    prop_assert_eq!(offsets.get(entry, item as u64, revision).unwrap(), *offset);
                }
            }
        }
    }

    #[test]
    fn what_is_not_there_is_named() {
        let mut builder = L2pBuilder::default();
        builder.add(3, 17).unwrap();
        let index = builder.finish(rev(7), 8);
        let header = L2pHeader::parse(&index, index.len() as u64, rev(7), 1000).unwrap();
        let error = header.find(rev(8), 0).unwrap_err();
        assert_eq!(
            error.to_string(),
            "E160055: Revision 8 not covered by item index"
        );
        let error = header.find(rev(7), 8).unwrap_err();
        assert_eq!(
            error.to_string(),
            "E160056: Item index 8 exceeds l2p limit of 8 for revision 7"
        );
        let (page, _, entry) = header.find(rev(7), 4).unwrap();
        let offsets = Offsets::parse(&index[page.offset as usize..], page).unwrap();
        let error = offsets.get(entry, 4, rev(7)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "E160056: Item index 4 too large in revision 7"
        );
        let error = L2pHeader::parse(&index, index.len() as u64, rev(6), 1000).unwrap_err();
        assert_eq!(error.code(), ErrorCode::FS_INDEX_CORRUPTION);
    }
}
