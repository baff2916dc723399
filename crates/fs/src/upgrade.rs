//! Brings a file system to the newest format.

use std::path::Path;

use sylvan_core::{Error, ErrorCode, Result, Revnum};
use sylvan_io::Cancel;
use sylvan_io::file::{self, MODE_FILE};

use crate::conf;
use crate::format::{Format, FormatNumber};
use crate::fs::{FileSystem, Options};
use crate::layout;

/// What an upgrade tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UpgradeNotice {
    /// The revision properties of a shard were packed.
    PackedRevprops(i64),
    /// Revision properties of a shard that are packed were removed.
    RemovedRevprops(i64),
    /// The format was changed.
    FormatBumped(FormatNumber),
}

impl FileSystem {
    /// Brings the file system in the folder `db` to the newest format; layout and addressing stay.
    ///
    /// Whatever is new is made before the file `format` changes, and what is obsolete is removed
    /// after. One that was killed is begun anew.
    ///
    /// # Errors
    /// Those of [`FileSystem::open`], what `notify` returned, and if something cannot be written.
    pub fn upgrade(
        db: &Path,
        options: Options,
        cancel: &Cancel,
        notify: &mut dyn FnMut(UpgradeNotice) -> Result<()>,
    ) -> Result<()> {
        let opened = Self::open_with(db, options.clone())?;
        let _locks = opened.lock_all()?;
        // Somebody else may have upgraded it meanwhile.
        let format = Format::read(db)?;
        let fs = Self::open_as(db, format, options)?;
        fs.ensure_conf()?;
        if format.number == FormatNumber::CURRENT {
            return Ok(());
        }
        fs.add_files(format.number)?;
        let packs_revprops = format.number.has_packing() && !format.number.has_packed_revprops();
        let shards = match format.shard_size.filter(|_| packs_revprops) {
            Some(size) => fs.min_unpacked_rev()?.number() / i64::from(size),
            None => 0,
        };
        for shard in 0..shards {
            fs.pack_revprops(fs.first_of_shard(shard), cancel)?;
            notify(UpgradeNotice::PackedRevprops(shard))?;
        }
        let new = Format {
            number: FormatNumber::CURRENT,
            ..format
        };
        // A new instance, so that nobody's cache counts any more.
        fs.write_uuid(new.number, Some(fs.uuid()), None)?;
        fs.write_format(&new)?;
        notify(UpgradeNotice::FormatBumped(new.number))?;
        for shard in 0..shards {
            fs.remove_packed_revprops(fs.first_of_shard(shard), cancel)?;
            notify(UpgradeNotice::RemovedRevprops(shard))?;
        }
        Ok(())
    }

    fn first_of_shard(&self, shard: i64) -> Revnum {
        Revnum::new(shard * self.shard_size().cast_signed()).unwrap_or_default()
    }

    fn ensure_conf(&self) -> Result<()> {
        let path = self.layout().file(conf::FILE_NAME);
        match file::lstat_if_exists(&path)? {
            None => file::create_new(&path, MODE_FILE)?.write_all(conf::TEMPLATE.as_bytes()),
            Some(_) if file::stat(&path)?.is_file() => Ok(()),
            Some(_) => Err(Error::new(
                ErrorCode::FS_GENERAL,
                format!(
                    "'{}' is not a regular file. Please move it out of the way and try again",
                    path.display()
                ),
            )),
        }
    }

    /// Makes the files that formats after `number` have.
    fn add_files(&self, number: FormatNumber) -> Result<()> {
        // What is there is of an upgrade that did not come to its end.
        let put = |name: &str, bytes: &[u8]| self.put_atomically(name, bytes, MODE_FILE);
        if !number.has_txn_current() {
            put(layout::TXN_CURRENT, b"0\n")?;
            put(layout::TXN_CURRENT_LOCK, b"")?;
        }
        if !number.has_protorevs_dir() {
            file::make_dir_all(&self.layout().file(layout::TXN_PROTOREVS))?;
        }
        if !number.has_packing() {
            put(layout::MIN_UNPACKED_REV, b"0\n")?;
        }
        Ok(())
    }

    /// Replaces the file `format`.
    fn write_format(&self, format: &Format) -> Result<()> {
        let text = format.to_text();
        self.put_atomically(layout::FORMAT, text.as_bytes(), file::MODE_READ_ONLY)
    }

    /// Makes or replaces a file of the folder; the umask counts.
    fn put_atomically(&self, name: &str, bytes: &[u8], mode: u32) -> Result<()> {
        let path = self.layout().file(name);
        let sync = self.options().flush_to_disk;
        let write = || {
            let mut temp = file::TempFile::with_mode(self.path(), mode)?;
            temp.write_all(bytes)?;
            if let Some(file) = temp.file().filter(|_| sync) {
                file.sync()?;
            }
            temp.persist(&path)?;
            if sync {
                file::sync_dir(self.path())
            } else {
                Ok(())
            }
        };
        write().map_err(|error: Error| {
            error.context(format!("Can't write '{}' atomically", path.display()))
        })
    }
}
