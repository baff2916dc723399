//! `svn lock` and `svn unlock`.

use sylvan_client::lock::{check_homogeneous, lock, unlock};
use sylvan_client::target::{Argument, PathOrUrl};
use sylvan_core::{Error, ErrorCode, Result};
use sylvan_wc::notify::{Action, Notification};

use crate::env::{Env, Exit};
use crate::invocation::Invocation;
use crate::log_message;
use crate::notify::{Notifier, Operation};
use crate::targets;

pub(crate) fn run_lock(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let context = env.client(inv)?;
    log_message::check(inv, &context)?;
    let arguments = targets::read(env, inv, &context)?;
    if arguments.is_empty() {
        return Err(Error::from_code(ErrorCode::CL_INSUFFICIENT_ARGS));
    }
    check_homogeneous(&places(&arguments))
        .map_err(|error| error.wrap_code(ErrorCode::CL_ARG_PARSING_ERROR))?;
    let comment = log_message::comment(inv)?;
    let targets = without_pegs(&arguments)?;
    let mut failed = false;
    let mut notifier = Notifier::new(Operation::Other, inv.quiet, context.current_dir.clone());
    let out = &mut env.out;
    let mut notify = |what: &Notification| {
        failed |= what.action == Action::FailedLock;
        notifier.notify(out, what);
    };
    lock(
        &context,
        &targets,
        comment.as_deref(),
        inv.force,
        &mut notify,
    )?;
    result(failed, "One or more locks could not be obtained")
}

pub(crate) fn run_unlock(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let context = env.client(inv)?;
    let arguments = targets::read(env, inv, &context)?;
    if arguments.is_empty() {
        return Err(Error::from_code(ErrorCode::CL_INSUFFICIENT_ARGS));
    }
    let targets = without_pegs(&arguments)?;
    check_homogeneous(&targets)
        .map_err(|error| error.wrap_code(ErrorCode::CL_ARG_PARSING_ERROR))?;
    let mut failed = false;
    let mut notifier = Notifier::new(Operation::Other, inv.quiet, context.current_dir.clone());
    let out = &mut env.out;
    let mut notify = |what: &Notification| {
        failed |= what.action == Action::FailedUnlock;
        notifier.notify(out, what);
    };
    unlock(&context, &targets, inv.force, &mut notify)?;
    result(failed, "One or more locks could not be released")
}

fn places(arguments: &[Argument]) -> Vec<PathOrUrl> {
    arguments.iter().map(|target| target.at.clone()).collect()
}

fn without_pegs(arguments: &[Argument]) -> Result<Vec<PathOrUrl>> {
    arguments
        .iter()
        .map(|target| target.without_peg().cloned())
        .collect()
}

fn result(failed: bool, message: &str) -> Result<Exit> {
    if failed {
        return Err(Error::new(ErrorCode::ILLEGAL_TARGET, message));
    }
    Ok(Exit::Success)
}
