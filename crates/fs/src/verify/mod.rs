//! Checks what is stored.
//!
//! [`FileSystem::verify`] checks indexes, checksums of items, the cache of representations and
//! revision properties; [`FileSystem::verify_revision`] checks the nodes of a revision and reads
//! their contents. What is in the caches is not read again, so a file system to be verified is
//! opened with a new [`Cache`](crate::Cache).

mod index;
mod tree;

use sylvan_core::{ErrorCode, Result, Revnum, Timestamp};
use sylvan_io::{Cancel, file};

use crate::fs::FileSystem;
use crate::layout;
use crate::node_rev::Representation;

impl FileSystem {
    /// Checks what is about revisions from `start` to `end`: the indexes and the items that they
    /// describe, `rep-cache.db`, and revision properties. `progress` is told each revision at which
    /// a file begins.
    ///
    /// # Errors
    /// The first thing that is wrong: [`ErrorCode::FS_INDEX_INCONSISTENT`],
    /// [`ErrorCode::FS_INDEX_CORRUPTION`], [`ErrorCode::FS_CORRUPT`],
    /// [`ErrorCode::CHECKSUM_MISMATCH`], ….
    pub fn verify(
        &self,
        start: Revnum,
        end: Revnum,
        cancel: &Cancel,
        mut progress: impl FnMut(Revnum),
    ) -> Result<()> {
        self.ensure_revision_exists(start)?;
        self.ensure_revision_exists(end)?;
        if self.format().is_logical() {
            let mut revision = start;
            while revision <= end {
                cancel.check()?;
                progress(revision);
                revision = self.verify_indexes(revision, cancel)?;
            }
        }
        for number in start.number()..=end.number() {
            cancel.check()?;
            self.verify_revprops(Revnum::new(number).unwrap_or_default())?;
        }
        self.verify_rep_cache(start, end, cancel)
    }

    /// Checks that the properties of a revision can be read, and that its date is one.
    fn verify_revprops(&self, revision: Revnum) -> Result<()> {
        let props = self.revprops(revision)?;
        if let Some(date) = props.get("svn:date") {
            Timestamp::parse_iso(&String::from_utf8_lossy(date))?;
        }
        Ok(())
    }

    /// Checks that each representation that may be shared is where it is said to be.
    fn verify_rep_cache(&self, start: Revnum, end: Revnum, cancel: &Cancel) -> Result<()> {
        let path = self.layout().file(layout::REP_CACHE);
        if !self.format().number.has_rep_sharing() || !file::exists(&path)? {
            return Ok(());
        }
        let check = |rep: &Representation| {
            cancel.check()?;
            let revision = rep.revision.unwrap_or_default();
            self.ensure_revision_exists(revision).map_err(|error| {
                let sha1 = rep.sha1.map_or_else(String::new, |sha1| sha1.to_string());
                let text = format!("Checksum '{sha1}' in rep-cache is beyond HEAD");
                error.wrap(ErrorCode::FS_CORRUPT, text)
            })?;
            self.check_rep(rep)
        };
        self.with_rep_cache(|cache| cache.each_in_range(start, end, check))
    }
}
