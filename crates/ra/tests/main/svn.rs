//! Debian's svnserve, on a port and through tunnels.

use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use sylvan_core::{Depth, Error, ErrorCode, NodeKind, RelPath, RelPathBuf, Result, Revnum, Url};
use sylvan_delta::{CheckingEditor, CountingEditor, ReportEntry};
use sylvan_io::{Category, Config};
use sylvan_ra::auth::{
    Auth, AuthOptions, CertFailures, CertInfo, ClientCert, ClientCertPassphrase, NoPrompt, Prompt,
    ServerTrust, Simple, Username,
};
use sylvan_ra::{Capability, Context, DirEntryFields, LogOptions, Session, UpdateOptions, open};
use sylvan_testutil::Svnserve;

fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// A repository with a history: r1 adds a tree, r2 changes it, r3 copies, r4 deletes.
fn fill(url: &str, scratch: &Path) {
    let wc = scratch.join("wc");
    let wc = wc.to_str().unwrap();
    let config = scratch.join("config");
    let config = config.to_str().unwrap();
    let svn = |arguments: &[&str]| {
        let mut all = arguments.to_vec();
        all.extend(["--config-dir", config, "--non-interactive", "-q"]);
        run("svn", &all)
    };
    svn(&["checkout", url, wc]);
    let file = |name: &str, text: &[u8]| std::fs::write(format!("{wc}/{name}"), text).unwrap();
    svn(&["mkdir", "--parents", &format!("{wc}/trunk/sub dir")]);
    file("trunk/a.txt", b"one\n");
    file("trunk/sub dir/\u{fc}.bin", &vec![7; 250_000]);
    file("trunk/empty", b"");
    svn(&["add", "--force", &format!("{wc}/trunk")]);
    svn(&["propset", "p:x", "value", &format!("{wc}/trunk")]);
    svn(&["commit", "-m", "first\nlog", "--username", "jo", wc]);
    file("trunk/a.txt", b"one\ntwo\n");
    svn(&["commit", "-m", "second", "--username", "jo", wc]);
    let (from, to) = (format!("{url}/trunk"), format!("{url}/copy"));
    svn(&["copy", "-m", "third", "--username", "jo", &from, &to]);
    svn(&[
        "delete",
        "-m",
        "fourth",
        "--username",
        "jo",
        &format!("{url}/copy/empty"),
    ]);
}

fn context(options: AuthOptions, config: Config, prompt: Box<dyn Prompt>) -> Context {
    let config = Arc::new(config);
    Context::new(Arc::clone(&config), Auth::new(options, config, prompt))
}

fn anonymous() -> Context {
    let options = AuthOptions {
        username: Some("jo".to_owned()),
        non_interactive: true,
        ..AuthOptions::default()
    };
    context(options, Config::default(), Box::new(NoPrompt))
}

fn rev(number: i64) -> Revnum {
    Revnum::new(number).unwrap()
}

fn path(path: &str) -> &RelPath {
    RelPath::new(path).unwrap()
}

fn set_path(at: &str, number: i64, start_empty: bool) -> ReportEntry {
    ReportEntry::SetPath {
        path: RelPathBuf::new(at).unwrap(),
        rev: rev(number),
        depth: Depth::Infinity,
        start_empty,
        lock_token: None,
    }
}

fn update_to(number: i64) -> UpdateOptions {
    UpdateOptions {
        rev: Revnum::new(number),
        target: String::new(),
        depth: Some(Depth::Infinity),
        send_copyfrom_args: false,
        ignore_ancestry: false,
    }
}

fn count(
    session: &mut dyn Session,
    options: &UpdateOptions,
    report: &[ReportEntry],
) -> CountingEditor {
    let mut editor = CheckingEditor::new(CountingEditor::default());
    session.update(options, report, &mut editor).unwrap();
    editor.into_inner()
}

#[test]
fn every_call_answers_what_the_repository_has() {
    let scratch = tempfile::tempdir().unwrap();
    let server = Svnserve::start(scratch.path());
    let url = server.create_repository("r");
    fill(&url, scratch.path());
    let root = Url::parse(&url).unwrap();
    let mut session = open(&root.join(path("trunk")), &anonymous()).unwrap();
    inspect(&mut *session, &root, &server.repository_path("r"));
    let uuid = run(
        "svnlook",
        &["uuid", server.repository_path("r").to_str().unwrap()],
    );
    assert_eq!(session.uuid().unwrap(), uuid.trim());
}

/// All calls on the repository of [`fill`], from a session at `trunk`.
fn inspect(session: &mut dyn Session, root: &Url, repository: &Path) {
    assert_eq!(session.repos_root().unwrap(), *root);
    assert!(session.has_capability(Capability::Depth).unwrap());
    assert!(session.has_capability(Capability::Mergeinfo).unwrap());
    assert_eq!(session.latest_rev().unwrap(), rev(4));
    let props = session.rev_proplist(rev(1)).unwrap();
    assert_eq!(props["svn:log"], b"first\nlog");
    assert_eq!(session.rev_prop(rev(1), "none").unwrap(), None);
    let date = String::from_utf8(props["svn:date"].clone()).unwrap();
    let date = sylvan_core::Timestamp::parse_iso(&date).unwrap();
    assert_eq!(session.dated_rev(date).unwrap(), rev(1));

    let kind = |session: &mut dyn Session, at: &str| session.check_path(path(at), None).unwrap();
    assert_eq!(kind(session, "sub dir"), NodeKind::Dir);
    assert_eq!(kind(session, "a.txt"), NodeKind::File);
    assert_eq!(kind(session, "none"), NodeKind::None);
    let stat = session.stat(path("a.txt"), Some(rev(1))).unwrap().unwrap();
    assert_eq!((stat.kind, stat.size), (NodeKind::File, Some(4)));
    assert_eq!(stat.time, Some(date));
    assert_eq!(session.stat(path("none"), None).unwrap(), None);

    let mut text = Vec::new();
    let (at, props) = session
        .read_file(path("a.txt"), None, Some(&mut text))
        .unwrap();
    assert_eq!((at, text.as_slice()), (rev(4), &b"one\ntwo\n"[..]));
    assert_eq!(props["svn:entry:committed-rev"], b"2");
    text.clear();
    let big = path("sub dir/\u{fc}.bin");
    session
        .read_file(big, Some(rev(1)), Some(&mut text))
        .unwrap();
    assert_eq!(text, vec![7; 250_000]);
    let error = session
        .read_file(path("none"), None, Some(&mut text))
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::FS_NOT_FOUND);

    let listing = session
        .read_dir(RelPath::ROOT, None, Some(DirEntryFields::ALL))
        .unwrap();
    let names: Vec<_> = listing.entries.keys().map(String::as_str).collect();
    assert_eq!(names, ["a.txt", "empty", "sub dir"]);
    assert_eq!(listing.props["p:x"], b"value");
    let mut listed = Vec::new();
    session
        .list(
            RelPath::ROOT,
            None,
            Some(&["*.bin".to_owned()]),
            Depth::Infinity,
            DirEntryFields::ALL,
            &mut |path, entry| {
                listed.push((path.as_str().to_owned(), entry.size));
                Ok(())
            },
        )
        .unwrap();
    assert_eq!(listed, [("sub dir/\u{fc}.bin".to_owned(), Some(250_000))]);

    let locations = session
        .locations(RelPath::ROOT, rev(4), &[rev(1), rev(0)])
        .unwrap();
    assert_eq!(locations, [(rev(1), RelPathBuf::new("trunk").unwrap())]);
    logs(session);
    locks(session, repository);
    edits(session);
    // From elsewhere in the repository.
    session.reparent(&root.join(path("copy"))).unwrap();
    let segments = session
        .location_segments(RelPath::ROOT, Some(rev(4)), Some(rev(4)), Some(rev(1)))
        .unwrap();
    let segments: Vec<_> = segments
        .iter()
        .map(|segment| {
            (
                segment.start.number(),
                segment.end.number(),
                segment.path.clone(),
            )
        })
        .collect();
    assert_eq!(
        segments,
        [
            (3, 4, RelPathBuf::new("copy").ok()),
            (1, 2, RelPathBuf::new("trunk").ok())
        ]
    );
    let inherited = session.inherited_props(path("a.txt"), rev(4)).unwrap();
    assert_eq!(inherited.len(), 1);
    assert_eq!(inherited[0].path.as_str(), "copy");
    let deleted = session.deleted_rev(path("empty"), rev(3), rev(4)).unwrap();
    assert_eq!(deleted, Some(rev(4)));
    assert_eq!(
        session.deleted_rev(path("a.txt"), rev(3), rev(4)).unwrap(),
        None
    );
    session.reparent(&root.join(path("trunk"))).unwrap();
}

fn logs(session: &mut dyn Session) {
    let mut options = LogOptions {
        paths: vec![path("a.txt").to_owned()],
        start: Some(rev(4)),
        end: Some(rev(1)),
        limit: 0,
        discover_changed_paths: true,
        strict_node_history: false,
        include_merged_revisions: false,
        revprops: Some(vec!["svn:author".to_owned(), "svn:log".to_owned()]),
    };
    let mut revs = |options: &LogOptions| {
        let mut entries = Vec::new();
        session
            .log(options, &mut |entry| {
                entries.push(entry);
                Ok(())
            })
            .unwrap();
        entries
    };
    let entries = revs(&options);
    let numbers: Vec<_> = entries.iter().map(|entry| entry.rev).collect();
    assert_eq!(numbers, [Some(rev(2)), Some(rev(1))]);
    assert_eq!(entries[0].revprops["svn:log"], b"second");
    assert!(!entries[0].revprops.contains_key("svn:date"));
    let changed = entries[1].changed_paths.as_ref().unwrap();
    let paths: Vec<_> = changed.iter().map(|(path, _)| path.as_str()).collect();
    let all = [
        "/trunk",
        "/trunk/a.txt",
        "/trunk/empty",
        "/trunk/sub dir",
        "/trunk/sub dir/\u{fc}.bin",
    ];
    assert_eq!(paths, all);
    assert!(changed.iter().all(|(_, changed)| changed.action == 'A'));
    options.paths = vec![];
    options.limit = 1;
    options.discover_changed_paths = false;
    options.revprops = None;
    let entries = revs(&options);
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].changed_paths, None);
    assert!(entries[0].revprops.contains_key("svn:date"));
}

fn locks(session: &mut dyn Session, repository: &Path) {
    assert_eq!(session.lock(path("a.txt")).unwrap(), None);
    // Nobody may lock namelessly, so this goes another way.
    let file = format!("file://{}/trunk/a.txt", repository.display());
    run(
        "svn",
        &["lock", "-q", "--username", "jo", "-m", "mine", &file],
    );
    let lock = session.lock(path("a.txt")).unwrap().unwrap();
    assert_eq!(
        (lock.owner.as_str(), lock.path.as_str()),
        ("jo", "trunk/a.txt")
    );
    assert_eq!(lock.comment.as_deref(), Some("mine"));
    for (at, depth, found) in [
        ("", Depth::Infinity, 1),
        ("", Depth::Files, 1),
        ("", Depth::Empty, 0),
        ("a.txt", Depth::Empty, 1),
        ("sub dir", Depth::Infinity, 0),
    ] {
        assert_eq!(
            session.locks(path(at), depth).unwrap().len(),
            found,
            "{at} {depth}"
        );
    }
    run("svn", &["unlock", "-q", "--force", &file]);
}

fn edits(session: &mut dyn Session) {
    let all = count(session, &update_to(4), &[set_path("", 4, true)]);
    assert_eq!((all.directories, all.files), (2, 3));
    assert_eq!(all.target_rev, Some(rev(4)));
    let none = count(session, &update_to(4), &[set_path("", 4, false)]);
    assert_eq!((none.files, none.text_bytes), (0, 0));
    let one = count(session, &update_to(4), &[set_path("", 1, false)]);
    assert_eq!((one.directories, one.files), (1, 1));
    let missing = [
        set_path("", 4, false),
        ReportEntry::DeletePath {
            path: path("empty").to_owned(),
        },
    ];
    assert_eq!(count(session, &update_to(4), &missing).files, 1);
    let mut target = update_to(4);
    "empty".clone_into(&mut target.target);
    assert_eq!(count(session, &target, &[set_path("", 4, true)]).files, 1);
    let mut editor = CheckingEditor::new(CountingEditor::default());
    let report = [set_path("", 1, false)];
    session.status(&update_to(4), &report, &mut editor).unwrap();
    let status = editor.into_inner();
    assert_eq!((status.files, status.text_bytes), (1, 0));
    let copy = session.repos_root().unwrap().join(path("copy"));
    let mut editor = CheckingEditor::new(CountingEditor::default());
    let report = [set_path("", 4, false)];
    session
        .switch(&update_to(4), &copy, &report, &mut editor)
        .unwrap();
    assert_eq!(editor.into_inner().deletions, 1);
    // A revision that is not there: the server says so, and the session goes on.
    let mut editor = CheckingEditor::new(CountingEditor::default());
    let error = session
        .update(&update_to(99), &[set_path("", 4, true)], &mut editor)
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::FS_NO_SUCH_REVISION);
    assert!(editor.into_inner().is_aborted);
    assert_eq!(session.latest_rev().unwrap(), rev(4));
}

#[test]
fn compressed_and_plain_contents_are_the_same() {
    let scratch = tempfile::tempdir().unwrap();
    let server = Svnserve::start(scratch.path());
    let url = server.create_repository("r");
    fill(&url, scratch.path());
    let bytes = |value: &str| {
        let mut config = Config::default();
        config.set(Category::Servers, "global", "svn-compression", value);
        let context = context(AuthOptions::default(), config, Box::new(NoPrompt));
        let mut session = open(&Url::parse(&url).unwrap(), &context)?;
        Ok::<_, Error>(count(&mut *session, &update_to(4), &[set_path("", 4, true)]).text_bytes)
    };
    let (packed, plain) = (bytes("yes").unwrap(), bytes("no").unwrap());
    assert!(plain > 500_000 && packed < 20_000, "{plain} {packed}");
    assert_eq!(bytes("auto").unwrap(), plain);
    let error = bytes("perhaps").unwrap_err();
    assert!(error.has_code(ErrorCode::BAD_CONFIG_VALUE));
}

#[test]
fn what_cannot_be_opened_is_told_as_svn_does() {
    let scratch = tempfile::tempdir().unwrap();
    let server = Svnserve::start(scratch.path());
    let config_dir = scratch.path().join("config");
    let free = sylvan_testutil::free_port();
    for url in [
        server.url("none"),
        format!("svn://127.0.0.1:{free}/r"),
        "svn://host.invalid/r".to_owned(),
        "svn+tea://h/r".to_owned(),
        "svn+missing://h/r".to_owned(),
        "svn+silent://h/r".to_owned(),
        "svn+unset://h/r".to_owned(),
        "svn+silent://-oProxyCommand=x/r".to_owned(),
    ] {
        let tunnels = [
            ("missing", "/no/such/program"),
            ("silent", "true"),
            ("unset", "$SYLVAN_TEST_UNSET"),
        ];
        let mut config = Config::default();
        let mut svn = Command::new("svn");
        svn.args(["info", "--non-interactive", &url, "--config-dir"]);
        svn.arg(&config_dir).env("LC_ALL", "C.UTF-8");
        for (name, value) in tunnels {
            config.set(Category::Config, "tunnels", name, value);
            svn.args(["--config-option", &format!("config:tunnels:{name}={value}")]);
        }
        let context = context(AuthOptions::default(), config, Box::new(NoPrompt));
        let error = open(&Url::parse(&url).unwrap(), &context).err().unwrap();
        let expected = String::from_utf8(svn.output().unwrap().stderr).unwrap();
        assert_eq!(error.to_lines("svn: "), expected, "{url}");
    }
}

#[test]
fn tunnels_carry_the_same_protocol() {
    let scratch = tempfile::tempdir().unwrap();
    let repository = scratch.path().join("r");
    run("svnadmin", &["create", repository.to_str().unwrap()]);
    fill(&format!("file://{}", repository.display()), scratch.path());
    let mut config = Config::default();
    let program = format!(
        "sh -c \"echo Welcome, stranger; exec svnserve -t -r '{}' --tunnel-user jo\"",
        scratch.path().display()
    );
    config.set(Category::Config, "tunnels", "shell", &program);
    let context = context(AuthOptions::default(), config, Box::new(NoPrompt));
    let root = Url::parse("svn+shell://jo@somewhere/r").unwrap();
    let mut session = open(&root.join(path("trunk")), &context).unwrap();
    inspect(&mut *session, &root, &repository);
}

/// Types one answer after the other.
struct Typist {
    answers: Vec<(&'static str, &'static str)>,
    realms: Arc<Mutex<Vec<String>>>,
}

impl Prompt for Typist {
    fn simple(&mut self, realm: &str, _: Option<&str>, may_save: bool) -> Result<Option<Simple>> {
        self.realms.lock().unwrap().push(realm.to_owned());
        Ok(self.answers.pop().map(|(username, password)| Simple {
            username: username.to_owned(),
            password: password.to_owned(),
            may_save,
        }))
    }

    fn username(&mut self, _: &str, _: bool) -> Result<Option<Username>> {
        Ok(None)
    }

    fn ssl_server_trust(
        &mut self,
        _: &str,
        _: CertFailures,
        _: &CertInfo,
        _: bool,
    ) -> Result<Option<ServerTrust>> {
        Ok(None)
    }

    fn ssl_client_cert(&mut self, _: &str, _: bool) -> Result<Option<ClientCert>> {
        Ok(None)
    }

    fn ssl_client_cert_pw(&mut self, _: &str, _: bool) -> Result<Option<ClientCertPassphrase>> {
        Ok(None)
    }

    fn store_plaintext_password(&mut self, _: &str) -> Result<bool> {
        Ok(true)
    }

    fn store_plaintext_passphrase(&mut self, _: &str) -> Result<bool> {
        Ok(false)
    }
}

#[test]
fn passwords_are_asked_for_tried_again_and_kept_for_svn() {
    let scratch = tempfile::tempdir().unwrap();
    std::fs::write(scratch.path().join("passwd"), "[users]\njo = sesam\n").unwrap();
    let settings = "[general]\nanon-access = none\nauth-access = write\n\
                    password-db = passwd\nrealm = Some realm\n";
    let server = Svnserve::start_with(scratch.path(), settings);
    let url = server.create_repository("r");
    let config_dir = scratch.path().join("config");
    std::fs::create_dir(&config_dir).unwrap();
    let config = || {
        let directories = sylvan_io::config::Directories::only(&config_dir);
        Config::load(&directories).unwrap()
    };
    let realms = Arc::new(Mutex::new(Vec::new()));
    let typist = Typist {
        answers: vec![("jo", "sesam"), ("jo", "wrong"), ("al", "wrong")],
        realms: Arc::clone(&realms),
    };
    let parsed = Url::parse(&url).unwrap();
    let asking = context(AuthOptions::default(), config(), Box::new(typist));
    open(&parsed, &asking).unwrap().latest_rev().unwrap();
    let realm = format!("<svn://127.0.0.1:{}> Some realm", server.port());
    assert_eq!(*realms.lock().unwrap(), vec![realm; 3]);
    // A second session of the same program is not asked.
    open(&parsed, &asking).unwrap();
    assert_eq!(realms.lock().unwrap().len(), 3);
    // The next program finds them stored, and so does Subversion's.
    let quiet = || AuthOptions {
        non_interactive: true,
        ..AuthOptions::default()
    };
    let next = context(quiet(), config(), Box::new(NoPrompt));
    open(&parsed, &next).unwrap();
    let config_arg = config_dir.to_str().unwrap();
    run(
        "svn",
        &[
            "list",
            "--non-interactive",
            "--config-dir",
            config_arg,
            &url,
        ],
    );
    // Without them there is no way in.
    for (options, text) in [
        (quiet(), "Can't get username or password"),
        (
            AuthOptions {
                username: Some("jo".to_owned()),
                password: Some("no".to_owned()),
                ..quiet()
            },
            "Authentication error from server: Password incorrect",
        ),
    ] {
        let closed = context(options, Config::default(), Box::new(NoPrompt));
        let error = open(&parsed, &closed).err().unwrap();
        assert_eq!(error.root().to_string(), format!("E170001: {text}"));
    }
}

#[test]
fn a_signal_ends_the_wait_for_a_silent_server() {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("svn://{}/r", listener.local_addr().unwrap());
    let mut config = Config::default();
    config.set(Category::Servers, "global", "svn-timeout", "1");
    let stalled = context(AuthOptions::default(), config, Box::new(NoPrompt));
    let error = open(&Url::parse(&url).unwrap(), &stalled).err().unwrap();
    assert_eq!(
        error.root().to_string(),
        "E210003: Connection timed out after 1 seconds"
    );
    let context = anonymous();
    let cancel = context.cancel.clone();
    let waiting = std::thread::spawn(move || open(&Url::parse(&url).unwrap(), &context).err());
    std::thread::sleep(std::time::Duration::from_millis(50));
    cancel.set_signal(2);
    let error = waiting.join().unwrap().unwrap();
    assert_eq!(error.root().code(), ErrorCode::CANCELLED);
}
