//! The target of a move follows its source: what an update changed there is merged here.

use std::collections::BTreeMap;

use sylvan_core::{
    Error, NodeKind, Props, RelPath, RelPathBuf, Result, Revnum, Sha1, props as core_props,
};
use sylvan_diff::Options;
use sylvan_io::Cancel;
use sylvan_io::file::FileKind;

use super::{failure, props};
use crate::conflict::{
    self, Conflict, Location, Operation, PropConflict, Reason, TextConflict, TreeConflict,
};
use crate::db::moves::{number, rebased};
use crate::db::{Db, Layer, Presence, integer, path_column};
use crate::merge::{self, names};
use crate::notify::{Action, Notification, NotifyFn, State};
use crate::site::{self, Site};
use crate::work_queue::item;
use crate::{WorkingCopy, modified, work_queue};

/// What became of one node, told when all is done.
struct Event {
    action: Action,
    kind: NodeKind,
    content: State,
    props: State,
}

type PropChanges = Vec<(String, Option<Vec<u8>>)>;

/// A node on the way down to the one at hand.
#[derive(Clone, Copy, Default)]
struct Step {
    shadowed: bool,
    edited: bool,
    skip: bool,
}

/// A node as a layer has it.
#[derive(Default)]
struct Side {
    kind: Option<NodeKind>,
    props: Props,
    checksum: Option<Sha1>,
}

pub(super) struct Follow<'f> {
    wc: &'f WorkingCopy,
    db: &'f Db,
    site: &'f Site,
    cancel: &'f Cancel,
    operation: Operation,
    source: RelPathBuf,
    source_depth: usize,
    target: RelPathBuf,
    old: Location,
    new: Location,
    stack: Vec<Step>,
    events: BTreeMap<RelPathBuf, Event>,
    pub items: Vec<Vec<u8>>,
}

impl<'f> Follow<'f> {
    /// Merges what the node at `path`, moved away from the tree at `delete_root`, has become into
    /// the move's target. Runs in a transaction; its items are done afterwards.
    pub(super) fn run(
        wc: &'f WorkingCopy,
        site: &'f Site,
        cancel: &'f Cancel,
        operation: Operation,
        path: &RelPath,
        delete_root: &RelPath,
    ) -> Result<Self> {
        let db = wc.db();
        let source_depth = covered_depth(db, path, delete_root.depth())?;
        let moved = db
            .moves_of_layer(path, source_depth)?
            .into_iter()
            .find(|moved| *moved.source == *path);
        let moved = match moved {
            Some(moved) => moved,
            None => above(db, path, delete_root, source_depth)?.ok_or_else(|| {
                failure(format!(
                    "The node '{}' has not been moved away",
                    wc.local_path(path)
                ))
            })?,
        };
        let new = location(wc, &moved.source, source_depth)?;
        let old = location(wc, &moved.target, moved.target.depth())?;
        let mut follow = Self {
            wc,
            db,
            site,
            cancel,
            operation,
            source: moved.source,
            source_depth,
            target: moved.target,
            old,
            new,
            stack: Vec::new(),
            events: BTreeMap::new(),
            items: Vec::new(),
        };
        if source_depth == 0 {
            follow.check_source()?;
        }
        let (source, target) = (follow.source.clone(), follow.target.clone());
        follow.node(&source, &target, Step::default())?;
        db.copy_layer(&source, source_depth, &target)?;
        Ok(follow)
    }

    /// Tells what was done.
    pub(super) fn tell(&self, victim: &RelPath, notify: &mut NotifyFn<'_>) {
        for (path, event) in &self.events {
            let told = Notification::new(self.wc.local_path(path), event.action)
                .kind(event.kind)
                .states(event.content, event.props)
                .revs(self.old.revision, self.new.revision);
            notify(&told);
        }
        let mut done = Notification::new(self.wc.local_path(victim), Action::UpdateCompleted);
        done.rev = self.new.revision;
        notify(&done);
    }

    /// Requires the source to be all of one revision and place.
    fn check_source(&self) -> Result<()> {
        for row in self.db.base_places(&self.source)? {
            let (path, repos_path, rev) = row;
            let below = path.strip_prefix(&self.source).unwrap_or(RelPath::ROOT);
            if self.new.path.join(below) != repos_path {
                return Err(failure(format!(
                    "Cannot apply update because '{}' is a switched path (please switch it back to \
                     its original URL and try again)",
                    self.wc.local_path(&path)
                )));
            }
            if rev != self.new.revision {
                return Err(failure(format!(
                    "Cannot apply update because '{}' is a mixed-revision working copy (please \
                     update and try again)",
                    self.wc.local_path(&self.source)
                )));
            }
        }
        Ok(())
    }

    fn side(&self, path: &RelPath, op_depth: usize) -> Result<Side> {
        let layers = self.db.layers(path)?;
        let layer = layers.iter().find(|layer| layer.op_depth == op_depth);
        match layer.filter(|layer| layer.presence.is_present()) {
            Some(layer) => Ok(Side {
                kind: Some(layer.kind),
                props: layer.props()?,
                checksum: layer.sha1()?,
            }),
            None => Ok(Side::default()),
        }
    }

    fn node(&mut self, from: &RelPath, to: &RelPath, step: Step) -> Result<()> {
        self.cancel.check()?;
        self.stack.push(step);
        let done = self.merge_node(from, to);
        self.stack.pop();
        done
    }

    fn here(&mut self) -> Step {
        self.stack.last().copied().unwrap_or_default()
    }

    fn merge_node(&mut self, from: &RelPath, to: &RelPath) -> Result<()> {
        let new = self.side(from, self.source_depth)?;
        let old = self.side(to, self.target.depth())?;
        if old.kind.is_some() && new.kind != old.kind {
            self.delete(to, old.kind, new.kind)?;
        }
        if self.here().skip {
            return Ok(());
        }
        match new.kind {
            Some(kind) if old.kind != Some(kind) => self.add(to, old.kind, kind)?,
            Some(NodeKind::Dir) if new.props != old.props => self.alter_dir(to, &old, &new)?,
            Some(NodeKind::File) if new.props != old.props || new.checksum != old.checksum => {
                self.alter_file(to, &old, &new)?;
            }
            _ => {}
        }
        if self.here().skip || new.kind != Some(NodeKind::Dir) {
            return Ok(());
        }
        let mut children = self.children(from, self.source_depth)?;
        children.extend(self.children(to, self.target.depth())?);
        children.sort();
        children.dedup();
        for name in children {
            let (from, to) = (from.child(&name)?, to.child(&name)?);
            let here = self.here();
            let shadowed = here.shadowed || self.is_shadowed(&to)?;
            let step = Step {
                shadowed,
                ..Step::default()
            };
            self.node(&from, &to, step)?;
            if self.here().skip {
                break;
            }
        }
        Ok(())
    }

    fn children(&self, path: &RelPath, op_depth: usize) -> Result<Vec<String>> {
        let children = self.db.children(path)?.into_iter().filter(|child| {
            child.layers.iter().any(|layer| {
                layer.op_depth == op_depth
                    && layer.presence != Presence::BaseDeleted
                    && !layer.file_external
            })
        });
        Ok(children
            .map(|child| child.path.basename().to_owned())
            .collect())
    }

    fn is_shadowed(&self, path: &RelPath) -> Result<bool> {
        let layers = self.db.layers(path)?;
        Ok(layers
            .first()
            .is_some_and(|top| top.op_depth > self.target.depth()))
    }

    /// Marks the nodes on the way as changed, the last one too if `itself`; something local may be
    /// in the way there.
    fn mark_edited(&mut self, to: &RelPath, itself: bool) -> Result<()> {
        let count = self.stack.len() - usize::from(!itself);
        let mut skip = false;
        for at in 0..count {
            let above_shadowed = at > 0 && self.stack[at - 1].shadowed;
            self.stack[at].skip |= skip;
            if !self.stack[at].edited {
                self.stack[at].edited = true;
                if !self.stack[at].skip && self.stack[at].shadowed && !above_shadowed {
                    let up = self.stack.len() - 1 - at;
                    let path = std::iter::once(to)
                        .chain(to.ancestors())
                        .nth(up)
                        .unwrap_or(to)
                        .to_owned();
                    self.raise_on_root(&path, at, conflict::Action::Edited)?;
                }
            }
            skip |= self.stack[at].skip;
        }
        if skip && let Some(last) = self.stack.last_mut() {
            last.skip = true;
        }
        Ok(())
    }

    /// Says that a change meets a node that is deleted or moved away.
    fn raise_on_root(&mut self, path: &RelPath, at: usize, action: conflict::Action) -> Result<()> {
        self.stack[at].skip = true;
        let old = self.side(path, self.target.depth())?;
        let from = rebased(path, &self.target, &self.source);
        let new = self.side(&from, self.source_depth)?;
        let moved = self
            .db
            .moves_of_layer(path, self.target.depth())?
            .into_iter()
            .find(|moved| *moved.source == *path);
        let tree = TreeConflict {
            reason: match moved {
                Some(_) => Reason::MovedAway,
                None => Reason::Deleted,
            },
            action,
            move_source: moved.as_ref().map(|_| path.to_owned()),
            move_target: moved.map(|moved| moved.target),
        };
        self.raise(path, old.kind, new.kind, tree)
    }

    fn raise(
        &mut self,
        path: &RelPath,
        old: Option<NodeKind>,
        new: Option<NodeKind>,
        tree: TreeConflict,
    ) -> Result<()> {
        let below = path.strip_prefix(&self.target).unwrap_or(RelPath::ROOT);
        let at = |location: &Location, kind: Option<NodeKind>| Location {
            path: location.path.join(below),
            kind: kind.unwrap_or(NodeKind::None),
            ..location.clone()
        };
        let conflict = Conflict {
            operation: self.operation,
            left: Some(at(&self.old, old)),
            right: Some(at(&self.new, new)),
            tree: Some(tree),
            ..Conflict::default()
        };
        self.db.mark_conflict(path, &conflict.to_bytes())?;
        let kind = new.or(old).unwrap_or(NodeKind::None);
        self.event(
            path,
            Action::TreeConflict,
            kind,
            State::Unknown,
            State::Unknown,
        );
        Ok(())
    }

    fn event(
        &mut self,
        path: &RelPath,
        action: Action,
        kind: NodeKind,
        content: State,
        props: State,
    ) {
        self.events.insert(
            path.to_owned(),
            Event {
                action,
                kind,
                content,
                props,
            },
        );
    }

    fn look(&self, path: &RelPath) -> Result<Option<FileKind>> {
        Ok(site::kind(self.site.root.lstat(path)?))
    }

    fn skip_here(&mut self) {
        if let Some(last) = self.stack.last_mut() {
            last.skip = true;
        }
    }

    fn add(&mut self, to: &RelPath, old: Option<NodeKind>, kind: NodeKind) -> Result<()> {
        self.mark_edited(to, false)?;
        let here = self.here();
        if here.skip {
            return Ok(());
        }
        let layers = self.db.layers(to)?;
        let top = layers.first().filter(|_| here.shadowed);
        let state = top.map(Layer::state);
        let reason = match state {
            Some(crate::db::NodeState::Deleted) => Some(Reason::Deleted),
            Some(crate::db::NodeState::Added) if old.is_none() => Some(Reason::Added),
            Some(crate::db::NodeState::Added) => Some(Reason::Replaced),
            _ => {
                let found = self.look(to)?.map(|found| match found {
                    FileKind::Dir => NodeKind::Dir,
                    _ => NodeKind::File,
                });
                let goes = !here.shadowed && found == old;
                found.filter(|_| !goes).map(|_| Reason::Unversioned)
            }
        };
        if let Some(reason) = reason {
            let action = match old {
                None => conflict::Action::Added,
                Some(_) => conflict::Action::Replaced,
            };
            self.skip_here();
            let tree = TreeConflict {
                reason,
                action,
                ..TreeConflict::default()
            };
            return self.raise(to, old, Some(kind), tree);
        }
        self.items.push(match kind {
            NodeKind::Dir => item::dir_install(to),
            _ => item::file_install(to, false, true),
        });
        let action = match old {
            None => Action::UpdateAdd,
            Some(_) => Action::UpdateReplace,
        };
        self.event(to, action, kind, State::Unknown, State::Unknown);
        Ok(())
    }

    fn delete(&mut self, to: &RelPath, old: Option<NodeKind>, new: Option<NodeKind>) -> Result<()> {
        self.mark_edited(to, false)?;
        let here = self.here();
        if here.skip {
            return Ok(());
        }
        if here.shadowed {
            let at = self.stack.len() - 1;
            return self.raise_on_root(to, at, conflict::Action::Deleted);
        }
        if self.is_changed(to)? {
            self.db.make_copy(to, false)?;
            self.skip_here();
            let action = match new {
                None => conflict::Action::Deleted,
                Some(_) => conflict::Action::Replaced,
            };
            let tree = TreeConflict {
                reason: Reason::Edited,
                action,
                ..TreeConflict::default()
            };
            return self.raise(to, old, new, tree);
        }
        for (path, kind) in self.db.layer_below(to, self.target.depth())? {
            self.items.push(remove(&path, kind));
        }
        self.items.push(remove(to, old.unwrap_or(NodeKind::File)));
        if new.is_none() {
            let kind = old.unwrap_or(NodeKind::None);
            self.event(
                to,
                Action::UpdateDelete,
                kind,
                State::Unknown,
                State::Unknown,
            );
        }
        Ok(())
    }

    /// Tells whether anything at or below a node is changed or not versioned.
    fn is_changed(&self, path: &RelPath) -> Result<bool> {
        if self.db.has_local_below(path, self.target.depth())? {
            return Ok(true);
        }
        let mut files = self.db.layer_below(path, self.target.depth())?;
        files.push((path.to_owned(), NodeKind::Unknown));
        let mut known = std::collections::BTreeSet::new();
        for (path, _) in &files {
            let layers = self.db.layers(path)?;
            let Some(layer) = layers.first() else {
                continue;
            };
            known.insert(path.clone());
            if layer.kind == NodeKind::Dir {
                continue;
            }
            let changed = modified::is_modified(self.wc, self.site, path, layer)?;
            if changed || self.look(path)?.is_none() {
                return Ok(true);
            }
        }
        for (path, _) in &files {
            if self.look(path)? != Some(FileKind::Dir) {
                continue;
            }
            for (name, _) in self.site.root.read_dir(path)? {
                let name = String::from_utf8_lossy(&name);
                if !known.contains(&path.child(&name)?) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Merges properties; returns the local ones before, their changes, and what became of them.
    fn merge_props(
        &self,
        to: &RelPath,
        old: &Side,
        new: &Side,
    ) -> Result<(Props, PropChanges, merge::props::MergedProps)> {
        let actual = props::actual(self.db, to)?;
        let changes: Vec<_> = core_props::diff(&old.props, &new.props)
            .into_iter()
            .collect();
        let merged = merge::props::merge(
            &old.props,
            &actual,
            changes
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_ref())),
        );
        let local = (merged.props != new.props).then_some(&merged.props);
        self.db.put_actual_props(to, local)?;
        Ok((actual, changes, merged))
    }

    fn alter_dir(&mut self, to: &RelPath, old: &Side, new: &Side) -> Result<()> {
        self.mark_edited(to, true)?;
        if self.here().skip {
            return Ok(());
        }
        if self.look(to)?.is_some_and(|found| found != FileKind::Dir) {
            return self.raise_obstructed(to, NodeKind::Dir);
        }
        let (_, _, merged) = self.merge_props(to, old, new)?;
        self.record_conflict(to, NodeKind::Dir, None, merged.conflict)?;
        self.event(
            to,
            Action::UpdateUpdate,
            NodeKind::Dir,
            State::Inapplicable,
            merged.state,
        );
        Ok(())
    }

    fn raise_obstructed(&mut self, to: &RelPath, kind: NodeKind) -> Result<()> {
        let tree = TreeConflict {
            reason: Reason::Obstructed,
            action: conflict::Action::Edited,
            ..TreeConflict::default()
        };
        self.raise(to, Some(kind), Some(kind), tree)
    }

    fn alter_file(&mut self, to: &RelPath, old: &Side, new: &Side) -> Result<()> {
        self.mark_edited(to, true)?;
        if self.here().skip {
            return Ok(());
        }
        if self.look(to)? == Some(FileKind::Dir) {
            return self.raise_obstructed(to, NodeKind::File);
        }
        let layers = self.db.layers(to)?;
        let layer = layers
            .into_iter()
            .next()
            .ok_or_else(|| crate::not_found(self.wc, to))?;
        let before = props::actual(self.db, to)?;
        let is_modified = self.is_modified(to, &layer, &before)?;
        let (actual, changes, merged) = self.merge_props(to, old, new)?;
        let mut text_conflict = None;
        let content = if new.checksum == old.checksum {
            State::Unchanged
        } else if is_modified {
            let text = self.merge_text(to, old, new, &actual, &changes)?;
            text_conflict = text.conflict;
            self.items.extend(text.items);
            match text.state {
                State::Conflicted => State::Conflicted,
                _ => State::Merged,
            }
        } else {
            self.items.push(item::file_install(to, false, true));
            State::Changed
        };
        self.record_conflict(to, NodeKind::File, text_conflict, merged.conflict)?;
        self.event(
            to,
            Action::UpdateUpdate,
            NodeKind::File,
            content,
            merged.state,
        );
        Ok(())
    }

    fn is_modified(&self, to: &RelPath, layer: &Layer, actual: &Props) -> Result<bool> {
        let is_special = actual.contains_key(core_props::SVN_SPECIAL);
        modified::differs_from(&self.site.root, to, layer, is_special, || {
            Ok(work_queue::recipe_with(self.wc, layer, actual, false)?.translation)
        })
    }

    fn merge_text(
        &self,
        to: &RelPath,
        old: &Side,
        new: &Side,
        actual: &Props,
        changes: &[(String, Option<Vec<u8>>)],
    ) -> Result<merge::text::Merged> {
        let options = Options::default();
        let target = merge::text::Target {
            site: self.site,
            path: to,
            props: actual,
            changes,
            labels: merge::text::Labels {
                left: ".old".to_owned(),
                right: ".new".to_owned(),
                mine: ".working".to_owned(),
                suffix: Some(".tmp"),
            },
            diff3: None,
            options: &options,
            cancel: self.cancel,
        };
        let text = |side: &Side| side.checksum.map(|sha1| crate::pristine::path(&sha1));
        let left = text(old).transpose()?;
        let right = text(new).transpose()?.ok_or_else(no_text)?;
        merge::text::merge_file(&target, left.as_deref(), &right)
    }

    /// Records conflicts of text and properties.
    fn record_conflict(
        &mut self,
        to: &RelPath,
        kind: NodeKind,
        text: Option<TextConflict>,
        props: Option<PropConflict>,
    ) -> Result<()> {
        if text.is_none() && props.is_none() {
            return Ok(());
        }
        let layers = self.db.layers(to)?;
        let layer = layers
            .iter()
            .find(|layer| layer.op_depth == self.target.depth());
        let path = layer
            .and_then(|layer| layer.repos_path.clone())
            .unwrap_or_default();
        let at = |location: &Location| Location {
            path: path.clone(),
            kind,
            ..location.clone()
        };
        let mut conflict = Conflict {
            operation: self.operation,
            left: Some(at(&self.old)),
            right: Some(at(&self.new)),
            text,
            props,
            tree: None,
        };
        if let Some(props) = &mut conflict.props {
            let (folder, name) = match kind {
                NodeKind::Dir => (to, "dir_conflicts"),
                _ => (to.parent().unwrap_or(RelPath::ROOT), to.basename()),
            };
            props.marker = Some(names::reserve(&self.site.root, folder, name, ".prej")?);
            self.items.push(item::prej_install(to));
        }
        self.db.mark_conflict(to, &conflict.to_bytes())
    }
}

fn no_text() -> Error {
    crate::db::corrupt("A file has no checksum")
}

fn remove(path: &RelPath, kind: NodeKind) -> Vec<u8> {
    match kind {
        NodeKind::Dir => item::dir_remove(path),
        _ => item::file_remove(path),
    }
}

/// Returns the layer that a deletion covers.
pub(super) fn covered_depth(db: &Db, path: &RelPath, delete_depth: usize) -> Result<usize> {
    let layers = db.layers(path)?;
    let covered = layers.iter().find(|layer| layer.op_depth < delete_depth);
    Ok(covered.map_or(0, |layer| layer.op_depth))
}

/// Finds the move of a folder above.
fn above(
    db: &Db,
    path: &RelPath,
    root: &RelPath,
    op_depth: usize,
) -> Result<Option<crate::db::moves::Move>> {
    for at in path.ancestors() {
        if !at.starts_with(root) {
            break;
        }
        let moves = db.moves_of_layer(at, op_depth)?;
        if let Some(moved) = moves.into_iter().find(|moved| *moved.source == *at) {
            return Ok(Some(moved));
        }
    }
    Ok(None)
}

fn location(wc: &WorkingCopy, path: &RelPath, op_depth: usize) -> Result<Location> {
    let db = wc.db();
    let layers = db.layers(path)?;
    let layer = layers
        .iter()
        .find(|layer| layer.op_depth == op_depth)
        .ok_or_else(|| crate::not_found(wc, path))?;
    let id = layer
        .repos_id
        .ok_or_else(|| crate::db::corrupt("A node has no repository"))?;
    let repository = db.repository(id)?;
    Ok(Location {
        repos_root: repository.root.clone(),
        repos_uuid: Some(repository.uuid.clone()),
        path: layer.repos_path.clone().unwrap_or_default(),
        revision: layer.revision,
        kind: layer.kind,
    })
}

/// Path, path in the repository and revision of a node.
pub(crate) type BasePlace = (RelPathBuf, RelPathBuf, Option<Revnum>);

impl Db {
    /// Lists where the nodes of the BASE tree below a path come from.
    fn base_places(&self, path: &RelPath) -> Result<Vec<BasePlace>> {
        let (low, high) = crate::db::write::below(path);
        let key = rusqlite::params![self.wc_id(), low, high];
        self.rows(crate::db::moves::SELECT_BASE_PLACES, key, |row| {
            Ok((
                path_column(row, 0)?.unwrap_or_default(),
                path_column(row, 1)?.unwrap_or_default(),
                integer(row, 2)?.and_then(Revnum::new),
            ))
        })
    }

    /// Tells whether anything but a layer lies at or below a path: other layers, local properties.
    fn has_local_below(&self, path: &RelPath, op_depth: usize) -> Result<bool> {
        let (low, high) = crate::db::write::below(path);
        let key = rusqlite::params![self.wc_id(), path.as_str(), low, high, number(op_depth)];
        Ok(self.exists(crate::db::moves::HAS_LAYER_ABOVE, key)?
            || self.exists(
                crate::db::moves::HAS_LOCAL,
                rusqlite::params![
                    self.wc_id(),
                    path.as_str(),
                    crate::db::write::below(path).0,
                    crate::db::write::below(path).1
                ],
            )?)
    }
}
