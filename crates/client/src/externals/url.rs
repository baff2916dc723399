//! The URLs of externals, which may be relative.

use sylvan_core::externals::ExternalItem;
use sylvan_core::{Error, ErrorCode, Result, Url};

/// Returns the URL of an external that is defined in the folder with the URL `folder`, in the
/// repository at `root`.
///
/// Besides whole URLs there are `../x` (from the folder), `^/x` (from the repository root; both may
/// go up, also into another repository of the server), `//host/x` (same scheme) and `/x` (same
/// server).
///
/// # Errors
/// `E125002` for any other form, and for `..` where it cannot be.
pub fn resolve_url(item: &ExternalItem, root: &Url, folder: &Url) -> Result<Url> {
    resolve(&item.url, root, folder)
}

fn resolve(text: &str, root: &Url, folder: &Url) -> Result<Url> {
    if Url::is_url(text) {
        return Url::parse(text);
    }
    let canonical = canonical(text);
    if canonical.starts_with("../") {
        return climb(folder, &canonical);
    }
    if let Some(below) = canonical.strip_prefix("^/") {
        return climb(root, below);
    }
    if canonical.split('/').any(|component| component == "..") {
        return Err(Error::new(
            ErrorCode::BAD_URL,
            format!("The external relative URL '{text}' cannot have backpaths, i.e. '..'"),
        ));
    }
    if canonical.starts_with("//") {
        return Url::parse(&format!("{}:{canonical}", root.scheme()));
    }
    if canonical.starts_with('/') {
        return Url::parse(&format!("{}{canonical}", server(folder)));
    }
    Err(Error::new(
        ErrorCode::BAD_URL,
        format!("Unrecognized format for the relative external URL '{text}'"),
    ))
}

/// Drops `.` and empty components, but keeps up to three slashes at the beginning.
fn canonical(text: &str) -> String {
    let slashes = text
        .bytes()
        .take(3)
        .take_while(|byte| *byte == b'/')
        .count();
    let kept: Vec<_> = text[slashes..]
        .split('/')
        .filter(|component| !matches!(*component, "" | "."))
        .collect();
    format!("{}{}", &text[..slashes], kept.join("/"))
}

/// Goes from a URL along a path with `..`, never above the server.
fn climb(base: &Url, path: &str) -> Result<Url> {
    let mut components: Vec<_> = base
        .escaped_path()
        .split('/')
        .filter(|component| !component.is_empty())
        .collect();
    for component in path.split('/') {
        if component == ".." {
            components.pop();
        } else {
            components.push(component);
        }
    }
    Url::parse(&format!("{}/{}", server(base), components.join("/")))
}

/// Returns scheme, user, host and port.
fn server(url: &Url) -> &str {
    let text = url.as_str();
    &text[..text.len() - url.escaped_path().len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(text: &str) -> Result<Url> {
        let root = Url::parse("svn://jo@host:1/svn/repos").unwrap();
        let folder = Url::parse("svn://jo@host:1/svn/repos/trunk/a%20b").unwrap();
        resolve(text, &root, &folder)
    }

    #[test]
    fn all_forms_are_resolved() {
        for (text, url) in [
            ("http://Other/x/", "http://other/x"),
            ("../c", "svn://jo@host:1/svn/repos/trunk/c"),
            ("../../../../../../x", "svn://jo@host:1/x"),
            (
                "^/lib/./a b%20c//d",
                "svn://jo@host:1/svn/repos/lib/a%20b%20c/d",
            ),
            ("^/../other/x", "svn://jo@host:1/svn/other/x"),
            ("//second/x/y", "svn://second/x/y"),
            ("/svn/x", "svn://jo@host:1/svn/x"),
        ] {
            assert_eq!(resolved(text).unwrap().as_str(), url, "{text}");
        }
    }

    #[test]
    fn other_forms_are_refused() {
        for (text, message) in [
            (
                "^/",
                "Unrecognized format for the relative external URL '^/'",
            ),
            (
                "x/y",
                "Unrecognized format for the relative external URL 'x/y'",
            ),
            (
                "/a/../b",
                "The external relative URL '/a/../b' cannot have backpaths, i.e. '..'",
            ),
        ] {
            let error = resolved(text).unwrap_err();
            assert_eq!(error.code(), ErrorCode::BAD_URL);
            assert_eq!(error.message(), message);
        }
    }
}
