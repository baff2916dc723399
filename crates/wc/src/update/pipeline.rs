//! The threads behind the editor, started when the first thing is to be written.

use std::sync::Mutex;
use std::thread::{Scope, ScopedJoinHandle};

use bytes::Bytes;
use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use sylvan_core::{Error, ErrorCode, Md5, Result, Sha1};
use sylvan_delta::TextFormat;

use super::entry::{FileJob, FileNode, Job, Message};
use super::record::{Constants, Recorder};
use super::shared::Shared;
use super::workers::{Incomplete, Worker};
use crate::db::Db;
use crate::pristine::Store;

/// Messages to the recorder that may wait.
const INBOX: usize = 4096;
/// The most large texts that may arrive at a time.
const STREAMS: usize = 64;
/// Chunks of a large text that may wait.
const STREAM_CHUNKS: usize = 8;

/// What the threads borrow.
pub(super) struct Env<'a> {
    pub db: Mutex<&'a mut Db>,
    pub store: Store,
    pub shared: Shared,
    pub workers: usize,
    pub keep: usize,
}

/// See the module.
pub(super) struct Pipeline<'s, 'e, 'a> {
    scope: &'s Scope<'s, 'e>,
    worker: Worker<'e, 'a>,
    files: Option<Sender<FileJob>>,
    recorder: Option<ScopedJoinHandle<'s, ()>>,
    sent: u64,
    streams: std::sync::Arc<()>,
}

/// Tells the workers to stop, whatever happened to the recorder.
struct StopWorkers {
    jobs: Sender<Job>,
    count: usize,
}

impl Drop for StopWorkers {
    fn drop(&mut self) {
        for _ in 0..self.count {
            // Whoever is not there any more need not be told.
            drop(self.jobs.send(Job::Stop));
        }
    }
}

/// A large text on its way through a thread of its own.
#[derive(Debug)]
pub(super) struct Stream {
    sender: Sender<Piece>,
}

enum Piece {
    Chunk(Bytes),
    End(Box<FileNode>, Option<Md5>),
}

impl<'s, 'e: 's, 'a: 'e> Pipeline<'s, 'e, 'a> {
    /// Starts the threads.
    pub(super) fn start(scope: &'s Scope<'s, 'e>, env: &'e Env<'a>, constants: Constants) -> Self {
        let (recorder, inbox) = bounded(INBOX);
        let (jobs, todo) = unbounded();
        let (files, received) = bounded(2 * env.workers + 16);
        let worker = Worker {
            db: &env.db,
            store: &env.store,
            shared: &env.shared,
            recorder,
            jobs: jobs.clone(),
            keep: env.keep,
        };
        for _ in 0..env.workers {
            let (worker, todo, received) = (worker.clone(), todo.clone(), received.clone());
            scope.spawn(move || worker.run(&todo, received));
        }
        let count = env.workers;
        let recording = scope.spawn(move || {
            let _stop = StopWorkers {
                jobs: jobs.clone(),
                count,
            };
            Recorder::new(&env.db, &env.store, &env.shared, constants, jobs).run(&inbox);
        });
        Self {
            scope,
            worker,
            files: Some(files),
            recorder: Some(recording),
            sent: 0,
            streams: std::sync::Arc::new(()),
        }
    }

    /// Tells the recorder something.
    pub(super) fn record(&self, message: Message) -> Result<()> {
        self.worker.shared.check()?;
        self.worker.recorder.send(message).map_err(|_| gone())
    }

    /// Hands a file on.
    pub(super) fn send(&mut self, job: FileJob) -> Result<()> {
        self.worker.shared.check()?;
        self.sent += 1;
        match &self.files {
            Some(files) => files.send(job).map_err(|_| gone()),
            None => Err(gone()),
        }
    }

    /// Begins a text that is too large to be collected.
    pub(super) fn stream(&self, base: Option<Sha1>, format: TextFormat) -> Result<Stream> {
        if std::sync::Arc::strong_count(&self.streams) > STREAMS {
            return Err(Error::new(
                ErrorCode::RA_SVN_MALFORMED_DATA,
                "Too many files are being sent at a time",
            ));
        }
        let text = Incomplete::new(&self.worker, base, format)?;
        let (sender, pieces) = bounded(STREAM_CHUNKS);
        let worker = self.worker.clone();
        let open = std::sync::Arc::clone(&self.streams);
        self.scope.spawn(move || {
            take_stream(&worker, text, &pieces);
            drop(open);
        });
        Ok(Stream { sender })
    }

    /// Ends a large text.
    pub(super) fn end_stream(
        &mut self,
        stream: Stream,
        file: FileNode,
        expected: Option<Md5>,
    ) -> Result<()> {
        self.worker.shared.check()?;
        self.sent += 1;
        stream
            .sender
            .send(Piece::End(Box::new(file), expected))
            .map_err(|_| gone())
    }

    /// Waits until all that was sent is recorded and on disk.
    pub(super) fn finish(&mut self) -> Result<()> {
        if let Some(recorder) = self.recorder.take() {
            self.files = None;
            let finish = Message::Finish { files: self.sent };
            let told = self.worker.recorder.send(finish);
            if let Err(panic) = recorder.join() {
                std::panic::resume_unwind(panic);
            }
            told.map_err(|_| gone())?;
        }
        self.worker.shared.check()
    }
}

impl Drop for Pipeline<'_, '_, '_> {
    fn drop(&mut self) {
        // Without this the recorder would wait for more.
        if self.recorder.is_some() {
            self.files = None;
            drop(
                self.worker
                    .recorder
                    .send(Message::Finish { files: self.sent }),
            );
        }
    }
}

impl Stream {
    /// Sends a chunk; waits while too many are waiting.
    pub(super) fn push(&self, chunk: Bytes) -> Result<()> {
        self.sender.send(Piece::Chunk(chunk)).map_err(|_| gone())
    }
}

fn take_stream(worker: &Worker<'_, '_>, text: Incomplete, pieces: &Receiver<Piece>) {
    let mut text: Result<Incomplete> = Ok(text);
    for piece in pieces {
        match piece {
            Piece::Chunk(chunk) => {
                text = text.and_then(|mut text| {
                    text.push(worker, &chunk)?;
                    Ok(text)
                });
                if let Err(error) = &text {
                    // The driver learns of it with its next call.
                    worker.shared.fail(error.clone());
                }
            }
            Piece::End(file, expected) => {
                match text.and_then(Incomplete::finish) {
                    Ok(sink) => worker.store_text(*file, Some(sink), expected),
                    Err(error) => drop(worker.recorder.send(Message::FileFailed(error))),
                }
                return;
            }
        }
    }
}

fn gone() -> Error {
    Error::new(
        ErrorCode::ASSERTION_FAIL,
        "The thread that records the working copy has ended",
    )
}
