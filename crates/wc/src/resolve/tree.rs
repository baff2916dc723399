//! Tree conflicts.

use sylvan_core::{RelPath, RelPathBuf, Result};
use sylvan_io::Cancel;

use super::{apply, put, stored, tell};
use crate::WorkingCopy;
use crate::conflict::{Action as Incoming, Operation, Reason};
use crate::db::Db;
use crate::notify::{Action, NotifyFn};
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
        TreeChoice::UpdateMoveDestination | TreeChoice::UpdateMovedAwayChildren => {
            return Err(super::failure(format!(
                "Tree conflict can only be resolved to 'working' state; '{}' not resolved",
                wc.local_path(path)
            )));
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
    let layers = db.layers(path)?;
    let covered = layers.iter().find(|layer| layer.op_depth < delete_depth);
    let op_depth = covered.map_or(0, |layer| layer.op_depth);
    let mut broken = Vec::new();
    for moved in db.moves_of_layer(path, op_depth)? {
        let depth = i64::try_from(moved.delete_depth).unwrap_or(i64::MAX);
        db.break_move(&moved.source, depth, &moved.target)?;
        broken.push(moved.source);
    }
    Ok(broken)
}
