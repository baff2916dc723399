//! `svnadmin create`.

use sylvan_cmdline::surroundings::current_dir;
use sylvan_core::Result;
use sylvan_repos::{CreateOptions, Repos};

use crate::env::{Env, Exit};
use crate::invocation::{Invocation, bad};
use crate::repository::fs_options;
use crate::version::Version;

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    inv.no_args()?;
    let fs_type = inv.fs_type.as_deref();
    if fs_type == Some("bdb") {
        env.out.error(
            "svnadmin: warning: The \"bdb\" repository back-end is deprecated, consider using \
             \"fsfs\" instead.\n",
        );
    }
    let mut create = match inv.compatible_version {
        Some(version) => compatible_with(version, fs_type)?,
        None => CreateOptions::default(),
    };
    if let Some(fs_type) = fs_type {
        fs_type.clone_into(&mut create.fs_type);
    }
    let now = env.now();
    Repos::create(
        &inv.repository,
        &current_dir()?,
        &create,
        fs_options(inv),
        now,
    )?;
    Ok(Exit::Success)
}

fn compatible_with(version: Version, fs_type: Option<&str>) -> Result<CreateOptions> {
    if version < Version::of_minor(1) && fs_type.is_none_or(|name| name == "fsfs") {
        return Err(bad(
            "Repositories compatible with 1.0.x must use --fs-type=bdb",
        ));
    }
    if version < Version::of_minor(9) && fs_type == Some("fsx") {
        return Err(bad(
            "Repositories compatible with 1.8.x or earlier cannot use --fs-type=fsx",
        ));
    }
    // Other kinds of file systems are refused later; they know no FSFS format.
    CreateOptions::compatible_with(u32::try_from(version.minor()).unwrap_or(0).max(1))
}
