//! Changes a transaction's tree.

use std::collections::BTreeMap;
use std::sync::Arc;

use sylvan_core::path::raw;
use sylvan_core::{
    Error, ErrorCode, Md5, NodeKind, Props, RelPath, RelPathBuf, Result, Revnum, Sha1,
};

use super::rep::{RepWriter, is_mutable};
use super::{Key, Txn, TxnNode};
use crate::change::{Change, ChangeKind};
use crate::dir::{DirEntry, Directory};
use crate::error::{Where, not_directory, not_found};
use crate::id::{IdPart, NodeRevId, Place};
use crate::index::ItemKind;
use crate::node_rev::{CopyRoot, NodeRev, Representation};
use crate::rep::RepReader;
use crate::text::{corrupt, fspath};
use crate::tree::Root;

const MERGEINFO: &str = "svn:mergeinfo";

/// A node on the way to a path.
#[derive(Clone, Debug)]
pub(super) struct Step {
    name: String,
    path: RelPathBuf,
    rev: Arc<NodeRev>,
    inherit: Inherit,
}

/// Which copy ID a node gets when it is made mutable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inherit {
    /// It has the right one.
    Own,
    /// That of its parent.
    Parent,
    /// A new one: it was copied together with a folder above.
    New,
}

/// A path in a transaction: all nodes from the root on; the last may be missing.
pub(super) struct Steps {
    steps: Vec<Step>,
    /// The last component, if there is nothing of that name.
    missing: Option<String>,
}

impl Steps {
    fn node(&self) -> Option<&Step> {
        self.missing.is_none().then(|| self.steps.last()).flatten()
    }
}

/// Whether a path must exist.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Required,
    Optional,
}

impl Txn {
    const fn place(&self) -> Where {
        Where::Txn(self.id)
    }

    /// Reads a node-revision, of the transaction or committed.
    pub(super) fn node_rev(&self, id: &NodeRevId) -> Result<Arc<NodeRev>> {
        if is_mutable(id) {
            return Ok(Arc::new(self.txn_node(id)?.rev.clone()));
        }
        self.fs.node_rev(id)
    }

    pub(crate) fn root_rev(&self) -> Result<Arc<NodeRev>> {
        let node = self.nodes.get(&self.root);
        let node = node.ok_or_else(|| corrupt("Transaction without a root"))?;
        Ok(Arc::new(node.rev.clone()))
    }

    pub(super) fn directory(&self, rev: &NodeRev) -> Result<Arc<Directory>> {
        if is_mutable(&rev.id)
            && let Some(entries) = &self.txn_node(&rev.id)?.entries
        {
            return Ok(Arc::new(entries.clone()));
        }
        self.fs.directory(rev)
    }

    fn entry(&self, rev: &NodeRev, name: &str) -> Result<Option<DirEntry>> {
        if is_mutable(&rev.id)
            && let Some(entries) = &self.txn_node(&rev.id)?.entries
        {
            return Ok(entries.get(name).cloned());
        }
        Ok(self.fs.directory(rev)?.get(name).cloned())
    }

    pub(super) fn node_props(&self, rev: &NodeRev) -> Result<Arc<Props>> {
        if is_mutable(&rev.id)
            && let Some(props) = &self.txn_node(&rev.id)?.props
        {
            return Ok(Arc::new(props.clone()));
        }
        self.fs.node_props(rev)
    }

    fn lookup(&self, path: &RelPath) -> Result<Arc<NodeRev>> {
        let mut rev = self.root_rev()?;
        let mut so_far = RelPathBuf::root();
        for name in path.components() {
            if rev.kind != NodeKind::Dir {
                return Err(not_directory(self.fs.uuid(), self.place(), &so_far));
            }
            let entry = self.entry(&rev, name)?;
            let entry = entry.ok_or_else(|| not_found(self.place(), path))?;
            so_far = so_far.child(name)?;
            rev = self.node_rev(&entry.id)?;
        }
        Ok(rev)
    }

    /// Tells what is at a path.
    ///
    /// # Errors
    /// [`ErrorCode::FS_CORRUPT`].
    pub fn kind(&self, path: &RelPath) -> Result<NodeKind> {
        match self.lookup(path) {
            Ok(rev) => Ok(rev.kind),
            Err(error)
                if matches!(
                    error.code(),
                    ErrorCode::FS_NOT_FOUND | ErrorCode::FS_NOT_DIRECTORY
                ) =>
            {
                Ok(NodeKind::None)
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the node-revision at a path.
    ///
    /// # Errors
    /// [`ErrorCode::FS_NOT_FOUND`], [`ErrorCode::FS_NOT_DIRECTORY`].
    pub fn node(&self, path: &RelPath) -> Result<Arc<NodeRev>> {
        self.lookup(path)
    }

    /// Reads the entries of a folder.
    ///
    /// # Errors
    /// Those of [`Txn::node`].
    pub fn entries(&self, path: &RelPath) -> Result<Arc<Directory>> {
        let rev = self.lookup(path)?;
        self.entries_of(&rev)
    }

    /// Reads the properties of a node.
    ///
    /// # Errors
    /// Those of [`Txn::node`].
    pub fn node_props_at(&self, path: &RelPath) -> Result<Arc<Props>> {
        self.node_props(&*self.lookup(path)?)
    }

    /// Opens the content of a file.
    ///
    /// # Errors
    /// Those of [`Txn::node`]; [`ErrorCode::FS_NOT_FILE`].
    pub fn contents(&self, path: &RelPath) -> Result<RepReader> {
        let rev = self.lookup(path)?;
        if rev.kind != NodeKind::File {
            return Err(Error::new(
                ErrorCode::FS_NOT_FILE,
                format!("'{}' is not a file", fspath(path)),
            ));
        }
        self.reader_of(&rev)
    }

    /// Returns the changed paths, one change each: what was changed twice is said once, and what
    /// was added and deleted again is not said.
    ///
    /// # Errors
    /// [`ErrorCode::FS_CORRUPT`] if changes contradict each other.
    pub fn paths_changed(&self) -> Result<BTreeMap<RelPathBuf, Change>> {
        super::changes::fold(&self.changes)
    }

    pub(crate) fn rev_of(&self, id: &NodeRevId) -> Result<Arc<NodeRev>> {
        self.node_rev(id)
    }

    pub(crate) fn props_of(&self, rev: &NodeRev) -> Result<Arc<Props>> {
        self.node_props(rev)
    }

    pub(crate) fn entries_of(&self, rev: &NodeRev) -> Result<Arc<Directory>> {
        if rev.kind != NodeKind::Dir {
            return Err(Error::new(
                ErrorCode::FS_NOT_DIRECTORY,
                "Can't get entries of non-directory",
            ));
        }
        self.directory(rev)
    }

    pub(crate) fn contents_of(&self, rev: &NodeRev) -> Result<RepReader> {
        self.reader_of(rev)
    }

    /// Walks to a path and finds out which copy IDs its nodes would get.
    fn open_path(&self, path: &RelPath, last: Last) -> Result<Steps> {
        let mut steps = vec![Step {
            name: String::new(),
            path: RelPathBuf::root(),
            rev: self.root_rev()?,
            inherit: Inherit::Own,
        }];
        let mut names = path.components().peekable();
        while let Some(name) = names.next() {
            let above = &steps[steps.len() - 1];
            if above.rev.kind != NodeKind::Dir {
                return Err(not_directory(self.fs.uuid(), self.place(), &above.path));
            }
            let Some(entry) = self.entry(&above.rev, name)? else {
                if names.peek().is_none() && last == Last::Optional {
                    let missing = Some(name.to_owned());
                    return Ok(Steps { steps, missing });
                }
                return Err(not_found(self.place(), path));
            };
            let (rev, path) = (self.node_rev(&entry.id)?, above.path.child(name)?);
            let inherit = self.inheritance(&rev, &path, &above.rev)?;
            steps.push(Step {
                name: name.to_owned(),
                path,
                rev,
                inherit,
            });
        }
        Ok(Steps {
            steps,
            missing: None,
        })
    }

    fn inheritance(&self, rev: &NodeRev, path: &RelPath, parent: &NodeRev) -> Result<Inherit> {
        if is_mutable(&rev.id) {
            return Ok(Inherit::Own);
        }
        if rev.id.copy == IdPart::ROOT || rev.id.copy == parent.id.copy {
            return Ok(Inherit::Parent);
        }
        // A branch point that is reached by the path it was copied to stays on its branch.
        let copyroot = self.copyroot_of(rev)?;
        if !copyroot.is_related(&rev.id) {
            return Ok(Inherit::Parent);
        }
        Ok(if *rev.created_path == *path {
            Inherit::Own
        } else {
            Inherit::New
        })
    }

    /// Returns the ID of the node that a committed node was copied with.
    fn copyroot_of(&self, rev: &NodeRev) -> Result<NodeRevId> {
        let revision = rev.copyroot.revision.unwrap_or(Revnum::ZERO);
        let root = self.fs.revision_root(revision)?;
        Ok(*root.node(&rev.copyroot.path)?.id())
    }

    /// Makes the first `count` nodes of a path mutable, with all above them.
    fn make_mutable(&mut self, steps: &mut [Step]) -> Result<NodeRevId> {
        for at in 0..steps.len() {
            if is_mutable(&steps[at].rev.id) {
                continue;
            }
            // The root is always mutable.
            let parent = steps[at - 1].clone();
            let step = &steps[at];
            let copy = match step.inherit {
                Inherit::Parent => parent.rev.id.copy,
                Inherit::New => self.new_copy_id(),
                Inherit::Own => step.rev.id.copy,
            };
            let copyroot = self.copyroot_of(&step.rev)?;
            let mut rev = (*step.rev).clone();
            if copyroot.node != rev.id.node {
                rev.copyroot = self.txn_node(&parent.rev.id)?.rev.copyroot.clone();
            }
            rev.copyfrom = None;
            rev.predecessor = Some(rev.id);
            rev.predecessor_count += 1;
            rev.created_path = step.path.clone();
            rev.id = NodeRevId {
                node: rev.id.node,
                copy,
                place: Place::Txn(self.id),
            };
            let (id, kind, name) = (rev.id, rev.kind, step.name.clone());
            self.insert(rev.clone());
            self.set_entry(&parent.rev.id, &name, Some((id, kind)))?;
            steps[at].rev = Arc::new(rev);
        }
        Ok(steps[steps.len() - 1].rev.id)
    }

    fn insert(&mut self, rev: NodeRev) {
        let node = TxnNode {
            rev,
            entries: None,
            props: None,
        };
        self.nodes.insert(Key::from(&node.rev.id), node);
    }

    /// Sets or removes an entry of a mutable folder.
    pub(super) fn set_entry(
        &mut self,
        parent: &NodeRevId,
        name: &str,
        entry: Option<(NodeRevId, NodeKind)>,
    ) -> Result<()> {
        if self.txn_node(parent)?.entries.is_none() {
            let entries = self.fs.directory(&self.txn_node(parent)?.rev)?;
            // Subversion takes a number here too, and forgets it.
            self.new_uniquifier();
            let node = self.txn_node_mut(parent)?;
            node.entries = Some((*entries).clone());
            node.rev.text = Some(Representation::MUTABLE);
        }
        let node = self.txn_node_mut(parent)?;
        node.rev.fresh_txn_root = false;
        if let Some(entries) = &mut node.entries {
            match entry {
                Some((id, kind)) => entries.set(DirEntry {
                    name: name.to_owned(),
                    kind,
                    id,
                }),
                None => drop(entries.remove(name)),
            }
        }
        Ok(())
    }

    fn add_change(
        &mut self,
        path: &RelPath,
        id: NodeRevId,
        node_kind: NodeKind,
        kind: ChangeKind,
    ) -> &mut Change {
        self.changes.push(Change {
            path: path.to_owned(),
            kind,
            node_kind,
            id: Some(id),
            text_mod: false,
            prop_mod: false,
            mergeinfo_mod: Some(false),
            copyfrom: None,
        });
        let last = self.changes.len() - 1;
        &mut self.changes[last]
    }

    fn ensure_free(&self, steps: &Steps, path: &RelPath) -> Result<String> {
        check_name(path)?;
        steps.missing.clone().ok_or_else(|| {
            let (fs, path) = (self.fs.uuid(), fspath(path));
            Error::new(
                ErrorCode::FS_ALREADY_EXISTS,
                format!(
                    "File already exists: filesystem '{fs}', transaction '{}', path '{path}'",
                    self.id
                ),
            )
        })
    }

    /// Makes an empty folder.
    ///
    /// # Errors
    /// [`ErrorCode::FS_ALREADY_EXISTS`], and those of [`Txn::node`] for the folder above.
    pub fn make_dir(&mut self, path: &RelPath) -> Result<()> {
        self.make_entry(path, NodeKind::Dir)
    }

    /// Makes an empty file.
    ///
    /// # Errors
    /// As [`Txn::make_dir`].
    pub fn make_file(&mut self, path: &RelPath) -> Result<()> {
        self.make_entry(path, NodeKind::File)
    }

    fn make_entry(&mut self, path: &RelPath, kind: NodeKind) -> Result<()> {
        let mut steps = self.open_path(path, Last::Optional)?;
        let name = self.ensure_free(&steps, path)?;
        let parent = self.make_mutable(&mut steps.steps)?;
        let above = self.txn_node(&parent)?.rev.clone();
        let id = NodeRevId {
            node: self.new_node_id(),
            copy: parent.copy,
            place: Place::Txn(self.id),
        };
        self.insert(NodeRev {
            id,
            kind,
            predecessor: None,
            predecessor_count: 0,
            text: None,
            props: None,
            created_path: path.to_owned(),
            copyfrom: None,
            copyroot: above.copyroot,
            fresh_txn_root: false,
            mergeinfo_count: 0,
            has_mergeinfo: false,
        });
        self.set_entry(&parent, &name, Some((id, kind)))?;
        self.add_change(path, id, kind, ChangeKind::Add).text_mod = kind == NodeKind::File;
        Ok(())
    }

    /// Removes a file or folder.
    ///
    /// # Errors
    /// Those of [`Txn::node`]; [`ErrorCode::FS_ROOT_DIR`].
    pub fn delete(&mut self, path: &RelPath) -> Result<()> {
        let mut steps = self.open_path(path, Last::Required)?.steps;
        let Some(last) = steps.pop().filter(|_| !steps.is_empty()) else {
            return Err(Error::new(
                ErrorCode::FS_ROOT_DIR,
                "The root directory cannot be deleted",
            ));
        };
        let parent = self.make_mutable(&mut steps)?;
        let (id, kind, count) = (last.rev.id, last.rev.kind, last.rev.mergeinfo_count);
        self.forget(&id)?;
        self.set_entry(&parent, &last.name, None)?;
        self.count_mergeinfo(&steps, -count)?;
        self.add_change(path, id, kind, ChangeKind::Delete);
        Ok(())
    }

    /// Drops a node that is mutable, with all such below it.
    fn forget(&mut self, id: &NodeRevId) -> Result<()> {
        if !is_mutable(id) {
            return Ok(());
        }
        let node = self.nodes.remove(&Key::from(id));
        let entries = node.and_then(|node| node.entries).unwrap_or_default();
        entries
            .entries()
            .iter()
            .try_for_each(|entry| self.forget(&entry.id))
    }

    fn count_mergeinfo(&mut self, steps: &[Step], change: i64) -> Result<()> {
        if change == 0 || !self.fs.format().number.has_mergeinfo() {
            return Ok(());
        }
        for step in steps {
            self.change_mergeinfo_count(&step.rev.id, change)?;
        }
        Ok(())
    }

    pub(super) fn change_mergeinfo_count(&mut self, id: &NodeRevId, change: i64) -> Result<()> {
        let node = self.txn_node_mut(id)?;
        node.rev.fresh_txn_root = false;
        node.rev.mergeinfo_count = node.rev.mergeinfo_count.saturating_add(change);
        let count = node.rev.mergeinfo_count;
        if count < 0 {
            return Err(corrupt(format!(
                "Can't increment mergeinfo count on node-revision {id} to negative value {count}"
            )));
        }
        if count > 1 && node.rev.kind == NodeKind::File {
            return Err(corrupt(format!(
                "Can't increment mergeinfo count on *file* node-revision {id} to {count} (> 1)"
            )));
        }
        Ok(())
    }

    /// Copies what is at a path of a revision to `to`, where it replaces what is there.
    ///
    /// # Errors
    /// Those of [`Root::node`] and [`Txn::node`].
    pub fn copy(&mut self, from: &Root, from_path: &RelPath, to: &RelPath) -> Result<()> {
        self.copy_or_link(from, from_path, to, true)
    }

    /// As [`Txn::copy`], but the node is the same and no copy: what is there is brought to the
    /// state it has in another revision.
    ///
    /// # Errors
    /// As [`Txn::copy`].
    pub fn revision_link(&mut self, from: &Root, path: &RelPath) -> Result<()> {
        self.copy_or_link(from, path, path, false)
    }

    fn copy_or_link(
        &mut self,
        from: &Root,
        from_path: &RelPath,
        to: &RelPath,
        history: bool,
    ) -> Result<()> {
        check_name(to)?;
        let source = from.node(from_path)?;
        let mut opened = self.open_path(to, Last::Optional)?;
        if opened
            .node()
            .is_some_and(|step| step.rev.id == *source.id())
        {
            return Ok(());
        }
        let (name, before) = match opened.missing.take() {
            Some(name) => (name, None),
            None => match opened.steps.pop().filter(|_| !opened.steps.is_empty()) {
                Some(last) => (last.name.clone(), Some(last)),
                None => {
                    return Err(Error::new(
                        ErrorCode::FS_ROOT_DIR,
                        "The root directory cannot be deleted",
                    ));
                }
            },
        };
        let mut steps = opened.steps;
        let parent = self.make_mutable(&mut steps)?;
        let mut rev = source.node_rev().clone();
        let (kind, count) = (rev.kind, rev.mergeinfo_count);
        let source_path = (from.revision(), from_path.to_owned());
        let id = if history {
            rev.predecessor = Some(rev.id);
            rev.predecessor_count += 1;
            rev.created_path = self.txn_node(&parent)?.rev.created_path.child(&name)?;
            rev.copyfrom = Some(source_path.clone());
            rev.copyroot = CopyRoot {
                revision: None,
                path: rev.created_path.clone(),
            };
            rev.id = NodeRevId {
                node: rev.id.node,
                copy: self.new_copy_id(),
                place: Place::Txn(self.id),
            };
            let id = rev.id;
            self.insert(rev);
            id
        } else {
            *source.id()
        };
        self.set_entry(&parent, &name, Some((id, kind)))?;
        let had = before.as_ref().map_or(0, |step| step.rev.mergeinfo_count);
        self.count_mergeinfo(&steps, count - had)?;
        if history {
            let action = if before.is_some() {
                ChangeKind::Replace
            } else {
                ChangeKind::Add
            };
            self.add_change(to, id, kind, action).copyfrom = Some(source_path);
        }
        Ok(())
    }

    /// Sets or removes a property of a node.
    ///
    /// # Errors
    /// Those of [`Txn::node`].
    pub fn set_node_prop(
        &mut self,
        path: &RelPath,
        name: &str,
        value: Option<Vec<u8>>,
    ) -> Result<()> {
        let mut steps = self.open_path(path, Last::Required)?.steps;
        let id = self.make_mutable(&mut steps)?;
        let rev = self.node_rev(&id)?;
        let mut props = (*self.node_props(&rev)?).clone();
        let is_mergeinfo = name == MERGEINFO && self.fs.format().number.has_mergeinfo();
        if is_mergeinfo && value.is_some() != rev.has_mergeinfo {
            self.count_mergeinfo(&steps, if value.is_some() { 1 } else { -1 })?;
            self.txn_node_mut(&id)?.rev.has_mergeinfo = value.is_some();
        }
        match value {
            Some(value) => drop(props.insert(name.to_owned(), value)),
            None => drop(props.remove(name)),
        }
        if self.txn_node(&id)?.props.is_none() {
            self.new_uniquifier();
            self.txn_node_mut(&id)?.rev.props = Some(Representation::MUTABLE);
        }
        let node = self.txn_node_mut(&id)?;
        node.rev.fresh_txn_root = false;
        node.props = Some(props);
        let change = self.add_change(path, id, rev.kind, ChangeKind::Modify);
        (change.prop_mod, change.mergeinfo_mod) = (true, Some(is_mergeinfo));
        Ok(())
    }

    /// Begins a new content for a file.
    ///
    /// # Errors
    /// Those of [`Txn::node`]; [`ErrorCode::FS_NOT_FILE`].
    pub fn begin_text(&mut self, path: &RelPath) -> Result<TextWriter<'_>> {
        let text = self.open_text(path)?;
        Ok(TextWriter {
            txn: self,
            text: Some(text),
        })
    }

    /// As [`Txn::begin_text`], for callers that do other things in between; no other content may
    /// be begun before this one is closed or given up.
    ///
    /// # Errors
    /// As [`Txn::begin_text`].
    pub fn open_text(&mut self, path: &RelPath) -> Result<OpenText> {
        let mut steps = self.open_path(path, Last::Required)?.steps;
        let id = self.make_mutable(&mut steps)?;
        let rev = self.txn_node(&id)?.rev.clone();
        if rev.kind != NodeKind::File {
            return Err(Error::new(
                ErrorCode::FS_NOT_FILE,
                "Attempted to set textual contents of a *non*-file node",
            ));
        }
        Ok(OpenText {
            id,
            path: path.to_owned(),
            writer: self.begin_rep(&rev, ItemKind::FileRep, true)?,
        })
    }

    /// Appends to a content.
    ///
    /// # Errors
    /// If it cannot be written, or the base of the delta cannot be read.
    pub fn push_text(&mut self, text: &mut OpenText, piece: &[u8]) -> Result<()> {
        text.writer.push(self, piece)
    }

    /// Ends a content, checks it against a digest, and returns its digests.
    ///
    /// # Errors
    /// [`ErrorCode::CHECKSUM_MISMATCH`]; the file is as it was then.
    pub fn close_text(
        &mut self,
        mut text: OpenText,
        expected: Option<Md5>,
    ) -> Result<(Md5, Option<Sha1>)> {
        let done = self.finish_text(&mut text, expected);
        if done.is_err() {
            self.proto.cancel_item()?;
        }
        done
    }

    /// Gives up a content; the file is as it was.
    ///
    /// # Errors
    /// If what was written cannot be cut off.
    pub fn cancel_text(&mut self, text: OpenText) -> Result<()> {
        drop(text);
        self.proto.cancel_item()
    }

    fn finish_text(
        &mut self,
        text: &mut OpenText,
        expected: Option<Md5>,
    ) -> Result<(Md5, Option<Sha1>)> {
        let mut rep = text.writer.finish_data(self)?;
        if let Some(expected) = expected.filter(|expected| *expected != rep.md5) {
            let what = format!("Checksum mismatch for '{}'", fspath(&text.path));
            return Err(crate::error::checksum_mismatch(&what, expected, rep.md5));
        }
        rep.uniquifier = self.new_uniquifier();
        let start = self.proto.item_start();
        let shared = self.shared_rep(&rep, start, None)?;
        if let Some(shared) = shared {
            self.proto.cancel_item()?;
            rep = Representation {
                uniquifier: rep.uniquifier,
                ..shared
            };
        } else {
            text.writer.close(self, &mut rep, start);
            if let Some(sha1) = rep.sha1.filter(|_| self.fs.conf().rep_sharing) {
                self.proto.by_sha1.insert(sha1, rep);
            }
        }
        let node = self.txn_node_mut(&text.id)?;
        node.rev.text = Some(rep);
        self.add_change(&text.path, text.id, NodeKind::File, ChangeKind::Modify)
            .text_mod = true;
        Ok((rep.md5, rep.sha1))
    }
}

/// The content of a file that is being written.
pub struct OpenText {
    id: NodeRevId,
    path: RelPathBuf,
    writer: RepWriter,
}

impl std::fmt::Debug for OpenText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("OpenText").field(&self.path).finish()
    }
}

/// Writes the content of a file. Dropping it without [`TextWriter::finish`] leaves the file as it
/// was.
pub struct TextWriter<'t> {
    txn: &'t mut Txn,
    text: Option<OpenText>,
}

impl TextWriter<'_> {
    /// Appends to the content.
    ///
    /// # Errors
    /// As [`Txn::push_text`].
    pub fn push(&mut self, piece: &[u8]) -> Result<()> {
        match &mut self.text {
            Some(text) => self.txn.push_text(text, piece),
            None => Ok(()),
        }
    }

    /// Ends the content, checks it against a digest, and returns its digests.
    ///
    /// # Errors
    /// As [`Txn::close_text`].
    pub fn finish(mut self, expected: Option<Md5>) -> Result<(Md5, Option<Sha1>)> {
        match self.text.take() {
            Some(text) => self.txn.close_text(text, expected),
            None => Err(corrupt("Content was ended before")),
        }
    }
}

impl Drop for TextWriter<'_> {
    fn drop(&mut self) {
        if let Some(text) = self.text.take() {
            // What cannot be cut off now is found when the transaction goes on.
            let _ = self.txn.cancel_text(text);
        }
    }
}

/// Refuses names that no program could show or store.
fn check_name(path: &RelPath) -> Result<()> {
    if !raw::is_utf8(path.as_str()) {
        return Err(Error::new(
            ErrorCode::FS_PATH_SYNTAX,
            format!("Path '{}' is not in UTF-8", raw::shown(path.as_str())),
        ));
    }
    let bad = path.as_str().chars().find(|c| *c == '\n');
    bad.map_or(Ok(()), |c| {
        Err(Error::new(
            ErrorCode::FS_PATH_SYNTAX,
            format!(
                "Invalid control character '0x{:02x}' in path '{}'",
                u32::from(c),
                fspath(path).escape_debug()
            ),
        ))
    })
}
