//! `svnadmin hotcopy`.

use sylvan_cmdline::print::Output;
use sylvan_cmdline::surroundings::current_dir;
use sylvan_core::Result;
use sylvan_fs::{CopiedRevisions, HotcopyMode};
use sylvan_repos::Repos;

use crate::env::{Env, Exit};
use crate::invocation::Invocation;
use crate::repository::{fs_options, local_path};

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let target = local_path(inv.args(1, 1)?[0])?;
    let mode = if inv.incremental {
        HotcopyMode::Incremental
    } else {
        HotcopyMode::Full
    };
    let out = &mut env.out;
    Repos::hotcopy(
        [&inv.repository, &target],
        &current_dir()?,
        mode,
        fs_options(inv),
        &env.cancel,
        &mut |copied| if inv.quiet { Ok(()) } else { tell(out, copied) },
    )?;
    Ok(Exit::Success)
}

fn tell(out: &mut Output, copied: CopiedRevisions) -> Result<()> {
    let CopiedRevisions { start, end } = copied;
    if start == end {
        out.line(format_args!("* Copied revision {start}."))?;
    } else {
        out.line(format_args!("* Copied revisions from {start} to {end}."))?;
    }
    out.flush_soon()
}
