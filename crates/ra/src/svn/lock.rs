//! What servers say of each of many files that are locked or unlocked.

use sylvan_core::{Error, ErrorCode, Lock, RelPath, Result};
use sylvan_proto::svn::item::Item;
use sylvan_proto::svn::{ProtocolError, message, reply};

use super::connection::Connection;
use crate::LockTold;

/// Reads the answers to `lock-many` or `unlock-many`, one a path in the order of the request, and the
/// response after them. The server may stop before the last.
pub(super) fn read<'p>(
    connection: &mut Connection,
    paths: impl Iterator<Item = &'p RelPath>,
    told: &mut LockTold<'_>,
) -> Result<()> {
    let mut paths = paths;
    let mut stopped = None;
    connection.midway();
    connection.until_done(|item| {
        let answer = answer(item)?;
        let path = paths.next().ok_or_else(|| {
            Error::new(
                ErrorCode::RA_SVN_MALFORMED_DATA,
                "Didn't receive end marker for lock responses",
            )
        })?;
        if stopped.is_none() {
            stopped = told(path, answer).err();
        }
        Ok(())
    })?;
    stopped.map_or(Ok(()), Err)
}

fn answer(item: Item<'_>) -> Result<Result<Option<Lock>>> {
    let mut fields = item.list()?.fields();
    match fields.word()? {
        "success" => {
            let list = fields.list()?;
            // Of a file that is unlocked only the path is told.
            if list.items().count() < 4 {
                return Ok(Ok(None));
            }
            Ok(Ok(Some(reply::read_lock(list)?)))
        }
        "failure" => Ok(Err(message::read_errors(fields.list()?)?)),
        _ => Err(ProtocolError::Malformed.into()),
    }
}
