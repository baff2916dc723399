//! From the words of a call to a subcommand, for programs whose first operand is its name.
//!
//! Of several mistakes the same one is reported as by Subversion: options in the order typed, then
//! the subcommand, then what it accepts.

use std::ffi::OsString;

use sylvan_core::Result;

use crate::error::Said;
use crate::getopt::{Met, Parser};
use crate::table::{OptionSpec, Program, Subcommand};
use crate::utf8;

/// The options that were met, and the words that are none.
#[derive(Clone, Debug)]
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

#[cfg(test)]
mod tests {
    use super::*;

    const fn flag(key: &'static str) -> OptionSpec {
        OptionSpec {
            key,
            long: Some(key),
            short: None,
            takes_arg: false,
            help: "",
        }
    }

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
        options: &[flag("help"), flag("version"), flag("quiet")],
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
