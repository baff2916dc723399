//! Following a repository that moved.

use sylvan_core::{Error, ErrorCode, Result};

use crate::PooledSession;

pub(crate) use sylvan_wc::relocate::relocate;

/// Requires the repository of a session to be the one that a working copy is of.
///
/// # Errors
/// `CLIENT_INVALID_RELOCATION`.
pub(crate) fn check_uuid(session: &mut PooledSession<'_>, expected: &str) -> Result<()> {
    let uuid = session.uuid()?;
    if uuid == expected {
        return Ok(());
    }
    let root = session.repos_root()?;
    Err(Error::new(
        ErrorCode::CLIENT_INVALID_RELOCATION,
        format!("The repository at '{root}' has uuid '{uuid}', but the WC has '{expected}'"),
    ))
}
