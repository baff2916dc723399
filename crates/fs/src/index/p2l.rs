//! The phys-to-log index.

use std::ops::Range;

use sylvan_core::{Result, Revnum};

use super::numbers::{self, Numbers};
use super::{ITEM_CHANGES, ITEM_UNUSED, damaged, overflow};

pub(crate) const PREFIX: &str = "P2L-INDEX\n";

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ItemKind {
    /// Nothing: zero bytes.
    Unused,
    /// The content of a file.
    FileRep,
    /// The entries of a folder.
    DirRep,
    /// The properties of a file.
    FileProps,
    /// The properties of a folder.
    DirProps,
    /// A node-revision.
    NodeRev,
    /// The list of changed paths.
    Changes,
}

impl ItemKind {
    const ALL: [Self; 7] = [
        Self::Unused,
        Self::FileRep,
        Self::DirRep,
        Self::FileProps,
        Self::DirProps,
        Self::NodeRev,
        Self::Changes,
    ];

    /// Returns the number that stands for it in the index.
    pub const fn number(self) -> u64 {
        self as u64
    }

    pub(crate) fn from_number(number: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.number() == number)
    }

    /// Tells whether it is a representation.
    pub const fn is_rep(self) -> bool {
        matches!(
            self,
            Self::FileRep | Self::DirRep | Self::FileProps | Self::DirProps
        )
    }
}

/// What is at a place in a revision or pack file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// Where it begins in the file.
    pub offset: u64,
    /// Its bytes.
    pub size: u64,
    /// What it is.
    pub kind: ItemKind,
    /// The revision that it belongs to.
    pub revision: Revnum,
    /// Its number there.
    pub number: u64,
    /// The FNV-1a checksum of its bytes.
    pub checksum: u32,
}

impl Item {
    /// Returns where it ends. Items that were parsed do not overflow.
    pub const fn end(&self) -> u64 {
        self.offset.saturating_add(self.size)
    }
}

/// The tables at the index's beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct P2lHeader {
    first_revision: Revnum,
    pub(crate) file_size: u64,
    pub(crate) page_size: u64,
    /// Where each page begins in the index, and where the last one ends.
    offsets: Vec<u64>,
}

impl P2lHeader {
    /// Parses the tables at the beginning of an index of `len` bytes; `head` has them all.
    /// `l2p_offset` is where the items end.
    pub(crate) fn parse(head: &[u8], len: u64, first: Revnum, l2p_offset: u64) -> Result<Self> {
        let mut numbers = Numbers::after_prefix(head, PREFIX)?;
        if i64::try_from(numbers.next()?) != Ok(first.number()) {
            return Err(damaged(
                "Index rev / pack file revision numbers do not match",
            ));
        }
        let file_size = numbers.next()?;
        if file_size != l2p_offset || file_size == 0 {
            return Err(damaged(
                "Index offset and rev / pack file size do not match",
            ));
        }
        let page_size = numbers.next()?;
        if !page_size.is_power_of_two() {
            return Err(damaged("P2L index page size is not a power of two"));
        }
        let page_count = numbers.next()?;
        if page_count != (file_size - 1) / page_size + 1 {
            return Err(damaged(
                "P2L page count does not match rev / pack file size",
            ));
        }
        if page_count > len {
            return Err(damaged(
                "P2L page count does not match rev / pack file size",
            ));
        }
        let mut offsets = vec![0u64];
        let mut offset = 0u64;
        for _ in 0..page_count {
            offset = offset
                .checked_add(numbers.next()?)
                .filter(|end| *end <= len)
                .ok_or_else(|| {
                    damaged("P2L page description overlaps with next page description")
                })?;
            offsets.push(offset);
        }
        let start = (PREFIX.len() + numbers.at()) as u64;
        if start + offset > len {
            return Err(damaged("P2L page descriptions exceed the index"));
        }
        offsets.iter_mut().for_each(|offset| *offset += start);
        Ok(Self {
            first_revision: first,
            file_size,
            page_size,
            offsets,
        })
    }

    pub(crate) fn page_count(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Returns the number of the page that covers an offset; `revision` is for errors.
    pub(crate) fn page_of(&self, offset: u64, revision: Revnum) -> Result<usize> {
        usize::try_from(offset / self.page_size)
            .ok()
            .filter(|page| *page < self.page_count())
            .ok_or_else(|| overflow(format!("Offset {offset} too large in revision {revision}")))
    }

    /// Returns where the description of a page is in the index.
    pub(crate) fn description(&self, page: usize) -> Range<u64> {
        self.offsets[page]..self.offsets[page + 1]
    }

    /// Parses all items that overlap the range of a page; they may begin before or end after it.
    /// `next` is what follows the page's description in the index.
    pub(crate) fn parse_page(
        &self,
        description: &[u8],
        next: &[u8],
        page: usize,
    ) -> Result<Vec<Item>> {
        let mut items = self.parse_described(description)?;
        let end = self.page_size.saturating_mul(page as u64 + 1);
        let covered = items.last().is_some_and(|item| item.end() >= end);
        if !covered && (items.is_empty() || page + 1 < self.page_count()) {
            // What begins here and ends in another page is described there.
            items.push(PageReader::begin(next, self.first_revision)?.item(self.limit())?);
        }
        Ok(items)
    }

    /// Parses the items that are described with a page: those that end in it, and what follows
    /// them if it begins in it.
    pub(crate) fn parse_described(&self, description: &[u8]) -> Result<Vec<Item>> {
        let mut items = Vec::new();
        if description.is_empty() {
            return Ok(items);
        }
        let mut reader = PageReader::begin(description, self.first_revision)?;
        while !reader.numbers.is_at_end() {
            items.push(reader.item(self.limit())?);
        }
        Ok(items)
    }

    /// The end of the last page.
    fn limit(&self) -> u64 {
        self.page_size.saturating_mul(self.page_count() as u64)
    }
}

/// The most bytes that the first item of a description takes, and what comes before it.
pub(crate) const FIRST_ITEM: usize = 50;

/// Reads the description of one page.
struct PageReader<'a> {
    numbers: Numbers<'a>,
    offset: u64,
    revision: i64,
    compound: i64,
}

impl<'a> PageReader<'a> {
    fn begin(description: &'a [u8], first: Revnum) -> Result<Self> {
        let mut numbers = Numbers::new(description);
        let offset = numbers.next()?;
        Ok(Self {
            numbers,
            offset,
            revision: first.number(),
            compound: 0,
        })
    }

    fn item(&mut self, limit: u64) -> Result<Item> {
        let too_large = || damaged("Corrupt index: number too large");
        let offset = self.offset;
        let size = self.numbers.next()?;
        self.compound = self.compound.wrapping_add(self.numbers.next_signed()?);
        let compound = self.compound.cast_unsigned();
        let number = compound / 8;
        let kind = ItemKind::from_number(compound % 8)
            .ok_or_else(|| damaged("Invalid item type in P2L index"))?;
        if kind == ItemKind::Changes && number != ITEM_CHANGES {
            return Err(damaged("Changed path list must have item number 1"));
        }
        let difference = self.numbers.next_signed()?;
        self.revision = self
            .revision
            .checked_add(difference)
            .ok_or_else(too_large)?;
        let checksum = u32::try_from(self.numbers.next()?)
            .map_err(|_| damaged("Invalid FNV1 checksum in P2L index"))?;
        if kind == ItemKind::Unused && (number != ITEM_UNUSED || checksum != 0) {
            return Err(damaged(
                "Empty regions must have item number 0 and checksum 0",
            ));
        }
        self.offset = offset
            .checked_add(size)
            .filter(|end| i64::try_from(*end).is_ok())
            .ok_or_else(|| overflow("P2L index entry size overflow."))?;
        if self.offset > limit {
            return Err(overflow(format!(
                "Last P2L index entry extends beyond the last page in revision {}.",
                self.revision
            )));
        }
        Ok(Item {
            offset,
            size,
            kind,
            revision: Revnum::new(self.revision)
                .ok_or_else(|| damaged("Index rev / pack file revision numbers do not match"))?,
            number,
            checksum,
        })
    }
}

/// Writes the index from items in the order of their offsets, which must follow each other
/// without holes.
pub(crate) fn build(items: &[Item], first: Revnum, page_size: u64) -> Vec<u8> {
    let file_size = items.last().map_or(0, Item::end);
    let last_revision = items.last().map_or(first, |item| item.revision);
    let rest = Item {
        offset: file_size,
        size: file_size.next_multiple_of(page_size) - file_size,
        kind: ItemKind::Unused,
        revision: last_revision,
        number: ITEM_UNUSED,
        checksum: 0,
    };
    let mut pages = Vec::new();
    let mut sizes = Vec::new();
    let (mut page_start, mut page_end) = (0, 0u64);
    let (mut revision, mut compound) = (first.number(), 0u64);
    for item in items.iter().chain(std::iter::once(&rest)) {
        let mut new_page = pages.is_empty();
        while item.end() - page_end > page_size {
            sizes.push((pages.len() - page_start) as u64);
            page_start = pages.len();
            page_end += page_size;
            new_page = true;
        }
        if new_page {
            numbers::put(item.offset, &mut pages);
            (revision, compound) = (first.number(), 0);
        }
        numbers::put(item.size, &mut pages);
        let next = item.number.wrapping_mul(8).wrapping_add(item.kind.number());
        numbers::put_signed(next.wrapping_sub(compound).cast_signed(), &mut pages);
        numbers::put_signed(item.revision.number() - revision, &mut pages);
        numbers::put(u64::from(item.checksum), &mut pages);
        (revision, compound) = (item.revision.number(), next);
    }
    sizes.push((pages.len() - page_start) as u64);
    let mut out = PREFIX.as_bytes().to_vec();
    let head = [
        first.number().cast_unsigned(),
        file_size,
        page_size,
        sizes.len() as u64,
    ];
    numbers::put_all(head.iter().chain(&sizes), &mut out);
    out.extend_from_slice(&pages);
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rev(number: i64) -> Revnum {
        Revnum::new(number).unwrap()
    }

    fn range(header: &P2lHeader, page: usize) -> Range<usize> {
        let range = header.description(page);
        range.start as usize..range.end as usize
    }

    fn items(sizes: &[u64]) -> Vec<Item> {
        let mut offset = 0;
        let mut items = Vec::new();
        for (at, size) in sizes.iter().enumerate() {
            items.push(Item {
                offset,
                size: *size,
                kind: ItemKind::ALL[1 + at % 5],
                revision: rev(3 + (at % 3) as i64),
                number: at as u64 + 3,
                checksum: 0xffff_ffff - at as u32,
            });
            offset += size;
        }
        items
    }

    proptest! {
        #[test]
        fn what_is_written_is_found(sizes in prop::collection::vec(1u64..70, 1..30)) {
            let items = items(&sizes);
            let index = build(&items, rev(3), 16);
            let end = items.last().unwrap().end();
            let header = P2lHeader::parse(&index, index.len() as u64, rev(3), end).unwrap();
            for item in &items {
                for at in [item.offset, item.end() - 1] {
                    let page = header.page_of(at, rev(3)).unwrap();
                    let found = header.parse_page(&index[range(&header, page)], &index[range(&header, page).end..], page).unwrap();
                    prop_assert!(found.contains(item), "{item:?} not in {found:?}");
                }
            }
            let mut all = Vec::new();
            for page in 0..header.page_count() {
                all.extend(header.parse_described(&index[range(&header, page)]).unwrap());
            }
            all.retain(|item| item.kind != ItemKind::Unused);
            prop_assert_eq!(all, items);
        }
    }

    #[test]
    fn what_is_not_there_is_named() {
        let items = items(&[10, 30]);
        let index = build(&items, rev(3), 64);
        let header = P2lHeader::parse(&index, index.len() as u64, rev(3), 40).unwrap();
        let error = header.page_of(64, rev(3)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "E160056: Offset 64 too large in revision 3"
        );
        let error = P2lHeader::parse(&index, index.len() as u64, rev(3), 41).unwrap_err();
        assert_eq!(
            error.to_string(),
            "E160054: Index offset and rev / pack file size do not match"
        );
        let cut = P2lHeader::parse(&index, index.len() as u64 - 1, rev(3), 40);
        assert_eq!(cut.unwrap_err().code().number(), 160_054);
        let error = P2lHeader::parse(b"P2L-INDEY\n", 10, rev(3), 41).unwrap_err();
        assert!(
            error
                .message()
                .starts_with("Index stream header prefix mismatch")
        );
    }
}
