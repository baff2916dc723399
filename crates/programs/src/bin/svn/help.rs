//! `svn help`, and `--version`.

use sylvan_core::Result;

use crate::env::{Env, Exit};
use crate::invocation::Invocation;

/// Prints where help is to be found; for a command line that makes no sense.
pub(crate) fn hint(env: &mut Env) -> Exit {
    env.out.error("Type 'svn help' for usage.\n");
    Exit::Failure
}

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    if inv.version {
        env.out.line("1.14.2")?;
        return Ok(Exit::Success);
    }
    crate::not_yet(env, inv)
}
