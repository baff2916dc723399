//! Commands about the history of nodes.

use bytes::Bytes;
use sylvan_core::repository::LogOptions;
use sylvan_core::{Error, ErrorCode, RelPath, RelPathBuf, Result, Revnum};
use sylvan_fs::tree::MergeinfoInheritance;
use sylvan_proto::svn::Request;
use sylvan_proto::svn::answer;
use sylvan_proto::svn::message::write_props;
use sylvan_repos::{FileRev, FileRevsOptions, send_delta};

use super::super::connection::Connection;
use super::super::log_lines as line;
use super::super::session::Session;
use super::end_entries;

pub(super) fn handle(
    session: &mut Session,
    connection: &mut Connection,
    request: Request<'_>,
) -> Result<()> {
    match request {
        Request::Log {
            paths,
            start,
            end,
            changed_paths,
            strict_node,
            limit,
            include_merged,
            revprops,
        } => {
            let options = LogOptions {
                paths: paths.iter().map(|path| session.full(path)).collect(),
                start,
                end,
                limit,
                discover_changed_paths: changed_paths,
                strict_node_history: strict_node,
                include_merged_revisions: include_merged,
                revprops,
            };
            log(session, connection, &options)
        }
        Request::GetLocations { path, peg, revs } => {
            get_locations(session, connection, &session.full(&path), peg, &revs)
        }
        Request::GetLocationSegments {
            path,
            peg,
            start,
            end,
        } => {
            let full = session.full(&path);
            get_location_segments(session, connection, &full, peg, (start, end))
        }
        Request::GetFileRevs {
            path,
            start,
            end,
            include_merged,
        } => {
            let options = FileRevsOptions {
                start,
                end,
                include_merged_revisions: include_merged,
            };
            get_file_revs(session, connection, &session.full(&path), options)
        }
        Request::GetMergeinfo {
            paths,
            rev,
            inherit,
            descendants,
        } => {
            let paths: Vec<RelPathBuf> = paths.iter().map(|path| session.full(path)).collect();
            get_mergeinfo(session, connection, &paths, rev, inherit, descendants)
        }
        Request::GetDeletedRev { path, peg, end } => {
            let full = session.full(&path);
            session.log("get-deleted-rev");
            connection.no_auth();
            let found = session.repos().deleted_revision(&full, peg, end)?;
            let rev = found.ok_or_else(|| {
                // Clients know that this says that it was not.
                Error::new(
                    ErrorCode::ENTRY_MISSING_REVISION,
                    format!(
                        "svn protocol command 'get-deleted-rev': path '/{full}' was not deleted \
                         in r{peg}-{end}; NOTE: newer clients handle this case and do not report \
                         it as an error"
                    ),
                )
            })?;
            connection.success(|out| {
                out.rev(rev);
            })
        }
        _ => Ok(()),
    }
}

fn log(session: &Session, connection: &mut Connection, options: &LogOptions) -> Result<()> {
    connection.no_auth();
    let limit = match options.limit {
        0 => String::new(),
        limit => format!(" limit={limit}"),
    };
    session.log(&format!(
        "log {} r{}:{}{limit}{}{}{}{}",
        line::paths(options.paths.iter().map(|path| &**path)),
        line::rev(options.start),
        line::rev(options.end),
        line::when(options.discover_changed_paths, "discover-changed-paths"),
        line::when(options.strict_node_history, "strict"),
        line::when(options.include_merged_revisions, "include-merged-revisions"),
        line::revprops(options.revprops.as_deref()),
    ));
    let check = session.read_check();
    let access = session.read_access(&check);
    let cancel = &session.serving.cancel;
    // The last entry that ends merged revisions would end what nobody began.
    let mut depth = 0u32;
    let sent = session.repos().log(options, access, &mut |entry| {
        cancel.check()?;
        if entry.rev.is_none() {
            if depth == 0 {
                return Ok(());
            }
            depth -= 1;
        }
        if entry.has_children {
            depth += 1;
        }
        answer::write_log_entry(connection.out(), &entry);
        connection.send()
    });
    end_entries(connection, sent)
}

fn get_locations(
    session: &Session,
    connection: &mut Connection,
    path: &RelPath,
    peg: Revnum,
    revs: &[Revnum],
) -> Result<()> {
    connection.no_auth();
    let shown: Vec<String> = revs.iter().map(Revnum::to_string).collect();
    session.log(&format!(
        "get-locations {}@{peg} ({})",
        line::path(path),
        shown.join(" ")
    ));
    let check = session.read_check();
    let access = session.read_access(&check);
    let found = session.repos().trace_locations(path, peg, revs, access);
    let found = found.map(|locations| {
        for (rev, path) in locations {
            let out = connection.out();
            out.open().rev(rev).string(path.to_fspath()).close();
        }
    });
    end_entries(connection, found)
}

fn get_location_segments(
    session: &Session,
    connection: &mut Connection,
    path: &RelPath,
    peg: Option<Revnum>,
    (start, end): (Option<Revnum>, Option<Revnum>),
) -> Result<()> {
    connection.no_auth();
    session.log(&format!(
        "get-location-segments {}@{} r{}:{}",
        line::path(path),
        line::rev(peg),
        line::rev(start),
        line::rev(end)
    ));
    let found = location_segments(session, path, peg, (start, end));
    let found = found.map(|segments| {
        for segment in segments {
            let path = segment.path.as_deref();
            answer::write_segment(connection.out(), segment.start, segment.end, path);
        }
    });
    end_entries(connection, found)
}

fn location_segments(
    session: &Session,
    path: &RelPath,
    peg: Option<Revnum>,
    (start, end): (Option<Revnum>, Option<Revnum>),
) -> Result<Vec<sylvan_core::repository::LocationSegment>> {
    let peg = session.rev(peg)?;
    let start = session.rev(start)?;
    let end = end.unwrap_or_default();
    let out_of_order = |what: &str| {
        let text = format!("Get-location-segments {what}");
        Err(Error::new(ErrorCode::FS_NO_SUCH_REVISION, text))
    };
    if end > start {
        return out_of_order("end revision must not be younger than start revision");
    }
    if start > peg {
        return out_of_order("start revision must not be younger than peg revision");
    }
    let check = session.read_check();
    let access = session.read_access(&check);
    let (peg, start, end) = (Some(peg), Some(start), Some(end));
    session
        .repos()
        .location_segments(path, peg, start, end, access)
}

fn get_file_revs(
    session: &Session,
    connection: &mut Connection,
    path: &RelPath,
    options: FileRevsOptions,
) -> Result<()> {
    connection.no_auth();
    session.log(&format!(
        "get-file-revs {} r{}:{}{}",
        line::path(path),
        line::rev(options.start),
        line::rev(options.end),
        line::when(options.include_merged_revisions, "include-merged-revisions")
    ));
    let check = session.read_check();
    let access = session.read_access(&check);
    let repos = session.repos();
    let sent = repos.file_revs(path, options, access, &mut |rev| {
        send_file_rev(session, connection, &rev)
    });
    end_entries(connection, sent)
}

fn send_file_rev(session: &Session, connection: &mut Connection, rev: &FileRev<'_>) -> Result<()> {
    session.serving.cancel.check()?;
    let out = connection.out();
    out.open().string(rev.path.to_fspath()).rev(rev.revision);
    write_props(out, rev.revprops);
    answer::write_prop_changes(out, rev.prop_changes);
    out.bool(rev.merged).close();
    if rev.text_changed {
        let version = session.version;
        send_delta(rev.previous, rev.node, version, &mut |part: Bytes| {
            connection.out().string(&part);
            connection.send()
        })?;
    }
    connection.out().string("");
    connection.send()
}

fn get_mergeinfo(
    session: &Session,
    connection: &mut Connection,
    paths: &[RelPathBuf],
    rev: Option<Revnum>,
    inherit: &str,
    descendants: bool,
) -> Result<()> {
    let (inherit, word) = match inherit {
        "inherited" => (MergeinfoInheritance::Inherited, inherit),
        "nearest-ancestor" => (MergeinfoInheritance::NearestAncestor, inherit),
        _ => (MergeinfoInheritance::Explicit, "explicit"),
    };
    session.log(&format!(
        "get-mergeinfo {} {word}{}",
        line::paths(paths.iter().map(|path| &**path)),
        line::when(descendants, "include-descendants")
    ));
    connection.no_auth();
    let check = session.read_check();
    let access = session.read_access(&check);
    let catalog = session
        .repos()
        .mergeinfo(paths, rev, inherit, descendants, access)?;
    let out = connection.out();
    out.open().word("success").open().open();
    for (path, mergeinfo) in &catalog {
        let below = path.strip_prefix(&session.repository.path);
        let text = mergeinfo.to_text()?;
        let out = connection.out();
        out.open();
        out.string(below.unwrap_or(RelPath::ROOT).as_str());
        out.string(text).close();
        connection.send()?;
    }
    connection.out().close().close().close();
    connection.send()
}
