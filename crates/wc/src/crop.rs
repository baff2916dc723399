//! Making a working copy shallower: `update --set-depth`.

use sylvan_core::{Depth, RelPath, Result};
use sylvan_io::Cancel;

use crate::WorkingCopy;
use crate::lock::WcLock;
use crate::notify::NotifyFn;

/// Takes a node out of the working copy (`--set-depth exclude`); files that the user changed stay
/// on disk.
///
/// # Errors
/// `E155015` kin for the root, switched and added nodes, and those of the database.
pub fn exclude(
    wc: &mut WorkingCopy,
    lock: &WcLock,
    path: &RelPath,
    cancel: &Cancel,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let _ = (wc, lock, path, cancel, notify);
    todo!()
}

/// Takes out what is deeper than `depth` below a folder.
///
/// # Errors
/// As [`exclude`].
pub fn crop(
    wc: &mut WorkingCopy,
    lock: &WcLock,
    path: &RelPath,
    depth: Depth,
    cancel: &Cancel,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let _ = (wc, lock, path, depth, cancel, notify);
    todo!()
}
