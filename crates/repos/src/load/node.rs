//! Makes the nodes of a revision as a dump stream tells.

use sylvan_core::{Error, ErrorCode, Md5, NodeKind, RelPathBuf, Result, Revnum};
use sylvan_delta::{Applier, Base, TextFormat};
use sylvan_fs::rep::RepReader;

use super::{Loader, mergeinfo};
use crate::dumpstream::{Body, Headers, header};
use crate::notice::{Notice, RecordAction, WarningKind, warning};
use crate::revprops::check_node_prop;

/// The node that is being read.
pub(super) struct Node {
    path: RelPathBuf,
    kind: NodeKind,
    action: RecordAction,
    copy: Option<Copy>,
    base_md5: Option<Md5>,
    result_md5: Option<Md5>,
}

/// Where a node was copied from.
struct Copy {
    revision: Option<Revnum>,
    path: RelPathBuf,
    md5: Option<Md5>,
}

impl Loader<'_> {
    /// Returns a path of the stream in the repository.
    fn below_parent(&self, path: RelPathBuf) -> RelPathBuf {
        match &self.options.parent {
            Some(parent) => parent.join(&path),
            None => path,
        }
    }

    fn parse_node(&self, headers: &Headers) -> Result<Node> {
        let md5 = |name| headers.get(name).map(parse_md5);
        let path = headers.path(header::NODE_PATH)?.unwrap_or_default();
        let path = self.below_parent(path);
        let kind = match headers.get(header::NODE_KIND) {
            Some(b"file") => NodeKind::File,
            Some(b"dir") => NodeKind::Dir,
            _ => NodeKind::Unknown,
        };
        let copy_path = headers.path(header::NODE_COPYFROM_PATH)?;
        let copy_md5 = md5(header::TEXT_COPY_SOURCE_MD5).transpose()?;
        let (base_md5, result_md5) = (
            md5(header::TEXT_DELTA_BASE_MD5).transpose()?,
            md5(header::TEXT_CONTENT_MD5).transpose()?,
        );
        let action = headers
            .get(header::NODE_ACTION)
            .and_then(RecordAction::from_word)
            .ok_or_else(|| {
                Error::new(
                    ErrorCode::STREAM_UNRECOGNIZED_DATA,
                    format!("Unrecognized node-action on node '{}'", path.as_str()),
                )
            })?;
        Ok(Node {
            path,
            kind,
            action,
            copy: copy_path.map(|path| Copy {
                revision: headers.revision(header::NODE_COPYFROM_REV),
                path: self.below_parent(path),
                md5: copy_md5,
            }),
            base_md5,
            result_md5,
        })
    }

    pub(super) fn begin_node(&mut self, headers: &Headers) -> Result<()> {
        let revision = self.current()?;
        if revision.number == Revnum::ZERO {
            return Err(Error::new(
                ErrorCode::STREAM_MALFORMED_DATA,
                "Malformed dumpstream: Revision 0 must not contain node records",
            ));
        }
        if revision.skipped {
            return Ok(());
        }
        let node = self.parse_node(headers)?;
        let path = node.path.as_str().to_owned();
        (self.notify)(Notice::LoadNode(node.action, path))?;
        if matches!(node.action, RecordAction::Delete | RecordAction::Replace)
            && let Some(txn) = &mut self.current()?.txn
        {
            txn.delete(&node.path)?;
        }
        if matches!(node.action, RecordAction::Add | RecordAction::Replace) {
            match &node.copy {
                Some(copy) => self.copy(&node, copy)?,
                None => self.make(&node)?,
            }
        }
        self.current()?.node = Some(node);
        Ok(())
    }

    fn make(&mut self, node: &Node) -> Result<()> {
        let Some(txn) = &mut self.current()?.txn else {
            return Ok(());
        };
        match node.kind {
            NodeKind::File => txn.make_file(&node.path),
            NodeKind::Dir => txn.make_dir(&node.path),
            _ => Ok(()),
        }
    }

    fn copy(&mut self, node: &Node, copy: &Copy) -> Result<()> {
        let mapped = copy.revision.and_then(|revision| self.map.get(revision));
        let (number, offset) = (self.current()?.number, self.current()?.offset);
        let source = match (mapped, copy.revision) {
            (Some(mapped), _) => Some(mapped.number()),
            (None, Some(revision)) => revision.number().checked_sub(offset),
            (None, None) => None,
        };
        let source = source.unwrap_or(-1);
        let revision = Revnum::new(source).ok_or_else(|| {
            Error::new(
                ErrorCode::FS_NO_SUCH_REVISION,
                format!("Relative source revision {source} is not available in current repository"),
            )
        })?;
        let root = self.repos.fs().revision_root(revision)?;
        if let Some(expected) = copy.md5 {
            let source = root.node(&copy.path)?;
            let actual = match source.md5().filter(|_| source.kind() == NodeKind::File) {
                Some(md5) => md5,
                None => md5_of(&mut source.contents()?)?,
            };
            if expected != actual && expected.0 != [0; 16] {
                let (from, to) = (copy.path.as_str(), node.path.as_str());
                return Err(Error::new(
                    ErrorCode::CHECKSUM_MISMATCH,
                    format!(
                        "Copy source checksum mismatch on copy from '{from}'@{revision}\nto \
                         '{to}' in rev based on r{number}:\n   expected:  {expected}\n     \
                         actual:  {actual}\n"
                    ),
                ));
            }
        }
        if let Some(txn) = &mut self.current()?.txn {
            txn.copy(&root, &copy.path, &node.path)?;
        }
        (self.notify)(Notice::LoadCopied)
    }

    pub(super) fn clear_node_props(&mut self) -> Result<()> {
        let revision = self.current()?;
        let (Some(txn), Some(node)) = (&mut revision.txn, &revision.node) else {
            return Ok(());
        };
        for name in txn.node_props_at(&node.path)?.keys() {
            txn.set_node_prop(&node.path, name, None)?;
        }
        Ok(())
    }

    pub(super) fn remove_node_prop(&mut self, name: &str) -> Result<()> {
        let revision = self.current()?;
        let (Some(txn), Some(node)) = (&mut revision.txn, &revision.node) else {
            return Ok(());
        };
        txn.set_node_prop(&node.path, name, None)
    }

    pub(super) fn set_node_prop(&mut self, name: &str, value: Vec<u8>) -> Result<()> {
        if self.current()?.node.is_none() {
            return Ok(());
        }
        let value = if name == "svn:mergeinfo" {
            self.adjusted_mergeinfo(value)?
        } else {
            value
        };
        let (validate, normalize) = (self.options.validate_props, self.options.normalize_props);
        let revision = self.current()?;
        let (Some(txn), Some(node)) = (&mut revision.txn, &revision.node) else {
            return Ok(());
        };
        let value = if normalize {
            crate::revprops::normalized_prop(name, &value).into_owned()
        } else {
            value
        };
        if validate {
            check_node_prop(node.path.as_str(), name, Some(&value))?;
        }
        txn.set_node_prop(&node.path, name, Some(value))
    }

    /// Returns mergeinfo as it is in the repository; what cannot be parsed as it is, unless
    /// properties are validated.
    fn adjusted_mergeinfo(&mut self, mut value: Vec<u8>) -> Result<Vec<u8>> {
        let whole = value.clone();
        let end = value.iter().position(|byte| *byte == 0);
        if value[..end.unwrap_or(value.len())].contains(&b'\r') {
            value = crate::revprops::normalized_prop("svn:mergeinfo", &value).into_owned();
            (self.notify)(Notice::LoadNormalizedMergeinfo)?;
        }
        let offset = self.current()?.offset;
        let parent = self.options.parent.as_deref();
        match mergeinfo::adjusted(&value, &self.map, offset, parent) {
            Ok(adjusted) => Ok(adjusted),
            Err(error) if self.options.validate_props => {
                Err(error.context("Invalid svn:mergeinfo value"))
            }
            Err(_) => {
                (self.notify)(warning(
                    WarningKind::InvalidMergeinfo,
                    "Invalid svn:mergeinfo value; leaving unchanged",
                ))?;
                Ok(whole)
            }
        }
    }

    pub(super) fn set_text(&mut self, is_delta: bool, body: &mut Body<'_>) -> Result<()> {
        let revision = self.current()?;
        let (Some(txn), Some(node)) = (&mut revision.txn, &revision.node) else {
            return Ok(());
        };
        let expected = node.result_md5.filter(|md5| md5.0 != [0; 16]);
        if !is_delta {
            let mut writer = txn.begin_text(&node.path)?;
            while let Some(piece) = body.next_piece()? {
                writer.push(piece)?;
            }
            return writer.finish(expected).map(drop);
        }
        if let Some(expected) = node.base_md5.filter(|md5| md5.0 != [0; 16]) {
            let actual = md5_of(&mut txn.contents(&node.path)?)?;
            if actual != expected {
                return Err(Error::new(
                    ErrorCode::CHECKSUM_MISMATCH,
                    format!(
                        "Base checksum mismatch on '/{}':\n   expected:  {expected}\n     \
                         actual:  {actual}\n",
                        node.path.as_str()
                    ),
                ));
            }
        }
        let base = SlidingBase::new(txn.contents(&node.path)?);
        let mut applier = Applier::new(TextFormat::Svndiff, base);
        let mut writer = txn.begin_text(&node.path)?;
        while let Some(piece) = body.next_piece()? {
            applier.push(piece, |text| writer.push(text))?;
        }
        applier.finish()?;
        writer.finish(expected).map(drop)
    }
}

/// Parses the digits of a digest; what comes behind them does not count.
fn parse_md5(hex: &[u8]) -> Result<Md5> {
    let hex = hex.get(..32).and_then(|hex| std::str::from_utf8(hex).ok());
    hex.and_then(|hex| Md5::parse_hex(hex).ok()).ok_or_else(|| {
        Error::new(
            ErrorCode::BAD_CHECKSUM_PARSE,
            "Invalid character in hex checksum",
        )
    })
}

fn md5_of(reader: &mut RepReader) -> Result<Md5> {
    use md5::Digest as _;
    let mut md5 = md5::Md5::default();
    while let Some(piece) = reader.next_piece()? {
        md5.update(&piece);
    }
    Ok(Md5(md5.finalize().into()))
}

/// The text that a delta is against, read once from its beginning: views of it do not go back.
struct SlidingBase {
    reader: RepReader,
    /// What was read from `start` on.
    window: Vec<u8>,
    start: u64,
}

impl SlidingBase {
    const fn new(reader: RepReader) -> Self {
        Self {
            reader,
            window: Vec::new(),
            start: 0,
        }
    }
}

impl Base for SlidingBase {
    fn view<'a>(&'a mut self, offset: u64, len: usize, _: &'a mut Vec<u8>) -> Result<&'a [u8]> {
        let too_short = || {
            Error::new(
                ErrorCode::INCOMPLETE_DATA,
                "Delta source ended unexpectedly",
            )
        };
        if len == 0 {
            return Ok(&[]);
        }
        let Some(mut skip) = offset.checked_sub(self.start) else {
            return Err(Error::new(
                ErrorCode::SVNDIFF_BACKWARD_VIEW,
                "Svndiff has backwards-sliding source views",
            ));
        };
        // Not more than was read, or to be read.
        while skip > self.window.len() as u64 {
            skip -= self.window.len() as u64;
            self.start += self.window.len() as u64;
            self.window.clear();
            let piece = self.reader.next_piece()?.ok_or_else(too_short)?;
            self.window.extend_from_slice(&piece);
        }
        self.window.drain(..usize::try_from(skip).unwrap_or(0));
        self.start = offset;
        while self.window.len() < len {
            let piece = self.reader.next_piece()?.ok_or_else(too_short)?;
            self.window.extend_from_slice(&piece);
        }
        Ok(&self.window[..len])
    }
}
