//! What can be told of a file system.

use std::path::PathBuf;

use sylvan_core::{Result, Revnum};

use crate::conf;
use crate::format::Format;
use crate::fs::FileSystem;

/// What can be told of a file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Info {
    /// Its format.
    pub format: Format,
    /// The oldest minor version of Subversion 1 that reads it.
    pub minor_version: u32,
    /// The first revision that is not packed.
    pub min_unpacked: Revnum,
    /// The youngest revision.
    pub youngest: Revnum,
    /// Its configuration files.
    pub config_files: Vec<PathBuf>,
}

impl Info {
    /// Returns how many shards are packed, and how many are full.
    pub fn packed_shards(&self) -> (i64, i64) {
        let Some(size) = self.format.shard_size.map(i64::from) else {
            return (0, 0);
        };
        let full = (self.youngest.number() + 1) / size;
        (self.min_unpacked.number() / size, full)
    }
}

impl FileSystem {
    /// Tells what is known of the file system.
    ///
    /// # Errors
    /// If `current` or `min-unpacked-rev` cannot be read.
    pub fn info(&self) -> Result<Info> {
        Ok(Info {
            format: *self.format(),
            minor_version: self.format().number.minor_version(),
            min_unpacked: self.min_unpacked_rev()?,
            youngest: self.youngest()?,
            config_files: vec![self.layout().file(conf::FILE_NAME)],
        })
    }
}
