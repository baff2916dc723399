//! Trees: paths in a revision or a transaction.

mod compare;
mod history;
mod mergeinfo;
mod view;

use std::sync::Arc;

use sylvan_core::{
    Error, ErrorCode, Md5, NodeKind, Props, RelPath, RelPathBuf, Result, Revnum, Sha1,
};

use crate::dir::{DirEntry, Directory};
use crate::error::{Where, not_directory, not_found};
use crate::fs::FileSystem;
use crate::id::{NodeRelation, NodeRevId};
use crate::node_rev::NodeRev;
use crate::rep::RepReader;
use crate::text::fspath;

pub use compare::Strictness;
pub use history::{History, Location};
pub use mergeinfo::MergeinfoInheritance;
pub use view::{Tree, TreeNode};

/// The tree of a revision.
#[derive(Clone, Debug)]
pub struct Root {
    fs: FileSystem,
    revision: Revnum,
    id: NodeRevId,
}

/// A file or folder in a tree.
#[derive(Clone, Debug)]
pub struct Node {
    fs: FileSystem,
    path: RelPathBuf,
    rev: Arc<NodeRev>,
}

/// A node and those above it, the root first.
#[derive(Clone, Debug)]
pub(crate) struct NodePath {
    pub(crate) nodes: Vec<Node>,
}

impl FileSystem {
    /// Opens the tree of a revision.
    ///
    /// # Errors
    /// [`ErrorCode::FS_NO_SUCH_REVISION`], [`ErrorCode::FS_CORRUPT`].
    pub fn revision_root(&self, revision: Revnum) -> Result<Root> {
        Ok(Root {
            id: self.root_id(revision)?,
            fs: self.clone(),
            revision,
        })
    }
}

impl Root {
    /// Returns the revision.
    pub const fn revision(&self) -> Revnum {
        self.revision
    }

    /// Returns the file system.
    pub const fn fs(&self) -> &FileSystem {
        &self.fs
    }

    const fn place(&self) -> Where {
        Where::Revision(self.revision)
    }

    /// Returns the root folder.
    ///
    /// # Errors
    /// [`ErrorCode::FS_CORRUPT`].
    pub fn root_node(&self) -> Result<Node> {
        Ok(Node {
            fs: self.fs.clone(),
            path: RelPathBuf::root(),
            rev: self.fs.node_rev(&self.id)?,
        })
    }

    /// Returns what is at a path.
    ///
    /// # Errors
    /// [`ErrorCode::FS_NOT_FOUND`]; [`ErrorCode::FS_NOT_DIRECTORY`] if a file is on the way.
    pub fn node(&self, path: &RelPath) -> Result<Node> {
        let mut rev = self.fs.node_rev(&self.id)?;
        for (depth, name) in path.components().enumerate() {
            if rev.kind != NodeKind::Dir {
                let names: Vec<&str> = path.components().take(depth).collect();
                let above = RelPathBuf::new(names.join("/"))?;
                return Err(not_directory(self.fs.uuid(), self.place(), &above));
            }
            let entries = self.fs.directory(&rev)?;
            let entry = entries.get(name);
            let entry = entry.ok_or_else(|| not_found(self.place(), path))?;
            rev = self.fs.node_rev(&entry.id)?;
        }
        Ok(Node::new(self.fs.clone(), path.to_owned(), rev))
    }

    /// Returns what is at a path, `None` if there is nothing.
    ///
    /// # Errors
    /// [`ErrorCode::FS_CORRUPT`].
    pub fn find(&self, path: &RelPath) -> Result<Option<Node>> {
        match self.node(path) {
            Ok(node) => Ok(Some(node)),
            Err(error)
                if error.code() == ErrorCode::FS_NOT_FOUND
                    || error.code() == ErrorCode::FS_NOT_DIRECTORY =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Tells what is at a path.
    ///
    /// # Errors
    /// [`ErrorCode::FS_CORRUPT`].
    pub fn kind(&self, path: &RelPath) -> Result<NodeKind> {
        Ok(self.find(path)?.map_or(NodeKind::None, |node| node.kind()))
    }

    /// Returns what is at a path and all that is above it.
    pub(crate) fn node_path(&self, path: &RelPath) -> Result<NodePath> {
        let mut nodes = vec![self.root_node()?];
        for name in path.components() {
            let next = self.step(&nodes[nodes.len() - 1], name, path)?;
            nodes.push(next);
        }
        Ok(NodePath { nodes })
    }

    fn step(&self, from: &Node, name: &str, whole: &RelPath) -> Result<Node> {
        if from.kind() != NodeKind::Dir {
            return Err(not_directory(self.fs.uuid(), self.place(), &from.path));
        }
        from.child(name)?
            .ok_or_else(|| not_found(self.place(), whole))
    }

    /// Tells how two nodes are related. Both roots must be of one file system.
    ///
    /// # Errors
    /// Those of [`Root::node`].
    pub fn relation(
        &self,
        path: &RelPath,
        other: &Self,
        other_path: &RelPath,
    ) -> Result<NodeRelation> {
        if path.is_root() && other_path.is_root() {
            return Ok(if self.revision == other.revision {
                NodeRelation::Unchanged
            } else {
                NodeRelation::CommonAncestor
            });
        }
        let (a, b) = (self.node(path)?, other.node(other_path)?);
        Ok(a.id().relation(b.id()))
    }
}

impl Node {
    pub(crate) const fn new(fs: FileSystem, path: RelPathBuf, rev: Arc<NodeRev>) -> Self {
        Self { fs, path, rev }
    }

    /// Returns the path it was looked up by.
    pub fn path(&self) -> &RelPath {
        &self.path
    }

    /// Returns its ID.
    pub fn id(&self) -> &NodeRevId {
        &self.rev.id
    }

    /// Returns the node-revision.
    pub fn node_rev(&self) -> &NodeRev {
        &self.rev
    }

    /// Tells whether it is a file or a folder.
    pub fn kind(&self) -> NodeKind {
        self.rev.kind
    }

    /// Returns the revision it changed in last.
    pub fn created_revision(&self) -> Option<Revnum> {
        self.rev.id.revision()
    }

    /// Returns the path it changed under last.
    pub fn created_path(&self) -> &RelPath {
        &self.rev.created_path
    }

    /// Opens the node-revision that it was made of, under the path that it had.
    ///
    /// # Errors
    /// Those of [`FileSystem::node_rev`].
    pub fn predecessor(&self) -> Result<Option<Self>> {
        let Some(id) = &self.rev.predecessor else {
            return Ok(None);
        };
        let rev = self.fs.node_rev(id)?;
        let path = rev.created_path.clone();
        Ok(Some(Self::new(self.fs.clone(), path, rev)))
    }

    /// Returns the source, if it is the very destination of a copy.
    pub fn copied_from(&self) -> Option<(Revnum, &RelPath)> {
        let copyfrom = self.rev.copyfrom.as_ref();
        copyfrom.map(|(revision, path)| (*revision, &**path))
    }

    /// Tells whether it has `svn:mergeinfo`.
    pub fn has_mergeinfo(&self) -> bool {
        self.rev.has_mergeinfo
    }

    /// Tells whether something below it has `svn:mergeinfo`.
    pub fn has_descendants_with_mergeinfo(&self) -> bool {
        self.rev.kind == NodeKind::Dir
            && self.rev.mergeinfo_count > i64::from(self.rev.has_mergeinfo)
    }

    /// Reads the properties.
    ///
    /// # Errors
    /// Those of [`FileSystem::node_props`].
    pub fn props(&self) -> Result<Arc<Props>> {
        self.fs.node_props(&self.rev)
    }

    /// Tells whether there are properties, without reading them.
    pub fn has_props(&self) -> bool {
        // Four bytes are the end of an empty list.
        self.rev.props.is_some_and(|rep| rep.expanded_size > 4)
    }

    /// Reads the entries of a folder.
    ///
    /// # Errors
    /// [`ErrorCode::FS_NOT_DIRECTORY`], [`ErrorCode::FS_CORRUPT`].
    pub fn entries(&self) -> Result<Arc<Directory>> {
        if self.kind() != NodeKind::Dir {
            return Err(Error::new(
                ErrorCode::FS_NOT_DIRECTORY,
                "Can't get entries of non-directory",
            ));
        }
        self.fs.directory(&self.rev)
    }

    /// Opens an entry of a folder; `None` if there is none of that name.
    ///
    /// # Errors
    /// Those of [`Node::entries`].
    pub fn child(&self, name: &str) -> Result<Option<Self>> {
        let entries = self.entries()?;
        let Some(entry) = entries.get(name) else {
            return Ok(None);
        };
        Ok(Some(Self {
            fs: self.fs.clone(),
            path: self.path.child(name)?,
            rev: self.fs.node_rev(&entry.id)?,
        }))
    }

    /// Opens an entry that was found in this folder.
    ///
    /// # Errors
    /// [`ErrorCode::FS_CORRUPT`].
    pub fn open_entry(&self, entry: &DirEntry) -> Result<Self> {
        Ok(Self {
            fs: self.fs.clone(),
            path: self.path.child(&entry.name)?,
            rev: self.fs.node_rev(&entry.id)?,
        })
    }

    fn ensure_file(&self) -> Result<()> {
        if self.kind() == NodeKind::File {
            return Ok(());
        }
        Err(Error::new(
            ErrorCode::FS_NOT_FILE,
            format!(
                "Attempted to get textual contents of a *non*-file node '{}'",
                fspath(&self.path)
            ),
        ))
    }

    /// Opens the content of a file.
    ///
    /// # Errors
    /// [`ErrorCode::FS_NOT_FILE`], [`ErrorCode::FS_CORRUPT`].
    pub fn contents(&self) -> Result<RepReader> {
        self.ensure_file()?;
        self.fs.reader(self.rev.text.as_ref())
    }

    /// Returns the length of a file.
    ///
    /// # Errors
    /// [`ErrorCode::FS_NOT_FILE`].
    pub fn len(&self) -> Result<u64> {
        self.ensure_file()?;
        Ok(self.rev.text.map_or(0, |rep| rep.expanded_size))
    }

    /// Tells whether a file is empty.
    ///
    /// # Errors
    /// [`ErrorCode::FS_NOT_FILE`].
    pub fn is_empty(&self) -> Result<bool> {
        self.len().map(|len| len == 0)
    }

    /// Returns the MD5 digest of a file's content, if it is stored.
    pub fn md5(&self) -> Option<Md5> {
        match &self.rev.text {
            None => Some(Md5::EMPTY),
            Some(rep) => Some(rep.md5).filter(|md5| md5.0 != [0; 16]),
        }
    }

    /// Returns the SHA-1 digest of a file's content, if it is stored.
    pub fn sha1(&self) -> Option<Sha1> {
        match &self.rev.text {
            None => Some(Sha1::EMPTY),
            Some(rep) => rep.sha1,
        }
    }
}

impl NodePath {
    /// The node itself.
    pub(crate) fn last(&self) -> &Node {
        // There is the root at least.
        &self.nodes[self.nodes.len() - 1]
    }

    /// The youngest copy on the way; of two in one revision, the lower.
    pub(crate) fn youngest_copyroot(&self) -> (Revnum, RelPathBuf) {
        let mut youngest = (Revnum::ZERO, RelPathBuf::root());
        for node in &self.nodes {
            let root = &node.rev.copyroot;
            let revision = root.revision.unwrap_or(Revnum::ZERO);
            if revision >= youngest.0 {
                youngest = (revision, root.path.clone());
            }
        }
        youngest
    }
}
