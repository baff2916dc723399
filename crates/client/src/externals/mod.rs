//! `svn:externals`: fetching what folders of a working copy take from elsewhere.
//!
//! Externals are handled after their working copy is up to date. An external that fails is a
//! warning; the others go on.

mod file;
mod folder;
mod parallel;
mod remove;

use std::collections::BTreeMap;
use std::io::ErrorKind;

use sylvan_core::externals::{ExternalItem, parse};
use sylvan_core::opt::RevisionSpec;
use sylvan_core::time::Clock;
use sylvan_core::{
    Depth, Dirent, Error, ErrorCode, NodeKind, RelPath, RelPathBuf, Result, Revnum, Url,
};
use sylvan_wc::external::{self, Definition, External};
use sylvan_wc::lock::WcLock;
use sylvan_wc::notify::{Action, Notification, NotifyFn};
use sylvan_wc::{WorkingCopy, base};

use crate::location::{self, Location};
use crate::{Context, PooledSession, disk};

/// Tells whether folders at and below `at` have externals in the working copy.
pub(crate) fn any_defined_below(wc: &WorkingCopy, at: &RelPath) -> Result<bool> {
    Ok(!external::list(wc, at)?.is_empty() || !external::definitions(wc, at)?.is_empty())
}

/// One external that is wanted.
struct Wanted {
    /// The folder that defines it.
    folder: RelPathBuf,
    /// Its URL.
    folder_url: Url,
    /// Where it goes.
    path: RelPathBuf,
    item: ExternalItem,
    /// Whether it is there already, as EXTERNALS says.
    is_known: bool,
}

/// Brings the externals that folders at and below `at` define up to date, and takes out those that
/// are defined no longer. `depth` is that of the operation.
///
/// # Errors
/// `CLIENT_INVALID_EXTERNALS_DESCRIPTION` for a property that cannot be parsed, `E200015`, and
/// those of the database. Failures of single externals are notifications.
pub(crate) fn handle_below<'s>(
    context: &'s Context,
    wc: &mut WorkingCopy,
    lock: &WcLock,
    at: &RelPath,
    depth: Option<Depth>,
    session: &mut PooledSession<'s>,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let (definitions, old) = wc.db().read(|| {
        let definitions = match depth {
            None | Some(Depth::Infinity) => external::definitions(wc, at)?,
            Some(_) => external::definition_of(wc, at)?.into_iter().collect(),
        };
        Ok((definitions, external::list(wc, at)?))
    })?;
    let mut old: BTreeMap<_, _> = old
        .into_iter()
        .map(|external| (external.path.clone(), external))
        .collect();
    if definitions.is_empty() && old.is_empty() {
        return Ok(());
    }
    let root = session.repos_root()?;
    for definition in definitions {
        if is_too_shallow(depth, definition.depth) {
            continue;
        }
        let wanted = wanted_of(wc, &context.clock, &definition, &old)?;
        for run in parallel::runs(&wanted) {
            bring_run(context, wc, lock, &root, run, session, notify)?;
        }
        for wanted in wanted {
            old.remove(&wanted.path);
        }
    }
    for external in old.into_values() {
        context.cancel.check()?;
        let done = folder::take_out(context, wc, &external, notify);
        tell_failure(done, wc.local_path(&external.path), notify)?;
        remove_empty_parents(wc, &external.path, &external.defined_at)?;
    }
    Ok(())
}

/// Fetches externals of which none is within another, several at once if that is possible.
fn bring_run<'s>(
    context: &'s Context,
    wc: &mut WorkingCopy,
    lock: &WcLock,
    root: &Url,
    run: &[Wanted],
    session: &mut PooledSession<'s>,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let threads = context.sessions.extra(run.len());
    if run.len() > 1 && threads.count() > 1 {
        return parallel::bring_all(context, wc, lock, root, run, threads.count(), notify);
    }
    drop(threads);
    for wanted in run {
        context.cancel.check()?;
        let done = bring(context, wc, lock, root, wanted, session, notify);
        tell_failure(done, wc.local_path(&wanted.path), notify)?;
    }
    Ok(())
}

/// Externals belong to folders that are there whole.
fn is_too_shallow(requested: Option<Depth>, ambient: Option<Depth>) -> bool {
    let requested_all = requested == Some(Depth::Infinity);
    requested.is_some_and(|depth| depth < Depth::Infinity)
        || (ambient.is_some_and(|depth| depth < Depth::Infinity) && !requested_all)
}

fn wanted_of(
    wc: &WorkingCopy,
    clock: &Clock,
    definition: &Definition,
    old: &BTreeMap<RelPathBuf, External>,
) -> Result<Vec<Wanted>> {
    let folder = wc.local_path(&definition.folder);
    let text = String::from_utf8_lossy(&definition.value);
    let items = parse(&folder.to_string(), &text, clock)?;
    let folder_url = base::url(wc, &definition.folder)?.ok_or_else(|| {
        Error::new(
            ErrorCode::ENTRY_MISSING_URL,
            format!("'{folder}' has no URL"),
        )
    })?;
    items
        .into_iter()
        .map(|item| {
            let below = RelPathBuf::canonicalize(&item.target)
                .map_err(|_| not_in_working_copy(&folder, &item.target))?;
            let path = definition.folder.join(&below);
            Ok(Wanted {
                folder: definition.folder.clone(),
                folder_url: folder_url.clone(),
                is_known: old.contains_key(&path),
                path,
                item,
            })
        })
        .collect()
}

fn not_in_working_copy(folder: &Dirent, target: &str) -> Error {
    Error::new(
        ErrorCode::WC_OBSTRUCTED_UPDATE,
        format!("Path '{}' is not in the working copy", folder.join(target)),
    )
}

/// Turns a failure into a notification, but for a cancelled operation.
pub(crate) fn tell_failure(
    done: Result<()>,
    path: Dirent,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    match done {
        Err(error) if error.code() != ErrorCode::CANCELLED => {
            let mut failed = Notification::new(path, Action::FailedExternal);
            failed.error = Some(error);
            notify(&failed);
            Ok(())
        }
        other => other,
    }
}

/// Fetches one external.
fn bring<'s>(
    context: &'s Context,
    wc: &mut WorkingCopy,
    lock: &WcLock,
    root: &Url,
    wanted: &Wanted,
    session: &mut PooledSession<'s>,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let url = wanted.item.resolve_url(root, &wanted.folder_url)?;
    if url.strip_prefix(root).is_some() {
        session.move_to(&url)?;
        return bring_from(context, wc, lock, wanted, &url, session, notify);
    }
    let (mut session, url) = context.open_following(&url, notify)?;
    bring_from(context, wc, lock, wanted, &url, &mut session, notify)?;
    session.give_back();
    Ok(())
}

/// Fetches one external with a session that is open at its URL.
fn bring_from<'s>(
    context: &'s Context,
    wc: &mut WorkingCopy,
    lock: &WcLock,
    wanted: &Wanted,
    url: &Url,
    session: &mut PooledSession<'s>,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let item = &wanted.item;
    let found = location::resolve_url(&mut **session, url, item.peg, item.revision)?;
    let kind = session.check_path(RelPath::ROOT, Some(found.rev))?;
    check_kind(kind, &found)?;
    let path = wc.local_path(&wanted.path);
    notify(&Notification::new(path.clone(), Action::UpdateExternal));
    if !wanted.is_known {
        disk::make_dir_recursively(&path.dirname())?;
    }
    if kind == NodeKind::File {
        return file::bring(context, wc, lock, wanted, &found, session, notify);
    }
    folder::check_not_versioned(wc, wanted)?;
    let place = folder::bring(context, &path, wanted, &found, session, notify)?;
    register(wc, wanted, place)
}

/// Remembers a folder external that is there.
fn register(wc: &WorkingCopy, wanted: &Wanted, place: folder::Place) -> Result<()> {
    external::register(
        wc,
        &External {
            path: wanted.path.clone(),
            kind: NodeKind::Dir,
            defined_at: wanted.folder.clone(),
            repos_root: place.repos_root,
            repos_uuid: place.repos_uuid,
            repos_path: place.repos_path,
            peg: number(wanted.item.peg),
            rev: number(wanted.item.revision),
        },
    )
}

fn check_kind(kind: NodeKind, found: &Location) -> Result<()> {
    let Location { url, rev } = found;
    let what = match kind {
        NodeKind::Dir | NodeKind::File => return Ok(()),
        NodeKind::None => format!("URL '{url}' at revision {rev} doesn't exist"),
        NodeKind::Unknown => format!("URL '{url}' at revision {rev} is not a file or a directory"),
    };
    Err(Error::new(ErrorCode::RA_ILLEGAL_URL, what))
}

fn number(revision: RevisionSpec) -> Option<Revnum> {
    match revision {
        RevisionSpec::Number(rev) => Some(rev),
        _ => None,
    }
}

/// Removes folders that were made for an external that is gone, if nothing is in them.
fn remove_empty_parents(wc: &WorkingCopy, path: &RelPath, defined_in: &RelPath) -> Result<()> {
    for parent in path.ancestors() {
        if parent == defined_in || !parent.starts_with(defined_in) {
            break;
        }
        if base::kind(wc, parent)? != NodeKind::None {
            continue;
        }
        let local = wc.local_path(parent);
        match std::fs::remove_dir(local.as_path()) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => break,
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            Err(error) => {
                let action = format_args!("Can't remove directory '{local}'");
                return Err(Error::io(&error, action));
            }
        }
    }
    Ok(())
}
