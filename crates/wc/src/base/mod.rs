//! What operations with a repository ask of the BASE tree: where nodes come from.

use rusqlite::params;
use rusqlite::types::Value;
use sylvan_core::{Depth, Error, ErrorCode, NodeKind, RelPath, RelPathBuf, Result, Revnum, Url};

use crate::WorkingCopy;
use crate::conflict::Conflict;
use crate::db::{Layer, Presence, corrupt, integer, path_column, statements};

statements!("base.sql":
    SELECT_INHERITING,
    SELECT_INHERITING_CHILDREN,
    SELECT_INHERITING_BELOW,
);

/// A node of the BASE tree that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseNode {
    /// File or folder.
    pub kind: NodeKind,
    /// Whether a folder still lacks something.
    pub is_incomplete: bool,
    /// Its revision.
    pub rev: Revnum,
    /// The root of its repository.
    pub repos_root: Url,
    /// The UUID of its repository.
    pub repos_uuid: String,
    /// Its path in the repository.
    pub repos_path: RelPathBuf,
    /// How deep a folder is.
    pub depth: Option<Depth>,
    /// Whether it is a file external.
    pub is_file_external: bool,
    /// The token of its lock in the repository, if this working copy has it.
    pub lock_token: Option<String>,
}

impl BaseNode {
    /// Returns its URL.
    pub fn url(&self) -> Url {
        self.repos_root.join(&self.repos_path)
    }
}

/// Returns the BASE node at `path`, `None` if there is none or it is not present.
///
/// # Errors
/// Those of the database, `E155016` for values that cannot be.
pub fn node(wc: &WorkingCopy, path: &RelPath) -> Result<Option<BaseNode>> {
    wc.db().read(|| match wc.db().layers(path)?.last() {
        Some(layer) if layer.op_depth == 0 && layer.presence.is_present() => {
            of_layer(wc, layer).map(Some)
        }
        _ => Ok(None),
    })
}

fn of_layer(wc: &WorkingCopy, layer: &Layer) -> Result<BaseNode> {
    let id = layer
        .repos_id
        .ok_or_else(|| corrupt("A node has no repository"))?;
    let repository = wc.db().repository(id)?;
    let repos_path = layer.repos_path.clone().unwrap_or_default();
    Ok(BaseNode {
        lock_token: wc.db().lock(id, &repos_path)?.map(|lock| lock.token),
        kind: layer.kind,
        is_incomplete: layer.presence == Presence::Incomplete,
        rev: layer
            .revision
            .ok_or_else(|| corrupt("A node has no revision"))?,
        repos_root: repository.root.clone(),
        repos_uuid: repository.uuid.clone(),
        repos_path,
        depth: layer.depth,
        is_file_external: layer.file_external,
    })
}

/// Returns the URL of a node; that of a local addition is where it would be committed to.
///
/// # Errors
/// Those of the database.
pub fn url(wc: &WorkingCopy, path: &RelPath) -> Result<Option<Url>> {
    let above = std::iter::once(path).chain(path.ancestors());
    for ancestor in above {
        if let Some(base) = node(wc, ancestor)? {
            let below = path.strip_prefix(ancestor).unwrap_or(RelPath::ROOT);
            return Ok(Some(base.url().join(below)));
        }
    }
    Ok(None)
}

/// Returns the kind that the working copy has at `path`, with local additions, and deletions as
/// they were; [`NodeKind::None`] for what is not versioned or not there.
///
/// # Errors
/// Those of the database.
pub fn kind(wc: &WorkingCopy, path: &RelPath) -> Result<NodeKind> {
    let layers = wc.db().layers(path)?;
    Ok(match layers.first() {
        Some(top) if !top.state().is_hidden() => top.kind,
        _ => NodeKind::None,
    })
}

/// Tells whether the text or the properties of the node are in conflict; tree conflicts do not
/// count.
///
/// # Errors
/// Those of the database.
pub fn is_conflicted(wc: &WorkingCopy, path: &RelPath) -> Result<bool> {
    let node = wc.db().node(path)?;
    let Some(stored) = node.and_then(|node| node.actual.conflict) else {
        return Ok(false);
    };
    let unresolved = Conflict::parse(&stored)?.unresolved(wc);
    Ok(unresolved.text || unresolved.props)
}

/// Lists the nodes at and below `path` that keep inherited properties, with their URLs; `path`
/// itself if it is the working copy's root and not that of the repository, or switched.
///
/// # Errors
/// Those of the database.
pub fn inheriting(
    wc: &WorkingCopy,
    path: &RelPath,
    depth: Option<Depth>,
) -> Result<Vec<(RelPathBuf, Url)>> {
    wc.db().read(|| read_inheriting(wc, path, depth))
}

fn read_inheriting(
    wc: &WorkingCopy,
    path: &RelPath,
    depth: Option<Depth>,
) -> Result<Vec<(RelPathBuf, Url)>> {
    let db = wc.db();
    let id = db.wc_id();
    let mut found = Vec::new();
    let mut take = |row: &rusqlite::Row<'_>| {
        let repos_path = path_column(row, 1)?.unwrap_or_default();
        let repos_id = integer(row, 2)?.ok_or_else(|| corrupt("A node has no repository"))?;
        if !repos_path.is_root() {
            let url = db.repository(repos_id)?.root.join(&repos_path);
            found.push((path_column(row, 0)?.unwrap_or_default(), url));
        }
        Ok(())
    };
    db.each(SELECT_INHERITING, params![id, path.as_str()], &mut take)?;
    match depth {
        Some(Depth::Exclude | Depth::Empty) => {}
        Some(Depth::Files | Depth::Immediates) => db.each(
            SELECT_INHERITING_CHILDREN,
            params![id, path.as_str()],
            &mut take,
        )?,
        None | Some(Depth::Infinity) => {
            let (first, end) = below(path);
            wc.read_ahead(path);
            db.each(SELECT_INHERITING_BELOW, params![id, first, end], &mut take)?;
        }
    }
    if !found.iter().any(|(inheriting, _)| **inheriting == *path)
        && let Some(base) = node(wc, path)?
        && !base.repos_path.is_root()
        && (path.is_root() || is_switched(wc, path, &base)?)
    {
        found.push((path.to_owned(), base.url()));
    }
    Ok(found)
}

/// Tells whether a node comes from another place than its folder says.
fn is_switched(wc: &WorkingCopy, path: &RelPath, base: &BaseNode) -> Result<bool> {
    let Some((parent, name)) = path.split() else {
        return Ok(false);
    };
    let Some(parent) = node(wc, parent)? else {
        return Ok(false);
    };
    Ok(parent.repos_root != base.repos_root || parent.repos_path.child(name)? != base.repos_path)
}

/// Lists the folders that an update of `path` less deep than they are would leave unread: URL and
/// path in the repository.
///
/// # Errors
/// Those of the database.
pub fn deeper_than(
    wc: &WorkingCopy,
    path: &RelPath,
    depth: Depth,
) -> Result<Vec<(Url, RelPathBuf)>> {
    let mut found = Vec::new();
    let Some(base) = node(wc, path)? else {
        return Ok(found);
    };
    if base.kind != NodeKind::Dir || base.is_incomplete {
        return Ok(found);
    }
    if base.depth.unwrap_or(Depth::Infinity) > depth {
        found.push((base.url(), base.repos_path));
    }
    if depth != Depth::Immediates {
        return Ok(found);
    }
    for child in wc.db().children(path)? {
        let Some(layer) = child.base() else { continue };
        if layer.kind == NodeKind::Dir
            && layer.presence == Presence::Normal
            && layer.depth.unwrap_or(Depth::Infinity) > Depth::Empty
        {
            let folder = of_layer(wc, layer)?;
            found.push((folder.url(), folder.repos_path));
        }
    }
    Ok(found)
}

/// Returns the revision of the node's BASE.
///
/// # Errors
/// `E150000` if it is not versioned, `E195002` if it has none.
pub fn base_revision(wc: &WorkingCopy, path: &RelPath) -> Result<Revnum> {
    let local = wc.local_path(path);
    if let Some(base) = node(wc, path)? {
        return Ok(base.rev);
    }
    if kind(wc, path)? == NodeKind::None {
        return Err(Error::new(
            ErrorCode::ENTRY_NOT_FOUND,
            format!("'{local}' is not under version control"),
        ));
    }
    Err(no_committed_revision(wc, path))
}

/// Returns the revision in which the node was changed last.
///
/// # Errors
/// `E155010` if it is not versioned, `E195002` if it has none.
pub fn committed_revision(wc: &WorkingCopy, path: &RelPath) -> Result<Revnum> {
    let layers = wc.db().layers(path)?;
    let found = layers.first().map(|layer| layer.changed_rev);
    match found {
        None => Err(Error::new(
            ErrorCode::WC_PATH_NOT_FOUND,
            format!("The node '{}' was not found.", wc.local_path(path)),
        )),
        Some(rev) => rev.ok_or_else(|| no_committed_revision(wc, path)),
    }
}

/// Returns the revision before [`committed_revision`].
///
/// # Errors
/// As [`committed_revision`], `E195002` too if that is 0.
pub fn previous_revision(wc: &WorkingCopy, path: &RelPath) -> Result<Revnum> {
    committed_revision(wc, path)?.previous().ok_or_else(|| {
        Error::new(
            ErrorCode::CLIENT_BAD_REVISION,
            format!("Path '{}' has no previous revision", wc.local_path(path)),
        )
    })
}

fn no_committed_revision(wc: &WorkingCopy, path: &RelPath) -> Error {
    Error::new(
        ErrorCode::CLIENT_BAD_REVISION,
        format!("Path '{}' has no committed revision", wc.local_path(path)),
    )
}

/// The bounds between which the paths of all nodes below `path` lie.
pub(crate) fn below(path: &RelPath) -> (String, Value) {
    if path.is_root() {
        // A blob sorts after all text.
        (String::new(), Value::Blob(vec![0xff]))
    } else {
        (format!("{path}/"), Value::Text(format!("{path}0")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_use_indexes() {
        crate::db::tests::check_statements(ALL, &[]);
    }
}
