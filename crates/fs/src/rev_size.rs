//! How much of the disk a revision takes.

use sylvan_core::{Result, Revnum};

use crate::fs::FileSystem;
use crate::index::ItemKind;

impl FileSystem {
    /// Returns how many bytes a revision takes on the disk: its items and its properties, not its
    /// share of indexes.
    ///
    /// # Errors
    /// [`sylvan_core::ErrorCode::FS_NO_SUCH_REVISION`], and if what is read is damaged.
    pub fn revision_size(&self, revision: Revnum) -> Result<u64> {
        self.ensure_revision_exists(revision)?;
        let file = self.rev_file(revision)?;
        let items = if self.format().is_logical() {
            let p2l = file.p2l()?;
            let mut size = 0u64;
            for page in 0..p2l.header.page_count() {
                let items = file.described_items(&p2l, page)?;
                let of_revision = items
                    .iter()
                    .filter(|item| item.kind != ItemKind::Unused && item.revision == revision);
                size += of_revision.map(|item| item.size).sum::<u64>();
            }
            size
        } else {
            let (start, end) = self.rev_bounds(&file, revision)?;
            end - start
        };
        Ok(items + self.revprops_size(revision)?)
    }
}
