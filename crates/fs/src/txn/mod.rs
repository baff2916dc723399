//! Transactions: a tree based on a revision, which is changed and then committed.
//!
//! A transaction is kept in memory, but for the contents of files beyond a few megabytes, which go
//! to its proto-revision file. [`Txn::persist`] writes all of it to the folder `transactions`, for
//! hooks and for other programs; [`Txn::open`] reads it from there.
//!
//! | file in `transactions/11-a.txn` | content |
//! |---|---|
//! | `node.5-12.0` | node-revision of the node 5-12, copy 0 |
//! | `node.5-12.0.children` | entries of a folder that changed |
//! | `node.5-12.0.props` | properties that changed |
//! | `changes` | changed paths, in order of time |
//! | `props` | properties of the revision to be |
//! | `next-ids` | counters for new nodes and copies |
//! | `itemidx`, `index.l2p`, `index.p2l` | items of the proto-revision, with logical addressing |
//! | *digest* | the representation with this SHA-1 digest |

mod changes;
mod commit;
mod disk;
mod merge;
mod proto;
mod rep;
mod tree;

use std::collections::HashMap;

use sylvan_core::{Error, ErrorCode, Props, Result, Revnum, Timestamp};
use sylvan_io::file;

use crate::change::Change;
use crate::dir::Directory;
use crate::fs::FileSystem;
use crate::guard::FileLock;
use crate::id::{IdPart, NodeRevId, Place, TxnId};
use crate::layout;
use crate::node_rev::{NodeRev, Uniquifier};
use crate::text::{base36, corrupt, parse_base36};

pub use commit::Committed;
pub use disk::{TxnView, change_prop};
pub use tree::{OpenText, TextWriter};

use proto::Proto;

/// Transaction properties that are not of the revision.
const FLAG_PROPS: [&str; 3] = ["svn:check-ood", CHECK_LOCKS, CLIENT_DATE];
const CHECK_LOCKS: &str = "svn:check-locks";
const CLIENT_DATE: &str = "svn:client-date";

/// A transaction.
#[derive(Debug)]
pub struct Txn {
    fs: FileSystem,
    id: TxnId,
    /// The revision that the tree is based on; moves when others commit meanwhile.
    base: Revnum,
    root: Key,
    nodes: HashMap<Key, TxnNode>,
    changes: Vec<Change>,
    props: Props,
    next_node: u64,
    next_copy: u64,
    proto: Proto,
    /// Whether there is a folder on the disk.
    on_disk: bool,
    /// Whether others may know of it, so that it stays when this is dropped.
    persisted: bool,
    /// Keeps other processes from writing to a transaction that was opened.
    lock: Option<FileLock>,
    /// Whether its files have begun to become a revision, so that it cannot be committed again.
    spent: bool,
    finished: bool,
}

/// What names a node-revision within a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    node: IdPart,
    copy: IdPart,
}

/// A node-revision that changed.
#[derive(Clone, Debug)]
struct TxnNode {
    rev: NodeRev,
    /// The entries of a folder, if they changed.
    entries: Option<Directory>,
    /// The properties, if they changed.
    props: Option<Props>,
}

impl From<&NodeRevId> for Key {
    fn from(id: &NodeRevId) -> Self {
        Self {
            node: id.node,
            copy: id.copy,
        }
    }
}

impl Txn {
    /// Begins a transaction based on a revision. `now` becomes its date.
    ///
    /// # Errors
    /// [`ErrorCode::FS_NO_SUCH_REVISION`], or if no name can be made.
    pub fn begin(fs: &FileSystem, base: Revnum, now: Timestamp) -> Result<Self> {
        let root_id = fs.root_id(base)?;
        let (id, on_disk) = new_name(fs, base)?;
        let root = fs.node_rev(&root_id)?;
        let mut rev = (*root).clone();
        rev.predecessor = Some(rev.id);
        rev.predecessor_count += 1;
        rev.copyfrom = None;
        rev.fresh_txn_root = true;
        rev.id.place = Place::Txn(id);
        let key = Key::from(&rev.id);
        let mut props = Props::new();
        props.insert("svn:date".to_owned(), now.to_iso().into_bytes());
        let node = TxnNode {
            rev,
            entries: None,
            props: None,
        };
        Ok(Self {
            fs: fs.clone(),
            id,
            base,
            root: key,
            nodes: HashMap::from([(key, node)]),
            changes: Vec::new(),
            props,
            next_node: 0,
            next_copy: 0,
            proto: Proto::new(fs.layout().proto_rev(id)),
            on_disk,
            persisted: false,
            lock: None,
            spent: false,
            finished: false,
        })
    }

    /// Returns its name.
    pub const fn id(&self) -> TxnId {
        self.id
    }

    /// Returns the file system.
    pub const fn fs(&self) -> &FileSystem {
        &self.fs
    }

    /// Returns the revision it is based on.
    pub const fn base_revision(&self) -> Revnum {
        self.base
    }

    /// Returns the properties that the revision will have.
    pub const fn props(&self) -> &Props {
        &self.props
    }

    /// Sets or removes a property of the revision to be.
    pub fn set_prop(&mut self, name: &str, value: Option<Vec<u8>>) {
        match value {
            Some(value) => drop(self.props.insert(name.to_owned(), value)),
            None => drop(self.props.remove(name)),
        }
    }

    /// Lets the date that is set be the revision's, where else it is the time of the commit.
    pub fn keep_date(&mut self) {
        self.set_prop(CLIENT_DATE, Some(b"1".to_vec()));
    }

    /// Lets [`Txn::commit`] refuse changes of paths that others have locked.
    pub fn check_locks(&mut self) {
        self.set_prop(CHECK_LOCKS, Some(b"true".to_vec()));
    }

    /// Takes back all that was done.
    ///
    /// # Errors
    /// If files of it cannot be removed.
    pub fn abort(mut self) -> Result<()> {
        self.finished = true;
        self.lock = None;
        self.proto.discard()?;
        if self.on_disk {
            purge(&self.fs, self.id)?;
        }
        Ok(())
    }

    /// Returns the names of all transactions that are on the disk.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn list(fs: &FileSystem) -> Result<Vec<TxnId>> {
        let mut ids = Vec::new();
        for (name, _) in file::read_dir(&fs.layout().file(layout::TRANSACTIONS))? {
            let id = name.strip_suffix(b".txn").and_then(TxnId::from_bytes);
            ids.extend(id);
        }
        ids.sort();
        Ok(ids)
    }

    fn new_node_id(&mut self) -> IdPart {
        let id = IdPart::in_txn(self.next_node);
        self.next_node += 1;
        id
    }

    fn new_copy_id(&mut self) -> IdPart {
        let id = IdPart::in_txn(self.next_copy);
        self.next_copy += 1;
        id
    }

    /// Makes what tells a node-revision apart from others with the same representation.
    fn new_uniquifier(&mut self) -> Option<Uniquifier> {
        let shares = self.fs.format().number.has_rep_sharing();
        shares.then(|| Uniquifier {
            txn: self.id,
            number: self.new_node_id().number,
        })
    }

    fn txn_node(&self, id: &NodeRevId) -> Result<&TxnNode> {
        self.nodes
            .get(&Key::from(id))
            .ok_or_else(|| crate::fs::dangling(self.fs.path(), id))
    }

    fn txn_node_mut(&mut self, id: &NodeRevId) -> Result<&mut TxnNode> {
        let missing = crate::fs::dangling(self.fs.path(), id);
        self.nodes.get_mut(&Key::from(id)).ok_or(missing)
    }
}

impl Drop for Txn {
    fn drop(&mut self) {
        if !self.finished && !self.persisted {
            // Nobody else can know of it; what cannot be removed is found by `svnadmin rmtxns`.
            let _ = self.proto.discard();
            if self.on_disk {
                let _ = purge(&self.fs, self.id);
            }
        }
    }
}

/// Removes the files of a transaction, also of one that is damaged.
///
/// # Errors
/// If they cannot be removed.
pub fn purge(fs: &FileSystem, id: TxnId) -> Result<()> {
    let dir = fs.layout().txn_dir(id);
    let missing = |error: &Error| error.code().number() == rustix::io::Errno::NOENT.raw_os_error();
    match file::remove_tree(&dir, &sylvan_io::Cancel::new()) {
        Err(error) if missing(&error) => {}
        done => done?,
    }
    if fs.format().number.has_protorevs_dir() {
        file::remove_if_exists(&fs.layout().proto_rev(id))?;
        file::remove_if_exists(&fs.layout().proto_rev_lock(id))?;
    }
    Ok(())
}

/// Makes a name that no transaction ever had; before format 3, that none has. Tells whether the
/// name is taken by a folder.
fn new_name(fs: &FileSystem, base: Revnum) -> Result<(TxnId, bool)> {
    if !fs.format().number.has_txn_current() {
        for number in 1..=99_999 {
            let id = TxnId { base, number };
            match file::make_dir(&fs.layout().txn_dir(id)) {
                Ok(()) => return Ok((id, true)),
                Err(error) if error.code().number() == rustix::io::Errno::EXIST.raw_os_error() => {}
                Err(error) => return Err(error),
            }
        }
        let db = fs.path().display();
        return Err(Error::new(
            ErrorCode::IO_UNIQUE_NAMES_EXHAUSTED,
            format!("Unable to create transaction directory in '{db}' for revision {base}"),
        ));
    }
    let _lock: FileLock = fs.txn_current_lock()?;
    let path = fs.layout().file(layout::TXN_CURRENT);
    let text = crate::fs::read_replaced(&path)?;
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or(&[]);
    let number = parse_base36(line).ok_or_else(|| corrupt("Corrupt 'txn-current' file"))?;
    let next = format!("{}\n", base36(number.wrapping_add(1)));
    // A name that comes again after a power cut has left at most a proto-revision, which is written
    // anew.
    fs.replace_file(&path, next.as_bytes(), false)?;
    Ok((TxnId { base, number }, false))
}
