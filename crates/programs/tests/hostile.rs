//! Servers that lie: what the program says and leaves behind, beside Debian's svn.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};

use sylvan_testutil::{Pair, Run};

/// An `svn://` server that answers all of a checkout as it should, but sends what it is told to.
struct Server {
    port: u16,
    says: Arc<Mutex<Says>>,
}

/// What comes after the report.
#[derive(Clone, Default)]
struct Says {
    edit: Vec<u8>,
    /// Where the connection is dropped instead of an answer.
    drop_at: &'static str,
}

const NO_AUTH: &str = "( success ( ( ) 0: ) ) ";

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let says = Arc::new(Mutex::new(Says::default()));
        let shared = Arc::clone(&says);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let says = shared.lock().expect("nobody panics with it").clone();
                std::thread::spawn(move || serve(stream, port, &says));
            }
        });
        Self { port, says }
    }

    fn url(&self) -> String {
        format!("svn://127.0.0.1:{}", self.port)
    }
}

/// Talks to one client until it, or the script, has enough.
fn serve(mut stream: TcpStream, port: u16, says: &Says) -> Option<()> {
    let mut pending = Vec::new();
    let say = |stream: &mut TcpStream, what: &str, text: &[u8]| {
        if says.drop_at == what {
            return None;
        }
        stream.write_all(text).ok()
    };
    let greeting = "( success ( 2 2 ( ) ( edit-pipeline svndiff1 absent-entries depth \
                    inherited-props log-revprops ) ) ) ";
    say(&mut stream, "greeting", greeting.as_bytes())?;
    next_item(&mut stream, &mut pending)?;
    say(&mut stream, "auth", NO_AUTH.as_bytes())?;
    let root = format!("svn://127.0.0.1:{port}");
    let uuid = "612f8ebc-c883-4be0-9ee0-a4e9ef946e3a";
    let repository = format!("( success ( 36:{uuid} {}:{root} ( ) ) ) ", root.len());
    say(&mut stream, "repository", repository.as_bytes())?;
    loop {
        let item = next_item(&mut stream, &mut pending)?;
        let command = item.split(' ').nth(1).unwrap_or_default();
        let answer = match command {
            "get-latest-rev" => "( success ( 1 ) ) ",
            "check-path" => "( success ( dir ) ) ",
            "stat" => {
                "( success ( ( ( dir 0 false 1 ( 27:2020-01-01T00:00:00.000000Z ) ( 2:jo ) ) ) ) ) "
            }
            "get-iprops" => "( success ( ( ) ) ) ",
            "reparent" => "( success ( ) ) ",
            "update" => "",
            "finish-report" => {
                say(&mut stream, command, NO_AUTH.as_bytes())?;
                stream.write_all(&says.edit).ok()?;
                // A client that has failed says so, and waits until the server gives up.
                let mut answer = [0; 1024];
                if let Ok(count @ 1..) = stream.read(&mut answer)
                    && !says.edit.is_empty()
                {
                    // svnserve fails with the client's failure.
                    let text = String::from_utf8_lossy(&answer[..count]).into_owned();
                    let end = match text.find("( failure ") {
                        Some(at) => format!("( abort-edit ( ) ) {}", &text[at..]),
                        None => "( success ( ) ) ".to_owned(),
                    };
                    let _ = stream.write_all(end.as_bytes());
                    let _ = stream.read(&mut answer);
                }
                return None;
            }
            _ => continue,
        };
        say(
            &mut stream,
            command,
            format!("{NO_AUTH}{answer}").as_bytes(),
        )?;
    }
}

/// Reads one list of the protocol.
fn next_item(stream: &mut TcpStream, pending: &mut Vec<u8>) -> Option<String> {
    loop {
        if let Some(end) = item_end(pending) {
            let item = pending.drain(..end).collect::<Vec<_>>();
            return Some(String::from_utf8_lossy(&item).into_owned());
        }
        let mut buffer = [0; 4096];
        match stream.read(&mut buffer) {
            Ok(count @ 1..) => pending.extend_from_slice(&buffer[..count]),
            _ => return None,
        }
    }
}

fn item_end(bytes: &[u8]) -> Option<usize> {
    let (mut at, mut depth, mut number) = (0, 0_usize, 0_usize);
    while at < bytes.len() {
        let byte = bytes[at];
        at += 1;
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            b'0'..=b'9' => number = number * 10 + usize::from(byte - b'0'),
            b':' => at += number,
            b' ' | b'\n' if depth == 0 => return Some(at),
            _ => {}
        }
        if !byte.is_ascii_digit() {
            number = 0;
        }
    }
    None
}

/// Says in which revision a node was changed last.
fn committed(command: &str, token: &str) -> String {
    format!("( {command} ( 2:{token} 23:svn:entry:committed-rev ( 1:1 ) ) ) ")
}

/// Makes an edit of what is inside the root.
fn inside(nodes: &[u8]) -> Vec<u8> {
    let mut edit = b"( target-rev ( 1 ) ) ( open-root ( ( 0 ) 2:d0 ) ) ".to_vec();
    edit.extend_from_slice(nodes);
    edit.extend_from_slice(committed("change-dir-prop", "d0").as_bytes());
    edit.extend_from_slice(b"( close-dir ( 2:d0 ) ) ( close-edit ( ) ) ");
    edit
}

fn add_file(name: &str, delta: &[u8], md5: &str) -> Vec<u8> {
    let mut nodes = format!(
        "( add-file ( {}:{name} 2:d0 2:c1 ( ) ) ) ( apply-textdelta ( 2:c1 ( ) ) ) \
         ( textdelta-chunk ( 2:c1 {}:",
        name.len(),
        delta.len()
    )
    .into_bytes();
    nodes.extend_from_slice(delta);
    nodes.extend_from_slice(
        format!(
            " ) ) ( textdelta-end ( 2:c1 ) ) {}( close-file ( 2:c1 ( 32:{md5} ) ) ) ",
            committed("change-file-prop", "c1")
        )
        .as_bytes(),
    );
    inside(&nodes)
}

fn add_dir(name: &str) -> Vec<u8> {
    let nodes = format!(
        "( add-dir ( {}:{name} 2:d0 2:d1 ( ) ) ) {}( close-dir ( 2:d1 ) ) ",
        name.len(),
        committed("change-dir-prop", "d1")
    );
    inside(nodes.as_bytes())
}

/// Returns the last error number of a run.
fn code(run: &Run) -> String {
    let codes = run.stderr.split("svn: E").skip(1);
    let last = codes.filter_map(|text| text.get(..6)).last();
    last.unwrap_or_default().to_owned()
}

/// `hello` as a delta against nothing.
const HELLO: &[u8] = b"SVN\0\0\0\x05\x01\x05\x85hello";
const HELLO_MD5: &str = "5d41402abc4b2a76b9719d911017c592";

/// Runs a checkout by both; returns their last error numbers.
fn checkouts(pair: &Pair, server: &Server, says: Says) -> (Run, Run) {
    *server.says.lock().expect("nobody panics with it") = says;
    for folder in [pair.ours(), pair.theirs()] {
        let _ = fs::remove_dir_all(folder.join("wc"));
    }
    let args = ["checkout", "--non-interactive", &server.url(), "wc"];
    (pair.run_ours(&args), pair.run_theirs(&args))
}

#[test]
fn hostile_edits_have_svns_numbers_and_leave_nothing() {
    let pair = Pair::new(crate::SVN);
    let server = Server::start();
    let long = |lens: &[u8]| [b"SVN\0".as_slice(), lens].concat();
    let huge = b"\xff\xff\xff\xff\x7f";
    // Where Subversion takes only the last name of a path, or has another number for one that is
    // no name, ours refuses the path when it reads it.
    let is_ours = ["160005", "210004"];
    let cases: Vec<(&str, &str, Vec<u8>)> = vec![
        ("good", "", add_file("f", HELLO, HELLO_MD5)),
        (
            "wrong checksum",
            "200014",
            add_file("f", HELLO, &"1".repeat(32)),
        ),
        (
            "odd checksum",
            "125012",
            add_file("f", HELLO, &"z".repeat(32)),
        ),
        (
            "cut window",
            "185004",
            add_file("f", &HELLO[..12], HELLO_MD5),
        ),
        ("cut header", "185004", add_file("f", b"SV", HELLO_MD5)),
        ("no svndiff", "185000", add_file("f", b"<html>", HELLO_MD5)),
        (
            "version 9",
            "185000",
            add_file("f", b"SVN\x09\0\0\0\0\0", HELLO_MD5),
        ),
        (
            "huge view",
            "185001",
            add_file(
                "f",
                &long(&[b"\0\0", huge.as_slice(), b"\0\0"].concat()),
                HELLO_MD5,
            ),
        ),
        (
            "huge data",
            "185001",
            add_file(
                "f",
                &long(&[b"\0\0\x05\x01", huge.as_slice()].concat()),
                HELLO_MD5,
            ),
        ),
        (
            "source of nothing",
            "185003",
            add_file("f", &long(b"\0\x05\x05\x01\0\x05\0"), HELLO_MD5),
        ),
        (
            "bad instruction",
            "185003",
            add_file("f", &long(b"\0\0\x05\x01\x05\xc5hello"), HELLO_MD5),
        ),
        ("file ..", "160005", add_file("..", HELLO, HELLO_MD5)),
        ("file ../x", "160005", add_file("../x", HELLO, HELLO_MD5)),
        (
            "file /tmp/x",
            "210004",
            add_file("/tmp/sylvan-evil", HELLO, HELLO_MD5),
        ),
        ("file .svn", "155000", add_file(".svn", HELLO, HELLO_MD5)),
        (
            "file .svn/wc.db",
            "210004",
            add_file(".svn/wc.db", HELLO, HELLO_MD5),
        ),
        ("file a/b", "210004", add_file("a/b", HELLO, HELLO_MD5)),
        ("file empty", "210004", add_file("", HELLO, HELLO_MD5)),
        ("file tab", "160005", add_file("a\tb", HELLO, HELLO_MD5)),
        ("file NUL", "160005", add_file("a\0b", HELLO, HELLO_MD5)),
        ("dir ..", "160005", add_dir("..")),
        ("dir /tmp/x", "210004", add_dir("/tmp/sylvan-evil")),
        ("dir .svn", "155000", add_dir(".svn")),
        ("dir empty", "210004", add_dir("")),
        ("dir NUL", "160005", add_dir("a\0b")),
        ("no command", "210001", inside(b"( rumpelstilzchen ( ) ) ")),
        ("no item", "210004", inside(b") ) ) ")),
        (
            "endless nesting",
            "210004",
            inside("( ".repeat(200_000).as_bytes()),
        ),
        (
            "endless string",
            "210004",
            inside(b"( add-dir ( 99999999999999999999:a "),
        ),
        (
            "unknown token",
            "210004",
            inside(b"( close-file ( 2:c7 ( ) ) ) "),
        ),
        (
            "twice",
            "210004",
            [add_file("f", HELLO, HELLO_MD5)].concat().repeat(2),
        ),
    ];
    for (name, number, edit) in cases {
        let says = Says { edit, drop_at: "" };
        let (ours, theirs) = checkouts(&pair, &server, says);
        assert_eq!(code(&ours), number, "{name}: {}", ours.stderr);
        assert_eq!(ours.code, i32::from(!number.is_empty()), "{name}");
        if !(is_ours.contains(&number) && matches!(code(&theirs).as_str(), "" | "155000")) {
            assert_eq!(
                (code(&theirs).as_str(), theirs.code),
                (number, ours.code),
                "{name}: {}",
                theirs.stderr
            );
        }
        let names = |folder: &Path| {
            let mut names: Vec<_> = fs::read_dir(folder)
                .expect("it is there")
                .map(|entry| entry.expect("readable").file_name())
                .collect();
            names.sort();
            names
        };
        assert_eq!(names(&pair.ours()), ["wc"], "{name}");
        let inside = names(&pair.ours().join("wc"));
        if number.is_empty() {
            assert_eq!(inside, [".svn", "f"], "{name}");
        } else if name != "twice" {
            assert_eq!(inside, [".svn"], "{name}");
        }
        assert!(!Path::new("/tmp/sylvan-evil").exists(), "{name}");
    }
}

#[test]
fn connections_that_end_at_any_stage_have_svns_number() {
    let pair = Pair::new(crate::SVN);
    let server = Server::start();
    for drop_at in [
        "greeting",
        "auth",
        "repository",
        "get-latest-rev",
        "check-path",
        "update",
        "finish-report",
    ] {
        let says = Says {
            edit: Vec::new(),
            drop_at,
        };
        let (ours, theirs) = checkouts(&pair, &server, says);
        assert_eq!(
            (ours.code, code(&ours)),
            (theirs.code, code(&theirs)),
            "{drop_at}"
        );
    }
}
