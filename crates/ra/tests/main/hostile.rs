//! Servers that lie, stall, hang up and flood.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use sylvan_core::{Depth, ErrorCode, RelPath, RelPathBuf, Revnum, Url};
use sylvan_delta::ReportEntry;
use sylvan_ra::{Context, Session, UpdateOptions, open, open_following};

use crate::dump::{Dump, context, context_for, jrandom};

/// A server that answers each request with what a function makes of it.
pub(crate) struct Server {
    port: u16,
    pub(crate) connections: Arc<AtomicUsize>,
}

/// What is done after an answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    Keep,
    Close,
    Stall,
}

impl Server {
    pub(crate) fn start(answer: impl Fn(&str) -> (Vec<u8>, Then) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        let answer = Arc::new(answer);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                count.fetch_add(1, Ordering::Relaxed);
                let answer = Arc::clone(&answer);
                std::thread::spawn(move || serve(stream, &*answer));
            }
        });
        Self { port, connections }
    }

    pub(crate) fn url(&self) -> Url {
        Url::parse(&format!("http://127.0.0.1:{}/r", self.port)).expect("a good URL")
    }
}

fn serve(mut stream: TcpStream, answer: &dyn Fn(&str) -> (Vec<u8>, Then)) {
    let mut pending = Vec::new();
    while let Some(request) = read_request(&mut stream, &mut pending) {
        let (bytes, then) = answer(&request);
        if stream.write_all(&bytes).is_err() || then == Then::Close {
            return;
        }
        if then == Then::Stall {
            std::thread::sleep(Duration::from_secs(30));
            return;
        }
    }
}

/// Reads one request, with its body.
pub(crate) fn read_request(stream: &mut TcpStream, pending: &mut Vec<u8>) -> Option<String> {
    loop {
        let text = String::from_utf8_lossy(pending).into_owned();
        if let Some(end) = text.find("\r\n\r\n") {
            let length = text[..end]
                .lines()
                .find_map(|line| line.strip_prefix("Content-Length: "))
                .and_then(|length| length.parse().ok())
                .unwrap_or(0);
            let whole = end + 4 + length;
            if pending.len() >= whole {
                let request = text[..whole.min(text.len())].to_owned();
                pending.drain(..whole);
                return Some(request);
            }
        }
        let mut buffer = [0; 4096];
        match stream.read(&mut buffer) {
            Ok(count) if count > 0 => pending.extend_from_slice(&buffer[..count]),
            _ => return None,
        }
    }
}

const OPTIONS_HEADERS: &str = "DAV: 1,2\r\n\
    DAV: http://subversion.tigris.org/xmlns/dav/svn/depth\r\n\
    DAV: http://subversion.tigris.org/xmlns/dav/svn/inline-props\r\n\
    SVN-Youngest-Rev: 7\r\nSVN-Repository-UUID: u\r\nSVN-Repository-Root: /r\r\n\
    SVN-Me-Resource: /r/!svn/me\r\nSVN-Rev-Root-Stub: /r/!svn/rvr\r\nSVN-Rev-Stub: /r/!svn/rev\r\n";

fn xml(status: &str, headers: &str, body: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 {status}\r\n{headers}Content-Type: text/xml\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// Answers `OPTIONS` as a good server does.
fn good_options() -> Vec<u8> {
    xml(
        "200 OK",
        OPTIONS_HEADERS,
        "<D:options-response xmlns:D=\"DAV:\"></D:options-response>",
    )
}

/// A server that is good at first and answers everything else with `answer`.
fn after_options(answer: impl Fn(&str) -> (Vec<u8>, Then) + Send + Sync + 'static) -> Server {
    Server::start(move |request| {
        if request.starts_with("OPTIONS") {
            (good_options(), Then::Keep)
        } else {
            answer(request)
        }
    })
}

fn opening_error(answer: &'static str, then: Then) -> String {
    let server = Server::start(move |_| (answer.as_bytes().to_vec(), then));
    let url = server.url();
    let error = open(&url, &context(&[]))
        .err()
        .expect("it cannot be opened");
    let lines = error.to_lines("");
    let first = format!("E170013: Unable to connect to a repository at URL '{url}'\n");
    lines
        .strip_prefix(&first)
        .unwrap_or(&lines)
        .replace(url.as_str(), "URL")
}

#[test]
fn opening_fails_with_svns_words() {
    let cases = [
        (
            "HELLO\r\n\r\n",
            "E120105: Error running context: The server sent an improper HTTP response\n",
        ),
        (
            "",
            "E120108: Error running context: The server unexpectedly closed the connection.\n",
        ),
        (
            "HTTP/1.1 200 OK\r\nDAV: 1\r\nContent-Type: text/xml\r\nContent-Length: 500\r\n\r\n<D:options-response xmlns:D='DAV:'>",
            "E120106: ra_serf: The server sent a truncated HTTP response body.\n",
        ),
        (
            "HTTP/1.1 200 OK\r\nDAV: 1\r\nContent-Type: text/xml\r\nTransfer-Encoding: chunked\r\n\r\n50\r\n<?xml",
            "E120106: ra_serf: The server sent a truncated HTTP response body.\n",
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
            "E175003: The server at 'URL' does not support the HTTP/DAV protocol\n",
        ),
        (
            "HTTP/1.1 500 Oops Me\r\nContent-Length: 5\r\n\r\nhello",
            "E175002: Unexpected server error 500 'Oops Me' on '/r'\n",
        ),
        (
            "HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nhello",
            "E160013: '/r' path not found\n",
        ),
        (
            "HTTP/1.1 403 Forbidden\r\nContent-Length: 5\r\n\r\nhello",
            "E175013: Access to '/r' forbidden\n",
        ),
        (
            "HTTP/1.1 405 No\r\nContent-Length: 5\r\n\r\nhello",
            "E175015: The HTTP method 'OPTIONS' is not allowed on '/r'\n",
        ),
        (
            "HTTP/1.1 302 Moved\r\nContent-Length: 0\r\n\r\n",
            "E170011: Repository moved temporarily to '(null)'\n",
        ),
        (
            "HTTP/1.1 301 Moved\r\nContent-Length: 0\r\n\r\n",
            "E175010: Location header not set on redirect response\n",
        ),
        (
            "HTTP/1.1 304 Not\r\n\r\n",
            "E170011: Repository moved temporarily to '(null)'\n",
        ),
        (
            "HTTP/1.1 401 Auth\r\nWWW-Authenticate: Foo realm=\"x\"\r\nContent-Length: 0\r\n\r\n",
            "E120191: Error running context: The requested authentication type(s) are not supported\n",
        ),
        (
            "HTTP/1.1 401 Auth\r\nContent-Length: 0\r\n\r\n",
            "E120190: Error running context: An error occurred during authentication\n",
        ),
        (
            "HTTP/1.1 200 OK\r\nDAV: 1\r\nContent-Length: 4\r\n\r\n<a/>",
            "E130005: XML Parsing failed: Unexpected root element 'a'\n",
        ),
        (
            "HTTP/1.1 200 OK\r\nDAV: 1\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd",
            "E120104: ra_serf: An error occurred during decompression\n",
        ),
    ];
    for (answer, expected) in cases {
        assert_eq!(opening_error(answer, Then::Close), expected, "{answer}");
    }
}

#[test]
fn a_server_that_asks_for_credentials_for_ever_is_left() {
    let asks = "HTTP/1.1 401 Auth\r\nWWW-Authenticate: Digest realm=\"x\", nonce=\"n\", stale=true\r\nContent-Length: 0\r\n\r\n";
    let server = Server::start(move |_| (asks.as_bytes().to_vec(), Then::Keep));
    let error = open(&server.url(), &context_for(&[], jrandom()))
        .err()
        .unwrap();
    assert!(error.has_code(ErrorCode::AUTHN_FAILED), "{error:?}");
}

#[test]
fn a_server_that_lies_about_knowing_the_password_is_left() {
    for (info, is_good) in [
        ("", true),
        ("Authentication-Info: rspauth=\"0\"\r\n", false),
    ] {
        let server = Server::start(move |request| {
            let answer = if request.contains("\r\nAuthorization: Digest ") {
                xml(
                    "200 OK",
                    &format!("{OPTIONS_HEADERS}{info}"),
                    "<D:options-response xmlns:D=\"DAV:\"/>",
                )
            } else {
                b"HTTP/1.1 401 Auth\r\nWWW-Authenticate: Digest realm=\"x\", nonce=\"n\", \
                  qop=\"auth\"\r\nContent-Length: 0\r\n\r\n"
                    .to_vec()
            };
            (answer, Then::Keep)
        });
        let opened = open(&server.url(), &context_for(&[], jrandom()));
        match opened {
            Ok(_) => assert!(is_good),
            Err(error) => assert!(error.has_code(ErrorCode(120_190)) && !is_good, "{error:?}"),
        }
    }
}

#[test]
fn redirects_that_lead_nowhere_are_left() {
    let moved =
        |to: String| format!("HTTP/1.1 301 Moved\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n");
    let follow = |server: &Server| {
        let mut followed = 0;
        let opened = open_following(&server.url(), &context(&[]), &mut |_| {
            followed += 1;
            Ok(())
        });
        (opened.err().expect("it leads nowhere"), followed)
    };
    // In a circle, for ever, and to what is no repository.
    let server = Server::start(move |request| {
        let to = if request.starts_with("OPTIONS /r ") {
            "/s"
        } else {
            "/r"
        };
        (moved(to.to_owned()).into_bytes(), Then::Keep)
    });
    let (error, followed) = follow(&server);
    assert_eq!(
        (error.code(), followed),
        (ErrorCode::CLIENT_CYCLE_DETECTED, 2)
    );
    let server = Server::start(move |request| {
        let path = request.split(' ').nth(1).unwrap_or_default();
        (moved(format!("{path}x")).into_bytes(), Then::Keep)
    });
    let (error, followed) = follow(&server);
    assert_eq!(
        (error.code(), followed),
        (ErrorCode::RA_SESSION_URL_MISMATCH, 3)
    );
    for (to, code) in [
        ("gopher://127.0.0.1/r", ErrorCode::RA_ILLEGAL_URL),
        ("nonsense", ErrorCode::RA_DAV_RESPONSE_HEADER_BADNESS),
    ] {
        let server = Server::start(move |_| (moved(to.to_owned()).into_bytes(), Then::Keep));
        let (error, _) = follow(&server);
        assert!(error.has_code(code), "{to}: {error:?}");
    }
}

#[test]
fn a_head_without_end_is_cut_off() {
    let server = Server::start(|_| {
        let mut head = b"HTTP/1.1 200 OK\r\nX: ".to_vec();
        head.resize(1 << 20, b'x');
        (head, Then::Close)
    });
    let error = open(&server.url(), &context(&[])).err().unwrap();
    assert!(error.has_code(ErrorCode(120_105)), "{error:?}");
}

#[test]
fn a_stalling_server_is_given_up() {
    for answer in [
        "",
        "HTTP/1.1 200 OK\r\nDAV: 1\r\nContent-Length: 50\r\n\r\n<D:",
    ] {
        let server = Server::start(move |_| (answer.as_bytes().to_vec(), Then::Stall));
        let begun = Instant::now();
        let context = context(&[("http-timeout", "1")]);
        let error = open(&server.url(), &context).err().unwrap();
        assert!(error.has_code(ErrorCode::RA_DAV_CONN_TIMEOUT), "{error:?}");
        assert!(begun.elapsed() < Duration::from_secs(10));
    }
}

#[test]
fn waits_end_when_cancelled() {
    let server = Server::start(|_| (Vec::new(), Then::Stall));
    let context: Context = context(&[]);
    let cancel = context.cancel.clone();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        cancel.set();
    });
    let begun = Instant::now();
    let error = open(&server.url(), &context).err().unwrap();
    assert!(error.has_code(ErrorCode::CANCELLED), "{error:?}");
    assert!(begun.elapsed() < Duration::from_secs(10));
}

fn update(session: &mut dyn Session) -> (sylvan_core::Result<()>, Dump) {
    let mut dump = Dump::default();
    let options = UpdateOptions {
        rev: None,
        target: String::new(),
        depth: Some(Depth::Infinity),
        send_copyfrom_args: false,
        ignore_ancestry: false,
    };
    let report = [ReportEntry::SetPath {
        path: RelPathBuf::root(),
        rev: Revnum::ZERO,
        depth: Depth::Infinity,
        start_empty: true,
        lock_token: None,
    }];
    let result = session.update(&options, &report, &mut dump);
    (result, dump)
}

fn skelta(files: usize) -> String {
    let mut body = String::from(
        "<S:update-report xmlns:S=\"svn:\" xmlns:D=\"DAV:\" inline-props=\"true\">\
         <S:target-revision rev=\"7\"/><S:open-directory rev=\"0\">",
    );
    for number in 0..files {
        body.push_str(&format!(
            "<S:add-file name=\"{number}\"><D:checked-in><D:href>/r/!svn/rvr/7/{number}</D:href>\
             </D:checked-in></S:add-file>"
        ));
    }
    body + "</S:open-directory></S:update-report>"
}

fn content(text: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{text}",
        text.len()
    )
    .into_bytes()
}

#[test]
fn connections_that_close_between_answers_are_opened_again() {
    let served = Arc::new(Mutex::new(0_usize));
    let server = after_options(move |request| {
        if request.starts_with("REPORT") {
            return (xml("200 OK", "", &skelta(500)), Then::Keep);
        }
        let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
        let mut served = served.lock().unwrap();
        *served += 1;
        // Every fifth answer is the last of its connection, said or unsaid.
        let then = if served.is_multiple_of(5) {
            Then::Close
        } else {
            Then::Keep
        };
        (content(&path), then)
    });
    let mut session = open(&server.url(), &context(&[])).unwrap();
    let (result, dump) = update(&mut *session);
    result.unwrap_or_else(|error| panic!("{error:?}"));
    assert_eq!(dump.contents.len(), 500);
    assert_eq!(dump.contents["499"], b"/r/!svn/rvr/7/499");
    assert!(dump.ended && server.connections.load(Ordering::Relaxed) > 50);
}

#[test]
fn a_failed_fetch_aborts_the_edit() {
    let truncated = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc".to_vec();
    let wrong_base = b"HTTP/1.1 200 OK\r\nContent-Type: application/vnd.svn-svndiff\r\n\
        X-SVN-VR-Base: /r/!svn/rvr/1/x\r\nContent-Length: 0\r\n\r\n"
        .to_vec();
    let not_found = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec();
    for (answer, code) in [
        (truncated, ErrorCode(120_106)),
        (wrong_base, ErrorCode::RA_DAV_REQUEST_FAILED),
        (not_found, ErrorCode::FS_NOT_FOUND),
    ] {
        let server = after_options(move |request| {
            if request.starts_with("REPORT") {
                (xml("200 OK", "", &skelta(300)), Then::Keep)
            } else if request.contains("/7/200 ") {
                (answer.clone(), Then::Close)
            } else {
                (content("fine"), Then::Keep)
            }
        });
        let mut session = open(&server.url(), &context(&[])).unwrap();
        let (result, dump) = update(&mut *session);
        assert_eq!(result.unwrap_err().code(), code);
        assert!(dump.aborted && !dump.ended);
    }
}

#[test]
fn a_fetch_that_stalls_does_not_outlive_a_failure() {
    let server = after_options(|request| {
        if request.starts_with("REPORT") {
            (xml("200 OK", "", &skelta(200)), Then::Keep)
        } else if request.contains("/7/3 ") {
            (
                b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc".to_vec(),
                Then::Stall,
            )
        } else if request.contains("/7/150 ") {
            (
                b"HTTP/1.1 500 Bad\r\nContent-Length: 0\r\n\r\n".to_vec(),
                Then::Keep,
            )
        } else {
            (content("fine"), Then::Keep)
        }
    });
    let begun = Instant::now();
    let mut session = open(&server.url(), &context(&[])).unwrap();
    let (result, dump) = update(&mut *session);
    assert_eq!(result.unwrap_err().code(), ErrorCode::RA_DAV_REQUEST_FAILED);
    assert!(dump.aborted);
    assert!(begun.elapsed() < Duration::from_secs(15));
}

/// A report with contents inside.
fn bulk(nodes: &str) -> String {
    format!(
        "<S:update-report xmlns:S=\"svn:\" xmlns:D=\"DAV:\" send-all=\"true\">\
         <S:target-revision rev=\"7\"/><S:open-directory rev=\"0\">{nodes}</S:open-directory></S:update-report>"
    )
}

#[test]
fn hostile_reports_write_nothing() {
    const PATH: u32 = 160_005;
    const NO_ATTRIBUTE: u32 = 130_000;
    const XML: u32 = 130_003;
    const MALFORMED: u32 = 175_009;
    const NO_NUMBER: u32 = 125_006;
    let bomb = "<!DOCTYPE a [<!ENTITY a \"aaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]><a>&b;</a>";
    let delta = |text: &str| {
        bulk(&format!(
            "<S:add-file name=\"f\"><S:txdelta>{text}</S:txdelta></S:add-file>"
        ))
    };
    let long = "x".repeat(3 << 20);
    for (body, code) in [
        (bulk("<S:add-file name=\"../../etc/passwd\"/>"), PATH),
        (bulk("<S:add-file name=\"/etc/passwd\"/>"), PATH),
        (bulk("<S:add-file name=\"a/b\"/>"), PATH),
        (bulk("<S:add-file name=\"\"/>"), PATH),
        (bulk("<S:add-file/>"), NO_ATTRIBUTE),
        (bulk("<S:add-file name=\"a&#1;b\"/>"), PATH),
        (bulk("<S:add-file name=\"a&#0;b\"/>"), XML),
        (bulk("<S:add-file name=\"a&#10;b\"/>"), PATH),
        (bulk("<S:add-directory name=\"..\"/>"), PATH),
        (bulk("<S:add-directory name=\".\"/>"), PATH),
        (bulk("<S:delete-entry name=\"..\"/>"), PATH),
        (bulk("<S:open-file name=\"x/../../y\" rev=\"1\"/>"), PATH),
        (bulk("<S:absent-directory name=\"../x\"/>"), PATH),
        (
            bulk("<S:add-directory name=\"a\" copyfrom-path=\"../..\" copyfrom-rev=\"1\"/>"),
            PATH,
        ),
        (
            bulk("<S:open-directory name=\"a\" rev=\"99999999999999999999\"/>"),
            NO_NUMBER,
        ),
        (skelta(3).replace("rev=\"7\"", "rev=\"seven\""), NO_NUMBER),
        (bulk(&"<S:add-directory name=\"a\">".repeat(10_000)), XML),
        // Base64 that is none, and deltas that are cut, none, of version 9 and of absurd length.
        (delta("!!!"), MALFORMED),
        (delta("U1ZO"), 185_004),
        (delta("PGh0bWw+"), 185_000),
        (delta("U1ZOCQAAAAA="), 185_000),
        (delta("U1ZOAAAA/////38AAA=="), 185_001),
        (bomb.to_owned(), XML),
        (skelta(3).replace("</S:update-report>", ""), MALFORMED),
        (format!("<S:update-report {long}"), XML),
        (bulk(&format!("<S:add-file name=\"{long}\"/>")), XML),
        (bulk(&format!("<S:set-prop name=\"p\">{long}")), XML),
        (String::new(), MALFORMED),
        ("not XML at all".to_owned(), XML),
    ] {
        let answer = xml("200 OK", "", &body);
        let server = after_options(move |_| (answer.clone(), Then::Keep));
        let mut session = open(&server.url(), &context(&[])).unwrap();
        let (result, dump) = update(&mut *session);
        let error = result.expect_err(&body[..body.len().min(300)]);
        let code = ErrorCode(i32::try_from(code).unwrap());
        assert!(error.has_code(code), "{body:.300}: {}", error.to_lines(""));
        assert!(dump.aborted && !dump.ended);
    }
}

#[test]
fn one_request_is_one_round_trip() {
    let server = after_options(|request| {
        assert!(
            request.starts_with("PROPFIND /r/!svn/rvr/7/a%20b HTTP/1.1\r\n"),
            "{request}"
        );
        assert!(request.contains("\r\nDepth: 0\r\n"));
        let body = "<D:multistatus xmlns:D=\"DAV:\"><D:response><D:href>/r/x</D:href><D:propstat>\
            <D:prop><D:resourcetype><D:collection/></D:resourcetype></D:prop>\
            <D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response></D:multistatus>";
        (xml("207 Multi-Status", "", body), Then::Keep)
    });
    let mut session = open(&server.url(), &context(&[])).unwrap();
    let path = RelPath::new("a b").unwrap();
    for _ in 0..3 {
        let kind = session.check_path(path, Revnum::new(7)).unwrap();
        assert_eq!(kind, sylvan_core::NodeKind::Dir);
    }
    assert_eq!(server.connections.load(Ordering::Relaxed), 1);
}
