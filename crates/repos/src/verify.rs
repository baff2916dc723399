//! Checks that all of a repository can be read and makes sense.

use sylvan_core::{Error, ErrorCode, Result, Revnum};
use sylvan_fs::id::TxnId;
use sylvan_fs::{FileSystem, Txn};
use sylvan_io::Cancel;

use crate::dump::{Batch, Buffers, Event, Nodes, Output, Purpose, Replay, batches, checked_range};
use crate::notice::Notice;
use crate::ordered::{self, Events};
use crate::repos::Repos;

/// What is verified, and how.
#[derive(Clone, Debug, Default)]
pub struct VerifyOptions {
    /// The first and the last revision; all if there are none.
    pub range: Option<(Revnum, Revnum)>,
    /// Whether names are looked for that differ only in their representation.
    pub check_normalization: bool,
    /// Whether trees and contents are left out.
    pub metadata_only: bool,
    /// Whether something hears of the progress.
    pub notifies: bool,
    /// How many threads work at it; 0 for as many as there are processors.
    pub threads: usize,
}

/// Hears how a verification goes.
pub trait VerifyReceiver {
    /// A step was done.
    ///
    /// # Errors
    /// Ends the verification.
    fn notice(&mut self, notice: Notice) -> Result<()>;

    /// Something is wrong: with a revision, or with what is of none.
    ///
    /// # Errors
    /// Ends the verification.
    fn failed(&mut self, revision: Option<Revnum>, error: Error) -> Result<()>;
}

/// How many revisions a worker does at a time.
const BATCH: i64 = 16;

/// After how many representations, and after how many files of them, there is a word of progress.
const REPS: u64 = 1000;
const FILES: u64 = 16;

impl Repos {
    /// Verifies revisions: first indexes and what is of no revision, then each revision. What is
    /// in the cache of the file system is not read again.
    ///
    /// # Errors
    /// [`ErrorCode::REPOS_BAD_ARGS`] for a range that is none, [`ErrorCode::CANCELLED`], and what
    /// `receiver` returned.
    pub fn verify(
        &self,
        options: &VerifyOptions,
        cancel: &Cancel,
        receiver: &mut dyn VerifyReceiver,
    ) -> Result<()> {
        let fs = self.fs();
        let range = checked_range(fs, options.range)?;
        match verify_metadata(fs, range, options, cancel, receiver) {
            Err(error) if error.code() == ErrorCode::CANCELLED => return Err(error),
            Err(error) => receiver.failed(None, error)?,
            Ok(()) => {}
        }
        if options.metadata_only {
            return Ok(());
        }
        let batches: Vec<Batch> = batches(range.0, range.1, BATCH).collect();
        let work = |batch: &Batch, events: &mut Events<'_, Event>| {
            verify_batch(fs, options, *batch, cancel, events)
        };
        ordered::run(&batches, options.threads, &work, &mut |event| match event {
            Event::Notice(notice) => receiver.notice(notice),
            Event::Failed(revision, error) => receiver.failed(Some(revision), error),
            Event::Bytes(_) | Event::Piece(_) | Event::Found(_) => Ok(()),
        })
    }

    /// Verifies the tree of a transaction.
    ///
    /// # Errors
    /// [`ErrorCode::FS_NO_SUCH_TRANSACTION`], and what is wrong.
    pub fn verify_txn(&self, name: &str, cancel: &Cancel) -> Result<()> {
        Txn::open(self.fs(), TxnId::parse(name)?)?.verify(cancel)
    }
}

fn verify_metadata(
    fs: &FileSystem,
    (start, end): (Revnum, Revnum),
    options: &VerifyOptions,
    cancel: &Cancel,
    receiver: &mut dyn VerifyReceiver,
) -> Result<()> {
    let files = fs.verified_files(start, end)?;
    let shard = i64::from(fs.format().shard_size.unwrap_or(1).max(1));
    let min_unpacked = fs.min_unpacked_rev()?;
    let file_of = |revision: Revnum| {
        let first = Revnum::new(revision.number() / shard * shard).unwrap_or_default();
        if revision < min_unpacked {
            first
        } else {
            revision
        }
    };
    // Small files several at a time; packed ones are further apart.
    let together = |a: &Revnum, b: &Revnum| a.next() == *b && b.number() % FILE_BATCH != 0;
    let jobs: Vec<&[Revnum]> = files.chunk_by(together).collect();
    let work = |files: &&[Revnum], events: &mut Events<'_, Event>| {
        files.iter().try_for_each(|file| {
            let first = file_of(*file);
            if options.notifies && first.number() % shard == 0 {
                events.push(Event::Notice(Notice::VerifyingMetadata(Some(first))))?;
            }
            fs.verify_file(*file, cancel)
        })
    };
    ordered::run(&jobs, options.threads, &work, &mut |event| match event {
        Event::Notice(notice) => receiver.notice(notice),
        _ => Ok(()),
    })?;
    if !fs.has_rep_cache()? {
        return Ok(());
    }
    let mut say = |revision| {
        if options.notifies {
            receiver.notice(Notice::VerifyingMetadata(revision))
        } else {
            Ok(())
        }
    };
    say(None)?;
    let mut progress = RepProgress::default();
    fs.verify_rep_cache(start, end, cancel, |revision| {
        // With physical addressing, Subversion opens a file that is not packed for each.
        let is_kept = fs.format().is_logical() || revision < min_unpacked;
        match progress.counts(revision, is_kept.then(|| file_of(revision))) {
            true => say(Some(revision)),
            false => Ok(()),
        }
    })
}

/// How many files of a revision each are checked at a time.
const FILE_BATCH: i64 = 32;

/// Counts representations as Subversion does before it says how far it is.
#[derive(Debug, Default)]
struct RepProgress {
    reps: u64,
    files: u64,
    file: Option<Revnum>,
    told: Option<Revnum>,
}

impl RepProgress {
    /// Counts a representation in a file that may be open from the one before; tells whether it is
    /// time for a word.
    fn counts(&mut self, revision: Revnum, file: Option<Revnum>) -> bool {
        let is_time = self.reps > REPS || self.files > FILES;
        let tells = is_time && self.told != Some(revision);
        if is_time {
            (self.reps, self.files, self.file) = (0, 0, None);
        }
        if tells {
            self.told = Some(revision);
        }
        self.reps += 1;
        if file.is_none() || self.file != file {
            self.files += 1;
            self.file = file;
        }
        tells
    }
}

fn verify_batch(
    fs: &FileSystem,
    options: &VerifyOptions,
    (first, last): Batch,
    cancel: &Cancel,
    events: &mut Events<'_, Event>,
) -> Result<()> {
    for number in first.number()..=last.number() {
        let revision = Revnum::new(number).unwrap_or_default();
        match verify_one(fs, revision, options, cancel, events) {
            Ok(()) if options.notifies => events.push(Event::Notice(Notice::Verified(revision)))?,
            Ok(()) => {}
            Err(error) if error.code() == ErrorCode::CANCELLED => return Err(error),
            Err(error) => events.push(Event::Failed(revision, error))?,
        }
    }
    Ok(())
}

fn verify_one(
    fs: &FileSystem,
    revision: Revnum,
    options: &VerifyOptions,
    cancel: &Cancel,
    events: &mut Events<'_, Event>,
) -> Result<()> {
    let root = fs.revision_root(revision)?;
    fs.verify_revision(revision, cancel)?;
    if revision != Revnum::ZERO {
        let purpose = Purpose::Verify {
            normalization: options.check_normalization,
            notifies: options.notifies,
        };
        let buffers = Buffers::default();
        let mut out = Output::new(events, &buffers);
        let mut nodes = Nodes::new(&root, purpose, cancel, &mut out);
        Replay::new(&root, None, &mut nodes).changes()?;
    }
    fs.verify_revprops(revision)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_told_as_subversion_does() {
        let told = |file: fn(Revnum) -> Option<Revnum>| -> Vec<i64> {
            let mut progress = RepProgress::default();
            let counts = |number: &i64| {
                let revision = Revnum::new(*number).unwrap();
                progress.counts(revision, file(revision))
            };
            (0..40).filter(counts).collect()
        };
        assert_eq!(told(Some), [17, 34]);
        assert_eq!(told(|_| None), [17, 34]);
        let empty: [i64; 0] = [];
        assert_eq!(told(|_| Some(Revnum::ZERO)), empty);
    }
}
