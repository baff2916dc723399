//! `svn delete`.

use sylvan_client::delete::{self, DeleteOptions};
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
        return url_ops::delete(env, inv, &context, &arguments);
    }
    targets::refuse_message(inv)?;
    let paths = targets::without_pegs(&arguments)?;
    let options = DeleteOptions {
        force: inv.force,
        keep_local: inv.keep_local,
    };
    let mut notifier = Notifier::new(Operation::Other, inv.quiet, context.current_dir.clone());
    let out = &mut env.out;
    delete::delete(&context, &paths, options, &mut |what| {
        notifier.notify(out, what);
    })
    .map_err(may_need_force)?;
    Ok(Exit::Success)
}

/// Tells how to go on where local changes are in the way.
pub(crate) fn may_need_force(error: Error) -> Error {
    match error.code() {
        ErrorCode::UNVERSIONED_RESOURCE | ErrorCode::CLIENT_MODIFIED => error
            .context("Use --force to override this restriction (local modifications may be lost)"),
        _ => error,
    }
}
