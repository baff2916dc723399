//! The property `svn:externals`: what else is checked out into a folder.
//!
//! Each line that is not empty and no comment (`#`) is one external, in one of two orders:
//!
//! ```text
//! [-r REV] URL[@PEG] TARGET        since Subversion 1.5
//! TARGET [-r REV] URL              before; the revision is the peg revision too
//! ```
//!
//! URLs may be relative (`../x`, `^/x`, `//host/x`, `/x`); words may be quoted with `'` or `"`, or
//! have blanks escaped with `\`.

use std::collections::BTreeSet;

use crate::opt::{RevisionRange, RevisionSpec, split_peg};
use crate::path::is_backpath_present;
use crate::time::Clock;
use crate::{Dirent, Error, ErrorCode, Result, Url};

/// One external of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalItem {
    /// Where it goes: a relative path in internal style, without `..`.
    pub target: String,
    /// Where it comes from, as written but for its peg revision.
    pub url: String,
    /// The revision; the peg revision if none was written.
    pub revision: RevisionSpec,
    /// The peg revision; HEAD if none was written.
    pub peg: RevisionSpec,
}

/// Reads the value of the property. `folder` is the path or URL of the folder, for messages.
///
/// # Errors
/// [`ErrorCode::CLIENT_INVALID_EXTERNALS_DESCRIPTION`] for a line that is none of the forms, and
/// for targets that are absolute or go up.
pub fn parse(folder: &str, value: &str, clock: &Clock) -> Result<Vec<ExternalItem>> {
    value
        .split(['\n', '\r'])
        .map(|line| line.trim_matches([' ', '\t', '\n', '\x0b', '\x0c', '\r']))
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| parse_line(folder, line, clock))
        .collect()
}

/// Returns the targets that more than one external has, each once, in order.
pub fn duplicate_targets(items: &[ExternalItem]) -> Vec<&str> {
    let mut seen = BTreeSet::new();
    let mut duplicates: Vec<&str> = Vec::new();
    for item in items {
        let target = item.target.as_str();
        if !seen.insert(target) && !duplicates.contains(&target) {
            duplicates.push(target);
        }
    }
    duplicates
}

impl ExternalItem {
    /// Returns the URL in full. `parent` is the URL of the folder that has the property.
    ///
    /// # Errors
    /// [`ErrorCode::BAD_URL`] for a relative URL of no known form, or with `..` where that is not
    /// allowed.
    pub fn resolve_url(&self, repos_root: &Url, parent: &Url) -> Result<Url> {
        let bad = |text: String| Error::new(ErrorCode::BAD_URL, text);
        if Url::is_url(&self.url) {
            return Url::parse(&self.url);
        }
        let slashes = self
            .url
            .bytes()
            .take(3)
            .take_while(|byte| *byte == b'/')
            .count();
        let path = Dirent::new(self.url.trim_start_matches('/'));
        let path = path.as_str();
        if slashes == 0 {
            if path.starts_with("../") {
                return climb(parent, path);
            }
            if let Some(below) = path.strip_prefix("^/") {
                return climb(repos_root, below);
            }
        }
        if is_backpath_present(path) {
            let url = &self.url;
            return Err(bad(format!(
                "The external relative URL '{url}' cannot have backpaths, i.e. '..'"
            )));
        }
        match slashes {
            0 => {
                let url = &self.url;
                Err(bad(format!(
                    "Unrecognized format for the relative external URL '{url}'"
                )))
            }
            1 => {
                let (scheme, authority) = (parent.scheme(), parent.authority());
                Url::parse(&format!("{scheme}://{authority}/{path}"))
            }
            _ => {
                let slashes = &self.url[..slashes];
                Url::parse(&format!("{}:{slashes}{path}", repos_root.scheme()))
            }
        }
    }
}

/// Appends a path in which `..` takes components away, down to the server's root.
fn climb(base: &Url, path: &str) -> Result<Url> {
    let mut components: Vec<_> = base
        .escaped_path()
        .split('/')
        .filter(|name| !name.is_empty())
        .collect();
    for component in path.split('/') {
        if component == ".." {
            components.pop();
        } else {
            components.push(component);
        }
    }
    let (scheme, authority) = (base.scheme(), base.authority());
    Url::parse(&format!("{scheme}://{authority}/{}", components.join("/")))
}

fn parse_line(folder: &str, line: &str, clock: &Clock) -> Result<ExternalItem> {
    let bad = || {
        invalid(format!(
            "Error parsing svn:externals property on '{folder}': '{line}'"
        ))
    };
    let mut words = split_words(line);
    if !(2..=4).contains(&words.len()) {
        return Err(bad());
    }
    let (revision, place) = take_revision(&mut words, clock).ok_or_else(bad)?;
    let [first, second] = words.as_slice() else {
        return Err(bad());
    };
    check_urls(folder, first, second, place)?;
    let url_first = match place {
        Some(0) => true,
        Some(_) => false,
        None => Url::is_url(first) || !Url::is_url(second),
    };
    let (url, target, peg) = if url_first {
        let (url, peg) = split_peg(first, clock)?;
        (url, second, peg.unwrap_or_default())
    } else {
        (second.as_str(), first, revision)
    };
    let peg = or(peg, RevisionSpec::Head);
    Ok(ExternalItem {
        target: canonical_target(folder, target)?,
        url: url.to_owned(),
        revision: or(revision, peg),
        peg,
    })
}

const fn or(revision: RevisionSpec, default: RevisionSpec) -> RevisionSpec {
    if revision.is_unspecified() {
        default
    } else {
        revision
    }
}

/// Takes `-r REV` or `-rREV` out of the words; returns the revision and where it stood. `None` if it
/// is none, or the number of words is wrong.
fn take_revision(words: &mut Vec<String>, clock: &Clock) -> Option<(RevisionSpec, Option<usize>)> {
    let Some(at) = words.iter().take(2).position(|word| word.starts_with("-r")) else {
        return (words.len() == 2).then_some((RevisionSpec::Unspecified, None));
    };
    let attached = words[at].len() > 2;
    if words.len() != if attached { 3 } else { 4 } {
        return None;
    }
    let text = if attached {
        words.remove(at).split_off(2)
    } else {
        words.remove(at);
        words.remove(at)
    };
    let range = RevisionRange::read(&text, clock)?;
    let fixed = matches!(range.start, RevisionSpec::Number(_) | RevisionSpec::Date(_));
    (fixed && range.end.is_unspecified()).then_some((range.start, Some(at)))
}

fn check_urls(folder: &str, first: &str, second: &str, place: Option<usize>) -> Result<()> {
    if Url::is_url(first) && Url::is_url(second) {
        return Err(invalid(format!(
            "Invalid svn:externals property on '{folder}': cannot use two absolute URLs ('{first}' \
             and '{second}') in an external; one must be a path where an absolute or relative URL \
             is checked out to"
        )));
    }
    let target = match place {
        Some(0) => second,
        Some(_) => first,
        None => return Ok(()),
    };
    if Url::is_url(target) {
        return Err(invalid(format!(
            "Invalid svn:externals property on '{folder}': cannot use a URL '{target}' as the \
             target directory for an external definition"
        )));
    }
    Ok(())
}

fn canonical_target(folder: &str, target: &str) -> Result<String> {
    let names: Vec<_> = target
        .split('/')
        .filter(|name| !matches!(*name, "" | "."))
        .collect();
    if names.is_empty() || target.starts_with('/') || names.contains(&"..") {
        let root = if target.starts_with('/') { "/" } else { "" };
        return Err(invalid(format!(
            "Invalid svn:externals property on '{folder}': target '{root}{}' is an absolute path or \
             involves '..'",
            names.join("/")
        )));
    }
    Ok(names.join("/"))
}

fn invalid(message: String) -> Error {
    Error::new(ErrorCode::CLIENT_INVALID_EXTERNALS_DESCRIPTION, message)
}

/// Splits a line at blanks; a word that begins with a quotation mark goes to the next one, and a
/// backslash takes the next character as it is.
fn split_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = line.trim_start_matches([' ', '\t']);
    while !rest.is_empty() {
        let quote = rest
            .chars()
            .next()
            .filter(|first| matches!(first, '"' | '\''));
        if quote.is_some() {
            rest = &rest[1..];
        }
        let end = word_end(rest, quote);
        words.push(unescape(&rest[..end]));
        rest = rest.get(end + 1..).unwrap_or_default();
        rest = rest.trim_start_matches([' ', '\t']);
    }
    words
}

fn word_end(text: &str, quote: Option<char>) -> usize {
    let mut escaped = false;
    for (at, letter) in text.char_indices() {
        if escaped {
            escaped = false;
            continue;
        }
        let ends = match quote {
            Some(quote) => letter == quote,
            None => matches!(letter, ' ' | '\t'),
        };
        if ends {
            return at;
        }
        escaped = letter == '\\' && text[at + 1..].starts_with([' ', '\t', '"', '\'']);
    }
    text.len()
}

fn unescape(word: &str) -> String {
    let mut plain = String::with_capacity(word.len());
    let mut escaped = false;
    for letter in word.chars() {
        if !escaped && letter == '\\' {
            escaped = true;
        } else {
            escaped = false;
            plain.push(letter);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::TimeZone;
    use crate::{Revnum, Timestamp};

    fn read(value: &str) -> Result<Vec<ExternalItem>> {
        let clock = Clock {
            now: Timestamp::from_micros(0),
            zone: TimeZone::utc(),
        };
        parse("/wc/d", value, &clock)
    }

    #[test]
    fn all_forms_are_read() {
        let number = |rev| RevisionSpec::Number(Revnum::new(rev).unwrap());
        let head = RevisionSpec::Head;
        for (line, target, url, revision, peg) in [
            ("^/lib x/./y", "x/y", "^/lib", head, head),
            ("^/lib@3 x", "x", "^/lib", number(3), number(3)),
            ("-r 2 ^/lib@3 x", "x", "^/lib", number(2), number(3)),
            ("-r2 /lib x", "x", "/lib", number(2), head),
            ("x svn://h/lib", "x", "svn://h/lib", head, head),
            (
                "x -r 2 svn://h/lib@5",
                "x",
                "svn://h/lib@5",
                number(2),
                number(2),
            ),
            ("x -r2 ../lib", "x", "../lib", number(2), number(2)),
            ("svn://h/a 'b c'", "b c", "svn://h/a", head, head),
            ("//h/a \"b \\\" c\"", "b \" c", "//h/a", head, head),
            ("//h/a b\\ c", "b c", "//h/a", head, head),
        ] {
            let item = ExternalItem {
                target: target.to_owned(),
                url: url.to_owned(),
                revision,
                peg,
            };
            assert_eq!(read(line).unwrap(), [item], "{line}");
        }
        assert_eq!(read("# a b\n\n  \r\n").unwrap(), []);
        assert_eq!(read("^/a b\r\n^/c d\n").unwrap().len(), 2);
    }

    #[test]
    fn other_lines_are_refused() {
        for (line, message) in [
            (
                "one",
                "Error parsing svn:externals property on '/wc/d': 'one'",
            ),
            (
                "-rHEAD ^/a b",
                "Error parsing svn:externals property on '/wc/d': '-rHEAD ^/a b'",
            ),
            (
                "-r 1:2 ^/a b",
                "Error parsing svn:externals property on '/wc/d': '-r 1:2 ^/a b'",
            ),
            (
                "a b c d",
                "Error parsing svn:externals property on '/wc/d': 'a b c d'",
            ),
            (
                "^/a ../b",
                "Invalid svn:externals property on '/wc/d': target '../b' is an absolute path or \
                 involves '..'",
            ),
            (
                "^/a /b",
                "Invalid svn:externals property on '/wc/d': target '/b' is an absolute path or \
                 involves '..'",
            ),
            (
                "-r1 ^/a svn://h/b",
                "Invalid svn:externals property on '/wc/d': cannot use a URL 'svn://h/b' as the \
                 target directory for an external definition",
            ),
        ] {
            let error = read(line).unwrap_err();
            assert_eq!(
                error.code(),
                ErrorCode::CLIENT_INVALID_EXTERNALS_DESCRIPTION
            );
            assert_eq!(error.message(), message);
        }
    }

    #[test]
    fn relative_urls() {
        let root = Url::parse("http://jo@h:81/svn/my%20repos").unwrap();
        let parent = Url::parse("http://jo@h:81/svn/my%20repos/trunk/dir").unwrap();
        for (url, full) in [
            ("https://X/a//b/", Some("https://x/a/b")),
            (
                "^/branches/a%20b",
                Some("http://jo@h:81/svn/my%20repos/branches/a%20b"),
            ),
            ("^/../other/./x", Some("http://jo@h:81/svn/other/x")),
            ("^/../../../../x", Some("http://jo@h:81/x")),
            (
                "../sibling",
                Some("http://jo@h:81/svn/my%20repos/trunk/sibling"),
            ),
            ("../../../x", Some("http://jo@h:81/svn/x")),
            ("/svn/x y", Some("http://jo@h:81/svn/x%20y")),
            ("//other/svn/x", Some("http://other/svn/x")),
            ("/../x", None),
            ("//h/../x", None),
            ("^/", None),
            ("x/y", None),
            ("..", None),
        ] {
            let item = ExternalItem {
                target: String::new(),
                url: url.to_owned(),
                revision: RevisionSpec::Head,
                peg: RevisionSpec::Head,
            };
            let resolved = item.resolve_url(&root, &parent);
            if let Err(error) = &resolved {
                assert_eq!(error.code(), ErrorCode::BAD_URL);
            }
            let resolved = resolved.ok();
            assert_eq!(resolved.as_ref().map(Url::as_str), full, "{url}");
        }
        let file = Url::parse("file:///srv/repos").unwrap();
        let item = read("///srv/other d").unwrap().remove(0);
        assert_eq!(
            item.resolve_url(&file, &file).unwrap().as_str(),
            "file:///srv/other"
        );
        let item = read("^/x d").unwrap().remove(0);
        assert_eq!(
            item.resolve_url(&file, &file).unwrap().as_str(),
            "file:///srv/repos/x"
        );
    }

    #[test]
    fn duplicates_are_told_once() {
        let items = read("^/a x\n^/b y\n^/c x\n^/d x\n^/e ./y").unwrap();
        let duplicates = duplicate_targets(&items);
        assert_eq!(duplicates, ["x", "y"]);
    }
}
