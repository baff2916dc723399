//! What is done for each command.
//!
//! The order of steps is Subversion's: what is read, who may, the line in the log, the answer.
//! Errors are told to the client, unless the connection is broken.

mod commit;
mod history;
mod locks;
mod nodes;
mod replay;
mod report;
mod revisions;

use sylvan_core::Result;
use sylvan_proto::svn::Request;

use super::connection::Connection;
use super::session::Session;

/// Handles a command.
pub(crate) fn handle(
    session: &mut Session,
    connection: &mut Connection,
    request: Request<'_>,
) -> Result<()> {
    use Request as R;
    match request {
        R::Reparent { .. }
        | R::GetLatestRev
        | R::GetDatedRev { .. }
        | R::RevProplist { .. }
        | R::RevProp { .. }
        | R::ChangeRevProp { .. } => revisions::handle(session, connection, request),
        R::GetFile { .. }
        | R::GetDir { .. }
        | R::CheckPath { .. }
        | R::Stat { .. }
        | R::List { .. }
        | R::GetIprops { .. } => nodes::handle(session, connection, request),
        R::Log { .. }
        | R::GetLocations { .. }
        | R::GetLocationSegments { .. }
        | R::GetFileRevs { .. }
        | R::GetMergeinfo { .. }
        | R::GetDeletedRev { .. } => history::handle(session, connection, request),
        R::Lock { .. }
        | R::LockMany { .. }
        | R::Unlock { .. }
        | R::UnlockMany { .. }
        | R::GetLock { .. }
        | R::GetLocks { .. } => locks::handle(session, connection, request),
        R::Update(_) | R::Switch(..) | R::Status(_) | R::Diff(..) => {
            report::handle(session, connection, request)
        }
        R::Replay {
            rev,
            low_water_mark,
            deltas,
        } => replay::replay(session, connection, rev, low_water_mark, deltas),
        R::ReplayRange {
            start,
            end,
            low_water_mark,
            deltas,
        } => replay::replay_range(session, connection, (start, end), low_water_mark, deltas),
        R::Commit { .. } => commit::commit(session, connection, request),
    }
}

/// Ends a list of entries that were sent before the response with the word for that, also if they
/// are not all.
fn end_entries(connection: &mut Connection, result: Result<()>) -> Result<()> {
    connection.out().word("done");
    result?;
    connection.success(|_| {})
}
