//! The pristine store: `.svn/pristine/ab/abcd….svn-base`, one read-only file a content.
//!
//! A file whose name has no row in PRISTINE is garbage of an interrupted operation. It is replaced,
//! never trusted.

use std::collections::HashMap;
use std::fs::File;
use std::io::ErrorKind;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sylvan_core::{RelPath, RelPathBuf, Result, Sha1};
use sylvan_io::file::{self, Creation, Dir, MODE_READ_ONLY, NewFile};

use crate::WorkingCopy;
use crate::db::Layer;
use crate::site::{self, Site};

/// The folder of the texts, in the administrative folder.
pub(crate) const FOLDER: &str = "pristine";

/// Returns the file of a pristine text, below the administrative folder.
pub(crate) fn path(sha1: &Sha1) -> Result<RelPathBuf> {
    RelPathBuf::new(format!("{FOLDER}/{}", name(sha1)))
}

/// Returns the file of a pristine text, below the folder of the texts.
fn name(sha1: &Sha1) -> String {
    let hex = sha1.to_string();
    let mut name = String::with_capacity(52);
    name.push_str(&hex[..2]);
    name.push('/');
    name.push_str(&hex);
    name.push_str(".svn-base");
    name
}

/// Opens the pristine text of a file as its highest layer has it; `None` for a plain addition.
///
/// # Errors
/// Those of the database; an operating system's error if the text is missing.
pub fn open_text(wc: &WorkingCopy, node: &RelPath) -> Result<Option<File>> {
    let layers = wc.db().layers(node)?;
    let found = layers.iter().find(|layer| layer.checksum.is_some());
    match found.map(Layer::sha1).transpose()?.flatten() {
        Some(sha1) => Dir::open(wc.adm_path("").as_path())?
            .open_file(&path(&sha1)?)
            .map(Some),
        None => Ok(None),
    }
}

/// The store as one operation writes to it, from many threads.
#[derive(Debug)]
pub(crate) struct Store {
    dir: Dir,
    adm: Arc<Dir>,
    shards: Vec<Mutex<Shard>>,
    known: Mutex<Known>,
    written: Condvar,
    temp_names: AtomicU64,
    latency: Latency,
    /// It is on a network file system.
    is_far: bool,
}

/// How long the file system takes to make a file, at best. Only the first files are timed: asking
/// for the time may cost as much as the rest.
#[derive(Debug)]
struct Latency {
    /// So many files are still to be timed.
    to_time: AtomicU32,
    least: AtomicU64,
    told: AtomicU64,
}

impl Latency {
    const FILES: u32 = 32;

    const fn new() -> Self {
        Self {
            to_time: AtomicU32::new(Self::FILES),
            least: AtomicU64::new(u64::MAX),
            told: AtomicU64::new(u64::MAX),
        }
    }

    fn timed<T>(&self, work: impl FnOnce() -> T) -> T {
        let count = |left: u32| left.checked_sub(1);
        let (order, relaxed) = (Ordering::Relaxed, Ordering::Relaxed);
        if self.to_time.load(relaxed) == 0
            || self.to_time.fetch_update(order, relaxed, count).is_err()
        {
            return work();
        }
        let began = Instant::now();
        let done = work();
        let micros = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.least.fetch_min(micros, relaxed);
        done
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shard {
    Unknown,
    /// Made by this operation: no name in it is taken but by us.
    Ours,
    /// There before: a name in it may be garbage.
    Old,
}

/// Which texts need not be written.
#[derive(Debug)]
struct Known {
    /// Texts of this operation that have no row yet: whether their file is complete.
    pending: HashMap<Sha1, bool>,
    /// Where a text may have a row.
    recorded: Filter,
    /// How often the database was asked.
    asked: u32,
    failed: bool,
    /// Threads that wait for a text of another one. Waking costs a system call, so nobody is woken
    /// who does not wait.
    waiting: usize,
}

/// What [`Store::claim`] found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// The text is in the store.
    Present,
    /// The caller writes it, and says [`Store::written`] or [`Store::failed`].
    Write,
}

impl Store {
    /// Makes the store of a working copy. `fresh` says that PRISTINE has no rows, `is_far` that each
    /// question to the database is likely to be a round trip.
    pub(crate) fn new(site: &Site, fresh: bool, is_far: bool) -> Result<Self> {
        let folder = RelPath::new(FOLDER)?;
        let dir = match site.adm.open_dir(folder) {
            Err(error) if file::error_kind(&error) == ErrorKind::NotFound => {
                site.adm.make_dir_all(folder)?;
                site.adm.open_dir(folder)?
            }
            opened => opened?,
        };
        Ok(Self {
            dir,
            adm: Arc::clone(&site.adm),
            shards: (0..256).map(|_| Mutex::new(Shard::Unknown)).collect(),
            known: Mutex::new(Known {
                pending: HashMap::new(),
                recorded: if fresh {
                    Filter::empty()
                } else {
                    Filter::full()
                },
                asked: 0,
                failed: false,
                waiting: 0,
            }),
            written: Condvar::new(),
            temp_names: AtomicU64::new(0),
            latency: Latency::new(),
            is_far,
        })
    }

    /// Opens a text to read it.
    pub(crate) fn open(&self, sha1: &Sha1) -> Result<File> {
        self.dir.open_file(&self.path(sha1)?)
    }

    /// Returns the folder of the texts.
    pub(crate) const fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Returns the file of a text in that folder.
    pub(crate) fn path(&self, sha1: &Sha1) -> Result<RelPathBuf> {
        RelPathBuf::new(name(sha1))
    }

    /// Tells whether it is worth reading which texts have rows: each question to the database is a
    /// round trip, and this is not the first.
    pub(crate) fn wants_rows(&self) -> bool {
        let mut known = self.lock();
        if !self.is_far || !known.recorded.full {
            return false;
        }
        known.asked += 1;
        known.asked == WORTH_READING
    }

    /// Takes the texts that have rows. Called while nobody else of this process can write rows.
    pub(crate) fn rows_are(&self, texts: &[Sha1]) {
        let mut filter = Filter::empty();
        texts.iter().for_each(|text| filter.add(text));
        self.lock().recorded = filter;
    }

    /// Tells whether a text may have a row, which the database knows for sure.
    pub(crate) fn may_be_recorded(&self, sha1: &Sha1) -> bool {
        self.lock().recorded.may_have(sha1)
    }

    /// Asks whether a text must be written; waits while another thread writes the same, after a
    /// call of `before`, in which the caller declares what it has written itself: else two could
    /// wait for each other. `has_row` asks the database.
    pub(crate) fn claim(
        &self,
        sha1: &Sha1,
        has_row: impl FnOnce() -> Result<bool>,
        before: impl FnOnce(),
    ) -> Result<Claim> {
        let mut before = Some(before);
        let mut known = self.lock();
        if !known.pending.contains_key(sha1) && known.recorded.may_have(sha1) {
            drop(known);
            if has_row()? {
                return Ok(Claim::Present);
            }
            known = self.lock();
        }
        loop {
            match known.pending.get(sha1) {
                Some(true) => return Ok(Claim::Present),
                Some(false) if !known.failed => {
                    if let Some(before) = before.take() {
                        drop(known);
                        before();
                        known = self.lock();
                        continue;
                    }
                    known.waiting += 1;
                    known = self
                        .written
                        .wait(known)
                        .unwrap_or_else(PoisonError::into_inner);
                    known.waiting -= 1;
                }
                Some(false) | None => {
                    known.pending.insert(*sha1, false);
                    return Ok(Claim::Write);
                }
            }
        }
    }

    /// Says that claimed texts are complete.
    pub(crate) fn written(&self, texts: impl Iterator<Item = Sha1>) {
        let mut known = self.lock();
        known.pending.extend(texts.map(|sha1| (sha1, true)));
        self.wake(known);
    }

    fn wake(&self, known: MutexGuard<'_, Known>) {
        let waiting = known.waiting;
        drop(known);
        if waiting > 0 {
            self.written.notify_all();
        }
    }

    /// Says that a claimed text could not be written.
    pub(crate) fn failed(&self, sha1: &Sha1) {
        let mut known = self.lock();
        known.pending.remove(sha1);
        known.failed = true;
        self.wake(known);
    }

    /// Says that a text has its row now.
    pub(crate) fn recorded<'a>(&self, texts: impl Iterator<Item = &'a Sha1>) {
        let mut known = self.lock();
        for sha1 in texts {
            known.pending.remove(sha1);
            known.recorded.add(sha1);
        }
    }

    /// Returns how long making a file takes at best, if it is less than was told before.
    pub(crate) fn news_of_latency(&self) -> Option<Duration> {
        let least = self.latency.least.load(Ordering::Relaxed);
        let news = least < self.latency.told.fetch_min(least, Ordering::Relaxed);
        news.then(|| Duration::from_micros(least))
    }

    /// Writes a claimed text from memory, straight under its final name.
    pub(crate) fn write(&self, sha1: &Sha1, text: &[u8]) -> Result<()> {
        let file = self.create(&self.path(sha1)?, sha1.0[0])?;
        file.write_all(text)?;
        file.close()
    }

    fn create(&self, path: &RelPath, first: u8) -> Result<NewFile> {
        if self.shard(path, first)? == Shard::Ours {
            let create = || self.dir.create(path, MODE_READ_ONLY, Creation::Fresh);
            return self.latency.timed(create);
        }
        let create = || self.dir.create(path, MODE_READ_ONLY, Creation::Exclusive);
        match self.latency.timed(create) {
            Err(error) if file::error_kind(&error) == ErrorKind::AlreadyExists => {
                self.dir.remove_if_exists(path)?;
                self.dir.create(path, MODE_READ_ONLY, Creation::Exclusive)
            }
            created => created,
        }
    }

    /// Makes the folder of a text unless it is known to be there.
    fn shard(&self, path: &RelPath, first: u8) -> Result<Shard> {
        let mut shard = self.shards[usize::from(first)]
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if *shard == Shard::Unknown {
            let dir = path.parent().unwrap_or(RelPath::ROOT);
            *shard = match self.dir.make_dir(dir) {
                Ok(()) => Shard::Ours,
                Err(error) if file::error_kind(&error) == ErrorKind::AlreadyExists => Shard::Old,
                Err(error) => return Err(error),
            };
        }
        Ok(*shard)
    }

    /// Opens a temporary file for a text whose name is not known yet.
    pub(crate) fn create_temp(&self) -> Result<TempText> {
        loop {
            let number = self.temp_names.fetch_add(1, Ordering::Relaxed);
            let path = site::tmp().child(&format!("sylvan-{}-{number}", std::process::id()))?;
            match self.adm.create(&path, MODE_READ_ONLY, Creation::Exclusive) {
                Ok(file) => {
                    return Ok(TempText {
                        file: Some(file),
                        dir: Arc::clone(&self.adm),
                        path: Some(path),
                    });
                }
                Err(error) => match file::error_kind(&error) {
                    ErrorKind::AlreadyExists => {}
                    ErrorKind::NotFound if number == 0 => self.adm.make_dir_all(site::tmp())?,
                    _ => return Err(error),
                },
            }
        }
    }

    /// Moves a complete temporary text to its claimed name.
    pub(crate) fn install_temp(&self, mut temp: TempText, sha1: &Sha1) -> Result<()> {
        if let Some(file) = temp.file.take() {
            file.close()?;
        }
        let path = self.path(sha1)?;
        self.shard(&path, sha1.0[0])?;
        if let Some(from) = &temp.path {
            self.adm.rename_to(from, &self.dir, &path)?;
        }
        temp.path = None;
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A text being written to the folder for temporary files; removed when dropped.
#[derive(Debug)]
pub(crate) struct TempText {
    file: Option<NewFile>,
    dir: Arc<Dir>,
    /// Nothing once it has its final name.
    path: Option<RelPathBuf>,
}

impl TempText {
    /// Appends to it.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<()> {
        match &self.file {
            Some(file) => file.write_all(bytes),
            None => Ok(()),
        }
    }
}

impl Drop for TempText {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // The operation has failed already; cleanup finds what stays.
            let _ = self.dir.remove_if_exists(path);
        }
    }
}

/// So often the database of a far working copy is asked for single texts.
const WORTH_READING: u32 = 4;

/// A set of texts that may claim to have one that it has not. The first texts go into a small part,
/// so that a small tree touches little memory.
#[derive(Debug)]
struct Filter {
    small: Vec<u64>,
    large: Vec<u64>,
    added: usize,
    full: bool,
}

impl Filter {
    /// 64 KiB: of [`Filter::FEW`] texts one in a thousand is taken for known, which costs a query.
    const SMALL: usize = 1 << 13;
    /// So many texts go into the small part.
    const FEW: usize = 8000;
    /// 2 MiB: of a million texts one in fifty is taken for known.
    const LARGE: usize = 1 << 18;

    const fn empty() -> Self {
        Self {
            small: Vec::new(),
            large: Vec::new(),
            added: 0,
            full: false,
        }
    }

    fn full() -> Self {
        Self {
            full: true,
            ..Self::empty()
        }
    }

    fn places(sha1: &Sha1, words: usize) -> [(usize, u64); 2] {
        [4, 8].map(|at| {
            let bytes: [u8; 4] = std::array::from_fn(|byte| sha1.0[at + byte]);
            let place = u32::from_le_bytes(bytes);
            ((place >> 6) as usize % words, 1 << (place & 63))
        })
    }

    fn add(&mut self, sha1: &Sha1) {
        if self.full {
            return;
        }
        self.added += 1;
        let (part, words) = if self.added <= Self::FEW {
            (&mut self.small, Self::SMALL)
        } else {
            (&mut self.large, Self::LARGE)
        };
        if part.is_empty() {
            *part = vec![0; words];
        }
        for (word, bit) in Self::places(sha1, words) {
            part[word] |= bit;
        }
    }

    fn may_have(&self, sha1: &Sha1) -> bool {
        let has = |part: &[u64]| {
            !part.is_empty()
                && Self::places(sha1, part.len())
                    .iter()
                    .all(|(word, bit)| part[*word] & bit != 0)
        };
        self.full || has(&self.small) || has(&self.large)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filter_forgets_nothing() {
        for (texts, most_wrong) in [(1000, 10), (20_000, 100)] {
            let of = |numbers: std::ops::Range<u32>| numbers.map(|n| Sha1::of(&n.to_le_bytes()));
            let mut filter = Filter::empty();
            assert!(of(0..texts).all(|sha1| !filter.may_have(&sha1)));
            of(0..texts).for_each(|sha1| filter.add(&sha1));
            assert!(of(0..texts).all(|sha1| filter.may_have(&sha1)));
            let wrong = of(texts..2 * texts).filter(|sha1| filter.may_have(sha1));
            assert!(wrong.count() < most_wrong);
        }
    }
}
