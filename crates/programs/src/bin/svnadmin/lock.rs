//! `svnadmin lock`.

use std::collections::BTreeMap;

use sylvan_core::{Error, ErrorCode, Result};
use sylvan_fs::lock::{LockRequest, LockTarget};

use crate::env::{Env, Exit};
use crate::invocation::Invocation;
use crate::repository::{self, fspath_arg, read_file};

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let args = inv.args(3, 4)?;
    let (user, token) = (args[1], args.get(3));
    let comment_file = repository::local_path(args[2])?;
    let repos = repository::open(inv)?;
    let comment = comment(read_file(&comment_file)?)?;
    let path = fspath_arg(args[0])?;
    let target = LockTarget {
        token: token.map(|token| (*token).to_owned()),
        current: None,
    };
    let targets = BTreeMap::from([(path.clone(), target)]);
    let request = LockRequest {
        comment: Some(comment),
        ..LockRequest::default()
    };
    let now = env.now();
    let (mut locked, after) = if inv.bypass_hooks {
        let locked = repos.lock_without_hooks(&targets, user, &request, now)?;
        (locked, None)
    } else {
        let locked = repos.lock(&targets, Some(user), &request, now)?;
        (locked.paths, locked.after)
    };
    locked.remove(&path).transpose()?;
    after.map_or(Ok(()), Err)?;
    if !inv.quiet {
        let path = path.to_fspath();
        env.out
            .line(format_args!("'{path}' locked by user '{user}'."))?;
    }
    Ok(Exit::Success)
}

/// Takes what a file has up to the first NUL, as Subversion does.
fn comment(mut bytes: Vec<u8>) -> Result<String> {
    if let Some(end) = bytes.iter().position(|byte| *byte == 0) {
        bytes.truncate(end);
    }
    String::from_utf8(bytes).map_err(|_| {
        Error::new(
            ErrorCode::XML_UNESCAPABLE_DATA,
            "Lock comment contains illegal characters",
        )
    })
}
