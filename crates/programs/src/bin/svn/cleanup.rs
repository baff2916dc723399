//! `svn cleanup`.

use sylvan_client::cleanup::cleanup;
use sylvan_core::Result;
use sylvan_wc::cleanup::CleanupOptions;

use crate::env::{Env, Exit};
use crate::invocation::Invocation;
use crate::notify::{Notifier, Operation};
use crate::targets;

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let context = env.client(inv)?;
    let arguments = targets::read_or_current(env, inv, &context)?;
    targets::check_local(&arguments)?;
    let paths = targets::without_pegs(&arguments)?;
    let mut options = CleanupOptions::standard();
    options.include_externals = inv.include_externals;
    options.global_ignores = sylvan_client::status::global_ignores(&context.config);
    if inv.remove_unversioned || inv.remove_ignored || inv.vacuum_pristines {
        options = CleanupOptions {
            break_locks: false,
            clear_dav_cache: false,
            vacuum_pristines: inv.vacuum_pristines,
            remove_unversioned: inv.remove_unversioned,
            remove_ignored: inv.remove_ignored,
            ..options
        };
    }
    let mut notifier = Notifier::new(Operation::Other, inv.quiet, context.current_dir.clone());
    for path in &paths {
        context.cancel.check()?;
        let out = &mut env.out;
        cleanup(&context, &context.absolute(path), &options, &mut |what| {
            notifier.notify(out, what);
        })?;
    }
    Ok(Exit::Success)
}
