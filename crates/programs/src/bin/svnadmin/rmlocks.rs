//! `svnadmin rmlocks`.

use std::collections::BTreeMap;

use sylvan_core::{RelPath, Result};
use sylvan_repos::Repos;

use crate::env::{Env, Exit};
use crate::invocation::{Invocation, bad};
use crate::repository::{self, fspath_arg};

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let repos = repository::open(inv)?;
    let args = inv.all_args()?;
    if args.is_empty() {
        return Err(bad("No paths to unlock provided"));
    }
    for arg in args {
        let path = fspath_arg(arg)?;
        let said = match remove(env, &repos, &path) {
            Ok(true) => format!("Removed lock on '{}'.", path.to_fspath()),
            Ok(false) => format!("Path '{}' isn't locked.", path.to_fspath()),
            Err(error) => {
                env.report(&error);
                continue;
            }
        };
        if !inv.quiet {
            env.out.line(said)?;
        }
    }
    Ok(Exit::Success)
}

/// Removes the lock on a path, if there is one.
fn remove(env: &Env, repos: &Repos, path: &RelPath) -> Result<bool> {
    let now = env.now();
    if repos.fs().lock_on(path, now)?.is_none() {
        return Ok(false);
    }
    let tokens = BTreeMap::from([(path.to_owned(), String::new())]);
    let mut results = repos.fs().unlock(&tokens, "", true, now)?;
    results.remove(path).transpose()?;
    Ok(true)
}
