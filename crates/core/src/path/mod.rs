//! Path types. Each has checked construction and is canonical once made.
//!
//! | type | looks like | is |
//! |---|---|---|
//! | [`RelPath`] / [`RelPathBuf`] | `trunk/a b` | below a repository root, working copy root or session URL |
//! | [`Dirent`] | `/home/jo/wc`, `sub/x`, `` | a local path in internal style, as the user named it |
//! | [`Url`] | `svn://host/repos/trunk/a%20b` | a URL, escaped, scheme and host in lower case |
//!
//! The empty path is the root itself; for [`Dirent`] the current directory.

mod dirent;
pub mod raw;
mod relpath;
mod url;

pub use dirent::Dirent;
pub use relpath::{RelPath, RelPathBuf};
pub use url::{Url, uri_decode, uri_encode};

/// Tells whether `name` can be one component of a path: not empty, not `.` or `..`, no `/`, no NUL
/// that does not stand for a byte.
pub(crate) fn is_component(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains('/') && raw::is_path(name)
}

/// Tells whether a path has a component `..`.
pub fn is_backpath_present(path: &str) -> bool {
    path.split('/').any(|name| name == "..")
}

/// Orders paths so that what is in a folder follows it at once: a slash comes before all else.
pub fn compare(a: &str, b: &str) -> std::cmp::Ordering {
    let rank = |byte: u8| if byte == b'/' { 0 } else { u16::from(byte) + 1 };
    a.bytes().map(rank).cmp(b.bytes().map(rank))
}

/// Splits a slash-separated path into the part before its last slash and the rest.
pub(crate) fn split_last(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}
