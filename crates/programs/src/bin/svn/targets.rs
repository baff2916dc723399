//! The targets of a subcommand.

use sylvan_client::target::{Argument, PathOrUrl, Target, canonical_path, canonical_url};
use sylvan_client::{Context, arguments, resolve};
use sylvan_cmdline::print::Output;
use sylvan_cmdline::utf8;
use sylvan_core::{Dirent, Error, ErrorCode, Result, Url};

use crate::env::Env;
use crate::invocation::Invocation;
use crate::notify::{Notifier, Operation};

/// Reads the targets from operands and `--targets`; reserved names are reported and left out.
///
/// # Errors
/// What [`arguments::resolve`] gives.
pub(crate) fn read(env: &mut Env, inv: &Invocation, context: &Context) -> Result<Vec<Argument>> {
    let mut texts = Vec::with_capacity(inv.operands.len());
    for operand in &inv.operands {
        texts.push(utf8::os_text(operand)?.to_owned());
    }
    texts.extend(inv.targets.iter().flatten().cloned());
    let found = arguments::resolve(context, &texts)?;
    if let Some(skipped) = found.skipped {
        env.out.error(skipped.to_lines("svn: Skipping argument: "));
    }
    Ok(found.list)
}

/// As [`read`]; without any the current directory is the target.
///
/// # Errors
/// As [`read`].
pub(crate) fn read_or_current(
    env: &mut Env,
    inv: &Invocation,
    context: &Context,
) -> Result<Vec<Argument>> {
    let mut targets = read(env, inv, context)?;
    if targets.is_empty() {
        targets.push(Argument::current_dir());
    }
    Ok(targets)
}

/// Requires targets to be local paths.
///
/// # Errors
/// `CL_ARG_PARSING_ERROR` for a URL.
pub(crate) fn check_local(targets: &[Argument]) -> Result<()> {
    match targets.iter().find(|target| target.at.is_url()) {
        Some(target) => Err(Error::new(
            ErrorCode::CL_ARG_PARSING_ERROR,
            format!("'{target}' is not a local path"),
        )),
        None => Ok(()),
    }
}

/// Returns local paths, none with a peg revision.
///
/// # Errors
/// `ILLEGAL_TARGET` if there is one.
pub(crate) fn without_pegs(targets: &[Argument]) -> Result<Vec<Dirent>> {
    let mut paths = Vec::with_capacity(targets.len());
    for target in targets {
        if let PathOrUrl::Path(path) = target.without_peg()? {
            paths.push(path.clone());
        }
    }
    Ok(paths)
}

/// Returns a target as a path of which what looks like a peg revision is a part.
pub(crate) fn verbatim_path(target: &Argument) -> Dirent {
    canonical_path(&target.to_string())
}

/// Returns a target as a URL of which what looks like a peg revision is a part.
///
/// # Errors
/// `BAD_URL` if it is none.
pub(crate) fn verbatim_url(target: &Argument) -> Result<Url> {
    canonical_url(&target.to_string())
}

/// Returns a target as it is where servers redirect it to, and tells of that.
///
/// # Errors
/// What [`resolve::follow`] gives.
pub(crate) fn follow(
    out: &mut Output,
    inv: &Invocation,
    context: &Context,
    target: Target,
) -> Result<Target> {
    let is_silent = inv.quiet || inv.xml;
    let mut notifier = Notifier::new(Operation::Other, is_silent, context.current_dir.clone());
    resolve::follow(context, target, &mut |what| notifier.notify(out, what))
}
