//! Opening the repository that a call is about, and what its options mean there.

use std::io::Read;

use sylvan_cmdline::utf8;
use sylvan_core::opt::RevisionSpec;
use sylvan_core::{Dirent, Error, ErrorCode, RelPathBuf, Result, Revnum};
use sylvan_fs::{Cache, Options};
use sylvan_io::file;
use sylvan_repos::Repos;

use crate::invocation::{Invocation, bad};

/// Returns how the file system is opened.
pub(crate) fn fs_options(inv: &Invocation) -> Options {
    let mut options = Options {
        flush_to_disk: !inv.no_flush_to_disk,
        ..Options::default()
    };
    if let Some(bytes) = inv.memory_cache_size {
        options.cache = Cache::new(usize::try_from(bytes).unwrap_or(usize::MAX));
    }
    options
}

/// Opens the repository.
pub(crate) fn open(inv: &Invocation) -> Result<Repos> {
    Repos::open_with(inv.repository.as_path(), fs_options(inv))
}

/// Returns the revision that was asked for; `None` if none was.
pub(crate) fn revnum(
    repos: &Repos,
    spec: RevisionSpec,
    youngest: Revnum,
) -> Result<Option<Revnum>> {
    let revision = match spec {
        RevisionSpec::Unspecified => return Ok(None),
        RevisionSpec::Number(revision) => revision,
        RevisionSpec::Head => youngest,
        RevisionSpec::Date(time) => repos.dated_revision(time)?,
        _ => return Err(bad("Invalid revision specifier")),
    };
    if revision > youngest {
        return Err(bad(format!(
            "Revisions must not be greater than the youngest revision ({youngest})"
        )));
    }
    Ok(Some(revision))
}

/// Returns the two revisions of `-r`, of which the second is not before the first; `None` for those
/// that were not given.
pub(crate) fn range(
    repos: &Repos,
    inv: &Invocation,
    youngest: Revnum,
) -> Result<(Option<Revnum>, Option<Revnum>)> {
    let start = revnum(repos, inv.revisions.start, youngest)?;
    let end = revnum(repos, inv.revisions.end, youngest)?;
    if let (Some(start), Some(end)) = (start, end)
        && start > end
    {
        return Err(bad("First revision cannot be higher than second"));
    }
    Ok((start, end))
}

/// Returns the revisions that `dump` and its kin work on: all, one, or a range.
pub(crate) fn dump_range(repos: &Repos, inv: &Invocation) -> Result<(Revnum, Revnum)> {
    let youngest = repos.fs().youngest()?;
    Ok(match range(repos, inv, youngest)? {
        (None, _) => (Revnum::ZERO, youngest),
        (Some(only), None) => (only, only),
        (Some(start), Some(end)) => (start, end),
    })
}

/// Returns the one revision that was given as a number.
pub(crate) fn one_number(inv: &Invocation) -> Result<Revnum> {
    let RevisionSpec::Number(revision) = inv.revisions.start else {
        return Err(bad("Missing revision"));
    };
    if !inv.revisions.end.is_unspecified() {
        return Err(bad("Only one revision allowed"));
    }
    Ok(revision)
}

/// Takes an operand that must be a local path.
pub(crate) fn local_path(arg: &str) -> Result<Dirent> {
    if sylvan_core::Url::is_url(arg) {
        return Err(bad(format!("Path '{arg}' is not a local path")));
    }
    Ok(Dirent::new(arg))
}

/// Takes an operand as a path in the repository.
pub(crate) fn fspath_arg(arg: &str) -> Result<RelPathBuf> {
    RelPathBuf::canonicalize(arg.trim_start_matches('/'))
}

/// Reads a file that is named on the command line; `-` is standard input.
pub(crate) fn read_file(path: &Dirent) -> Result<Vec<u8>> {
    if path.as_str() != "-" {
        return file::read(path.as_path());
    }
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .read_to_end(&mut bytes)
        .map_err(|error| Error::io(&error, "Can't read stdin"))?;
    Ok(bytes)
}

/// Reads the value of a property from a file: text whose lines end in one way, which become LF. As
/// in Subversion, a NUL ends it.
pub(crate) fn prop_value(path: &Dirent) -> Result<Vec<u8>> {
    let bytes = read_file(path)?;
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    with_lf(utf8::text(text)?).map(String::into_bytes)
}

fn with_lf(text: &str) -> Result<String> {
    let mut lines = String::with_capacity(text.len());
    let mut first = None;
    let mut rest = text;
    while let Some(at) = rest.find(['\r', '\n']) {
        let len = if rest[at..].starts_with("\r\n") { 2 } else { 1 };
        let end = &rest[at..at + len];
        if *first.get_or_insert(end) != end {
            return Err(Error::from_code(ErrorCode::IO_INCONSISTENT_EOL));
        }
        lines.push_str(&rest[..at]);
        lines.push('\n');
        rest = &rest[at + len..];
    }
    lines.push_str(rest);
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_in_lf() {
        for (text, expected) in [
            ("", ""),
            ("a\r\nb\r\n", "a\nb\n"),
            ("a\rb", "a\nb"),
            ("a\n", "a\n"),
        ] {
            assert_eq!(with_lf(text).unwrap(), expected);
        }
        let error = with_lf("a\nb\r\n").unwrap_err();
        assert_eq!(error.code(), ErrorCode::IO_INCONSISTENT_EOL);
    }

    #[test]
    fn paths_may_begin_with_slashes() {
        for (arg, path) in [("/a//b/", "/a/b"), ("a", "/a"), ("/", "/"), ("", "/")] {
            assert_eq!(fspath_arg(arg).unwrap().to_fspath(), path);
        }
    }
}
