//! The forms of `mkdir`, `delete`, `copy` and `move` that change a repository directly, and what sets
//! properties of revisions.

use std::sync::{Mutex, PoisonError};

use sylvan_client::Context;
use sylvan_client::target::{Argument, Target};
use sylvan_client::url_ops::{self, CopyOptions};
use sylvan_core::{Props, Result, Url};
use sylvan_ra::CommitInfo;
use sylvan_wc::notify::Notification;

use crate::env::{Env, Exit};
use crate::invocation::Invocation;
use crate::log_message::{self, Messages};
use crate::mkdir::with_hint;
use crate::notify::{Notifier, Operation};
use crate::props;

fn revprops(inv: &Invocation) -> Props {
    inv.revprops.iter().cloned().collect()
}

fn notifier(inv: &Invocation, context: &Context) -> Notifier {
    Notifier::new(Operation::Other, inv.quiet, context.current_dir.clone())
}

/// Takes targets as URLs, without empty peg revisions.
fn urls(arguments: &[Argument]) -> Result<Vec<Url>> {
    let mut places = Vec::new();
    for argument in arguments {
        places.push(argument.without_peg()?.clone());
    }
    Ok(url_ops::urls(&places))
}

pub(crate) fn mkdir(
    env: &mut Env,
    inv: &Invocation,
    context: &Context,
    arguments: &[Argument],
) -> Result<Exit> {
    log_message::check(inv, context)?;
    let urls = urls(arguments)?;
    let mut messages = Messages::new(inv, context, env, None)?;
    let mut notifier = notifier(inv, context);
    let out = &mut env.out;
    let done = url_ops::mkdir(
        context,
        &urls,
        inv.parents,
        &revprops(inv),
        &mut |items| messages.ask(items),
        &mut |what: &Notification| notifier.notify(out, what),
    );
    let done = done.map_err(|error| with_hint(error, inv.parents));
    tell(env, inv, messages.settle(done)?)
}

pub(crate) fn delete(
    env: &mut Env,
    inv: &Invocation,
    context: &Context,
    arguments: &[Argument],
) -> Result<Exit> {
    log_message::check(inv, context)?;
    let urls = urls(arguments)?;
    let mut messages = Messages::new(inv, context, env, None)?;
    let mut notifier = notifier(inv, context);
    let out = Mutex::new(&mut env.out);
    let lock = || out.lock().unwrap_or_else(PoisonError::into_inner);
    let done = url_ops::delete(
        context,
        &urls,
        &revprops(inv),
        &mut |items| messages.ask(items),
        &mut |info| match inv.quiet {
            true => Ok(()),
            false => log_message::print_commit(&mut lock(), info),
        },
        &mut |what: &Notification| notifier.notify(&mut lock(), what),
    );
    messages.settle(done)?;
    Ok(Exit::Success)
}

pub(crate) fn copy(
    env: &mut Env,
    inv: &Invocation,
    context: &Context,
    sources: &[Target],
    target: &Url,
    is_move: bool,
) -> Result<Exit> {
    log_message::check(inv, context)?;
    let options = CopyOptions {
        is_move,
        parents: inv.parents,
        revision: inv.start(),
        revprops: revprops(inv),
    };
    let mut messages = Messages::new(inv, context, env, None)?;
    let mut notifier = notifier(inv, context);
    let out = &mut env.out;
    let done = url_ops::copy(
        context,
        sources,
        target,
        &options,
        &mut |items| messages.ask(items),
        &mut |what: &Notification| notifier.notify(out, what),
    );
    tell(env, inv, messages.settle(done)?)
}

fn tell(env: &mut Env, inv: &Invocation, info: Option<CommitInfo>) -> Result<Exit> {
    if let Some(info) = info.filter(|_| !inv.quiet) {
        log_message::print_commit(&mut env.out, &info)?;
    }
    Ok(Exit::Success)
}

/// Sets or deletes a property of a revision.
pub(crate) fn revprop(
    env: &mut Env,
    inv: &Invocation,
    context: &Context,
    name: &str,
    value: Option<&[u8]>,
    arguments: &[Argument],
) -> Result<Exit> {
    let mut arguments = arguments.to_vec();
    if arguments.is_empty() {
        arguments.push(Argument::current_dir());
    }
    let url = props::revprop_url(context, inv, &arguments)?;
    let mut notifier = notifier(inv, context);
    let out = &mut env.out;
    url_ops::set_revprop(
        context,
        &url,
        inv.start(),
        name,
        value,
        None,
        inv.force,
        &mut |what: &Notification| notifier.notify(out, what),
    )?;
    Ok(Exit::Success)
}
