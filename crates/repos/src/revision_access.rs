//! How much of a revision somebody may read.

use sylvan_core::{Result, Revnum};
use sylvan_fs::change::ChangeKind;

use crate::{ReadAccess, Repos};

/// How much of what a revision changed somebody may read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RevisionAccess {
    /// Everything, or it changed nothing.
    Full,
    /// Some paths.
    Partial,
    /// No path.
    None,
}

impl RevisionAccess {
    /// Tells the access by what was found.
    pub(crate) const fn of(readable: bool, unreadable: bool) -> Self {
        match (readable, unreadable) {
            (true, true) => Self::Partial,
            (false, true) => Self::None,
            _ => Self::Full,
        }
    }
}

impl Repos {
    /// Tells how much of what a revision changed, and of what it copied, may be read.
    ///
    /// # Errors
    /// If the changed paths cannot be read, and what the check gives.
    pub fn revision_access(
        &self,
        revision: Revnum,
        access: ReadAccess<'_>,
    ) -> Result<RevisionAccess> {
        let (mut readable, mut unreadable) = (false, false);
        if !access.is_limited() {
            return Ok(RevisionAccess::Full);
        }
        self.fs().changes(revision, |change| {
            if readable && unreadable {
                return Ok(());
            }
            let mut see = |may_read: bool| {
                readable |= may_read;
                unreadable |= !may_read;
            };
            see(access.may_read(revision, &change.path)?);
            if matches!(change.kind, ChangeKind::Add | ChangeKind::Replace)
                && let Some((source, path)) = change.copyfrom()
                && !access.may_read(source, path)?
            {
                see(false);
            }
            Ok(())
        })?;
        Ok(RevisionAccess::of(readable, unreadable))
    }
}
