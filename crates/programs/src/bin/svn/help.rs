//! `svn help`, and `svn --version`.

use sylvan_cmdline::help::{Detail, describe_named, overview};
use sylvan_cmdline::table::Subcommand;
use sylvan_core::Result;

use crate::env::{Env, Exit};
use crate::invocation::Invocation;
use crate::{program, run_of, version};

const HEADER: &str = "\
usage: svn <subcommand> [options] [args]
Sylvan's client for Subversion repositories.
Type 'svn help <subcommand>' for one of the subcommands below,
     'svn --version' for the version and the kinds of repository access,
     'svn --version --verbose' for what it was built from as well,
     'svn --version --quiet' for the number alone.

Where files and folders are expected and none are given, the current folder
is meant, and what is below it.

Available subcommands:
";

const FOOTER: &str = "\
Sylvan is a version control system compatible with Subversion.
";

/// Prints where help is to be found; for a command line that makes no sense.
pub(crate) fn hint(env: &mut Env) -> Exit {
    env.out.error("Type 'svn help' for usage.\n");
    Exit::Failure
}

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    if inv.version {
        return version::run(env, inv);
    }
    let program = program();
    let detail = if inv.verbose {
        Detail::All
    } else {
        Detail::Usual
    };
    if inv.operands.is_empty() {
        env.out.print(overview(&program, HEADER, FOOTER, detail))?;
        return Ok(Exit::Success);
    }
    let note = |command: &Subcommand| match run_of(command.name) {
        Some(_) => "",
        None => "\n  Not implemented yet.\n",
    };
    describe_named(&mut env.out, &program, &inv.operands, note, detail)?;
    Ok(Exit::Success)
}
