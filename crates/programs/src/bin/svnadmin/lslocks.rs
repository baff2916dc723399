//! `svnadmin lslocks`.

use sylvan_client::target::{canonical_path, canonical_url};
use sylvan_cmdline::print::Output;
use sylvan_cmdline::surroundings::local_zone;
use sylvan_core::opt::split_peg_text;
use sylvan_core::{Depth, Error, ErrorCode, Lock, RelPathBuf, Result, TimeZone, Url};

use crate::env::{Env, Exit};
use crate::invocation::{Invocation, bad};
use crate::repository::{self, fspath_arg};

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let args = inv.all_args()?;
    if args.len() > 1 {
        return Err(bad("Too many arguments given"));
    }
    let path = match args.first() {
        Some(path) => target(path)?,
        None => RelPathBuf::default(),
    };
    let repos = repository::open(inv)?;
    let zone = local_zone();
    for lock in repos.locks(&path, Depth::Infinity, env.now())? {
        env.cancel.check()?;
        describe(&mut env.out, &lock.lock, &zone)?;
    }
    Ok(Exit::Success)
}

/// Takes the path as Subversion does here, like a target on the disk, though a peg revision remains
/// a part of the name.
fn target(text: &str) -> Result<RelPathBuf> {
    let (place, _) = split_peg_text(text);
    if Url::is_url(place) {
        canonical_url(place)?;
        return fspath_arg(text);
    }
    let path = canonical_path(place);
    if path.basename() == ".svn" {
        return Err(Error::new(
            ErrorCode::RESERVED_FILENAME_SPECIFIED,
            format!("'{text}' ends in a reserved name"),
        ));
    }
    fspath_arg(&format!("{}{}", path.as_str(), &text[place.len()..]))
}

fn describe(out: &mut Output, lock: &Lock, zone: &TimeZone) -> Result<()> {
    let expires = lock.expires.map(|time| time.to_human(zone));
    let comment = lock.comment.as_deref();
    let lines = comment.map_or(0, |comment| count_newlines(comment) + 1);
    let unit = if lines == 1 { "line" } else { "lines" };
    out.line(format_args!("Path: {}", lock.path.to_fspath()))?;
    out.line(format_args!("UUID Token: {}", lock.token))?;
    out.line(format_args!("Owner: {}", lock.owner))?;
    out.line(format_args!("Created: {}", lock.created.to_human(zone)))?;
    out.line(format_args!("Expires: {}", expires.unwrap_or_default()))?;
    out.line(format_args!("Comment ({lines} {unit}):"))?;
    out.line(format_args!("{}\n", comment.unwrap_or_default()))
}

/// Counts `LF`, `CR` and `CRLF`.
fn count_newlines(text: &str) -> usize {
    let bytes = text.as_bytes();
    let ends = bytes.iter().enumerate().filter(|(at, byte)| match byte {
        b'\n' => true,
        b'\r' => bytes.get(at + 1) != Some(&b'\n'),
        _ => false,
    });
    ends.count()
}

#[cfg(test)]
mod tests {
    use super::count_newlines;

    #[test]
    fn lines_end_in_three_ways() {
        for (text, count) in [("", 0), ("a", 0), ("a\nb\r\nc\rd", 3), ("\n\n", 2)] {
            assert_eq!(count_newlines(text), count, "{text:?}");
        }
    }
}
