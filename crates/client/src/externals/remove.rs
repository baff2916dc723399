//! Deleting a working copy that is wanted no longer.

use std::fs;
use std::io::{self, ErrorKind};

use sylvan_core::{Dirent, Error, ErrorCode, NodeKind, Result};
use sylvan_wc::status::{self, OnDisk, StatusKind, StatusOptions};
use sylvan_wc::{ADM_DIR, WorkingCopy};

use crate::Context;

/// Deletes the working copy at `path` if the text of no file in it was changed. Unversioned files
/// stay, and the folders around them.
///
/// A repetition after an interruption goes on where that came.
///
/// # Errors
/// `WC_LEFT_LOCAL_MOD` if something stays: with the reason as its message if a file was changed
/// (nothing is deleted then), without one if there were unversioned files.
pub(super) fn working_copy(context: &Context, path: &Dirent) -> Result<()> {
    let (wc, at) = WorkingCopy::open(path, &context.wc)?;
    let options = StatusOptions {
        all: true,
        ..StatusOptions::default()
    };
    let mut nodes = Vec::new();
    status::walk(&wc, &at, &options, &context.cancel, &mut |node, status| {
        let is_changed = matches!(status.text, StatusKind::Modified | StatusKind::Conflicted);
        if status.versioned && status.kind == NodeKind::File && is_changed {
            return Err(Error::new(
                ErrorCode::WC_LEFT_LOCAL_MOD,
                format!("File '{}' has local modifications", wc.local_path(node)),
            ));
        }
        if status.versioned && !node.is_root() {
            nodes.push((wc.local_path(node), status.on_disk));
        }
        Ok(())
    })?;
    // Folders come before what is in them.
    for (node, on_disk) in nodes.iter().rev() {
        context.cancel.check()?;
        match on_disk {
            OnDisk::File | OnDisk::Symlink => remove_file(node)?,
            OnDisk::Dir => remove_empty(node)?,
            OnDisk::Nothing | OnDisk::Other => {}
        }
    }
    drop(wc);
    let adm = path.join(ADM_DIR);
    fs::remove_dir_all(adm.as_path()).map_err(|error| cannot_remove(&error, &adm))?;
    fs::remove_dir(path.as_path())
        .map_err(|error| cannot_remove(&error, path).wrap_code(ErrorCode::WC_LEFT_LOCAL_MOD))
}

fn remove_file(path: &Dirent) -> Result<()> {
    match fs::remove_file(path.as_path()) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::io(
            &error,
            format_args!("Can't remove file '{path}'"),
        )),
        _ => Ok(()),
    }
}

fn remove_empty(path: &Dirent) -> Result<()> {
    match fs::remove_dir(path.as_path()) {
        Err(error)
            if !matches!(
                error.kind(),
                ErrorKind::NotFound | ErrorKind::DirectoryNotEmpty
            ) =>
        {
            Err(cannot_remove(&error, path))
        }
        _ => Ok(()),
    }
}

fn cannot_remove(error: &io::Error, path: &Dirent) -> Error {
    Error::io(error, format_args!("Can't remove directory '{path}'"))
}
