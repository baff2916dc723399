//! What travels between the threads of an update.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use crossbeam_channel::Sender;
use sylvan_core::{Depth, Error, Md5, NodeKind, Props, RelPathBuf, Sha1, Timestamp};
use sylvan_delta::{Fulltext, TextFormat};

use super::delete::Removal;
use super::queue::Queue;
use crate::db::Presence;
use crate::db::write::Changed;
use crate::install::Recipe;

/// Names a folder of the drive; the driver's token.
pub(super) type DirId = u32;

/// A folder on disk that may still have to be made.
#[derive(Debug)]
pub(super) struct DirDisk {
    pub path: RelPathBuf,
    state: Mutex<DirState>,
}

#[derive(Debug)]
enum DirState {
    /// Not made yet; these wait for it.
    Waiting(Vec<Job>),
    /// It is there. What this operation made itself has nothing in it but what it wrote.
    Ready { ours: bool },
    /// It cannot be made.
    Failed,
}

impl DirDisk {
    /// A folder that was there before.
    pub(super) fn existing(path: RelPathBuf) -> Arc<Self> {
        Arc::new(Self {
            path,
            state: Mutex::new(DirState::Ready { ours: false }),
        })
    }

    /// A folder that is still to be made.
    pub(super) fn planned(path: RelPathBuf) -> Arc<Self> {
        Arc::new(Self {
            path,
            state: Mutex::new(DirState::Waiting(Vec::new())),
        })
    }

    /// Sends `job` as soon as the folder is there. Returns how many jobs are given up instead,
    /// because the folder cannot be made.
    pub(super) fn when_ready(&self, job: Job, queue: &Queue) -> usize {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *state {
            DirState::Waiting(waiting) => waiting.push(job),
            DirState::Ready { .. } => queue.push_job(job),
            DirState::Failed => {
                drop(state);
                return given_up(job);
            }
        }
        0
    }

    /// Says that the folder is there now, and sends what waited for it.
    pub(super) fn made(&self, ours: bool, queue: &Queue) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let DirState::Waiting(waiting) = std::mem::replace(&mut *state, DirState::Ready { ours })
        {
            for job in waiting {
                queue.push_job(job);
            }
        }
    }

    /// Says that the folder cannot be made; returns how many jobs for it are given up.
    pub(super) fn abandon(&self) -> usize {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *state, DirState::Failed) {
            DirState::Waiting(waiting) => waiting.into_iter().map(given_up).sum(),
            DirState::Ready { .. } | DirState::Failed => 0,
        }
    }

    /// Tells whether this operation made the folder.
    pub(super) fn is_ours(&self) -> bool {
        matches!(
            *self.state.lock().unwrap_or_else(PoisonError::into_inner),
            DirState::Ready { ours: true }
        )
    }
}

/// Counts what can never be done, below a folder that could not be made.
fn given_up(job: Job) -> usize {
    match job {
        Job::MakeDir { folder, .. } => 1 + folder.abandon(),
        Job::Install { .. } | Job::Replace { .. } => 1,
    }
}

/// The text of a file as it arrived.
#[derive(Debug)]
pub(super) enum Incoming {
    /// Nothing arrived: the text of the base stays, or is empty.
    Unchanged,
    /// It need not arrive: the store has it.
    Known(Text),
    /// All of it.
    Chunks {
        format: TextFormat,
        chunks: Vec<Bytes>,
        /// Where the text goes, empty.
        memory: Vec<u8>,
    },
    /// It is still to be read.
    Whole(Box<dyn Fulltext>),
}

/// A file that was received, on its way to the pristine store.
#[derive(Debug)]
pub(super) struct FileJob {
    pub file: FileNode,
    pub incoming: Incoming,
    /// The checksum that the server gave for the new text.
    pub expected: Option<Md5>,
    /// How many bytes of the budget it has.
    pub budget: usize,
}

/// What is to be recorded of a file.
#[derive(Debug)]
pub(super) struct FileNode {
    pub dir: DirId,
    pub folder: Arc<DirDisk>,
    pub path: RelPathBuf,
    pub repos_path: RelPathBuf,
    pub changed: Changed,
    /// A skel.
    pub props: Vec<u8>,
    pub dav_cache: Option<Vec<u8>>,
    pub inherited_props: Option<Vec<u8>>,
    pub recipe: Recipe,
    pub place: Place,
    /// A lock that the server says is gone: repository id and path.
    pub lost_lock: Option<(i64, RelPathBuf)>,
}

/// How a file comes to its place.
#[derive(Debug)]
pub(super) enum Place {
    /// New, and nothing is there.
    New {
        /// A row that stands for something not there is replaced.
        replace: bool,
    },
    /// New, and an unversioned file in its place is taken over as it is.
    TakeOver { replace: bool },
    /// It was there.
    Existing(Existing),
    /// Something local lies over it: nothing is done on the disk.
    Shadowed(Shadowed),
}

/// A file that something local lies over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shadowed {
    /// The old text, if it was there.
    pub text: Option<Sha1>,
    /// Whether it is deleted in a layer of its own, since something unversioned is in its place.
    pub delete: bool,
}

/// A file that is changed.
#[derive(Debug)]
pub(super) struct Existing {
    /// The old text.
    pub text: Sha1,
    /// Whether the working file is written anew.
    pub install: bool,
    /// Whether only its flags may have changed.
    pub sync_flags: bool,
    /// What was found on disk when it was seen to be unmodified: size and time.
    pub found: Option<(u64, Timestamp)>,
    /// What the database has recorded, kept when the working file stays.
    pub recorded: Option<(i64, i64)>,
}

/// A text that is in the pristine store.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text {
    pub sha1: Sha1,
    pub md5: Md5,
    pub size: u64,
    /// It has no row yet.
    pub new: bool,
}

/// A file that was installed.
#[derive(Debug)]
pub(super) struct InstalledFile {
    /// The id of its row in NODES, which finds it faster than its path.
    pub row: i64,
    pub path: RelPathBuf,
    /// Size and time; symlinks have none.
    pub recorded: Option<(i64, i64)>,
}

/// A work item, and the row of the node that it is for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Promise {
    pub item: i64,
    pub row: i64,
}

/// What the recording thread gets.
#[derive(Debug)]
pub(super) enum Message {
    /// A new folder.
    Dir(NewDir),
    /// An existing folder is about to be changed.
    DirStart {
        path: RelPathBuf,
        repos_path: RelPathBuf,
    },
    /// Nothing more comes for a folder but `files` files.
    DirDone(DirDone),
    /// A node that is known but not there.
    Marker(Marker),
    /// A file whose text is in the store; `None` if it keeps the text of its base.
    File {
        file: FileNode,
        text: Option<Text>,
        /// The text, if it is in memory.
        bytes: Option<Bytes>,
    },
    /// A file could not be brought so far.
    FileFailed(Error),
    /// A disk job is done.
    Done {
        item: i64,
        file: Option<InstalledFile>,
    },
    /// Disk jobs failed; their work items stay.
    JobsFailed { count: usize, error: Error },
    /// Removes a node; the answer comes when it is gone from disk.
    Delete {
        delete: Removal,
        answer: Sender<Result<(), Error>>,
    },
    /// Records all that came so far.
    Flush { answer: Sender<Result<(), Error>> },
    /// No more files come; there were so many.
    Finish { files: u64 },
}

/// A new folder.
#[derive(Debug)]
pub(super) struct NewDir {
    pub path: RelPathBuf,
    pub repos_path: RelPathBuf,
    pub depth: Depth,
    pub replace: bool,
    pub over: Over,
    pub parent: Arc<DirDisk>,
    pub folder: Arc<DirDisk>,
}

/// What is local where a folder is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Over {
    /// Nothing, or something unversioned that is taken over.
    Nothing,
    /// A local addition that the folder takes the place of.
    Addition,
    /// Something lies over it.
    Shadowed,
    /// Something unversioned is in its place: it is deleted in a layer of its own.
    Unversioned,
}

/// The final row of a folder.
#[derive(Debug)]
pub(super) struct DirDone {
    pub dir: DirId,
    pub files: u64,
    /// Nothing if the folder is only the anchor of a file that is updated.
    pub row: Option<DirRow>,
}

/// See [`DirDone`].
#[derive(Debug)]
pub(super) struct DirRow {
    pub path: RelPathBuf,
    pub repos_path: RelPathBuf,
    pub depth: Depth,
    pub changed: Changed,
    pub props: Vec<u8>,
    pub dav_cache: Option<Vec<u8>>,
    pub inherited_props: Option<Vec<u8>>,
    pub not_present: Vec<(RelPathBuf, RelPathBuf, NodeKind)>,
    /// What was merged with local properties.
    pub merged: Option<MergedDir>,
}

/// Local properties of a folder after a change.
#[derive(Debug)]
pub(super) struct MergedDir {
    /// Nothing if they are those of the base.
    pub props: Option<Props>,
    /// A conflict, as stored.
    pub conflict: Option<Vec<u8>>,
    pub items: Vec<Vec<u8>>,
}

/// See [`Message::Marker`].
#[derive(Debug)]
pub(super) struct Marker {
    pub path: RelPathBuf,
    pub repos_path: RelPathBuf,
    pub presence: Presence,
    pub kind: NodeKind,
}

/// Work on the disk that a transaction has recorded.
#[derive(Debug)]
pub(super) enum Job {
    /// Make a folder.
    MakeDir { item: i64, folder: Arc<DirDisk> },
    /// Write a working file.
    Install {
        promise: Promise,
        path: RelPathBuf,
        folder: Arc<DirDisk>,
        sha1: Sha1,
        bytes: Option<Bytes>,
        size: u64,
        recipe: Recipe,
    },
    /// Write a working file anew, or just set its flags.
    Replace {
        promise: Promise,
        path: RelPathBuf,
        sha1: Sha1,
        bytes: Option<Bytes>,
        recipe: Recipe,
        /// What was there when it was found unmodified: size and time.
        found: Option<(u64, Timestamp)>,
        install: bool,
    },
}
