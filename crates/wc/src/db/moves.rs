//! Moves whose source changes: the layer of the target follows it.

use std::collections::BTreeSet;

use rusqlite::params;
use sylvan_core::{NodeKind, RelPath, RelPathBuf, Result};

use super::node::{integer, path as path_column, text};
use super::write::below;
use super::{Db, Presence, statements};

statements!("moves.sql":
    SELECT_MOVES_OF_LAYER,
    HAS_LAYER_BETWEEN,
    ANY_MOVE,
    SELECT_LAYER,
    COPY_TO_MOVED,
    REPLACE_BY_DELETION,
    DROP_LAYER,
    DROP_ACTUAL_BUT_CHANGELIST,
    CLEAR_ACTUAL_BUT_CHANGELIST,
    SELECT_BASE_PLACES,
    HAS_LAYER_ABOVE,
    HAS_LOCAL,
);

/// A move, and the deletion that belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Move {
    pub source: RelPathBuf,
    pub target: RelPathBuf,
    /// The depth of the operation that deleted the source.
    pub delete_depth: usize,
    pub kind: NodeKind,
}

impl Move {
    /// Returns the root of the operation that deleted the source.
    pub(crate) fn delete_root(&self) -> &RelPath {
        let above = self.source.ancestors();
        std::iter::once(&*self.source)
            .chain(above)
            .find(|path| path.depth() == self.delete_depth)
            .unwrap_or(&self.source)
    }
}

pub(crate) fn number(depth: usize) -> i64 {
    i64::try_from(depth).unwrap_or(i64::MAX)
}

/// Returns a path below `from` as it is below `to`.
pub(crate) fn rebased(path: &RelPath, from: &RelPath, to: &RelPath) -> RelPathBuf {
    path.strip_prefix(from)
        .map_or_else(|| path.to_owned(), |below| to.join(below))
}

impl Db {
    /// Lists the moves of nodes that a layer has at and below `path`.
    pub(crate) fn moves_of_layer(&self, path: &RelPath, op_depth: usize) -> Result<Vec<Move>> {
        let (low, high) = below(path);
        let key = params![self.wc_id(), path.as_str(), low, high, number(op_depth)];
        self.rows(SELECT_MOVES_OF_LAYER, key, |row| {
            let depth = integer(row, 2)?.unwrap_or(0);
            Ok(Move {
                source: path_column(row, 0)?.unwrap_or_default(),
                target: path_column(row, 1)?.unwrap_or_default(),
                delete_depth: usize::try_from(depth).unwrap_or(0),
                kind: match text(row, 3)? {
                    Some("dir") => NodeKind::Dir,
                    _ => NodeKind::File,
                },
            })
        })
    }

    /// Tells whether anything is moved.
    pub(crate) fn any_move(&self) -> Result<bool> {
        self.exists(ANY_MOVE, [self.wc_id()])
    }

    /// Tells whether a node has a layer between two others.
    pub(crate) fn has_layer_between(
        &self,
        path: &RelPath,
        low: usize,
        high: usize,
    ) -> Result<bool> {
        let key = params![self.wc_id(), path.as_str(), number(low), number(high)];
        self.exists(HAS_LAYER_BETWEEN, key)
    }

    /// Lists the nodes that a layer has at and below `path`, in order.
    fn layer_of(
        &self,
        path: &RelPath,
        op_depth: usize,
    ) -> Result<Vec<(RelPathBuf, NodeKind, bool)>> {
        let (low, high) = below(path);
        let key = params![self.wc_id(), path.as_str(), low, high, number(op_depth)];
        self.rows(SELECT_LAYER, key, |row| {
            let kind = match text(row, 1)? {
                Some("dir") => NodeKind::Dir,
                _ => NodeKind::File,
            };
            let is_normal = text(row, 2)? == Some(Presence::Normal.as_str());
            Ok((path_column(row, 0)?.unwrap_or_default(), kind, is_normal))
        })
    }

    /// Lists what a layer has below `path`, the deepest first.
    pub(crate) fn layer_below(
        &self,
        path: &RelPath,
        op_depth: usize,
    ) -> Result<Vec<(RelPathBuf, NodeKind)>> {
        let mut found = self.layer_of(path, op_depth)?;
        found.retain(|(at, ..)| **at != *path);
        Ok(found
            .into_iter()
            .rev()
            .map(|(at, kind, _)| (at, kind))
            .collect())
    }

    /// Makes the layer of a move's target what the layer of its source is now.
    pub(crate) fn copy_layer(
        &self,
        source: &RelPath,
        source_depth: usize,
        target: &RelPath,
    ) -> Result<()> {
        let depth = target.depth();
        let there = self.layer_of(target, depth)?;
        let was: BTreeSet<_> = there
            .iter()
            .filter(|(_, _, is_normal)| *is_normal)
            .map(|(path, ..)| path.clone())
            .collect();
        let mut wanted = BTreeSet::new();
        for (from, kind, _) in self.layer_of(source, source_depth)? {
            let to = rebased(&from, source, target);
            self.execute(
                COPY_TO_MOVED,
                params![
                    self.wc_id(),
                    from.as_str(),
                    number(source_depth),
                    to.as_str(),
                    number(depth),
                    to.parent().map(RelPath::as_str),
                ],
            )?;
            if to.depth() > depth + 1 && !was.contains(&to) {
                self.extend_parent_delete(&to, kind, number(depth))?;
            }
            wanted.insert(to);
        }
        for (path, ..) in there.iter().rev() {
            if !wanted.contains(path) {
                self.drop_moved(path, depth)?;
            }
        }
        Ok(())
    }

    /// Removes a node that a move's target has no more.
    pub(crate) fn drop_moved(&self, path: &RelPath, op_depth: usize) -> Result<()> {
        let layers = self.layers(path)?;
        let covered = layers.iter().find(|layer| layer.op_depth < op_depth);
        let statement = if covered.is_some_and(|layer| layer.presence.is_present()) {
            REPLACE_BY_DELETION
        } else {
            DROP_LAYER
        };
        self.execute(
            statement,
            params![self.wc_id(), path.as_str(), number(op_depth)],
        )?;
        let key = params![self.wc_id(), path.as_str()];
        if layers.iter().all(|layer| layer.op_depth <= op_depth) {
            self.execute(DROP_ACTUAL_BUT_CHANGELIST, key)?;
            self.execute(CLEAR_ACTUAL_BUT_CHANGELIST, key)?;
        }
        self.retract_parent_delete(path, number(op_depth))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn statements_use_indexes() {
        crate::db::tests::check_statements(super::ALL, &[]);
    }
}
