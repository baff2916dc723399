//! `svnadmin`, which makes repositories and looks after them.

mod env;
mod help;
mod invocation;
mod options;
mod repository;
mod subcommands;
mod version;

mod build_repcache;
mod create;
mod dblogs;
mod deltify;
mod dump;
mod freeze;
mod hotcopy;
mod info;
mod load;
mod lock;
mod lslocks;
mod notice;
mod pack;
mod recover;
mod rev_size;
mod revprop;
mod rmlocks;
mod setuuid;
mod txns;
mod unlock;
mod upgrade;
mod verify;

use std::ffi::OsString;
use std::process::ExitCode;

use sylvan_cmdline::table::Program;
use sylvan_cmdline::{call, signal};
use sylvan_core::Result;
use sylvan_io::fault;

use crate::env::{Env, Exit};
use crate::invocation::Invocation;

/// The tables of this program.
static PROGRAM: Program = Program {
    name: "svnadmin",
    options: options::OPTIONS,
    subcommands: subcommands::SUBCOMMANDS,
    globals: &[],
};

/// Runs one subcommand.
type Run = fn(&mut Env, &Invocation) -> Result<Exit>;

/// Returns what runs a subcommand, `None` if it is known but not built yet.
fn run_of(name: &str) -> Run {
    match name {
        "build-repcache" => build_repcache::run,
        "create" => create::run,
        "delrevprop" => revprop::delete,
        "deltify" => deltify::run,
        "dump" => dump::run,
        "dump-revprops" => dump::run_revprops,
        "freeze" => freeze::run,
        "hotcopy" => hotcopy::run,
        "info" => info::run,
        "list-dblogs" => dblogs::list,
        "list-unused-dblogs" => dblogs::list,
        "load" => load::run,
        "load-revprops" => load::run_revprops,
        "lock" => lock::run,
        "lslocks" => lslocks::run,
        "lstxns" => txns::list,
        "pack" => pack::run,
        "recover" => recover::run,
        "rev-size" => rev_size::run,
        "rmlocks" => rmlocks::run,
        "rmtxns" => txns::remove,
        "setlog" => revprop::set_log,
        "setrevprop" => revprop::set,
        "setuuid" => setuuid::run,
        "unlock" => unlock::run,
        "upgrade" => upgrade::run,
        "verify" => verify::run,
        _ => help::run,
    }
}

fn main() -> ExitCode {
    let mut env = Env::standard();
    let words = std::env::args_os().skip(1).collect();
    let ended = start(&mut env, words).map(Exit::code);
    call::end(&mut env.out, &env.cancel, PROGRAM.name, ended)
}

fn start(env: &mut Env, words: Vec<OsString>) -> Result<Exit> {
    if words.is_empty() {
        return Ok(help::hint(env));
    }
    let inv = match invocation::parse(&PROGRAM, words)? {
        Ok(inv) => inv,
        Err(said) => {
            env.out.error_bytes(&said.0);
            return Ok(Exit::Failure);
        }
    };
    if let Some(plan) = std::env::var_os(fault::VARIABLE) {
        fault::arm(&plan.to_string_lossy())?;
    }
    if !["help", "--version"].contains(&inv.command.name) {
        signal::catch(&env.cancel);
    }
    run_of(inv.command.name)(env, &inv).map_err(|error| call::with_hint(&PROGRAM, error))
}
