//! The threads that write files: texts into the pristine store, working files into their folders.

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use crossbeam_channel::{Receiver, Sender, never, select_biased};
use md5::Digest as _;
use sylvan_core::{Error, ErrorCode, Md5, Result, Sha1};
use sylvan_delta::{Applier, Base, EmptyBase, SeekBase, TextFormat};

use super::entry::{DirDisk, FileJob, FileNode, Incoming, Job, Message, Place, Text};
use super::record::lock;
use super::shared::Shared;
use crate::db::Db;
use crate::disk::{self, Create, Found};
use crate::install::{self, Installed, Source};
use crate::pristine::{self, Claim, Store, TempText};

/// What a worker works with.
#[derive(Clone)]
pub(super) struct Worker<'e, 'a> {
    pub db: &'e Mutex<&'a mut Db>,
    pub store: &'e Store,
    pub shared: &'e Shared,
    pub recorder: Sender<Message>,
    pub jobs: Sender<Job>,
    /// Texts up to this length stay in memory until they are installed.
    pub keep: usize,
}

impl Worker<'_, '_> {
    /// Works until told to stop. What is recorded is written first, since it frees memory.
    pub(super) fn run(&self, jobs: &Receiver<Job>, mut files: Receiver<FileJob>) {
        loop {
            select_biased! {
                recv(jobs) -> job => match job {
                    Ok(Job::Stop) | Err(_) => return,
                    Ok(job) => self.work(job),
                },
                recv(files) -> file => match file {
                    Ok(file) => self.receive(file),
                    Err(_) => files = never(),
                },
            }
        }
    }

    /// Takes a file as it was received and hands it on with its text in the store.
    pub(super) fn receive(&self, job: FileJob) {
        let FileJob {
            file,
            incoming,
            expected,
            budget,
        } = job;
        let text = self.text(&file, incoming);
        self.shared.budget.free(budget);
        match text {
            Ok(sink) => self.store_text(file, sink, expected),
            Err(error) => self.tell(Message::FileFailed(error)),
        }
    }

    /// Puts a whole text under its name and tells the recorder; `None` is the text of the base.
    pub(super) fn store_text(&self, file: FileNode, sink: Option<Sink>, expected: Option<Md5>) {
        let Some(sink) = sink else {
            self.tell(Message::File {
                file,
                text: None,
                bytes: None,
            });
            return;
        };
        let (digest, held) = sink.finish();
        if let Some(expected) = expected.filter(|expected| *expected != digest.md5) {
            self.tell(Message::FileFailed(checksum_mismatch(
                &file.disk_path,
                expected,
                digest.md5,
            )));
            return;
        }
        let claim = self.store.claim(&digest.sha1, || {
            Ok(lock(self.db).pristine_md5(&digest.sha1)?.is_some())
        });
        let (new, bytes) = match claim {
            Err(error) => return self.tell(Message::FileFailed(error)),
            Ok(Claim::Present) => (false, self.keep(held)),
            Ok(Claim::Write) => {
                let written = match held {
                    Held::Memory(text) => self
                        .store
                        .write(&digest.sha1, &text)
                        .map(|()| self.keep(Held::Memory(text))),
                    Held::Temp(temp) => self.store.install_temp(temp, &digest.sha1).map(|()| None),
                };
                match written {
                    Ok(bytes) => (true, bytes),
                    Err(error) => {
                        self.store.failed(&digest.sha1);
                        return self.tell(Message::FileFailed(error));
                    }
                }
            }
        };
        self.tell(Message::File {
            file,
            text: Some(Text { new, ..digest }),
            bytes,
        });
        if new {
            // Only now, so that the row of who waited for this text comes after its own.
            self.store.written(&digest.sha1);
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

    fn text(&self, file: &FileNode, incoming: Incoming) -> Result<Option<Sink>> {
        let (format, chunks) = match incoming {
            Incoming::Unchanged => {
                return Ok(
                    matches!(file.place, Place::New { .. } | Place::TakeOver { .. })
                        .then(|| Sink::new(self.keep)),
                );
            }
            Incoming::Chunks { format, chunks } => (format, chunks),
        };
        let base = match &file.place {
            Place::Existing(existing) => Some(existing.text),
            Place::New { .. } | Place::TakeOver { .. } => None,
        };
        let mut text = Incomplete::new(self, base, format)?;
        for chunk in chunks {
            text.push(self, &chunk)?;
        }
        text.finish().map(Some)
    }

    fn work(&self, job: Job) {
        match job {
            Job::MakeDir { item, folder } => self.make_dir(item, &folder),
            Job::Install {
                item,
                path,
                folder,
                disk_path,
                sha1,
                bytes,
                size,
                recipe,
            } => {
                let how = if folder.is_ours() {
                    Create::Over
                } else {
                    Create::New
                };
                let pristine;
                let source = match &bytes {
                    Some(bytes) => Source::Bytes(bytes),
                    None => {
                        pristine = self.store.path(&sha1);
                        Source::File(&pristine)
                    }
                };
                let installed =
                    install::in_place(&disk_path, source, &recipe, how, self.shared.settle);
                let freed = bytes.as_ref().map_or(0, Bytes::len);
                self.tell(match installed {
                    Ok(Installed::Done(recorded)) => {
                        self.shared.progress.add_files(1);
                        self.shared.progress.add_bytes(size);
                        Message::Done {
                            item,
                            file: Some((path, recorded)),
                            freed,
                        }
                    }
                    // What appeared there in the meantime is the user's, and shows as modified.
                    Ok(Installed::Obstructed) => Message::Done {
                        item,
                        file: None,
                        freed,
                    },
                    Err(error) => {
                        self.shared.budget.free(freed);
                        Message::JobsFailed { count: 1, error }
                    }
                });
            }
            Job::Stop => {}
        }
    }

    fn make_dir(&self, item: i64, folder: &Arc<DirDisk>) {
        let path = &folder.path;
        let failed = |error: &std::io::Error| {
            Error::io(
                error,
                format_args!("Can't create directory '{}'", path.display()),
            )
        };
        let made = match disk::make_dir(path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => match disk::look(path) {
                Ok(Found::Dir) => Ok(false),
                Ok(_) => Err(failed(&error)),
                Err(error) => Err(error),
            },
            Err(error) => Err(failed(&error)),
        };
        match made {
            Ok(ours) => {
                folder.made(ours, &self.jobs);
                self.tell(Message::Done {
                    item,
                    file: None,
                    freed: 0,
                });
            }
            Err(error) => {
                let count = 1 + folder.abandon();
                self.tell(Message::JobsFailed { count, error });
            }
        }
    }

    fn tell(&self, message: Message) {
        // The recorder stops last; if it has gone it has failed, and said so.
        drop(self.recorder.send(message));
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
    ) -> Result<Self> {
        let base: Box<dyn Base + Send> = match base {
            Some(base) if format == TextFormat::Svndiff => {
                let path = worker.store.path(&base);
                Box::new(SeekBase::<File>::new(pristine::open(&path)?))
            }
            _ => Box::new(EmptyBase),
        };
        Ok(Self {
            applier: Applier::new(format, base),
            sink: Sink::new(worker.keep),
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
    pub(super) fn new(keep: usize) -> Self {
        Self {
            keep,
            memory: Vec::new(),
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
        if store.claim(&text.sha1, known)? == Claim::Present {
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
