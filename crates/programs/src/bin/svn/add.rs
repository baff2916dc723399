//! `svn add`.

use sylvan_client::add::{self, AddOptions};
use sylvan_core::{Depth, Error, ErrorCode, Result};

use crate::env::{Env, Exit};
use crate::invocation::{Invocation, Options};
use crate::notify::{Notifier, Operation};
use crate::targets::{self, Attempts};

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let context = env.client(inv)?;
    let arguments = targets::read(env, inv, &context)?;
    if arguments.is_empty() {
        return Err(Error::from_code(ErrorCode::CL_INSUFFICIENT_ARGS));
    }
    let paths = targets::without_pegs(&arguments)?;
    targets::check_local(&arguments)?;
    let options = AddOptions {
        depth: inv.depth.unwrap_or(Depth::Infinity),
        force: inv.force,
        no_ignore: inv.no_ignore,
        auto_props: auto_props(inv),
        parents: inv.parents,
    };
    let mut notifier = Notifier::new(Operation::Other, inv.quiet, context.current_dir.clone());
    let mut attempts = Attempts::new(&[ErrorCode::ENTRY_EXISTS, ErrorCode::WC_PATH_NOT_FOUND]);
    for path in &paths {
        context.cancel.check()?;
        let out = &mut env.out;
        let done = add::add(&context, path, &options, &mut |what| {
            notifier.notify(out, what);
        });
        attempts.take(env, inv.quiet, done)?;
    }
    attempts
        .result(|code| match code {
            ErrorCode::ENTRY_EXISTS => {
                "Could not add all targets because some targets are already versioned"
            }
            _ => "Could not add all targets because some targets don't exist",
        })
        .map(|()| Exit::Success)
}

/// What `--auto-props` and `--no-auto-props` say.
pub(crate) const fn auto_props(options: &Options) -> Option<bool> {
    match (options.auto_props, options.no_auto_props) {
        (_, true) => Some(false),
        (true, false) => Some(true),
        (false, false) => None,
    }
}
