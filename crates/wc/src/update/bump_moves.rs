//! The end of an update for moves: their targets follow sources that did not change, and a
//! conflict tells of those that cannot.

use sylvan_core::{Depth, NodeKind, RelPath, RelPathBuf, Result, Url};

use crate::conflict::{Action, Conflict, Location, Operation, Reason, TreeConflict};
use crate::db::moves::Move;
use crate::db::{Db, Layer, Presence};

/// What an update covered, as far as moves matter.
#[derive(Debug)]
pub(super) struct BumpMoves<'b> {
    /// All below is locked by this operation.
    pub locked: &'b RelPath,
    pub repos_root: &'b Url,
    pub repos_uuid: &'b str,
    pub depth: Depth,
}

/// Lets moves follow their sources at and below `target`. Returns the nodes that are in conflict
/// now.
pub(super) fn finish(
    db: &Db,
    target: &RelPath,
    bump: &BumpMoves<'_>,
) -> Result<Vec<(RelPathBuf, NodeKind)>> {
    let mut raised = Vec::new();
    if let Some((moved, delete_depth)) = moved_above(db, target)? {
        if *moved.source != *target {
            if moved.source.starts_with(bump.locked) {
                bump.raise(db, &moved, 0, &mut raised)?;
            }
            return Ok(raised);
        }
        debug_assert_eq!(moved.delete_depth, delete_depth);
    }
    bump.layer(db, target, 0, &mut raised)?;
    Ok(raised)
}

/// Finds the move that took a node of the BASE tree away.
fn moved_above(db: &Db, path: &RelPath) -> Result<Option<(Move, usize)>> {
    let layers = db.layers(path)?;
    let depth = layers
        .iter()
        .rev()
        .map(|layer| layer.op_depth)
        .find(|depth| *depth > 0);
    let Some(depth) = depth else {
        return Ok(None);
    };
    for at in std::iter::once(path).chain(path.ancestors()) {
        if at.depth() < depth {
            break;
        }
        let layers = db.layers(at)?;
        let layer = layers.iter().find(|layer| layer.op_depth == depth);
        if let Some(layer) = layer
            && let Some(target) = &layer.moved_to
        {
            let moved = Move {
                source: at.to_owned(),
                target: target.clone(),
                delete_depth: depth,
                kind: layer.kind,
            };
            return Ok(Some((moved, depth)));
        }
    }
    Ok(None)
}

impl BumpMoves<'_> {
    fn layer(
        &self,
        db: &Db,
        path: &RelPath,
        op_depth: usize,
        raised: &mut Vec<(RelPathBuf, NodeKind)>,
    ) -> Result<()> {
        for moved in db.moves_of_layer(path, op_depth)? {
            let Some(depth) = self.covers(path, &moved) else {
                continue;
            };
            if db.has_layer_between(path, op_depth, moved.delete_depth)? {
                continue;
            }
            let enough = op_depth > 0 || is_enough(db, &moved.source, op_depth, depth)?;
            if !enough || !moved.target.starts_with(self.locked) {
                self.raise(db, &moved, op_depth, raised)?;
                continue;
            }
            let root = db.node(moved.delete_root())?;
            if root.is_some_and(|root| root.actual.conflict.is_some()) {
                continue;
            }
            db.copy_layer(&moved.source, op_depth, &moved.target)?;
            self.layer(db, &moved.target, moved.target.depth(), raised)?;
        }
        Ok(())
    }

    /// Tells how deep a move's source was updated, `None` if it was not.
    fn covers(&self, root: &RelPath, moved: &Move) -> Option<Depth> {
        let below = moved.source.strip_prefix(root)?;
        if self.depth == Depth::Infinity || below.is_root() {
            return Some(self.depth);
        }
        let is_child = below.depth() == 1;
        match self.depth {
            Depth::Files if moved.kind == NodeKind::File && is_child => Some(Depth::Empty),
            Depth::Immediates if is_child => Some(Depth::Empty),
            _ => None,
        }
    }

    /// Says that a move's target lags behind its source.
    fn raise(
        &self,
        db: &Db,
        moved: &Move,
        op_depth: usize,
        raised: &mut Vec<(RelPathBuf, NodeKind)>,
    ) -> Result<()> {
        let root = moved.delete_root().to_owned();
        let source = layer_at(db, &root, op_depth)?;
        let target = layer_at(db, &moved.target, moved.target.depth())?;
        let (Some(new), Some(old)) = (source, target) else {
            return Ok(());
        };
        let below = moved.source.strip_prefix(&root).unwrap_or(RelPath::ROOT);
        let conflict = Conflict {
            operation: Operation::Update,
            left: Some(self.location(&old, below)),
            right: Some(self.location(&new, below)),
            tree: Some(TreeConflict {
                reason: Reason::MovedAway,
                action: Action::Edited,
                move_source: Some(root),
                move_target: Some(moved.target.clone()),
            }),
            ..Conflict::default()
        };
        db.mark_conflict(&moved.source, &conflict.to_bytes())?;
        raised.push((moved.source.clone(), new.kind));
        Ok(())
    }

    fn location(&self, layer: &Layer, below: &RelPath) -> Location {
        Location {
            repos_root: self.repos_root.clone(),
            repos_uuid: Some(self.repos_uuid.to_owned()),
            path: layer.repos_path.clone().unwrap_or_default().join(below),
            revision: layer.revision,
            kind: layer.kind,
        }
    }
}

fn layer_at(db: &Db, path: &RelPath, op_depth: usize) -> Result<Option<Layer>> {
    let layers = db.layers(path)?;
    Ok(layers.into_iter().find(|layer| layer.op_depth == op_depth))
}

/// Tells whether an update so deep covered all of a tree.
fn is_enough(db: &Db, path: &RelPath, op_depth: usize, depth: Depth) -> Result<bool> {
    if depth == Depth::Infinity {
        return Ok(true);
    }
    let children = |path: &RelPath| -> Result<Vec<(RelPathBuf, NodeKind)>> {
        let children = db.children(path)?.into_iter().filter_map(|child| {
            let layers = child.layers.iter();
            let kind = layers
                .filter(|layer| layer.op_depth == op_depth)
                .find(|layer| layer.presence != Presence::BaseDeleted)?
                .kind;
            Some((child.path, kind))
        });
        Ok(children.collect())
    };
    let found = children(path)?;
    Ok(match depth {
        Depth::Files => found.iter().all(|(_, kind)| *kind == NodeKind::File),
        Depth::Immediates => {
            for (child, _) in &found {
                if !children(child)?.is_empty() {
                    return Ok(false);
                }
            }
            true
        }
        _ => found.is_empty(),
    })
}
