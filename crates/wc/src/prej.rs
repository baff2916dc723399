//! Files that tell of conflicts between properties.

use sylvan_core::{Error, ErrorCode, RelPath, Result};

use crate::WorkingCopy;

/// Writes the file that tells which local property changes could not be merged.
pub(crate) fn install(wc: &WorkingCopy, path: &RelPath) -> Result<()> {
    Err(Error::new(
        ErrorCode::UNSUPPORTED_FEATURE,
        format!(
            "Can't write the property conflicts of '{}' yet",
            wc.local_path(path)
        ),
    ))
}
