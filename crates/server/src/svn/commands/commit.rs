//! Commits.

use std::collections::BTreeMap;

use sylvan_core::repository::CommitInfo;
use sylvan_core::{Error, ErrorCode, Props, RelPathBuf, Result, props};
use sylvan_delta::{CountingEditor, Editor};
use sylvan_proto::svn::editor::{Decoder, DriveError, Event};
use sylvan_proto::svn::{ProtocolError, Request, answer};
use sylvan_repos::authz::Rights;
use sylvan_repos::{CommitEditor, CommitEditorOptions};

use super::super::connection::Connection;
use super::super::session::Session;

pub(super) fn commit(
    session: &mut Session,
    connection: &mut Connection,
    request: Request<'_>,
) -> Result<()> {
    let Request::Commit {
        message,
        lock_tokens,
        keep_locks,
        revprops,
    } = request
    else {
        return Ok(());
    };
    let needs_name = !lock_tokens.is_empty();
    session.require(connection, Rights::WRITE, None, needs_name)?;
    let tokens = own_tokens(session, &lock_tokens)?;
    let revprops = commit_props(session, message, revprops);
    let Some(committed) = receive(session, connection, revprops, &tokens)? else {
        return Ok(());
    };
    session.log(&format!("commit r{}", committed.rev));
    session.serving.metrics.commits.add(1);
    connection.no_auth();
    if !keep_locks && !tokens.is_empty() {
        unlock(session, &tokens);
    }
    answer::write_commit_info(connection.out(), &committed);
    Ok(())
}

/// Returns the tokens by full paths.
fn own_tokens(
    session: &Session,
    tokens: &[(RelPathBuf, &str)],
) -> Result<BTreeMap<RelPathBuf, String>> {
    let mut own = BTreeMap::new();
    for (path, token) in tokens {
        let full = session.full(path);
        if !session.allows(Rights::WRITE, Some(&full), true) {
            return Err(session.refused(None));
        }
        own.insert(full, (*token).to_owned());
    }
    Ok(own)
}

/// Completes the properties of the revision to be. Its author is who the client is, whatever it
/// says.
fn commit_props(session: &Session, message: &[u8], sent: Option<Props>) -> Props {
    let mut revprops = sent.unwrap_or_else(|| {
        let name = props::REVISION_LOG.to_owned();
        [(name, message.to_vec())].into_iter().collect()
    });
    revprops.remove(props::REVISION_AUTHOR);
    if let Some(user) = &session.user {
        let author = user.clone().into_bytes();
        revprops.insert(props::REVISION_AUTHOR.to_owned(), author);
    }
    revprops
}

/// Takes the client's drive. `None` if it came to nothing, which the client knows then.
fn receive(
    session: &Session,
    connection: &mut Connection,
    revprops: Props,
    tokens: &BTreeMap<RelPathBuf, String>,
) -> Result<Option<CommitInfo>> {
    let mut access = session.lock_access();
    for (path, token) in tokens {
        access.tokens.insert(token.clone(), path.clone());
    }
    let capabilities: &[&str] = if session.knows_mergeinfo {
        &["mergeinfo"]
    } else {
        &[]
    };
    let check = session.commit_check();
    let mut editor = CommitEditor::new(
        session.repos(),
        CommitEditorOptions {
            base: session.repository.path.clone(),
            revprops,
            capabilities,
            access,
            check: Some(&check),
            clock: session.serving.clock,
        },
    )?;
    connection.success(|_| {})?;
    connection.flush()?;
    let mut decoder = Decoder::for_commit(session.repository.root.clone(), connection.limit());
    match drive(connection, &mut decoder, &mut editor) {
        Ok(true) => {
            connection.success(|_| {})?;
            Ok(editor.into_committed())
        }
        Ok(false) => {
            editor.abort_edit()?;
            connection.success(|_| {})?;
            Ok(None)
        }
        Err(error) => {
            let error = match editor.abort_edit() {
                Ok(()) => error,
                Err(other) => error.attach(other),
            };
            if connection.broken().is_some() {
                return Err(error);
            }
            answer::write_failure(connection.out(), &error);
            connection.flush()?;
            discard(connection, &mut decoder)?;
            Ok(None)
        }
    }
}

/// Drives an editor by what the client sends; tells whether it closed the drive or gave it up.
fn drive(
    connection: &mut Connection,
    decoder: &mut Decoder,
    editor: &mut dyn Editor,
) -> Result<bool> {
    loop {
        match decoder.drive(connection.input(), editor) {
            Ok(Event::More) => {
                let missing = decoder.missing(connection.input().len());
                connection.fill(missing)?;
            }
            Ok(Event::Closed) => return Ok(true),
            Ok(Event::Aborted) => return Ok(false),
            Ok(Event::Finished) => {
                return Err(Error::new(
                    ErrorCode::RA_SVN_UNKNOWN_CMD,
                    "Command 'finish-replay' invalid outside of replays",
                ));
            }
            Ok(Event::Failure(error)) => return Err(connection.fail(error)),
            Err(DriveError::Editor(error)) => return Err(error),
            Err(DriveError::Peer(
                error @ (ProtocolError::UnknownCommand(_) | ProtocolError::Other(_)),
            )) => return Err(error.into()),
            Err(DriveError::Peer(error)) => return Err(connection.refuse(error)),
        }
    }
}

/// Skips the rest of a drive that has failed, up to the client's giving up.
fn discard(connection: &mut Connection, decoder: &mut Decoder) -> Result<()> {
    let mut nowhere = CountingEditor::default();
    loop {
        let before = connection.input().len();
        match decoder.drive(connection.input(), &mut nowhere) {
            Ok(Event::More) => {
                let missing = decoder.missing(connection.input().len());
                connection.fill(missing)?;
            }
            Ok(Event::Aborted) => return Ok(()),
            Ok(_) => {}
            // What does not fit the drive is skipped too; what is no command cannot be.
            Err(_) if connection.input().len() < before => {}
            Err(DriveError::Peer(error)) => return Err(connection.refuse(error)),
            Err(DriveError::Editor(error)) => return Err(connection.fail(error)),
        }
    }
}

/// Unlocks what was committed. Locks that were broken or stolen since are no concern of it.
fn unlock(session: &Session, tokens: &BTreeMap<RelPathBuf, String>) {
    let user = session.user.as_deref();
    let repos = session.repos();
    match repos.unlock(tokens, user, false, session.now()) {
        Ok(unlocked) => {
            let failed = unlocked
                .paths
                .values()
                .filter_map(|done| done.as_ref().err());
            for error in failed.chain(&unlocked.after) {
                session.log_error(error);
            }
        }
        Err(error) => session.log_error(&error),
    }
}
