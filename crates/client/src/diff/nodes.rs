//! What differs at single nodes of a working copy.

use std::fs::File;
use std::io::Read as _;

use sha1::Digest as _;
use sylvan_core::props::SVN_SPECIAL;
use sylvan_core::translate::{Translation, special};
use sylvan_core::{
    Checksum, Depth, Dirent, Error, ErrorCode, NodeKind, Props, RelPath, RelPathBuf, Result,
    Revnum, Sha1,
};
use sylvan_io::{Cancel, file};
use sylvan_wc::WorkingCopy;
use sylvan_wc::db::{Layer, Node, NodeState, Presence};

use super::change::{Change, Copied, Side, Take};
use super::text::{Spool, Text};

/// A part of a working copy that is compared; paths of changes are below `anchor`.
pub(super) struct Tree<'a> {
    pub(super) wc: WorkingCopy,
    pub(super) anchor: RelPathBuf,
    /// What the sources of moves are named below.
    pub(super) moves_below: RelPathBuf,
    /// Pristine nodes are compared, not working ones.
    pub(super) pristine: bool,
    pub(super) cancel: &'a Cancel,
}

/// A node's content on one side.
#[derive(Clone, Copy)]
enum What<'n> {
    Pristine(&'n Layer),
    Working(&'n Node),
}

impl Tree<'_> {
    /// Returns a path as changes name it.
    pub(super) fn shown(&self, path: &RelPath) -> RelPathBuf {
        path.strip_prefix(&self.anchor)
            .unwrap_or(RelPath::ROOT)
            .to_owned()
    }

    fn pristine_text(&self, layer: &Layer) -> Result<Text> {
        match layer.checksum {
            None => Ok(Text::empty()),
            Some(checksum) => Ok(Text::File(self.pristine_path(checksum)?)),
        }
    }

    /// Returns where a pristine text is.
    pub(super) fn pristine_path(&self, checksum: Checksum) -> Result<std::path::PathBuf> {
        let Checksum::Sha1(sha1) = checksum else {
            return Err(Error::new(
                ErrorCode::WC_CORRUPT,
                format!("The pristine text '{checksum}' cannot be found"),
            ));
        };
        let hex = sha1.to_string();
        let name = format!("pristine/{}/{hex}.svn-base", &hex[..2]);
        Ok(self.wc.adm_path(&name).as_path().to_owned())
    }

    /// Returns a working file's content in the form that the repository has it.
    fn working_text(&self, node: &Node, props: &Props) -> Result<Text> {
        normal_text(&self.wc.local_path(&node.path), props, self.cancel)
    }

    fn text(&self, what: What<'_>, props: &Props, out: &dyn Take) -> Result<Option<Text>> {
        if !out.wants_texts() {
            return Ok(None);
        }
        match what {
            What::Pristine(layer) => self.pristine_text(layer),
            What::Working(node) => self.working_text(node, props),
        }
        .map(Some)
    }

    /// Tells of something that only BASE has. `rev` is shown for the revision, if given.
    pub(super) fn base_only(
        &self,
        node: &Node,
        rev: Option<Revnum>,
        depth: Option<Depth>,
        out: &mut dyn Take,
    ) -> Result<()> {
        let Some(base) = node.base() else {
            return Ok(());
        };
        self.cancel.check()?;
        if base.kind == NodeKind::Dir && depth != Some(Depth::Empty) {
            for child in self.wc.db().children(&node.path)? {
                let Some(base) = child
                    .base()
                    .filter(|base| base.presence == Presence::Normal)
                else {
                    continue;
                };
                if base.kind == NodeKind::Dir && depth == Some(Depth::Files) {
                    continue;
                }
                self.base_only(&child, rev, below(depth), out)?;
            }
        }
        let shown = self.shown(&node.path);
        let changelist = node.actual.changelist.clone();
        if base.kind != NodeKind::Dir && !out.wants(&shown, changelist.as_deref()) {
            return Ok(());
        }
        let props = props_of(base)?;
        let text = match base.kind {
            NodeKind::Dir => None,
            _ => self.text(What::Pristine(base), &props, out)?,
        };
        let left = Side {
            rev: rev.or(base.revision),
            props,
            text,
        };
        out.take(Change {
            changelist,
            ..Change::deleted(shown, kind_of(base), left)
        })
    }

    /// Tells of something that only the working copy has.
    pub(super) fn local_only(
        &self,
        node: &Node,
        depth: Option<Depth>,
        out: &mut dyn Take,
    ) -> Result<()> {
        let Some(top) = self.local_layer(node) else {
            return Ok(());
        };
        self.cancel.check()?;
        if top.kind == NodeKind::Dir && depth != Some(Depth::Empty) {
            for child in self.wc.db().children(&node.path)? {
                let Some(layer) = self.local_layer(&child) else {
                    continue;
                };
                if layer.kind == NodeKind::Dir && depth == Some(Depth::Files) {
                    continue;
                }
                self.local_only(&child, below(depth), out)?;
            }
        }
        let shown = self.shown(&node.path);
        let changelist = node.actual.changelist.clone();
        let is_dir = top.kind == NodeKind::Dir;
        if !is_dir && !out.wants(&shown, changelist.as_deref()) {
            return Ok(());
        }
        let pristine_props = props_of(top)?;
        let props_mod = !self.pristine && node.actual.properties.is_some();
        let props = match node.actual.properties.as_deref() {
            Some(stored) if props_mod => sylvan_wc::props::parse(stored)?,
            _ => pristine_props.clone(),
        };
        let what = match self.pristine {
            true => What::Pristine(top),
            false => What::Working(node),
        };
        let (mut text, mut rev) = (None, None);
        if !is_dir {
            // Of what a local deletion hides Subversion does not know the revision.
            let is_hidden = node.state() == NodeState::Deleted;
            let is_plain = top.op_depth == 0 && !props_mod && !is_hidden;
            if is_plain && (self.pristine || !self.is_modified(node, top, &props)?) {
                rev = top.revision;
            }
            text = self.text(what, &props, out)?;
        }
        let copy = self.copied(node, top, pristine_props, out)?;
        out.take(Change {
            copy,
            changelist,
            ..Change::added(shown, kind_of(top), Side { rev, props, text })
        })
    }

    /// Returns the layer that the working copy shows, or, where pristine nodes are compared, that a
    /// local deletion hides.
    fn local_layer<'n>(&self, node: &'n Node) -> Option<&'n Layer> {
        match node.state() {
            NodeState::Deleted if self.pristine => {
                node.layers.iter().find(|layer| layer.presence.is_present())
            }
            NodeState::Normal | NodeState::Incomplete | NodeState::Added => node.top(),
            _ => None,
        }
    }

    fn copied(
        &self,
        node: &Node,
        top: &Layer,
        props: Props,
        out: &dyn Take,
    ) -> Result<Option<Copied>> {
        let Some(repos_path) = top.repos_path.clone().filter(|_| top.op_depth > 0) else {
            return Ok(None);
        };
        let text = match top.kind {
            NodeKind::Dir => None,
            _ => self.text(What::Pristine(top), &props, out)?,
        };
        Ok(Some(Copied {
            source: Side {
                rev: top.revision,
                props,
                text,
            },
            repos_path,
            moved_from: match top.moved_here {
                true => self.moved_from(node, top)?,
                false => None,
            },
        }))
    }

    /// Returns where the root of a move was, below `moves_below`. What is in a moved folder counts as
    /// copied.
    fn moved_from(&self, node: &Node, top: &Layer) -> Result<Option<RelPathBuf>> {
        if node.path.depth() != top.op_depth {
            return Ok(None);
        }
        let Some((from, _)) = self.wc.db().moved_from(&node.path)? else {
            return Ok(None);
        };
        Ok(from.strip_prefix(&self.moves_below).map(RelPath::to_owned))
    }

    /// Tells whether a working file differs from a pristine text.
    fn is_modified(&self, node: &Node, layer: &Layer, props: &Props) -> Result<bool> {
        let path = self.wc.local_path(&node.path);
        let Some(meta) = file::lstat_if_exists(path.as_path())? else {
            return Ok(false);
        };
        if layer.recorded_size == Some(meta.size) && layer.recorded_time == Some(meta.mtime) {
            return Ok(false);
        }
        let text = self.working_text(node, props)?;
        Ok(!is_pristine(&text, layer)?)
    }

    /// Tells how a working file differs from BASE. `modified` is what is known of its text.
    pub(super) fn base_to_working(
        &self,
        node: &Node,
        modified: Option<bool>,
        rev: Option<Revnum>,
        out: &mut dyn Take,
    ) -> Result<()> {
        let (Some(top), Some(base)) = (node.top(), node.base()) else {
            return Ok(());
        };
        let shown = self.shown(&node.path);
        let changelist = node.actual.changelist.clone();
        if !out.wants(&shown, changelist.as_deref()) {
            return Ok(());
        }
        let is_normal = top.op_depth == 0;
        let props_mod = !is_normal || node.actual.properties.is_some();
        let mut same = match modified {
            Some(modified) => !modified,
            None if !is_normal => false,
            None if self.pristine => true,
            None => self.is_untouched(node, base)?,
        };
        if same && !props_mod {
            return Ok(());
        }
        let base_props = props_of(base)?;
        let local_props = match node.actual.properties.as_deref() {
            Some(stored) if !self.pristine => sylvan_wc::props::parse(stored)?,
            _ => props_of(top)?,
        };
        let left_text = self.pristine_text(base)?;
        let right_text = match (self.pristine, same) {
            (_, true) => self.pristine_text(base)?,
            (true, false) => self.pristine_text(top)?,
            (false, false) => self.working_text(node, &local_props)?,
        };
        if !same {
            same = match modified {
                Some(true) => false,
                _ if self.pristine => top.checksum == base.checksum,
                _ => is_pristine(&right_text, base)?,
            };
        }
        if same && base_props == local_props {
            return Ok(());
        }
        let left = Side {
            rev: rev.or(base.revision),
            props: base_props,
            text: Some(left_text),
        };
        let right = Side {
            rev: None,
            props: local_props,
            text: Some(right_text),
        };
        out.take(Change {
            text: !same,
            changelist,
            ..Change::changed(shown, NodeKind::File, left, right)
        })
    }

    /// Tells whether there is no file to compare, or one that was not touched.
    fn is_untouched(&self, node: &Node, base: &Layer) -> Result<bool> {
        let path = self.wc.local_path(&node.path);
        let Some(meta) = file::lstat_if_exists(path.as_path())? else {
            return Ok(true);
        };
        Ok(meta.is_dir()
            || base.recorded_size == Some(meta.size) && base.recorded_time == Some(meta.mtime))
    }

    /// Returns a file of the working copy as it is now, or as it was checked out.
    pub(super) fn local_side(&self, node: &Node, with_text: bool) -> Result<Side> {
        let top = self.local_layer(node).or_else(|| node.top());
        let Some(top) = top else {
            return Ok(Side::default());
        };
        let props = match node.actual.properties.as_deref() {
            Some(stored) if !self.pristine => sylvan_wc::props::parse(stored)?,
            _ => props_of(top)?,
        };
        let text = match (with_text && top.kind != NodeKind::Dir, self.pristine) {
            (false, _) => None,
            (true, true) => Some(self.pristine_text(top)?),
            (true, false) => Some(self.working_text(node, &props)?),
        };
        Ok(Side {
            rev: None,
            props,
            text,
        })
    }
}

/// Returns a file's content in the form that the repository has it; a symlink's only if the
/// properties say that it is one.
pub(super) fn normal_text(path: &Dirent, props: &Props, cancel: &Cancel) -> Result<Text> {
    if props.contains_key(SVN_SPECIAL)
        && file::lstat_if_exists(path.as_path())?.is_some_and(|meta| meta.is_symlink())
    {
        let target = file::read_link(path.as_path())?;
        return Ok(Text::Memory(special::link_content(&target)));
    }
    let translation = Translation {
        special: false,
        ..Translation::for_normalization(props)
    };
    if translation.is_identity() {
        return Ok(Text::File(path.as_path().to_owned()));
    }
    let mut translator = translation.to_normal(false)?;
    let mut file = file::open(path.as_path())?;
    let mut spool = Spool::default();
    let (mut buffer, mut out) = (vec![0; 128 << 10], Vec::new());
    loop {
        cancel.check()?;
        let count = file
            .read(&mut buffer)
            .map_err(|error| Error::io(&error, format!("Can't read file '{path}'")))?;
        out.clear();
        let done = match count {
            0 => translator.finish(&mut out),
            count => translator.push(&buffer[..count], &mut out),
        };
        done.map_err(|error| {
            if error.code() != ErrorCode::IO_INCONSISTENT_EOL {
                return error;
            }
            error.context(format!("File '{path}' has inconsistent newlines"))
        })?;
        spool.push(&out)?;
        if count == 0 {
            return Ok(spool.finish().0);
        }
    }
}

fn is_pristine(text: &Text, layer: &Layer) -> Result<bool> {
    let found = match text {
        Text::Memory(bytes) => Sha1::of(bytes),
        Text::File(path) => hash(path)?,
        Text::Temp(temp) => hash(temp.path())?,
    };
    Ok(layer.checksum == Some(Checksum::Sha1(found)))
}

fn hash(path: &std::path::Path) -> Result<Sha1> {
    let mut file: File = file::open(path)?;
    let mut digest = sha1::Sha1::new();
    let mut buffer = vec![0; 128 << 10];
    loop {
        let count = file
            .read(&mut buffer)
            .map_err(|error| Error::io(&error, format!("Can't read file '{}'", path.display())))?;
        if count == 0 {
            return Ok(Sha1(digest.finalize().into()));
        }
        digest.update(&buffer[..count]);
    }
}

/// Returns the pristine properties of a layer.
pub(super) fn props_of(layer: &Layer) -> Result<Props> {
    layer
        .properties
        .as_deref()
        .map_or_else(|| Ok(Props::new()), sylvan_wc::props::parse)
}

fn kind_of(layer: &Layer) -> NodeKind {
    match layer.kind {
        NodeKind::Dir => NodeKind::Dir,
        _ => NodeKind::File,
    }
}

/// How deep it goes below a folder.
pub(super) fn below(depth: Option<Depth>) -> Option<Depth> {
    match depth {
        Some(Depth::Immediates) => Some(Depth::Empty),
        depth => depth,
    }
}
