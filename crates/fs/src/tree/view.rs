//! One view of trees that are committed and of those that are not yet.

use std::collections::BTreeMap;
use std::sync::Arc;

use sylvan_core::{
    Error, ErrorCode, Md5, NodeKind, Props, RelPath, RelPathBuf, Result, Revnum, Sha1,
};

use super::{Node, Root, Strictness};
use crate::change::Change;
use crate::dir::Directory;
use crate::fs::FileSystem;
use crate::id::{NodeRelation, NodeRevId};
use crate::node_rev::{NodeRev, Representation};
use crate::rep::RepReader;
use crate::text::fspath;
use crate::txn::Txn;

/// A tree that can be read: that of a revision, or of a transaction.
///
/// ```no_run
/// # use sylvan_core::RelPath;
/// # fn f(fs: &sylvan_fs::FileSystem, txn: &sylvan_fs::Txn) -> sylvan_core::Result<()> {
/// use sylvan_fs::Tree;
/// let root = fs.revision_root(txn.base_revision())?;
/// for tree in [Tree::from(&root), Tree::from(txn)] {
///     println!("{:?}", tree.kind(RelPath::new("trunk")?)?);
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Tree<'a> {
    /// Of a revision.
    Revision(&'a Root),
    /// Of a transaction.
    Txn(&'a Txn),
}

impl<'a> From<&'a Root> for Tree<'a> {
    fn from(root: &'a Root) -> Self {
        Self::Revision(root)
    }
}

impl<'a> From<&'a Txn> for Tree<'a> {
    fn from(txn: &'a Txn) -> Self {
        Self::Txn(txn)
    }
}

impl<'a> Tree<'a> {
    /// Returns the file system.
    pub const fn fs(&self) -> &'a FileSystem {
        match self {
            Self::Revision(root) => root.fs(),
            Self::Txn(txn) => txn.fs(),
        }
    }

    /// Returns the revision; `None` for a transaction.
    pub const fn revision(&self) -> Option<Revnum> {
        match self {
            Self::Revision(root) => Some(root.revision()),
            Self::Txn(_) => None,
        }
    }

    /// Returns the revision, or that which the transaction is based on.
    pub const fn base_revision(&self) -> Revnum {
        match self {
            Self::Revision(root) => root.revision(),
            Self::Txn(txn) => txn.base_revision(),
        }
    }

    /// Returns what is at a path.
    ///
    /// # Errors
    /// [`ErrorCode::FS_NOT_FOUND`]; [`ErrorCode::FS_NOT_DIRECTORY`] if a file is on the way.
    pub fn node(&self, path: &RelPath) -> Result<TreeNode<'a>> {
        Ok(match self {
            Self::Revision(root) => self.wrap(root.node(path)?),
            Self::Txn(txn) => TreeNode {
                tree: *self,
                path: path.to_owned(),
                rev: txn.node(path)?,
            },
        })
    }

    /// Returns what is at a path, `None` if there is nothing.
    ///
    /// # Errors
    /// [`ErrorCode::FS_CORRUPT`].
    pub fn find(&self, path: &RelPath) -> Result<Option<TreeNode<'a>>> {
        match self.node(path) {
            Ok(node) => Ok(Some(node)),
            Err(error)
                if matches!(
                    error.code(),
                    ErrorCode::FS_NOT_FOUND | ErrorCode::FS_NOT_DIRECTORY
                ) =>
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

    /// Reads the properties of the revision, or those it will have.
    ///
    /// # Errors
    /// Those of [`FileSystem::revprops`].
    pub fn revprops(&self) -> Result<Props> {
        match self {
            Self::Revision(root) => root.fs().revprops(root.revision()),
            Self::Txn(txn) => Ok(txn.props().clone()),
        }
    }

    /// Returns the changed paths, one change each.
    ///
    /// # Errors
    /// Those of [`FileSystem::changes`]; [`ErrorCode::FS_CORRUPT`] if changes of a transaction
    /// contradict each other.
    pub fn paths_changed(&self) -> Result<BTreeMap<RelPathBuf, Change>> {
        match self {
            Self::Txn(txn) => txn.paths_changed(),
            Self::Revision(root) => {
                let mut changes = BTreeMap::new();
                root.fs().changes(root.revision(), |change| {
                    changes.insert(change.path.clone(), change);
                    Ok(())
                })?;
                Ok(changes)
            }
        }
    }

    fn wrap(&self, node: Node) -> TreeNode<'a> {
        TreeNode {
            tree: *self,
            path: node.path,
            rev: node.rev,
        }
    }
}

/// A file or folder in a [`Tree`].
#[derive(Clone, Debug)]
pub struct TreeNode<'a> {
    tree: Tree<'a>,
    path: RelPathBuf,
    rev: Arc<NodeRev>,
}

impl<'a> TreeNode<'a> {
    /// Returns the tree it is in.
    pub const fn tree(&self) -> Tree<'a> {
        self.tree
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

    /// Returns the revision it changed in last; `None` if it changed in the transaction.
    pub fn created_revision(&self) -> Option<Revnum> {
        self.rev.id.revision()
    }

    /// Returns the path it changed under last.
    pub fn created_path(&self) -> &RelPath {
        &self.rev.created_path
    }

    /// Returns the source, if it is the very destination of a copy.
    pub fn copied_from(&self) -> Option<(Revnum, &RelPath)> {
        let copyfrom = self.rev.copyfrom.as_ref();
        copyfrom.map(|(revision, path)| (*revision, &**path))
    }

    /// Returns the node-revision that it was made of.
    pub fn predecessor(&self) -> Option<&NodeRevId> {
        self.rev.predecessor.as_ref()
    }

    /// Tells how it is related to another node, of the same or another tree of one file system.
    pub fn relation(&self, other: &TreeNode<'_>) -> NodeRelation {
        self.id().relation(other.id())
    }

    /// Reads the properties.
    ///
    /// # Errors
    /// Those of [`FileSystem::node_props`].
    pub fn props(&self) -> Result<Arc<Props>> {
        match self.tree {
            Tree::Revision(root) => root.fs().node_props(&self.rev),
            Tree::Txn(txn) => txn.props_of(&self.rev),
        }
    }

    /// Reads the entries of a folder.
    ///
    /// # Errors
    /// [`ErrorCode::FS_NOT_DIRECTORY`], [`ErrorCode::FS_CORRUPT`].
    pub fn entries(&self) -> Result<Arc<Directory>> {
        match self.tree {
            Tree::Revision(_) => self.committed().entries(),
            Tree::Txn(txn) => txn.entries_of(&self.rev),
        }
    }

    /// Opens an entry of a folder; `None` if there is none of that name.
    ///
    /// # Errors
    /// Those of [`TreeNode::entries`].
    pub fn child(&self, name: &str) -> Result<Option<Self>> {
        let entries = self.entries()?;
        let Some(entry) = entries.get(name) else {
            return Ok(None);
        };
        Ok(Some(Self {
            tree: self.tree,
            path: self.path.child(name)?,
            rev: match self.tree {
                Tree::Revision(root) => root.fs().node_rev(&entry.id)?,
                Tree::Txn(txn) => txn.rev_of(&entry.id)?,
            },
        }))
    }

    /// Opens the content of a file.
    ///
    /// # Errors
    /// [`ErrorCode::FS_NOT_FILE`], [`ErrorCode::FS_CORRUPT`].
    pub fn contents(&self) -> Result<RepReader> {
        match self.tree {
            Tree::Revision(_) => self.committed().contents(),
            Tree::Txn(txn) => {
                self.committed().ensure_file()?;
                txn.contents_of(&self.rev)
            }
        }
    }

    /// Returns the length of a file.
    ///
    /// # Errors
    /// [`ErrorCode::FS_NOT_FILE`].
    pub fn len(&self) -> Result<u64> {
        self.committed().len()
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
        self.committed().md5()
    }

    /// Returns the SHA-1 digest of a file's content, if it is stored.
    pub fn sha1(&self) -> Option<Sha1> {
        self.committed().sha1()
    }

    /// Tells whether the properties differ from those of another node.
    ///
    /// # Errors
    /// Those of [`TreeNode::props`], if they must be compared.
    pub fn props_differ(&self, other: &TreeNode<'_>, strictness: Strictness) -> Result<bool> {
        let (a, b) = (self.rev.props.as_ref(), other.rev.props.as_ref());
        if !is_mutable(a) && !is_mutable(b) {
            return self
                .committed()
                .props_differ(&other.committed(), strictness);
        }
        match strictness {
            Strictness::Quick => Ok(self.id() != other.id()),
            Strictness::Strict => Ok(self.props()? != other.props()?),
        }
    }

    /// Tells whether the content differs from that of another file.
    ///
    /// # Errors
    /// [`ErrorCode::FS_NOT_FILE`]; those of [`TreeNode::contents`], if they must be compared.
    pub fn contents_differ(&self, other: &TreeNode<'_>, strictness: Strictness) -> Result<bool> {
        let non_file = self.path_of_non_file().or(other.path_of_non_file());
        if let Some(path) = non_file {
            let text = format!("'{}' is not a file", fspath(path));
            return Err(Error::new(ErrorCode::FS_NOT_FILE, text));
        }
        let (a, b) = (self.rev.text.as_ref(), other.rev.text.as_ref());
        if !is_mutable(a) && !is_mutable(b) {
            return self
                .committed()
                .contents_differ(&other.committed(), strictness);
        }
        let len = |rep: Option<&Representation>| rep.map_or(0, |rep| rep.expanded_size);
        if self.id() == other.id() {
            return Ok(false);
        }
        if strictness == Strictness::Quick || len(a) != len(b) {
            return Ok(true);
        }
        match (a, b) {
            (Some(a), Some(b)) if a.md5 != b.md5 => Ok(true),
            _ => Ok(!self.contents()?.is_equal(&mut other.contents()?)?),
        }
    }

    fn path_of_non_file(&self) -> Option<&RelPath> {
        (self.kind() != NodeKind::File).then_some(&*self.path)
    }

    /// As a node of a revision: for what needs no more than the node-revision.
    fn committed(&self) -> Node {
        Node::new(self.tree.fs().clone(), self.path.clone(), self.rev.clone())
    }
}

fn is_mutable(rep: Option<&Representation>) -> bool {
    rep.is_some_and(Representation::is_in_txn)
}
