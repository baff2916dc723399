//! Help, made from a program's tables.
//!
//! The layout is Subversion's, since other programs read it: `usage:` lines, `Valid options:`,
//! options at the second column and their words at the thirtieth.

use std::ffi::OsStr;
use std::fmt::Write;

use sylvan_core::Result;

use crate::print::Output;
use crate::table::{OptionSpec, Program, Subcommand};
use crate::utf8;

/// How much help shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Neither global nor experimental options.
    Usual,
    /// Everything.
    All,
}

/// Lists the subcommands; `header` and `footer` go around them.
pub fn overview(program: &Program, header: &str, footer: &str, detail: Detail) -> String {
    let mut text = header.to_owned();
    let mut experimental = false;
    for command in program.all_subcommands() {
        if command.is_experimental() {
            if detail == Detail::All && !experimental {
                text.push_str("\nExperimental subcommands:\n");
            }
            experimental = true;
            if detail == Detail::Usual {
                continue;
            }
        }
        let _ = writeln!(text, "   {}", names(command));
    }
    if experimental && detail == Detail::Usual {
        text.push_str("\n(Use '-v' to show experimental subcommands.)\n");
    }
    text.push('\n');
    text.push_str(footer);
    text
}

/// Describes the subcommands that are named, and says of each other word that it is none. `note` is
/// what else there is to say of one, a paragraph or nothing.
///
/// # Errors
/// If a name is no text, or nothing can be printed.
pub fn describe_named<'n>(
    out: &mut Output,
    program: &Program,
    names: impl IntoIterator<Item = &'n (impl AsRef<OsStr> + 'n + ?Sized)>,
    note: impl Fn(&Subcommand) -> &'static str,
    detail: Detail,
) -> Result<()> {
    for name in names {
        let name = utf8::os_text(name.as_ref())?;
        match program.subcommand(name) {
            Some(command) => {
                out.print(of_subcommand(program, command, note(command), detail))?;
            }
            None => out.error(format_args!("\"{name}\": unknown command.\n\n")),
        }
    }
    Ok(())
}

/// Describes one subcommand; `note` is what else there is to say, a paragraph or nothing.
pub fn of_subcommand(
    program: &Program,
    command: &Subcommand,
    note: &str,
    detail: Detail,
) -> String {
    let mut text = format!("{}: {}\n", names(command), command.summary);
    usage(&mut text, command);
    text.push_str(command.text);
    text.push_str(note);
    let options = |keys: &[&'static str]| {
        keys.iter()
            .filter_map(|key| program.option(key))
            .collect::<Vec<_>>()
    };
    let (experimental, usual): (Vec<_>, Vec<_>) = options(command.options)
        .into_iter()
        .partition(|option| option.is_experimental());
    let section = |text: &mut String, title: &str, options: &[&'static OptionSpec]| {
        if !options.is_empty() {
            let _ = write!(text, "\n{title} options:\n");
        }
        for option in options {
            describe(text, program, command, option);
        }
    };
    section(&mut text, "Valid", &usual);
    if detail == Detail::All {
        section(&mut text, "Experimental", &experimental);
        section(&mut text, "Global", &options(program.globals));
    } else if !program.globals.is_empty() {
        text.push_str("\n(Use '-v' to show global and experimental options.)\n");
    }
    text.push('\n');
    text
}

/// Describes options, a line or more each.
pub fn option_lines(options: &[OptionSpec]) -> String {
    options.iter().fold(String::new(), |mut text, option| {
        option_line(&mut text, &option.spelled(), option.help);
        text
    })
}

fn names(command: &Subcommand) -> String {
    if command.aliases.is_empty() {
        command.name.to_owned()
    } else {
        format!("{} ({})", command.name, command.aliases.join(", "))
    }
}

fn usage(text: &mut String, command: &Subcommand) {
    let several = command.usage.len() > 1;
    for (at, form) in command.usage.iter().enumerate() {
        text.push_str(if at == 0 { "usage: " } else { "       " });
        if several {
            let _ = write!(text, "{}. ", at + 1);
        }
        let indent = if several { "\n          " } else { "\n       " };
        text.push_str(&form.replace('\n', indent));
        text.push('\n');
    }
}

fn describe(text: &mut String, program: &Program, command: &Subcommand, option: &OptionSpec) {
    let words = command
        .special
        .iter()
        .find(|(key, _)| *key == option.key)
        .map_or(option.help, |(_, words)| *words);
    let spelled = spelled_with_aliases(program, option);
    option_line(text, &spelled, words);
}

fn option_line(text: &mut String, spelled: &str, words: &str) {
    let words = words.replace('\n', "\n                             ");
    let _ = writeln!(text, "  {spelled:<24} : {words}");
}

/// Spells an option with all its long names: `--changelist [--cl] ARG`.
fn spelled_with_aliases(program: &Program, option: &OptionSpec) -> String {
    let alias = program
        .options
        .iter()
        .find(|other| other.key == option.key && other.long != option.long)
        .and_then(|other| other.long);
    match (option.long, alias) {
        (Some(long), Some(alias)) => {
            let arg = if option.takes_arg { " ARG" } else { "" };
            format!("--{long} [--{alias}]{arg}")
        }
        _ => option.spelled(),
    }
}
