//! `svnadmin upgrade`.

use std::cell::RefCell;

use sylvan_cmdline::print::Output;
use sylvan_core::{Error, ErrorCode, Result};
use sylvan_fs::UpgradeNotice;
use sylvan_repos::Repos;

use crate::env::{Env, Exit};
use crate::invocation::Invocation;
use crate::repository;

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    inv.no_args()?;
    let out = RefCell::new(&mut env.out);
    Repos::upgrade(
        inv.repository.as_path(),
        repository::fs_options(inv),
        &env.cancel,
        &mut || {
            let mut out = out.borrow_mut();
            out.print(
                "Repository lock acquired.\nPlease wait; upgrading the repository may take some \
                 time...\n",
            )?;
            out.flush()
        },
        &mut |notice| tell(&mut out.borrow_mut(), notice),
    )
    .map_err(explained)?;
    env.out.print("\nUpgrade completed.\n")?;
    Ok(Exit::Success)
}

fn tell(out: &mut Output, notice: UpgradeNotice) -> Result<()> {
    match notice {
        UpgradeNotice::PackedRevprops(shard) => {
            out.line(format_args!("Packed revision properties in shard {shard}"))?;
        }
        UpgradeNotice::RemovedRevprops(shard) => out.line(format_args!(
            "Removed non-packed revision properties in shard {shard}"
        ))?,
        UpgradeNotice::FormatBumped(format) => {
            let format = format.number();
            out.line(format_args!("Bumped repository format to {format}"))?;
        }
    }
    out.flush_soon()
}

fn explained(error: Error) -> Error {
    let what = match error.code() {
        ErrorCode::FS_UNSUPPORTED_UPGRADE => {
            "Upgrade of this repository's underlying versioned filesystem is not supported; \
             consider dumping and loading the data elsewhere"
        }
        ErrorCode::REPOS_UNSUPPORTED_UPGRADE => {
            "Upgrade of this repository is not supported; consider dumping and loading the data \
             elsewhere"
        }
        _ => return error,
    };
    error.context(what)
}
