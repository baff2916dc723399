//! Packs shards: all revisions of one become a single file.
//!
//! The pack file is made beside the shard's folder, in `revs/7.pack`. Then the revision properties
//! are packed likewise (format 6), the file `min-unpacked-rev` names the first revision after the
//! shard, and the folders of the shard go. Until `min-unpacked-rev` is written nobody looks into
//! what is made, so a run that was killed left at most garbage: what stands in the way before, and
//! folders that nobody reads after. The next run removes both.

mod logical;
mod order;
mod physical;

use std::path::Path;

use sylvan_core::{Error, ErrorCode, Result, Revnum};
use sylvan_io::Cancel;
use sylvan_io::file::{self, NewFile};

use crate::fs::FileSystem;
use crate::guard::WriteLock;
use crate::layout;

/// What packing tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PackNotice {
    /// A shard is being packed.
    Start(i64),
    /// A shard is packed.
    End(i64),
    /// There is nothing to pack; the first shard that is not whole, or `None` if there are no
    /// shards at all.
    Nothing(Option<i64>),
}

/// How a file system is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackOptions {
    /// How many bytes may be used for the placement of items, about: where a shard has more, its
    /// items are placed in several parts.
    pub max_memory: usize,
}

impl Default for PackOptions {
    fn default() -> Self {
        Self {
            max_memory: 64 << 20,
        }
    }
}

/// Who is told, and what stops it.
struct Run<'a> {
    options: &'a PackOptions,
    cancel: &'a Cancel,
    notify: &'a mut dyn FnMut(PackNotice) -> Result<()>,
}

impl FileSystem {
    /// Packs all shards that are full. A run that was killed is made good by the next.
    ///
    /// # Errors
    /// [`ErrorCode::UNSUPPORTED_FEATURE`] before format 4, what `notify` returned, and if something
    /// cannot be read or written. What was packed then stays so.
    pub fn pack(
        &self,
        options: &PackOptions,
        cancel: &Cancel,
        notify: &mut dyn FnMut(PackNotice) -> Result<()>,
    ) -> Result<()> {
        let format = self.format();
        if !format.number.has_packing() {
            let number = format.number.number();
            return Err(Error::new(
                ErrorCode::UNSUPPORTED_FEATURE,
                format!("FSFS format ({number}) too old to pack; please upgrade the filesystem."),
            ));
        }
        if format.shard_size.is_none() {
            return notify(PackNotice::Nothing(None));
        }
        let (first, end) = self.shards_to_pack()?;
        if first == end && !self.has_left_overs(first)? {
            return notify(PackNotice::Nothing(Some(first)));
        }
        let run = Run {
            options,
            cancel,
            notify,
        };
        if format.number.has_pack_lock() {
            let _lock = self.pack_lock()?;
            return self.pack_locked(None, run);
        }
        let lock = self.write_lock()?;
        self.pack_locked(Some(&lock), run)
    }

    /// Returns the first shard that is not packed, and the first that is not full.
    fn shards_to_pack(&self) -> Result<(i64, i64)> {
        let size = self.shard_size().cast_signed();
        let first = self.min_unpacked_rev()?.number() / size;
        let end = (self.youngest()?.number() + 1) / size;
        Ok((first, end))
    }

    /// Tells whether a run was killed after it packed the shard before `first`.
    fn has_left_overs(&self, first: i64) -> Result<bool> {
        match self.first_of(first - 1) {
            Some(revision) => file::exists(&self.layout().rev_dir(revision)),
            None => Ok(false),
        }
    }

    /// Returns the first revision of a shard.
    fn first_of(&self, shard: i64) -> Option<Revnum> {
        Revnum::new(shard.checked_mul(self.shard_size().cast_signed())?)
    }

    /// Packs with the lock of packers, or with that of writers.
    fn pack_locked(&self, lock: Option<&WriteLock>, run: Run<'_>) -> Result<()> {
        // Another process may have packed meanwhile.
        let (first, end) = self.shards_to_pack()?;
        self.remove_left_overs(first, run.cancel)?;
        if first == end {
            return (run.notify)(PackNotice::Nothing(Some(first)));
        }
        for shard in first..end {
            run.cancel.check()?;
            (run.notify)(PackNotice::Start(shard))?;
            let revision = self.first_of(shard).unwrap_or_default();
            self.pack_revisions(revision, run.options, run.cancel)?;
            match lock {
                Some(lock) => self.switch_to_packed(lock, revision, run.cancel)?,
                None => self.switch_to_packed(&self.write_lock()?, revision, run.cancel)?,
            }
            (run.notify)(PackNotice::End(shard))?;
        }
        Ok(())
    }

    /// Removes folders of revisions that are packed, which a run that was killed left.
    fn remove_left_overs(&self, first: i64, cancel: &Cancel) -> Result<()> {
        let mut shard = first - 1;
        while self.has_left_overs(shard + 1)? {
            let revision = self.first_of(shard).unwrap_or_default();
            remove_folder(&self.layout().rev_dir(revision), cancel)?;
            shard -= 1;
        }
        Ok(())
    }

    /// Makes the pack file of the shard that begins with a revision.
    fn pack_revisions(&self, first: Revnum, options: &PackOptions, cancel: &Cancel) -> Result<()> {
        let shard_dir = self.layout().rev_dir(first);
        let dir = self.layout().rev_packed_dir(first);
        remove_folder(&dir, cancel)?;
        file::make_dir(&dir)?;
        let pack = file::create_new(&dir.join(layout::PACK), file::MODE_READ_ONLY)?;
        let mut out = PackWriter::new(pack);
        if self.format().is_logical() {
            self.pack_logical(first, options, cancel, &mut out)?;
        } else {
            self.pack_physical(first, &dir, cancel, &mut out)?;
        }
        out.finish(self.options().flush_to_disk)?;
        self.finish_folder(&dir, &shard_dir)
    }

    /// Gives a new folder the permissions of the one it replaces, and brings its entries and its
    /// name to the disk.
    pub(crate) fn finish_folder(&self, dir: &Path, like: &Path) -> Result<()> {
        file::set_mode(dir, file::stat(like)?.mode)?;
        if !self.options().flush_to_disk {
            return Ok(());
        }
        file::sync_dir(dir)?;
        dir.parent().map_or(Ok(()), file::sync_dir)
    }

    /// Lets readers look into the pack file from now on, and removes what it replaces.
    fn switch_to_packed(&self, lock: &WriteLock, first: Revnum, cancel: &Cancel) -> Result<()> {
        let packs_revprops = self.format().number.has_packed_revprops();
        if packs_revprops {
            self.pack_revprops(first, cancel)?;
        }
        let end = first.number() + self.shard_size().cast_signed();
        self.write_min_unpacked(lock, Revnum::new(end).unwrap_or_default())?;
        remove_folder(&self.layout().rev_dir(first), cancel)?;
        if !packs_revprops {
            return Ok(());
        }
        self.remove_packed_revprops(first, cancel)?;
        // An upgrade that was killed may have left those of older shards.
        let mut shard = first.number() / self.shard_size().cast_signed() - 1;
        while shard > 0 {
            let revision = self.first_of(shard).unwrap_or_default();
            if !file::exists(&self.layout().revprops_dir(revision))? {
                break;
            }
            self.remove_packed_revprops(revision, cancel)?;
            shard -= 1;
        }
        Ok(())
    }

    /// Writes the number of the first revision that is not packed.
    pub(crate) fn write_min_unpacked(&self, _lock: &WriteLock, revision: Revnum) -> Result<()> {
        let path = self.layout().file(layout::MIN_UNPACKED_REV);
        let text = format!("{revision}\n");
        self.replace_file(&path, text.as_bytes(), self.options().flush_to_disk)?;
        self.refresh_min_unpacked()
    }
}

/// Removes a folder, if it is there.
pub(crate) fn remove_folder(dir: &Path, cancel: &Cancel) -> Result<()> {
    match file::remove_tree(dir, cancel) {
        Err(error) if crate::revprops::is_missing(&error) => Ok(()),
        done => done,
    }
}

/// How much is collected before it is written.
const BUFFER: usize = 1 << 20;

/// Writes a file in large pieces.
pub(crate) struct PackWriter {
    file: NewFile,
    buffer: Vec<u8>,
    written: u64,
}

impl PackWriter {
    pub(crate) fn new(file: NewFile) -> Self {
        Self {
            file,
            buffer: Vec::new(),
            written: 0,
        }
    }

    /// How long the file is.
    pub(crate) fn len(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= BUFFER {
            self.flush()?;
        }
        Ok(())
    }

    pub(crate) fn push_zeros(&mut self, count: u64) -> Result<()> {
        // Less than a block.
        let count = usize::try_from(count).unwrap_or(BUFFER);
        self.buffer.resize(self.buffer.len() + count, 0);
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        self.file.write_all(&self.buffer)?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Writes what is left and, if `sync`, brings all of it to the disk.
    pub(crate) fn finish(mut self, sync: bool) -> Result<()> {
        self.flush()?;
        if sync { self.file.sync() } else { Ok(()) }
    }
}
