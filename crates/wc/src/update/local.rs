//! What is local to nodes below a folder.

use rusqlite::params;
use sylvan_core::{RelPath, RelPathBuf, Result};

use crate::db::write::{self as rows, below};
use crate::db::{Db, Layer, sqlite_error};

/// Tells whether the database knows of local changes below a folder.
pub(super) fn has_changes_in_db(db: &Db, path: &RelPath) -> Result<bool> {
    let (low, high) = below(path);
    Ok(
        db.exists(rows::HAS_WORKING_BELOW, params![db.wc_id(), low, high])?
            || db.exists(rows::HAS_ACTUAL_BELOW, params![db.wc_id(), low, high])?,
    )
}

/// Lists the files of the BASE tree below a folder.
pub(super) fn files_below(db: &Db, path: &RelPath) -> Result<Vec<(RelPathBuf, Layer)>> {
    let (low, high) = below(path);
    let paths = db.rows(
        rows::SELECT_PRESENT_BELOW,
        params![db.wc_id(), low, high],
        |row| {
            let path: String = row.get(0).map_err(sqlite_error)?;
            let kind: String = row.get(1).map_err(sqlite_error)?;
            Ok((path, kind))
        },
    )?;
    let mut files = Vec::new();
    for (path, kind) in paths {
        if kind != "file" {
            continue;
        }
        let path = RelPathBuf::new(path)?;
        if let Some(layer) = db.layers(&path)?.into_iter().next() {
            files.push((path, layer));
        }
    }
    Ok(files)
}
