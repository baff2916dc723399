//! Commands that take a report and drive the client's editor.

use sylvan_core::{Depth, RelPath, RelPathBuf, Result, Revnum};
use sylvan_delta::ReportEntry;
use sylvan_proto::svn::{ProtocolError, ReportCommand, ReportRequest, Request};
use sylvan_repos::Texts;
use sylvan_repos::authz::Rights;
use sylvan_repos::report::{Report, ReportOptions};

use super::super::connection::Connection;
use super::super::log_lines as line;
use super::super::session::Session;
use super::super::wire_editor::WireEditor;

/// What a report said, for the log.
#[derive(Debug)]
struct Seen {
    /// The revision of the root.
    from: Option<Revnum>,
    /// The client has nothing yet.
    is_empty: bool,
}

pub(super) fn handle(
    session: &mut Session,
    connection: &mut Connection,
    request: Request<'_>,
) -> Result<()> {
    match request {
        Request::Update(request) => update(session, connection, request),
        Request::Switch(request, url) => {
            connection.no_auth();
            let rev = session.rev(request.rev)?;
            let to = session.repository.path_of(url)?;
            session.log(&format!(
                "switch {} {}@{rev}{}",
                line::path(&target(session, request)),
                line::path(&to),
                line::depth(request.depth)
            ));
            let texts = Texts::Svndiff(session.version);
            accept(session, connection, request, rev, Some(to), texts)?;
            Ok(())
        }
        Request::Status(request) => {
            connection.no_auth();
            let rev = session.rev(request.rev)?;
            session.log(&format!(
                "status {} r{rev}{}",
                line::path(&target(session, request)),
                line::depth(request.depth)
            ));
            accept(session, connection, request, rev, None, Texts::None)?;
            Ok(())
        }
        Request::Diff(request, url, texts) => diff(session, connection, request, url, texts),
        _ => Ok(()),
    }
}

/// Returns the path that a report is about.
fn target(session: &Session, request: ReportRequest<'_>) -> RelPathBuf {
    let target = RelPath::new(request.target).unwrap_or(RelPath::ROOT);
    session.full(target)
}

fn update(
    session: &mut Session,
    connection: &mut Connection,
    request: ReportRequest<'_>,
) -> Result<()> {
    let full = target(session, request);
    session.require(connection, Rights::READ, Some(&full), false)?;
    let rev = session.rev(request.rev)?;
    let texts = Texts::Svndiff(session.version);
    let seen = accept(session, connection, request, rev, None, texts)?;
    let (path, depth) = (line::path(&full), line::depth(request.depth));
    if seen.is_empty {
        session.log(&format!("checkout-or-export {path} r{rev}{depth}"));
    } else {
        let copies = line::when(request.send_copyfrom_args, "send-copyfrom-args");
        session.log(&format!("update {path} r{rev}{depth}{copies}"));
    }
    Ok(())
}

fn diff(
    session: &mut Session,
    connection: &mut Connection,
    request: ReportRequest<'_>,
    url: &str,
    texts: bool,
) -> Result<()> {
    connection.no_auth();
    let rev = session.rev(request.rev)?;
    let to = session.repository.path_of(url)?;
    let full = target(session, request);
    let texts = if texts {
        Texts::Svndiff(session.version)
    } else {
        Texts::None
    };
    let seen = accept(session, connection, request, rev, Some(to.clone()), texts)?;
    let from = line::rev(seen.from);
    let (path, depth) = (line::path(&full), line::depth(request.depth));
    let ignore = line::when(request.ignore_ancestry, "ignore-ancestry");
    if full == to {
        session.log(&format!("diff {path} r{from}:{rev}{depth}{ignore}"));
    } else {
        let to = line::path(&to);
        session.log(&format!("diff {path}@{from} {to}@{rev}{depth}{ignore}"));
    }
    Ok(())
}

/// Takes the client's report, drives its editor, and answers.
fn accept(
    session: &Session,
    connection: &mut Connection,
    request: ReportRequest<'_>,
    rev: Revnum,
    switch: Option<RelPathBuf>,
    texts: Texts,
) -> Result<Seen> {
    let options = ReportOptions {
        rev,
        base: session.repository.path.clone(),
        target: request.target.to_owned(),
        switch,
        depth: request.depth,
        ignore_ancestry: request.ignore_ancestry,
        send_copyfrom_args: request.send_copyfrom_args,
        texts,
        now: session.now(),
    };
    // What fails is told at the end: the client is sending already.
    let mut report = Report::begin(session.repos(), options);
    let mut entries = 0u64;
    let mut seen = Seen {
        from: None,
        is_empty: true,
    };
    loop {
        // Each command is a request of its own.
        let command = connection.item(ReportCommand::read)?;
        match command {
            Ok(ReportCommand::Entry(entry)) => {
                if !matches!(entry, ReportEntry::DeletePath { .. }) {
                    entries += 1;
                }
                seen.note(&entry);
                if let Ok(taken) = &mut report
                    && let Err(error) = take(session, taken, &entry)
                {
                    report = Err(error);
                }
            }
            Ok(ReportCommand::Finish) => break,
            Ok(ReportCommand::Abort) => {
                report?;
                connection.success(|_| {})?;
                return Ok(seen);
            }
            Err(ProtocolError::Other(error)) => report = report.and(Err(error)),
            Err(error @ ProtocolError::UnknownCommand(_)) => {
                sylvan_proto::svn::answer::write_failure(connection.out(), &error.into());
            }
            Err(error) => return Err(connection.refuse(error)),
        }
    }
    connection.no_auth();
    let report = report?;
    let check = session.read_check();
    let access = session.read_access(&check);
    let mut editor = WireEditor::new(connection);
    report.finish(&mut editor, access, &session.serving.cancel)?;
    connection.success(|_| {})?;
    seen.is_empty &= entries == 1;
    Ok(seen)
}

impl Seen {
    fn note(&mut self, entry: &ReportEntry) {
        match entry {
            ReportEntry::SetPath {
                path,
                rev,
                start_empty,
                ..
            } => {
                if path.is_root() {
                    self.from = Some(*rev);
                }
                self.is_empty &= *start_empty;
            }
            ReportEntry::LinkPath { .. } | ReportEntry::DeletePath { .. } => {}
        }
    }
}

fn take(session: &Session, report: &mut Report, entry: &ReportEntry) -> Result<()> {
    match entry {
        ReportEntry::SetPath {
            path,
            rev,
            depth,
            start_empty,
            lock_token,
        } => report.set_path(path, *rev, *depth, *start_empty, lock_token.as_deref()),
        ReportEntry::DeletePath { path } => report.delete_path(path),
        ReportEntry::LinkPath {
            path,
            url,
            rev,
            depth,
            start_empty,
            lock_token,
        } => {
            let link = session.repository.path_of(url.as_str())?;
            let (rev, depth): (Revnum, Depth) = (*rev, *depth);
            report.link_path(path, &link, rev, depth, *start_empty, lock_token.as_deref())
        }
    }
}
