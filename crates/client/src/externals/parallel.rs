//! Several externals at once, told in order.
//!
//! Folder externals are working copies of their own, so they can be fetched by threads; what they
//! tell is kept in order by a channel each. What belongs to the working copy around them, its
//! database and its file externals, stays with the thread that owns it.

use std::sync::atomic::{AtomicUsize, Ordering};

use crossbeam_channel::{Receiver, Sender};
use sylvan_core::{Dirent, Error, NodeKind, RelPath, Result, Url};
use sylvan_wc::WorkingCopy;
use sylvan_wc::lock::WcLock;
use sylvan_wc::notify::{Action, Notification, NotifyFn};

use super::folder::{self, Place};
use super::{Wanted, check_kind, file, register, tell_failure};
use crate::location::{self, Location};
use crate::{Context, PooledSession, disk};

/// So many notifications may wait for an external's turn.
const WAITING: usize = 4096;

/// An external on its way.
struct Job<'a> {
    wanted: &'a Wanted,
    path: Dirent,
    /// Why it must not be fetched.
    refused: Option<Error>,
}

/// What a thread says of its external.
enum Event<'s> {
    Told(Box<Notification>),
    Done(Box<Result<Fetched<'s>>>),
}

enum Fetched<'s> {
    Folder(Place),
    /// It is a file, for the thread that owns the working copy to fetch.
    File(Location, PooledSession<'s>),
}

/// Splits externals into runs in which none is within another.
pub(super) fn runs(wanted: &[Wanted]) -> Vec<&[Wanted]> {
    let mut runs = Vec::new();
    let mut start = 0;
    for at in 1..=wanted.len() {
        let collides = wanted.get(at).is_none_or(|next| {
            wanted[start..at].iter().any(|earlier| {
                earlier.path.starts_with(&next.path) || next.path.starts_with(&earlier.path)
            })
        });
        if collides {
            runs.push(&wanted[start..at]);
            start = at;
        }
    }
    runs
}

/// Fetches externals of which none is within another, with `threads` threads.
pub(super) fn bring_all(
    context: &Context,
    wc: &mut WorkingCopy,
    lock: &WcLock,
    root: &Url,
    wanted: &[Wanted],
    threads: usize,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let jobs: Vec<_> = wanted
        .iter()
        .map(|wanted| Job {
            wanted,
            path: wc.local_path(&wanted.path),
            refused: folder::check_not_versioned(wc, wanted).err(),
        })
        .collect();
    let (senders, receivers): (Vec<_>, Vec<_>) = jobs
        .iter()
        .map(|_| crossbeam_channel::bounded(WAITING))
        .unzip();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        // Dropped when this ends, so that no thread waits for somebody who listens no more.
        let receivers: Vec<Receiver<Event<'_>>> = receivers;
        for _ in 0..threads.min(jobs.len()) {
            scope.spawn(|| work(context, root, &jobs, &senders, &next));
        }
        for (job, events) in jobs.iter().zip(receivers) {
            let done = follow(context, wc, lock, job, &events, notify);
            tell_failure(done, job.path.clone(), notify)?;
        }
        Ok(())
    })
}

/// Takes jobs in order until there are none left.
fn work<'s>(
    context: &'s Context,
    root: &Url,
    jobs: &[Job<'_>],
    senders: &[Sender<Event<'s>>],
    next: &AtomicUsize,
) {
    loop {
        let at = next.fetch_add(1, Ordering::Relaxed);
        let (Some(job), Some(sender)) = (jobs.get(at), senders.get(at)) else {
            return;
        };
        let done = context.cancel.check().and_then(|()| {
            fetch(context, root, job, &mut |what| {
                let _ = sender.send(Event::Told(Box::new(what.clone())));
            })
        });
        let _ = sender.send(Event::Done(Box::new(done)));
    }
}

fn fetch<'s>(
    context: &'s Context,
    root: &Url,
    job: &Job<'_>,
    notify: &mut NotifyFn<'_>,
) -> Result<Fetched<'s>> {
    let wanted = job.wanted;
    let url = wanted.item.resolve_url(root, &wanted.folder_url)?;
    let (mut session, url) = context.open_following(&url, notify)?;
    let item = &wanted.item;
    let found = location::resolve_url(&mut *session, &url, item.peg, item.revision)?;
    let kind = session.check_path(RelPath::ROOT, Some(found.rev))?;
    check_kind(kind, &found)?;
    if kind == NodeKind::File {
        return Ok(Fetched::File(found, session));
    }
    announce(job, notify)?;
    if let Some(refused) = &job.refused {
        return Err(refused.clone());
    }
    let place = folder::bring(context, &job.path, wanted, &found, &mut session, notify)?;
    session.give_back();
    Ok(Fetched::Folder(place))
}

fn announce(job: &Job<'_>, notify: &mut NotifyFn<'_>) -> Result<()> {
    notify(&Notification::new(job.path.clone(), Action::UpdateExternal));
    if job.wanted.is_known {
        return Ok(());
    }
    disk::make_dir_recursively(&job.path.dirname())
}

/// Passes on what is told of one external, and does what is left to do when it is there.
fn follow<'s>(
    context: &'s Context,
    wc: &mut WorkingCopy,
    lock: &WcLock,
    job: &Job<'_>,
    events: &Receiver<Event<'s>>,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    loop {
        match events.recv() {
            Ok(Event::Told(what)) => notify(&what),
            Ok(Event::Done(done)) => {
                return match (*done)? {
                    Fetched::Folder(place) => register(wc, job.wanted, place),
                    Fetched::File(found, mut session) => {
                        announce(job, notify)?;
                        file::bring(context, wc, lock, job.wanted, &found, &mut session, notify)?;
                        session.give_back();
                        Ok(())
                    }
                };
            }
            Err(_) => {
                return Err(Error::new(
                    sylvan_core::ErrorCode::ASSERTION_FAIL,
                    "A thread that fetches an external has failed",
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sylvan_core::RelPathBuf;
    use sylvan_core::externals::ExternalItem;
    use sylvan_core::opt::RevisionSpec;

    #[test]
    fn nested_externals_wait_for_each_other() {
        let wanted: Vec<_> = ["a", "b", "c/d", "c", "e", "a/b", "f"]
            .iter()
            .map(|path| Wanted {
                folder: RelPathBuf::root(),
                folder_url: Url::parse("svn://h/r").unwrap(),
                path: RelPathBuf::new(*path).unwrap(),
                item: ExternalItem {
                    target: (*path).to_owned(),
                    url: "^/x".to_owned(),
                    revision: RevisionSpec::Head,
                    peg: RevisionSpec::Head,
                },
                is_known: false,
            })
            .collect();
        let runs: Vec<Vec<_>> = runs(&wanted)
            .iter()
            .map(|run| run.iter().map(|wanted| wanted.path.as_str()).collect())
            .collect();
        assert_eq!(runs, [vec!["a", "b", "c/d"], vec!["c", "e", "a/b", "f"]]);
    }
}
