//! `svnadmin setrevprop`, `delrevprop` and `setlog`.

use sylvan_core::{Dirent, Result};
use sylvan_fs::id::TxnId;
use sylvan_fs::txn;
use sylvan_repos::RevpropHooks;

use crate::env::{Env, Exit};
use crate::invocation::{Invocation, bad};
use crate::repository::{self, local_path, one_number, prop_value};

pub(crate) fn set(_: &mut Env, inv: &Invocation) -> Result<Exit> {
    let args = inv.args(2, 2)?;
    let file = local_path(args[1])?;
    check_target(inv)?;
    change(inv, args[0], Some(&file), asked_hooks(inv))
}

pub(crate) fn delete(_: &mut Env, inv: &Invocation) -> Result<Exit> {
    let args = inv.args(1, 1)?;
    check_target(inv)?;
    change(inv, args[0], None, asked_hooks(inv))
}

pub(crate) fn set_log(_: &mut Env, inv: &Invocation) -> Result<Exit> {
    let args = inv.args(1, 1)?;
    let file = local_path(args[0])?;
    one_number(inv)?;
    let hooks = if inv.bypass_hooks {
        RevpropHooks::NONE
    } else {
        RevpropHooks::ALL
    };
    change(inv, "svn:log", Some(&file), hooks)
}

fn asked_hooks(inv: &Invocation) -> RevpropHooks {
    RevpropHooks {
        pre: inv.use_pre_revprop_change_hook,
        post: inv.use_post_revprop_change_hook,
    }
}

/// Requires one revision or a transaction.
fn check_target(inv: &Invocation) -> Result<()> {
    if inv.transaction.is_none() {
        return one_number(inv).map(drop);
    }
    if !inv.revisions.start.is_unspecified() || !inv.revisions.end.is_unspecified() {
        return Err(bad(
            "--revision (-r) and --transaction (-t) are mutually exclusive",
        ));
    }
    if asked_hooks(inv) != RevpropHooks::NONE {
        return Err(bad("Calling hooks is incompatible with --transaction (-t)"));
    }
    Ok(())
}

fn change(
    inv: &Invocation,
    name: &str,
    file: Option<&Dirent>,
    hooks: RevpropHooks,
) -> Result<Exit> {
    let value = file.map(prop_value).transpose()?;
    let value = value.as_deref();
    let repos = repository::open(inv)?;
    match &inv.transaction {
        Some(txn) => txn::change_prop(repos.fs(), TxnId::parse(txn)?, name, value)?,
        None => repos.change_revprop(one_number(inv)?, None, name, None, value, hooks)?,
    }
    Ok(Exit::Success)
}
