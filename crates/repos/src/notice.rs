//! What long operations on whole repositories tell of their progress.

use sylvan_core::{Error, Result, Revnum};

/// What is done to a node of a dump stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RecordAction {
    /// Its properties or its text change.
    Change,
    /// It is new.
    Add,
    /// It is gone.
    Delete,
    /// It is another than before.
    Replace,
}

impl RecordAction {
    /// Returns the word that a dump stream has.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Change => "change",
            Self::Add => "add",
            Self::Delete => "delete",
            Self::Replace => "replace",
        }
    }

    /// Returns the action of a word.
    pub fn from_word(word: &[u8]) -> Option<Self> {
        [Self::Change, Self::Add, Self::Delete, Self::Replace]
            .into_iter()
            .find(|action| action.as_str().as_bytes() == word)
    }
}

/// What a warning is about. The number is Subversion's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WarningKind {
    /// A copy's source is older than what is dumped.
    OldReference = 0,
    /// Mergeinfo tells of revisions older than what is dumped.
    OldMergeinfo = 1,
    /// A path that should not be in a file system.
    InvalidPath = 2,
    /// Names in a folder that differ only in their representation.
    NameCollision = 3,
    /// Paths in mergeinfo that differ only in their representation.
    MergeinfoCollision = 4,
    /// Mergeinfo that cannot be parsed.
    InvalidMergeinfo = 5,
}

/// A step of a dump, a load or a verification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Something that does not end the operation.
    Warning(WarningKind, String),
    /// A revision was written to a dump stream.
    Dumped(Revnum),
    /// A revision was verified.
    Verified(Revnum),
    /// The indexes from a revision on are being verified; `None`: what is of no revision.
    VerifyingMetadata(Option<Revnum>),
    /// A revision of a dump stream begins.
    LoadStarted(Revnum),
    /// A revision of a dump stream is not wanted.
    LoadSkipped(Revnum),
    /// A node of a dump stream begins.
    LoadNode(RecordAction, String),
    /// The node is a copy.
    LoadCopied,
    /// Carriage returns were removed from the node's mergeinfo.
    LoadNormalizedMergeinfo,
    /// The node is complete.
    LoadNodeDone,
    /// A revision was committed.
    LoadCommitted {
        /// Its number.
        new: Revnum,
        /// That in the stream, if it is another.
        old: Option<Revnum>,
    },
    /// The properties of a revision were set.
    LoadRevprops(Revnum),
}

/// Gets each [`Notice`].
pub type Notify<'n> = &'n mut dyn FnMut(Notice) -> Result<()>;

/// Makes a warning of an error, as operations do that go on.
pub(crate) fn warning(kind: WarningKind, message: impl Into<String>) -> Notice {
    Notice::Warning(kind, message.into())
}

/// The number and the text of an error.
pub(crate) fn numbered(error: &Error) -> String {
    format!("E{:06}", error.code().number())
}
