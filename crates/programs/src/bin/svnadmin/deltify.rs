//! `svnadmin deltify`: FSFS stores deltas from the beginning.

use sylvan_core::{Result, Revnum};

use crate::env::{Env, Exit};
use crate::invocation::Invocation;
use crate::repository;

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    inv.no_args()?;
    let repos = repository::open(inv)?;
    let youngest = repos.fs().youngest()?;
    let (start, end) = repository::range(&repos, inv, youngest)?;
    let start = start.unwrap_or(youngest);
    let end = end.unwrap_or(start);
    let mut revision: Revnum = start;
    while revision <= end {
        env.cancel.check()?;
        if !inv.quiet {
            env.out
                .line(format_args!("Deltifying revision {revision}...done."))?;
        }
        revision = revision.next();
    }
    Ok(Exit::Success)
}
