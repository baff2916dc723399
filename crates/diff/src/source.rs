//! Texts, read in pieces.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use memchr::memchr2;
use sylvan_core::{Error, Result};

/// A text whose bytes can be read anywhere.
pub trait Source {
    /// Returns how many bytes there are.
    fn len(&self) -> u64;

    /// Reads the bytes at `offset`, all that `buffer` holds.
    ///
    /// # Errors
    /// If they are not there or cannot be read.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()>;

    /// Tells whether there are no bytes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Source for &[u8] {
    fn len(&self) -> u64 {
        <[u8]>::len(self) as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let bytes = self
            .get(start..)
            .and_then(|rest| rest.get(..buffer.len()))
            .ok_or_else(|| {
                Error::io(
                    &std::io::ErrorKind::UnexpectedEof.into(),
                    "Can't read text in memory",
                )
            })?;
        buffer.copy_from_slice(bytes);
        Ok(())
    }
}

/// A text in an open file, as long as it was when it was opened.
#[derive(Debug)]
pub struct FileSource {
    file: File,
    path: PathBuf,
    len: u64,
}

impl FileSource {
    /// Takes an open file; `path` is for error messages.
    ///
    /// # Errors
    /// If its length cannot be read.
    pub fn new(file: File, path: PathBuf) -> Result<Self> {
        let meta = file.metadata().map_err(|error| {
            let text = format!(
                "Can't get attribute information from file '{}'",
                path.display()
            );
            Error::io(&error, text)
        })?;
        Ok(Self {
            file,
            path,
            len: meta.len(),
        })
    }
}

impl Source for FileSource {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        self.file.read_exact_at(buffer, offset).map_err(|error| {
            Error::io(&error, format!("Can't read file '{}'", self.path.display()))
        })
    }
}

/// How much is read at a time.
pub(crate) const BLOCK: usize = 128 << 10;

/// Reads the lines of a source one after the other. A line ends with CR, LF or both.
pub(crate) struct Lines<'s> {
    source: &'s dyn Source,
    end: u64,
    /// Where the buffer's end is in the source.
    read: u64,
    buffer: Vec<u8>,
    at: usize,
}

/// A part of a line; whole lines come in one unless they are long.
pub(crate) struct Piece<'b> {
    pub(crate) bytes: &'b [u8],
    /// Whether the line ends with it; if `bytes` does not end it, the text does.
    pub(crate) is_last: bool,
}

impl Piece<'_> {
    /// Tells whether the line has an end of its own.
    pub(crate) fn has_eol(&self) -> bool {
        matches!(self.bytes.last(), Some(b'\n' | b'\r'))
    }
}

impl<'s> Lines<'s> {
    /// Reads from `start`, where a line begins, to `end`, where one ends.
    pub(crate) fn new(source: &'s dyn Source, start: u64, end: u64) -> Self {
        Self {
            source,
            end,
            read: start,
            buffer: Vec::new(),
            at: 0,
        }
    }

    /// Returns the next piece, `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Piece<'_>>> {
        let rest = self.buffer.len() - self.at;
        if rest == 0 || (rest == 1 && self.buffer[self.at] == b'\r') {
            self.fill()?;
        }
        let rest = &self.buffer[self.at..];
        if rest.is_empty() {
            return Ok(None);
        }
        let (len, is_last) = match memchr2(b'\n', b'\r', rest) {
            None => (rest.len(), self.read == self.end),
            Some(at) if rest[at] == b'\n' => (at + 1, true),
            Some(at) => match rest.get(at + 1) {
                Some(b'\n') => (at + 2, true),
                Some(_) => (at + 1, true),
                None if self.read == self.end => (at + 1, true),
                // Whether a LF follows is to be seen; `fill` has seen to it that this is not 0.
                None => (at, false),
            },
        };
        let from = self.at;
        self.at += len;
        Ok(Some(Piece {
            bytes: &self.buffer[from..self.at],
            is_last,
        }))
    }

    /// Skips a line; tells whether there was one.
    pub(crate) fn skip(&mut self) -> Result<bool> {
        let mut any = false;
        while let Some(piece) = self.next()? {
            any = true;
            if piece.is_last {
                break;
            }
        }
        Ok(any)
    }

    /// Reads more behind what is left.
    fn fill(&mut self) -> Result<()> {
        let left = self.buffer.len() - self.at;
        let more = (self.end - self.read).min(BLOCK as u64);
        // At most BLOCK.
        let more = usize::try_from(more).unwrap_or(BLOCK);
        self.buffer.copy_within(self.at.., 0);
        self.buffer.resize(left + more, 0);
        self.at = 0;
        if more > 0 {
            self.source.read_at(self.read, &mut self.buffer[left..])?;
        }
        self.read += more as u64;
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Reads all lines.
    pub(crate) fn lines_of(text: &[u8]) -> Vec<Vec<u8>> {
        let source: &dyn Source = &text;
        let mut lines = Lines::new(source, 0, source.len());
        let (mut all, mut line) = (Vec::new(), Vec::new());
        while let Some(piece) = lines.next().unwrap() {
            line.extend_from_slice(piece.bytes);
            if piece.is_last {
                all.push(std::mem::take(&mut line));
            }
        }
        assert!(line.is_empty());
        all
    }

    #[test]
    fn lines_end_with_any_eol() {
        let lines = lines_of(b"a\nb\r\nc\rd\r\r\n\n\re");
        let expected = [
            &b"a\n"[..],
            b"b\r\n",
            b"c\r",
            b"d\r",
            b"\r\n",
            b"\n",
            b"\r",
            b"e",
        ];
        assert_eq!(lines, expected);
        assert!(lines_of(b"").is_empty());
        assert_eq!(lines_of(b"\r"), [b"\r"]);
    }

    #[test]
    fn an_eol_may_lie_across_two_blocks() {
        for eol in [&b"\n"[..], b"\r", b"\r\n"] {
            for len in BLOCK - 2..BLOCK + 1 {
                let mut text = vec![b'x'; len];
                text.extend_from_slice(eol);
                text.push(b'y');
                let lines = lines_of(&text);
                assert_eq!(lines.len(), 2, "{eol:?} {len}");
                assert!(lines[0].ends_with(eol) && lines[0].len() == len + eol.len());
                text.pop();
                assert_eq!(lines_of(&text).len(), 1, "{eol:?} {len}");
            }
        }
    }

    #[test]
    fn files_are_read_as_long_as_they_were() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, "abc").unwrap();
        let source = FileSource::new(File::open(&path).unwrap(), path.clone()).unwrap();
        std::fs::write(&path, "a").unwrap();
        let error = source.read_at(0, &mut [0; 3]).unwrap_err();
        assert!(error.to_string().contains("Can't read file '"), "{error}");
    }
}
