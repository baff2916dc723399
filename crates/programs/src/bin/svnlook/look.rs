//! The repository and what in it is looked at.

use std::cell::OnceCell;

use sylvan_cmdline::print::Output;
use sylvan_core::{Error, ErrorCode, NodeKind, Props, RelPath, RelPathBuf, Result, Revnum};
use sylvan_fs::id::TxnId;
use sylvan_fs::{Cache, FileSystem, Root, Tree, TreeNode, Txn, TxnView};
use sylvan_io::Cancel;
use sylvan_repos::Repos;

use crate::invocation::Invocation;

/// Properties of transactions that say how to commit.
const HIDDEN_PROPS: [&str; 3] = ["svn:check-ood", "svn:check-locks", "svn:client-date"];

/// What a subcommand works with.
pub(crate) struct Env {
    /// Where everything is printed.
    pub(crate) out: Output,
    /// Set by signals.
    pub(crate) cancel: Cancel,
}

/// An open repository, and the revision or transaction that is looked at.
pub(crate) struct Look {
    repos: Repos,
    at: At,
}

/// What is looked at.
enum At {
    Revision(Revnum, OnceCell<Root>),
    Txn(Box<TxnView>),
}

/// What is looked at, by name.
pub(crate) enum Name {
    Revision(Revnum),
    Txn(TxnId),
}

impl Look {
    pub(crate) fn open(inv: &Invocation) -> Result<Self> {
        let mut options = sylvan_fs::Options::default();
        if let Some(bytes) = inv.options.memory_cache_size {
            options.cache = Cache::new(usize::try_from(bytes).unwrap_or(usize::MAX));
        }
        let repos = Repos::open_with(inv.repository.as_path(), options)?;
        let at = match (&inv.options.transaction, inv.options.revision) {
            (Some(name), _) => At::Txn(Box::new(Txn::view(repos.fs(), TxnId::parse(name)?)?)),
            (None, Some(revision)) => At::Revision(revision, OnceCell::new()),
            (None, None) => At::Revision(repos.fs().youngest()?, OnceCell::new()),
        };
        Ok(Self { repos, at })
    }

    pub(crate) fn fs(&self) -> &FileSystem {
        self.repos.fs()
    }

    pub(crate) fn name(&self) -> Name {
        match &self.at {
            At::Revision(revision, _) => Name::Revision(*revision),
            At::Txn(txn) => Name::Txn(txn.id()),
        }
    }

    /// Returns the tree.
    pub(crate) fn tree(&self) -> Result<Tree<'_>> {
        match &self.at {
            At::Txn(txn) => Ok(Tree::Txn(txn)),
            At::Revision(revision, root) => {
                if let Some(root) = root.get() {
                    return Ok(Tree::Revision(root));
                }
                let opened = self.fs().revision_root(*revision)?;
                Ok(Tree::Revision(root.get_or_init(|| opened)))
            }
        }
    }

    /// Returns the revision the tree is based on; the first revision is based on none.
    pub(crate) fn base(&self) -> Option<Revnum> {
        match &self.at {
            At::Txn(txn) => Some(txn.base_revision()),
            At::Revision(revision, _) => Revnum::new(revision.number() - 1),
        }
    }

    /// Reads the properties of the revision or transaction.
    pub(crate) fn revprops(&self) -> Result<Props> {
        match &self.at {
            At::Revision(revision, _) => self.fs().revprops(*revision),
            At::Txn(txn) => {
                let mut props = txn.props().clone();
                props.retain(|name, _| !HIDDEN_PROPS.contains(&name.as_str()));
                Ok(props)
            }
        }
    }

    /// Returns what is at a path, which must be there; `shown` is how errors name it.
    pub(crate) fn node(&self, path: &str, shown: &str) -> Result<TreeNode<'_>> {
        let tree = self.tree()?;
        let found = match path_in_repository(path) {
            Some(path) => tree.find(&path)?,
            None => None,
        };
        found.ok_or_else(|| {
            let text = format!("Path '{shown}' does not exist");
            Error::new(ErrorCode::FS_NOT_FOUND, text)
        })
    }

    /// Returns the file at a path.
    pub(crate) fn file(&self, path: &str) -> Result<TreeNode<'_>> {
        let node = self.node(path, path)?;
        if node.kind() == NodeKind::File {
            return Ok(node);
        }
        let text = format!("Path '{path}' is not a file");
        Err(Error::new(ErrorCode::FS_NOT_FILE, text))
    }
}

/// Takes a path in the repository, with or without a slash before it; `None` for what none can be.
pub(crate) fn path_in_repository(path: &str) -> Option<RelPathBuf> {
    let path = path.strip_prefix('/').unwrap_or(path);
    RelPath::new(path).ok().map(RelPath::to_owned)
}
