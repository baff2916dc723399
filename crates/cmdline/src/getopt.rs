//! Option parsing with the rules of Subversion's programs.
//!
//! Options may stand before and after operands, until `--`. Long names are not abbreviated. The
//! argument of a long option follows `=` or is the next word; that of a short one follows at once
//! or is the next word. Short options without arguments may be bundled.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use crate::table::OptionSpec;

/// A word that is no valid option. Its text is what Subversion's programs print after `svn: `.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionError {
    /// No option has this long name (without its dashes).
    Unknown(String),
    /// No option has this short name.
    UnknownShort(char),
    /// An argument must follow this option, spelled as typed (a short one without its dash).
    MissingArgument(String),
    /// This long option, as typed, takes no argument.
    ErroneousArgument(String),
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(word) => write!(f, "invalid option: {word}"),
            Self::UnknownShort(short) => write!(f, "invalid option character: {short}"),
            Self::MissingArgument(name) => write!(f, "missing argument: {name}"),
            Self::ErroneousArgument(word) => write!(f, "erroneous argument: {word}"),
        }
    }
}

/// An option as met: what it is and its argument, empty if it takes none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Met {
    /// The option.
    pub option: &'static OptionSpec,
    /// Its argument.
    pub arg: OsString,
}

/// Goes through the words of a command line, option by option, and collects the operands.
pub struct Parser {
    options: &'static [OptionSpec],
    words: std::vec::IntoIter<OsString>,
    bundle: Vec<u8>,
    operands: Vec<OsString>,
}

impl Parser {
    /// Starts parsing `words` (without the program's name).
    pub fn new(options: &'static [OptionSpec], words: Vec<OsString>) -> Self {
        Self {
            options,
            words: words.into_iter(),
            bundle: Vec::new(),
            operands: Vec::new(),
        }
    }

    /// Returns the operands; all of them once [`Parser::next_option`] has returned `None`.
    pub fn into_operands(mut self) -> Vec<OsString> {
        self.operands.extend(self.words);
        self.operands
    }

    /// Returns the next option, `None` after the last.
    pub fn next_option(&mut self) -> Option<Result<Met, OptionError>> {
        if !self.bundle.is_empty() {
            return Some(self.short());
        }
        loop {
            let word = self.words.next()?;
            let bytes = word.as_bytes();
            if bytes == b"--" {
                self.operands.extend(self.words.by_ref());
                return None;
            }
            if let Some(name) = bytes.strip_prefix(b"--") {
                return Some(self.long(name));
            }
            match bytes.strip_prefix(b"-") {
                Some(b"") => return Some(Err(OptionError::Unknown(String::new()))),
                Some(flags) => {
                    self.bundle = flags.to_vec();
                    return Some(self.short());
                }
                None => self.operands.push(word),
            }
        }
    }

    fn long(&mut self, typed: &[u8]) -> Result<Met, OptionError> {
        let spelled = |bytes: &[u8]| format!("--{}", String::from_utf8_lossy(bytes));
        let (name, joined) = match typed.iter().position(|byte| *byte == b'=') {
            Some(at) => (&typed[..at], Some(&typed[at + 1..])),
            None => (typed, None),
        };
        let option = self
            .options
            .iter()
            .find(|option| option.long.is_some_and(|long| long.as_bytes() == name))
            .ok_or_else(|| OptionError::Unknown(spelled(typed)))?;
        let arg = match (option.takes_arg, joined) {
            (true, Some(arg)) => OsStr::from_bytes(arg).to_owned(),
            (true, None) => self
                .words
                .next()
                .ok_or_else(|| OptionError::MissingArgument(spelled(typed)))?,
            (false, Some(_)) => return Err(OptionError::ErroneousArgument(spelled(typed))),
            (false, None) => OsString::new(),
        };
        Ok(Met { option, arg })
    }

    fn short(&mut self) -> Result<Met, OptionError> {
        let flag = char::from(self.bundle.remove(0));
        let option = self
            .options
            .iter()
            .find(|option| option.short == Some(flag))
            .ok_or(OptionError::UnknownShort(flag))?;
        let arg = if !option.takes_arg {
            OsString::new()
        } else if !self.bundle.is_empty() {
            OsString::from_vec(std::mem::take(&mut self.bundle))
        } else {
            self.words
                .next()
                .ok_or_else(|| OptionError::MissingArgument(flag.to_string()))?
        };
        Ok(Met { option, arg })
    }
}
