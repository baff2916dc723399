//! `svnadmin pack`.

use sylvan_cmdline::print::Output;
use sylvan_core::Result;
use sylvan_fs::{PackNotice, PackOptions};

use crate::env::{Env, Exit};
use crate::invocation::Invocation;
use crate::repository;

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    inv.no_args()?;
    let repos = repository::open(inv)?;
    let out = &mut env.out;
    let options = PackOptions::default();
    repos.fs().pack(&options, &env.cancel, &mut |notice| {
        if inv.quiet { Ok(()) } else { tell(out, notice) }
    })?;
    Ok(Exit::Success)
}

fn tell(out: &mut Output, notice: PackNotice) -> Result<()> {
    match notice {
        PackNotice::Start(shard) => {
            out.print(format_args!("Packing revisions in shard {shard}..."))?;
            out.flush()
        }
        PackNotice::End(_) => out.line("done."),
        PackNotice::Nothing(None) => {
            out.line("svnadmin: Warning - this repository is not sharded. Packing has no effect.")
        }
        PackNotice::Nothing(Some(_)) => Ok(()),
    }
}
