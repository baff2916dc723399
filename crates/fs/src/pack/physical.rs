//! Pack files with physical addressing: the revision files one after the other, and a manifest of
//! their offsets.

use std::path::Path;

use sylvan_core::{Result, Revnum};
use sylvan_io::Cancel;
use sylvan_io::file::{self, MODE_READ_ONLY};

use super::PackWriter;
use crate::cache::Cache;
use crate::error::no_such_revision;
use crate::fs::FileSystem;
use crate::layout;
use crate::rev_file::{BLOCK, RevFile};

impl FileSystem {
    pub(super) fn pack_physical(
        &self,
        first: Revnum,
        dir: &Path,
        cancel: &Cancel,
        out: &mut PackWriter,
    ) -> Result<()> {
        let mut manifest = String::new();
        let cache = Cache::new(0);
        for number in first.number()..first.number() + self.shard_size().cast_signed() {
            cancel.check()?;
            manifest.push_str(&format!("{}\n", out.len()));
            let revision = Revnum::new(number).unwrap_or_default();
            let path = self.layout().rev(revision);
            let file = RevFile::open(path, revision, false, &cache)?
                .ok_or_else(|| no_such_revision(revision))?;
            copy(&file, 0, file.len(), out)?;
        }
        let path = dir.join(layout::MANIFEST);
        let file = file::create_new(&path, MODE_READ_ONLY)?;
        file.write_all(manifest.as_bytes())?;
        if self.options().flush_to_disk {
            file.sync()?;
        }
        Ok(())
    }
}

/// Copies a part of a revision file.
pub(super) fn copy(file: &RevFile, start: u64, len: u64, out: &mut PackWriter) -> Result<()> {
    let mut at = start;
    let mut left = len;
    while left > 0 {
        // Not more than the constant.
        let count = left.min(4 * BLOCK as u64) as usize;
        let piece = if count < BLOCK {
            file.read(at, count)?
        } else {
            file.read_once(at, count)?
        };
        out.push(&piece)?;
        at += count as u64;
        left -= count as u64;
    }
    Ok(())
}
