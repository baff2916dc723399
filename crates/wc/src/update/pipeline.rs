//! The threads behind the editor, started when the first thing is to be written.

use std::sync::Mutex;
use std::thread::{Scope, ScopedJoinHandle};

use bytes::Bytes;
use crossbeam_channel::{Receiver, Sender, bounded};
use sylvan_core::{Dirent, Error, ErrorCode, Md5, RelPath, RelPathBuf, Result, Sha1, TimeZone};
use sylvan_delta::TextFormat;
use sylvan_io::Cancel;

use super::entry::{FileJob, FileNode, Incoming, Message, Text};
use super::queue::{Inbox, Queue};
use super::record::{Constants, Recorder, lock};
use super::shared::Shared;
use super::workers::{Done, Incomplete, Worker};
use crate::db::Db;
use crate::pristine::Store;
use crate::site::Site;
use crate::work_queue::Runner;

/// The most large texts that may arrive at a time.
const STREAMS: usize = 64;
/// Chunks of a large text that may wait.
const STREAM_CHUNKS: usize = 8;

/// What the threads borrow.
pub(super) struct Env<'a> {
    pub db: Mutex<&'a mut Db>,
    pub site: Site,
    /// The working copy's root.
    pub root: Dirent,
    /// For dates in keywords.
    pub zone: TimeZone,
    /// How many threads work on files at once.
    pub workers: usize,
    /// Each step on files is likely to be a round trip.
    pub is_far: bool,
    pub store: Store,
    pub shared: Shared,
    pub inbox: Inbox,
    pub queue: Queue,
}

impl Env<'_> {
    /// Does work items.
    pub(super) fn run_items(&self, items: &[i64], cancel: &Cancel) -> Result<()> {
        let db = lock(&self.db);
        let runner = Runner {
            db: &db,
            site: &self.site,
            root: &self.root,
            zone: &self.zone,
            workers: self.workers,
        };
        runner.run(Some(items), cancel)
    }
}

/// See the module.
pub(super) struct Pipeline<'s, 'e, 'a> {
    scope: &'s Scope<'s, 'e>,
    worker: Worker<'e, 'a>,
    recorder: Option<ScopedJoinHandle<'s, ()>>,
    sent: u64,
    streams: std::sync::Arc<()>,
}

/// Tells the workers to stop, whatever happened to the recorder.
struct StopWorkers<'e>(&'e Queue);

impl Drop for StopWorkers<'_> {
    fn drop(&mut self) {
        self.0.stop();
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
    /// The text is wanted at once.
    Keep(RelPathBuf, Option<Md5>, Sender<Result<Text>>),
}

impl<'s, 'e: 's, 'a: 'e> Pipeline<'s, 'e, 'a> {
    /// Starts the threads.
    pub(super) fn start(scope: &'s Scope<'s, 'e>, env: &'e Env<'a>, constants: Constants) -> Self {
        let worker = Worker {
            db: &env.db,
            site: &env.site,
            store: &env.store,
            shared: &env.shared,
            inbox: &env.inbox,
            queue: &env.queue,
        };
        for _ in 0..env.queue.workers_at_first() {
            scope.spawn(move || worker.run());
        }
        let recorder = scope.spawn(move || {
            let _stop = StopWorkers(&env.queue);
            Recorder::new(env, constants).run();
        });
        Self {
            scope,
            worker,
            recorder: Some(recorder),
            sent: 0,
            streams: std::sync::Arc::new(()),
        }
    }

    /// Tells the recorder something.
    pub(super) fn record(&self, message: Message) -> Result<()> {
        self.worker.shared.check()?;
        self.worker.inbox.send(message);
        Ok(())
    }

    /// Tells the recorder something that the driver waits for.
    pub(super) fn record_now(&self, message: Message) -> Result<()> {
        self.worker.shared.check()?;
        self.worker.inbox.send_urgently(message);
        Ok(())
    }

    /// Waits until all that was recorded so far is in the database; once the pipeline has ended, it
    /// is.
    pub(super) fn flush(&self) -> Result<()> {
        if self.recorder.is_none() {
            return self.worker.shared.check();
        }
        let (answer, answered) = bounded(1);
        self.record_now(Message::Flush { answer })?;
        answered.recv().map_err(|_| gone())?
    }

    /// Puts a text into the store at once; `base` is the old one.
    pub(super) fn store_now(
        &self,
        path: &RelPath,
        base: Option<Sha1>,
        incoming: Incoming,
        expected: Option<Md5>,
    ) -> Result<Option<Text>> {
        self.worker.store_now(path, base, incoming, expected)
    }

    /// As [`Pipeline::store_now`] for a large text.
    pub(super) fn end_stream_now(
        &self,
        stream: Stream,
        path: &RelPath,
        expected: Option<Md5>,
    ) -> Result<Text> {
        let (answer, answered) = bounded(1);
        let piece = Piece::Keep(path.to_owned(), expected, answer);
        stream.sender.send(piece).map_err(|_| gone())?;
        answered.recv().map_err(|_| gone())?
    }

    /// Hands a file on, once there is memory for it.
    pub(super) fn send(&mut self, job: FileJob) -> Result<()> {
        let (shared, inbox) = (self.worker.shared, self.worker.inbox);
        shared.budget.wait(job.budget, || inbox.wake());
        shared.check()?;
        self.sent += 1;
        if self.worker.queue.push_file(job) {
            self.start_worker();
        }
        Ok(())
    }

    /// Starts another worker; if the system has no room for one, those that are there do the work.
    fn start_worker(&self) {
        let worker = self.worker;
        let started = std::thread::Builder::new().spawn_scoped(self.scope, move || worker.run());
        if started.is_err() {
            worker.queue.not_started();
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
        let text = Incomplete::new(&self.worker, base, format, Vec::new())?;
        let (sender, pieces) = bounded(STREAM_CHUNKS);
        let worker = self.worker;
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
            // Who sent files starts workers, also for what is still to be done on the disk.
            while self.worker.queue.wants_worker() {
                self.start_worker();
            }
            let finish = Message::Finish { files: self.sent };
            self.worker.inbox.send_urgently(finish);
            if let Err(panic) = recorder.join() {
                std::panic::resume_unwind(panic);
            }
        }
        self.worker.shared.check()
    }
}

impl Drop for Pipeline<'_, '_, '_> {
    fn drop(&mut self) {
        // Without this the recorder would wait for more.
        if self.recorder.is_some() {
            self.worker
                .inbox
                .send_urgently(Message::Finish { files: self.sent });
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
                let mut done = Done::default();
                match text.and_then(Incomplete::finish) {
                    Ok(sink) => worker.store_text(*file, Some(sink), expected, &mut done),
                    Err(error) => done.fail(error),
                }
                worker.report(&mut done);
                return;
            }
            Piece::Keep(path, expected, answer) => {
                let mut done = Done::default();
                let stored = text
                    .and_then(Incomplete::finish)
                    .and_then(|sink| worker.put(&path, sink, expected, &mut done));
                worker.report(&mut done);
                // Who asked has gone only if it has failed itself.
                drop(answer.send(stored.map(|(text, _)| text)));
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
