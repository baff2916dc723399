//! Looking at folders on disk: names and kinds first, then the files that are under version control.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use sylvan_core::{Error, NodeKind, RelPathBuf, Result};

use super::OnDisk;
use super::text;
use crate::db::{Node, NodeState};
use crate::path_error;

/// One name in a folder.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) kind: OnDisk,
    /// Size and modification time (µs), of files whose text is under version control.
    pub(super) stat: Option<(u64, i64)>,
    /// Whether the text differs from the pristine one; `None` where that was not looked at.
    pub(super) modified: Option<bool>,
}

/// A child of a folder as the database knows it.
#[derive(Debug)]
pub(super) struct Child {
    pub(super) node: Node,
    /// The file is a symlink by its properties.
    pub(super) special: bool,
    /// Something is below it: it is a folder, or was one and has conflicts below.
    pub(super) descends: bool,
}

impl Child {
    pub(super) fn name(&self) -> &str {
        self.node.path.basename()
    }

    /// Tells whether its text can be compared with a pristine one.
    fn has_text(&self) -> bool {
        self.node.top().is_some_and(|top| {
            top.kind != NodeKind::Dir
                && top.checksum.is_some()
                && matches!(top.state(), NodeState::Normal | NodeState::Added)
        })
    }
}

/// A folder to look at: its path on disk, and its children by name.
#[derive(Debug)]
pub(super) struct Folder {
    pub(super) path: PathBuf,
    pub(super) relpath: RelPathBuf,
    pub(super) children: Vec<Child>,
}

/// What was found in a folder, by name.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) entries: Vec<Entry>,
    /// Entry and child of the texts that still must be compared.
    to_compare: Vec<(usize, usize)>,
}

impl Folder {
    /// Lists the folder and looks at the files that are under version control. A folder that is not
    /// there is empty.
    fn list(&self) -> Result<Listing> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = match rustix::fs::open(&self.path, flags, Mode::empty()) {
            Ok(opened) => opened,
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(Listing::default()),
            Err(error) => return Err(self.error(error, "Can't open directory")),
        };
        let mut dir = rustix::fs::Dir::new(opened)
            .map_err(|error| self.error(error, "Can't open directory"))?;
        let mut entries = Vec::with_capacity(self.children.len());
        while let Some(entry) = dir.read() {
            let entry = entry.map_err(|error| self.error(error, "Can't read directory"))?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let name = name
                .to_str()
                .map_err(|_| path_error::not_utf8(&self.path, name.to_bytes()))?;
            entries.push(Entry {
                name: name.to_owned(),
                kind: on_disk(entry.file_type()),
                stat: None,
                modified: None,
            });
        }
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        let mut listing = Listing {
            entries,
            to_compare: Vec::new(),
        };
        let fd = dir
            .fd()
            .map_err(|error| self.error(error, "Can't read directory"))?;
        self.stat_children(fd, &mut listing)?;
        Ok(listing)
    }

    fn stat_children(&self, dir: rustix::fd::BorrowedFd<'_>, listing: &mut Listing) -> Result<()> {
        let mut children = self.children.iter().enumerate().peekable();
        let mut gone = Vec::new();
        for (at, entry) in listing.entries.iter_mut().enumerate() {
            while children
                .next_if(|(_, child)| child.name() < &*entry.name)
                .is_some()
            {}
            let child = children.next_if(|(_, child)| child.name() == entry.name);
            let text = child.filter(|(_, child)| child.has_text());
            if text.is_none() && entry.kind != OnDisk::Nothing {
                continue;
            }
            let stat = match rustix::fs::statat(dir, &*entry.name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => stat,
                Err(Errno::NOENT) => {
                    gone.push(at);
                    continue;
                }
                Err(error) => {
                    return Err(Error::io(
                        &error.into(),
                        format_args!("Can't stat '{}'", self.path.join(&entry.name).display()),
                    ));
                }
            };
            entry.kind = on_disk(FileType::from_raw_mode(stat.st_mode));
            let size = u64::try_from(stat.st_size).unwrap_or(0);
            let time = micros(&stat);
            entry.stat = Some((size, time));
            let Some((index, child)) = text else { continue };
            let is_link = entry.kind == OnDisk::Symlink;
            if !matches!(entry.kind, OnDisk::File | OnDisk::Symlink) || is_link != child.special {
                continue;
            }
            if child.node.top().is_some_and(|top| {
                top.recorded_size == Some(size)
                    && top
                        .recorded_time
                        .is_some_and(|recorded| recorded.micros() == time)
            }) {
                entry.modified = Some(false);
            } else {
                listing.to_compare.push((at, index));
            }
        }
        // The last first, so that the places of the others stay.
        for at in gone.into_iter().rev() {
            listing.entries.remove(at);
            listing.to_compare.retain(|(entry, _)| *entry != at);
            for (entry, _) in &mut listing.to_compare {
                *entry -= usize::from(*entry > at);
            }
        }
        Ok(())
    }

    /// Compares the texts that size and time said nothing certain of.
    fn compare(&self, listing: &mut Listing, pristine: &Path) -> Result<()> {
        for (at, index) in std::mem::take(&mut listing.to_compare) {
            let entry = &mut listing.entries[at];
            let child = &self.children[index];
            let size = entry.stat.map_or(0, |(size, _)| size);
            let path = self.path.join(&entry.name);
            entry.modified = Some(text::is_modified(
                &path,
                size,
                &child.node,
                child.special,
                pristine,
            )?);
        }
        Ok(())
    }

    fn error(&self, error: Errno, action: &str) -> Error {
        Error::io(
            &error.into(),
            format_args!("{action} '{}'", self.path.display()),
        )
    }
}

fn on_disk(file_type: FileType) -> OnDisk {
    match file_type {
        FileType::RegularFile => OnDisk::File,
        FileType::Directory => OnDisk::Dir,
        FileType::Symlink => OnDisk::Symlink,
        // Some file systems do not tell; stat will.
        FileType::Unknown => OnDisk::Nothing,
        _ => OnDisk::Other,
    }
}

#[allow(
    clippy::unnecessary_cast,
    clippy::useless_conversion,
    reason = "the fields' types differ between platforms"
)]
fn micros(stat: &rustix::fs::Stat) -> i64 {
    (stat.st_mtime as i64)
        .saturating_mul(1_000_000)
        .saturating_add(stat.st_mtime_nsec as i64 / 1000)
}

/// Looks at one path itself; `None` if nothing is there.
pub(super) fn look_at(
    path: &Path,
    child: Option<&Child>,
    pristine: &Path,
) -> Result<Option<Entry>> {
    let stat = match rustix::fs::lstat(path) {
        Ok(stat) => stat,
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        Err(error) => {
            return Err(Error::io(
                &error.into(),
                format_args!("Can't stat '{}'", path.display()),
            ));
        }
    };
    let kind = on_disk(FileType::from_raw_mode(stat.st_mode));
    let size = u64::try_from(stat.st_size).unwrap_or(0);
    let time = micros(&stat);
    let mut entry = Entry {
        name: String::new(),
        kind,
        stat: Some((size, time)),
        modified: None,
    };
    let Some(child) = child.filter(|child| {
        child.has_text()
            && matches!(kind, OnDisk::File | OnDisk::Symlink)
            && child.special == (kind == OnDisk::Symlink)
    }) else {
        return Ok(Some(entry));
    };
    let unchanged = child.node.top().is_some_and(|top| {
        top.recorded_size == Some(size)
            && top
                .recorded_time
                .is_some_and(|recorded| recorded.micros() == time)
    });
    entry.modified =
        Some(!unchanged && text::is_modified(path, size, &child.node, child.special, pristine)?);
    Ok(Some(entry))
}

/// The threads that look at folders. With one worker folders are listed at once by the caller, and
/// only texts to compare go to other threads.
#[derive(Debug)]
pub(super) struct Pool {
    pristine: Arc<Path>,
    workers: usize,
    comparers: usize,
    queue: Arc<Queue>,
    threads: Vec<JoinHandle<()>>,
}

/// What waits for a worker. A channel would do, but its readers spin before they sleep, which is
/// most of what a status costs where processors are few and workers many.
#[derive(Debug, Default)]
struct Queue {
    state: Mutex<QueueState>,
    work: Condvar,
}

#[derive(Debug, Default)]
struct QueueState {
    jobs: VecDeque<Job>,
    /// Workers that sleep and have not been called.
    idle: usize,
    stopped: bool,
}

#[derive(Debug)]
struct Job {
    folder: Arc<Folder>,
    listing: Option<Listing>,
    answer: Arc<Answer>,
}

/// Where a worker leaves its result.
#[derive(Debug, Default)]
pub(super) struct Answer {
    state: Mutex<AnswerState>,
    there: Condvar,
}

#[derive(Debug, Default)]
struct AnswerState {
    listing: Option<Result<Listing>>,
    given: bool,
    is_waited_for: bool,
}

/// A listing that may still be in the making.
#[derive(Debug)]
pub(super) enum Ticket {
    Ready(Result<Listing>),
    Waiting(Arc<Answer>),
}

impl Ticket {
    pub(super) fn wait(self) -> Result<Listing> {
        let answer = match self {
            Self::Ready(listing) => return listing,
            Self::Waiting(answer) => answer,
        };
        let mut state = lock(&answer.state);
        loop {
            if let Some(listing) = state.listing.take() {
                return listing;
            }
            state.is_waited_for = true;
            state = answer
                .there
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Answer {
    /// Gives the answer, unless there was one.
    fn give(&self, listing: Result<Listing>) {
        let mut state = lock(&self.state);
        if std::mem::replace(&mut state.given, true) {
            return;
        }
        state.listing = Some(listing);
        if state.is_waited_for {
            drop(state);
            self.there.notify_one();
        }
    }
}

impl Drop for Job {
    /// A job that nobody does, or whose worker failed, keeps nobody waiting.
    fn drop(&mut self) {
        self.answer
            .give(Err(Error::from_code(sylvan_core::ErrorCode::CANCELLED)));
    }
}

impl Pool {
    /// `workers` list folders; `comparers` compare texts where there is but one worker.
    pub(super) fn new(pristine: &Path, workers: usize, comparers: usize) -> Self {
        Self {
            pristine: Arc::from(pristine),
            workers,
            comparers,
            queue: Arc::default(),
            threads: Vec::new(),
        }
    }

    /// Begins to look at a folder.
    pub(super) fn submit(&mut self, folder: &Arc<Folder>) -> Ticket {
        let listing = if self.workers > 1 {
            None
        } else {
            match folder.list() {
                Ok(listing) if !listing.to_compare.is_empty() => Some(listing),
                done => return Ticket::Ready(done),
            }
        };
        if self.workers <= 1 && self.comparers <= 1 {
            let mut listing = listing.unwrap_or_default();
            let compared = folder.compare(&mut listing, &self.pristine);
            return Ticket::Ready(compared.map(|()| listing));
        }
        let answer = Arc::<Answer>::default();
        let job = Job {
            folder: Arc::clone(folder),
            listing,
            answer: Arc::clone(&answer),
        };
        if !self.queue.push(job) && self.threads.len() < self.workers.max(self.comparers) {
            let (queue, pristine) = (Arc::clone(&self.queue), Arc::clone(&self.pristine));
            let work = move || {
                while let Some(job) = queue.take() {
                    job.run(&pristine);
                }
            };
            self.threads.push(std::thread::spawn(work));
        }
        Ticket::Waiting(answer)
    }
}

impl Queue {
    /// Adds a job; tells whether a worker was called that slept.
    fn push(&self, job: Job) -> bool {
        let mut state = lock(&self.state);
        state.jobs.push_back(job);
        let calls = state.idle > 0;
        if calls {
            state.idle -= 1;
            drop(state);
            self.work.notify_one();
        }
        calls
    }

    /// Takes a job, or waits for one; `None` when there will be none.
    fn take(&self) -> Option<Job> {
        let mut state = lock(&self.state);
        loop {
            if state.stopped {
                return None;
            }
            if let Some(job) = state.jobs.pop_front() {
                return Some(job);
            }
            state.idle += 1;
            state = self
                .work
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Job {
    fn run(mut self, pristine: &Path) {
        let listed = match self.listing.take() {
            Some(listing) => Ok(listing),
            None => self.folder.list(),
        };
        let listed = listed.and_then(|mut listing| {
            self.folder.compare(&mut listing, pristine)?;
            Ok(listing)
        });
        self.answer.give(listed);
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let left = {
            let mut state = lock(&self.queue.state);
            state.stopped = true;
            std::mem::take(&mut state.jobs)
        };
        drop(left);
        self.queue.work.notify_all();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
