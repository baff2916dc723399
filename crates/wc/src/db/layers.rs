//! Changes of the BASE tree that other layers lie over, and what is local to nodes.
//!
//! All of them are steps within a transaction of the caller.

use rusqlite::params;
use sylvan_core::props;
use sylvan_core::{Error, ErrorCode, NodeKind, Props, RelPath, RelPathBuf, Result, Revnum};

use super::node::{integer, path as path_column, text};
use super::write::{BaseRow, below};
use super::{Db, Presence, corrupt, statements};
use crate::db::write as rows;
use crate::work_queue::item;

statements!("layers.sql":
    LOWEST_WORKING,
    INSERT_DELETION,
    INSERT_DELETIONS_OF_BASE,
    DELETE_LAYER,
    DELETE_TOP_WORKING,
    CLEAR_MOVED_HERE,
    SELECT_MOVED_OUT,
    SELECT_MOVED_OF_BASE,
    SELECT_CURRENT_BELOW,
    DELETE_DELETIONS_BELOW,
    DELETE_DELETION,
    DELETE_WORKING_BELOW,
    DELETE_ACTUAL_OF_BASE_BELOW,
    SELECT_BASE_CHILDREN,
    COPY_BASE,
    COPY_LAYER,
    INSERT_NOT_PRESENT,
    SET_MOVED_TO,
    CLEAR_MOVE_TO,
    HAS_SERVER_EXCLUDED,
    UPDATE_ACTUAL_PROPS,
    INSERT_ACTUAL_PROPS,
    UPDATE_ACTUAL_CONFLICT,
    INSERT_ACTUAL_CONFLICT,
    DELETE_ACTUAL_IF_EMPTY,
    SELECT_CONFLICTS,
);

/// How a node of the BASE tree is removed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BaseRemoval {
    /// Local changes stay as a copy of what was there.
    pub keep_as_working: bool,
    /// A row that stays to say that the node is not there, of this presence and revision.
    pub keep: Option<(Presence, Revnum)>,
}

/// The lowest layer above another.
struct Lowest {
    op_depth: i64,
    presence: Option<String>,
    moved_to: Option<RelPathBuf>,
}

fn depth(path: &RelPath) -> i64 {
    i64::try_from(path.depth()).unwrap_or(i64::MAX)
}

fn parent(path: &RelPath) -> Option<&str> {
    path.parent().map(RelPath::as_str)
}

impl Db {
    fn lowest_working(&self, path: &RelPath, above: i64) -> Result<Option<Lowest>> {
        let key = params![self.wc_id(), path.as_str(), above];
        self.row(LOWEST_WORKING, key, |row| {
            Ok(Lowest {
                op_depth: integer(row, 0)?.unwrap_or(0),
                presence: text(row, 1)?.map(str::to_owned),
                moved_to: path_column(row, 2)?,
            })
        })
    }

    /// Deletes a node that was added to a layer in all layers of deletions of its folder.
    pub(crate) fn extend_parent_delete(
        &self,
        path: &RelPath,
        kind: NodeKind,
        op_depth: i64,
    ) -> Result<()> {
        let Some(folder) = path.parent() else {
            return Ok(());
        };
        let Some(above) = self.lowest_working(folder, op_depth)? else {
            return Ok(());
        };
        let own = self.lowest_working(path, op_depth)?;
        if own.is_none_or(|own| above.op_depth < own.op_depth) {
            self.execute(
                INSERT_DELETION,
                params![
                    self.wc_id(),
                    path.as_str(),
                    above.op_depth,
                    folder.as_str(),
                    kind.as_str()
                ],
            )?;
        }
        Ok(())
    }

    /// Takes back the deletion of a node that is gone from a layer.
    pub(crate) fn retract_parent_delete(&self, path: &RelPath, op_depth: i64) -> Result<()> {
        let Some(lowest) = self.lowest_working(path, op_depth)? else {
            return Ok(());
        };
        if let Some(target) = &lowest.moved_to {
            self.clear_moved_here(target)?;
        }
        if lowest.presence.as_deref() == Some(Presence::BaseDeleted.as_str()) {
            self.delete_layer(path, lowest.op_depth)?;
        } else if lowest.moved_to.is_some() {
            self.set_moved_to(path, lowest.op_depth, None)?;
        }
        Ok(())
    }

    /// Removes one layer of a node.
    pub(crate) fn delete_layer(&self, path: &RelPath, op_depth: i64) -> Result<()> {
        let key = params![self.wc_id(), path.as_str(), op_depth];
        self.execute(DELETE_LAYER, key)?;
        Ok(())
    }

    /// Makes a deletion the source of a move, or a mere deletion again.
    pub(crate) fn set_moved_to(
        &self,
        source: &RelPath,
        delete_depth: i64,
        target: Option<&RelPath>,
    ) -> Result<()> {
        let target = target.map(RelPath::as_str);
        let key = params![self.wc_id(), source.as_str(), delete_depth, target];
        self.execute(SET_MOVED_TO, key)?;
        Ok(())
    }

    /// Makes the source of the move to `target` a mere deletion.
    pub(crate) fn clear_move_to(&self, target: &RelPath) -> Result<()> {
        self.execute(CLEAR_MOVE_TO, params![self.wc_id(), target.as_str()])?;
        Ok(())
    }

    /// Makes a move's target a copy; returns of how many nodes.
    pub(crate) fn clear_moved_here(&self, target: &RelPath) -> Result<usize> {
        let (low, high) = below(target);
        self.execute(
            CLEAR_MOVED_HERE,
            params![self.wc_id(), target.as_str(), low, high, depth(target)],
        )
    }

    /// Makes a move a copy and a deletion; returns of how many nodes the copy is.
    pub(crate) fn break_move(
        &self,
        source: &RelPath,
        delete_depth: i64,
        target: &RelPath,
    ) -> Result<usize> {
        self.set_moved_to(source, delete_depth, None)?;
        self.clear_moved_here(target)
    }

    /// Writes a row of the BASE tree below other layers, and over what stood there.
    pub(crate) fn put_shadowed_base(&self, row: &BaseRow<'_>) -> Result<()> {
        self.put_base(row, true)?;
        if row.path.is_root() {
            return Ok(());
        }
        if !row.presence.is_present() {
            return self.retract_parent_delete(row.path, 0);
        }
        if row.file_external {
            return Ok(());
        }
        self.extend_parent_delete(row.path, row.kind, 0)
    }

    /// Deletes the node of the BASE tree at `path` in a layer of its own.
    pub(crate) fn insert_base_deleted(&self, path: &RelPath, kind: NodeKind) -> Result<()> {
        self.execute(
            INSERT_DELETION,
            params![
                self.wc_id(),
                path.as_str(),
                depth(path),
                parent(path),
                kind.as_str()
            ],
        )?;
        Ok(())
    }

    /// Removes the highest layer above the BASE tree.
    pub(crate) fn delete_top_working(&self, path: &RelPath) -> Result<()> {
        self.execute(DELETE_TOP_WORKING, params![self.wc_id(), path.as_str()])?;
        Ok(())
    }

    /// Removes a node with all below it from the BASE tree; what local operations made of it stays.
    /// Returns the work items that remove what is on disk.
    pub(crate) fn remove_base(&self, path: &RelPath, how: BaseRemoval) -> Result<Vec<Vec<u8>>> {
        let layers = self.layers(path)?;
        let (Some(top), Some(base)) = (
            layers.first(),
            layers.last().filter(|layer| layer.op_depth == 0),
        ) else {
            return Ok(Vec::new());
        };
        let is_op_root = top.op_depth > 0 && top.op_depth == path.depth();
        let is_deleted = top.op_depth > 0 && top.presence == Presence::BaseDeleted;
        let mut keep_working =
            is_op_root && !is_deleted || top.op_depth > 0 && top.presence.is_present();
        if how.keep_as_working && top.op_depth == 0 {
            if base.presence.is_present() {
                self.make_copy(path, true)?;
            }
            keep_working = true;
        }
        let mut items = Vec::new();
        if !keep_working && !is_deleted && top.presence.is_present() {
            self.removal_items(path, top.kind, &mut items)?;
        }
        self.remove_local(path, keep_working, how.keep_as_working)?;
        self.remove_working(path, keep_working)?;
        let (low, high) = below(path);
        let id = self.wc_id();
        self.execute(rows::DELETE_BASE_BELOW, params![id, low, high])?;
        self.execute(rows::DELETE_BASE, params![id, path.as_str()])?;
        self.retract_parent_delete(path, 0)?;
        if let Some((presence, rev)) = how.keep {
            let repos_id = base
                .repos_id
                .ok_or_else(|| corrupt("A BASE node has no repository"))?;
            let repos_path = base.repos_path.clone().unwrap_or_default();
            let kind = base.kind;
            let row = BaseRow::new(path, repos_id, repos_path.as_str(), rev, presence, kind);
            self.put_shadowed_base(&row)?;
        }
        Ok(items)
    }

    /// Lists what removes a node from the disk, with all that is versioned below it.
    fn removal_items(
        &self,
        path: &RelPath,
        kind: NodeKind,
        items: &mut Vec<Vec<u8>>,
    ) -> Result<()> {
        if kind != NodeKind::Dir {
            items.push(item::file_remove(path));
            return Ok(());
        }
        let (low, high) = below(path);
        let key = params![self.wc_id(), low, high];
        self.each(SELECT_CURRENT_BELOW, key, |row| {
            let path = path_column(row, 0)?.unwrap_or_default();
            items.push(match text(row, 1)? {
                Some("dir") => item::dir_remove(&path),
                _ => item::file_remove(&path),
            });
            Ok(())
        })?;
        items.push(item::dir_remove(path));
        Ok(())
    }

    fn remove_local(&self, path: &RelPath, keep_working: bool, all_is_kept: bool) -> Result<()> {
        let (low, high) = below(path);
        let id = self.wc_id();
        if !keep_working {
            self.execute(rows::DELETE_ACTUAL, params![id, path.as_str()])?;
            self.execute(rows::DELETE_ACTUAL_BELOW, params![id, low, high])?;
        } else if !all_is_kept {
            self.execute(DELETE_ACTUAL_OF_BASE_BELOW, params![id, low, high])?;
        }
        Ok(())
    }

    fn remove_working(&self, path: &RelPath, keep_working: bool) -> Result<()> {
        let (low, high) = below(path);
        let id = self.wc_id();
        if keep_working {
            for (source, op_depth, target) in self.moves_of_base(path)? {
                self.break_move(&source, op_depth, &target)?;
            }
            self.execute(DELETE_DELETIONS_BELOW, params![id, low, high, 0])?;
            return Ok(());
        }
        let key = params![id, path.as_str(), low, high, depth(path)];
        let targets = self.rows(SELECT_MOVED_OUT, key, |row| path_column(row, 0))?;
        for target in targets.into_iter().flatten() {
            self.clear_moved_here(&target)?;
        }
        self.execute(DELETE_WORKING_BELOW, params![id, low, high])?;
        Ok(())
    }

    /// Lists moves of nodes at and below a path of the BASE tree: source, depth of the deletion,
    /// target.
    pub(crate) fn moves_of_base(
        &self,
        path: &RelPath,
    ) -> Result<Vec<(RelPathBuf, i64, RelPathBuf)>> {
        let (low, high) = below(path);
        let key = params![self.wc_id(), path.as_str(), low, high];
        self.rows(SELECT_MOVED_OF_BASE, key, |row| {
            Ok((
                path_column(row, 1)?.unwrap_or_default(),
                integer(row, 0)?.unwrap_or(0),
                path_column(row, 2)?.unwrap_or_default(),
            ))
        })
    }

    /// Makes a node of the BASE tree with all below it a local copy of itself. `moves_stay` says
    /// that moves from there are those of the BASE tree still.
    pub(crate) fn make_copy(&self, path: &RelPath, moves_stay: bool) -> Result<()> {
        let (low, high) = below(path);
        let id = self.wc_id();
        let top = self.layers(path)?.first().map_or(0, |top| top.op_depth);
        let own = depth(path);
        if top > 0 {
            let top = i64::try_from(top).unwrap_or(i64::MAX);
            if top == own {
                return Err(Error::new(
                    ErrorCode::WC_PATH_UNEXPECTED_STATUS,
                    format!("Modification of '{path}' already exists"),
                ));
            }
            let copied = params![id, path.as_str(), low, high, top, own];
            self.execute(COPY_LAYER, copied)?;
            return Ok(());
        }
        let hidden = params![id, path.as_str(), low, high];
        if self.exists(HAS_SERVER_EXCLUDED, hidden)? {
            return Err(Error::new(
                ErrorCode::AUTHZ_UNREADABLE,
                format!("Cannot copy '{path}' excluded by server"),
            ));
        }
        self.execute(
            INSERT_DELETIONS_OF_BASE,
            params![id, path.as_str(), low, high, own],
        )?;
        if !moves_stay {
            self.move_moves_down(path, own)?;
        }
        self.copy_base(path, &Copied::default(), own, false)
    }

    /// Lets a layer have the moves of nodes below it that another one had.
    fn move_moves_down(&self, path: &RelPath, layer: i64) -> Result<()> {
        let (low, high) = below(path);
        let key = params![self.wc_id(), path.as_str(), low, high];
        let moves = self.rows(SELECT_MOVED_OF_BASE, key, |row| {
            Ok((
                integer(row, 0)?.unwrap_or(0),
                path_column(row, 1)?.unwrap_or_default(),
                path_column(row, 2)?.unwrap_or_default(),
            ))
        })?;
        for (op_depth, source, target) in moves {
            if op_depth == layer {
                continue;
            }
            self.set_moved_to(&source, op_depth, None)?;
            self.set_moved_to(&source, layer, Some(&target))?;
        }
        Ok(())
    }

    fn copy_base(
        &self,
        path: &RelPath,
        above: &Copied,
        last_depth: i64,
        mut shadowed: bool,
    ) -> Result<()> {
        let id = self.wc_id();
        let layers = self.layers(path)?;
        let Some(base) = layers.last().filter(|layer| layer.op_depth == 0) else {
            return Ok(());
        };
        let own = depth(path);
        let is_taken =
            last_depth != own && layers.iter().any(|layer| layer.op_depth == path.depth());
        shadowed |= is_taken;
        let here = Copied {
            repos_id: base.repos_id,
            repos_path: base.repos_path.clone(),
            rev: base.revision,
        };
        let op_depth = if here.is_child_of(above, path) {
            last_depth
        } else {
            own
        };
        if !is_taken || op_depth == last_depth {
            self.execute(COPY_BASE, params![id, path.as_str(), op_depth])?;
            if shadowed {
                self.extend_parent_delete(path, base.kind, op_depth)?;
            }
            if base.kind == NodeKind::Dir {
                let key = params![id, path.as_str()];
                let children = self.rows(SELECT_BASE_CHILDREN, key, |row| path_column(row, 0))?;
                for child in children.into_iter().flatten() {
                    self.copy_base(&child, &here, op_depth, shadowed)?;
                }
            }
        } else {
            let (low, high) = below(path);
            self.execute(DELETE_DELETION, params![id, path.as_str(), last_depth])?;
            self.execute(DELETE_DELETIONS_BELOW, params![id, low, high, last_depth])?;
        }
        if last_depth > 0 && last_depth != op_depth && above.repos_id.is_some() {
            self.execute(INSERT_NOT_PRESENT, params![id, path.as_str(), last_depth])?;
        }
        Ok(())
    }

    /// Sets the local properties of a node; `None` says that they are the pristine ones.
    pub(crate) fn put_actual_props(&self, path: &RelPath, local: Option<&Props>) -> Result<()> {
        let key = (self.wc_id(), path.as_str());
        let stored = local.map(props::to_skel);
        let changed = self.execute(UPDATE_ACTUAL_PROPS, params![key.0, key.1, stored])?;
        match stored {
            None if changed > 0 => self.delete_actual_if_empty(path),
            Some(stored) if changed == 0 => {
                self.execute(
                    INSERT_ACTUAL_PROPS,
                    params![key.0, key.1, stored, parent(path)],
                )?;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Removes the row of what is local to a node if it says nothing.
    pub(crate) fn delete_actual_if_empty(&self, path: &RelPath) -> Result<()> {
        self.execute(DELETE_ACTUAL_IF_EMPTY, params![self.wc_id(), path.as_str()])?;
        Ok(())
    }

    /// Records a conflict as stored, in place of one that was there.
    pub(crate) fn mark_conflict(&self, path: &RelPath, stored: &[u8]) -> Result<()> {
        let key = (self.wc_id(), path.as_str());
        if self.execute(UPDATE_ACTUAL_CONFLICT, params![key.0, key.1, stored])? == 0 {
            self.execute(
                INSERT_ACTUAL_CONFLICT,
                params![key.0, key.1, stored, parent(path)],
            )?;
        }
        Ok(())
    }

    /// Lists the nodes in conflict at and below a path.
    pub(crate) fn conflicts_below(&self, path: &RelPath) -> Result<Vec<RelPathBuf>> {
        let (low, high) = below(path);
        let key = params![self.wc_id(), path.as_str(), low, high];
        self.rows(SELECT_CONFLICTS, key, |row| {
            Ok(path_column(row, 0)?.unwrap_or_default())
        })
    }

    /// Forgets the token of a lock.
    pub(crate) fn delete_lock(&self, repos_id: i64, repos_path: &RelPath) -> Result<()> {
        self.execute(rows::DELETE_LOCK, params![repos_id, repos_path.as_str()])?;
        Ok(())
    }

    /// Forgets the conflict of a node.
    pub(crate) fn clear_conflict(&self, path: &RelPath) -> Result<()> {
        let key = (self.wc_id(), path.as_str());
        let none: Option<&[u8]> = None;
        self.execute(UPDATE_ACTUAL_CONFLICT, params![key.0, key.1, none])?;
        self.delete_actual_if_empty(path)
    }
}

/// Where a copied node comes from.
#[derive(Debug, Default)]
struct Copied {
    repos_id: Option<i64>,
    repos_path: Option<RelPathBuf>,
    rev: Option<Revnum>,
}

impl Copied {
    /// Tells whether a copy of the folder `above` has this node at `path`.
    fn is_child_of(&self, above: &Self, path: &RelPath) -> bool {
        let Some(folder) = &above.repos_path else {
            // It is the first.
            return true;
        };
        self.repos_id == above.repos_id
            && self.rev == above.rev
            && folder.child(path.basename()).ok() == self.repos_path
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn statements_use_indexes() {
        crate::db::tests::check_statements(super::ALL, &[]);
    }
}
