//! Writes the history of a repository as a dump stream.

mod node;
mod replay;
mod spool;
mod tracker;

use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use sylvan_core::{Error, ErrorCode, Props, RelPath, Result, Revnum};
use sylvan_fs::FileSystem;
use sylvan_io::Cancel;

use crate::access::ReadAccess;
use crate::dumpstream::{self, VERSION};
use crate::filter::PathFilter;
use crate::notice::{Notice, WarningKind, warning};
use crate::ordered::{self, Events};
use crate::repos::Repos;
use crate::revision_access::RevisionAccess;

pub(crate) use node::{Nodes, Purpose};
pub(crate) use replay::Replay;

/// What is dumped, and how.
#[derive(Clone, Debug, Default)]
pub struct DumpOptions {
    /// The first and the last revision; all if there are none.
    pub range: Option<(Revnum, Revnum)>,
    /// Whether the first revision is told by its changes too, and not as a whole tree.
    pub incremental: bool,
    /// Whether texts and properties are deltas.
    pub deltas: bool,
    /// Whether there are no changes, but only revision properties.
    pub revprops_only: bool,
    /// Whether something hears of the progress; it is not looked for warnings else.
    pub notifies: bool,
    /// Which paths are dumped.
    pub filter: Option<PathFilter>,
    /// How many threads work at it; 0 for as many as there are processors.
    pub threads: usize,
}

/// Takes a dump stream, and hears how the dump goes.
pub trait DumpReceiver {
    /// The next bytes of the stream.
    ///
    /// # Errors
    /// Ends the dump.
    fn bytes(&mut self, bytes: &[u8]) -> Result<()>;

    /// A step was done.
    ///
    /// # Errors
    /// Ends the dump.
    fn notice(&mut self, notice: Notice) -> Result<()>;
}

/// What is found while dumping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// Copies of what is older than the stream.
    pub(crate) old_reference: bool,
    /// Mergeinfo about what is older than the stream.
    pub(crate) old_mergeinfo: bool,
}

/// A piece of output of a worker.
#[derive(Debug)]
pub(crate) enum Event {
    Bytes(Vec<u8>),
    /// A text, or a part of one, that is not worth copying.
    Piece(Bytes),
    Notice(Notice),
    Found(Found),
    Failed(Revnum, Error),
}

impl ordered::Weight for Event {
    fn weight(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.capacity() + 32,
            Self::Piece(bytes) => bytes.len() + 32,
            Self::Notice(_) | Self::Found(_) | Self::Failed(..) => 128,
        }
    }
}

/// How many revisions a worker does at a time.
const BATCH: i64 = 16;

impl Repos {
    /// Writes revisions to `out`.
    ///
    /// # Errors
    /// [`ErrorCode::REPOS_BAD_ARGS`] for a range that is none; [`ErrorCode::FS_CORRUPT`] and others
    /// for what cannot be read; what `out` returned.
    pub fn dump(
        &self,
        options: &DumpOptions,
        cancel: &Cancel,
        out: &mut dyn DumpReceiver,
    ) -> Result<()> {
        let fs = self.fs();
        let (start, end) = checked_range(fs, options.range)?;
        let version = if options.deltas { VERSION } else { VERSION - 1 };
        let mut head = dumpstream::stream_start(version);
        head.push_str(&dumpstream::uuid_record(fs.uuid()));
        out.bytes(head.as_bytes())?;
        let mut found = Found::default();
        let batches: Vec<Batch> = batches(start, end, BATCH).collect();
        let buffers = Buffers::default();
        let work = |batch: &Batch, events: &mut Events<'_, Event>| {
            let mut out = Output::new(events, &buffers);
            dump_batch(self, options, (start, *batch), cancel, &mut out)
        };
        // Properties alone are read faster than they are handed over.
        let threads = if options.revprops_only {
            1
        } else {
            options.threads
        };
        ordered::run(&batches, threads, &work, &mut |event| {
            match event {
                Event::Bytes(bytes) => {
                    out.bytes(&bytes)?;
                    buffers.put(bytes);
                }
                Event::Piece(bytes) => out.bytes(&bytes)?,
                Event::Notice(notice) => out.notice(notice)?,
                Event::Found(one) => {
                    found.old_reference |= one.old_reference;
                    found.old_mergeinfo |= one.old_mergeinfo;
                }
                Event::Failed(_, error) => return Err(error),
            }
            Ok(())
        })?;
        tell_found(found, out)
    }
}

/// First and last revision of what a worker does at a time.
pub(crate) type Batch = (Revnum, Revnum);

/// Cuts a range.
pub(crate) fn batches(start: Revnum, end: Revnum, len: i64) -> impl Iterator<Item = Batch> {
    let firsts = (start.number()..=end.number()).step_by(usize::try_from(len).unwrap_or(1));
    firsts.filter_map(move |first| {
        let last = first.saturating_add(len - 1).min(end.number());
        Some((Revnum::new(first)?, Revnum::new(last)?))
    })
}

/// Returns the range, or all revisions.
pub(crate) fn checked_range(
    fs: &FileSystem,
    range: Option<(Revnum, Revnum)>,
) -> Result<(Revnum, Revnum)> {
    let youngest = fs.youngest()?;
    let (start, end) = range.unwrap_or((Revnum::ZERO, youngest));
    let bad = |text: String| Err(Error::new(ErrorCode::REPOS_BAD_ARGS, text));
    if start > end {
        return bad(format!(
            "Start revision {start} is greater than end revision {end}"
        ));
    }
    if end > youngest {
        return bad(format!(
            "End revision {end} is invalid (youngest revision is {youngest})"
        ));
    }
    Ok((start, end))
}

fn tell_found(found: Found, out: &mut dyn DumpReceiver) -> Result<()> {
    if found.old_reference {
        out.notice(warning(
            WarningKind::OldReference,
            "The range of revisions dumped contained references to copy sources outside that range.",
        ))?;
    }
    if found.old_mergeinfo {
        out.notice(warning(
            WarningKind::OldMergeinfo,
            "The range of revisions dumped contained mergeinfo which reference revisions outside \
             that range.",
        ))?;
    }
    Ok(())
}

fn dump_batch(
    repos: &Repos,
    options: &DumpOptions,
    (oldest, (first, last)): (Revnum, Batch),
    cancel: &Cancel,
    out: &mut Output<'_, '_>,
) -> Result<()> {
    let mut found = Found::default();
    let mut revprops = repos.fs().revprops_reader();
    let mut dump = |number: i64| -> Result<()> {
        cancel.check()?;
        let revision = Revnum::new(number).unwrap_or_default();
        let props = revprops.read(revision)?;
        let props = shown_props(repos, revision, props, options.filter.as_ref())?;
        dumpstream::revision_record(revision, &[], Some(&props), out.buffer());
        if revision != Revnum::ZERO && !options.revprops_only {
            let one = dump_nodes(repos.fs(), options, (oldest, revision), cancel, out)?;
            found.old_reference |= one.old_reference;
            found.old_mergeinfo |= one.old_mergeinfo;
        }
        if options.notifies {
            out.notice(Notice::Dumped(revision))?;
        }
        Ok(())
    };
    let done = (first.number()..=last.number()).try_for_each(&mut dump);
    // What comes before an error is written.
    out.flush()?;
    done?;
    if found == Found::default() {
        return Ok(());
    }
    out.events.push(Event::Found(found))
}

fn dump_nodes(
    fs: &FileSystem,
    options: &DumpOptions,
    (oldest, revision): (Revnum, Revnum),
    cancel: &Cancel,
    out: &mut Output<'_, '_>,
) -> Result<Found> {
    let is_whole = revision == oldest && !options.incremental;
    let purpose = Purpose::Dump {
        deltas: options.deltas && !is_whole,
        oldest,
        notifies: options.notifies,
    };
    let root = fs.revision_root(revision)?;
    let mut nodes = Nodes::new(&root, purpose, cancel, out);
    let mut replay = Replay::new(&root, options.filter.as_ref(), &mut nodes);
    if is_whole {
        replay.whole_tree()?;
    } else {
        replay.changes()?;
    }
    Ok(nodes.found)
}

/// Returns the properties of a revision, as far as what it changed is wanted.
fn shown_props(
    repos: &Repos,
    revision: Revnum,
    mut props: Props,
    filter: Option<&PathFilter>,
) -> Result<Props> {
    let Some(filter) = filter else {
        return Ok(props);
    };
    let check = |_: Revnum, path: &RelPath| Ok(filter.allows(&path.to_fspath()));
    match repos.revision_access(revision, ReadAccess::new(&check))? {
        RevisionAccess::Full => {}
        RevisionAccess::Partial => {
            props.retain(|name, _| name == "svn:author" || name == "svn:date");
        }
        RevisionAccess::None => props.clear(),
    }
    Ok(props)
}

/// Collects the output of a worker.
pub(crate) struct Output<'o, 'e> {
    events: &'o mut Events<'e, Event>,
    buffer: Vec<u8>,
    buffers: &'o Buffers,
}

/// Buffers that were written and can be filled again.
#[derive(Default)]
pub(crate) struct Buffers(Mutex<Vec<Vec<u8>>>);

impl Buffers {
    fn get(&self) -> Vec<u8> {
        let free = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        free.unwrap_or_else(|| Vec::with_capacity(FULL + LARGE))
    }

    fn put(&self, mut buffer: Vec<u8>) {
        buffer.clear();
        let mut free = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if free.len() < MOST_FREE && buffer.capacity() <= 2 * (FULL + LARGE) {
            free.push(buffer);
        }
    }
}

/// How much output is handed over at once.
const FULL: usize = 64 << 10;
/// Texts from this size on are handed over as they are.
const LARGE: usize = 32 << 10;
/// How many buffers wait to be filled.
const MOST_FREE: usize = 32;

impl<'o, 'e> Output<'o, 'e> {
    pub(crate) const fn new(events: &'o mut Events<'e, Event>, buffers: &'o Buffers) -> Self {
        Self {
            events,
            buffer: Vec::new(),
            buffers,
        }
    }

    fn buffer(&mut self) -> &mut Vec<u8> {
        if self.buffer.capacity() == 0 {
            self.buffer = self.buffers.get();
        }
        &mut self.buffer
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.buffer().extend_from_slice(bytes);
        if self.buffer.len() >= FULL {
            self.flush()?;
        }
        Ok(())
    }

    fn write_text(&mut self, piece: Bytes) -> Result<()> {
        if piece.len() < LARGE {
            return self.write(&piece);
        }
        self.flush()?;
        self.events.push(Event::Piece(piece))
    }

    fn flush(&mut self) -> Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let bytes = std::mem::take(&mut self.buffer);
        self.events.push(Event::Bytes(bytes))
    }

    pub(crate) fn notice(&mut self, notice: Notice) -> Result<()> {
        self.flush()?;
        self.events.push(Event::Notice(notice))
    }
}
