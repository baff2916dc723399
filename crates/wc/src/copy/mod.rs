//! `svn copy` and `svn move` within a working copy.
//!
//! First is found out what the disk needs, and modified files are copied to the administrative
//! folder. Then one transaction writes all rows and the work items that put files into place: those
//! of copies from pristine texts and from the prepared files, what is moved by renaming it.

pub mod adopt;
mod disk;
mod rows;

use sylvan_core::{Error, ErrorCode, NodeKind, RelPath, Result};
use sylvan_io::Cancel;

use crate::db::{Node, NodeState};
use crate::lock::WcLock;
use crate::notify::{Action, Notification, NotifyFn};
use crate::site::Site;
use crate::work_queue::item;
use crate::working::delete::{Deletion, delete_node};
use crate::{WorkingCopy, not_found, revision_status, scan, work_queue};
use rows::RowCopier;

/// What a move may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MixedRevisions {
    /// A tree of several revisions is not moved.
    Refuse,
    /// It is copied and deleted, without a record of the move.
    Allow,
}

/// Copies a node with all below it, with its local changes and what is not under version control.
///
/// # Errors
/// `E150000` if source or target folder are not under version control, `E155035` for a deleted
/// source, `E155023` for a target in a deleted folder or of another repository, `E150002` if the
/// target exists; nothing has changed then.
pub fn copy(
    wc: &mut WorkingCopy,
    lock: &WcLock,
    from: &RelPath,
    to: &RelPath,
    cancel: &Cancel,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    debug_assert!(to.starts_with(lock.root()), "the lock covers the target");
    let wc = &*wc;
    let site = Site::of(wc)?;
    let source = check(wc, from, false)?;
    check_target(wc, &source, wc, &site, to)?;
    let prepared = disk::prepare(wc, (&site, &site), from, to, cancel)?;
    let copied = wc.db().write(|| {
        RowCopier::copy(wc).tree(from, to)?;
        for item in &prepared.items {
            wc.db().put_work_item(item)?;
        }
        Ok(())
    });
    if let Err(error) = copied {
        return Err(prepared.give_up(&site, error));
    }
    let run = work_queue::run(wc, cancel);
    notify(&Notification::new(wc.local_path(to), Action::Add).kind(kind_of(&source)));
    run
}

/// As [`copy`], from another working copy; a move is a copy, whose source is deleted by the caller.
///
/// # Errors
/// As [`copy`]; nothing has changed then but the pristine store.
pub fn between(
    (source_wc, from): (&WorkingCopy, &RelPath),
    wc: &mut WorkingCopy,
    lock: &WcLock,
    to: &RelPath,
    is_move: bool,
    cancel: &Cancel,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    debug_assert!(to.starts_with(lock.root()), "the lock covers the target");
    let wc = &*wc;
    let (source_site, site) = (Site::of(source_wc)?, Site::of(wc)?);
    let source = check(source_wc, from, is_move)?;
    check_target(source_wc, &source, wc, &site, to)?;
    let (here, there) = ((source_wc, &source_site), (wc, &site));
    let pristines = disk::transfer_pristines(here, there, from, cancel)?;
    let prepared = disk::prepare(source_wc, (&source_site, &site), from, to, cancel)?;
    let copied = wc.db().write(|| {
        for (sha1, md5, size) in &pristines {
            wc.db().put_pristine(sha1, md5, *size, 0)?;
        }
        RowCopier::between(source_wc, wc).tree(from, to)?;
        for item in &prepared.items {
            wc.db().put_work_item(item)?;
        }
        Ok(())
    });
    if let Err(error) = copied {
        return Err(prepared.give_up(&site, error));
    }
    let run = work_queue::run(wc, cancel);
    notify(&Notification::new(wc.local_path(to), Action::Add).kind(kind_of(&source)));
    run
}

/// Moves a node with all below it, with its local changes and what is not under version control.
///
/// # Errors
/// As [`copy`]; `E155035` for roots, `E155040` for a tree of several revisions, unless allowed.
pub fn rename(
    wc: &mut WorkingCopy,
    lock: &WcLock,
    from: &RelPath,
    to: &RelPath,
    mixed: MixedRevisions,
    cancel: &Cancel,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    debug_assert!(
        to.starts_with(lock.root()) && from.starts_with(lock.root()),
        "the lock covers both"
    );
    let wc = &*wc;
    let site = Site::of(wc)?;
    let source = check(wc, from, true)?;
    check_target(wc, &source, wc, &site, to)?;
    if site.root.lstat(from)?.is_none() {
        const ENOENT: ErrorCode = ErrorCode::from_errno(2);
        return Err(Error::new(
            ENOENT,
            format!(
                "Can't move '{}' to '{}': No such file or directory",
                wc.local_path(from),
                wc.local_path(to)
            ),
        ));
    }
    let is_recorded = is_one_revision(wc, &source, mixed)?;
    let markers = disk::markers_of_moved(wc, from, to, kind_of(&source))?;
    let mut gone = wc.db().write(|| {
        let copier = if is_recorded {
            RowCopier::moved(wc, to.depth())
        } else {
            RowCopier::copy(wc)
        };
        copier.tree(from, to)?;
        if is_recorded {
            rows::forget_move_back(wc, to, from)?;
        }
        let gone = delete_node(
            wc,
            from,
            Deletion {
                moved_to: is_recorded.then_some(to),
                forget_externals: true,
            },
        )?;
        wc.db().put_work_item(&item::file_move(from, to))?;
        for marker in &markers {
            wc.db().put_work_item(&item::file_remove(marker))?;
        }
        Ok(gone)
    })?;
    let run = work_queue::run(wc, cancel);
    notify(&Notification::new(wc.local_path(to), Action::Add).kind(kind_of(&source)));
    gone.sort();
    for (path, kind) in gone {
        notify(&Notification::new(wc.local_path(&path), Action::Delete).kind(kind));
    }
    run
}

fn kind_of(node: &Node) -> NodeKind {
    node.top().map_or(NodeKind::Unknown, |top| top.kind)
}

/// Checks that a node can be copied; returns it.
fn check(wc: &WorkingCopy, from: &RelPath, is_move: bool) -> Result<Node> {
    let source = wc
        .db()
        .versioned(from)?
        .ok_or_else(|| unversioned(wc, from))?;
    let local = wc.local_path(from);
    let unexpected = |text: String| Err(Error::new(ErrorCode::WC_PATH_UNEXPECTED_STATUS, text));
    match source.state() {
        NodeState::Deleted => {
            return unexpected(format!("Deleted node '{local}' can't be copied."));
        }
        NodeState::Excluded | NodeState::ServerExcluded | NodeState::NotPresent => {
            return Err(not_found(wc, from));
        }
        _ => {}
    }
    if is_move && from.is_root() {
        return unexpected(format!(
            "'{local}' is the root of a working copy and cannot be moved"
        ));
    }
    let is_repos_root = source.top().is_some_and(|top| {
        top.op_depth == 0 && top.repos_path.as_deref().is_some_and(RelPath::is_root)
    });
    if is_move && is_repos_root {
        return unexpected(format!(
            "'{local}' represents the repository root and cannot be moved"
        ));
    }
    Ok(source)
}

fn unversioned(wc: &WorkingCopy, path: &RelPath) -> Error {
    Error::new(
        ErrorCode::ENTRY_NOT_FOUND,
        format!("'{}' is not under version control", wc.local_path(path)),
    )
}

/// Checks that a node can be copied to a place, which may be in another working copy.
fn check_target(
    source_wc: &WorkingCopy,
    source: &Node,
    wc: &WorkingCopy,
    site: &Site,
    to: &RelPath,
) -> Result<()> {
    let local = wc.local_path(to);
    let folder = to.parent().unwrap_or(RelPath::ROOT);
    let parent = wc
        .db()
        .versioned(folder)?
        .ok_or_else(|| unversioned(wc, folder))?;
    let here = scan::location(source_wc, source)?.repos_id;
    let here = source_wc.db().repository(here)?;
    let there = scan::location(wc, &parent)?.repos_id;
    let there = wc.db().repository(there)?;
    if here != there {
        return Err(Error::new(
            ErrorCode::WC_INVALID_SCHEDULE,
            format!(
                "Cannot copy to '{local}', as it is not from repository '{}'; it is from '{}'",
                here.root, there.root
            ),
        ));
    }
    if parent.state() == NodeState::Deleted {
        return Err(Error::new(
            ErrorCode::WC_INVALID_SCHEDULE,
            format!("Cannot copy to '{local}' as it is scheduled for deletion"),
        ));
    }
    let exists = |text: String| Err(Error::new(ErrorCode::ENTRY_EXISTS, text));
    match wc.db().versioned(to)?.map(|node| node.state()) {
        None | Some(NodeState::Deleted | NodeState::NotPresent) => {}
        Some(NodeState::Excluded) => {
            return exists(format!(
                "'{local}' is already under version control but is excluded."
            ));
        }
        Some(NodeState::ServerExcluded) => {
            return exists(format!("'{local}' is already under version control"));
        }
        Some(_) => return exists(format!("There is already a versioned item '{local}'")),
    }
    if site.root.lstat(to)?.is_some() {
        return exists(format!("'{local}' already exists and is in the way"));
    }
    Ok(())
}

/// Tells whether the move of a tree is recorded: one of several revisions cannot be.
fn is_one_revision(wc: &WorkingCopy, source: &Node, mixed: MixedRevisions) -> Result<bool> {
    if kind_of(source) != NodeKind::Dir || source.state() != NodeState::Normal {
        return Ok(true);
    }
    match revision_status::base_range(wc, &source.path)? {
        Some((oldest, youngest)) if oldest != youngest => {
            if mixed == MixedRevisions::Allow {
                return Ok(false);
            }
            Err(Error::new(
                ErrorCode::WC_MIXED_REVISIONS,
                format!(
                    "Cannot move mixed-revision subtree '{}' [{oldest}:{youngest}]; try updating \
                     it first",
                    wc.local_path(&source.path)
                ),
            ))
        }
        _ => Ok(true),
    }
}
