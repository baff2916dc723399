//! One connection to a server or proxy.

use std::io::{self, BufRead, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, connect, socket_with, sockopt};
use sylvan_core::{Error, ErrorCode, Result};
use sylvan_io::{Cancel, Progress};

use super::failure::{self, BAD_RESPONSE, CLOSED, of_connection, of_io};
use super::wire::{Framing, Head, Step};

/// How long a wait lasts before the cancellation flag is looked at again. A signal ends it at once.
const POLL: Duration = Duration::from_millis(250);

/// Bytes read at once.
const BUFFER: usize = 64 << 10;

/// Interim responses (1xx) before a final one that are put up with.
const MOST_INTERIM: usize = 32;

/// What a connection obeys while it waits.
#[derive(Clone)]
pub(super) struct Patience {
    pub(super) cancel: Cancel,
    pub(super) progress: Progress,
    pub(super) timeout: Option<Duration>,
    /// Set when nobody needs the answer any more.
    pub(super) stop: Option<Arc<AtomicBool>>,
}

impl Patience {
    /// Called when a wait since `since` has brought nothing.
    fn check(&self, since: Instant) -> Result<()> {
        self.cancel.check()?;
        let stopped = |stop: &Arc<AtomicBool>| stop.load(Ordering::Relaxed);
        if self.stop.as_ref().is_some_and(stopped) {
            return Err(of_connection(CLOSED));
        }
        match self.timeout {
            Some(timeout) if since.elapsed() >= timeout => Err(failure::timeout()),
            _ => Ok(()),
        }
    }

    /// Does `attempt` until it does not ask to wait any more.
    fn wait<T>(&self, mut attempt: impl FnMut() -> io::Result<T>) -> Result<T> {
        self.cancel.check()?;
        let mut since = None;
        loop {
            match attempt() {
                Ok(value) => return Ok(value),
                Err(error) if is_wait(&error) => {
                    self.check(*since.get_or_insert_with(Instant::now))?;
                }
                Err(error) => return Err(of_io(error)),
            }
        }
    }
}

fn is_wait(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}

enum Stream {
    Plain(TcpStream),
    Tls(Box<rustls::StreamOwned<rustls::ClientConnection, TcpStream>>),
    /// Between plain and TLS.
    Gone,
}

impl Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(buffer),
            Self::Tls(stream) => match stream.read(buffer) {
                // A server that hangs up without saying so in TLS; lengths tell whether all came.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
                result => result,
            },
            Self::Gone => Ok(0),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.write(bytes),
            Self::Tls(stream) => stream.write(bytes),
            Self::Gone => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Tls(stream) => stream.flush(),
            Self::Plain(_) | Self::Gone => Ok(()),
        }
    }
}

/// An open connection, and how far its present response was read.
pub(super) struct Connection {
    stream: Stream,
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    framing: Framing,
    keep_alive: bool,
    patience: Patience,
    /// How long the other side took to accept the connection: a round trip.
    pub(super) latency: Duration,
}

impl Connection {
    /// Connects to a host.
    pub(super) fn open(host: &str, port: u16, patience: Patience) -> Result<Self> {
        let addresses = resolve(host, port)?;
        let begun = Instant::now();
        let stream = connect_any(&addresses, &patience)?;
        let latency = begun.elapsed();
        let setting = |result: io::Result<()>| result.map_err(of_io);
        setting(stream.set_nodelay(true))?;
        setting(stream.set_read_timeout(Some(POLL)))?;
        setting(stream.set_write_timeout(Some(POLL)))?;
        Ok(Self {
            stream: Stream::Plain(stream),
            buffer: vec![0; BUFFER].into_boxed_slice(),
            start: 0,
            end: 0,
            framing: Framing::Done,
            keep_alive: true,
            patience,
            latency,
        })
    }

    /// Has waits end when `stop` is set.
    pub(super) fn stop_on(&mut self, stop: Option<Arc<AtomicBool>>) {
        self.patience.stop = stop;
    }

    /// Begins TLS.
    pub(super) fn start_tls(
        &mut self,
        config: Arc<rustls::ClientConfig>,
        host: &str,
    ) -> Result<()> {
        let ssl_error = || of_connection(failure::SSL);
        let name =
            rustls::pki_types::ServerName::try_from(host.to_owned()).map_err(|_| ssl_error())?;
        let mut tls = rustls::ClientConnection::new(config, name).map_err(|_| ssl_error())?;
        let Stream::Plain(mut socket) = std::mem::replace(&mut self.stream, Stream::Gone) else {
            return Err(ssl_error());
        };
        while tls.is_handshaking() {
            let result = self.patience.wait(|| tls.complete_io(&mut socket));
            match result {
                Ok((0, 0)) => return Err(ssl_error()),
                Ok(_) => {}
                Err(error)
                    if error.code() == ErrorCode::CANCELLED
                        || error.code() == ErrorCode::RA_DAV_CONN_TIMEOUT =>
                {
                    return Err(error);
                }
                Err(_) => return Err(ssl_error()),
            }
        }
        self.stream = Stream::Tls(Box::new(rustls::StreamOwned::new(tls, socket)));
        Ok(())
    }

    /// Sends bytes.
    pub(super) fn send(&mut self, mut bytes: &[u8]) -> Result<()> {
        let Self {
            stream, patience, ..
        } = self;
        while !bytes.is_empty() {
            let count = patience.wait(|| stream.write(bytes))?;
            if count == 0 {
                return Err(of_connection(CLOSED));
            }
            bytes = &bytes[count..];
        }
        patience.wait(|| stream.flush())
    }

    /// Reads the head of the next response; its body follows.
    pub(super) fn read_head(&mut self, method: &str) -> Result<Head> {
        for _ in 0..MOST_INTERIM {
            let head = self.read_any_head()?;
            if matches!(head.status, 100..=199) {
                continue;
            }
            self.framing = Framing::of(&head, method)?;
            self.keep_alive = head.keep_alive && self.framing != Framing::UntilClose;
            return Ok(head);
        }
        Err(of_connection(BAD_RESPONSE))
    }

    fn read_any_head(&mut self) -> Result<Head> {
        loop {
            if let Some((head, length)) = Head::parse(&self.buffer[self.start..self.end])? {
                self.start += length;
                return Ok(head);
            }
            let had_some = self.start < self.end;
            if self.start == 0 && self.end == self.buffer.len() {
                return Err(of_connection(BAD_RESPONSE));
            }
            if self.fill()? == 0 {
                // Bytes that are no head yet, or nothing at all.
                let code = if had_some { BAD_RESPONSE } else { CLOSED };
                return Err(of_connection(code));
            }
        }
    }

    /// Reads more bytes behind those at hand; 0 at the end of the stream.
    fn fill(&mut self) -> Result<usize> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        let Self {
            stream,
            patience,
            buffer,
            end,
            ..
        } = self;
        let count = patience.wait(|| stream.read(&mut buffer[*end..]))?;
        patience.progress.add_received(count as u64);
        self.end += count;
        Ok(count)
    }

    /// Returns the next piece of the present body; empty at its end.
    fn piece(&mut self) -> Result<&[u8]> {
        loop {
            match self.framing.step(&self.buffer[self.start..self.end])? {
                Step::Content(len) => return Ok(&self.buffer[self.start..self.start + len]),
                Step::Skip(len) => self.start += len,
                Step::End => return Ok(&[]),
                Step::More => {
                    if self.fill()? == 0 {
                        self.framing.end_of_stream()?;
                        return Ok(&[]);
                    }
                }
            }
        }
    }

    fn consume(&mut self, count: usize) {
        self.start += count;
        self.framing.consume(count);
    }

    /// Returns the present body, decompressed if `head` says that it must be.
    pub(super) fn body(&mut self, head: &Head) -> Body<'_> {
        let raw = RawBody(self);
        if head.is_gzip() {
            Body::Gzip(Box::new(io::BufReader::with_capacity(
                BUFFER,
                flate2::bufread::GzDecoder::new(raw),
            )))
        } else {
            Body::Plain(raw)
        }
    }

    /// Reads the rest of the present body if it is short; tells whether the connection can be used
    /// for another request.
    pub(super) fn finish(&mut self) -> bool {
        const MOST: usize = 1 << 20;
        let mut read = 0;
        while self.keep_alive && read < MOST {
            match self.piece() {
                Ok([]) => return true,
                Ok(piece) => {
                    let len = piece.len();
                    read += len;
                    self.consume(len);
                }
                Err(_) => return false,
            }
        }
        false
    }

    /// Tells whether the present response was read to its end and another may follow.
    pub(super) fn is_reusable(&self) -> bool {
        self.keep_alive && self.framing == Framing::Done
    }
}

/// A body as it came.
pub(super) struct RawBody<'c>(&'c mut Connection);

impl Read for RawBody<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let piece = self.fill_buf()?;
        let len = piece.len().min(out.len());
        out[..len].copy_from_slice(&piece[..len]);
        self.consume(len);
        Ok(len)
    }
}

impl BufRead for RawBody<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.0.piece().map_err(failure::into_io)
    }

    fn consume(&mut self, count: usize) {
        self.0.consume(count);
    }
}

/// A body with its compression undone.
pub(super) enum Body<'c> {
    Plain(RawBody<'c>),
    Gzip(Box<io::BufReader<flate2::bufread::GzDecoder<RawBody<'c>>>>),
}

impl Body<'_> {
    /// Gives all pieces to `take`.
    pub(super) fn each(&mut self, take: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        loop {
            let piece = match self {
                Self::Plain(raw) => raw.0.piece()?,
                Self::Gzip(reader) => reader.fill_buf().map_err(of_gzip)?,
            };
            if piece.is_empty() {
                return Ok(());
            }
            take(piece)?;
            let len = piece.len();
            match self {
                Self::Plain(raw) => raw.0.consume(len),
                Self::Gzip(reader) => reader.consume(len),
            }
        }
    }
}

fn of_gzip(error: io::Error) -> Error {
    match error.downcast::<Error>() {
        Ok(error) => error,
        Err(_) => of_connection(failure::DECOMPRESSION),
    }
}

fn resolve(host: &str, port: u16) -> Result<Vec<SocketAddr>> {
    let literal = host.trim_start_matches('[').trim_end_matches(']');
    if let Ok(address) = literal.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    match (host, port).to_socket_addrs() {
        Ok(addresses) => Ok(addresses.collect()),
        Err(error) => Err(lookup_error(&error)),
    }
}

/// Gives a failed look-up APR's number, `670000 - EAI_…`.
fn lookup_error(error: &io::Error) -> Error {
    let text = error.to_string();
    let text = text.rsplit(": ").next().unwrap_or_default();
    let code = match text {
        "Temporary failure in name resolution" => 670_003,
        "Non-recoverable failure in name resolution" => 670_004,
        "No address associated with hostname" => 670_005,
        _ => 670_002,
    };
    Error::new(ErrorCode(code), text)
}

/// Connects to the first address that answers.
fn connect_any(addresses: &[SocketAddr], patience: &Patience) -> Result<TcpStream> {
    let mut failed = None;
    for address in addresses {
        match connect_one(address, patience) {
            Ok(stream) => return Ok(stream),
            Err(error) if error.code() == ErrorCode::CANCELLED => return Err(error),
            Err(error) => failed = Some(error),
        }
    }
    Err(failed.unwrap_or_else(|| of_connection(CLOSED)))
}

fn connect_one(address: &SocketAddr, patience: &Patience) -> Result<TcpStream> {
    let os = |errno: Errno| of_io(errno.into());
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(family, SocketType::STREAM, flags, None).map_err(os)?;
    match connect(&socket, address) {
        Ok(()) => {}
        Err(Errno::INPROGRESS | Errno::INTR) => {
            patience.wait(|| {
                let mut wanted = [PollFd::new(&socket, PollFlags::OUT)];
                let timeout = Timespec::try_from(POLL).map_err(|_| io::ErrorKind::InvalidInput)?;
                match poll(&mut wanted, Some(&timeout)) {
                    Ok(0) => Err(io::ErrorKind::WouldBlock.into()),
                    Ok(_) => Ok(()),
                    Err(errno) => Err(errno.into()),
                }
            })?;
            sockopt::socket_error(&socket).map_err(os)?.map_err(os)?;
        }
        Err(errno) => return Err(os(errno)),
    }
    let stream = TcpStream::from(socket);
    stream.set_nonblocking(false).map_err(of_io)?;
    Ok(stream)
}
