//! The log of operations and errors.
//!
//! ```text
//! pid time host user repository operation
//! pid time host user repository ERR file line number message
//! ```
//!
//! Each link of an error is a line; those after the first have `ERR -`. What is not known is `-`.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use sylvan_core::{Error, Result, Timestamp};

/// The longest line of an error; what is longer is cut.
const LONGEST: usize = 8190;

/// Writes the log. Clones share it.
#[derive(Clone, Debug)]
pub struct Logger(Arc<Target>);

#[derive(Debug)]
struct Target {
    /// Standard error if there is none.
    path: Option<PathBuf>,
    file: Mutex<Option<File>>,
}

/// Whom a line is about.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct About<'a> {
    pub(crate) host: Option<&'a str>,
    pub(crate) user: Option<&'a str>,
    /// The repository's name, escaped.
    pub(crate) repository: Option<&'a str>,
}

impl Logger {
    /// Appends to a file, which is made if it is not there.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(path: &Path) -> Result<Self> {
        let file = append_to(path)?;
        Ok(Self(Arc::new(Target {
            path: Some(path.to_owned()),
            file: Mutex::new(Some(file)),
        })))
    }

    /// Writes to standard error.
    pub fn standard_error() -> Self {
        Self(Arc::new(Target {
            path: None,
            file: Mutex::new(None),
        }))
    }

    /// Opens the file again, which may have been moved away.
    ///
    /// # Errors
    /// If it cannot be opened; the log goes on where it was.
    pub fn reopen(&self) -> Result<()> {
        if let Some(path) = &self.0.path {
            let file = append_to(path)?;
            *self.0.file.lock().unwrap_or_else(PoisonError::into_inner) = Some(file);
        }
        Ok(())
    }

    /// Writes a line about an operation; whatever the client has put into the text, it is one line.
    pub(crate) fn operation(&self, now: Timestamp, about: About<'_>, text: &str) {
        let mut line = begin(now, about);
        line.extend(text.chars().map(|c| if c.is_control() { '?' } else { c }));
        line.push('\n');
        self.write(line.as_bytes());
    }

    /// Writes what went wrong.
    pub(crate) fn error(&self, now: Timestamp, about: About<'_>, error: &Error) {
        self.links(now, about, "ERR", error);
    }

    /// Writes what is odd.
    pub(crate) fn warning(&self, now: Timestamp, about: About<'_>, error: &Error) {
        self.links(now, about, "WARN", error);
    }

    fn links(&self, now: Timestamp, about: About<'_>, prefix: &str, error: &Error) {
        let mut lines = Vec::new();
        for (at, link) in error.chain().enumerate() {
            let mut line = begin(now, about);
            let continued = if at == 0 { "" } else { "-" };
            let code = link.code().number();
            let _ = write!(line, "{prefix}{continued} - 0 {code} ");
            let mut line = line.into_bytes();
            escape(&link.message(), &mut line);
            line.truncate(LONGEST);
            line.push(b'\n');
            lines.append(&mut line);
        }
        self.write(&lines);
    }

    /// What cannot be written is lost: nobody could be told.
    fn write(&self, bytes: &[u8]) {
        let mut file = self.0.file.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = match &mut *file {
            Some(file) => file.write_all(bytes),
            None => std::io::stderr().write_all(bytes),
        };
    }
}

fn append_to(path: &Path) -> Result<File> {
    File::options()
        .append(true)
        .create(true)
        .open(path)
        .map_err(|error| Error::io(&error, format!("Can't open file '{}'", path.display())))
}

fn begin(now: Timestamp, about: About<'_>) -> String {
    format!(
        "{} {} {} {} {} ",
        std::process::id(),
        now.to_iso(),
        about.host.unwrap_or("-"),
        about.user.unwrap_or("-"),
        about.repository.unwrap_or("-")
    )
}

/// Writes text so that no byte of it can be taken for another line.
fn escape(text: &str, line: &mut Vec<u8>) {
    for byte in text.bytes() {
        match byte {
            b'\x08' => line.extend(b"\\b"),
            b'\n' => line.extend(b"\\n"),
            b'\r' => line.extend(b"\\r"),
            b'\t' => line.extend(b"\\t"),
            b'\x0b' => line.extend(b"\\v"),
            b'\\' => line.extend(b"\\\\"),
            b' '..=b'~' => line.push(byte),
            _ => line.extend(format!("\\x{byte:02x}").bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use sylvan_core::ErrorCode;

    use super::*;

    #[test]
    fn lines_have_the_fields_of_subversion() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let logger = Logger::open(&path).unwrap();
        let now = Timestamp::from_micros(1_000_001);
        let about = About {
            host: Some("127.0.0.1"),
            user: None,
            repository: Some("r"),
        };
        logger.operation(now, about, "list /a\nb");
        std::fs::rename(&path, dir.path().join("old")).unwrap();
        logger.reopen().unwrap();
        let error =
            Error::from_code(ErrorCode::RA_NOT_AUTHORIZED).wrap(ErrorCode::FS_NOT_FOUND, "a\nb\\ü");
        logger.error(now, About::default(), &error);
        let pid = std::process::id();
        let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
        assert_eq!(
            read("old"),
            format!("{pid} 1970-01-01T00:00:01.000001Z 127.0.0.1 - r list /a?b\n")
        );
        assert_eq!(
            read("log"),
            format!(
                "{pid} 1970-01-01T00:00:01.000001Z - - - ERR - 0 160013 a\\nb\\\\\\xc3\\xbc\n\
                 {pid} 1970-01-01T00:00:01.000001Z - - - ERR- - 0 170001 Authorization failed\n"
            )
        );
    }
}
