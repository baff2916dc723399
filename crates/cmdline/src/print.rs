//! Standard output and standard error.
//!
//! Everything a program prints goes through [`Output`]. A closed pipe is reported as
//! `IO_PIPE_WRITE_ERROR`, which [`crate::error`] does not print; any other failure as
//! `Write error: …`.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use sylvan_core::path::raw;
use sylvan_core::{Error, ErrorCode, Result};

use crate::screen::Screen;

/// The two streams of a program. Standard output is buffered: by line on a terminal, by block else.
pub struct Output {
    out: Box<dyn Write + Send>,
    err: Box<dyn Write + Send>,
    buffer: Vec<u8>,
    line_buffered: bool,
    last_flush: Option<Instant>,
    screen: Screen,
}

/// How long output of work that goes on may wait for more.
const SOON: Duration = Duration::from_millis(50);
const BLOCK: usize = 32 * 1024;

impl Output {
    /// Opens the process's own streams.
    pub fn standard() -> Self {
        Self {
            line_buffered: io::stdout().is_terminal(),
            ..Self::to(RawStdout, io::stderr())
        }
    }

    /// Makes one that writes elsewhere, for tests.
    pub fn to(out: impl Write + Send + 'static, err: impl Write + Send + 'static) -> Self {
        Self {
            out: Box::new(out),
            err: Box::new(err),
            buffer: Vec::new(),
            line_buffered: false,
            last_flush: None,
            screen: Screen::new(),
        }
    }

    /// Returns the screen whose progress line is cleared before anything is written.
    pub fn screen(&self) -> Screen {
        self.screen.clone()
    }

    /// Prints text to standard output.
    ///
    /// # Errors
    /// `IO_PIPE_WRITE_ERROR` if the reader is gone, the system's error else.
    pub fn print(&mut self, text: impl fmt::Display) -> Result<()> {
        self.put(format_args!("{text}"))?;
        self.flush_if_due()
    }

    /// Prints a line to standard output.
    ///
    /// # Errors
    /// As [`Output::print`].
    pub fn line(&mut self, text: impl fmt::Display) -> Result<()> {
        self.put(format_args!("{text}\n"))?;
        self.flush_if_due()
    }

    /// Writes bytes to standard output.
    ///
    /// # Errors
    /// As [`Output::print`].
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        if bytes.len() < BLOCK {
            self.buffer.extend_from_slice(bytes);
            return self.flush_if_due();
        }
        // Much is not copied before it is written.
        self.flush()?;
        let _cleared = self.screen.clear();
        let result = self.out.write_all(bytes);
        result.map_err(|error| write_error(&error))
    }

    /// Prints text to standard error, after what was printed to standard output. Failures are
    /// ignored: there is nowhere left to report them.
    pub fn error(&mut self, text: impl fmt::Display) {
        let _ = self.flush();
        let _cleared = self.screen.clear();
        let text = text.to_string();
        let text = raw::shown(&text);
        let _ = self
            .err
            .write_all(text.as_bytes())
            .and_then(|()| self.err.flush());
    }

    /// As [`Output::error`], for what may be no text.
    pub fn error_bytes(&mut self, bytes: &[u8]) {
        let _ = self.flush();
        let _cleared = self.screen.clear();
        let _ = self.err.write_all(bytes).and_then(|()| self.err.flush());
    }

    /// Writes out what is buffered.
    ///
    /// # Errors
    /// As [`Output::print`].
    pub fn flush(&mut self) -> Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let _cleared = self.screen.clear();
        let result = self.out.write_all(&self.buffer);
        self.buffer.clear();
        result
            .and_then(|()| self.out.flush())
            .map_err(|error| write_error(&error))
    }

    /// Writes out what is buffered unless that was done just now; for lines about work that goes
    /// on, so that the reader sees them in time and yet not each costs a system call.
    ///
    /// # Errors
    /// As [`Output::print`].
    pub fn flush_soon(&mut self) -> Result<()> {
        let now = Instant::now();
        if self.last_flush.is_some_and(|last| now - last < SOON) {
            return Ok(());
        }
        self.last_flush = Some(now);
        self.flush()
    }

    /// Adds text to the buffer, with what is not UTF-8 in paths shown by number.
    fn put(&mut self, text: fmt::Arguments<'_>) -> Result<()> {
        let start = self.buffer.len();
        self.buffer
            .write_fmt(text)
            .map_err(|error| write_error(&error))?;
        let added = &self.buffer[start..];
        if added.contains(&0)
            && let Ok(text) = std::str::from_utf8(added)
        {
            let shown = raw::shown(text).into_owned();
            self.buffer.truncate(start);
            self.buffer.extend_from_slice(shown.as_bytes());
        }
        Ok(())
    }

    fn flush_if_due(&mut self) -> Result<()> {
        let due = self.buffer.len() >= BLOCK
            || (self.line_buffered && self.buffer.last() == Some(&b'\n'));
        if due { self.flush() } else { Ok(()) }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes(bytes).map_err(to_io)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Self::flush(self).map_err(to_io)
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output").finish_non_exhaustive()
    }
}

/// Standard output without the line buffer of the standard library (ours decides).
struct RawStdout;

impl Write for RawStdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::io::write(rustix::stdio::stdout(), bytes)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Turns a failure to write into the error Subversion's programs give.
pub fn write_error(error: &io::Error) -> Error {
    if error.kind() == io::ErrorKind::BrokenPipe {
        Error::from_code(ErrorCode::IO_PIPE_WRITE_ERROR)
    } else {
        Error::io(error, "Write error")
    }
}

fn to_io(error: Error) -> io::Error {
    if error.code() == ErrorCode::IO_PIPE_WRITE_ERROR {
        return io::ErrorKind::BrokenPipe.into();
    }
    if error.code().is_os() {
        return io::Error::from_raw_os_error(error.code().number());
    }
    io::Error::other(error)
}
