//! Node-revision IDs: `node_id '.' copy_id '.' place`.
//!
//! | part | form | meaning |
//! |---|---|---|
//! | node or copy ID | `_5` | new in a transaction, number 5 there |
//! | | `5-12` | made in revision 12, number 5 there |
//! | | `5` | of formats 1 and 2, unique in the file system; `0` is the root's |
//! | place | `r12/34` | committed: revision 12, item 34 there |
//! | | `t11-a` | in the transaction `11-a` |
//!
//! Numbers but revisions and items are in base 36.

use std::fmt;

use sylvan_core::{Error, ErrorCode, Result, Revnum};

use crate::text::{
    into_text, parse_base36, parse_revnum, put_base36, put_number, put_revnum, shown,
};

/// A node ID or a copy ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IdPart {
    /// The revision it was made in, zero for IDs of formats 1 and 2, `None` in a transaction.
    pub revision: Option<Revnum>,
    /// The number, unique there.
    pub number: u64,
}

impl IdPart {
    /// The ID of the root folder, and of what was never copied.
    pub const ROOT: Self = Self {
        revision: Some(Revnum::ZERO),
        number: 0,
    };

    /// Makes the ID of what is new in a transaction.
    pub const fn in_txn(number: u64) -> Self {
        Self {
            revision: None,
            number,
        }
    }

    /// Tells whether it was made in a transaction that is not committed.
    pub const fn is_in_txn(self) -> bool {
        self.revision.is_none()
    }

    fn parse(text: &[u8]) -> Option<Self> {
        if let Some(number) = text.strip_prefix(b"_") {
            return parse_base36(number).map(Self::in_txn);
        }
        let (number, revision) = match text.iter().position(|byte| *byte == b'-') {
            Some(at) => (&text[..at], parse_revnum(&text[at + 1..])?),
            None => (text, Revnum::ZERO),
        };
        Some(Self {
            revision: Some(revision),
            number: parse_base36(number)?,
        })
    }
}

impl IdPart {
    fn put_into(self, out: &mut Vec<u8>) {
        if self.revision.is_none() {
            out.push(b'_');
        }
        put_base36(self.number, out);
        if let Some(revision) = self.revision.filter(|revision| *revision != Revnum::ZERO) {
            out.push(b'-');
            put_revnum(revision, out);
        }
    }
}

impl fmt::Display for IdPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Vec::with_capacity(24);
        self.put_into(&mut out);
        f.write_str(&into_text(out))
    }
}

/// The name of a transaction: the revision it is based on and a number, as in `11-a`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TxnId {
    /// The revision that the transaction is based on.
    pub base: Revnum,
    /// The key that makes the name unique.
    pub number: u64,
}

impl TxnId {
    /// Parses a transaction's name.
    ///
    /// # Errors
    /// [`ErrorCode::FS_MALFORMED_TXN_ID`] if it is none.
    pub fn parse(text: &str) -> Result<Self> {
        Self::from_bytes(text.as_bytes()).ok_or_else(|| {
            Error::new(
                ErrorCode::FS_MALFORMED_TXN_ID,
                format!("malformed txn id '{text}'"),
            )
        })
    }

    pub(crate) fn from_bytes(text: &[u8]) -> Option<Self> {
        let at = text.iter().position(|byte| *byte == b'-')?;
        Some(Self {
            base: parse_revnum(&text[..at])?,
            number: parse_base36(&text[at + 1..])?,
        })
    }
}

impl TxnId {
    pub(crate) fn put_into(self, out: &mut Vec<u8>) {
        put_revnum(self.base, out);
        out.push(b'-');
        put_base36(self.number, out);
    }
}

impl fmt::Display for TxnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Vec::with_capacity(24);
        self.put_into(&mut out);
        f.write_str(&into_text(out))
    }
}

/// Where a node-revision is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// In a revision: its number, and the item's number or, with physical addressing, its offset.
    Revision(Revnum, u64),
    /// In a transaction.
    Txn(TxnId),
}

/// The ID of a node-revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeRevId {
    /// The node: the same for all revisions and copies of what was once added.
    pub node: IdPart,
    /// The copy that it came by.
    pub copy: IdPart,
    /// Where it is.
    pub place: Place,
}

/// How two node-revisions are related.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeRelation {
    /// They have nothing in common.
    Unrelated,
    /// They are the same.
    Unchanged,
    /// They come from the same first node-revision.
    CommonAncestor,
}

impl NodeRevId {
    /// Makes the ID of a revision's root folder, with logical addressing.
    pub const fn logical_root(revision: Revnum) -> Self {
        Self {
            node: IdPart::ROOT,
            copy: IdPart::ROOT,
            place: Place::Revision(revision, crate::index::ITEM_ROOT_NODE),
        }
    }

    /// Parses an ID.
    ///
    /// # Errors
    /// [`ErrorCode::FS_MALFORMED_NODEREV_ID`] if it is none.
    pub fn parse(text: &[u8]) -> Result<Self> {
        Self::from_bytes(text).ok_or_else(|| {
            Error::new(
                ErrorCode::FS_MALFORMED_NODEREV_ID,
                format!("Malformed node revision ID string '{}'", shown(text)),
            )
        })
    }

    fn from_bytes(text: &[u8]) -> Option<Self> {
        let mut parts = text.splitn(3, |byte| *byte == b'.');
        let node = IdPart::parse(parts.next()?)?;
        let copy = IdPart::parse(parts.next()?)?;
        let place = parts.next()?;
        let place = match place.split_first()? {
            (b'r', place) => {
                let at = place.iter().position(|byte| *byte == b'/')?;
                let item = parse_revnum(&place[at + 1..])?.number();
                Place::Revision(parse_revnum(&place[..at])?, u64::try_from(item).ok()?)
            }
            (b't', txn) => Place::Txn(TxnId::from_bytes(txn)?),
            _ => return None,
        };
        Some(Self { node, copy, place })
    }

    /// Returns the revision it was committed in.
    pub const fn revision(&self) -> Option<Revnum> {
        match self.place {
            Place::Revision(revision, _) => Some(revision),
            Place::Txn(_) => None,
        }
    }

    /// Returns the transaction that it is in.
    pub const fn txn(&self) -> Option<TxnId> {
        match self.place {
            Place::Txn(txn) => Some(txn),
            Place::Revision(..) => None,
        }
    }

    /// Tells whether both come from the same first node-revision.
    pub fn is_related(&self, other: &Self) -> bool {
        // What is new in different transactions may have the same number by chance.
        let apart = self.node.is_in_txn() && self.txn() != other.txn();
        self.node == other.node && !apart
    }

    /// Compares two IDs of one file system.
    pub fn relation(&self, other: &Self) -> NodeRelation {
        if self == other {
            NodeRelation::Unchanged
        } else if self.is_related(other) {
            NodeRelation::CommonAncestor
        } else {
            NodeRelation::Unrelated
        }
    }
}

impl NodeRevId {
    /// Appends it as it is stored.
    pub(crate) fn put_into(&self, out: &mut Vec<u8>) {
        self.node.put_into(out);
        out.push(b'.');
        self.copy.put_into(out);
        match self.place {
            Place::Revision(revision, item) => {
                out.extend_from_slice(b".r");
                put_revnum(revision, out);
                out.push(b'/');
                put_number(item, out);
            }
            Place::Txn(txn) => {
                out.extend_from_slice(b".t");
                txn.put_into(out);
            }
        }
    }
}

impl fmt::Display for NodeRevId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Vec::with_capacity(48);
        self.put_into(&mut out);
        f.write_str(&into_text(out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_print_as_they_are_parsed() {
        for text in [
            "0.0.r0/2",
            "2-1.0.r1/17",
            "_a._0.t11-1z",
            "z.5.r999/12345678901",
            "1-5.0-5.t0-0",
        ] {
            assert_eq!(NodeRevId::parse(text.as_bytes()).unwrap().to_string(), text);
        }
    }

    #[test]
    fn malformed_ids_are_refused() {
        for text in [
            "",
            "0",
            "0.0",
            "0.0.",
            "0.0.r",
            "0.0.r1",
            "0.0.r1/",
            "0.0.x1/2",
            "0.0.r-1/2",
            ".0.r1/2",
            "0.-1.r1/2",
            "0.0.t",
            "0.0.t5",
            "0.0.t5-",
            "0.0.t5-A",
            "0.0.r1/2.3",
            "zzzzzzzzzzzzzzzz.0.r1/2",
            "0.0.r99999999999999999999/2",
        ] {
            let error = NodeRevId::parse(text.as_bytes()).unwrap_err();
            assert_eq!(error.code(), ErrorCode::FS_MALFORMED_NODEREV_ID, "{text}");
        }
    }

    #[test]
    fn new_nodes_of_two_transactions_are_unrelated() {
        let id = |text: &str| NodeRevId::parse(text.as_bytes()).unwrap();
        let relation = |a, b| id(a).relation(&id(b));
        assert_eq!(relation("_1.0.t1-0", "_1.0.t1-1"), NodeRelation::Unrelated);
        assert_eq!(
            relation("_1.0.t1-0", "_1._2.t1-0"),
            NodeRelation::CommonAncestor
        );
        assert_eq!(
            relation("1-1.0.t1-0", "1-1.0.t1-1"),
            NodeRelation::CommonAncestor
        );
        assert_eq!(
            relation("1-1.0.r1/3", "1-1.0.r1/3"),
            NodeRelation::Unchanged
        );
        assert_eq!(
            relation("1-1.0.r1/3", "2-1.0.r1/3"),
            NodeRelation::Unrelated
        );
    }
}
