//! `svnadmin help`, and `svnadmin --version`.

use sylvan_cmdline::help::{Detail, of_subcommand, overview};
use sylvan_cmdline::version;
use sylvan_core::Result;

use crate::env::{Env, Exit};
use crate::invocation::Invocation;
use crate::{PROGRAM, run_of};

const HEADER: &str = "\
general usage: svnadmin SUBCOMMAND REPOS_PATH  [ARGS & OPTIONS ...]
Sylvan's tool for administrators of Subversion repositories.
Type 'svnadmin help <subcommand>' for one of the subcommands below,
     'svnadmin --version' for the version and the kinds of file systems.

Available subcommands:
";

/// What file systems there are, in the form that scripts look through.
const FILE_SYSTEMS: &str = "\
The following repository back-end (FS) modules are available:

* fs_fs : Module for working with a plain file (FSFS) repository.

";

/// Prints where help is to be found; for a command line that makes no sense.
pub(crate) fn hint(env: &mut Env) -> Exit {
    env.out.error("Type 'svnadmin help' for usage.\n");
    Exit::Failure
}

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let names = inv.all_args()?;
    if !names.is_empty() {
        describe(env, &names)?;
    } else if inv.version {
        print_version(env, inv.quiet)?;
    } else {
        env.out
            .print(overview(&PROGRAM, HEADER, "", Detail::Usual))?;
    }
    Ok(Exit::Success)
}

fn describe(env: &mut Env, names: &[&str]) -> Result<()> {
    for name in names {
        let Some(command) = PROGRAM.subcommand(name) else {
            env.out.error(format!("\"{name}\": unknown command.\n\n"));
            continue;
        };
        let note = match run_of(command.name) {
            Some(_) => "",
            None => "\n  Not implemented yet.\n",
        };
        env.out
            .print(of_subcommand(&PROGRAM, command, note, Detail::Usual))?;
    }
    Ok(())
}

fn print_version(env: &mut Env, quiet: bool) -> Result<()> {
    if quiet {
        return env.out.line(version::COMPATIBLE);
    }
    env.out.print(version::banner(PROGRAM.name))?;
    env.out.print(FILE_SYSTEMS)
}
