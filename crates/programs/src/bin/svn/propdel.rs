//! `svn propdel`.

use sylvan_client::propset::{PropSetOptions, propset};
use sylvan_client::target::Argument;
use sylvan_core::opt::RevisionSpec;
use sylvan_core::{Depth, Error, ErrorCode, Result};

use crate::env::{Env, Exit};
use crate::invocation::Invocation;
use crate::notify::{Notifier, Operation};
use crate::propset::check_local;
use crate::{props, targets};

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let context = env.client(inv)?;
    let name = props::name(inv)?;
    let mut arguments = targets::read_after(env, inv, &context, 1)?;
    if arguments.is_empty() {
        arguments.push(Argument::current_dir());
    }
    let paths = targets::without_pegs(&arguments)?;
    if inv.revprop {
        return crate::url_ops::revprop(env, inv, &context, name, None, &arguments);
    }
    if inv.start() != RevisionSpec::Unspecified {
        return Err(Error::new(
            ErrorCode::CLIENT_PROPERTY_NAME,
            format!("Cannot specify revision for deleting versioned property '{name}'"),
        ));
    }
    check_local(&arguments)?;
    let options = PropSetOptions {
        name,
        value: None,
        depth: inv.depth.unwrap_or(Depth::Empty),
        force: false,
        changelists: &inv.changelists,
    };
    let mut notifier = Notifier::new(Operation::Other, inv.quiet, context.current_dir.clone());
    let out = &mut env.out;
    propset(&context, &paths, &options, &mut |what| {
        notifier.notify(out, what);
    })?;
    Ok(Exit::Success)
}
