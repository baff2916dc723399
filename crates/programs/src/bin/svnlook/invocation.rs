//! What was typed: one value that holds every option of a call.

use std::ffi::{OsStr, OsString};

use sylvan_cmdline::call::{Words, memory_cache_size, usage};
use sylvan_cmdline::error::Said;
use sylvan_cmdline::getopt::Met;
use sylvan_cmdline::table::Subcommand;
use sylvan_cmdline::utf8;
use sylvan_core::{Dirent, Error, ErrorCode, Result, Revnum};

use crate::{PROGRAM, subcommands};

/// A call of the program, as typed and checked.
#[derive(Clone, Debug)]
pub(crate) struct Invocation {
    /// The subcommand.
    pub(crate) command: &'static Subcommand,
    /// The repository's path; empty for help.
    pub(crate) repository: Dirent,
    /// What follows: paths in the repository or names of properties; for help, subcommands.
    pub(crate) args: Vec<String>,
    /// All options.
    pub(crate) options: Options,
}

/// The options of a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    /// `-r`.
    pub(crate) revision: Option<Revnum>,
    /// `-t`.
    pub(crate) transaction: Option<String>,
    /// `-l`.
    pub(crate) limit: Option<u64>,
    /// `-M`, in bytes.
    pub(crate) memory_cache_size: Option<u64>,
    /// `-x`.
    pub(crate) extensions: Option<String>,
    /// `--diff-cmd`.
    pub(crate) diff_cmd: Option<OsString>,
    /// Keys of the others.
    flags: Vec<&'static str>,
}

impl Options {
    /// Tells whether an option without argument was given.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.flags.contains(&key)
    }

    fn take(&mut self, met: &Met) -> Result<()> {
        if !met.option.takes_arg {
            self.flags.push(met.option.key);
            return Ok(());
        }
        match met.option.key {
            "revision" => self.revision = Some(revision(&met.arg)?),
            "limit" => self.limit = Some(limit(&met.arg)?),
            "diff-cmd" => self.diff_cmd = Some(met.arg.clone()),
            "memory-cache-size" => {
                self.memory_cache_size = Some(memory_cache_size(&met.arg)?);
            }
            "transaction" => self.transaction = Some(utf8::os_text(&met.arg)?.to_owned()),
            _ => self.extensions = Some(utf8::os_text(&met.arg)?.to_owned()),
        }
        Ok(())
    }

    fn check(&self) -> Result<()> {
        let exclusive = |text| Err(Error::new(ErrorCode::CL_MUTUALLY_EXCLUSIVE_ARGS, text));
        if self.revision.is_some() && self.transaction.is_some() {
            return exclusive(
                "The '--transaction' (-t) and '--revision' (-r) arguments cannot co-exist",
            );
        }
        if self.has("show-inherited-props") && self.has("revprop") {
            return exclusive(
                "Cannot use the '--show-inherited-props' option with the '--revprop' option",
            );
        }
        Ok(())
    }
}

impl Invocation {
    /// Requires no argument behind the repository's path.
    pub(crate) fn no_arg(&self) -> Result<()> {
        match self.args.as_slice() {
            [] => Ok(()),
            _ => Err(too_many()),
        }
    }

    /// Returns the one argument behind the repository's path.
    pub(crate) fn one_arg(&self) -> Result<&str> {
        match self.args.as_slice() {
            [] => Err(too_few("Missing repository path argument")),
            [arg] => Ok(arg),
            _ => Err(too_many()),
        }
    }

    /// Returns the argument behind the repository's path, or another if there is none.
    pub(crate) fn arg_or<'a>(&'a self, default: &'a str) -> Result<&'a str> {
        match self.args.as_slice() {
            [] => Ok(default),
            [arg] => Ok(arg),
            _ => Err(too_many()),
        }
    }
}

pub(crate) fn too_many() -> Error {
    Error::new(ErrorCode::CL_ARG_PARSING_ERROR, "Too many arguments given")
}

pub(crate) fn too_few(text: &str) -> Error {
    Error::new(ErrorCode::CL_INSUFFICIENT_ARGS, text)
}

/// Reads a whole number as C does: white space before it and a sign are allowed.
fn whole_number(text: &OsStr) -> Option<i64> {
    let text = text
        .to_str()?
        .trim_start_matches([' ', '\t', '\n', '\r', '\x0b', '\x0c']);
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let beyond = if text.starts_with('-') {
        i64::MIN
    } else {
        i64::MAX
    };
    Some(text.parse().unwrap_or(beyond))
}

fn revision(text: &OsStr) -> Result<Revnum> {
    whole_number(text).and_then(Revnum::new).ok_or_else(|| {
        Error::new(
            ErrorCode::CL_ARG_PARSING_ERROR,
            "Invalid revision number supplied",
        )
    })
}

fn limit(text: &OsStr) -> Result<u64> {
    let number = whole_number(text).ok_or_else(|| {
        Error::new(
            ErrorCode::CL_ARG_PARSING_ERROR,
            "Non-numeric limit argument given",
        )
    })?;
    if number == 0 {
        return Err(Error::new(
            ErrorCode::INCORRECT_PARAMS,
            "Argument to --limit must be positive",
        ));
    }
    // What is below zero is beyond every history.
    Ok(u64::try_from(number).unwrap_or(u64::MAX))
}

/// Goes through the words of a call. The inner error is printed as it stands, the outer one as
/// errors are.
pub(crate) fn parse(words: Vec<OsString>) -> Result<Result<Invocation, Said>> {
    let mut options = Options::default();
    let mut words = match Words::parse(&PROGRAM, words, |met| options.take(met))? {
        Ok(words) => words,
        Err(said) => return Ok(Err(said)),
    };
    options.check()?;
    let verify = words.operands.first().is_some_and(|word| word == "verify");
    let missing = "Subcommand argument required";
    let command = match words.choose(&PROGRAM, &subcommands::VERSION, missing)? {
        Ok(command) => command,
        Err(mut said) => {
            if verify {
                said.0.extend(b"Try 'svnadmin verify' instead.\n");
            }
            return Ok(Err(said));
        }
    };
    let mut args = Vec::new();
    let mut repository = Dirent::default();
    if !["help", "--version"].contains(&command.name) {
        if words.operands.is_empty() {
            let text = b"Repository argument required\n".to_vec();
            return Ok(Err(usage(&PROGRAM, text)));
        }
        repository = Dirent::new(utf8::os_text(&words.operands.remove(0))?);
        for word in words.operands.iter().take(2) {
            args.push(Dirent::new(utf8::os_text(word)?).as_str().to_owned());
        }
        // More are an error where they count.
        let more = words.operands.iter().skip(2);
        args.extend(more.map(|word| word.to_string_lossy().into_owned()));
    } else {
        for word in &words.operands {
            args.push(utf8::os_text(word)?.to_owned());
        }
    }
    if let Some(said) = words.refuse(&PROGRAM, command) {
        return Ok(Err(said));
    }
    Ok(Ok(Invocation {
        command,
        repository,
        args,
        options,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_c_does() {
        for (text, number) in [
            ("3", Some(3)),
            (" +3", Some(3)),
            ("-3", Some(-3)),
            ("3 ", None),
            ("", None),
            ("-", None),
            ("HEAD", None),
            ("99999999999999999999", Some(i64::MAX)),
        ] {
            assert_eq!(whole_number(OsStr::new(text)), number, "{text:?}");
        }
        assert_eq!(limit(OsStr::new("-5")).unwrap(), u64::MAX);
    }
}
