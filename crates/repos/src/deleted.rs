//! When a path was deleted.

use sylvan_core::{RelPath, Result, Revnum};
use sylvan_fs::Root;
use sylvan_fs::id::NodeRelation;

use crate::Repos;

impl Repos {
    /// Returns the first revision after `start` and up to `end` in which what is at a path in
    /// `start` was deleted or replaced; `None` if it was not, or is not there in `start`.
    ///
    /// # Errors
    /// Those of [`Root::node`].
    pub fn deleted_revision(
        &self,
        path: &RelPath,
        start: Revnum,
        end: Revnum,
    ) -> Result<Option<Revnum>> {
        let (mut start, mut end) = (start.min(end), start.max(end));
        let begin = self.fs().revision_root(start)?;
        if begin.find(path)?.is_none() {
            return Ok(None);
        }
        let first = start;
        if self.is_there_still(&begin, first, end, path)? {
            return Ok(None);
        }
        // It is there in `start` and not in `end`, however often it came and went between them.
        loop {
            if end.number() - start.number() <= 1 {
                return Ok(Some(end));
            }
            let number = i64::midpoint(start.number(), end.number());
            let middle = Revnum::new(number).unwrap_or_default();
            if self.is_there_still(&begin, start, middle, path)? {
                start = middle;
            } else {
                end = middle;
            }
        }
    }

    /// Tells whether a path has the node of `begin` in another revision, and not by way of a copy
    /// made after `since`.
    fn is_there_still(
        &self,
        begin: &Root,
        since: Revnum,
        revision: Revnum,
        path: &RelPath,
    ) -> Result<bool> {
        let root = self.fs().revision_root(revision)?;
        if root.find(path)?.is_none() {
            return Ok(false);
        }
        if begin.relation(path, &root, path)? == NodeRelation::Unrelated {
            return Ok(false);
        }
        let copy = root.closest_copy(path)?;
        Ok(copy.is_none_or(|copy| copy.revision <= since))
    }
}
