//! A connection: items in and out, authentication, the handshake.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use bytes::{Buf as _, Bytes};
use sylvan_core::{Error, ErrorCode, Result, Url};
use sylvan_delta::Editor;
use sylvan_proto::svn::auth::{AuthRequest, AuthStep, Exchange, Mechanism};
use sylvan_proto::svn::editor::{Decoder, DriveError, Event};
use sylvan_proto::svn::handshake::{Handshake, Next, Server};
use sylvan_proto::svn::item::{Fields, Item, Parser, Writer};
use sylvan_proto::svn::{Command, ProtocolError, Response, message};

use super::buffers::Buffers;
use super::transport::Transport;
use crate::Context;

/// The least and the most that is read at once.
const MIN_READ: usize = 16 << 10;
const MAX_READ: usize = 256 << 10;

/// Where credentials are valid, and how.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The beginning of realm strings, `<svn://host:3690>`.
    pub(super) realm_prefix: String,
    /// The server's name, by which the `servers` file has options.
    pub(super) host: String,
    /// Whether a tunnel says who we are.
    pub(super) is_tunneled: bool,
}

/// An open connection to a server.
pub(super) struct Connection {
    transport: Box<dyn Transport>,
    context: Context,
    place: Place,
    /// How long nothing may come before we give up; zero is forever.
    patience: Duration,
    input: Bytes,
    buffers: Buffers,
    read_size: usize,
    parser: Parser,
    out: Writer,
    is_midway: bool,
    /// Whether contents are worth compressing.
    compress: bool,
}

/// How the server ended an editor drive.
pub(super) enum DriveEnd {
    /// All was sent.
    Closed,
    /// It failed midway; its response tells why.
    Aborted,
}

impl Connection {
    pub(super) fn new(
        transport: Box<dyn Transport>,
        context: Context,
        place: Place,
        patience: Duration,
    ) -> Self {
        Self {
            transport,
            context,
            place,
            patience,
            input: Bytes::new(),
            buffers: Buffers::default(),
            read_size: MIN_READ,
            parser: Parser::new(),
            out: Writer::new(),
            is_midway: false,
            compress: false,
        }
    }

    /// Notes that what follows must be read to its end before another command can be sent.
    pub(super) fn midway(&mut self) {
        self.is_midway = true;
    }

    /// Notes that it was.
    pub(super) fn settled(&mut self) {
        self.is_midway = false;
    }

    /// Tells whether no command can be sent.
    pub(super) fn is_midway(&self) -> bool {
        self.is_midway
    }

    /// Goes through the handshake for a session at `url`.
    pub(super) fn handshake(&mut self, url: &Url, agent: &str, compress: bool) -> Result<Server> {
        self.compress = compress;
        let mut handshake = Handshake::new(url.clone(), agent, compress);
        loop {
            let next = self.with_item(|item| handshake.handle(item))?;
            handshake = match next {
                Next::Send(next, bytes) => {
                    self.write(&bytes)?;
                    next
                }
                Next::Authenticate(next, request) => {
                    self.authenticate(&request)?;
                    next
                }
                Next::Wait(next) => next,
                Next::Ready(server) => return Ok(server),
            };
        }
    }

    /// Skips what login scripts print before the server's greeting: up to a parenthesis before a
    /// blank.
    pub(super) fn skip_garbage(&mut self) -> Result<()> {
        loop {
            let found = self
                .input
                .windows(2)
                .position(|pair| pair[0] == b'(' && matches!(pair[1], b' ' | b'\n'));
            match found {
                Some(at) => {
                    self.input.advance(at);
                    return Ok(());
                }
                None => {
                    self.input.advance(self.input.len().saturating_sub(1));
                    self.fill(1)?;
                }
            }
        }
    }

    /// Returns the buffer for commands; they go with [`Connection::flush`].
    pub(super) fn out(&mut self) -> &mut Writer {
        &mut self.out
    }

    /// Tells whether contents are worth compressing.
    pub(super) const fn compresses(&self) -> bool {
        self.compress
    }

    /// Tells whether the server has said something that was not read.
    pub(super) fn has_input(&mut self) -> bool {
        !self.input.is_empty() || self.transport.has_input()
    }

    /// Sends bytes that were written elsewhere.
    pub(super) fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.write(bytes)
    }

    /// Reads an item that is no response.
    pub(super) fn item<T>(&mut self, read: impl FnOnce(Item<'_>) -> Result<T>) -> Result<T> {
        self.with_item(read)
    }

    /// Sends what was written.
    pub(super) fn flush(&mut self) -> Result<()> {
        let bytes = self.out.take();
        self.write(&bytes)
    }

    /// Sends a command, and answers the request for authentication that comes first.
    pub(super) fn command(&mut self, command: &Command<'_>) -> Result<()> {
        command.write(&mut self.out);
        self.flush()?;
        self.auth_request()
    }

    /// Reads the server's request for authentication before a response, and answers it.
    pub(super) fn auth_request(&mut self) -> Result<()> {
        let request = self.read_auth_request()?;
        if request.mechanisms.is_empty() {
            return Ok(());
        }
        // Until it is satisfied the server takes all for answers.
        let was_midway = std::mem::replace(&mut self.is_midway, true);
        self.authenticate(&request)?;
        self.is_midway = was_midway;
        Ok(())
    }

    /// Reads the request only.
    pub(super) fn read_auth_request(&mut self) -> Result<AuthRequest> {
        self.response(AuthRequest::read)
    }

    /// Reads a response and what it holds.
    pub(super) fn response<T>(
        &mut self,
        read: impl FnOnce(Fields<'_>) -> Result<T, ProtocolError>,
    ) -> Result<T> {
        self.with_item(|item| match Response::read(item)? {
            Response::Success(params) => Ok(read(params.fields())?),
            Response::Failure(error) => Err(error),
        })
    }

    /// Reads a list of items that ends with the word `done`, and the response after it.
    pub(super) fn until_done(
        &mut self,
        mut take: impl FnMut(Item<'_>) -> Result<()>,
    ) -> Result<()> {
        loop {
            let is_done = self.with_item(|item| {
                if item.is_word("done") {
                    return Ok(true);
                }
                take(item)?;
                Ok(false)
            })?;
            if is_done {
                self.settled();
                return self.response(|_| Ok(()));
            }
        }
    }

    /// Reads a file's content, strings that end with an empty one.
    pub(super) fn content(&mut self, out: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        loop {
            let mut left = self.string_head()?;
            if left == 0 {
                self.expect_space()?;
                return Ok(());
            }
            while left > 0 {
                if self.input.is_empty() {
                    self.fill(1)?;
                }
                let now = usize::try_from(left)
                    .map_or(self.input.len(), |left| left.min(self.input.len()));
                out(&self.input[..now])?;
                self.input.advance(now);
                left -= now as u64;
            }
            self.expect_space()?;
        }
    }

    /// Drives an editor until the server's end of it.
    pub(super) fn drive(
        &mut self,
        root: Option<&Url>,
        editor: &mut dyn Editor,
    ) -> Result<DriveEnd, DriveError> {
        let mut decoder = Decoder::new(root.cloned());
        loop {
            let event = decoder.drive(&mut self.input, editor)?;
            match event {
                Event::More => {
                    let missing = decoder.missing(self.input.len());
                    self.fill(missing).map_err(transport_error)?;
                }
                Event::Closed => return Ok(DriveEnd::Closed),
                Event::Aborted => return Ok(DriveEnd::Aborted),
                Event::Finished => {
                    return Err(ProtocolError::UnknownCommand(
                        "Command 'finish-replay' invalid outside of replays".to_owned(),
                    )
                    .into());
                }
                Event::Failure(error) => return Err(ProtocolError::Other(error).into()),
            }
        }
    }

    /// Answers the end of a drive, and reads what the server says to it.
    pub(super) fn end_drive(&mut self) -> Result<()> {
        message::write_success(&mut self.out, |_| {});
        self.flush()?;
        let result = self.response(|_| Ok(()));
        self.settled();
        result
    }

    fn authenticate(&mut self, request: &AuthRequest) -> Result<()> {
        let mechanism = request
            .choose(self.place.is_tunneled)
            .ok_or_else(|| Error::from_code(ErrorCode::RA_SVN_NO_MECHANISMS))?;
        if !mechanism.needs_password() {
            return match self.exchange(mechanism, "", "")? {
                None => Ok(()),
                Some(refusal) => Err(refused(&refusal)),
            };
        }
        let realm = format!("{} {}", self.place.realm_prefix, request.realm);
        let mut attempts = self
            .context
            .auth()
            .simple_credentials(&realm, &self.place.host)?;
        let mut refusal = None;
        loop {
            let next = attempts.next(&mut self.context.auth())?;
            let Some(credentials) = next else {
                return Err(
                    refusal.map_or_else(no_credentials, |refusal: String| refused(&refusal))
                );
            };
            match self.exchange(mechanism, &credentials.username, &credentials.password)? {
                None => return attempts.save(&mut self.context.auth()),
                Some(text) => refusal = Some(text),
            }
        }
    }

    /// Makes one attempt; `Some` is why it was refused.
    fn exchange(
        &mut self,
        mechanism: Mechanism,
        username: &str,
        password: &str,
    ) -> Result<Option<String>> {
        let (mut exchange, bytes) = Exchange::begin(mechanism, username, password);
        self.write(&bytes)?;
        loop {
            match self.with_item(|item| exchange.handle(item))? {
                AuthStep::Send(next, bytes) => {
                    self.write(&bytes)?;
                    exchange = next;
                }
                AuthStep::Accepted => return Ok(None),
                AuthStep::Refused(text) => return Ok(Some(text)),
            }
        }
    }

    /// Reads the next item and lends it.
    fn with_item<T>(&mut self, read: impl FnOnce(Item<'_>) -> Result<T>) -> Result<T> {
        self.parser.reset();
        let len = loop {
            match self.parser.advance(&self.input)? {
                Some(len) => break len,
                None => {
                    let missing = self.parser.missing(self.input.len());
                    self.fill(missing)?;
                }
            }
        };
        let item = self.input.split_to(len);
        read(self.parser.item(&item))
    }

    /// Reads the digits and the colon of a string.
    fn string_head(&mut self) -> Result<u64> {
        let mut len: Option<u64> = None;
        loop {
            let byte = self.byte()?;
            match (byte, len) {
                (b' ' | b'\n', None) => {}
                (b'0'..=b'9', before) => {
                    let next = before
                        .unwrap_or(0)
                        .checked_mul(10)
                        .and_then(|len| len.checked_add(u64::from(byte - b'0')))
                        .ok_or(ProtocolError::NumberTooLarge)?;
                    len = Some(next);
                }
                (b':', Some(len)) => return Ok(len),
                _ => {
                    return Err(
                        ProtocolError::unexpected("Non-string as part of file contents").into(),
                    );
                }
            }
        }
    }

    fn expect_space(&mut self) -> Result<()> {
        match self.byte()? {
            b' ' | b'\n' => Ok(()),
            _ => Err(ProtocolError::Malformed.into()),
        }
    }

    fn byte(&mut self) -> Result<u8> {
        if self.input.is_empty() {
            self.fill(1)?;
        }
        Ok(self.input.get_u8())
    }

    /// Reads more behind what is there; `missing` says how much is waited for. Blocks until
    /// something comes, polling the flag.
    fn fill(&mut self, missing: usize) -> Result<()> {
        self.context.cancel.check()?;
        let mut buffer = self.buffers.next(std::mem::take(&mut self.input));
        // Growing with what is there keeps long items cheap, and believes no length before its
        // bytes come.
        let wanted = missing.min(buffer.len().max(MAX_READ)).max(self.read_size);
        buffer.reserve(wanted);
        let room = buffer.capacity() - buffer.len();
        let result = self.receive(&mut buffer);
        self.input = self.buffers.filled(buffer);
        let count = result?;
        // Where much comes at once, much is asked for; where little comes, little is set aside,
        // since a slice that is held keeps its whole buffer.
        if count == room {
            self.read_size = (self.read_size * 2).min(MAX_READ);
        } else if count < self.read_size / 4 {
            self.read_size = (self.read_size / 2).max(MIN_READ);
        }
        self.context.progress.add_received(count as u64);
        Ok(())
    }

    fn receive(&mut self, buffer: &mut Vec<u8>) -> Result<usize> {
        let waits_since = Instant::now();
        loop {
            match self.transport.read(buffer) {
                Ok(0) => return Err(Error::from_code(ErrorCode::RA_SVN_CONNECTION_CLOSED)),
                Ok(count) => return Ok(count),
                Err(error) if is_transient(error.kind()) => {
                    self.check_wait(waits_since)?;
                }
                Err(error) => return Err(Error::io(&error, "Can't read from connection")),
            }
        }
    }

    fn write(&mut self, mut bytes: &[u8]) -> Result<()> {
        let mut waits_since = Instant::now();
        while !bytes.is_empty() {
            match self.transport.write(bytes) {
                Ok(0) => return Err(Error::from_code(ErrorCode::RA_SVN_CONNECTION_CLOSED)),
                Ok(count) => {
                    bytes = &bytes[count..];
                    waits_since = Instant::now();
                }
                Err(error) if is_transient(error.kind()) => {
                    self.check_wait(waits_since)?;
                }
                Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                    return Err(Error::from_code(ErrorCode::RA_SVN_CONNECTION_CLOSED));
                }
                Err(error) => return Err(Error::io(&error, "Can't write to connection")),
            }
        }
        Ok(())
    }

    /// Polls the flag, and gives up on a server that is silent for too long.
    fn check_wait(&self, since: Instant) -> Result<()> {
        self.context.cancel.check()?;
        if !self.patience.is_zero() && since.elapsed() >= self.patience {
            return Err(Error::new(
                ErrorCode::RA_SVN_IO_ERROR,
                format!(
                    "Connection timed out after {} seconds",
                    self.patience.as_secs()
                ),
            ));
        }
        Ok(())
    }
}

fn is_transient(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}

fn transport_error(error: Error) -> DriveError {
    DriveError::Peer(ProtocolError::Other(error))
}

fn refused(text: &str) -> Error {
    Error::new(
        ErrorCode::RA_NOT_AUTHORIZED,
        format!("Authentication error from server: {text}"),
    )
}

fn no_credentials() -> Error {
    Error::new(
        ErrorCode::RA_NOT_AUTHORIZED,
        "Can't get username or password",
    )
}
