//! Threads that apply deltas and write exported files.

use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use bytes::Bytes;
use crossbeam_channel::{Receiver, Sender};
use sylvan_core::{Error, Md5, Result};
use sylvan_delta::{Applier, EmptyBase, Fulltext, TextFormat};
use sylvan_io::{Cancel, Progress};
use sylvan_wc::install::Recipe;

use super::sink::{Place, Sink};

/// Deltas in flight, in bytes.
const BUDGET: usize = 16 << 20;

/// A file that arrived completely.
pub(super) struct Job {
    pub(super) path: PathBuf,
    pub(super) text: Text,
    pub(super) expected: Option<Md5>,
    pub(super) recipe: Recipe,
    pub(super) place: Place,
}

/// The text of a file.
pub(super) enum Text {
    /// As it came over the wire.
    Chunks(TextFormat, Vec<Bytes>),
    /// Already applied.
    Applied(Sink),
    /// Still to be read.
    Whole(Box<dyn Fulltext>),
}

/// The threads; they are started one by one as work piles up.
pub(super) struct Workers {
    jobs: Option<Sender<Job>>,
    queue: Receiver<Job>,
    threads: Vec<JoinHandle<()>>,
    most: usize,
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    freed: Condvar,
    cancel: Cancel,
    progress: Progress,
}

#[derive(Default)]
struct State {
    bytes: usize,
    failure: Option<Error>,
}

impl Workers {
    pub(super) fn new(most: usize, cancel: &Cancel, progress: &Progress) -> Self {
        let (jobs, queue) = crossbeam_channel::bounded(4 * most.max(1));
        Self {
            jobs: Some(jobs),
            queue,
            threads: Vec::new(),
            most: most.max(1),
            shared: Arc::new(Shared {
                state: Mutex::default(),
                freed: Condvar::new(),
                cancel: cancel.clone(),
                progress: progress.clone(),
            }),
        }
    }

    /// Fails if a thread has.
    pub(super) fn check(&self) -> Result<()> {
        self.shared.state().failure.clone().map_or(Ok(()), Err)
    }

    /// Hands a file over; waits while too much is under way.
    pub(super) fn send(&mut self, job: Job) -> Result<()> {
        self.shared.reserve(job.text.size())?;
        if self.threads.len() < self.most && (self.threads.is_empty() || !self.queue.is_empty()) {
            let queue = self.queue.clone();
            let shared = Arc::clone(&self.shared);
            self.threads
                .push(std::thread::spawn(move || shared.work(&queue)));
        }
        if let Some(jobs) = &self.jobs {
            // Our own receiver keeps the channel open.
            let _ = jobs.send(job);
        }
        Ok(())
    }

    /// Waits until all is written.
    pub(super) fn finish(&mut self) -> Result<()> {
        self.jobs = None;
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                return Err(Error::new(
                    sylvan_core::ErrorCode::ASSERTION_FAIL,
                    "A thread that writes files has failed",
                ));
            }
        }
        self.check()
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        let _ = self.finish();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reserve(&self, bytes: usize) -> Result<()> {
        let mut state = self.state();
        while state.bytes >= BUDGET && state.failure.is_none() {
            state = self
                .freed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.bytes += bytes;
        state.failure.clone().map_or(Ok(()), Err)
    }

    fn work(&self, queue: &Receiver<Job>) {
        while let Ok(job) = queue.recv() {
            let size = job.text.size();
            let done = if self.state().failure.is_some() {
                Ok(())
            } else {
                self.cancel.check().and_then(|()| job.run(&self.progress))
            };
            let mut state = self.state();
            state.bytes -= size;
            if let Err(error) = done {
                state.failure.get_or_insert(error);
            }
            drop(state);
            self.freed.notify_all();
        }
    }
}

impl Text {
    fn size(&self) -> usize {
        match self {
            Self::Chunks(_, chunks) => chunks.iter().map(Bytes::len).sum(),
            Self::Applied(_) | Self::Whole(_) => 0,
        }
    }
}

impl Job {
    fn run(self, progress: &Progress) -> Result<()> {
        let text = match self.text {
            Text::Applied(sink) => sink,
            Text::Whole(mut text) => {
                let folder = self.path.parent().unwrap_or_else(|| ".".as_ref());
                let mut sink = Sink::new(folder);
                while let Some(piece) = text.next_piece()? {
                    sink.push(&piece)?;
                }
                sink
            }
            Text::Chunks(format, chunks) => {
                let folder = self.path.parent().unwrap_or_else(|| ".".as_ref());
                let mut sink = Sink::new(folder);
                let mut applier = Applier::new(format, EmptyBase);
                for chunk in chunks {
                    applier.push(&chunk, |bytes| sink.push(bytes))?;
                }
                applier.finish()?;
                sink
            }
        };
        text.check(self.expected, &self.path)?;
        let size = text.size();
        text.install(&self.path, &self.recipe, self.place)?;
        progress.add_files(1);
        progress.add_bytes(size);
        Ok(())
    }
}
