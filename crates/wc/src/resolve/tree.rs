//! Tree conflicts.

use sylvan_core::{NodeKind, RelPath, RelPathBuf, Result};
use sylvan_io::Cancel;

use super::follow::{Follow, covered_depth};
use super::{apply, put, stored, tell};
use crate::WorkingCopy;
use crate::conflict::{Action as Incoming, Conflict, Location, Operation, Reason, TreeConflict};
use crate::db::Db;
use crate::notify::{Action, Notification, NotifyFn};
use crate::site::Site;

/// How a tree conflict is settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeChoice {
    /// What is there now is right. Moves that an update would have to follow become copies.
    AcceptCurrent,
    /// The target of a move follows its source.
    UpdateMoveDestination,
    /// Nodes that were moved out of a deleted or replaced folder get conflicts of their own.
    UpdateMovedAwayChildren,
}

/// Settles the tree conflict of a node.
///
/// # Errors
/// `E155027` if it cannot be settled so; those of the database and the file system.
pub fn resolve(
    wc: &WorkingCopy,
    path: &RelPath,
    choice: TreeChoice,
    cancel: &Cancel,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let Some(mut conflict) = stored(wc, path)? else {
        return Ok(());
    };
    let Some(tree) = conflict.tree.take() else {
        return Ok(());
    };
    let site = Site::of(wc)?;
    let breaks_moves = matches!(conflict.operation, Operation::Update | Operation::Switch)
        && matches!(
            tree.reason,
            Reason::MovedAway | Reason::Deleted | Reason::Replaced
        )
        && tree.action == Incoming::Edited;
    let mut broken = Vec::new();
    match choice {
        TreeChoice::AcceptCurrent => apply(wc, &site, cancel, |db| {
            if breaks_moves {
                broken = break_moved_away(db, path, tree.move_source.as_ref())?;
            }
            put(db, path, &conflict)?;
            Ok(Vec::new())
        })?,
        TreeChoice::UpdateMoveDestination => {
            let root = tree.move_source.as_deref().unwrap_or(path);
            let mut followed = None;
            apply(wc, &site, cancel, |db| {
                let mut follow = Follow::run(wc, &site, cancel, conflict.operation, path, root)?;
                put(db, path, &conflict)?;
                let items = std::mem::take(&mut follow.items);
                followed = Some(follow);
                Ok(items)
            })?;
            if let Some(follow) = followed {
                follow.tell(path, notify);
            }
        }
        TreeChoice::UpdateMovedAwayChildren => {
            let mut raised = Vec::new();
            apply(wc, &site, cancel, |db| {
                put(db, path, &conflict)?;
                raised = raise_moved_away(db, path, &conflict)?;
                Ok(Vec::new())
            })?;
            for (path, kind) in raised {
                let told = Notification::new(wc.local_path(&path), Action::TreeConflict);
                notify(&told.kind(kind));
            }
        }
    }
    for source in broken {
        tell(wc, &source, Action::MoveBroken, notify);
    }
    tell(wc, path, Action::ResolvedTree, notify);
    Ok(())
}

/// Makes moves out of a tree copies and deletions; returns their sources.
pub(super) fn break_moved_away(
    db: &Db,
    path: &RelPath,
    source: Option<&RelPathBuf>,
) -> Result<Vec<RelPathBuf>> {
    let delete_depth = source.map_or(path, |root| root).depth();
    let op_depth = covered_depth(db, path, delete_depth)?;
    let mut broken = Vec::new();
    for moved in db.moves_of_layer(path, op_depth)? {
        let depth = i64::try_from(moved.delete_depth).unwrap_or(i64::MAX);
        db.break_move(&moved.source, depth, &moved.target)?;
        broken.push(moved.source);
    }
    Ok(broken)
}

/// Says of each node that was moved out of a tree that its target lags behind.
pub(crate) fn raise_moved_away(
    db: &Db,
    path: &RelPath,
    conflict: &Conflict,
) -> Result<Vec<(RelPathBuf, NodeKind)>> {
    let op_depth = covered_depth(db, path, path.depth())?;
    let mut raised = Vec::new();
    for moved in db.moves_of_layer(path, op_depth)? {
        let below = moved.source.strip_prefix(path).unwrap_or(RelPath::ROOT);
        let at = |location: &Option<Location>| {
            location.as_ref().map(|location| Location {
                path: location.path.join(below),
                kind: moved.kind,
                ..location.clone()
            })
        };
        let new = Conflict {
            operation: conflict.operation,
            left: at(&conflict.left),
            right: at(&conflict.right),
            tree: Some(TreeConflict {
                reason: Reason::MovedAway,
                action: Incoming::Edited,
                move_source: Some(moved.delete_root().to_owned()),
                move_target: Some(moved.target.clone()),
            }),
            ..Conflict::default()
        };
        db.mark_conflict(&moved.source, &new.to_bytes())?;
        raised.push((moved.source.clone(), moved.kind));
    }
    Ok(raised)
}
