//! Reads a representation's full text.
//!
//! A delta may be against a delta, and so on. All of them cover the text in windows of equal size,
//! so a part of the text needs one window of each, from the representation down to the first that
//! copies nothing from its base. Memory is a few windows, however long the text is.

use std::sync::Arc;

use bytes::Bytes;
use md5::Digest as _;
use sylvan_core::{Error, Md5, Result, Revnum};
use sylvan_delta::Fulltext;
use sylvan_delta::svndiff::{
    TextSource, Version, WINDOW_SIZE, Window, WindowDecoder, WindowHeader,
};

use super::{DeltaBase, RepHeader};
use crate::cache::{Key, Kind};
use crate::error::checksum_mismatch;
use crate::fs::FileSystem;
use crate::node_rev::Representation;
use crate::rev_file::{BLOCK, RevFile};
use crate::text::corrupt;

/// No chain that a program makes is so long; a loop would be.
const MAX_CHAIN: usize = 100_000;
/// Representations larger than this are read with a buffer of their own, not through the cache.
const LARGE: u64 = 4 << 20;
/// The size of that buffer.
const AHEAD: usize = 4 * BLOCK;

/// Gives the full text of a representation in pieces, and checks its length and digest at the end.
pub struct RepReader {
    source: Source,
    expected: u64,
    delivered: u64,
    /// `None` once checked, or if there is nothing to check.
    md5: Option<Box<md5::Md5>>,
    expected_md5: Md5,
    /// What was read, if it is to be kept.
    keep: Option<Keep>,
    fs: Option<FileSystem>,
    piece: Bytes,
}

/// What was read, and the key under which it is kept.
struct Keep {
    key: Key,
    /// The first piece, as long as there is no other.
    first: Bytes,
    text: Vec<u8>,
}

impl Keep {
    fn push(&mut self, piece: &Bytes, expected: u64) {
        if self.first.is_empty() && self.text.is_empty() {
            self.first = piece.clone();
            return;
        }
        if self.text.is_empty() {
            // Checked against the cache's bound.
            self.text.reserve(usize::try_from(expected).unwrap_or(0));
            self.text.extend_from_slice(&self.first);
            self.first.clear();
        }
        self.text.extend_from_slice(piece);
    }

    fn finish(self) -> (Key, Bytes) {
        if self.text.is_empty() {
            (self.key, self.first)
        } else {
            (self.key, self.text.into())
        }
    }
}

enum Source {
    Text(Bytes),
    Plain(Plain),
    Delta(Box<Delta>),
}

struct Plain {
    file: Arc<RevFile>,
    start: u64,
    size: u64,
    at: u64,
}

/// The levels of a chain, the representation itself first.
struct Delta {
    levels: Vec<Level>,
    base: Base,
    /// The number of the next window.
    chunk: u64,
    decoder: WindowDecoder,
    text: Vec<u8>,
    other: Vec<u8>,
}

/// What the last delta of a chain is against.
enum Base {
    Nothing,
    Plain(Plain),
    Text(Bytes),
}

/// One delta of a chain.
struct Level {
    file: Arc<RevFile>,
    /// Where the svndiff data begins in the file.
    start: u64,
    size: u64,
    /// Where the next window begins, from `start`.
    at: u64,
    /// The number of the next window.
    chunk: u64,
    /// `None` before the first window is read.
    version: Option<Version>,
    header: Option<WindowHeader>,
    body: Bytes,
    /// What was read ahead of a large representation, and where it begins in the file.
    ahead: Bytes,
    ahead_at: u64,
}

/// The place of a representation in an open file.
pub(crate) struct Opened {
    pub(crate) file: Arc<RevFile>,
    pub(crate) offset: u64,
}

impl RepReader {
    /// Makes one of a text that is in memory.
    pub(crate) fn of_text(text: Bytes) -> Self {
        Self {
            expected: text.len() as u64,
            source: Source::Text(text),
            delivered: 0,
            md5: None,
            expected_md5: Md5::EMPTY,
            keep: None,
            fs: None,
            piece: Bytes::new(),
        }
    }

    /// Makes one of a committed representation.
    pub(crate) fn new(fs: &FileSystem, rep: &Representation) -> Result<Self> {
        let Some(revision) = rep.revision else {
            return Err(corrupt("Representation of a transaction in a revision"));
        };
        let key = fs.key(Kind::Text, revision, rep.item_index);
        if let Some(text) = fs.cache().text(&key) {
            return Ok(Self::of_text(text));
        }
        let source = Source::open(fs, rep, None).map_err(|error| damaged_rep(error, rep, fs))?;
        let mut reader = Self::with_source(fs, rep, source);
        let keeps = rep.expanded_size <= fs.cache().largest() as u64 / 2;
        reader.keep = keeps.then(|| Keep {
            key,
            first: Bytes::new(),
            text: Vec::new(),
        });
        Ok(reader)
    }

    /// Makes one of a representation that stands in a file of a transaction.
    pub(crate) fn in_file(fs: &FileSystem, rep: &Representation, opened: Opened) -> Result<Self> {
        let source = Source::open(fs, rep, Some(opened))?;
        Ok(Self::with_source(fs, rep, source))
    }

    fn with_source(fs: &FileSystem, rep: &Representation, source: Source) -> Self {
        Self {
            source,
            expected: rep.expanded_size,
            delivered: 0,
            // All zero stands for a digest that is not known.
            md5: (rep.md5.0 != [0; 16]).then(Box::default),
            expected_md5: rep.md5,
            keep: None,
            fs: Some(fs.clone()),
            piece: Bytes::new(),
        }
    }

    /// Leaves comparing the digest to the caller, who hashes the text anyway, and keeps nothing of
    /// it in the cache: for texts that are read once.
    #[must_use]
    pub fn read_once(mut self) -> Self {
        (self.md5, self.keep) = (None, None);
        self
    }

    /// Returns the length of the full text.
    pub const fn len(&self) -> u64 {
        self.expected
    }

    /// Tells whether the full text is empty.
    pub const fn is_empty(&self) -> bool {
        self.expected == 0
    }

    /// Reads both to the end, or to where they differ; tells whether they are equal.
    ///
    /// # Errors
    /// As [`RepReader::next_piece`].
    pub(crate) fn is_equal(&mut self, other: &mut Self) -> Result<bool> {
        let (mut left, mut right) = (Bytes::new(), Bytes::new());
        loop {
            if left.is_empty() {
                left = self.next_piece()?.unwrap_or_default();
            }
            if right.is_empty() {
                right = other.next_piece()?.unwrap_or_default();
            }
            let len = left.len().min(right.len());
            if len == 0 {
                return Ok(left.len() == right.len());
            }
            if left.split_to(len) != right.split_to(len) {
                return Ok(false);
            }
        }
    }

    /// Returns the next piece, `None` at the end.
    ///
    /// # Errors
    /// [`FS_CORRUPT`](sylvan_core::ErrorCode::FS_CORRUPT) for damage, of the digest too, and those
    /// of the svndiff family.
    pub fn next_piece(&mut self) -> Result<Option<Bytes>> {
        if self.delivered == self.expected {
            self.finish()?;
            return Ok(None);
        }
        let left = self.expected - self.delivered;
        let piece = match &mut self.source {
            Source::Text(text) => text.split_to(text.len()),
            Source::Plain(plain) => plain.next_piece(left)?,
            Source::Delta(delta) => {
                if delta.next_window()? {
                    std::mem::take(&mut delta.text).into()
                } else {
                    Bytes::new()
                }
            }
        };
        let len = piece.len() as u64;
        if piece.is_empty() || len > left {
            let got = self.delivered + len;
            return Err(corrupt(format!(
                "Length mismatch while reading representation: expected {}, got {got}",
                self.expected
            )));
        }
        self.delivered += len;
        if let Some(md5) = &mut self.md5 {
            md5.update(&piece);
        }
        if let Some(keep) = &mut self.keep {
            keep.push(&piece, self.expected);
        }
        if self.delivered == self.expected {
            self.finish()?;
        }
        Ok(Some(piece))
    }

    /// Reads all that is left; for texts that are known to be small.
    ///
    /// # Errors
    /// Those of [`RepReader::next_piece`].
    pub fn read_to_end(&mut self) -> Result<Bytes> {
        let first = self.next_piece()?.unwrap_or_default();
        let Some(second) = self.next_piece()? else {
            return Ok(first);
        };
        let mut text = Vec::from(first);
        text.extend_from_slice(&second);
        while let Some(piece) = self.next_piece()? {
            text.extend_from_slice(&piece);
        }
        Ok(text.into())
    }

    fn finish(&mut self) -> Result<()> {
        if let Source::Delta(delta) = &mut self.source
            && self.delivered > 0
        {
            delta.check_end()?;
        }
        if let Some(md5) = self.md5.take() {
            let actual = Md5(md5.finalize().into());
            if actual != self.expected_md5 {
                let text = "Checksum mismatch while reading representation";
                let error = checksum_mismatch(text, self.expected_md5, actual);
                return Err(error.wrap_code(sylvan_core::ErrorCode::FS_CORRUPT));
            }
        }
        if let (Some(keep), Some(fs)) = (self.keep.take(), &self.fs) {
            let (key, text) = keep.finish();
            fs.cache().put_text(key, &text, text.len());
        }
        Ok(())
    }
}

impl Fulltext for RepReader {
    fn size(&self) -> u64 {
        self.expected
    }

    fn next_piece(&mut self) -> Result<Option<Bytes>> {
        self.next_piece()
    }
}

impl RepReader {
    /// Returns at most `len` bytes, none only at the end.
    fn take_up_to(&mut self, len: usize) -> Result<Bytes> {
        if self.piece.is_empty() {
            self.piece = self.next_piece()?.unwrap_or_default();
        }
        Ok(self.piece.split_to(len.min(self.piece.len())))
    }
}

impl TextSource for RepReader {
    fn fill(&mut self, buffer: &mut Vec<u8>, len: usize) -> Result<()> {
        let mut left = len;
        while left > 0 {
            let piece = self.take_up_to(left)?;
            if piece.is_empty() {
                break;
            }
            buffer.extend_from_slice(&piece);
            left -= piece.len();
        }
        Ok(())
    }
}

impl std::io::Read for RepReader {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let piece = self.take_up_to(buffer.len());
        let piece = piece.map_err(std::io::Error::other)?;
        buffer[..piece.len()].copy_from_slice(&piece);
        Ok(piece.len())
    }
}

impl std::fmt::Debug for RepReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RepReader")
            .field("expected", &self.expected)
            .field("delivered", &self.delivered)
            .finish_non_exhaustive()
    }
}

/// Names the representation that could not be opened.
fn damaged_rep(error: Error, rep: &Representation, fs: &FileSystem) -> Error {
    if error.code() == sylvan_core::ErrorCode::FS_CORRUPT {
        let text = rep.to_text(fs.format().number);
        return error.context(format!("Corrupt representation '{text}'"));
    }
    error
}

impl Source {
    fn open(fs: &FileSystem, rep: &Representation, opened: Option<Opened>) -> Result<Self> {
        let revision = rep.revision.unwrap_or(Revnum::ZERO);
        let mut next = DeltaBase {
            revision,
            item_index: rep.item_index,
            size: rep.size,
        };
        let mut opened = match opened {
            Some(opened) => opened,
            None => fs.open_item(next.revision, next.item_index)?,
        };
        let mut levels = Vec::new();
        let base = loop {
            let (header, start) = opened.read_header(next.size)?;
            let base = match header {
                RepHeader::Plain => {
                    let plain = Plain {
                        file: opened.file,
                        start,
                        size: next.size,
                        at: 0,
                    };
                    if levels.is_empty() {
                        return Ok(Self::Plain(plain));
                    }
                    break Base::Plain(plain);
                }
                RepHeader::SelfDelta => None,
                RepHeader::Delta(base) => Some(base),
            };
            levels.push(Level::new(opened.file, start, next.size));
            let Some(base) = base else {
                break Base::Nothing;
            };
            if base.revision > next.revision && !rep.is_in_txn() || levels.len() > MAX_CHAIN {
                return Err(corrupt("Malformed representation header"));
            }
            let key = fs.key(Kind::Text, base.revision, base.item_index);
            if let Some(text) = fs.cache().text(&key) {
                break Base::Text(text);
            }
            opened = fs.open_item(base.revision, base.item_index)?;
            next = base;
        };
        Ok(Self::Delta(Box::new(Delta {
            levels,
            base,
            chunk: 0,
            decoder: WindowDecoder::new(Version::V0),
            text: Vec::new(),
            other: Vec::new(),
        })))
    }
}

impl Opened {
    /// Reads the header; returns it and where the data begins, all of which is in the file.
    pub(crate) fn read_header(&self, size: u64) -> Result<(RepHeader, u64)> {
        let head = self.file.read_up_to(self.offset, RepHeader::MAX_LEN)?;
        let (header, len) = RepHeader::parse(&head)?;
        let start = self.offset + len as u64;
        if start
            .checked_add(size)
            .is_none_or(|end| end > self.file.len())
        {
            return Err(corrupt(format!(
                "Representation ends beyond the end of file '{}'",
                self.file.path().display()
            )));
        }
        Ok((header, start))
    }
}

impl Plain {
    fn next_piece(&mut self, left: u64) -> Result<Bytes> {
        let len = left.min(self.size - self.at).min(BLOCK as u64);
        let offset = self.start + self.at;
        self.at += len;
        // Not more than a block.
        let len = usize::try_from(len).unwrap_or(BLOCK);
        if self.size > LARGE {
            self.file.read_once(offset, len)
        } else {
            self.file.read(offset, len)
        }
    }
}

impl Level {
    const fn new(file: Arc<RevFile>, start: u64, size: u64) -> Self {
        Self {
            file,
            start,
            size,
            at: 0,
            chunk: 0,
            version: None,
            header: None,
            body: Bytes::new(),
            ahead: Bytes::new(),
            ahead_at: 0,
        }
    }

    /// Reads with which version of svndiff the data begins.
    fn read_version(&mut self) -> Result<()> {
        let magic = self.file.read_up_to(self.start, 4)?;
        let version = <[u8; 4]>::try_from(&magic[..])
            .ok()
            .filter(|_| self.size >= 4)
            .and_then(Version::from_magic)
            .ok_or_else(|| corrupt("Malformed svndiff data in representation"))?;
        (self.version, self.at) = (Some(version), 4);
        Ok(())
    }

    /// Reads the window with a number; `false` if the data ends before it.
    fn load(&mut self, chunk: u64) -> Result<bool> {
        if self.version.is_none() {
            self.read_version()?;
        }
        loop {
            if self.at == self.size {
                return Ok(false);
            }
            let left = self.size - self.at;
            let len = (WindowDecoder::MAX_HEADER as u64).min(left) as usize;
            let bytes = self.read(self.start + self.at, len)?;
            let header = WindowDecoder::header(&bytes)?.ok_or_else(beyond_end)?;
            let total = (header.len + header.body_len) as u64;
            if total > left {
                return Err(beyond_end());
            }
            let body = self.start + self.at + header.len as u64;
            // What was read ahead is read into again, once nobody has a part of it.
            drop(bytes);
            self.body = Bytes::new();
            self.at += total;
            self.chunk += 1;
            if self.chunk > chunk {
                self.body = self.read(body, header.body_len)?;
                self.header = Some(header);
                return Ok(true);
            }
        }
    }

    fn read(&mut self, offset: u64, len: usize) -> Result<Bytes> {
        if self.size <= LARGE {
            return self.file.read(offset, len);
        }
        let end = self.ahead_at + self.ahead.len() as u64;
        if offset < self.ahead_at || offset + len as u64 > end {
            let left = self.start + self.size - offset;
            let count = (AHEAD.max(len) as u64).min(left);
            let count = usize::try_from(count).unwrap_or(len);
            self.ahead = self
                .file
                .read_into(offset, count, std::mem::take(&mut self.ahead))?;
            self.ahead_at = offset;
        }
        // Within what was read, as was checked.
        let at = usize::try_from(offset - self.ahead_at).unwrap_or(0);
        Ok(self.ahead.slice(at..at + len))
    }

    /// Tells whether the window that was loaded needs the level below.
    fn copies_from_source(&self, decoder: &mut WindowDecoder) -> Result<bool> {
        let header = self.prepare(decoder)?;
        Ok(decoder.copies_from_source(header, &self.body)?)
    }

    /// Decodes the window that was loaded.
    fn window<'d>(&'d self, decoder: &'d mut WindowDecoder) -> Result<Window<'d>> {
        let header = self.prepare(decoder)?;
        Ok(decoder.decode(header, &self.body)?)
    }

    fn prepare(&self, decoder: &mut WindowDecoder) -> Result<&WindowHeader> {
        decoder.set_version(self.version.ok_or_else(beyond_end)?);
        self.header.as_ref().ok_or_else(beyond_end)
    }
}

fn beyond_end() -> Error {
    corrupt("Reading one svndiff window read beyond the end of the representation")
}

impl Delta {
    /// Makes the next part of the text; `false` at the end.
    fn next_window(&mut self) -> Result<bool> {
        // Down to the first window that needs nothing below it.
        let mut depth = 0;
        let mut needs_base = true;
        for level in &mut self.levels {
            if !level.load(self.chunk)? {
                if depth == 0 {
                    return Ok(false);
                }
                return Err(beyond_end());
            }
            depth += 1;
            needs_base = level.copies_from_source(&mut self.decoder)?;
            if !needs_base {
                break;
            }
        }
        self.chunk += 1;
        let Some((deepest, above)) = self.levels[..depth].split_last() else {
            return Ok(false);
        };
        let window = deepest.window(&mut self.decoder)?;
        self.text.clear();
        if needs_base {
            let view = self
                .base
                .view(window.source_offset(), window.source_len())?;
            window.apply(&view, &mut self.text);
        } else {
            apply_without_source(&window, &mut self.text);
        }
        for level in above.iter().rev() {
            let window = level.window(&mut self.decoder)?;
            let view = self.text.get(..window.source_len());
            let view = view.ok_or_else(|| corrupt("svndiff window length is corrupt"))?;
            self.other.clear();
            window.apply(view, &mut self.other);
            std::mem::swap(&mut self.text, &mut self.other);
        }
        Ok(true)
    }
}

impl Delta {
    /// Requires that the representation makes no more text: its size is stored apart from it.
    fn check_end(&mut self) -> Result<()> {
        let Some(first) = self.levels.first_mut() else {
            return Ok(());
        };
        while first.load(first.chunk)? {
            if first
                .header
                .as_ref()
                .is_some_and(|header| header.target_len() > 0)
            {
                return Err(corrupt(format!(
                    "Size of a representation is {}, but its text ends before",
                    first.size
                )));
            }
        }
        Ok(())
    }
}

fn apply_without_source(window: &Window<'_>, text: &mut Vec<u8>) {
    static ZEROS: [u8; WINDOW_SIZE] = [0; WINDOW_SIZE];
    // No instruction reads the view; windows are not larger than this.
    window.apply(&ZEROS[..window.source_len()], text);
}

impl Base {
    fn view(&mut self, offset: u64, len: usize) -> Result<Bytes> {
        let too_short = || corrupt("svndiff window length is corrupt");
        match self {
            Self::Nothing if len == 0 => Ok(Bytes::new()),
            Self::Nothing => Err(too_short()),
            Self::Text(text) => {
                let start = usize::try_from(offset).map_err(|_| too_short())?;
                let end = start.checked_add(len).filter(|end| *end <= text.len());
                Ok(text.slice(start..end.ok_or_else(too_short)?))
            }
            Self::Plain(plain) => {
                let end = offset
                    .checked_add(len as u64)
                    .filter(|end| *end <= plain.size);
                end.ok_or_else(too_short)?;
                let at = plain.start + offset;
                if plain.size > LARGE {
                    plain.file.read_once(at, len)
                } else {
                    plain.file.read(at, len)
                }
            }
        }
    }
}
