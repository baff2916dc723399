//! What comes in where something local is: tree conflicts, and changes of the BASE tree below
//! other layers.

use crossbeam_channel::bounded;
use sylvan_core::{Error, ErrorCode, NodeKind, Props, RelPath, RelPathBuf, Result, Revnum, props};
use sylvan_delta::Token;
use sylvan_io::file::FileKind;

use super::{Local, UpdateEditor, Way, local_props, out_of_order};
use crate::conflict::{self, Conflict, Location, Operation, Reason, TreeConflict};
use crate::db::{BaseRemoval, Db, Layer, Node, NodeState, Presence};
use crate::notify::Action;
use crate::update::delete::Removal;
use crate::update::entry::{Marker, Message};
use crate::update::record::{fault_step, lock};

/// Where a node was before a change.
pub(super) type Before = (Option<RelPathBuf>, Option<Revnum>);

/// What a conflict that a node is in means for a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InConflict {
    /// There is none.
    No,
    /// The node is left out.
    Skip,
    /// It is about a node that was moved away; the BASE tree goes on.
    Ignored,
}

/// How a node was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Addition {
    Plain,
    Copy,
    MovedHere,
}

impl<'s, 'e: 's, 'a: 'e> UpdateEditor<'s, 'e, 'a> {
    /// Changes the database at once, and does the work that this asks for.
    pub(super) fn now(&self, work: impl FnOnce(&Db) -> Result<Vec<Vec<u8>>>) -> Result<()> {
        if let Some(pipeline) = &self.pipeline {
            pipeline.flush()?;
        }
        self.forget_nodes();
        let items = {
            let db = lock(&self.env.db);
            db.write(|| {
                fault_step()?;
                let items = work(&db)?;
                let items = items.iter().map(|work| db.put_work_item(work));
                items.collect::<Result<Vec<_>>>()
            })?
        };
        if items.is_empty() {
            return Ok(());
        }
        self.env.run_items(&items, &self.cancel)
    }

    /// Describes the change that a conflict is about.
    pub(super) fn change(
        &self,
        before: Before,
        left: NodeKind,
        after: &RelPath,
        right: NodeKind,
    ) -> Result<Conflict> {
        let location = |path: RelPathBuf, revision, kind| Location {
            repos_root: self.fixed.repos_root.clone(),
            repos_uuid: Some(self.fixed.repos_uuid.clone()),
            path,
            revision,
            kind,
        };
        let (path, rev) = before;
        Ok(Conflict {
            operation: match self.fixed.switch_path {
                Some(_) => Operation::Switch,
                None => Operation::Update,
            },
            left: path.map(|path| location(path, rev, left)),
            right: Some(location(after.to_owned(), Some(self.rev()?), right)),
            ..Conflict::default()
        })
    }

    /// Records a tree conflict and tells of it.
    pub(super) fn raise(
        &mut self,
        path: &RelPath,
        tree: TreeConflict,
        before: Before,
        after: &RelPath,
        kind: NodeKind,
    ) -> Result<()> {
        let conflict = Conflict {
            tree: Some(tree),
            ..self.change(before, kind, after, kind)?
        };
        self.mark(path, &conflict)?;
        self.tell_action(path, Action::TreeConflict, kind);
        Ok(())
    }

    fn mark(&mut self, path: &RelPath, conflict: &Conflict) -> Result<()> {
        let stored = conflict.to_bytes();
        self.now(|db| {
            db.mark_conflict(path, &stored)?;
            Ok(Vec::new())
        })
    }

    /// Looks at the conflict that a node is in.
    fn in_conflict(&mut self, node: &Node) -> Result<InConflict> {
        let Some(stored) = &node.actual.conflict else {
            return Ok(InConflict::No);
        };
        let conflict = Conflict::parse(stored)?;
        let unresolved = conflict.unresolved_below(&self.fixed.root);
        let is_move = conflict.tree.as_ref().is_some_and(is_edit_of_moved);
        if unresolved.text || unresolved.props || unresolved.tree && !is_move {
            return Ok(InConflict::Skip);
        }
        if unresolved.tree {
            return Ok(InConflict::Ignored);
        }
        // The user has removed its files.
        let path = node.path.clone();
        self.now(|db| {
            db.clear_conflict(&path)?;
            Ok(Vec::new())
        })?;
        Ok(InConflict::No)
    }

    /// Looks at the folder where the drive begins: the node, whether it is left out, and what is
    /// local to it.
    pub(super) fn open_anchor(&mut self, node: &Node) -> Result<(bool, Local)> {
        let mut local = Local::default();
        match self.tree_conflict_at_or_above(node)? {
            InConflict::Skip => {
                let target = self.target_path();
                self.skipped.insert(node.path.clone());
                self.skip(&target, Action::SkipConflicted, NodeKind::Unknown);
                return Ok((true, local));
            }
            InConflict::Ignored => {
                local.shadowed = true;
                return Ok((false, local));
            }
            InConflict::No => {}
        }
        if node.work_layers() == 0 {
            return Ok((false, local));
        }
        local.shadowed = true;
        let moved = self.moved_away(&node.path)?;
        if let Some((source, target)) = moved {
            let tree = TreeConflict {
                reason: Reason::MovedAway,
                action: conflict::Action::Edited,
                move_source: Some(source.clone()),
                move_target: Some(target),
            };
            if source == node.path {
                local.pending = Some(tree);
            } else if let Some(base) = node.base() {
                let before = (base.repos_path.clone(), base.revision);
                let after = self.new_repos_path(&node.path, None, base.repos_path.as_deref())?;
                self.raise(&source, tree, before, &after, NodeKind::Dir)?;
            }
        }
        Ok((false, local))
    }

    fn tree_conflict_at_or_above(&self, node: &Node) -> Result<InConflict> {
        let mut found = node.actual.conflict.iter().cloned().collect::<Vec<_>>();
        {
            let db = lock(&self.env.db);
            db.read(|| {
                for above in node.path.ancestors() {
                    let above = db.node(above)?;
                    found.extend(above.and_then(|above| above.actual.conflict));
                }
                Ok(())
            })?;
        }
        for stored in found {
            if let Some(tree) = Conflict::parse(&stored)?.tree {
                return Ok(if is_edit_of_moved(&tree) {
                    InConflict::Ignored
                } else {
                    InConflict::Skip
                });
            }
        }
        Ok(InConflict::No)
    }

    /// Looks at what is where a node is to be added.
    pub(super) fn way(
        &mut self,
        parent: Token,
        path: &RelPath,
        repos_path: &RelPath,
        kind: NodeKind,
    ) -> Result<Way> {
        let dir = self.dir(parent)?;
        let mut way = Way {
            replace: false,
            skip: false,
            notified: false,
            local: Local::default(),
        };
        if dir.fresh {
            return Ok(way);
        }
        way.local.shadowed = dir.local.shadows();
        let name = path.basename().to_owned();
        if dir.replaced.contains(&name) {
            return Err(Error::new(
                ErrorCode::WC_OBSTRUCTED_UPDATE,
                format!("Failed to add '{}': it was added before", self.local(path)),
            ));
        }
        let deletion = dir.deletion_conflicts.get(&name).cloned();
        let node = lock(&self.env.db).node(path)?;
        let top = node.as_ref().and_then(Node::top);
        let state = top.map(Layer::state);
        if let Some(top) = top
            && matches!(state, Some(NodeState::Normal | NodeState::Incomplete))
        {
            let kind = top.kind;
            self.skip(path, Action::UpdateSkipObstruction, kind);
            way.skip = true;
            return Ok(way);
        }
        way.replace = top.is_some();
        if way.replace || way.local.shadowed {
            self.dir(parent)?.replaced.insert(name.clone());
        }
        if let Some(node) = &node
            && !way.local.shadowed
        {
            match (self.in_conflict(node)?, &deletion) {
                (InConflict::No, _) => {}
                (_, Some(deletion)) => {
                    self.mark_replaced(path, deletion, repos_path, kind)?;
                    way.local.shadowed = true;
                }
                (InConflict::Ignored, None) => way.local.shadowed = true,
                (InConflict::Skip, None) => {
                    self.dir(parent)?.not_present.insert(name, kind);
                    self.skip(path, Action::SkipConflicted, kind);
                    way.skip = true;
                    return Ok(way);
                }
            }
        }
        if way.local.shadowed {
            return Ok(way);
        }
        let found = self.look(path)?;
        let reason = match (&node, state) {
            (Some(node), Some(NodeState::Added)) => self.meets_addition(node, kind)?,
            (_, Some(NodeState::Deleted)) => {
                return Err(Error::new(
                    ErrorCode::WC_FOUND_CONFLICT,
                    format!(
                        "Unexpected attempt to add a node at path '{}'",
                        self.local(path)
                    ),
                ));
            }
            _ if found.is_none() => return Ok(way),
            _ if found == Some(FileKind::Dir) && self.is_other_root(path) => {
                self.dir(parent)?.not_present.insert(name, NodeKind::Dir);
                self.skip(path, Action::UpdateSkipObstruction, NodeKind::Dir);
                way.skip = true;
                return Ok(way);
            }
            _ => {
                way.local.taken_over = true;
                let same = matches!(
                    (kind, found),
                    (NodeKind::Dir, Some(FileKind::Dir)) | (NodeKind::File, Some(FileKind::File))
                );
                let allowed = same && self.fixed.options.allow_unversioned_obstructions;
                (!allowed).then_some(Reason::Unversioned)
            }
        };
        match reason {
            None if !way.local.taken_over => way.local.add_existed = true,
            None => {}
            Some(reason) => {
                way.local.shadowed = true;
                way.notified = true;
                self.raise_addition(path, reason, deletion.as_ref(), repos_path, kind)?;
            }
        }
        Ok(way)
    }

    /// Tells why a local addition is in the way, if it is.
    fn meets_addition(&self, node: &Node, kind: NodeKind) -> Result<Option<Reason>> {
        let addition = self.addition(node)?;
        let same = node.top().is_some_and(|top| top.kind == kind);
        Ok(match addition {
            Addition::Plain if same && self.fixed.options.adds_as_modification => None,
            Addition::MovedHere => Some(Reason::MovedHere),
            Addition::Plain | Addition::Copy => Some(Reason::Added),
        })
    }

    fn raise_addition(
        &mut self,
        path: &RelPath,
        reason: Reason,
        deletion: Option<&Conflict>,
        after: &RelPath,
        kind: NodeKind,
    ) -> Result<()> {
        let tree = TreeConflict {
            reason,
            action: conflict::Action::Added,
            ..TreeConflict::default()
        };
        let mut conflict = self.change((None, None), kind, after, kind)?;
        conflict.left = deletion.and_then(|deletion| deletion.left.clone());
        conflict.tree = Some(tree);
        self.mark(path, &conflict)?;
        self.tell_action(path, Action::TreeConflict, kind);
        Ok(())
    }

    /// Says that a node whose deletion met local changes is replaced.
    fn mark_replaced(
        &mut self,
        path: &RelPath,
        deletion: &Conflict,
        after: &RelPath,
        kind: NodeKind,
    ) -> Result<()> {
        let mut conflict = self.change((None, None), kind, after, kind)?;
        conflict.left = deletion.left.clone();
        conflict.tree = deletion.tree.clone().map(|tree| TreeConflict {
            action: conflict::Action::Replaced,
            ..tree
        });
        self.mark(path, &conflict)
    }

    /// Tells how a node was added.
    fn addition(&self, node: &Node) -> Result<Addition> {
        let Some(top) = node.top() else {
            return Ok(Addition::Plain);
        };
        let up = node.path.depth().saturating_sub(top.op_depth);
        let above = std::iter::once(&*node.path).chain(node.path.ancestors());
        let Some(root) = above.into_iter().nth(up) else {
            return Ok(Addition::Plain);
        };
        let layers = lock(&self.env.db).layers(root)?;
        let root = layers.iter().find(|layer| layer.op_depth == top.op_depth);
        Ok(match root {
            Some(root) if root.moved_here => Addition::MovedHere,
            Some(root) if root.repos_id.is_some() => Addition::Copy,
            _ => Addition::Plain,
        })
    }

    /// Returns the local properties of an added node.
    pub(super) fn props_of_addition(&self, path: &RelPath) -> Result<Option<Props>> {
        let node = lock(&self.env.db).node(path)?;
        match &node {
            Some(node) => match (local_props(node)?, node.top()) {
                (Some(local), _) => Ok(Some(local)),
                (None, Some(top)) => top.props().map(Some),
                (None, None) => Ok(None),
            },
            None => Ok(None),
        }
    }

    /// Reads the BASE layer of a node that is to be opened, and what is local to it; `None` if the
    /// node is left out.
    pub(super) fn open_base(
        &mut self,
        parent: Token,
        path: &RelPath,
        kind: NodeKind,
    ) -> Result<Option<(Node, Local)>> {
        let shadowed = self.dir(parent)?.local.shadows();
        let node = match kind {
            NodeKind::File => self.file_in(parent, path)?,
            _ => self.folder_in(parent, path)?,
        };
        let node = node.ok_or_else(|| self.not_found(path))?;
        let Some(base) = node.base() else {
            return Err(self.not_found(path));
        };
        let mut local = Local {
            shadowed,
            ..Local::default()
        };
        if !shadowed {
            match self.in_conflict(&node)? {
                InConflict::No => {}
                InConflict::Ignored => local.shadowed = true,
                InConflict::Skip => {
                    self.skip(path, Action::SkipConflicted, NodeKind::Unknown);
                    return Ok(None);
                }
            }
        }
        if base.kind != kind || !base.presence.is_present() {
            return Err(Error::new(
                ErrorCode::WC_OBSTRUCTED_UPDATE,
                format!("'{}' is not what the server takes it for", self.local(path)),
            ));
        }
        if !local.shadowed
            && let Some(tree) = self.meets(&node, kind, conflict::Action::Edited)?
        {
            if tree.reason == Reason::Obstructed {
                local.obstructed = true;
            } else {
                local.shadowed = true;
            }
            local.pending = Some(tree);
        }
        Ok(Some((node, local)))
    }

    /// Tells whether a change of a node meets something local that it cannot be merged with.
    fn meets(
        &self,
        node: &Node,
        kind: NodeKind,
        action: conflict::Action,
    ) -> Result<Option<TreeConflict>> {
        let tree = |reason| TreeConflict {
            reason,
            action,
            ..TreeConflict::default()
        };
        Ok(match node.state() {
            NodeState::Added => Some(tree(Reason::Replaced)),
            NodeState::Deleted => Some(match self.moved_away(&node.path)? {
                Some((source, target)) => TreeConflict {
                    move_source: Some(source),
                    move_target: Some(target),
                    ..tree(Reason::MovedAway)
                },
                None => tree(Reason::Deleted),
            }),
            NodeState::Normal | NodeState::Incomplete => match action {
                conflict::Action::Edited => self
                    .is_obstructed(&node.path, kind)?
                    .then(|| tree(Reason::Obstructed)),
                _ => self.is_changed(node)?.then(|| tree(Reason::Edited)),
            },
            NodeState::NotPresent | NodeState::Excluded | NodeState::ServerExcluded => None,
        })
    }

    /// Tells whether something of another kind is where a node should be. Symlinks are seen to by
    /// others.
    fn is_obstructed(&self, path: &RelPath, kind: NodeKind) -> Result<bool> {
        Ok(match self.look(path)? {
            None | Some(FileKind::Symlink) => false,
            Some(FileKind::Dir) => kind != NodeKind::Dir,
            Some(FileKind::File) => kind != NodeKind::File,
            Some(FileKind::Other) => true,
        })
    }

    /// Tells whether anything at or below a node of the BASE tree is changed.
    fn is_changed(&self, node: &Node) -> Result<bool> {
        let Some(base) = node.base() else {
            return Ok(false);
        };
        if node.actual.properties.is_some() || node.actual.conflict.is_some() {
            return Ok(true);
        }
        let found = self.look(&node.path)?;
        if found.is_some_and(|found| (found == FileKind::Dir) != (base.kind == NodeKind::Dir)) {
            return Ok(true);
        }
        self.has_local_changes(&node.path, base)
    }

    /// Returns the root of the deletion that moved a node of the BASE tree away, and the root of
    /// the move's target.
    fn moved_away(&self, path: &RelPath) -> Result<Option<(RelPathBuf, RelPathBuf)>> {
        let db = lock(&self.env.db);
        db.read(|| {
            let layers = db.layers(path)?;
            let Some(depth) = layers
                .iter()
                .rev()
                .map(|layer| layer.op_depth)
                .find(|depth| *depth > 0)
            else {
                return Ok(None);
            };
            let above = std::iter::once(path).chain(path.ancestors());
            let mut target = None;
            for at in above {
                if at.depth() < depth {
                    break;
                }
                if target.is_none() {
                    let layers = db.layers(at)?;
                    let layer = layers.iter().find(|layer| layer.op_depth == depth);
                    target = layer.and_then(|layer| layer.moved_to.clone());
                }
                if at.depth() == depth {
                    return Ok(target.map(|target| (at.to_owned(), target)));
                }
            }
            Ok(None)
        })
    }

    pub(super) fn delete_node(&mut self, parent: Token, path: &RelPath) -> Result<()> {
        if self.is_other_root(path) {
            self.skip(path, Action::UpdateSkipObstruction, NodeKind::Unknown);
            return Ok(());
        }
        let node = lock(&self.env.db)
            .node(path)?
            .ok_or_else(|| self.not_found(path))?;
        let Some(base) = node.base().cloned() else {
            return Err(self.not_found(path));
        };
        let dir = self.dir(parent)?;
        let (shadows, shadowed) = (dir.local.shadows(), dir.local.shadowed);
        let switched = dir.old_repos_path.as_ref().is_some_and(|old| {
            old.child(path.basename()).ok().as_ref() != base.repos_path.as_ref()
        });
        if !shadowed && self.in_conflict(&node)? == InConflict::Skip {
            self.skip(path, Action::SkipConflicted, NodeKind::Unknown);
            return Ok(());
        }
        let target = path == &*self.target_path();
        let there = base.presence.is_present();
        let tree = if there && !shadows {
            self.meets(&node, base.kind, conflict::Action::Deleted)?
        } else {
            None
        };
        let kind = node.top().map_or(base.kind, |top| top.kind);
        let conflict = match tree {
            Some(tree) => Some(self.deletion_conflict(parent, path, &base, kind, tree)?),
            None => None,
        };
        let keep = (target || there && switched).then_some((Presence::NotPresent, self.rev()?));
        if keep.is_some() && !target {
            self.skipped.insert(path.to_owned());
        }
        self.target_deleted |= target;
        self.forget_nodes();
        if conflict.is_none() && node.work_layers() == 0 && !shadows {
            let (answer, answered) = bounded(1);
            self.pipeline()?.record_now(Message::Delete {
                delete: Removal {
                    path: path.to_owned(),
                    keep,
                    on_disk: there,
                },
                answer,
            })?;
            answered.recv().map_err(|_| out_of_order())??;
        } else {
            self.remove_below_layers(path, keep, conflict.as_ref(), there)?;
        }
        if !there {
            return Ok(());
        }
        let action = if conflict.is_some() {
            Action::TreeConflict
        } else if shadows {
            Action::UpdateShadowedDelete
        } else {
            Action::UpdateDelete
        };
        self.tell_action(path, action, kind);
        Ok(())
    }

    fn deletion_conflict(
        &mut self,
        parent: Token,
        path: &RelPath,
        base: &Layer,
        kind: NodeKind,
        tree: TreeConflict,
    ) -> Result<Conflict> {
        let after = {
            let parent = self.dirs.get(&parent);
            self.new_repos_path(path, parent, base.repos_path.as_deref())?
        };
        let before = (base.repos_path.clone(), base.revision);
        let conflict = Conflict {
            tree: Some(tree),
            ..self.change(before, kind, &after, NodeKind::None)?
        };
        let name = path.basename().to_owned();
        let dir = self.dir(parent)?;
        dir.deletion_conflicts.insert(name, conflict.clone());
        Ok(conflict)
    }

    fn remove_below_layers(
        &mut self,
        path: &RelPath,
        keep: Option<(Presence, Revnum)>,
        conflict: Option<&Conflict>,
        there: bool,
    ) -> Result<()> {
        let removal = BaseRemoval {
            keep_as_working: conflict.is_some() || !there,
            keep,
        };
        let stored = conflict.map(Conflict::to_bytes);
        self.now(|db| {
            let items = db.remove_base(path, removal)?;
            if let Some(stored) = &stored {
                db.mark_conflict(path, stored)?;
            }
            Ok(items)
        })
    }

    pub(super) fn absent(&mut self, path: &RelPath, parent: Token, kind: NodeKind) -> Result<()> {
        self.step()?;
        let path = self.child_path(parent, path)?;
        if self.dir(parent)?.skip {
            return Ok(());
        }
        self.refuse_adm_dir(&path, "add")?;
        let node = lock(&self.env.db).node(&path)?;
        let top = node.as_ref().and_then(Node::top);
        if top.is_none_or(|top| top.presence != Presence::ServerExcluded) {
            self.mark_edited(parent)?;
        }
        let dir = self.dir(parent)?;
        let shadows = dir.local.shadows();
        let repos_path = dir.repos_path.child(path.basename())?;
        match top.map(Layer::state) {
            Some(NodeState::Normal | NodeState::Incomplete) => {
                if top.is_some_and(|top| top.file_external) {
                    self.tell_action(&path, Action::UpdateSkipObstruction, NodeKind::Unknown);
                    return Ok(());
                }
                self.delete_node(parent, &path)?;
            }
            Some(NodeState::Added) if !shadows => {
                let node = node.as_ref().ok_or_else(out_of_order)?;
                let reason = match self.addition(node)? {
                    Addition::MovedHere => Reason::MovedHere,
                    Addition::Plain | Addition::Copy => Reason::Added,
                };
                let tree = TreeConflict {
                    reason,
                    action: conflict::Action::Added,
                    ..TreeConflict::default()
                };
                let kind = node.top().map_or(NodeKind::Unknown, |top| top.kind);
                let mut conflict =
                    self.change((None, None), kind, &repos_path, NodeKind::Unknown)?;
                conflict.tree = Some(tree);
                self.mark(&path, &conflict)?;
                self.tell_action(&path, Action::TreeConflict, kind);
            }
            _ => {}
        }
        self.record(Message::Marker(Marker {
            path,
            repos_path,
            presence: Presence::ServerExcluded,
            kind,
        }))
    }
}

/// Tells whether a conflict is about a node that was moved away, and whose BASE was edited: more
/// edits make no difference to it.
fn is_edit_of_moved(tree: &TreeConflict) -> bool {
    tree.reason == Reason::MovedAway && tree.action == conflict::Action::Edited
}

/// Returns the properties of a layer with those that are local to it.
pub(super) fn actual_props(layer: &Layer, local: Option<&Props>) -> Result<Props> {
    match local {
        Some(local) => Ok(local.clone()),
        None => match &layer.properties {
            Some(stored) => props::from_skel(stored),
            None => Ok(Props::new()),
        },
    }
}
