//! The working copy's write lock.
//!
//! A lock is a row in WC_LOCK, as Subversion has it. A row alone does not tell whether the program
//! that made it still runs, so ours comes with an `owner` file.

mod owner;

use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use rusqlite::params;
use sylvan_core::{Error, ErrorCode, NodeKind, RelPath, RelPathBuf, Result};
use sylvan_io::Cancel;

use crate::db::write as rows;
use crate::db::{Db, sqlite_error};
use crate::{WorkingCopy, work_queue};
use owner::{DeadOwner, Owner};

/// Which folder is locked to work on a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The folder itself; of a file its folder.
    Node,
    /// The folder that the node is in, for operations that may replace the node; the working
    /// copy's root and switched folders are their own.
    Parent,
}

/// A held write lock: a row in WC_LOCK, and an owner file whose lock by the operating system tells
/// other processes that the holder is alive.
///
/// Dropping it without [`WcLock::release`] leaves the row, as a crash does; the next program
/// (this one, or Subversion's `svn cleanup`) then finishes the work and removes the lock.
#[derive(Debug)]
pub struct WcLock {
    root: RelPathBuf,
    token: i64,
    owner: Option<Owner>,
}

impl WcLock {
    /// Locks the folder for `path`, and all below it.
    ///
    /// If the holder of a lock in the way is known to be dead, its work queue is finished and its
    /// lock taken over.
    ///
    /// # Errors
    /// `E155004` if the lock is held, or was left by a program of which it is not known whether it
    /// is alive; `E155010` if there is no such node; `E155009` if the work that a dead holder left
    /// cannot be done.
    pub fn acquire(wc: &WorkingCopy, path: &RelPath, anchor: Anchor) -> Result<Self> {
        let root = lock_root(wc, path, anchor)?;
        Self::obtain(wc, root, false)
    }

    /// Locks the folder `root`; with `steal` whoever holds locks there loses them.
    pub(crate) fn obtain(wc: &WorkingCopy, root: RelPathBuf, steal: bool) -> Result<Self> {
        let token = new_token();
        let owner = Owner::create(wc, token, &root)?;
        let db = wc.db();
        let mut dead = Vec::new();
        let inserted = db.write(|| {
            for row in conflicting(db, &root)? {
                if !steal {
                    let owner = owner::find_dead(wc, row.token, &row.path)?
                        .ok_or_else(|| locked(wc, &root, &row.path))?;
                    dead.push(owner);
                }
                db.execute(
                    rows::DELETE_WC_LOCK_BY_PATH,
                    params![db.wc_id(), row.path.as_str()],
                )?;
            }
            let others = db.exists(rows::WC_LOCK_ROWS, [db.wc_id()])?;
            let rowid = owner.as_ref().map(|_| token);
            let token = db.insert(
                rows::INSERT_WC_LOCK,
                params![rowid, db.wc_id(), root.as_str()],
            )?;
            Ok((token, !others && db.has_work()?))
        });
        let (token, has_work) = match inserted {
            Ok(inserted) => inserted,
            Err(error) => {
                return Err(match owner.map_or(Ok(()), Owner::remove) {
                    Ok(()) => error,
                    Err(other) => error.attach(other),
                });
            }
        };
        let lock = Self { root, token, owner };
        dead.into_iter().try_for_each(DeadOwner::remove)?;
        if has_work && !steal {
            // Dropped when it fails: the lock stays, since there is work.
            work_queue::run(wc, &Cancel::new())?;
        }
        Ok(lock)
    }

    /// Returns the locked folder.
    pub fn root(&self) -> &RelPath {
        &self.root
    }

    /// Unlocks. While there is work in the queue the lock stays, as `svn` does it.
    ///
    /// # Errors
    /// Those of the database.
    pub fn release(self, wc: &WorkingCopy) -> Result<()> {
        let db = wc.db();
        let released = db.write(|| {
            if db.has_work()? {
                return Ok(false);
            }
            db.execute(
                rows::DELETE_WC_LOCK,
                params![self.token, db.wc_id(), self.root.as_str()],
            )?;
            Ok(true)
        })?;
        match self.owner {
            Some(owner) if released => owner.remove(),
            _ => Ok(()),
        }
    }

    /// Acquires, runs `work`, releases. An error while releasing does not hide that of `work`.
    ///
    /// # Errors
    /// As [`WcLock::acquire`], and those of `work`.
    pub fn with<T>(
        wc: &mut WorkingCopy,
        path: &RelPath,
        anchor: Anchor,
        work: impl FnOnce(&mut WorkingCopy, &Self) -> Result<T>,
    ) -> Result<T> {
        let lock = Self::acquire(wc, path, anchor)?;
        let done = work(wc, &lock);
        match (done, lock.release(wc)) {
            (Ok(done), Ok(())) => Ok(done),
            (Ok(_), Err(error)) | (Err(error), Ok(())) => Err(error),
            (Err(error), Err(other)) => Err(error.attach(other)),
        }
    }
}

struct LockRow {
    token: i64,
    path: RelPathBuf,
    /// How many levels below are locked; all if negative.
    levels: i64,
}

impl LockRow {
    fn covers(&self, dir: &RelPath) -> bool {
        dir.strip_prefix(&self.path).is_some_and(|below| {
            self.levels < 0
                || usize::try_from(self.levels).is_ok_and(|levels| below.depth() <= levels)
        })
    }
}

/// Lists the locks that do not go with one on all of `root`.
fn conflicting(db: &Db, root: &RelPath) -> Result<Vec<LockRow>> {
    let mut all = db.rows(rows::WC_LOCK_ROWS, [db.wc_id()], |row| {
        Ok(LockRow {
            token: row.get(0).map_err(sqlite_error)?,
            path: RelPathBuf::new(row.get::<_, String>(1).map_err(sqlite_error)?)?,
            levels: row.get(2).map_err(sqlite_error)?,
        })
    })?;
    all.retain(|row| row.path.starts_with(root) || row.covers(root));
    Ok(all)
}

/// Finds the lock that covers a folder.
pub(crate) fn root_of_lock(wc: &WorkingCopy, dir: &RelPath) -> Result<Option<RelPathBuf>> {
    let locks = wc.db().wc_locks()?;
    Ok(locks
        .into_iter()
        .find(|lock| lock.covers(dir))
        .map(|lock| lock.path))
}

/// Removes owner files that no lock has any more.
pub(crate) fn remove_stale_owners(wc: &WorkingCopy) -> Result<()> {
    let tokens = wc.db().rows(rows::WC_LOCK_ROWS, [wc.db().wc_id()], |row| {
        row.get::<_, i64>(0).map_err(sqlite_error)
    })?;
    owner::remove_stale(wc, &tokens)
}

/// Finds the folder to lock.
fn lock_root(wc: &WorkingCopy, path: &RelPath, anchor: Anchor) -> Result<RelPathBuf> {
    let Some(parent) = path.parent() else {
        return Ok(RelPathBuf::root());
    };
    let node = wc.db().node(path)?;
    let state = node.as_ref().map(crate::db::Node::state);
    let layer = node.as_ref().and_then(crate::db::Node::top);
    let there = state.is_some_and(|state| !state.is_hidden());
    let is_dir = there && layer.is_some_and(|layer| layer.kind == NodeKind::Dir);
    if is_dir && (anchor == Anchor::Node || is_switched(wc.db(), path)?) {
        return Ok(path.to_owned());
    }
    if !there {
        // A deleted folder can be locked, as long as something stands for it.
        let folder = wc.db().node(parent)?;
        let is_folder = folder.is_some_and(|folder| {
            !folder.state().is_hidden() && folder.top().is_some_and(|top| top.kind == NodeKind::Dir)
        });
        if !is_folder && anchor == Anchor::Node {
            return Err(crate::not_found(wc, parent));
        }
        if !is_folder {
            return Err(Error::new(
                ErrorCode::WC_NOT_WORKING_COPY,
                format!("'{}' is not a working copy", wc.local_path(path)),
            ));
        }
    }
    Ok(parent.to_owned())
}

/// Tells whether a BASE node comes from elsewhere than its folder says.
pub(crate) fn is_switched(db: &Db, path: &RelPath) -> Result<bool> {
    let Some((parent, name)) = path.split() else {
        return Ok(false);
    };
    let (node, folder) = (db.node(path)?, db.node(parent)?);
    let place = |node: &Option<crate::db::Node>| {
        let base = node.as_ref()?.base()?;
        Some((base.repos_id, base.repos_path.clone()?))
    };
    let (Some(node), Some(folder)) = (place(&node), place(&folder)) else {
        return Ok(false);
    };
    Ok(node.0 != folder.0 || node.1 != folder.1.child(name)?)
}

fn locked(wc: &WorkingCopy, root: &RelPath, by: &RelPath) -> Error {
    let local = |path| wc.local_path(path);
    Error::new(
        ErrorCode::WC_LOCKED,
        format!("'{}' is already locked.", local(by)),
    )
    .wrap(
        ErrorCode::WC_LOCKED,
        format!("Working copy '{}' locked.", local(root)),
    )
}

/// Makes a number that no other lock has: Subversion's rows have small ones.
fn new_token() -> i64 {
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    let random = hasher.finish() >> 2;
    i64::try_from(random).unwrap_or(0) | 1 << 60
}
