//! The file `format`: the format number and its options.
//!
//! ```text
//! 8
//! layout sharded 1000
//! addressing logical
//! ```
//!
//! | format | since | brings |
//! |---|---|---|
//! | 1 | 1.1 | (the file may be missing) |
//! | 2 | 1.4 | svndiff 1 |
//! | 3 | 1.5 | `txn-current`, `txn-protorevs`, IDs without counters, layouts, mergeinfo counts |
//! | 4 | 1.6 | sharing of representations, packed shards, `fsfs.conf`, kinds in changed paths |
//! | 6 | 1.8 | packed revision properties (5 was never released) |
//! | 7 | 1.9 | logical addressing, instance ID, `pack-lock`, mergeinfo flag in changed paths |
//! | 8 | 1.10 | svndiff 2, `-` for absent values of representations |

use std::path::Path;

use sylvan_core::{Error, ErrorCode, Result};

use crate::text::{shown, take_line};

/// The format number, and what it can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FormatNumber(u8);

impl FormatNumber {
    /// The one that is created by default.
    pub const CURRENT: Self = Self(8);

    /// Makes a format number, if it is one that is supported.
    pub const fn new(number: u8) -> Option<Self> {
        match number {
            1..=4 | 6..=8 => Some(Self(number)),
            _ => None,
        }
    }

    /// Returns the newest format that Subversion 1.`minor` knows.
    ///
    /// # Errors
    /// [`ErrorCode::FS_UNSUPPORTED_FORMAT`] for 1.0, which had no FSFS.
    pub fn for_minor_version(minor: u32) -> Result<Self> {
        Ok(Self(match minor {
            0 => {
                return Err(Error::new(
                    ErrorCode::FS_UNSUPPORTED_FORMAT,
                    "FSFS is not compatible with Subversion prior to 1.1",
                ));
            }
            1..=3 => 1,
            4 => 2,
            5 => 3,
            6 | 7 => 4,
            8 => 6,
            9 => 7,
            _ => 8,
        }))
    }

    /// Returns the minor number of the oldest Subversion 1 that reads it.
    pub const fn minor_version(self) -> u32 {
        match self.0 {
            1 => 1,
            2 => 4,
            3 => 5,
            4 => 6,
            6 => 8,
            7 => 9,
            _ => 10,
        }
    }

    /// Returns the number.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Representations may be svndiff 1.
    pub const fn has_svndiff1(self) -> bool {
        self.0 >= 2
    }

    /// `txn-current` makes names of transactions.
    pub const fn has_txn_current(self) -> bool {
        self.0 >= 3
    }

    /// Proto-revisions have a folder of their own.
    pub const fn has_protorevs_dir(self) -> bool {
        self.0 >= 3
    }

    /// IDs have the revision they were made in; `current` has no counters.
    pub const fn has_no_global_ids(self) -> bool {
        self.0 >= 3
    }

    /// Node-revisions count the mergeinfo below them.
    pub const fn has_mergeinfo(self) -> bool {
        self.0 >= 3
    }

    /// The option `layout` is allowed.
    pub const fn has_layout_option(self) -> bool {
        self.0 >= 3
    }

    /// Representations may be shared.
    pub const fn has_rep_sharing(self) -> bool {
        self.0 >= 4
    }

    /// Shards may be packed.
    pub const fn has_packing(self) -> bool {
        self.0 >= 4
    }

    /// `fsfs.conf` counts, with its options for deltification.
    pub const fn has_config(self) -> bool {
        self.0 >= 4
    }

    /// Changed paths tell the kind of the node.
    pub const fn has_kind_in_changes(self) -> bool {
        self.0 >= 4
    }

    /// Revision properties are packed with their revisions.
    pub const fn has_packed_revprops(self) -> bool {
        self.0 >= 6
    }

    /// The option `addressing` is allowed.
    pub const fn has_logical_addressing(self) -> bool {
        self.0 >= 7
    }

    /// Packing has a lock of its own.
    pub const fn has_pack_lock(self) -> bool {
        self.0 >= 7
    }

    /// Changed paths tell whether mergeinfo changed.
    pub const fn has_mergeinfo_in_changes(self) -> bool {
        self.0 >= 7
    }

    /// The second line of `uuid` is the ID of this copy of the repository.
    pub const fn has_instance_id(self) -> bool {
        self.0 >= 7
    }

    /// Representations may be svndiff 2.
    pub const fn has_svndiff2(self) -> bool {
        self.0 >= 8
    }

    /// Absent values of representations are `-`.
    pub const fn has_optional_rep_values(self) -> bool {
        self.0 >= 8
    }

    /// `rep-cache.db` has the second version of its schema.
    pub const fn has_rep_cache_v2(self) -> bool {
        self.0 >= 8
    }
}

/// How items of a revision are addressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Addressing {
    /// By their offset.
    Physical,
    /// By a number, which an index maps to the offset.
    Logical,
}

/// The content of the file `format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// The format number.
    pub number: FormatNumber,
    /// How many revisions a shard has; `None` for the linear layout.
    pub shard_size: Option<u32>,
    /// How items are addressed.
    pub addressing: Addressing,
}

impl Format {
    /// What a missing file means.
    pub const FORMAT_1: Self = Self {
        number: FormatNumber(1),
        shard_size: None,
        addressing: Addressing::Physical,
    };

    /// Tells whether items are addressed logically.
    pub fn is_logical(&self) -> bool {
        self.addressing == Addressing::Logical
    }

    /// Reads the file of the file system in the folder `db`.
    pub(crate) fn read(db: &Path) -> Result<Self> {
        let path = db.join(crate::layout::FORMAT);
        match sylvan_io::file::read_if_exists(&path)? {
            Some(text) => Self::parse(&text, &path),
            None => Ok(Self::FORMAT_1),
        }
    }

    /// Parses the file; `path` is for errors.
    ///
    /// # Errors
    /// [`ErrorCode::BAD_VERSION_FILE_FORMAT`] for anything unknown,
    /// [`ErrorCode::FS_UNSUPPORTED_FORMAT`] for a number that is not supported.
    pub fn parse(text: &[u8], path: &Path) -> Result<Self> {
        let mut rest = text;
        let bad = |message: String| Error::new(ErrorCode::BAD_VERSION_FILE_FORMAT, message);
        let path = path.display();
        let line = take_line(&mut rest)
            .ok_or_else(|| bad(format!("Can't read first line of format file '{path}'")))?;
        let mut format = Self {
            number: supported(digits(line, 0, &path)?)?,
            ..Self::FORMAT_1
        };
        while let Some(line) = take_line(&mut rest).filter(|line| !line.is_empty()) {
            if !format.take_option(line, &path)? {
                let option = shown(line);
                let text = format!("'{path}' contains invalid filesystem format option '{option}'");
                return Err(bad(text));
            }
        }
        if format.is_logical() && format.shard_size.is_none() {
            return Err(bad(format!(
                "'{path}' specifies logical addressing for a non-sharded repository"
            )));
        }
        Ok(format)
    }

    fn take_option(&mut self, line: &[u8], path: &dyn std::fmt::Display) -> Result<bool> {
        const SHARDED: &[u8] = b"layout sharded ";
        if self.number.has_layout_option() {
            if line == b"layout linear" {
                self.shard_size = None;
                return Ok(true);
            }
            if line.starts_with(SHARDED) {
                // Zero revisions a shard is Subversion's way to say linear.
                let size = digits(line, SHARDED.len(), path)?;
                self.shard_size = u32::try_from(size).ok().filter(|size| *size > 0);
                return Ok(true);
            }
        }
        if self.number.has_logical_addressing() {
            self.addressing = match line {
                b"addressing physical" => Addressing::Physical,
                b"addressing logical" => Addressing::Logical,
                _ => return Ok(false),
            };
            return Ok(true);
        }
        Ok(false)
    }

    /// Writes the file's content.
    pub fn to_text(&self) -> String {
        let mut text = format!("{}\n", self.number.0);
        if self.number.has_layout_option() {
            text.push_str(&match self.shard_size {
                Some(size) => format!("layout sharded {size}\n"),
                None => "layout linear\n".to_owned(),
            });
        }
        if self.number.has_logical_addressing() {
            text.push_str(match self.addressing {
                Addressing::Physical => "addressing physical\n",
                Addressing::Logical => "addressing logical\n",
            });
        }
        text
    }
}

fn supported(number: u64) -> Result<FormatNumber> {
    let found = u8::try_from(number).ok().and_then(FormatNumber::new);
    found.ok_or_else(|| {
        let text = if number == 5 {
            "Found format '5', only created by unreleased dev builds; see \
             http://subversion.apache.org/docs/release-notes/1.7#revprop-packing"
                .to_owned()
        } else {
            let newest = FormatNumber::CURRENT.0;
            format!("Expected FS format between '1' and '{newest}'; found format '{number}'")
        };
        Error::new(ErrorCode::FS_UNSUPPORTED_FORMAT, text)
    })
}

/// Reads the number at `from` in a line, which must end there.
fn digits(line: &[u8], from: usize, path: &dyn std::fmt::Display) -> Result<u64> {
    let bad = |message| Error::new(ErrorCode::BAD_VERSION_FILE_FORMAT, message);
    let text = &line[from..];
    if let Some(byte) = text.iter().find(|byte| !byte.is_ascii_digit()) {
        return Err(bad(format!(
            "Format file '{path}' contains unexpected non-digit '{}' within '{}'",
            char::from(*byte),
            shown(line)
        )));
    }
    let number = std::str::from_utf8(text)
        .ok()
        .and_then(|text| text.parse().ok());
    number.ok_or_else(|| bad(format!("Number '{}' is out of range", shown(text))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Format> {
        Format::parse(text.as_bytes(), Path::new("/r/db/format"))
    }

    #[test]
    fn what_is_written_is_parsed() {
        for text in [
            "1\n",
            "2\n",
            "3\nlayout linear\n",
            "4\nlayout sharded 1000\n",
            "6\nlayout sharded 4\n",
            "7\nlayout sharded 1000\naddressing physical\n",
            "7\nlayout linear\naddressing physical\n",
            "8\nlayout sharded 1000\naddressing logical\n",
        ] {
            assert_eq!(parse(text).unwrap().to_text(), text);
        }
        assert_eq!(parse("4\n").unwrap().shard_size, None);
    }

    #[test]
    fn errors_are_subversions() {
        for (text, error) in [
            ("", "E160000"),
            (
                "5\n",
                "E160043: Found format '5', only created by unreleased dev builds; see \
              http://subversion.apache.org/docs/release-notes/1.7#revprop-packing",
            ),
            (
                "9\n",
                "E160043: Expected FS format between '1' and '8'; found format '9'",
            ),
            (
                "0\n",
                "E160043: Expected FS format between '1' and '8'; found format '0'",
            ),
            (
                "8x\n",
                "E125006: Format file '/r/db/format' contains unexpected non-digit 'x' within '8x'",
            ),
            (
                "2\nlayout linear\n",
                "E125006: '/r/db/format' contains invalid filesystem format option 'layout linear'",
            ),
            (
                "6\naddressing logical\n",
                "E125006: '/r/db/format' contains invalid filesystem format option 'addressing logical'",
            ),
            (
                "8\nlayout linear\naddressing logical\n",
                "E125006: '/r/db/format' specifies logical addressing for a non-sharded repository",
            ),
            (
                "8\nlayout sharded 1k\n",
                "E125006: Format file '/r/db/format' contains unexpected non-digit 'k' within 'layout sharded 1k'",
            ),
        ] {
            let found = parse(text).unwrap_err().to_string();
            if text.is_empty() {
                assert_eq!(
                    found,
                    "E125006: Can't read first line of format file '/r/db/format'"
                );
            } else {
                assert_eq!(found, error);
            }
        }
    }
}
