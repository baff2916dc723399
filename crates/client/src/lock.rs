//! `svn lock` and `svn unlock`: locks in a repository.

use std::collections::BTreeMap;

use sylvan_core::{
    Dirent, Error, ErrorCode, Lock, NodeKind, RelPath, RelPathBuf, Result, Revnum, Url,
};
use sylvan_ra::Session;
use sylvan_wc::lock::{Anchor, WcLock};
use sylvan_wc::notify::{Action, Notification, NotifyFn};
use sylvan_wc::{WorkingCopy, base, repos_lock};

use crate::target::PathOrUrl;
use crate::{Context, PooledSession};

/// What is done.
#[derive(Clone, Copy, Debug)]
enum Job<'a> {
    Lock {
        comment: Option<&'a str>,
        steal: bool,
    },
    Unlock {
        break_locks: bool,
    },
}

/// Locks files, all in working copies or all by URL. What becomes of each is told; one that fails is
/// no error.
///
/// # Errors
/// `ILLEGAL_TARGET` for a mixture, `UNSUPPORTED_FEATURE` for targets that have nothing in common,
/// `XML_UNESCAPABLE_DATA` for a comment with control characters, `WC_NOT_FILE`, and what concerns
/// all files.
pub fn lock(
    context: &Context,
    targets: &[PathOrUrl],
    comment: Option<&str>,
    steal: bool,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let is_control = |c: char| c.is_ascii_control() && !matches!(c, '\n' | '\r' | '\t');
    if comment.is_some_and(|comment| comment.contains(is_control)) {
        return Err(Error::new(
            ErrorCode::XML_UNESCAPABLE_DATA,
            "Lock comment contains illegal characters",
        ));
    }
    run(context, targets, Job::Lock { comment, steal }, notify)
}

/// Unlocks files, all in working copies or all by URL; with `break_locks` those of others too.
///
/// # Errors
/// As [`lock`]; `CLIENT_MISSING_LOCK_TOKEN` for a file that is not locked.
pub fn unlock(
    context: &Context,
    targets: &[PathOrUrl],
    break_locks: bool,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    run(context, targets, Job::Unlock { break_locks }, notify)
}

/// Requires all targets to be URLs, or all to be paths.
///
/// # Errors
/// `ILLEGAL_TARGET`.
pub fn check_homogeneous(targets: &[PathOrUrl]) -> Result<()> {
    let urls = targets.iter().filter(|target| target.is_url()).count();
    if urls != 0 && urls != targets.len() {
        return Err(Error::new(
            ErrorCode::ILLEGAL_TARGET,
            "Cannot mix repository and working copy targets",
        ));
    }
    Ok(())
}

fn run(
    context: &Context,
    targets: &[PathOrUrl],
    job: Job<'_>,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    check_homogeneous(targets)?;
    let urls: Vec<&Url> = targets.iter().filter_map(PathOrUrl::as_url).collect();
    if !urls.is_empty() {
        return by_url(context, &urls, job, notify);
    }
    let paths = targets.iter().filter_map(PathOrUrl::as_path);
    let paths: Vec<Dirent> = paths.map(|path| context.absolute(path)).collect();
    if paths.is_empty() {
        return Ok(());
    }
    let mut copies = open(context, &paths)?;
    let done = in_copies(context, &mut copies, job, notify);
    let mut failed = done.err();
    for copy in copies {
        if let Some(lock) = copy.lock
            && let Err(error) = lock.release(&copy.wc)
        {
            failed = Some(match failed {
                None => error,
                Some(first) => first.attach(error),
            });
        }
    }
    failed.map_or(Ok(()), Err)
}

fn disjoint(text: &str) -> Error {
    Error::new(ErrorCode::UNSUPPORTED_FEATURE, text)
}

/// Finds the folder that all URLs are in.
fn common_folder(urls: &[&Url], message: &str) -> Result<Url> {
    let mut common = match urls {
        [only] => only.parent().unwrap_or_else(|| (*only).clone()),
        _ => urls[0].clone(),
    };
    for url in urls {
        let found = common.common_ancestor(url);
        common = found.ok_or_else(|| disjoint(message))?;
    }
    if urls.iter().any(|url| **url == common) {
        common = common.parent().unwrap_or(common);
    }
    Ok(common)
}

fn by_url(context: &Context, urls: &[&Url], job: Job<'_>, notify: &mut NotifyFn<'_>) -> Result<()> {
    let common = common_folder(
        urls,
        "No common parent found, unable to operate on disjoint arguments",
    )?;
    let mut session = context.sessions.open(&common)?;
    let mut paths = Vec::new();
    for url in urls {
        paths.push(url.strip_prefix(&common).unwrap_or_default());
    }
    let mut tell = |path: &RelPath, done: Result<Option<Lock>>| {
        let mut what = notification(job, Dirent::default(), done);
        what.url = Some(common.join(path).to_string());
        notify(&what);
        Ok(())
    };
    match job {
        Job::Lock { comment, steal } => {
            let targets = paths.into_iter().map(|path| (path, None)).collect();
            session.lock_files(&targets, comment, steal, &mut tell)?;
        }
        Job::Unlock { break_locks } => {
            let targets = tokens(&mut session, paths, break_locks)?;
            session.unlock_files(&targets, break_locks, &mut tell)?;
        }
    }
    session.give_back();
    Ok(())
}

/// Asks for the tokens of locks, unless they are to be broken.
fn tokens(
    session: &mut PooledSession<'_>,
    paths: Vec<RelPathBuf>,
    break_locks: bool,
) -> Result<BTreeMap<RelPathBuf, Option<String>>> {
    let mut targets = BTreeMap::new();
    for path in paths {
        let mut token = None;
        if !break_locks {
            let lock = session.lock(&path)?.ok_or_else(|| {
                Error::new(
                    ErrorCode::CLIENT_MISSING_LOCK_TOKEN,
                    format!("'{path}' is not locked"),
                )
            })?;
            token = Some(lock.token);
        }
        targets.insert(path, token);
    }
    Ok(targets)
}

fn notification(job: Job<'_>, path: Dirent, done: Result<Option<Lock>>) -> Notification {
    let action = match (job, &done) {
        (Job::Lock { .. }, Ok(_)) => Action::Locked,
        (Job::Lock { .. }, Err(_)) => Action::FailedLock,
        (Job::Unlock { .. }, Ok(_)) => Action::Unlocked,
        (Job::Unlock { .. }, Err(_)) => Action::FailedUnlock,
    };
    let mut what = Notification::new(path, action);
    match done {
        Ok(lock) => what.lock = lock,
        Err(error) => what.error = Some(error),
    }
    what
}

/// One working copy with its targets.
struct Copy {
    wc: WorkingCopy,
    targets: Vec<RelPathBuf>,
    lock: Option<WcLock>,
}

/// A file to lock or unlock.
struct File {
    copy: usize,
    path: RelPathBuf,
    url: Url,
    rev: Revnum,
    token: Option<String>,
}

fn open(context: &Context, paths: &[Dirent]) -> Result<Vec<Copy>> {
    let mut copies: Vec<Copy> = Vec::new();
    for path in paths {
        let (wc, at) = WorkingCopy::open(path, &context.wc)?;
        match copies.iter_mut().find(|copy| copy.wc.root() == wc.root()) {
            Some(copy) => copy.targets.push(at),
            None => copies.push(Copy {
                wc,
                targets: vec![at],
                lock: None,
            }),
        }
    }
    Ok(copies)
}

fn in_copies(
    context: &Context,
    copies: &mut [Copy],
    job: Job<'_>,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let mut prefix = None;
    for copy in copies.iter_mut() {
        let mut common = copy.targets[0].clone();
        for target in &copy.targets {
            while !target.starts_with(&common) {
                common = common.parent().unwrap_or(RelPath::ROOT).to_owned();
            }
        }
        if copy.targets.len() == 1 {
            common = common.parent().unwrap_or(RelPath::ROOT).to_owned();
        }
        let lock = WcLock::acquire(&copy.wc, &common, Anchor::Node)?;
        prefix = Some(copy.wc.local_path(lock.root()));
        copy.lock = Some(lock);
    }
    let prefix = prefix.filter(|_| copies.len() == 1);
    let files = files(copies, job)?;
    let urls: Vec<&Url> = files.iter().map(|file| &file.url).collect();
    let common = common_folder(&urls, "Unable to lock/unlock across multiple repositories")?;
    let by_url: BTreeMap<RelPathBuf, &File> = files
        .iter()
        .map(|file| (file.url.strip_prefix(&common).unwrap_or_default(), file))
        .collect();
    let mut session = context.sessions.open(&common)?;
    let mut results = Vec::new();
    let done = request(&mut *session, &by_url, job, &mut results);
    let settled = settle(copies, job, &results);
    for (file, result) in results {
        let local = copies[file.copy].wc.local_path(&file.path);
        let mut what = notification(job, local, result);
        what.prefix.clone_from(&prefix);
        notify(&what);
    }
    done?;
    session.give_back();
    settled
}

fn files(copies: &[Copy], job: Job<'_>) -> Result<Vec<File>> {
    let mut files = Vec::new();
    for (copy, of) in copies.iter().enumerate() {
        for path in &of.targets {
            let local = of.wc.local_path(path);
            let base = base::node(&of.wc, path)?.ok_or_else(|| {
                Error::new(
                    ErrorCode::WC_PATH_NOT_FOUND,
                    format!("The node '{local}' was not found."),
                )
            })?;
            if base.kind != NodeKind::File {
                return Err(Error::new(
                    ErrorCode::WC_NOT_FILE,
                    format!("The node '{local}' is not a file"),
                ));
            }
            let needs_token = matches!(job, Job::Unlock { break_locks: false });
            if needs_token && base.lock_token.is_none() {
                return Err(Error::new(
                    ErrorCode::CLIENT_MISSING_LOCK_TOKEN,
                    format!("'{local}' is not locked in this working copy"),
                ));
            }
            files.push(File {
                copy,
                path: path.clone(),
                url: base.url(),
                rev: base.rev,
                token: base.lock_token.filter(|_| needs_token),
            });
        }
    }
    Ok(files)
}

type Results<'f> = Vec<(&'f File, Result<Option<Lock>>)>;

fn request<'f>(
    session: &mut dyn Session,
    files: &BTreeMap<RelPathBuf, &'f File>,
    job: Job<'_>,
    results: &mut Results<'f>,
) -> Result<()> {
    let mut take = |path: &RelPath, done: Result<Option<Lock>>| {
        if let Some(file) = files.get(path) {
            results.push((file, done));
        }
        Ok(())
    };
    match job {
        Job::Lock { comment, steal } => {
            let targets = files
                .iter()
                .map(|(path, file)| (path.clone(), Some(file.rev)));
            session.lock_files(&targets.collect(), comment, steal, &mut take)
        }
        Job::Unlock { break_locks } => {
            let targets = files
                .iter()
                .map(|(path, file)| (path.clone(), file.token.clone()));
            session.unlock_files(&targets.collect(), break_locks, &mut take)
        }
    }
}

/// Writes into the working copies what became of the files.
fn settle(copies: &[Copy], job: Job<'_>, results: &Results<'_>) -> Result<()> {
    for (index, copy) in copies.iter().enumerate() {
        let (mut locked, mut unlocked) = (Vec::new(), Vec::new());
        for (file, result) in results.iter().filter(|(file, _)| file.copy == index) {
            match (job, result) {
                (Job::Lock { .. }, Ok(Some(lock))) => {
                    locked.push((file.path.clone(), lock.clone()));
                }
                (Job::Lock { .. }, _) => {}
                (Job::Unlock { .. }, Ok(_)) => unlocked.push(file.path.clone()),
                (Job::Unlock { .. }, Err(error)) => {
                    // The server does not know our token, so it is of no use.
                    let keeps = [
                        ErrorCode::FS_LOCK_OWNER_MISMATCH,
                        ErrorCode::REPOS_HOOK_FAILURE,
                    ];
                    if !keeps.contains(&error.code()) {
                        unlocked.push(file.path.clone());
                    }
                }
            }
        }
        if !(locked.is_empty() && unlocked.is_empty()) {
            repos_lock::settle(&copy.wc, &locked, &unlocked)?;
        }
    }
    Ok(())
}
