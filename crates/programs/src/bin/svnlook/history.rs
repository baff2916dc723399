//! `svnlook history`.

use sylvan_core::{Error, ErrorCode, Result};

use crate::invocation::Invocation;
use crate::look::{Env, Look, Name, path_in_repository};

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<()> {
    let path = inv.arg_or("/")?;
    let look = Look::open(inv)?;
    let show_ids = inv.options.has("show-ids");
    env.out.print(if show_ids {
        "REVISION   PATH <ID>\n--------   ---------\n"
    } else {
        "REVISION   PATH\n--------   ----\n"
    })?;
    let Name::Revision(revision) = look.name() else {
        return Ok(());
    };
    let root = look.fs().revision_root(revision)?;
    let known = path_in_repository(path);
    let known = match known {
        Some(known) => root.find(&known)?.map(|_| known),
        None => None,
    };
    let known = known.ok_or_else(|| {
        let text = format!("File not found: revision {revision}, path '{path}'");
        Error::new(ErrorCode::FS_NOT_FOUND, text)
    })?;
    let mut history = root.history(&known)?;
    let mut left = inv.options.limit.unwrap_or(u64::MAX);
    while let Some(location) = history.previous(true)? {
        env.cancel.check()?;
        let path = location.path.to_fspath();
        let mut line = format!("{:8}   {path}", location.revision.number());
        if show_ids {
            let root = look.fs().revision_root(location.revision)?;
            line.push_str(&format!(" <{}>", root.node(&location.path)?.id()));
        }
        env.out.line(line)?;
        left -= 1;
        if left == 0 {
            break;
        }
    }
    Ok(())
}
