//! `svnadmin unlock`.

use std::collections::BTreeMap;

use sylvan_core::Result;

use crate::env::{Env, Exit};
use crate::invocation::Invocation;
use crate::repository::{self, fspath_arg};

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let args = inv.args(3, 3)?;
    let user = args[1];
    let repos = repository::open(inv)?;
    let path = fspath_arg(args[0])?;
    let tokens = BTreeMap::from([(path.clone(), args[2].to_owned())]);
    let now = env.now();
    let (mut unlocked, after) = if inv.bypass_hooks {
        (repos.fs().unlock(&tokens, user, false, now)?, None)
    } else {
        let unlocked = repos.unlock(&tokens, Some(user), false, now)?;
        (unlocked.paths, unlocked.after)
    };
    unlocked.remove(&path).transpose()?;
    after.map_or(Ok(()), Err)?;
    if !inv.quiet {
        let path = path.to_fspath();
        env.out
            .line(format_args!("'{path}' unlocked by user '{user}'."))?;
    }
    Ok(Exit::Success)
}
