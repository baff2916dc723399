//! The locks by which writers wait for each other.
//!
//! They are locks of whole files by `flock`, which the Apache Portable Runtime uses on Linux, and so
//! Subversion. Such a lock belongs to the open file, so threads of one process wait for each other
//! as processes do.
//!
//! Locks are taken in the order `txn-current-lock`, `pack-lock`, `write-lock`.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use sylvan_core::{Error, Result};

use crate::fs::{Current, FileSystem};
use crate::layout;

/// A lock that is held; dropping it gives it up.
#[derive(Debug)]
pub struct FileLock {
    _file: File,
}

impl FileLock {
    /// Locks a file, which is created if it is not there; waits for others.
    ///
    /// # Errors
    /// `Can't get exclusive lock on file`, `Can't open file`.
    pub(crate) fn wait(path: &Path) -> Result<Self> {
        let lock = Self::take(path, FlockOperation::LockExclusive)?;
        lock.ok_or_else(|| cannot(path, Errno::AGAIN))
    }

    /// As [`FileLock::wait`], `None` if somebody has it.
    pub(crate) fn try_now(path: &Path) -> Result<Option<Self>> {
        Self::take(path, FlockOperation::NonBlockingLockExclusive)
    }

    fn take(path: &Path, operation: FlockOperation) -> Result<Option<Self>> {
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        let opened = match options.open(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                options.create(true).open(path)
            }
            opened => opened,
        };
        let file = opened
            .map_err(|error| Error::io(&error, format!("Can't open file '{}'", path.display())))?;
        loop {
            match flock(&file, operation) {
                Ok(()) => return Ok(Some(Self { _file: file })),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(None),
                Err(errno) => return Err(cannot(path, errno)),
            }
        }
    }
}

fn cannot(path: &Path, errno: Errno) -> Error {
    let action = format!("Can't get exclusive lock on file '{}'", path.display());
    Error::io(&errno.into(), action)
}

/// The lock that whoever changes a file system holds. What it gives access to is in
/// [`FileSystem`].
#[derive(Debug)]
pub struct WriteLock {
    _lock: FileLock,
}

impl FileSystem {
    fn lock_path(&self, name: &str) -> PathBuf {
        self.layout().file(name)
    }

    /// Takes the lock of writers; waits for others.
    ///
    /// # Errors
    /// If the lock cannot be taken, or what is packed and youngest cannot be read then.
    pub fn write_lock(&self) -> Result<WriteLock> {
        self.write_lock_and_current().map(|(lock, _)| lock)
    }

    /// As [`FileSystem::write_lock`]; returns what is youngest, too.
    pub(crate) fn write_lock_and_current(&self) -> Result<(WriteLock, Current)> {
        let lock = FileLock::wait(&self.lock_path(layout::WRITE_LOCK))?;
        // Nobody changes these now.
        if self.format().number.has_packing() {
            self.refresh_min_unpacked()?;
        }
        let current = self.read_current()?;
        self.note_youngest(current.youngest);
        Ok((WriteLock { _lock: lock }, current))
    }

    pub(crate) fn txn_current_lock(&self) -> Result<FileLock> {
        FileLock::wait(&self.lock_path(layout::TXN_CURRENT_LOCK))
    }

    /// Takes the lock of those who pack, which lets others commit meanwhile.
    ///
    /// # Errors
    /// If the lock cannot be taken.
    pub fn pack_lock(&self) -> Result<FileLock> {
        FileLock::wait(&self.lock_path(layout::PACK_LOCK))
    }
}

/// All locks of a file system: while it is held, nothing changes.
#[derive(Debug)]
pub struct AllLocks {
    /// The lock that gives access to what changes a file system.
    pub write: WriteLock,
    _pack: Option<FileLock>,
    _txn_current: Option<FileLock>,
}

impl FileSystem {
    /// Takes all locks, also the one that beginning a transaction needs; waits for others.
    ///
    /// # Errors
    /// Those of [`FileSystem::write_lock`].
    pub fn lock_all(&self) -> Result<AllLocks> {
        let number = self.format().number;
        let txn_current = number.has_txn_current().then(|| self.txn_current_lock());
        let txn_current = txn_current.transpose()?;
        let pack = number.has_pack_lock().then(|| self.pack_lock());
        let pack = pack.transpose()?;
        Ok(AllLocks {
            write: self.write_lock()?,
            _pack: pack,
            _txn_current: txn_current,
        })
    }

    /// Runs something while nobody can commit, pack or change a revision property; what it
    /// returned.
    ///
    /// # Errors
    /// If a lock cannot be taken, and what `work` returned.
    pub fn freeze<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let pack = self.format().number.has_pack_lock();
        let _pack = pack.then(|| self.pack_lock()).transpose()?;
        let _write = self.write_lock()?;
        self.with_rep_cache_locked(work)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn threads_wait_for_each_other() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("write-lock");
        let busy = Arc::new(AtomicBool::new(false));
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let (path, busy) = (path.clone(), Arc::clone(&busy));
                std::thread::spawn(move || {
                    for _ in 0..50 {
                        let _lock = FileLock::wait(&path).unwrap();
                        assert!(!busy.swap(true, Ordering::SeqCst));
                        std::thread::yield_now();
                        busy.store(false, Ordering::SeqCst);
                    }
                })
            })
            .collect();
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
        let lock = FileLock::wait(&path).unwrap();
        assert!(FileLock::try_now(&path).unwrap().is_none());
        drop(lock);
        assert!(FileLock::try_now(&path).unwrap().is_some());
    }
}
