//! What `svn info` tells of nodes in a working copy.

use std::collections::BTreeSet;
use std::sync::Arc;

use sylvan_core::{
    Checksum, Depth, Lock, NodeKind, RelPath, RelPathBuf, Result, Revnum, Timestamp, Url,
};
use sylvan_io::Cancel;

use crate::conflict::{Action, Conflict, Operation, Reason};
use crate::db::{Layer, Node, NodeState, Presence, Repository};
use crate::scan::{self, Location, Origin};
use crate::status::lock;
use crate::{WorkingCopy, not_found};

/// What is scheduled for a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Schedule {
    /// Nothing of its own.
    #[default]
    Normal,
    /// It is added or copied.
    Add,
    /// It is deleted.
    Delete,
    /// It is deleted and added again.
    Replace,
}

impl Schedule {
    /// Returns the word that is printed.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Add => "add",
            Self::Delete => "delete",
            Self::Replace => "replace",
        }
    }
}

/// All that is known of a node without asking the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Info {
    /// The path below the working copy's root.
    pub path: RelPathBuf,
    /// What it is; none for the victim of a tree conflict that is not under version control.
    pub kind: NodeKind,
    /// The repository.
    pub repository: Option<Arc<Repository>>,
    /// The path in the repository, now or after a commit.
    pub repos_path: Option<RelPathBuf>,
    /// The revision: of BASE, or of the source of a copy.
    pub revision: Option<Revnum>,
    /// The revision of the last change.
    pub changed_rev: Option<Revnum>,
    /// The time of the last change.
    pub changed_date: Option<Timestamp>,
    /// The author of the last change.
    pub changed_author: Option<String>,
    /// The lock whose token this working copy has.
    pub lock: Option<Lock>,
    /// What is scheduled.
    pub schedule: Schedule,
    /// How deep a folder is; excluded nodes have the depth exclude.
    pub depth: Option<Depth>,
    /// Source of a copy; its root only.
    pub copied_from: Option<(Url, Revnum)>,
    /// Where the root of a move was before.
    pub moved_from: Option<RelPathBuf>,
    /// Where it was moved to.
    pub moved_to: Option<RelPathBuf>,
    /// The size of the working file when last known to be unmodified.
    pub recorded_size: Option<u64>,
    /// The modification time of the working file then.
    pub recorded_time: Option<Timestamp>,
    /// The checksum of a file's pristine text.
    pub checksum: Option<Checksum>,
    /// The changelist.
    pub changelist: Option<String>,
    /// What is in conflict.
    pub conflict: Option<ConflictInfo>,
}

/// A conflict with what the disk says of its victim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConflictInfo {
    /// The conflict.
    pub conflict: Conflict,
    /// What the victim is locally.
    pub local_kind: NodeKind,
}

impl Info {
    /// Returns the URL, now or after a commit.
    pub fn url(&self) -> Option<Url> {
        let (repository, path) = self.repository.as_ref().zip(self.repos_path.as_ref())?;
        Some(repository.root.join(path))
    }

    /// Says of a node under version control what the database has; `None` if it is a mere mark that
    /// users do not see. `parent` is where the folder above is, if that is known.
    fn of(wc: &WorkingCopy, node: &Node, parent: Option<&Location>) -> Result<Option<Self>> {
        let Some(top) = node.top() else {
            return Ok(None);
        };
        let state = node.state();
        if matches!(state, NodeState::NotPresent | NodeState::ServerExcluded) {
            return Ok(None);
        }
        let mut info = Self::from_layer(node, top);
        if state == NodeState::Deleted {
            info.deleted(wc, node)?;
        }
        if state == NodeState::Added {
            info.added(wc, node, top)?;
        }
        let location = match (top.op_depth, state, parent) {
            (1.., NodeState::Added, Some(parent)) => Location {
                path: parent.path.child(node.path.basename())?,
                ..parent.clone()
            },
            _ => scan::location(wc, node)?,
        };
        let repository = wc.db().repository(location.repos_id)?;
        match state {
            NodeState::Deleted => info.revision = location.revision,
            NodeState::Excluded => {
                info.depth = Some(Depth::Exclude);
                info.revision = info.revision.filter(|_| top.op_depth == 0);
            }
            _ => {}
        }
        if let (0, Some(repos_id), Some(path)) = (top.op_depth, top.repos_id, &top.repos_path) {
            let row = wc.db().lock(repos_id, path)?;
            info.lock = row.as_ref().map(lock);
        }
        info.repository = Some(repository);
        info.repos_path = Some(location.path);
        info.conflict = conflict(wc, node)?;
        Ok(Some(info))
    }

    fn from_layer(node: &Node, top: &Layer) -> Self {
        Self {
            path: node.path.clone(),
            kind: top.kind,
            repository: None,
            repos_path: None,
            revision: top.revision,
            changed_rev: top.changed_rev,
            changed_date: top.changed_date,
            changed_author: top.changed_author.clone(),
            lock: None,
            schedule: Schedule::Normal,
            depth: top.depth.filter(|_| top.kind == NodeKind::Dir),
            copied_from: None,
            moved_from: None,
            moved_to: None,
            recorded_size: top.recorded_size,
            recorded_time: top.recorded_time,
            checksum: top.checksum.filter(|_| top.kind == NodeKind::File),
            changelist: node.actual.changelist.clone(),
            conflict: None,
        }
    }

    fn added(&mut self, wc: &WorkingCopy, node: &Node, top: &Layer) -> Result<()> {
        if !node.is_op_root() {
            return Ok(());
        }
        self.schedule = if node.is_replaced() {
            Schedule::Replace
        } else {
            Schedule::Add
        };
        if let (Some(repos_id), Some(source), Some(rev)) =
            (top.repos_id, &top.repos_path, top.revision)
        {
            let root = &wc.db().repository(repos_id)?.root;
            self.copied_from = Some((root.join(source), rev));
            if scan::origin(wc, node)? == Origin::MovedHere {
                self.moved_from = wc.db().moved_from(&node.path)?.map(|(from, _)| from);
            }
        }
        Ok(())
    }

    /// Says what will be deleted: the layer below the deletion.
    fn deleted(&mut self, wc: &WorkingCopy, node: &Node) -> Result<()> {
        let covered = match node.top() {
            Some(top) if top.presence == Presence::BaseDeleted => node.below(),
            top => top,
        };
        self.schedule = Schedule::Delete;
        if let Some(covered) = covered {
            let below = Self::from_layer(node, covered);
            self.kind = below.kind;
            self.changed_rev = below.changed_rev;
            self.changed_date = below.changed_date;
            self.changed_author = below.changed_author;
            self.depth = below.depth;
            self.checksum = below.checksum;
        }
        if covered.is_none_or(|covered| covered.state() == NodeState::Deleted) {
            // Nothing is known of it, but status shows it.
            self.depth = Some(Depth::Exclude);
            self.kind = NodeKind::Unknown;
        }
        self.moved_to = scan::deletion(wc, node)?.moved_to;
        Ok(())
    }

    /// Says what is known of the victim of a tree conflict that is not under version control.
    fn of_victim(wc: &WorkingCopy, node: &Node) -> Result<Option<Self>> {
        let Some(conflict) = conflict(wc, node)? else {
            return Ok(None);
        };
        let repository = match node.path.parent() {
            Some(parent) => match wc.db().node(parent)? {
                Some(parent) => {
                    let location = scan::location(wc, &parent)?;
                    Some(wc.db().repository(location.repos_id)?)
                }
                None => None,
            },
            None => None,
        };
        Ok(Some(Self {
            path: node.path.clone(),
            kind: NodeKind::None,
            repository,
            repos_path: None,
            revision: None,
            changed_rev: None,
            changed_date: None,
            changed_author: None,
            lock: None,
            schedule: Schedule::Normal,
            depth: None,
            copied_from: None,
            moved_from: None,
            moved_to: None,
            recorded_size: None,
            recorded_time: None,
            checksum: None,
            changelist: None,
            conflict: Some(conflict),
        }))
    }
}

fn conflict(wc: &WorkingCopy, node: &Node) -> Result<Option<ConflictInfo>> {
    let Some(stored) = &node.actual.conflict else {
        return Ok(None);
    };
    let conflict = Conflict::parse(stored)?;
    let node_kind = node.top().map_or(NodeKind::None, |top| {
        if top.state().is_hidden() {
            NodeKind::None
        } else {
            top.kind
        }
    });
    let local_kind = match &conflict.tree {
        None => node_kind,
        Some(tree) => match tree.reason {
            Reason::Missing => NodeKind::None,
            Reason::Unversioned | Reason::Obstructed => on_disk(wc, &node.path),
            Reason::Deleted | Reason::MovedAway if tree.action == Action::Deleted => {
                // There is nothing local to take the kind from.
                let by_update = matches!(conflict.operation, Operation::Update | Operation::Switch);
                match conflict.left.as_ref().filter(|_| by_update) {
                    Some(left) => left.kind,
                    None => node_kind,
                }
            }
            _ => node_kind,
        },
    };
    Ok(Some(ConflictInfo {
        conflict,
        local_kind,
    }))
}

fn on_disk(wc: &WorkingCopy, path: &RelPath) -> NodeKind {
    match std::fs::symlink_metadata(wc.local_path(path).as_path()) {
        Ok(found) if found.is_dir() => NodeKind::Dir,
        Ok(found) if found.is_file() || found.is_symlink() => NodeKind::File,
        Ok(_) => NodeKind::Unknown,
        Err(_) => NodeKind::None,
    }
}

/// What to tell.
#[derive(Clone, Debug)]
pub struct InfoOptions {
    /// How deep to go.
    pub depth: Depth,
    /// Only nodes in one of these changelists, if there are any.
    pub changelists: Vec<String>,
}

impl Default for InfoOptions {
    fn default() -> Self {
        Self {
            depth: Depth::Empty,
            changelists: Vec::new(),
        }
    }
}

/// Reads the information on one node, `None` if there is none to show.
///
/// # Errors
/// As [`walk`].
pub fn read(wc: &WorkingCopy, path: &RelPath) -> Result<Option<Info>> {
    wc.db().read(|| match wc.db().node(path)? {
        None => Ok(None),
        Some(node) if node.layers.is_empty() => Info::of_victim(wc, &node),
        Some(node) => Info::of(wc, &node, None),
    })
}

/// Tells of `path` and what is below it, in Subversion's order; at last of the victims of tree
/// conflicts that are not under version control.
///
/// # Errors
/// `E155010` if the path is not under version control, `E200015` when cancelled, errors of the
/// database, and what `sink` returns.
pub fn walk(
    wc: &WorkingCopy,
    path: &RelPath,
    options: &InfoOptions,
    cancel: &Cancel,
    sink: &mut dyn FnMut(Info) -> Result<()>,
) -> Result<()> {
    let mut walker = Walker {
        wc,
        options,
        cancel,
        sink,
        victims: BTreeSet::new(),
    };
    wc.db().read(|| walker.begin(path))
}

struct Walker<'a> {
    wc: &'a WorkingCopy,
    options: &'a InfoOptions,
    cancel: &'a Cancel,
    sink: &'a mut dyn FnMut(Info) -> Result<()>,
    /// Paths in conflict that were not told of yet.
    victims: BTreeSet<RelPathBuf>,
}

impl Walker<'_> {
    fn begin(&mut self, path: &RelPath) -> Result<()> {
        let missing = || not_found(self.wc, path);
        let node = self.wc.db().node(path)?.ok_or_else(missing)?;
        let Some(top) = node.top() else {
            let victim = Info::of_victim(self.wc, &node)?;
            let victim = victim.filter(Info::has_tree_conflict).ok_or_else(missing)?;
            return (self.sink)(victim);
        };
        if self.is_wanted(&node) {
            let info = Info::of(self.wc, &node, None)?.ok_or_else(missing)?;
            (self.sink)(info)?;
        }
        if top.kind == NodeKind::Dir && !node.state().is_hidden() {
            let place = scan::location(self.wc, &node)?;
            self.children(path, &place, self.options.depth)?;
        }
        for victim in std::mem::take(&mut self.victims) {
            let Some(node) = self.wc.db().node(&victim)? else {
                continue;
            };
            if let Some(info) = Info::of_victim(self.wc, &node)?
                && self.includes(path, &info)
            {
                (self.sink)(info)?;
            }
        }
        Ok(())
    }

    fn children(&mut self, dir: &RelPath, place: &Location, depth: Depth) -> Result<()> {
        self.cancel.check()?;
        if depth <= Depth::Empty {
            return Ok(());
        }
        for node in self.wc.db().children(dir)? {
            if node.actual.conflict.is_some() {
                self.victims.insert(node.path.clone());
            }
            let Some(top) = node.top() else { continue };
            let kind_fits = top.kind == NodeKind::File || depth >= Depth::Immediates;
            if kind_fits
                && self.is_wanted(&node)
                && let Some(info) = Info::of(self.wc, &node, Some(place))?
            {
                self.victims.remove(&node.path);
                (self.sink)(info)?;
            }
            if top.kind == NodeKind::Dir && depth >= Depth::Immediates {
                let depth = match depth {
                    Depth::Immediates => Depth::Empty,
                    depth => depth,
                };
                if depth > Depth::Empty {
                    let place = match (top.op_depth, node.state()) {
                        (1.., NodeState::Added) => Location {
                            path: place.path.child(node.path.basename())?,
                            ..place.clone()
                        },
                        // Nothing is below a mark, and nothing needs the place of a deleted folder.
                        _ if top.repos_path.is_none() || node.state() == NodeState::Deleted => {
                            place.clone()
                        }
                        _ => scan::location(self.wc, &node)?,
                    };
                    self.children(&node.path, &place, depth)?;
                }
            }
        }
        Ok(())
    }

    fn is_wanted(&self, node: &Node) -> bool {
        let wanted = &self.options.changelists;
        wanted.is_empty()
            || node
                .actual
                .changelist
                .as_ref()
                .is_some_and(|changelist| wanted.contains(changelist))
    }

    /// Tells whether a victim is within the depth asked for.
    fn includes(&self, root: &RelPath, info: &Info) -> bool {
        let is_child = info.path.parent() == Some(root);
        let kind = info.conflict.as_ref().map(|conflict| conflict.local_kind);
        match self.options.depth {
            Depth::Infinity => true,
            Depth::Immediates => is_child || *info.path == *root,
            Depth::Files => is_child && kind == Some(NodeKind::File) || *info.path == *root,
            Depth::Empty | Depth::Exclude => *info.path == *root,
        }
    }
}

impl Info {
    fn has_tree_conflict(&self) -> bool {
        let conflict = self.conflict.as_ref().map(|conflict| &conflict.conflict);
        conflict.is_some_and(|conflict| conflict.tree.is_some())
    }
}
