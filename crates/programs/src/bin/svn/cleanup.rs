//! `svn cleanup`.

use sylvan_core::Result;

use crate::env::{Env, Exit};
use crate::invocation::Invocation;

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    crate::not_yet(env, inv)
}
