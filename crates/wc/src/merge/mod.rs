//! Merging what comes from a repository into local changes.

pub(crate) mod names;
pub(crate) mod props;
pub(crate) mod text;
