//! `svnauthz`, which checks files of access rules and tells what they allow; under the name
//! `svnauthz-validate`, it only checks.

mod options;
mod rules;

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

use sylvan_cmdline::call::Words;
use sylvan_cmdline::getopt::Met;
use sylvan_cmdline::help::{Detail, describe_named, overview};
use sylvan_cmdline::print::Output;
use sylvan_cmdline::table::{Program, Subcommand};
use sylvan_cmdline::{error, utf8, version};
use sylvan_core::{Error, ErrorCode, Result};
use sylvan_repos::authz::{Authz, Reach, Rights};

use crate::options::{HEADER, OPTIONS, SUBCOMMANDS, VERSION};

/// The name under which the program only validates.
const VALIDATE_NAME: &str = "svnauthz-validate";

static PROGRAM: Program = Program {
    name: "svnauthz",
    options: OPTIONS,
    subcommands: SUBCOMMANDS,
    globals: &[],
};

/// Exit codes.
const INVALID: u8 = 1;
const FAILED: u8 = 2;
const OTHER_ACCESS: u8 = 3;

/// What was typed.
#[derive(Default)]
struct Invocation {
    recursive: bool,
    username: Option<String>,
    path: Option<String>,
    repository: Option<String>,
    is: Option<String>,
    txn: Option<String>,
    groups_file: Option<String>,
    operands: Vec<OsString>,
}

/// How the program ends when no error is to be printed.
enum Exit {
    Success,
    Failure,
}

fn main() -> ExitCode {
    let mut out = Output::standard();
    let mut words = std::env::args_os();
    let name = words.next().unwrap_or_default();
    let ended = run(&mut out, validates_only(&name), words.collect());
    let flushed = out.flush();
    match ended.and_then(|exit| flushed.map(|()| exit)) {
        Ok(Exit::Success) => ExitCode::SUCCESS,
        Ok(Exit::Failure) => ExitCode::from(FAILED),
        Err(failure) => {
            error::print(&mut out, PROGRAM.name, &failure);
            ExitCode::from(code_of(&failure))
        }
    }
}

fn validates_only(program: &OsStr) -> bool {
    let name = Path::new(program).file_name().unwrap_or_default();
    name.to_string_lossy().starts_with(VALIDATE_NAME)
}

fn code_of(failure: &Error) -> u8 {
    match failure.code() {
        ErrorCode::AUTHZ_INVALID_CONFIG | ErrorCode::MALFORMED_FILE => INVALID,
        ErrorCode::AUTHZ_UNREADABLE
        | ErrorCode::AUTHZ_UNWRITABLE
        | ErrorCode::AUTHZ_PARTIALLY_READABLE => OTHER_ACCESS,
        _ => FAILED,
    }
}

fn run(out: &mut Output, validates_only: bool, words: Vec<OsString>) -> Result<Exit> {
    let mut inv = Invocation::default();
    if validates_only {
        inv.operands = words;
        let name = if inv.operands.is_empty() {
            "help"
        } else {
            "validate"
        };
        let command = PROGRAM.subcommand(name).unwrap_or(&VERSION);
        return run_subcommand(out, command, &Words::default(), &inv);
    }
    let chosen = match Words::parse(&PROGRAM, words, |met| inv.take(met))? {
        Ok(mut words) => words
            .choose(&PROGRAM, &VERSION, "subcommand argument required")?
            .map(|command| (command, words)),
        Err(said) => Err(said),
    };
    match chosen {
        Ok((command, mut words)) => {
            inv.operands = std::mem::take(&mut words.operands);
            run_subcommand(out, command, &words, &inv)
        }
        Err(said) => {
            out.error_bytes(&said.0);
            Ok(Exit::Failure)
        }
    }
}

fn run_subcommand(
    out: &mut Output,
    command: &Subcommand,
    words: &Words,
    inv: &Invocation,
) -> Result<Exit> {
    let place = match command.name {
        "help" | "--version" => None,
        _ => Some(rules::Place::of(inv)?),
    };
    if let Some(said) = words.refuse(&PROGRAM, command) {
        out.error_bytes(&said.0);
        return Ok(Exit::Failure);
    }
    if command.name == VERSION.name {
        out.print(version::banner(PROGRAM.name))?;
        out.print(version::FILE_SYSTEMS)?;
        return Ok(Exit::Success);
    }
    let Some(place) = place else {
        return print_help(out, &inv.operands);
    };
    let run = if command.name == "validate" {
        place.read(out).map(|_| ())
    } else {
        print_access(out, &place, inv)
    };
    run.map(|()| Exit::Success).map_err(|error| {
        if error.code() == ErrorCode::CL_ARG_PARSING_ERROR {
            return error.context("Try 'svnauthz help' for more info");
        }
        error
    })
}

impl Invocation {
    fn take(&mut self, met: &Met) -> Result<()> {
        let arg = utf8::os_text(&met.arg)?.to_owned();
        match met.option.key {
            "recursive" => self.recursive = true,
            "username" => self.username = Some(arg),
            "path" => self.path = Some(rules::canonical(&arg)),
            "repository" => self.repository = Some(arg),
            "is" => self.is = Some(arg),
            "transaction" => self.txn = Some(arg),
            "groups-file" => self.groups_file = Some(arg),
            _ => {}
        }
        Ok(())
    }
}

fn print_help(out: &mut Output, names: &[OsString]) -> Result<Exit> {
    if names.is_empty() {
        out.print(overview(&PROGRAM, HEADER, "", Detail::Usual))?;
    }
    describe_named(out, &PROGRAM, names, |_| "", Detail::Usual)?;
    Ok(Exit::Success)
}

fn print_access(out: &mut Output, place: &rules::Place, inv: &Invocation) -> Result<()> {
    let bad = |text: String| Err(Error::new(ErrorCode::CL_ARG_PARSING_ERROR, text));
    if inv.recursive && inv.path.is_none() {
        return bad("--recursive not valid without --path".to_owned());
    }
    let expected = inv.is.as_deref();
    if let Some(is) = expected.filter(|is| !["rw", "r", "no"].contains(is)) {
        return bad(format!("'{is}' is not a valid argument for --is"));
    }
    let found = access_of(&place.read(out)?, inv);
    let path = inv.path.as_deref().unwrap_or("Repository");
    let (code, text) = match expected {
        None => return out.line(found),
        Some(is) if is == found => return Ok(()),
        Some("rw") => (ErrorCode::AUTHZ_UNWRITABLE, "not writable"),
        Some("r") => (ErrorCode::AUTHZ_UNREADABLE, "not read only"),
        Some(_) => (ErrorCode::AUTHZ_PARTIALLY_READABLE, "not no access"),
    };
    Err(Error::new(code, format!("{path} is '{found}', {text}")))
}

/// Returns the word for what is allowed.
fn access_of(authz: &Authz, inv: &Invocation) -> &'static str {
    let repository = inv.repository.as_deref().unwrap_or_default();
    let user = authz.for_user(repository, inv.username.as_deref());
    let reach = if inv.recursive {
        Reach::Recursive
    } else {
        Reach::Path
    };
    let allows = |rights| match &inv.path {
        Some(path) => user.allows(path, rights, reach),
        None => user.allows_anywhere(rights),
    };
    if allows(Rights::WRITE) {
        "rw"
    } else if allows(Rights::READ) {
        "r"
    } else {
        "no"
    }
}
