//! Finds out anew what the youngest revision is.

use std::collections::HashSet;
use std::path::Path;

use sylvan_core::{ErrorCode, NodeKind, Result, Revnum};
use sylvan_io::Cancel;
use sylvan_io::file::{self, MODE_FILE};

use crate::format::Format;
use crate::fs::{Current, FileSystem, Options, parse_current};
use crate::layout;
use crate::text::corrupt;

impl FileSystem {
    /// Writes the file `current` of the file system in the folder `db` anew, from the revisions
    /// that are there, and makes caches forget what is younger.
    ///
    /// # Errors
    /// [`ErrorCode::FS_CORRUPT`] if `current` names a revision that is not there, or the youngest
    /// has no properties.
    pub fn recover(db: &Path, options: Options, cancel: &Cancel) -> Result<()> {
        ensure_current(db)?;
        let fs = Self::open_with(db, options)?;
        let locks = fs.lock_all()?;
        // It may be a plain copy, which should not be taken for its source.
        fs.write_uuid(fs.format().number, Some(fs.uuid()), None)?;
        let largest = fs.largest_revision()?;
        let known = fs.youngest()?;
        if known > largest {
            return Err(corrupt(format!(
                "Expected current rev to be <= {largest} but found {known}"
            )));
        }
        fs.note_youngest(largest);
        let mut current = Current {
            youngest: largest,
            next_node: 0,
            next_copy: 0,
        };
        if !fs.format().number.has_no_global_ids() {
            for number in 0..=largest.number() {
                let revision = Revnum::new(number).unwrap_or_default();
                fs.find_largest_ids(revision, &mut current, cancel)?;
            }
            current.next_node = current.next_node.saturating_add(1);
            current.next_copy = current.next_copy.saturating_add(1);
        }
        fs.ensure_revprops(largest)?;
        if fs.format().number.has_rep_sharing()
            && file::exists(&fs.layout().file(layout::REP_CACHE))?
        {
            fs.with_rep_cache(|cache| cache.remove_younger_than(largest))?;
        }
        fs.write_current(&locks.write, current)
    }

    /// Finds the last of the revisions that are there.
    fn largest_revision(&self) -> Result<Revnum> {
        let is_there = |number: i64| {
            let revision = Revnum::new(number).unwrap_or_default();
            let path = if self.is_packed(revision) {
                self.layout().rev_packed(revision, layout::PACK)
            } else {
                self.layout().rev(revision)
            };
            file::exists(&path)
        };
        let mut right = 1i64;
        while is_there(right)? {
            let Some(next) = right.checked_mul(2) else {
                break;
            };
            right = next;
        }
        let mut left = right / 2;
        while left + 1 < right {
            let middle = left + (right - left) / 2;
            if is_there(middle)? {
                left = middle;
            } else {
                right = middle;
            }
        }
        Ok(Revnum::new(left).unwrap_or_default())
    }

    /// Raises the counters of formats 1 and 2 to what a revision uses.
    fn find_largest_ids(
        &self,
        revision: Revnum,
        current: &mut Current,
        cancel: &Cancel,
    ) -> Result<()> {
        let mut folders = vec![self.root_id(revision)?];
        // In a damaged file a folder may be in itself.
        let mut seen = HashSet::new();
        while let Some(id) = folders.pop() {
            if !seen.insert(id) {
                continue;
            }
            cancel.check()?;
            let rev = self.node_rev(&id)?;
            if rev.kind != NodeKind::Dir {
                return Err(corrupt("Recovery encountered a non-directory node"));
            }
            // What did not change here was looked at before.
            if rev.text.is_none_or(|rep| rep.revision != Some(revision)) {
                continue;
            }
            for entry in self.directory(&rev)?.entries() {
                if entry.id.revision() != Some(revision) {
                    continue;
                }
                current.next_node = current.next_node.max(entry.id.node.number);
                current.next_copy = current.next_copy.max(entry.id.copy.number);
                if entry.kind == NodeKind::Dir {
                    folders.push(entry.id);
                }
            }
        }
        Ok(())
    }

    fn ensure_revprops(&self, revision: Revnum) -> Result<()> {
        match file::lstat_if_exists(&self.layout().revprops(revision))? {
            Some(meta) if meta.is_file() => Ok(()),
            Some(_) => Err(corrupt(format!(
                "Revision {revision} has a non-file where its revprops file should be"
            ))),
            None if self.is_packed_revprop(revision) => {
                self.read_revprop_pack(revision).map(drop).map_err(|error| {
                    error.wrap(
                        ErrorCode::FS_CORRUPT,
                        format!(
                            "Revision {revision} has a revs file but the revprops file is \
                             inaccessible"
                        ),
                    )
                })
            }
            None => Err(corrupt(format!(
                "Revision {revision} has a revs file but no revprops file"
            ))),
        }
    }
}

/// Makes sure that there is a file `current` that can be read.
fn ensure_current(db: &Path) -> Result<()> {
    let format = Format::read(db)?;
    let counters = !format.number.has_no_global_ids();
    let path = db.join(layout::CURRENT);
    let text = file::read_if_exists(&path).ok().flatten();
    if text.is_some_and(|text| parse_current(&text, counters).is_ok()) {
        return Ok(());
    }
    file::remove_if_exists(&path)?;
    let text: &[u8] = if counters { b"0 1 1\n" } else { b"0\n" };
    file::create_new(&path, MODE_FILE)?.write_all(text)
}
