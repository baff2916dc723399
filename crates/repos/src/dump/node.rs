//! A node of a dump, or of a verification, which goes the same way but writes nothing.

use std::collections::{HashMap, HashSet};

use sylvan_core::mergeinfo::{Mergeinfo, Part};
use sylvan_core::path::raw;
use sylvan_core::{Error, ErrorCode, NodeKind, Props, RelPath, Result, Revnum, text};
use sylvan_delta::svndiff::{Deltifier, Version};
use sylvan_fs::tree::Strictness;
use sylvan_fs::{Node, Root};
use sylvan_io::Cancel;
use unicode_normalization::UnicodeNormalization;

use super::replay::{Folder, Source};
use super::spool::Spool;
use super::tracker::Tracker;
use super::{Found, Output};
use crate::apr_hash;
use crate::dumpstream::{NodeRecord, PropBlock, header};
use crate::notice::{RecordAction, WarningKind, numbered, warning};

/// What the walk is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To write a stream.
    Dump {
        /// Whether it has deltas.
        deltas: bool,
        /// The first revision of the stream.
        oldest: Revnum,
        /// Whether warnings are wanted.
        notifies: bool,
    },
    /// To see that all can be read.
    Verify {
        /// Whether names are looked for that differ only in their representation.
        normalization: bool,
        /// Whether warnings are wanted.
        notifies: bool,
    },
}

impl Purpose {
    const fn notifies(self) -> bool {
        match self {
            Self::Dump { notifies, .. } | Self::Verify { notifies, .. } => notifies,
        }
    }

    const fn checks_normalization(self) -> bool {
        matches!(
            self,
            Self::Verify {
                normalization: true,
                notifies: true
            }
        )
    }
}

/// Takes the nodes of a revision.
pub(crate) struct Nodes<'r, 'o, 'e> {
    root: &'r Root,
    purpose: Purpose,
    cancel: &'r Cancel,
    out: &'r mut Output<'o, 'e>,
    pub(crate) found: Found,
    tracker: Option<Tracker>,
    /// Roots of other revisions.
    roots: HashMap<Revnum, Root>,
}

/// What a record will have.
#[derive(Clone, Copy, Default)]
struct Wanted {
    text: bool,
    props: bool,
}

/// The node, what its record will have, and what it is compared with.
type Begun = (Node, Wanted, Option<Node>);

impl<'r, 'o, 'e> Nodes<'r, 'o, 'e> {
    pub(crate) fn new(
        root: &'r Root,
        purpose: Purpose,
        cancel: &'r Cancel,
        out: &'r mut Output<'o, 'e>,
    ) -> Self {
        let tracks = matches!(purpose, Purpose::Verify { .. });
        Self {
            root,
            purpose,
            cancel,
            out,
            found: Found::default(),
            tracker: tracks.then(|| Tracker::new(root.revision())),
            roots: HashMap::new(),
        }
    }

    fn other_root(&mut self, revision: Revnum) -> Result<Root> {
        if let Some(root) = self.roots.get(&revision) {
            return Ok(root.clone());
        }
        let root = self.root.fs().revision_root(revision)?;
        self.roots.insert(revision, root.clone());
        Ok(root)
    }

    /// Takes a node. `copy` is the source of a copy; `cmp` what the node is compared with, if not
    /// with itself in the revision before.
    pub(crate) fn node(
        &mut self,
        path: &RelPath,
        kind: NodeKind,
        action: RecordAction,
        copy: Option<&Source>,
        cmp: Option<&Source>,
    ) -> Result<()> {
        self.cancel.check()?;
        self.check_path(path)?;
        let mut record = NodeRecord::new(path.as_str());
        if matches!(kind, NodeKind::File | NodeKind::Dir) {
            record.push(header::NODE_KIND, kind.as_str());
        }
        if action == RecordAction::Delete {
            if self.tracker.is_some() {
                self.must_exist(path, kind)
                    .map_err(|error| self.invalid(error, "Deleting invalid path", path))?;
            }
            if let Some(tracker) = &mut self.tracker {
                tracker.delete(path);
            }
            record.push(header::NODE_ACTION, "delete");
            return self.finish_bare(record);
        }
        let (node, wanted, base) = match action {
            RecordAction::Change => self.begin_change(&mut record, path, kind, cmp)?,
            _ => self.begin_add(&mut record, path, kind, action, copy)?,
        };
        if !wanted.text && !wanted.props {
            return self.finish_bare(record);
        }
        let props = if wanted.props {
            Some(self.props(&mut record, &node, base.as_ref())?)
        } else {
            None
        };
        if wanted.text && kind == NodeKind::File {
            self.text(record, props, &node, base.as_ref())
        } else {
            self.write(&record.finish(props, wanted.text.then_some(0)))?;
            self.write(b"\n\n")
        }
    }

    fn finish_bare(&mut self, record: NodeRecord) -> Result<()> {
        self.write(&record.finish_bare())?;
        self.write(b"\n")
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        match self.purpose {
            Purpose::Dump { .. } => self.out.write(bytes),
            Purpose::Verify { .. } => Ok(()),
        }
    }

    /// Looks for paths that nobody could work with.
    fn check_path(&mut self, path: &RelPath) -> Result<()> {
        let verifies = matches!(self.purpose, Purpose::Verify { .. });
        if !verifies && !self.purpose.notifies() {
            return Ok(());
        }
        let shown = raw::shown(path.as_str());
        let message = if !raw::is_utf8(path.as_str()) {
            format!("Path '{shown}' is not in UTF-8")
        } else if shown.contains('\n') {
            let shown = text::escape_control(&shown);
            format!("Invalid control character '0x0a' in path '{shown}'")
        } else {
            return Ok(());
        };
        let error = Error::new(ErrorCode::FS_PATH_SYNTAX, message);
        if self.purpose.notifies() {
            let message = format!(
                "{}: While validating fspath '{shown}': {}",
                numbered(&error),
                error.message()
            );
            self.out
                .notice(warning(WarningKind::InvalidPath, message))?;
        }
        if verifies { Err(error) } else { Ok(()) }
    }

    fn begin_change(
        &mut self,
        record: &mut NodeRecord,
        path: &RelPath,
        kind: NodeKind,
        cmp: Option<&Source>,
    ) -> Result<Begun> {
        if self.tracker.is_some() {
            self.must_exist(path, kind)
                .map_err(|error| self.invalid(error, "Change invalid path", path))?;
        }
        record.push(header::NODE_ACTION, "change");
        let before = self.root.revision().previous().unwrap_or(Revnum::ZERO);
        let (revision, cmp) = match cmp {
            Some((revision, cmp)) => (*revision, &**cmp),
            None => (before, path),
        };
        let base = self.other_root(revision)?.node(cmp)?;
        let node = self.root.node(path)?;
        let wanted = changed(&base, &node, kind)?;
        Ok((node, wanted, Some(base)))
    }

    fn begin_add(
        &mut self,
        record: &mut NodeRecord,
        path: &RelPath,
        kind: NodeKind,
        action: RecordAction,
        copy: Option<&Source>,
    ) -> Result<Begun> {
        let all = Wanted {
            text: kind == NodeKind::File,
            props: true,
        };
        if action == RecordAction::Replace {
            if self.tracker.is_some() {
                self.must_exist(path, NodeKind::Unknown)
                    .map_err(|error| self.invalid(error, "Replacing non-existent path", path))?;
            }
            if copy.is_none() {
                if let Some(tracker) = &mut self.tracker {
                    tracker.add(path);
                }
                record.push(header::NODE_ACTION, "replace");
                return Ok((self.root.node(path)?, all, None));
            }
            // Such a one is told as a deletion and an addition.
            if let Some(tracker) = &mut self.tracker {
                tracker.delete(path);
            }
            let mut deletion = NodeRecord::new(path.as_str());
            deletion.push(header::NODE_ACTION, "delete");
            self.write(&deletion.finish_bare())?;
        }
        if self.tracker.is_some() {
            self.must_not_exist(path)
                .map_err(|error| self.invalid(error, "Adding already existing path", path))?;
        }
        record.push(header::NODE_ACTION, "add");
        match copy {
            Some(source) => self.begin_copy(record, path, kind, source),
            None => {
                if let Some(tracker) = &mut self.tracker {
                    tracker.add(path);
                }
                Ok((self.root.node(path)?, all, None))
            }
        }
    }

    fn begin_copy(
        &mut self,
        record: &mut NodeRecord,
        path: &RelPath,
        kind: NodeKind,
        (revision, source): &Source,
    ) -> Result<Begun> {
        let revision = *revision;
        if self.tracker.is_some() {
            self.must_exist_at(revision, source, kind)
                .map_err(|error| self.invalid(error, "Copying from invalid path to", path))?;
        }
        if let Some(tracker) = &mut self.tracker {
            tracker.copy(path, revision, source);
        }
        if let Purpose::Dump {
            oldest,
            notifies: true,
            ..
        } = self.purpose
            && revision < oldest
        {
            let message = format!(
                "Referencing data in revision {revision}, which is older than the oldest dumped \
                 revision (r{oldest}).  Loading this dump into an empty repository will fail."
            );
            self.out
                .notice(warning(WarningKind::OldReference, message))?;
            self.found.old_reference = true;
        }
        record.push(header::NODE_COPYFROM_REV, revision);
        record.push_path(header::NODE_COPYFROM_PATH, source.as_str());
        let base = self.other_root(revision)?.node(source)?;
        let node = self.root.node(path)?;
        let wanted = changed(&base, &node, kind)?;
        if kind == NodeKind::File {
            push_digests(
                record,
                &base,
                header::TEXT_COPY_SOURCE_MD5,
                header::TEXT_COPY_SOURCE_SHA1,
            );
        }
        Ok((node, wanted, Some(base)))
    }

    /// Makes the properties of a record, and looks at mergeinfo.
    fn props(
        &mut self,
        record: &mut NodeRecord,
        node: &Node,
        base: Option<&Node>,
    ) -> Result<Vec<u8>> {
        let props = node.props()?;
        match self.purpose {
            Purpose::Dump {
                oldest,
                notifies: true,
                ..
            } if oldest.number() > 1 => self.find_old_mergeinfo(&props, oldest)?,
            Purpose::Verify { .. } if self.purpose.checks_normalization() => {
                let old = base.map(Node::props).transpose()?;
                self.check_mergeinfo_names(node.path(), &props, old.as_deref())?;
            }
            _ => {}
        }
        if let Purpose::Dump { deltas: true, .. } = self.purpose
            && let Some(base) = base
        {
            record.push(header::PROP_DELTA, "true");
            return Ok(PropBlock::of_change(&*base.props()?, &props).finish());
        }
        if matches!(self.purpose, Purpose::Verify { .. }) {
            return Ok(Vec::new());
        }
        Ok(PropBlock::of(&props).finish())
    }

    fn find_old_mergeinfo(&mut self, props: &Props, oldest: Revnum) -> Result<()> {
        let Some(value) = props.get("svn:mergeinfo") else {
            return Ok(());
        };
        // What cannot be parsed is no reason not to dump it.
        let Ok(mergeinfo) = Mergeinfo::parse(value) else {
            return Ok(());
        };
        if mergeinfo
            .part(0, oldest.number() - 1, Part::Inside)
            .is_empty()
        {
            return Ok(());
        }
        self.found.old_mergeinfo = true;
        self.out.notice(warning(
            WarningKind::OldMergeinfo,
            format!(
                "Mergeinfo referencing revision(s) prior to the oldest dumped revision \
                 (r{oldest}). Loading this dump may result in invalid mergeinfo."
            ),
        ))
    }

    fn text(
        &mut self,
        mut record: NodeRecord,
        props: Option<Vec<u8>>,
        node: &Node,
        base: Option<&Node>,
    ) -> Result<()> {
        if matches!(self.purpose, Purpose::Verify { .. }) {
            // What is stored in the revision itself was read when its nodes were checked.
            let rep = node.node_rev().text.as_ref();
            if rep.is_some_and(|rep| rep.revision != Some(self.root.revision())) {
                let mut reader = node.contents()?;
                while reader.next_piece()?.is_some() {
                    self.cancel.check()?;
                }
            }
            return Ok(());
        }
        let delta = match self.purpose {
            Purpose::Dump { deltas: true, .. } => {
                record.push(header::TEXT_DELTA, "true");
                if let Some(base) = base {
                    push_digests(
                        &mut record,
                        base,
                        header::TEXT_DELTA_BASE_MD5,
                        header::TEXT_DELTA_BASE_SHA1,
                    );
                }
                Some(self.delta(node, base)?)
            }
            _ => None,
        };
        push_digests(
            &mut record,
            node,
            header::TEXT_CONTENT_MD5,
            header::TEXT_CONTENT_SHA1,
        );
        let len = match &delta {
            Some(delta) => delta.len(),
            None => node.len()?,
        };
        self.write(&record.finish(props, Some(len)))?;
        match delta {
            Some(delta) => delta.drain(|piece| self.write(piece))?,
            None => {
                let mut reader = node.contents()?;
                while let Some(piece) = reader.next_piece()? {
                    self.cancel.check()?;
                    self.out.write_text(piece)?;
                }
            }
        }
        self.write(b"\n\n")
    }

    fn delta(&self, node: &Node, base: Option<&Node>) -> Result<Spool> {
        let mut spool = Spool::default();
        let source = base.map(Node::contents).transpose()?;
        let mut deltifier = Deltifier::new(source, Version::V0, 0, &mut spool.buffer);
        let mut reader = node.contents()?;
        while let Some(piece) = reader.next_piece()? {
            self.cancel.check()?;
            deltifier.push(&piece, &mut spool.buffer)?;
            spool.spill()?;
        }
        deltifier.finish(&mut spool.buffer)?;
        Ok(spool)
    }

    fn invalid(&self, error: Error, what: &str, path: &RelPath) -> Error {
        let (path, revision) = (path.as_str(), self.root.revision());
        error.context(format!("{what} '{path}' in r{revision}"))
    }

    fn must_exist(&mut self, path: &RelPath, kind: NodeKind) -> Result<()> {
        self.must_exist_at(self.root.revision(), path, kind)
    }

    fn must_exist_at(&mut self, revision: Revnum, path: &RelPath, kind: NodeKind) -> Result<()> {
        let place = self.place(revision, path);
        let found = match &place {
            Some((revision, path)) => self.other_root(*revision)?.kind(path)?,
            None => NodeKind::None,
        };
        let (shown, number) = match &place {
            Some((revision, path)) => (path.as_str(), revision.number()),
            None => ("(null)", -1),
        };
        if found == NodeKind::None {
            return Err(Error::new(
                ErrorCode::FS_NOT_FOUND,
                format!("Path '{shown}' not found in r{number}."),
            ));
        }
        if kind != found && kind != NodeKind::Unknown {
            let (found, kind) = (kind_number(found), kind_number(kind));
            return Err(Error::new(
                ErrorCode::NODE_UNEXPECTED_KIND,
                format!(
                    "Unexpected node kind {found} for '{shown}' at r{number}. Expected kind was \
                     {kind}."
                ),
            ));
        }
        Ok(())
    }

    fn must_not_exist(&mut self, path: &RelPath) -> Result<()> {
        let Some((revision, path)) = self.place(self.root.revision(), path) else {
            return Ok(());
        };
        if self.other_root(revision)?.kind(&path)? == NodeKind::None {
            return Ok(());
        }
        Err(Error::new(
            ErrorCode::FS_ALREADY_EXISTS,
            format!("Path '{}' exists in r{revision}.", path.as_str()),
        ))
    }

    /// Returns where to look for a path, with what happened in this revision so far.
    fn place(&mut self, revision: Revnum, path: &RelPath) -> Option<Source> {
        match &mut self.tracker {
            Some(tracker) if tracker.revision() == revision => tracker.lookup(path),
            _ => Some((revision, path.to_owned())),
        }
    }

    /// A folder is left.
    pub(crate) fn leave_folder(&mut self, folder: &Folder) -> Result<()> {
        if folder.has_new_names && self.purpose.checks_normalization() {
            let entries = self.root.node(&folder.path)?.entries()?;
            let names = entries.entries().iter().map(|entry| entry.name.as_str());
            self.check_names(&folder.path, &names.collect::<Vec<_>>())?;
        }
        Ok(())
    }

    fn check_names(&mut self, folder: &RelPath, names: &[&str]) -> Result<()> {
        let mut seen: HashMap<String, bool> = HashMap::new();
        for at in apr_hash::order(names.iter().copied()) {
            let name = normalized(names[at]);
            match seen.get_mut(&name) {
                None => drop(seen.insert(name, false)),
                Some(true) => {}
                Some(told) => {
                    *told = true;
                    let path = normalized(folder.child(&name)?.as_str());
                    let message = format!("Duplicate representation of path '{path}'");
                    self.out
                        .notice(warning(WarningKind::NameCollision, message))?;
                }
            }
        }
        Ok(())
    }

    fn check_mergeinfo_names(
        &mut self,
        path: &RelPath,
        props: &Props,
        old: Option<&Props>,
    ) -> Result<()> {
        let Some(value) = props.get("svn:mergeinfo") else {
            return Ok(());
        };
        let mergeinfo = Mergeinfo::parse(value)?;
        let old = match old.and_then(|old| old.get("svn:mergeinfo")) {
            Some(old) => Mergeinfo::parse(old)?,
            None => Mergeinfo::default(),
        };
        let mut seen: HashSet<String> = old.0.keys().map(|path| normalized(path)).collect();
        let mut told = HashSet::new();
        for source in mergeinfo.0.keys().filter(|path| !old.0.contains_key(*path)) {
            let source = normalized(source);
            if !seen.insert(source.clone()) && told.insert(source.clone()) {
                let message = format!(
                    "Duplicate representation of path '{source}' in svn:mergeinfo property of \
                     '{}'",
                    path.as_str()
                );
                self.out
                    .notice(warning(WarningKind::MergeinfoCollision, message))?;
            }
        }
        Ok(())
    }
}

/// Tells what of a node differs from another, as far as that is seen without reading.
fn changed(base: &Node, node: &Node, kind: NodeKind) -> Result<Wanted> {
    Ok(Wanted {
        props: base.props_differ(node, Strictness::Quick)?,
        text: kind == NodeKind::File && base.contents_differ(node, Strictness::Quick)?,
    })
}

fn push_digests(record: &mut NodeRecord, node: &Node, md5: &str, sha1: &str) {
    if let Some(digest) = node.md5() {
        record.push(md5, digest);
    }
    if let Some(digest) = node.sha1() {
        record.push(sha1, digest);
    }
}

/// The one representation that all others of a name have in common.
fn normalized(name: &str) -> String {
    name.nfc().collect()
}

/// Subversion's numbers of kinds, which its messages have.
const fn kind_number(kind: NodeKind) -> u8 {
    match kind {
        NodeKind::None => 0,
        NodeKind::File => 1,
        NodeKind::Dir => 2,
        NodeKind::Unknown => 3,
    }
}
