//! The file `entries` that each administrative folder had before Subversion 1.7.
//!
//! Formats 7 and later are text: a line with the format, then an entry for the folder itself and one
//! for each child. Fields are lines, in the order of [`FIELDS`]; empty ones have the default, and
//! those at the end may be missing. `\x1b` stands for a byte. An entry ends with a form feed and a
//! newline. Older files are XML, with an attribute for each field.

use std::collections::BTreeMap;

use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};
use sylvan_core::{
    Depth, Dirent, Error, ErrorCode, NodeKind, RelPath, RelPathBuf, Result, Revnum, Timestamp, Url,
};
use sylvan_io::file;

use crate::ADM_DIR;

/// What the user has scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Schedule {
    /// Nothing.
    #[default]
    Normal,
    Add,
    Delete,
    Replace,
}

/// What is known of a folder, or of a child in it.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// Empty for the folder itself.
    pub(super) name: String,
    pub(super) kind: NodeKind,
    pub(super) revision: Option<Revnum>,
    pub(super) url: Option<Url>,
    pub(super) repos: Option<Url>,
    pub(super) uuid: Option<String>,
    pub(super) schedule: Schedule,
    /// Microseconds; 0 if not known.
    pub(super) text_time: i64,
    pub(super) checksum: Option<String>,
    pub(super) changed: Changed,
    /// Names of files in the folder.
    pub(super) prejfile: Option<RelPathBuf>,
    pub(super) conflict_old: Option<RelPathBuf>,
    pub(super) conflict_new: Option<RelPathBuf>,
    pub(super) conflict_wrk: Option<RelPathBuf>,
    pub(super) copied: bool,
    pub(super) copyfrom_url: Option<Url>,
    pub(super) copyfrom_rev: Option<Revnum>,
    pub(super) deleted: bool,
    pub(super) absent: bool,
    pub(super) incomplete: bool,
    pub(super) keep_local: bool,
    pub(super) lock: Option<Lock>,
    pub(super) changelist: Option<String>,
    pub(super) working_size: Option<i64>,
    pub(super) depth: Depth,
    pub(super) tree_conflicts: Option<String>,
    pub(super) is_file_external: bool,
}

/// When and by whom a node was changed last.
#[derive(Clone, Debug, Default)]
pub(super) struct Changed {
    pub(super) rev: Option<Revnum>,
    /// Microseconds; 0 if not known.
    pub(super) date: i64,
    pub(super) author: Option<String>,
}

/// A lock in the repository.
#[derive(Clone, Debug)]
pub(super) struct Lock {
    pub(super) token: String,
    pub(super) owner: Option<String>,
    pub(super) comment: Option<String>,
    pub(super) date: i64,
}

impl Entry {
    /// Tells whether the node is not there for the user.
    pub(super) fn is_hidden(&self) -> bool {
        (self.deleted || self.absent || self.depth == Depth::Exclude)
            && self.schedule != Schedule::Add
    }
}

/// The fields of a text entry, by the names that they have in XML.
const FIELDS: [&str; 36] = [
    "name",
    "kind",
    "revision",
    "url",
    "repos",
    "schedule",
    "text-time",
    "checksum",
    "committed-date",
    "committed-rev",
    "last-author",
    "has-props",
    "has-prop-mods",
    "cachable-props",
    "present-props",
    "prop-reject-file",
    "conflict-old",
    "conflict-new",
    "conflict-wrk",
    "copied",
    "copyfrom-url",
    "copyfrom-rev",
    "deleted",
    "absent",
    "incomplete",
    "uuid",
    "lock-token",
    "lock-owner",
    "lock-comment",
    "lock-creation-date",
    "changelist",
    "keep-local",
    "working-size",
    "depth",
    "tree-conflicts",
    "file-external",
];

/// The entries of a folder, by name.
pub(super) type Entries = BTreeMap<String, Entry>;

/// Reads the entries of a folder.
///
/// # Errors
/// `ENOENT` if there is no such file, `E155016` and the like if it is damaged, `E150000` if it has no
/// entry for the folder itself.
pub(super) fn read(dir: &Dirent) -> Result<Entries> {
    let path = dir.join(ADM_DIR).join("entries");
    parse(dir, &file::read(path.as_path())?)
}

/// Reads entries that are in memory.
pub(super) fn parse(dir: &Dirent, text: &[u8]) -> Result<Entries> {
    let entries = if text.first().is_some_and(|byte| !byte.is_ascii_digit()) {
        parse_xml(text).map_err(|error| error.context(format!("XML parser failed in '{dir}'")))?
    } else {
        parse_text(dir, text)?
    };
    complete(entries)
}

fn corrupt(message: impl Into<String>) -> Error {
    Error::new(ErrorCode::WC_CORRUPT, message)
}

fn parse_text(dir: &Dirent, text: &[u8]) -> Result<Entries> {
    let Some(end) = text.iter().position(|byte| *byte == b'\n') else {
        return Err(corrupt("Unexpected end of entry"));
    };
    if end == 0 {
        return Err(corrupt(format!(
            "Invalid version line in entries file of '{dir}'"
        )));
    }
    let mut rest = &text[end + 1..];
    let mut entries = Entries::new();
    let mut number = 1;
    while !rest.is_empty() {
        let entry = next_entry(&mut rest).map_err(|error| {
            error.context(format!(
                "Error at entry {number} in entries file for '{dir}':"
            ))
        })?;
        entries.insert(entry.name.clone(), entry);
        number += 1;
    }
    Ok(entries)
}

fn next_entry(rest: &mut &[u8]) -> Result<Entry> {
    let end = rest
        .iter()
        .position(|byte| *byte == 0x0c)
        .ok_or_else(|| corrupt("Missing entry terminator"))?;
    let mut record = &rest[..end];
    let after = &rest[end + 1..];
    *rest = after
        .strip_prefix(b"\n")
        .ok_or_else(|| corrupt("Invalid entry terminator"))?;
    let mut fields = Fields::new();
    for name in FIELDS {
        if record.is_empty() && name != "name" && name != "kind" {
            break;
        }
        let end = record
            .iter()
            .position(|byte| *byte == b'\n')
            .ok_or_else(|| corrupt("Unexpected end of entry"))?;
        let value = unescape_field(&record[..end])?;
        record = &record[end + 1..];
        if !value.is_empty() {
            fields.insert(name, value);
        }
    }
    for name in ["copied", "deleted", "absent", "incomplete", "keep-local"] {
        match fields.get_mut(name) {
            Some(value) if value == name => "true".clone_into(value),
            Some(_) => return Err(corrupt(format!("Invalid value for field '{name}'"))),
            None => {}
        }
    }
    entry_of(&fields)
}

fn unescape_field(field: &[u8]) -> Result<String> {
    let mut text = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some(at) = rest.iter().position(|byte| *byte == b'\\') {
        text.extend_from_slice(&rest[..at]);
        let digits = match rest.get(at + 1..at + 4) {
            Some([b'x', digits @ ..]) => std::str::from_utf8(digits).ok(),
            _ => None,
        };
        let digits = digits
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .ok_or_else(|| corrupt("Invalid escape sequence"))?;
        match u8::from_str_radix(digits, 16) {
            Ok(byte) if byte != 0 => text.push(byte),
            _ => return Err(corrupt("Invalid escaped character")),
        }
        rest = &rest[at + 4..];
    }
    text.extend_from_slice(rest);
    String::from_utf8(text).map_err(|_| corrupt("An entry is not UTF-8"))
}

type Fields = BTreeMap<&'static str, String>;

fn parse_xml(text: &[u8]) -> Result<Entries> {
    let mut reader = Reader::from_reader(text);
    let mut entries = Entries::new();
    let malformed = |error: &dyn std::fmt::Display| {
        Error::new(ErrorCode::XML_MALFORMED, format!("Malformed XML: {error}"))
    };
    loop {
        match reader.read_event() {
            Ok(Event::Start(start) | Event::Empty(start)) => {
                if start.name().as_ref() == "entry" {
                    let entry = entry_of(&attributes(&start).map_err(|error| malformed(&error))?)?;
                    entries.insert(entry.name.clone(), entry);
                }
            }
            Ok(Event::Eof) => return Ok(entries),
            Ok(_) => {}
            Err(error) => return Err(malformed(&error)),
        }
    }
}

fn attributes(start: &BytesStart<'_>) -> Result<Fields, String> {
    let mut fields = Fields::new();
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|error| error.to_string())?;
        let Some(name) = FIELDS.iter().find(|name| **name == attribute.key.as_ref()) else {
            continue;
        };
        let value = unescape(&attribute.value).map_err(|error| error.to_string())?;
        if !value.is_empty() {
            fields.insert(name, value.into_owned());
        }
    }
    Ok(fields)
}

/// Makes an entry of fields that are not empty.
fn entry_of(fields: &Fields) -> Result<Entry> {
    let get = |name: &str| fields.get(name).map(String::as_str);
    let own = |name: &str| fields.get(name).cloned();
    let name = own("name").unwrap_or_default();
    let invalid = |what: &str| {
        Error::new(
            ErrorCode::ENTRY_ATTRIBUTE_INVALID,
            format!("Entry '{name}' has invalid '{what}' value"),
        )
    };
    let flag = |field: &str| match get(field) {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(_) => Err(invalid(field)),
    };
    let time = |field: &str| -> Result<i64> {
        let time = get(field).map(Timestamp::parse_iso).transpose()?;
        Ok(time.map_or(0, Timestamp::micros))
    };
    let revision = |field: &str| get(field).and_then(Revnum::parse);
    let url = |field: &str| get(field).map(Url::parse).transpose();
    let file = |field: &str| get(field).map(one_name).transpose();
    if !name.is_empty() {
        one_name(&name)?;
    }
    let (here, repos) = (url("url")?, url("repos")?);
    if let (Some(here), Some(repos)) = (&here, &repos)
        && here.strip_prefix(repos).is_none()
    {
        return Err(corrupt(format!(
            "Entry for '{name}' has invalid repository root"
        )));
    }
    Ok(Entry {
        kind: match get("kind") {
            None => NodeKind::None,
            Some("file") => NodeKind::File,
            Some("dir") => NodeKind::Dir,
            Some(_) => {
                return Err(Error::new(
                    ErrorCode::NODE_UNKNOWN_KIND,
                    format!("Entry '{name}' has invalid node kind"),
                ));
            }
        },
        revision: revision("revision"),
        url: here,
        repos,
        uuid: own("uuid"),
        schedule: match get("schedule") {
            None => Schedule::Normal,
            Some("add") => Schedule::Add,
            Some("delete") => Schedule::Delete,
            Some("replace") => Schedule::Replace,
            Some(_) => return Err(invalid("schedule")),
        },
        text_time: time("text-time")?,
        checksum: own("checksum"),
        changed: Changed {
            rev: revision("committed-rev"),
            date: time("committed-date")?,
            author: own("last-author"),
        },
        prejfile: file("prop-reject-file")?,
        conflict_old: file("conflict-old")?,
        conflict_new: file("conflict-new")?,
        conflict_wrk: file("conflict-wrk")?,
        copied: flag("copied")?,
        copyfrom_url: url("copyfrom-url")?,
        copyfrom_rev: revision("copyfrom-rev"),
        deleted: flag("deleted")?,
        absent: flag("absent")?,
        incomplete: flag("incomplete")?,
        keep_local: flag("keep-local")?,
        lock: match own("lock-token") {
            Some(token) => Some(Lock {
                token,
                owner: own("lock-owner"),
                comment: own("lock-comment"),
                date: time("lock-creation-date")?,
            }),
            None => None,
        },
        changelist: own("changelist"),
        working_size: get("working-size").and_then(|size| size.parse().ok()),
        depth: match get("depth") {
            None => Depth::Infinity,
            Some(word) => depth(word, name.is_empty()).ok_or_else(|| invalid("depth"))?,
        },
        tree_conflicts: own("tree-conflicts"),
        is_file_external: get("file-external").is_some(),
        name,
    })
}

/// Reads a depth: a child can but be excluded, the folder itself cannot.
fn depth(word: &str, is_folder: bool) -> Option<Depth> {
    let depth = Depth::from_word(word)?;
    let fits = depth == Depth::Infinity || is_folder == (depth != Depth::Exclude);
    fits.then_some(depth)
}

/// Requires the name of something directly in a folder.
fn one_name(path: &str) -> Result<RelPathBuf> {
    match RelPath::new(path) {
        Ok(name) if name.depth() == 1 && name.as_str() != ADM_DIR => Ok(name.to_owned()),
        _ => Err(corrupt(format!(
            "Entry contains non-canonical path '{path}'"
        ))),
    }
}

/// Gives files what they have from their folder.
fn complete(mut entries: Entries) -> Result<Entries> {
    let missing = |code, what: &str| Err(Error::new(code, what));
    let Some(folder) = entries.get("").cloned() else {
        return missing(ErrorCode::ENTRY_NOT_FOUND, "Missing default entry");
    };
    if folder.revision.is_none() {
        return missing(
            ErrorCode::ENTRY_MISSING_REVISION,
            "Default entry has no revision number",
        );
    }
    let Some(url) = &folder.url else {
        return missing(ErrorCode::ENTRY_MISSING_URL, "Default entry is missing URL");
    };
    for entry in entries.values_mut() {
        if entry.kind != NodeKind::File || entry.name.is_empty() {
            continue;
        }
        entry.revision = entry.revision.or(folder.revision);
        if entry.url.is_none() {
            entry.url = Some(url.join(RelPath::new(&entry.name)?));
        }
        entry.repos = entry.repos.take().or_else(|| folder.repos.clone());
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Entries> {
        super::parse(&Dirent::new("/wc"), text.as_bytes())
    }

    #[test]
    fn text_entries_have_their_fields_in_order() {
        let entries = parse(
            "10\n\ndir\n3\nfile:///r/t\nfile:///r\n\x0c\na\\x0ab\nfile\n\n\n\nadd\n\n\n\n4\njo\n\
             \n\n\n\nb.prej\n\x0c\nd\ndir\n\x0c\n",
        )
        .unwrap();
        let file = &entries["a\nb"];
        assert_eq!(file.schedule, Schedule::Add);
        assert_eq!(file.revision, Revnum::new(3));
        assert_eq!(file.url.as_ref().unwrap().as_str(), "file:///r/t/a%0Ab");
        assert_eq!(file.changed.author.as_deref(), Some("jo"));
        assert_eq!(file.prejfile.as_ref().unwrap().as_str(), "b.prej");
        assert_eq!(entries["d"].url, None);
    }

    #[test]
    fn xml_entries_have_attributes() {
        let text = br#"<?xml version="1.0" encoding="utf-8"?>
            <wc-entries xmlns="svn:">
            <entry name="" kind="dir" url="http://h:80/r" revision="5" committed-date=""/>
            <entry name="a&amp;b" kind="file" deleted="true" working-size="7"/>
            </wc-entries>"#;
        let entries = parse_xml(text).and_then(complete).unwrap();
        let file = &entries["a&b"];
        assert!(file.deleted && file.is_hidden());
        assert_eq!(file.url.as_ref().unwrap().as_str(), "http://h/r/a&b");
        assert_eq!(file.working_size, Some(7));
    }

    #[test]
    fn damage_is_told() {
        let head = "10\n\ndir\n3\nfile:///r\nfile:///r\n\x0c\n";
        for (text, expected) in [
            ("", "Unexpected end of entry"),
            ("10\n", "Missing default entry"),
            ("10\n\ndir\n\x0c\n", "Default entry has no revision number"),
            ("10\n\ndir\n1\n\x0c\n", "Default entry is missing URL"),
            ("10\na\nfile\n", "Missing entry terminator"),
            ("10\na\nfile\n\x0c", "Invalid entry terminator"),
            ("10\na\n\x0c\n", "Unexpected end of entry"),
            (
                "10\na/../b\nfile\n\x0c\n",
                "Entry contains non-canonical path 'a/../b'",
            ),
            (
                "10\n..\nfile\n\x0c\n",
                "Entry contains non-canonical path '..'",
            ),
            ("10\na\\y00\nfile\n\x0c\n", "Invalid escape sequence"),
            ("10\na\\x00\nfile\n\x0c\n", "Invalid escaped character"),
            ("10\na\nlink\n\x0c\n", "Entry 'a' has invalid node kind"),
            (
                "10\na\nfile\n\n\n\nmove\n\x0c\n",
                "Entry 'a' has invalid 'schedule' value",
            ),
        ] {
            let text = if text.starts_with("10\na") || text.starts_with("10\n.") {
                format!("{head}{}", &text[3..])
            } else {
                text.to_owned()
            };
            let error = parse(&text).unwrap_err();
            assert_eq!(error.root().message(), expected, "{text:?}");
        }
    }
}
