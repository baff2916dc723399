use sylvan_core::{Error, ErrorCode};

/// What is wrong with an svndiff stream. The peer or the file it was stored in is at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SvndiffError {
    /// The stream does not begin with a known version.
    #[error("Svndiff has invalid header")]
    InvalidHeader,
    /// A window covers more than it may.
    #[error("Svndiff contains a too-large window")]
    WindowTooLarge,
    /// The numbers before a window do not end.
    #[error("Svndiff contains a too-large window header")]
    HeaderTooLarge,
    /// The numbers before a window overflow.
    #[error("Svndiff contains corrupt window header")]
    CorruptHeader,
    /// A source view begins or ends before the one before it.
    #[error("Svndiff has backwards-sliding source views")]
    BackwardView,
    /// An instruction is cut or of an unknown kind.
    #[error("Invalid diff stream: insn {0} cannot be decoded")]
    BadInstruction(usize),
    /// An instruction copies nothing.
    #[error("Invalid diff stream: insn {0} has length zero")]
    EmptyInstruction(usize),
    /// An instruction writes past the window.
    #[error("Invalid diff stream: insn {0} overflows the target view")]
    TargetOverflow(usize),
    /// A copy reads past the source view.
    #[error("Invalid diff stream: [src] insn {0} overflows the source view")]
    SourceOverflow(usize),
    /// A copy reads what is not yet written.
    #[error("Invalid diff stream: [tgt] insn {0} starts beyond the target view position")]
    BeyondTarget(usize),
    /// A copy reads past the new data.
    #[error("Invalid diff stream: [new] insn {0} overflows the new data section")]
    NewDataOverflow(usize),
    /// The instructions write less than the window covers.
    #[error("Delta does not fill the target window")]
    TargetNotFilled,
    /// The instructions do not use all new data.
    #[error("Delta does not contain enough new data")]
    NewDataUnused,
    /// A compressed section has no length.
    #[error("Decompression of compressed data failed: no size")]
    NoPlainSize,
    /// A compressed section would become too long.
    #[error("Decompression of compressed data failed: size too large")]
    PlainSizeTooLarge,
    /// A section is no zlib or LZ4 stream.
    #[error("Decompression of svndiff data failed")]
    BadCompression,
    /// A section has another length than it says.
    #[error("Size of uncompressed data does not match stored original length")]
    PlainSizeMismatch,
    /// The stream ends within a window, or before its header.
    #[error("Unexpected end of svndiff input")]
    UnexpectedEnd,
}

impl SvndiffError {
    /// Returns Subversion's number.
    pub const fn code(self) -> ErrorCode {
        match self {
            Self::InvalidHeader => ErrorCode::SVNDIFF_INVALID_HEADER,
            Self::WindowTooLarge | Self::HeaderTooLarge | Self::CorruptHeader => {
                ErrorCode::SVNDIFF_CORRUPT_WINDOW
            }
            Self::BackwardView => ErrorCode::SVNDIFF_BACKWARD_VIEW,
            Self::BadInstruction(_)
            | Self::EmptyInstruction(_)
            | Self::TargetOverflow(_)
            | Self::SourceOverflow(_)
            | Self::BeyondTarget(_)
            | Self::NewDataOverflow(_)
            | Self::TargetNotFilled
            | Self::NewDataUnused => ErrorCode::SVNDIFF_INVALID_OPS,
            Self::NoPlainSize
            | Self::PlainSizeTooLarge
            | Self::BadCompression
            | Self::PlainSizeMismatch => ErrorCode::SVNDIFF_INVALID_COMPRESSED_DATA,
            Self::UnexpectedEnd => ErrorCode::SVNDIFF_UNEXPECTED_END,
        }
    }
}

impl From<SvndiffError> for Error {
    fn from(error: SvndiffError) -> Self {
        Self::new(error.code(), error.to_string())
    }
}
