//! `svn cleanup`.

use sylvan_core::{Dirent, Error, ErrorCode, NodeKind, Result};
use sylvan_wc::WorkingCopy;
use sylvan_wc::cleanup::CleanupOptions;
use sylvan_wc::notify::NotifyFn;

use crate::{Context, disk};

/// Puts the working copy at `path` (absolute) in order: finishes interrupted work, removes locks
/// and what is not needed.
///
/// # Errors
/// `E155004` if it is locked below another folder's lock; `E155007` if `path` is in none.
pub fn cleanup(
    context: &Context,
    path: &Dirent,
    options: &CleanupOptions,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let done = sylvan_wc::cleanup::cleanup(path, &context.wc, options, &context.cancel, notify);
    if options.fix_recorded_timestamps {
        // Which files were finished or touched a moment ago is not known.
        context.progress.note_file();
        context.wait_for_timestamps(path);
    }
    let Err(error) = done else { return Ok(()) };
    if error.code() == ErrorCode::WC_NOT_WORKING_COPY
        && disk::kind(path)? == NodeKind::None
        && WorkingCopy::open(path, &context.wc).is_err()
    {
        const ENOENT: ErrorCode = ErrorCode::from_errno(2);
        return Err(Error::new(ENOENT, format!("'{path}' does not exist")));
    }
    let removes = !options.break_locks;
    Err(match error.code() {
        ErrorCode::WC_LOCKED if removes => error.context(
            "Working copy locked; if no other Subversion client is currently using the working \
             copy, try running 'svn cleanup' without the --remove-unversioned and \
             --remove-ignored options first.",
        ),
        ErrorCode::WC_NOT_WORKING_COPY if removes => error.wrap(
            ErrorCode::CL_ARG_PARSING_ERROR,
            "Cannot remove unversioned or ignored items from something that is not a working copy",
        ),
        ErrorCode::WC_LOCKED => on_the_root(context, path, error),
        _ => error,
    })
}

fn on_the_root(context: &Context, path: &Dirent, error: Error) -> Error {
    match WorkingCopy::open(path, &context.wc) {
        Ok((wc, _)) => error.context(format!(
            "Working copy locked; try running 'svn cleanup' on the root of the working copy \
             ('{}') instead.",
            wc.root()
        )),
        Err(other) => error.attach(other),
    }
}
