//! Telling a server what the working copy has.

use sylvan_core::{Depth, RelPath, Result};
use sylvan_delta::ReportEntry;
use sylvan_io::Cancel;

use crate::WorkingCopy;
use crate::notify::NotifyFn;

/// What is reported, and how.
#[derive(Clone, Debug, Default)]
pub struct ReportOptions {
    /// The depth that the operation asked for.
    pub depth: Option<Depth>,
    /// Whether nodes that the user excluded stay so (an operation whose depth is not sticky).
    pub honor_depth_exclude: bool,
    /// Whether the server does not understand depth, and shallow folders are reported as empty.
    pub depth_compatibility_trick: bool,
    /// Whether missing files and folders are made again (update and switch, under a lock).
    pub restore: bool,
}

/// Lists what the working copy has at and below `target`, in the order that servers want.
///
/// With [`ReportOptions::restore`] missing files are made again from their pristine texts, each
/// with a notification.
///
/// # Errors
/// Those of the database and, with `restore`, of the file system; `E200015` when cancelled.
pub fn entries(
    wc: &mut WorkingCopy,
    target: &RelPath,
    options: &ReportOptions,
    cancel: &Cancel,
    notify: &mut NotifyFn<'_>,
) -> Result<Vec<ReportEntry>> {
    let _ = (wc, target, options, cancel, notify);
    todo!()
}
