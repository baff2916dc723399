//! `svnadmin recover`.

use sylvan_core::Result;
use sylvan_repos::Repos;

use crate::env::{Env, Exit};
use crate::invocation::Invocation;
use crate::repository;

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    inv.no_args()?;
    let out = &mut env.out;
    Repos::recover(
        inv.repository.as_path(),
        repository::fs_options(inv),
        &env.cancel,
        &mut || {
            out.print(
                "Repository lock acquired.\nPlease wait; recovering the repository may take some \
                 time...\n",
            )?;
            out.flush()
        },
    )?;
    env.out.print("\nRecovery completed.\n")?;
    let youngest = repository::open(inv)?.fs().youngest()?;
    env.out
        .line(format_args!("The latest repos revision is {youngest}."))?;
    Ok(Exit::Success)
}
