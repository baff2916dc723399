//! Writes representations to the proto-revision.

use bytes::Bytes;
use md5::Digest as _;
use sylvan_core::{Md5, NodeKind, Result, Revnum, Sha1};
use sylvan_delta::svndiff::{Deltifier, Version};

use super::Txn;
use crate::cache::{Chain, Kind};
use crate::conf::Compression;
use crate::fs::FileSystem;
use crate::id::NodeRevId;
use crate::index::ItemKind;
use crate::node_rev::{NodeRev, Representation};
use crate::rep::{self, DeltaBase, Opened, RepHeader, RepReader};

/// Representations shorter than this are no base: a header takes as much as a delta saves.
const MIN_BASE: u64 = 64;

/// A representation that is being written at the proto-revision's end.
pub(super) struct RepWriter {
    kind: ItemKind,
    /// `None` for a full text.
    deltifier: Option<Deltifier<Option<RepReader>>>,
    data_start: u64,
    expanded: u64,
    md5: md5::Md5,
    sha1: Option<sha1::Sha1>,
    /// What the delta is against.
    base: Option<Below>,
    /// The text, for the next delta against it; `None` once it is too much.
    text: Option<Vec<u8>>,
}

/// The revision of a delta's base, and the chain that the base has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Below {
    revision: Revnum,
    chain: Chain,
}

/// What is known of a representation that was written.
#[derive(Debug)]
pub(super) struct Written {
    item: u64,
    base: Option<Below>,
    text: Option<Bytes>,
}

/// So much text of a transaction is kept at most.
const MAX_KEPT: usize = 4 << 20;

impl RepWriter {
    pub(super) fn push(&mut self, txn: &mut Txn, piece: &[u8]) -> Result<()> {
        self.expanded += piece.len() as u64;
        if let Some(text) = &mut self.text {
            let room = MAX_KEPT.saturating_sub(txn.proto.kept);
            let room = room.min(txn.fs.cache().largest() / 2);
            if text.len() + piece.len() <= room {
                text.extend_from_slice(piece);
            } else {
                self.text = None;
            }
        }
        self.md5.update(piece);
        if let Some(sha1) = &mut self.sha1 {
            sha1.update(piece);
        }
        match &mut self.deltifier {
            Some(deltifier) => deltifier.push(piece, &mut txn.proto.tail)?,
            None => txn.proto.tail.extend_from_slice(piece),
        }
        txn.proto.spill()
    }

    /// Ends the data. What comes back has neither item nor uniquifier yet.
    pub(super) fn finish_data(&mut self, txn: &mut Txn) -> Result<Representation> {
        if let Some(deltifier) = self.deltifier.take() {
            deltifier.finish(&mut txn.proto.tail)?;
        }
        Ok(Representation {
            size: txn.proto.len() - self.data_start,
            expanded_size: self.expanded,
            md5: Md5(self.md5.finalize_reset().into()),
            sha1: self
                .sha1
                .as_mut()
                .map(|sha1| Sha1(sha1.finalize_reset().into())),
            ..Representation::MUTABLE
        })
    }

    /// Writes the trailer and gives the item its number.
    pub(super) fn close(&mut self, txn: &mut Txn, rep: &mut Representation, start: u64) {
        txn.proto.tail.extend_from_slice(rep::END);
        rep.item_index = if txn.fs.format().is_logical() {
            let number = txn.proto.number_item();
            txn.proto.end_item(self.kind, number);
            number
        } else {
            start
        };
        let text = self.text.take().map(Bytes::from);
        txn.proto.kept += text.as_ref().map_or(0, Bytes::len);
        txn.proto.written.push(Written {
            item: rep.item_index,
            base: self.base,
            text,
        });
    }
}

impl Txn {
    /// Begins a representation of `node`, as a delta if `deltify`.
    pub(super) fn begin_rep(
        &mut self,
        node: &NodeRev,
        kind: ItemKind,
        deltify: bool,
    ) -> Result<RepWriter> {
        self.proto.begin_item();
        let mut below = None;
        let deltifier = if deltify {
            let is_props = matches!(kind, ItemKind::FileProps | ItemKind::DirProps);
            let base = self.choose_delta_base(node, is_props)?;
            let (header, source) = match &base {
                None => (RepHeader::SelfDelta, None),
                Some((base, chain)) => {
                    let revision = base.revision.unwrap_or(Revnum::ZERO);
                    below = Some(Below {
                        revision,
                        chain: *chain,
                    });
                    let header = RepHeader::Delta(DeltaBase {
                        revision,
                        item_index: base.item_index,
                        size: base.size,
                    });
                    (header, Some(self.fs.reader(Some(base))?))
                }
            };
            self.proto
                .tail
                .extend_from_slice(header.to_line().as_bytes());
            let (version, level) = match self.fs.conf().compression {
                Compression::None => (Version::V0, 0),
                Compression::Zlib(level) => (Version::V1, level),
                Compression::Lz4 => (Version::V2, 0),
            };
            let data_start = self.proto.len();
            let deltifier = Deltifier::new(source, version, level, &mut self.proto.tail);
            (Some(deltifier), data_start)
        } else {
            let line = RepHeader::Plain.to_line();
            self.proto.tail.extend_from_slice(line.as_bytes());
            (None, self.proto.len())
        };
        Ok(RepWriter {
            kind,
            deltifier: deltifier.0,
            data_start: deltifier.1,
            expanded: 0,
            md5: md5::Md5::default(),
            // Nobody looks for folders that are alike.
            sha1: (kind != ItemKind::DirRep).then(sha1::Sha1::default),
            base: below,
            text: Some(Vec::new()),
        })
    }

    /// Chooses what a delta of the node is made against: mostly the version before, and where
    /// chains would become long, one further back.
    /// Returns its chain, too.
    fn choose_delta_base(
        &self,
        node: &NodeRev,
        props: bool,
    ) -> Result<Option<(Representation, Chain)>> {
        let conf = self.fs.conf();
        let count = node.predecessor_count;
        if count == 0 {
            return Ok(None);
        }
        // Without its lowest bit, the number of changes is that of the skip-delta's base.
        let mut steps = count - (count & (count - 1));
        if steps > conf.max_deltification_walk {
            return Ok(None);
        }
        if steps < conf.max_linear_deltification {
            let shards = self.shards_spanned(node, steps)?;
            if 1i64 << (shards - 1).clamp(0, 62) <= steps {
                steps = 1;
            }
        }
        let mut predecessor = node.predecessor;
        let mut base = None;
        for _ in 0..steps {
            let Some(id) = predecessor else {
                return Ok(None);
            };
            let rev = self.fs.node_rev(&id)?;
            predecessor = rev.predecessor;
            base = if props { rev.props } else { rev.text };
        }
        let Some(base) = base.filter(|base| base.expanded_size >= MIN_BASE) else {
            return Ok(None);
        };
        // A shared representation has a chain of its own.
        let chain = self.fs.rep_chain_length(&base)?;
        let too_long = chain.len
            >= conf
                .max_linear_deltification
                .saturating_mul(2)
                .saturating_add(2);
        let too_far = chain.shards > 1
            && 128u64
                .checked_shl(chain.shards)
                .is_none_or(|least| least >= base.expanded_size);
        Ok(Some((base, chain)).filter(|_| !too_long && !too_far))
    }

    fn shards_spanned(&self, node: &NodeRev, steps: i64) -> Result<i64> {
        let size = self.fs.shard_size().cast_signed();
        let mut last = self.fs.known_youngest().number() / size;
        let mut shards = i64::from(steps > 0);
        let mut predecessor = node.predecessor;
        for _ in 0..steps {
            let Some(id) = predecessor else {
                break;
            };
            let rev = self.fs.node_rev(&id)?;
            let shard = rev.id.revision().unwrap_or(Revnum::ZERO).number() / size;
            if shard != last {
                (shards, last) = (shards + 1, shard);
            }
            predecessor = rev.predecessor;
            if rev.predecessor_count == 0 {
                break;
            }
        }
        Ok(shards)
    }

    /// Looks for a representation of the same text, in the file system and in this transaction.
    pub(super) fn shared_rep(
        &self,
        rep: &Representation,
        start: u64,
        in_commit: Option<&super::commit::NewReps>,
    ) -> Result<Option<Representation>> {
        let Some(sha1) = rep.sha1.filter(|_| self.fs.conf().rep_sharing) else {
            return Ok(None);
        };
        let known = in_commit.and_then(|reps| reps.get(sha1));
        let found = match known {
            Some(found) => Some(found),
            None => match self.rep_from_cache(sha1)? {
                Some(found) => Some(found),
                None => self.proto.by_sha1.get(&sha1).copied(),
            },
        };
        // A wrong length is damage of the cache; the new representation stays.
        let Some(mut found) = found.filter(|found| found.expanded_size == rep.expanded_size) else {
            return Ok(None);
        };
        found.md5 = rep.md5;
        found.uniquifier = rep.uniquifier;
        self.ensure_same_text(rep, start, &found)?;
        Ok(Some(found))
    }

    fn rep_from_cache(&self, sha1: Sha1) -> Result<Option<Representation>> {
        // A cache that cannot be read saves no space, and is no reason not to commit.
        let found = self.fs.find_rep(sha1).unwrap_or_default();
        let Some((found, revision)) = found.and_then(|rep| Some((rep, rep.revision?))) else {
            return Ok(None);
        };
        if self.fs.ensure_revision_exists(revision).is_err() {
            return Err(crate::text::corrupt(format!(
                "Checksum '{sha1}' in rep-cache is beyond HEAD"
            )));
        }
        self.fs.check_rep(&found)?;
        Ok(Some(found))
    }

    /// Compares the texts of two representations with the same digest, so that no damage of the
    /// cache, and no collision, loses a text.
    fn ensure_same_text(
        &self,
        new: &Representation,
        start: u64,
        old: &Representation,
    ) -> Result<()> {
        let mut a = self.read_proto_rep(new, start)?;
        let mut b = match old.revision {
            Some(revision) if revision <= self.fs.known_youngest() => self.fs.reader(Some(old))?,
            _ => {
                let offset = self.proto_offset(old);
                self.read_proto_rep(old, offset)?
            }
        };
        if a.is_equal(&mut b)? {
            return Ok(());
        }
        let format = self.fs.format().number;
        let sha1 = old.sha1.map_or_else(String::new, |sha1| sha1.to_string());
        let text = format!(
            "SHA1 of reps '{}' and '{}' matches ({sha1}) but contents differ",
            old.to_text(format),
            new.to_text(format)
        );
        Err(sylvan_core::Error::new(
            sylvan_core::ErrorCode::FS_AMBIGUOUS_CHECKSUM_REP,
            text,
        ))
    }

    /// Returns where a representation of this transaction is in the proto-revision.
    pub(super) fn proto_offset(&self, rep: &Representation) -> u64 {
        if !self.fs.format().is_logical() {
            return rep.item_index;
        }
        let found = self
            .proto
            .l2p
            .iter()
            .find(|(number, _)| *number == rep.item_index);
        found.map_or(0, |(_, offset)| *offset)
    }

    /// Reads a representation of the proto-revision.
    pub(super) fn read_proto_rep(&self, rep: &Representation, offset: u64) -> Result<RepReader> {
        let longest = RepHeader::MAX_LEN as u64 + rep.size;
        let len = longest.min(self.proto.len() - offset.min(self.proto.len()));
        let (file, offset) = self.proto.open(offset, len, self.fs.cache())?;
        RepReader::in_file(&self.fs, rep, Opened { file, offset })
    }

    /// Opens the content of a file in the transaction.
    pub(super) fn reader_of(&self, node: &NodeRev) -> Result<RepReader> {
        match &node.text {
            Some(rep) if rep.is_in_txn() => self.read_proto_rep(rep, self.proto_offset(rep)),
            rep => self.fs.reader(rep.as_ref()),
        }
    }
}

impl FileSystem {
    /// Counts the deltas of a chain, and the shards that it is in.
    fn rep_chain_length(&self, rep: &Representation) -> Result<Chain> {
        let size = self.shard_size().cast_signed();
        let mut at = DeltaBase {
            revision: rep.revision.unwrap_or(Revnum::ZERO),
            item_index: rep.item_index,
            size: rep.size,
        };
        let key = |base: &DeltaBase| self.key(Kind::Chain, base.revision, base.item_index);
        // Those whose chains are not known, the nearest first.
        let mut unknown = Vec::new();
        let mut chain = loop {
            if let Some(chain) = self.cache().chain(&key(&at)) {
                break chain;
            }
            unknown.push(at);
            let opened = self.open_item(at.revision, at.item_index)?;
            let (header, _) = opened.read_header(at.size)?;
            match header {
                RepHeader::Delta(base) if base.revision != Revnum::ZERO => at = base,
                _ => break Chain { len: 0, shards: 0 },
            }
        };
        let mut below = at.revision;
        for base in unknown.into_iter().rev() {
            let crosses = base.revision.number() / size != below.number() / size;
            chain.len += 1;
            chain.shards += u32::from(crosses || chain.shards == 0);
            below = base.revision;
            self.cache().put_chain(key(&base), &chain, 0);
        }
        Ok(chain)
    }

    /// Keeps what is known of the representations of a new revision in the caches.
    pub(super) fn keep_written(&self, revision: Revnum, written: Vec<Written>) {
        let size = self.shard_size().cast_signed();
        for Written { item, base, text } in written {
            let first = Chain { len: 1, shards: 1 };
            // As [`FileSystem::rep_chain_length`] would find it.
            let base = base.filter(|base| base.revision != Revnum::ZERO);
            let chain = base.map_or(first, |base| {
                let crosses = base.revision.number() / size != revision.number() / size;
                Chain {
                    len: base.chain.len + 1,
                    shards: base.chain.shards + u32::from(crosses),
                }
            });
            self.cache()
                .put_chain(self.key(Kind::Chain, revision, item), &chain, 0);
            if let Some(text) = text {
                let key = self.key(Kind::Text, revision, item);
                self.cache().put_text(key, &text, text.len());
            }
        }
    }

    /// Checks that there is a representation where one is said to be.
    ///
    /// # Errors
    /// [`FS_CORRUPT`](sylvan_core::ErrorCode::FS_CORRUPT) and those of the indexes.
    pub(crate) fn check_rep(&self, rep: &Representation) -> Result<()> {
        let revision = rep.revision.unwrap_or(Revnum::ZERO);
        let opened = self.open_item(revision, rep.item_index)?;
        if !self.format().is_logical() {
            return opened.read_header(rep.size).map(drop);
        }
        let p2l = opened.file.p2l()?;
        let page = p2l.header.page_of(opened.offset, revision)?;
        let items = opened.file.page_items(&p2l, page)?;
        let found = items.iter().find(|item| item.offset == opened.offset);
        if found.is_some_and(|item| item.kind.is_rep()) {
            return Ok(());
        }
        Err(crate::text::corrupt(format!(
            "No representation found at offset {} for item {} in revision {revision}",
            opened.offset, rep.item_index
        )))
    }
}

/// Returns what the properties of a node are in the index.
pub(super) const fn props_kind(kind: NodeKind) -> ItemKind {
    match kind {
        NodeKind::Dir => ItemKind::DirProps,
        _ => ItemKind::FileProps,
    }
}

/// Returns whether a node-revision is in the transaction.
pub(super) const fn is_mutable(id: &NodeRevId) -> bool {
    id.txn().is_some()
}
