//! `svnversion`, which names the state of a working copy in one word.

use std::ffi::OsString;
use std::fs;
use std::process::ExitCode;

use sylvan_cmdline::error;
use sylvan_cmdline::getopt::Parser;
use sylvan_cmdline::help::option_lines;
use sylvan_cmdline::print::Output;
use sylvan_cmdline::surroundings::current_dir;
use sylvan_cmdline::table::OptionSpec;
use sylvan_cmdline::{utf8, version};
use sylvan_core::{Dirent, ErrorCode, Result};
use sylvan_io::Cancel;
use sylvan_wc::revision_status::{RevisionStatus, Revisions, read_recorded};
use sylvan_wc::status::local_changes;
use sylvan_wc::{Options, WorkingCopy};

const NAME: &str = "svnversion";

const fn flag(key: &'static str, short: Option<char>, help: &'static str) -> OptionSpec {
    OptionSpec {
        key,
        long: Some(key),
        short,
        takes_arg: false,
        help,
    }
}

static OPTIONS: &[OptionSpec] = &[
    flag("no-newline", Some('n'), "end the output without a newline"),
    flag(
        "committed",
        Some('c'),
        "revisions of the last changes, not of the nodes",
    ),
    flag("help", Some('h'), "print this help"),
    flag("version", None, "print the program's version"),
    flag("quiet", Some('q'), "with --version, print the number alone"),
];

const HELP: &str = "\
usage: svnversion [OPTIONS] [WC_PATH [TRAIL_URL]]
Names the state of a working copy in one word.
Type 'svnversion --version' for the version.

  WC_PATH is the working copy or a part of it, by default the current folder.
  If its URL does not end in TRAIL_URL it counts as switched.

  The word is a revision, or the lowest and the highest one if there are
  several, and letters:

    4168          all of it is at revision 4168
    4123:4168     from 4123 to 4168
    4168M         with local changes
    4123S         something is switched
    4123P         something is left out by depth
    4123:4168MS   several of these

  For what is not under version control it is 'Unversioned directory',
  'Unversioned file' or 'Unversioned symlink'; for what is only added,
  'Uncommitted local addition, copy or move'.

Valid options:
";

/// What was typed.
#[derive(Default)]
struct Invocation {
    no_newline: bool,
    committed: bool,
    quiet: bool,
    version: bool,
    operands: Vec<OsString>,
}

/// What the command line asks for.
enum Asked {
    State(Invocation),
    Help,
    /// Nothing that makes sense; what is said about it.
    Nonsense(Vec<u8>),
}

fn main() -> ExitCode {
    let mut out = Output::standard();
    let ended = run(&mut out);
    let flushed = out.flush();
    match ended.and_then(|code| flushed.map(|()| code)) {
        Ok(code) => code,
        Err(failure) => {
            error::print(&mut out, NAME, &failure);
            ExitCode::FAILURE
        }
    }
}

fn run(out: &mut Output) -> Result<ExitCode> {
    let inv = match parse(std::env::args_os().skip(1).collect()) {
        Asked::State(inv) => inv,
        Asked::Help => {
            out.print(HELP)?;
            out.line(option_lines(OPTIONS))?;
            return Ok(ExitCode::SUCCESS);
        }
        Asked::Nonsense(said) => {
            out.error_bytes(&said);
            return Ok(ExitCode::FAILURE);
        }
    };
    if inv.version {
        print_version(out, inv.quiet)?;
        return Ok(ExitCode::SUCCESS);
    }
    print_state(out, &inv)
}

fn parse(words: Vec<OsString>) -> Asked {
    let nonsense = |mut said: Vec<u8>| {
        said.extend(b"Type 'svnversion --help' for usage.\n");
        Asked::Nonsense(said)
    };
    let mut parser = Parser::new(OPTIONS, words);
    let mut inv = Invocation::default();
    while let Some(met) = parser.next_option() {
        match met.map(|met| met.option.key) {
            Ok("no-newline") => inv.no_newline = true,
            Ok("committed") => inv.committed = true,
            Ok("quiet") => inv.quiet = true,
            Ok("version") => inv.version = true,
            Ok(_) => return Asked::Help,
            Err(error) => {
                let said = [NAME.as_bytes(), b": ", &error.to_bytes(), b"\n"];
                return nonsense(said.concat());
            }
        }
    }
    inv.operands = parser.into_operands();
    if inv.operands.len() > 2 && !inv.version {
        return nonsense(Vec::new());
    }
    Asked::State(inv)
}

fn print_version(out: &mut Output, quiet: bool) -> Result<()> {
    if quiet {
        out.line(version::COMPATIBLE)
    } else {
        out.print(version::banner(NAME))
    }
}

fn print_state(out: &mut Output, inv: &Invocation) -> Result<ExitCode> {
    let mut operands = inv.operands.iter().map(|word| utf8::os_text(word));
    let path = Dirent::new(operands.next().transpose()?.unwrap_or("."));
    let path = path.absolute(&current_dir()?);
    let trail = operands.next().transpose()?;
    let revisions = if inv.committed {
        Revisions::Committed
    } else {
        Revisions::Current
    };
    let word = match state(&path, revisions, trail) {
        Ok(state) => word(&state),
        Err(failure)
            if [ErrorCode::WC_PATH_NOT_FOUND, ErrorCode::WC_NOT_WORKING_COPY]
                .contains(&failure.code()) =>
        {
            match unversioned(&path) {
                Ok(word) => word.to_owned(),
                Err(said) => {
                    out.error(said);
                    return Ok(ExitCode::FAILURE);
                }
            }
        }
        Err(failure) => return Err(failure),
    };
    out.print(word)?;
    if !inv.no_newline {
        out.print('\n')?;
    }
    Ok(ExitCode::SUCCESS)
}

fn state(path: &Dirent, revisions: Revisions, trail: Option<&str>) -> Result<RevisionStatus> {
    let (wc, below) = WorkingCopy::open(path, &Options::default())?;
    let mut state = read_recorded(&wc, &below, revisions, trail)?;
    state.modified = state.modified || local_changes(&wc, &below, &Cancel::new())?;
    Ok(state)
}

fn word(state: &RevisionStatus) -> String {
    let (Some(min), Some(max)) = (state.min, state.max) else {
        return "Uncommitted local addition, copy or move".to_owned();
    };
    let mut word = min.to_string();
    if min != max {
        word.push_str(&format!(":{max}"));
    }
    for (holds, letter) in [
        (state.modified, 'M'),
        (state.switched, 'S'),
        (state.sparse, 'P'),
    ] {
        if holds {
            word.push(letter);
        }
    }
    word
}

/// Names what is not under version control; the other side is what is said if there is nothing.
fn unversioned(path: &Dirent) -> Result<&'static str, String> {
    let Ok(found) = fs::symlink_metadata(path.as_path()) else {
        return Err(format!("'{path}' doesn't exist\n"));
    };
    let kind = found.file_type();
    if kind.is_symlink() {
        Ok("Unversioned symlink")
    } else if kind.is_dir() {
        Ok("Unversioned directory")
    } else if kind.is_file() {
        Ok("Unversioned file")
    } else {
        Err(format!("'{path}' is of unknown type\n"))
    }
}

#[cfg(test)]
mod tests {
    use sylvan_core::Revnum;

    use super::*;

    #[test]
    fn states_become_words() {
        let mut state = RevisionStatus {
            min: Revnum::new(3),
            max: Revnum::new(3),
            ..RevisionStatus::default()
        };
        assert_eq!(word(&state), "3");
        state.max = Revnum::new(5);
        state.modified = true;
        state.switched = true;
        state.sparse = true;
        assert_eq!(word(&state), "3:5MSP");
        assert_eq!(
            word(&RevisionStatus::default()),
            "Uncommitted local addition, copy or move"
        );
    }
}
