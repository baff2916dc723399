//! `svn blame`: who changed each line of a file.
//!
//! The revisions of the file come one after the other, and each is compared with the one before on
//! another thread. What is known of the lines is kept in runs of the same revision.

use std::collections::VecDeque;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use memchr::memchr2;
use sylvan_core::opt::RevisionSpec;
use sylvan_core::props::{self, SVN_MIME_TYPE};
use sylvan_core::{Error, ErrorCode, NodeKind, Props, RelPath, Result, Revnum};
use sylvan_diff::{Change, Options as DiffOptions};
use sylvan_io::Cancel;
use sylvan_ra::{Capability, FileRev, Session};

use crate::cat;
use crate::resolve;
use crate::target::{PathOrUrl, Target};
use crate::wc_node::WcNode;
use crate::{Context, PooledSession, disk};

/// How many comparisons a thread may have before it.
const AHEAD: usize = 4;

/// No more threads compare texts.
const MOST_THREADS: usize = 8;

/// What is asked of a file's lines.
#[derive(Clone, Debug)]
pub struct Options {
    /// The first revision that is of interest.
    pub start: RevisionSpec,
    /// The revision whose lines are shown; if it is older than `start`, they are followed forward.
    pub end: RevisionSpec,
    /// Whether merges are followed.
    pub merged: bool,
    /// Whether files of binary types are taken for text.
    pub force: bool,
    /// Which differences count.
    pub diff: DiffOptions,
}

/// A revision that is responsible for lines.
#[derive(Clone, Debug, Default)]
pub struct BlamedRev {
    /// Its number; `None` if the lines are older than the first revision of interest.
    pub rev: Option<Revnum>,
    /// Its properties.
    pub revprops: Props,
    /// The file's path in it, with a leading slash.
    pub path: String,
}

/// A line of the file.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// Counted from 1.
    pub number: u64,
    /// Who changed it last; `None` for a local change.
    pub rev: Option<&'a BlamedRev>,
    /// Who changed it where it was merged from, if merges are followed.
    pub merged: Option<&'a BlamedRev>,
    /// The text, without its end.
    pub text: &'a [u8],
}

/// Receives the lines of a file, with the younger of the two revisions that were asked for.
pub type LineReceiver<'a> = dyn FnMut(Revnum, Line<'_>) -> Result<()> + 'a;

/// Gives each line of a file to `receive`.
///
/// # Errors
/// `CLIENT_IS_BINARY_FILE` for a file of a binary type, `FS_NOT_FILE` for what is no file.
pub fn blame(
    context: &Context,
    target: &Target,
    options: &Options,
    receive: &mut LineReceiver<'_>,
) -> Result<()> {
    let node = match &target.at {
        PathOrUrl::Url(_) => None,
        PathOrUrl::Path(path) => Some(WcNode::open(context, path)?),
    };
    let (mut session, first) =
        resolve::open_node(context, target, node.as_ref(), RevisionSpec::Unspecified)?;
    let mut youngest = None;
    let mut number = |spec| resolve::revision(&mut *session, node.as_ref(), spec, &mut youngest);
    let (start, end) = (number(options.start)?, number(options.end)?);
    let at = if target.at.is_url() {
        &PathOrUrl::Url(first.url.clone())
    } else {
        &target.at
    };
    let younger = RevisionSpec::Number(start.max(end));
    let at = resolve::locate(
        context,
        &mut session,
        at,
        node.as_ref(),
        target.peg,
        younger,
    )?;
    session.move_to(&at.url)?;
    if !options.force && start < end {
        check_type(&mut session, target, node.as_ref(), options.end, end)?;
    }
    let blamer = Blamer::new(target, options, start, end);
    let mut blamer = run(context, &mut session, blamer)?;
    session.give_back();
    if options.end == RevisionSpec::Working
        && let Some(node) = &node
        && disk::kind(node.abspath())? != NodeKind::None
        && !node.is_unmodified(context)?
    {
        blamer.take_local(cat::normalized(context, node)?, &context.cancel)?;
    }
    blamer.report(start.max(end), &context.cancel, receive)
}

/// Refuses files whose type says that they have no lines.
fn check_type(
    session: &mut PooledSession<'_>,
    target: &Target,
    node: Option<&WcNode>,
    end: RevisionSpec,
    end_rev: Revnum,
) -> Result<()> {
    let found = match (node, end) {
        (Some(node), RevisionSpec::Working) => node.working_props()?,
        (Some(node), RevisionSpec::Base) => node.pristine_props()?,
        _ => session.read_file(RelPath::ROOT, Some(end_rev), None)?.1,
    };
    match found.get(SVN_MIME_TYPE) {
        Some(value) if is_binary(value) => Err(binary(&target.at.to_string())),
        _ => Ok(()),
    }
}

fn is_binary(mime_type: &[u8]) -> bool {
    props::mime_type_is_binary(&String::from_utf8_lossy(mime_type))
}

fn binary(shown: &str) -> Error {
    Error::new(
        ErrorCode::CLIENT_IS_BINARY_FILE,
        format!("Cannot calculate blame information for binary file '{shown}'"),
    )
}

/// Fetches the revisions while others are compared.
fn run(context: &Context, session: &mut PooledSession<'_>, mut blamer: Blamer) -> Result<Blamer> {
    let (end, merged) = (blamer.end, blamer.merged);
    let first = if blamer.is_backwards() {
        blamer.start
    } else {
        blamer.start.previous().unwrap_or_default()
    };
    require(&mut **session, merged, first > end)?;
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    std::thread::scope(|scope| {
        let (jobs, queue) = crossbeam_channel::unbounded();
        let (cancel, options) = (&context.cancel, blamer.diff.clone());
        for _ in 0..threads.min(MOST_THREADS) {
            let (queue, options) = (queue.clone(), options.clone());
            scope.spawn(move || compare_all(&queue, &options, cancel));
        }
        let mut pending = Pending {
            jobs,
            steps: VecDeque::new(),
        };
        session.file_revs(RelPath::ROOT, Some(first), Some(end), merged, &mut |rev| {
            cancel.check()?;
            if let Some(step) = blamer.plan(rev)? {
                pending.push(step);
            }
            while pending.steps.len() > AHEAD * threads {
                pending.finish_one(&mut blamer)?;
            }
            Ok(())
        })?;
        while !pending.steps.is_empty() {
            pending.finish_one(&mut blamer)?;
        }
        Ok(blamer)
    })
}

/// Two texts to be compared, and where the outcome goes.
struct Job {
    texts: [Arc<Vec<u8>>; 2],
    done: SyncSender<Result<Vec<Change>>>,
}

fn compare_all(queue: &crossbeam_channel::Receiver<Job>, options: &DiffOptions, cancel: &Cancel) {
    for job in queue {
        let (old, new) = (&job.texts[0][..], &job.texts[1][..]);
        let diff = sylvan_diff::diff([&old, &new], options, &mut || cancel.check());
        // Whoever waited for it may have given up.
        let _ = job.done.send(diff.map(|diff| diff.changes));
    }
}

/// The texts before and after; there may be none before.
type Texts = (Option<Arc<Vec<u8>>>, Arc<Vec<u8>>);

/// What is to be compared for one revision.
struct Step {
    rev: usize,
    own: Option<Texts>,
    all: Option<Texts>,
}

/// What becomes of runs of lines.
enum Outcome {
    /// They stay.
    Same,
    /// All lines are new.
    First,
    /// Lines differ.
    Differ(Receiver<Result<Vec<Change>>>),
}

/// Comparisons on their way, in order.
struct Pending {
    jobs: crossbeam_channel::Sender<Job>,
    steps: VecDeque<(usize, Outcome, Outcome)>,
}

impl Pending {
    fn push(&mut self, step: Step) {
        let start = |texts: Option<Texts>| match texts {
            None => Outcome::Same,
            Some((None, _)) => Outcome::First,
            Some((Some(old), new)) if Arc::ptr_eq(&old, &new) => Outcome::Same,
            Some((Some(old), new)) => {
                let (done, outcome) = sync_channel(1);
                let texts = [old, new];
                // The threads live as long as this.
                let _ = self.jobs.send(Job { texts, done });
                Outcome::Differ(outcome)
            }
        };
        let (own, all) = (start(step.own), start(step.all));
        self.steps.push_back((step.rev, own, all));
    }

    fn finish_one(&mut self, blamer: &mut Blamer) -> Result<()> {
        let Some((rev, own, all)) = self.steps.pop_front() else {
            return Ok(());
        };
        for (runs, outcome) in [(&mut blamer.own, own), (&mut blamer.all, all)] {
            match outcome {
                Outcome::Same => {}
                Outcome::First => *runs = Runs::all(rev),
                Outcome::Differ(outcome) => {
                    let gone = |_| Error::from_code(ErrorCode::CANCELLED);
                    runs.change(&outcome.recv().map_err(gone)??, Some(rev));
                }
            }
        }
        Ok(())
    }
}

fn require(session: &mut dyn Session, merged: bool, backwards: bool) -> Result<()> {
    let unsupported = |text: String| Err(Error::new(ErrorCode::UNSUPPORTED_FEATURE, text));
    if merged && !session.has_capability(Capability::Mergeinfo)? {
        let url = session.url().clone();
        return unsupported(format!("Retrieval of mergeinfo unsupported by '{url}'"));
    }
    if backwards && !session.has_capability(Capability::FileRevsReverse)? {
        let url = session.url().clone();
        return unsupported(format!(
            "The 'get-file-revs-reversed' feature is not supported by '{url}'"
        ));
    }
    Ok(())
}

/// Runs of lines with the same revision, as an index or none; the last one has no end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Runs(Vec<(u64, Option<usize>)>);

impl Runs {
    fn all(rev: usize) -> Self {
        Self(vec![(u64::MAX, Some(rev))])
    }

    /// Gives `rev` the lines that differ from those before.
    fn change(&mut self, changes: &[Change], rev: Option<usize>) {
        let mut new = Self(Vec::with_capacity(self.0.len() + 2 * changes.len()));
        let mut old = self.0.iter().copied();
        let mut current = old.next();
        let mut at = 0;
        let mut advance = |count: u64, mut into: Option<&mut Self>| {
            let mut left = count;
            while left > 0 {
                let Some((length, rev)) = &mut current else {
                    return;
                };
                let taken = left.min(*length);
                if let Some(into) = &mut into {
                    into.push(taken, *rev);
                }
                left -= taken;
                // The last run stays as long as it is.
                if *length != u64::MAX {
                    *length -= taken;
                }
                if *length == 0 {
                    current = old.next();
                } else if *length == u64::MAX {
                    return;
                }
            }
        };
        for change in changes {
            let (start, end) = (
                u64::from(change.original.start),
                u64::from(change.original.end),
            );
            advance(start - at, Some(&mut new));
            advance(end - start, None);
            new.push(change.modified.len() as u64, rev);
            at = end;
        }
        advance(u64::MAX, Some(&mut new));
        *self = new;
    }

    fn push(&mut self, length: u64, rev: Option<usize>) {
        match self.0.last_mut() {
            _ if length == 0 => {}
            Some(last) if last.1 == rev => last.0 = last.0.saturating_add(length),
            _ => self.0.push((length, rev)),
        }
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the revisions of one line after the other.
    fn lines(&self) -> impl Iterator<Item = Option<usize>> + '_ {
        self.0.iter().flat_map(|(length, rev)| {
            let length = usize::try_from(*length).unwrap_or(usize::MAX);
            std::iter::repeat_n(*rev, length)
        })
    }
}

/// What is known of the lines so far.
struct Blamer {
    shown: String,
    start: Revnum,
    end: Revnum,
    merged: bool,
    diff: DiffOptions,
    /// Whether the first revision's type is still to be looked at.
    checks_type: bool,
    revs: Vec<BlamedRev>,
    /// The lines by the revisions of the file itself.
    own: Runs,
    /// The lines by all revisions, if merges are followed.
    all: Runs,
    /// The text that came last.
    last: Option<Arc<Vec<u8>>>,
    /// The last text that is not merged.
    last_own: Option<Arc<Vec<u8>>>,
    /// On the way back, the revision that came before: what is gone in it was changed by it.
    before: BlamedRev,
}

impl Blamer {
    fn new(target: &Target, options: &Options, start: Revnum, end: Revnum) -> Self {
        Self {
            shown: target.at.to_string(),
            start,
            end,
            merged: options.merged,
            diff: options.diff.clone(),
            checks_type: start > end && !options.force,
            revs: Vec::new(),
            own: Runs::default(),
            all: Runs::default(),
            last: None,
            last_own: None,
            before: BlamedRev::default(),
        }
    }

    fn is_backwards(&self) -> bool {
        self.start > self.end
    }

    /// Says what is to be compared for a revision, if anything.
    fn plan(&mut self, found: FileRev) -> Result<Option<Step>> {
        if std::mem::take(&mut self.checks_type) {
            let mime_type = found
                .prop_changes
                .iter()
                .find(|(name, _)| name == SVN_MIME_TYPE);
            if let Some((_, Some(value))) = mime_type
                && is_binary(value)
            {
                return Err(binary(&self.shown));
            }
        }
        if found.text.is_none() && (!self.merged || found.merged) {
            return Ok(None);
        }
        let text = match (&found.text, &self.last) {
            (Some(text), _) | (None, Some(text)) => text.clone(),
            (None, None) => Arc::default(),
        };
        let is_merged = found.merged;
        let rev = self.responsible(found);
        self.revs.push(rev);
        let last = self.last.replace(text.clone());
        let mut step = Step {
            rev: self.revs.len() - 1,
            own: None,
            all: None,
        };
        if !self.merged {
            step.own = Some((last, text));
        } else {
            step.all = Some((last, text.clone()));
            if !is_merged {
                step.own = Some((self.last_own.replace(text.clone()), text));
            }
        }
        Ok(Some(step))
    }

    /// Returns the revision to which the changes that come with `found` belong.
    fn responsible(&mut self, found: FileRev) -> BlamedRev {
        let is_wanted = found.rev >= self.start.min(self.end);
        let this = BlamedRev {
            rev: Some(found.rev),
            revprops: found.revprops,
            path: found.path,
        };
        if self.is_backwards() {
            let before = self.before.clone();
            if is_wanted {
                self.before = this;
            }
            before
        } else if is_wanted || found.merged {
            this
        } else {
            BlamedRev {
                path: this.path,
                ..BlamedRev::default()
            }
        }
    }

    /// Takes the working file, whose changes are nobody's yet.
    fn take_local(&mut self, text: Vec<u8>, cancel: &Cancel) -> Result<()> {
        let last = self.last.take().unwrap_or_default();
        let (old, new) = (&last[..], &text[..]);
        let diff = sylvan_diff::diff([&old, &new], &self.diff, &mut || cancel.check())?;
        self.own.change(&diff.changes, None);
        self.last = Some(Arc::new(text));
        Ok(())
    }

    fn report(
        mut self,
        younger: Revnum,
        cancel: &Cancel,
        receive: &mut LineReceiver<'_>,
    ) -> Result<()> {
        let Some(text) = self.last.take() else {
            return Err(Error::new(
                ErrorCode::ASSERTION_FAIL,
                format!("'{}' has no revision in the range", self.shown),
            ));
        };
        if self.own.is_empty() && !self.revs.is_empty() {
            // It came by a merge altogether.
            self.own = Runs::all(self.revs.len() - 1);
        }
        let mut own = self.own.lines();
        let mut all = self.all.lines();
        let mut number = 0;
        each_line(&text, |line| {
            cancel.check()?;
            number += 1;
            let by = |index: Option<Option<usize>>| {
                index.flatten().and_then(|index| self.revs.get(index))
            };
            let (rev, merged) = (by(own.next()), by(all.next()));
            receive(
                younger,
                Line {
                    number,
                    rev,
                    merged: merged.filter(|_| rev.is_some()),
                    text: line,
                },
            )
        })
    }
}

/// Cuts a text at line ends of any kind.
fn each_line(text: &[u8], mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let mut rest = text;
    while !rest.is_empty() {
        let end = memchr2(b'\n', b'\r', rest);
        let line = &rest[..end.unwrap_or(rest.len())];
        let after = match end {
            None => rest.len(),
            Some(end) if rest[end..].starts_with(b"\r\n") => end + 2,
            Some(end) => end + 1,
        };
        take(line)?;
        rest = &rest[after..];
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(original: std::ops::Range<u32>, modified: std::ops::Range<u32>) -> Change {
        Change { original, modified }
    }

    #[test]
    fn changed_lines_get_another_revision() {
        let mut runs = Runs::all(0);
        runs.change(&[change(2..3, 2..5)], Some(1));
        assert_eq!(runs.0, [(2, Some(0)), (3, Some(1)), (u64::MAX, Some(0))]);
        runs.change(&[change(0..1, 0..0), change(4..6, 3..4)], Some(2));
        assert_eq!(
            runs.0,
            [
                (1, Some(0)),
                (2, Some(1)),
                (1, Some(2)),
                (u64::MAX, Some(0))
            ]
        );
        runs.change(&[change(0..4, 0..0)], None);
        assert_eq!(runs.0, [(u64::MAX, Some(0))]);
        runs.change(&[change(7..7, 7..8)], None);
        assert_eq!(runs.0, [(7, Some(0)), (1, None), (u64::MAX, Some(0))]);
    }

    #[test]
    fn lines_end_in_any_way() {
        let mut lines = Vec::new();
        each_line(b"a\r\nb\rc\n\n\r\nd", |line| {
            lines.push(String::from_utf8(line.to_vec()).unwrap());
            Ok(())
        })
        .unwrap();
        assert_eq!(lines, ["a", "b", "c", "", "", "d"]);
    }
}
