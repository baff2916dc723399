//! `svnadmin lstxns` and `svnadmin rmtxns`.

use sylvan_core::{Error, ErrorCode, Result};
use sylvan_fs::id::TxnId;
use sylvan_fs::{FileSystem, Txn, txn};

use crate::env::{Env, Exit};
use crate::invocation::{Invocation, bad};
use crate::repository::{self, revnum};

pub(crate) fn list(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    inv.no_args()?;
    if !inv.revisions.end.is_unspecified() {
        return Err(bad("Revision range is not allowed"));
    }
    let repos = repository::open(inv)?;
    let txns = Txn::list(repos.fs())?;
    let youngest = repos.fs().youngest()?;
    let limit = revnum(&repos, inv.revisions.start, youngest)?;
    for id in txns {
        if limit.is_none_or(|limit| id.base <= limit) {
            env.out.line(id)?;
        }
    }
    Ok(Exit::Success)
}

pub(crate) fn remove(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let names = inv.all_args()?;
    let repos = repository::open(inv)?;
    for name in names {
        match remove_one(repos.fs(), name) {
            Ok(()) if inv.quiet => {}
            Ok(()) => env
                .out
                .line(format_args!("Transaction '{name}' removed."))?,
            Err(error) => env.report(&error),
        }
    }
    Ok(Exit::Success)
}

fn remove_one(fs: &FileSystem, name: &str) -> Result<()> {
    let id = TxnId::parse(name)?;
    if !Txn::list(fs)?.contains(&id) {
        return Err(Error::new(
            ErrorCode::FS_NO_SUCH_TRANSACTION,
            format!("No such transaction '{name}'"),
        ));
    }
    txn::purge(fs, id)
}
