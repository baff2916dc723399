//! Arguments of `--revision` and `--change`.

use sylvan_core::{Revnum, Timestamp};

/// A revision as typed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RevisionSpec {
    /// Nothing was typed.
    #[default]
    Unspecified,
    /// A number.
    Number(Revnum),
    /// The youngest at a moment.
    Date(Timestamp),
    /// The last change at or before BASE.
    Committed,
    /// Just before that.
    Previous,
    /// What the working copy has.
    Base,
    /// What the working copy has, with local changes.
    Working,
    /// The youngest.
    Head,
}
