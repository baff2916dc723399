//! `svn upgrade`.

use sylvan_client::upgrade::upgrade;
use sylvan_core::Result;

use crate::env::{Env, Exit};
use crate::invocation::Invocation;
use crate::notify::{Notifier, Operation};
use crate::targets;

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let context = env.client(inv)?;
    let arguments = targets::read_or_current(env, inv, &context)?;
    targets::check_local(&arguments)?;
    let paths = targets::without_pegs(&arguments)?;
    let mut notifier = Notifier::new(Operation::Other, inv.quiet, context.current_dir.clone());
    for path in &paths {
        context.cancel.check()?;
        let out = &mut env.out;
        upgrade(&context, path, &mut |what| notifier.notify(out, what))?;
    }
    Ok(Exit::Success)
}
