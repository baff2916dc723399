//! The two indexes at the end of a revision or pack file with logical addressing.
//!
//! ```text
//! items  L2P-INDEX  P2L-INDEX  footer  length of the footer (a byte)
//! ```
//!
//! The log-to-phys index maps revision and item number to an offset in the file; the phys-to-log
//! index tells of each place in the file what is there. Both are sequences of integers in base
//! 128, least significant digit first, the high bit set in all bytes but the last; signed ones are
//! doubled, negative ones doubled and inverted.
//!
//! ```text
//! l2p:    "L2P-INDEX\n" first-revision page-size revision-count page-count
//!         (pages)×revision-count  (bytes entries)×page-count  (signed difference of offset + 1)…
//! p2l:    "P2L-INDEX\n" first-revision file-size page-size page-count
//!         (bytes)×page-count  page…
//! page:   offset (size  signed difference of item × 8 + type
//!         signed difference of revision  checksum)…
//! footer: l2p-offset " " md5 " " p2l-offset " " md5
//! ```

mod edit;
mod fnv;
pub(crate) mod l2p;
mod numbers;
pub(crate) mod p2l;

pub use fnv::Fnv1a32x4;
pub use p2l::{Item, ItemKind};

use sylvan_core::{Error, ErrorCode, Md5, Result, Revnum};

use crate::conf::Conf;
use crate::index::l2p::L2pBuilder;
use crate::text::{corrupt, parse_number};

/// The item number that is never used.
pub const ITEM_UNUSED: u64 = 0;
/// The list of changed paths.
pub const ITEM_CHANGES: u64 = 1;
/// The node-revision of the root folder.
pub const ITEM_ROOT_NODE: u64 = 2;
/// The first number for other items.
pub const ITEM_FIRST_USER: u64 = 3;

pub(crate) fn damaged(message: impl Into<String>) -> Error {
    Error::new(ErrorCode::FS_INDEX_CORRUPTION, message)
}

pub(crate) fn overflow(message: impl Into<String>) -> Error {
    Error::new(ErrorCode::FS_INDEX_OVERFLOW, message)
}

/// Where the indexes are in their file, and their digests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footer {
    /// Where the log-to-phys index begins, which is where the items end.
    pub l2p_offset: u64,
    /// Its digest.
    pub l2p_md5: Md5,
    /// Where the phys-to-log index begins.
    pub p2l_offset: u64,
    /// Its digest.
    pub p2l_md5: Md5,
    /// Where the footer begins.
    pub footer_offset: u64,
}

impl Footer {
    /// Parses the footer's text.
    ///
    /// # Errors
    /// [`ErrorCode::FS_CORRUPT`], [`ErrorCode::BAD_CHECKSUM_PARSE`].
    pub fn parse(text: &[u8], revision: Revnum, footer_offset: u64) -> Result<Self> {
        let invalid = || corrupt(format!("Invalid r{revision} footer"));
        let text = std::str::from_utf8(text).map_err(|_| invalid())?;
        let mut words = text.split(' ').filter(|word| !word.is_empty());
        let mut word = || words.next().ok_or_else(invalid);
        let offset = |text: &str, which| {
            parse_number(text.as_bytes())
                .filter(|offset| *offset < footer_offset)
                .ok_or_else(|| corrupt(format!("Invalid {which} offset in r{revision} footer")))
        };
        let footer = Self {
            l2p_offset: offset(word()?, "L2P")?,
            l2p_md5: Md5::parse_hex(word()?)?,
            p2l_offset: offset(word()?, "P2L")?,
            p2l_md5: Md5::parse_hex(word()?)?,
            footer_offset,
        };
        if footer.p2l_offset <= footer.l2p_offset {
            return Err(corrupt(format!(
                "P2L offset {:#x} must be larger than L2P offset {:#x} in r{revision} footer",
                footer.p2l_offset, footer.l2p_offset
            )));
        }
        Ok(footer)
    }

    /// Returns the footer and the byte with its length.
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        let (l2p, p2l) = (self.l2p_offset, self.p2l_offset);
        let mut bytes = format!("{l2p} {} {p2l} {}", self.l2p_md5, self.p2l_md5).into_bytes();
        // Two digests and two numbers are less than 256 bytes.
        bytes.push(u8::try_from(bytes.len()).unwrap_or(u8::MAX));
        bytes
    }
}

/// Returns what stands behind the items of a file, which end at `items_end`: both indexes and the
/// footer. `start` is the file's first revision.
pub(crate) fn after_items(
    l2p: L2pBuilder,
    items: &[Item],
    start: Revnum,
    items_end: u64,
    conf: &Conf,
) -> Vec<u8> {
    let l2p = l2p.finish(start, conf.l2p_page_size);
    let p2l = p2l::build(items, start, conf.p2l_page_size);
    let p2l_offset = items_end + l2p.len() as u64;
    let footer = Footer {
        l2p_offset: items_end,
        l2p_md5: Md5::of(&l2p),
        p2l_offset,
        p2l_md5: Md5::of(&p2l),
        footer_offset: p2l_offset + p2l.len() as u64,
    };
    [l2p, p2l, footer.to_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn footer_round_trips_and_names_damage() {
        let footer = Footer {
            l2p_offset: 107,
            l2p_md5: Md5::of(b"a"),
            p2l_offset: 121,
            p2l_md5: Md5::of(b"b"),
            footer_offset: 200,
        };
        let bytes = footer.to_bytes();
        let (len, text) = bytes.split_last().unwrap();
        assert_eq!(usize::from(*len), text.len());
        assert_eq!(Footer::parse(text, Revnum::ZERO, 200).unwrap(), footer);
        let text = String::from_utf8(text.to_vec()).unwrap();
        for (from, to, message) in [
            ("107 ", "x ", "E160004: Invalid L2P offset in r0 footer"),
            ("121 ", "200 ", "E160004: Invalid P2L offset in r0 footer"),
            (
                "121 ",
                "107 ",
                "E160004: P2L offset 0x6b must be larger than L2P offset 0x6b in r0 footer",
            ),
            (" 121 ", " ", "E160004: Invalid P2L offset in r0 footer"),
        ] {
            let error = Footer::parse(text.replace(from, to).as_bytes(), Revnum::ZERO, 200);
            assert_eq!(error.unwrap_err().to_string(), message);
        }
        let short = text.rsplit_once(' ').unwrap().0;
        let error = Footer::parse(short.as_bytes(), Revnum::ZERO, 200).unwrap_err();
        assert_eq!(error.to_string(), "E160004: Invalid r0 footer");
    }
}
