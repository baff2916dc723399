//! `svn relocate`.

use sylvan_client::relocate::{relocate_prefix, url_of};
use sylvan_core::{Dirent, Error, ErrorCode, Result};

use crate::env::{Env, Exit};
use crate::invocation::Invocation;
use crate::{switch, targets};

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let context = env.client(inv)?;
    let arguments = targets::read(env, inv, &context)?;
    let (to, path) = match &arguments[..] {
        [] => return Err(Error::from_code(ErrorCode::CL_INSUFFICIENT_ARGS)),
        [to] => (to, Dirent::default()),
        [to, path] if to.at.is_url() && !path.at.is_url() => (to, Dirent::new(&path.to_string())),
        [from, to, paths @ ..] => {
            targets::check_local(paths)?;
            switch::relocate_all(&context, inv, (from, to), paths)?;
            return Ok(Exit::Success);
        }
    };
    let from = url_of(&context, &path)?;
    let from = from.ok_or_else(|| Error::from_code(ErrorCode::ENTRY_MISSING_URL))?;
    let to = to.to_string();
    relocate_prefix(&context, &path, from.as_str(), &to, inv.ignore_externals)?;
    Ok(Exit::Success)
}
