//! `svn delete` in a working copy.

use std::io::ErrorKind;

use sylvan_core::{Error, ErrorCode, NodeKind, RelPath, RelPathBuf, Result};
use sylvan_io::Cancel;
use sylvan_io::file::{self, FileKind};

use crate::conflict::Conflict;
use crate::db::{Node, NodeState};
use crate::lock::WcLock;
use crate::notify::{Action, Notification, NotifyFn};
use crate::site::Site;
use crate::work_queue::item;
use crate::working::delete::{Deletion, delete_node};
use crate::{WorkingCopy, work_queue};

/// What becomes of files and folders whose nodes are deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDisk {
    /// They are removed, folders with all in them.
    Remove,
    /// They stay.
    Keep,
}

/// Deletes nodes, all in one transaction, and what they are on disk. What is not under version
/// control is removed from the disk.
///
/// # Errors
/// `E155010` for hidden nodes, `E155035` for roots and nodes that the server or the user excluded,
/// `E125001` for a path that does not exist; nothing has changed then but the unversioned targets
/// before it.
pub fn delete(
    wc: &mut WorkingCopy,
    lock: &WcLock,
    targets: &[RelPathBuf],
    on_disk: OnDisk,
    cancel: &Cancel,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let wc = &*wc;
    let site = Site::of(wc)?;
    let mut nodes = Vec::new();
    for target in targets {
        debug_assert!(target.starts_with(lock.root()), "the lock covers the node");
        cancel.check()?;
        match wc.db().versioned(target)? {
            Some(node) => {
                check(wc, &node)?;
                nodes.push(node);
            }
            None if on_disk == OnDisk::Remove => erase(wc, &site, target, cancel)?,
            None => {}
        }
    }
    if nodes.is_empty() {
        return Ok(());
    }
    let how = Deletion {
        moved_to: None,
        forget_externals: on_disk == OnDisk::Remove,
    };
    let mut gone = wc.db().write(|| {
        let mut gone = Vec::new();
        for node in &nodes {
            cancel.check()?;
            gone.extend(delete_node(wc, &node.path, how)?);
            if on_disk == OnDisk::Remove {
                for item in removal_items(&site, node)? {
                    wc.db().put_work_item(&item)?;
                }
            }
        }
        Ok(gone)
    })?;
    gone.sort();
    for (path, kind) in gone {
        notify(&Notification::new(wc.local_path(&path), Action::Delete).kind(kind));
    }
    work_queue::run(wc, cancel)
}

fn check(wc: &WorkingCopy, node: &Node) -> Result<()> {
    let local = wc.local_path(&node.path);
    let unexpected = |text: String| Error::new(ErrorCode::WC_PATH_UNEXPECTED_STATUS, text);
    match node.state() {
        NodeState::Excluded | NodeState::NotPresent => {
            return Err(Error::new(
                ErrorCode::WC_PATH_NOT_FOUND,
                format!("'{local}' cannot be deleted"),
            ));
        }
        _ => {}
    }
    if node.path.is_root() {
        return Err(unexpected(format!(
            "'{local}' is the root of a working copy and cannot be deleted"
        )));
    }
    let is_repos_root = node.top().is_some_and(|top| {
        top.op_depth == 0 && top.repos_path.as_deref().is_some_and(RelPath::is_root)
    });
    if is_repos_root {
        return Err(unexpected(format!(
            "'{local}' represents the repository root and cannot be deleted"
        )));
    }
    Ok(())
}

/// Returns the work that removes a node and the files that tell of its conflicts.
fn removal_items(site: &Site, node: &Node) -> Result<Vec<Vec<u8>>> {
    let is_dir = node.top().is_some_and(|top| top.kind == NodeKind::Dir);
    let mut items = vec![if is_dir {
        item::dir_remove_all(&node.path)
    } else {
        item::file_remove(&node.path)
    }];
    for marker in conflict_markers(node.actual.conflict.as_deref())? {
        if site.root.lstat(&marker)?.is_some_and(|meta| meta.is_file()) {
            items.push(item::file_remove(&marker));
        }
    }
    Ok(items)
}

/// Lists the files that tell of a conflict.
///
/// # Errors
/// Those of [`Conflict::parse`].
pub(crate) fn conflict_markers(stored: Option<&[u8]>) -> Result<Vec<RelPathBuf>> {
    let Some(stored) = stored else {
        return Ok(Vec::new());
    };
    let conflict = Conflict::parse(stored)?;
    let text = conflict.text.unwrap_or_default();
    let prop = conflict.props.and_then(|props| props.marker);
    Ok([text.old, text.mine, text.theirs, prop]
        .into_iter()
        .flatten()
        .collect())
}

/// Removes something that is not under version control.
fn erase(wc: &WorkingCopy, site: &Site, path: &RelPath, cancel: &Cancel) -> Result<()> {
    let local = wc.local_path(path);
    let missing = || Error::new(ErrorCode::BAD_FILENAME, format!("'{local}' does not exist"));
    let found = match site.root.lstat(path) {
        Err(error) if file::error_kind(&error) == ErrorKind::NotADirectory => None,
        found => found?,
    };
    match found.ok_or_else(missing)?.kind {
        FileKind::Dir => site.root.remove_tree(path, cancel),
        FileKind::File | FileKind::Symlink | FileKind::Other => site.root.remove(path),
    }
}
