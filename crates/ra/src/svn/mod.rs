//! Sessions over `svn://` and tunnels.

use sylvan_core::{Error, ErrorCode, Result, Url};

use crate::{Context, Session};

/// Opens a session.
pub(crate) fn open(url: &Url, _: &Context) -> Result<Box<dyn Session>> {
    Err(Error::new(
        ErrorCode::RA_NOT_IMPLEMENTED,
        format!("Sessions at '{url}' are not implemented"),
    ))
}
