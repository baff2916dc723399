//! Finds out anew what the youngest revision is.

use std::path::Path;

use sylvan_core::{Error, ErrorCode, Result};
use sylvan_io::Cancel;

use crate::fs::{FileSystem, Options};

impl FileSystem {
    /// Writes the file `current` of the file system in the folder `db` anew, from the revisions
    /// that are there, and makes caches forget what is younger.
    ///
    /// # Errors
    /// [`ErrorCode::FS_CORRUPT`] if `current` names a revision that is not there, or the youngest
    /// has no properties.
    pub fn recover(db: &Path, options: Options, cancel: &Cancel) -> Result<()> {
        let _ = (db, options, cancel);
        Err(Error::from_code(ErrorCode::UNSUPPORTED_FEATURE))
    }
}
