//! Conflicts in words, for `status` and `info`.

use sylvan_core::{NodeKind, Url};
use sylvan_wc::conflict::{Action, Conflict, Location, Operation, Reason, TreeConflict};

/// Describes a tree conflict: `local file edit, incoming file delete or move upon update`.
/// `victim` is the kind of the node in conflict.
pub(crate) fn tree(conflict: &Conflict, tree: &TreeConflict, victim: NodeKind) -> String {
    // A change or deletion is about the old node, an addition about the new one.
    let incoming = match tree.action {
        Action::Edited | Action::Deleted => &conflict.left,
        Action::Added | Action::Replaced => &conflict.right,
    };
    let incoming = incoming
        .as_ref()
        .map_or(NodeKind::Unknown, |location| location.kind);
    let operation = conflict.operation;
    format!(
        "{}, {} {}",
        local(victim, tree.reason, operation),
        self::incoming(incoming, tree.action),
        upon(operation)
    )
}

/// Describes the change that led to a conflict of text or properties: `incoming file edit upon
/// update`.
pub(crate) fn edit(conflict: &Conflict, kind: NodeKind) -> String {
    format!(
        "{} {}",
        incoming(kind, Action::Edited),
        upon(conflict.operation)
    )
}

/// Describes a node that has to do with a conflict: `(file) ^/trunk/a@12`. `root` is the
/// repository of the working copy.
pub(crate) fn location(location: Option<&Location>, root: Option<&Url>) -> String {
    let Some((location, rev)) = location.and_then(|location| Some((location, location.revision?)))
    else {
        return "(none)".to_owned();
    };
    let kind = match location.kind {
        NodeKind::Unknown => "",
        kind => kind.as_str(),
    };
    let url = location.repos_root.join(&location.path);
    let shown = match root {
        Some(root) if *root == location.repos_root => {
            format!(
                "^{}",
                &url.as_str()[root.as_str().trim_end_matches('/').len()..]
            )
        }
        _ => url.to_string(),
    };
    format!("({kind}) {shown}@{rev}")
}

fn local(kind: NodeKind, reason: Reason, operation: Operation) -> String {
    let what = match reason {
        Reason::Edited => "edit",
        Reason::Obstructed => "obstruction",
        Reason::Deleted => "delete",
        Reason::Missing if operation == Operation::Merge => "missing or deleted or moved away",
        Reason::Missing => "missing",
        Reason::Unversioned => "unversioned",
        Reason::Added => "add",
        Reason::Replaced => "replace",
        Reason::MovedAway => "moved away",
        Reason::MovedHere => "moved here",
    };
    match kind {
        NodeKind::File => format!("local file {what}"),
        NodeKind::Dir => format!("local dir {what}"),
        NodeKind::None | NodeKind::Unknown => format!("local {what}"),
    }
}

const fn incoming(kind: NodeKind, action: Action) -> &'static str {
    match (kind, action) {
        (NodeKind::File, Action::Edited) => "incoming file edit",
        (NodeKind::File, Action::Added) => "incoming file add",
        (NodeKind::File, Action::Deleted) => "incoming file delete or move",
        (NodeKind::File, Action::Replaced) => "incoming replace with file",
        (NodeKind::Dir, Action::Edited) => "incoming dir edit",
        (NodeKind::Dir, Action::Added) => "incoming dir add",
        (NodeKind::Dir, Action::Deleted) => "incoming dir delete or move",
        (NodeKind::Dir, Action::Replaced) => "incoming replace with dir",
        (NodeKind::None | NodeKind::Unknown, Action::Edited) => "incoming edit",
        (NodeKind::None | NodeKind::Unknown, Action::Added) => "incoming add",
        (NodeKind::None | NodeKind::Unknown, Action::Deleted) => "incoming delete or move",
        (NodeKind::None | NodeKind::Unknown, Action::Replaced) => "incoming replace",
    }
}

/// Returns the word for an incoming change in XML.
pub(crate) const fn action_word(action: Action) -> &'static str {
    match action {
        Action::Edited => "edit",
        Action::Added => "add",
        Action::Deleted => "delete",
        Action::Replaced => "replace",
    }
}

/// Returns the word for a local state in XML.
pub(crate) const fn reason_word(reason: Reason) -> &'static str {
    match reason {
        Reason::Edited => "edit",
        Reason::Obstructed => "obstruction",
        Reason::Deleted => "delete",
        Reason::Missing => "missing",
        Reason::Unversioned => "unversioned",
        Reason::Added => "add",
        Reason::Replaced => "replace",
        Reason::MovedAway => "moved-away",
        Reason::MovedHere => "moved-here",
    }
}

const fn upon(operation: Operation) -> &'static str {
    match operation {
        Operation::None => "upon none",
        Operation::Update => "upon update",
        Operation::Switch => "upon switch",
        Operation::Merge => "upon merge",
    }
}

#[cfg(test)]
mod tests {
    use sylvan_core::{RelPathBuf, Revnum};

    use super::*;

    #[test]
    fn conflicts_read_like_subversions() {
        let root = Url::parse("svn://h/r").unwrap();
        let left = Location {
            repos_root: root.clone(),
            repos_uuid: None,
            path: RelPathBuf::new("trunk/a b").unwrap(),
            revision: Revnum::new(2),
            kind: NodeKind::File,
        };
        let conflict = Conflict {
            operation: Operation::Merge,
            left: Some(left.clone()),
            ..Conflict::default()
        };
        let missing = TreeConflict {
            reason: Reason::Missing,
            action: Action::Deleted,
            ..TreeConflict::default()
        };
        assert_eq!(
            tree(&conflict, &missing, NodeKind::Dir),
            "local dir missing or deleted or moved away, incoming file delete or move upon merge"
        );
        assert_eq!(
            edit(&conflict, NodeKind::File),
            "incoming file edit upon merge"
        );
        assert_eq!(location(Some(&left), Some(&root)), "(file) ^/trunk/a%20b@2");
        assert_eq!(
            location(Some(&left), None),
            "(file) svn://h/r/trunk/a%20b@2"
        );
        assert_eq!(location(None, Some(&root)), "(none)");
    }
}
