//! What differs at one path, on its way from who finds it to who shows it.

use sylvan_core::{NodeKind, Props, RelPath, RelPathBuf, Result, Revnum};

use super::text::Text;

/// What differs at one path.
#[derive(Debug)]
pub struct Change {
    /// The path below what is compared.
    pub path: RelPathBuf,
    /// File or folder.
    pub kind: NodeKind,
    /// What was there; `None` for an addition.
    pub left: Option<Side>,
    /// What is there; `None` for a deletion.
    pub right: Option<Side>,
    /// What an addition was copied from.
    pub copy: Option<Copied>,
    /// Whether the text of a file that both sides have differs.
    pub text: bool,
    /// The changelist of a file of the working copy.
    pub changelist: Option<String>,
}

/// A node on one side.
#[derive(Debug, Default)]
pub struct Side {
    /// The revision; `None` is the working copy.
    pub rev: Option<Revnum>,
    /// The properties.
    pub props: Props,
    /// A file's content, where it is needed.
    pub text: Option<Text>,
}

/// What a node was copied from.
#[derive(Debug)]
pub struct Copied {
    /// The source, with its revision.
    pub source: Side,
    /// Where it is below the repository's root.
    pub repos_path: RelPathBuf,
    /// Where it was moved from, if it was, below what is compared.
    pub moved_from: Option<RelPathBuf>,
}

/// Who is told what differs.
pub(crate) trait Receiver: Send {
    /// Tells whether contents are wanted.
    fn wants_texts(&self) -> bool;

    /// Takes a change.
    fn take(&mut self, change: Change) -> Result<()>;
}

/// Where whoever finds changes puts them.
pub(crate) trait Take {
    /// Tells whether contents are wanted.
    fn wants_texts(&self) -> bool;

    /// Tells whether a file is one that is shown.
    fn wants(&self, path: &RelPath, changelist: Option<&str>) -> bool;

    /// Takes a change.
    fn take(&mut self, change: Change) -> Result<()>;
}

/// What is done to changes on their way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    /// Only what is below this, and named from there.
    pub(crate) prefix: Option<RelPathBuf>,
    /// Left and right are exchanged.
    pub(crate) reverse: bool,
    /// Only files that are members of one of these, if there are any.
    pub(crate) changelists: Vec<String>,
}

/// Hands changes on.
pub(crate) struct Pipe<'a> {
    filter: Filter,
    receiver: &'a mut dyn Receiver,
}

impl<'a> Pipe<'a> {
    pub(crate) const fn new(filter: Filter, receiver: &'a mut dyn Receiver) -> Self {
        Self { filter, receiver }
    }

    /// Tells whether something is in the part that is shown.
    pub(crate) fn shows(&self, path: &RelPath) -> bool {
        let prefix = self.filter.prefix.as_ref();
        prefix.is_none_or(|prefix| path.starts_with(prefix))
    }

    fn is_member(&self, changelist: Option<&str>) -> bool {
        let wanted = &self.filter.changelists;
        wanted.is_empty()
            || changelist.is_some_and(|name| wanted.iter().any(|wanted| wanted == name))
    }
}

impl Take for Pipe<'_> {
    fn wants_texts(&self) -> bool {
        self.receiver.wants_texts()
    }

    fn wants(&self, path: &RelPath, changelist: Option<&str>) -> bool {
        self.shows(path) && self.is_member(changelist)
    }

    fn take(&mut self, mut change: Change) -> Result<()> {
        if let Some(prefix) = &self.filter.prefix {
            match change.path.strip_prefix(prefix) {
                Some(path) => change.path = path.to_owned(),
                None => return Ok(()),
            }
        }
        if change.kind == NodeKind::File && !self.is_member(change.changelist.as_deref()) {
            return Ok(());
        }
        if self.filter.reverse {
            std::mem::swap(&mut change.left, &mut change.right);
            change.copy = None;
        }
        self.receiver.take(change)
    }
}

impl Change {
    /// Makes a change of something that both sides have.
    pub(crate) const fn changed(path: RelPathBuf, kind: NodeKind, left: Side, right: Side) -> Self {
        Self {
            path,
            kind,
            left: Some(left),
            right: Some(right),
            copy: None,
            text: false,
            changelist: None,
        }
    }

    /// Makes a deletion.
    pub(crate) const fn deleted(path: RelPathBuf, kind: NodeKind, left: Side) -> Self {
        Self {
            path,
            kind,
            left: Some(left),
            right: None,
            copy: None,
            text: false,
            changelist: None,
        }
    }

    /// Makes an addition.
    pub(crate) const fn added(path: RelPathBuf, kind: NodeKind, right: Side) -> Self {
        Self {
            path,
            kind,
            left: None,
            right: Some(right),
            copy: None,
            text: false,
            changelist: None,
        }
    }
}
