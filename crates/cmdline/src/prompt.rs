//! Questions to the user, at the terminal.
//!
//! Questions go to `/dev/tty`, so that they reach the user whatever standard input and output are;
//! without one, to standard error, with answers from standard input.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, kill_current_process_group};
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios};
use rustix::termios::{tcgetattr, tcsetattr};
use sylvan_core::{Error, ErrorCode, Result};
use sylvan_io::Cancel;

use crate::screen::Screen;

/// How often the cancellation flag is polled while waiting for the user.
const POLL: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 200_000_000,
};

/// Subversion's number for an end of file where more was expected.
const APR_EOF: i32 = 70_014;

/// Whether an answer is shown as it is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Echo {
    /// As typed.
    Shown,
    /// A star for each character.
    Hidden,
}

/// Asks the user.
#[derive(Clone, Debug, Default)]
pub struct Asker {
    cancel: Cancel,
    screen: Screen,
}

impl Asker {
    /// Makes one that gives up when `cancel` is set and clears the progress line of `screen`.
    pub fn new(cancel: Cancel, screen: Screen) -> Self {
        Self { cancel, screen }
    }

    /// Shows text that needs no answer.
    ///
    /// # Errors
    /// The system's, if it cannot be shown.
    pub fn tell(&self, text: &str) -> Result<()> {
        let _cleared = self.screen.clear();
        Terminal::open()?.put(text)
    }

    /// Shows `question` and reads a line.
    ///
    /// # Errors
    /// `CANCELLED` if the user interrupts, end of file if there is no line.
    pub fn ask(&self, question: &str, echo: Echo) -> Result<String> {
        let _cleared = self.screen.clear();
        let mut terminal = Terminal::open()?;
        terminal.make_raw();
        terminal.put(question)?;
        let answer = terminal.read_line(echo, &self.cancel)?;
        String::from_utf8(answer).map_err(|error| match crate::utf8::text(error.as_bytes()) {
            Err(error) => error,
            Ok(_) => Error::from_code(ErrorCode::BAD_PROPERTY_VALUE),
        })
    }

    /// Asks until the answer is yes or no.
    ///
    /// # Errors
    /// As [`Asker::ask`].
    pub fn ask_yes_no(&self, question: &str) -> Result<bool> {
        let mut question = question;
        loop {
            match self
                .ask(question, Echo::Shown)?
                .to_ascii_lowercase()
                .as_str()
            {
                "yes" | "y" => return Ok(true),
                "no" | "n" => return Ok(false),
                _ => question = "Please type 'yes' or 'no': ",
            }
        }
    }
}

/// Where questions go and answers come from. Its modes are restored when it is dropped.
struct Terminal {
    tty: Option<File>,
    before: Option<Termios>,
}

/// What a key means.
enum Key {
    Char(u8),
    Erase,
    End,
    EndOfFile,
    /// The key that stands for it.
    EndOfInput,
    Interrupt,
    Suspend,
    Nothing,
}

impl Terminal {
    fn open() -> Result<Self> {
        let tty = OpenOptions::new()
            .read(true)
            .write(true)
            .open("/dev/tty")
            .ok();
        Ok(Self { tty, before: None })
    }

    fn input(&self) -> BorrowedFd<'_> {
        match &self.tty {
            Some(tty) => tty.as_fd(),
            None => rustix::stdio::stdin(),
        }
    }

    fn put(&mut self, text: &str) -> Result<()> {
        match &mut self.tty {
            Some(tty) => tty.write_all(text.as_bytes()),
            None => io::stderr().write_all(text.as_bytes()),
        }
        .map_err(|error| Error::io(&error, "Can't write to terminal"))
    }

    /// Takes keys one by one, without echo and without signals; not if input is no terminal.
    fn make_raw(&mut self) {
        let Ok(before) = tcgetattr(self.input()) else {
            return;
        };
        let mut raw = before.clone();
        raw.local_modes
            .remove(LocalModes::ISIG | LocalModes::ICANON | LocalModes::ECHO);
        raw.special_codes[SpecialCodeIndex::VMIN] = 1;
        raw.special_codes[SpecialCodeIndex::VTIME] = 0;
        if tcsetattr(self.input(), OptionalActions::Flush, &raw).is_ok() {
            self.before = Some(before);
        }
    }

    fn restore(&mut self) {
        if let Some(before) = self.before.take() {
            let _ = tcsetattr(self.input(), OptionalActions::Now, &before);
        }
    }

    fn read_line(&mut self, echo: Echo, cancel: &Cancel) -> Result<Vec<u8>> {
        let mut line = Vec::new();
        loop {
            let key = self.read_key(cancel)?;
            match key {
                Key::Char(byte) => {
                    line.push(byte);
                    self.echo(byte, echo)?;
                }
                Key::Erase => {
                    if erase_char(&mut line) && self.before.is_some() {
                        self.put("\x08 \x08")?;
                    }
                }
                Key::End => {
                    // On a terminal Subversion ends a hidden answer with one line more; what
                    // waits for questions may count on it.
                    if self.before.is_some() {
                        self.put(if echo == Echo::Hidden { "\n\n" } else { "\n" })?;
                    }
                    return Ok(line);
                }
                key @ (Key::EndOfFile | Key::EndOfInput) => {
                    if matches!(key, Key::EndOfInput) {
                        self.put("^D")?;
                    }
                    return Err(Error::new(
                        ErrorCode(APR_EOF),
                        "End of file while reading from terminal",
                    ));
                }
                Key::Interrupt => {
                    self.put("^C")?;
                    return Err(Error::from_code(ErrorCode::CANCELLED));
                }
                Key::Suspend => {
                    self.restore();
                    let _ = kill_current_process_group(Signal::TSTP);
                    self.make_raw();
                }
                Key::Nothing if self.before.is_some() => self.put("\x07")?,
                Key::Nothing => {}
            }
        }
    }

    /// Shows a typed byte: itself, or a star for each character.
    fn echo(&mut self, byte: u8, echo: Echo) -> Result<()> {
        if self.before.is_none() {
            return Ok(());
        }
        let is_continued = byte & 0xc0 == 0x80;
        match (echo, &mut self.tty) {
            (Echo::Hidden, _) if is_continued => Ok(()),
            (Echo::Hidden, _) => self.put("*"),
            (Echo::Shown, Some(tty)) => tty
                .write_all(&[byte])
                .map_err(|error| Error::io(&error, "Can't write to terminal")),
            (Echo::Shown, None) => Ok(()),
        }
    }

    fn read_key(&mut self, cancel: &Cancel) -> Result<Key> {
        loop {
            cancel.check()?;
            let ready = poll(
                &mut [PollFd::from_borrowed_fd(self.input(), PollFlags::IN)],
                Some(&POLL),
            );
            match ready {
                Ok(0) | Err(rustix::io::Errno::INTR) => continue,
                Ok(_) => break,
                Err(error) => return Err(cannot_read(error.into())),
            }
        }
        let mut byte = [0];
        let read = match &mut self.tty {
            Some(tty) => tty.read(&mut byte),
            None => rustix::io::read(rustix::stdio::stdin(), &mut byte).map_err(Into::into),
        };
        match read {
            Ok(0) => Ok(Key::EndOfFile),
            Ok(_) => Ok(self.meaning(byte[0])),
            Err(error) => Err(cannot_read(error)),
        }
    }

    fn meaning(&self, byte: u8) -> Key {
        let Some(modes) = &self.before else {
            return match byte {
                b'\n' => Key::End,
                _ => Key::Char(byte),
            };
        };
        let is = |code| modes.special_codes[code] == byte;
        match byte {
            b'\r' | b'\n' => Key::End,
            0x08 => Key::Erase,
            _ if is(SpecialCodeIndex::VINTR) || is(SpecialCodeIndex::VQUIT) => Key::Interrupt,
            _ if is(SpecialCodeIndex::VERASE) => Key::Erase,
            _ if is(SpecialCodeIndex::VEOF) => Key::EndOfInput,
            _ if is(SpecialCodeIndex::VSUSP) => Key::Suspend,
            0..0x20 | 0x7f => Key::Nothing,
            _ => Key::Char(byte),
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.restore();
    }
}

/// Removes the last character; tells whether there was one.
fn erase_char(line: &mut Vec<u8>) -> bool {
    while let Some(byte) = line.pop() {
        if byte & 0xc0 != 0x80 {
            return true;
        }
    }
    false
}

fn cannot_read(error: io::Error) -> Error {
    Error::io(&error, "Can't read from terminal")
}
