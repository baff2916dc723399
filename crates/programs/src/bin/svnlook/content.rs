//! `svnlook cat` and `svnlook filesize`.

use sylvan_core::Result;

use crate::invocation::Invocation;
use crate::look::{Env, Look};

pub(crate) fn cat(env: &mut Env, inv: &Invocation) -> Result<()> {
    let path = inv.one_arg()?;
    let look = Look::open(inv)?;
    let mut contents = look.file(path)?.contents()?;
    while let Some(piece) = contents.next_piece()? {
        env.cancel.check()?;
        env.out.bytes(&piece)?;
    }
    Ok(())
}

pub(crate) fn filesize(env: &mut Env, inv: &Invocation) -> Result<()> {
    let path = inv.one_arg()?;
    let look = Look::open(inv)?;
    env.out.line(look.file(path)?.len()?)
}
