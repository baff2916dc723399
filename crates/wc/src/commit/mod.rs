//! Commits: what is to be committed, its contents on their way, and the working copy afterwards.
//!
//! [`harvest`] finds the nodes to commit, [`Transmitter`] reads their changes for an editor and puts
//! new texts into the pristine store, [`finish`] makes the committed layers BASE. Whoever drives the
//! editor stands between them.

mod finish;
mod harvest;
mod transmit;

use sylvan_core::{NodeKind, RelPathBuf, Revnum, Url};

use crate::db::statements;

pub use finish::{Committed, Finish, finish};
pub use harvest::{CheckKind, Harvest, HarvestOptions, check_moves, follows_its_source, harvest};
pub use transmit::{Format, SentText, Transmitter};

statements!("commit.sql":
    SELECT_LOCK_TOKENS_BELOW,
    SELECT_NOT_PRESENT_BELOW,
    SELECT_NOT_PRESENT_CHILDREN,
    SELECT_MOVED_SOURCES,
    DELETE_ALL_LAYERS,
    DELETE_SHADOWED,
    DESCENDANTS_TO_BASE,
    UPDATE_ORIGIN,
    APPLY_TO_BASE,
    KEEP_CHANGELIST,
    DELETE_LOCKS_BELOW,
);

/// A node to commit.
#[derive(Clone, Debug)]
pub struct Item {
    /// Where it is below the working copy's root.
    pub path: RelPathBuf,
    /// File or folder.
    pub kind: NodeKind,
    /// The root of its repository.
    pub repos_root: Url,
    /// Where it is, or will be, below that root.
    pub repos_path: RelPathBuf,
    /// The BASE revision, for what is there.
    pub revision: Option<Revnum>,
    /// Where a copy comes from.
    pub copy_from: Option<(RelPathBuf, Revnum)>,
    /// Where it was moved from, in this working copy.
    pub moved_from: Option<RelPathBuf>,
    /// It is added, or copied.
    pub added: bool,
    /// It is deleted; with `added`, replaced.
    pub deleted: bool,
    /// Its text is to be sent.
    pub text: bool,
    /// Its properties differ.
    pub props: bool,
    /// This working copy has a lock on it.
    pub locked: bool,
}

impl Item {
    /// Returns its URL.
    pub fn url(&self) -> Url {
        self.repos_root.join(&self.repos_path)
    }

    /// Tells whether it changes anything in the repository.
    pub const fn is_change(&self) -> bool {
        self.added || self.deleted || self.text || self.props
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn statements_use_indexes() {
        crate::db::tests::check_statements(super::ALL, &[]);
    }
}
