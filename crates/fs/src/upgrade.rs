//! Brings a file system to the newest format.

use std::path::Path;

use sylvan_core::{Error, ErrorCode, Result};
use sylvan_io::Cancel;

use crate::format::FormatNumber;
use crate::fs::{FileSystem, Options};

/// What an upgrade tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UpgradeNotice {
    /// The revision properties of a shard were packed.
    PackedRevprops(i64),
    /// Revision properties of a shard that are packed were removed.
    RemovedRevprops(i64),
    /// The format was changed.
    FormatBumped(FormatNumber),
}

impl FileSystem {
    /// Brings the file system in the folder `db` to the newest format; layout and addressing stay.
    ///
    /// # Errors
    /// Those of [`FileSystem::open`], what `notify` returned, and if something cannot be written.
    pub fn upgrade(
        db: &Path,
        options: Options,
        cancel: &Cancel,
        notify: &mut dyn FnMut(UpgradeNotice) -> Result<()>,
    ) -> Result<()> {
        let _ = (db, options, cancel, notify);
        Err(Error::from_code(ErrorCode::UNSUPPORTED_FEATURE))
    }
}
