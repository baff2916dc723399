//! Locking and unlocking files over HTTP: a request for each.

use std::collections::BTreeMap;

use sylvan_core::{Error, ErrorCode, Lock, RelPath, RelPathBuf, Result, Revnum, Timestamp};
use sylvan_proto::dav::{LockDiscovery, commit};

use super::session::HttpSession;
use super::values::later;
use super::wire::{Head, Request};
use crate::{LockTold, Session as _};

const OPTIONS: &str = "X-SVN-Options";

pub(super) fn lock_files(
    session: &mut HttpSession,
    targets: &BTreeMap<RelPathBuf, Option<Revnum>>,
    comment: Option<&str>,
    steal: bool,
    told: &mut LockTold<'_>,
) -> Result<()> {
    let body = commit::lock(comment);
    for (path, rev) in targets {
        let url = session.public_path(path);
        let rev = rev.map(|rev| rev.to_string());
        let mut request = Request::new("LOCK", &url).body(&body);
        if steal {
            request = request.header(OPTIONS, "lock-steal");
        }
        if let Some(rev) = &rev {
            request = request.header("X-SVN-Version-Name", rev);
        }
        let HttpSession { client, slot, .. } = &mut *session;
        let head = client.send(slot, &request)?;
        if head.status == 200 {
            let found = client.parse(slot, &head, LockDiscovery::default())?;
            let repos_path = session.repos_path(path)?;
            told(path, new_lock(&head, found, repos_path, comment).map(Some))?;
            continue;
        }
        let error = failure(session, &head, &request, path);
        report(path, error, is_lock_error, told)?;
    }
    Ok(())
}

fn new_lock(
    head: &Head,
    found: LockDiscovery,
    path: RelPathBuf,
    comment: Option<&str>,
) -> Result<Lock> {
    let created = head
        .get("x-svn-creation-date")
        .map(Timestamp::parse_iso)
        .transpose()?
        .unwrap_or(Timestamp::from_micros(0));
    Ok(Lock {
        path,
        token: found.token.unwrap_or_default(),
        owner: head.get("x-svn-lock-owner").unwrap_or_default().to_owned(),
        comment: comment.map(str::to_owned),
        created,
        expires: found.timeout.map(|seconds| later(created, seconds)),
    })
}

pub(super) fn unlock_files(
    session: &mut HttpSession,
    targets: &BTreeMap<RelPathBuf, Option<String>>,
    break_locks: bool,
    told: &mut LockTold<'_>,
) -> Result<()> {
    for (path, token) in targets {
        let token = match token {
            Some(token) => token.clone(),
            None => match session.lock(path) {
                Ok(Some(lock)) => lock.token,
                found => {
                    let text = format!("'{path}' is not locked in the repository");
                    let error = match found.err() {
                        Some(error) => error.wrap(ErrorCode::RA_NOT_LOCKED, text),
                        None => Error::new(ErrorCode::RA_NOT_LOCKED, text),
                    };
                    told(path, Err(error))?;
                    continue;
                }
            },
        };
        let url = session.public_path(path);
        let token = format!("<{token}>");
        let mut request = Request::new("UNLOCK", &url).header("Lock-Token", &token);
        if break_locks {
            request = request.header(OPTIONS, "lock-break");
        }
        let HttpSession { client, slot, .. } = &mut *session;
        let head = client.send(slot, &request)?;
        if head.status == 204 || head.status == 200 {
            client.read(slot, &head, &mut |_| Ok(()))?;
            told(path, Ok(None))?;
            continue;
        }
        let error = failure(session, &head, &request, path);
        if error.code() == ErrorCode::REPOS_POST_UNLOCK_HOOK_FAILED {
            told(path, Ok(None))?;
            return Err(error);
        }
        report(path, error, is_unlock_error, told)?;
    }
    Ok(())
}

/// Tells of a failure that is about one file; others end all.
fn report(
    path: &RelPath,
    error: Error,
    is_about_file: fn(ErrorCode) -> bool,
    told: &mut LockTold<'_>,
) -> Result<()> {
    if is_about_file(error.code()) {
        told(path, Err(error))
    } else {
        Err(error)
    }
}

const fn is_lock_error(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::FS_PATH_ALREADY_LOCKED
            | ErrorCode::FS_NOT_FOUND
            | ErrorCode::FS_OUT_OF_DATE
            | ErrorCode::FS_BAD_LOCK_TOKEN
            | ErrorCode::REPOS_HOOK_FAILURE
            | ErrorCode::FS_NO_SUCH_REVISION
            | ErrorCode::FS_NOT_FILE
            | ErrorCode::FS_LOCK_OWNER_MISMATCH
    )
}

const fn is_unlock_error(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::FS_PATH_NOT_LOCKED
            | ErrorCode::FS_BAD_LOCK_TOKEN
            | ErrorCode::FS_LOCK_OWNER_MISMATCH
            | ErrorCode::FS_NO_SUCH_LOCK
            | ErrorCode::RA_NOT_LOCKED
            | ErrorCode::FS_LOCK_EXPIRED
            | ErrorCode::REPOS_HOOK_FAILURE
    )
}

/// Makes the error of a request about one file.
fn failure(session: &mut HttpSession, head: &Head, request: &Request<'_>, path: &RelPath) -> Error {
    let HttpSession { client, slot, .. } = session;
    let said = client.said(slot, head);
    let status = format!("({} {})", head.status, head.reason);
    let own = match head.status {
        400 => Error::new(
            ErrorCode::FS_NO_SUCH_LOCK,
            format!("No lock on path '{path}' {status}"),
        ),
        403 => Error::new(
            ErrorCode::FS_LOCK_OWNER_MISMATCH,
            format!("Not authorized to perform lock operation on '{path}'"),
        ),
        405 => Error::new(
            ErrorCode::FS_OUT_OF_DATE,
            format!("Path '{path}' doesn't exist in HEAD revision {status}"),
        ),
        423 if said.as_ref().is_some_and(|said| is_of_fs(said.code())) => {
            return said.unwrap_or_else(|| Error::from_code(ErrorCode::FS_PATH_ALREADY_LOCKED));
        }
        423 => Error::new(
            ErrorCode::FS_PATH_ALREADY_LOCKED,
            format!("Path '{path}' already locked {status}"),
        ),
        404 | 409 | 500 if said.is_some() => {
            return said.unwrap_or_else(|| Error::from_code(ErrorCode::RA_DAV_REQUEST_FAILED));
        }
        _ => super::failure::unexpected_status(head, request.method, request.path),
    };
    match said {
        Some(said) if said.code() == own.code() => said.attach(own),
        Some(said) => own.attach(said),
        None => own,
    }
}

/// Tells whether an error is one of the file system.
fn is_of_fs(code: ErrorCode) -> bool {
    (160_000..165_000).contains(&code.number())
}
