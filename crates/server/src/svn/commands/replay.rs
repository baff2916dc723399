//! Commands that tell what revisions did.

use sylvan_core::{Result, Revnum};
use sylvan_delta::Editor as _;
use sylvan_fs::Tree;
use sylvan_proto::svn::message::write_props;
use sylvan_repos::{ReplayOptions, Texts};

use super::super::connection::Connection;
use super::super::log_lines as line;
use super::super::session::Session;
use super::super::wire_editor::WireEditor;
use super::revisions::readable_revprops;

pub(super) fn replay(
    session: &Session,
    connection: &mut Connection,
    rev: Revnum,
    low_water_mark: Revnum,
    deltas: bool,
) -> Result<()> {
    connection.no_auth();
    replay_one(session, connection, rev, low_water_mark, deltas)?;
    connection.success(|_| {})
}

pub(super) fn replay_range(
    session: &Session,
    connection: &mut Connection,
    (start, end): (Revnum, Revnum),
    low_water_mark: Revnum,
    deltas: bool,
) -> Result<()> {
    connection.no_auth();
    let mut rev = start;
    while rev <= end {
        let revprops = readable_revprops(session, rev)?;
        let out = connection.out();
        out.open().word("revprops");
        write_props(out, &revprops);
        out.close();
        replay_one(session, connection, rev, low_water_mark, deltas)?;
        connection.send()?;
        rev = rev.next();
    }
    connection.success(|_| {})
}

fn replay_one(
    session: &Session,
    connection: &mut Connection,
    rev: Revnum,
    low_water_mark: Revnum,
    deltas: bool,
) -> Result<()> {
    let base = session.repository.path.clone();
    session.log(&format!("replay {} r{rev}", line::path(&base)));
    let options = ReplayOptions {
        base,
        low_water_mark,
        deltas: deltas.then_some(Texts::Svndiff(session.version)),
    };
    let check = session.read_check();
    let access = session.read_access(&check);
    let mut editor = WireEditor::new(connection);
    let replayed = session.root(rev).and_then(|root| {
        let tree = Tree::from(&root);
        let cancel = &session.serving.cancel;
        sylvan_repos::replay(tree, &mut editor, &options, access, cancel)
    });
    if let Err(error) = replayed {
        return Err(match editor.abort_edit() {
            Ok(()) => error,
            Err(other) => error.attach(other),
        });
    }
    editor.finish_replay();
    Ok(())
}
