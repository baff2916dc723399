//! Raising the format of a database.

use rusqlite::params;
use sylvan_core::{Dirent, Error, ErrorCode, RelPathBuf, Result};

use super::conflicts::{self, Old};
use super::{SELECT_OLD_CONFLICTS, SET_CONFLICT, TO_30, TO_31};
use crate::db::{Db, FORMAT, INSTALL_STATISTICS, sqlite_error};

/// The format of Subversion 1.7, the oldest that was released with a database.
const OLDEST: i64 = 29;

/// Brings the database to the present format; tells whether it had another.
///
/// # Errors
/// `E155021` if it is from a format that was never released, or from a newer one.
pub(super) fn raise(db: &Db, root: &Dirent) -> Result<bool> {
    let format = db.format();
    if format == FORMAT {
        return Ok(false);
    }
    if format > FORMAT {
        return Err(crate::working_copy::too_new(root, format));
    }
    if format < OLDEST {
        return Err(too_old(root, format).wrap(
            ErrorCode::WC_UNSUPPORTED_FORMAT,
            "Working copy upgrade failed",
        ));
    }
    db.write(|| {
        if db.stored_format()? != format {
            // Another program was faster.
            return Ok(());
        }
        if format < 30 {
            convert_conflicts(db)?;
            db.execute_batch(TO_30)?;
        }
        db.execute_batch(TO_31)?;
        db.execute_batch(INSTALL_STATISTICS)
    })?;
    Ok(true)
}

fn too_old(root: &Dirent, format: i64) -> Error {
    let what = if format < 12 {
        let version = match format {
            4 => "<=1.3",
            8 => "1.4",
            9 => "1.5",
            10 => "1.6",
            _ => "(unreleased development version)",
        };
        format!("too old (format {format}, created by Subversion {version})")
    } else {
        let how = if format < 19 {
            "use a format 18 client, then use 'tools/dev/wc-ng/bump-to-19.py'"
        } else {
            "use a Subversion 1.7-1.9 client"
        };
        format!(
            "an old development version (format {format}); to upgrade it, {how}, then use the \
             current client"
        )
    };
    Error::new(
        ErrorCode::WC_UPGRADE_REQUIRED,
        format!("Working copy '{root}' is {what}"),
    )
}

fn convert_conflicts(db: &Db) -> Result<()> {
    let rows = db.rows(SELECT_OLD_CONFLICTS, [], |row| {
        let bytes = |at| -> Result<Option<Vec<u8>>> {
            let value = row.get_ref(at).map_err(sqlite_error)?;
            Ok(value
                .as_bytes_or_null()
                .unwrap_or_default()
                .map(<[u8]>::to_vec))
        };
        let path = |at| -> Result<Option<RelPathBuf>> {
            bytes(at)?
                .map(|path| RelPathBuf::new(String::from_utf8_lossy(&path)))
                .transpose()
        };
        let wc_id: i64 = row.get(0).map_err(sqlite_error)?;
        let old = Old {
            old: path(2)?,
            mine: path(3)?,
            theirs: path(4)?,
            prejfile: path(5)?,
            tree: bytes(6)?
                .map(|tree| conflicts::parse_one(&tree))
                .transpose()?,
        };
        Ok((wc_id, path(1)?.unwrap_or_default(), old))
    })?;
    for (wc_id, path, old) in rows {
        let stored = old.into_stored()?;
        db.execute(SET_CONFLICT, params![wc_id, path.as_str(), stored])?;
    }
    Ok(())
}
