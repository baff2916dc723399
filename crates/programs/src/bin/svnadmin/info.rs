//! `svnadmin info`.

use sylvan_core::Result;

use crate::env::{Env, Exit};
use crate::invocation::Invocation;
use crate::repository;

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    inv.no_args()?;
    let repos = repository::open(inv)?;
    let fs = repos.fs();
    let info = fs.info()?;
    let format = info.format;
    let yes_no = |flag: bool| if flag { "yes" } else { "no" };
    let out = &mut env.out;
    out.line(format_args!("Path: {}", repos.path().display()))?;
    out.line(format_args!("UUID: {}", fs.uuid()))?;
    out.line(format_args!("Revisions: {}", info.youngest))?;
    out.line(format_args!("Repository Format: {}", repos.format()))?;
    let minor = repos.minor_version();
    out.line(format_args!("Compatible With Version: 1.{minor}.0"))?;
    for capability in repos.capabilities() {
        out.line(format_args!("Repository Capability: {capability}"))?;
    }
    out.line("Filesystem Type: fsfs")?;
    out.line(format_args!(
        "Filesystem Format: {}",
        format.number.number()
    ))?;
    out.line(format_args!(
        "FSFS Sharded: {}",
        yes_no(format.shard_size.is_some())
    ))?;
    if let Some(size) = format.shard_size {
        let (packed, full) = info.packed_shards();
        out.line(format_args!("FSFS Shard Size: {size}"))?;
        out.line(format_args!("FSFS Shards Packed: {packed}/{full}"))?;
    }
    out.line(format_args!(
        "FSFS Logical Addressing: {}",
        yes_no(format.is_logical())
    ))?;
    for file in &info.config_files {
        out.line(format_args!("Configuration File: {}", file.display()))?;
    }
    out.line("")?;
    Ok(Exit::Success)
}
