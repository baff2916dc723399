//! Makes a new file system.

use std::path::Path;

use sylvan_core::{Md5, Props, Result, Revnum, Timestamp, hash_dump};
use sylvan_io::file::{self, MODE_FILE};

use crate::conf::{self, Conf};
use crate::format::{Addressing, Format, FormatNumber};
use crate::fs::{FileSystem, Options};
use crate::index::l2p::L2pBuilder;
use crate::index::{
    self, Fnv1a32x4, ITEM_CHANGES, ITEM_FIRST_USER, ITEM_ROOT_NODE, Item, ItemKind,
};
use crate::layout::{self, Layout};
use crate::uuid;

/// What a new file system is like.
#[derive(Clone, Debug)]
pub struct CreateOptions {
    /// The format.
    pub format: FormatNumber,
    /// How many revisions a shard has, where the format has shards; `None` for the linear layout.
    pub shard_size: Option<u32>,
    /// How items are addressed, where the format leaves a choice.
    pub addressing: Addressing,
    /// The UUID; a new one if there is none.
    pub uuid: Option<String>,
}

impl Default for CreateOptions {
    fn default() -> Self {
        Self {
            format: FormatNumber::CURRENT,
            shard_size: Some(1000),
            addressing: Addressing::Logical,
            uuid: None,
        }
    }
}

impl CreateOptions {
    fn to_format(&self) -> Format {
        let shard_size = self.shard_size.filter(|_| self.format.has_layout_option());
        let logical = self.format.has_logical_addressing() && shard_size.is_some();
        Format {
            number: self.format,
            shard_size,
            addressing: if logical {
                self.addressing
            } else {
                Addressing::Physical
            },
        }
    }
}

impl FileSystem {
    /// Makes a file system in the folder `db`, which must not be there yet. `now` is the date of
    /// revision 0.
    ///
    /// # Errors
    /// If something cannot be written; what was written stays then.
    pub fn create(
        db: &Path,
        create: &CreateOptions,
        options: Options,
        now: Timestamp,
    ) -> Result<Self> {
        let format = create.to_format();
        file::make_dir(db)?;
        // New files belong to the group of the folder.
        file::set_mode(db, file::stat(db)?.mode | 0o2000)?;
        put(&db.join(layout::FS_TYPE), b"fsfs\n")?;
        Self::create_tree(db, &format, create.uuid.as_deref())?;
        let number = format.number;
        let layout = Layout::new(db, &format);
        if number.has_config() {
            put(&layout.file(conf::FILE_NAME), conf::TEMPLATE.as_bytes())?;
        }
        let conf = Conf::read(db, number)?;
        let path = layout.rev(Revnum::ZERO);
        put(&path, &revision_zero(&format, &conf)?)?;
        file::set_read_only(&path, true)?;
        let mut props = Props::new();
        props.insert("svn:date".to_owned(), now.to_iso().into_bytes());
        let path = layout.revprops(Revnum::ZERO);
        put(&path, &hash_dump::write(&props))?;
        file::set_read_only(&path, true)?;
        // With this, the file system is ready.
        let path = layout.file(layout::FORMAT);
        put(&path, format.to_text().as_bytes())?;
        file::set_read_only(&path, true)?;
        if options.flush_to_disk {
            file::sync_dir(db)?;
        }
        Self::open_with(db, options)
    }

    /// Makes folders and files of a file system, but for revisions, configuration and `format`.
    /// What is there is replaced.
    pub(crate) fn create_tree(db: &Path, format: &Format, uuid: Option<&str>) -> Result<()> {
        let layout = Layout::new(db, format);
        let number = format.number;
        for dir in [
            layout.rev_dir(Revnum::ZERO),
            layout.revprops_dir(Revnum::ZERO),
            layout.file(layout::TRANSACTIONS),
        ] {
            file::make_dir_all(&dir)?;
        }
        if number.has_protorevs_dir() {
            file::make_dir_all(&layout.file(layout::TXN_PROTOREVS))?;
        }
        let current = if number.has_no_global_ids() {
            "0\n"
        } else {
            "0 1 1\n"
        };
        put(&layout.file(layout::CURRENT), current.as_bytes())?;
        put(&layout.file(layout::WRITE_LOCK), b"")?;
        put(
            &layout.file(layout::UUID),
            new_uuid(uuid, number)?.as_bytes(),
        )?;
        if number.has_packing() {
            put(&layout.file(layout::MIN_UNPACKED_REV), b"0\n")?;
        }
        if number.has_txn_current() {
            put(&layout.file(layout::TXN_CURRENT), b"0\n")?;
            put(&layout.file(layout::TXN_CURRENT_LOCK), b"")?;
        }
        Ok(())
    }
}

fn put(path: &Path, bytes: &[u8]) -> Result<()> {
    file::create_final(path, MODE_FILE)?.write_all(bytes)
}

fn new_uuid(uuid: Option<&str>, number: FormatNumber) -> Result<String> {
    let uuid = match uuid {
        Some(uuid) => uuid.to_owned(),
        None => uuid::random()?,
    };
    Ok(if number.has_instance_id() {
        format!("{uuid}\n{}\n", uuid::random()?)
    } else {
        format!("{uuid}\n")
    })
}

/// Returns the file of revision 0: an empty folder.
fn revision_zero(format: &Format, conf: &Conf) -> Result<Vec<u8>> {
    const REP: &str = "PLAIN\nEND\nENDREP\n";
    let logical = format.is_logical();
    let (id, rep_item) = if logical {
        (ITEM_ROOT_NODE, ITEM_FIRST_USER)
    } else {
        (REP.len() as u64, 0)
    };
    let md5 = Md5::of(b"END\n");
    let node =
        format!("id: 0.0.r0/{id}\ntype: dir\ncount: 0\ntext: 0 {rep_item} 4 4 {md5}\ncpath: /\n\n");
    let mut bytes = format!("{REP}{node}\n").into_bytes();
    let changes = (REP.len() + node.len()) as u64;
    if !logical {
        bytes.extend_from_slice(format!("{id} {changes}\n").as_bytes());
        return Ok(bytes);
    }
    let mut items = Vec::new();
    let mut l2p = L2pBuilder::default();
    let mut at = 0;
    for (kind, number, len) in [
        (ItemKind::DirRep, ITEM_FIRST_USER, REP.len()),
        (ItemKind::NodeRev, ITEM_ROOT_NODE, node.len()),
        (ItemKind::Changes, ITEM_CHANGES, 1),
    ] {
        l2p.add(number, at as u64)?;
        items.push(Item {
            offset: at as u64,
            size: len as u64,
            kind,
            revision: Revnum::ZERO,
            number,
            checksum: Fnv1a32x4::of(&bytes[at..at + len]),
        });
        at += len;
    }
    let end = bytes.len() as u64;
    bytes.extend(index::after_items(l2p, &items, Revnum::ZERO, end, conf));
    Ok(bytes)
}
