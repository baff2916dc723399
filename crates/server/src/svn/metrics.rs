//! What a server has done, for those that watch it: on a port of its own, over HTTP, in the text
//! format of Prometheus at `/metrics`; `/health` says that the server is there.

use std::fmt::Write as _;
use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sylvan_core::{Error, Result};

use super::Serving;

/// How long who asks may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest question.
const LONGEST: usize = 8 << 10;

/// A number that grows.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Counts of all clients together.
#[derive(Debug, Default)]
pub struct Metrics {
    connections: Count,
    ended: Count,
    /// Clients that were let in.
    pub(crate) sessions: Count,
    pub(crate) commands: Count,
    /// Commands that failed.
    pub(crate) failures: Count,
    /// Connections that ended badly.
    pub(crate) broken: Count,
    pub(crate) commits: Count,
    pub(crate) received: Count,
    pub(crate) sent: Count,
}

/// A connection, as long as it is there.
#[derive(Debug)]
pub(crate) struct Counted(Arc<Metrics>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.ended.add(1);
    }
}

impl Metrics {
    /// Counts a connection.
    pub(crate) fn connect(self: &Arc<Self>) -> Counted {
        self.connections.add(1);
        Counted(Arc::clone(self))
    }

    fn shown(&self, cached: usize) -> String {
        let ended = self.ended.get();
        let connections = self.connections.get();
        let mut text = String::new();
        let mut show = |name: &str, kind: &str, help: &str, value: u64| {
            let _ = write!(
                text,
                "# HELP svnserve_{name} {help}\n# TYPE svnserve_{name} {kind}\nsvnserve_{name} {value}\n"
            );
        };
        let open = connections.saturating_sub(ended);
        show("connections", "gauge", "Connections that are open", open);
        let cached = u64::try_from(cached).unwrap_or(u64::MAX);
        show(
            "cache_bytes",
            "gauge",
            "Bytes of repositories that are kept",
            cached,
        );
        for (name, help, count) in [
            ("connections_total", "Connections", &self.connections),
            ("sessions_total", "Clients that were let in", &self.sessions),
            ("commands_total", "Commands", &self.commands),
            ("failures_total", "Commands that failed", &self.failures),
            ("broken_total", "Connections that ended badly", &self.broken),
            ("commits_total", "Revisions made", &self.commits),
            ("received_bytes_total", "Bytes from clients", &self.received),
            ("sent_bytes_total", "Bytes to clients", &self.sent),
        ] {
            show(name, "counter", help, count.get());
        }
        text
    }
}

/// Answers all that ask, one after the other, on a thread of its own.
///
/// # Errors
/// If the thread cannot be started.
pub fn serve_metrics(listener: TcpListener, serving: &Arc<Serving>) -> Result<()> {
    let serving = Arc::clone(serving);
    let thread = std::thread::Builder::new().name("metrics".to_owned());
    let answer_all = move || {
        while !serving.cancel.is_set() {
            match listener.accept() {
                // Who does not listen to the answer has none.
                Ok((stream, _)) => drop(answer(stream, &serving)),
                Err(_) => std::thread::sleep(Duration::from_millis(100)),
            }
        }
    };
    thread
        .spawn(answer_all)
        .map(drop)
        .map_err(|error| Error::io(&error, "Can't create thread"))
}

fn answer(mut stream: TcpStream, serving: &Serving) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let asked = read_path(&mut stream)?;
    let (status, text) = match asked.as_deref() {
        Some("/metrics") => ("200 OK", serving.metrics.shown(serving.cache.weight())),
        Some("/health") => ("200 OK", "ok\n".to_owned()),
        Some(_) => ("404 Not Found", "only /metrics and /health\n".to_owned()),
        None => ("400 Bad Request", String::new()),
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{text}",
        text.len()
    )
}

/// Reads a request, and returns its path.
fn read_path(stream: &mut TcpStream) -> io::Result<Option<String>> {
    let mut said = Vec::new();
    let mut piece = [0; 1024];
    while !said.windows(4).any(|four| four == b"\r\n\r\n") && said.len() < LONGEST {
        match stream.read(&mut piece)? {
            0 => break,
            count => said.extend_from_slice(&piece[..count]),
        }
    }
    let text = String::from_utf8_lossy(&said);
    let mut words = text.lines().next().unwrap_or_default().split(' ');
    let (method, path) = (words.next(), words.next());
    Ok(path.filter(|_| method == Some("GET")).map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn watchers_are_told() {
        let dir = tempfile::tempdir().unwrap();
        let serving = crate::svn::fuzz::serving(dir.path());
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        serve_metrics(listener, &serving).unwrap();
        crate::svn::fuzz::serve(&serving, b"nonsense ", 3);
        let ask = |question: &str| {
            let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
            stream.write_all(question.as_bytes()).unwrap();
            let mut heard = String::new();
            stream.read_to_string(&mut heard).unwrap();
            heard
        };
        let heard = ask("GET /metrics HTTP/1.1\r\n\r\n");
        for line in [
            "svnserve_connections 0",
            "svnserve_connections_total 1",
            "svnserve_broken_total 1",
            "svnserve_received_bytes_total 9",
        ] {
            assert!(heard.lines().any(|shown| shown == line), "{line}: {heard}");
        }
        assert!(ask("GET /health HTTP/1.0\r\n\r\n").ends_with("\r\n\r\nok\n"));
        assert!(ask("GET / HTTP/1.0\r\n\r\n").starts_with("HTTP/1.1 404 "));
        assert!(ask("POST /metrics HTTP/1.0\r\n\r\n").starts_with("HTTP/1.1 400 "));
    }
}
