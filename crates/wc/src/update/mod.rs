//! Bringing nodes from a repository into the working copy: checkout, update, switch.

use std::collections::{BTreeMap, BTreeSet};

use sylvan_core::{Depth, NodeKind, Props, RelPath, RelPathBuf, Result, Revnum, Url};
use sylvan_delta::Editor;
use sylvan_io::{Cancel, Progress};

use crate::WorkingCopy;
use crate::lock::WcLock;
use crate::notify::NotifyFn;

/// Properties that a node inherits from above the working copy: the parent's path below the
/// repository root and its inheritable properties, root first.
pub type InheritedProps = Vec<(RelPathBuf, Props)>;

/// What is to be updated, and how.
#[derive(Clone, Debug, Default)]
pub struct UpdateOptions {
    /// The child of the anchor that is updated; empty for the anchor itself.
    pub target: String,
    /// The revision that the target will have. A drive's `set_target_revision` overrides it.
    pub rev: Option<Revnum>,
    /// How deep; `None` is what the working copy has.
    pub depth: Option<Depth>,
    /// Whether `depth` becomes what the working copy has (checkout, `--set-depth`).
    pub depth_is_sticky: bool,
    /// Whether unversioned nodes in the way are taken over (`--force`).
    pub allow_unversioned_obstructions: bool,
    /// Whether local additions in the way become local modifications.
    pub adds_as_modification: bool,
    /// Where the target is switched to; `None` is an update.
    pub switch_url: Option<Url>,
    /// The inherited properties of the working copy's root and of switched folders, by their path
    /// in the working copy.
    pub inherited_props: BTreeMap<RelPathBuf, InheritedProps>,
    /// What is in the repository folders that are updated less deep than they are (path below the
    /// repository root; names and kinds), so that new children are remembered as not present.
    pub repository_children: BTreeMap<RelPathBuf, BTreeMap<String, NodeKind>>,
}

/// What an update did.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The revision that is there now.
    pub rev: Option<Revnum>,
    /// Whether anything but revision numbers changed.
    pub edited: bool,
    /// Nodes that were left out.
    pub skipped: BTreeSet<RelPathBuf>,
}

/// Lets `drive` change the nodes below `anchor` by an editor. When it returns, all is on disk and
/// recorded; after an error, what arrived completely is, and the rest is marked incomplete so that
/// the same update again brings it.
///
/// # Errors
/// Those of `drive` and of the editor: `E155000` for obstructions, `E155016` and `E200014` for
/// wrong checksums, `E200015` when cancelled, and those of the database and the file system.
#[expect(
    clippy::too_many_arguments,
    reason = "each is something else the operation needs"
)]
pub fn run(
    wc: &mut WorkingCopy,
    lock: &WcLock,
    anchor: &RelPath,
    options: &UpdateOptions,
    cancel: &Cancel,
    progress: &Progress,
    notify: &mut NotifyFn<'_>,
    drive: impl FnOnce(&mut dyn Editor) -> Result<()>,
) -> Result<Outcome> {
    let _ = (wc, lock, anchor, options, cancel, progress, notify, drive);
    todo!()
}
