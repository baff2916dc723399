//! The one error type that crosses crates.
//!
//! An [`Error`] is a chain of links, outermost first. Each link has an [`ErrorCode`] and, mostly, a
//! message. Programs print the chain as Subversion 1.14 does, see [`Error::to_lines`].

mod codes;

use std::fmt;

/// The result of what can fail with an [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The number of an error: one of Subversion's (from 120000), or an operating system's `errno`.
///
/// Numbers that this program does not know, sent by a peer, survive.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ErrorCode(pub i32);

impl ErrorCode {
    /// Makes the code of an operating system error from its `errno`.
    pub const fn from_errno(errno: i32) -> Self {
        Self(errno)
    }

    /// Returns the number, as in `E155007`.
    pub const fn number(self) -> i32 {
        self.0
    }

    /// Returns Subversion's symbolic name without its prefix, if the number is known.
    pub fn name(self) -> Option<&'static str> {
        self.entry().map(|(_, name, _)| *name)
    }

    /// Returns the text that is printed for a link without a message.
    pub fn default_text(self) -> String {
        match self.entry() {
            Some((_, _, text)) => (*text).to_owned(),
            None if self.is_os() => os_text(&std::io::Error::from_raw_os_error(self.0)),
            None => format!("Unknown error {}", self.0),
        }
    }

    /// Tells whether the number is an operating system's `errno`.
    pub const fn is_os(self) -> bool {
        self.0 > 0 && self.0 < 120_000
    }

    fn entry(self) -> Option<&'static (i32, &'static str, &'static str)> {
        let at = Self::TABLE
            .binary_search_by_key(&self.0, |entry| entry.0)
            .ok()?;
        Some(&Self::TABLE[at])
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "E{:06}", self.0)
    }
}

impl fmt::Debug for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "E{:06} ({name})", self.0),
            None => write!(f, "E{:06}", self.0),
        }
    }
}

/// An error with Subversion's number, a message, and what caused it.
#[derive(Clone)]
pub struct Error(Box<Link>);

#[derive(Clone)]
struct Link {
    code: ErrorCode,
    message: Option<String>,
    cause: Option<Error>,
}

impl Error {
    /// Makes an error of one link. The message starts with a capital and has no full stop.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self(Box::new(Link {
            code,
            message: Some(message.into()),
            cause: None,
        }))
    }

    /// Makes an error of one link that prints its code's default text.
    pub fn from_code(code: ErrorCode) -> Self {
        Self(Box::new(Link {
            code,
            message: None,
            cause: None,
        }))
    }

    /// Makes an operating system error say what was tried: `Can't open file '/x': No such file…`.
    ///
    /// `action` names verb and object, as in `Can't open file '/x'`.
    pub fn io(error: &std::io::Error, action: impl fmt::Display) -> Self {
        Self::new(io_code(error), format!("{action}: {}", os_text(error)))
    }

    /// Puts a new link with its own code before this error.
    #[must_use]
    pub fn wrap(self, code: ErrorCode, message: impl Into<String>) -> Self {
        Self(Box::new(Link {
            code,
            message: Some(message.into()),
            cause: Some(self),
        }))
    }

    /// Puts a new link with the same code before this error.
    #[must_use]
    pub fn context(self, message: impl Into<String>) -> Self {
        let code = self.code();
        self.wrap(code, message)
    }

    /// Puts a link that has no message before this error (its code's default text is printed).
    #[must_use]
    pub fn wrap_code(self, code: ErrorCode) -> Self {
        Self(Box::new(Link {
            code,
            message: None,
            cause: Some(self),
        }))
    }

    /// Appends `other` at the innermost end; for errors met while cleaning up after this one.
    #[must_use]
    pub fn attach(self, other: Self) -> Self {
        self.append(other.wrap_code(ErrorCode::COMPOSED_ERROR))
    }

    /// Appends `other` at the innermost end as a further explanation.
    #[must_use]
    pub fn append(mut self, other: Self) -> Self {
        let mut link = &mut self.0;
        while link.cause.is_some() {
            link = &mut link
                .cause
                .as_mut()
                .expect("was some in the loop's condition")
                .0;
        }
        link.cause = Some(other);
        self
    }

    /// Returns the outermost code, by which callers branch.
    pub fn code(&self) -> ErrorCode {
        self.0.code
    }

    /// Returns the outermost message, or the code's default text.
    pub fn message(&self) -> String {
        self.0
            .message
            .clone()
            .unwrap_or_else(|| self.0.code.default_text())
    }

    /// Returns the outermost message, if that link has one of its own.
    pub fn own_message(&self) -> Option<&str> {
        self.0.message.as_deref()
    }

    /// Returns the error under the outermost link.
    pub fn cause(&self) -> Option<&Self> {
        self.0.cause.as_ref()
    }

    /// Goes through the chain, outermost first.
    pub fn chain(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |error| error.cause())
    }

    /// Tells whether a link of the chain has this code.
    pub fn has_code(&self, code: ErrorCode) -> bool {
        self.chain().any(|error| error.code() == code)
    }

    /// Returns the innermost error.
    pub fn root(&self) -> &Self {
        self.chain().last().unwrap_or(self)
    }

    /// Formats the chain as Subversion prints it, a line each with its newline, `prefix` first
    /// (as in `svn: `). A code without a message prints its default text once only.
    pub fn to_lines(&self, prefix: &str) -> String {
        let mut lines = String::new();
        let mut printed = Vec::new();
        for link in self.chain() {
            if link.own_message().is_none() {
                if printed.contains(&link.code()) {
                    continue;
                }
                printed.push(link.code());
            }
            lines.push_str(&format!("{prefix}{}: {}\n", link.code(), link.message()));
        }
        lines
    }

    /// Formats the outermost link that has a message as a warning line with its newline:
    /// `svn: warning: W155007: …`.
    pub fn to_warning(&self, prefix: &str) -> String {
        let link = self
            .chain()
            .find(|link| link.own_message().is_some())
            .unwrap_or(self);
        format!(
            "{prefix}warning: W{:06}: {}\n",
            self.code().number(),
            link.message()
        )
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code(), self.message())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.to_lines("").trim_end())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause().map(|cause| cause as _)
    }
}

fn io_code(error: &std::io::Error) -> ErrorCode {
    match error.raw_os_error() {
        Some(errno) => ErrorCode::from_errno(errno),
        None if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            ErrorCode::STREAM_UNEXPECTED_EOF
        }
        None => ErrorCode::IO_WRITE_ERROR,
    }
}

/// Returns the system's text for an error without Rust's " (os error N)".
fn os_text(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.rfind(" (os error ") {
        Some(at) => text[..at].to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests;
