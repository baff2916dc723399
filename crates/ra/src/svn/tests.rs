use proptest::prelude::*;
use sylvan_core::{Depth, Error, ErrorCode, NodeKind, RelPath, RelPathBuf, Result, Revnum, Url};
use sylvan_delta::{CheckingEditor, CountingEditor, Editor, ReportEntry, Token};

use super::fuzz::HANDSHAKE;
use super::script::{Script, Sent};
use super::session::SvnSession;
use crate::auth::AuthOptions;
use crate::{Capability, LogOptions, Session, UpdateOptions};

const NO_AUTH: &str = "( success ( ( ) 0: ) ) ";
const DONE: &str = "( success ( ) ) ";

fn open(replies: &[&str]) -> (SvnSession, Sent) {
    let replies: Vec<Vec<u8>> = replies
        .iter()
        .map(|text| [HANDSHAKE, text.as_bytes()].concat())
        .collect();
    let replies: Vec<&[u8]> = replies.iter().map(Vec::as_slice).collect();
    let script = Script::new(&replies, 9);
    let sent = script.sent();
    let session = script.open("svn://h/r/trunk", AuthOptions::default());
    (session.unwrap(), sent)
}

/// What was sent after the handshake.
fn commands(sent: &Sent) -> Vec<String> {
    sent.lock()
        .unwrap()
        .iter()
        .map(|bytes| {
            let text = String::from_utf8(bytes.clone()).unwrap();
            text[text.find("( ) ) ").unwrap() + 6..].to_owned()
        })
        .collect()
}

fn path(path: &str) -> &RelPath {
    RelPath::new(path).unwrap()
}

fn update() -> UpdateOptions {
    UpdateOptions {
        rev: Revnum::new(3),
        target: String::new(),
        depth: Some(Depth::Infinity),
        send_copyfrom_args: false,
        ignore_ancestry: false,
    }
}

fn report() -> [ReportEntry; 1] {
    [ReportEntry::SetPath {
        path: RelPathBuf::root(),
        rev: Revnum::ZERO,
        depth: Depth::Infinity,
        start_empty: true,
        lock_token: None,
    }]
}

const UPDATE: &str = "( update ( ( 3 ) 0: true infinity false false ) ) \
    ( set-path ( 0: 0 true ( ) infinity ) ) ( finish-report ( ) ) ";
const EDIT: &str = "( target-rev ( 3 ) ) ( open-root ( ( 0 ) 2:d0 ) ) \
    ( add-file ( 1:f 2:d0 2:c1 ( ) ) ) ( apply-textdelta ( 2:c1 ( ) ) ) \
    ( textdelta-chunk ( 2:c1 4:SVN\0 ) ) ( textdelta-end ( 2:c1 ) ) \
    ( close-file ( 2:c1 ( 32:d41d8cd98f00b204e9800998ecf8427e ) ) ) ( close-dir ( 2:d0 ) ) ";

fn full_update() -> String {
    format!("{NO_AUTH}{NO_AUTH}{EDIT}( close-edit ( ) ) {DONE}")
}

#[test]
fn simple_calls_answer() {
    let (mut session, sent) = open(&[&format!(
        "{NO_AUTH}( success ( 7 ) ) {NO_AUTH}( success ( file ) ) \
         {NO_AUTH}( success ( ( ( dir 0 true 5 ( 27:2026-01-02T03:04:05.678901Z ) ( 2:jo ) ) ) ) ) \
         {NO_AUTH}( success ( ( ) ) ) {NO_AUTH}( failure ( ( 160013 2:no 0: 0 ) ) ) \
         {NO_AUTH}( success ( 8 ) ) "
    )]);
    assert_eq!(session.latest_rev().unwrap(), Revnum::new(7).unwrap());
    let kind = session.check_path(path("a"), None).unwrap();
    assert_eq!(kind, NodeKind::File);
    let stat = session.stat(path("a"), Revnum::new(7)).unwrap().unwrap();
    assert_eq!((stat.kind, stat.size), (NodeKind::Dir, None));
    assert_eq!(stat.last_author.as_deref(), Some("jo"));
    assert_eq!(session.stat(path("b"), None).unwrap(), None);
    // After an error that the server told, the connection goes on.
    let error = session.check_path(path("c"), None).unwrap_err();
    assert_eq!(error.code(), ErrorCode::FS_NOT_FOUND);
    assert_eq!(session.latest_rev().unwrap(), Revnum::new(8).unwrap());
    assert_eq!(commands(&sent).len(), 1);
}

#[test]
fn the_server_is_moved_only_when_it_must_be() {
    let (mut session, sent) = open(&[&format!(
        "{NO_AUTH}( success ( file ) ) {NO_AUTH}{DONE}{NO_AUTH}( success ( dir ) ) \
         {NO_AUTH}{DONE}{}",
        full_update()
    )]);
    let url = |text: &str| Url::parse(text).unwrap();
    session.reparent(&url("svn://h/r/trunk/a")).unwrap();
    session.check_path(path("b"), None).unwrap();
    session.reparent(&url("svn://h/r/tags")).unwrap();
    session.check_path(path("x"), None).unwrap();
    let mut editor = CheckingEditor::new(CountingEditor::default());
    session.update(&update(), &report(), &mut editor).unwrap();
    assert_eq!(
        commands(&sent),
        [format!(
            "( check-path ( 3:a/b ( ) ) ) ( reparent ( 9:svn://h/r ) ) \
             ( check-path ( 6:tags/x ( ) ) ) ( reparent ( 14:svn://h/r/tags ) ) {UPDATE}{DONE}"
        )]
    );
    let error = session.reparent(&url("svn://h/other")).unwrap_err();
    assert_eq!(error.code(), ErrorCode::RA_ILLEGAL_URL);
    assert_eq!(session.url().as_str(), "svn://h/r/tags");
}

#[test]
fn an_update_drives_the_editor() {
    let (mut session, sent) = open(&[&full_update()]);
    let mut editor = CheckingEditor::new(CountingEditor::default());
    session.update(&update(), &report(), &mut editor).unwrap();
    let count = editor.into_inner();
    assert!(count.is_closed);
    assert_eq!((count.files, count.text_bytes), (1, 4));
    assert_eq!(commands(&sent), [format!("{UPDATE}{DONE}")]);
}

#[test]
fn a_status_has_no_texts() {
    let (mut session, _) = open(&[&full_update()]);
    let mut editor = CheckingEditor::new(CountingEditor::default());
    session.status(&update(), &report(), &mut editor).unwrap();
    assert_eq!(editor.into_inner().text_bytes, 0);
}

#[test]
fn a_server_may_give_up() {
    let (mut session, _) = open(&[&format!(
        "{NO_AUTH}{NO_AUTH}( target-rev ( 3 ) ) ( abort-edit ( ) ) \
         ( failure ( ( 160013 2:no 0: 0 ) ) ) {NO_AUTH}( success ( 9 ) ) "
    )]);
    let mut editor = CheckingEditor::new(CountingEditor::default());
    let error = session
        .update(&update(), &report(), &mut editor)
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::FS_NOT_FOUND);
    assert!(editor.into_inner().is_aborted);
    assert_eq!(session.latest_rev().unwrap(), Revnum::new(9).unwrap());
}

#[test]
fn a_refused_report_ends_the_connection() {
    let failure = "( failure ( ( 170001 2:no 0: 0 ) ) ) ";
    let (mut session, sent) = open(&[failure, &format!("{NO_AUTH}( success ( 9 ) ) ")]);
    let mut editor = CheckingEditor::new(CountingEditor::default());
    let error = session
        .update(&update(), &report(), &mut editor)
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::RA_NOT_AUTHORIZED);
    assert!(editor.is_ended());
    // What was sent ahead is not taken for other commands: there is a new connection.
    assert_eq!(session.latest_rev().unwrap(), Revnum::new(9).unwrap());
    assert_eq!(commands(&sent).len(), 2);
}

#[test]
fn authentication_midway_begins_the_report_again() {
    let asks = "( success ( ( ANONYMOUS ) 1:r ) ) ";
    let accepted = "( success ( ) ) ";
    let edit = format!("{NO_AUTH}{EDIT}( close-edit ( ) ) {DONE}");
    let (mut session, sent) = open(&[asks, &format!("{asks}{accepted}{edit}")]);
    let mut editor = CheckingEditor::new(CountingEditor::default());
    session.update(&update(), &report(), &mut editor).unwrap();
    assert!(editor.into_inner().is_closed);
    let (command, rest) = UPDATE.split_at(UPDATE.find("( set-path").unwrap());
    assert_eq!(
        commands(&sent),
        [
            UPDATE.to_owned(),
            format!("{command}( ANONYMOUS ( 0: ) ) {rest}{DONE}")
        ]
    );
}

/// Fails at the first file.
struct Failing(CountingEditor);

impl Editor for Failing {
    fn set_target_revision(&mut self, rev: Revnum) -> Result<()> {
        self.0.set_target_revision(rev)
    }
    fn open_root(&mut self, base: Option<Revnum>, root: Token) -> Result<()> {
        self.0.open_root(base, root)
    }
    fn delete_entry(&mut self, path: &RelPath, rev: Option<Revnum>, dir: Token) -> Result<()> {
        self.0.delete_entry(path, rev, dir)
    }
    fn add_directory(
        &mut self,
        path: &RelPath,
        parent: Token,
        from: Option<sylvan_delta::CopyFrom>,
        dir: Token,
    ) -> Result<()> {
        self.0.add_directory(path, parent, from, dir)
    }
    fn open_directory(
        &mut self,
        path: &RelPath,
        parent: Token,
        base: Option<Revnum>,
        dir: Token,
    ) -> Result<()> {
        self.0.open_directory(path, parent, base, dir)
    }
    fn change_dir_prop(&mut self, dir: Token, name: &str, value: Option<&[u8]>) -> Result<()> {
        self.0.change_dir_prop(dir, name, value)
    }
    fn close_directory(&mut self, dir: Token) -> Result<()> {
        self.0.close_directory(dir)
    }
    fn absent_directory(&mut self, path: &RelPath, parent: Token) -> Result<()> {
        self.0.absent_directory(path, parent)
    }
    fn add_file(
        &mut self,
        _: &RelPath,
        _: Token,
        _: Option<sylvan_delta::CopyFrom>,
        _: Token,
    ) -> Result<()> {
        Err(Error::new(ErrorCode::WC_OBSTRUCTED_UPDATE, "in the way"))
    }
    fn open_file(
        &mut self,
        path: &RelPath,
        parent: Token,
        base: Option<Revnum>,
        file: Token,
    ) -> Result<()> {
        self.0.open_file(path, parent, base, file)
    }
    fn apply_text(
        &mut self,
        file: Token,
        base: Option<sylvan_core::Md5>,
        format: sylvan_delta::TextFormat,
    ) -> Result<()> {
        self.0.apply_text(file, base, format)
    }
    fn text_chunk(&mut self, file: Token, chunk: bytes::Bytes) -> Result<()> {
        self.0.text_chunk(file, chunk)
    }
    fn text_end(&mut self, file: Token) -> Result<()> {
        self.0.text_end(file)
    }
    fn change_file_prop(&mut self, file: Token, name: &str, value: Option<&[u8]>) -> Result<()> {
        self.0.change_file_prop(file, name, value)
    }
    fn close_file(&mut self, file: Token, text: Option<sylvan_core::Md5>) -> Result<()> {
        self.0.close_file(file, text)
    }
    fn absent_file(&mut self, path: &RelPath, parent: Token) -> Result<()> {
        self.0.absent_file(path, parent)
    }
    fn close_edit(&mut self) -> Result<()> {
        self.0.close_edit()
    }
    fn abort_edit(&mut self) -> Result<()> {
        self.0.abort_edit()
    }
}

#[test]
fn an_editor_that_fails_is_aborted_and_its_error_told() {
    let again = format!("{NO_AUTH}( success ( 9 ) ) ");
    let (mut session, _) = open(&[&full_update(), &again]);
    let mut editor = CheckingEditor::new(Failing(CountingEditor::default()));
    let error = session
        .update(&update(), &report(), &mut editor)
        .unwrap_err();
    assert_eq!(error.to_string(), "E155000: in the way");
    assert!(editor.into_inner().0.is_aborted);
    assert_eq!(session.latest_rev().unwrap(), Revnum::new(9).unwrap());
}

#[test]
fn contents_are_checked() {
    let get = |sum: &str| {
        format!(
            "{NO_AUTH}( success ( ( 32:{sum} ) 3 ( ( 3:p:x 1:v ) ) ) ) 3:abc 20:01234567890123456789 0: {DONE}"
        )
    };
    let good = sylvan_core::Md5::of(b"abc01234567890123456789").to_string();
    let (mut session, sent) = open(&[&get(&good)]);
    let mut text = Vec::new();
    let (rev, props) = session.read_file(path("f"), None, Some(&mut text)).unwrap();
    assert_eq!(
        (rev, text.as_slice()),
        (Revnum::new(3).unwrap(), &b"abc01234567890123456789"[..])
    );
    assert_eq!(props["p:x"], b"v");
    assert_eq!(
        commands(&sent),
        ["( get-file ( 1:f ( ) true true false ) ) "]
    );
    // Zeros announce nothing.
    let (mut session, _) = open(&[&get(&"0".repeat(32))]);
    let mut text = Vec::new();
    session.read_file(path("f"), None, Some(&mut text)).unwrap();
    assert_eq!(text.len(), 23);
    let (mut session, _) = open(&[&get(&"1".repeat(32))]);
    let error = session
        .read_file(path("f"), None, Some(&mut Vec::new()))
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::CHECKSUM_MISMATCH);
    assert!(
        error
            .message()
            .starts_with("Checksum mismatch for 'f':\n   expected:  111")
    );
    let (mut session, _) = open(&[&get(&good).replace("3:abc", "( )")]);
    let error = session
        .read_file(path("f"), None, Some(&mut Vec::new()))
        .unwrap_err();
    assert_eq!(error.message(), "Non-string as part of file contents");
}

#[test]
fn logs_keep_their_limit_and_what_was_asked_for() {
    let entry = |rev: u8, children: bool| {
        format!(
            "( ( ( 2:/b M ( ) ( 4:file true false ) ) ( 2:/a A ( 2:/c 1 ) ) ) {rev} ( 2:jo ) \
             ( 4:date ) ( 3:log ) {children} false 1 ( ( 1:x 1:y ) ) ) "
        )
    };
    let end = "( ( ) 0 ( ) ( ) ( ) false true 0 ( ) ) ";
    let replies = format!(
        "{NO_AUTH}{}{}{end}{}done {DONE}",
        entry(5, true),
        entry(4, false),
        entry(3, false)
    );
    let (mut session, _) = open(&[&replies]);
    let mut options = LogOptions {
        paths: vec![path("a").to_owned()],
        start: None,
        end: None,
        limit: 1,
        discover_changed_paths: true,
        strict_node_history: false,
        include_merged_revisions: true,
        revprops: Some(vec!["svn:log".to_owned(), "x".to_owned()]),
    };
    let mut entries = Vec::new();
    session
        .log(&options, &mut |entry| {
            entries.push(entry);
            Ok(())
        })
        .unwrap();
    let revs: Vec<_> = entries
        .iter()
        .map(|entry| entry.rev.map(Revnum::number))
        .collect();
    assert_eq!(revs, [Some(5), Some(4), None]);
    let changed = entries[0].changed_paths.as_ref().unwrap();
    assert_eq!((changed[0].0.as_str(), changed[0].1.action), ("/a", 'A'));
    assert_eq!(
        changed[0].1.copy_from,
        Some(("/c".to_owned(), Revnum::new(1).unwrap()))
    );
    assert_eq!(changed[1].1.text_modified, Some(true));
    let names: Vec<_> = entries[0].revprops.keys().collect();
    assert_eq!(names, ["svn:log", "x"]);
    // A receiver may stop; the rest is not read but the session goes on.
    let (mut session, _) = open(&[&replies, &format!("{NO_AUTH}( success ( 9 ) ) ")]);
    options.limit = 0;
    let stop = session.log(&options, &mut |_| {
        Err(Error::from_code(ErrorCode::CEASE_INVOCATION))
    });
    assert_eq!(stop.unwrap_err().code(), ErrorCode::CEASE_INVOCATION);
    assert_eq!(session.latest_rev().unwrap(), Revnum::new(9).unwrap());
}

#[test]
fn what_old_servers_lack_is_told() {
    let unknown = "( failure ( ( 210001 7:Unknown 0: 0 ) ) ) ";
    let (mut session, _) = open(&[&unknown.repeat(3)]);
    let one = Revnum::new(1).unwrap();
    let error = session.locations(path("a"), one, &[one]).unwrap_err();
    assert_eq!(
        error.to_lines(""),
        "E170003: 'get-locations' not implemented\nE210001: Unknown\n"
    );
    assert_eq!(
        session.lock(path("a")).unwrap_err().code(),
        ErrorCode::RA_NOT_IMPLEMENTED
    );
    let error = session.deleted_rev(path("a"), one, one).unwrap_err();
    assert_eq!(error.code(), ErrorCode::RA_NOT_IMPLEMENTED);
}

/// As a server of Subversion 1.0 begins, and one command that it does not know.
const OLD_HANDSHAKE: &str = "( success ( 1 2 ( ANONYMOUS ) ( edit-pipeline ) ) ) \
    ( success ( ( ) 0: ) ) ( success ( 4:uuid 9:svn://h/r ) ) ";
const UNKNOWN: &str = "( failure ( ( 210001 7:Unknown 0: 0 ) ) ) ";

fn open_old(replies: &str) -> SvnSession {
    let replies = format!("{OLD_HANDSHAKE}{replies}");
    let script = Script::new(&[replies.as_bytes()], 7);
    let session = script.open("svn://h/r/trunk", AuthOptions::default());
    session.unwrap()
}

#[test]
fn servers_of_old_can_little() {
    let mut session = open_old(&format!("{NO_AUTH}( success ( 7 ) ) "));
    for capability in [
        Capability::Depth,
        Capability::Mergeinfo,
        Capability::LogRevprops,
        Capability::CommitRevprops,
        Capability::InheritedProps,
        Capability::List,
    ] {
        assert!(
            !session.has_capability(capability).unwrap(),
            "{capability:?}"
        );
    }
    assert_eq!(session.repos_root().unwrap().as_str(), "svn://h/r");
    let listed = session.list(
        path("a"),
        None,
        None,
        Depth::Infinity,
        crate::DirEntryFields::ALL,
        &mut |_, _| Ok(()),
    );
    assert_eq!(listed.unwrap_err().code(), ErrorCode::UNSUPPORTED_FEATURE);
    assert_eq!(session.latest_rev().unwrap(), Revnum::new(7).unwrap());
}

#[test]
fn what_old_servers_do_not_tell_is_looked_for() {
    // An entry is found in its parent's listing.
    let mut session = open_old(&format!(
        "{UNKNOWN}{NO_AUTH}( success ( file ) ) \
         {NO_AUTH}( success ( 3 ( ) ( ( 1:b file 5 false 2 ( ) ( 2:jo ) ) ) ) ) "
    ));
    let entry = session.stat(path("a/b"), Revnum::new(3)).unwrap().unwrap();
    assert_eq!((entry.kind, entry.size), (NodeKind::File, Some(5)));
    // Where a node was is found in the log.
    let mut session = open_old(&format!(
        "{UNKNOWN}{NO_AUTH}\
         ( ( ( 6:/trunk A ( 4:/old 3 ) ) ) 6 ( 2:jo ) ( 4:date ) ( 3:log ) ) \
         ( ( ( 6:/old/a A ( ) ) ) 2 ( 2:jo ) ( 4:date ) ( 3:log ) ) done {DONE}"
    ));
    let found = session
        .location_segments(path("a"), Revnum::new(9), None, None)
        .unwrap();
    let found: Vec<_> = found
        .iter()
        .map(|part| {
            let path = part.path.as_deref().map(RelPath::as_str);
            (part.start.number(), part.end.number(), path)
        })
        .collect();
    assert_eq!(
        found,
        [(2, 3, Some("old/a")), (4, 5, None), (6, 9, Some("trunk/a"))]
    );
}

#[test]
fn odd_greetings_have_svns_errors() {
    for (greeting, code) in [
        (
            "( success ( 1 1 ( ) ( edit-pipeline ) ) ) ",
            ErrorCode::RA_SVN_BAD_VERSION,
        ),
        (
            "( success ( 3 4 ( ) ( edit-pipeline ) ) ) ",
            ErrorCode::RA_SVN_BAD_VERSION,
        ),
        (
            "( success ( 2 2 ( ) ( ) ) ) ",
            ErrorCode::RA_SVN_BAD_VERSION,
        ),
        ("( failure ( ( 210005 2:no 0: 0 ) ) ) ", ErrorCode(210_005)),
        (
            "HTTP/1.1 400 Bad Request\r\n\r\n",
            ErrorCode::RA_SVN_MALFORMED_DATA,
        ),
        (
            "( success ( 2 2 ( ) ( edit-pipeline ) ) ) \
             ( success ( ( DIGEST-MD5 SCRAM-SHA-256 GSSAPI NTLM ) 5:realm ) ) ",
            ErrorCode::RA_SVN_NO_MECHANISMS,
        ),
        (
            "( success ( 2 2 ( ) ( edit-pipeline ) ) ) ( success ( ( ) 0: ) ) \
             ( success ( 4:uuid 13:svn://other/r ( ) ) ) ",
            ErrorCode::RA_SVN_MALFORMED_DATA,
        ),
    ] {
        let script = Script::new(&[greeting.as_bytes()], 7);
        let opened = script.open("svn://h/r/trunk", AuthOptions::default());
        assert_eq!(opened.err().unwrap().code(), code, "{greeting}");
    }
}

#[test]
fn odd_names_in_listings_are_refused() {
    for name in ["3:a/b", "0:", "2:..", "2:a\n"] {
        let replies =
            format!("{NO_AUTH}( success ( 3 ( ) ( ( {name} file 1 false 2 ( ) ( ) ) ) ) ) ");
        let (mut session, _) = open(&[&replies]);
        let error = session
            .read_dir(RelPath::ROOT, None, Some(crate::DirEntryFields::ALL))
            .unwrap_err();
        assert_eq!(error.code(), ErrorCode::RA_SVN_MALFORMED_DATA, "{name}");
    }
}

fn log_in(password: &str, replies: &str) -> (Result<SvnSession>, Sent) {
    let greeting =
        "( success ( 2 2 ( ) ( edit-pipeline ) ) ) ( success ( ( CRAM-MD5 ) 5:realm ) ) ";
    let replies = format!("{greeting}{replies}( success ( 4:uuid 9:svn://h/r ) ) ");
    let script = Script::new(&[replies.as_bytes()], 5);
    let sent = script.sent();
    let options = AuthOptions {
        username: Some("jo".to_owned()),
        password: Some(password.to_owned()),
        non_interactive: true,
        ..AuthOptions::default()
    };
    (script.open("svn://h/r/trunk", options), sent)
}

#[test]
fn passwords_are_tried_until_one_fits() {
    let step = "( step ( 3:<c> ) ) ";
    let (session, sent) = log_in("sesam", &format!("{step}{DONE}"));
    session.unwrap();
    let sent = String::from_utf8(sent.lock().unwrap()[0].clone()).unwrap();
    assert!(
        sent.ends_with("( CRAM-MD5 ( ) ) 35:jo 0eb5d7f1b25a35ad7b9ee7cb4a1c1d31 ")
            || sent.contains("35:jo ")
    );
    let (session, _) = log_in("x", &format!("{step}( failure ( 2:no ) ) "));
    let error = session.err().unwrap();
    assert_eq!(
        error.to_string(),
        "E170001: Authentication error from server: no"
    );
    let (session, _) = log_in("x", "( maybe ( ) ) ");
    let error = session.err().unwrap();
    assert_eq!(error.code(), ErrorCode::RA_NOT_AUTHORIZED);
    let greeting = b"( success ( 2 2 ( ) ( edit-pipeline ) ) ) ( success ( ( GSSAPI ) 5:realm ) ) ";
    let none = Script::new(&[greeting], 5).open("svn://h/r", AuthOptions::default());
    assert_eq!(none.err().unwrap().code(), ErrorCode::RA_SVN_NO_MECHANISMS);
    let greeting = b"( success ( 2 2 ( ) ( edit-pipeline ) ) ) ( success ( ( PLAIN ) 5:realm ) ) ";
    let quiet = AuthOptions {
        non_interactive: true,
        ..AuthOptions::default()
    };
    let none = Script::new(&[greeting], 5).open("svn://h/r", quiet);
    assert_eq!(
        none.err().unwrap().to_string(),
        "E170001: Can't get username or password"
    );
}

#[test]
fn refused_authentication_ends_the_connection() {
    let asks = "( success ( ( ANONYMOUS ) 1:r ) ) ( failure ( 2:no ) ) ";
    let (mut session, _) = open(&[asks, &format!("{NO_AUTH}( success ( 9 ) ) ")]);
    let error = session.latest_rev().unwrap_err();
    assert_eq!(error.code(), ErrorCode::RA_NOT_AUTHORIZED);
    assert_eq!(session.latest_rev().unwrap(), Revnum::new(9).unwrap());
}

#[test]
fn a_connection_may_break_at_every_byte() {
    let edit = full_update();
    for len in 0..edit.len() {
        if !edit.is_char_boundary(len) {
            continue;
        }
        let (mut session, _) = open(&[&edit[..len]]);
        let mut editor = CheckingEditor::new(CountingEditor::default());
        let error = session
            .update(&update(), &report(), &mut editor)
            .unwrap_err();
        assert_eq!(
            error.code(),
            ErrorCode::RA_SVN_CONNECTION_CLOSED,
            "at {len}"
        );
        assert!(editor.is_ended());
    }
    for len in 0..HANDSHAKE.len() {
        let script = Script::new(&[&HANDSHAKE[..len]], 100);
        let error = script
            .open("svn://h/r", AuthOptions::default())
            .err()
            .unwrap();
        assert_eq!(
            error.code(),
            ErrorCode::RA_SVN_CONNECTION_CLOSED,
            "at {len}"
        );
    }
}

proptest! {
    #[test]
    fn any_server_is_no_panic(
        choice in any::<u8>(),
        words in prop::collection::vec(
            prop::sample::select(vec![
                "( success ( ", "( failure ( ", ") ) ", "( ( ) 0: ) ", "( ", ") ", "done ",
                "1 ", "2 ", "0: ", "1:a ", "2:d0 ", "file ", "dir ", "true ", "false ",
                "( success ( ( ) 0: ) ) ", "( success ( ( CRAM-MD5 PLAIN ) 1:r ) ) ",
                "( step ( 1:c ) ) ", "( open-root ( ( ) 2:d0 ) ) ", "( close-edit ( ) ) ",
                "( add-file ( 1:a 2:d0 2:f0 ( ) ) ) ", "( close-dir ( 2:d0 ) ) ",
                "27:2026-01-02T03:04:05.678901Z ", "32:d41d8cd98f00b204e9800998ecf8427e ",
            ]),
            0..40,
        ),
    ) {
        let mut data = vec![choice];
        data.extend(words.concat().into_bytes());
        super::fuzz::session(&data);
    }
}
