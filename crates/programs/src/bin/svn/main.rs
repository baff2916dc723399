//! `svn`, the command-line client.

mod env;
#[allow(dead_code, reason = "subcommands yet to come read the rest")]
mod invocation;
mod options;
mod subcommands;

mod cat;
mod checkout;
mod cleanup;
mod export;
mod help;
mod info;
mod list;
mod log;
mod status;
mod update;

use std::process::ExitCode;

use sylvan_cmdline::error::{self, Said};
use sylvan_cmdline::table::{Program, Subcommand};
use sylvan_core::{Error, ErrorCode, Result};

use crate::env::{Env, Exit};
use crate::invocation::Invocation;

/// The tables of this program.
pub(crate) static PROGRAM: Program = Program {
    name: "svn",
    options: options::OPTIONS,
    subcommands: subcommands::SUBCOMMANDS,
    globals: options::GLOBALS,
};

/// Runs one subcommand.
type Run = fn(&mut Env, &Invocation) -> Result<Exit>;

/// Returns what runs a subcommand, `None` if it is known but not built yet.
fn run_of(name: &str) -> Option<Run> {
    Some(match name {
        "cat" => cat::run,
        "checkout" => checkout::run,
        "cleanup" => cleanup::run,
        "export" => export::run,
        "help" | "--version" => help::run,
        "info" => info::run,
        "list" => list::run,
        "log" => log::run,
        "status" => status::run,
        "update" => update::run,
        _ => return None,
    })
}

fn main() -> ExitCode {
    let mut env = Env::standard();
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    let result = start(&mut env, words);
    let result = match (result, env.out.flush()) {
        (Err(error), _) => Err(error),
        (Ok(_), Err(error)) => Err(error),
        (Ok(exit), Ok(())) => Ok(exit),
    };
    let exit = result.unwrap_or_else(|error| {
        error::print(&mut env.out, PROGRAM.name, &error);
        Exit::Failure
    });
    match exit {
        Exit::Success => ExitCode::SUCCESS,
        Exit::Failure => ExitCode::FAILURE,
    }
}

fn start(env: &mut Env, words: Vec<std::ffi::OsString>) -> Result<Exit> {
    if words.is_empty() {
        return Ok(help::hint(env));
    }
    let parsed = match invocation::parse(&PROGRAM, words)? {
        Ok(parsed) => parsed,
        Err(said) => return Ok(say(env, &said)),
    };
    let command = parsed.command;
    let run = run_of(command.name).unwrap_or(not_yet);
    run(env, &parsed).map_err(|error| with_hints(error, command, &parsed))
}

fn say(env: &mut Env, said: &Said) -> Exit {
    env.out.error(said);
    Exit::Failure
}

fn not_yet(_: &mut Env, inv: &Invocation) -> Result<Exit> {
    Err(Error::new(
        ErrorCode::UNSUPPORTED_FEATURE,
        format!("Subcommand '{}' is not implemented yet", inv.command.name),
    ))
}

/// Adds what the user can do about some errors.
fn with_hints(error: Error, command: &Subcommand, _inv: &Invocation) -> Error {
    let mut error = error;
    if [
        ErrorCode::CL_INSUFFICIENT_ARGS,
        ErrorCode::CL_ARG_PARSING_ERROR,
    ]
    .contains(&error.code())
    {
        let hint = format!("Try 'svn help {}' for more information", command.name);
        error = error.context(hint);
    }
    error
}
