//! `svn resolved`: what is there now is right.

use sylvan_client::conflicts::Settle;
use sylvan_core::{Depth, Result};

use crate::env::{Env, Exit};
use crate::invocation::Invocation;
use crate::notify::{Notifier, Operation};
use crate::{resolve, targets};

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let context = env.client(inv)?;
    let arguments = targets::read(env, inv, &context)?;
    if arguments.is_empty() {
        return Err(sylvan_core::Error::from_code(
            sylvan_core::ErrorCode::CL_INSUFFICIENT_ARGS,
        ));
    }
    let paths = targets::without_pegs(&arguments)?;
    let depth = inv.depth.unwrap_or(Depth::Empty);
    let mut notifier = Notifier::new(Operation::Other, inv.quiet, context.current_dir.clone());
    notifier.says_resolved();
    let out = &mut env.out;
    resolve::settle_all(out, &context, &paths, depth, Settle::Working, &mut notifier)?;
    Ok(Exit::Success)
}
