//! The working copy's write lock.

use sylvan_core::{RelPath, RelPathBuf, Result};

use crate::WorkingCopy;

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
}

impl WcLock {
    /// Locks the folder for `path`, and all below it.
    ///
    /// If the holder of a lock in the way is known to be dead, its work queue is finished and its
    /// lock taken over.
    ///
    /// # Errors
    /// `E155004` if the lock is held, or was left by a program of which it is not known whether it
    /// is alive; `E155010` if there is no such node.
    pub fn acquire(wc: &WorkingCopy, path: &RelPath, anchor: Anchor) -> Result<Self> {
        let _ = (wc, path, anchor);
        todo!()
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
        let _ = wc;
        todo!()
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
