//! `svn mkdir`.

use sylvan_client::add;
use sylvan_core::{Error, ErrorCode, Result};

use crate::env::{Env, Exit};
use crate::invocation::Invocation;
use crate::notify::{Notifier, Operation};
use crate::{targets, url_ops};

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let context = env.client(inv)?;
    let arguments = targets::read(env, inv, &context)?;
    if arguments.is_empty() {
        return Err(Error::from_code(ErrorCode::CL_INSUFFICIENT_ARGS));
    }
    if targets::must_agree(&arguments)? {
        return url_ops::mkdir(env, inv, &context, &arguments);
    }
    targets::refuse_message(inv)?;
    let paths = targets::without_pegs(&arguments)?;
    let mut notifier = Notifier::new(Operation::Other, inv.quiet, context.current_dir.clone());
    for path in &paths {
        context.cancel.check()?;
        let out = &mut env.out;
        add::mkdir(&context, path, inv.parents, &mut |what| {
            notifier.notify(out, what);
        })
        .map_err(|error| with_hint(error, inv.parents))?;
    }
    Ok(Exit::Success)
}

/// Says what the user may have meant.
pub(crate) fn with_hint(error: Error, parents: bool) -> Error {
    const ENOENT: ErrorCode = ErrorCode::from_errno(2);
    const EEXIST: ErrorCode = ErrorCode::from_errno(17);
    match error.code() {
        EEXIST => error.context("Try 'svn add' or 'svn add --non-recursive' instead?"),
        ENOENT | ErrorCode::FS_NOT_DIRECTORY | ErrorCode::FS_NOT_FOUND if !parents => {
            error.context("Try 'svn mkdir --parents' instead?")
        }
        _ => error,
    }
}
