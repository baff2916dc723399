//! The steps by which this crate changes the disk: each names itself in its error, and none
//! follows a symlink in the last component.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;
use sylvan_core::{Error, Result, Timestamp};
use sylvan_io::fault::step;

/// Whether a file that is created may stand where one stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Create {
    /// It must be new.
    New,
    /// It is known that nothing is there, or what is there may be overwritten.
    Over,
}

/// Opens a file to be written, with its final mode (less the umask). The caller judges the error.
pub(crate) fn create(path: &Path, mode: u32, how: Create) -> io::Result<File> {
    step()?;
    let mut options = OpenOptions::new();
    options.write(true).mode(mode);
    match how {
        Create::New => options.create_new(true),
        Create::Over => options.create(true).truncate(true),
    };
    options
        .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
        .open(path)
}

/// Writes a whole file. On file systems whose errors come late (`settle`), waits for them.
pub(crate) fn write(mut file: &File, bytes: &[u8], path: &Path) -> Result<()> {
    step()
        .and_then(|()| file.write_all(bytes))
        .map_err(|error| {
            Error::io(
                &error,
                format_args!("Can't write to file '{}'", path.display()),
            )
        })
}

/// Closes a file after waiting for its bytes where closing would hide errors (network file
/// systems write back on closing).
pub(crate) fn close(file: File, settle: bool, path: &Path) -> Result<()> {
    if settle {
        file.sync_data().map_err(|error| {
            Error::io(
                &error,
                format_args!("Can't close file '{}'", path.display()),
            )
        })?;
    }
    drop(file);
    Ok(())
}

/// Makes a folder. The caller judges the error.
pub(crate) fn make_dir(path: &Path) -> io::Result<()> {
    step()?;
    DirBuilder::new().mode(0o777).create(path)
}

/// Makes a folder and those above it that are missing; fine if it is there, as a folder.
pub(crate) fn ensure_dir(path: &Path) -> Result<()> {
    let failed = |error: &io::Error| {
        Error::io(
            error,
            format_args!("Can't create directory '{}'", path.display()),
        )
    };
    match make_dir(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            match std::fs::symlink_metadata(path) {
                Ok(found) if found.is_dir() => Ok(()),
                _ => Err(failed(&error)),
            }
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let parent = path.parent().ok_or_else(|| failed(&error))?;
            ensure_dir(parent)?;
            match make_dir(path) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(failed(&error)),
                _ => Ok(()),
            }
        }
        Err(error) => Err(failed(&error)),
    }
}

/// Makes a symlink. The caller judges the error.
pub(crate) fn symlink(target: &Path, path: &Path) -> io::Result<()> {
    step()?;
    std::os::unix::fs::symlink(target, path)
}

/// Moves a file into its place, over what is there.
pub(crate) fn rename(from: &Path, to: &Path) -> Result<()> {
    step()
        .and_then(|()| std::fs::rename(from, to))
        .map_err(|error| {
            Error::io(
                &error,
                format_args!("Can't move '{}' to '{}'", from.display(), to.display()),
            )
        })
}

/// Removes a file or symlink; fine if it is not there.
pub(crate) fn remove_file(path: &Path) -> Result<()> {
    match step().and_then(|()| std::fs::remove_file(path)) {
        Err(error) if !is_gone(&error) => Err(Error::io(
            &error,
            format_args!("Can't remove file '{}'", path.display()),
        )),
        _ => Ok(()),
    }
}

/// Removes an empty folder; fine if it is not there, or has something in it.
pub(crate) fn remove_empty_dir(path: &Path) -> Result<()> {
    match step().and_then(|()| std::fs::remove_dir(path)) {
        Err(error) if !is_gone(&error) && error.kind() != ErrorKind::DirectoryNotEmpty => {
            Err(Error::io(
                &error,
                format_args!("Can't remove directory '{}'", path.display()),
            ))
        }
        _ => Ok(()),
    }
}

/// Removes a folder and all in it, not following symlinks; fine if it is not there.
pub(crate) fn remove_dir_all(path: &Path) -> Result<()> {
    match step().and_then(|()| std::fs::remove_dir_all(path)) {
        Err(error) if !is_gone(&error) => Err(Error::io(
            &error,
            format_args!("Can't remove directory '{}'", path.display()),
        )),
        _ => Ok(()),
    }
}

/// Sets mode bits.
pub(crate) fn set_mode(path: &Path, mode: u32) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    step()
        .and_then(|()| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)))
        .map_err(|error| {
            Error::io(
                &error,
                format_args!("Can't set permissions on '{}'", path.display()),
            )
        })
}

/// Sets the time of last access and modification.
pub(crate) fn set_time(file: &File, time: Timestamp, path: &Path) -> Result<()> {
    let micros = time.micros();
    let stamp = rustix::fs::Timespec {
        tv_sec: micros.div_euclid(1_000_000),
        tv_nsec: micros.rem_euclid(1_000_000) * 1000,
    };
    let times = rustix::fs::Timestamps {
        last_access: stamp,
        last_modification: stamp,
    };
    step()
        .and_then(|()| rustix::fs::futimens(file, &times).map_err(io::Error::from))
        .map_err(|error| {
            Error::io(
                &error,
                format_args!("Can't set access time of '{}'", path.display()),
            )
        })
}

/// What `lstat` says of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Nothing,
    File { size: u64, mtime: i64, mode: u32 },
    Dir,
    Symlink,
    Other,
}

/// Looks at a path without following it.
pub(crate) fn look(path: &Path) -> Result<Found> {
    match std::fs::symlink_metadata(path) {
        Ok(meta) if meta.is_file() => Ok(Found::File {
            size: meta.len(),
            mtime: mtime_micros(&meta),
            mode: meta.mode(),
        }),
        Ok(meta) if meta.is_dir() => Ok(Found::Dir),
        Ok(meta) if meta.is_symlink() => Ok(Found::Symlink),
        Ok(_) => Ok(Found::Other),
        Err(error) if is_gone(&error) => Ok(Found::Nothing),
        Err(error) => Err(Error::io(
            &error,
            format_args!("Can't check path '{}'", path.display()),
        )),
    }
}

/// Returns the modification time in microseconds, as svn records it.
pub(crate) fn mtime_micros(meta: &std::fs::Metadata) -> i64 {
    meta.mtime()
        .saturating_mul(1_000_000)
        .saturating_add(meta.mtime_nsec() / 1000)
}

fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}
