//! What is on the local disk.

use std::fs;
use std::io;

use sylvan_core::{Dirent, Error, ErrorCode, NodeKind, Result};
use sylvan_wc::ADM_DIR;

/// Returns the kind of what is at `path`; symlinks are [`NodeKind::File`], as they are stored.
pub(crate) fn kind(path: &Dirent) -> Result<NodeKind> {
    of(path, fs::symlink_metadata(path.as_path()), true)
}

/// As [`kind`], of what a symlink points to; a dangling one is [`NodeKind::None`].
pub(crate) fn resolved_kind(path: &Dirent) -> Result<NodeKind> {
    of(path, fs::metadata(path.as_path()), false)
}

fn of(path: &Dirent, found: io::Result<fs::Metadata>, links_are_files: bool) -> Result<NodeKind> {
    match found {
        Ok(meta) if meta.is_dir() => Ok(NodeKind::Dir),
        Ok(meta) if meta.is_file() || (links_are_files && meta.is_symlink()) => Ok(NodeKind::File),
        Ok(_) => Ok(NodeKind::Unknown),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            Ok(NodeKind::None)
        }
        Err(error) => Err(Error::io(&error, format_args!("Can't check path '{path}'"))),
    }
}

/// Tells whether the folder `path` has an administrative folder.
pub(crate) fn is_wc_root(path: &Dirent) -> Result<bool> {
    Ok(kind(&path.join(ADM_DIR).join("wc.db"))? == NodeKind::File
        || kind(&path.join(ADM_DIR).join("entries"))? == NodeKind::File)
}

/// Makes a folder where nothing is.
pub(crate) fn make_dir(path: &Dirent) -> Result<()> {
    fs::create_dir(path.as_path())
        .map_err(|error| Error::io(&error, format_args!("Can't create directory '{path}'")))
}

/// Makes a folder with the folders above it that are missing; an existing one is fine.
pub(crate) fn make_dir_recursively(path: &Dirent) -> Result<()> {
    match fs::create_dir(path.as_path()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            if resolved_kind(path)? == NodeKind::Dir {
                return Ok(());
            }
            Err(cannot_make(path, &error))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound && path.dirname() != *path => {
            make_dir_recursively(&path.dirname())?;
            fs::create_dir(path.as_path()).map_err(|error| cannot_make(path, &error))
        }
        Err(error) => Err(cannot_make(path, &error)),
    }
}

fn cannot_make(path: &Dirent, error: &io::Error) -> Error {
    Error::io(error, format_args!("Can't make directory '{path}'"))
}

/// Returns a path beside `path` where nothing is: its name with `suffix`, numbered if that is taken.
pub(crate) fn unused_name(path: &Dirent, suffix: &str) -> Result<Dirent> {
    for number in 1..100_000 {
        let number = if number == 1 {
            String::new()
        } else {
            format!(".{number}")
        };
        let candidate = Dirent::new(&format!("{}{number}{suffix}", path.as_str()));
        if kind(&candidate)? == NodeKind::None {
            return Ok(candidate);
        }
    }
    Err(Error::new(
        ErrorCode::IO_UNIQUE_NAMES_EXHAUSTED,
        format!("Unable to make name for '{path}'"),
    ))
}

/// Renames a file or folder.
pub(crate) fn rename(from: &Dirent, to: &Dirent) -> Result<()> {
    fs::rename(from.as_path(), to.as_path())
        .map_err(|error| Error::io(&error, format_args!("Can't move '{from}' to '{to}'")))
}
