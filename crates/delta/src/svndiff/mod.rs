//! The svndiff stream format: a file's content as windows of instructions against a base text.
//!
//! ```text
//! svndiff: "SVN" version:byte window*
//! window:  source-offset source-length target-length instructions-length new-data-length
//!          instructions new-data
//! ```
//!
//! The five numbers are unsigned integers in base 128, most significant digit first, the high bit
//! set in all bytes but the last. In version 0 both sections are as they are; in version 1 (zlib)
//! and version 2 (LZ4 block) each is its plain length as an integer and then its bytes, compressed
//! if that is shorter than the plain ones, which is how a reader tells.
//!
//! An instruction is a byte: the two high bits say what (0 copy from the source view, 1 copy from
//! the target written so far, 2 copy from new data), the six low bits how many bytes, 0 meaning
//! that an integer with the length follows. The two copies from views then have the offset in
//! their view as an integer. A copy from the target may run into what it writes.
//!
//! A window covers at most [`WINDOW_SIZE`] bytes of either text, and the source views never slide
//! backwards.

mod decode;
mod encode;
mod error;
#[cfg(test)]
mod tests;
mod varint;
mod window;
mod xdelta;

pub use decode::{Decoder, WindowDecoder, WindowHeader};
pub use encode::{Encoder, encode_fulltext};
pub use error::SvndiffError;
pub use window::{Op, Ops, Window};
pub use xdelta::{Deltifier, TextSource};

/// The most bytes of source or target that a window covers.
pub const WINDOW_SIZE: usize = 102_400;

/// The longest encoded integer.
const MAX_INT: usize = 10;

/// The longest instruction section: as many instructions as a window has bytes, each at its
/// longest.
const MAX_INSTRUCTIONS: usize = WINDOW_SIZE * (2 * MAX_INT + 1);

/// The version of a stream, its fourth byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Version {
    /// Plain.
    V0,
    /// Sections compressed with zlib.
    V1,
    /// Sections compressed with LZ4.
    V2,
}

impl Version {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::V0, Self::V1, Self::V2];

    /// Returns the stream's first bytes.
    pub const fn magic(self) -> [u8; 4] {
        [b'S', b'V', b'N', self as u8]
    }

    /// Returns the version of a stream with these first bytes.
    pub fn from_magic(magic: [u8; 4]) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|version| version.magic() == magic)
    }
}
