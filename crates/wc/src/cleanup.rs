//! Putting a working copy in order: `svn cleanup`.

use sylvan_core::{Dirent, Result};
use sylvan_io::Cancel;

use crate::Options;
use crate::notify::NotifyFn;

/// What is cleaned up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleanupOptions {
    /// Take write locks over, whoever holds them.
    pub break_locks: bool,
    /// Record the times of files that are unchanged but were touched.
    pub fix_recorded_timestamps: bool,
    /// Forget what HTTP servers told about nodes.
    pub clear_dav_cache: bool,
    /// Delete pristine texts that no node uses, and temporary files.
    pub vacuum_pristines: bool,
    /// Delete unversioned files and folders.
    pub remove_unversioned: bool,
    /// Delete ignored files and folders.
    pub remove_ignored: bool,
    /// Do the same in externals.
    pub include_externals: bool,
    /// Patterns of ignored names: `global-ignores` of the user's config.
    pub global_ignores: Vec<String>,
}

impl CleanupOptions {
    /// What `svn cleanup` does without options.
    pub const fn standard() -> Self {
        Self {
            break_locks: true,
            fix_recorded_timestamps: true,
            clear_dav_cache: true,
            vacuum_pristines: true,
            remove_unversioned: false,
            remove_ignored: false,
            include_externals: false,
            global_ignores: Vec::new(),
        }
    }
}

/// Cleans up the working copy that the folder `path` (absolute) is in.
///
/// # Errors
/// `E155007` if it is in none, and those of the work items that are finished.
pub fn cleanup(
    path: &Dirent,
    wc_options: &Options,
    options: &CleanupOptions,
    cancel: &Cancel,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let _ = (path, wc_options, options, cancel, notify);
    todo!()
}
