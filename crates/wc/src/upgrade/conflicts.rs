//! Conflicts as old formats have them, made into what format 30 stores.
//!
//! A tree conflict was a skel `(conflict victim kind operation action reason LEFT RIGHT)`, where
//! LEFT and RIGHT are `(version root revision path kind)`; 1.6 has a list of them at the folder
//! around their victims.

use sylvan_core::skel::Skel;
use sylvan_core::{Error, ErrorCode, NodeKind, RelPathBuf, Result, Revnum, Url};

use crate::conflict::{
    Action, Conflict, Location, Operation, PropConflict, Reason, TextConflict, TreeConflict,
};

/// What the columns of a node said; files are below the working copy's root.
#[derive(Clone, Debug, Default)]
pub(super) struct Old {
    pub(super) old: Option<RelPathBuf>,
    pub(super) mine: Option<RelPathBuf>,
    pub(super) theirs: Option<RelPathBuf>,
    pub(super) prejfile: Option<RelPathBuf>,
    pub(super) tree: Option<OldTree>,
}

/// A tree conflict and the operation that met it.
#[derive(Clone, Debug)]
pub(super) struct OldTree {
    pub(super) victim: String,
    operation: Operation,
    left: Option<Location>,
    right: Option<Location>,
    tree: TreeConflict,
}

impl Old {
    pub(super) fn has_text(&self) -> bool {
        self.old.is_some() || self.mine.is_some() || self.theirs.is_some()
    }

    /// Returns what is stored now, if there is a conflict at all: in the order, and with the marks
    /// for properties that are not known, that Subversion's `upgrade` writes.
    pub(super) fn into_stored(self) -> Result<Option<Vec<u8>>> {
        let Some(conflict) = self.into_conflict() else {
            return Ok(None);
        };
        let skel = Skel::parse(&conflict.to_bytes())?;
        let Some([why, kinds]) = skel.elements() else {
            return Ok(Some(conflict.to_bytes()));
        };
        let kinds = kinds.elements().unwrap_or_default().iter().rev();
        let kinds = kinds.map(|kind| match kind.elements() {
            Some([mark, marker, names, ..]) if mark.is_atom("prop") => {
                let unknown = || Skel::atom("");
                let known = [mark.clone(), marker.clone(), names.clone()];
                Skel::list(known.into_iter().chain([unknown(), unknown(), unknown()]))
            }
            _ => kind.clone(),
        });
        let stored = [why.clone(), Skel::list(kinds)];
        Ok(Some(Skel::list(stored).to_bytes()))
    }

    fn into_conflict(self) -> Option<Conflict> {
        let mut conflict = Conflict {
            operation: Operation::Update,
            ..Conflict::default()
        };
        if self.has_text() {
            conflict.text = Some(TextConflict {
                old: self.old,
                mine: self.mine,
                theirs: self.theirs,
            });
        }
        if self.prejfile.is_some() {
            conflict.props = Some(PropConflict {
                marker: self.prejfile,
                ..PropConflict::default()
            });
        }
        if let Some(tree) = self.tree {
            conflict.operation = match tree.operation {
                Operation::None => Operation::Update,
                operation => operation,
            };
            (conflict.left, conflict.right) = (tree.left, tree.right);
            conflict.tree = Some(tree.tree);
        }
        (!conflict.is_empty()).then_some(conflict)
    }
}

fn corrupt(message: impl Into<String>) -> Error {
    Error::new(ErrorCode::WC_CORRUPT, message)
}

/// Reads the tree conflicts of a folder.
pub(super) fn parse_all(stored: &str) -> Result<Vec<OldTree>> {
    let skel = Skel::parse(stored.as_bytes())?;
    let list = skel
        .elements()
        .ok_or_else(|| corrupt("Error parsing tree conflict skel"))?;
    list.iter().map(parse).collect()
}

/// Reads a tree conflict.
pub(super) fn parse_one(stored: &[u8]) -> Result<OldTree> {
    parse(&Skel::parse(stored)?)
}

fn parse(skel: &Skel) -> Result<OldTree> {
    let invalid = || {
        corrupt(format!(
            "Invalid conflict info '{}' in tree conflict description",
            String::from_utf8_lossy(&skel.to_bytes())
        ))
    };
    let Some([mark, victim, kind, operation, action, reason, left, right]) = skel.elements() else {
        return Err(invalid());
    };
    if !mark.is_atom("conflict") {
        return Err(invalid());
    }
    let word = |skel: &Skel| skel.as_str().map(str::to_owned).ok_or_else(invalid);
    let victim = word(victim)?;
    if victim.is_empty() {
        return Err(corrupt("Empty 'victim' field in tree conflict description"));
    }
    if !matches!(node_kind(&word(kind)?)?, NodeKind::File | NodeKind::Dir) {
        return Err(corrupt(
            "Invalid 'node_kind' field in tree conflict description",
        ));
    }
    Ok(OldTree {
        victim,
        operation: known(
            &word(operation)?,
            [
                Operation::None,
                Operation::Update,
                Operation::Switch,
                Operation::Merge,
            ],
            Operation::as_str,
        )?,
        tree: TreeConflict {
            action: known(
                &word(action)?,
                [
                    Action::Edited,
                    Action::Deleted,
                    Action::Added,
                    Action::Replaced,
                ],
                Action::as_str,
            )?,
            reason: known(
                &word(reason)?,
                [
                    Reason::Edited,
                    Reason::Deleted,
                    Reason::Missing,
                    Reason::Obstructed,
                    Reason::Added,
                    Reason::Replaced,
                    Reason::Unversioned,
                    Reason::MovedAway,
                    Reason::MovedHere,
                ],
                Reason::as_str,
            )?,
            ..TreeConflict::default()
        },
        left: version(left)?,
        right: version(right)?,
    })
}

fn known<T: Copy, const N: usize>(
    word: &str,
    all: [T; N],
    name: impl Fn(T) -> &'static str,
) -> Result<T> {
    all.into_iter()
        .find(|value| name(*value) == word)
        .ok_or_else(unknown)
}

fn unknown() -> Error {
    corrupt("Unknown enumeration value in tree conflict description")
}

fn node_kind(word: &str) -> Result<NodeKind> {
    Ok(match word {
        "none" => NodeKind::None,
        "file" => NodeKind::File,
        "dir" => NodeKind::Dir,
        "" => NodeKind::Unknown,
        _ => return Err(unknown()),
    })
}

fn version(skel: &Skel) -> Result<Option<Location>> {
    let invalid = || corrupt("Invalid version info in tree conflict description");
    let Some([mark, root, revision, path, kind]) = skel.elements() else {
        return Err(invalid());
    };
    if !mark.is_atom("version") {
        return Err(invalid());
    }
    let word = |skel: &Skel| skel.as_str().map(str::to_owned).ok_or_else(invalid);
    let root = word(root)?;
    if root.is_empty() {
        return Ok(None);
    }
    Ok(Some(Location {
        repos_root: Url::parse(&root)?,
        repos_uuid: None,
        path: RelPathBuf::new(word(path)?)?,
        revision: Revnum::parse(&word(revision)?),
        kind: node_kind(&word(kind)?)?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tree_conflicts_of_1_6_become_skels_of_today() {
        let stored = "((conflict foo file merge deleted edited \
                      (version 22 http://tigris.org/repo 1 2 11 path/to/foo 4 file) \
                      (version 0  2 -1 0  0 )))";
        let all = parse_all(stored).unwrap();
        assert_eq!(all[0].victim, "foo");
        let conflict = Old {
            tree: Some(all[0].clone()),
            ..Old::default()
        }
        .into_stored()
        .unwrap()
        .unwrap();
        assert_eq!(
            String::from_utf8(conflict).unwrap(),
            "((merge ((subversion http://tigris.org/repo () path/to/foo 1 2 file) ())) \
             ((tree () edited deleted)))"
        );
        assert!(Old::default().into_stored().unwrap().is_none());
    }

    #[test]
    fn invalid_tree_conflicts_are_refused() {
        for stored in [
            "(x)",
            "((conflict))",
            "((conflict 0  file update deleted edited (version 0  1 1 0  0 ) (version 0  1 1 0  0 )))",
            "((conflict a link update deleted edited (version 0  1 1 0  0 ) (version 0  1 1 0  0 )))",
            "((conflict a file update deleted never (version 0  1 1 0  0 ) (version 0  1 1 0  0 )))",
            "((conflict a file update deleted edited (x) (version 0  1 1 0  0 )))",
        ] {
            let error = parse_all(stored).unwrap_err();
            assert_eq!(error.code(), ErrorCode::WC_CORRUPT, "{stored}");
        }
    }
}
