use sylvan_core::{Error, ErrorCode};

/// What is wrong with what the peer sent.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ProtocolError {
    /// Not the syntax, or not the items that belong there.
    #[error("Malformed network data")]
    Malformed,
    /// Not what belongs there, said more precisely.
    #[error("{0}")]
    Unexpected(String),
    /// Lists in lists without end.
    #[error("Items are nested too deeply")]
    TooDeep,
    /// A word that is none of the protocol's.
    #[error("Word is too long")]
    WordTooLong,
    /// A number of more than 64 bits.
    #[error("Number is larger than maximum")]
    NumberTooLarge,
    /// An item that is not taken whole for its size.
    #[error("The server response size exceeds the configured limit")]
    TooLong,
    /// Another version of the protocol.
    #[error("{0}")]
    BadVersion(String),
    /// A command that is not known here.
    #[error("{0}")]
    UnknownCommand(String),
    /// Something with its own number: a path, a date, a checksum.
    #[error("{0}")]
    Other(#[from] Error),
}

impl ProtocolError {
    /// Makes a `Malformed` that says more.
    pub fn unexpected(text: impl Into<String>) -> Self {
        Self::Unexpected(text.into())
    }

    /// Returns Subversion's number.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Malformed
            | Self::Unexpected(_)
            | Self::TooDeep
            | Self::WordTooLong
            | Self::NumberTooLarge => ErrorCode::RA_SVN_MALFORMED_DATA,
            Self::TooLong => ErrorCode::RA_SVN_RESPONSE_SIZE,
            Self::BadVersion(_) => ErrorCode::RA_SVN_BAD_VERSION,
            Self::UnknownCommand(_) => ErrorCode::RA_SVN_UNKNOWN_CMD,
            Self::Other(error) => error.code(),
        }
    }
}

impl PartialEq for ProtocolError {
    /// Compares kinds and numbers.
    fn eq(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other) && self.code() == other.code()
    }
}

impl From<ProtocolError> for Error {
    fn from(error: ProtocolError) -> Self {
        match error {
            ProtocolError::Other(error) => error,
            other => Self::new(other.code(), other.to_string()),
        }
    }
}
