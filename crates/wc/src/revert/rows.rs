//! What revert does in the database.

use std::collections::BTreeMap;

use rusqlite::params;
use sylvan_core::{Depth, Error, ErrorCode, NodeKind, RelPath, RelPathBuf, Result};

use crate::conflict::{Conflict, Operation, Reason};
use crate::db::write as base_rows;
use crate::db::{Node, integer, path_column, sqlite_error};
use crate::resolve::raise_moved_away;
use crate::working::{self, Within, as_i64};
use crate::{WorkingCopy, not_found};

/// What was taken back at one path.
#[derive(Clone, Debug, Default)]
pub(super) struct Reverted {
    /// The highest layer that went: its kind, op-depth, and whether it was a copy.
    pub node: Option<(NodeKind, usize, bool)>,
    /// Local properties, or what was local to no node.
    pub local: bool,
    /// The conflict that was there.
    pub conflict: Option<Vec<u8>>,
}

/// What was taken back, by path.
pub(super) type RevertList = BTreeMap<RelPathBuf, Reverted>;

/// Reverts a node (or the whole tree) in the database.
///
/// Adds to `raised` the sources of moves that get conflicts of their own.
pub(super) fn revert(
    wc: &WorkingCopy,
    path: &RelPath,
    depth: Depth,
    raised: &mut Vec<(RelPathBuf, NodeKind)>,
) -> Result<RevertList> {
    let Some(node) = wc.db().versioned(path)? else {
        return without_node(wc, path, depth);
    };
    if depth == Depth::Infinity {
        tree(wc, &node)
    } else {
        one(wc, &node, raised)
    }
}

/// A path that is only the victim of a conflict.
fn without_node(wc: &WorkingCopy, path: &RelPath, depth: Depth) -> Result<RevertList> {
    let db = wc.db();
    let list = local_rows(wc, path, false)?;
    let key = params![db.wc_id(), path.as_str()];
    if db.execute(base_rows::DELETE_ACTUAL, key)? == 0 {
        return Err(not_found(wc, path));
    }
    if depth != Depth::Infinity && db.exists(working::HAS_ACTUAL_CHILDREN, key)? {
        return Err(without_children(wc, path));
    }
    Ok(list)
}

fn without_children(wc: &WorkingCopy, path: &RelPath) -> Error {
    Error::new(
        ErrorCode::WC_INVALID_OPERATION_DEPTH,
        format!(
            "Can't revert '{}' without reverting children",
            wc.local_path(path)
        ),
    )
}

/// Reverts a node alone.
fn one(
    wc: &WorkingCopy,
    node: &Node,
    raised: &mut Vec<(RelPathBuf, NodeKind)>,
) -> Result<RevertList> {
    let db = wc.db();
    let path = &node.path;
    let Some(top) = node.top() else {
        return Err(not_found(wc, path));
    };
    let mut list = local_rows(wc, path, false)?;
    if let Some(target) = &top.moved_to {
        break_move(wc, path, top.op_depth, target)?;
    }
    if node.is_op_root() {
        let key = params![db.wc_id(), path.as_str(), as_i64(top.op_depth)];
        if db.exists(working::HAS_CHILDREN_ABOVE, key)? {
            return Err(without_children(wc, path));
        }
        list.entry(path.clone()).or_default().node =
            Some((top.kind, top.op_depth, top.repos_id.is_some()));
        let within = Within::new(path);
        let deletions = db.execute(
            working::RAISE_DELETIONS,
            params![db.wc_id(), within.low, within.high, as_i64(top.op_depth)],
        )?;
        db.delete_layer(path, as_i64(top.op_depth))?;
        db.execute(
            working::DELETE_ORPHANED_WC_LOCKS,
            params![db.wc_id(), path.as_str(), path.as_str(), path.as_str()],
        )?;
        if top.moved_here {
            db.clear_move_to(path)?;
        }
        let conflict = list.get(path).and_then(|local| local.conflict.as_deref());
        if let Some(conflict) = conflict
            && deletions > 0
        {
            raise(wc, path, conflict, raised)?;
        }
    }
    let key = params![db.wc_id(), path.as_str()];
    if db.execute(working::DELETE_ACTUAL_ONE_BUT_CHANGELIST, key)? == 0 {
        db.execute(working::CLEAR_ACTUAL_ONE_BUT_CHANGELIST, key)?;
    }
    Ok(list)
}

/// What an update brought to a deleted tree concerns the nodes that were moved out of it, once
/// the deletion of the tree itself is taken back.
fn raise(
    wc: &WorkingCopy,
    path: &RelPath,
    conflict: &[u8],
    raised: &mut Vec<(RelPathBuf, NodeKind)>,
) -> Result<()> {
    let conflict = Conflict::parse(conflict)?;
    let by_update = matches!(conflict.operation, Operation::Update | Operation::Switch);
    let of_deletion = conflict
        .tree
        .as_ref()
        .is_some_and(|tree| matches!(tree.reason, Reason::Deleted | Reason::Replaced));
    if by_update && of_deletion {
        raised.extend(raise_moved_away(wc.db(), path, &conflict)?);
    }
    Ok(())
}

/// Reverts a node and all below it.
fn tree(wc: &WorkingCopy, node: &Node) -> Result<RevertList> {
    let db = wc.db();
    let path = &node.path;
    let Some(top) = node.top() else {
        return Err(not_found(wc, path));
    };
    if top.op_depth > 0 && !node.is_op_root() {
        return Err(Error::new(
            ErrorCode::WC_INVALID_OPERATION_DEPTH,
            format!(
                "Can't revert '{}' without reverting parent",
                wc.local_path(path)
            ),
        ));
    }
    let within = Within::new(path);
    for (from, to, op_depth) in moves_out(wc, &within, top.op_depth)? {
        break_move(wc, &from, op_depth, &to)?;
    }
    // BASE stays.
    let lowest = top.op_depth.max(1);
    let mut list = local_rows(wc, path, true)?;
    layer_rows(wc, &within, lowest, &mut list)?;
    let all = params![db.wc_id(), path.as_str(), within.low, within.high];
    db.execute(
        working::DELETE_LAYERS,
        params![
            db.wc_id(),
            path.as_str(),
            within.low,
            within.high,
            as_i64(lowest)
        ],
    )?;
    db.execute(working::DELETE_ACTUAL_BUT_CHANGELISTS, all)?;
    db.execute(working::CLEAR_ACTUAL_BUT_CHANGELISTS, all)?;
    db.execute(working::DELETE_ORPHANED_WC_LOCKS, all)?;
    let here = db.rows(
        working::SELECT_MOVED_HERE_BELOW,
        params![db.wc_id(), within.low, within.high],
        |row| Ok(path_column(row, 0)?.unwrap_or_default()),
    )?;
    for target in here {
        wc.db().clear_move_to(&target)?;
    }
    if node.is_op_root() && top.moved_here {
        db.clear_move_to(path)?;
    }
    Ok(list)
}

/// Reads what is local at a path, or below it too.
fn local_rows(wc: &WorkingCopy, path: &RelPath, all: bool) -> Result<RevertList> {
    let mut list = RevertList::new();
    let within = Within::new(path);
    let (low, high) = if all {
        (within.low, within.high)
    } else {
        // Nothing is between a path and itself.
        (path.as_str().to_owned(), path.as_str().to_owned().into())
    };
    wc.db().each(
        working::SELECT_LOCAL_WITHIN,
        params![wc.db().wc_id(), path.as_str(), low, high],
        |row| {
            let has_props: bool = row.get(1).map_err(sqlite_error)?;
            let conflict: Option<Vec<u8>> = row.get(2).map_err(sqlite_error)?;
            let is_node: bool = row.get(3).map_err(sqlite_error)?;
            let local = has_props || !is_node;
            if local || conflict.is_some() {
                let entry = list
                    .entry(path_column(row, 0)?.unwrap_or_default())
                    .or_default();
                entry.local = local;
                entry.conflict = conflict;
            }
            Ok(())
        },
    )?;
    Ok(list)
}

fn layer_rows(
    wc: &WorkingCopy,
    within: &Within<'_>,
    lowest: usize,
    list: &mut RevertList,
) -> Result<()> {
    wc.db().each(
        working::SELECT_LAYERS_WITHIN,
        params![
            wc.db().wc_id(),
            within.path.as_str(),
            within.low,
            within.high,
            as_i64(lowest)
        ],
        |row| {
            let op_depth = integer(row, 1)?.and_then(|depth| usize::try_from(depth).ok());
            let kind: String = row.get(3).map_err(sqlite_error)?;
            let entry = list
                .entry(path_column(row, 0)?.unwrap_or_default())
                .or_default();
            entry.node = Some((
                NodeKind::from_word(&kind),
                op_depth.unwrap_or(0),
                integer(row, 2)?.is_some(),
            ));
            Ok(())
        },
    )
}

fn moves_out(
    wc: &WorkingCopy,
    within: &Within<'_>,
    op_depth: usize,
) -> Result<Vec<(RelPathBuf, RelPathBuf, usize)>> {
    wc.db().rows(
        working::SELECT_MOVED_OUT,
        params![
            wc.db().wc_id(),
            within.path.as_str(),
            within.low,
            within.high,
            as_i64(op_depth)
        ],
        |row| {
            Ok((
                path_column(row, 0)?.unwrap_or_default(),
                path_column(row, 1)?.unwrap_or_default(),
                integer(row, 2)?
                    .and_then(|depth| usize::try_from(depth).ok())
                    .unwrap_or(0),
            ))
        },
    )
}

/// Makes a copy and a deletion of a move.
pub(super) fn break_move(
    wc: &WorkingCopy,
    from: &RelPath,
    op_depth: usize,
    to: &RelPath,
) -> Result<()> {
    let cleared = wc.db().break_move(from, as_i64(op_depth), to)?;
    if cleared == 0 {
        return Err(not_found(wc, to));
    }
    Ok(())
}
