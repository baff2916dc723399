//! From the words of a call to a subcommand, for programs whose first operand is its name, and
//! from how that went to the exit code.
//!
//! Of several mistakes the same one is reported as by Subversion: options in the order typed, then
//! the subcommand, then what it accepts.

use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

use sylvan_core::{Dirent, Error, ErrorCode, Result, Url};
use sylvan_io::Cancel;

use crate::error::{self, Said};
use crate::getopt::{Met, Parser};
use crate::number::parse_u64;
use crate::print::Output;
use crate::table::{OptionSpec, Program, Subcommand};
use crate::{signal, utf8};

/// The options that were met, and the words that are none.
#[derive(Clone, Debug, Default)]
pub struct Words {
    /// The options, in the order typed.
    pub met: Vec<&'static OptionSpec>,
    /// The other words; the first is the subcommand.
    pub operands: Vec<OsString>,
}

impl Words {
    /// Goes through the words of a call and hands each option to `take`. The inner error is printed
    /// as it stands, the outer one as errors are.
    ///
    /// # Errors
    /// What `take` returned.
    pub fn parse(
        program: &Program,
        words: Vec<OsString>,
        mut take: impl FnMut(&Met) -> Result<()>,
    ) -> Result<Result<Self, Said>> {
        let mut parser = Parser::new(program.options, words);
        let mut met = Vec::new();
        while let Some(next) = parser.next_option() {
            match next {
                Ok(option) => {
                    met.push(option.option);
                    take(&option)?;
                }
                Err(error) => {
                    let name = program.name.as_bytes();
                    let said = [name, b": ", &error.to_bytes(), b"\n"].concat();
                    return Ok(Err(usage(program, said)));
                }
            }
        }
        let operands = parser.into_operands();
        Ok(Ok(Self { met, operands }))
    }

    /// Tells whether an option was met.
    pub fn has(&self, key: &str) -> bool {
        self.met.iter().any(|option| option.key == key)
    }

    /// Chooses the subcommand and takes its name from the operands. `version` is what `--version`
    /// alone is taken for, `missing` what is said if there is no name.
    ///
    /// # Errors
    /// If the name is no text.
    pub fn choose(
        &mut self,
        program: &Program,
        version: &'static Subcommand,
        missing: &str,
    ) -> Result<Result<&'static Subcommand, Said>> {
        let wants_help = self.has("help");
        if let Some(help) = program.subcommand("help").filter(|_| wants_help) {
            return Ok(Ok(help));
        }
        if self.operands.is_empty() {
            return Ok(if self.has("version") {
                Ok(version)
            } else {
                Err(usage(program, format!("{missing}\n").into_bytes()))
            });
        }
        let word = self.operands.remove(0);
        let name = utf8::os_text(&word)?;
        let unknown = || {
            usage(
                program,
                format!("Unknown subcommand: '{name}'\n").into_bytes(),
            )
        };
        Ok(program.subcommand(name).ok_or_else(unknown))
    }

    /// Returns what is said if the subcommand does not accept an option that was met.
    pub fn refuse(&self, program: &Program, command: &Subcommand) -> Option<Said> {
        let refused = self
            .met
            .iter()
            .find(|option| option.key != "help" && !program.accepts(command, option.key))?;
        // A further spelling is shown as the first.
        let refused = program.option(refused.key).unwrap_or(refused);
        if command.name.starts_with('-') {
            return Some(usage(program, Vec::new()));
        }
        Some(Said(
            format!(
                "Subcommand '{0}' doesn't accept option '{1}'\nType '{2} help {0}' for usage.\n",
                command.name,
                refused.spelled(),
                program.name,
            )
            .into_bytes(),
        ))
    }
}

/// Adds where help is to be found.
pub fn usage(program: &Program, mut text: Vec<u8>) -> Said {
    text.extend(format!("Type '{} help' for usage.\n", program.name).bytes());
    Said(text)
}

/// Takes the path of a repository from the operands.
///
/// # Errors
/// [`ErrorCode::CL_ARG_PARSING_ERROR`] if there is none, or a URL.
pub fn take_repository(operands: &mut Vec<OsString>) -> Result<Dirent> {
    let bad = |text| Err(Error::new(ErrorCode::CL_ARG_PARSING_ERROR, text));
    if operands.is_empty() {
        return bad("Repository argument required".to_owned());
    }
    let word = operands.remove(0);
    let path = utf8::os_text(&word)?;
    if Url::is_url(path) {
        return bad(format!("'{path}' is a URL when it should be a local path"));
    }
    Ok(Dirent::new(path))
}

/// Returns the argument of `--memory-cache-size`, which is in megabytes, in bytes.
///
/// # Errors
/// Those of [`parse_u64`].
pub fn memory_cache_size(arg: &OsStr) -> Result<u64> {
    Ok(parse_u64(utf8::os_text(arg)?)?.saturating_mul(1 << 20))
}

/// Tells whether an error is about the arguments of a call, so that help may help.
pub fn is_about_arguments(error: &Error) -> bool {
    [
        ErrorCode::CL_INSUFFICIENT_ARGS,
        ErrorCode::CL_ARG_PARSING_ERROR,
    ]
    .contains(&error.code())
}

/// Adds to an error about arguments where help is to be found.
pub fn with_hint(program: &Program, error: Error) -> Error {
    if is_about_arguments(&error) {
        return error.context(format!("Try '{} help' for more info", program.name));
    }
    error
}

/// Ends a program: prints what is left and the error, and ends by the signal that was caught, if
/// one was. Returns the exit code else.
pub fn end(out: &mut Output, cancel: &Cancel, name: &str, ended: Result<ExitCode>) -> ExitCode {
    let flushed = out.flush();
    let code = match ended.and_then(|code| flushed.map(|()| code)) {
        Ok(code) => code,
        Err(failure) => {
            error::print(out, name, &failure);
            ExitCode::FAILURE
        }
    };
    signal::end_by_caught(cancel);
    code
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::flag;

    const fn command(name: &'static str, options: &'static [&'static str]) -> Subcommand {
        Subcommand {
            name,
            aliases: &[],
            summary: "",
            usage: &[],
            text: "",
            options,
            special: &[],
        }
    }

    static VERSION: Subcommand = command("--version", &["version"]);
    static PROGRAM: Program = Program {
        name: "prog",
        options: &[flag("help", ""), flag("version", ""), flag("quiet", "")],
        subcommands: &[&[command("help", &[]), command("do", &["quiet"])]],
        globals: &[],
    };

    /// Shows the subcommand and its operands, or what is said.
    fn shown(words: &str) -> String {
        let words = words.split_whitespace().map(OsString::from).collect();
        let chosen = Words::parse(&PROGRAM, words, |_| Ok(())).unwrap();
        let chosen = chosen.and_then(|mut words| {
            let command = words.choose(&PROGRAM, &VERSION, "no subcommand").unwrap()?;
            match words.refuse(&PROGRAM, command) {
                Some(said) => Err(said),
                None => Ok((command.name, words.operands)),
            }
        });
        match chosen {
            Ok((name, operands)) => format!("{name} {operands:?}"),
            Err(said) => String::from_utf8(said.0).unwrap(),
        }
    }

    #[test]
    fn a_subcommand_is_chosen() {
        assert_eq!(shown("do a --quiet b"), r#"do ["a", "b"]"#);
        assert_eq!(shown("do --help"), r#"help ["do"]"#);
        assert_eq!(shown("--version"), "--version []");
        const HINT: &str = "Type 'prog help' for usage.\n";
        assert_eq!(
            shown("do --no"),
            format!("prog: invalid option: --no\n{HINT}")
        );
        assert_eq!(shown("--quiet"), format!("no subcommand\n{HINT}"));
        assert_eq!(shown("x"), format!("Unknown subcommand: 'x'\n{HINT}"));
        assert_eq!(shown("--version --quiet"), HINT);
        assert_eq!(
            shown("do --version"),
            "Subcommand 'do' doesn't accept option '--version'\nType 'prog help do' for usage.\n"
        );
    }
}
