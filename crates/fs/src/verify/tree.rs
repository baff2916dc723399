//! Checks the nodes of a revision or a transaction.

use std::collections::HashSet;
use std::sync::Arc;

use sylvan_core::{NodeKind, Props, Result, Revnum};
use sylvan_io::Cancel;

use crate::cache::{Key, Kind};
use crate::dir::{DirEntry, Directory};
use crate::fs::FileSystem;
use crate::id::{NodeRevId, Place};
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

    /// Returns what [`Nodes::put_checked`] noted of a folder.
    fn checked(&self, _: &NodeRevId) -> Option<i64> {
        None
    }

    /// Notes that all entries of a folder are right, and how many nodes below have mergeinfo.
    fn put_checked(&self, _: &NodeRevId, _: i64) {}
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

    fn checked(&self, id: &NodeRevId) -> Option<i64> {
        self.fs.cache().checked(&self.key(id)?)
    }

    fn put_checked(&self, id: &NodeRevId, below: i64) {
        if let Some(key) = self.key(id) {
            self.fs.cache().put_checked(key, &below, 0);
        }
    }
}

impl Committed<'_> {
    fn key(&self, id: &NodeRevId) -> Option<Key> {
        match id.place {
            Place::Revision(revision, item) => Some(self.fs.key(Kind::Checked, revision, item)),
            Place::Txn(_) => None,
        }
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
        let before = match &node.predecessor {
            Some(predecessor) => Some(self.nodes.rev(predecessor)?),
            None => None,
        };
        if let Some(before) = &before
            && before.predecessor_count.saturating_add(1) != node.predecessor_count
        {
            return Err(corrupt(format!(
                "Predecessor count mismatch: {} has {}, but {} has {}",
                named(node),
                node.predecessor_count,
                named(before),
                before.predecessor_count
            )));
        }
        self.nodes.props(node)?;
        if node.kind == NodeKind::Dir {
            return self.verify_dir(node, before.as_deref());
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

    fn verify_dir(&mut self, node: &Arc<NodeRev>, before: Option<&NodeRev>) -> Result<()> {
        self.above.insert(node.id);
        let entries = self.nodes.entries(node)?;
        let below = self.verify_entries(node, entries.entries(), before)?;
        self.above.remove(&node.id);
        let has = i64::from(node.has_mergeinfo);
        if below.saturating_add(has) != node.mergeinfo_count {
            return Err(corrupt(format!(
                "Mergeinfo-count discrepancy on '{}': expected {}+{has}, counted {below}",
                named(node),
                node.mergeinfo_count
            )));
        }
        self.nodes.put_checked(&node.id, below);
        Ok(())
    }

    /// Checks what is in a folder, but for what is as it was in the version before, if that was
    /// checked. Returns how many nodes have mergeinfo.
    fn verify_entries(
        &mut self,
        node: &NodeRev,
        entries: &[DirEntry],
        before: Option<&NodeRev>,
    ) -> Result<i64> {
        let known = before.and_then(|before| Some((before, self.nodes.checked(&before.id)?)));
        let (old, mut below) = match known {
            Some((before, below)) => (Some(self.nodes.entries(before)?), below),
            None => (None, 0),
        };
        let mut old = old.iter().flat_map(|old| old.entries()).peekable();
        for entry in entries {
            // What is gone or changed does not count any more.
            while let Some(gone) = old.next_if(|old| old.name < entry.name) {
                below = below.saturating_sub(self.nodes.rev(&gone.id)?.mergeinfo_count);
            }
            if let Some(same) = old.next_if(|old| old.name == entry.name) {
                if same == entry && !self.nodes.is_new(&entry.id) {
                    continue;
                }
                below = below.saturating_sub(self.nodes.rev(&same.id)?.mergeinfo_count);
            }
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
        for gone in old {
            below = below.saturating_sub(self.nodes.rev(&gone.id)?.mergeinfo_count);
        }
        Ok(below)
    }
}

/// Names a node as Subversion does.
fn named(node: &NodeRev) -> String {
    node.id.to_string()
}
