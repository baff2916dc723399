//! Checks the nodes of a revision or a transaction.

use std::collections::HashSet;
use std::sync::Arc;

use sylvan_core::{NodeKind, Props, Result, Revnum};
use sylvan_io::Cancel;

use crate::dir::Directory;
use crate::fs::FileSystem;
use crate::id::NodeRevId;
use crate::node_rev::NodeRev;
use crate::rep::RepReader;
use crate::text::corrupt;
use crate::txn::Txn;

impl FileSystem {
    /// Checks all nodes that changed in a revision, and reads their properties, the contents that
    /// are stored in it, and the list of changed paths.
    ///
    /// # Errors
    /// [`FS_CORRUPT`](sylvan_core::ErrorCode::FS_CORRUPT), and whatever reading them gives.
    pub fn verify_revision(&self, revision: Revnum, cancel: &Cancel) -> Result<()> {
        let root = self.node_rev(&self.root_id(revision)?)?;
        let nodes = Committed { fs: self, revision };
        let mut walk = Walk {
            nodes: &nodes,
            above: HashSet::new(),
            cancel,
        };
        walk.verify(&root)?;
        self.verify_root(&root, revision)?;
        self.changes(revision, |_| cancel.check())
    }

    fn verify_root(&self, root: &NodeRev, revision: Revnum) -> Result<()> {
        let expected = revision.previous();
        let Some(predecessor) = root.predecessor else {
            return match expected {
                None => Ok(()),
                Some(_) => Err(corrupt(format!(
                    "r{revision}'s root node's predecessor is unexpectedly '(null)'"
                ))),
            };
        };
        let Some(expected) = expected else {
            return Err(corrupt(format!(
                "r{revision}'s root node's predecessor is unexpectedly '{predecessor}'"
            )));
        };
        match predecessor.revision() {
            Some(found) if found == expected => Ok(()),
            found => {
                let found = found.map_or_else(|| "-1".to_owned(), |found| found.to_string());
                Err(corrupt(format!(
                    "r{revision}'s root node's predecessor is r{found} but should be r{expected}"
                )))
            }
        }
    }
}

impl Txn {
    /// Checks all nodes that changed in the transaction, and reads their contents and properties.
    ///
    /// # Errors
    /// As [`FileSystem::verify_revision`].
    pub fn verify(&self, cancel: &Cancel) -> Result<()> {
        let root = self.root_rev()?;
        let mut walk = Walk {
            nodes: self,
            above: HashSet::new(),
            cancel,
        };
        walk.verify(&root)?;
        let Some(predecessor) = root.predecessor else {
            return Err(corrupt(format!(
                "Transaction '{}''s root node's predecessor is unexpectedly NULL",
                self.id()
            )));
        };
        let (found, base) = (predecessor.revision(), self.base_revision());
        if found == Some(base) {
            return Ok(());
        }
        let found = found.map_or_else(|| "-1".to_owned(), |found| found.to_string());
        Err(corrupt(format!(
            "Transaction '{}''s root node's predecessor is r{found} but should be r{base}",
            self.id()
        )))
    }
}

/// Where nodes are read from.
trait Nodes {
    /// Tells whether a node is of the revision or transaction that is checked.
    fn is_new(&self, id: &NodeRevId) -> bool;
    fn rev(&self, id: &NodeRevId) -> Result<Arc<NodeRev>>;
    fn props(&self, rev: &NodeRev) -> Result<Arc<Props>>;
    fn entries(&self, rev: &NodeRev) -> Result<Arc<Directory>>;
    /// Opens a content, unless it is checked elsewhere.
    fn contents(&self, rev: &NodeRev) -> Result<Option<RepReader>>;
}

struct Committed<'f> {
    fs: &'f FileSystem,
    revision: Revnum,
}

impl Nodes for Committed<'_> {
    fn is_new(&self, id: &NodeRevId) -> bool {
        id.revision() == Some(self.revision)
    }

    fn rev(&self, id: &NodeRevId) -> Result<Arc<NodeRev>> {
        self.fs.node_rev(id)
    }

    fn props(&self, rev: &NodeRev) -> Result<Arc<Props>> {
        self.fs.node_props(rev)
    }

    fn entries(&self, rev: &NodeRev) -> Result<Arc<Directory>> {
        self.fs.directory(rev)
    }

    fn contents(&self, rev: &NodeRev) -> Result<Option<RepReader>> {
        let rep = rev.text.as_ref();
        let rep = rep.filter(|rep| rep.revision == Some(self.revision));
        rep.map(|rep| self.fs.reader(Some(rep))).transpose()
    }
}

impl Nodes for Txn {
    fn is_new(&self, id: &NodeRevId) -> bool {
        id.txn().is_some()
    }

    fn rev(&self, id: &NodeRevId) -> Result<Arc<NodeRev>> {
        self.rev_of(id)
    }

    fn props(&self, rev: &NodeRev) -> Result<Arc<Props>> {
        self.props_of(rev)
    }

    fn entries(&self, rev: &NodeRev) -> Result<Arc<Directory>> {
        self.entries_of(rev)
    }

    fn contents(&self, rev: &NodeRev) -> Result<Option<RepReader>> {
        self.contents_of(rev).map(Some)
    }
}

struct Walk<'a> {
    nodes: &'a dyn Nodes,
    /// Folders on the way, among which no node may be again.
    above: HashSet<NodeRevId>,
    cancel: &'a Cancel,
}

impl Walk<'_> {
    fn verify(&mut self, node: &Arc<NodeRev>) -> Result<()> {
        self.cancel.check()?;
        if self.above.contains(&node.id) {
            return Err(corrupt(format!(
                "Node is its own direct or indirect parent '{}'",
                named(node)
            )));
        }
        if let Some(predecessor) = &node.predecessor {
            let before = self.nodes.rev(predecessor)?;
            if before.predecessor_count.saturating_add(1) != node.predecessor_count {
                return Err(corrupt(format!(
                    "Predecessor count mismatch: {} has {}, but {} has {}",
                    named(node),
                    node.predecessor_count,
                    named(&before),
                    before.predecessor_count
                )));
            }
        }
        self.nodes.props(node)?;
        if node.kind == NodeKind::Dir {
            return self.verify_dir(node);
        }
        let has = i64::from(node.has_mergeinfo);
        if has != node.mergeinfo_count {
            return Err(corrupt(format!(
                "File node '{}' has inconsistent mergeinfo: has_mergeinfo={has}, \
                 mergeinfo_count={}",
                named(node),
                node.mergeinfo_count
            )));
        }
        let Some(mut reader) = self.nodes.contents(node)? else {
            return Ok(());
        };
        while reader.next_piece()?.is_some() {
            self.cancel.check()?;
        }
        Ok(())
    }

    fn verify_dir(&mut self, node: &Arc<NodeRev>) -> Result<()> {
        self.above.insert(node.id);
        let mut below = 0i64;
        for entry in self.nodes.entries(node)?.entries() {
            let child = self.nodes.rev(&entry.id)?;
            if child.id != entry.id {
                return Err(corrupt(format!(
                    "Node-revision '{}' has the ID '{}'",
                    entry.id, child.id
                )));
            }
            if child.kind != entry.kind {
                return Err(corrupt(format!("Directory entry corrupt in '{}'", node.id)));
            }
            if self.nodes.is_new(&entry.id) {
                self.verify(&child)?;
            }
            below = below.saturating_add(child.mergeinfo_count);
        }
        self.above.remove(&node.id);
        let has = i64::from(node.has_mergeinfo);
        if below.saturating_add(has) != node.mergeinfo_count {
            return Err(corrupt(format!(
                "Mergeinfo-count discrepancy on '{}': expected {}+{has}, counted {below}",
                named(node),
                node.mergeinfo_count
            )));
        }
        Ok(())
    }
}

/// Names a node as Subversion does.
fn named(node: &NodeRev) -> String {
    node.id.to_string()
}
