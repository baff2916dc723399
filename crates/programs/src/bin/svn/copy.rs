//! `svn copy`.

use sylvan_client::copy::{self, CopyOptions, Mode};
use sylvan_client::target::{PathOrUrl, Target};
use sylvan_core::opt::RevisionSpec;
use sylvan_core::{Error, ErrorCode, Result};

use crate::env::{Env, Exit};
use crate::invocation::Invocation;
use crate::notify::{Notifier, Operation};
use crate::targets;

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let context = env.client(inv)?;
    let arguments = targets::read(env, inv, &context)?;
    let Some((last, sources)) = arguments.split_last().filter(|(_, rest)| !rest.is_empty()) else {
        return Err(Error::from_code(ErrorCode::CL_INSUFFICIENT_ARGS));
    };
    let sources: Vec<Target> = sources
        .iter()
        .map(|source| source.target(&context.clock))
        .collect::<Result<_>>()?;
    let PathOrUrl::Path(target) = last.without_peg()? else {
        return crate::not_yet(env, inv);
    };
    targets::refuse_message(inv)?;
    let mut paths = Vec::new();
    for source in &sources {
        let is_local = |spec| matches!(spec, RevisionSpec::Unspecified | RevisionSpec::Working);
        match &source.at {
            PathOrUrl::Path(path) if is_local(source.peg) && is_local(inv.start()) => {
                paths.push(path.clone());
            }
            _ => return crate::not_yet(env, inv),
        }
    }
    let options = CopyOptions {
        mode: Mode::Copy,
        parents: inv.parents,
    };
    let mut notifier = Notifier::new(Operation::Other, inv.quiet, context.current_dir.clone());
    let out = &mut env.out;
    copy::within_wc(&context, &paths, target, options, &mut |what| {
        notifier.notify(out, what);
    })?;
    Ok(Exit::Success)
}
