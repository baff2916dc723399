use flate2::{Decompress, FlushDecompress, Status};

use super::varint::{self, Int};
use super::window::Ops;
use super::{MAX_INSTRUCTIONS, MAX_INT, Op, SvndiffError, Version, WINDOW_SIZE, Window};

/// Decodes a stream that comes in chunks, cut anywhere.
///
/// Holds at most one window. Sections that are whole in a chunk and not compressed are passed on
/// without being copied.
///
/// ```
/// use sylvan_delta::svndiff::{Decoder, SvndiffError, Version, encode_fulltext};
///
/// let stream = encode_fulltext(Version::V1, b"hello");
/// let mut text = Vec::new();
/// let mut decoder = Decoder::new();
/// for chunk in stream.chunks(3) {
///     decoder.push(chunk, |window| {
///         text.extend_from_slice(window.fulltext().unwrap());
///         Ok::<_, SvndiffError>(())
///     })?;
/// }
/// decoder.finish()?;
/// assert_eq!(text, b"hello");
/// # Ok::<_, SvndiffError>(())
/// ```
#[derive(Debug)]
pub struct Decoder {
    state: State,
    version: Version,
    header: Header,
    /// The end of the source view before.
    last_view: (u64, u64),
    /// What came of a piece that is not complete.
    partial: Vec<u8>,
    /// The instruction section of the window whose new data is awaited, as it came.
    packed_instructions: Vec<u8>,
    instructions: Unpacked,
    new_data: Unpacked,
    inflate: Option<Box<Decompress>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Magic,
    Header,
    Instructions,
    NewData,
    Failed,
}

#[derive(Clone, Copy, Debug, Default)]
struct Header {
    source_offset: u64,
    source_len: usize,
    target_len: usize,
    instructions_len: usize,
    new_data_len: usize,
}

impl Header {
    /// Checks the limits, and returns the end of the source view.
    fn check(&self) -> Result<u64, SvndiffError> {
        if self.target_len > WINDOW_SIZE
            || self.source_len > WINDOW_SIZE
            || self.new_data_len > WINDOW_SIZE + MAX_INT
            || self.instructions_len > MAX_INSTRUCTIONS
        {
            return Err(SvndiffError::WindowTooLarge);
        }
        self.source_offset
            .checked_add(self.source_len as u64)
            .filter(|end| i64::try_from(*end).is_ok())
            .ok_or(SvndiffError::CorruptHeader)
    }
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Decoder {
    /// Makes one that awaits the beginning of a stream.
    pub const fn new() -> Self {
        Self {
            state: State::Magic,
            version: Version::V0,
            header: Header {
                source_offset: 0,
                source_len: 0,
                target_len: 0,
                instructions_len: 0,
                new_data_len: 0,
            },
            last_view: (0, 0),
            partial: Vec::new(),
            packed_instructions: Vec::new(),
            instructions: Unpacked::new(),
            new_data: Unpacked::new(),
            inflate: None,
        }
    }

    /// Makes it await the beginning of another stream; keeps its buffers.
    pub fn reset(&mut self) {
        self.state = State::Magic;
        self.last_view = (0, 0);
        self.partial.clear();
    }

    /// Takes the next chunk and gives each window that it completes to `sink`.
    ///
    /// # Errors
    /// What is wrong with the stream, or what `sink` returned; then the decoder fails until it is
    /// [`reset`](Self::reset).
    pub fn push<E: From<SvndiffError>>(
        &mut self,
        mut chunk: &[u8],
        mut sink: impl FnMut(Window<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let state = self.state;
        self.state = State::Failed;
        self.state = self.run(state, &mut chunk, &mut sink)?;
        Ok(())
    }

    /// Checks that the stream may end here.
    ///
    /// # Errors
    /// `UnexpectedEnd`.
    pub fn finish(&self) -> Result<(), SvndiffError> {
        if self.state == State::Header && self.partial.is_empty() {
            Ok(())
        } else {
            Err(SvndiffError::UnexpectedEnd)
        }
    }

    fn run<E: From<SvndiffError>>(
        &mut self,
        mut state: State,
        chunk: &mut &[u8],
        sink: &mut impl FnMut(Window<'_>) -> Result<(), E>,
    ) -> Result<State, E> {
        loop {
            state = match state {
                State::Magic => match self.magic(chunk)? {
                    true => State::Header,
                    false => return Ok(state),
                },
                State::Header => match self.window_header(chunk)? {
                    true => State::Instructions,
                    false => return Ok(state),
                },
                State::Instructions => {
                    let len = self.header.instructions_len;
                    let Some(section) = take(&mut self.partial, chunk, len) else {
                        return Ok(state);
                    };
                    self.packed_instructions.clear();
                    self.packed_instructions.extend_from_slice(section);
                    self.partial.clear();
                    State::NewData
                }
                State::NewData => {
                    let len = self.header.new_data_len;
                    let Some(packed) = take(&mut self.partial, chunk, len) else {
                        return Ok(state);
                    };
                    let window = window(
                        self.version,
                        &self.header,
                        &self.packed_instructions,
                        packed,
                        (&mut self.instructions, &mut self.new_data),
                        &mut self.inflate,
                    )?;
                    sink(window)?;
                    self.partial.clear();
                    State::Header
                }
                State::Failed => return Err(SvndiffError::InvalidHeader.into()),
            }
        }
    }

    fn magic(&mut self, chunk: &mut &[u8]) -> Result<bool, SvndiffError> {
        let wanted = chunk.len().min(4 - self.partial.len());
        let (now, later) = chunk.split_at(wanted);
        self.partial.extend_from_slice(now);
        *chunk = later;
        // A wrong beginning is told at once, as far as it goes.
        if !b"SVN".starts_with(&self.partial[..self.partial.len().min(3)]) {
            return Err(SvndiffError::InvalidHeader);
        }
        let Ok(magic) = <[u8; 4]>::try_from(self.partial.as_slice()) else {
            return Ok(false);
        };
        self.version = Version::from_magic(magic).ok_or(SvndiffError::InvalidHeader)?;
        self.partial.clear();
        Ok(true)
    }

    /// Reads the five numbers before a window, if they are there.
    fn window_header(&mut self, chunk: &mut &[u8]) -> Result<bool, SvndiffError> {
        if self.partial.is_empty() {
            return match parse_header(chunk)? {
                Some((header, used)) => {
                    *chunk = &chunk[used..];
                    self.accept(header)?;
                    Ok(true)
                }
                None => {
                    self.partial.extend_from_slice(chunk);
                    *chunk = &[];
                    Ok(false)
                }
            };
        }
        let before = self.partial.len();
        let wanted = chunk.len().min((5 * MAX_INT).saturating_sub(before));
        self.partial.extend_from_slice(&chunk[..wanted]);
        match parse_header(&self.partial)? {
            Some((header, used)) => {
                *chunk = &chunk[used - before..];
                self.partial.clear();
                self.accept(header)?;
                Ok(true)
            }
            None => {
                *chunk = &chunk[wanted..];
                Ok(false)
            }
        }
    }

    fn accept(&mut self, header: Header) -> Result<(), SvndiffError> {
        let end = header.check()?;
        if header.source_len > 0
            && (header.source_offset < self.last_view.0 || end < self.last_view.1)
        {
            return Err(SvndiffError::BackwardView);
        }
        self.last_view = (header.source_offset, end);
        self.header = header;
        Ok(())
    }
}

/// Returns `len` bytes from the front of `partial` and `chunk`, or keeps what there is. The bytes
/// stay where they are if `chunk` has them all; else they are all of `partial`.
fn take<'r, 'c: 'r>(
    partial: &'r mut Vec<u8>,
    chunk: &mut &'c [u8],
    len: usize,
) -> Option<&'r [u8]> {
    if partial.is_empty() && chunk.len() >= len {
        let (now, later) = chunk.split_at(len);
        *chunk = later;
        return Some(now);
    }
    let wanted = chunk.len().min(len - partial.len());
    let (now, later) = chunk.split_at(wanted);
    partial.extend_from_slice(now);
    *chunk = later;
    (partial.len() == len).then_some(partial)
}

fn parse_header(bytes: &[u8]) -> Result<Option<(Header, usize)>, SvndiffError> {
    let mut numbers = [0; 5];
    let mut at = 0;
    for number in &mut numbers {
        match varint::decode(&bytes[at..]) {
            Int::Complete(value, used) => {
                *number = value;
                at += used;
            }
            Int::Incomplete => return Ok(None),
            Int::TooLong => return Err(SvndiffError::HeaderTooLarge),
        }
    }
    let size = |number: u64| usize::try_from(number).map_err(|_| SvndiffError::WindowTooLarge);
    let header = Header {
        source_offset: numbers[0],
        source_len: size(numbers[1])?,
        target_len: size(numbers[2])?,
        instructions_len: size(numbers[3])?,
        new_data_len: size(numbers[4])?,
    };
    Ok(Some((header, at)))
}

fn window<'a>(
    version: Version,
    header: &Header,
    packed_instructions: &'a [u8],
    packed_data: &'a [u8],
    (instructions, data): (&'a mut Unpacked, &'a mut Unpacked),
    inflate: &mut Option<Box<Decompress>>,
) -> Result<Window<'a>, SvndiffError> {
    let data = data.unpack(version, packed_data, WINDOW_SIZE, inflate)?;
    let instructions =
        instructions.unpack(version, packed_instructions, MAX_INSTRUCTIONS, inflate)?;
    Window::new(
        header.source_offset,
        header.source_len,
        header.target_len,
        instructions,
        data,
    )
}

/// A buffer for a section without its compression, used again and again.
#[derive(Debug)]
struct Unpacked(Vec<u8>);

impl Unpacked {
    const fn new() -> Self {
        Self(Vec::new())
    }

    fn unpack<'a>(
        &'a mut self,
        version: Version,
        packed: &'a [u8],
        limit: usize,
        inflate: &mut Option<Box<Decompress>>,
    ) -> Result<&'a [u8], SvndiffError> {
        if version == Version::V0 {
            return Ok(packed);
        }
        let mut at = 0;
        let plain_len = match varint::decode(packed) {
            Int::Complete(len, used) => {
                at += used;
                usize::try_from(len).map_err(|_| SvndiffError::PlainSizeTooLarge)?
            }
            Int::Incomplete | Int::TooLong => return Err(SvndiffError::NoPlainSize),
        };
        if plain_len > limit {
            return Err(SvndiffError::PlainSizeTooLarge);
        }
        let packed = &packed[at..];
        if packed.len() == plain_len {
            return Ok(packed);
        }
        // Grows only, so that bytes are cleared once and not for each window.
        if self.0.len() < plain_len {
            self.0.resize(plain_len, 0);
        }
        let plain = &mut self.0[..plain_len];
        match version {
            Version::V1 => inflate_exactly(inflate, packed, plain)?,
            Version::V0 | Version::V2 => match lz4_flex::block::decompress_into(packed, plain) {
                Ok(len) if len == plain_len => {}
                Ok(_) => return Err(SvndiffError::PlainSizeMismatch),
                Err(_) => return Err(SvndiffError::BadCompression),
            },
        }
        Ok(plain)
    }
}

fn inflate_exactly(
    inflate: &mut Option<Box<Decompress>>,
    packed: &[u8],
    plain: &mut [u8],
) -> Result<(), SvndiffError> {
    let inflate = inflate.get_or_insert_with(|| Box::new(Decompress::new(true)));
    inflate.reset(true);
    let status = inflate
        .decompress(packed, plain, FlushDecompress::Finish)
        .map_err(|_| SvndiffError::BadCompression)?;
    let filled = usize::try_from(inflate.total_out()) == Ok(plain.len());
    match status {
        Status::StreamEnd if filled => Ok(()),
        Status::StreamEnd => Err(SvndiffError::PlainSizeMismatch),
        Status::Ok | Status::BufError => Err(SvndiffError::BadCompression),
    }
}

/// Decodes windows that are whole in memory, one at a time, from any place in a stream where one
/// begins. For readers that can skip windows; it does not check that source views slide forwards.
///
/// ```
/// use sylvan_delta::svndiff::{Version, WindowDecoder, encode_fulltext};
///
/// let stream = encode_fulltext(Version::V2, b"hello");
/// let header = WindowDecoder::header(&stream[4..])?.unwrap();
/// let body = &stream[4 + header.len..][..header.body_len];
/// let mut decoder = WindowDecoder::new(Version::V2);
/// assert_eq!(decoder.decode(&header, body)?.fulltext(), Some(&b"hello"[..]));
/// # Ok::<_, sylvan_delta::svndiff::SvndiffError>(())
/// ```
#[derive(Debug)]
pub struct WindowDecoder {
    version: Version,
    instructions: Unpacked,
    new_data: Unpacked,
    inflate: Option<Box<Decompress>>,
}

/// The numbers before a window.
#[derive(Clone, Copy, Debug)]
pub struct WindowHeader {
    header: Header,
    /// The bytes that the numbers take.
    pub len: usize,
    /// The bytes that the window takes after them.
    pub body_len: usize,
}

impl WindowHeader {
    /// Returns the length of the source view.
    pub const fn source_len(&self) -> usize {
        self.header.source_len
    }

    /// Returns the length of what the window makes.
    pub const fn target_len(&self) -> usize {
        self.header.target_len
    }
}

impl WindowDecoder {
    /// The most bytes that a header takes.
    pub const MAX_HEADER: usize = 5 * MAX_INT;

    /// Makes one for windows of a stream of this version.
    pub const fn new(version: Version) -> Self {
        Self {
            version,
            instructions: Unpacked::new(),
            new_data: Unpacked::new(),
            inflate: None,
        }
    }

    /// Reads the numbers before a window; `None` if `bytes` has only a part of them.
    ///
    /// # Errors
    /// Those that name the header or a window that is too large.
    pub fn header(bytes: &[u8]) -> Result<Option<WindowHeader>, SvndiffError> {
        let Some((header, len)) = parse_header(bytes)? else {
            return Ok(None);
        };
        header.check()?;
        Ok(Some(WindowHeader {
            header,
            len,
            body_len: header.instructions_len + header.new_data_len,
        }))
    }

    /// Makes it one for windows of a stream of another version; keeps its buffers.
    pub const fn set_version(&mut self, version: Version) {
        self.version = version;
    }

    /// Tells whether the window with this header copies from its source. Only the instructions are
    /// decoded, and they are not checked.
    ///
    /// # Errors
    /// Those that name the instructions as a whole.
    pub fn copies_from_source(
        &mut self,
        header: &WindowHeader,
        body: &[u8],
    ) -> Result<bool, SvndiffError> {
        if header.header.source_len == 0 {
            return Ok(false);
        }
        let packed = body.get(..header.header.instructions_len);
        let packed = packed.ok_or(SvndiffError::UnexpectedEnd)?;
        let (version, inflate) = (self.version, &mut self.inflate);
        let plain = self
            .instructions
            .unpack(version, packed, MAX_INSTRUCTIONS, inflate)?;
        Ok(Ops::of(plain).any(|op| matches!(op, Op::Source { .. })))
    }

    /// Decodes the window with this header. The window may point into `body`.
    ///
    /// # Errors
    /// Those that name the window.
    pub fn decode<'a>(
        &'a mut self,
        header: &WindowHeader,
        body: &'a [u8],
    ) -> Result<Window<'a>, SvndiffError> {
        let (instructions, new_data) = body
            .split_at_checked(header.header.instructions_len)
            .filter(|_| body.len() == header.body_len)
            .ok_or(SvndiffError::UnexpectedEnd)?;
        window(
            self.version,
            &header.header,
            instructions,
            new_data,
            (&mut self.instructions, &mut self.new_data),
            &mut self.inflate,
        )
    }
}
