//! What changed in a revision or a transaction, as a tree: folders that lead to a change are in it.

use std::collections::HashMap;

use sylvan_core::{Error, ErrorCode, NodeKind, Props, RelPath, RelPathBuf, Result, Revnum};
use sylvan_fs::change::{Change, ChangeKind};
use sylvan_fs::tree::Location;
use sylvan_fs::{FileSystem, Root, Tree};
use sylvan_io::Cancel;

/// What happened to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeAction {
    /// It was opened: it or something below it changed.
    Open,
    /// It was added or copied.
    Add,
    /// It was deleted; if something else is in its place, that comes next.
    Delete,
}

/// A node of a tree of changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedNode {
    /// Its path.
    pub path: RelPathBuf,
    /// Whether it is, or was, a file or a folder.
    pub kind: NodeKind,
    /// What happened to it.
    pub action: NodeAction,
    /// Whether its content changed.
    pub text_mod: bool,
    /// Whether its properties changed.
    pub prop_mod: bool,
    /// The source, if it was copied.
    pub copyfrom: Option<Location>,
    /// Where it was before: there, or below the copy that it is in, or at its path in the revision
    /// that the tree is based on. If it is new, nothing of it need be there.
    pub base: Location,
    /// The place of its folder in the list.
    pub parent: Option<usize>,
    /// What its properties are compared with; `None` if it is new.
    source: Option<Location>,
}

/// Returns the nodes of a tree of changes, folders before what is in them; none if nothing changed.
/// `base` is the revision it is compared with.
///
/// # Errors
/// [`ErrorCode::FS_NOT_FOUND`] if something is gone that never was; [`ErrorCode::FS_CORRUPT`].
pub fn change_tree(tree: Tree<'_>, base: Revnum, cancel: &Cancel) -> Result<Vec<ChangedNode>> {
    let mut changes: Vec<Change> = tree.paths_changed()?.into_values().collect();
    changes.sort_by(|a, b| a.path.components().cmp(b.path.components()));
    if changes.is_empty() {
        return Ok(Vec::new());
    }
    let mut builder = Builder {
        tree,
        base,
        roots: Roots::new(tree.fs()),
        nodes: Vec::new(),
        open: Vec::new(),
    };
    let root = Location {
        path: RelPathBuf::root(),
        revision: base,
    };
    builder.open_node(root.path.clone(), NodeKind::Dir, root.clone(), Some(root));
    for change in changes {
        cancel.check()?;
        builder.add(&change)?;
    }
    Ok(builder.nodes)
}

struct Builder<'t> {
    tree: Tree<'t>,
    base: Revnum,
    roots: Roots<'t>,
    nodes: Vec<ChangedNode>,
    /// The places of the folders that lead to the last node.
    open: Vec<usize>,
}

impl Builder<'_> {
    fn add(&mut self, change: &Change) -> Result<()> {
        if change.path.is_root() {
            if matches!(change.kind, ChangeKind::Add | ChangeKind::Replace) {
                let text = "Root directory already exists.";
                return Err(Error::new(ErrorCode::FS_ALREADY_EXISTS, text));
            }
            self.nodes[0].prop_mod = self.props_changed(0, change)?;
            return Ok(());
        }
        self.open_parents(&change.path)?;
        if matches!(change.kind, ChangeKind::Delete | ChangeKind::Replace) {
            self.delete(change)?;
        }
        let at = match change.kind {
            ChangeKind::Delete | ChangeKind::Reset => return Ok(()),
            ChangeKind::Add | ChangeKind::Replace => self.add_node(change)?,
            ChangeKind::Modify => {
                let (base, source) = self.below_parent(&change.path)?;
                let kind = self.kind(change)?;
                self.open_node(change.path.clone(), kind, base, source)
            }
        };
        self.nodes[at].prop_mod = self.props_changed(at, change)?;
        self.nodes[at].text_mod = change.text_mod && self.nodes[at].kind == NodeKind::File;
        Ok(())
    }

    /// Leaves the folders that do not lead to a path, and opens those that do.
    fn open_parents(&mut self, path: &RelPath) -> Result<()> {
        let leads = |at: &usize| {
            let folder = &self.nodes[*at].path;
            **folder != *path && path.starts_with(folder)
        };
        while self.open.len() > 1 && self.open.last().is_some_and(|at| !leads(at)) {
            self.open.pop();
        }
        let mut missing: Vec<&RelPath> = Vec::new();
        let top = self.nodes[self.parent()].path.clone();
        let mut above = path.parent();
        while let Some(folder) = above.filter(|folder| **folder != *top) {
            missing.push(folder);
            above = folder.parent();
        }
        for folder in missing.into_iter().rev() {
            let (base, source) = self.below_parent(folder)?;
            self.open_node(folder.to_owned(), NodeKind::Dir, base, source);
        }
        Ok(())
    }

    /// The folder that is open; the root is always.
    fn parent(&self) -> usize {
        self.open.last().copied().unwrap_or(0)
    }

    /// Where a node in the open folder was before, and what it is compared with.
    fn below_parent(&self, path: &RelPath) -> Result<(Location, Option<Location>)> {
        let parent = &self.nodes[self.parent()];
        let below = |location: &Location| -> Result<Location> {
            Ok(Location {
                path: location.path.child(path.basename())?,
                revision: location.revision,
            })
        };
        let source = parent.source.as_ref().map(below).transpose()?;
        Ok((below(&parent.base)?, source))
    }

    fn push(&mut self, node: ChangedNode) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn open_node(
        &mut self,
        path: RelPathBuf,
        kind: NodeKind,
        base: Location,
        source: Option<Location>,
    ) -> usize {
        let at = self.push(ChangedNode {
            path,
            kind,
            action: NodeAction::Open,
            text_mod: false,
            prop_mod: false,
            copyfrom: None,
            base,
            parent: self.open.last().copied(),
            source,
        });
        if kind == NodeKind::Dir {
            self.open.push(at);
        }
        at
    }

    fn delete(&mut self, change: &Change) -> Result<()> {
        let (base, _) = self.below_parent(&change.path)?;
        let kind = self.roots.of(base.revision)?.kind(&base.path)?;
        if kind == NodeKind::None {
            let text = format!("'{}' not found in filesystem", change.path);
            return Err(Error::new(ErrorCode::FS_NOT_FOUND, text));
        }
        let parent = Some(self.parent());
        self.push(ChangedNode {
            path: change.path.clone(),
            kind,
            action: NodeAction::Delete,
            text_mod: false,
            prop_mod: false,
            copyfrom: None,
            base,
            parent,
            source: None,
        });
        Ok(())
    }

    fn add_node(&mut self, change: &Change) -> Result<usize> {
        let copyfrom = change.copyfrom.clone();
        let copyfrom = copyfrom.map(|(revision, path)| Location { path, revision });
        let base = match &copyfrom {
            Some(source) => source.clone(),
            None => self.below_parent(&change.path)?.0,
        };
        let kind = self.kind(change)?;
        let at = self.open_node(change.path.clone(), kind, base, copyfrom.clone());
        self.nodes[at].action = NodeAction::Add;
        self.nodes[at].copyfrom = copyfrom;
        Ok(at)
    }

    fn kind(&self, change: &Change) -> Result<NodeKind> {
        let kind = match change.node_kind {
            NodeKind::Unknown => self.tree.kind(&change.path)?,
            known => known,
        };
        if matches!(kind, NodeKind::File | NodeKind::Dir) {
            return Ok(kind);
        }
        Err(Error::new(
            ErrorCode::FS_NOT_FOUND,
            format!(
                "Filesystem path '{}' is neither a file nor a directory",
                change.path
            ),
        ))
    }

    fn props_changed(&mut self, at: usize, change: &Change) -> Result<bool> {
        if !change.prop_mod {
            return Ok(false);
        }
        let now = self.tree.node(&change.path)?.props()?;
        let Some(source) = &self.nodes[at].source else {
            return Ok(!now.is_empty());
        };
        let root = self.roots.of(source.revision)?;
        let before = match root.find(&source.path)? {
            Some(node) => node.props()?,
            // What is in a new folder is new.
            None if source.revision == self.base => Props::new().into(),
            None => root.node(&source.path)?.props()?,
        };
        Ok(now != before)
    }
}

/// Trees of revisions that were opened.
struct Roots<'f> {
    fs: &'f FileSystem,
    open: HashMap<Revnum, Root>,
}

impl<'f> Roots<'f> {
    fn new(fs: &'f FileSystem) -> Self {
        Self {
            fs,
            open: HashMap::new(),
        }
    }

    fn of(&mut self, revision: Revnum) -> Result<&Root> {
        use std::collections::hash_map::Entry;
        match self.open.entry(revision) {
            Entry::Occupied(found) => Ok(found.into_mut()),
            Entry::Vacant(empty) => Ok(empty.insert(self.fs.revision_root(revision)?)),
        }
    }
}
