use sylvan_core::{Depth, RelPath, RelPathBuf, Revnum, Timestamp, Url};
use sylvan_delta::{CheckingEditor, CountingEditor, ReportEntry};

use super::script::Script;
use crate::auth::AuthOptions;
use crate::{DirEntryFields, LogOptions, Session, UpdateOptions};

/// The server's part of a handshake.
pub(super) const HANDSHAKE: &[u8] = b"( success ( 2 2 ( ) ( edit-pipeline svndiff1 depth list \
    inherited-props mergeinfo log-revprops ) ) ) \
    ( success ( ( ) 0: ) ) ( success ( 4:uuid 9:svn://h/r ( ) ) ) ";

/// Runs calls of a session against a server that says any bytes. The first byte chooses the calls,
/// and whether the handshake is fine.
pub fn session(data: &[u8]) {
    let Some((&choice, bytes)) = data.split_first() else {
        return;
    };
    let replies = if choice & 0x80 == 0 {
        [HANDSHAKE, bytes].concat()
    } else {
        bytes.to_vec()
    };
    let script = Script::new(&[&replies, bytes], usize::from(choice & 0x0f) * 8 + 1);
    let options = AuthOptions {
        username: Some("jo".to_owned()),
        password: Some("sesam".to_owned()),
        non_interactive: true,
        ..AuthOptions::default()
    };
    if let Ok(mut session) = script.open("svn://h/r/trunk", options) {
        for call in 0..4 {
            run(&mut session, (choice >> 4).wrapping_add(call * 5) % 18);
        }
    }
}

fn run(session: &mut dyn Session, call: u8) {
    let path = RelPath::new("a/b").unwrap_or(RelPath::ROOT);
    let rev = Revnum::new(3);
    let one = Revnum::ZERO.next();
    let update = UpdateOptions {
        rev,
        target: String::new(),
        depth: Some(Depth::Infinity),
        send_copyfrom_args: false,
        ignore_ancestry: false,
    };
    let report = [ReportEntry::SetPath {
        path: RelPathBuf::root(),
        rev: one,
        depth: Depth::Infinity,
        start_empty: true,
        lock_token: None,
    }];
    let mut editor = CheckingEditor::new(CountingEditor::default());
    let log = LogOptions {
        paths: vec![path.to_owned()],
        start: rev,
        end: None,
        limit: 2,
        discover_changed_paths: true,
        strict_node_history: false,
        include_merged_revisions: true,
        revprops: None,
    };
    let mut text = std::io::sink();
    match call {
        0 => drop(session.update(&update, &report, &mut editor)),
        1 => drop(session.status(&update, &report, &mut editor)),
        2 => drop(session.read_file(path, rev, Some(&mut text))),
        3 => drop(session.read_dir(path, rev, Some(DirEntryFields::ALL))),
        4 => drop(session.log(&log, &mut |_| Ok(()))),
        5 => drop(session.latest_rev()),
        6 => drop(session.dated_rev(Timestamp::from_micros(0))),
        7 => drop(session.rev_proplist(one)),
        8 => drop(session.rev_prop(one, "svn:log")),
        9 => drop(session.check_path(path, None)),
        10 => drop(session.stat(path, None)),
        11 => drop(session.list(
            path,
            rev,
            None,
            Depth::Infinity,
            DirEntryFields::KIND,
            &mut |_, _| Ok(()),
        )),
        12 => drop(session.locations(path, one, &[one])),
        13 => drop(session.location_segments(path, rev, None, None)),
        14 => drop(session.lock(path)),
        15 => drop(session.locks(path, Depth::Files)),
        16 => drop(session.inherited_props(path, one)),
        _ => {
            drop(session.deleted_rev(path, one, one));
            if let Ok(url) = Url::parse("svn://h/r/other") {
                drop(session.reparent(&url));
            }
        }
    }
}
