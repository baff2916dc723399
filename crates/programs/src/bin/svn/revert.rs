//! `svn revert`.

use sylvan_client::revert;
use sylvan_core::{Depth, Error, ErrorCode, Result};
use sylvan_wc::revert::RevertOptions;

use crate::env::{Env, Exit};
use crate::invocation::Invocation;
use crate::notify::{Notifier, Operation};
use crate::targets;

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let context = env.client(inv)?;
    let arguments = targets::read(env, inv, &context)?;
    if arguments.is_empty() {
        return Err(Error::from_code(ErrorCode::CL_INSUFFICIENT_ARGS));
    }
    let paths = targets::without_pegs(&arguments)?;
    targets::check_local(&arguments)?;
    let options = RevertOptions {
        depth: inv.depth.unwrap_or(Depth::Empty),
        changelists: inv.changelists.clone(),
        remove_added: inv.remove_added,
    };
    let mut notifier = Notifier::new(Operation::Other, inv.quiet, context.current_dir.clone());
    let out = &mut env.out;
    let done = revert::revert(&context, &paths, &options, &mut |what| {
        notifier.notify(out, what);
    });
    match done {
        Err(error)
            if error.code() == ErrorCode::WC_INVALID_OPERATION_DEPTH
                && options.depth != Depth::Infinity =>
        {
            Err(error.context("Try 'svn revert --depth infinity' instead?"))
        }
        done => done.map(|()| Exit::Success),
    }
}
