//! Goes through the changes of a revision in the order of paths, folder by folder.
//!
//! A folder is left before the next one beside it begins; what was deleted in it, and not replaced,
//! is told then.

use std::collections::{BTreeMap, BTreeSet};

use sylvan_core::{Error, ErrorCode, NodeKind, RelPath, RelPathBuf, Result, Revnum, path};
use sylvan_fs::Root;
use sylvan_fs::change::{Change, ChangeKind};

use super::node::Nodes;
use crate::apr_hash;
use crate::filter::PathFilter;
use crate::notice::RecordAction;

/// A path in another revision.
pub(crate) type Source = (Revnum, RelPathBuf);

/// A folder that is open.
#[derive(Debug)]
pub(crate) struct Folder {
    pub(crate) path: RelPathBuf,
    /// What it is compared with, if not with itself in the revision before.
    cmp: Option<Source>,
    /// Names that are gone, perhaps to be replaced.
    deleted: BTreeSet<String>,
    told: bool,
    /// Whether it has new names.
    pub(crate) has_new_names: bool,
}

/// Drives [`Nodes`].
pub(crate) struct Replay<'r, 'n, 'o, 'e> {
    root: &'r Root,
    filter: Option<&'r PathFilter>,
    nodes: &'n mut Nodes<'r, 'o, 'e>,
    folders: Vec<Folder>,
    /// Copied folders that we are in, and folders in those that are new.
    copies: Vec<(RelPathBuf, Option<Source>)>,
    changes: BTreeMap<RelPathBuf, Change>,
}

impl<'r, 'n, 'o, 'e> Replay<'r, 'n, 'o, 'e> {
    pub(crate) fn new(
        root: &'r Root,
        filter: Option<&'r PathFilter>,
        nodes: &'n mut Nodes<'r, 'o, 'e>,
    ) -> Self {
        Self {
            root,
            filter,
            nodes,
            folders: Vec::new(),
            copies: Vec::new(),
            changes: BTreeMap::new(),
        }
    }

    fn allows(&self, path: &RelPath) -> bool {
        self.filter
            .is_none_or(|filter| filter.allows(&format!("/{}", path.as_str())))
    }

    /// Tells the whole tree, as if it had been added to nothing.
    pub(crate) fn whole_tree(&mut self) -> Result<()> {
        if !self.allows(RelPath::ROOT) {
            return Err(Error::new(
                ErrorCode::AUTHZ_ROOT_UNREADABLE,
                "Unable to open root of edit",
            ));
        }
        self.push_folder(RelPathBuf::root(), None, false);
        let first = self.root.fs().revision_root(Revnum::ZERO)?.root_node()?;
        let node = self.root.root_node()?;
        if node.id() != first.id() {
            if *node.props()? != *first.props()? {
                self.folder_props()?;
            }
            self.add_entries(&node)?;
        }
        self.leave_to(0)
    }

    fn add_entries(&mut self, folder: &sylvan_fs::Node) -> Result<()> {
        let entries = folder.entries()?;
        let names = entries.entries().iter().map(|entry| entry.name.as_str());
        for at in apr_hash::order(names) {
            let name = &entries.entries()[at].name;
            let path = folder.path().child(name)?;
            if !self.allows(&path) {
                continue;
            }
            let Some(child) = folder.child(name)? else {
                continue;
            };
            self.add(&path, child.kind(), None)?;
            if child.kind() == NodeKind::Dir {
                self.add_entries(&child)?;
                self.leave()?;
            }
        }
        Ok(())
    }

    /// Tells the changes.
    pub(crate) fn changes(&mut self) -> Result<()> {
        let mut changes = BTreeMap::new();
        self.root.fs().changes(self.root.revision(), |change| {
            changes.insert(change.path.clone(), change);
            Ok(())
        })?;
        changes.retain(|path, _| self.allows(path));
        let mut paths: Vec<RelPathBuf> = changes.keys().cloned().collect();
        paths.sort_by(|a, b| path::compare(a.as_str(), b.as_str()));
        self.changes = changes;
        for path in paths {
            self.go_to(&path)?;
            self.change(&path)?;
        }
        self.leave_to(0)
    }

    /// Leaves and enters folders so that the one a path is in is the current one.
    fn go_to(&mut self, path: &RelPath) -> Result<()> {
        if self.folders.is_empty() && !path.is_root() {
            self.push_folder(RelPathBuf::root(), None, false);
        }
        let is_above = |folder: &Folder| path != &*folder.path && path.starts_with(&folder.path);
        let keep = self
            .folders
            .iter()
            .take_while(|folder| is_above(folder))
            .count();
        self.leave_to(keep)?;
        let Some(parent) = path.parent() else {
            return Ok(());
        };
        let known = self.folders.last().map_or(0, |folder| folder.path.depth());
        let missing: Vec<&RelPath> = std::iter::successors(Some(parent), |path| path.parent())
            .take(parent.depth().saturating_sub(known))
            .collect();
        for folder in missing.into_iter().rev() {
            self.open_folder(folder);
        }
        Ok(())
    }

    fn open_folder(&mut self, path: &RelPath) {
        let above = self.folders.last().and_then(|above| above.cmp.as_ref());
        let cmp = above
            .and_then(|(revision, above)| Some((*revision, above.child(path.basename()).ok()?)));
        self.push_folder(path.to_owned(), cmp, false);
    }

    fn push_folder(&mut self, path: RelPathBuf, cmp: Option<Source>, told: bool) {
        self.folders.push(Folder {
            path,
            cmp,
            deleted: BTreeSet::new(),
            told,
            has_new_names: false,
        });
    }

    fn leave_to(&mut self, depth: usize) -> Result<()> {
        while self.folders.len() > depth {
            self.leave()?;
        }
        Ok(())
    }

    fn leave(&mut self) -> Result<()> {
        let Some(folder) = self.folders.pop() else {
            return Ok(());
        };
        self.nodes.leave_folder(&folder)?;
        for name in &folder.deleted {
            let path = folder.path.child(name)?;
            self.nodes
                .node(&path, NodeKind::Unknown, RecordAction::Delete, None, None)?;
        }
        Ok(())
    }

    fn change(&mut self, path: &RelPath) -> Result<()> {
        while self
            .copies
            .last()
            .is_some_and(|(copy, _)| !path.starts_with(copy))
        {
            self.copies.pop();
        }
        // What was told with a folder above is gone from the list.
        let Some(mut change) = self.changes.get(path).cloned() else {
            return Ok(());
        };
        let adds = matches!(change.kind, ChangeKind::Add | ChangeKind::Replace);
        let deletes = matches!(change.kind, ChangeKind::Delete | ChangeKind::Replace);
        if deletes && self.was_allowed(path)? {
            self.delete(path)?;
        }
        if deletes && !adds {
            return Ok(());
        }
        if change.node_kind == NodeKind::Unknown {
            change.node_kind = self.root.kind(path)?;
        }
        if !matches!(change.node_kind, NodeKind::Dir | NodeKind::File) {
            return Err(Error::new(
                ErrorCode::FS_NOT_FOUND,
                format!(
                    "Filesystem path '{}' is neither a file nor a directory",
                    path.as_str()
                ),
            ));
        }
        if adds {
            self.add_changed(path, &change)
        } else {
            self.open_changed(path, &change)
        }
    }

    fn delete(&mut self, path: &RelPath) -> Result<()> {
        match self.folders.last_mut() {
            Some(parent) if !path.is_root() => {
                parent.deleted.insert(path.basename().to_owned());
                Ok(())
            }
            _ => Err(Error::new(
                ErrorCode::FS_ROOT_DIR,
                "The root directory cannot be deleted",
            )),
        }
    }

    /// Tells whether what is deleted was wanted where it was before.
    fn was_allowed(&self, path: &RelPath) -> Result<bool> {
        if self.filter.is_none() {
            return Ok(true);
        }
        let before = match self.copies.last() {
            Some((copy, Some((_, source)))) => source.join(path.strip_prefix(copy).unwrap_or(path)),
            _ => path.to_owned(),
        };
        Ok(self.allows(&before))
    }

    fn add_changed(&mut self, path: &RelPath, change: &Change) -> Result<()> {
        if path.is_root() {
            return Err(Error::new(
                ErrorCode::FS_ALREADY_EXISTS,
                "Root directory already exists.",
            ));
        }
        let source = change.copyfrom.clone();
        let copy = source.clone().filter(|(_, source)| self.allows(source));
        let is_dir = change.node_kind == NodeKind::Dir;
        match (&source, &copy) {
            (Some((revision, source)), None) if is_dir => {
                let root = self.root.fs().revision_root(*revision)?;
                self.add_tree(&root, source, path)?;
            }
            _ => self.add(path, change.node_kind, copy.clone())?,
        }
        if is_dir && (copy.is_some() || !self.copies.is_empty()) {
            self.copies.push((path.to_owned(), copy));
        }
        Ok(())
    }

    fn open_changed(&mut self, path: &RelPath, change: &Change) -> Result<()> {
        if change.node_kind == NodeKind::Dir {
            if path.is_root() {
                self.push_folder(RelPathBuf::root(), None, false);
            } else {
                self.open_folder(path);
            }
            if change.prop_mod {
                self.folder_props()?;
            }
            return Ok(());
        }
        let above = self.folders.last().and_then(|above| above.cmp.as_ref());
        let cmp = match above {
            Some((revision, above)) => Some((*revision, above.child(path.basename())?)),
            None => None,
        };
        self.nodes.node(
            path,
            NodeKind::File,
            RecordAction::Change,
            None,
            cmp.as_ref(),
        )
    }

    /// Tells that the properties of the current folder changed.
    fn folder_props(&mut self) -> Result<()> {
        let Some(folder) = self.folders.last_mut().filter(|folder| !folder.told) else {
            return Ok(());
        };
        folder.told = true;
        let (path, cmp) = (folder.path.clone(), folder.cmp.clone());
        self.nodes.node(
            &path,
            NodeKind::Dir,
            RecordAction::Change,
            None,
            cmp.as_ref(),
        )
    }

    /// Tells that there is something new in the current folder; goes into it, if it is a folder.
    fn add(&mut self, path: &RelPath, kind: NodeKind, copy: Option<Source>) -> Result<()> {
        let mut action = RecordAction::Add;
        if let Some(parent) = self.folders.last_mut() {
            if parent.deleted.remove(path.basename()) {
                action = RecordAction::Replace;
            } else {
                parent.has_new_names = true;
            }
        }
        self.nodes
            .node(path, kind, action, copy.as_ref(), copy.as_ref())?;
        if kind == NodeKind::Dir {
            self.push_folder(path.to_owned(), copy, true);
        }
        Ok(())
    }

    /// Tells a copy of what is not wanted as new, with all below it; the folder stays the current
    /// one.
    fn add_tree(&mut self, from: &Root, source: &RelPath, path: &RelPath) -> Result<()> {
        self.add(path, NodeKind::Dir, None)?;
        let entries = from.node(source)?.entries()?;
        let names = entries.entries().iter().map(|entry| entry.name.as_str());
        for at in apr_hash::order(names) {
            let entry = &entries.entries()[at];
            let child = path.child(&entry.name)?;
            let change = self.changes.remove(&child);
            let kind = change.as_ref().map(|change| change.kind);
            if kind == Some(ChangeKind::Delete) || !self.allows(&child) {
                continue;
            }
            let replaced = kind == Some(ChangeKind::Replace);
            let copy = change
                .filter(|_| replaced)
                .and_then(|change| change.copyfrom);
            if entry.kind == NodeKind::Dir {
                match copy {
                    Some((revision, source)) => {
                        let root = self.root.fs().revision_root(revision)?;
                        self.add_tree(&root, &source, &child)?;
                    }
                    None if replaced => self.add(&child, NodeKind::Dir, None)?,
                    None => self.add_tree(from, &source.child(&entry.name)?, &child)?,
                }
                self.leave()?;
            } else {
                self.add(&child, NodeKind::File, None)?;
            }
        }
        Ok(())
    }
}
