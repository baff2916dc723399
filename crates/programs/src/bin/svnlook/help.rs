//! `svnlook help`, and `svnlook --version`.

use sylvan_cmdline::help::{Detail, of_subcommand, overview};
use sylvan_cmdline::print::Output;
use sylvan_cmdline::version;
use sylvan_core::Result;

use crate::PROGRAM;
use crate::invocation::Invocation;
use crate::look::Env;

const HEADER: &str = "\
general usage: svnlook SUBCOMMAND REPOS_PATH [ARGS & OPTIONS ...]
Looks at revisions and transactions of Subversion repositories.
Type 'svnlook help <subcommand>' for one of the subcommands below,
     'svnlook --version' for the version and the kinds of file systems.

Where a revision (-r) or a transaction (-t) can be given and none is, the
youngest revision is looked at. A '/' before a path in the repository may be
left out.

Available subcommands:
";

/// What file systems there are, in the form that scripts look through.
const FILE_SYSTEMS: &str = "\
The following repository back-end (FS) modules are available:

* fs_fs : Module for working with a plain file (FSFS) repository.

";

/// Prints where help is to be found; for a command line that makes no sense.
pub(crate) fn hint(out: &mut Output) {
    out.error("Type 'svnlook help' for usage.\n");
}

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<()> {
    let out = &mut env.out;
    if !inv.args.is_empty() {
        for name in &inv.args {
            match PROGRAM.subcommand(name) {
                Some(command) => out.print(of_subcommand(&PROGRAM, command, "", Detail::Usual))?,
                None => out.error(format!("\"{name}\": unknown command.\n\n")),
            }
        }
        return Ok(());
    }
    if !inv.options.has("version") {
        return out.print(overview(&PROGRAM, HEADER, "", Detail::Usual));
    }
    if inv.options.has("quiet") {
        return out.line(version::COMPATIBLE);
    }
    out.print(version::banner(PROGRAM.name))?;
    out.print(FILE_SYSTEMS)
}
