//! Writing conflicts as the database has them.

use sylvan_core::props;
use sylvan_core::skel::Skel;
use sylvan_core::{NodeKind, Props, RelPathBuf};

use super::{Conflict, Location, PropConflict, TextConflict, TreeConflict};

impl Conflict {
    /// Returns the conflict as it is stored.
    pub fn to_bytes(&self) -> Vec<u8> {
        let origins = [location(self.left.as_ref()), location(self.right.as_ref())];
        let why = Skel::list([Skel::atom(self.operation.as_str()), Skel::list(origins)]);
        let kinds = [
            self.text.as_ref().map(text),
            self.props.as_ref().map(properties),
            self.tree.as_ref().map(tree),
        ];
        Skel::list([why, Skel::list(kinds.into_iter().flatten())]).to_bytes()
    }

    /// Tells whether nothing is in conflict.
    pub fn is_empty(&self) -> bool {
        self.text.is_none() && self.props.is_none() && self.tree.is_none()
    }
}

fn location(location: Option<&Location>) -> Skel {
    let Some(location) = location else {
        return Skel::list([]);
    };
    let kind = match location.kind {
        NodeKind::None => "none",
        kind => kind.as_str(),
    };
    Skel::list([
        Skel::atom("subversion"),
        Skel::atom(location.repos_root.as_str()),
        location
            .repos_uuid
            .as_ref()
            .map_or_else(|| Skel::list([]), |uuid| Skel::atom(uuid.as_str())),
        Skel::atom(location.path.as_str()),
        Skel::number(location.revision.map_or(-1, |rev| rev.number())),
        Skel::atom(kind),
    ])
}

fn path(path: Option<&RelPathBuf>) -> Skel {
    path.map_or_else(|| Skel::list([]), |path| Skel::atom(path.as_str()))
}

fn text(text: &TextConflict) -> Skel {
    let files = [&text.old, &text.mine, &text.theirs].map(|file| path(file.as_ref()));
    Skel::list([Skel::atom("text"), Skel::list(files)])
}

fn properties(conflict: &PropConflict) -> Skel {
    let values = |values: &Props| {
        // What was written a moment ago can be read.
        Skel::parse(&props::to_skel(values)).unwrap_or_else(|_| Skel::list([]))
    };
    Skel::list([
        Skel::atom("prop"),
        Skel::list(conflict.marker.iter().map(|file| path(Some(file)))),
        Skel::list(conflict.names.iter().map(|name| Skel::atom(name.as_str()))),
        values(&conflict.old),
        values(&conflict.mine),
        values(&conflict.theirs),
    ])
}

fn tree(conflict: &TreeConflict) -> Skel {
    let moved = [&conflict.move_source, &conflict.move_target];
    let moved = moved.into_iter().flatten().map(|moved| path(Some(moved)));
    let what = [
        Skel::atom("tree"),
        Skel::list([]),
        Skel::atom(conflict.reason.as_str()),
        Skel::atom(conflict.action.as_str()),
    ];
    Skel::list(what.into_iter().chain(moved))
}

#[cfg(test)]
mod tests {
    use sylvan_core::{Revnum, Url};

    use super::super::{Action, Operation, Reason};
    use super::*;

    #[test]
    fn conflicts_are_read_as_they_were_written() {
        let relpath = |path: &str| Some(RelPathBuf::new(path).unwrap());
        let left = Location {
            repos_root: Url::parse("file:///r").unwrap(),
            repos_uuid: Some("3f2c8c3e-0000-4000-8000-0123456789ab".to_owned()),
            path: RelPathBuf::new("trunk/a (b)").unwrap(),
            revision: Revnum::new(3),
            kind: NodeKind::File,
        };
        let right = Location {
            repos_uuid: None,
            kind: NodeKind::None,
            ..left.clone()
        };
        let conflict = Conflict {
            operation: Operation::Switch,
            left: Some(left),
            right: Some(right),
            text: Some(TextConflict {
                old: relpath("a.r1"),
                mine: None,
                theirs: relpath("1 .r2"),
            }),
            props: Some(PropConflict {
                marker: relpath("a.prej"),
                names: vec!["x y".to_owned(), "z".to_owned()],
                old: Props::new(),
                mine: [("z".to_owned(), b"\0(".to_vec())].into(),
                theirs: Props::new(),
            }),
            tree: Some(TreeConflict {
                reason: Reason::MovedAway,
                action: Action::Replaced,
                move_source: relpath("a"),
                move_target: relpath("b"),
            }),
        };
        assert_eq!(Conflict::parse(&conflict.to_bytes()).unwrap(), conflict);
        assert!(!conflict.is_empty() && Conflict::default().is_empty());
        assert_eq!(Conflict::default().to_bytes(), b"((none (() ())) ())");
    }
}
