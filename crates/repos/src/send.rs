//! What drives of all kinds send of a node: properties, entry properties, contents.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use md5::Digest as _;
use sylvan_core::{Error, ErrorCode, Md5, Props, Result, Revnum, props};
use sylvan_delta::svndiff::{Deltifier, Version};
use sylvan_delta::{Editor, Fulltext, TextFormat, Token};
use sylvan_fs::Node;
use sylvan_fs::TreeNode;
use sylvan_fs::rep::RepReader;
use sylvan_fs::revprops::RevpropsReader;
use sylvan_fs::tree::Strictness;

use crate::Repos;

/// How the contents of files are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Texts {
    /// Not at all: a file whose content changed gets an empty text.
    None,
    /// Whole, read by the receiver: for receivers in this process.
    Full,
    /// As svndiff against what the receiver has, for receivers far away.
    Svndiff(Version),
}

/// So many revisions' dates and authors are kept in memory.
const INFOS: usize = 1 << 15;
/// svndiff data is sent in parts of about this size.
const PART: usize = 64 << 10;
/// The level of zlib, as Subversion's servers have it.
const LEVEL: u32 = 5;

/// What is sent of a node.
pub(crate) trait Sent {
    fn created(&self) -> Option<Revnum>;
    fn read_props(&self) -> Result<Arc<Props>>;
    fn has_other_props(&self, other: &Self) -> Result<bool>;
    fn text(&self) -> Result<RepReader>;
    fn fulltext(&self) -> Result<Box<dyn Fulltext>>;
    fn stored_md5(&self) -> Option<Md5>;
}

macro_rules! sent {
    ($node:ty, $fulltext:expr) => {
        impl Sent for $node {
            fn created(&self) -> Option<Revnum> {
                self.created_revision()
            }

            fn read_props(&self) -> Result<Arc<Props>> {
                self.props()
            }

            fn has_other_props(&self, other: &Self) -> Result<bool> {
                self.props_differ(other, Strictness::Strict)
            }

            fn text(&self) -> Result<RepReader> {
                self.contents()
            }

            fn fulltext(&self) -> Result<Box<dyn Fulltext>> {
                Ok(Box::new($fulltext(self)?))
            }

            fn stored_md5(&self) -> Option<Md5> {
                self.md5()
            }
        }
    };
}

fn late(node: &Node) -> Result<LateText> {
    Ok(LateText::Node(node.clone()))
}

fn opened(node: &TreeNode<'_>) -> Result<RepReader> {
    Ok(node.contents()?.read_once())
}

sent!(Node, late);
sent!(TreeNode<'_>, opened);

/// A content that is opened where it is read.
#[derive(Debug)]
enum LateText {
    Node(Node),
    Open(RepReader),
}

impl Fulltext for LateText {
    fn size(&self) -> u64 {
        match self {
            Self::Node(node) => node.len().unwrap_or(0),
            Self::Open(reader) => reader.len(),
        }
    }

    fn next_piece(&mut self) -> Result<Option<Bytes>> {
        loop {
            match self {
                Self::Node(node) => *self = Self::Open(node.contents()?.read_once()),
                Self::Open(reader) => return reader.next_piece(),
            }
        }
    }
}

/// A node of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opened {
    Dir(Token),
    File(Token),
}

/// Date and author of a revision.
struct Info {
    date: Option<Vec<u8>>,
    author: Option<Vec<u8>>,
}

/// Sends to an editor.
pub(crate) struct Sender<'e> {
    pub(crate) editor: &'e mut dyn Editor,
    texts: Texts,
    tokens: u32,
    uuid: String,
    revprops: RevpropsReader,
    infos: HashMap<Revnum, Arc<Info>>,
}

impl<'e> Sender<'e> {
    pub(crate) fn new(
        fs: &sylvan_fs::FileSystem,
        editor: &'e mut dyn Editor,
        texts: Texts,
    ) -> Self {
        Self {
            editor,
            texts,
            tokens: 0,
            uuid: fs.uuid().to_owned(),
            revprops: fs.revprops_reader(),
            infos: HashMap::new(),
        }
    }

    /// Makes the name of a node that is opened next.
    pub(crate) fn token(&mut self) -> Result<Token> {
        let token = Token(self.tokens);
        self.tokens = self.tokens.checked_add(1).ok_or_else(|| {
            Error::new(ErrorCode::INCORRECT_PARAMS, "Too many nodes in one drive")
        })?;
        Ok(token)
    }

    pub(crate) fn prop(&mut self, opened: Opened, name: &str, value: Option<&[u8]>) -> Result<()> {
        match opened {
            Opened::Dir(token) => self.editor.change_dir_prop(token, name, value),
            Opened::File(token) => self.editor.change_file_prop(token, name, value),
        }
    }

    fn info(&mut self, revision: Revnum) -> Result<Arc<Info>> {
        if let Some(info) = self.infos.get(&revision) {
            return Ok(Arc::clone(info));
        }
        let mut found = self.revprops.read(revision)?;
        let info = Arc::new(Info {
            date: found.remove(props::REVISION_DATE),
            author: found.remove(props::REVISION_AUTHOR),
        });
        if self.infos.len() >= INFOS {
            self.infos.clear();
        }
        self.infos.insert(revision, Arc::clone(&info));
        Ok(info)
    }

    /// Sends what is known of a node's last change. What is missing is sent as a deletion if the
    /// receiver may have it.
    pub(crate) fn entry_props(
        &mut self,
        opened: Opened,
        node: &impl Sent,
        has_source: bool,
    ) -> Result<()> {
        let Some(revision) = node.created() else {
            return Ok(());
        };
        let number = revision.to_string();
        self.prop(opened, props::ENTRY_COMMITTED_REV, Some(number.as_bytes()))?;
        let info = self.info(revision)?;
        for (name, value) in [
            (props::ENTRY_COMMITTED_DATE, info.date.as_deref()),
            (props::ENTRY_LAST_AUTHOR, info.author.as_deref()),
        ] {
            if value.is_some() || has_source {
                self.prop(opened, name, value)?;
            }
        }
        let uuid = self.uuid.clone();
        self.prop(opened, props::ENTRY_UUID, Some(uuid.as_bytes()))
    }

    /// Sends what makes the properties of one node those of another.
    pub(crate) fn prop_changes<N: Sent>(
        &mut self,
        opened: Opened,
        source: Option<&N>,
        target: &N,
    ) -> Result<()> {
        let from = match source {
            None => Arc::default(),
            Some(source) if target.has_other_props(source)? => source.read_props()?,
            Some(_) => return Ok(()),
        };
        self.prop_diffs(opened, &from, &*target.read_props()?)
    }

    /// Sends what makes some properties others: what changes or goes, then what is new.
    pub(crate) fn prop_diffs(&mut self, opened: Opened, from: &Props, to: &Props) -> Result<()> {
        for (name, value) in from {
            let new = to.get(name);
            if new != Some(value) {
                self.prop(opened, name, new.map(Vec::as_slice))?;
            }
        }
        for (name, value) in to {
            if !from.contains_key(name) {
                self.prop(opened, name, Some(value))?;
            }
        }
        Ok(())
    }

    /// Sends the content of a file; `source` is what the receiver has.
    pub(crate) fn text<N: Sent>(
        &mut self,
        file: Token,
        source: Option<&N>,
        target: &N,
    ) -> Result<()> {
        match self.texts {
            Texts::Full => self.editor.fulltext(file, target.fulltext()?),
            Texts::None => {
                let base = source.map(|source| md5_of(source)).transpose()?;
                self.editor.apply_text(file, base, TextFormat::Svndiff)?;
                self.editor.text_end(file)
            }
            Texts::Svndiff(version) => {
                let base = source.map(|source| md5_of(source)).transpose()?;
                self.editor.apply_text(file, base, TextFormat::Svndiff)?;
                self.svndiff(file, source, target, version)?;
                self.editor.text_end(file)
            }
        }
    }

    fn svndiff<N: Sent>(
        &mut self,
        file: Token,
        source: Option<&N>,
        target: &N,
        version: Version,
    ) -> Result<()> {
        let mut send = |part| self.editor.text_chunk(file, part);
        svndiff_parts(source, target, version, &mut send)
    }
}

/// Gives the svndiff data that makes the content of one file that of another, in parts.
fn svndiff_parts<N: Sent>(
    source: Option<&N>,
    target: &N,
    version: Version,
    send: &mut dyn FnMut(Bytes) -> Result<()>,
) -> Result<()> {
    let base = source.map(Sent::text).transpose()?;
    let mut text = target.text()?;
    let mut out = Vec::new();
    let mut deltifier = Deltifier::new(base, version, LEVEL, &mut out);
    while let Some(piece) = text.next_piece()? {
        deltifier.push(&piece, &mut out)?;
        if out.len() >= PART {
            send(Bytes::from(std::mem::take(&mut out)))?;
        }
    }
    deltifier.finish(&mut out)?;
    send(Bytes::from(out))
}

/// Gives the svndiff data that makes the content of a file that of `node`, in parts; from nothing,
/// if there is no file before.
///
/// # Errors
/// If a content cannot be read, and what `send` gives.
pub fn send_delta(
    previous: Option<&Node>,
    node: &Node,
    version: Version,
    send: &mut dyn FnMut(Bytes) -> Result<()>,
) -> Result<()> {
    svndiff_parts(previous, node, version, send)
}

impl Repos {
    /// Returns the digest of a file's content; reads it if the digest is not stored.
    ///
    /// # Errors
    /// If the content cannot be read.
    pub fn file_md5(&self, node: &Node) -> Result<Md5> {
        md5_of(node)
    }
}

/// Returns the digest of a file's content; reads it if the digest is not stored.
pub(crate) fn md5_of(node: &impl Sent) -> Result<Md5> {
    if let Some(md5) = node.stored_md5() {
        return Ok(md5);
    }
    let mut text = node.text()?.read_once();
    let mut digest = md5::Md5::new();
    while let Some(piece) = text.next_piece()? {
        digest.update(&piece);
    }
    Ok(Md5(digest.finalize().into()))
}
