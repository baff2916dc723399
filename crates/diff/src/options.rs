//! The options of a difference: those of `-x` that Subversion's own diff knows.

use sylvan_core::{Error, ErrorCode, Result};

/// Which differences in white space do not count. Line ends are no white space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IgnoreSpace {
    /// All count.
    #[default]
    None,
    /// How much there is does not count.
    Change,
    /// Whether there is any does not count.
    All,
}

/// What does not count, and how a difference is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Differences in white space.
    pub ignore_space: IgnoreSpace,
    /// Whether the kind of line ends does not count.
    pub ignore_eol_style: bool,
    /// Whether the heads of hunks show the function they are in.
    pub show_c_function: bool,
    /// How many equal lines are shown around what differs.
    pub context: u32,
}

/// How many equal lines are shown around what differs, by default.
pub(crate) const CONTEXT: u32 = 3;

impl Default for Options {
    fn default() -> Self {
        Self {
            ignore_space: IgnoreSpace::None,
            ignore_eol_style: false,
            show_c_function: false,
            context: CONTEXT,
        }
    }
}

impl Options {
    /// Tells whether there is something that does not count.
    pub(crate) fn normalizes(&self) -> bool {
        self.ignore_eol_style || self.ignore_space != IgnoreSpace::None
    }

    /// Reads the words of `-x`.
    ///
    /// # Errors
    /// [`ErrorCode::INVALID_DIFF_OPTION`], and [`ErrorCode::INCORRECT_PARAMS`] for a context that
    /// is no number.
    pub fn parse<S: AsRef<str>>(words: &[S]) -> Result<Self> {
        let mut options = Self::default();
        let mut words = words.iter().map(AsRef::as_ref);
        while let Some(word) = words.next() {
            if word == "--" {
                match words.next() {
                    Some(word) => return Err(no_option(word)),
                    None => break,
                }
            }
            if let Some(name) = word.strip_prefix("--") {
                options.take_long(word, name, &mut words)?;
            } else {
                match word.strip_prefix('-') {
                    Some("") => return Err(wrong("invalid option: ")),
                    Some(letters) => options.take_short(letters, &mut words)?,
                    None => return Err(no_option(word)),
                }
            }
        }
        Ok(options)
    }

    fn take_long<'w>(
        &mut self,
        word: &str,
        name: &str,
        rest: &mut impl Iterator<Item = &'w str>,
    ) -> Result<()> {
        let (name, joined) = match name.split_once('=') {
            Some((name, joined)) => (name, Some(joined)),
            None => (name, None),
        };
        let Some(letter) = long_option(name) else {
            return Err(wrong(format_args!("invalid option: {word}")));
        };
        if letter == 'U' {
            let arg = joined.or_else(|| rest.next());
            return self
                .set_context(arg.ok_or_else(|| wrong(format_args!("missing argument: {word}")))?);
        }
        if joined.is_some() {
            return Err(wrong(format_args!("erroneous argument: {word}")));
        }
        self.set(letter);
        Ok(())
    }

    fn take_short<'w>(
        &mut self,
        letters: &str,
        rest: &mut impl Iterator<Item = &'w str>,
    ) -> Result<()> {
        for (at, letter) in letters.char_indices() {
            if letter == 'U' {
                let joined = Some(&letters[at + 1..]).filter(|joined| !joined.is_empty());
                let arg = joined.or_else(|| rest.next());
                let missing = || wrong("missing argument: U");
                return self.set_context(arg.ok_or_else(missing)?);
            }
            if !self.set(letter) {
                return Err(wrong(format_args!("invalid option character: {letter}")));
            }
        }
        Ok(())
    }

    /// Sets an option without argument; tells whether there is one of this name.
    fn set(&mut self, letter: char) -> bool {
        match letter {
            'b' if self.ignore_space == IgnoreSpace::None => {
                self.ignore_space = IgnoreSpace::Change;
            }
            'b' | 'u' => {}
            'w' => self.ignore_space = IgnoreSpace::All,
            'p' => self.show_c_function = true,
            EOL_STYLE => self.ignore_eol_style = true,
            _ => return false,
        }
        true
    }

    fn set_context(&mut self, text: &str) -> Result<()> {
        let number = parse_number(text)?;
        self.context = u32::try_from(number).unwrap_or(CONTEXT);
        Ok(())
    }
}

/// Stands for the option that has no letter.
const EOL_STYLE: char = '\0';

fn long_option(name: &str) -> Option<char> {
    Some(match name {
        "ignore-space-change" => 'b',
        "ignore-all-space" => 'w',
        "ignore-eol-style" => EOL_STYLE,
        "show-c-function" => 'p',
        "unified" => 'u',
        "context" => 'U',
        _ => return None,
    })
}

fn parse_number(text: &str) -> Result<i32> {
    let digits = text.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b');
    let unsigned = digits.strip_prefix(['+', '-']).unwrap_or(digits);
    let incorrect = |text| Err(Error::new(ErrorCode::INCORRECT_PARAMS, text));
    if unsigned.is_empty() || !unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return incorrect(format!("Could not convert '{text}' into a number"));
    }
    digits.parse().or_else(|_| {
        let range = format!("[{}, {}]", i32::MIN, i32::MAX);
        incorrect(format!("Number '{text}' is out of range '{range}'"))
    })
}

fn no_option(word: &str) -> Error {
    Error::new(
        ErrorCode::INVALID_DIFF_OPTION,
        format!("Invalid argument '{word}' in diff options"),
    )
}

/// The error for a mistake in an option. Subversion's own text ends in a newline.
fn wrong(text: impl std::fmt::Display) -> Error {
    Error::new(ErrorCode::INVALID_DIFF_OPTION, format!("{text}\n"))
        .context("Error in options to internal diff")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_taken() {
        let of = |words: &str| {
            Options::parse(&words.split_whitespace().collect::<Vec<_>>()).map(|options| {
                (
                    options.ignore_space,
                    options.ignore_eol_style,
                    options.show_c_function,
                    options.context,
                )
            })
        };
        use IgnoreSpace::{All, Change, None};
        assert_eq!(of("").unwrap(), (None, false, false, 3));
        assert_eq!(of("-u -b").unwrap(), (Change, false, false, 3));
        assert_eq!(of("-wbp").unwrap(), (All, false, true, 3));
        assert_eq!(of("-b -w").unwrap(), (All, false, false, 3));
        assert_eq!(
            of("--ignore-eol-style --unified --show-c-function").unwrap(),
            (None, true, true, 3)
        );
        for words in [
            "-U5",
            "-U 5",
            "-pU5",
            "--context=5",
            "--context 5",
            "-U 5 --",
        ] {
            assert_eq!(of(words).unwrap().3, 5, "{words}");
        }
        assert_eq!(of("-U -1").unwrap().3, 3);
        assert_eq!(of("-U 0").unwrap().3, 0);
    }

    #[test]
    fn what_is_not_known_is_named() {
        for (words, text) in [
            (&["-q"][..], "invalid option character: q\n"),
            (&["--foo"], "invalid option: --foo\n"),
            (&["-U"], "missing argument: U\n"),
            (&["--context"], "missing argument: --context\n"),
            (&["--unified=3"], "erroneous argument: --unified=3\n"),
            (&["-u", "-"], "invalid option: \n"),
            (&["x"], "Invalid argument 'x' in diff options"),
            (&["--", "-u"], "Invalid argument '-u' in diff options"),
            (&["-Ux"], "Could not convert 'x' into a number"),
        ] {
            let error = Options::parse(words).unwrap_err();
            assert_eq!(error.root().message(), text, "{words:?}");
        }
    }
}
