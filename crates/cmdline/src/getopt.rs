//! Option parsing with the rules of Subversion's programs.
//!
//! Options may stand before and after operands, until `--`. Long names are not abbreviated. The
//! argument of a long option follows `=` or is the next word; that of a short one follows at once
//! or is the next word. Short options without arguments may be bundled.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use crate::table::OptionSpec;

/// A word that is no valid option. What was typed may be no text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionError {
    /// No option has this long name, with its dashes.
    Unknown(Vec<u8>),
    /// No option has this short name.
    UnknownShort(u8),
    /// An argument must follow this option, spelled as typed (a short one without its dash).
    MissingArgument(Vec<u8>),
    /// This long option, as typed, takes no argument.
    ErroneousArgument(Vec<u8>),
}

impl OptionError {
    /// Returns what Subversion's programs print after their name.
    pub fn to_bytes(&self) -> Vec<u8> {
        let (what, typed) = match self {
            Self::Unknown(word) => ("invalid option", word.as_slice()),
            Self::UnknownShort(short) => ("invalid option character", std::slice::from_ref(short)),
            Self::MissingArgument(name) => ("missing argument", name.as_slice()),
            Self::ErroneousArgument(word) => ("erroneous argument", word.as_slice()),
        };
        [what.as_bytes(), b": ", typed].concat()
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
                Some(b"") => return Some(Err(OptionError::Unknown(Vec::new()))),
                Some(flags) => {
                    self.bundle = flags.to_vec();
                    return Some(self.short());
                }
                None => self.operands.push(word),
            }
        }
    }

    fn long(&mut self, typed: &[u8]) -> Result<Met, OptionError> {
        let spelled = |bytes: &[u8]| [b"--", bytes].concat();
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
        let flag = self.bundle.remove(0);
        let option = self
            .options
            .iter()
            .find(|option| option.short == Some(char::from(flag)))
            .ok_or(OptionError::UnknownShort(flag))?;
        let arg = if !option.takes_arg {
            OsString::new()
        } else if !self.bundle.is_empty() {
            OsString::from_vec(std::mem::take(&mut self.bundle))
        } else {
            self.words
                .next()
                .ok_or_else(|| OptionError::MissingArgument(vec![flag]))?
        };
        Ok(Met { option, arg })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn spec(key: &'static str, short: Option<char>, takes_arg: bool) -> OptionSpec {
        OptionSpec {
            key,
            long: Some(key),
            short,
            takes_arg,
            help: "",
        }
    }

    static OPTIONS: &[OptionSpec] = &[
        spec("quiet", Some('q'), false),
        spec("verbose", Some('v'), false),
        spec("revision", Some('r'), true),
        spec("depth", None, true),
    ];

    /// Parses words and shows options (`key` or `key=arg`), a `|`, operands; or the error.
    fn parsed(words: &str) -> String {
        let words = words.split(' ').map(OsString::from).collect();
        let mut parser = Parser::new(OPTIONS, words);
        let mut shown = String::new();
        while let Some(met) = parser.next_option() {
            match met {
                Ok(met) if met.option.takes_arg => {
                    shown += &format!("{}={} ", met.option.key, met.arg.display());
                }
                Ok(met) => shown += &format!("{} ", met.option.key),
                Err(error) => return String::from_utf8(error.to_bytes()).unwrap(),
            }
        }
        shown.push('|');
        for operand in parser.into_operands() {
            shown += &format!(" {}", operand.display());
        }
        shown
    }

    #[test]
    fn words_are_taken_as_subversion_takes_them() {
        for (words, expected) in [
            ("ls -r 1:2 a --quiet b", "revision=1:2 quiet | ls a b"),
            ("-r1:2 ls", "revision=1:2 | ls"),
            ("-qvr3", "quiet verbose revision=3 |"),
            ("-r -q", "revision=-q |"),
            ("--depth=empty --depth files", "depth=empty depth=files |"),
            ("--depth=", "depth= |"),
            ("--depth=a=b", "depth=a=b |"),
            ("a -- -q --depth", "| a -q --depth"),
            ("-q -- --", "quiet | --"),
            ("--dep empty", "invalid option: --dep"),
            ("--", "|"),
            ("--=x", "invalid option: --=x"),
            ("--x=y", "invalid option: --x=y"),
            ("--quiet=1", "erroneous argument: --quiet=1"),
            ("ls --depth", "missing argument: --depth"),
            ("-r", "missing argument: r"),
            ("-qr", "missing argument: r"),
            ("-qZ", "invalid option character: Z"),
            ("-q-", "invalid option character: -"),
            ("ls -", "invalid option: "),
        ] {
            assert_eq!(parsed(words), expected, "{words}");
        }
    }

    #[test]
    fn arguments_may_be_any_bytes() {
        let words = vec![OsString::from_vec(b"--depth=\xff".to_vec())];
        let mut parser = Parser::new(OPTIONS, words);
        let met = parser.next_option().unwrap().unwrap();
        assert_eq!(met.arg.as_bytes(), b"\xff");
        let words = vec![OsString::from_vec(b"--\xff".to_vec())];
        let error = Parser::new(OPTIONS, words).next_option().unwrap();
        assert_eq!(error.unwrap_err().to_bytes(), b"invalid option: --\xff");
    }
}
