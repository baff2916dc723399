//! Reads dump streams.

use std::io::Read;

use sylvan_core::{Error, ErrorCode, Result};
use sylvan_io::Cancel;

use super::input::{Input, malformed, ran_dry};
use super::{Headers, Sink, VERSION, header, leading_number};

/// The longest first line.
const MAX_FIRST_LINE: usize = 80;

/// How texts that are deltas are given to a [`Sink`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deltas {
    /// As what they are.
    Deltas,
    /// As if they were texts.
    Texts,
}

/// The text of a node, as it comes.
pub struct Body<'i> {
    input: &'i mut dyn Pieces,
    left: u64,
    cancel: &'i Cancel,
}

/// Hides the lifetime of the stream.
trait Pieces {
    fn piece(&mut self, most: u64) -> Result<&[u8]>;
}

impl Pieces for Input<'_> {
    fn piece(&mut self, most: u64) -> Result<&[u8]> {
        Input::piece(self, most)
    }
}

impl Body<'_> {
    /// Returns how many bytes are left.
    pub const fn left(&self) -> u64 {
        self.left
    }

    /// Returns the next piece, `None` at the end.
    ///
    /// # Errors
    /// [`ErrorCode::INCOMPLETE_DATA`] if the stream ends before.
    pub fn next_piece(&mut self) -> Result<Option<&[u8]>> {
        if self.left == 0 {
            return Ok(None);
        }
        self.cancel.check()?;
        let piece = self.input.piece(self.left)?;
        if piece.is_empty() {
            return Err(ran_dry());
        }
        self.left -= piece.len() as u64;
        Ok(Some(piece))
    }

    fn skip(&mut self) -> Result<()> {
        while self.next_piece()?.is_some() {}
        Ok(())
    }
}

impl std::fmt::Debug for Body<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Body").field("left", &self.left).finish()
    }
}

/// Reads a whole stream and gives it to `sink`.
///
/// # Errors
/// [`ErrorCode::STREAM_MALFORMED_DATA`] for what is no dump stream, [`ErrorCode::INCOMPLETE_DATA`]
/// if it ends within a record, and what `sink` returned.
pub fn parse(
    reader: &mut dyn Read,
    sink: &mut dyn Sink,
    deltas: Deltas,
    cancel: &Cancel,
) -> Result<()> {
    let mut input = Input::new(reader);
    let version = parse_version(&mut input)?;
    sink.magic(version)?;
    let mut parser = Parser {
        input,
        sink,
        deltas,
        cancel,
        version,
        in_revision: false,
    };
    while let Some(headers) = parser.next_headers()? {
        cancel.check()?;
        parser.record(&headers)?;
    }
    if parser.in_revision {
        parser.sink.end_revision()?;
    }
    Ok(())
}

struct Parser<'p, 'r> {
    input: Input<'r>,
    sink: &'p mut dyn Sink,
    deltas: Deltas,
    cancel: &'p Cancel,
    version: i32,
    in_revision: bool,
}

/// What a record is of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Revision,
    Node,
    Stream,
}

impl Parser<'_, '_> {
    /// Reads the headers of the next record; `None` at the end of the stream.
    fn next_headers(&mut self) -> Result<Option<Headers>> {
        let mut headers = Headers::default();
        loop {
            let (line, at_end) = self.input.line()?;
            if at_end {
                return if line.is_empty() {
                    Ok(None)
                } else {
                    Err(ran_dry())
                };
            }
            if line.first().is_some_and(|byte| !is_space(*byte)) {
                take_header(line, &mut headers)?;
                break;
            }
        }
        loop {
            let (line, at_end) = self.input.line()?;
            if line.is_empty() {
                return Ok(Some(headers));
            }
            if at_end {
                return Err(ran_dry());
            }
            take_header(line, &mut headers)?;
        }
    }

    fn record(&mut self, headers: &Headers) -> Result<()> {
        let of = self.begin(headers)?;
        let total = headers.number(header::CONTENT_LENGTH);
        let props = headers.number(header::PROP_CONTENT_LENGTH);
        let text = headers.number(header::TEXT_CONTENT_LENGTH);
        // Version 1 tells only the sum; properties are always there.
        let old = total.filter(|_| self.version == 1 && props.is_none() && text.is_none());
        let mut used = 0;
        if let Some(len) = props.or(old) {
            if of == Of::Node && !headers.is_true(header::PROP_DELTA) {
                self.sink.remove_node_props()?;
            }
            used = self.props(len, of)?;
        }
        if let Some(len) = text {
            let is_delta = self.deltas == Deltas::Deltas && headers.is_true(header::TEXT_DELTA);
            self.text(len, is_delta, of)?;
        } else if let Some(total) = old {
            let left = total.checked_sub(used).ok_or_else(malformed)?;
            if left != 0 || headers.get(header::NODE_KIND) == Some(b"file") {
                self.text(left, false, of)?;
            }
        }
        if let Some(total) = total.filter(|_| old.is_none()) {
            let parts = props.unwrap_or(0).checked_add(text.unwrap_or(0));
            let left = parts.and_then(|parts| total.checked_sub(parts));
            let left = left.and_then(|left| u64::try_from(left).ok());
            self.body(left.ok_or_else(too_large)?).skip()?;
        }
        if of == Of::Node {
            self.sink.end_node()?;
        }
        Ok(())
    }

    fn begin(&mut self, headers: &Headers) -> Result<Of> {
        if headers.get(header::REVISION_NUMBER).is_some() {
            if self.in_revision {
                self.sink.end_revision()?;
            }
            self.in_revision = true;
            self.sink.revision(headers)?;
            return Ok(Of::Revision);
        }
        if headers.get(header::NODE_PATH).is_some() {
            if !self.in_revision {
                return Err(malformed());
            }
            self.sink.node(headers)?;
            return Ok(Of::Node);
        }
        if let Some(uuid) = headers.get(header::UUID) {
            self.sink.uuid(uuid)?;
        } else if let Some(version) = headers.get(header::MAGIC) {
            self.version = parse_int(version)?;
        } else {
            return Err(Error::new(
                ErrorCode::STREAM_MALFORMED_DATA,
                "Unrecognized record type in stream",
            ));
        }
        Ok(Of::Stream)
    }

    /// Reads properties, which should take `len` bytes; returns how many they took.
    fn props(&mut self, len: i64, of: Of) -> Result<i64> {
        let mut used = 0;
        while used != len {
            self.cancel.check()?;
            let (line, at_end) = self.input.line()?;
            if at_end {
                return Err(Error::new(
                    ErrorCode::STREAM_MALFORMED_DATA,
                    "Incomplete or unterminated property block",
                ));
            }
            used += line.len() as i64 + 1;
            match line {
                b"PROPS-END" => break,
                [b'K', b' ', digits @ ..] => {
                    let name_len = parse_len(digits)?;
                    let name = self.counted(name_len, &mut used)?;
                    let (line, at_end) = self.input.line()?;
                    if at_end {
                        return Err(ran_dry());
                    }
                    used += line.len() as i64 + 1;
                    let digits = line.strip_prefix(b"V ").ok_or_else(malformed)?;
                    let value_len = parse_len(digits)?;
                    let value = self.counted(value_len, &mut used)?;
                    self.prop(&prop_name(&name)?, value, of)?;
                }
                [b'D', b' ', digits @ ..] => {
                    let name_len = parse_len(digits)?;
                    let name = self.counted(name_len, &mut used)?;
                    if of != Of::Node {
                        return Err(malformed());
                    }
                    self.sink.delete_node_prop(&prop_name(&name)?)?;
                }
                _ => return Err(malformed()),
            }
        }
        Ok(used)
    }

    fn prop(&mut self, name: &str, value: Vec<u8>, of: Of) -> Result<()> {
        match of {
            Of::Node => self.sink.node_prop(name, value),
            Of::Revision => self.sink.revision_prop(name, value),
            Of::Stream => Err(malformed()),
        }
    }

    /// Takes a name or value and the newline after it.
    fn counted(&mut self, len: i64, used: &mut i64) -> Result<Vec<u8>> {
        let bytes = self.input.take(len.unsigned_abs())?;
        if self.input.take(1)? != b"\n" {
            return Err(malformed());
        }
        *used += len + 1;
        Ok(bytes)
    }

    fn text(&mut self, len: i64, is_delta: bool, of: Of) -> Result<()> {
        if of != Of::Node {
            return Err(malformed());
        }
        let len = u64::try_from(len).map_err(|_| ran_dry())?;
        let mut body = Body {
            input: &mut self.input,
            left: len,
            cancel: self.cancel,
        };
        self.sink.text(is_delta, &mut body)?;
        body.skip()
    }

    fn body(&mut self, len: u64) -> Body<'_> {
        Body {
            input: &mut self.input,
            left: len,
            cancel: self.cancel,
        }
    }
}

fn too_large() -> Error {
    Error::new(
        ErrorCode::STREAM_MALFORMED_DATA,
        "Sum of subblock sizes larger than total block content length",
    )
}

const fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

/// Splits a line into name and value. Both end where a string of C does.
fn take_header(line: &[u8], headers: &mut Headers) -> Result<()> {
    let bad = |what: &str, text: &[u8]| {
        let shown = String::from_utf8_lossy(&text[..text.len().min(20)]);
        let message =
            format!("Dump stream contains a malformed header (with no {what}) at '{shown}'");
        Err(Error::new(ErrorCode::STREAM_MALFORMED_DATA, message))
    };
    let end = memchr::memchr(0, line).unwrap_or(line.len());
    let Some(colon) = memchr::memchr(b':', &line[..end]) else {
        return bad("':'", &line[..end]);
    };
    let name = &line[..colon];
    let Some(value) = line.get(colon + 2..) else {
        return bad("value", name);
    };
    let value = value.split(|byte| *byte == 0).next().unwrap_or_default();
    headers.set(name, value);
    Ok(())
}

/// Parses the length of a name or value.
fn parse_len(text: &[u8]) -> Result<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(not_a_number(text));
    }
    let len = leading_number(text);
    if (0..i64::MAX).contains(&len) {
        return Ok(len);
    }
    let shown = String::from_utf8_lossy(text);
    Err(Error::new(
        ErrorCode::INCORRECT_PARAMS,
        format!("Number '{shown}' is out of range '[0, {}]'", u64::MAX),
    ))
}

fn not_a_number(text: &[u8]) -> Error {
    let shown = String::from_utf8_lossy(text);
    Error::new(
        ErrorCode::INCORRECT_PARAMS,
        format!("Could not convert '{shown}' into a number"),
    )
}

fn prop_name(name: &[u8]) -> Result<String> {
    let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
    sylvan_core::text::check_utf8(name).map(str::to_owned)
}

fn parse_int(text: &[u8]) -> Result<i32> {
    let trimmed = text.trim_ascii();
    let negative = trimmed.first() == Some(&b'-');
    let digits = trimmed.strip_prefix(b"-").unwrap_or(trimmed);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(not_a_number(text));
    }
    let number = i32::try_from(leading_number(digits)).map_err(|_| not_a_number(text))?;
    Ok(if negative { -number } else { number })
}

/// Reads the first line, of which no more than what it may have is kept.
fn parse_version(input: &mut Input<'_>) -> Result<i32> {
    let bad = |line: &[u8]| {
        let shown = String::from_utf8_lossy(line);
        let message = format!("Malformed dumpfile header '{shown}'");
        Err(Error::new(ErrorCode::STREAM_MALFORMED_DATA, message))
    };
    let mut line = Vec::new();
    loop {
        let byte = match input.piece(1)? {
            [byte] => *byte,
            _ => return Err(ran_dry()),
        };
        if byte == b'\n' {
            break;
        }
        if line.len() == MAX_FIRST_LINE {
            return bad(&line);
        }
        line.push(byte);
    }
    let value = line
        .strip_prefix(header::MAGIC.as_bytes())
        .and_then(|rest| rest.strip_prefix(b":"));
    let Some(value) = value else {
        return bad(&line);
    };
    let version = parse_int(value)?;
    if version > VERSION {
        return Err(Error::new(
            ErrorCode::STREAM_MALFORMED_DATA,
            format!("Unsupported dumpfile version: {version}"),
        ));
    }
    Ok(version)
}
