//! Making one status of what the database and the disk say.

use std::sync::Arc;

use sylvan_core::{Lock, NodeKind, RelPath, RelPathBuf, Result, Timestamp};

use super::disk::{Child, Entry};
use super::{OnDisk, Status, StatusKind};
use crate::WorkingCopy;
use crate::conflict::{Conflict, Unresolved};
use crate::db::{Layer, LockRow, NodeState, Presence, Repository};

/// Where a folder is in the repository.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) repository: Arc<Repository>,
    pub(super) path: RelPathBuf,
}

/// What a status is made from besides node and disk.
pub(super) struct Facts<'a> {
    /// Where the folder of the node is; `None` for the node where a walk begins.
    pub(super) parent: Option<&'a Place>,
    /// Where the node is by itself.
    pub(super) place: &'a Place,
    /// The lock on its BASE.
    pub(super) lock: Option<&'a LockRow>,
    /// It is a folder under a lock of an operation.
    pub(super) wc_locked: bool,
}

/// Makes the status of a node under version control; `None` if it is not interesting and not `all`
/// are wanted.
pub(super) fn versioned(
    wc: &WorkingCopy,
    child: &Child,
    top: &Layer,
    entry: Option<&Entry>,
    facts: &Facts<'_>,
    all: bool,
) -> Result<Option<(Status, Unresolved)>> {
    let node = &child.node;
    let state = top.state();
    let base = node.base();
    let switched = match (facts.parent, top.op_depth, &top.repos_path) {
        (Some(parent), 0, Some(repos_path)) => {
            repos_path.split() != Some((&*parent.path, node.path.basename()))
        }
        _ => false,
    };
    let (mut node_status, copied_deletion) = outer_status(child, top, entry);
    let prop_status = if state == NodeState::Deleted {
        StatusKind::None
    } else if node.actual.properties.is_some() {
        StatusKind::Modified
    } else if top.has_props() {
        StatusKind::Normal
    } else {
        StatusKind::None
    };
    let mut text_status = StatusKind::Normal;
    if top.kind != NodeKind::Dir && node_status == StatusKind::Normal {
        let is_link = entry.is_some_and(|entry| entry.kind == OnDisk::Symlink);
        if top.kind == NodeKind::File && child.special == is_link {
            let unknown = top.checksum.is_none();
            if unknown || entry.and_then(|entry| entry.modified) == Some(true) {
                text_status = StatusKind::Modified;
            }
        } else if child.special != is_link {
            node_status = StatusKind::Obstructed;
        }
    }
    let unresolved = match &node.actual.conflict {
        Some(stored) => Conflict::parse(stored)?.unresolved(wc),
        None => Unresolved::default(),
    };
    let is_op_root = node.is_op_root();
    let mut copied = copied_deletion;
    let mut moved_from = None;
    if node_status == StatusKind::Normal && state == NodeState::Added {
        copied = top.repos_path.is_some();
        if is_op_root {
            node_status = if node.is_replaced() {
                StatusKind::Replaced
            } else {
                StatusKind::Added
            };
            if top.moved_here {
                moved_from = wc.db().moved_from(&node.path)?.map(|(from, _)| from);
            }
        }
    }
    if node_status == StatusKind::Normal {
        node_status = text_status;
    }
    if node_status == StatusKind::Normal && prop_status != StatusKind::None {
        node_status = prop_status;
    }
    let moved_to = node
        .layers
        .iter()
        .filter(|layer| layer.op_depth > 0)
        .find_map(|layer| layer.moved_to.clone());
    let dull = super::is_dull(node_status, || Ok(is_op_root))?;
    let marked = switched
        || facts.wc_locked
        || facts.lock.is_some()
        || node.actual.changelist.is_some()
        || unresolved.any()
        || moved_to.is_some();
    if dull && !marked && !all {
        return Ok(None);
    }
    // Of what covers BASE without history, users want to see BASE.
    let covered = base.filter(|_| node.work_layers() == 1 && !copied);
    let (revision, changed) = match (covered, node_status) {
        (Some(base), StatusKind::Deleted) => (base.revision, base),
        (Some(base), StatusKind::Replaced) => (base.revision, top),
        _ => (top.revision.filter(|_| top.op_depth == 0), top),
    };
    let status = Status {
        kind: top.kind,
        on_disk: entry.map_or(OnDisk::Nothing, |entry| entry.kind),
        size: entry
            .filter(|entry| matches!(entry.kind, OnDisk::File | OnDisk::Symlink))
            .and_then(|entry| entry.stat)
            .map(|(size, _)| size),
        versioned: true,
        node: node_status,
        text: text_status,
        props: prop_status,
        conflicted: unresolved.any(),
        tree_conflicted: unresolved.tree,
        wc_locked: facts.wc_locked,
        copied,
        switched,
        file_external: base.is_some_and(|base| base.file_external),
        revision,
        changed_rev: changed.changed_rev,
        changed_date: changed.changed_date,
        changed_author: changed.changed_author.clone(),
        repository: Some(Arc::clone(&facts.place.repository)),
        repos_path: Some(facts.place.path.clone()),
        lock: facts.lock.map(lock),
        changelist: node.actual.changelist.clone(),
        depth: top.depth.filter(|_| top.kind == NodeKind::Dir),
        moved_from,
        moved_to,
    };
    Ok(Some((status, unresolved)))
}

/// Tells what is most important: incomplete, deleted, missing or obstructed, else normal; and
/// whether a deletion is one in a copied tree.
fn outer_status(child: &Child, top: &Layer, entry: Option<&Entry>) -> (StatusKind, bool) {
    let node = &child.node;
    if top.presence == Presence::Incomplete {
        return (StatusKind::Incomplete, false);
    }
    if top.state() == NodeState::Deleted {
        let copied = node.base().is_none() || node.work_layers() > 1 || top.repos_path.is_some();
        return (StatusKind::Deleted, copied);
    }
    let is_dir = top.kind == NodeKind::Dir;
    let status = match entry.map_or(OnDisk::Nothing, |entry| entry.kind) {
        OnDisk::Nothing => StatusKind::Missing,
        OnDisk::Dir if is_dir => StatusKind::Normal,
        OnDisk::File | OnDisk::Symlink if !is_dir => StatusKind::Normal,
        _ => StatusKind::Obstructed,
    };
    (status, false)
}

/// Makes the status of what is not under version control, or is the victim of a tree conflict.
pub(super) fn unversioned(entry: Option<&Entry>, tree_conflicted: bool, ignored: bool) -> Status {
    let on_disk = entry.map_or(OnDisk::Nothing, |entry| entry.kind);
    let node = match on_disk {
        OnDisk::Nothing if tree_conflicted => StatusKind::Conflicted,
        OnDisk::Nothing => StatusKind::None,
        _ if ignored => StatusKind::Ignored,
        _ => StatusKind::Unversioned,
    };
    Status {
        on_disk,
        size: entry.and_then(|entry| entry.stat).map(|(size, _)| size),
        node,
        conflicted: tree_conflicted,
        tree_conflicted,
        ..Status::nothing()
    }
}

/// Puts conflicts into the columns, as users see them.
pub(super) fn show_conflicts(status: &mut Status, unresolved: Unresolved) {
    if unresolved.text {
        status.text = StatusKind::Conflicted;
    }
    if unresolved.props {
        status.props = StatusKind::Conflicted;
    }
    if unresolved.text || unresolved.props {
        status.node = StatusKind::Conflicted;
    }
    if status.file_external {
        status.switched = false;
    }
}

pub(crate) fn lock(row: &LockRow) -> Lock {
    Lock {
        path: row.repos_path.clone(),
        token: row.token.clone(),
        owner: row.owner.clone().unwrap_or_default(),
        comment: row.comment.clone(),
        created: row.created.unwrap_or(Timestamp::from_micros(0)),
        expires: None,
    }
}

/// Tells whether `name` is the administrative folder.
pub(super) fn is_adm_dir(name: &str) -> bool {
    name == crate::ADM_DIR
}

impl Place {
    /// Returns the place of a child whose own is not known.
    pub(super) fn child(&self, path: &RelPath) -> Result<Self> {
        Ok(Self {
            repository: Arc::clone(&self.repository),
            path: self.path.child(path.basename())?,
        })
    }
}
