//! The thread that owns the database while an update runs.
//!
//! A batch is one transaction: rows and work items of what arrived since the last one, and the end
//! of work items that are done, with the size and time of their files. Only then are the new items
//! worked on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use rusqlite::params;
use sylvan_core::{Error, ErrorCode, NodeKind, RelPath, RelPathBuf, Result, Revnum};
use sylvan_io::Cancel;

use super::delete::{self, Removal};
use super::entry::{
    DirDone, DirId, DirRow, FileNode, InstalledFile, Job, Marker, Message, NewDir, Over, Place,
    Promise, Text,
};
use super::pipeline::Env;
use super::queue::{Inbox, Queue};
use super::shared::Shared;
use crate::db::write::{self as rows, BaseRow};
use crate::db::{Db, Presence};
use crate::pristine::Store;
use crate::site::Site;
use crate::work_queue::item;

/// A batch ends when it has so many bytes of text in memory,
const BATCH_BYTES: usize = 8 << 20;
/// so many entries,
const BATCH_ENTRIES: usize = 4000;
/// replaces so many files: what a crash between the transaction and the disk leaves to be written by
/// `cleanup`, perhaps over what the user has done meanwhile,
const REPLACEMENTS: usize = 64;
/// or is so old.
const BATCH_TIME: Duration = Duration::from_millis(900);
/// So many messages at a time are worth waking up for.
const WORTH_WAKING: usize = 64;

/// What stays the same for all rows of an update.
#[derive(Debug)]
pub(super) struct Constants {
    pub repos_id: i64,
    pub revision: Revnum,
    pub use_commit_times: bool,
}

/// See the module.
pub(super) struct Recorder<'e, 'a> {
    env: &'e Env<'a>,
    db: &'e Mutex<&'a mut Db>,
    site: &'e Site,
    store: &'e Store,
    shared: &'e Shared,
    constants: Constants,
    inbox: &'e Inbox,
    queue: &'e Queue,
    batch: Vec<Entry>,
    batch_bytes: usize,
    /// Files in the batch that take the place of others.
    replacements: usize,
    began: Option<Instant>,
    /// Work items that are done, with what is to be recorded of their files.
    done: Vec<(i64, Option<InstalledFile>)>,
    in_flight: usize,
    dirs: HashMap<DirId, DirState>,
    files: u64,
    expected: Option<u64>,
    broken: bool,
}

#[derive(Debug, Default)]
struct DirState {
    recorded: u64,
    done: Option<DirDone>,
}

#[derive(Debug)]
enum Entry {
    Dir(NewDir),
    DirStart {
        path: RelPathBuf,
        repos_path: RelPathBuf,
    },
    DirDone(DirRow),
    Marker(Marker),
    File {
        file: FileNode,
        text: Option<Text>,
        bytes: Option<Bytes>,
    },
    Delete(Removal),
}

impl<'e, 'a> Recorder<'e, 'a> {
    pub(super) fn new(env: &'e Env<'a>, constants: Constants) -> Self {
        Self {
            env,
            db: &env.db,
            site: &env.site,
            store: &env.store,
            shared: &env.shared,
            constants,
            inbox: &env.inbox,
            queue: &env.queue,
            batch: Vec::new(),
            batch_bytes: 0,
            replacements: 0,
            began: None,
            done: Vec::new(),
            in_flight: 0,
            dirs: HashMap::new(),
            files: 0,
            expected: None,
            broken: false,
        }
    }

    /// Runs until all that was announced is recorded and on disk, or has failed.
    pub(super) fn run(mut self) {
        while !self.is_finished() {
            let messages = self.inbox.take(self.wanted(), self.patience());
            let idle = messages.is_empty();
            for message in messages {
                self.take(message);
                if self.is_full() {
                    self.commit();
                }
            }
            if self.is_due(idle) {
                self.commit();
            }
        }
        if !self.done.is_empty() {
            self.commit();
        }
    }

    /// Returns how many messages are worth waking up for.
    fn wanted(&self) -> usize {
        let to_come = match self.expected {
            Some(files) => {
                let files = usize::try_from(files.saturating_sub(self.files));
                files.unwrap_or(usize::MAX).saturating_add(self.in_flight)
            }
            None => usize::MAX,
        };
        to_come.clamp(1, WORTH_WAKING)
    }

    /// Returns how long to wait for them.
    fn patience(&self) -> Duration {
        let limit = match self.began {
            Some(began) => BATCH_TIME.saturating_sub(began.elapsed()),
            None => BATCH_TIME,
        };
        // Whoever waits for memory should not have to wait for more.
        if self.shared.budget.is_waited_for() || self.expected.is_some() {
            limit.min(Duration::from_millis(20))
        } else {
            limit
        }
    }

    fn is_full(&self) -> bool {
        self.batch_bytes >= BATCH_BYTES
            || self.batch.len() >= BATCH_ENTRIES
            || self.replacements >= REPLACEMENTS
    }

    fn is_finished(&self) -> bool {
        self.expected.is_some_and(|files| self.files >= files)
            && self.in_flight == 0
            && self.batch.is_empty()
    }

    fn is_due(&self, idle: bool) -> bool {
        let Some(began) = self.began else {
            return false;
        };
        began.elapsed() >= BATCH_TIME
            || self.expected.is_some_and(|files| self.files >= files)
            || self.shared.budget.is_waited_for() && (idle || self.in_flight == 0)
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Dir(dir) => self.push(Entry::Dir(dir)),
            Message::DirStart { path, repos_path } => {
                self.push(Entry::DirStart { path, repos_path });
            }
            Message::Marker(marker) => self.push(Entry::Marker(marker)),
            Message::DirDone(done) => {
                let state = self.dirs.entry(done.dir).or_default();
                if state.recorded == done.files {
                    self.dirs.remove(&done.dir);
                    self.finish_dir(done);
                } else {
                    state.done = Some(done);
                }
            }
            Message::File { file, text, bytes } => self.take_file(file, text, bytes),
            Message::FileFailed(error) => {
                self.files += 1;
                self.shared.fail(error);
            }
            Message::Done { item, file } => {
                self.in_flight -= 1;
                self.done.push((item, file));
            }
            Message::JobsFailed { count, error } => {
                self.in_flight -= count;
                self.shared.fail(error);
            }
            Message::Delete { delete, answer } => {
                self.push(Entry::Delete(delete));
                self.commit();
                let failed = self.shared.failure();
                // The driver has gone only if it has failed itself.
                drop(answer.send(failed.map_or(Ok(()), Err)));
            }
            Message::Flush { answer } => {
                self.commit();
                let failed = self.shared.failure();
                drop(answer.send(failed.map_or(Ok(()), Err)));
            }
            Message::Finish { files } => self.expected = Some(files),
        }
    }

    fn take_file(&mut self, file: FileNode, text: Option<Text>, bytes: Option<Bytes>) {
        self.files += 1;
        let dir = file.dir;
        self.batch_bytes += bytes.as_ref().map_or(0, Bytes::len);
        self.replacements += usize::from(matches!(&file.place, Place::Existing(of) if of.install));
        self.push(Entry::File { file, text, bytes });
        let state = self.dirs.entry(dir).or_default();
        state.recorded += 1;
        if let Some(done) = state.done.take_if(|done| done.files == state.recorded) {
            self.dirs.remove(&dir);
            self.finish_dir(done);
        }
    }

    fn finish_dir(&mut self, done: DirDone) {
        if let Some(row) = done.row {
            self.push(Entry::DirDone(row));
        }
    }

    fn push(&mut self, entry: Entry) {
        self.began.get_or_insert_with(Instant::now);
        self.batch.push(entry);
    }

    /// Writes the batch in one transaction and starts the work that it records.
    fn commit(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        self.batch_bytes = 0;
        self.replacements = 0;
        self.began = None;
        let done = std::mem::take(&mut self.done);
        if self.broken {
            self.forget(batch);
            return;
        }
        let written = {
            let db = lock(self.db);
            db.write(|| {
                fault_step()?;
                self.retire(&db, &done)?;
                let items = batch
                    .iter()
                    .map(|entry| self.write(&db, entry))
                    .collect::<Result<Vec<_>>>()?;
                write_texts(&db, &batch)?;
                Ok(items)
            })
        };
        match written {
            Ok(items) => self.start(batch, items),
            Err(error) => {
                self.broken = true;
                self.shared.fail(error);
                self.forget(batch);
            }
        }
    }

    /// Gives up entries that could not be recorded.
    fn forget(&mut self, batch: Vec<Entry>) {
        for entry in batch {
            if let Entry::File {
                bytes: Some(bytes), ..
            } = entry
            {
                self.shared.budget.free(bytes.len());
            }
        }
    }

    fn retire(&self, db: &Db, done: &[(i64, Option<InstalledFile>)]) -> Result<()> {
        for (_, file) in done {
            if let Some(file) = file
                && let Some((size, time)) = file.recorded
            {
                db.execute(
                    rows::RECORD_ROW_FILE_INFO,
                    params![file.row, file.path.as_str(), size, time],
                )?;
            }
        }
        db.delete_work_items(done.iter().map(|(item, _)| *item).collect())
    }

    /// Writes an entry's rows; returns its work items.
    fn write(&self, db: &Db, entry: &Entry) -> Result<Vec<Promise>> {
        match entry {
            Entry::Dir(dir) => {
                let mut row = self.row(&dir.path, &dir.repos_path, NodeKind::Dir);
                row.presence = Presence::Incomplete;
                row.depth = Some(dir.depth);
                match dir.over {
                    Over::Nothing => self.put(db, &row, dir.replace)?,
                    Over::Addition => {
                        db.put_shadowed_base(&row)?;
                        db.delete_top_working(&dir.path)?;
                    }
                    Over::Shadowed => return db.put_shadowed_base(&row).map(|()| Vec::new()),
                    Over::Unversioned => {
                        db.put_shadowed_base(&row)?;
                        db.insert_base_deleted(&dir.path, NodeKind::Dir)?;
                        return Ok(Vec::new());
                    }
                }
                promise(db, &item::dir_install(&dir.path))
            }
            Entry::DirStart { path, repos_path } => {
                db.execute(
                    rows::START_DIRECTORY_UPDATE,
                    params![
                        db.wc_id(),
                        path.as_str(),
                        self.constants.revision.number(),
                        repos_path.as_str()
                    ],
                )?;
                Ok(Vec::new())
            }
            Entry::DirDone(row) => self.write_dir_done(db, row),
            Entry::Marker(marker) => {
                let mut row = self.row(&marker.path, &marker.repos_path, marker.kind);
                row.presence = marker.presence;
                db.put_shadowed_base(&row)?;
                Ok(Vec::new())
            }
            Entry::File { file, text, .. } => self.write_file(db, file, text.as_ref()),
            Entry::Delete(delete) => Ok(delete::remove_rows(db, delete)?
                .into_iter()
                .map(|item| Promise { item, row: 0 })
                .collect()),
        }
    }

    fn write_dir_done(&self, db: &Db, row: &DirRow) -> Result<Vec<Promise>> {
        for (path, repos_path, kind) in &row.not_present {
            let layers = db.layers(path)?;
            if layers.last().is_none_or(|layer| layer.op_depth > 0) {
                let mut marker = self.row(path, repos_path, *kind);
                marker.presence = Presence::NotPresent;
                db.put_shadowed_base(&marker)?;
            }
        }
        db.execute(
            rows::FINISH_BASE_DIRECTORY,
            params![
                db.wc_id(),
                row.path.as_str(),
                self.constants.repos_id,
                row.repos_path.as_str(),
                self.constants.revision.number(),
                row.depth.as_str(),
                row.changed.rev.map(Revnum::number),
                row.changed.date,
                row.changed.author,
                row.props,
                row.dav_cache,
                row.inherited_props,
            ],
        )?;
        let Some(merged) = &row.merged else {
            return Ok(Vec::new());
        };
        db.put_actual_props(&row.path, merged.props.as_ref())?;
        if let Some(conflict) = &merged.conflict {
            db.mark_conflict(&row.path, conflict)?;
        }
        let items = merged.items.iter().map(|work| {
            let item = db.put_work_item(work)?;
            Ok(Promise { item, row: 0 })
        });
        items.collect()
    }

    fn write_file(&self, db: &Db, file: &FileNode, text: Option<&Text>) -> Result<Vec<Promise>> {
        if let Some((repos_id, path)) = &file.lost_lock {
            db.execute(rows::DELETE_LOCK, params![repos_id, path.as_str()])?;
        }
        let mut row = self.row(&file.path, &file.repos_path, NodeKind::File);
        row.changed = Some(&file.changed);
        row.props = Some(&file.props);
        row.dav_cache = file.dav_cache.as_deref();
        row.inherited_props = file.inherited_props.as_deref();
        row.checksum = text.map(|text| &text.sha1);
        match &file.place {
            Place::New { replace } => {
                self.put(db, &row, *replace)?;
                let item = item::file_install(&file.path, self.constants.use_commit_times, true);
                promise(db, &item)
            }
            Place::TakeOver { replace } => {
                self.put(db, &row, *replace)?;
                Ok(Vec::new())
            }
            Place::Shadowed(shadowed) => {
                row.checksum = row.checksum.or(shadowed.text.as_ref());
                db.put_shadowed_base(&row)?;
                if shadowed.delete {
                    db.insert_base_deleted(&file.path, NodeKind::File)?;
                }
                Ok(Vec::new())
            }
            Place::Existing(existing) => {
                row.checksum = row.checksum.or(Some(&existing.text));
                if !existing.install {
                    row.recorded = existing.recorded;
                }
                db.put_base(&row, true)?;
                let item = if existing.install {
                    item::file_install(&file.path, self.constants.use_commit_times, true)
                } else if existing.sync_flags {
                    item::sync_file_flags(&file.path)
                } else {
                    return Ok(Vec::new());
                };
                promise(db, &item)
            }
        }
    }

    /// Writes a new row; a second one of the same name in a drive is refused before anything is
    /// done on disk.
    fn put(&self, db: &Db, row: &BaseRow<'_>, replace: bool) -> Result<()> {
        db.put_base(row, replace).map_err(|error| {
            if error.code() == ErrorCode::SQLITE_CONSTRAINT {
                return error.wrap(
                    ErrorCode::WC_OBSTRUCTED_UPDATE,
                    format!(
                        "Failed to add '{}': it is already there",
                        self.site.root.full(row.path).display()
                    ),
                );
            }
            error
        })
    }

    fn row<'r>(&self, path: &'r RelPath, repos_path: &'r RelPath, kind: NodeKind) -> BaseRow<'r> {
        BaseRow::new(
            path,
            self.constants.repos_id,
            repos_path.as_str(),
            self.constants.revision,
            Presence::Normal,
            kind,
        )
    }

    /// Starts the disk work of what was recorded.
    fn start(&mut self, batch: Vec<Entry>, items: Vec<Vec<Promise>>) {
        self.store
            .recorded(batch.iter().filter_map(|entry| match entry {
                Entry::File {
                    text: Some(text), ..
                } => text.new.then_some(&text.sha1),
                _ => None,
            }));
        for (entry, items) in batch.into_iter().zip(items) {
            match entry {
                Entry::Dir(dir) => {
                    for promise in items {
                        self.in_flight += 1;
                        let job = Job::MakeDir {
                            item: promise.item,
                            folder: Arc::clone(&dir.folder),
                        };
                        self.in_flight -= dir.parent.when_ready(job, self.queue);
                    }
                }
                Entry::File { file, text, bytes } => self.start_file(file, text, bytes, &items),
                Entry::Delete(_) => {
                    let items: Vec<_> = items.iter().map(|promise| promise.item).collect();
                    match delete::run(&self.site.root, self.db, &items) {
                        Ok(()) => self.done.extend(items.into_iter().map(|item| (item, None))),
                        Err(error) => self.shared.fail(error),
                    }
                }
                Entry::DirDone(_) => self.run_items(&items),
                Entry::DirStart { .. } | Entry::Marker(_) => {}
            }
        }
    }

    /// Does work items as they are.
    fn run_items(&self, promises: &[Promise]) {
        if promises.is_empty() {
            return;
        }
        let items: Vec<_> = promises.iter().map(|promise| promise.item).collect();
        if let Err(error) = self.env.run_items(&items, &Cancel::new()) {
            self.shared.fail(error);
        }
    }

    fn start_file(
        &mut self,
        file: FileNode,
        text: Option<Text>,
        bytes: Option<Bytes>,
        promises: &[Promise],
    ) {
        let freed = bytes.as_ref().map_or(0, Bytes::len);
        let Some(promise) = promises.first().copied() else {
            self.shared.budget.free(freed);
            self.shared.progress.add_files(1);
            return;
        };
        match (&file.place, text) {
            (Place::New { .. }, Some(text)) => {
                self.in_flight += 1;
                let folder = Arc::clone(&file.folder);
                let job = Job::Install {
                    promise,
                    path: file.path,
                    folder: file.folder,
                    sha1: text.sha1,
                    bytes,
                    size: text.size,
                    recipe: file.recipe,
                };
                self.in_flight -= folder.when_ready(job, self.queue);
            }
            (Place::Existing(existing), text) => {
                self.in_flight += 1;
                let folder = Arc::clone(&file.folder);
                let job = Job::Replace {
                    promise,
                    path: file.path,
                    sha1: text.map_or(existing.text, |text| text.sha1),
                    bytes,
                    recipe: file.recipe,
                    found: existing.found,
                    install: existing.install,
                };
                self.in_flight -= folder.when_ready(job, self.queue);
            }
            _ => self.shared.budget.free(freed),
        }
    }
}

/// Writes the rows of the new texts of a batch. They come after the rows of the nodes, so that the
/// trigger that counts references finds nothing to change for each of them, and in the order of
/// their index.
fn write_texts(db: &Db, batch: &[Entry]) -> Result<()> {
    let mut texts: Vec<(&Text, usize)> = batch
        .iter()
        .filter_map(|entry| match entry {
            Entry::File { text, .. } => text.as_ref().filter(|text| text.new),
            _ => None,
        })
        .map(|text| (text, 0))
        .collect();
    texts.sort_unstable_by_key(|(text, _)| text.sha1.0);
    texts.dedup_by(|(a, _), (b, _)| a.sha1 == b.sha1);
    for entry in batch {
        if let Entry::File {
            text: Some(text), ..
        } = entry
            && let Ok(at) = texts.binary_search_by(|(known, _)| known.sha1.0.cmp(&text.sha1.0))
        {
            texts[at].1 += 1;
        }
    }
    for (text, references) in texts {
        db.put_pristine(&text.sha1, &text.md5, text.size, references)?;
    }
    Ok(())
}

/// Adds a work item for the row that was just written.
fn promise(db: &Db, work: &[u8]) -> Result<Vec<Promise>> {
    let row = db.connection().last_insert_rowid();
    let item = db.put_work_item(work)?;
    Ok(vec![Promise { item, row }])
}

/// A commit is a step that tests can break.
pub(super) fn fault_step() -> Result<()> {
    sylvan_io::fault::step().map_err(|error| Error::io(&error, "Can't write to the database"))
}

/// Locks the database; a thread that panicked has left no transaction open.
pub(super) fn lock<'m, 'a>(db: &'m Mutex<&'a mut Db>) -> MutexGuard<'m, &'a mut Db> {
    db.lock().unwrap_or_else(PoisonError::into_inner)
}
