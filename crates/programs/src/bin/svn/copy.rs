//! `svn copy`.

use sylvan_client::copy::{self, CopyOptions, FromRepositoryOptions, Mode};
use sylvan_client::target::{PathOrUrl, Target};
use sylvan_core::opt::RevisionSpec;
use sylvan_core::{Error, ErrorCode, Result};

use crate::env::{Env, Exit};
use crate::invocation::Invocation;
use crate::notify::{Notifier, Operation};
use crate::{targets, url_ops};

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let context = env.client(inv)?;
    if inv.pin_externals {
        return crate::not_yet(env, inv);
    }
    let arguments = targets::read(env, inv, &context)?;
    let Some((last, sources)) = arguments.split_last().filter(|(_, rest)| !rest.is_empty()) else {
        return Err(Error::from_code(ErrorCode::CL_INSUFFICIENT_ARGS));
    };
    let sources: Vec<Target> = sources
        .iter()
        .map(|source| source.target(&context.clock))
        .collect::<Result<_>>()?;
    let target = match last.without_peg()? {
        PathOrUrl::Path(target) => target,
        PathOrUrl::Url(url) => {
            if sources.iter().all(|source| source.at.is_url()) {
                return url_ops::copy(env, inv, &context, &sources, url, false);
            }
            return crate::not_yet(env, inv);
        }
    };
    targets::refuse_message(inv)?;
    let any_url = sources.iter().any(|source| source.at.is_url());
    if any_url && !sources.iter().all(|source| source.at.is_url()) {
        return Err(Error::new(
            ErrorCode::UNSUPPORTED_FEATURE,
            "Cannot mix repository and working copy sources",
        ));
    }
    let is_working = |spec| matches!(spec, RevisionSpec::Unspecified | RevisionSpec::Working);
    let from_repository =
        any_url || !is_working(inv.start()) || sources.iter().any(|source| !is_working(source.peg));
    let operation = if any_url {
        Operation::Checkout
    } else {
        Operation::Other
    };
    let mut notifier = Notifier::new(operation, inv.quiet, context.current_dir.clone());
    let out = &mut env.out;
    let mut notify = |what: &_| notifier.notify(out, what);
    if from_repository {
        let options = FromRepositoryOptions {
            revision: inv.start(),
            parents: inv.parents,
            ignore_externals: inv.ignore_externals,
        };
        copy::from_repository(&context, &sources, target, options, &mut notify)?;
        return notifier.externals_result().map(|()| Exit::Success);
    }
    let paths: Vec<_> = sources
        .iter()
        .filter_map(|source| source.at.as_path().cloned())
        .collect();
    let options = CopyOptions {
        mode: Mode::Copy,
        parents: inv.parents,
    };
    copy::within_wc(&context, &paths, target, options, &mut notify)?;
    Ok(Exit::Success)
}
