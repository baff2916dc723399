//! `svnadmin list-dblogs` and `svnadmin list-unused-dblogs`: FSFS has no such files.

use sylvan_core::Result;

use crate::env::{Env, Exit};
use crate::invocation::Invocation;
use crate::repository;

pub(crate) fn list(_: &mut Env, inv: &Invocation) -> Result<Exit> {
    inv.no_args()?;
    repository::open(inv)?;
    Ok(Exit::Success)
}
