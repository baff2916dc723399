//! `svnlook lock`.

use std::time::SystemTime;

use sylvan_cmdline::surroundings::local_zone;
use sylvan_core::{Result, Timestamp};

use crate::invocation::Invocation;
use crate::look::{Env, Look, path_in_repository};

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<()> {
    let path = inv.one_arg()?;
    let look = Look::open(inv)?;
    let Some(path) = path_in_repository(path) else {
        return Ok(());
    };
    let now = Timestamp::from(SystemTime::now());
    let Some(lock) = look.fs().lock_on(&path, now)? else {
        return Ok(());
    };
    let (lock, zone) = (lock.lock, local_zone());
    let expires = lock.expires.map(|time| time.to_human(&zone));
    let lines = lock.comment.as_deref().map_or(0, |text| newlines(text) + 1);
    let noun = if lines == 1 { "line" } else { "lines" };
    env.out.print(format_args!(
        "UUID Token: {}\nOwner: {}\nCreated: {}\nExpires: {}\nComment ({lines} {noun}):\n{}\n",
        lock.token,
        lock.owner,
        lock.created.to_human(&zone),
        expires.unwrap_or_default(),
        lock.comment.as_deref().unwrap_or_default(),
    ))
}

/// Counts line ends of any kind.
fn newlines(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_end = |at: usize| match bytes[at] {
        b'\n' => true,
        b'\r' => bytes.get(at + 1) != Some(&b'\n'),
        _ => false,
    };
    (0..bytes.len()).filter(|at| is_end(*at)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_of_any_kind_count() {
        for (text, count) in [("", 0), ("a", 0), ("a\nb\r\nc\rd\n", 4), ("\r\r\n\n", 3)] {
            assert_eq!(newlines(text), count, "{text:?}");
        }
    }
}
