//! The terminal line on which progress is drawn, shared with everything else that is printed.
//!
//! The line lives on standard error and is there only while nothing else is being written: whoever
//! writes clears it first, and the next tick draws it again.

use std::io::{IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Shared by what writes to the terminal. Clones are the same screen.
#[derive(Clone, Debug, Default)]
pub struct Screen(Arc<Mutex<Line>>);

#[derive(Debug, Default)]
struct Line {
    is_drawn: bool,
}

/// Keeps the line away as long as it lives.
#[derive(Debug)]
pub struct Cleared<'a> {
    _line: MutexGuard<'a, Line>,
}

impl Screen {
    /// Makes a screen with nothing on its line.
    pub fn new() -> Self {
        Self::default()
    }

    /// Clears the line, and keeps it clear until the guard is dropped.
    pub fn clear(&self) -> Cleared<'_> {
        let mut line = self.lock();
        if line.is_drawn {
            write_stderr("\r\x1b[K");
            line.is_drawn = false;
        }
        Cleared { _line: line }
    }

    /// Draws a line in place of the one before.
    pub fn draw(&self, text: &str) {
        let mut line = self.lock();
        write_stderr(&format!("\r{text}\x1b[K"));
        line.is_drawn = true;
    }

    fn lock(&self) -> MutexGuard<'_, Line> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells whether standard error is a terminal.
pub fn stderr_is_terminal() -> bool {
    std::io::stderr().is_terminal()
}

fn write_stderr(text: &str) {
    // What cannot be drawn is not missed.
    let mut stderr = std::io::stderr().lock();
    let _ = stderr
        .write_all(text.as_bytes())
        .and_then(|()| stderr.flush());
}
