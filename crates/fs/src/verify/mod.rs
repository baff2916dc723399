//! Checks what is stored.
//!
//! [`FileSystem::verify_file`] checks indexes and checksums of items,
//! [`FileSystem::verify_rep_cache`] the cache of representations; [`FileSystem::verify_revision`]
//! checks the nodes of a revision and reads their contents. What is in the caches is not read again,
//! so a file system to be verified is opened with a new [`Cache`](crate::Cache).

mod index;
mod tree;

use sylvan_core::{ErrorCode, Result, Revnum, Timestamp};
use sylvan_io::{Cancel, file};

use crate::fs::FileSystem;
use crate::layout;
use crate::node_rev::Representation;

impl FileSystem {
    /// Checks all that is about revisions from `start` to `end` but nodes: indexes, items,
    /// `rep-cache.db`, revision properties.
    ///
    /// # Errors
    /// The first thing that is wrong: [`ErrorCode::FS_INDEX_INCONSISTENT`],
    /// [`ErrorCode::FS_INDEX_CORRUPTION`], [`ErrorCode::FS_CORRUPT`],
    /// [`ErrorCode::CHECKSUM_MISMATCH`], ….
    pub fn verify_metadata(&self, start: Revnum, end: Revnum, cancel: &Cancel) -> Result<()> {
        for first in self.verified_files(start, end)? {
            self.verify_file(first, cancel)?;
        }
        for number in start.number()..=end.number() {
            cancel.check()?;
            self.verify_revprops(Revnum::new(number).unwrap_or_default())?;
        }
        if self.has_rep_cache()? {
            self.verify_rep_cache(start, end, cancel, |_| Ok(()))?;
        }
        Ok(())
    }

    /// Returns a revision of each file that [`FileSystem::verify_file`] is to check for revisions
    /// from `start` to `end`; none before format 7, when there are no indexes.
    ///
    /// # Errors
    /// [`ErrorCode::FS_NO_SUCH_REVISION`].
    pub fn verified_files(&self, start: Revnum, end: Revnum) -> Result<Vec<Revnum>> {
        self.ensure_revision_exists(start)?;
        self.ensure_revision_exists(end)?;
        let mut files = Vec::new();
        let mut next = start;
        while self.format().is_logical() && next <= end {
            files.push(next);
            next = if self.is_packed(next) {
                let size = self.shard_size().cast_signed();
                let first = self.shard_start(next).number();
                Revnum::new(first.saturating_add(size)).unwrap_or_default()
            } else {
                next.next()
            };
        }
        Ok(files)
    }

    /// Checks the indexes, and the items that they describe, of the file that has a revision.
    ///
    /// # Errors
    /// As [`FileSystem::verify_metadata`].
    pub fn verify_file(&self, revision: Revnum, cancel: &Cancel) -> Result<()> {
        cancel.check()?;
        self.verify_indexes(revision, cancel).map(drop)
    }

    /// Tells whether there is a cache of representations to be checked.
    ///
    /// # Errors
    /// If that cannot be found out.
    pub fn has_rep_cache(&self) -> Result<bool> {
        let path = self.layout().file(layout::REP_CACHE);
        Ok(self.format().number.has_rep_sharing() && file::exists(&path)?)
    }

    /// Checks that the properties of a revision can be read, and that its date is one.
    ///
    /// # Errors
    /// Those of [`FileSystem::revprops`]; [`ErrorCode::BAD_DATE`].
    pub fn verify_revprops(&self, revision: Revnum) -> Result<()> {
        let props = self.revprops(revision)?;
        if let Some(date) = props.get("svn:date") {
            Timestamp::parse_iso(&String::from_utf8_lossy(date))?;
        }
        Ok(())
    }

    /// Checks that each representation that may be shared is where it is said to be, and gives it
    /// to `checked`; and, if all are asked for, that none is newer than the youngest revision.
    ///
    /// # Errors
    /// [`ErrorCode::FS_CORRUPT`], those of indexes, and what `checked` returned.
    pub fn verify_rep_cache(
        &self,
        start: Revnum,
        end: Revnum,
        cancel: &Cancel,
        mut checked: impl FnMut(Revnum) -> Result<()>,
    ) -> Result<()> {
        let check = |rep: &Representation| {
            cancel.check()?;
            let revision = rep.revision.unwrap_or_default();
            self.ensure_revision_exists(revision).map_err(|error| {
                let sha1 = rep.sha1.map_or_else(String::new, |sha1| sha1.to_string());
                let text = format!("Checksum '{sha1}' in rep-cache is beyond HEAD");
                error.wrap(ErrorCode::FS_CORRUPT, text)
            })?;
            self.check_rep(rep)?;
            checked(revision)
        };
        self.flush_rep_cache()?;
        self.with_rep_cache(|cache| {
            if start == Revnum::ZERO
                && let Some(newest) = cache.newest()?
            {
                self.ensure_revision_exists(newest)?;
            }
            cache.each_in_range(start, end, check)
        })
    }
}
