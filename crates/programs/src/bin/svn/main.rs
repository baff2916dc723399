//! `svn`, the command-line client.

mod credentials;
mod env;
mod invocation;
mod log_message;
mod notify;
mod options;
mod subcommands;

mod add;
mod blame;
mod cat;
mod changelist;
mod checkout;
mod cleanup;
mod commit;
mod conflict_text;
mod copy;
mod delete;
mod diff;
mod export;
mod help;
mod import;
mod info;
mod list;
mod lock;
mod log;
mod mergeinfo;
mod mkdir;
mod move_;
mod propdel;
mod propedit;
mod propget;
mod proplist;
mod props;
mod propset;
mod relocate;
mod resolve;
mod resolved;
mod revert;
mod similar;
mod size;
mod status;
mod switch;
mod targets;
mod update;
mod upgrade;
mod url_ops;
mod version;
mod xml_parts;

use std::ffi::OsString;
use std::process::ExitCode;

use sylvan_cmdline::table::Program;
use sylvan_cmdline::{call, signal};
use sylvan_core::{Error, ErrorCode, Result};
use sylvan_io::fault;

use crate::env::{Env, Exit};
use crate::invocation::Invocation;

/// The tables of this program without its experimental subcommands.
static PROGRAM: Program = Program {
    name: "svn",
    options: options::OPTIONS,
    subcommands: subcommands::SUBCOMMANDS,
    globals: options::GLOBALS,
};

/// Returns the tables of this program; `SVN_EXPERIMENTAL_COMMANDS` adds to them.
fn program() -> Program {
    let wanted = std::env::var_os("SVN_EXPERIMENTAL_COMMANDS").is_some_and(|names| {
        let names = names.to_string_lossy();
        names.contains("shelf2") || names.contains("shelf3")
    });
    Program {
        subcommands: if wanted {
            subcommands::WITH_EXPERIMENTAL
        } else {
            PROGRAM.subcommands
        },
        ..PROGRAM
    }
}

/// Runs one subcommand.
type Run = fn(&mut Env, &Invocation) -> Result<Exit>;

/// Returns what runs a subcommand, `None` if it is known but not built yet.
fn run_of(name: &str) -> Option<Run> {
    Some(match name {
        "add" => add::run,
        "blame" => blame::run,
        "cat" => cat::run,
        "changelist" => changelist::run,
        "checkout" => checkout::run,
        "cleanup" => cleanup::run,
        "commit" => commit::run,
        "copy" => copy::run,
        "delete" => delete::run,
        "diff" => diff::run,
        "export" => export::run,
        "help" => help::run,
        "import" => import::run,
        "info" => info::run,
        "list" => list::run,
        "lock" => lock::run_lock,
        "log" => log::run,
        "mergeinfo" => mergeinfo::run,
        "mkdir" => mkdir::run,
        "move" => move_::run,
        "propdel" => propdel::run,
        "propedit" => propedit::run,
        "propget" => propget::run,
        "proplist" => proplist::run,
        "propset" => propset::run,
        "revert" => revert::run,
        "relocate" => relocate::run,
        "resolve" => resolve::run,
        "resolved" => resolved::run,
        "status" => status::run,
        "switch" => switch::run,
        "unlock" => lock::run_unlock,
        "update" => update::run,
        "upgrade" => upgrade::run,
        "--version" => version::run,
        _ => return None,
    })
}

fn main() -> ExitCode {
    let mut env = Env::standard();
    let words = std::env::args_os().skip(1).collect();
    let ended = start(&mut env, words).map(|exit| match exit {
        Exit::Success => ExitCode::SUCCESS,
        Exit::Failure => ExitCode::FAILURE,
    });
    call::end(&mut env.out, &env.cancel, PROGRAM.name, ended)
}

fn start(env: &mut Env, words: Vec<OsString>) -> Result<Exit> {
    if words.is_empty() {
        return Ok(help::hint(env));
    }
    let mut inv = match invocation::parse(program(), words, &mut env.out)? {
        Ok(inv) => inv,
        Err(said) => {
            env.out.error_bytes(&said.0);
            return Ok(Exit::Failure);
        }
    };
    inv.settle()?;
    if let Some(plan) = std::env::var_os(fault::VARIABLE) {
        fault::arm(&plan.to_string_lossy())?;
    }
    let run = run_of(inv.command.name).unwrap_or(not_yet);
    if !["help", "--version"].contains(&inv.command.name) {
        signal::catch(&env.cancel);
    }
    run(env, &inv).map_err(|error| with_hints(error, &inv))
}

fn not_yet(_: &mut Env, inv: &Invocation) -> Result<Exit> {
    Err(Error::new(
        ErrorCode::UNSUPPORTED_FEATURE,
        format!("Subcommand '{}' is not implemented yet", inv.command.name),
    ))
}

/// Adds to an error what the user can do about it.
fn with_hints(mut error: Error, inv: &Invocation) -> Error {
    if call::is_about_arguments(&error) {
        let name = inv.command.name;
        error = error.context(format!("Try 'svn help {name}' for more information"));
    }
    if error.code() == ErrorCode::WC_UPGRADE_REQUIRED {
        error = error.context("Please see the 'svn upgrade' command");
    }
    if error.code() == ErrorCode::AUTHN_FAILED && inv.non_interactive {
        error = error.context(
            "Authentication failed and interactive prompting is disabled; see the \
             --force-interactive option",
        );
        if inv.file.as_deref() == Some("-") {
            error = error.context(
                "Reading file from standard input because of -F option; this can interfere with \
                 interactive prompting",
            );
        }
    }
    if error.has_code(ErrorCode::WC_LOCKED) {
        error = error
            .context("Run 'svn cleanup' to remove locks (type 'svn help cleanup' for details)");
    }
    if error.code() == ErrorCode::SQLITE_BUSY {
        error = error.context(
            "Another process is blocking the working copy database, or the underlying filesystem \
             does not support file locking; if the working copy is on a network filesystem, make \
             sure file locking has been enabled on the file server",
        );
    }
    let has_credentials = inv.username.is_some() || inv.password.is_some();
    if error.has_code(ErrorCode::RA_CANNOT_CREATE_TUNNEL) && has_credentials {
        error = error.context(
            "When using svn+ssh:// URLs, keep in mind that the --username and --password options \
             are ignored because authentication is performed by SSH, not Subversion",
        );
    }
    error
}
