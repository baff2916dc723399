//! Externals: the EXTERNALS table, and files from elsewhere inside the working copy.

use sylvan_core::{NodeKind, Props, RelPath, RelPathBuf, Result, Revnum, Url};
use sylvan_delta::Editor;
use sylvan_io::{Cancel, Progress};

use crate::WorkingCopy;
use crate::lock::WcLock;
use crate::notify::NotifyFn;
use crate::update::{InheritedProps, Outcome};

/// An external that is in the working copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct External {
    /// Where it is.
    pub path: RelPathBuf,
    /// A file, or a folder that is a working copy of its own.
    pub kind: NodeKind,
    /// The folder whose `svn:externals` defines it.
    pub defined_at: RelPathBuf,
    /// The root of its repository.
    pub repos_root: Url,
    /// The UUID of its repository.
    pub repos_uuid: String,
    /// Where it comes from, below the root of its repository.
    pub repos_path: RelPathBuf,
    /// The peg revision of the definition.
    pub peg: Option<Revnum>,
    /// The revision of the definition.
    pub rev: Option<Revnum>,
}

/// Lists the externals at and below a folder, in order of path.
///
/// # Errors
/// Those of the database.
pub fn list(wc: &WorkingCopy, path: &RelPath) -> Result<Vec<External>> {
    let _ = (wc, path);
    todo!()
}

/// Remembers an external; one at the same path is replaced.
///
/// # Errors
/// Those of the database.
pub fn register(wc: &WorkingCopy, external: &External) -> Result<()> {
    let _ = (wc, external);
    todo!()
}

/// Forgets an external; of a file it deletes the file too unless it is modified.
///
/// # Errors
/// Those of the database and the file system; `E155017` kin if it is no external.
pub fn remove(wc: &mut WorkingCopy, path: &RelPath, cancel: &Cancel) -> Result<()> {
    let _ = (wc, path, cancel);
    todo!()
}

/// What is needed to bring a file external.
#[derive(Clone, Debug)]
pub struct FileExternal {
    /// What becomes its row; `kind` is a file.
    pub external: External,
    /// The URL whose parent the session for the drive is at; the drive's target is its last part.
    pub url: Url,
    /// Inherited properties of the file.
    pub inherited_props: Option<InheritedProps>,
    /// Take an unversioned file in its place over.
    pub allow_unversioned_obstructions: bool,
}

/// Lets `drive` bring a file external: the editor's root is the folder of the URL, and names one
/// file in it.
///
/// # Errors
/// As [`update::run`](crate::update::run).
pub fn update_file(
    wc: &mut WorkingCopy,
    lock: &WcLock,
    file: &FileExternal,
    cancel: &Cancel,
    progress: &Progress,
    notify: &mut NotifyFn<'_>,
    drive: impl FnOnce(&mut dyn Editor) -> Result<()>,
) -> Result<Outcome> {
    let _ = (wc, lock, file, cancel, progress, notify, drive);
    todo!()
}

/// Reads the `svn:externals` values at and below a folder: path, value, and the folder's depth.
///
/// # Errors
/// Those of the database.
pub fn definitions(wc: &WorkingCopy, path: &RelPath) -> Result<Vec<(RelPathBuf, Props)>> {
    let _ = (wc, path);
    todo!()
}
