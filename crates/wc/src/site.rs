//! Where an operation works on the disk.

use std::sync::Arc;

use sylvan_core::{RelPath, Result};
use sylvan_io::file::{Dir, FileKind, Meta};

use crate::install::TempDir;
use crate::{ADM_DIR, WorkingCopy};

/// The folder for temporary files, in the administrative folder.
pub(crate) const TMP: &str = "tmp";

/// Handles of the two folders of a working copy. All that is written goes through them, so that it
/// stays below them: what others put in place of a folder, above all a symlink, is an error.
#[derive(Debug)]
pub(crate) struct Site {
    /// The working copy's root.
    pub root: Dir,
    /// The administrative folder. It may be reached by a symlink, which only the user can have put
    /// there: no server may name it.
    pub adm: Arc<Dir>,
}

impl Site {
    /// Opens the folders of a working copy.
    pub(crate) fn of(wc: &WorkingCopy) -> Result<Self> {
        Ok(Self {
            root: Dir::open(wc.root().as_path())?,
            adm: Arc::new(Dir::open(wc.root().join(ADM_DIR).as_path())?),
        })
    }

    /// Returns where temporary files are made.
    pub(crate) fn tmp(&self) -> TempDir<'_> {
        TempDir {
            dir: &self.adm,
            path: tmp(),
        }
    }

    /// Returns the handle that a path of a work item is below, and its rest.
    pub(crate) fn locate<'p>(&self, path: &'p RelPath) -> (&Dir, &'p RelPath) {
        let adm = RelPath::new(ADM_DIR).ok();
        match adm.and_then(|adm| path.strip_prefix(adm)) {
            Some(rest) if !rest.is_root() => (&self.adm, rest),
            _ => (&self.root, path),
        }
    }

    /// Tells whether something else than a folder is in place of one on the way to `path`.
    pub(crate) fn is_obstructed(&self, path: &RelPath) -> Result<bool> {
        for folder in path.ancestors().filter(|folder| *folder != path) {
            if self.root.lstat(folder)?.is_some_and(|meta| !meta.is_dir()) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Returns the path of the folder for temporary files.
pub(crate) fn tmp() -> &'static RelPath {
    RelPath::new(TMP).unwrap_or(RelPath::ROOT)
}

/// Returns the kind of what is there, if anything is.
pub(crate) fn kind(found: Option<Meta>) -> Option<FileKind> {
    found.map(|meta| meta.kind)
}
