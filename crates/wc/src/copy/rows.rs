//! Rows of copies: each node by itself, as its layers and those around the target demand.

use rusqlite::params;
use sylvan_core::{Error, ErrorCode, NodeKind, Props, RelPath, RelPathBuf, Result, Revnum, props};

use crate::db::{Layer, Node, NodeState, Presence, path_column, sqlite_error};
use crate::scan::{self, Origin};
use crate::working::{self, Within, WorkingRow, as_i64};
use crate::{WorkingCopy, not_found};

/// Where a copied node comes from.
pub(super) type Source = (i64, RelPathBuf, Option<Revnum>);

/// Copies rows of trees.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowCopier<'a> {
    /// Where the source is.
    source: &'a WorkingCopy,
    /// Where the target is.
    wc: &'a WorkingCopy,
    /// The op-depth of the target, if this is a move.
    move_depth: Option<usize>,
}

/// What a node is when it is copied.
struct CopyInfo {
    state: CopyState,
    kind: NodeKind,
    is_op_root: bool,
    source: Option<Source>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CopyState {
    Normal,
    Added,
    Copied,
    MovedHere,
    Deleted,
    NotPresent,
    Excluded,
    ServerExcluded,
    Incomplete,
}

/// At which op-depths a copy is inserted.
struct Depths {
    op_depth: usize,
    /// The op-depth of the folder at which a mark says that its own child is not there.
    not_present: Option<usize>,
    parent: usize,
}

impl<'a> RowCopier<'a> {
    /// For a copy.
    pub(super) const fn copy(wc: &'a WorkingCopy) -> Self {
        Self {
            source: wc,
            wc,
            move_depth: None,
        }
    }

    /// For a copy to another working copy.
    pub(super) const fn between(source: &'a WorkingCopy, wc: &'a WorkingCopy) -> Self {
        Self {
            source,
            wc,
            move_depth: None,
        }
    }

    /// Tells whether source and target are in different databases.
    fn is_between(&self) -> bool {
        !std::ptr::eq(self.source, self.wc)
    }

    /// For a move to a target at `depth`.
    pub(super) const fn moved(wc: &'a WorkingCopy, depth: usize) -> Self {
        Self {
            source: wc,
            wc,
            move_depth: Some(depth),
        }
    }

    /// Returns the op-depth at which a copy from `source` is inserted, and the one at which a mark
    /// says that its folder's own child is not there.
    pub(super) fn place_of(&self, source: &Source, to: &RelPath) -> Result<(usize, Option<usize>)> {
        let depths = self.depths(Some(source), to)?;
        Ok((depths.op_depth, depths.not_present))
    }

    /// Copies a node and all below it.
    pub(super) fn tree(&self, from: &RelPath, to: &RelPath) -> Result<()> {
        self.node(from, to)?;
        let db = self.source.db();
        let top = db
            .current(from)?
            .ok_or_else(|| not_found(self.source, from))?;
        if top.layer.kind != NodeKind::Dir {
            return Ok(());
        }
        for child in db.children(from)? {
            let Some(top) = child.top() else { continue };
            let target = to.child(child.path.basename())?;
            if child.is_op_root() {
                self.shadowed(&child.path, &target)?;
            }
            match child.state() {
                NodeState::Normal | NodeState::Added if top.file_external => {}
                NodeState::Normal | NodeState::Added => match top.kind {
                    NodeKind::Dir => self.tree(&child.path, &target)?,
                    NodeKind::File => self.node(&child.path, &target)?,
                    NodeKind::None | NodeKind::Unknown => {
                        return Err(Error::new(
                            ErrorCode::NODE_UNEXPECTED_KIND,
                            format!(
                                "cannot handle node kind for '{}'",
                                self.source.local_path(&child.path)
                            ),
                        ));
                    }
                },
                NodeState::Deleted | NodeState::NotPresent | NodeState::Excluded => {
                    self.node(&child.path, &target)?;
                }
                NodeState::Incomplete => return Err(self.cannot_handle(&child.path)),
                NodeState::ServerExcluded => return Err(self.server_excluded(&child.path)),
            }
        }
        Ok(())
    }

    fn cannot_handle(&self, path: &RelPath) -> Error {
        Error::new(
            ErrorCode::WC_PATH_UNEXPECTED_STATUS,
            format!("Cannot handle status of '{}'", self.source.local_path(path)),
        )
    }

    fn server_excluded(&self, path: &RelPath) -> Error {
        Error::new(
            ErrorCode::WC_PATH_UNEXPECTED_STATUS,
            format!(
                "Cannot copy '{}' excluded by server",
                self.source.local_path(path)
            ),
        )
    }

    /// Copies one node; a folder's children are marked as incomplete.
    fn node(&self, from: &RelPath, to: &RelPath) -> Result<()> {
        let db = self.wc.db();
        let node = self
            .source
            .db()
            .versioned(from)?
            .ok_or_else(|| not_found(self.source, from))?;
        let Some(top) = node.top() else {
            return Err(not_found(self.source, from));
        };
        let mut info = self.info(&node)?;
        if let Some(source) = &mut info.source {
            source.0 = self.repository(source.0)?;
        }
        let mut depths = self.depths(info.source.as_ref(), to)?;
        let presence = match info.state {
            CopyState::Normal | CopyState::Added | CopyState::MovedHere | CopyState::Copied => {
                Presence::Normal
            }
            CopyState::Deleted if info.is_op_root => {
                let target = db.versioned(to)?.map(|node| node.state());
                if target == Some(NodeState::Deleted) {
                    return Ok(());
                }
                Presence::NotPresent
            }
            CopyState::Deleted if info.source.is_none() => return Ok(()),
            CopyState::Deleted | CopyState::NotPresent => Presence::NotPresent,
            CopyState::Excluded => Presence::Excluded,
            CopyState::ServerExcluded => return Err(self.server_excluded(from)),
            CopyState::Incomplete => return Err(self.cannot_handle(from)),
        };
        if presence != Presence::Normal
            && let Some(depth) = depths.not_present.take()
        {
            // A mark opens no layer of its own.
            depths.op_depth = depth;
        }
        let moved_here = presence == Presence::Normal || self.move_depth.is_some();
        let moved_here = moved_here && self.is_moved_here(&info, top, to, &depths)?;
        if self.is_between() {
            self.insert(&node, top, &info, to, depths.op_depth, presence)?;
        } else {
            self.copy_layer(
                (from, top.op_depth),
                (to, depths.op_depth),
                presence,
                moved_here,
            )?;
            db.execute(
                working::COPY_ACTUAL,
                params![
                    db.wc_id(),
                    from.as_str(),
                    to.as_str(),
                    to.parent().map(RelPath::as_str)
                ],
            )?;
        }
        if let (Some(depth), Some((id, path, rev))) = (depths.not_present, &info.source) {
            db.execute(
                working::INSERT_NOT_PRESENT,
                params![
                    db.wc_id(),
                    to.as_str(),
                    as_i64(depth),
                    to.parent().map(RelPath::as_str),
                    id,
                    path.as_str(),
                    rev.map(Revnum::number),
                    info.kind.as_str()
                ],
            )?;
        }
        if info.kind == NodeKind::Dir && presence == Presence::Normal {
            self.mark_children(
                from,
                top.op_depth,
                to,
                depths.op_depth,
                info.source.as_ref(),
            )?;
        }
        Ok(())
    }

    /// Copies a row within the database.
    fn copy_layer(
        &self,
        (from, from_depth): (&RelPath, usize),
        (to, to_depth): (&RelPath, usize),
        presence: Presence,
        moved_here: bool,
    ) -> Result<()> {
        let db = self.wc.db();
        db.execute(
            working::COPY_LAYER,
            params![
                db.wc_id(),
                from.as_str(),
                to.as_str(),
                as_i64(to_depth),
                to.parent().map(RelPath::as_str),
                presence.as_str(),
                moved_here.then_some(1),
                as_i64(from_depth)
            ],
        )?;
        Ok(())
    }

    /// Inserts what was read from another database.
    fn insert(
        &self,
        node: &Node,
        top: &Layer,
        info: &CopyInfo,
        to: &RelPath,
        op_depth: usize,
        presence: Presence,
    ) -> Result<()> {
        let db = self.wc.db();
        let is_there = presence == Presence::Normal;
        let source = info.source.as_ref();
        let sha1 = top.sha1()?;
        let empty = props::to_skel(&Props::new());
        db.put_working(&WorkingRow {
            depth: top.depth.filter(|_| is_there && info.kind == NodeKind::Dir),
            source: source.map(|(id, path, rev)| (*id, &**path, *rev)),
            changed: Some(&top.changed()),
            checksum: sha1.as_ref().filter(|_| is_there),
            props: (is_there && source.is_some())
                .then(|| top.properties.as_deref().unwrap_or(&empty)),
            ..WorkingRow::mark(to, op_depth, presence, info.kind)
        })?;
        if let Some(stored) = &node.actual.properties {
            db.put_actual_props(to, Some(&props::from_skel(stored)?))?;
        }
        if let Some(changelist) = &node.actual.changelist {
            let key = params![db.wc_id(), to.as_str(), changelist];
            if db.execute(working::SET_CHANGELIST, key)? == 0 {
                let parent = to.parent().map(RelPath::as_str);
                db.execute(
                    working::INSERT_CHANGELIST,
                    params![db.wc_id(), to.as_str(), parent, changelist],
                )?;
            }
        }
        Ok(())
    }

    /// Returns the target's id of a repository of the source.
    fn repository(&self, id: i64) -> Result<i64> {
        if !self.is_between() {
            return Ok(id);
        }
        let repository = self.source.db().repository(id)?;
        crate::external::repository_id(self.wc.db(), &repository.root, &repository.uuid)
    }

    /// Tells whether a node that is moved along counts as moved here.
    fn is_moved_here(
        &self,
        info: &CopyInfo,
        top: &Layer,
        to: &RelPath,
        depths: &Depths,
    ) -> Result<bool> {
        let Some(move_depth) = self.move_depth else {
            return Ok(false);
        };
        if to.depth() == move_depth {
            // Nothing was moved from anywhere if it was not in the repository.
            let is_new = info.state == CopyState::Added
                || (info.state == CopyState::Copied && info.is_op_root);
            return Ok(!is_new);
        }
        let parent = to.parent().unwrap_or(RelPath::ROOT);
        let above = self.wc.db().current(parent)?;
        let above_moved = above.is_some_and(|above| above.layer.moved_here);
        Ok((above_moved && depths.op_depth == depths.parent) || top.moved_here)
    }

    fn mark_children(
        &self,
        from: &RelPath,
        from_depth: usize,
        to: &RelPath,
        op_depth: usize,
        source: Option<&Source>,
    ) -> Result<()> {
        let db = self.wc.db();
        let children = self.source.db().rows(
            working::SELECT_LAYER_CHILDREN,
            params![self.source.db().wc_id(), from.as_str(), as_i64(from_depth)],
            |row| Ok(path_column(row, 0)?.unwrap_or_default()),
        )?;
        for child in children {
            let name = child.basename();
            let path = source.map(|source| source.1.child(name)).transpose()?;
            db.execute(
                working::INSERT_INCOMPLETE,
                params![
                    db.wc_id(),
                    to.child(name)?.as_str(),
                    as_i64(op_depth),
                    to.as_str(),
                    source.map(|source| source.0),
                    path.as_ref().map(|path| path.as_str()),
                    source.and_then(|source| source.2).map(Revnum::number)
                ],
            )?;
        }
        Ok(())
    }

    /// Finds out what a node is and where it comes from.
    fn info(&self, node: &Node) -> Result<CopyInfo> {
        let Some(top) = node.top() else {
            return Err(not_found(self.source, &node.path));
        };
        let own =
            || -> Option<Source> { Some((top.repos_id?, top.repos_path.clone()?, top.revision)) };
        let (state, source) = match node.state() {
            NodeState::Normal => (CopyState::Normal, own()),
            NodeState::Incomplete => (CopyState::Incomplete, own()),
            NodeState::NotPresent => (CopyState::NotPresent, own()),
            NodeState::ServerExcluded => (CopyState::ServerExcluded, own()),
            NodeState::Excluded => (CopyState::Excluded, self.excluded_source(node)?),
            NodeState::Added => {
                let state = match scan::origin(self.source, node)? {
                    Origin::MovedHere => CopyState::MovedHere,
                    Origin::Copied => CopyState::Copied,
                    Origin::Added => CopyState::Added,
                    Origin::Incomplete => CopyState::Incomplete,
                };
                (state, own())
            }
            NodeState::Deleted if node.is_op_root() => {
                (CopyState::Deleted, self.deleted_source(node)?)
            }
            NodeState::Deleted => (CopyState::Deleted, own()),
        };
        Ok(CopyInfo {
            state,
            kind: top.kind,
            is_op_root: node.is_op_root(),
            source,
        })
    }

    fn excluded_source(&self, node: &Node) -> Result<Option<Source>> {
        let Some((parent, name)) = node.path.split() else {
            return Ok(None);
        };
        let parent = self
            .source
            .db()
            .versioned(parent)?
            .ok_or_else(|| not_found(self.source, parent))?;
        match self.info(&parent)?.source {
            Some((id, path, rev)) => Ok(Some((id, path.child(name)?, rev))),
            None => Ok(None),
        }
    }

    /// Finds where the node of a deletion comes from.
    fn deleted_source(&self, node: &Node) -> Result<Option<Source>> {
        let deletion = scan::deletion(self.source, node)?;
        let db = self.source.db();
        if let Some(parent) = deletion.work.as_deref().and_then(RelPath::parent) {
            let Some(above) = db.current(parent)? else {
                return Ok(None);
            };
            let root_path = scan::prefix(parent, above.layer.op_depth);
            let Some(root) = db.current(root_path)? else {
                return Ok(None);
            };
            let rest = node.path.strip_prefix(root_path).unwrap_or(RelPath::ROOT);
            return Ok(root
                .layer
                .repos_id
                .zip(root.layer.repos_path)
                .map(|(id, path)| (id, path.join(rest), root.layer.revision)));
        }
        Ok(node
            .base()
            .and_then(|base| Some((base.repos_id?, base.repos_path.clone()?, base.revision))))
    }

    /// Decides at which op-depth a copy from `source` is inserted: in the layer of its folder if
    /// it belongs there, else in one of its own.
    fn depths(&self, source: Option<&Source>, to: &RelPath) -> Result<Depths> {
        let parent = to.parent().unwrap_or(RelPath::ROOT);
        let mut depths = Depths {
            op_depth: to.depth(),
            not_present: None,
            parent: parent.depth(),
        };
        let Some(source) = source else {
            return Ok(depths);
        };
        let db = self.wc.db();
        // BASE is never touched.
        let mut lowest = 1;
        let mut incomplete = None;
        if let Some(here) = db.layers(to)?.first().filter(|layer| layer.op_depth > 0) {
            lowest = here.op_depth;
            if here.presence == Presence::Incomplete {
                incomplete = Some(here.op_depth);
            }
        }
        let above = db.layers(parent)?;
        let Some(above) = above.first().filter(|layer| layer.op_depth > 0) else {
            return Ok(depths);
        };
        depths.parent = above.op_depth;
        if above.op_depth < lowest {
            return Ok(depths);
        }
        if incomplete.is_none_or(|depth| depth == above.op_depth)
            && above.repos_id == Some(source.0)
        {
            let expected = match &above.repos_path {
                Some(path) => Some(path.child(to.basename())?),
                None => None,
            };
            if above.revision == source.2 && expected.as_ref() == Some(&source.1) {
                depths.op_depth = above.op_depth;
            } else if incomplete.is_some() {
                depths.not_present = incomplete;
            }
        }
        Ok(depths)
    }

    /// Copies what an operation of the source's own hides in the layer of its folder.
    fn shadowed(&self, from: &RelPath, to: &RelPath) -> Result<()> {
        let (Some(from_parent), Some(to_parent)) = (from.parent(), to.parent()) else {
            return Ok(());
        };
        let parent = self
            .source
            .db()
            .current(from_parent)?
            .ok_or_else(|| not_found(self.source, from_parent))?;
        let target = self
            .wc
            .db()
            .current(to_parent)?
            .ok_or_else(|| not_found(self.wc, to_parent))?;
        let Some((id, path)) = parent.layer.repos_id.zip(parent.layer.repos_path) else {
            // A plain addition hides nothing.
            return Ok(());
        };
        let layer = ShadowedLayer {
            from_depth: parent.layer.op_depth,
            to_depth: target.layer.op_depth,
            deleted_depth: to.depth(),
            repos_id: id,
            revision: parent.layer.revision,
        };
        self.shadowed_tree(&layer, from, to, &path.child(from.basename())?)
    }

    fn shadowed_tree(
        &self,
        layer: &ShadowedLayer,
        from: &RelPath,
        to: &RelPath,
        repos_path: &RelPath,
    ) -> Result<()> {
        let db = self.wc.db();
        let layers = self.source.db().layers(from)?;
        let Some(here) = layers
            .iter()
            .find(|found| found.op_depth == layer.from_depth)
        else {
            return Ok(());
        };
        let is_mark = matches!(
            here.presence,
            Presence::NotPresent | Presence::Excluded | Presence::ServerExcluded
        );
        let is_elsewhere = here.revision != layer.revision
            || here.repos_id != Some(layer.repos_id)
            || here.repos_path.as_deref() != Some(repos_path);
        if layer.from_depth == 0 && (is_mark || is_elsewhere) {
            let presence = if here.presence == Presence::Excluded {
                Presence::Excluded
            } else {
                Presence::NotPresent
            };
            let source = match here.repos_id.zip(here.repos_path.as_deref()) {
                Some((id, path)) => Some((self.repository(id)?, path, here.revision)),
                None => None,
            };
            return db.put_working(&WorkingRow {
                source,
                ..WorkingRow::mark(to, layer.to_depth, presence, here.kind)
            });
        }
        match here.presence {
            Presence::Normal if !self.is_between() => {}
            Presence::Normal | Presence::NotPresent | Presence::BaseDeleted => {
                return db.put_working(&WorkingRow::mark(
                    to,
                    layer.to_depth,
                    Presence::NotPresent,
                    here.kind,
                ));
            }
            Presence::Excluded => {
                db.put_working(&WorkingRow::mark(
                    to,
                    layer.to_depth,
                    Presence::Excluded,
                    here.kind,
                ))?;
                return Ok(());
            }
            Presence::ServerExcluded => return Err(self.server_excluded(from)),
            Presence::Incomplete => return Err(self.cannot_handle(from)),
        }
        let moved_here = self.move_depth.is_some() && layer.is_move_target();
        self.copy_layer(
            (from, layer.from_depth),
            (to, layer.to_depth),
            Presence::Normal,
            moved_here,
        )?;
        db.put_working(&WorkingRow::mark(
            to,
            layer.deleted_depth,
            Presence::BaseDeleted,
            here.kind,
        ))?;
        let children = db.rows(
            working::SELECT_LAYER_CHILDREN,
            params![db.wc_id(), from.as_str(), as_i64(layer.from_depth)],
            |row| Ok(path_column(row, 0)?.unwrap_or_default()),
        )?;
        for child in children {
            let name = child.basename();
            self.shadowed_tree(layer, &child, &to.child(name)?, &repos_path.child(name)?)?;
        }
        Ok(())
    }
}

/// A layer of which a hidden part is copied.
struct ShadowedLayer {
    from_depth: usize,
    to_depth: usize,
    /// The op-depth of the operation that hides it.
    deleted_depth: usize,
    repos_id: i64,
    revision: Option<Revnum>,
}

impl ShadowedLayer {
    /// Nodes in the layer of the folder that is moved are moved with it.
    const fn is_move_target(&self) -> bool {
        self.to_depth > 0
    }
}

/// Takes a move back to where the node came from out of the database, if nothing has changed: the
/// layer that the move made is the one below.
pub(super) fn forget_move_back(wc: &WorkingCopy, path: &RelPath, from: &RelPath) -> Result<()> {
    let db = wc.db();
    let Some(node) = db.versioned(path)? else {
        return Ok(());
    };
    let Some(top) = node.top().filter(|_| node.is_op_root()) else {
        return Ok(());
    };
    if node.state() != NodeState::Added || !top.moved_here || top.moved_to.as_deref() != Some(from)
    {
        return Ok(());
    }
    let lower = if node.work_layers() > 1 {
        let parent = path.parent().unwrap_or(RelPath::ROOT);
        db.current(parent)?
            .map_or(0, |parent| parent.layer.op_depth)
    } else {
        0
    };
    let within = Within::new(path);
    let mut same = true;
    db.each(
        working::SELECT_MOVED_BACK,
        params![
            db.wc_id(),
            path.as_str(),
            within.low,
            within.high,
            as_i64(lower),
            as_i64(path.depth())
        ],
        |row| {
            let text = |column| row.get::<_, Option<String>>(column).map_err(sqlite_error);
            let number = |column| row.get::<_, Option<i64>>(column).map_err(sqlite_error);
            let upper = text(0)?;
            let Some(below) = text(4)? else {
                same &= upper.as_deref() == Some("not-present");
                return Ok(());
            };
            let is_same = match upper.as_deref() {
                Some("not-present" | "excluded") => upper.as_ref() == Some(&below),
                Some("normal") => {
                    below == "normal"
                        && text(2)?.is_some()
                        && text(2)? == text(6)?
                        && number(3)? == number(7)?
                        && number(1)? == number(5)?
                }
                _ => false,
            };
            same &= is_same;
            Ok(())
        },
    )?;
    if same {
        db.execute(
            working::DELETE_LAYER_WITHIN,
            params![
                db.wc_id(),
                path.as_str(),
                within.low,
                within.high,
                as_i64(path.depth())
            ],
        )?;
    }
    Ok(())
}
