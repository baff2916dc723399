//! Following a repository to another URL.

use rusqlite::params;
use sylvan_core::{Result, Url};

use crate::WorkingCopy;
use crate::db::{integer, statements};

statements!("relocate.sql": SELECT_ID, INSERT_ROOT, MOVE_NODES, MOVE_LOCKS);

/// Says that the nodes which come from the repository at `old` come from `new`, the same repository
/// at another URL (the caller has compared UUIDs).
///
/// # Errors
/// Those of the database.
pub fn relocate(wc: &WorkingCopy, old: &Url, new: &Url) -> Result<()> {
    let db = wc.db();
    let id_of = |url: &Url| -> Result<Option<i64>> {
        let id = db.row(SELECT_ID, [url.as_str()], |row| integer(row, 0))?;
        Ok(id.flatten())
    };
    db.write(|| {
        let Some(old_id) = id_of(old)?.filter(|_| old != new) else {
            return Ok(());
        };
        let new_id = match id_of(new)? {
            Some(id) => id,
            None => db.insert(INSERT_ROOT, params![new.as_str(), old_id])?,
        };
        db.execute(MOVE_NODES, params![db.wc_id(), old_id, new_id])?;
        db.execute(MOVE_LOCKS, params![old_id, new_id])?;
        Ok(())
    })?;
    db.forget_repositories();
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn statements_are_understood() {
        // All nodes of the working copy are changed: one pass over them is meant.
        crate::db::tests::check_statements(super::ALL, &["MOVE_NODES", "MOVE_LOCKS"]);
    }
}
