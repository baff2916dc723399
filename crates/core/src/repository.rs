//! What repositories tell of their nodes and revisions: the same whether they are on this machine or
//! behind a network.

use crate::{NodeKind, Props, RelPath, RelPathBuf, Result, Revnum, Timestamp};

/// What is known of one node of a repository at a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirEntry {
    /// File or folder.
    pub kind: NodeKind,
    /// The size of a file in bytes; `None` for folders or where it was not asked for.
    pub size: Option<u64>,
    /// Whether it has properties.
    pub has_props: bool,
    /// The revision that changed it last.
    pub created_rev: Option<Revnum>,
    /// When that was.
    pub time: Option<Timestamp>,
    /// Who did it.
    pub last_author: Option<String>,
}

/// Which fields of [`DirEntry`] a caller needs; servers save work for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirEntryFields {
    /// [`DirEntry::kind`].
    pub kind: bool,
    /// [`DirEntry::size`].
    pub size: bool,
    /// [`DirEntry::has_props`].
    pub has_props: bool,
    /// [`DirEntry::created_rev`].
    pub created_rev: bool,
    /// [`DirEntry::time`].
    pub time: bool,
    /// [`DirEntry::last_author`].
    pub last_author: bool,
}

impl DirEntryFields {
    /// Everything.
    pub const ALL: Self = Self {
        kind: true,
        size: true,
        has_props: true,
        created_rev: true,
        time: true,
        last_author: true,
    };
    /// The kind alone.
    pub const KIND: Self = Self {
        kind: true,
        size: false,
        has_props: false,
        created_rev: false,
        time: false,
        last_author: false,
    };
}

/// A path that a revision changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedPath {
    /// `A`, `D`, `M` or `R`.
    pub action: char,
    /// Path and revision of the copy source.
    pub copy_from: Option<(String, Revnum)>,
    /// The node's kind, if the server says.
    pub kind: NodeKind,
    /// Whether the text changed, if the server says.
    pub text_modified: Option<bool>,
    /// Whether properties changed, if the server says.
    pub props_modified: Option<bool>,
}

/// One revision of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogEntry {
    /// The revision; `None` ends the children of a merged revision.
    pub rev: Option<Revnum>,
    /// The asked-for revision properties.
    pub revprops: Props,
    /// Changed paths with a leading `/`, in order of path, if asked for.
    pub changed_paths: Option<Vec<(String, ChangedPath)>>,
    /// Whether revisions merged by this one follow.
    pub has_children: bool,
    /// Whether merged revisions are subtracted (reverse merge).
    pub subtractive_merge: bool,
}

/// What a log shows.
#[derive(Clone, Debug)]
pub struct LogOptions {
    /// Paths below the session's URL, or below the root where there is no session; empty means the
    /// URL or root itself.
    pub paths: Vec<RelPathBuf>,
    /// First revision shown; `None` is the youngest.
    pub start: Option<Revnum>,
    /// Last revision shown; `None` is the youngest.
    pub end: Option<Revnum>,
    /// Most revisions shown; 0 is no limit.
    pub limit: u32,
    /// Whether changed paths are wanted.
    pub discover_changed_paths: bool,
    /// Whether history stops at copies.
    pub strict_node_history: bool,
    /// Whether revisions merged are shown too.
    pub include_merged_revisions: bool,
    /// Revision properties wanted; `None` means all.
    pub revprops: Option<Vec<String>>,
}

/// Receives log entries in order.
pub type LogReceiver<'a> = dyn FnMut(LogEntry) -> Result<()> + 'a;

/// Receives the entries of a listing, in the server's order: path below the listed one (empty for
/// itself).
pub type ListReceiver<'a> = dyn FnMut(&RelPath, &DirEntry) -> Result<()> + 'a;

/// Part of a node's history at one location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocationSegment {
    /// Oldest revision of the segment.
    pub start: Revnum,
    /// Youngest revision of the segment.
    pub end: Revnum,
    /// Path below the repository root; `None` in a gap.
    pub path: Option<RelPathBuf>,
}

/// The properties that one parent hands down: its path below the repository root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InheritedProps {
    /// The parent's path below the repository root.
    pub path: RelPathBuf,
    /// Its properties.
    pub props: Props,
}

/// What is told of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitInfo {
    /// The new revision.
    pub rev: Revnum,
    /// Its date, as its property has it.
    pub date: Option<String>,
    /// Its author.
    pub author: Option<String>,
    /// What failed after it was made.
    pub post_commit_error: Option<String>,
}
