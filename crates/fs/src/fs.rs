//! An open file system.

use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sylvan_core::{Error, ErrorCode, Props, Result, Revnum, hash_dump};
use sylvan_io::file;

use crate::cache::{Cache, Key, Kind};
use crate::change::Change;
use crate::conf::Conf;
use crate::dir::Directory;
use crate::error::no_such_revision;
use crate::format::Format;
use crate::id::{NodeRevId, Place};
use crate::layout::{self, Layout};
use crate::node_rev::{NodeRev, Representation};
use crate::rep::RepReader;
use crate::rep_cache::{Pending, RepCache};
use crate::rev_file::{RevFile, Trailer};
use crate::text::{corrupt, parse_base36, shown};

/// How a file system is opened.
#[derive(Clone, Debug)]
pub struct Options {
    /// What is kept in memory; clones of one cache share it.
    pub cache: Cache,
    /// Whether what is written is brought to the disk before it counts.
    pub flush_to_disk: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            cache: Cache::default(),
            flush_to_disk: true,
        }
    }
}

/// An open file system: the folder `db` of a repository. Clones are cheap and share it; it may be
/// used by any number of threads.
#[derive(Clone)]
pub struct FileSystem(Arc<Inner>);

struct Inner {
    layout: Layout,
    format: Format,
    uuid: String,
    instance_id: String,
    conf: Conf,
    options: Options,
    /// The number by which the cache knows it.
    owner: u64,
    /// The youngest revision that was seen.
    youngest: AtomicI64,
    /// The first revision that is not packed, when that was read last.
    min_unpacked: AtomicI64,
    rep_cache: Mutex<Option<RepCache>>,
    pending_reps: Mutex<Pending>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        let pending = self.pending_reps.get_mut();
        let reps = pending.unwrap_or_else(PoisonError::into_inner).take();
        if reps.is_empty() {
            return;
        }
        let slot = self.rep_cache.get_mut();
        let opened = slot.unwrap_or_else(PoisonError::into_inner).take();
        let second = self.format.number.has_rep_cache_v2();
        let cache = match opened {
            Some(cache) => Ok(cache),
            None => RepCache::open(self.layout.db(), second),
        };
        // What is not noted is stored twice one day.
        let _ = cache.and_then(|mut cache| cache.add(&reps));
    }
}

/// The content of `current`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Current {
    pub(crate) youngest: Revnum,
    /// The counters of formats 1 and 2.
    pub(crate) next_node: u64,
    pub(crate) next_copy: u64,
}

/// How often what others replace meanwhile is read again.
const RETRIES: usize = 10;

impl FileSystem {
    /// Opens the file system in `db`.
    ///
    /// # Errors
    /// [`ErrorCode::FS_UNKNOWN_FS_TYPE`] if it is none of FSFS, those of [`Format::parse`] and
    /// [`Conf::read`], and if a file cannot be read.
    pub fn open(db: &Path) -> Result<Self> {
        Self::open_with(db, Options::default())
    }

    /// Opens the file system in `db`.
    ///
    /// # Errors
    /// As [`FileSystem::open`].
    pub fn open_with(db: &Path, options: Options) -> Result<Self> {
        check_type(db)?;
        Self::open_as(db, Format::read(db)?, options)
    }

    /// As [`FileSystem::open_with`], with a format that the file does not say, or not yet.
    pub(crate) fn open_as(db: &Path, format: Format, options: Options) -> Result<Self> {
        let layout = Layout::new(db, &format);
        let (uuid, instance_id) = read_uuid(&layout, &format)?;
        let conf = Conf::read(db, format.number)?;
        let owner = options
            .cache
            .owner_of_fs(db, &format!("{uuid} {instance_id}"));
        let fs = Self(Arc::new(Inner {
            layout,
            format,
            uuid,
            instance_id,
            conf,
            options,
            owner,
            youngest: AtomicI64::new(0),
            min_unpacked: AtomicI64::new(0),
            rep_cache: Mutex::new(None),
            pending_reps: Mutex::default(),
        }));
        if format.number.has_packing() {
            fs.refresh_min_unpacked()?;
        }
        Ok(fs)
    }

    /// Returns the folder.
    pub fn path(&self) -> &Path {
        self.0.layout.db()
    }

    /// Returns what the file `format` says.
    pub fn format(&self) -> &Format {
        &self.0.format
    }

    /// Returns the UUID of the repository.
    pub fn uuid(&self) -> &str {
        &self.0.uuid
    }

    /// Returns the ID of this copy of the repository; the UUID before format 7.
    pub fn instance_id(&self) -> &str {
        &self.0.instance_id
    }

    /// Gives the repository a UUID, and this copy an ID; new ones where there is none. Those who
    /// have it open, this one too, know the old ones still.
    ///
    /// # Errors
    /// [`BAD_UUID`](sylvan_core::ErrorCode::BAD_UUID) for what is none, and if the file cannot be
    /// written.
    pub fn set_uuid(&self, uuid: Option<&str>, instance_id: Option<&str>) -> Result<()> {
        uuid.map_or(Ok(()), crate::uuid::check)?;
        self.write_uuid(self.0.format.number, uuid, instance_id)
    }

    /// As [`FileSystem::set_uuid`], for a format that the file system will have.
    pub(crate) fn write_uuid(
        &self,
        number: crate::format::FormatNumber,
        uuid: Option<&str>,
        instance_id: Option<&str>,
    ) -> Result<()> {
        let or_new = |id: Option<&str>| match id {
            Some(id) => Ok(id.to_owned()),
            None => crate::uuid::random(),
        };
        let mut text = format!("{}\n", or_new(uuid)?);
        if number.has_instance_id() {
            text = format!("{text}{}\n", or_new(instance_id)?);
        }
        let like = self.0.layout.file(layout::CURRENT);
        let path = self.0.layout.file(layout::UUID);
        self.replace_file_like(&path, text.as_bytes(), &like, self.0.options.flush_to_disk)
    }

    /// Returns what `fsfs.conf` says.
    pub fn conf(&self) -> &Conf {
        &self.0.conf
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.0.layout
    }

    pub(crate) fn cache(&self) -> &Cache {
        &self.0.options.cache
    }

    pub(crate) fn options(&self) -> &Options {
        &self.0.options
    }

    pub(crate) fn key(&self, kind: Kind, revision: Revnum, b: u64) -> Key {
        Key::new(self.0.owner, kind, revision, b)
    }

    /// Reads the youngest revision.
    ///
    /// # Errors
    /// [`ErrorCode::FS_CORRUPT`] or if `current` cannot be read.
    pub fn youngest(&self) -> Result<Revnum> {
        let current = self.read_current()?;
        self.note_youngest(current.youngest);
        Ok(current.youngest)
    }

    /// Returns the youngest revision that was seen.
    pub(crate) fn known_youngest(&self) -> Revnum {
        Revnum::new(self.0.youngest.load(Ordering::Relaxed)).unwrap_or_default()
    }

    pub(crate) fn rep_cache_slot(&self) -> MutexGuard<'_, Option<RepCache>> {
        self.0
            .rep_cache
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn pending_reps(&self) -> MutexGuard<'_, Pending> {
        self.0
            .pending_reps
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a node-revision in the cache.
    pub(crate) fn keep_node(&self, revision: Revnum, item: u64, node: &Arc<NodeRev>) {
        self.cache()
            .put_node_rev(self.key(Kind::NodeRev, revision, item), node, NODE_WEIGHT);
    }

    pub(crate) fn note_youngest(&self, revision: Revnum) {
        self.0
            .youngest
            .fetch_max(revision.number(), Ordering::Relaxed);
    }

    pub(crate) fn read_current(&self) -> Result<Current> {
        let path = self.0.layout.file(layout::CURRENT);
        let text = read_replaced(&path)?;
        parse_current(&text, !self.0.format.number.has_no_global_ids())
    }

    /// Checks that a revision exists.
    ///
    /// # Errors
    /// [`ErrorCode::FS_NO_SUCH_REVISION`].
    pub fn ensure_revision_exists(&self, revision: Revnum) -> Result<()> {
        if revision.number() <= self.0.youngest.load(Ordering::Relaxed) {
            return Ok(());
        }
        if revision <= self.youngest()? {
            return Ok(());
        }
        Err(no_such_revision(revision))
    }

    /// Returns the first revision that is not packed.
    ///
    /// # Errors
    /// If `min-unpacked-rev` cannot be read.
    pub fn min_unpacked_rev(&self) -> Result<Revnum> {
        if self.0.format.number.has_packing() {
            self.refresh_min_unpacked()?;
        }
        Ok(self.min_unpacked())
    }

    pub(crate) fn min_unpacked(&self) -> Revnum {
        Revnum::new(self.0.min_unpacked.load(Ordering::Acquire)).unwrap_or_default()
    }

    pub(crate) fn refresh_min_unpacked(&self) -> Result<()> {
        let text = file::read(&self.0.layout.file(layout::MIN_UNPACKED_REV))?;
        let line = text.split(|byte| *byte == b'\n').next().unwrap_or(&[]);
        let parsed = std::str::from_utf8(line).ok().and_then(Revnum::parse);
        let revision = parsed.ok_or_else(|| bad_revnum(line))?;
        self.0
            .min_unpacked
            .store(revision.number(), Ordering::Release);
        Ok(())
    }

    pub(crate) fn is_packed(&self, revision: Revnum) -> bool {
        self.0.format.shard_size.is_some() && revision < self.min_unpacked()
    }

    /// Returns how many revisions a shard has; 1 for the linear layout, so that each is alone.
    pub(crate) fn shard_size(&self) -> u64 {
        u64::from(self.0.format.shard_size.unwrap_or(1))
    }

    /// Opens the file that has a revision.
    pub(crate) fn rev_file(&self, revision: Revnum) -> Result<Arc<RevFile>> {
        if let Some(file) = self.try_rev_file(revision)? {
            return Ok(file);
        }
        // It may have been packed meanwhile.
        if self.0.format.number.has_packing() {
            self.refresh_min_unpacked()?;
            if let Some(file) = self.try_rev_file(revision)? {
                return Ok(file);
            }
        }
        Err(no_such_revision(revision))
    }

    /// Returns the path of the file that has a revision, the first revision that is in it, and
    /// whether it is a pack file.
    pub(crate) fn rev_file_path(&self, revision: Revnum) -> (std::path::PathBuf, Revnum, bool) {
        if self.is_packed(revision) {
            let path = self.0.layout.rev_packed(revision, layout::PACK);
            return (path, self.shard_start(revision), true);
        }
        (self.0.layout.rev(revision), revision, false)
    }

    fn try_rev_file(&self, revision: Revnum) -> Result<Option<Arc<RevFile>>> {
        let (path, start, packed) = self.rev_file_path(revision);
        let kind = if packed { Kind::PackFile } else { Kind::File };
        let key = self.key(kind, start, 0);
        if let Some(file) = self.cache().file(&key) {
            return Ok(Some(file));
        }
        let Some(file) = RevFile::open(path, start, packed, self.cache())? else {
            return Ok(None);
        };
        let file = Arc::new(file);
        self.cache().put_file(key, &file, file.weight());
        Ok(Some(file))
    }

    pub(crate) fn shard_start(&self, revision: Revnum) -> Revnum {
        let size = self.shard_size().cast_signed();
        Revnum::new(revision.number() / size * size).unwrap_or_default()
    }

    /// Returns where a revision begins and ends in a file with physical addressing.
    pub(crate) fn rev_bounds(&self, file: &RevFile, revision: Revnum) -> Result<(u64, u64)> {
        if !file.packed {
            return Ok((0, file.len()));
        }
        let path = self.0.layout.rev_packed(revision, layout::MANIFEST);
        let offsets = file.manifest(&path, self.shard_size())?;
        let at = usize::try_from(revision.number() - file.start.number()).unwrap_or(usize::MAX);
        let start = offsets.get(at).copied();
        let end = offsets
            .get(at.saturating_add(1))
            .copied()
            .unwrap_or(file.len());
        match start {
            Some(start) if start < end && end <= file.len() => Ok((start, end)),
            _ => Err(corrupt(format!(
                "Manifest '{}' has wrong offsets",
                path.display()
            ))),
        }
    }

    /// Returns where an item begins in a file.
    pub(crate) fn item_offset(&self, file: &RevFile, revision: Revnum, item: u64) -> Result<u64> {
        if self.0.format.is_logical() {
            let offset = file.l2p(revision, item, self.shard_size())?;
            return offset.ok_or_else(|| {
                crate::index::overflow(format!("Item index {item} not used in revision {revision}"))
            });
        }
        let (start, _) = self.rev_bounds(file, revision)?;
        start
            .checked_add(item)
            .ok_or_else(|| corrupt("Item offset too large"))
    }

    pub(crate) fn open_item(&self, revision: Revnum, item: u64) -> Result<crate::rep::Opened> {
        self.ensure_revision_exists(revision)?;
        let file = self.rev_file(revision)?;
        let offset = self.item_offset(&file, revision, item)?;
        Ok(crate::rep::Opened { file, offset })
    }

    pub(crate) fn trailer(&self, file: &RevFile, revision: Revnum) -> Result<Trailer> {
        let (start, end) = self.rev_bounds(file, revision)?;
        file.read_trailer(revision, start, end)
    }

    /// Returns the ID of a revision's root folder.
    pub(crate) fn root_id(&self, revision: Revnum) -> Result<NodeRevId> {
        self.ensure_revision_exists(revision)?;
        if self.0.format.is_logical() {
            return Ok(NodeRevId::logical_root(revision));
        }
        let key = self.key(Kind::RootId, revision, 0);
        if let Some(id) = self.cache().root_id(&key) {
            return Ok(id);
        }
        let file = self.rev_file(revision)?;
        let trailer = self.trailer(&file, revision)?;
        let node = Arc::new(read_node_rev(&file, trailer.root)?);
        let id = node.id;
        let Place::Revision(place, item) = id.place else {
            return Err(corrupt(format!("Root of r{revision} is in a transaction")));
        };
        // Where the ID is damaged, what is there will tell.
        let (start, _) = self.rev_bounds(&file, revision)?;
        if place == revision && start.checked_add(item) == Some(trailer.root) {
            self.cache()
                .put_node_rev(self.key(Kind::NodeRev, place, item), &node, NODE_WEIGHT);
        }
        self.cache().put_root_id(key, &id, 0);
        Ok(id)
    }

    /// Reads a committed node-revision.
    ///
    /// # Errors
    /// [`ErrorCode::FS_CORRUPT`] if it is damaged.
    pub fn node_rev(&self, id: &NodeRevId) -> Result<Arc<NodeRev>> {
        let Place::Revision(revision, item) = id.place else {
            return Err(dangling(self.path(), id));
        };
        let key = self.key(Kind::NodeRev, revision, item);
        if let Some(node) = self.cache().node_rev(&key) {
            return Ok(node);
        }
        let read = || {
            let opened = self.open_item(revision, item)?;
            read_node_rev(&opened.file, opened.offset)
        };
        let node = Arc::new(read().map_err(|error| {
            if error.code() == ErrorCode::FS_CORRUPT {
                error.context(format!("Corrupt node-revision '{id}'"))
            } else {
                error
            }
        })?);
        self.cache().put_node_rev(key, &node, NODE_WEIGHT);
        Ok(node)
    }

    /// Reads the full text of a committed representation.
    ///
    /// # Errors
    /// Those of [`RepReader`].
    pub fn reader(&self, rep: Option<&Representation>) -> Result<RepReader> {
        match rep {
            None => Ok(RepReader::of_text(bytes::Bytes::new())),
            Some(rep) => RepReader::new(self, rep),
        }
    }

    /// Reads the entries of a committed folder.
    ///
    /// # Errors
    /// [`ErrorCode::FS_CORRUPT`] if they are damaged.
    pub fn directory(&self, node: &NodeRev) -> Result<Arc<Directory>> {
        let Some(rep) = &node.text else {
            return Ok(Arc::default());
        };
        let key = rep
            .revision
            .map(|revision| self.key(Kind::Directory, revision, rep.item_index));
        if let Some(directory) = key.and_then(|key| self.cache().directory(&key)) {
            return Ok(directory);
        }
        let text = RepReader::new(self, rep)?.read_to_end()?;
        let directory = Arc::new(Directory::parse(&text, false, &node.id)?);
        if let Some(key) = key {
            self.cache()
                .put_directory(key, &directory, directory.weight());
        }
        Ok(directory)
    }

    /// Reads the properties of a committed node.
    ///
    /// # Errors
    /// [`ErrorCode::MALFORMED_FILE`] or [`ErrorCode::FS_CORRUPT`] if they are damaged.
    pub fn node_props(&self, node: &NodeRev) -> Result<Arc<Props>> {
        let Some(rep) = &node.props else {
            return Ok(Arc::default());
        };
        let key = rep
            .revision
            .map(|revision| self.key(Kind::Props, revision, rep.item_index));
        if let Some(props) = key.and_then(|key| self.cache().props(&key)) {
            return Ok(props);
        }
        let text = RepReader::new(self, rep)?.read_to_end()?;
        let props = Arc::new(hash_dump::read(&text).map_err(|error| {
            error.context(format!(
                "malformed property list for node-revision '{}'",
                node.id
            ))
        })?);
        if let Some(key) = key {
            self.cache().put_props(key, &props, text.len() * 2 + 64);
        }
        Ok(props)
    }

    /// Gives each changed path of a revision to `sink`, in the order they are stored.
    ///
    /// # Errors
    /// [`ErrorCode::FS_CORRUPT`] if they are damaged, and what `sink` returned.
    pub fn changes(
        &self,
        revision: Revnum,
        mut sink: impl FnMut(Change) -> Result<()>,
    ) -> Result<()> {
        self.ensure_revision_exists(revision)?;
        let file = self.rev_file(revision)?;
        let mut at = if self.0.format.is_logical() {
            self.item_offset(&file, revision, crate::rev_file::well_known(true))?
        } else {
            self.trailer(&file, revision)?.changes
        };
        let mut len = 4 << 10;
        loop {
            let bytes = file.read_up_to(at, len)?;
            let at_end = at + bytes.len() as u64 == file.len();
            let mut rest = &bytes[..];
            let mut used = 0;
            while at_end || has_two_lines(rest) {
                match Change::take(&mut rest)? {
                    None => return Ok(()),
                    Some(change) => sink(change)?,
                }
                used = bytes.len() - rest.len();
            }
            if used == 0 && bytes.len() >= MAX_RECORD {
                return Err(corrupt("Invalid changes line in rev-file"));
            }
            at += used as u64;
            len = if used == 0 {
                len * 2
            } else {
                crate::rev_file::BLOCK
            };
        }
    }
}

impl std::fmt::Debug for FileSystem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("FileSystem").field(&self.path()).finish()
    }
}

/// What a node-revision counts in the cache.
const NODE_WEIGHT: usize = 500;

/// The longest node-revision or changed path that is read.
const MAX_RECORD: usize = 1 << 20;

/// Tells whether a change, or the end of the list, is whole here.
fn has_two_lines(rest: &[u8]) -> bool {
    rest.first() == Some(&b'\n')
        || rest
            .iter()
            .position(|byte| *byte == b'\n')
            .is_some_and(|at| rest[at + 1..].contains(&b'\n'))
}

/// Reads a node-revision at an offset.
pub(crate) fn read_node_rev(file: &RevFile, offset: u64) -> Result<NodeRev> {
    read_node_rev_and_len(file, offset).map(|(node, _)| node)
}

/// As [`read_node_rev`]; returns how many bytes it takes, too.
pub(crate) fn read_node_rev_and_len(file: &RevFile, offset: u64) -> Result<(NodeRev, u64)> {
    let mut len = 1 << 10;
    loop {
        let bytes = file.read_up_to(offset, len)?;
        let more = bytes.len() == len && len < MAX_RECORD;
        if let Some((node, len)) = NodeRev::parse(&bytes, more)? {
            return Ok((node, len as u64));
        }
        len *= 4;
    }
}

/// The error for an ID of nothing.
pub(crate) fn dangling(db: &Path, id: &NodeRevId) -> Error {
    Error::new(
        ErrorCode::FS_ID_NOT_FOUND,
        format!(
            "Reference to non-existent node '{id}' in filesystem '{}'",
            db.display()
        ),
    )
}

/// Reads which file system a folder has.
pub(crate) fn read_type(db: &Path) -> Result<Vec<u8>> {
    let text = file::read_if_exists(&db.join(layout::FS_TYPE))?;
    // Before there was a choice, there was no such file.
    let text = text.unwrap_or_else(|| b"bdb".to_vec());
    Ok(text
        .split(|byte| *byte == b'\n')
        .next()
        .unwrap_or(&[])
        .to_vec())
}

fn check_type(db: &Path) -> Result<()> {
    let name = &read_type(db)?[..];
    if name == b"fsfs" {
        return Ok(());
    }
    let known = name == b"bdb" || name == b"fsx";
    let what = if known {
        "Failed to load module for FS type"
    } else {
        "Unknown FS type"
    };
    let text = format!("{what} '{}'", shown(name));
    Err(Error::new(ErrorCode::FS_UNKNOWN_FS_TYPE, text))
}

fn read_uuid(layout: &Layout, format: &Format) -> Result<(String, String)> {
    const LONGEST: usize = 36;
    let path = layout.file(layout::UUID);
    let text = file::read(&path)?;
    let mut lines = text.split_inclusive(|byte| *byte == b'\n');
    let mut line = || {
        let line = lines.next().and_then(|line| line.strip_suffix(b"\n"));
        let line = line.filter(|line| !line.is_empty() && line.len() <= LONGEST);
        line.and_then(|line| String::from_utf8(line.to_vec()).ok())
            .ok_or_else(|| {
                Error::new(
                    ErrorCode::MALFORMED_FILE,
                    format!("Can't read length line in file '{}'", path.display()),
                )
            })
    };
    let uuid = line()?;
    let instance_id = if format.number.has_instance_id() {
        line()?
    } else {
        uuid.clone()
    };
    Ok((uuid, instance_id))
}

/// Reads a file that others replace by renaming; on some file systems it is missing for a moment.
pub(crate) fn read_replaced(path: &Path) -> Result<Vec<u8>> {
    for _ in 1..RETRIES {
        match file::read(path) {
            Ok(text) => return Ok(text),
            Err(error) if !is_passing(&error) => return Err(error),
            Err(_) => {}
        }
    }
    file::read(path)
}

/// Tells whether an error may be gone at the next attempt.
fn is_passing(error: &Error) -> bool {
    use rustix::io::Errno;
    let number = error.code().number();
    [Errno::NOENT, Errno::STALE, Errno::IO]
        .iter()
        .any(|errno| errno.raw_os_error() == number)
}

pub(crate) fn parse_current(text: &[u8], counters: bool) -> Result<Current> {
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or(&[]);
    let mut words = line.split(|byte| *byte == b' ');
    let number = words.next().unwrap_or(&[]);
    let youngest = std::str::from_utf8(number).ok().and_then(Revnum::parse);
    let mut current = Current {
        youngest: youngest.ok_or_else(|| bad_revnum(number))?,
        next_node: 0,
        next_copy: 0,
    };
    if counters {
        // An upgrade leaves the counters of old formats, so new ones do not look.
        let mut counter = || words.next().and_then(parse_base36);
        match (counter(), counter()) {
            (Some(node), Some(copy)) if text.ends_with(b"\n") => {
                (current.next_node, current.next_copy) = (node, copy);
            }
            _ => return Err(corrupt("Corrupt 'current' file")),
        }
    }
    Ok(current)
}

fn bad_revnum(text: &[u8]) -> Error {
    Error::new(
        ErrorCode::REVNUM_PARSE_FAILURE,
        format!("Invalid revision number found parsing '{}'", shown(text)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn current_has_counters_in_old_formats() {
        let current = parse_current(b"359 j5 v\n", true).unwrap();
        assert_eq!(
            (
                current.youngest.number(),
                current.next_node,
                current.next_copy
            ),
            (359, 689, 31)
        );
        assert_eq!(
            parse_current(b"359 j5 v\n", false)
                .unwrap()
                .youngest
                .number(),
            359
        );
        assert_eq!(
            parse_current(b"359\n", true).unwrap_err().to_string(),
            "E160004: Corrupt 'current' file"
        );
        assert_eq!(
            parse_current(b"x\n", false).unwrap_err().to_string(),
            "E200022: Invalid revision number found parsing 'x'"
        );
    }
}
