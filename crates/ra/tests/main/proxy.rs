//! Proxies: plain requests and tunnels, with and without passwords.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use sylvan_core::{ErrorCode, Md5, Url};
use sylvan_ra::open;

use crate::dump::context;
use crate::hostile::{Server, Then, read_request};

/// How a proxy asks who one is.
#[derive(Clone, Copy)]
enum Scheme {
    Basic,
    Digest,
}

impl Scheme {
    fn refusal(self) -> String {
        let challenge = match self {
            Self::Basic => "Basic realm=\"p\"",
            Self::Digest => "Digest realm=\"p\", nonce=\"n\", qop=\"auth\", algorithm=MD5",
        };
        format!("HTTP/1.1 407 Who\r\nProxy-Authenticate: {challenge}\r\nContent-Length: 0\r\n\r\n")
    }

    /// Tells whether a request comes from `jo` with the password `pw`.
    fn admits(self, request: &str) -> bool {
        let Some(header) = request
            .lines()
            .find_map(|line| line.strip_prefix("Proxy-Authorization: "))
        else {
            return false;
        };
        if let Self::Basic = self {
            return header == "Basic am86cHc=";
        }
        let field = |name: &str| {
            let after = header.split(&format!(" {name}=")).nth(1).expect(name);
            let value = after.split(',').next().expect("a value");
            value.trim_matches('"').to_owned()
        };
        let mut words = request.split(' ');
        let (method, target) = (words.next().unwrap(), words.next().unwrap());
        assert_eq!(field("uri"), target);
        let md5 = |text: String| Md5::of(text.as_bytes()).to_string();
        let (ha1, ha2) = (md5("jo:p:pw".into()), md5(format!("{method}:{target}")));
        let (count, cnonce) = (field("nc"), field("cnonce"));
        field("response") == md5(format!("{ha1}:n:{count}:{cnonce}:auth:{ha2}"))
    }
}

/// A proxy that tunnels, for those who know `jo:pw`; it writes down what it was asked.
fn tunneling_proxy(scheme: Scheme) -> (u16, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&asked);
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            let log = Arc::clone(&log);
            std::thread::spawn(move || {
                let mut pending = Vec::new();
                while let Some(request) = read_request(&mut client, &mut pending) {
                    let first = request.lines().next().unwrap_or_default().to_owned();
                    log.lock().unwrap().push(first.clone());
                    if !scheme.admits(&request) {
                        client.write_all(scheme.refusal().as_bytes()).unwrap();
                        continue;
                    }
                    let target = first.split(' ').nth(1).unwrap_or_default();
                    match TcpStream::connect(target) {
                        Ok(server) => {
                            client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
                            join(client, server);
                        }
                        Err(_) => {
                            let _ =
                                client.write_all(b"HTTP/1.1 502 No\r\nContent-Length: 0\r\n\r\n");
                        }
                    }
                    return;
                }
            });
        }
    });
    (port, asked)
}

fn join(a: TcpStream, b: TcpStream) {
    let pump = |mut from: TcpStream, mut to: TcpStream| {
        let mut buffer = [0; 4096];
        while let Ok(count) = from.read(&mut buffer) {
            if count == 0 || to.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
    };
    let (a2, b2) = (a.try_clone().unwrap(), b.try_clone().unwrap());
    std::thread::spawn(move || pump(a, b));
    pump(b2, a2);
}

fn proxied(port: u16, password: &str) -> sylvan_ra::Context {
    context(&[
        ("http-proxy-host", "127.0.0.1"),
        ("http-proxy-port", &port.to_string()),
        ("http-proxy-username", "jo"),
        ("http-proxy-password", password),
    ])
}

#[test]
fn plain_requests_name_the_whole_url() {
    for scheme in [Scheme::Basic, Scheme::Digest] {
        let server =
            Server::start(move |request| {
                assert!(request.starts_with(
                    "OPTIONS http://example.org/r/x HTTP/1.1\r\nHost: example.org\r\n"
                ));
                let answer = if scheme.admits(request) {
                    "HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n".to_owned()
                } else {
                    scheme.refusal()
                };
                (answer.into_bytes(), Then::Keep)
            });
        let port = server
            .url()
            .authority()
            .rsplit(':')
            .next()
            .unwrap()
            .parse()
            .unwrap();
        let url = Url::parse("http://example.org/r/x").unwrap();
        let error = open(&url, &proxied(port, "pw")).err().unwrap();
        assert!(error.has_code(ErrorCode::RA_DAV_FORBIDDEN), "{error:?}");
        let error = open(&url, &proxied(port, "wrong")).err().unwrap();
        assert!(
            error
                .to_lines("")
                .ends_with("E215004: Proxy authentication failed\n"),
            "{error:?}"
        );
    }
}

#[test]
fn https_goes_through_a_tunnel() {
    for scheme in [Scheme::Basic, Scheme::Digest] {
        let (port, asked) = tunneling_proxy(scheme);
        // Nothing listens there: what matters is how it is asked for.
        let url = Url::parse("https://127.0.0.1:1/r").unwrap();
        let error = open(&url, &proxied(port, "pw")).err().unwrap();
        assert!(error.has_code(ErrorCode(120_194)), "{error:?}");
        let asked = asked.lock().unwrap().clone();
        assert_eq!(asked, ["CONNECT 127.0.0.1:1 HTTP/1.1"; 2]);
        let error = open(&url, &proxied(port, "wrong")).err().unwrap();
        assert!(error.has_code(ErrorCode::AUTHN_FAILED), "{error:?}");
    }
}

#[test]
fn a_proxy_that_is_not_there_is_named() {
    let context = context(&[("http-proxy-host", "no-such-proxy.invalid")]);
    let url = Url::parse("http://example.org/r").unwrap();
    let error = open(&url, &context).err().unwrap();
    assert!(
        error
            .to_lines("")
            .contains("Could not resolve proxy server 'no-such-proxy.invalid': "),
        "{error:?}"
    );
}
