use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{TimeZone, Timestamp, Url};

/// The names and values of a file's keywords.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keywords(BTreeMap<Vec<u8>, Vec<u8>>);

/// What keywords tell of a file's last change.
#[derive(Clone, Copy, Debug)]
pub struct KeywordInfo<'a> {
    /// The revision as it is shown: `12`, or `12M` for a changed file.
    pub rev: &'a str,
    /// The file's URL.
    pub url: Option<&'a Url>,
    /// The URL of the repository's root.
    pub repos_root: Option<&'a Url>,
    /// The author, may be empty.
    pub author: &'a str,
    /// The date, if it is known.
    pub date: Option<Timestamp>,
    /// The time zone of dates for people.
    pub zone: &'a TimeZone,
}

static UTC: TimeZone = TimeZone::utc();

impl KeywordInfo<'static> {
    /// Returns values that are all empty.
    pub fn empty() -> Self {
        Self {
            rev: "",
            url: None,
            repos_root: None,
            author: "",
            date: None,
            zone: &UTC,
        }
    }
}

impl Keywords {
    /// Reads the value of `svn:keywords`: names of keywords, and definitions of others as
    /// `Name=format`.
    ///
    /// | name | aliases | value |
    /// |---|---|---|
    /// | `Rev` | `Revision`, `LastChangedRevision` | `%r` |
    /// | `Date` | `LastChangedDate` | `%D` |
    /// | `Author` | `LastChangedBy` | `%a` |
    /// | `URL` | `HeadURL` | `%u` |
    /// | `Id` | | `%b %r %d %a` |
    /// | `Header` | | `%u %r %d %a` |
    ///
    /// Short names match in any case, and a keyword is then expanded under its aliases too.
    ///
    /// In a format `%a` is the author, `%b` the name of the file, `%d` the date in UTC, `%D` the
    /// date in local time, `%P` the path below the repository's root, `%r` the revision, `%R` the
    /// root's URL, `%u` the file's URL, `%_` a blank, `%%` a percent sign, `%H` is `%P %r %d %a` and
    /// `%I` is `%b %r %d %a`.
    pub fn from_prop(value: &[u8], info: &KeywordInfo<'_>) -> Self {
        let mut keywords = BTreeMap::new();
        let is_separator = |byte: &u8| b" \t\x0b\n\x08\r\x0c".contains(byte);
        for token in value.split(is_separator).filter(|token| !token.is_empty()) {
            if let Some(at) = token.iter().position(|byte| *byte == b'=') {
                let value = format(&token[at + 1..], info);
                keywords.insert(token[..at].to_vec(), value);
            } else if let Some((names, template)) = standard(token) {
                let value = format(template, info);
                for name in names {
                    keywords.insert(name.as_bytes().to_vec(), value.clone());
                }
            }
        }
        Self(keywords)
    }

    /// Tells whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the value of a keyword.
    pub fn get(&self, name: &[u8]) -> Option<&[u8]> {
        self.0.get(name).map(Vec::as_slice)
    }

    /// Tells whether the other set has the same names, so that contracting does the same.
    pub fn has_same_names(&self, other: &Self) -> bool {
        self.0.keys().eq(other.0.keys())
    }
}

impl From<Keywords> for Option<Arc<Keywords>> {
    /// Shares the set; an empty one becomes `None`.
    fn from(keywords: Keywords) -> Self {
        (!keywords.is_empty()).then(|| Arc::new(keywords))
    }
}

/// Returns all names and the format of a keyword that Subversion knows.
fn standard(token: &[u8]) -> Option<(&'static [&'static str], &'static [u8])> {
    /// Long names as they are written, the short one last.
    const STANDARD: [(&[&str], &[u8]); 6] = [
        (&["LastChangedRevision", "Revision", "Rev"], b"%r"),
        (&["LastChangedDate", "Date"], b"%D"),
        (&["LastChangedBy", "Author"], b"%a"),
        (&["HeadURL", "URL"], b"%u"),
        (&["Id"], b"%b %r %d %a"),
        (&["Header"], b"%u %r %d %a"),
    ];
    STANDARD.into_iter().find(|(names, _)| {
        let short = names[names.len() - 1];
        token.eq_ignore_ascii_case(short.as_bytes())
            || names.iter().any(|name| token == name.as_bytes())
    })
}

fn format(template: &[u8], info: &KeywordInfo<'_>) -> Vec<u8> {
    let mut value = Vec::new();
    let mut rest = template;
    while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
        value.extend_from_slice(&rest[..at]);
        let Some(code) = rest.get(at + 1) else {
            value.push(b'%');
            return value;
        };
        rest = &rest[at + 2..];
        match code {
            b'a' => value.extend_from_slice(info.author.as_bytes()),
            b'b' => {
                let name = info.url.map(Url::basename).unwrap_or_default();
                value.extend_from_slice(name.as_bytes());
            }
            b'd' => value.extend_from_slice(short_date(info).as_bytes()),
            b'D' => {
                let date = info.date.map(|date| date.to_human(info.zone));
                value.extend_from_slice(date.unwrap_or_default().as_bytes());
            }
            b'P' => {
                let path = info
                    .repos_root
                    .and_then(|root| info.url?.strip_prefix(root));
                value.extend_from_slice(path.unwrap_or_default().as_str().as_bytes());
            }
            b'r' => value.extend_from_slice(info.rev.as_bytes()),
            b'R' => push_url(&mut value, info.repos_root),
            b'u' => push_url(&mut value, info.url),
            b'_' => value.push(b' '),
            b'%' => value.push(b'%'),
            b'H' => value.extend_from_slice(&format(b"%P %r %d %a", info)),
            b'I' => value.extend_from_slice(&format(b"%b %r %d %a", info)),
            other => value.extend_from_slice(&[b'%', *other]),
        }
    }
    value.extend_from_slice(rest);
    value
}

fn push_url(value: &mut Vec<u8>, url: Option<&Url>) {
    value.extend_from_slice(url.map_or("", Url::as_str).as_bytes());
}

/// Formats the date as `2026-01-02 03:04:05Z`.
fn short_date(info: &KeywordInfo<'_>) -> String {
    info.date.map_or_else(String::new, |date| {
        let iso = date.to_iso();
        match (iso.split_once('T'), iso.rfind('.')) {
            (Some((day, _)), Some(end)) => format!("{day} {}Z", &iso[day.len() + 1..end]),
            _ => iso,
        }
    })
}
