//! Buffered reading of a dump stream.

use std::io::Read;

use sylvan_core::{Error, ErrorCode, Result};

/// The longest line: a header with a path, at most.
const MAX_LINE: usize = 1 << 20;
/// What is read at once.
const CHUNK: usize = 128 << 10;

/// The bytes of a stream.
pub(super) struct Input<'r> {
    reader: &'r mut dyn Read,
    buffer: Vec<u8>,
    /// What of the buffer is not taken yet.
    start: usize,
    end: usize,
}

/// Ends a stream too early.
pub(super) fn ran_dry() -> Error {
    Error::new(
        ErrorCode::INCOMPLETE_DATA,
        "Premature end of content data in dumpstream",
    )
}

/// The stream makes no sense.
pub(super) fn malformed() -> Error {
    Error::new(
        ErrorCode::STREAM_MALFORMED_DATA,
        "Dumpstream data appears to be malformed",
    )
}

impl<'r> Input<'r> {
    pub(super) fn new(reader: &'r mut dyn Read) -> Self {
        Self {
            reader,
            buffer: vec![0; CHUNK],
            start: 0,
            end: 0,
        }
    }

    /// Reads more behind what is not taken yet; `false` at the end.
    fn fill(&mut self) -> Result<bool> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.end == self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            if self.end == self.buffer.len() {
                self.buffer.resize(self.buffer.len() * 2, 0);
            }
        }
        loop {
            match self.reader.read(&mut self.buffer[self.end..]) {
                Ok(count) => {
                    self.end += count;
                    return Ok(count > 0);
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io(&error, "Can't read stream")),
            }
        }
    }

    /// Takes a line, without its end. The flag tells that the stream ended instead.
    pub(super) fn line(&mut self) -> Result<(&[u8], bool)> {
        let mut seen = 0;
        loop {
            let rest = &self.buffer[self.start + seen..self.end];
            if let Some(at) = memchr::memchr(b'\n', rest) {
                let from = self.start;
                self.start += seen + at + 1;
                return Ok((&self.buffer[from..from + seen + at], false));
            }
            seen = self.end - self.start;
            if seen > MAX_LINE {
                return Err(malformed());
            }
            if !self.fill()? {
                let from = self.start;
                self.start = self.end;
                return Ok((&self.buffer[from..self.end], true));
            }
        }
    }

    /// Takes the next bytes, at most `most`; none only at the end of the stream or if none are
    /// wanted.
    pub(super) fn piece(&mut self, most: u64) -> Result<&[u8]> {
        if self.start == self.end && most > 0 {
            self.fill()?;
        }
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let from = self.start;
        self.start += most.min(self.end - from);
        Ok(&self.buffer[from..self.start])
    }

    /// Takes so many bytes.
    pub(super) fn take(&mut self, len: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut left = len;
        while left > 0 {
            let piece = self.piece(left)?;
            if piece.is_empty() {
                return Err(ran_dry());
            }
            bytes.extend_from_slice(piece);
            left -= piece.len() as u64;
        }
        Ok(bytes)
    }
}
