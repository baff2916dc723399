use bytes::{Buf as _, Bytes};
use sylvan_core::{Error, Url};
use sylvan_delta::{Editor, Token};

use super::tree::{Order, Tree};
use crate::svn::ProtocolError;
use crate::svn::item::Parser;
use crate::svn::message::read_errors;

/// Why a drive failed.
#[derive(Debug)]
pub enum DriveError {
    /// The peer sent what it may not.
    Peer(ProtocolError),
    /// The editor refused a call.
    Editor(Error),
}

impl From<ProtocolError> for DriveError {
    fn from(error: ProtocolError) -> Self {
        Self::Peer(error)
    }
}

impl From<DriveError> for Error {
    fn from(error: DriveError) -> Self {
        match error {
            DriveError::Peer(error) => error.into(),
            DriveError::Editor(error) => error,
        }
    }
}

/// How far a drive came.
#[derive(Debug)]
pub enum Event {
    /// More bytes are needed.
    More,
    /// `close-edit` came, and the editor's `close_edit` was called. The peer awaits a response.
    Closed,
    /// `abort-edit` came: the peer gives up and awaits a response; its own response tells why.
    /// `abort_edit` was not called.
    Aborted,
    /// `finish-replay` came.
    Finished,
    /// The peer failed before it began.
    Failure(Error),
}

/// Drives an editor by what a peer sends.
///
/// Bytes of file contents are passed on as slices of the input, as they come, however long the
/// peer's strings are.
#[derive(Debug)]
pub struct Decoder {
    parser: Parser,
    state: State,
    tree: Tree,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Between commands or in one.
    Command,
    /// In the bytes of a `textdelta-chunk`, which nobody wants if there is no token.
    Chunk { token: Option<Token>, left: u64 },
    /// After them, before the end of the command.
    ChunkEnd,
}

/// The usual beginning of a chunk, as far as its bytes.
#[derive(Debug, PartialEq, Eq)]
enum ChunkHead {
    /// It is one: where its token is, how many bytes it has, and where they begin.
    Whole {
        token: std::ops::Range<usize>,
        len: u64,
        data: usize,
    },
    /// It may become one.
    Partial,
    /// It is something else, or written unusually.
    Other,
}

const CHUNK: &[u8] = b"( textdelta-chunk ( ";
const CHUNK_END: &[u8] = b" ) ) ";
/// So many digits are enough for any length.
const MAX_DIGITS: usize = 20;

impl Decoder {
    /// Makes one for a new drive. `root` is the URL of the repository's root: copy sources may be
    /// given as URLs below it.
    pub fn new(root: Option<Url>) -> Self {
        Self {
            parser: Parser::new(),
            state: State::Command,
            tree: Tree::new(root, Order::Strict),
        }
    }

    /// As [`Decoder::new`], for what a client commits, with commands of at most so many bytes but
    /// for contents. Clients do not keep all rules of the editor: they open nodes twice, and go on in
    /// folders that are not the innermost.
    pub fn for_commit(root: Url, largest: usize) -> Self {
        Self {
            parser: Parser::with_limit(largest),
            tree: Tree::new(Some(root), Order::Loose),
            ..Self::new(None)
        }
    }

    /// Takes as many commands as `input` has whole, and calls `editor`. What is left in `input`
    /// must be there in front of what comes later.
    ///
    /// # Errors
    /// Whose fault it is. The editor's `abort_edit` was not called.
    pub fn drive(
        &mut self,
        input: &mut Bytes,
        editor: &mut dyn Editor,
    ) -> Result<Event, DriveError> {
        loop {
            match self.state {
                State::Command => {
                    if self.parser.is_fresh() {
                        match chunk_head(input) {
                            ChunkHead::Whole { token, len, data } => {
                                let opened = self.tree.open_text(&input[token]);
                                input.advance(data);
                                // The bytes come anyway: who skips a drive goes on behind them.
                                let token = opened.as_ref().ok().copied();
                                self.state = State::Chunk { token, left: len };
                                opened?;
                                continue;
                            }
                            ChunkHead::Partial => return Ok(Event::More),
                            ChunkHead::Other => {}
                        }
                    }
                    let Some(len) = self.parser.advance(input)? else {
                        return Ok(Event::More);
                    };
                    let command = input.split_to(len);
                    let event = self.command(&command, editor);
                    self.parser.reset();
                    match event? {
                        Event::More => {}
                        event => return Ok(event),
                    }
                }
                State::Chunk { token, left } => {
                    let now =
                        usize::try_from(left).map_or(input.len(), |left| left.min(input.len()));
                    let chunk = input.split_to(now);
                    let left = left - now as u64;
                    if left > 0 {
                        self.state = State::Chunk { token, left };
                    } else {
                        self.state = State::ChunkEnd;
                        self.parser.reset_within(2);
                    }
                    if let Some(token) = token
                        && !chunk.is_empty()
                    {
                        editor
                            .text_chunk(token, chunk)
                            .map_err(DriveError::Editor)?;
                    }
                    if left > 0 {
                        return Ok(Event::More);
                    }
                }
                State::ChunkEnd => {
                    let len = if input.starts_with(CHUNK_END) {
                        CHUNK_END.len()
                    } else {
                        if !input
                            .first()
                            .is_none_or(|byte| matches!(byte, b' ' | b'\n'))
                        {
                            return Err(ProtocolError::Malformed.into());
                        }
                        match self.parser.advance(input)? {
                            Some(len) => len,
                            None => return Ok(Event::More),
                        }
                    };
                    input.advance(len);
                    self.parser.reset();
                    self.state = State::Command;
                }
            }
        }
    }

    /// Returns how many bytes are needed at least; a hint.
    pub fn missing(&self, seen: usize) -> usize {
        match self.state {
            State::Chunk { left, .. } => usize::try_from(left).unwrap_or(usize::MAX),
            State::Command | State::ChunkEnd => self.parser.missing(seen),
        }
    }

    /// Tells whether the root was opened.
    pub fn is_started(&self) -> bool {
        self.tree.is_started()
    }

    fn command(&mut self, bytes: &Bytes, editor: &mut dyn Editor) -> Result<Event, DriveError> {
        let mut fields = self.parser.item(bytes).list()?.fields();
        let name = fields.word()?;
        let params = fields.list()?;
        if name == "failure" {
            return Ok(Event::Failure(read_errors(params)?));
        }
        self.tree.call(name, params.fields(), bytes, editor)
    }
}

fn chunk_head(bytes: &[u8]) -> ChunkHead {
    if bytes.len() < CHUNK.len() {
        return if CHUNK.starts_with(bytes) {
            ChunkHead::Partial
        } else {
            ChunkHead::Other
        };
    }
    let Some(rest) = bytes.strip_prefix(CHUNK) else {
        return ChunkHead::Other;
    };
    let (token_len, used) = match string_head(rest) {
        StringHead::Whole { len, used } if len <= 64 => (len, used),
        StringHead::Partial => return ChunkHead::Partial,
        _ => return ChunkHead::Other,
    };
    let start = CHUNK.len() + used;
    let Some(end) = usize::try_from(token_len).ok().map(|len| start + len) else {
        return ChunkHead::Other;
    };
    match bytes.get(end) {
        Some(b' ') => {}
        Some(_) => return ChunkHead::Other,
        None => return ChunkHead::Partial,
    }
    match string_head(&bytes[end + 1..]) {
        StringHead::Whole { len, used } => ChunkHead::Whole {
            token: start..end,
            len,
            data: end + 1 + used,
        },
        StringHead::Partial => ChunkHead::Partial,
        StringHead::Other => ChunkHead::Other,
    }
}

enum StringHead {
    Whole { len: u64, used: usize },
    Partial,
    Other,
}

/// Reads the digits and the colon before a string.
fn string_head(bytes: &[u8]) -> StringHead {
    let digits = bytes
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    match bytes.get(digits) {
        _ if digits > MAX_DIGITS => StringHead::Other,
        None => StringHead::Partial,
        Some(b':') if digits > 0 => {
            let text = std::str::from_utf8(&bytes[..digits]).unwrap_or_default();
            match text.parse() {
                Ok(len) => StringHead::Whole {
                    len,
                    used: digits + 1,
                },
                Err(_) => StringHead::Other,
            }
        }
        _ => StringHead::Other,
    }
}
