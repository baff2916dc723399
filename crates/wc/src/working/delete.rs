//! Deleting a node in the database.

use rusqlite::params;
use sylvan_core::{Error, ErrorCode, NodeKind, RelPath, RelPathBuf, Result};

use super::{self as working, Within, as_i64};
use crate::db::write::below;
use crate::db::{Node, NodeState, Presence, integer, path_column, sqlite_error};
use crate::scan;
use crate::{WorkingCopy, not_found};

/// How a node is deleted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Deletion<'a> {
    /// The node was moved there; else it just goes.
    pub moved_to: Option<&'a RelPath>,
    /// Folder externals below are forgotten too, since what is on disk goes.
    pub forget_externals: bool,
}

/// A move whose record changes, since its source or what is above it is deleted.
#[derive(Debug)]
struct Moved {
    from: RelPathBuf,
    op_depth: usize,
    to: RelPathBuf,
    /// The op-depth at which the source was moved to where it was before, if it is to be found.
    from_depth: Option<usize>,
}

/// Deletes a node and all below it; returns what users see go, with its kind.
///
/// # Errors
/// `E155010` if it is not known, `E155035` if it cannot be deleted.
pub(crate) fn delete_node(
    wc: &WorkingCopy,
    path: &RelPath,
    how: Deletion<'_>,
) -> Result<Vec<(RelPathBuf, NodeKind)>> {
    let db = wc.db();
    let node = db.versioned(path)?.ok_or_else(|| not_found(wc, path))?;
    let Some(top) = node.top() else {
        return Err(not_found(wc, path));
    };
    let own_depth = path.depth();
    let is_op_root = top.op_depth >= own_depth;
    // The layer that the deletion covers.
    let covered = if is_op_root {
        node.below()
            .filter(|below| !matches!(below.presence, Presence::NotPresent | Presence::BaseDeleted))
            .map(|below| below.op_depth)
    } else {
        Some(top.op_depth)
    };
    if matches!(node.state(), NodeState::Deleted | NodeState::NotPresent) {
        return Ok(Vec::new());
    }
    check_deletable(wc, &node)?;
    let within = Within::new(path);
    let moves = moves_of(wc, &node, &within, how)?;
    if how.moved_to.is_none() {
        db.execute(
            working::CLEAR_TARGETS_BELOW,
            params![db.wc_id(), within.low, within.high],
        )?;
        if is_op_root {
            db.clear_move_to(path)?;
        }
    }
    let mut gone = vec![(path.to_owned(), top.kind)];
    gone.extend(visible_below(wc, &within, top.op_depth)?);
    remove_rows(wc, &within, own_depth)?;
    if let Some(covered) = covered {
        db.execute(
            working::COVER_BY_DELETION,
            params![
                db.wc_id(),
                path.as_str(),
                within.low,
                within.high,
                as_i64(covered),
                as_i64(own_depth)
            ],
        )?;
    }
    for moved in moves {
        db.set_moved_to(&moved.from, as_i64(moved.op_depth), Some(&moved.to))?;
    }
    db.execute(
        working::DELETE_FILE_EXTERNALS_BELOW,
        params![db.wc_id(), within.low, within.high],
    )?;
    let forget = if how.forget_externals {
        working::FORGET_EXTERNALS_BELOW
    } else {
        working::FORGET_FILE_EXTERNALS_BELOW
    };
    db.execute(forget, params![db.wc_id(), within.low, within.high])?;
    Ok(gone)
}

fn check_deletable(wc: &WorkingCopy, node: &Node) -> Result<()> {
    let cannot = |why: String| {
        Error::new(
            ErrorCode::WC_PATH_UNEXPECTED_STATUS,
            format!("Cannot delete '{}' as {why}", wc.local_path(&node.path)),
        )
    };
    match node.state() {
        NodeState::ServerExcluded => Err(cannot("it is excluded by server".to_owned())),
        NodeState::Excluded => Err(cannot("it is excluded".to_owned())),
        NodeState::Normal if node.top().is_some_and(|top| top.kind == NodeKind::Dir) => {
            match server_excluded_below(wc, &node.path)? {
                Some(hidden) => Err(cannot(format!(
                    "'{}' is excluded by server",
                    wc.local_path(&hidden)
                ))),
                None => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

/// Finds a node below that the server does not show.
pub(crate) fn server_excluded_below(
    wc: &WorkingCopy,
    path: &RelPath,
) -> Result<Option<RelPathBuf>> {
    let (low, high) = below(path);
    let key = params![wc.db().wc_id(), low, high];
    let found = wc
        .db()
        .row(working::SELECT_SERVER_EXCLUDED_BELOW, key, |row| {
            path_column(row, 0)
        })?;
    Ok(found.flatten())
}

fn visible_below(
    wc: &WorkingCopy,
    within: &Within<'_>,
    op_depth: usize,
) -> Result<Vec<(RelPathBuf, NodeKind)>> {
    wc.db().rows(
        working::SELECT_DELETED_BELOW,
        params![wc.db().wc_id(), as_i64(op_depth), within.low, within.high],
        |row| {
            let kind: String = row.get(1).map_err(sqlite_error)?;
            Ok((
                path_column(row, 0)?.unwrap_or_default(),
                NodeKind::from_word(&kind),
            ))
        },
    )
}

/// Removes layers from `op_depth` on, and what is local.
fn remove_rows(wc: &WorkingCopy, within: &Within<'_>, op_depth: usize) -> Result<()> {
    let db = wc.db();
    let path = within.path.as_str();
    db.execute(
        working::DELETE_LAYERS,
        params![db.wc_id(), path, within.low, within.high, as_i64(op_depth)],
    )?;
    for statement in [
        working::DELETE_ACTUAL_BUT_CHANGELISTS,
        working::CLEAR_ACTUAL_BUT_CHANGELISTS,
        working::DELETE_ORPHANED_WC_LOCKS,
    ] {
        db.execute(
            statement,
            params![db.wc_id(), path, within.low, within.high],
        )?;
    }
    Ok(())
}

/// Finds the records of moves that change, and changes those that just get another target.
fn moves_of(
    wc: &WorkingCopy,
    node: &Node,
    within: &Within<'_>,
    how: Deletion<'_>,
) -> Result<Vec<Moved>> {
    let mut moves = Vec::new();
    if let Some(target) = how.moved_to {
        moves.extend(own_move(wc, node, target)?);
        let db = wc.db();
        let length = i64::try_from(node.path.as_str().chars().count()).unwrap_or(i64::MAX);
        db.execute(
            working::MOVE_TARGETS_BELOW,
            params![db.wc_id(), within.low, within.high, target.as_str(), length],
        )?;
    }
    let own_depth = node.path.depth();
    for found in moves_within(wc, within, own_depth)? {
        moves.extend(match how.moved_to {
            None if !found.to.starts_with(&node.path) => Some(without_parent(found, own_depth)),
            None => None,
            Some(target) => with_parent(found, &node.path, own_depth, target)?,
        });
    }
    let mut kept = Vec::new();
    for mut moved in moves {
        if let Some(depth) = moved.from_depth {
            let Some((from, op_depth)) = before_move(wc, &node.path, &moved.from, depth)? else {
                continue;
            };
            moved.from = from;
            moved.op_depth = op_depth;
        }
        kept.push(moved);
    }
    Ok(kept)
}

/// The record of the node's own move.
fn own_move(wc: &WorkingCopy, node: &Node, target: &RelPath) -> Result<Option<Moved>> {
    let path = &node.path;
    let is_op_root = node.top().is_some_and(|top| top.op_depth >= path.depth());
    let origin = match node.state() {
        NodeState::Added => Some(scan::origin(wc, node)?),
        _ => None,
    };
    let before = match origin {
        Some(scan::Origin::MovedHere) => scan::moved_from(wc, node)?,
        _ => None,
    };
    if let (true, Some((from, op_depth))) = (is_op_root, before) {
        // It was moved before; the first source stays.
        let from = match from.strip_prefix(path) {
            Some(part) => target.join(part),
            None => from,
        };
        return Ok(Some(Moved {
            from,
            op_depth,
            to: target.to_owned(),
            from_depth: None,
        }));
    }
    let has_history = match origin {
        None => node.state() == NodeState::Normal,
        Some(origin) => matches!(origin, scan::Origin::Copied | scan::Origin::MovedHere),
    };
    Ok((!is_op_root && has_history).then(|| Moved {
        from: path.clone(),
        op_depth: path.depth(),
        to: target.to_owned(),
        from_depth: None,
    }))
}

struct Found {
    from: RelPathBuf,
    to: RelPathBuf,
    op_depth: usize,
    moved_here: usize,
}

fn moves_within(wc: &WorkingCopy, within: &Within<'_>, op_depth: usize) -> Result<Vec<Found>> {
    let key = params![
        wc.db().wc_id(),
        within.path.as_str(),
        within.low,
        within.high,
        as_i64(op_depth)
    ];
    wc.db().rows(working::SELECT_MOVED_WITHIN, key, |row| {
        Ok(Found {
            from: path_column(row, 0)?.unwrap_or_default(),
            to: path_column(row, 1)?.unwrap_or_default(),
            op_depth: depth_column(row, 2)?,
            moved_here: depth_column(row, 3)?,
        })
    })
}

fn depth_column(row: &rusqlite::Row<'_>, column: usize) -> Result<usize> {
    Ok(integer(row, column)?
        .and_then(|depth| usize::try_from(depth).ok())
        .unwrap_or(0))
}

/// A move out of a tree that is deleted.
fn without_parent(found: Found, own_depth: usize) -> Moved {
    let from_here = found.moved_here >= own_depth;
    Moved {
        // What was moved here before must be found where it came from.
        from_depth: from_here.then_some(found.moved_here),
        op_depth: if from_here { found.op_depth } else { own_depth },
        from: found.from,
        to: found.to,
    }
}

/// A move out of a tree that is moved.
fn with_parent(
    found: Found,
    path: &RelPath,
    own_depth: usize,
    target: &RelPath,
) -> Result<Option<Moved>> {
    let plain = |from, op_depth, to| {
        Ok(Some(Moved {
            from,
            op_depth,
            to,
            from_depth: None,
        }))
    };
    if found.op_depth == own_depth {
        return plain(found.from, found.op_depth, found.to);
    }
    if found.op_depth < own_depth || found.to.starts_with(path) {
        return Ok(None);
    }
    let Some(below) = found.from.strip_prefix(path) else {
        return Ok(None);
    };
    let from = target.join(below);
    let op_depth = if found.op_depth > own_depth && from.starts_with(path) {
        own_depth
    } else {
        found.op_depth - own_depth + target.depth()
    };
    plain(from, op_depth, found.to)
}

/// Finds where a node below `root` was before it was moved there at op-depth `depth`, outside of
/// `root`.
fn before_move(
    wc: &WorkingCopy,
    root: &RelPath,
    path: &RelPath,
    depth: usize,
) -> Result<Option<(RelPathBuf, usize)>> {
    let mut path = path.to_owned();
    let mut depth = depth;
    // A chain of moves is as long as there were moves; one without end is damage.
    for _ in 0..1000 {
        let op_root = scan::prefix(&path, depth).to_owned();
        let rest = path
            .strip_prefix(&op_root)
            .unwrap_or(RelPath::ROOT)
            .to_owned();
        let key = params![wc.db().wc_id(), op_root.as_str()];
        let found = wc.db().row(working::SELECT_MOVED_TO, key, |row| {
            Ok((
                path_column(row, 0)?.unwrap_or_default(),
                depth_column(row, 1)?,
                depth_column(row, 2)?,
            ))
        })?;
        let Some((from, op_depth, moved_here)) = found else {
            return Ok(None);
        };
        path = from.join(&rest);
        if !from.starts_with(root) {
            return Ok(Some((path, op_depth)));
        }
        if moved_here == 0 {
            return Ok(None);
        }
        depth = moved_here;
    }
    Ok(None)
}
