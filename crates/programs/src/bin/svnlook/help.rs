//! `svnlook help`, and `svnlook --version`.

use sylvan_cmdline::help::{Detail, describe_named, overview};
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

/// Prints where help is to be found; for a command line that makes no sense.
pub(crate) fn hint(out: &mut Output) {
    out.error("Type 'svnlook help' for usage.\n");
}

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<()> {
    let out = &mut env.out;
    if !inv.args.is_empty() {
        return describe_named(out, &PROGRAM, &inv.args, |_| "", Detail::Usual);
    }
    if !inv.options.has("version") {
        return out.print(overview(&PROGRAM, HEADER, "", Detail::Usual));
    }
    if inv.options.has("quiet") {
        return out.line(version::COMPATIBLE);
    }
    out.print(version::banner(PROGRAM.name))?;
    out.print(version::FILE_SYSTEMS)
}
