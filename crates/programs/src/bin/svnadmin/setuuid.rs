//! `svnadmin setuuid`.

use sylvan_core::Result;
use sylvan_fs::uuid;

use crate::env::{Env, Exit};
use crate::invocation::Invocation;
use crate::repository;

pub(crate) fn run(_: &mut Env, inv: &Invocation) -> Result<Exit> {
    let args = inv.args(0, 1)?;
    let repos = repository::open(inv)?;
    let uuid = args.first().copied();
    uuid.map_or(Ok(()), uuid::check)?;
    repos.fs().set_uuid(uuid, None)?;
    Ok(Exit::Success)
}
