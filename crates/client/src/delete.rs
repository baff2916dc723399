//! `svn delete` in working copies.

use std::collections::BTreeMap;

use sylvan_core::{Depth, Dirent, Error, ErrorCode, RelPath, RelPathBuf, Result};
use sylvan_wc::WorkingCopy;
use sylvan_wc::delete::OnDisk;
use sylvan_wc::lock::{Anchor, WcLock};
use sylvan_wc::notify::NotifyFn;
use sylvan_wc::status::{self, StatusKind, StatusOptions};

use crate::Context;

/// What is deleted, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeleteOptions {
    /// Local changes and what is not under version control go as well.
    pub force: bool,
    /// Files stay on disk.
    pub keep_local: bool,
}

/// Deletes nodes of working copies, one working copy after the other.
///
/// # Errors
/// `E195006`, `E200005`, `E145001` for what would be lost, unless forced; `E155030` for an external;
/// those of [`sylvan_wc::delete::delete`].
pub fn delete(
    context: &Context,
    paths: &[Dirent],
    options: DeleteOptions,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let mut copies: Vec<(WorkingCopy, Vec<RelPathBuf>)> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for path in paths {
        context.cancel.check()?;
        let (wc, target) = WorkingCopy::open(&context.absolute(path), &context.wc)?;
        let at = *known
            .entry(wc.root().as_str().to_owned())
            .or_insert(copies.len());
        if at == copies.len() {
            copies.push((wc, Vec::new()));
        }
        if !copies[at].1.contains(&target) {
            copies[at].1.push(target);
        }
    }
    for (mut wc, targets) in copies {
        let common = common_ancestor(&targets);
        WcLock::with(&mut wc, &common, Anchor::Parent, |wc, lock| {
            let on_disk = check(context, wc, &targets, options)?;
            sylvan_wc::delete::delete(wc, lock, &targets, on_disk, &context.cancel, notify)
        })?;
    }
    Ok(())
}

fn common_ancestor(paths: &[RelPathBuf]) -> RelPathBuf {
    let mut common: &RelPath = match paths.first() {
        Some(first) => first,
        None => return RelPathBuf::root(),
    };
    for path in paths {
        while !path.starts_with(common) {
            common = common.parent().unwrap_or(RelPath::ROOT);
        }
    }
    common.to_owned()
}

/// Checks that nothing is lost; tells what becomes of the files.
fn check(
    context: &Context,
    wc: &WorkingCopy,
    targets: &[RelPathBuf],
    options: DeleteOptions,
) -> Result<OnDisk> {
    let mut any_there = false;
    for target in targets {
        check_external(wc, target)?;
        any_there |= options.force || options.keep_local || !check_unchanged(context, wc, target)?;
    }
    // Names that differ only in case may be the same file on disk; what is missing is left alone.
    Ok(if options.keep_local || !any_there {
        OnDisk::Keep
    } else {
        OnDisk::Remove
    })
}

pub(crate) fn check_external(wc: &WorkingCopy, target: &RelPath) -> Result<()> {
    match wc.db().external(target)? {
        None => Ok(()),
        Some(external) => Err(Error::new(
            ErrorCode::WC_CANNOT_DELETE_FILE_EXTERNAL,
            format!(
                "Cannot remove the external at '{}'; please edit or delete the svn:externals \
                 property on '{}'",
                wc.local_path(target),
                wc.local_path(&external.defined_on)
            ),
        )),
    }
}

/// Requires a node and what is below it to have no local changes and nothing that is not under
/// version control; tells whether the node is missing on disk.
pub(crate) fn check_unchanged(
    context: &Context,
    wc: &WorkingCopy,
    target: &RelPath,
) -> Result<bool> {
    let options = StatusOptions {
        depth: Some(Depth::Infinity),
        global_ignores: crate::status::global_ignores(&context.config),
        ..StatusOptions::default()
    };
    let mut is_missing = false;
    status::walk(
        wc,
        target,
        &options,
        &context.cancel,
        &mut |path, status| {
            let local = wc.local_path(path);
            is_missing |= status.node == StatusKind::Missing && path == target;
            let is_unmodified_copy =
                matches!(status.node, StatusKind::Added | StatusKind::Replaced)
                    && status.text == StatusKind::Normal
                    && matches!(status.props, StatusKind::Normal | StatusKind::None);
            let harmless = matches!(
                status.node,
                StatusKind::Normal | StatusKind::Deleted | StatusKind::Missing
            );
            if status.node == StatusKind::Obstructed {
                Err(Error::new(
                    ErrorCode::NODE_UNEXPECTED_KIND,
                    format!(
                        "'{local}' is in the way of the resource actually under version control"
                    ),
                ))
            } else if !status.versioned {
                Err(Error::new(
                    ErrorCode::UNVERSIONED_RESOURCE,
                    format!("'{local}' is not under version control"),
                ))
            } else if is_unmodified_copy || harmless {
                Ok(())
            } else {
                Err(Error::new(
                    ErrorCode::CLIENT_MODIFIED,
                    format!("'{local}' has local modifications -- commit or revert them first"),
                ))
            }
        },
    )?;
    Ok(is_missing)
}
