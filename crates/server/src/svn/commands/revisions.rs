//! Commands about revisions and their properties.

use sylvan_core::{Error, ErrorCode, Props, Result, Revnum, Timestamp, props};
use sylvan_proto::svn::Request;
use sylvan_proto::svn::message::write_props;
use sylvan_repos::authz::Rights;
use sylvan_repos::{RevisionAccess, RevpropHooks};

use super::super::connection::Connection;
use super::super::log_lines as line;
use super::super::session::Session;

pub(super) fn handle(
    session: &mut Session,
    connection: &mut Connection,
    request: Request<'_>,
) -> Result<()> {
    match request {
        Request::Reparent { url } => {
            connection.no_auth();
            let path = session.repository.path_of(url)?;
            session.log(&format!("reparent {}", line::path(&path)));
            session.repository.path = path;
            connection.success(|_| {})
        }
        Request::GetDatedRev { date } => {
            session.log(&format!("get-dated-rev {date}"));
            connection.no_auth();
            let time = Timestamp::parse_iso(date)?;
            let rev = session.repos().dated_revision(time)?;
            connection.success(|out| {
                out.rev(rev);
            })
        }
        Request::RevProplist { rev } => {
            session.log(&format!("rev-proplist r{rev}"));
            connection.no_auth();
            let found = readable_revprops(session, rev)?;
            connection.success(|out| write_props(out, &found))
        }
        Request::RevProp { rev, name } => {
            let shown = sylvan_core::path::uri_encode(name);
            session.log(&format!("rev-prop r{rev} {shown}"));
            connection.no_auth();
            let found = readable_revprops(session, rev)?.remove(name);
            connection.success(|out| {
                out.optional_string(found);
            })
        }
        Request::ChangeRevProp {
            rev,
            name,
            value,
            expected,
        } => {
            session.require(connection, Rights::WRITE, None, false)?;
            let shown = sylvan_core::path::uri_encode(name);
            session.log(&format!("change-rev-prop r{rev} {shown}"));
            change_rev_prop(session, rev, name, value, expected)?;
            connection.success(|_| {})
        }
        _ => {
            session.log("get-latest-rev");
            connection.no_auth();
            let rev = session.fs().youngest()?;
            connection.success(|out| {
                out.rev(rev);
            })
        }
    }
}

/// Returns the properties of a revision, as far as the client may see them.
pub(super) fn readable_revprops(session: &Session, rev: Revnum) -> Result<Props> {
    let check = session.read_check();
    let access = session.read_access(&check);
    let level = session.repos().revision_access(rev, access)?;
    let mut found = session.fs().revprops(rev)?;
    found.retain(|name, _| match level {
        RevisionAccess::Full => true,
        RevisionAccess::Partial => {
            matches!(name.as_str(), props::REVISION_AUTHOR | props::REVISION_DATE)
        }
        RevisionAccess::None => false,
    });
    Ok(found)
}

fn change_rev_prop(
    session: &Session,
    rev: Revnum,
    name: &str,
    value: Option<&[u8]>,
    expected: Option<Option<&[u8]>>,
) -> Result<()> {
    let check = session.read_check();
    let access = session.read_access(&check);
    if session.repos().revision_access(rev, access)? != RevisionAccess::Full {
        let text = format!("Write denied:  not authorized to read all of revision {rev}");
        return Err(Error::new(ErrorCode::AUTHZ_UNREADABLE, text));
    }
    let user = session.user.as_deref();
    let hooks = RevpropHooks::ALL;
    let repos = session.repos();
    repos.change_revprop(rev, user, name, expected, value, hooks)
}
