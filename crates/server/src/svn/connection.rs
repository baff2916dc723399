//! A connection: items in and out, within limits.
//!
//! Once something is wrong with the connection itself, or with what came over it, it is broken:
//! every step fails, and nothing more is sent. Other errors are for the client to know.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use sylvan_core::{Error, ErrorCode, Result};
use sylvan_io::Cancel;
use sylvan_proto::svn::item::{Item, Parser, Writer};
use sylvan_proto::svn::{ProtocolError, Response, answer, message};

use super::pool::Turn;
use super::transport::{Direction, Transport};
use super::{Metrics, Serving};

/// The least and the most that is read at once.
const MIN_READ: usize = 8 << 10;
const MAX_READ: usize = 128 << 10;
/// So much is sent at once.
const BATCH: usize = 64 << 10;
/// What a buffer may keep while nothing is sent.
const KEPT: usize = 4 << 10;
/// How long a step waits before the cancellation flag is polled again.
const SLICE: Duration = Duration::from_secs(1);
/// The largest item before a client has said who it is.
const HELLO: usize = 64 << 10;

/// See the module.
pub(crate) struct Connection {
    transport: Box<dyn Transport>,
    /// Given up while we wait.
    turn: Option<Turn>,
    cancel: Cancel,
    stall: Option<Duration>,
    metrics: Arc<Metrics>,
    input: Bytes,
    read_size: usize,
    parser: Parser,
    /// The length of the whole item that the parser has found.
    found: Option<usize>,
    /// The largest item now.
    limit: usize,
    out: Writer,
    max_request: usize,
    max_response: u64,
    /// What was written of this response.
    written: u64,
    broken: Option<Error>,
}

/// Whether an item is there.
pub(crate) enum Came {
    /// A whole one.
    Item,
    /// Less.
    Nothing,
    /// The end of the connection.
    End,
}

impl Connection {
    pub(crate) fn new(
        transport: Box<dyn Transport>,
        turn: Option<Turn>,
        serving: &Arc<Serving>,
    ) -> Self {
        let max_request = match serving.max_request {
            0 => usize::MAX,
            limit => usize::try_from(limit).unwrap_or(usize::MAX),
        };
        Self {
            transport,
            turn,
            cancel: serving.cancel.clone(),
            stall: serving.patience.stall,
            metrics: Arc::clone(&serving.metrics),
            input: Bytes::new(),
            read_size: MIN_READ,
            parser: Parser::with_limit(HELLO.min(max_request)),
            found: None,
            limit: HELLO.min(max_request),
            out: Writer::new(),
            max_request,
            max_response: serving.max_response,
            written: 0,
            broken: None,
        }
    }

    /// Lets items be as large as requests may be: the client is known.
    pub(crate) fn allow_requests(&mut self) {
        self.limit = self.max_request;
        self.parser = Parser::with_limit(self.limit);
    }

    /// Returns the size of the largest request.
    pub(crate) const fn limit(&self) -> usize {
        self.limit
    }

    /// Returns what is wrong with the connection.
    pub(crate) fn broken(&self) -> Option<&Error> {
        self.broken.as_ref()
    }

    /// Notes that nothing more can be said, and returns the error.
    pub(crate) fn fail(&mut self, error: impl Into<Error>) -> Error {
        let error = error.into();
        self.broken.get_or_insert_with(|| error.clone());
        error
    }

    pub(crate) fn transport(&self) -> &dyn Transport {
        &*self.transport
    }

    /// Begins a response.
    pub(crate) fn begin(&mut self) {
        self.written = 0;
    }

    /// Returns the buffer for what is to be sent.
    pub(crate) fn out(&mut self) -> &mut Writer {
        &mut self.out
    }

    /// Sends what was written if it is worth it.
    pub(crate) fn send(&mut self) -> Result<()> {
        if self.out.as_bytes().len() < BATCH {
            return Ok(());
        }
        self.flush()
    }

    /// Sends what was written.
    pub(crate) fn flush(&mut self) -> Result<()> {
        if let Some(broken) = &self.broken {
            return Err(broken.clone());
        }
        let mut out = std::mem::take(&mut self.out);
        let result = self.write(out.as_bytes());
        out.clear();
        self.out = out;
        result
    }

    /// Sends what was written, and bytes that were written elsewhere.
    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.flush()?;
        self.write(bytes)
    }

    /// Says that no authentication is needed.
    pub(crate) fn no_auth(&mut self) {
        answer::write_auth_request(&mut self.out, &[], "");
    }

    /// Writes a successful response.
    pub(crate) fn success(&mut self, params: impl FnOnce(&mut Writer)) -> Result<()> {
        message::write_success(&mut self.out, params);
        self.send()
    }

    /// Looks whether a whole item is there, without waiting.
    pub(crate) fn look(&mut self) -> Result<Came> {
        loop {
            if self.find()? {
                return Ok(Came::Item);
            }
            let missing = self.parser.missing(self.input.len());
            match self.receive(missing) {
                Ok(0) => return Ok(Came::End),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Came::Nothing),
                Err(error) => return Err(self.fail(read_failed(&error))),
            }
        }
    }

    /// Goes on parsing; tells whether an item is whole.
    fn find(&mut self) -> Result<bool> {
        if self.found.is_none() {
            self.found = match self.parser.advance(&self.input) {
                Ok(found) => found,
                Err(error) => return Err(self.refuse(error)),
            };
        }
        Ok(self.found.is_some())
    }

    /// Reads the next item, and lends it beside the connection.
    pub(crate) fn lend<T>(
        &mut self,
        take: impl FnOnce(&mut Self, Item<'_>) -> Result<T>,
    ) -> Result<T> {
        while !self.find()? {
            let missing = self.parser.missing(self.input.len());
            self.fill(missing)?;
        }
        let item = self.input.split_to(self.found.take().unwrap_or(0));
        let next = Parser::with_limit(self.limit);
        let mut parser = std::mem::replace(&mut self.parser, next);
        let taken = take(self, parser.item(&item));
        if item.len() <= KEPT && self.parser.is_fresh() {
            parser.reset();
            self.parser = parser;
        }
        taken
    }

    /// Reads the next item. What the client may be told of is in the inner result.
    pub(crate) fn item<T>(
        &mut self,
        read: impl FnOnce(Item<'_>) -> Result<T, ProtocolError>,
    ) -> Result<Result<T, ProtocolError>> {
        self.lend(|_, item| Ok(read(item)))
    }

    /// Reads an item that must be what it is read as.
    pub(crate) fn expect<T>(
        &mut self,
        read: impl FnOnce(Item<'_>) -> Result<T, ProtocolError>,
    ) -> Result<T> {
        match self.item(read)? {
            Ok(read) => Ok(read),
            Err(error) => Err(self.refuse(error)),
        }
    }

    /// Reads what a client answers to an editor's drive.
    pub(crate) fn response(&mut self) -> Result<()> {
        self.flush()?;
        let failure = self.expect(|item| match Response::read(item)? {
            Response::Success(_) => Ok(None),
            Response::Failure(error) => Ok(Some(error)),
        })?;
        failure.map_or(Ok(()), Err)
    }

    /// Tells whether the client has said something that was not read.
    pub(crate) fn has_input(&mut self) -> bool {
        !self.input.is_empty()
            || !matches!(self.receive(1), Err(error) if error.kind() == ErrorKind::WouldBlock)
    }

    /// Returns what came and was not read, for who reads it in parts.
    pub(crate) fn input(&mut self) -> &mut Bytes {
        &mut self.input
    }

    /// Notes that the client is gone in the midst of something.
    pub(crate) fn gone(&mut self) -> Error {
        self.fail(Error::from_code(ErrorCode::RA_SVN_CONNECTION_CLOSED))
    }

    /// Waits for more behind what is there; `missing` says how much is waited for.
    pub(crate) fn fill(&mut self, missing: usize) -> Result<()> {
        self.flush()?;
        loop {
            match self.receive(missing) {
                Ok(0) => return Err(self.gone()),
                Ok(_) => return Ok(()),
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.wait(Direction::In)?,
                Err(error) => return Err(self.fail(read_failed(&error))),
            }
        }
    }

    /// Waits a while for input, and lets others work; tells whether there is some.
    pub(crate) fn linger(&mut self, longest: Duration) -> bool {
        let waiting = self.turn.as_ref().map(Turn::give_up);
        let came = self.transport.wait(Direction::In, longest);
        drop(waiting);
        came.unwrap_or(true)
    }

    /// Frees what is not needed while nothing happens.
    pub(crate) fn rest(&mut self) {
        if self.input.is_empty() {
            self.input = Bytes::new();
            self.read_size = MIN_READ;
        }
        self.out = Writer::new();
    }

    /// Notes what is wrong with what came.
    pub(crate) fn refuse(&mut self, error: ProtocolError) -> Error {
        match error {
            ProtocolError::TooLong => self.fail(Error::new(
                ErrorCode::RA_SVN_REQUEST_SIZE,
                "The client request size exceeds the configured limit",
            )),
            error => self.fail(error),
        }
    }

    fn receive(&mut self, missing: usize) -> std::io::Result<usize> {
        let mut buffer = Vec::from(std::mem::take(&mut self.input));
        // Growing with what is there believes no length before its bytes come.
        let wanted = missing.min(buffer.len().max(MAX_READ)).max(self.read_size);
        buffer.reserve(wanted);
        let room = buffer.capacity() - buffer.len();
        let result = loop {
            match self.transport.read(&mut buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => break result,
            }
        };
        self.input = Bytes::from(buffer);
        if let Ok(count) = result {
            self.metrics.received.add(count as u64);
            if count == room {
                self.read_size = (self.read_size * 2).min(MAX_READ);
            } else if count < self.read_size / 4 {
                self.read_size = (self.read_size / 2).max(MIN_READ);
            }
        }
        result
    }

    fn write(&mut self, mut bytes: &[u8]) -> Result<()> {
        self.written += bytes.len() as u64;
        self.metrics.sent.add(bytes.len() as u64);
        if self.max_response > 0 && self.written > self.max_response {
            return Err(self.fail(Error::new(
                ErrorCode::RA_SVN_RESPONSE_SIZE,
                "The server response size exceeds the configured limit",
            )));
        }
        while !bytes.is_empty() {
            match self.transport.write(bytes) {
                Ok(0) => return Err(self.gone()),
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.wait(Direction::Out)?;
                }
                Err(error) => {
                    return Err(self.fail(Error::io(&error, "Can't write to connection")));
                }
            }
        }
        Ok(())
    }

    /// Lets others work while nothing can be read or written.
    fn wait(&mut self, direction: Direction) -> Result<()> {
        let waiting = self.turn.as_ref().map(Turn::give_up);
        let since = Instant::now();
        let result = loop {
            if let Err(error) = self.cancel.check() {
                break Err(error);
            }
            if self.stall.is_some_and(|stall| since.elapsed() >= stall) {
                break Err(stalled(since.elapsed()));
            }
            match self.transport.wait(direction, SLICE) {
                Ok(false) => {}
                Ok(true) => break Ok(()),
                Err(error) => break Err(Error::io(&error, "Can't wait for connection")),
            }
        };
        drop(waiting);
        result.map_err(|error| self.fail(error))
    }
}

fn stalled(time: Duration) -> Error {
    let text = format!("Connection timed out after {} seconds", time.as_secs());
    Error::new(ErrorCode::RA_SVN_IO_ERROR, text)
}

fn read_failed(error: &std::io::Error) -> Error {
    Error::io(error, "Can't read from connection")
}
