//! `svn switch`.

use sylvan_client::Context;
use sylvan_client::relocate::relocate_prefix;
use sylvan_client::switch::{SwitchOptions, switch};
use sylvan_client::target::{Argument, PathOrUrl};
use sylvan_core::{Dirent, Error, ErrorCode, Result};

use crate::env::{Env, Exit};
use crate::invocation::Invocation;
use crate::notify::{Notifier, Operation};
use crate::targets;

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let context = env.client(inv)?;
    let arguments = targets::read(env, inv, &context)?;
    if inv.relocate {
        return rewrite(&context, inv, &arguments).map(|()| Exit::Success);
    }
    let (to, target) = match &arguments[..] {
        [] => return Err(Error::from_code(ErrorCode::CL_INSUFFICIENT_ARGS)),
        [to] => (to, Dirent::default()),
        [to, target] => (to, Dirent::new(&target.to_string())),
        _ => return Err(Error::from_code(ErrorCode::CL_ARG_PARSING_ERROR)),
    };
    let PathOrUrl::Url(url) = &to.at else {
        return Err(Error::new(
            ErrorCode::BAD_URL,
            format!("'{to}' does not appear to be a URL"),
        ));
    };
    targets::check_local(&arguments[1..])?;
    let options = SwitchOptions {
        peg: to.target(&context.clock)?.peg,
        revision: inv.start(),
        depth: inv.set_depth.or(inv.depth),
        depth_is_sticky: inv.set_depth.is_some(),
        ignore_externals: inv.ignore_externals,
        allow_unversioned_obstructions: inv.force,
        ignore_ancestry: inv.ignore_ancestry,
    };
    let progress = env.draw_progress(inv);
    let mut notifier = Notifier::new(Operation::Other, inv.quiet, context.current_dir.clone());
    let out = &mut env.out;
    let done = switch(&context, &target, url, &options, &mut |what| {
        notifier.notify(out, what);
    });
    drop(progress);
    done.map_err(|error| explain(error, &target))?;
    let externals = notifier.externals_result();
    crate::resolve::after(env, inv, &context, &mut notifier)?;
    if !inv.quiet {
        let printed = notifier.print_conflicts(&mut env.out);
        return crate::update::compose(externals, printed).map(|()| Exit::Success);
    }
    externals.map(|()| Exit::Success)
}

/// Says in the user's terms why a working copy cannot be switched.
fn explain(error: Error, target: &Dirent) -> Error {
    let code = error.code();
    if code == ErrorCode::CLIENT_UNRELATED_RESOURCES {
        let target = target.local_style();
        return error.wrap(
            code,
            format!(
                "Path '{target}' does not share common version control ancestry with the requested \
                 switch location.  Use --ignore-ancestry to disable this check."
            ),
        );
    }
    if [ErrorCode::RA_UUID_MISMATCH, ErrorCode::WC_INVALID_SWITCH].contains(&code) {
        return error.wrap(
            code,
            "'svn switch' does not support switching a working copy to a different repository",
        );
    }
    error
}

/// Does what `svn relocate` does now.
fn rewrite(context: &Context, inv: &Invocation, arguments: &[Argument]) -> Result<()> {
    let [from, to, paths @ ..] = arguments else {
        return Err(Error::from_code(ErrorCode::CL_INSUFFICIENT_ARGS));
    };
    if from.at.is_url() != to.at.is_url() {
        return Err(Error::new(
            ErrorCode::INCORRECT_PARAMS,
            format!("'{from}' to '{to}' is not a valid relocation"),
        ));
    }
    relocate_all(context, inv, (from, to), paths)
}

/// Relocates the working copies at `paths`, or the one here.
pub(crate) fn relocate_all(
    context: &Context,
    inv: &Invocation,
    (from, to): (&Argument, &Argument),
    paths: &[Argument],
) -> Result<()> {
    let (from, to) = (from.to_string(), to.to_string());
    if paths.is_empty() {
        return relocate_prefix(
            context,
            &Dirent::default(),
            &from,
            &to,
            inv.ignore_externals,
        );
    }
    for path in paths {
        context.cancel.check()?;
        let PathOrUrl::Path(_) = &path.at else {
            return Err(Error::new(
                ErrorCode::ILLEGAL_TARGET,
                format!("'{path}' is not a local path"),
            ));
        };
        let path = Dirent::new(&path.to_string());
        relocate_prefix(context, &path, &from, &to, inv.ignore_externals)?;
    }
    Ok(())
}
