//! Rows of the WORKING layers and of ACTUAL_NODE, as local operations write them.
//!
//! All functions here are called within a write transaction of the operation.

pub(crate) mod delete;

use rusqlite::Row;
use rusqlite::params;
use rusqlite::types::Value;
use sylvan_core::{Depth, NodeKind, Props, RelPath, RelPathBuf, Result, Revnum, Sha1, props};

use crate::db::write::{Changed, below};
use crate::db::{Actual, Db, Layer, Node, Presence, path_column, statements};

statements!("working.sql":
    INSERT_NODE,
    INSERT_NOT_PRESENT,
    SELECT_MOVED_WITHIN,
    SELECT_MOVED_TO,
    SELECT_MOVED_HERE_BELOW,
    MOVE_TARGETS_BELOW,
    CLEAR_TARGETS_BELOW,
    SELECT_SERVER_EXCLUDED_BELOW,
    SELECT_DELETED_BELOW,
    DELETE_LAYERS,
    COVER_BY_DELETION,
    DELETE_ACTUAL_BUT_CHANGELISTS,
    CLEAR_ACTUAL_BUT_CHANGELISTS,
    DELETE_ACTUAL_ONE_BUT_CHANGELIST,
    CLEAR_ACTUAL_ONE_BUT_CHANGELIST,
    DELETE_ORPHANED_WC_LOCKS,
    DELETE_FILE_EXTERNALS_BELOW,
    FORGET_EXTERNALS_BELOW,
    FORGET_FILE_EXTERNALS_BELOW,
    CLEAR_CHANGELIST,
    FORGET_FILE_INFO,
    SELECT_LAYERS_WITHIN,
    SELECT_LOCAL_WITHIN,
    SELECT_MOVED_OUT,
    HAS_CHILDREN_ABOVE,
    HAS_ACTUAL_CHILDREN,
    RAISE_DELETIONS,
    SELECT_CURRENT_WITHIN,
    SELECT_CURRENT_CHILDREN,
    SELECT_CURRENT,
    SELECT_DELETED_PROPS,
    SET_CHANGELIST,
    INSERT_CHANGELIST,
    COPY_LAYER,
    COPY_ACTUAL,
    SELECT_LAYER_CHILDREN,
    INSERT_INCOMPLETE,
    SELECT_MOVED_BACK,
    DELETE_LAYER_WITHIN,
    ADOPT_PRISTINES,
    ADOPT_NODES,
    SELECT_ADOPTED,
);

/// A node and all below it, as the statements take it.
#[derive(Debug)]
pub(crate) struct Within<'a> {
    pub path: &'a RelPath,
    pub low: String,
    pub high: Value,
}

impl<'a> Within<'a> {
    pub(crate) fn new(path: &'a RelPath) -> Self {
        let (low, high) = below(path);
        Self { path, low, high }
    }
}

/// A row of a WORKING layer to be written. What a move recorded at the same place stays.
#[derive(Clone, Debug)]
pub(crate) struct WorkingRow<'a> {
    pub path: &'a RelPath,
    pub op_depth: usize,
    pub presence: Presence,
    pub kind: NodeKind,
    pub depth: Option<Depth>,
    /// Where it was copied from.
    pub source: Option<(i64, &'a RelPath, Option<Revnum>)>,
    pub changed: Option<&'a Changed>,
    pub checksum: Option<&'a Sha1>,
    /// A skel.
    pub props: Option<&'a [u8]>,
    pub moved_here: bool,
}

impl<'a> WorkingRow<'a> {
    /// A plain addition at its own op-depth.
    pub(crate) fn added(path: &'a RelPath, kind: NodeKind) -> Self {
        Self {
            path,
            op_depth: path.depth(),
            presence: Presence::Normal,
            kind,
            depth: (kind == NodeKind::Dir).then_some(Depth::Infinity),
            source: None,
            changed: None,
            checksum: None,
            props: None,
            moved_here: false,
        }
    }

    /// A mark without content.
    pub(crate) const fn mark(
        path: &'a RelPath,
        op_depth: usize,
        presence: Presence,
        kind: NodeKind,
    ) -> Self {
        Self {
            path,
            op_depth,
            presence,
            kind,
            depth: None,
            source: None,
            changed: None,
            checksum: None,
            props: None,
            moved_here: false,
        }
    }
}

/// A node with its visible layer only.
#[derive(Clone, Debug)]
pub(crate) struct Current {
    pub path: RelPathBuf,
    pub layer: Layer,
    pub actual: Actual,
}

impl Current {
    fn read(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            path: path_column(row, 0)?.unwrap_or_default(),
            layer: Layer::read(row)?,
            actual: Actual::read_at(row, 19)?,
        })
    }

    /// Returns the pristine properties; none for a plain addition.
    pub(crate) fn pristine_props(&self) -> Result<Props> {
        self.layer.props()
    }

    /// Returns the properties with local changes.
    pub(crate) fn props(&self) -> Result<Props> {
        match &self.actual.properties {
            Some(stored) => props::from_skel(stored),
            None => self.layer.props(),
        }
    }
}

impl Db {
    /// Writes a row of a WORKING layer. A folder is in no changelist.
    pub(crate) fn put_working(&self, row: &WorkingRow<'_>) -> Result<()> {
        let default = Changed::default();
        let changed = row.changed.unwrap_or(&default);
        self.execute(
            INSERT_NODE,
            params![
                self.wc_id(),
                row.path.as_str(),
                as_i64(row.op_depth),
                row.path.parent().map(RelPath::as_str),
                row.source.map(|source| source.0),
                row.source.map(|source| source.1.as_str()),
                row.source.and_then(|source| source.2).map(Revnum::number),
                row.presence.as_str(),
                row.depth.map(Depth::as_str),
                row.kind.as_str(),
                changed.rev.map(Revnum::number),
                changed.date,
                changed.author,
                row.checksum.map(|sha1| format!("$sha1${sha1}")),
                row.props,
                row.moved_here.then_some(1),
            ],
        )?;
        if row.kind == NodeKind::Dir {
            self.clear_changelist(row.path)?;
        }
        Ok(())
    }

    /// Takes a node out of its changelist.
    pub(crate) fn clear_changelist(&self, path: &RelPath) -> Result<()> {
        let key = params![self.wc_id(), path.as_str()];
        if self.execute(CLEAR_CHANGELIST, key)? > 0 {
            self.delete_actual_if_empty(path)?;
        }
        Ok(())
    }

    /// Reads a node's visible layer.
    pub(crate) fn current(&self, path: &RelPath) -> Result<Option<Current>> {
        let key = params![self.wc_id(), path.as_str()];
        self.row(SELECT_CURRENT, key, Current::read)
    }

    /// Reads the visible layers of a node and all below it, by path.
    pub(crate) fn current_within(&self, path: &RelPath) -> Result<Vec<Current>> {
        let within = Within::new(path);
        self.rows(
            SELECT_CURRENT_WITHIN,
            params![self.wc_id(), path.as_str(), within.low, within.high],
            Current::read,
        )
    }

    /// Reads the visible layers of the children of a folder, by path.
    pub(crate) fn current_children(&self, path: &RelPath) -> Result<Vec<Current>> {
        self.rows(
            SELECT_CURRENT_CHILDREN,
            params![self.wc_id(), path.as_str()],
            Current::read,
        )
    }

    /// Reads a node that must have a layer.
    pub(crate) fn versioned(&self, path: &RelPath) -> Result<Option<Node>> {
        Ok(self.node(path)?.filter(|node| !node.layers.is_empty()))
    }
}

/// An op-depth as the database has it.
pub(crate) fn as_i64(depth: usize) -> i64 {
    i64::try_from(depth).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_use_indexes() {
        // The tables of another database are there only while a copy is made.
        let elsewhere = ["ADOPT_PRISTINES", "ADOPT_NODES", "SELECT_ADOPTED"];
        crate::db::tests::check_statements(ALL, &elsewhere);
    }
}
