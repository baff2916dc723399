//! Properties of nodes as the database has them.

use sylvan_core::skel;
use sylvan_core::{Depth, Error, ErrorCode, NodeKind, Props, RelPath, RelPathBuf, Result};

use crate::WorkingCopy;
use crate::db::{Node, Presence};
use crate::working::{self, Current};

/// The property with ignore patterns for one folder.
pub(crate) const IGNORE: &str = "svn:ignore";
/// The property with ignore patterns for a folder and all below it.
pub(crate) const GLOBAL_IGNORES: &str = "svn:global-ignores";

/// Reads properties as stored; NULL and nothing are no properties.
///
/// # Errors
/// `E160027` for malformed data.
pub fn parse(stored: &[u8]) -> Result<Props> {
    if stored.len() <= 2 {
        return Ok(Props::new());
    }
    skel::props_from_skel(stored)
}

/// Tells whether stored properties may have one that changes the text.
pub(crate) fn may_translate(stored: &[u8]) -> bool {
    // The names cannot be looked up without parsing, but mostly they are nowhere in the bytes.
    [&b"svn:eol-style"[..], b"svn:keywords", b"svn:special"]
        .iter()
        .any(|name| contains(stored, name))
}

/// Tells whether stored properties have `name`.
pub(crate) fn has(stored: &[u8], name: &str) -> Result<bool> {
    Ok(contains(stored, name.as_bytes()) && parse(stored)?.contains_key(name))
}

pub(crate) fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes
        .windows(wanted.len())
        .any(|window| window[0] == wanted[0] && window == wanted)
}

/// Reads the pristine properties of a node: those of the layer that is visible, or that a deletion
/// covers.
///
/// # Errors
/// `E155010` if the path is not under version control, `E155035` if the node has no properties.
pub fn pristine(wc: &WorkingCopy, path: &RelPath) -> Result<Props> {
    let node = node(wc, path)?;
    pristine_of(&node).ok_or_else(|| no_props(wc, path))?
}

/// Reads the properties of a node with its local changes.
///
/// # Errors
/// As [`pristine`].
pub fn actual(wc: &WorkingCopy, path: &RelPath) -> Result<Props> {
    let node = node(wc, path)?;
    actual_of(&node).ok_or_else(|| no_props(wc, path))?
}

pub(crate) fn pristine_of(node: &Node) -> Option<Result<Props>> {
    let mut layers = node.layers.iter();
    let mut layer = layers.next()?;
    if layer.presence == Presence::BaseDeleted {
        layer = layers.next()?;
    }
    if !layer.presence.is_present() {
        return None;
    }
    Some(layer.properties.as_deref().map_or(Ok(Props::new()), parse))
}

pub(crate) fn actual_of(node: &Node) -> Option<Result<Props>> {
    match &node.actual.properties {
        Some(stored) => Some(parse(stored)),
        None => pristine_of(node),
    }
}

/// From where a property is inherited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A folder of the working copy.
    Folder(RelPathBuf),
    /// A folder above the working copy's root, by its path in the repository or its URL.
    Above(String),
}

/// Reads the properties that a node inherits, from the root down, and its own with local changes.
///
/// # Errors
/// `E155010` if the path or a folder above it is not under version control, `E155035` if one has no
/// properties.
pub fn inherited(wc: &WorkingCopy, path: &RelPath) -> Result<(Vec<(Origin, Props)>, Props)> {
    let mut inherited = Vec::new();
    let mut own = Props::new();
    // Where the folder above must come from for a BASE node to inherit from it.
    let mut expected: Option<RelPathBuf> = None;
    let mut at = Some(path);
    while let Some(here) = at {
        let node = node(wc, here)?;
        let Some(top) = node.top().filter(|top| top.presence.is_present()) else {
            return Err(no_props(wc, here));
        };
        if top.op_depth == 0 {
            let repos_path = top.repos_path.as_deref().unwrap_or(RelPath::ROOT);
            if expected
                .as_deref()
                .is_some_and(|expected| expected != repos_path)
            {
                break;
            }
            expected = Some(repos_path.parent().unwrap_or(RelPath::ROOT).to_owned());
        }
        let props = actual_of(&node).transpose()?.unwrap_or_default();
        if here == path {
            own = props;
        } else if !props.is_empty() {
            inherited.push((Origin::Folder(here.to_owned()), props));
        }
        if let Some(stored) = top.inherited_props.as_deref().filter(|_| top.op_depth == 0) {
            let above = skel::inherited_props_from_skel(stored)?;
            let above = above
                .into_iter()
                .rev()
                .filter(|(_, props)| !props.is_empty());
            inherited.extend(above.map(|(from, props)| (Origin::Above(from), props)));
            break;
        }
        at = here.parent();
    }
    inherited.reverse();
    Ok((inherited, own))
}

fn node(wc: &WorkingCopy, path: &RelPath) -> Result<Node> {
    wc.db()
        .node(path)?
        .filter(|node| !node.layers.is_empty())
        .ok_or_else(|| crate::not_found(wc, path))
}

fn no_props(wc: &WorkingCopy, path: &RelPath) -> Error {
    Error::new(
        ErrorCode::WC_PATH_UNEXPECTED_STATUS,
        format!(
            "The node '{}' has a status that has no properties.",
            wc.local_path(path)
        ),
    )
}

/// Lists properties at and below a node, as deep as asked for, by path: the pristine ones, or with
/// local changes. Nodes without any are left out; with `changelists`, those that are not members.
///
/// # Errors
/// `E155010` if there is no such node, and those of the database.
pub fn list(
    wc: &WorkingCopy,
    path: &RelPath,
    depth: Depth,
    pristine: bool,
    changelists: &[String],
) -> Result<Vec<(RelPathBuf, Props)>> {
    let db = wc.db();
    let target = db
        .current(path)?
        .ok_or_else(|| crate::not_found(wc, path))?;
    let nodes = match depth {
        Depth::Infinity => db.current_within(path)?,
        Depth::Files | Depth::Immediates => {
            let mut nodes = vec![target];
            nodes.extend(db.current_children(path)?);
            nodes.retain(|node| {
                depth != Depth::Files || *node.path == *path || node.layer.kind == NodeKind::File
            });
            nodes
        }
        Depth::Empty | Depth::Exclude => vec![target],
    };
    let mut found = Vec::new();
    for node in nodes {
        let member = |name: &String| changelists.contains(name);
        if !changelists.is_empty() && !node.actual.changelist.as_ref().is_some_and(member) {
            continue;
        }
        let props = match node.layer.presence {
            Presence::Normal | Presence::Incomplete if pristine => node.pristine_props()?,
            Presence::Normal | Presence::Incomplete => node.props()?,
            Presence::BaseDeleted if pristine => covered_props(wc, &node)?,
            _ if *node.path == *path => Props::new(),
            _ => continue,
        };
        if !props.is_empty() {
            found.push((node.path, props));
        }
    }
    Ok(found)
}

/// Reads the properties of the layer that a deletion covers.
fn covered_props(wc: &WorkingCopy, node: &Current) -> Result<Props> {
    let stored = wc.db().row(
        working::SELECT_DELETED_PROPS,
        rusqlite::params![
            wc.db().wc_id(),
            node.path.as_str(),
            working::as_i64(node.layer.op_depth)
        ],
        |row| {
            row.get::<_, Option<Vec<u8>>>(0)
                .map_err(crate::db::sqlite_error)
        },
    )?;
    stored.flatten().as_deref().map_or(Ok(Props::new()), parse)
}
