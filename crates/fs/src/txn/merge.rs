//! Merges what others committed into a transaction.
//!
//! All three are folders: the *ancestor* that the transaction is based on, the *source* that others
//! made of it, and the *target* that the transaction made of it. Entries that only one side changed
//! are taken from that side; folders that both changed are merged in turn; all else conflicts.

use std::sync::Arc;

use sylvan_core::{Error, ErrorCode, NodeKind, RelPath, Result, Revnum};

use super::Txn;
use super::rep::is_mutable;
use crate::dir::{DirEntry, Directory};
use crate::id::NodeRevId;
use crate::node_rev::{NodeRev, Representation};
use crate::text::fspath;

impl Txn {
    /// Merges all that was committed up to a revision.
    pub(super) fn merge_up_to(&mut self, youngest: Revnum) -> Result<()> {
        if youngest == self.base {
            return Ok(());
        }
        let target = self.root_rev()?;
        let Some(ancestor) = target.predecessor else {
            return Ok(());
        };
        let ancestor = self.fs.node_rev(&ancestor)?;
        let source = self.fs.node_rev(&self.fs.root_id(youngest)?)?;
        self.merge(RelPath::ROOT, &target, &source, &ancestor)?;
        self.base = youngest;
        Ok(())
    }

    /// Returns by how much the target's count of mergeinfo grew.
    fn merge(
        &mut self,
        path: &RelPath,
        target: &NodeRev,
        source: &NodeRev,
        ancestor: &NodeRev,
    ) -> Result<i64> {
        if ancestor.id == source.id || source.id == target.id {
            return Ok(0);
        }
        if [target, source, ancestor]
            .iter()
            .any(|node| node.kind != NodeKind::Dir)
        {
            return Err(conflict(path));
        }
        self.check_props(path, target, source, ancestor)?;
        let theirs = self.fs.directory(source)?;
        let base = self.fs.directory(ancestor)?;
        let ours = self.directory(target)?;
        let mut grown = 0;
        for entry in base.entries() {
            let (their, our) = (theirs.get(&entry.name), ours.get(&entry.name));
            grown += self.merge_entry(path, &target.id, entry, their, our)?;
        }
        for entry in theirs.entries() {
            if base.get(&entry.name).is_some() {
                continue;
            }
            if ours.get(&entry.name).is_some() {
                return Err(conflict(&path.child(&entry.name)?));
            }
            grown += self.fs.node_rev(&entry.id)?.mergeinfo_count;
            self.set_entry(&target.id, &entry.name, Some((entry.id, entry.kind)))?;
        }
        let node = self.txn_node_mut(&target.id)?;
        node.rev.fresh_txn_root = false;
        node.rev.predecessor = Some(source.id);
        node.rev.predecessor_count = source.predecessor_count.saturating_add(1);
        if self.fs.format().number.has_mergeinfo() && grown != 0 {
            self.change_mergeinfo_count(&target.id, grown)?;
        }
        Ok(grown)
    }

    /// Merges what became of one entry of the ancestor.
    fn merge_entry(
        &mut self,
        path: &RelPath,
        target: &NodeRevId,
        base: &DirEntry,
        their: Option<&DirEntry>,
        our: Option<&DirEntry>,
    ) -> Result<i64> {
        if their.is_some_and(|their| their.id == base.id) {
            return Ok(0);
        }
        if let Some(our) = our.filter(|our| our.id == base.id) {
            let mut grown = -self.fs.node_rev(&our.id)?.mergeinfo_count;
            if let Some(their) = their {
                grown += self.fs.node_rev(&their.id)?.mergeinfo_count;
            }
            let entry = their.map(|their| (their.id, their.kind));
            self.set_entry(target, &base.name, entry)?;
            return Ok(grown);
        }
        let below = path.child(&base.name)?;
        let (Some(their), Some(our)) = (their, our) else {
            return Err(conflict(&below));
        };
        let dirs = [base, their, our]
            .iter()
            .all(|entry| entry.kind == NodeKind::Dir);
        let same = |id: &NodeRevId| (id.node, id.copy) == (base.id.node, base.id.copy);
        if !dirs || !same(&their.id) || !same(&our.id) {
            return Err(conflict(&below));
        }
        let target = self.node_rev(&our.id)?;
        let source = self.fs.node_rev(&their.id)?;
        let ancestor = self.fs.node_rev(&base.id)?;
        self.merge(&below, &target, &source, &ancestor)
    }

    /// Properties of a folder may be changed only if nothing else of it changed meanwhile but the
    /// content of its entries.
    fn check_props(
        &self,
        path: &RelPath,
        target: &NodeRev,
        source: &NodeRev,
        ancestor: &NodeRev,
    ) -> Result<()> {
        if !self.same_props(source, ancestor)? {
            return Err(conflict(path));
        }
        if self.same_props(target, ancestor)? {
            return Ok(());
        }
        let (a, b): (Arc<Directory>, Arc<Directory>) =
            (self.fs.directory(source)?, self.fs.directory(ancestor)?);
        let same = |(a, b): (&DirEntry, &DirEntry)| {
            a.name == b.name && (a.id.node, a.id.copy) == (b.id.node, b.id.copy)
        };
        let unchanged =
            a.entries().len() == b.entries().len() && a.entries().iter().zip(b.entries()).all(same);
        if unchanged {
            Ok(())
        } else {
            Err(conflict(path))
        }
    }

    fn same_props(&self, a: &NodeRev, b: &NodeRev) -> Result<bool> {
        let mutable = |node: &NodeRev| node.props.as_ref().is_some_and(Representation::is_in_txn);
        if !mutable(a) && !mutable(b) {
            match (&a.props, &b.props) {
                (None, None) => return Ok(true),
                (Some(a), Some(b)) => {
                    if (a.revision, a.item_index) == (b.revision, b.item_index) {
                        return Ok(true);
                    }
                    if a.md5 != b.md5 {
                        return Ok(false);
                    }
                }
                _ => {}
            }
        }
        debug_assert!(!is_mutable(&b.id), "only the target is of the transaction");
        Ok(self.node_props(a)? == self.node_props(b)?)
    }
}

fn conflict(path: &RelPath) -> Error {
    Error::new(
        ErrorCode::FS_CONFLICT,
        format!("Conflict at '{}'", fspath(path)),
    )
}
