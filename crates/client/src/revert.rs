//! `svn revert`.

use sylvan_core::{Dirent, ErrorCode, RelPath, Result};
use sylvan_wc::WorkingCopy;
use sylvan_wc::lock::{Anchor, WcLock};
use sylvan_wc::notify::{Action, Notification, NotifyFn};
use sylvan_wc::revert::RevertOptions;

use crate::Context;

/// Undoes local changes of each path; one that is not under version control is skipped.
///
/// # Errors
/// `E155007` outside of a working copy, and those of [`sylvan_wc::revert::revert`].
pub fn revert(
    context: &Context,
    paths: &[Dirent],
    options: &RevertOptions,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let done = paths
        .iter()
        .try_for_each(|path| revert_one(context, path, options, notify));
    if let Some(path) = paths.first() {
        context.progress.note_file();
        context.wait_for_timestamps(&context.absolute(path));
    }
    done
}

fn revert_one(
    context: &Context,
    path: &Dirent,
    options: &RevertOptions,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    context.cancel.check()?;
    let abspath = context.absolute(path);
    let (mut wc, target) = WorkingCopy::open(&abspath, &context.wc)?;
    let cancel = &context.cancel;
    let above = target.parent().unwrap_or(RelPath::ROOT);
    let done = WcLock::with(&mut wc, above, Anchor::Node, |wc, lock| {
        sylvan_wc::revert::revert(wc, lock, &target, options, cancel, notify)
    });
    match done {
        Err(error)
            if [
                ErrorCode::ENTRY_NOT_FOUND,
                ErrorCode::UNVERSIONED_RESOURCE,
                ErrorCode::WC_PATH_NOT_FOUND,
            ]
            .contains(&error.code()) =>
        {
            let mut what = Notification::new(abspath, Action::Skip);
            what.error = Some(error);
            notify(&what);
            Ok(())
        }
        done => done,
    }
}
