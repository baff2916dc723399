//! `svn changelist`.

use sylvan_client::{Context, changelist};
use sylvan_cmdline::utf8;
use sylvan_core::{Depth, Dirent, Error, ErrorCode, Result};

use crate::env::{Env, Exit};
use crate::invocation::Invocation;
use crate::notify::{Notifier, Operation};
use crate::targets::{self, Attempts};

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let context = env.client(inv)?;
    let too_few = || Error::from_code(ErrorCode::CL_INSUFFICIENT_ARGS);
    let name = match inv.operands.first() {
        _ if inv.remove => None,
        Some(name) => Some(utf8::os_text(name)?),
        None => return Err(too_few()),
    };
    let arguments = targets::read_after(env, inv, &context, usize::from(!inv.remove))?;
    if arguments.is_empty() {
        return Err(too_few());
    }
    targets::check_local(&arguments)?;
    let paths = targets::without_pegs(&arguments)?;
    let mut attempts = Attempts::new(&[
        ErrorCode::UNVERSIONED_RESOURCE,
        ErrorCode::WC_PATH_NOT_FOUND,
    ]);
    let done = set(env, inv, &context, name, &paths);
    attempts.take(env, inv.quiet, done)?;
    attempts
        .result(|code| match code {
            ErrorCode::WC_PATH_NOT_FOUND => {
                "Could not set changelists on all targets because some targets don't exist"
            }
            _ => "Could not set changelists on all targets because some targets are not versioned",
        })
        .map(|()| Exit::Success)
}

fn set(
    env: &mut Env,
    inv: &Invocation,
    context: &Context,
    name: Option<&str>,
    paths: &[Dirent],
) -> Result<()> {
    if name.is_some_and(str::is_empty) {
        return Err(Error::new(
            ErrorCode::BAD_CHANGELIST_NAME,
            "Target changelist name must not be empty",
        ));
    }
    let depth = inv.depth.unwrap_or(Depth::Empty);
    let mut notifier = Notifier::new(Operation::Other, inv.quiet, context.current_dir.clone());
    let out = &mut env.out;
    paths.iter().try_for_each(|path| {
        changelist::set(context, path, name, depth, &inv.changelists, &mut |what| {
            notifier.notify(out, what);
        })
    })
}
