//! Making a working copy shallower: `update --set-depth`.

use rusqlite::params;
use sylvan_core::{Depth, Error, ErrorCode, NodeKind, RelPath, Result};
use sylvan_io::Cancel;

use crate::db::write as rows;
use crate::db::{Layer, Node, NodeState, Presence};
use crate::lock::{self, WcLock};
use crate::notify::{Action, Notification, NotifyFn};
use crate::status::{self, StatusKind, StatusOptions};
use crate::update::{Removal, remove_rows};
use crate::{WorkingCopy, not_found, work_queue};

/// Takes a node out of the working copy (`--set-depth exclude`); files that the user changed stay
/// on disk, and with them the folders they are in.
///
/// # Errors
/// `E200007` for the root, switched, added and deleted nodes, `E155010` if there is no such node,
/// and those of the database and the file system.
pub fn exclude(
    wc: &mut WorkingCopy,
    lock: &WcLock,
    path: &RelPath,
    cancel: &Cancel,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    debug_assert!(path.starts_with(lock.root()), "the lock covers the node");
    let wc = &*wc;
    let cannot = |why: &str| {
        Error::new(
            ErrorCode::UNSUPPORTED_FEATURE,
            format!("Cannot exclude '{}': {why}", wc.local_path(path)),
        )
    };
    if path.is_root() {
        return Err(cannot("it is a working copy root"));
    }
    if lock::is_switched(wc.db(), path)? {
        return Err(cannot("it is a switched path"));
    }
    let node = wc.db().node(path)?.ok_or_else(|| not_found(wc, path))?;
    match node.state() {
        NodeState::NotPresent | NodeState::Excluded | NodeState::ServerExcluded => {
            return Err(not_found(wc, path));
        }
        NodeState::Added => {
            return Err(cannot(
                "it is to be added to the repository. Try commit instead",
            ));
        }
        NodeState::Deleted => {
            return Err(cannot(
                "it is to be deleted from the repository. Try commit instead",
            ));
        }
        _ => {}
    }
    let base = node.base().ok_or_else(|| not_found(wc, path))?;
    if has_something_local(wc, path, cancel)? {
        let depth = base.depth.unwrap_or(Depth::Infinity);
        crop_children(wc, path, depth, Depth::Empty, cancel, notify)?;
        return work_queue::run(wc, cancel);
    }
    let removal = Removal {
        path: path.to_owned(),
        keep: base.revision.map(|rev| (Presence::Excluded, rev)),
        on_disk: true,
    };
    wc.db().write(|| remove_rows(wc.db(), &removal))?;
    work_queue::run(wc, cancel)?;
    notify(&Notification::new(wc.local_path(path), Action::Exclude));
    Ok(())
}

/// Takes out what is deeper than `depth` below a folder.
///
/// # Errors
/// As [`exclude`].
pub fn crop(
    wc: &mut WorkingCopy,
    lock: &WcLock,
    path: &RelPath,
    depth: Depth,
    cancel: &Cancel,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    debug_assert!(path.starts_with(lock.root()), "the lock covers the node");
    let wc = &*wc;
    let unsupported = |text: String| Error::new(ErrorCode::UNSUPPORTED_FEATURE, text);
    match depth {
        Depth::Infinity => return Ok(()),
        Depth::Exclude => {
            return Err(unsupported(
                "Can only crop a working copy with a restrictive depth".to_owned(),
            ));
        }
        _ => {}
    }
    let node = wc.db().node(path)?.ok_or_else(|| not_found(wc, path))?;
    if node.top().is_none_or(|top| top.kind != NodeKind::Dir) {
        return Err(unsupported("Can only crop directories".to_owned()));
    }
    let cannot = |why| unsupported(format!("Cannot crop '{}': {why}", wc.local_path(path)));
    match node.state() {
        NodeState::NotPresent | NodeState::ServerExcluded => return Err(not_found(wc, path)),
        NodeState::Excluded => return Ok(()),
        NodeState::Deleted => {
            return Err(cannot(
                "it is going to be removed from repository. Try commit instead",
            ));
        }
        NodeState::Added => {
            return Err(cannot(
                "it is to be added to the repository. Try commit instead",
            ));
        }
        _ => {}
    }
    let ambient = node
        .base()
        .and_then(|base| base.depth)
        .unwrap_or(Depth::Infinity);
    crop_children(wc, path, ambient, depth, cancel, notify)?;
    work_queue::run(wc, cancel)
}

fn crop_children(
    wc: &WorkingCopy,
    path: &RelPath,
    ambient: Depth,
    depth: Depth,
    cancel: &Cancel,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    cancel.check()?;
    let db = wc.db();
    if ambient > depth {
        db.execute(
            rows::SET_BASE_DEPTH,
            params![db.wc_id(), path.as_str(), depth.as_str()],
        )?;
    }
    for child in db.children(path)? {
        let Some(base) = child.base().filter(|base| !base.file_external) else {
            continue;
        };
        if child.work_layers() > 0
            && (child.state() != NodeState::Deleted
                || has_something_local(wc, &child.path, cancel)?)
        {
            continue;
        }
        let top = child.top().unwrap_or(base);
        let goes = depth < needed(top);
        if !top.presence.is_present() && top.presence != Presence::BaseDeleted {
            if goes {
                remove(wc, &child, false)?;
            }
            continue;
        }
        if goes && !has_something_local(wc, &child.path, cancel)? {
            remove(wc, &child, true)?;
            notify(&Notification::new(
                wc.local_path(&child.path),
                Action::Delete,
            ));
            continue;
        }
        if base.kind == NodeKind::Dir {
            let ambient = base.depth.unwrap_or(Depth::Infinity);
            crop_children(wc, &child.path, ambient, Depth::Empty, cancel, notify)?;
        }
    }
    Ok(())
}

/// Returns the depth that a folder must have to have a child.
fn needed(child: &Layer) -> Depth {
    if child.kind == NodeKind::Dir {
        Depth::Immediates
    } else {
        Depth::Files
    }
}

fn remove(wc: &WorkingCopy, node: &Node, on_disk: bool) -> Result<()> {
    let db = wc.db();
    let removal = Removal {
        path: node.path.clone(),
        keep: None,
        on_disk: on_disk && node.work_layers() == 0,
    };
    db.write(|| {
        let (low, high) = rows::below(&node.path);
        db.execute(
            rows::DELETE_WORKING,
            params![db.wc_id(), node.path.as_str(), low, high],
        )?;
        remove_rows(db, &removal)
    })?;
    Ok(())
}

/// Tells whether there is anything at or below a node that is not in the repository; deletions do
/// not count.
fn has_something_local(wc: &WorkingCopy, path: &RelPath, cancel: &Cancel) -> Result<bool> {
    let mut found = false;
    status::walk(
        wc,
        path,
        &StatusOptions::default(),
        cancel,
        &mut |_, status| {
            found |= !matches!(
                status.node,
                StatusKind::None
                    | StatusKind::Normal
                    | StatusKind::Deleted
                    | StatusKind::Missing
                    | StatusKind::Incomplete
                    | StatusKind::External
                    | StatusKind::Ignored
            );
            Ok(())
        },
    )?;
    Ok(found)
}
