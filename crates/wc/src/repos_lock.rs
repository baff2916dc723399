//! Locks in the repository whose tokens the working copy keeps.

use rusqlite::params;
use sylvan_core::props::SVN_NEEDS_LOCK;
use sylvan_core::{Error, ErrorCode, Lock, RelPath, RelPathBuf, Result, Timestamp};
use sylvan_io::Cancel;

use crate::db::write as rows;
use crate::db::{Node, statements};
use crate::props::actual_of;
use crate::work_queue::{self, item};
use crate::{WorkingCopy, not_found};

statements!("repos_lock.sql":
    INSERT_LOCK,
);

/// Keeps the tokens of locks that were just made, and forgets those of others, in one transaction.
/// Files that need a lock become writable, or read-only.
///
/// # Errors
/// `E150000` for a path that is not under version control, and those of the database, after which
/// nothing has changed; `E155009` if the work on disk fails.
pub fn settle(
    wc: &WorkingCopy,
    locked: &[(RelPathBuf, Lock)],
    unlocked: &[RelPathBuf],
) -> Result<()> {
    let db = wc.db();
    db.write(|| {
        for (path, lock) in locked {
            let (node, id, place) = find(wc, path)?;
            db.execute(
                INSERT_LOCK,
                params![
                    id,
                    place.as_str(),
                    lock.token,
                    lock.owner,
                    lock.comment,
                    Timestamp::micros(lock.created)
                ],
            )?;
            let props = actual_of(&node).transpose()?.unwrap_or_default();
            if props.contains_key(SVN_NEEDS_LOCK) {
                db.put_work_item(&item::sync_file_flags(path))?;
            }
        }
        for path in unlocked {
            let (node, id, place) = find(wc, path)?;
            db.execute(rows::DELETE_LOCK, params![id, place.as_str()])?;
            if node.top().is_some_and(|top| top.presence.is_present()) {
                db.put_work_item(&item::sync_file_flags(path))?;
            }
        }
        Ok(())
    })?;
    work_queue::run(wc, &Cancel::new())
}

/// Finds where a node's BASE is in its repository.
fn find(wc: &WorkingCopy, path: &RelPath) -> Result<(Node, i64, RelPathBuf)> {
    let node = wc.db().node(path)?.ok_or_else(|| not_found(wc, path));
    let found = node.and_then(|node| {
        let base = node.base();
        match base.and_then(|base| Some((base.repos_id?, base.repos_path.clone()?))) {
            Some((id, place)) => Ok((node, id, place)),
            None => Err(not_found(wc, path)),
        }
    });
    found.map_err(|error| match error.code() {
        ErrorCode::WC_PATH_NOT_FOUND => Error::new(
            ErrorCode::ENTRY_NOT_FOUND,
            format!("'{}' is not under version control", wc.local_path(path)),
        ),
        _ => error,
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn statements_use_indexes() {
        crate::db::tests::check_statements(super::ALL, &[]);
    }
}
