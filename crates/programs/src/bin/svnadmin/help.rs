//! `svnadmin help`, and `svnadmin --version`.

use sylvan_cmdline::help::{Detail, describe_named, overview};
use sylvan_cmdline::version;
use sylvan_core::Result;

use crate::PROGRAM;
use crate::env::{Env, Exit};
use crate::invocation::Invocation;

const HEADER: &str = "\
general usage: svnadmin SUBCOMMAND REPOS_PATH  [ARGS & OPTIONS ...]
Sylvan's tool for administrators of Subversion repositories.
Type 'svnadmin help <subcommand>' for one of the subcommands below,
     'svnadmin --version' for the version and the kinds of file systems.

Available subcommands:
";

/// Prints where help is to be found; for a command line that makes no sense.
pub(crate) fn hint(env: &mut Env) -> Exit {
    env.out.error("Type 'svnadmin help' for usage.\n");
    Exit::Failure
}

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let names = inv.all_args()?;
    if !names.is_empty() {
        describe_named(&mut env.out, &PROGRAM, names, |_| "", Detail::Usual)?;
    } else if inv.version {
        print_version(env, inv.quiet)?;
    } else {
        env.out
            .print(overview(&PROGRAM, HEADER, "", Detail::Usual))?;
    }
    Ok(Exit::Success)
}

fn print_version(env: &mut Env, quiet: bool) -> Result<()> {
    if quiet {
        return env.out.line(version::COMPATIBLE);
    }
    env.out.print(version::banner(PROGRAM.name))?;
    env.out.print(version::FILE_SYSTEMS)
}
