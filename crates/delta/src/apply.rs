use std::io::{Read, Seek, SeekFrom};

use sylvan_core::{Error, ErrorCode, Result};

use crate::TextFormat;
use crate::svndiff::{Decoder, Window};

/// The text that a delta applies to, readable anywhere.
pub trait Base {
    /// Returns the `len` bytes at `offset`, which may be put into `buffer`.
    ///
    /// # Errors
    /// `INCOMPLETE_DATA` if the text ends before.
    fn view<'a>(&'a mut self, offset: u64, len: usize, buffer: &'a mut Vec<u8>)
    -> Result<&'a [u8]>;
}

impl Base for &[u8] {
    fn view<'a>(&'a mut self, offset: u64, len: usize, _: &'a mut Vec<u8>) -> Result<&'a [u8]> {
        usize::try_from(offset)
            .ok()
            .and_then(|start| self.get(start..start.checked_add(len)?))
            .ok_or_else(source_too_short)
    }
}

/// The base of an added file: nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct EmptyBase;

impl Base for EmptyBase {
    fn view<'a>(&'a mut self, _: u64, len: usize, _: &'a mut Vec<u8>) -> Result<&'a [u8]> {
        if len == 0 {
            Ok(&[])
        } else {
            Err(source_too_short())
        }
    }
}

/// A base that is read from a file or the like.
#[derive(Debug)]
pub struct SeekBase<R> {
    reader: R,
    position: u64,
}

impl<R: Read + Seek> SeekBase<R> {
    /// Makes one of a reader that stands at its beginning.
    pub const fn new(reader: R) -> Self {
        Self {
            reader,
            position: 0,
        }
    }
}

impl<R: Read + Seek> Base for SeekBase<R> {
    fn view<'a>(
        &'a mut self,
        offset: u64,
        len: usize,
        buffer: &'a mut Vec<u8>,
    ) -> Result<&'a [u8]> {
        if len == 0 {
            return Ok(&[]);
        }
        let failed = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => source_too_short(),
            _ => Error::io(&error, "Can't read delta base"),
        };
        if offset != self.position {
            self.reader.seek(SeekFrom::Start(offset)).map_err(failed)?;
        }
        buffer.resize(len, 0);
        self.reader.read_exact(buffer).map_err(failed)?;
        self.position = offset + len as u64;
        Ok(buffer)
    }
}

impl<B: Base + ?Sized> Base for Box<B> {
    fn view<'a>(
        &'a mut self,
        offset: u64,
        len: usize,
        buffer: &'a mut Vec<u8>,
    ) -> Result<&'a [u8]> {
        (**self).view(offset, len, buffer)
    }
}

fn source_too_short() -> Error {
    Error::new(
        ErrorCode::INCOMPLETE_DATA,
        "Delta source ended unexpectedly",
    )
}

/// Makes a file's new text from the chunks of [`Editor::text_chunk`](crate::Editor::text_chunk).
///
/// The text comes out in pieces, in order, each lent for the call only. What a chunk holds as it
/// is (full texts, uncompressed new data) is not copied; compressed new data is unpacked once into
/// a buffer that is used again.
///
/// ```
/// use sylvan_delta::{Applier, EmptyBase, TextFormat, svndiff};
///
/// let stream = svndiff::encode_fulltext(svndiff::Version::V1, b"hello");
/// let mut text = Vec::new();
/// let mut applier = Applier::new(TextFormat::Svndiff, EmptyBase);
/// applier.push(&stream, |piece| Ok(text.extend_from_slice(piece)))?;
/// applier.finish()?;
/// assert_eq!(text, b"hello");
/// # Ok::<_, sylvan_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Applier<B> {
    format: TextFormat,
    decoder: Decoder,
    base: B,
    source: Vec<u8>,
    target: Vec<u8>,
}

impl<B: Base> Applier<B> {
    /// Makes one for a text in `format`; `base` is not read for [`TextFormat::Fulltext`].
    pub const fn new(format: TextFormat, base: B) -> Self {
        Self {
            format,
            decoder: Decoder::new(),
            base,
            source: Vec::new(),
            target: Vec::new(),
        }
    }

    /// Makes it ready for another text; keeps its buffers.
    pub fn restart(&mut self, format: TextFormat, base: B) {
        self.format = format;
        self.base = base;
        self.decoder.reset();
    }

    /// Takes the next chunk and gives the text that it completes to `out`.
    ///
    /// # Errors
    /// Those of the svndiff family, `INCOMPLETE_DATA` if the base is too short, and what `out`
    /// returned.
    pub fn push(&mut self, chunk: &[u8], mut out: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        if self.format == TextFormat::Fulltext {
            return out(chunk);
        }
        let (base, source, target) = (&mut self.base, &mut self.source, &mut self.target);
        self.decoder.push(chunk, |window| {
            if let Some(text) = window.fulltext() {
                return out(text);
            }
            apply(&window, base, source, target)?;
            out(target)
        })
    }

    /// Checks that the text may end here.
    ///
    /// # Errors
    /// `SVNDIFF_UNEXPECTED_END`.
    pub fn finish(&self) -> Result<()> {
        match self.format {
            TextFormat::Fulltext => Ok(()),
            TextFormat::Svndiff => Ok(self.decoder.finish()?),
        }
    }
}

fn apply(
    window: &Window<'_>,
    base: &mut impl Base,
    source: &mut Vec<u8>,
    target: &mut Vec<u8>,
) -> Result<()> {
    let view = base.view(window.source_offset(), window.source_len(), source)?;
    target.clear();
    window.apply(view, target);
    Ok(())
}
