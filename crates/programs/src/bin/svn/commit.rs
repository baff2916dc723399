//! `svn commit`.

use std::sync::{Mutex, PoisonError};

use sylvan_client::commit::{CommitOptions, commit, keeps_locks, message_base};
use sylvan_core::{Depth, NodeKind, Result};
use sylvan_ra::CommitInfo;
use sylvan_wc::notify::{Action, Notification};

use crate::env::{Env, Exit};
use crate::invocation::Invocation;
use crate::log_message::{self, Messages};
use crate::notify::{Notifier, Operation};
use crate::targets;

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let context = env.client(inv)?;
    log_message::check(inv, &context)?;
    let arguments = targets::read_or_current(env, inv, &context)?;
    targets::check_local(&arguments)
        .map_err(|error| error.context("Commit targets must be local paths"))?;
    let paths = targets::without_pegs(&arguments)?;
    let base = message_base(&context, &paths);
    let depth = inv.depth.unwrap_or(Depth::Infinity);
    let options = CommitOptions {
        depth: Some(depth),
        keep_locks: inv.no_unlock || keeps_locks(&context)?,
        keep_changelists: inv.keep_changelists,
        changelists: inv.changelists.clone(),
        include_externals: inv.include_externals,
        revprops: inv.revprops.iter().cloned().collect(),
    };
    let mut messages = Messages::new(inv, &context, env, base)?;
    let mut notifier = Notifier::new(Operation::Other, inv.quiet, context.current_dir.clone());
    let out = Mutex::new(&mut env.out);
    let lock = || out.lock().unwrap_or_else(PoisonError::into_inner);
    let mut warning = (depth < Depth::Infinity && !inv.quiet).then(|| {
        format!(
            "svn: The depth of this commit is '{}', but copies are always performed recursively in \
             the repository.",
            depth.as_str()
        )
    });
    let mut notify = |what: &Notification| {
        notifier.notify(&mut lock(), what);
        let copies = matches!(what.action, Action::CommitCopied | Action::CommitReplaced);
        if copies
            && what.kind == NodeKind::Dir
            && let Some(warning) = warning.take()
        {
            // A line that cannot be printed is no reason to fail.
            let _ = lock().line(warning);
        }
    };
    let mut told = |info: &CommitInfo| match inv.quiet {
        true => Ok(()),
        false => log_message::print_commit(&mut lock(), info),
    };
    let done = commit(
        &context,
        &paths,
        &options,
        &mut |items| messages.ask(items),
        &mut told,
        &mut notify,
    );
    messages.settle(done)?;
    Ok(Exit::Success)
}
