//! `svn move`.

use sylvan_client::copy::{self, CopyOptions, Mode};
use sylvan_client::target::{PathOrUrl, Target};
use sylvan_core::opt::RevisionSpec;
use sylvan_core::{Error, ErrorCode, Result};
use sylvan_wc::copy::MixedRevisions;

use crate::delete::may_need_force;
use crate::env::{Env, Exit};
use crate::invocation::Invocation;
use crate::notify::{Notifier, Operation};
use crate::{targets, url_ops};

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let context = env.client(inv)?;
    let arguments = targets::read(env, inv, &context)?;
    let Some((last, sources)) = arguments.split_last().filter(|(_, rest)| !rest.is_empty()) else {
        return Err(Error::from_code(ErrorCode::CL_INSUFFICIENT_ARGS));
    };
    if !matches!(inv.start(), RevisionSpec::Unspecified | RevisionSpec::Head) {
        return Err(Error::new(
            ErrorCode::UNSUPPORTED_FEATURE,
            "Cannot specify revisions (except HEAD) with move operations",
        ));
    }
    let are_urls = sources.iter().filter(|source| source.at.is_url()).count();
    let target = match &last.at {
        PathOrUrl::Path(target) => target,
        PathOrUrl::Url(url) if are_urls == sources.len() => {
            let sources: Vec<Target> = sources
                .iter()
                .map(|source| source.without_peg().cloned())
                .map(|at| {
                    let peg = RevisionSpec::Unspecified;
                    at.map(|at| Target { at, peg })
                })
                .collect::<Result<_>>()?;
            return url_ops::copy(env, inv, &context, &sources, url, true);
        }
        PathOrUrl::Url(_) => {
            return Err(Error::new(
                ErrorCode::UNSUPPORTED_FEATURE,
                "Moves between the working copy and the repository are not supported",
            ));
        }
    };
    targets::refuse_message(inv)?;
    let paths = targets::without_pegs(sources)?;
    if are_urls > 0 {
        return Err(Error::new(
            ErrorCode::UNSUPPORTED_FEATURE,
            "Moves between the working copy and the repository are not supported",
        ));
    }
    let mixed = if inv.allow_mixed_revisions {
        MixedRevisions::Allow
    } else {
        MixedRevisions::Refuse
    };
    let options = CopyOptions {
        mode: Mode::Move(mixed),
        parents: inv.parents,
    };
    let mut notifier = Notifier::new(Operation::Other, inv.quiet, context.current_dir.clone());
    let out = &mut env.out;
    copy::within_wc(&context, &paths, target, options, &mut |what| {
        notifier.notify(out, what);
    })
    .map_err(may_need_force)?;
    Ok(Exit::Success)
}
