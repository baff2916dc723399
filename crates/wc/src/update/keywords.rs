//! After a switch: files that show where they come from are written anew.

use rusqlite::params;
use sylvan_core::props::SVN_KEYWORDS;
use sylvan_core::{RelPath, RelPathBuf, Result};

use crate::db::write::{self as rows, below};
use crate::db::{Db, Layer, sqlite_error};
use crate::work_queue::item;

/// Lists the files at and below `path` that have keywords.
pub(super) fn files(db: &Db, path: &RelPath) -> Result<Vec<(RelPathBuf, Layer)>> {
    let (low, high) = below(path);
    let paths = db.rows(
        rows::SELECT_FILES_WITH_PROPS,
        params![db.wc_id(), low, high, path.as_str()],
        |row| row.get::<_, String>(0).map_err(sqlite_error),
    )?;
    let mut files = Vec::new();
    for path in paths {
        let path = RelPathBuf::new(path)?;
        let layer = db.layers(&path)?.into_iter().next();
        if let Some(layer) = layer
            && layer.op_depth == 0
            && layer.props()?.contains_key(SVN_KEYWORDS)
        {
            files.push((path, layer));
        }
    }
    Ok(files)
}

/// Promises to write files anew; returns the work items.
pub(super) fn promise(
    db: &Db,
    files: &[(RelPathBuf, Layer)],
    use_commit_times: bool,
) -> Result<Vec<i64>> {
    db.write(|| {
        files
            .iter()
            .map(|(path, _)| db.put_work_item(&item::file_install(path, use_commit_times, true)))
            .collect()
    })
}

/// Records what was done of the promise.
pub(super) fn fulfilled(
    db: &Db,
    items: Vec<i64>,
    recorded: &[(RelPathBuf, i64, i64)],
) -> Result<()> {
    db.write(|| {
        crate::work_queue::record_files(db, recorded)?;
        db.delete_work_items(items)
    })
}
