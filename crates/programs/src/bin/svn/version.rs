//! `svn --version`.

use std::env::consts;

use sylvan_cmdline::print::Output;
use sylvan_cmdline::surroundings::config_directories;
use sylvan_cmdline::version;
use sylvan_core::Result;

use crate::env::{Env, Exit};
use crate::invocation::Invocation;

/// How repositories can be reached, in the form that scripts look through.
const ACCESS: &str = "\
The following repository access (RA) modules are available:

* ra_svn : Access by Subversion's own protocol.
  - handles 'svn' scheme
* ra_http : Access by HTTP and WebDAV.
  - handles 'http' scheme
  - handles 'https' scheme
";

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    if inv.quiet {
        env.out.line(version::COMPATIBLE)?;
        return Ok(Exit::Success);
    }
    env.out.print(version::banner("svn"))?;
    env.out.print(ACCESS)?;
    env.out
        .print("\nThe following authentication credential caches are available:\n\n")?;
    if let Some(dir) = config_directories(inv.config_dir.as_deref()).user {
        env.out
            .line(format_args!("* Plaintext cache in {}", dir.display()))?;
    }
    env.out.print("\n")?;
    if inv.verbose {
        system(&mut env.out)?;
    }
    Ok(Exit::Success)
}

fn system(out: &mut Output) -> Result<()> {
    let uname = rustix::system::uname();
    out.print(format_args!(
        "System information:\n\n* running on {}-{}\n  - {} {}\n",
        uname.machine().to_string_lossy(),
        consts::OS,
        uname.sysname().to_string_lossy(),
        uname.release().to_string_lossy(),
    ))
}
