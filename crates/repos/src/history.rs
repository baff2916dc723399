//! The revisions in which a node changed.

use std::ops::ControlFlow;

use sylvan_core::{RelPath, Result, Revnum};
use sylvan_fs::tree::Location;

use crate::{ReadAccess, Repos};

/// Receives the places at which a node changed; a break ends the walk.
pub type HistoryReceiver<'a> = dyn FnMut(&Location) -> Result<ControlFlow<()>> + 'a;

impl Repos {
    /// Gives the places at which a node changed to `receive`, from the younger of two revisions down
    /// to the older. Ends where the node was copied, unless `cross_copies`, and at what may not be
    /// read.
    ///
    /// # Errors
    /// `AUTHZ_UNREADABLE` if the first place may not be read, those of
    /// [`Root::history`](sylvan_fs::Root::history), and what `receive` gives.
    pub fn history(
        &self,
        path: &RelPath,
        (start, end): (Revnum, Revnum),
        cross_copies: bool,
        access: ReadAccess<'_>,
        receive: &mut HistoryReceiver<'_>,
    ) -> Result<()> {
        let (oldest, youngest) = (start.min(end), start.max(end));
        let root = self.fs().revision_root(youngest)?;
        access.ensure(youngest, path)?;
        let mut history = root.history(path)?;
        while let Some(location) = history.previous(cross_copies)? {
            if location.revision < oldest || !access.may_read(location.revision, &location.path)? {
                break;
            }
            if receive(&location)?.is_break() {
                break;
            }
        }
        Ok(())
    }
}
