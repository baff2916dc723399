//! The threads that write files: texts into the pristine store, working files into their folders.

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use md5::Digest as _;
use sylvan_core::{Error, ErrorCode, Md5, RelPath, Result, Sha1, Timestamp};
use sylvan_delta::{Applier, Base, EmptyBase, SeekBase, TextFormat};
use sylvan_io::file::{self, Creation, Dir, FileKind};

use super::entry::{
    DirDisk, FileJob, FileNode, Incoming, InstalledFile, Job, Message, Place, Text,
};
use super::queue::{Inbox, Queue, Work};
use super::record::lock;
use super::shared::Shared;
use crate::db::Db;
use crate::install::{self, Installed, Recipe, Source};
use crate::pristine::{Claim, Store, TempText};
use crate::site::Site;

/// Of a larger store the database is asked for each text.
const MOST_ROWS: i64 = 200_000;

/// What a worker works with.
#[derive(Clone, Copy)]
pub(super) struct Worker<'e, 'a> {
    pub db: &'e Mutex<&'a mut Db>,
    pub site: &'e Site,
    pub store: &'e Store,
    pub shared: &'e Shared,
    pub inbox: &'e Inbox,
    pub queue: &'e Queue,
}

impl Worker<'_, '_> {
    /// Works until told to stop.
    pub(super) fn run(&self) {
        let mut share = Vec::new();
        let mut done = Done::default();
        while self.queue.pop(&mut share) {
            for work in share.drain(..) {
                match work {
                    Work::Job(job) => self.work(job, &mut done),
                    Work::File(file) => self.receive(*file, &mut done),
                }
            }
            self.report(&mut done);
        }
    }

    /// Tells what was done. Texts are declared written only now, so that the row of who waited for
    /// one comes after its own.
    pub(super) fn report(&self, done: &mut Done) {
        self.inbox.send_all(&mut done.messages);
        if !done.texts.is_empty() {
            self.store.written(done.texts.drain(..));
        }
        if let Some(time) = self.store.news_of_latency() {
            self.queue.suit(time);
        }
    }

    /// Takes a file as it was received and hands it on with its text in the store.
    fn receive(&self, job: FileJob, done: &mut Done) {
        let FileJob {
            file,
            incoming,
            expected,
            budget,
        } = job;
        if let Incoming::Known(text) = incoming {
            return done
                .messages
                .push(take_known(&self.site.root, file, text, expected));
        }
        let (is_new, base) = match &file.place {
            Place::New { .. } | Place::TakeOver { .. } => (true, None),
            Place::Existing(existing) => (false, Some(existing.text)),
            Place::Shadowed(shadowed) => (shadowed.text.is_none(), shadowed.text),
        };
        let text = self.text(is_new, base, incoming);
        self.shared.budget.free(budget);
        match text {
            Ok(sink) => self.store_text(file, sink, expected, done),
            Err(error) => done.messages.push(Message::FileFailed(error)),
        }
    }

    /// Puts a whole text under its name and tells the recorder; `None` is the text of the base.
    pub(super) fn store_text(
        &self,
        file: FileNode,
        sink: Option<Sink>,
        expected: Option<Md5>,
        done: &mut Done,
    ) {
        let stored = sink.map(|sink| self.put(&file.path, sink, expected, done));
        done.messages.push(match stored {
            None => Message::File {
                file,
                text: None,
                bytes: None,
            },
            Some(Ok((text, bytes))) => Message::File {
                file,
                text: Some(text),
                bytes,
            },
            Some(Err(error)) => Message::FileFailed(error),
        });
    }

    /// Puts a text into the store, which may have to be told to others, see [`Worker::report`].
    pub(super) fn put(
        &self,
        path: &RelPath,
        sink: Sink,
        expected: Option<Md5>,
        done: &mut Done,
    ) -> Result<(Text, Option<Bytes>)> {
        let (digest, held) = sink.finish();
        if let Some(expected) = expected.filter(|expected| !expected.allows(digest.md5)) {
            let path = self.site.root.full(path);
            return Err(checksum_mismatch(&path, expected, digest.md5));
        }
        if self.store.wants_rows() {
            let db = lock(self.db);
            if let Some(texts) = db.pristine_texts(MOST_ROWS)? {
                self.store.rows_are(&texts);
            }
        }
        let known = || Ok(lock(self.db).pristine_md5(&digest.sha1)?.is_some());
        let claim = self
            .store
            .claim(&digest.sha1, known, || self.report(done))?;
        if claim == Claim::Present {
            return Ok((digest, self.keep(held)));
        }
        let written = match held {
            Held::Memory(text) => self
                .store
                .write(&digest.sha1, &text)
                .map(|()| self.keep(Held::Memory(text))),
            Held::Temp(temp) => self.store.install_temp(temp, &digest.sha1).map(|()| None),
        };
        match written {
            Ok(bytes) => {
                done.texts.push(digest.sha1);
                Ok((
                    Text {
                        new: true,
                        ..digest
                    },
                    bytes,
                ))
            }
            Err(error) => {
                self.store.failed(&digest.sha1);
                Err(error)
            }
        }
    }

    fn keep(&self, held: Held) -> Option<Bytes> {
        match held {
            Held::Memory(mut text) => {
                // What is counted is what is used.
                text.shrink_to_fit();
                self.shared.budget.add(text.len());
                Some(Bytes::from(text))
            }
            Held::Temp(_) => None,
        }
    }

    /// Puts a text into the store at once; `None` is the text of the base.
    pub(super) fn store_now(
        &self,
        path: &RelPath,
        base: Option<Sha1>,
        incoming: Incoming,
        expected: Option<Md5>,
    ) -> Result<Option<Text>> {
        if let Incoming::Known(text) = incoming {
            return match expected.filter(|expected| !expected.allows(text.md5)) {
                Some(expected) => {
                    let path = self.site.root.full(path);
                    Err(checksum_mismatch(&path, expected, text.md5))
                }
                None => Ok(Some(text)),
            };
        }
        let mut done = Done::default();
        let stored = match self.text(base.is_none(), base, incoming)? {
            Some(sink) => self.put(path, sink, expected, &mut done).map(Some),
            None => Ok(None),
        };
        self.report(&mut done);
        let stored = stored?;
        if let Some((_, Some(bytes))) = &stored {
            self.shared.budget.free(bytes.len());
        }
        Ok(stored.map(|(text, _)| text))
    }

    /// Makes the text that arrived; nothing if it is that of the base. A new file has an empty one.
    fn text(&self, is_new: bool, base: Option<Sha1>, incoming: Incoming) -> Result<Option<Sink>> {
        let (format, chunks, memory) = match incoming {
            Incoming::Known(_) | Incoming::Unchanged => {
                return Ok(is_new.then(|| Sink::new(self.queue.keep(), Vec::new())));
            }
            Incoming::Chunks {
                format,
                chunks,
                memory,
            } => (format, chunks, memory),
            Incoming::Whole(mut text) => {
                let keep = self.queue.keep();
                let size = usize::try_from(text.size()).unwrap_or(usize::MAX);
                let room = if size <= keep { size } else { 0 };
                let mut sink = Sink::new(keep, Vec::with_capacity(room));
                while let Some(piece) = text.next_piece()? {
                    sink.write(&piece, self.store)?;
                }
                return Ok(Some(sink));
            }
        };
        let mut text = Incomplete::new(self, base, format, memory)?;
        for chunk in chunks {
            text.push(self, &chunk)?;
        }
        text.finish().map(Some)
    }

    fn work(&self, job: Job, done: &mut Done) {
        match job {
            Job::MakeDir { item, folder } => self.make_dir(item, &folder, done),
            Job::Install {
                promise,
                path,
                folder,
                sha1,
                bytes,
                size,
                recipe,
            } => {
                let how = if folder.is_ours() {
                    Creation::Fresh
                } else {
                    Creation::Exclusive
                };
                let installed = self.install(&path, &sha1, bytes.as_deref(), &recipe, how);
                self.shared
                    .budget
                    .free(bytes.map_or(0, |bytes| bytes.len()));
                done.messages.push(match installed {
                    Ok(Installed::Done(recorded)) => {
                        self.shared.progress.add_files(1);
                        self.shared.progress.add_bytes(size);
                        Message::Done {
                            item: promise.item,
                            file: Some(InstalledFile {
                                row: promise.row,
                                path,
                                recorded,
                            }),
                        }
                    }
                    // What appeared there in the meantime is the user's, and shows as modified.
                    Ok(Installed::Obstructed) => Message::Done {
                        item: promise.item,
                        file: None,
                    },
                    Err(error) => Message::JobsFailed { count: 1, error },
                });
            }
            Job::Replace {
                promise,
                path,
                sha1,
                bytes,
                recipe,
                found,
                install,
            } => {
                let replaced = if install {
                    self.replace(&path, &sha1, bytes.as_deref(), &recipe, found)
                } else {
                    install::sync_flags(&self.site.root, &path, &recipe).map(|()| None)
                };
                self.shared
                    .budget
                    .free(bytes.map_or(0, |bytes| bytes.len()));
                done.messages.push(match replaced {
                    Ok(recorded) => {
                        self.shared.progress.add_files(1);
                        Message::Done {
                            item: promise.item,
                            file: Some(InstalledFile {
                                row: promise.row,
                                path,
                                recorded,
                            }),
                        }
                    }
                    Err(error) => Message::JobsFailed { count: 1, error },
                });
            }
        }
    }

    /// Brings one file that was there into its new state, as `svn` does it: written beside its
    /// place and moved there. `found` is what the file was when it was found unmodified.
    fn replace(
        &self,
        path: &RelPath,
        sha1: &Sha1,
        bytes: Option<&[u8]>,
        recipe: &Recipe,
        found: Option<(u64, Timestamp)>,
    ) -> Result<Option<(i64, i64)>> {
        let root = &self.site.root;
        let is_as_found = match root.lstat(path)? {
            None => true,
            Some(meta) => match (meta.kind, found) {
                (FileKind::File, Some(found)) => (meta.size, meta.mtime) == found,
                (FileKind::Symlink, None) => true,
                _ => false,
            },
        };
        if !is_as_found {
            // Changed within the last moment: it stays, and shows as modified.
            return Ok(None);
        }
        let text = self.store.path(sha1)?;
        let in_store = Source::File(self.store.dir(), &text);
        let source = bytes.map_or(in_store, Source::Bytes);
        install::by_rename(root, path, source, recipe, self.site.tmp())
    }

    /// Writes a working file.
    fn install(
        &self,
        path: &RelPath,
        sha1: &Sha1,
        bytes: Option<&[u8]>,
        recipe: &Recipe,
        how: Creation,
    ) -> Result<Installed> {
        let root = &self.site.root;
        if let Some(bytes) = bytes {
            return install::in_place(root, path, Source::Bytes(bytes), recipe, how);
        }
        let text = self.store.path(sha1)?;
        let source = Source::File(self.store.dir(), &text);
        install::in_place(root, path, source, recipe, how)
    }

    fn make_dir(&self, item: i64, folder: &Arc<DirDisk>, done: &mut Done) {
        let (root, path) = (&self.site.root, &folder.path);
        let made = match root.make_dir(path) {
            Ok(()) => Ok(true),
            Err(error) if file::error_kind(&error) == ErrorKind::AlreadyExists => {
                match root.lstat(path) {
                    Ok(Some(meta)) if meta.is_dir() => Ok(false),
                    Ok(_) => Err(error),
                    Err(error) => Err(error),
                }
            }
            Err(error) => Err(error),
        };
        match made {
            Ok(ours) => {
                folder.made(ours, self.queue);
                done.messages.push(Message::Done { item, file: None });
            }
            Err(error) => {
                let count = 1 + folder.abandon();
                done.messages.push(Message::JobsFailed { count, error });
            }
        }
    }
}

/// Makes the news of a file whose text was in the store before.
fn take_known(tree: &Dir, file: FileNode, text: Text, expected: Option<Md5>) -> Message {
    match expected.filter(|expected| !expected.allows(text.md5)) {
        Some(expected) => Message::FileFailed(checksum_mismatch(
            &tree.full(&file.path),
            expected,
            text.md5,
        )),
        None => Message::File {
            file,
            text: Some(text),
            bytes: None,
        },
    }
}

/// What a worker has done and not told yet.
#[derive(Debug, Default)]
pub(super) struct Done {
    messages: Vec<Message>,
    /// Texts that were written.
    texts: Vec<Sha1>,
}

impl Done {
    /// Adds a failure.
    pub(super) fn fail(&mut self, error: Error) {
        self.messages.push(Message::FileFailed(error));
    }
}

/// A text whose chunks are still arriving.
pub(super) struct Incomplete {
    applier: Applier<Box<dyn Base + Send>>,
    sink: Sink,
}

impl Incomplete {
    pub(super) fn new(
        worker: &Worker<'_, '_>,
        base: Option<Sha1>,
        format: TextFormat,
        memory: Vec<u8>,
    ) -> Result<Self> {
        let base: Box<dyn Base + Send> = match base {
            Some(base) if format == TextFormat::Svndiff => {
                Box::new(SeekBase::<File>::new(worker.store.open(&base)?))
            }
            _ => Box::new(EmptyBase),
        };
        Ok(Self {
            applier: Applier::new(format, base),
            sink: Sink::new(worker.queue.keep(), memory),
        })
    }

    pub(super) fn push(&mut self, worker: &Worker<'_, '_>, chunk: &[u8]) -> Result<()> {
        let sink = &mut self.sink;
        self.applier
            .push(chunk, |piece| sink.write(piece, worker.store))
    }

    pub(super) fn finish(self) -> Result<Sink> {
        self.applier.finish()?;
        Ok(self.sink)
    }
}

/// Takes a text: digests it, and holds it in memory, or in a temporary file when it grows.
pub(super) struct Sink {
    keep: usize,
    memory: Vec<u8>,
    temp: Option<TempText>,
    size: u64,
    sha1: sha1::Sha1,
    md5: md5::Md5,
}

enum Held {
    Memory(Vec<u8>),
    Temp(TempText),
}

impl Sink {
    /// Begins a text of which up to `keep` bytes stay in memory: in `memory`, which is empty, while
    /// they fit there.
    pub(super) fn new(keep: usize, memory: Vec<u8>) -> Self {
        Self {
            keep,
            memory,
            temp: None,
            size: 0,
            sha1: sha1::Sha1::new(),
            md5: md5::Md5::new(),
        }
    }

    pub(super) fn write(&mut self, piece: &[u8], store: &Store) -> Result<()> {
        self.sha1.update(piece);
        self.md5.update(piece);
        self.size += piece.len() as u64;
        if let Some(temp) = &self.temp {
            return temp.write(piece);
        }
        if self.memory.len() + piece.len() <= self.keep {
            self.memory.extend_from_slice(piece);
            return Ok(());
        }
        let temp = store.create_temp()?;
        temp.write(&std::mem::take(&mut self.memory))?;
        temp.write(piece)?;
        self.temp = Some(temp);
        Ok(())
    }

    /// Puts the text into the store, where nobody else writes.
    pub(super) fn put(self, store: &Store, db: &Db) -> Result<Text> {
        let (text, held) = self.finish();
        let known = || Ok(db.pristine_md5(&text.sha1)?.is_some());
        if store.claim(&text.sha1, known, || {})? == Claim::Present {
            return Ok(text);
        }
        match held {
            Held::Memory(bytes) => store.write(&text.sha1, &bytes)?,
            Held::Temp(temp) => store.install_temp(temp, &text.sha1)?,
        }
        Ok(Text { new: true, ..text })
    }

    fn finish(self) -> (Text, Held) {
        let text = Text {
            sha1: Sha1(self.sha1.finalize().into()),
            md5: Md5(self.md5.finalize().into()),
            size: self.size,
            new: false,
        };
        let held = match self.temp {
            Some(temp) => Held::Temp(temp),
            None => Held::Memory(self.memory),
        };
        (text, held)
    }
}

pub(super) fn checksum_mismatch(path: &Path, expected: Md5, actual: Md5) -> Error {
    Error::new(
        ErrorCode::CHECKSUM_MISMATCH,
        format!(
            "Checksum mismatch for '{}':\n   expected:  {expected}\n     actual:  {actual}\n",
            path.display()
        ),
    )
}
