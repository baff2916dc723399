//! Statements that read, and the rows of the smaller tables.

use std::sync::Arc;

use rusqlite::Row;
use sylvan_core::{NodeKind, RelPath, RelPathBuf, Result, Revnum, Timestamp, Url};

use super::node::{integer, path, text, time};
use super::{Db, corrupt, statements};

statements!("read.sql":
    SELECT_NODE,
    SELECT_BASE_FOLDERS_BELOW,
    SELECT_BASE_MD5S,
    SELECT_CHILDREN,
    SELECT_ACTUAL,
    SELECT_ACTUAL_CHILDREN,
    SELECT_ACTUAL_CONFLICT_BELOW,
    SELECT_MOVED_FROM,
    SELECT_REPOSITORY,
    SELECT_LOCKS,
    SELECT_LOCK,
    SELECT_WC_LOCKS,
    SELECT_EXTERNALS,
    SELECT_ALL_EXTERNALS,
    SELECT_EXTERNAL,
    SELECT_REVISION_RANGE,
    SELECT_SPARSE,
    SELECT_SWITCHED_BELOW,
    SELECT_TREE_CHANGE,
    SELECT_PROP_CHANGE,
    SELECT_WORK_ITEM,
);

/// A row of REPOSITORY.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    /// The root's URL.
    pub root: Url,
    /// The UUID.
    pub uuid: String,
}

/// A row of LOCK: a lock in the repository whose token this working copy has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockRow {
    /// The repository.
    pub repos_id: i64,
    /// The locked path.
    pub repos_path: RelPathBuf,
    /// The token.
    pub token: String,
    /// Who holds it.
    pub owner: Option<String>,
    /// Why.
    pub comment: Option<String>,
    /// When it was made.
    pub created: Option<Timestamp>,
}

/// A row of WC_LOCK: a folder that an operation has locked in the working copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WcLockRow {
    /// The folder.
    pub path: RelPathBuf,
    /// How many levels below it are locked as well, all if `None`.
    pub levels: Option<usize>,
}

impl WcLockRow {
    /// Tells whether the folder `dir` is under this lock.
    pub fn covers(&self, dir: &RelPath) -> bool {
        dir.strip_prefix(&self.path)
            .is_some_and(|below| self.levels.is_none_or(|levels| below.depth() <= levels))
    }
}

/// A row of EXTERNALS: a folder or file that was fetched for `svn:externals`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalRow {
    /// Where it is.
    pub path: RelPathBuf,
    /// The folder whose property defines it.
    pub defined_on: RelPathBuf,
    /// File or folder.
    pub kind: NodeKind,
    /// The repository.
    pub repos_id: i64,
    /// The path in the repository that is defined.
    pub repos_path: RelPathBuf,
    /// The operative revision, if the definition fixes one.
    pub revision: Option<Revnum>,
    /// The peg revision, if the definition fixes one.
    pub peg: Option<Revnum>,
}

impl Db {
    /// Reads a row of REPOSITORY; it is remembered.
    ///
    /// # Errors
    /// `E155016` if there is no such row or its URL cannot be read.
    pub fn repository(&self, id: i64) -> Result<Arc<Repository>> {
        if let Some(known) = self.repositories.borrow().get(&id) {
            return Ok(Arc::clone(known));
        }
        let row = self.row(SELECT_REPOSITORY, [id], |row| {
            Ok(Repository {
                root: Url::parse(text(row, 0)?.unwrap_or_default())?,
                uuid: text(row, 1)?.unwrap_or_default().to_owned(),
            })
        })?;
        let row =
            row.ok_or_else(|| corrupt(format_args!("No REPOSITORY table entry for id '{id}'")))?;
        let row = Arc::new(row);
        self.repositories.borrow_mut().insert(id, Arc::clone(&row));
        Ok(row)
    }

    /// Forgets what [`Db::repository`] remembers; for whoever changes these rows.
    pub fn forget_repositories(&self) {
        self.repositories.borrow_mut().clear();
    }

    /// Reads all locks whose tokens this working copy has.
    ///
    /// # Errors
    /// `E155016`, `E200030` and its kin.
    pub fn locks(&self) -> Result<Vec<LockRow>> {
        self.rows(SELECT_LOCKS, [], lock_row)
    }

    /// Reads the lock on a path in a repository, if this working copy has its token.
    ///
    /// # Errors
    /// `E155016`, `E200030` and its kin.
    pub fn lock(&self, repos_id: i64, repos_path: &RelPath) -> Result<Option<LockRow>> {
        self.row(SELECT_LOCK, (repos_id, repos_path.as_str()), lock_row)
    }

    /// Reads the locks that operations hold in the working copy.
    ///
    /// # Errors
    /// `E155016`, `E200030` and its kin.
    pub fn wc_locks(&self) -> Result<Vec<WcLockRow>> {
        self.rows(SELECT_WC_LOCKS, [self.wc_id()], |row| {
            Ok(WcLockRow {
                path: path(row, 0)?.unwrap_or_default(),
                levels: integer(row, 1)?.and_then(|levels| usize::try_from(levels).ok()),
            })
        })
    }

    /// Reads the externals that are defined on `dir` or below it, by path.
    ///
    /// # Errors
    /// `E155016`, `E200030` and its kin.
    pub fn externals_below(&self, dir: &RelPath) -> Result<Vec<ExternalRow>> {
        if dir.is_root() {
            self.rows(SELECT_ALL_EXTERNALS, [self.wc_id()], external_row)
        } else {
            self.rows(SELECT_EXTERNALS, (self.wc_id(), dir.as_str()), external_row)
        }
    }

    /// Reads the external at `path`.
    ///
    /// # Errors
    /// `E155016`, `E200030` and its kin.
    pub fn external(&self, path: &RelPath) -> Result<Option<ExternalRow>> {
        self.row(SELECT_EXTERNAL, (self.wc_id(), path.as_str()), external_row)
    }

    /// Tells whether an interrupted operation has left work to do.
    ///
    /// # Errors
    /// `E200030` and its kin.
    pub fn has_work(&self) -> Result<bool> {
        Ok(self.row(SELECT_WORK_ITEM, [], |_| Ok(()))?.is_some())
    }
}

fn lock_row(row: &Row<'_>) -> Result<LockRow> {
    Ok(LockRow {
        repos_id: integer(row, 0)?.unwrap_or_default(),
        repos_path: path(row, 1)?.unwrap_or_default(),
        token: text(row, 2)?.unwrap_or_default().to_owned(),
        owner: text(row, 3)?.map(str::to_owned),
        comment: text(row, 4)?.map(str::to_owned),
        created: time(row, 5)?,
    })
}

fn external_row(row: &Row<'_>) -> Result<ExternalRow> {
    let revision = |column| -> Result<_> { Ok(integer(row, column)?.and_then(Revnum::new)) };
    Ok(ExternalRow {
        path: path(row, 0)?.unwrap_or_default(),
        defined_on: path(row, 1)?.unwrap_or_default(),
        kind: match text(row, 2)? {
            Some("dir") => NodeKind::Dir,
            _ => NodeKind::File,
        },
        repos_id: integer(row, 4)?.unwrap_or_default(),
        repos_path: path(row, 5)?.unwrap_or_default(),
        peg: revision(6)?,
        revision: revision(7)?,
    })
}
