//! The locks by which writers wait for each other.
//!
//! They are locks of whole files by `fcntl`, as Subversion takes them. Such a lock belongs to the
//! process: threads of one do not wait for each other, and whoever closes the file gives the lock
//! up. So a thread first takes the file's name in a table of this process, and opens the file only
//! then.
//!
//! Locks are taken in the order `txn-current-lock`, `pack-lock`, `write-lock`.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};

use rustix::fs::{FlockOperation, fcntl_lock};
use rustix::io::Errno;
use sylvan_core::{Error, Result};

use crate::fs::FileSystem;
use crate::layout;

/// Files that a thread of this process has locked, by device and inode.
static HELD: Mutex<Option<HashSet<(u64, u64)>>> = Mutex::new(None);
static RELEASED: Condvar = Condvar::new();

/// A lock that is held; dropping it gives it up.
#[derive(Debug)]
pub struct FileLock {
    // Closed before the entry in the table goes, which lets the next thread open it.
    file: Option<File>,
    key: (u64, u64),
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

    /// As [`FileLock::wait`], `None` if another process or thread has it.
    pub(crate) fn try_now(path: &Path) -> Result<Option<Self>> {
        Self::take(path, FlockOperation::NonBlockingLockExclusive)
    }

    fn take(path: &Path, operation: FlockOperation) -> Result<Option<Self>> {
        let key = key_of(path)?;
        if !enter(key, operation == FlockOperation::LockExclusive) {
            return Ok(None);
        }
        let mut lock = Self { file: None, key };
        let file = OpenOptions::new().read(true).write(true).open(path);
        let file = file
            .map_err(|error| Error::io(&error, format!("Can't open file '{}'", path.display())))?;
        loop {
            match fcntl_lock(&file, operation) {
                Ok(()) => break,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN | Errno::ACCESS) if operation != FlockOperation::LockExclusive => {
                    return Ok(None);
                }
                Err(errno) => return Err(cannot(path, errno)),
            }
        }
        lock.file = Some(file);
        Ok(Some(lock))
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        self.file = None;
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        held.get_or_insert_default().remove(&self.key);
        RELEASED.notify_all();
    }
}

fn cannot(path: &Path, errno: Errno) -> Error {
    let action = format!("Can't get exclusive lock on file '{}'", path.display());
    Error::io(&errno.into(), action)
}

/// Finds the file's number, without opening it.
fn key_of(path: &Path) -> Result<(u64, u64)> {
    let found = match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            // Another process may be as fast.
            let created = OpenOptions::new().append(true).create(true).open(path);
            created.and_then(|file| file.metadata())
        }
        found => found,
    };
    let meta = found
        .map_err(|error| Error::io(&error, format!("Can't open file '{}'", path.display())))?;
    Ok((meta.dev(), meta.ino()))
}

fn enter(key: (u64, u64), wait: bool) -> bool {
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        if held.get_or_insert_default().insert(key) {
            return true;
        }
        if !wait {
            return false;
        }
        held = RELEASED.wait(held).unwrap_or_else(PoisonError::into_inner);
    }
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
        let lock = FileLock::wait(&self.lock_path(layout::WRITE_LOCK))?;
        // Nobody changes these now.
        if self.format().number.has_packing() {
            self.refresh_min_unpacked()?;
        }
        self.youngest()?;
        Ok(WriteLock { _lock: lock })
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
