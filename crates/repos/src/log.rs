//! The revisions that changed some paths, and what they changed.

use sylvan_core::repository::{LogOptions, LogReceiver};
use sylvan_core::{Error, ErrorCode, Result};

use crate::{ReadAccess, Repos};

impl Repos {
    /// Gives the revisions that changed paths to `receive`: from `start` to `end`, in that order.
    ///
    /// Where a part of a revision may not be read, the paths concerned are left out, and of the
    /// revision properties only author and date remain; where all of it may not, none.
    ///
    /// # Errors
    /// `FS_NO_SUCH_REVISION`, `FS_NOT_FOUND` if a path is not in the younger of both revisions,
    /// `AUTHZ_UNREADABLE` if it may not be read there, and what `receive` gives.
    pub fn log(
        &self,
        options: &LogOptions,
        access: ReadAccess<'_>,
        receive: &mut LogReceiver<'_>,
    ) -> Result<()> {
        let _ = (options, access, receive);
        Err(Error::from_code(ErrorCode::UNSUPPORTED_FEATURE))
    }
}
