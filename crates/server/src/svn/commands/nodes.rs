//! Commands about single nodes and listings.

use sylvan_core::repository::{DirEntryFields, InheritedProps};
use sylvan_core::{
    Depth, Error, ErrorCode, NodeKind, Props, RelPath, RelPathBuf, Result, Revnum, props,
};
use sylvan_fs::{Node, Root};
use sylvan_proto::svn::Request;
use sylvan_proto::svn::answer;
use sylvan_proto::svn::message::write_props;
use sylvan_repos::ListOptions;
use sylvan_repos::authz::Rights;

use super::super::connection::Connection;
use super::super::log_lines as line;
use super::super::session::Session;
use super::end_entries;

/// What is wanted of a node.
#[derive(Clone, Copy)]
struct Wanted {
    props: bool,
    contents: bool,
    inherited: bool,
}

pub(super) fn handle(
    session: &mut Session,
    connection: &mut Connection,
    request: Request<'_>,
) -> Result<()> {
    match request {
        Request::GetFile {
            path,
            rev,
            props,
            contents,
            inherited,
        } => {
            let wanted = Wanted {
                props,
                contents,
                inherited,
            };
            get_file(session, connection, &path, rev, wanted)
        }
        Request::GetDir {
            path,
            rev,
            props,
            contents,
            fields,
            inherited,
        } => {
            let wanted = Wanted {
                props,
                contents,
                inherited,
            };
            get_dir(session, connection, &path, rev, wanted, fields)
        }
        Request::CheckPath { path, rev } => {
            let (full, rev) = enter(session, connection, &path, rev)?;
            session.log(&format!("check-path {}@{rev}", line::path(&full)));
            let kind = session.root(rev)?.kind(&full)?;
            connection.success(|out| {
                out.word(kind.as_str());
            })
        }
        Request::Stat { path, rev } => {
            let (full, rev) = enter(session, connection, &path, rev)?;
            session.log(&format!("stat {}@{rev}", line::path(&full)));
            let root = session.root(rev)?;
            let entry = session.repos().stat(&root, &full)?;
            connection.success(|out| {
                out.optional(entry, |out, entry| {
                    out.open();
                    answer::write_stat(out, &entry);
                    out.close()
                });
            })
        }
        Request::List {
            path,
            rev,
            depth,
            fields,
            patterns,
        } => list(
            session,
            connection,
            &path,
            rev,
            (depth, fields, patterns.as_deref()),
        ),
        Request::GetIprops { path, rev } => {
            let full = session.full(&path);
            session.require(connection, Rights::READ, Some(&full), false)?;
            session.log(&format!(
                "get-inherited-props {} r{}",
                line::path(&full),
                line::rev(rev)
            ));
            let root = session.root(session.rev(rev)?)?;
            if root.kind(&full)? == NodeKind::None {
                let text = format!("'/{full}' path not found");
                return Err(Error::new(ErrorCode::FS_NOT_FOUND, text));
            }
            let inherited = inherited(session, &root, &full)?;
            connection.success(|out| answer::write_inherited(out, &inherited))
        }
        _ => Ok(()),
    }
}

/// Checks that a node may be read, and finds out the revision.
fn enter(
    session: &mut Session,
    connection: &mut Connection,
    path: &RelPath,
    rev: Option<Revnum>,
) -> Result<(RelPathBuf, Revnum)> {
    let full = session.full(path);
    session.require(connection, Rights::READ, Some(&full), false)?;
    let rev = session.rev(rev)?;
    Ok((full, rev))
}

fn inherited(session: &Session, root: &Root, path: &RelPath) -> Result<Vec<InheritedProps>> {
    let check = session.read_check();
    let access = session.read_access(&check);
    session.repos().inherited_props(root, path, None, access)
}

/// Returns a node's properties, those of its last change too.
fn node_props(session: &Session, node: &Node) -> Result<Props> {
    let mut found = (*node.props()?).clone();
    let last = session.repos().committed_info(node)?;
    let mut set = |name: &str, value: Option<String>| {
        value.map(|value| found.insert(name.to_owned(), value.into_bytes()))
    };
    set(props::ENTRY_COMMITTED_REV, Some(last.revision.to_string()));
    set(props::ENTRY_COMMITTED_DATE, last.date);
    set(props::ENTRY_LAST_AUTHOR, last.author);
    set(props::ENTRY_UUID, Some(session.fs().uuid().to_owned()));
    Ok(found)
}

fn get_file(
    session: &mut Session,
    connection: &mut Connection,
    path: &RelPath,
    rev: Option<Revnum>,
    wanted: Wanted,
) -> Result<()> {
    let (full, rev) = enter(session, connection, path, rev)?;
    session.log(&format!(
        "get-file {} r{rev}{}{}",
        line::path(&full),
        line::when(wanted.contents, "text"),
        line::when(wanted.props, "props")
    ));
    let root = session.root(rev)?;
    let node = root.node(&full)?;
    if node.kind() != NodeKind::File {
        return Err(Error::new(
            ErrorCode::FS_NOT_FILE,
            "Attempted to get checksum of a *non*-file node",
        ));
    }
    let checksum = session.repos().file_md5(&node)?;
    let mut props = Props::new();
    if wanted.props {
        props = node_props(session, &node)?;
    }
    let mut handed_down = None;
    if wanted.inherited {
        handed_down = Some(inherited(session, &root, &full)?);
    }
    let contents = wanted.contents.then(|| node.contents()).transpose()?;
    connection.success(|out| {
        out.optional_string(Some(checksum.to_string())).rev(rev);
        write_props(out, &props);
        if let Some(handed_down) = &handed_down {
            answer::write_inherited(out, handed_down);
        }
    })?;
    let Some(mut contents) = contents else {
        return Ok(());
    };
    let sent = loop {
        match contents.next_piece() {
            Ok(Some(piece)) if piece.is_empty() => {}
            Ok(Some(piece)) => {
                session.serving.cancel.check()?;
                connection.out().string(&piece);
                connection.send()?;
            }
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    connection.out().string("");
    sent?;
    connection.success(|_| {})
}

fn get_dir(
    session: &mut Session,
    connection: &mut Connection,
    path: &RelPath,
    rev: Option<Revnum>,
    wanted: Wanted,
    fields: DirEntryFields,
) -> Result<()> {
    let (full, rev) = enter(session, connection, path, rev)?;
    session.log(&format!(
        "get-dir {} r{rev}{}{}",
        line::path(&full),
        line::when(wanted.contents, "text"),
        line::when(wanted.props, "props")
    ));
    let root = session.root(rev)?;
    let mut props = Props::new();
    if wanted.props {
        props = node_props(session, &root.node(&full)?)?;
    }
    let mut handed_down = None;
    if wanted.inherited {
        handed_down = Some(inherited(session, &root, &full)?);
    }
    let mut entries = Default::default();
    if wanted.contents {
        entries = session.repos().read_dir(&root, &full, fields)?;
    }
    let out = connection.out();
    out.open().word("success").open().rev(rev);
    write_props(out, &props);
    out.open();
    for (name, entry) in &entries {
        if session.allows(Rights::READ, Some(&full.child(name)?), false) {
            answer::write_dir_entry(connection.out(), name, entry);
            connection.send()?;
        }
    }
    let out = connection.out();
    out.close();
    if let Some(handed_down) = &handed_down {
        answer::write_inherited(out, handed_down);
    }
    out.close().close();
    connection.send()
}

fn list(
    session: &mut Session,
    connection: &mut Connection,
    path: &RelPath,
    rev: Option<Revnum>,
    (depth, fields, patterns): (Depth, DirEntryFields, Option<&[String]>),
) -> Result<()> {
    let (full, rev) = enter(session, connection, path, rev)?;
    let shown = match patterns {
        None => " <ANY>".to_owned(),
        Some(patterns) => patterns
            .iter()
            .map(|pattern| format!(" {pattern}"))
            .collect(),
    };
    session.log(&format!(
        "list {} r{rev}{}{shown}",
        line::path(&full),
        line::depth(Some(depth))
    ));
    let root = session.root(rev)?;
    let check = session.read_check();
    let access = session.read_access(&check);
    let options = ListOptions {
        patterns,
        depth,
        fields,
    };
    let cancel = &session.serving.cancel;
    let repos = session.repos();
    let sent = repos.list(&root, &full, options, access, cancel, &mut |path, entry| {
        answer::write_list_entry(connection.out(), &full.join(path), entry, fields);
        connection.send()
    });
    end_entries(connection, sent)
}
