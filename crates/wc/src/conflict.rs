//! Conflicts as the database has them: a skel of the operation and of what is in conflict.
//!
//! ```text
//! ((operation (LEFT RIGHT)) ((kind …) …))
//! LEFT, RIGHT: () or ("subversion" root uuid|() path revision kind)
//! ("text" (OLD MINE THEIRS)): names of files, each may be ()
//! ("prop" (MARKER?) (name …) old-props mine-props their-props)
//! ("tree" () reason action move-source? move-target?)
//! ```

mod write;

use sylvan_core::skel::{self, Skel};
use sylvan_core::{Dirent, Error, ErrorCode, NodeKind, Props, RelPathBuf, Result, Revnum, Url};

use crate::WorkingCopy;

/// The operation that met a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Operation {
    /// None that is known.
    #[default]
    None,
    /// An update.
    Update,
    /// A switch.
    Switch,
    /// A merge.
    Merge,
}

/// A node in a repository that has to do with a conflict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The repository's root.
    pub repos_root: Url,
    /// Its UUID, if known.
    pub repos_uuid: Option<String>,
    /// The path in it.
    pub path: RelPathBuf,
    /// The revision.
    pub revision: Option<Revnum>,
    /// What the node is; `None` is a legitimate kind here.
    pub kind: NodeKind,
}

/// The files of a text conflict, below the working copy's root.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct TextConflict {
    /// The text before the change that came in.
    pub old: Option<RelPathBuf>,
    /// The local text.
    pub mine: Option<RelPathBuf>,
    /// The text that came in.
    pub theirs: Option<RelPathBuf>,
}

/// The properties in conflict.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct PropConflict {
    /// The file that describes the conflict.
    pub marker: Option<RelPathBuf>,
    /// The names in conflict; empty for a conflict of a very old working copy.
    pub names: Vec<String>,
    /// The properties before the change that came in.
    pub old: Props,
    /// The local properties.
    pub mine: Props,
    /// The properties that came in.
    pub theirs: Props,
}

/// The change that came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Action {
    /// Text or properties changed.
    #[default]
    Edited,
    /// The node was added.
    Added,
    /// The node was deleted.
    Deleted,
    /// The node was replaced.
    Replaced,
}

/// The local state that the change met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Reason {
    /// Local changes.
    #[default]
    Edited,
    /// Something else is in its place.
    Obstructed,
    /// Deleted.
    Deleted,
    /// Missing.
    Missing,
    /// Something unversioned is in its place.
    Unversioned,
    /// Added.
    Added,
    /// Replaced.
    Replaced,
    /// Moved away.
    MovedAway,
    /// Moved here.
    MovedHere,
}

/// A tree conflict.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct TreeConflict {
    /// The local state.
    pub reason: Reason,
    /// The change that came in.
    pub action: Action,
    /// The root of the move's source, for a node that was moved away.
    pub move_source: Option<RelPathBuf>,
    /// The root of the move's target.
    pub move_target: Option<RelPathBuf>,
}

/// All that is in conflict at one node.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Conflict {
    /// What was being done.
    pub operation: Operation,
    /// The node before the change.
    pub left: Option<Location>,
    /// The node after the change.
    pub right: Option<Location>,
    /// A text conflict.
    pub text: Option<TextConflict>,
    /// Property conflicts.
    pub props: Option<PropConflict>,
    /// A tree conflict.
    pub tree: Option<TreeConflict>,
}

/// Which kinds of conflict are not resolved yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Unresolved {
    /// Text.
    pub text: bool,
    /// Properties.
    pub props: bool,
    /// Tree.
    pub tree: bool,
}

impl Unresolved {
    /// Tells whether there is any.
    pub const fn any(self) -> bool {
        self.text || self.props || self.tree
    }
}

impl Operation {
    /// Returns the word in the database and in XML.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Update => "update",
            Self::Switch => "switch",
            Self::Merge => "merge",
        }
    }
}

impl Conflict {
    /// Reads a conflict as stored.
    ///
    /// # Errors
    /// `E160027` for what is no skel, `E200003` for a skel that is no conflict.
    pub fn parse(stored: &[u8]) -> Result<Self> {
        let skel = Skel::parse(stored)?;
        let (why, what) = match skel.elements() {
            Some([why, what, ..]) => (list(why)?, list(what)?),
            _ => return Err(incomplete("Not a conflict skel")),
        };
        let (operation, origins) = match why {
            [operation, origins, ..] => (operation, origins.elements().unwrap_or_default()),
            _ => return Err(incomplete("Not a completed conflict skel")),
        };
        let mut conflict = Self {
            operation: match operation.as_str() {
                Some("update") => Operation::Update,
                Some("switch") => Operation::Switch,
                Some("merge") => Operation::Merge,
                _ => Operation::None,
            },
            left: origins.first().map(location).transpose()?.flatten(),
            right: origins.get(1).map(location).transpose()?.flatten(),
            ..Self::default()
        };
        for kind in what {
            match list(kind)? {
                [name, rest @ ..] if name.is_atom("text") && conflict.text.is_none() => {
                    conflict.text = Some(text(rest)?);
                }
                [name, rest @ ..] if name.is_atom("prop") && conflict.props.is_none() => {
                    conflict.props = Some(props(rest)?);
                }
                [name, rest @ ..] if name.is_atom("tree") && conflict.tree.is_none() => {
                    conflict.tree = Some(tree(rest)?);
                }
                _ => {}
            }
        }
        Ok(conflict)
    }

    /// Tells what is not resolved yet. Text and property conflicts count as resolved when the user
    /// has removed their files.
    pub fn unresolved(&self, wc: &WorkingCopy) -> Unresolved {
        self.unresolved_below(wc.root())
    }

    /// As [`Conflict::unresolved`], in the working copy at `root`.
    pub(crate) fn unresolved_below(&self, root: &Dirent) -> Unresolved {
        let is_file = |path: &RelPathBuf| {
            std::fs::symlink_metadata(root.join_relpath(path).as_path())
                .is_ok_and(|found| found.is_file() || found.is_symlink())
        };
        let text = self.text.as_ref().is_some_and(|text| {
            let mut files = [&text.mine, &text.theirs, &text.old]
                .into_iter()
                .flatten()
                .peekable();
            files.peek().is_none() || files.any(is_file)
        });
        let props = self
            .props
            .as_ref()
            .is_some_and(|props| props.marker.as_ref().is_none_or(is_file));
        Unresolved {
            text,
            props,
            tree: self.tree.is_some(),
        }
    }
}

fn location(skel: &Skel) -> Result<Option<Location>> {
    let Some([source, root, uuid, path, revision, kind, ..]) = skel.elements() else {
        return Ok(None);
    };
    if !source.is_atom("subversion") {
        return Ok(None);
    }
    Ok(Some(Location {
        repos_root: Url::parse(word(root)?)?,
        repos_uuid: uuid.as_str().map(str::to_owned),
        path: RelPathBuf::new(word(path)?)?,
        revision: revision.as_number().and_then(Revnum::new),
        kind: NodeKind::from_word(word(kind)?),
    }))
}

fn text(rest: &[Skel]) -> Result<TextConflict> {
    let Some([old, mine, theirs, ..]) = rest.first().and_then(Skel::elements) else {
        return Err(incomplete("Not a text conflict skel"));
    };
    Ok(TextConflict {
        old: path(old)?,
        mine: path(mine)?,
        theirs: path(theirs)?,
    })
}

fn props(rest: &[Skel]) -> Result<PropConflict> {
    let [markers, names, old, mine, theirs, ..] = rest else {
        return Err(incomplete("Not a property conflict skel"));
    };
    let values = |skel: &Skel| match skel {
        Skel::Atom(_) => Ok(Props::new()),
        Skel::List(_) => skel::props_from_skel(&skel.to_bytes()),
    };
    let names = list(names)?
        .iter()
        .map(|name| word(name).map(str::to_owned));
    Ok(PropConflict {
        marker: match list(markers)?.first() {
            Some(marker) => path(marker)?,
            None => None,
        },
        names: names.collect::<Result<_>>()?,
        old: values(old)?,
        mine: values(mine)?,
        theirs: values(theirs)?,
    })
}

fn tree(rest: &[Skel]) -> Result<TreeConflict> {
    let [_markers, reason, action, moved @ ..] = rest else {
        return Err(incomplete("Not a tree conflict skel"));
    };
    let reason = Reason::from_word(word(reason)?);
    let moved = match reason {
        Reason::MovedAway => moved,
        _ => &[],
    };
    Ok(TreeConflict {
        reason,
        action: Action::from_word(word(action)?),
        move_source: moved.first().map(path).transpose()?.flatten(),
        move_target: moved.get(1).map(path).transpose()?.flatten(),
    })
}

impl Reason {
    /// Returns the word in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Edited => "edited",
            Self::Obstructed => "obstructed",
            Self::Deleted => "deleted",
            Self::Missing => "missing",
            Self::Unversioned => "unversioned",
            Self::Added => "added",
            Self::Replaced => "replaced",
            Self::MovedAway => "moved-away",
            Self::MovedHere => "moved-here",
        }
    }

    /// Returns the word in XML.
    pub const fn xml_word(self) -> &'static str {
        match self {
            Self::Edited => "edit",
            Self::Obstructed => "obstruction",
            Self::Deleted => "delete",
            Self::Added => "add",
            Self::Replaced => "replace",
            other => other.as_str(),
        }
    }

    /// Unknown words count as edited.
    fn from_word(word: &str) -> Self {
        [
            Self::Obstructed,
            Self::Deleted,
            Self::Missing,
            Self::Unversioned,
            Self::Added,
            Self::Replaced,
            Self::MovedAway,
            Self::MovedHere,
        ]
        .into_iter()
        .find(|reason| reason.as_str() == word)
        .unwrap_or_default()
    }
}

impl Action {
    /// Returns the word in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Edited => "edited",
            Self::Added => "added",
            Self::Deleted => "deleted",
            Self::Replaced => "replaced",
        }
    }

    /// Returns the word in XML.
    pub const fn xml_word(self) -> &'static str {
        match self {
            Self::Edited => "edit",
            Self::Added => "add",
            Self::Deleted => "delete",
            Self::Replaced => "replace",
        }
    }

    /// Unknown words count as edited.
    fn from_word(word: &str) -> Self {
        [Self::Added, Self::Deleted, Self::Replaced]
            .into_iter()
            .find(|action| action.as_str() == word)
            .unwrap_or_default()
    }
}

fn list(skel: &Skel) -> Result<&[Skel]> {
    skel.elements()
        .ok_or_else(|| incomplete("Not a conflict skel"))
}

fn word(skel: &Skel) -> Result<&str> {
    skel.as_str()
        .ok_or_else(|| incomplete("Not a conflict skel"))
}

fn path(skel: &Skel) -> Result<Option<RelPathBuf>> {
    match skel {
        Skel::Atom(_) => RelPathBuf::new(word(skel)?).map(Some),
        Skel::List(_) => Ok(None),
    }
}

fn incomplete(what: &str) -> Error {
    Error::new(ErrorCode::INCOMPLETE_DATA, what)
}
