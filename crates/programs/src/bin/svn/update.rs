//! `svn update`.

use sylvan_client::Context;
use sylvan_client::update::{UpdateOptions, update};
use sylvan_core::{Depth, Dirent, Error, Result, Revnum};

use crate::env::{Env, Exit};
use crate::invocation::Invocation;
use crate::notify::{Notifier, Operation};
use crate::targets;

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let context = env.client(inv)?;
    let arguments = targets::read_or_current(env, inv, &context)?;
    let mut paths = targets::without_pegs(&arguments)?;
    targets::check_local(&arguments)?;
    if !inv.changelists.is_empty() {
        let depth = inv.depth.unwrap_or(Depth::Infinity);
        paths = sylvan_client::changelist::paths(&context, &inv.changelists, &paths, depth)?;
    }
    let options = UpdateOptions {
        revision: inv.start(),
        depth: inv.set_depth.or(inv.depth),
        depth_is_sticky: inv.set_depth.is_some(),
        ignore_externals: inv.ignore_externals,
        allow_unversioned_obstructions: inv.force,
        adds_as_modification: inv.adds_as_modification,
        parents: inv.parents,
    };
    let progress = env.draw_progress(inv);
    let mut notifier = Notifier::new(Operation::Other, inv.quiet, context.current_dir.clone());
    let out = &mut env.out;
    let revs = update(&context, &paths, &options, &mut |what| {
        notifier.notify(out, what);
    })?;
    drop(progress);
    let externals = notifier.externals_result();
    let settled = crate::resolve::after(env, inv, &context, &mut notifier);
    if settled.is_err() {
        return compose(externals, settled).map(|()| Exit::Success);
    }
    if !inv.quiet {
        let printed = print_summary(env, &notifier, &context, &paths, &revs)
            .and_then(|()| notifier.print_conflicts(&mut env.out));
        return compose(externals, printed).map(|()| Exit::Success);
    }
    externals.map(|()| Exit::Success)
}

pub(crate) fn compose(first: Result<()>, second: Result<()>) -> Result<()> {
    match (first, second) {
        (Err(error), Err(other)) => Err(Error::attach(error, other)),
        (first, second) => first.and(second),
    }
}

/// Says which revision each of several targets has now.
fn print_summary(
    env: &mut Env,
    notifier: &Notifier,
    context: &Context,
    paths: &[Dirent],
    revs: &[Option<Revnum>],
) -> Result<()> {
    if paths.len() < 2 {
        return Ok(());
    }
    let mut is_first = true;
    for (path, rev) in paths.iter().zip(revs) {
        let Some(rev) = rev else { continue };
        if std::mem::take(&mut is_first) {
            env.out.line("Summary of updates:")?;
        }
        let path = notifier.local(&context.absolute(path));
        env.out
            .line(format_args!("  Updated '{path}' to r{rev}."))?;
    }
    Ok(())
}
