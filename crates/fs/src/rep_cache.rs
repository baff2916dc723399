//! `rep-cache.db`: where a text with a given SHA-1 digest is stored already.
//!
//! It is only a help: it is asked while writing, may be missing, and what it says is checked.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags, OptionalExtension as _};
use sylvan_core::{Error, ErrorCode, Md5, NodeKind, Result, Revnum, Sha1, Timestamp};
use sylvan_io::{Cancel, file};

use crate::fs::FileSystem;
use crate::layout;
use crate::node_rev::Representation;
use crate::text::corrupt;

const TABLE: &str = "CREATE TABLE rep_cache (\n  hash TEXT NOT NULL PRIMARY KEY,\n  \
    revision INTEGER NOT NULL,\n  offset INTEGER NOT NULL,\n  size INTEGER NOT NULL,\n  \
    expanded_size INTEGER NOT NULL\n  )";
const GET: &str = "SELECT revision, offset, size, expanded_size FROM rep_cache WHERE hash = ?1";
const SET: &str = "INSERT OR IGNORE INTO rep_cache (hash, revision, offset, size, expanded_size) \
    VALUES (?1, ?2, ?3, ?4, ?5)";
const NEWEST: &str = "SELECT MAX(revision) FROM rep_cache";
const IN_RANGE: &str = "SELECT hash, revision, offset, size, expanded_size FROM rep_cache \
    WHERE revision >= ?1 AND revision <= ?2";

const REMOVE: &str = "DELETE FROM rep_cache WHERE revision > ?1";

/// How long another writer is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// So soon after the last time, more is waited for before something is written.
const GROUP: Duration = Duration::from_millis(500);
/// So much is kept at most till then.
const MAX_PENDING: usize = 1000;

/// Representations that are not in the database yet.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    reps: HashMap<Sha1, Representation>,
    /// When something was written last.
    written: Option<Instant>,
}

impl Pending {
    /// Takes all out, in the order of their revisions.
    pub(crate) fn take(&mut self) -> Vec<Representation> {
        let mut reps: Vec<_> = self.reps.drain().map(|(_, rep)| rep).collect();
        reps.sort_by_key(|rep| (rep.revision, rep.item_index));
        reps
    }
}

/// An open `rep-cache.db`.
#[derive(Debug)]
pub(crate) struct RepCache {
    connection: Connection,
    path: PathBuf,
    /// How often it was asked since others changed it.
    asked: u64,
    known: Option<Known>,
}

/// All that is in the database: asking that costs a read of the file, where a query takes locks.
#[derive(Debug)]
struct Known {
    reps: HashMap<Sha1, Representation>,
    state: State,
}

/// What tells of a file whether others changed it: size and time. Changes that follow each other
/// within the clock's grain may pass; a text is stored twice then.
type State = (u64, Timestamp);

/// Databases with more than this, in bytes or entries, are not read as a whole.
const MAX_KNOWN_SIZE: u64 = 4 << 20;
const MAX_KNOWN: usize = 64 << 10;
/// A question is worth reading so much of the database.
const SIZE_A_QUESTION: u64 = 2 << 10;

impl RepCache {
    /// Opens the database; makes it if it is not there.
    pub(crate) fn open(db: &Path, second_schema: bool) -> Result<Self> {
        let path = db.join(layout::REP_CACHE);
        if !file::exists(&path)? {
            let mode = file::stat(&db.join(layout::CURRENT))?.mode;
            match file::create_new(&path, mode) {
                Ok(_) => file::set_mode(&path, mode)?,
                Err(error) if error.code().number() == rustix::io::Errno::EXIST.raw_os_error() => {}
                Err(error) => return Err(error),
            }
        }
        let connection = Connection::open(&path).map_err(sqlite)?;
        connection.busy_timeout(PATIENCE).map_err(sqlite)?;
        connection
            .execute_batch("PRAGMA synchronous=OFF; PRAGMA journal_mode=TRUNCATE;")
            .map_err(sqlite)?;
        let version: i64 = connection
            .query_row("PRAGMA user_version", [], |row| row.get(0))
            .map_err(sqlite)?;
        if version <= 0 {
            let (suffix, version) = if second_schema {
                (" WITHOUT ROWID", 2)
            } else {
                ("", 1)
            };
            let schema = format!(
                "BEGIN IMMEDIATE; CREATE TABLE IF NOT EXISTS{}{suffix}; \
                 PRAGMA user_version = {version}; COMMIT;",
                TABLE.trim_start_matches("CREATE TABLE")
            );
            connection.execute_batch(&schema).map_err(sqlite)?;
        }
        Ok(Self {
            connection,
            path,
            asked: 0,
            known: None,
        })
    }

    /// Looks a digest up.
    pub(crate) fn get(&mut self, sha1: Sha1) -> Result<Option<Representation>> {
        let state = self.state()?;
        self.asked += 1;
        if self
            .known
            .as_ref()
            .is_some_and(|known| known.state != state)
        {
            (self.known, self.asked) = (None, 1);
        }
        let worth_it = self.asked.saturating_mul(SIZE_A_QUESTION) >= state.0;
        let may_know = self.known.is_none() && worth_it && state.0 <= MAX_KNOWN_SIZE;
        if may_know && self.know_all(state).is_err() {
            // Of what is damaged, the rest can be asked for.
            self.asked = 0;
        }
        if let Some(known) = &self.known {
            return Ok(known.reps.get(&sha1).copied());
        }
        let mut statement = self.connection.prepare_cached(GET).map_err(sqlite)?;
        let row = statement
            .query_row([sha1.to_string()], |row| {
                Ok([row.get::<_, i64>(0)?, row.get(1)?, row.get(2)?, row.get(3)?])
            })
            .optional()
            .map_err(sqlite)?;
        row.map(|numbers| representation(sha1, numbers)).transpose()
    }

    fn state(&self) -> Result<State> {
        let meta = file::stat(&self.path)?;
        Ok((meta.size, meta.mtime))
    }

    fn know_all(&mut self, state: State) -> Result<()> {
        let mut reps = HashMap::new();
        let (start, end) = (Revnum::ZERO, Revnum::new(i64::MAX).unwrap_or_default());
        self.each_in_range(start, end, |rep| {
            if let Some(sha1) = rep.sha1.filter(|_| reps.len() <= MAX_KNOWN) {
                reps.insert(sha1, *rep);
            }
            Ok(())
        })?;
        if reps.len() <= MAX_KNOWN {
            self.known = Some(Known { reps, state });
        }
        Ok(())
    }

    /// Adds representations.
    pub(crate) fn add(&mut self, reps: &[Representation]) -> Result<()> {
        if reps.is_empty() {
            return Ok(());
        }
        let before = self.state()?;
        self.insert(reps)?;
        let after = self.state()?;
        if let Some(known) = &mut self.known {
            let others_changed_it = known.state != before;
            known.state = after;
            for rep in reps {
                if let Some(sha1) = rep.sha1 {
                    known.reps.entry(sha1).or_insert(*rep);
                }
            }
            if others_changed_it || known.reps.len() > MAX_KNOWN {
                self.known = None;
            }
        }
        Ok(())
    }

    fn insert(&mut self, reps: &[Representation]) -> Result<()> {
        let transaction = self.connection.transaction().map_err(sqlite)?;
        {
            let mut statement = transaction.prepare_cached(SET).map_err(sqlite)?;
            for rep in reps {
                let (Some(sha1), Some(revision)) = (rep.sha1, rep.revision) else {
                    continue;
                };
                let numbers = [rep.item_index, rep.size, rep.expanded_size];
                let [item, size, expanded] = numbers.map(|number| number.cast_signed());
                statement
                    .execute((sha1.to_string(), revision.number(), item, size, expanded))
                    .map_err(sqlite)?;
            }
        }
        transaction.commit().map_err(sqlite)
    }

    /// Removes what is of revisions younger than `youngest`.
    pub(crate) fn remove_younger_than(&mut self, youngest: Revnum) -> Result<()> {
        self.known = None;
        let removed = self.connection.execute(REMOVE, [youngest.number()]);
        removed.map(drop).map_err(sqlite)
    }

    /// Returns the newest revision that has a representation here.
    pub(crate) fn newest(&self) -> Result<Option<Revnum>> {
        let newest = self.connection.query_row(NEWEST, [], |row| row.get(0));
        let newest: Option<i64> = newest.map_err(sqlite)?;
        Ok(newest.and_then(Revnum::new))
    }

    /// Gives each representation in revisions from `start` to `end` to `sink`.
    pub(crate) fn each_in_range(
        &self,
        start: Revnum,
        end: Revnum,
        mut sink: impl FnMut(&Representation) -> Result<()>,
    ) -> Result<()> {
        let mut statement = self.connection.prepare_cached(IN_RANGE).map_err(sqlite)?;
        let rows = statement
            .query_map([start.number(), end.number()], |row| {
                let numbers = [row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?];
                Ok((row.get::<_, String>(0)?, numbers))
            })
            .map_err(sqlite)?;
        for row in rows {
            let (hash, numbers) = row.map_err(sqlite)?;
            sink(&representation(Sha1::parse_hex(&hash)?, numbers)?)?;
        }
        Ok(())
    }
}

/// Copies the database while others may write to it; the copy can be written by its owner.
pub(crate) fn hotcopy(from: &Path, to: &Path, cancel: &Cancel) -> Result<()> {
    const PAGES: i32 = 1024;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let source = Connection::open_with_flags(from, flags).map_err(sqlite)?;
    source.busy_timeout(PATIENCE).map_err(sqlite)?;
    let mut target = Connection::open(to).map_err(sqlite)?;
    target
        .execute_batch("PRAGMA synchronous=OFF; PRAGMA journal_mode=TRUNCATE;")
        .map_err(sqlite)?;
    let backup = Backup::new(&source, &mut target).map_err(sqlite)?;
    loop {
        cancel.check()?;
        match backup.step(PAGES).map_err(sqlite)? {
            StepResult::Done => break,
            StepResult::Busy | StepResult::Locked => std::thread::sleep(Duration::from_millis(25)),
            _ => {}
        }
    }
    drop(backup);
    drop(target);
    file::set_mode(to, file::stat(from)?.mode)?;
    file::set_read_only(to, false)
}

/// Makes a representation of revision, offset, size and size of the full text.
fn representation(sha1: Sha1, numbers: [i64; 4]) -> Result<Representation> {
    let [revision, offset, size, expanded] = numbers.map(|number| u64::try_from(number).ok());
    let rep = (|| {
        Some(Representation {
            revision: Revnum::new(i64::try_from(revision?).ok()?),
            item_index: offset?,
            size: size?,
            expanded_size: expanded?,
            md5: Md5([0; 16]),
            sha1: Some(sha1),
            uniquifier: None,
        })
    })();
    let damaged = || corrupt(format!("Checksum '{sha1}' in rep-cache is damaged"));
    let mut rep = rep.ok_or_else(damaged)?;
    rep.fix_expanded_size();
    Ok(rep)
}

fn sqlite(error: rusqlite::Error) -> Error {
    let code = match &error {
        rusqlite::Error::SqliteFailure(failure, _)
            if matches!(
                failure.code,
                rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked
            ) =>
        {
            ErrorCode::SQLITE_BUSY
        }
        _ => ErrorCode::SQLITE_ERROR,
    };
    Error::new(code, format!("sqlite: {error}"))
}

impl FileSystem {
    /// Runs something while nobody can write to the database, if there is one.
    pub(crate) fn with_rep_cache_locked<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let path = self.layout().file(layout::REP_CACHE);
        if !self.format().number.has_rep_sharing() || !file::exists(&path)? {
            return work();
        }
        let mut cache = RepCache::open(self.path(), self.format().number.has_rep_cache_v2())?;
        let behavior = rusqlite::TransactionBehavior::Immediate;
        // Dropped, it is rolled back.
        let _lock = cache
            .connection
            .transaction_with_behavior(behavior)
            .map_err(sqlite)?;
        work()
    }

    /// Adds what may be shared of revisions from `start` (the first) to `end` (the youngest) to
    /// the database; `progress` is told each revision before.
    ///
    /// # Errors
    /// [`ErrorCode::FS_REP_SHARING_NOT_SUPPORTED`] before format 4,
    /// [`ErrorCode::FS_REP_SHARING_NOT_ALLOWED`] if `fsfs.conf` says so, what `progress` returned.
    pub fn build_rep_cache(
        &self,
        start: Option<Revnum>,
        end: Option<Revnum>,
        cancel: &Cancel,
        progress: &mut dyn FnMut(Revnum) -> Result<()>,
    ) -> Result<()> {
        let number = self.format().number;
        if !number.has_rep_sharing() {
            return Err(Error::new(
                ErrorCode::FS_REP_SHARING_NOT_SUPPORTED,
                format!(
                    "FSFS format ({}) too old for rep-sharing; please upgrade the filesystem.",
                    number.number()
                ),
            ));
        }
        if !self.conf().rep_sharing {
            return Err(Error::new(
                ErrorCode::FS_REP_SHARING_NOT_ALLOWED,
                "Filesystem does not allow rep-sharing.",
            ));
        }
        let start = start.map_or(1, Revnum::number);
        let end = match end {
            Some(end) => end,
            None => self.youngest()?,
        };
        for number in start..=end.number() {
            let revision = Revnum::new(number).unwrap_or_default();
            progress(revision)?;
            let reps = self.shareable_reps(revision, cancel)?;
            self.with_rep_cache(|cache| cache.add(&reps))?;
        }
        Ok(())
    }

    /// Returns the representations of a revision that may be shared, each with its digest, those
    /// of a folder after what is in it.
    fn shareable_reps(&self, revision: Revnum, cancel: &Cancel) -> Result<Vec<Representation>> {
        let mut reps = Vec::new();
        let mut nodes = vec![self.root_id(revision)?];
        // In a damaged file a folder may be in itself.
        let mut seen = HashSet::new();
        while let Some(id) = nodes.pop() {
            if id.revision() != Some(revision) || !seen.insert(id) {
                continue;
            }
            cancel.check()?;
            let rev = self.node_rev(&id)?;
            if rev.kind == NodeKind::Dir {
                nodes.extend(self.directory(&rev)?.entries().iter().map(|entry| entry.id));
            }
            // Backwards, as the nodes come.
            let text = rev.text.filter(|_| rev.kind == NodeKind::File);
            for rep in [rev.props, text].into_iter().flatten() {
                if rep.revision == Some(revision) {
                    reps.push(self.with_sha1(rep)?);
                }
            }
        }
        reps.reverse();
        Ok(reps)
    }

    fn with_sha1(&self, mut rep: Representation) -> Result<Representation> {
        use sha1::Digest as _;
        if rep.sha1.is_none() {
            let mut digest = sha1::Sha1::new();
            let mut reader = self.reader(Some(&rep))?;
            while let Some(piece) = reader.next_piece()? {
                digest.update(&piece);
            }
            rep.sha1 = Some(Sha1(digest.finalize().into()));
        }
        Ok(rep)
    }

    /// Runs something with the database, which is opened at first use.
    pub(crate) fn with_rep_cache<T>(
        &self,
        work: impl FnOnce(&mut RepCache) -> Result<T>,
    ) -> Result<T> {
        let mut slot = self.rep_cache_slot();
        if slot.is_none() {
            let second = self.format().number.has_rep_cache_v2();
            *slot = Some(RepCache::open(self.path(), second)?);
        }
        let cache = slot
            .as_mut()
            .ok_or_else(|| Error::from_code(ErrorCode::SQLITE_ERROR))?;
        work(cache)
    }

    /// Adds representations of a new revision. Where commits follow each other quickly, several
    /// go to the database at a time; till then this file system alone knows them.
    pub(crate) fn add_to_rep_cache(&self, reps: &[Representation]) -> Result<()> {
        if reps.is_empty() || !self.conf().rep_sharing {
            return Ok(());
        }
        let is_due = {
            let mut pending = self.pending_reps();
            for rep in reps {
                if let Some(sha1) = rep.sha1 {
                    pending.reps.entry(sha1).or_insert(*rep);
                }
            }
            let recently = |written: Instant| written.elapsed() < GROUP;
            pending.reps.len() >= MAX_PENDING || !pending.written.is_some_and(recently)
        };
        if is_due {
            self.flush_rep_cache()
        } else {
            Ok(())
        }
    }

    /// Writes to the database what is not there yet.
    pub(crate) fn flush_rep_cache(&self) -> Result<()> {
        let reps = {
            let mut pending = self.pending_reps();
            pending.written = Some(Instant::now());
            pending.take()
        };
        if reps.is_empty() {
            return Ok(());
        }
        self.with_rep_cache(|cache| cache.add(&reps))
    }

    /// Looks a digest up.
    pub(crate) fn find_rep(&self, sha1: Sha1) -> Result<Option<Representation>> {
        if let Some(rep) = self.pending_reps().reps.get(&sha1) {
            return Ok(Some(*rep));
        }
        self.with_rep_cache(|cache| cache.get(sha1))
    }
}
