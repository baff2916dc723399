//! Names in the folder `db`.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use sylvan_core::Revnum;

use crate::format::{Format, FormatNumber};
use crate::id::{IdPart, NodeRevId, TxnId};
use crate::text::base36;

pub(crate) const FORMAT: &str = "format";
pub(crate) const FS_TYPE: &str = "fs-type";
pub(crate) const UUID: &str = "uuid";
pub(crate) const CURRENT: &str = "current";
pub(crate) const WRITE_LOCK: &str = "write-lock";
pub(crate) const PACK_LOCK: &str = "pack-lock";
pub(crate) const TXN_CURRENT: &str = "txn-current";
pub(crate) const TXN_CURRENT_LOCK: &str = "txn-current-lock";
pub(crate) const MIN_UNPACKED_REV: &str = "min-unpacked-rev";
pub(crate) const REP_CACHE: &str = "rep-cache.db";
pub(crate) const REVS: &str = "revs";
pub(crate) const REVPROPS: &str = "revprops";
pub(crate) const TRANSACTIONS: &str = "transactions";
pub(crate) const TXN_PROTOREVS: &str = "txn-protorevs";
pub(crate) const NODE_ORIGINS: &str = "node-origins";
pub(crate) const LOCKS: &str = "locks";
pub(crate) const PACK: &str = "pack";
pub(crate) const MANIFEST: &str = "manifest";

/// Makes paths of a file system.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    db: PathBuf,
    shard_size: Option<u32>,
    number: FormatNumber,
}

impl Layout {
    pub(crate) fn new(db: &Path, format: &Format) -> Self {
        Self {
            db: db.to_owned(),
            shard_size: format.shard_size,
            number: format.number,
        }
    }

    /// The folder itself.
    pub(crate) fn db(&self) -> &Path {
        &self.db
    }

    /// A name directly in the folder.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.db.join(name)
    }

    /// The number of the shard of a revision; the linear layout is all in one.
    pub(crate) fn shard(&self, revision: Revnum) -> Option<i64> {
        Some(revision.number() / i64::from(self.shard_size?))
    }

    fn in_shard(&self, dir: &str, revision: Revnum) -> PathBuf {
        let mut path = self.shard_dir(dir, revision).into_os_string();
        // It takes no failure.
        let _ = write!(path, "/{revision}");
        path.into()
    }

    fn shard_dir(&self, dir: &str, revision: Revnum) -> PathBuf {
        // With room for what comes after it.
        let mut path = OsString::with_capacity(self.db.as_os_str().len() + 48);
        path.push(&self.db);
        let _ = match self.shard(revision) {
            Some(shard) => write!(path, "/{dir}/{shard}"),
            None => write!(path, "/{dir}"),
        };
        path.into()
    }

    /// The folder of a revision that is not packed.
    pub(crate) fn rev_dir(&self, revision: Revnum) -> PathBuf {
        self.shard_dir(REVS, revision)
    }

    /// A revision that is not packed.
    pub(crate) fn rev(&self, revision: Revnum) -> PathBuf {
        self.in_shard(REVS, revision)
    }

    /// The folder of a packed shard.
    pub(crate) fn rev_packed_dir(&self, revision: Revnum) -> PathBuf {
        self.packed_dir(REVS, revision)
    }

    /// A file of a packed shard: `pack` or `manifest`.
    pub(crate) fn rev_packed(&self, revision: Revnum, kind: &str) -> PathBuf {
        self.packed_dir(REVS, revision).join(kind)
    }

    fn packed_dir(&self, dir: &str, revision: Revnum) -> PathBuf {
        let shard = self.shard(revision).unwrap_or(0);
        self.db.join(dir).join(format!("{shard}.pack"))
    }

    /// The folder of revision properties that are not packed.
    pub(crate) fn revprops_dir(&self, revision: Revnum) -> PathBuf {
        self.shard_dir(REVPROPS, revision)
    }

    /// Revision properties that are not packed.
    pub(crate) fn revprops(&self, revision: Revnum) -> PathBuf {
        self.in_shard(REVPROPS, revision)
    }

    /// The folder of packed revision properties.
    pub(crate) fn revprops_packed_dir(&self, revision: Revnum) -> PathBuf {
        self.packed_dir(REVPROPS, revision)
    }

    /// The folder of a transaction.
    pub(crate) fn txn_dir(&self, txn: TxnId) -> PathBuf {
        self.db.join(TRANSACTIONS).join(format!("{txn}.txn"))
    }

    /// The proto-revision of a transaction.
    pub(crate) fn proto_rev(&self, txn: TxnId) -> PathBuf {
        if self.number.has_protorevs_dir() {
            self.db.join(TXN_PROTOREVS).join(format!("{txn}.rev"))
        } else {
            self.txn_dir(txn).join("rev")
        }
    }

    /// The lock of [`Layout::proto_rev`].
    pub(crate) fn proto_rev_lock(&self, txn: TxnId) -> PathBuf {
        if self.number.has_protorevs_dir() {
            self.db.join(TXN_PROTOREVS).join(format!("{txn}.rev-lock"))
        } else {
            self.txn_dir(txn).join("rev-lock")
        }
    }

    /// A node-revision of a transaction; `suffix` is empty, `.props` or `.children`.
    pub(crate) fn txn_node(&self, txn: TxnId, id: &NodeRevId, suffix: &str) -> PathBuf {
        let name = format!("node.{}.{}{suffix}", id.node, id.copy);
        self.txn_dir(txn).join(name)
    }

    /// The file that remembers where a node of formats 1 and 2 was made.
    pub(crate) fn node_origin(&self, node: IdPart) -> PathBuf {
        let mut name = base36(node.number);
        if name.len() > 1 {
            name.pop();
        }
        self.db.join(NODE_ORIGINS).join(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_follow_the_layout() {
        let format = |text: &str| Format::parse(text.as_bytes(), Path::new("format")).unwrap();
        let rev = |number| Revnum::new(number).unwrap();
        let layout = Layout::new(Path::new("/db"), &format("8\nlayout sharded 10\n"));
        assert_eq!(layout.rev(rev(123)), Path::new("/db/revs/12/123"));
        assert_eq!(layout.revprops(rev(3)), Path::new("/db/revprops/0/3"));
        assert_eq!(
            layout.rev_packed(rev(29), PACK),
            Path::new("/db/revs/2.pack/pack")
        );
        let txn = TxnId::parse("5-1a").unwrap();
        assert_eq!(
            layout.proto_rev(txn),
            Path::new("/db/txn-protorevs/5-1a.rev")
        );
        let id = NodeRevId::parse(b"_1.2-3.t5-1a").unwrap();
        assert_eq!(
            layout.txn_node(txn, &id, ".props"),
            Path::new("/db/transactions/5-1a.txn/node._1.2-3.props")
        );
        let layout = Layout::new(Path::new("/db"), &format("2\n"));
        assert_eq!(layout.rev(rev(123)), Path::new("/db/revs/123"));
        assert_eq!(
            layout.proto_rev_lock(txn),
            Path::new("/db/transactions/5-1a.txn/rev-lock")
        );
        let part = |text: &str| NodeRevId::parse(text.as_bytes()).unwrap().node;
        assert_eq!(
            layout.node_origin(part("1ab.0.r1/2")),
            Path::new("/db/node-origins/1a")
        );
        assert_eq!(
            layout.node_origin(part("7.0.r1/2")),
            Path::new("/db/node-origins/7")
        );
    }
}
