//! Rules: the path in a section's header, and the entries of the section.

use std::collections::BTreeSet;
use std::sync::Arc;

use sylvan_core::{Error, ErrorCode, Result};

use super::Rights;

/// An error of the file.
pub(super) fn invalid(text: impl Into<String>) -> Error {
    Error::new(ErrorCode::AUTHZ_INVALID_CONFIG, text)
}

/// How a component of a path is compared, in the order in which rules are sorted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Segment {
    /// The very name.
    Literal(Vec<u8>),
    /// A name that begins so.
    Prefix(Vec<u8>),
    /// A name that ends so: the end, reversed.
    Suffix(Vec<u8>),
    /// Any name: `*`.
    Any,
    /// Any number of names: `**`.
    AnyRecursive,
    /// A name that a pattern matches.
    Glob(Vec<u8>),
}

/// The rights that an entry gives.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) who: Who,
    /// Whether it is for all others.
    pub(super) inverted: bool,
    pub(super) rights: Rights,
}

/// Whom an entry is for.
#[derive(Clone, Debug)]
pub(super) enum Who {
    User(String),
    Group(Arc<BTreeSet<String>>),
}

/// A rule: a path and its entries.
#[derive(Clone, Debug)]
pub(super) struct Acl {
    pub(super) path: Vec<Segment>,
    /// The repository; empty for any.
    pub(super) repository: String,
    /// Its place in the file; the default rule is 0.
    pub(super) sequence: i64,
    /// What who is not authenticated may do, if it says so.
    pub(super) anonymous: Option<Rights>,
    /// What who is authenticated may do.
    pub(super) authenticated: Option<Rights>,
    /// What inverted entries give, to whomever.
    pub(super) inverted: Option<Rights>,
    pub(super) entries: Vec<Entry>,
}

impl Acl {
    /// Tells whether it is for a repository.
    pub(super) fn is_for(&self, repository: &str) -> bool {
        self.repository.is_empty() || self.repository == repository
    }

    /// Returns the rights that it gives to a user; `None` if it says nothing of the user.
    pub(super) fn rights_of(&self, user: Option<&str>) -> Option<Rights> {
        let Some(user) = user else {
            return self.anonymous;
        };
        let matching = self.entries.iter().filter(|entry| {
            let named = match &entry.who {
                Who::User(name) => name == user,
                Who::Group(members) => members.contains(user),
            };
            named != entry.inverted
        });
        matching.fold(self.authenticated, |rights, entry| {
            Some(rights.unwrap_or_default().union(entry.rights))
        })
    }
}

/// The header of a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Header {
    pub(super) path: Vec<Segment>,
    pub(super) repository: String,
}

/// Parses the header of a section; `None` if it is not that of a rule.
pub(super) fn parse_header(section: &str) -> Result<Option<Header>> {
    let empty_name = || invalid(format!("Empty repository name in authz rule [{section}]"));
    let mut rest = section;
    let mut glob = false;
    if let Some(after) = section.strip_prefix(':') {
        let (token, after) = after.split_once(':').ok_or_else(empty_name)?;
        if token != "glob" {
            return Err(invalid(format!(
                "Invalid type token '{token}' in authz rule [{section}]"
            )));
        }
        (glob, rest) = (true, after);
    }
    let mut repository = "";
    if !rest.starts_with('/')
        && let Some((name, after)) = rest.split_once(':')
    {
        if name.is_empty() {
            return Err(empty_name());
        }
        (repository, rest) = (name, after);
    }
    if !rest.starts_with('/') {
        return Ok(None);
    }
    Ok(Some(Header {
        path: parse_path(rest, glob, section)?,
        repository: repository.to_owned(),
    }))
}

fn parse_path(path: &str, glob: bool, section: &str) -> Result<Vec<Segment>> {
    let bad = |what: &str| {
        let text = format!("Non-canonical path '{path}' in authz rule [{section}]");
        invalid(what).wrap(ErrorCode::AUTHZ_INVALID_CONFIG, text)
    };
    let mut segments = Vec::new();
    for (at, name) in path[1..].split('/').enumerate() {
        match name {
            // The root; so is what follows two slashes.
            "" if at == 0 => return Ok(Vec::new()),
            "" => return Err(bad("Found empty name in authz rule path")),
            "." => return Err(bad("Found '.' in authz rule path")),
            ".." => return Err(bad("Found '..' in authz rule path")),
            name if glob => push_pattern(name.as_bytes(), &mut segments),
            name => segments.push(Segment::Literal(name.as_bytes().to_vec())),
        }
    }
    Ok(segments)
}

/// Adds a component with wildcards; `**` comes behind `*`, and once.
fn push_pattern(name: &[u8], segments: &mut Vec<Segment>) {
    let after_recursive = segments.last() == Some(&Segment::AnyRecursive);
    let segment = match name {
        name if !has_wildcard(name) => Segment::Literal(unescape(name)),
        b"**" if after_recursive => return,
        b"**" => Segment::AnyRecursive,
        b"*" if after_recursive => {
            segments.pop();
            segments.push(Segment::Any);
            Segment::AnyRecursive
        }
        b"*" => Segment::Any,
        [b'*', end @ ..] if !has_wildcard(end) => {
            let mut end = unescape(end);
            end.reverse();
            Segment::Suffix(end)
        }
        [begin @ .., b'*'] if !begin.ends_with(b"\\") && !has_wildcard(begin) => {
            Segment::Prefix(unescape(begin))
        }
        pattern => Segment::Glob(pattern.to_vec()),
    };
    segments.push(segment);
}

/// Tells whether a pattern has what matches more than itself.
fn has_wildcard(pattern: &[u8]) -> bool {
    let mut open = false;
    let mut bytes = pattern.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'?' | b'*' => return true,
            b'\\' => drop(bytes.next()),
            b'[' => open = true,
            b']' if open => return true,
            _ => {}
        }
    }
    false
}

/// Takes away backslashes, of which each makes the next byte literal; one at the end is literal.
fn unescape(pattern: &[u8]) -> Vec<u8> {
    let mut literal = Vec::with_capacity(pattern.len());
    let mut bytes = pattern.iter();
    while let Some(&byte) = bytes.next() {
        literal.push(match byte {
            b'\\' => bytes.next().copied().unwrap_or(b'\\'),
            other => other,
        });
    }
    literal
}
