//! What resources and reports say, as values of sessions.

use sylvan_core::{
    Depth, Error, ErrorCode, Lock, NodeKind, Props, RelPath, Result, Revnum, Timestamp, glob,
};
use sylvan_proto::dav::xml::Ns;
use sylvan_proto::dav::{self, Prop, Response};

use super::nodes;
use crate::{ChangedPath, DirEntry, DirEntryFields, LogEntry, LogOptions};

/// What a listing wants.
pub(super) struct Listing<'a> {
    pub(super) depth: Depth,
    pub(super) patterns: Option<&'a [String]>,
    pub(super) fields: DirEntryFields,
}

impl Listing<'_> {
    /// Tells whether an entry of this name is wanted.
    pub(super) fn matches(&self, name: &str) -> bool {
        self.patterns.is_none_or(|patterns| {
            patterns
                .iter()
                .any(|pattern| glob::matches_ignore_case(pattern, name))
        })
    }
}

pub(super) fn not_found(path: &RelPath, rev: Revnum) -> Error {
    Error::new(
        ErrorCode::FS_NOT_FOUND,
        format!("Path '{}' not found in revision {rev}", path.as_str()),
    )
}

/// Makes a directory entry of a resource's properties; notes whether `deadprop-count` was told.
pub(super) fn dir_entry(props: &[Prop], count_known: &mut Option<bool>) -> Result<DirEntry> {
    let mut entry = DirEntry {
        kind: NodeKind::Unknown,
        size: None,
        has_props: false,
        created_rev: None,
        time: None,
        last_author: None,
    };
    for prop in props {
        let text = prop.text();
        match (&prop.ns, prop.name.as_str()) {
            (Ns::Dav, "version-name") => entry.created_rev = Revnum::parse(&text),
            (Ns::Dav, "creator-displayname") => entry.last_author = Some(text.into_owned()),
            (Ns::Dav, "creationdate") => entry.time = Some(Timestamp::parse_iso(&text)?),
            (Ns::Dav, "getcontentlength") => entry.size = text.parse().ok(),
            (Ns::Dav, "resourcetype") => {
                entry.kind = if nodes::is_collection(prop) {
                    NodeKind::Dir
                } else {
                    NodeKind::File
                };
            }
            (Ns::Custom | Ns::SvnProp, _) => entry.has_props = true,
            (Ns::DavSvn, "deadprop-count") => {
                let count = text.parse::<i64>();
                entry.has_props |= count.as_ref().is_ok_and(|&count| count > 0);
                *count_known = Some(count.is_ok());
            }
            _ => {}
        }
    }
    if entry.kind == NodeKind::Dir {
        entry.size = None;
    }
    Ok(entry)
}

/// Returns a resource's properties as Subversion names them.
pub(super) fn svn_props(response: &Response) -> Props {
    response
        .props
        .iter()
        .filter_map(|prop| {
            let name = dav::svn_prop_name(&prop.ns, &prop.name)?;
            Some((name, prop.value.clone()))
        })
        .collect()
}

/// As [`svn_props`], without entry and working copy properties.
pub(super) fn regular_props(response: &Response) -> Props {
    let mut props = svn_props(response);
    props.retain(|name, _| !name.starts_with("svn:entry:") && !name.starts_with("svn:wc:"));
    props
}

pub(super) fn resource_kind(response: &Response) -> Result<NodeKind> {
    match response.prop(&Ns::Dav, "resourcetype") {
        Some(prop) if nodes::is_collection(prop) => Ok(NodeKind::Dir),
        Some(_) => Ok(NodeKind::File),
        None => Err(Error::new(
            ErrorCode::RA_DAV_PROPS_NOT_FOUND,
            "The PROPFIND response did not include the requested resourcetype value",
        )),
    }
}

/// Returns the path of a list item below the listed node.
pub(super) fn below<'p>(item: &'p RelPath, listed: &RelPath) -> Result<&'p RelPath> {
    let rest = item.as_str().strip_prefix(listed.as_str());
    match rest {
        Some("") => Ok(RelPath::ROOT),
        Some(rest) if listed.is_root() => RelPath::new(rest),
        Some(rest) if rest.starts_with('/') => RelPath::new(&rest[1..]),
        _ => Err(Error::new(
            ErrorCode::RA_DAV_MALFORMED_DATA,
            format!(
                "The REPORT response lists '{}', which was not asked for",
                item.as_str()
            ),
        )),
    }
}

pub(super) fn log_entry(item: dav::LogItem, options: &LogOptions) -> LogEntry {
    let mut revprops = item.revprops;
    if let Some(wanted) = &options.revprops {
        revprops.retain(|name, _| wanted.contains(name));
    }
    let changed_paths = options.discover_changed_paths.then(|| {
        let mut paths: Vec<_> = item
            .paths
            .into_iter()
            .map(|path| {
                let changed = ChangedPath {
                    action: path.action,
                    copy_from: path.copy_from,
                    kind: path.kind,
                    text_modified: path.text_modified,
                    props_modified: path.props_modified,
                };
                (path.path, changed)
            })
            .collect();
        paths.sort_by(|a, b| a.0.cmp(&b.0));
        paths
    });
    LogEntry {
        rev: item.rev,
        revprops,
        changed_paths,
        has_children: item.has_children,
        subtractive_merge: item.subtractive_merge,
    }
}

pub(super) fn lock_of(item: dav::LockItem) -> Result<Option<Lock>> {
    let Some(token) = item.token else {
        return Ok(None);
    };
    Ok(Some(Lock {
        path: RelPath::new(item.path.trim_start_matches('/'))?.to_owned(),
        token,
        owner: item.owner.unwrap_or_default(),
        comment: item.comment,
        created: item
            .created
            .as_deref()
            .map_or(Ok(Timestamp::from_micros(0)), Timestamp::parse_iso)?,
        expires: item
            .expires
            .as_deref()
            .map(Timestamp::parse_iso)
            .transpose()?,
    }))
}

/// Tells whether the lock on `path` was asked for: servers do not look at the depth.
pub(super) fn is_wanted(path: &RelPath, node: &RelPath, depth: Depth) -> bool {
    if path == node || depth == Depth::Infinity {
        return true;
    }
    matches!(depth, Depth::Files | Depth::Immediates)
        && path.parent().is_some_and(|parent| parent == node)
}

pub(super) fn later(time: Timestamp, seconds: u64) -> Timestamp {
    let micros = i64::try_from(seconds.saturating_mul(1_000_000)).unwrap_or(i64::MAX);
    Timestamp::from_micros(time.micros().saturating_add(micros))
}
