//! Revision files and pack files.
//!
//! A revision file is a sequence of items: representations, node-revisions, the list of changed
//! paths. How an item is found follows from the addressing:
//!
//! - physical: by its offset in the revision. A pack file is the revision files one after the
//!   other, and the file `manifest` has a line with the offset of each. A revision ends with
//!   `root-offset changes-offset\n`.
//! - logical: by its number, which the [index](crate::index) maps to an offset.
//!
//! A small file is read whole when it is opened, and then closed; of others, blocks are kept.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use bytes::{Bytes, BytesMut};
use sylvan_core::{Error, Md5, Result, Revnum};

use crate::cache::{Cache, Key, Kind, WeakCache};
use crate::index::l2p::{L2pHeader, Offsets};
use crate::index::p2l::{FIRST_ITEM, P2lHeader};
use crate::index::{Footer, ITEM_CHANGES, ITEM_ROOT_NODE, Item};
use crate::text::{corrupt, parse_number, shown};

/// How much is read at once; files up to this size are read whole.
pub(crate) const BLOCK: usize = 64 << 10;

/// What is read of a file before it is known how long it is: all of most revisions.
const HEAD: usize = 8 << 10;

/// An open revision or pack file.
pub(crate) struct RevFile {
    path: PathBuf,
    /// The first revision that is in it.
    pub(crate) start: Revnum,
    /// Whether it is a pack file.
    pub(crate) packed: bool,
    data: Data,
    len: u64,
    owner: u64,
    cache: WeakCache,
    index: OnceLock<Arc<Index>>,
    /// The first page of the log-to-phys index; most files have no other.
    offsets: OnceLock<Arc<Offsets>>,
    p2l: OnceLock<Arc<P2l>>,
    /// Offsets of the revisions, of pack files with physical addressing.
    manifest: OnceLock<Arc<[u64]>>,
}

enum Data {
    Whole(Bytes),
    File(File),
}

/// The tables of the log-to-phys index.
struct Index {
    footer: Footer,
    l2p: L2pHeader,
}

/// The tables of the phys-to-log index.
pub(crate) struct P2l {
    footer: Footer,
    pub(crate) header: P2lHeader,
}

/// How much of an index is read at first.
const INDEX_HEAD: u64 = 16 << 10;

/// Where the parts of a revision with physical addressing are, from the file's beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trailer {
    pub(crate) root: u64,
    pub(crate) changes: u64,
}

impl RevFile {
    /// Opens a file; `None` if it is not there.
    pub(crate) fn open(
        path: PathBuf,
        start: Revnum,
        packed: bool,
        cache: &Cache,
    ) -> Result<Option<Self>> {
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if is_missing(&error) => return Ok(None),
            Err(error) => return Err(cannot("open", &path, &error)),
        };
        let (data, len) =
            Self::read_or_keep(file).map_err(|error| cannot("read", &path, &error))?;
        Ok(Some(Self {
            path,
            start,
            packed,
            data,
            len,
            owner: cache.new_owner(),
            cache: cache.downgrade(),
            index: OnceLock::new(),
            offsets: OnceLock::new(),
            p2l: OnceLock::new(),
            manifest: OnceLock::new(),
        }))
    }

    fn read_or_keep(file: File) -> std::io::Result<(Data, u64)> {
        let mut head = [0; HEAD];
        let filled = loop {
            match file.read_at(&mut head, 0) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                result => break result?,
            }
        };
        // The system reads a file's bytes one and all.
        if filled < HEAD {
            return Ok((
                Data::Whole(Bytes::copy_from_slice(&head[..filled])),
                filled as u64,
            ));
        }
        let len = file.metadata()?.len();
        let whole = usize::try_from(len).ok();
        let Some(whole) = whole.filter(|len| (HEAD..=BLOCK).contains(len)) else {
            return Ok((Data::File(file), len));
        };
        let mut bytes = vec![0; whole];
        bytes[..HEAD].copy_from_slice(&head);
        file.read_exact_at(&mut bytes[HEAD..], HEAD as u64)?;
        Ok((Data::Whole(bytes.into()), whole as u64))
    }

    /// Makes one of bytes.
    pub(crate) fn of_bytes(bytes: Vec<u8>, start: Revnum, cache: &Cache) -> Self {
        Self {
            path: PathBuf::from("(memory)"),
            start,
            packed: false,
            len: bytes.len() as u64,
            data: Data::Whole(bytes.into()),
            owner: cache.new_owner(),
            cache: cache.downgrade(),
            index: OnceLock::new(),
            offsets: OnceLock::new(),
            p2l: OnceLock::new(),
            manifest: OnceLock::new(),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// What it counts in the cache: its bytes, or as much as lets no more than a few hundred files
    /// be open.
    pub(crate) fn weight(&self) -> usize {
        match &self.data {
            Data::Whole(bytes) => bytes.len() + 256,
            Data::File(_) => 128 << 10,
        }
    }

    /// Returns up to `len` bytes from `offset` on, fewer only at the file's end.
    pub(crate) fn read_up_to(&self, offset: u64, len: usize) -> Result<Bytes> {
        let left = usize::try_from(self.len.saturating_sub(offset)).unwrap_or(usize::MAX);
        self.read(offset.min(self.len), len.min(left))
    }

    /// Returns `len` bytes from `offset` on.
    pub(crate) fn read(&self, offset: u64, len: usize) -> Result<Bytes> {
        let end = offset
            .checked_add(len as u64)
            .filter(|end| *end <= self.len)
            .ok_or_else(|| self.ends_early())?;
        match &self.data {
            Data::Whole(bytes) => {
                // Both are within the bytes, as was checked.
                let start = usize::try_from(offset).unwrap_or(0);
                Ok(bytes.slice(start..start + len))
            }
            Data::File(file) => {
                let block = offset / BLOCK as u64;
                let within = (offset % BLOCK as u64) as usize;
                if len == 0 {
                    Ok(Bytes::new())
                } else if block == (end - 1) / BLOCK as u64 {
                    Ok(self.block(file, block)?.slice(within..within + len))
                } else if len <= 4 * BLOCK {
                    self.gather(file, offset, len)
                } else {
                    self.read_uncached(file, offset, len)
                }
            }
        }
    }

    fn gather(&self, file: &File, offset: u64, len: usize) -> Result<Bytes> {
        let mut out = BytesMut::with_capacity(len);
        while out.len() < len {
            let at = offset + out.len() as u64;
            let block = self.block(file, at / BLOCK as u64)?;
            let within = (at % BLOCK as u64) as usize;
            let count = (block.len() - within).min(len - out.len());
            out.extend_from_slice(&block[within..within + count]);
        }
        Ok(out.freeze())
    }

    fn block(&self, file: &File, number: u64) -> Result<Bytes> {
        let key = Key {
            owner: self.owner,
            kind: Kind::Block,
            a: 0,
            b: number,
        };
        let cache = self.cache.get();
        if let Some(block) = cache.as_ref().and_then(|cache| cache.text(&key)) {
            return Ok(block);
        }
        let offset = number * BLOCK as u64;
        let len = (self.len - offset).min(BLOCK as u64) as usize;
        let block = self.read_uncached(file, offset, len)?;
        if let Some(cache) = cache {
            cache.put_text(key, &block, block.len());
        }
        Ok(block)
    }

    fn read_uncached(&self, file: &File, offset: u64, len: usize) -> Result<Bytes> {
        let mut bytes = vec![0; len];
        match file.read_exact_at(&mut bytes, offset) {
            Ok(()) => Ok(bytes.into()),
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
                Err(self.ends_early())
            }
            Err(error) => Err(cannot("read", &self.path, &error)),
        }
    }

    /// As [`RevFile::read`], without keeping what is read: for what is read once.
    pub(crate) fn read_once(&self, offset: u64, len: usize) -> Result<Bytes> {
        match &self.data {
            Data::Whole(_) => self.read(offset, len),
            Data::File(_) if offset.saturating_add(len as u64) > self.len => Err(self.ends_early()),
            Data::File(file) => self.read_uncached(file, offset, len),
        }
    }

    /// As [`RevFile::read_once`], into a buffer that was used before.
    pub(crate) fn read_into(&self, offset: u64, len: usize, buffer: Bytes) -> Result<Bytes> {
        let Data::File(file) = &self.data else {
            return self.read(offset, len);
        };
        if offset.saturating_add(len as u64) > self.len {
            return Err(self.ends_early());
        }
        let mut buffer = buffer.try_into_mut().unwrap_or_default();
        buffer.resize(len, 0);
        match file.read_exact_at(&mut buffer, offset) {
            Ok(()) => Ok(buffer.freeze()),
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
                Err(self.ends_early())
            }
            Err(error) => Err(cannot("read", &self.path, &error)),
        }
    }

    fn ends_early(&self) -> Error {
        corrupt(format!("Unexpected end of file '{}'", self.path.display()))
    }

    fn index(&self, shard_size: u64) -> Result<&Index> {
        if let Some(index) = self.index.get() {
            return Ok(index);
        }
        let footer = self.read_footer()?;
        let len = footer.p2l_offset - footer.l2p_offset;
        let parse = |head: &[u8]| L2pHeader::parse(head, len, self.start, shard_size);
        let l2p = self.read_head(footer.l2p_offset, len, parse)?;
        Ok(self.index.get_or_init(|| Arc::new(Index { footer, l2p })))
    }

    /// Parses what stands at the beginning of an index; reads more of it while that does not
    /// suffice.
    fn read_head<T>(&self, offset: u64, len: u64, parse: impl Fn(&[u8]) -> Result<T>) -> Result<T> {
        let mut head = INDEX_HEAD.min(len);
        loop {
            let bytes = self.read(offset, usize::try_from(head).unwrap_or(usize::MAX))?;
            match parse(&bytes) {
                Err(_) if head < len => head = head.saturating_mul(8).min(len),
                parsed => return parsed,
            }
        }
    }

    /// Reads where the indexes are.
    pub(crate) fn read_footer(&self) -> Result<Footer> {
        let invalid = || corrupt(format!("Invalid r{} footer", self.start));
        let last = self.len.checked_sub(1).ok_or_else(invalid)?;
        let footer_len = self.read(last, 1)?[0];
        let offset = last
            .checked_sub(u64::from(footer_len))
            .ok_or_else(invalid)?;
        let text = self.read(offset, usize::from(footer_len))?;
        Footer::parse(&text, self.start, offset)
    }

    /// Returns the offset of an item; `None` if the number is not used.
    pub(crate) fn l2p(&self, revision: Revnum, item: u64, shard_size: u64) -> Result<Option<u64>> {
        let index = self.index(shard_size)?;
        let (page, page_no, entry) = index.l2p.find(revision, item)?;
        if page_no == 0
            && let Some(offsets) = self.offsets.get()
        {
            return offsets.get(entry, item, revision);
        }
        let key = Key {
            owner: self.owner,
            kind: Kind::Offsets,
            a: 0,
            b: page_no as u64,
        };
        let cache = self.cache.get();
        if let Some(offsets) = cache.as_ref().and_then(|cache| cache.offsets(&key)) {
            return offsets.get(entry, item, revision);
        }
        let len = usize::try_from(page.len).unwrap_or(usize::MAX);
        let bytes = self.read(index.footer.l2p_offset + page.offset, len)?;
        let offsets = Arc::new(Offsets::parse(&bytes, page)?);
        if page_no == 0 {
            return self
                .offsets
                .get_or_init(|| offsets)
                .get(entry, item, revision);
        }
        if let Some(cache) = cache {
            cache.put_offsets(key, &offsets, offsets.weight());
        }
        offsets.get(entry, item, revision)
    }

    /// Returns how many item numbers a revision has, with logical addressing.
    pub(crate) fn item_count(&self, revision: Revnum, shard_size: u64) -> Result<u64> {
        self.index(shard_size)?.l2p.item_count(revision)
    }

    /// Returns the tables of the phys-to-log index.
    pub(crate) fn p2l(&self) -> Result<Arc<P2l>> {
        if let Some(p2l) = self.p2l.get() {
            return Ok(Arc::clone(p2l));
        }
        let footer = self.read_footer()?;
        let len = footer.footer_offset - footer.p2l_offset;
        let parse = |head: &[u8]| P2lHeader::parse(head, len, self.start, footer.l2p_offset);
        let header = self.read_head(footer.p2l_offset, len, parse)?;
        let p2l = Arc::new(P2l { footer, header });
        Ok(Arc::clone(self.p2l.get_or_init(|| p2l)))
    }

    /// Returns the items that are described with a page.
    pub(crate) fn described_items(&self, p2l: &P2l, page: usize) -> Result<Vec<Item>> {
        p2l.header
            .parse_described(&self.read_description(p2l, page)?)
    }

    /// Returns the items that overlap the range of a page.
    pub(crate) fn page_items(&self, p2l: &P2l, page: usize) -> Result<Vec<Item>> {
        let next = p2l.footer.p2l_offset + p2l.header.description(page).end;
        let left = usize::try_from(p2l.footer.footer_offset - next).unwrap_or(usize::MAX);
        let next = self.read(next, left.min(FIRST_ITEM))?;
        p2l.header
            .parse_page(&self.read_description(p2l, page)?, &next, page)
    }

    fn read_description(&self, p2l: &P2l, page: usize) -> Result<Bytes> {
        let range = p2l.header.description(page);
        let len = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        self.read(p2l.footer.p2l_offset + range.start, len)
    }

    /// Checks the digests of both indexes.
    pub(crate) fn verify_index_digests(&self) -> Result<()> {
        let footer = self.read_footer()?;
        for (name, from, to, md5) in [
            (
                "L2P index",
                footer.l2p_offset,
                footer.p2l_offset,
                footer.l2p_md5,
            ),
            (
                "P2L index",
                footer.p2l_offset,
                footer.footer_offset,
                footer.p2l_md5,
            ),
        ] {
            let len = usize::try_from(to - from).map_err(|_| self.ends_early())?;
            let found = Md5::of(&self.read_once(from, len)?);
            if found != md5 {
                let text = format!("{name} checksum mismatch in file {}", self.path.display());
                return Err(crate::error::checksum_mismatch(&text, md5, found));
            }
        }
        Ok(())
    }

    /// Returns the offsets of the revisions in a pack file with physical addressing.
    pub(crate) fn manifest(&self, path: &Path, shard_size: u64) -> Result<Arc<[u64]>> {
        if let Some(manifest) = self.manifest.get() {
            return Ok(Arc::clone(manifest));
        }
        let text = sylvan_io::file::read(path)?;
        let manifest = parse_manifest(&text, path, shard_size)?.into();
        Ok(Arc::clone(self.manifest.get_or_init(|| manifest)))
    }

    /// Reads the last line of a revision with physical addressing, which is from `start` to `end`
    /// in the file.
    pub(crate) fn read_trailer(&self, revision: Revnum, start: u64, end: u64) -> Result<Trailer> {
        let len = end.saturating_sub(start).min(64);
        let tail = self.read(end - len, len as usize)?;
        parse_trailer(&tail, revision, start, end)
    }
}

impl std::fmt::Debug for RevFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RevFile")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// Parses the offsets of revisions in a pack file.
pub(crate) fn parse_manifest(text: &[u8], path: &Path, shard_size: u64) -> Result<Vec<u64>> {
    let path = path.display();
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    let mut offsets = Vec::new();
    for line in text.split(|byte| *byte == b'\n') {
        let offset = parse_number(line).ok_or_else(|| {
            corrupt(format!(
                "Manifest offset '{}' in '{path}' is no number",
                shown(line)
            ))
        })?;
        if offsets.last().is_some_and(|before| *before > offset) {
            return Err(corrupt(format!("Manifest '{path}' is not in order")));
        }
        offsets.push(offset);
    }
    if offsets.len() as u64 != shard_size {
        return Err(corrupt(format!(
            "Manifest '{path}' has a wrong number of revisions"
        )));
    }
    Ok(offsets)
}

/// Parses the end of a revision with physical addressing.
pub(crate) fn parse_trailer(
    tail: &[u8],
    revision: Revnum,
    start: u64,
    end: u64,
) -> Result<Trailer> {
    let line = tail.strip_suffix(b"\n").ok_or_else(|| {
        corrupt(format!(
            "Revision file (r{revision}) lacks trailing newline"
        ))
    })?;
    let begin = line
        .iter()
        .rposition(|byte| *byte == b'\n')
        .ok_or_else(|| {
            corrupt(format!(
                "Final line in revision file (r{revision}) longer than 64 characters"
            ))
        })?;
    let line = &line[begin + 1..];
    let blank = line.iter().position(|byte| *byte == b' ').ok_or_else(|| {
        corrupt(format!(
            "Final line in revision file r{revision} missing space"
        ))
    })?;
    let offset = |text: &[u8]| {
        let within = parse_number(text)?.checked_add(start)?;
        Some(within).filter(|offset| *offset < end)
    };
    match (offset(&line[..blank]), offset(&line[blank + 1..])) {
        (Some(root), Some(changes)) => Ok(Trailer { root, changes }),
        _ => Err(corrupt(format!(
            "Final line in revision file r{revision} has no valid offsets"
        ))),
    }
}

/// Returns the item of a part of a revision, with logical addressing.
pub(crate) const fn well_known(changes: bool) -> u64 {
    if changes {
        ITEM_CHANGES
    } else {
        ITEM_ROOT_NODE
    }
}

pub(crate) fn is_missing(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
    )
}

fn cannot(action: &str, path: &Path, error: &std::io::Error) -> Error {
    Error::io(error, format!("Can't {action} file '{}'", path.display()))
}

#[cfg(test)]
mod tests;
