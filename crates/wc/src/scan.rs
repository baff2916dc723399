//! Where nodes with local changes are, or will be, in the repository; found by climbing through the
//! layers above them.

use sylvan_core::{Dirent, Error, RelPath, RelPathBuf, Result, Revnum};

use crate::db::{Db, Node, NodeState, Presence, corrupt};
use crate::{WorkingCopy, not_found, not_found_at};

/// A place in a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The repository's id.
    pub repos_id: i64,
    /// The path below its root.
    pub path: RelPathBuf,
    /// The revision, if there is one at that place yet.
    pub revision: Option<Revnum>,
}

/// How an added node came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Added,
    Copied,
    MovedHere,
    Incomplete,
}

/// What a deletion belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Deletion {
    /// The root of a deletion in BASE.
    pub(crate) base: Option<RelPathBuf>,
    /// The root of a deletion in an added tree.
    pub(crate) work: Option<RelPathBuf>,
    /// Where the node was moved to.
    pub(crate) moved_to: Option<RelPathBuf>,
}

/// Finds where a node is, or would be committed, in the repository.
///
/// # Errors
/// `E155010` if a folder above is missing in the database, `E155016` for a database that makes no
/// sense.
pub fn location(wc: &WorkingCopy, node: &Node) -> Result<Location> {
    let Some(top) = node.top() else {
        return Err(not_found(wc, &node.path));
    };
    if let (0, Some(repos_id), Some(path)) = (top.op_depth, top.repos_id, &top.repos_path) {
        return Ok(Location {
            repos_id,
            path: path.clone(),
            revision: top.revision,
        });
    }
    match node.state() {
        NodeState::Added => added(wc.db(), wc.root(), &node.path),
        NodeState::Deleted => deleted(wc, node),
        NodeState::Excluded => match node.path.split() {
            Some((parent, _)) => below(added(wc.db(), wc.root(), parent)?, parent, &node.path),
            None => Err(no_location(&node.path)),
        },
        _ => Err(no_location(&node.path)),
    }
}

/// Finds where an added node would be committed: below the BASE folder that the topmost addition
/// above it is in. `root` is the working copy's.
pub(crate) fn added(db: &Db, root: &Dirent, path: &RelPath) -> Result<Location> {
    let mut at = path;
    loop {
        let layers = db.layers(at)?;
        match layers.first() {
            None => return Err(not_found_at(&root.join_relpath(at))),
            Some(top) if top.op_depth > 0 => {
                at = prefix(at, top.op_depth)
                    .parent()
                    .ok_or_else(|| no_location(path))?;
            }
            Some(base) => {
                let (Some(repos_id), Some(repos_path)) = (base.repos_id, &base.repos_path) else {
                    return Err(no_location(at));
                };
                let location = Location {
                    repos_id,
                    path: repos_path.clone(),
                    revision: None,
                };
                return below(location, at, path);
            }
        }
    }
}

fn deleted(wc: &WorkingCopy, node: &Node) -> Result<Location> {
    let deletion = deletion(wc, node)?;
    if let Some(parent) = deletion.work.as_deref().and_then(RelPath::parent) {
        return below(added(wc.db(), wc.root(), parent)?, parent, &node.path);
    }
    let Some(root) = deletion.base else {
        return Err(no_location(&node.path));
    };
    let layers = wc.db().layers(&root)?;
    let base = layers.last().filter(|layer| layer.op_depth == 0);
    let Some((repos_id, path, revision)) =
        base.and_then(|base| Some((base.repos_id?, base.repos_path.clone()?, base.revision)))
    else {
        return Err(no_location(&root));
    };
    let location = Location {
        repos_id,
        path,
        revision,
    };
    below(location, &root, &node.path)
}

fn below(location: Location, from: &RelPath, path: &RelPath) -> Result<Location> {
    let rest = path.strip_prefix(from).unwrap_or(RelPath::ROOT);
    Ok(Location {
        path: location.path.join(rest),
        ..location
    })
}

/// Finds the roots of the deletions that a deleted node belongs to.
pub(crate) fn deletion(wc: &WorkingCopy, node: &Node) -> Result<Deletion> {
    let mut found = Deletion::default();
    let mut current: &RelPath = &node.path;
    let mut layers = node.layers.clone();
    let Some(top) = layers.first() else {
        return Err(not_found(wc, current));
    };
    let mut op_depth = top.op_depth;
    if top.presence == Presence::NotPresent {
        // It must be deleted explicitly when the tree around it is committed.
        found.work = Some(current.to_owned());
    }
    loop {
        loop {
            let moved_to = layers.first().and_then(|top| top.moved_to.as_ref());
            if let (None, Some(target)) = (&found.moved_to, moved_to) {
                let rest = node.path.strip_prefix(current).unwrap_or(RelPath::ROOT);
                found.moved_to = Some(target.join(rest));
            }
            if current.depth() <= op_depth {
                break;
            }
            current = current.parent().ok_or_else(|| no_location(&node.path))?;
            layers = wc.db().layers(current)?;
        }
        let parent = current.parent().ok_or_else(|| no_location(&node.path))?;
        let above = wc.db().layers(parent)?;
        let Some(top) = above.first().filter(|top| top.op_depth > 0) else {
            if layers.last().is_some_and(|layer| layer.op_depth == 0) {
                found.base = Some(current.to_owned());
            }
            return Ok(found);
        };
        if found.work.is_none() {
            found.work = Some(current.to_owned());
        }
        op_depth = top.op_depth;
        current = parent;
        layers = above;
    }
}

/// Finds how an added node came: the root of its operation tells.
pub(crate) fn origin(wc: &WorkingCopy, node: &Node) -> Result<Origin> {
    let Some(top) = node.top().filter(|top| top.op_depth > 0) else {
        return Err(not_found(wc, &node.path));
    };
    let root_path = prefix(&node.path, top.op_depth);
    let roots;
    let root = if root_path == &*node.path {
        top
    } else {
        roots = wc.db().layers(root_path)?;
        roots.first().ok_or_else(|| not_found(wc, root_path))?
    };
    Ok(match (root.repos_id, root.moved_here, top.presence) {
        (Some(_), true, _) => Origin::MovedHere,
        (Some(_), false, _) => Origin::Copied,
        (None, _, Presence::Incomplete) => Origin::Incomplete,
        (None, ..) => Origin::Added,
    })
}

/// Finds where an added node was before it was moved here, and the op-depth of the deletion there.
pub(crate) fn moved_from(wc: &WorkingCopy, node: &Node) -> Result<Option<(RelPathBuf, usize)>> {
    let Some(top) = node.top() else {
        return Ok(None);
    };
    let root = prefix(&node.path, top.op_depth);
    let rest = node.path.strip_prefix(root).unwrap_or(RelPath::ROOT);
    let found = wc.db().moved_from(root)?;
    Ok(found.map(|(from, op_depth)| (from.join(rest), op_depth)))
}

/// Returns the first `depth` components of a path.
pub(crate) fn prefix(path: &RelPath, depth: usize) -> &RelPath {
    let mut at = path;
    let mut excess = path.depth().saturating_sub(depth);
    while let (1.., Some(parent)) = (excess, at.parent()) {
        at = parent;
        excess -= 1;
    }
    at
}

fn no_location(path: &RelPath) -> Error {
    corrupt(format_args!("No repository location for '{path}'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_has_so_many_components() {
        let path = RelPath::new("a/b/c").unwrap();
        for (depth, expected) in [(0, ""), (1, "a"), (3, "a/b/c"), (9, "a/b/c")] {
            assert_eq!(prefix(path, depth).as_str(), expected);
        }
    }
}
