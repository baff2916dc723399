//! `svn --version`.

use std::env::consts;

use sylvan_cmdline::print::Output;
use sylvan_core::Result;

use crate::env::{Env, Exit, directories};
use crate::invocation::Invocation;

/// The version of Subversion that this program behaves as; other programs decide by it.
pub(crate) const COMPATIBLE: &str = "1.14.2";
/// This program's own version.
const SYLVAN: &str = env!("CARGO_PKG_VERSION");

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    if inv.quiet {
        env.out.line(COMPATIBLE)?;
        return Ok(Exit::Success);
    }
    env.out.print(format_args!(
        "svn, version {COMPATIBLE} (Sylvan {SYLVAN})\n   compiled for {}-{}\n\n\
         Sylvan {SYLVAN} does what Subversion {COMPATIBLE} does.\n\
         Sylvan is free software under the Apache License, Version 2.0.\n\n\
         The following repository access (RA) modules are available:\n\n\
         * ra_svn : Access by Subversion's own protocol.\n\
         \x20 - handles 'svn' scheme\n\
         * ra_http : Access by HTTP and WebDAV.\n\
         \x20 - handles 'http' scheme\n\
         \x20 - handles 'https' scheme\n",
        consts::ARCH,
        consts::OS,
    ))?;
    if let Some(dir) = directories(inv).user {
        env.out.print(format_args!(
            "\nThe following authentication credential caches are available:\n\n\
             * Plaintext cache in {}\n",
            dir.display()
        ))?;
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
