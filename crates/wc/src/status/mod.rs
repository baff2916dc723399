//! The status of nodes: what differs between BASE, the local changes, and the disk.
//!
//! [`walk`] reads the database a few folders ahead while several threads look at the disk, and
//! reports node by node in the order of Subversion: a folder, then its children by name, each child
//! folder with all below it.

mod assemble;
mod disk;
mod ignores;
mod text;
mod walk;

use sylvan_core::{Depth, Lock, NodeKind, RelPathBuf, Result, Revnum, Timestamp};

use std::sync::Arc;

use crate::db::Repository;
pub(crate) use assemble::lock;
pub use walk::{local_changes, walk};

/// One word about a node, its text or its properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum StatusKind {
    /// Nothing is there.
    #[default]
    None,
    /// Not under version control.
    Unversioned,
    /// Unchanged.
    Normal,
    /// Scheduled for addition.
    Added,
    /// Under version control, but gone from the disk.
    Missing,
    /// Scheduled for deletion.
    Deleted,
    /// Deleted and added again.
    Replaced,
    /// Changed.
    Modified,
    /// In conflict.
    Conflicted,
    /// Not under version control and ignored.
    Ignored,
    /// Something of another kind is in its place.
    Obstructed,
    /// The place of an external, or a folder above one.
    External,
    /// Not wholly fetched.
    Incomplete,
}

impl StatusKind {
    /// Returns the word in `svn status --xml`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Unversioned => "unversioned",
            Self::Normal => "normal",
            Self::Added => "added",
            Self::Missing => "missing",
            Self::Deleted => "deleted",
            Self::Replaced => "replaced",
            Self::Modified => "modified",
            Self::Conflicted => "conflicted",
            Self::Ignored => "ignored",
            Self::Obstructed => "obstructed",
            Self::External => "external",
            Self::Incomplete => "incomplete",
        }
    }
}

/// What is on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum OnDisk {
    /// Nothing.
    #[default]
    Nothing,
    /// A regular file.
    File,
    /// A folder.
    Dir,
    /// A symlink, wherever it leads.
    Symlink,
    /// A device, socket or pipe.
    Other,
}

/// The status of one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// What the node is in the working copy; unknown if it is not under version control.
    pub kind: NodeKind,
    /// What is on disk.
    pub on_disk: OnDisk,
    /// The size of the file on disk, where it was asked for.
    pub size: Option<u64>,
    /// It is under version control.
    pub versioned: bool,
    /// The first column: the node as a whole.
    pub node: StatusKind,
    /// A file's text.
    pub text: StatusKind,
    /// The second column: the properties.
    pub props: StatusKind,
    /// Some conflict is not resolved.
    pub conflicted: bool,
    /// The conflict is a tree conflict.
    pub tree_conflicted: bool,
    /// A folder that an operation has locked.
    pub wc_locked: bool,
    /// It comes with history, or is deleted in a tree that does.
    pub copied: bool,
    /// It comes from another place than its folder implies.
    pub switched: bool,
    /// It is a file external.
    pub file_external: bool,
    /// The BASE revision; `None` for what has no BASE or is covered by a copy.
    pub revision: Option<Revnum>,
    /// The revision of the last change; of a deleted node that of BASE.
    pub changed_rev: Option<Revnum>,
    /// The time of the last change.
    pub changed_date: Option<Timestamp>,
    /// The author of the last change.
    pub changed_author: Option<String>,
    /// The repository it belongs to.
    pub repository: Option<Arc<Repository>>,
    /// Where it is there, or will be.
    pub repos_path: Option<RelPathBuf>,
    /// The lock whose token this working copy has.
    pub lock: Option<Lock>,
    /// The changelist.
    pub changelist: Option<String>,
    /// How deep a folder is.
    pub depth: Option<Depth>,
    /// Where the root of a move was before.
    pub moved_from: Option<RelPathBuf>,
    /// Where it was moved to.
    pub moved_to: Option<RelPathBuf>,
}

impl Status {
    /// The status of a path where nothing is.
    pub const fn nothing() -> Self {
        Self {
            kind: NodeKind::Unknown,
            on_disk: OnDisk::Nothing,
            size: None,
            versioned: false,
            node: StatusKind::None,
            text: StatusKind::None,
            props: StatusKind::None,
            conflicted: false,
            tree_conflicted: false,
            wc_locked: false,
            copied: false,
            switched: false,
            file_external: false,
            revision: None,
            changed_rev: None,
            changed_date: None,
            changed_author: None,
            repository: None,
            repos_path: None,
            lock: None,
            changelist: None,
            depth: None,
            moved_from: None,
            moved_to: None,
        }
    }
}

/// Tells whether a node in this state is one that users do not ask for: unchanged, or deleted with
/// the folder above it.
///
/// # Errors
/// That of `is_op_root`, which tells whether a change begins at the node.
pub fn is_dull(node: StatusKind, is_op_root: impl FnOnce() -> Result<bool>) -> Result<bool> {
    Ok(match node {
        StatusKind::None | StatusKind::Normal => true,
        StatusKind::Deleted => !is_op_root()?,
        _ => false,
    })
}

/// What to report.
#[derive(Clone, Debug, Default)]
pub struct StatusOptions {
    /// How deep to go; `None` as deep as there is something.
    pub depth: Option<Depth>,
    /// Report unchanged nodes too.
    pub all: bool,
    /// Report ignored nodes too.
    pub no_ignore: bool,
    /// The patterns of the user's config (`global-ignores`).
    pub global_ignores: Vec<String>,
}

impl StatusOptions {
    /// The patterns that apply where the config says nothing.
    pub const DEFAULT_IGNORES: &str = "*.o *.lo *.la *.al .libs *.so *.so.[0-9]* *.a *.pyc *.pyo __pycache__ \
         *.rej *~ #*# .#* .*.swp .DS_Store [Tt]humbs.db";
}

#[cfg(test)]
mod tests;
