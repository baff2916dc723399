//! `svnadmin rev-size`.

use sylvan_core::Result;
use sylvan_core::opt::RevisionSpec;

use crate::env::{Env, Exit};
use crate::invocation::{Invocation, bad};
use crate::repository;

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let RevisionSpec::Number(revision) = inv.revisions.start else {
        return Err(bad("Invalid revision specifier"));
    };
    if !inv.revisions.end.is_unspecified() {
        return Err(bad("Invalid revision specifier"));
    }
    let repos = repository::open(inv)?;
    let size = repos.fs().revision_size(revision)?;
    if inv.quiet {
        env.out.line(size)?;
    } else {
        env.out
            .line(format_args!("{size:12} bytes in revision {revision}"))?;
    }
    Ok(Exit::Success)
}
