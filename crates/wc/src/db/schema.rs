//! Making a new database.

use rusqlite::params;
use sylvan_core::{Result, Url};

use super::{Db, statements};
use crate::RootNode;

statements!("schema.sql":
    CREATE_SCHEMA,
    INSTALL_STATISTICS,
    INSERT_REPOSITORY,
    INSERT_WCROOT,
    INSERT_ROOT_NODE,
    SELECT_WCROOT,
    SELECT_STATISTICS,
);

/// What a new database says of its working copy.
pub(crate) struct FirstRows<'a> {
    /// The root of the repository.
    pub repos_root: &'a Url,
    /// Its UUID.
    pub repos_uuid: &'a str,
    /// The folder that is checked out, if the root's row is to be made.
    pub root: Option<&'a RootNode>,
}

/// Creates tables and first rows; returns the working copy's id.
pub(super) fn install(db: &Db, first: &FirstRows<'_>) -> Result<i64> {
    db.execute_batch(CREATE_SCHEMA)?;
    db.execute_batch(INSTALL_STATISTICS)?;
    let repos_id = db.insert(
        INSERT_REPOSITORY,
        params![first.repos_root.as_str(), first.repos_uuid],
    )?;
    let wc_id = db.insert(INSERT_WCROOT, [])?;
    let Some(root) = first.root else {
        return Ok(wc_id);
    };
    // At revision 0 there is nothing to fetch, so it is complete at once.
    let presence = if root.revision.number() > 0 {
        "incomplete"
    } else {
        "normal"
    };
    db.insert(
        INSERT_ROOT_NODE,
        params![
            wc_id,
            repos_id,
            root.repos_path.as_str(),
            root.revision.number(),
            presence,
            root.depth.as_str()
        ],
    )?;
    Ok(wc_id)
}
