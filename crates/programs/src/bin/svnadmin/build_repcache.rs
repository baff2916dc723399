//! `svnadmin build-repcache`.

use sylvan_core::{ErrorCode, Result};

use crate::env::{Env, Exit};
use crate::invocation::Invocation;
use crate::repository;

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    inv.no_args()?;
    let repos = repository::open(inv)?;
    let youngest = repos.fs().youngest()?;
    let (start, end) = repository::range(&repos, inv, youngest)?;
    let end = match (start, end) {
        (Some(start), None) => start,
        (Some(_), Some(end)) => end,
        (None, _) => youngest,
    };
    let out = &mut env.out;
    let built = repos
        .fs()
        .build_rep_cache(start, Some(end), &env.cancel, &mut |revision| {
            if inv.quiet {
                return Ok(());
            }
            out.line(format_args!("* Processed revision {revision}."))?;
            out.flush_soon()
        });
    match built {
        Err(error) if error.code() == ErrorCode::FS_REP_SHARING_NOT_ALLOWED => env.out.line(
            "svnadmin: Warning - this repository has rep-sharing disabled. Building rep-cache has \
             no effect.",
        )?,
        built => built?,
    }
    Ok(Exit::Success)
}
