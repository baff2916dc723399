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
    read_after(env, inv, context, 0)
}

/// As [`read`], from the operands after the first `skip`.
///
/// # Errors
/// As [`read`].
pub(crate) fn read_after(
    env: &mut Env,
    inv: &Invocation,
    context: &Context,
    skip: usize,
) -> Result<Vec<Argument>> {
    let mut texts = Vec::with_capacity(inv.operands.len());
    for operand in inv.operands.iter().skip(skip) {
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

/// Requires targets to be all URLs or all local paths; tells whether they are URLs.
///
/// # Errors
/// `ILLEGAL_TARGET`.
pub(crate) fn are_urls(targets: &[Argument]) -> Result<bool> {
    let urls = targets.iter().filter(|target| target.at.is_url()).count();
    if urls != 0 && urls != targets.len() {
        return Err(Error::new(
            ErrorCode::ILLEGAL_TARGET,
            "Cannot mix repository and working copy targets",
        ));
    }
    Ok(urls != 0)
}

/// As [`are_urls`], for subcommands that have it as a mistake in their arguments.
///
/// # Errors
/// `CL_ARG_PARSING_ERROR`.
pub(crate) fn must_agree(targets: &[Argument]) -> Result<bool> {
    are_urls(targets).map_err(|error| error.wrap_code(ErrorCode::CL_ARG_PARSING_ERROR))
}

/// Refuses a log message where nothing is committed.
///
/// # Errors
/// `CL_UNNECESSARY_LOG_MESSAGE`.
pub(crate) fn refuse_message(inv: &Invocation) -> Result<()> {
    if inv.message.is_none() && inv.file_data.is_none() && inv.revprops.is_empty() {
        return Ok(());
    }
    Err(Error::new(
        ErrorCode::CL_UNNECESSARY_LOG_MESSAGE,
        "Local, non-commit operations do not take a log message or revision properties",
    ))
}

/// Goes on after errors that are about one target alone, which become warnings.
#[derive(Debug)]
pub(crate) struct Attempts {
    codes: &'static [ErrorCode],
    seen: Vec<ErrorCode>,
}

impl Attempts {
    /// Errors of these codes are warned about.
    pub(crate) const fn new(codes: &'static [ErrorCode]) -> Self {
        Self {
            codes,
            seen: Vec::new(),
        }
    }

    /// Takes what came of one target.
    ///
    /// # Errors
    /// Those that are not warned about.
    pub(crate) fn take(&mut self, env: &mut Env, quiet: bool, done: Result<()>) -> Result<()> {
        let Err(error) = done else {
            return Ok(());
        };
        if !self.codes.contains(&error.code()) {
            return Err(error);
        }
        if !quiet {
            env.warn(&error);
        }
        if !self.seen.contains(&error.code()) {
            self.seen.push(error.code());
        }
        Ok(())
    }

    /// Tells whether anything was warned about.
    pub(crate) fn any_failed(&self) -> bool {
        !self.seen.is_empty()
    }

    /// Says in the end what was wrong with some targets.
    ///
    /// # Errors
    /// `ILLEGAL_TARGET` if anything was.
    pub(crate) fn result(self, reason: impl Fn(ErrorCode) -> &'static str) -> Result<()> {
        if self.seen.is_empty() {
            return Ok(());
        }
        let error = Error::from_code(ErrorCode::ILLEGAL_TARGET);
        Err(self
            .seen
            .into_iter()
            .fold(error, |error, code| error.context(reason(code))))
    }
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
