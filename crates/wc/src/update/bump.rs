//! The end of an update: all that it covered has the new revision.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::params;
use sylvan_core::{Depth, NodeKind, RelPath, RelPathBuf, Result, Revnum};

use super::bump_moves::{self, BumpMoves};
use super::delete::{Removal, remove_rows};
use crate::db::write::{self as rows, below};
use crate::db::{Db, Node, Presence};

/// What an update covered.
#[derive(Debug)]
pub(super) struct Bump<'b> {
    pub anchor: &'b RelPath,
    pub target: &'b RelPath,
    pub target_is_child: bool,
    pub root_opened: bool,
    pub target_deleted: bool,
    pub depth: Depth,
    pub repos_id: i64,
    /// Where the target was switched to.
    pub repos_path: Option<&'b RelPath>,
    pub rev: Revnum,
    pub skipped: &'b BTreeSet<RelPathBuf>,
    /// Inherited properties that no folder took with it, as skels.
    pub inherited: &'b BTreeMap<RelPathBuf, Vec<u8>>,
    /// All nodes were written by this update.
    pub all_new: bool,
    /// Moves follow what became of their sources.
    pub moves: BumpMoves<'b>,
}

/// Gives what an update covered its new revision, and forgets what is not in it. Returns moved nodes
/// that are in conflict now.
pub(super) fn finish(db: &Db, bump: &Bump<'_>) -> Result<Vec<(RelPathBuf, NodeKind)>> {
    if bump.all_new && bump.root_opened && bump.inherited.is_empty() {
        return Ok(Vec::new());
    }
    db.write(|| {
        if !bump.root_opened && !bump.target_is_child {
            db.execute(
                rows::END_DIRECTORY_UPDATE,
                params![db.wc_id(), bump.anchor.as_str()],
            )?;
        }
        if bump.target_deleted {
            return Ok(Vec::new());
        }
        let was_bumped = bump_target(db, bump)?;
        if bump.target_is_child
            && let Some(node) = db.node(bump.target)?
            && node
                .base()
                .is_some_and(|base| base.presence == Presence::Excluded)
        {
            remove_rows(
                db,
                &Removal {
                    path: bump.target.to_owned(),
                    keep: None,
                    on_disk: false,
                },
            )?;
        }
        if was_bumped && db.any_move()? {
            return bump_moves::finish(db, bump.target, &bump.moves);
        }
        Ok(Vec::new())
    })
}

/// Returns whether the target is there.
fn bump_target(db: &Db, bump: &Bump<'_>) -> Result<bool> {
    if bump.skipped.contains(bump.target) {
        return Ok(false);
    }
    let Some(node) = db.node(bump.target)? else {
        return Ok(false);
    };
    if !node.base().is_some_and(|base| base.presence.is_present()) {
        return Ok(false);
    }
    if bump.depth == Depth::Infinity && bump.repos_path.is_none() && bump.skipped.is_empty() {
        bump_all(db, bump, &node)?;
    } else {
        let repos_path = bump.repos_path.map(RelPath::to_owned);
        bump_node(db, bump, &node, repos_path, bump.depth)?;
    }
    Ok(true)
}

/// Bumps a whole tree by a few statements.
fn bump_all(db: &Db, bump: &Bump<'_>, node: &Node) -> Result<()> {
    let rev = bump.rev.number();
    let (low, high) = below(&node.path);
    if node
        .base()
        .is_some_and(|base| base.revision != Some(bump.rev))
    {
        db.execute(
            rows::BUMP_REVISION,
            params![db.wc_id(), node.path.as_str(), rev],
        )?;
    }
    if node.base().is_some_and(|base| base.kind == NodeKind::Dir) {
        db.execute(rows::DELETE_GONE_BELOW, params![db.wc_id(), low, high, rev])?;
        db.execute(
            rows::BUMP_REVISION_BELOW,
            params![db.wc_id(), low, high, rev],
        )?;
    }
    for (path, inherited) in bump.inherited {
        if path.starts_with(&node.path) {
            db.execute(
                rows::BUMP_INHERITED_PROPS,
                params![db.wc_id(), path.as_str(), inherited],
            )?;
        }
    }
    Ok(())
}

fn bump_node(
    db: &Db,
    bump: &Bump<'_>,
    node: &Node,
    repos_path: Option<RelPathBuf>,
    depth: Depth,
) -> Result<()> {
    let Some(base) = node.base() else {
        return Ok(());
    };
    let path = node.path.as_str();
    if base.revision != Some(bump.rev) {
        db.execute(
            rows::BUMP_REVISION,
            params![db.wc_id(), path, bump.rev.number()],
        )?;
    }
    if let Some(new) = &repos_path
        && base.repos_path.as_ref() != Some(new)
    {
        db.execute(
            rows::BUMP_PATH,
            params![db.wc_id(), path, bump.repos_id, new.as_str()],
        )?;
    }
    if let Some(inherited) = bump.inherited.get(&node.path) {
        db.execute(
            rows::BUMP_INHERITED_PROPS,
            params![db.wc_id(), path, inherited],
        )?;
    }
    if depth <= Depth::Empty || base.kind != NodeKind::Dir || !base.presence.is_present() {
        return Ok(());
    }
    let below = if matches!(depth, Depth::Immediates | Depth::Files) {
        Depth::Empty
    } else {
        depth
    };
    for child in db.children(&node.path)? {
        let Some(base) = child.base() else {
            continue;
        };
        if base.file_external && base.kind == NodeKind::File
            || depth < Depth::Immediates && base.kind == NodeKind::Dir
            || bump.skipped.contains(&child.path)
        {
            continue;
        }
        let gone = base.presence == Presence::NotPresent
            || base.presence == Presence::ServerExcluded && base.revision != Some(bump.rev);
        if gone {
            db.execute(rows::DELETE_BASE, params![db.wc_id(), child.path.as_str()])?;
            continue;
        }
        let child_path = repos_path
            .as_ref()
            .map(|parent| parent.child(child.path.basename()))
            .transpose()?;
        bump_node(db, bump, &child, child_path, below)?;
    }
    Ok(())
}

/// Gives one node its new place and revision.
pub(super) fn one(
    db: &Db,
    path: &RelPath,
    repos_id: i64,
    repos_path: &RelPath,
    rev: Revnum,
    inherited: &BTreeMap<RelPathBuf, Vec<u8>>,
) -> Result<()> {
    let repository = db.repository(repos_id)?;
    let Some(node) = db.node(path)? else {
        return Ok(());
    };
    let bump = Bump {
        anchor: path,
        target: path,
        target_is_child: false,
        root_opened: true,
        target_deleted: false,
        depth: Depth::Empty,
        repos_id,
        repos_path: Some(repos_path),
        rev,
        skipped: &BTreeSet::new(),
        inherited,
        all_new: false,
        moves: BumpMoves {
            locked: path,
            repos_root: &repository.root,
            repos_uuid: &repository.uuid,
            depth: Depth::Empty,
        },
    };
    bump_node(db, &bump, &node, Some(repos_path.to_owned()), Depth::Empty)
}
