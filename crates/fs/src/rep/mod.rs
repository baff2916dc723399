//! Representations: texts and property lists as they are stored.
//!
//! ```text
//! PLAIN\n  text                                  ENDREP\n
//! DELTA\n  svndiff against nothing               ENDREP\n
//! DELTA revision item size\n  svndiff against it ENDREP\n
//! ```

mod read;

pub(crate) use read::Opened;
pub use read::RepReader;

use sylvan_core::{Result, Revnum};

use crate::text::{corrupt, parse_number, take_word};

/// The line that ends a representation.
pub(crate) const END: &[u8] = b"ENDREP\n";

/// What a representation is stored against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepHeader {
    /// The text itself.
    Plain,
    /// A delta against nothing.
    SelfDelta,
    /// A delta against another representation.
    Delta(DeltaBase),
}

/// The representation that a delta is against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeltaBase {
    /// Its revision.
    pub revision: Revnum,
    /// Its item, or its offset.
    pub item_index: u64,
    /// The bytes it takes in the file, without header and trailer.
    pub size: u64,
}

impl RepHeader {
    /// The longest header: four words, three of them numbers.
    pub(crate) const MAX_LEN: usize = 80;

    /// Parses the line at the front of `data`; returns it and its length.
    ///
    /// # Errors
    /// [`FS_CORRUPT`](sylvan_core::ErrorCode::FS_CORRUPT).
    pub fn parse(data: &[u8]) -> Result<(Self, usize)> {
        let malformed = || corrupt("Malformed representation header");
        let end = data
            .iter()
            .take(Self::MAX_LEN)
            .position(|byte| *byte == b'\n');
        let end = end.ok_or_else(malformed)?;
        let header = match &data[..end] {
            b"PLAIN" => Self::Plain,
            b"DELTA" => Self::SelfDelta,
            line => {
                let mut rest = line.strip_prefix(b"DELTA ").ok_or_else(malformed)?;
                let mut number = || parse_number(take_word(&mut rest)?);
                let mut base = || {
                    Some(DeltaBase {
                        revision: Revnum::new(i64::try_from(number()?).ok()?)?,
                        item_index: number()?,
                        size: number()?,
                    })
                };
                Self::Delta(base().ok_or_else(malformed)?)
            }
        };
        Ok((header, end + 1))
    }

    /// Returns the line.
    pub fn to_line(self) -> String {
        match self {
            Self::Plain => "PLAIN\n".to_owned(),
            Self::SelfDelta => "DELTA\n".to_owned(),
            Self::Delta(base) => {
                format!(
                    "DELTA {} {} {}\n",
                    base.revision, base.item_index, base.size
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_print_as_they_are_parsed() {
        for line in ["PLAIN\n", "DELTA\n", "DELTA 12 34 56\n"] {
            let (header, len) = RepHeader::parse(format!("{line}SVN").as_bytes()).unwrap();
            assert_eq!((header.to_line().as_str(), len), (line, line.len()));
        }
        for line in [
            "",
            "PLAIN",
            "PLAINT\n",
            "DELTA \n",
            "DELTA 1 2\n",
            "DELTA -1 2 3\n",
            "DELTA x 2 3\n",
        ] {
            let error = RepHeader::parse(line.as_bytes()).unwrap_err();
            assert_eq!(
                error.to_string(),
                "E160004: Malformed representation header"
            );
        }
    }
}
