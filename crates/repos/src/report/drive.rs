//! Drives an editor from what was reported to what is wanted.
//!
//! The folders that are open are a stack of frames, not of calls: a tree may be deeper than a
//! thread's stack.

use std::collections::HashSet;
use std::sync::Arc;

use sylvan_core::{Depth, Error, ErrorCode, NodeKind, RelPath, RelPathBuf, Result, Revnum, props};
use sylvan_delta::{CopyFrom, Editor, Token};
use sylvan_fs::dir::Directory;
use sylvan_fs::id::{NodeRelation, NodeRevId};
use sylvan_fs::tree::Strictness;
use sylvan_fs::{FileSystem, Node, Root};
use sylvan_io::Cancel;

use super::ReportOptions;
use super::store::{Item, Items};
use crate::Repos;
use crate::access::ReadAccess;
use crate::send::{Opened, Sender, md5_of};

/// What is at a path, as a folder's listing tells it.
#[derive(Clone, Copy, Debug)]
struct Found {
    kind: NodeKind,
    id: NodeRevId,
}

/// A path in a revision, and what is there.
#[derive(Clone, Debug)]
struct Source {
    path: RelPathBuf,
    rev: Revnum,
    found: Option<Found>,
}

/// How deep the client's working copy is, and how deep it is to become.
#[derive(Clone, Copy, Debug)]
struct Depths {
    have: Depth,
    want: Option<Depth>,
}

impl Depths {
    const fn below(self) -> Self {
        const fn below(depth: Depth) -> Depth {
            match depth {
                Depth::Immediates => Depth::Empty,
                other => other,
            }
        }
        Self {
            have: below(self.have),
            want: match self.want {
                Some(want) => Some(below(want)),
                None => None,
            },
        }
    }

    /// Tells whether the working copy becomes deeper, so that it has no child of this kind yet but
    /// gets it.
    fn is_upgrade(self, kind: NodeKind) -> bool {
        let Some(want) = self.want else {
            return false;
        };
        want > self.have
            && self.have != Depth::Immediates
            && !(kind == NodeKind::File && self.have == Depth::Files)
            && !(kind == NodeKind::Dir && self.have == Depth::Empty && want == Depth::Files)
    }

    /// Tells whether a child that was not reported is out of the working copy's depth.
    fn leaves_out(self, kind: NodeKind) -> bool {
        match kind {
            NodeKind::Dir => self.have < Depth::Immediates || self.want == Some(Depth::Files),
            _ => self.want.is_none() && self.have < Depth::Files,
        }
    }

    /// Tells whether a child that is gone may be in the working copy.
    fn may_have(self, kind: NodeKind) -> bool {
        match kind {
            NodeKind::Dir => self.have >= Depth::Immediates && self.want != Some(Depth::Files),
            NodeKind::File => self.have >= Depth::Files,
            _ => true,
        }
    }
}

/// What is done with an open folder next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Reported,
    Deleted,
    /// The entry of the target with this position in [`Frame::order`].
    Target(usize),
}

/// A folder whose entries are compared.
struct Frame {
    token: Token,
    /// Below the anchor.
    path: RelPathBuf,
    source: Option<(RelPathBuf, Revnum)>,
    /// `None` if there is nothing to compare with.
    theirs: Option<Arc<Directory>>,
    target: Node,
    ours: Arc<Directory>,
    order: Vec<u32>,
    depths: Depths,
    /// Names that were dealt with, of either side.
    theirs_done: HashSet<String>,
    ours_done: HashSet<String>,
    phase: Phase,
}

/// An entry that is to be compared.
struct Entry {
    /// Below the anchor.
    path: RelPathBuf,
    parent: Token,
    source: Option<Source>,
    target: RelPathBuf,
    target_found: Option<Found>,
    /// The node, if it was opened.
    target_node: Option<Node>,
    info: Option<Item>,
    depths: Depths,
}

pub(super) struct Drive<'a> {
    repos: &'a Repos,
    fs: &'a FileSystem,
    options: ReportOptions,
    items: Items,
    next: Option<Item>,
    root: Root,
    sender: Sender<'a>,
    access: ReadAccess<'a>,
    cancel: &'a Cancel,
    frames: Vec<Frame>,
}

impl<'a> Drive<'a> {
    /// Drives up to the root's `close_directory`.
    pub(super) fn run(
        repos: &'a Repos,
        options: ReportOptions,
        mut items: Items,
        editor: &'a mut dyn Editor,
        access: ReadAccess<'a>,
        cancel: &'a Cancel,
    ) -> Result<()> {
        let fs = repos.fs();
        let target = RelPathBuf::new(options.target.clone())?;
        let top = items.next()?.filter(|top| *top.path == *target);
        let Some((top, rev)) = top.and_then(|top| {
            let rev = top.rev.filter(|_| top.link.is_none())?;
            Some((top, rev))
        }) else {
            return Err(bad_report("Invalid report for top level of working copy"));
        };
        let (mut info, mut next) = (top, items.next()?);
        if next.as_ref().is_some_and(|next| *next.path == *target) {
            if target.is_root() {
                return Err(bad_report("Two top-level reports with no target"));
            }
            // The first only says what the anchor has: the target is switched, or missing.
            let depth = info.depth;
            if let Some(second) = next.take() {
                info = second;
            }
            if info.rev.is_none() {
                info.depth = depth;
            }
            next = items.next()?;
        }
        let mut drive = Self {
            repos,
            fs,
            items,
            next,
            root: fs.revision_root(options.rev)?,
            sender: Sender::new(fs, editor, options.texts),
            options,
            access,
            cancel,
            frames: Vec::new(),
        };
        drive.whole(rev, target, info)
    }

    fn whole(&mut self, rev: Revnum, operand: RelPathBuf, info: Item) -> Result<()> {
        let base = self.options.base.join(&operand);
        let wanted = self.options.switch.clone().unwrap_or_else(|| base.clone());
        let anchor = if operand.is_root() {
            wanted.clone()
        } else {
            wanted.parent().unwrap_or(RelPath::ROOT).to_owned()
        };
        if !self.may_read(&anchor)? {
            return Err(Error::new(
                ErrorCode::AUTHZ_ROOT_UNREADABLE,
                "Not authorized to open root of edit operation",
            ));
        }
        let theirs = found(&self.fs.revision_root(rev)?, &base)?;
        let ours = found(&self.root, &wanted)?;
        let is_dir = |found: Option<Found>| found.is_some_and(|found| found.kind == NodeKind::Dir);
        if operand.is_root() {
            if ours.is_none() {
                return Err(Error::new(
                    ErrorCode::FS_PATH_SYNTAX,
                    format!("Target path '/{wanted}' does not exist"),
                ));
            }
            if !is_dir(theirs) || !is_dir(ours) {
                return Err(Error::new(
                    ErrorCode::FS_PATH_SYNTAX,
                    "Cannot replace a directory from within",
                ));
            }
        }
        self.sender.editor.set_target_revision(self.options.rev)?;
        let token = self.sender.token()?;
        self.sender.editor.open_root(Some(rev), token)?;
        let depths = Depths {
            have: info.depth,
            want: self.options.depth,
        };
        // A target that is only in the working copy is not in the source; that is no mistake.
        let is_set_path = info.rev.is_some() && info.link.is_none();
        let source = (theirs.is_some() || !is_set_path).then_some(Source {
            path: base,
            rev,
            found: theirs,
        });
        if operand.is_root() {
            let source = source.map(|source| (source.path, source.rev));
            let node = self.root.node(&wanted)?;
            let frame = self.open_frame(token, operand, source, node, depths, info.start_empty)?;
            self.frames.push(frame);
        } else {
            let entry = Entry {
                path: operand,
                parent: token,
                source,
                target: wanted,
                target_found: ours,
                target_node: None,
                info: Some(info),
                depths,
            };
            let frame = self.entry(entry)?;
            self.frames.extend(frame);
        }
        while let Some(frame) = self.frames.pop() {
            self.step(frame)?;
        }
        if !self.options.target.is_empty() {
            self.sender.editor.close_directory(token)?;
        }
        Ok(())
    }

    /// Does the next thing in a folder.
    fn step(&mut self, mut frame: Frame) -> Result<()> {
        self.cancel.check()?;
        let child = match frame.phase {
            Phase::Reported => match self.take_reported(&frame.path)? {
                Some((name, info)) => self.reported(&mut frame, name, info)?,
                None => {
                    frame.phase = Phase::Deleted;
                    None
                }
            },
            Phase::Deleted => {
                self.deleted(&frame)?;
                frame.phase = Phase::Target(0);
                None
            }
            Phase::Target(at) => {
                let Some(index) = frame.order.get(at) else {
                    return self.sender.editor.close_directory(frame.token);
                };
                let index = *index as usize;
                frame.phase = Phase::Target(at + 1);
                self.target(&frame, index)?
            }
        };
        self.frames.push(frame);
        self.frames.extend(child);
        Ok(())
    }

    fn may_read(&self, path: &RelPath) -> Result<bool> {
        self.access.may_read(self.options.rev, path)
    }

    /// Takes what was reported next of a child of a folder: its name, and what was said of itself;
    /// `None` there if something was said of what is below it.
    fn take_reported(&mut self, folder: &RelPath) -> Result<Option<(String, Option<Item>)>> {
        let Some(next) = &self.next else {
            return Ok(None);
        };
        let Some(below) = next
            .path
            .strip_prefix(folder)
            .filter(|below| !below.is_root())
        else {
            return Ok(None);
        };
        let name = below.components().next().unwrap_or_default().to_owned();
        if name.len() < below.as_str().len() {
            return Ok(Some((name, None)));
        }
        let next = self.items.next()?;
        Ok(Some((name, std::mem::replace(&mut self.next, next))))
    }

    fn is_reported_below(&self, path: &RelPath) -> bool {
        let next = self.next.as_ref();
        next.is_some_and(|next| next.path.starts_with(path) && *next.path != *path)
    }

    /// Passes over what was reported below a path that is not gone into.
    fn skip_reported(&mut self, path: &RelPath) -> Result<()> {
        while self.is_reported_below(path) {
            self.next = self.items.next()?;
        }
        Ok(())
    }

    fn open_frame(
        &mut self,
        token: Token,
        path: RelPathBuf,
        source: Option<(RelPathBuf, Revnum)>,
        node: Node,
        depths: Depths,
        start_empty: bool,
    ) -> Result<Frame> {
        let theirs = match source.as_ref().filter(|_| !start_empty) {
            Some((path, rev)) => Some(self.fs.revision_root(*rev)?.node(path)?),
            None => None,
        };
        self.props(Opened::Dir(token), theirs.as_ref(), &node, None)?;
        let goes_on = depths.want.is_none_or(|want| want > Depth::Empty);
        let (ours, theirs) = if goes_on {
            let theirs = theirs.map(|theirs| theirs.entries()).transpose()?;
            (node.entries()?, theirs)
        } else {
            self.skip_reported(&path)?;
            (Arc::default(), None)
        };
        Ok(Frame {
            token,
            path,
            source,
            theirs,
            target: node,
            order: self.order(&ours),
            ours,
            depths,
            theirs_done: HashSet::new(),
            ours_done: HashSet::new(),
            phase: if goes_on {
                Phase::Reported
            } else {
                Phase::Target(0)
            },
        })
    }

    /// The order in which Subversion sends entries: as they stand on the disk, nearly.
    fn order(&self, entries: &Directory) -> Vec<u32> {
        let entries = entries.entries();
        let mut order: Vec<u32> = (0..u32::try_from(entries.len()).unwrap_or(u32::MAX)).collect();
        if !self.fs.format().is_logical() {
            order.sort_by_key(|at| match entries[*at as usize].id.place {
                sylvan_fs::id::Place::Revision(revision, item) => {
                    (std::cmp::Reverse(revision), item)
                }
                sylvan_fs::id::Place::Txn(_) => (std::cmp::Reverse(Revnum::ZERO), 0),
            });
        }
        order
    }

    /// Compares a child of which something was reported.
    fn reported(
        &mut self,
        frame: &mut Frame,
        name: String,
        info: Option<Item>,
    ) -> Result<Option<Frame>> {
        let excluded = info
            .as_ref()
            .is_some_and(|info| info.depth == Depth::Exclude);
        if info.as_ref().is_some_and(|info| info.rev.is_none()) && !excluded {
            // It is added again below, after what is deleted: names may differ in case only.
            frame.theirs_done.insert(name);
            return Ok(None);
        }
        let ours = frame.ours(&name);
        let theirs = frame.theirs(&name);
        let is_dir = |found: Option<Found>| found.is_some_and(|found| found.kind == NodeKind::Dir);
        let out_of_depth =
            frame.depths.want == Some(Depth::Files) && (is_dir(ours) || is_dir(theirs));
        let mut child = None;
        if !out_of_depth && !excluded {
            let source = match &frame.source {
                Some((path, rev)) => Some(Source {
                    path: path.child(&name)?,
                    rev: *rev,
                    found: theirs,
                }),
                None => None,
            };
            let mut depths = frame.depths.below();
            if let Some(info) = &info {
                depths.have = info.depth;
            }
            child = self.entry(Entry {
                path: frame.path.child(&name)?,
                parent: frame.token,
                source,
                target: frame.target.path().child(&name)?,
                target_found: ours,
                target_node: None,
                info,
                depths,
            })?;
        } else {
            self.skip_reported(&frame.path.child(&name)?)?;
        }
        // What is excluded and gone is deleted below.
        if !excluded || ours.is_some() {
            frame.theirs_done.insert(name.clone());
        }
        frame.ours_done.insert(name);
        Ok(child)
    }

    /// Deletes what is gone.
    fn deleted(&mut self, frame: &Frame) -> Result<()> {
        let (Some(theirs), Some((_, rev))) = (&frame.theirs, &frame.source) else {
            return Ok(());
        };
        for entry in theirs.entries() {
            let is_done = frame.theirs_done.contains(&entry.name);
            if is_done || frame.ours(&entry.name).is_some() || !frame.depths.may_have(entry.kind) {
                continue;
            }
            let target = frame.target.path().child(&entry.name)?;
            let deleted = self.deleted_rev(&target, *rev)?;
            let path = frame.path.child(&entry.name)?;
            self.sender
                .editor
                .delete_entry(&path, deleted, frame.token)?;
        }
        Ok(())
    }

    fn deleted_rev(&self, path: &RelPath, since: Revnum) -> Result<Option<Revnum>> {
        self.repos.deleted_revision(path, since, self.options.rev)
    }

    /// Compares a child of which nothing was reported.
    fn target(&mut self, frame: &Frame, index: usize) -> Result<Option<Frame>> {
        let entry = &frame.ours.entries()[index];
        if frame.ours_done.contains(&entry.name) {
            return Ok(None);
        }
        let source = if frame.depths.is_upgrade(entry.kind) {
            None
        } else if frame.depths.leaves_out(entry.kind) {
            return Ok(None);
        } else {
            match (&frame.source, frame.theirs(&entry.name)) {
                (Some((path, rev)), Some(found)) => Some(Source {
                    path: path.child(&entry.name)?,
                    rev: *rev,
                    found: Some(found),
                }),
                _ => None,
            }
        };
        let is_new = source.is_none();
        self.entry(Entry {
            path: frame.path.child(&entry.name)?,
            parent: frame.token,
            source,
            target: frame.target.path().child(&entry.name)?,
            target_found: Some(Found {
                kind: entry.kind,
                id: entry.id,
            }),
            target_node: is_new.then(|| frame.target.open_entry(entry)).transpose()?,
            info: None,
            depths: frame.depths.below(),
        })
    }

    /// Makes an entry of the working copy what it is in the target. Returns the folder to be gone
    /// into, if it is one.
    fn entry(&mut self, mut entry: Entry) -> Result<Option<Frame>> {
        self.follow_info(&mut entry)?;
        if let Some(Source { found: None, .. }) = entry.source {
            return Err(Error::new(
                ErrorCode::FS_NOT_FOUND,
                format!(
                    "Working copy path '{}' does not exist in repository",
                    entry.path
                ),
            ));
        }
        let mut related = false;
        if let (Some(source), Some(ours)) = (&entry.source, entry.target_found)
            && let Some(theirs) = source.found
            && theirs.kind == ours.kind
        {
            let relation = theirs.id.relation(&ours.id);
            let same = relation == NodeRelation::Unchanged
                || relation == NodeRelation::CommonAncestor && self.is_copy_only(source, &entry)?;
            if same && self.is_up_to_date(&entry, ours.kind)? {
                return Ok(None);
            }
            related = relation != NodeRelation::Unrelated || self.options.ignore_ancestry;
        }
        if !related && let Some(source) = entry.source.take() {
            let deleted = self.replaced_rev(&entry, source.rev)?;
            self.sender
                .editor
                .delete_entry(&entry.path, deleted, entry.parent)?;
        }
        let Some(ours) = entry.target_found else {
            self.skip_reported(&entry.path)?;
            return Ok(None);
        };
        if !self.may_read(&entry.target)? {
            match ours.kind {
                NodeKind::Dir => self
                    .sender
                    .editor
                    .absent_directory(&entry.path, entry.parent)?,
                _ => self.sender.editor.absent_file(&entry.path, entry.parent)?,
            }
            self.skip_reported(&entry.path)?;
            return Ok(None);
        }
        match ours.kind {
            NodeKind::Dir => self.dir(entry).map(Some),
            _ => {
                // Subversion does not, and then misses the folder that this file replaces.
                self.skip_reported(&entry.path)?;
                self.file(entry).map(|()| None)
            }
        }
    }

    /// Applies what was reported of an entry to what its folder said.
    fn follow_info(&self, entry: &mut Entry) -> Result<()> {
        let Some(info) = &entry.info else {
            return Ok(());
        };
        if let Some(link) = info.link.as_ref().filter(|_| self.options.switch.is_none()) {
            entry.target = link.clone();
            entry.target_found = found(&self.root, link)?;
            entry.target_node = None;
        }
        let Some(rev) = info.rev else {
            entry.source = None;
            return Ok(());
        };
        if let Some(source) = &mut entry.source {
            if let Some(link) = &info.link {
                source.path = link.clone();
            }
            source.rev = rev;
            source.found = found(&self.fs.revision_root(rev)?, &source.path)?;
        }
        Ok(())
    }

    /// Tells whether a file differs from its source only in being another node: it is not sent,
    /// lest the client takes it for changed.
    fn is_copy_only(&self, source: &Source, entry: &Entry) -> Result<bool> {
        let is_file = entry
            .target_found
            .is_some_and(|found| found.kind == NodeKind::File);
        if self.options.ignore_ancestry || !is_file {
            return Ok(false);
        }
        let theirs = self.fs.revision_root(source.rev)?.node(&source.path)?;
        let ours = self.root.node(&entry.target)?;
        Ok(!theirs.props_differ(&ours, Strictness::Quick)?
            && !theirs.contents_differ(&ours, Strictness::Quick)?)
    }

    /// Tells whether nothing is to be said of an entry that is the same on both sides.
    fn is_up_to_date(&self, entry: &Entry, kind: NodeKind) -> Result<bool> {
        let deep_enough = entry
            .depths
            .want
            .is_none_or(|want| want <= entry.depths.have);
        if self.is_reported_below(&entry.path) || !deep_enough && kind != NodeKind::File {
            return Ok(false);
        }
        let Some(info) = &entry.info else {
            return Ok(true);
        };
        if info.start_empty {
            return Ok(false);
        }
        let Some(token) = &info.lock_token else {
            return Ok(true);
        };
        self.holds_lock(&entry.target, token)
    }

    fn holds_lock(&self, path: &RelPath, token: &str) -> Result<bool> {
        let lock = self.fs.lock_on(path, self.options.now)?;
        Ok(lock.is_some_and(|lock| lock.lock.token == token))
    }

    /// Returns the revision in which what the client has was deleted or replaced.
    fn replaced_rev(&self, entry: &Entry, since: Revnum) -> Result<Option<Revnum>> {
        let deleted = self.deleted_rev(&entry.target, since)?;
        if deleted.is_none() && self.root.kind(&entry.target)? != NodeKind::None {
            return Ok(self.options.rev.previous());
        }
        Ok(deleted)
    }

    fn dir(&mut self, entry: Entry) -> Result<Frame> {
        let Entry {
            path,
            parent,
            source,
            target,
            target_node,
            info,
            depths,
            ..
        } = entry;
        let node = target_node.map_or_else(|| self.root.node(&target), Ok)?;
        let token = self.sender.token()?;
        match &source {
            Some(source) => {
                self.sender
                    .editor
                    .open_directory(&path, parent, Some(source.rev), token)?;
            }
            None => self
                .sender
                .editor
                .add_directory(&path, parent, None, token)?,
        }
        let source = source.map(|source| (source.path, source.rev));
        let start_empty = info.is_some_and(|info| info.start_empty);
        self.open_frame(token, path, source, node, depths, start_empty)
    }

    fn file(&mut self, entry: Entry) -> Result<()> {
        let opened = entry.target_node;
        let node = opened.map_or_else(|| self.root.node(&entry.target), Ok)?;
        let token = self.sender.token()?;
        let source = match &entry.source {
            Some(source) => {
                self.sender
                    .editor
                    .open_file(&entry.path, entry.parent, Some(source.rev), token)?;
                Some((source.rev, source.path.clone()))
            }
            None => {
                let copy = self.copy_source(&entry.target)?;
                let copy_from = copy.clone().map(|(rev, path)| CopyFrom { path, rev });
                self.sender
                    .editor
                    .add_file(&entry.path, entry.parent, copy_from, token)?;
                copy
            }
        };
        let theirs = match source {
            Some((rev, path)) => Some(self.fs.revision_root(rev)?.node(&path)?),
            None => None,
        };
        let lock_token = entry.info.and_then(|info| info.lock_token);
        self.props(
            Opened::File(token),
            theirs.as_ref(),
            &node,
            lock_token.as_deref(),
        )?;
        let changed = match &theirs {
            Some(theirs) => node.contents_differ(theirs, Strictness::Strict)?,
            None => true,
        };
        if changed {
            self.sender.text(token, theirs.as_ref(), &node)?;
        }
        self.sender.editor.close_file(token, Some(md5_of(&node)?))
    }

    /// Returns the source of a copy that a file is, if that is wanted and may be known.
    fn copy_source(&self, path: &RelPath) -> Result<Option<(Revnum, RelPathBuf)>> {
        if !self.options.send_copyfrom_args {
            return Ok(None);
        }
        let copy = self.root.closest_copy(path)?;
        let Some(copy) = copy.filter(|copy| *copy.path == *path) else {
            return Ok(None);
        };
        let node = self.fs.revision_root(copy.revision)?.node(&copy.path)?;
        let source = node.copied_from();
        let Some((rev, path)) = source.map(|(rev, path)| (rev, path.to_owned())) else {
            return Ok(None);
        };
        Ok(self.access.may_read(rev, &path)?.then_some((rev, path)))
    }

    /// Sends the properties that differ; a lock that is gone is one of them.
    fn props(
        &mut self,
        opened: Opened,
        source: Option<&Node>,
        target: &Node,
        lock_token: Option<&str>,
    ) -> Result<()> {
        self.sender.entry_props(opened, target, source.is_some())?;
        if let Some(token) = lock_token
            && !self.holds_lock(target.path(), token)?
        {
            self.sender.prop(opened, props::ENTRY_LOCK_TOKEN, None)?;
        }
        self.sender.prop_changes(opened, source, target)
    }
}

impl Frame {
    /// What the target has of a name that was not dealt with.
    fn ours(&self, name: &str) -> Option<Found> {
        if self.ours_done.contains(name) {
            return None;
        }
        lookup(&self.ours, name)
    }

    /// What the source has of a name that was not dealt with.
    fn theirs(&self, name: &str) -> Option<Found> {
        if self.theirs_done.contains(name) {
            return None;
        }
        lookup(self.theirs.as_deref()?, name)
    }
}

fn lookup(entries: &Directory, name: &str) -> Option<Found> {
    entries.get(name).map(|entry| Found {
        kind: entry.kind,
        id: entry.id,
    })
}

fn found(root: &Root, path: &RelPath) -> Result<Option<Found>> {
    Ok(root.find(path)?.map(|node| Found {
        kind: node.kind(),
        id: *node.id(),
    }))
}

fn bad_report(text: &str) -> Error {
    Error::new(ErrorCode::REPOS_BAD_REVISION_REPORT, text)
}
