//! Changelists as a filter of targets.

use std::collections::BTreeSet;

use sylvan_core::{Depth, Dirent, Result};
use sylvan_wc::WorkingCopy;
use sylvan_wc::status::{self, StatusOptions};

use crate::Context;

/// Lists the nodes at and below `paths` that are in one of the changelists, in order of path.
///
/// # Errors
/// `E155007` and `E155010` for a path that is not versioned.
pub fn paths(
    context: &Context,
    changelists: &[String],
    paths: &[Dirent],
    depth: Depth,
) -> Result<Vec<Dirent>> {
    let mut found = BTreeSet::new();
    let options = StatusOptions {
        depth: Some(depth),
        all: true,
        ..StatusOptions::default()
    };
    for path in paths {
        let (wc, at) = WorkingCopy::open(&context.absolute(path), &context.wc)?;
        status::walk(&wc, &at, &options, &context.cancel, &mut |node, status| {
            let chosen = status
                .changelist
                .is_some_and(|changelist| changelists.contains(&changelist));
            if chosen {
                let below = node.strip_prefix(&at).unwrap_or(node);
                found.insert(path.join(below.as_str()));
            }
            Ok(())
        })?;
    }
    Ok(found.into_iter().collect())
}

/// Puts files into a changelist, or with `None` out of the one they are in.
///
/// # Errors
/// Those of [`sylvan_wc::changelist::set`]; `E155007` outside of a working copy.
pub fn set(
    context: &Context,
    path: &Dirent,
    changelist: Option<&str>,
    depth: Depth,
    only: &[String],
    notify: &mut sylvan_wc::notify::NotifyFn<'_>,
) -> Result<()> {
    let (mut wc, target) = WorkingCopy::open(&context.absolute(path), &context.wc)?;
    let cancel = &context.cancel;
    sylvan_wc::changelist::set(&mut wc, &target, changelist, depth, only, cancel, notify)
}
