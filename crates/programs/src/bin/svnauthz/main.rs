//! `svnauthz`, which checks files of access rules and tells what they allow; under the name
//! `svnauthz-validate`, it only checks.

mod options;
mod rules;

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

use sylvan_cmdline::getopt::Parser;
use sylvan_cmdline::help::{Detail, of_subcommand, overview};
use sylvan_cmdline::print::Output;
use sylvan_cmdline::table::{Program, Subcommand};
use sylvan_cmdline::{error, utf8, version};
use sylvan_core::{Error, ErrorCode, Result};
use sylvan_repos::authz::{Authz, Reach, Rights};

use crate::options::{HEADER, OPTIONS, SUBCOMMANDS};

/// The name under which the program only validates.
const VALIDATE_NAME: &str = "svnauthz-validate";

static PROGRAM: Program = Program {
    name: "svnauthz",
    options: OPTIONS,
    subcommands: SUBCOMMANDS,
    globals: &[],
};

/// What file systems there are, in the form that scripts look through.
const FILE_SYSTEMS: &str = "\
The following repository back-end (FS) modules are available:

* fs_fs : Module for working with a plain file (FSFS) repository.

";

/// Exit codes.
const INVALID: u8 = 1;
const FAILED: u8 = 2;
const OTHER_ACCESS: u8 = 3;

/// What was typed.
#[derive(Default)]
struct Invocation {
    help: bool,
    version: bool,
    recursive: bool,
    username: Option<String>,
    path: Option<String>,
    repository: Option<String>,
    is: Option<String>,
    txn: Option<String>,
    groups_file: Option<String>,
    /// The keys of the options met.
    met: Vec<&'static str>,
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
    let name;
    if validates_only {
        name = if words.is_empty() { "help" } else { "validate" }.to_owned();
        inv.operands = words;
    } else {
        if let Err(said) = parse(&mut inv, words)? {
            out.error_bytes(&said);
            return Ok(hint(out));
        }
        if inv.help {
            name = "help".to_owned();
        } else if !inv.operands.is_empty() {
            name = utf8::os_text(&inv.operands.remove(0))?.to_owned();
        } else if inv.version {
            if inv.met.iter().any(|key| *key != "version") {
                return Ok(hint(out));
            }
            out.print(version::banner(PROGRAM.name))?;
            out.print(FILE_SYSTEMS)?;
            return Ok(Exit::Success);
        } else {
            out.error("subcommand argument required\n");
            return Ok(hint(out));
        }
    }
    let Some(command) = PROGRAM.subcommand(&name) else {
        out.error(format!("Unknown subcommand: '{name}'\n"));
        return Ok(hint(out));
    };
    run_subcommand(out, command, &inv)
}

fn run_subcommand(out: &mut Output, command: &Subcommand, inv: &Invocation) -> Result<Exit> {
    let place = match command.name {
        "help" => None,
        _ => Some(rules::Place::of(inv)?),
    };
    let refused = inv
        .met
        .iter()
        .find(|key| **key != "help" && !PROGRAM.accepts(command, key));
    if let Some(option) = refused.and_then(|key| PROGRAM.option(key)) {
        let (name, option) = (command.name, option.spelled());
        out.error(format!(
            "Subcommand '{name}' doesn't accept option '{option}'\n\
             Type 'svnauthz help {name}' for usage.\n"
        ));
        return Ok(Exit::Failure);
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

/// Reads the options; the inner error is what is said of them.
fn parse(inv: &mut Invocation, words: Vec<OsString>) -> Result<Result<(), Vec<u8>>> {
    let mut parser = Parser::new(OPTIONS, words);
    while let Some(met) = parser.next_option() {
        let met = match met {
            Ok(met) => met,
            Err(error) => {
                let said = [PROGRAM.name.as_bytes(), b": ", &error.to_bytes(), b"\n"];
                return Ok(Err(said.concat()));
            }
        };
        let arg = utf8::os_text(&met.arg)?.to_owned();
        inv.met.push(met.option.key);
        match met.option.key {
            "help" => inv.help = true,
            "version" => inv.version = true,
            "recursive" => inv.recursive = true,
            "username" => inv.username = Some(arg),
            "path" => inv.path = Some(rules::canonical(&arg)),
            "repository" => inv.repository = Some(arg),
            "is" => inv.is = Some(arg),
            "transaction" => inv.txn = Some(arg),
            _ => inv.groups_file = Some(arg),
        }
    }
    inv.operands = parser.into_operands();
    Ok(Ok(()))
}

fn hint(out: &mut Output) -> Exit {
    out.error("Type 'svnauthz help' for usage.\n");
    Exit::Failure
}

fn print_help(out: &mut Output, names: &[OsString]) -> Result<Exit> {
    if names.is_empty() {
        out.print(overview(&PROGRAM, HEADER, "", Detail::Usual))?;
    }
    for name in names {
        let name = utf8::os_text(name)?;
        match PROGRAM.subcommand(name) {
            Some(command) => {
                out.print(of_subcommand(&PROGRAM, command, "", Detail::Usual))?;
            }
            None => out.error(format!("\"{name}\": unknown command.\n\n")),
        }
    }
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
