//! What successful responses hold.

use sylvan_core::repository::CommitInfo;
use sylvan_core::{Lock, NodeKind, Props, RelPathBuf, Revnum, Timestamp};

use super::ProtocolError;
use super::item::{Fields, List};
use super::message::{read_props, shown};

type Result<T, E = ProtocolError> = std::result::Result<T, E>;

/// What is known of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dirent {
    /// Its kind.
    pub kind: NodeKind,
    /// Its size.
    pub size: Option<u64>,
    /// Whether it has properties.
    pub has_props: bool,
    /// Where it was changed last.
    pub created_rev: Option<Revnum>,
    /// When.
    pub time: Option<Timestamp>,
    /// By whom.
    pub last_author: Option<String>,
}

/// An entry of a log.
#[derive(Clone, Debug)]
pub struct LogEntry {
    /// The revision; `None` ends merged revisions.
    pub rev: Option<Revnum>,
    /// Changed paths, as sent.
    pub changed: Vec<ChangedPath>,
    /// `svn:author`.
    pub author: Option<Vec<u8>>,
    /// `svn:date`.
    pub date: Option<Vec<u8>>,
    /// `svn:log`.
    pub message: Option<Vec<u8>>,
    /// Whether merged revisions follow.
    pub has_children: bool,
    /// The other properties; servers before 1.5 send none.
    pub revprops: Option<Props>,
    /// Whether merges are undone.
    pub subtractive_merge: bool,
}

/// A path that a revision changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedPath {
    /// The path with a leading `/`.
    pub path: String,
    /// `A`, `D`, `R` or `M`.
    pub action: char,
    /// Where it was copied from.
    pub copy_from: Option<(String, Revnum)>,
    /// Its kind, if said.
    pub kind: NodeKind,
    /// Whether its text changed, if said.
    pub text_modified: Option<bool>,
    /// Whether its properties changed, if said.
    pub props_modified: Option<bool>,
}

/// Reads a path with a leading `/` and makes it canonical.
fn read_fspath(fields: &mut Fields<'_>) -> Result<String> {
    Ok(format!(
        "/{}",
        RelPathBuf::canonicalize(fields.text()?)?.as_str()
    ))
}

fn read_time(text: &str) -> Result<Timestamp> {
    Ok(Timestamp::parse_iso(text)?)
}

fn shown_field(fields: &mut Fields<'_>) -> Result<String> {
    fields.bytes().map(shown)
}

/// Reads kind, size, properties, revision, date and author, as in `stat` and `get-dir`.
///
/// # Errors
/// `Malformed`, or what is wrong with the date.
pub fn read_dirent(fields: &mut Fields<'_>) -> Result<Dirent> {
    Ok(Dirent {
        kind: NodeKind::from_word(fields.word()?),
        size: Some(fields.number()?),
        has_props: fields.bool()?,
        created_rev: Some(fields.rev()?),
        time: read_optional_time(fields)?,
        last_author: fields.optional(shown_field)?,
    })
}

fn read_optional_time(fields: &mut Fields<'_>) -> Result<Option<Timestamp>> {
    fields
        .optional(|fields| fields.text())?
        .map(read_time)
        .transpose()
}

/// Reads an entry of `get-dir`.
///
/// # Errors
/// As [`read_dirent`]; `Unexpected` for names that are none.
pub fn read_named_dirent(list: List<'_>) -> Result<(String, Dirent)> {
    let mut fields = list.fields();
    let name = fields.text()?;
    if name.is_empty() || name.contains('/') || super::check_path(name).is_err() {
        return Err(ProtocolError::unexpected(format!(
            "Invalid directory entry name '{}'",
            name.escape_debug()
        )));
    }
    Ok((name.to_owned(), read_dirent(&mut fields)?))
}

/// Reads an entry of `list`.
///
/// # Errors
/// As [`read_dirent`], and those of paths.
pub fn read_list_entry(list: List<'_>) -> Result<(RelPathBuf, Dirent)> {
    let mut fields = list.fields();
    let path = RelPathBuf::canonicalize(fields.text()?)?;
    let mut dirent = Dirent {
        kind: NodeKind::from_word(fields.word()?),
        size: None,
        has_props: false,
        created_rev: None,
        time: None,
        last_author: None,
    };
    if !fields.is_end() {
        dirent.size = fields.optional(Fields::number)?;
        dirent.has_props = fields.optional(Fields::bool)?.unwrap_or(false);
        dirent.created_rev = fields.optional(Fields::rev)?;
        dirent.time = read_optional_time(&mut fields)?;
        dirent.last_author = fields.optional(shown_field)?;
    }
    Ok((path, dirent))
}

/// Reads an entry of `log`.
///
/// # Errors
/// `Malformed`.
pub fn read_log_entry(list: List<'_>) -> Result<LogEntry> {
    let mut fields = list.fields();
    let changed = fields.list()?;
    let rev = fields.rev()?;
    let bytes = |fields: &mut Fields<'_>| fields.bytes().map(<[u8]>::to_vec);
    let mut entry = LogEntry {
        rev: Some(rev),
        changed: changed
            .items()
            .map(|item| read_changed_path(item.list()?))
            .collect::<Result<_>>()?,
        author: fields.optional(bytes)?,
        date: fields.optional(bytes)?,
        message: fields.optional(bytes)?,
        has_children: false,
        revprops: None,
        subtractive_merge: false,
    };
    if let Some(has_children) = fields.if_more(Fields::bool)? {
        entry.has_children = has_children;
        if fields.bool()? {
            entry.rev = None;
        }
        fields.number()?;
        entry.revprops = Some(read_props(fields.list()?)?);
        entry.subtractive_merge = fields.if_more(Fields::bool)?.unwrap_or(false);
    }
    Ok(entry)
}

fn read_changed_path(list: List<'_>) -> Result<ChangedPath> {
    let mut fields = list.fields();
    let path = read_fspath(&mut fields)?;
    let action = fields.word()?.chars().next().unwrap_or('M');
    let copy_from = fields
        .if_more(|fields| fields.optional(|fields| Ok((read_fspath(fields)?, fields.rev()?))))?
        .flatten();
    let mut changed = ChangedPath {
        path,
        action,
        copy_from,
        kind: NodeKind::Unknown,
        text_modified: None,
        props_modified: None,
    };
    if let Some(about) = fields.if_more(Fields::list)? {
        let mut about = about.fields();
        if let Some(kind) = about.if_more(Fields::text)? {
            changed.kind = NodeKind::from_word(kind);
        }
        changed.text_modified = about.if_more(Fields::bool)?;
        changed.props_modified = about.if_more(Fields::bool)?;
    }
    Ok(changed)
}

/// A revision of a file, without its text.
#[derive(Clone, Debug)]
pub struct FileRev {
    /// The path with a leading `/`.
    pub path: String,
    /// The revision.
    pub rev: Revnum,
    /// The revision's properties.
    pub revprops: Props,
    /// Properties that are other than before; `None` where they are gone.
    pub prop_changes: Vec<(String, Option<Vec<u8>>)>,
    /// Whether it came by a merge.
    pub merged: bool,
}

/// Reads an entry of `get-file-revs`; the chunks of its text's delta follow.
///
/// # Errors
/// `Malformed`, and those of paths.
pub fn read_file_rev(list: List<'_>) -> Result<FileRev> {
    let mut fields = list.fields();
    Ok(FileRev {
        path: read_fspath(&mut fields)?,
        rev: fields.rev()?,
        revprops: read_props(fields.list()?)?,
        prop_changes: fields
            .list()?
            .items()
            .map(|item| {
                let mut change = item.list()?.fields();
                let name = change.text()?.to_owned();
                let value = change.optional(|value| value.bytes().map(<[u8]>::to_vec))?;
                Ok((name, value))
            })
            .collect::<Result<_>>()?,
        merged: fields.if_more(Fields::bool)?.unwrap_or(false),
    })
}

/// Reads an entry of `get-mergeinfo`: a path and what was merged into it.
///
/// # Errors
/// `Malformed`, and those of paths.
pub fn read_mergeinfo(list: List<'_>) -> Result<(RelPathBuf, Vec<u8>)> {
    let mut fields = list.fields();
    let path = RelPathBuf::canonicalize(fields.text()?.trim_start_matches('/'))?;
    Ok((path, fields.bytes()?.to_vec()))
}

/// Reads an entry of `get-locations`.
///
/// # Errors
/// `Malformed`, and those of paths.
pub fn read_location(list: List<'_>) -> Result<(Revnum, RelPathBuf)> {
    let mut fields = list.fields();
    Ok((fields.rev()?, RelPathBuf::canonicalize(fields.text()?)?))
}

/// Reads an entry of `get-location-segments`: first and last revision and path.
///
/// # Errors
/// `Malformed`, and those of paths.
pub fn read_segment(list: List<'_>) -> Result<(Revnum, Revnum, Option<RelPathBuf>)> {
    let mut fields = list.fields();
    let (start, end) = (fields.rev()?, fields.rev()?);
    let path = fields.optional(|fields| Ok(RelPathBuf::canonicalize(fields.text()?)?))?;
    Ok((start, end, path))
}

/// Reads a lock.
///
/// # Errors
/// `Malformed`, and those of paths and dates.
pub fn read_lock(list: List<'_>) -> Result<Lock> {
    let mut fields = list.fields();
    Ok(Lock {
        path: RelPathBuf::canonicalize(fields.text()?)?,
        token: fields.text()?.to_owned(),
        owner: shown_field(&mut fields)?,
        comment: fields.optional(shown_field)?,
        created: read_time(fields.text()?)?,
        expires: read_optional_time(&mut fields)?,
    })
}

/// Reads the properties that are inherited from one parent.
///
/// # Errors
/// `Malformed`, and those of paths.
pub fn read_inherited(list: List<'_>) -> Result<(RelPathBuf, Props)> {
    let mut fields = list.fields();
    let path = RelPathBuf::canonicalize(fields.text()?)?;
    Ok((path, read_props(fields.list()?)?))
}

/// Reads what a server tells of a commit, a tuple of its own after the response to the editor.
///
/// # Errors
/// `Malformed`.
pub fn read_commit_info(list: List<'_>) -> Result<CommitInfo> {
    let mut fields = list.fields();
    Ok(CommitInfo {
        rev: fields.rev()?,
        date: fields.optional(shown_field)?,
        author: fields.optional(shown_field)?,
        post_commit_error: fields
            .if_more(|fields| fields.optional(shown_field))?
            .flatten(),
    })
}
