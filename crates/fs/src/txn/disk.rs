//! Transactions on the disk, as Subversion has them.

use std::ops::Deref;
use std::path::PathBuf;

use sylvan_core::{Error, ErrorCode, NodeKind, Props, Result, Revnum, Sha1, hash_dump};
use sylvan_io::file::{self, MODE_FILE};

use super::proto::Proto;
use super::{CLIENT_DATE, Key, Txn, TxnNode};
use crate::change::Change;
use crate::dir::Directory;
use crate::fs::FileSystem;
use crate::guard::FileLock;
use crate::id::{Place, TxnId};
use crate::index::{Item, ItemKind};
use crate::node_rev::{NodeRev, Representation};
use crate::text::{base36, corrupt, parse_base36, parse_number};

const PROPS: &str = "props";
const CHANGES: &str = "changes";
const NEXT_IDS: &str = "next-ids";
const ITEM_INDEX: &str = "itemidx";
const L2P: &str = "index.l2p";
const P2L: &str = "index.p2l";

/// A transaction that can only be read.
#[derive(Debug)]
pub struct TxnView(Txn);

impl Deref for TxnView {
    type Target = Txn;

    fn deref(&self) -> &Txn {
        &self.0
    }
}

fn ensure_exists(fs: &FileSystem, id: TxnId) -> Result<()> {
    if file::exists(&fs.layout().txn_dir(id))? {
        return Ok(());
    }
    Err(no_such_txn(id))
}

impl Txn {
    fn file(&self, name: &str) -> PathBuf {
        self.fs.layout().txn_dir(self.id).join(name)
    }

    fn put(&self, name: &str, bytes: &[u8]) -> Result<()> {
        file::create_final(&self.file(name), MODE_FILE)?.write_all(bytes)
    }

    /// Writes all of the transaction to the disk, where hooks and other programs find it, and where
    /// it stays when this is dropped.
    ///
    /// # Errors
    /// If something cannot be written.
    pub fn persist(&mut self) -> Result<()> {
        let dir = self.fs.layout().txn_dir(self.id);
        match file::make_dir(&dir) {
            Err(error) if error.code().number() == rustix::io::Errno::EXIST.raw_os_error() => {}
            done => done?,
        }
        (self.on_disk, self.persisted) = (true, true);
        if self.lock.is_none() {
            file::create_final(&self.fs.layout().proto_rev_lock(self.id), MODE_FILE)?;
        }
        self.proto.flush()?;
        let format = self.fs.format().number;
        for node in self.nodes.values() {
            let name = format!("node.{}.{}", node.rev.id.node, node.rev.id.copy);
            let mut text = Vec::new();
            node.rev.write(format, &mut text);
            self.put(&name, &text)?;
            if let Some(entries) = &node.entries {
                self.put(&format!("{name}.children"), &entries.to_bytes())?;
            }
            if let Some(props) = &node.props {
                self.put(&format!("{name}.props"), &hash_dump::write(props))?;
            }
        }
        let mut changes = Vec::new();
        for change in &self.changes {
            let mergeinfo = format.has_mergeinfo_in_changes();
            change.write(format.has_kind_in_changes(), mergeinfo, &mut changes);
        }
        self.put(CHANGES, &changes)?;
        self.put(PROPS, &hash_dump::write(&self.props))?;
        let ids = format!("{} {}\n", base36(self.next_node), base36(self.next_copy));
        self.put(NEXT_IDS, ids.as_bytes())?;
        if self.fs.format().is_logical() {
            self.put(ITEM_INDEX, self.proto.next_item.to_string().as_bytes())?;
            self.put(L2P, &l2p_records(&self.proto.l2p))?;
            self.put(P2L, &p2l_records(&self.proto.items))?;
        }
        for (sha1, rep) in &self.proto.by_sha1 {
            self.put(&sha1.to_string(), rep.to_text(format).as_bytes())?;
        }
        Ok(())
    }

    /// Reads the properties of the revision to be again, which a hook may have changed on the disk.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn reload_props(&mut self) -> Result<()> {
        if self.on_disk {
            self.props = read_props(&self.file(PROPS))?;
        }
        Ok(())
    }

    /// Opens a transaction that is on the disk.
    ///
    /// # Errors
    /// [`ErrorCode::FS_NO_SUCH_TRANSACTION`]; [`ErrorCode::FS_REP_BEING_WRITTEN`] if another
    /// process writes to it; [`ErrorCode::FS_CORRUPT`].
    pub fn open(fs: &FileSystem, id: TxnId) -> Result<Self> {
        ensure_exists(fs, id)?;
        let lock = FileLock::try_now(&fs.layout().proto_rev_lock(id))?;
        if lock.is_none() {
            return Err(Error::new(
                ErrorCode::FS_REP_BEING_WRITTEN,
                format!(
                    "Cannot write to the prototype revision file of transaction '{id}' because a \
                     previous representation is currently being written by another process"
                ),
            ));
        }
        Self::load(fs, id, lock)
    }

    /// Opens a transaction that is on the disk to be read alone, also while another process writes
    /// to it.
    ///
    /// # Errors
    /// [`ErrorCode::FS_NO_SUCH_TRANSACTION`]; [`ErrorCode::FS_CORRUPT`].
    pub fn view(fs: &FileSystem, id: TxnId) -> Result<TxnView> {
        ensure_exists(fs, id)?;
        Self::load(fs, id, None).map(TxnView)
    }

    fn load(fs: &FileSystem, id: TxnId, lock: Option<FileLock>) -> Result<Self> {
        let dir = fs.layout().txn_dir(id);
        let mut txn = Self {
            fs: fs.clone(),
            id,
            base: id.base,
            root: Key {
                node: crate::id::IdPart::ROOT,
                copy: crate::id::IdPart::ROOT,
            },
            nodes: std::collections::HashMap::new(),
            changes: Vec::new(),
            props: read_props(&dir.join(PROPS))?,
            next_node: 0,
            next_copy: 0,
            proto: Proto::new(fs.layout().proto_rev(id)),
            on_disk: true,
            persisted: true,
            lock,
            spent: false,
            finished: false,
        };
        txn.read_nodes()?;
        txn.read_counters()?;
        let root = txn.root_rev()?;
        // Merging moves the base, which the name does not tell.
        if let Some(base) = root.predecessor.and_then(|base| base.revision()) {
            txn.base = base;
        }
        Ok(txn)
    }

    fn read_nodes(&mut self) -> Result<()> {
        let dir = self.fs.layout().txn_dir(self.id);
        for (name, _) in file::read_dir(&dir)? {
            let Some(name) = std::str::from_utf8(&name).ok() else {
                continue;
            };
            if let Ok(sha1) = Sha1::parse_hex(name) {
                let rep = Representation::parse(&file::read(&dir.join(name))?)?;
                self.proto.by_sha1.insert(sha1, rep);
            }
            // `node.5-12.0`, but not what stands beside it.
            if name.starts_with("node.") && name.matches('.').count() == 2 {
                self.read_node(&dir.join(name))?;
            }
        }
        Ok(())
    }

    /// Names the node of a file that is damaged.
    fn damaged_node(&self, error: Error, path: &std::path::Path) -> Error {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let node = name.strip_prefix("node.").unwrap_or(&name);
        error.context(format!("Corrupt node-revision '{node}.t{}'", self.id))
    }

    fn read_node(&mut self, path: &std::path::Path) -> Result<()> {
        let text = file::read(path)?;
        let (rev, _) = NodeRev::parse(&text, false)
            .map_err(|error| self.damaged_node(error, path))?
            .ok_or_else(|| corrupt(format!("Corrupt node-revision in '{}'", path.display())))?;
        if rev.id.place != Place::Txn(self.id) {
            return Err(corrupt(format!(
                "Corrupt node-revision in '{}'",
                path.display()
            )));
        }
        let beside = |suffix: &str| self.fs.layout().txn_node(self.id, &rev.id, suffix);
        let in_txn =
            |rep: &Option<Representation>| rep.as_ref().is_some_and(Representation::is_in_txn);
        let mut entries = None;
        if rev.kind == NodeKind::Dir && in_txn(&rev.text) {
            let text = file::read(&beside(".children"))?;
            entries = Some(Directory::parse(&text, true, &rev.id)?);
        }
        let changed_props = in_txn(&rev.props).then(|| read_props(&beside(".props")));
        let props = changed_props.transpose()?;
        let node = TxnNode {
            rev,
            entries,
            props,
        };
        self.nodes.insert(Key::from(&node.rev.id), node);
        Ok(())
    }

    fn read_counters(&mut self) -> Result<()> {
        let ids = file::read(&self.file(NEXT_IDS))?;
        // Subversion writes a NUL behind the line.
        let line = ids.split(|byte| *byte == b'\n').next().unwrap_or(&ids);
        let mut words = line.split(|byte| *byte == b' ').map(parse_base36);
        let (Some(Some(node)), Some(Some(copy))) = (words.next(), words.next()) else {
            return Err(corrupt("next-id file corrupt"));
        };
        (self.next_node, self.next_copy) = (node, copy);
        let changes = file::read(&self.file(CHANGES))?;
        let mut rest = &changes[..];
        while let Some(change) = Change::take(&mut rest)? {
            self.changes.push(change);
        }
        let mut len = file::stat(&self.fs.layout().proto_rev(self.id))?.size;
        if self.fs.format().is_logical() {
            if let Some(text) = file::read_if_exists(&self.file(ITEM_INDEX))? {
                self.proto.next_item =
                    parse_number(&text).ok_or_else(|| corrupt("Unexpected itemidx file length"))?;
            }
            let l2p = file::read_if_exists(&self.file(L2P))?.unwrap_or_default();
            self.proto.l2p = parse_l2p(&l2p)?;
            let p2l = file::read_if_exists(&self.file(P2L))?.unwrap_or_default();
            self.proto.items = parse_p2l(&p2l)?;
            // A writer that died left bytes that no item has.
            let end = self.proto.items.last().map_or(0, Item::end);
            if end > len {
                return Err(corrupt("Truncated protorev file detected"));
            }
            len = end;
        }
        if self.lock.is_none() {
            self.proto.look_at(len);
            return Ok(());
        }
        self.proto.resume(len)
    }
}

/// Sets or removes a property of a transaction that is on the disk, whoever works on it.
///
/// # Errors
/// [`ErrorCode::FS_NO_SUCH_TRANSACTION`], and if the properties cannot be read or written.
pub fn change_prop(fs: &FileSystem, id: TxnId, name: &str, value: Option<&[u8]>) -> Result<()> {
    let dir = fs.layout().txn_dir(id);
    if !file::exists(&dir)? {
        return Err(no_such_txn(id));
    }
    let path = dir.join(PROPS);
    let mut props = read_props(&path)?;
    if name == "svn:date" && props.contains_key(CLIENT_DATE) {
        props.insert(CLIENT_DATE.to_owned(), b"1".to_vec());
    }
    match value {
        Some(value) => drop(props.insert(name.to_owned(), value.to_vec())),
        None => drop(props.remove(name)),
    }
    file::write_atomic(&path, &hash_dump::write(&props), MODE_FILE)
}

fn no_such_txn(id: TxnId) -> Error {
    Error::new(
        ErrorCode::FS_NO_SUCH_TRANSACTION,
        format!("No such transaction '{id}'"),
    )
}

fn read_props(path: &std::path::Path) -> Result<Props> {
    let text = file::read(path)?;
    hash_dump::read(&text)
        .map_err(|error| error.context(format!("malformed property list in '{}'", path.display())))
}

/// Writes pairs of offset plus one and number, 64 bits each.
fn l2p_records(l2p: &[(u64, u64)]) -> Vec<u8> {
    let pairs = l2p
        .iter()
        .flat_map(|(number, offset)| [offset + 1, *number]);
    pairs.flat_map(u64::to_le_bytes).collect()
}

fn parse_l2p(bytes: &[u8]) -> Result<Vec<(u64, u64)>> {
    let (records, rest) = bytes.as_chunks::<16>();
    if !rest.is_empty() {
        return Err(corrupt("Truncated l2p proto index"));
    }
    let pair = |record: &[u8; 16]| {
        let (numbers, _) = record.as_chunks::<8>();
        let [offset, number] = [0, 1].map(|at| u64::from_le_bytes(numbers[at]));
        Some((number, offset.checked_sub(1)?))
    };
    // A record of zeros begins a revision.
    Ok(records.iter().filter_map(pair).collect())
}

/// Writes six numbers of 64 bits for each item; the revision, plus one, is not known: zero.
fn p2l_records(items: &[Item]) -> Vec<u8> {
    let numbers = items.iter().flat_map(|item| {
        [
            item.offset,
            item.size,
            item.kind.number(),
            u64::from(item.checksum),
            0,
            item.number,
        ]
    });
    numbers.flat_map(u64::to_le_bytes).collect()
}

fn parse_p2l(bytes: &[u8]) -> Result<Vec<Item>> {
    let (records, rest) = bytes.as_chunks::<48>();
    if !rest.is_empty() {
        return Err(corrupt("Truncated p2l proto index"));
    }
    let item = |record: &[u8; 48]| {
        let (numbers, _) = record.as_chunks::<8>();
        let at = |at: usize| u64::from_le_bytes(numbers[at]);
        Some(Item {
            offset: at(0),
            size: at(1),
            kind: ItemKind::from_number(at(2))?,
            checksum: u32::try_from(at(3)).ok()?,
            revision: Revnum::ZERO,
            number: at(5),
        })
    };
    let items: Option<Vec<Item>> = records.iter().map(item).collect();
    items.ok_or_else(|| corrupt("Invalid item type in P2L index"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proto_indexes_round_trip() {
        let l2p = vec![(3, 0), (4, 17), (2, 1 << 40)];
        assert_eq!(parse_l2p(&l2p_records(&l2p)).unwrap(), l2p);
        let items = vec![Item {
            offset: 5,
            size: 7,
            kind: ItemKind::FileProps,
            revision: Revnum::ZERO,
            number: 9,
            checksum: 0xffff_0000,
        }];
        assert_eq!(parse_p2l(&p2l_records(&items)).unwrap(), items);
        assert!(parse_p2l(&[0; 47]).is_err());
        assert!(parse_l2p(&[0; 15]).is_err());
        assert_eq!(parse_l2p(&[0; 16]).unwrap(), []);
    }
}
