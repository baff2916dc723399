//! Checks the nodes of a revision.

use std::collections::HashSet;
use std::sync::Arc;

use sylvan_core::{NodeKind, Result, Revnum};
use sylvan_io::Cancel;

use crate::fs::FileSystem;
use crate::id::NodeRevId;
use crate::node_rev::NodeRev;
use crate::text::corrupt;

impl FileSystem {
    /// Checks all nodes that changed in a revision, and reads their contents and properties and the
    /// list of changed paths.
    ///
    /// # Errors
    /// [`FS_CORRUPT`](sylvan_core::ErrorCode::FS_CORRUPT), and whatever reading them gives.
    pub fn verify_revision(&self, revision: Revnum, cancel: &Cancel) -> Result<()> {
        let root = self.node_rev(&self.root_id(revision)?)?;
        let mut walk = Walk {
            fs: self,
            revision,
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

struct Walk<'a> {
    fs: &'a FileSystem,
    revision: Revnum,
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
            let before = self.fs.node_rev(predecessor)?;
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
        self.fs.node_props(node)?;
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
        let mut reader = self.fs.reader(node.text.as_ref())?;
        while reader.next_piece()?.is_some() {
            self.cancel.check()?;
        }
        Ok(())
    }

    fn verify_dir(&mut self, node: &Arc<NodeRev>) -> Result<()> {
        self.above.insert(node.id);
        let mut below = 0i64;
        for entry in self.fs.directory(node)?.entries() {
            let child = self.fs.node_rev(&entry.id)?;
            if child.kind != entry.kind {
                return Err(corrupt(format!("Directory entry corrupt in '{}'", node.id)));
            }
            if entry.id.revision() == Some(self.revision) {
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
