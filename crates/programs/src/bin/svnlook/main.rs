//! `svnlook`, which looks at revisions and transactions of a repository.

mod invocation;
mod look;
mod options;
mod subcommands;

mod changed;
mod content;
mod diff;
mod help;
mod history;
mod lock;
mod props;
mod revision;
mod tree;

use std::ffi::OsString;
use std::process::ExitCode;

use sylvan_cmdline::print::Output;
use sylvan_cmdline::table::Program;
use sylvan_cmdline::{call, signal};
use sylvan_core::Result;
use sylvan_io::Cancel;

use crate::invocation::Invocation;
use crate::look::Env;

/// The tables of this program.
static PROGRAM: Program = Program {
    name: "svnlook",
    options: options::OPTIONS,
    subcommands: subcommands::SUBCOMMANDS,
    globals: &[],
};

fn main() -> ExitCode {
    let mut env = Env {
        out: Output::standard(),
        cancel: Cancel::new(),
    };
    let words = std::env::args_os().skip(1).collect();
    let ended = start(&mut env, words);
    call::end(&mut env.out, &env.cancel, PROGRAM.name, ended)
}

fn start(env: &mut Env, words: Vec<OsString>) -> Result<ExitCode> {
    if words.is_empty() {
        help::hint(&mut env.out);
        return Ok(ExitCode::FAILURE);
    }
    let inv = match invocation::parse(words)? {
        Ok(inv) => inv,
        Err(said) => {
            env.out.error_bytes(&said.0);
            return Ok(ExitCode::FAILURE);
        }
    };
    run(env, &inv).map_err(|error| call::with_hint(&PROGRAM, error))?;
    Ok(ExitCode::SUCCESS)
}

fn run(env: &mut Env, inv: &Invocation) -> Result<()> {
    if !["help", "--version"].contains(&inv.command.name) {
        signal::catch(&env.cancel);
    }
    match inv.command.name {
        "author" => revision::author(env, inv),
        "cat" => content::cat(env, inv),
        "changed" => changed::changed(env, inv),
        "date" => revision::date(env, inv),
        "diff" => diff::run(env, inv),
        "dirs-changed" => changed::dirs_changed(env, inv),
        "filesize" => content::filesize(env, inv),
        "history" => history::run(env, inv),
        "info" => revision::info(env, inv),
        "lock" => lock::run(env, inv),
        "log" => revision::log(env, inv),
        "propget" => props::get(env, inv),
        "proplist" => props::list(env, inv),
        "tree" => tree::run(env, inv),
        "uuid" => revision::uuid(env, inv),
        "youngest" => revision::youngest(env, inv),
        _ => help::run(env, inv),
    }
}
