//! Steps on files and folders.
//!
//! Each function does one thing, names action and path in its error as Subversion does (`Can't open
//! file '…': No such file or directory`), and, if it changes anything, passes [`crate::fault`].
//!
//! Inside a working copy, use [`Dir`]: a handle of a folder, below which paths are resolved without
//! following any symlink. Functions on plain paths follow symlinks in all components but the last.
//!
//! What a new file may be found as if the process is killed: nothing, or under its name with a
//! part of its content, except where "atomically" is said.

mod dir;
mod meta;
mod new;
mod paths;
mod temp;

use std::fmt;
use std::path::Path;

use rustix::fs::{Timespec, Timestamps};
use rustix::io::Errno;
use sylvan_core::{Error, Timestamp};

use paths::list;

pub use dir::Dir;
pub use meta::{FileKind, Meta};
pub use new::{Creation, NewFile};
pub use paths::{
    append, copy, copy_new, create_final, create_new, exists, lstat, lstat_if_exists, make_dir,
    make_dir_all, make_dir_with_mode, make_symlink, open, read, read_dir, read_if_exists,
    read_link, remove, remove_dir, remove_if_exists, remove_tree, rename, set_executable, set_mode,
    set_mtime, set_read_only, stat, sync_dir, write_atomic,
};
pub use temp::TempFile;

/// Everything but what the umask forbids.
pub const MODE_FILE: u32 = 0o666;
/// As [`MODE_FILE`], for a program.
pub const MODE_EXECUTABLE: u32 = 0o777;
/// A file that nobody may change, as pristines are.
pub const MODE_READ_ONLY: u32 = 0o444;
/// A file for its owner alone, as credentials are.
pub const MODE_PRIVATE: u32 = 0o600;

/// Makes a system error say what was tried on `path`: `Can't {action} '{path}': …`.
fn failed(errno: impl Into<std::io::Error>, action: &str, path: &Path) -> Error {
    Error::io(&errno.into(), CantDo { action, path })
}

struct CantDo<'a> {
    action: &'a str,
    path: &'a Path,
}

impl fmt::Display for CantDo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Can't {} '{}'", self.action, self.path.display())
    }
}

/// Returns what kind of operating system error `error` is.
pub fn error_kind(error: &Error) -> std::io::ErrorKind {
    std::io::Error::from_raw_os_error(error.code().number()).kind()
}

/// Makes the times of last access and last change.
const fn times(time: Timestamp) -> Timestamps {
    let micros = time.micros();
    let stamp = Timespec {
        tv_sec: micros.div_euclid(1_000_000) as _,
        tv_nsec: (micros.rem_euclid(1_000_000) * 1000) as _,
    };
    Timestamps {
        last_access: stamp,
        last_modification: stamp,
    }
}

/// Passes a fault step, then does `work`.
fn durable<T>(work: impl FnOnce() -> rustix::io::Result<T>) -> std::io::Result<T> {
    crate::fault::step()?;
    Ok(work()?)
}

/// Tells whether an error means that the path, or a folder on the way to it, is not there.
fn is_missing(errno: Errno) -> bool {
    errno == Errno::NOENT || errno == Errno::NOTDIR
}

#[cfg(test)]
mod tests;
