//! `svn help`, and `svn --version`.

use sylvan_cmdline::help::{Detail, of_subcommand, overview};
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
    for name in &inv.operands {
        let name = sylvan_cmdline::utf8::os_text(name)?;
        match program.subcommand(name) {
            Some(command) => {
                let note = match run_of(command.name) {
                    Some(_) => "",
                    None => "\n  Not implemented yet.\n",
                };
                let text = of_subcommand(&program, command, note, detail);
                env.out.print(text)?;
            }
            None => env.out.error(format!("\"{name}\": unknown command.\n\n")),
        }
    }
    Ok(Exit::Success)
}
