//! Commands about locks.

use std::collections::BTreeMap;

use sylvan_core::{Depth, Error, ErrorCode, RelPath, RelPathBuf, Result, Revnum};
use sylvan_fs::lock::{FsLock, LockRequest, LockTarget};
use sylvan_proto::svn::Request;
use sylvan_proto::svn::answer;
use sylvan_repos::authz::Rights;

use super::super::connection::Connection;
use super::super::log_lines as line;
use super::super::session::Session;

pub(super) fn handle(
    session: &mut Session,
    connection: &mut Connection,
    request: Request<'_>,
) -> Result<()> {
    match request {
        Request::Lock {
            path,
            comment,
            steal,
            current,
        } => lock(session, connection, &path, comment, steal, current),
        Request::LockMany {
            comment,
            steal,
            targets,
        } => lock_many(session, connection, comment, steal, &targets),
        Request::Unlock {
            path,
            token,
            break_lock,
        } => unlock(session, connection, &path, token, break_lock),
        Request::UnlockMany {
            break_locks,
            targets,
        } => unlock_many(session, connection, break_locks, &targets),
        Request::GetLock { path } => {
            let full = session.full(&path);
            session.require(connection, Rights::READ, Some(&full), false)?;
            session.log(&format!("get-lock {}", line::path(&full)));
            let lock = session.fs().lock_on(&full, session.now())?;
            connection.success(|out| {
                out.open();
                if let Some(lock) = &lock {
                    answer::write_lock(out, &lock.lock);
                }
                out.close();
            })
        }
        Request::GetLocks { path, depth } => get_locks(session, connection, &path, depth),
        _ => Ok(()),
    }
}

fn request(comment: Option<&str>, steal: bool) -> LockRequest {
    LockRequest {
        comment: comment.map(str::to_owned),
        steal,
        ..LockRequest::default()
    }
}

fn lock(
    session: &mut Session,
    connection: &mut Connection,
    path: &RelPath,
    comment: Option<&str>,
    steal: bool,
    current: Option<Revnum>,
) -> Result<()> {
    let full = session.full(path);
    session.require(connection, Rights::WRITE, Some(&full), true)?;
    session.log(&format!(
        "lock {}{}",
        line::paths([&*full]),
        line::when(steal, "steal")
    ));
    let target = LockTarget {
        token: None,
        current,
    };
    let targets = BTreeMap::from([(full.clone(), target)]);
    let user = session.user.as_deref();
    let request = request(comment, steal);
    let mut locked = session
        .repos()
        .lock(&targets, user, &request, session.now())?;
    let lock = result_of(&mut locked.paths, &full, path)?;
    if let Some(error) = locked.after {
        return Err(error);
    }
    connection.success(|out| answer::write_lock(out, &lock.lock))
}

fn lock_many(
    session: &mut Session,
    connection: &mut Connection,
    comment: Option<&str>,
    steal: bool,
    targets: &[(RelPathBuf, Option<Revnum>)],
) -> Result<()> {
    session.require(connection, Rights::WRITE, None, true)?;
    let mut wanted: BTreeMap<RelPathBuf, LockTarget> = targets
        .iter()
        .map(|(path, current)| {
            let target = LockTarget {
                token: None,
                current: *current,
            };
            (session.full(path), target)
        })
        .collect();
    session.log(&format!(
        "lock {}{}",
        line::paths(wanted.keys().map(|path| &**path)),
        line::when(steal, "steal")
    ));
    let mut results: BTreeMap<RelPathBuf, Result<FsLock>> = BTreeMap::new();
    wanted.retain(|path, _| keep_allowed(session, path, true, &mut results));
    let user = session.user.as_deref();
    let request = request(comment, steal);
    let locked = session.repos().lock(&wanted, user, &request, session.now());
    let after = locked.map(|locked| {
        results.extend(locked.paths);
        locked.after
    });
    for (path, _) in targets {
        match result_ref(&results, &session.full(path), path) {
            Ok(lock) => {
                let out = connection.out();
                out.open().word("success");
                answer::write_lock(out, &lock.lock);
                out.close();
            }
            Err(error) => answer::write_failure(connection.out(), &error),
        }
        connection.send()?;
    }
    end_many(connection, after)
}

fn unlock(
    session: &mut Session,
    connection: &mut Connection,
    path: &RelPath,
    token: Option<&str>,
    break_lock: bool,
) -> Result<()> {
    let full = session.full(path);
    session.require(connection, Rights::WRITE, Some(&full), !break_lock)?;
    session.log(&format!(
        "unlock {}{}",
        line::paths([&*full]),
        line::when(break_lock, "break")
    ));
    let tokens = BTreeMap::from([(full.clone(), token.unwrap_or_default().to_owned())]);
    let user = session.user.as_deref();
    let mut unlocked = session
        .repos()
        .unlock(&tokens, user, break_lock, session.now())?;
    result_of(&mut unlocked.paths, &full, path)?;
    if let Some(error) = unlocked.after {
        return Err(error);
    }
    connection.success(|_| {})
}

fn unlock_many(
    session: &mut Session,
    connection: &mut Connection,
    break_locks: bool,
    targets: &[(RelPathBuf, Option<&str>)],
) -> Result<()> {
    session.require(connection, Rights::WRITE, None, !break_locks)?;
    let mut wanted: BTreeMap<RelPathBuf, String> = targets
        .iter()
        .map(|(path, token)| (session.full(path), token.unwrap_or_default().to_owned()))
        .collect();
    session.log(&format!(
        "unlock {}{}",
        line::paths(wanted.keys().map(|path| &**path)),
        line::when(break_locks, "break")
    ));
    let mut results: BTreeMap<RelPathBuf, Result<()>> = BTreeMap::new();
    wanted.retain(|path, _| keep_allowed(session, path, !break_locks, &mut results));
    let user = session.user.as_deref();
    let unlocked = session
        .repos()
        .unlock(&wanted, user, break_locks, session.now());
    let after = unlocked.map(|unlocked| {
        results.extend(unlocked.paths);
        unlocked.after
    });
    for (path, _) in targets {
        match result_ref(&results, &session.full(path), path) {
            Ok(()) => {
                let out = connection.out();
                out.open().word("success").open();
                out.string(path.as_str()).close().close();
            }
            Err(error) => answer::write_failure(connection.out(), &error),
        }
        connection.send()?;
    }
    end_many(connection, after)
}

/// Ends the list of results, and tells what failed beside them.
fn end_many(connection: &mut Connection, after: Result<Option<Error>>) -> Result<()> {
    connection.out().word("done");
    if let Some(error) = after? {
        return Err(error);
    }
    connection.success(|_| {})
}

/// Tells whether a path may be locked; if not, that is its result.
fn keep_allowed<T>(
    session: &Session,
    path: &RelPath,
    needs_name: bool,
    results: &mut BTreeMap<RelPathBuf, Result<T>>,
) -> bool {
    let allowed = session.allows(Rights::WRITE, Some(path), needs_name);
    if !allowed {
        results.insert(path.to_owned(), Err(session.refused(None)));
    }
    allowed
}

fn no_result(path: &RelPath) -> Error {
    let text = format!("No result for '{path}'.");
    Error::new(ErrorCode::FS_LOCK_OPERATION_FAILED, text)
}

fn result_of<T>(
    results: &mut BTreeMap<RelPathBuf, Result<T>>,
    full: &RelPathBuf,
    path: &RelPath,
) -> Result<T> {
    results.remove(full).unwrap_or_else(|| Err(no_result(path)))
}

/// A path may be named more than once, and has one result.
fn result_ref<'a, T>(
    results: &'a BTreeMap<RelPathBuf, Result<T>>,
    full: &RelPathBuf,
    path: &RelPath,
) -> Result<&'a T> {
    match results.get(full) {
        Some(Ok(result)) => Ok(result),
        Some(Err(error)) => Err(error.clone()),
        None => Err(no_result(path)),
    }
}

fn get_locks(
    session: &Session,
    connection: &mut Connection,
    path: &RelPath,
    depth: Depth,
) -> Result<()> {
    let full = session.full(path);
    connection.no_auth();
    session.log(&format!("get-locks {}", line::path(&full)));
    let locks = session.repos().locks(&full, depth, session.now())?;
    let youngest = session.fs().youngest()?;
    let check = session.read_check();
    let access = session.read_access(&check);
    let out = connection.out();
    out.open().word("success").open().open();
    for lock in &locks {
        if access.may_read(youngest, &lock.lock.path)? {
            answer::write_lock(connection.out(), &lock.lock);
            connection.send()?;
        }
    }
    connection.out().close().close().close();
    connection.send()
}
