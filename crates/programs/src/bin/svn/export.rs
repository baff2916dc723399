//! `svn export`.

use sylvan_client::export::{ExportOptions, export};
use sylvan_client::target::{Argument, PathOrUrl};
use sylvan_core::translate::Eol;
use sylvan_core::{Depth, Dirent, Error, ErrorCode, Result};

use crate::env::{Env, Exit};
use crate::invocation::Invocation;
use crate::notify::{Notifier, Operation};
use crate::targets;

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let context = env.client(inv)?;
    let arguments = targets::read(env, inv, &context)?;
    let (from, to) = match arguments.as_slice() {
        [] => return Err(Error::from_code(ErrorCode::CL_INSUFFICIENT_ARGS)),
        [from] => (from, None),
        [from, to] => (from, Some(to)),
        _ => return Err(Error::from_code(ErrorCode::CL_ARG_PARSING_ERROR)),
    };
    let target = from.target(&context.clock)?;
    let to = match to {
        Some(to) => destination(to)?,
        None => match &target.at {
            PathOrUrl::Url(url) => Dirent::new(&url.basename()),
            PathOrUrl::Path(path) => Dirent::new(path.basename()),
        },
    };
    let native_eol = inv.native_eol.as_deref().map(native_eol).transpose()?;
    let options = ExportOptions {
        revision: inv.start(),
        depth: inv.depth.unwrap_or(Depth::Infinity),
        force: inv.force,
        ignore_externals: inv.ignore_externals,
        ignore_keywords: inv.ignore_keywords,
        native_eol,
    };
    let progress = env.draw_progress(inv);
    let mut notifier = Notifier::new(Operation::Export, inv.quiet, context.current_dir.clone());
    let out = &mut env.out;
    let done = export(&context, &target, &to, &options, &mut |what| {
        notifier.notify(out, what);
    });
    drop(progress);
    let done = done.map(drop).map_err(|error| {
        if error.code() == ErrorCode::WC_OBSTRUCTED_UPDATE && !inv.force {
            return error.context(
                "Destination directory exists; please remove the directory or use --force to \
                 overwrite",
            );
        }
        error
    });
    match (notifier.externals_result(), done) {
        (Err(externals), Err(error)) => Err(externals.attach(error)),
        (externals, done) => externals.and(done).map(|()| Exit::Success),
    }
}

fn destination(to: &Argument) -> Result<Dirent> {
    match to.without_peg()? {
        PathOrUrl::Path(path) => Ok(path.clone()),
        PathOrUrl::Url(url) => Err(Error::new(
            ErrorCode::CL_ARG_PARSING_ERROR,
            format!("'{url}' is not a local path"),
        )),
    }
}

fn native_eol(name: &str) -> Result<Eol> {
    Eol::from_prop(name.as_bytes())
        .filter(|eol| *eol != Eol::Native)
        .ok_or_else(|| {
            Error::new(
                ErrorCode::IO_UNKNOWN_EOL,
                format!("'{name}' is not a valid EOL value"),
            )
        })
}
