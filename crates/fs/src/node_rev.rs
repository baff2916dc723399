//! Node-revisions: what is known of a file or folder as of one change.
//!
//! ```text
//! id: 2-1.0.r3/5
//! type: file
//! pred: 2-1.0.r1/7
//! count: 1
//! text: 3 4 30 52 d41d8cd98f00b204e9800998ecf8427e da39a3ee…0709 2-3/_6
//! props: 1 3 42 42 fd1c5e… - -
//! cpath: /trunk/file
//! copyfrom: 2 /branch/file
//! copyroot: 0 /
//! minfo-cnt: 2
//! minfo-here: y
//! (an empty line)
//! ```
//!
//! Unknown fields are skipped. In a transaction `text` and `props` may be `-1`: the content is
//! in files beside it; and `is-fresh-txn-root` marks a root that nothing changed yet.

use sylvan_core::{Md5, NodeKind, RelPathBuf, Result, Revnum, Sha1};

use crate::format::FormatNumber;
use crate::id::{NodeRevId, Place, TxnId};
use crate::text::{
    corrupt, into_text, or_corrupt, parse_base36, parse_fspath, parse_number, parse_revnum,
    put_base36, put_fspath, put_hex, put_number, put_revnum, shown, take_line, take_word,
};

/// Where a text or a property list is stored, and what it is checked against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Representation {
    /// The revision it is in; `None` if it is in the transaction of its node-revision.
    pub revision: Option<Revnum>,
    /// The item in the revision or, with physical addressing, the offset.
    pub item_index: u64,
    /// The bytes it takes there, without header and trailer.
    pub size: u64,
    /// The bytes of the full text.
    pub expanded_size: u64,
    /// The digest of the full text; all zero if it is not known.
    pub md5: Md5,
    /// The digest by which equal texts are found.
    pub sha1: Option<Sha1>,
    /// What tells node-revisions apart that share the representation.
    pub uniquifier: Option<Uniquifier>,
}

/// What tells node-revisions apart that share a representation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Uniquifier {
    /// The transaction that the node-revision was made in.
    pub txn: TxnId,
    /// A number, unique there.
    pub number: u64,
}

impl Representation {
    /// The content of what has changed in a transaction and is in files beside the node-revision.
    pub const MUTABLE: Self = Self {
        revision: None,
        item_index: 0,
        size: 0,
        expanded_size: 0,
        md5: Md5([0; 16]),
        sha1: None,
        uniquifier: None,
    };

    /// Tells whether it is in a transaction.
    pub const fn is_in_txn(&self) -> bool {
        self.revision.is_none()
    }

    /// Tells whether both are the same for the node-revisions that have them.
    pub fn same_key(a: Option<&Self>, b: Option<&Self>) -> bool {
        match (a, b) {
            (None, None) => true,
            (Some(a), Some(b)) => {
                (a.revision, a.item_index, a.uniquifier) == (b.revision, b.item_index, b.uniquifier)
            }
            _ => false,
        }
    }

    /// Parses the value of a field `text` or `props`.
    ///
    /// # Errors
    /// [`FS_CORRUPT`](sylvan_core::ErrorCode::FS_CORRUPT).
    pub fn parse(text: &[u8]) -> Result<Self> {
        let malformed = "Malformed text representation offset line in node-rev";
        if text == b"-1" {
            return Ok(Self::MUTABLE);
        }
        let mut rest = text;
        or_corrupt(Self::take(&mut rest), malformed)
            .and_then(|rep| or_corrupt(rest.is_empty().then_some(rep), malformed))
    }

    fn take(rest: &mut &[u8]) -> Option<Self> {
        let word = |text| std::str::from_utf8(text).ok();
        let revision = match take_word(rest)? {
            b"-1" => None,
            number => Some(parse_revnum(number)?),
        };
        let mut rep = Self {
            revision,
            item_index: parse_number(take_word(rest)?)?,
            size: parse_number(take_word(rest)?)?,
            expanded_size: parse_number(take_word(rest)?)?,
            md5: Md5::parse_hex(word(take_word(rest)?)?).ok()?,
            ..Self::MUTABLE
        };
        if rest.is_empty() {
            return Some(rep);
        }
        rep.sha1 = match take_word(rest)? {
            b"-" => None,
            // All zero is what old programs wrote for "not known".
            hex => Some(Sha1::parse_hex(word(hex)?).ok()?).filter(|sha1| sha1.0 != [0; 20]),
        };
        rep.uniquifier = match take_word(rest)? {
            b"-" => None,
            text => {
                let at = text.iter().position(|byte| *byte == b'/')?;
                let unique = Uniquifier {
                    txn: TxnId::from_bytes(&text[..at])?,
                    number: parse_base36(text[at + 1..].strip_prefix(b"_")?)?,
                };
                // All zero stands for none in formats that have no other way to say so.
                let none = unique.number == 0 && unique.txn.number == 0;
                Some(unique).filter(|_| !(none && unique.txn.base == Revnum::ZERO))
            }
        };
        Some(rep)
    }

    /// Writes the value of a field `text` or `props`.
    pub fn to_text(&self, format: FormatNumber) -> String {
        let mut out = Vec::with_capacity(160);
        self.put_into(format, &mut out);
        into_text(out)
    }

    fn put_into(&self, format: FormatNumber, out: &mut Vec<u8>) {
        match self.revision {
            Some(revision) => put_revnum(revision, out),
            None => out.extend_from_slice(b"-1"),
        }
        for number in [self.item_index, self.size, self.expanded_size] {
            out.push(b' ');
            put_number(number, out);
        }
        out.push(b' ');
        put_hex(&self.md5.0, out);
        // Older programs take both or none, and have a number even for "none".
        let optional = format.has_optional_rep_values();
        if !format.has_rep_sharing() || !optional && self.sha1.is_none() {
            return;
        }
        out.push(b' ');
        match &self.sha1 {
            Some(sha1) => put_hex(&sha1.0, out),
            None => out.push(b'-'),
        }
        out.push(b' ');
        match self.uniquifier {
            Some(unique) => {
                unique.txn.put_into(out);
                out.extend_from_slice(b"/_");
                put_base36(unique.number, out);
            }
            None if optional => out.push(b'-'),
            None => out.extend_from_slice(b"0-0/_0"),
        }
    }

    /// Puts right the size of the full text, which old programs left out where it is the size in
    /// the file.
    pub(crate) fn fix_expanded_size(&mut self) {
        let unknown = self.md5.0 == [0; 16];
        let empty = match self.sha1 {
            Some(sha1) if unknown => sha1 == Sha1::EMPTY,
            _ => unknown || self.md5 == Md5::EMPTY,
        };
        if self.expanded_size == 0 && !empty {
            self.expanded_size = self.size;
        }
    }
}

/// The youngest copy that a node-revision or a folder above it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyRoot {
    /// The revision of the copy; `None` if it is made in the transaction.
    pub revision: Option<Revnum>,
    /// Where it was copied to.
    pub path: RelPathBuf,
}

/// A file or folder as of one change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeRev {
    /// Its ID.
    pub id: NodeRevId,
    /// A file or a folder.
    pub kind: NodeKind,
    /// The node-revision that it changed.
    pub predecessor: Option<NodeRevId>,
    /// How many predecessors there are, over all generations.
    pub predecessor_count: i64,
    /// The content; `None` if it is empty.
    pub text: Option<Representation>,
    /// The properties; `None` if there are none.
    pub props: Option<Representation>,
    /// The path that it was made under.
    pub created_path: RelPathBuf,
    /// The source, if this is a copy.
    pub copyfrom: Option<(Revnum, RelPathBuf)>,
    /// The youngest copy on the way here.
    pub copyroot: CopyRoot,
    /// Whether this is a transaction's root that nothing changed yet.
    pub fresh_txn_root: bool,
    /// How many nodes have `svn:mergeinfo`, from here down.
    pub mergeinfo_count: i64,
    /// Whether this node has `svn:mergeinfo`.
    pub has_mergeinfo: bool,
}

impl NodeRev {
    /// Parses a node-revision at the front of `data`; returns it and its length in bytes, `None` if
    /// `data` ends before the empty line and `more` may come.
    ///
    /// # Errors
    /// [`FS_CORRUPT`](sylvan_core::ErrorCode::FS_CORRUPT),
    /// [`FS_MALFORMED_NODEREV_ID`](sylvan_core::ErrorCode::FS_MALFORMED_NODEREV_ID).
    pub fn parse(data: &[u8], more: bool) -> Result<Option<(Self, usize)>> {
        let end = match memchr::memmem::find(data, b"\n\n") {
            Some(at) => at + 2,
            None if data.first() == Some(&b'\n') => 1,
            None if more => return Ok(None),
            None => data.len(),
        };
        Self::from_fields(&Fields::parse(&data[..end])?).map(|node| Some((node, end)))
    }

    fn from_fields(fields: &Fields<'_>) -> Result<Self> {
        let id_text = or_corrupt(fields.id, "Missing id field in node-rev")?;
        let id = NodeRevId::parse(id_text)?;
        let bad = |what: &str| corrupt(format!("{what} in node-rev '{}'", shown(id_text)));
        let kind = match fields.kind {
            Some(b"file") => NodeKind::File,
            Some(b"dir") => NodeKind::Dir,
            _ => return Err(bad("Missing kind field")),
        };
        let count = |text: Option<&[u8]>, what| match text {
            None => Ok(0),
            Some(text) => parse_number(text)
                .and_then(|count| i64::try_from(count).ok())
                .ok_or_else(|| bad(what)),
        };
        let rep = |text: Option<&[u8]>| {
            let parsed = text.map(Representation::parse).transpose();
            let mut rep = parsed.map_err(|error| {
                let text = "While reading representation offsets for node-revision";
                error.context(format!("{text} '{}':", shown(id_text)))
            })?;
            if let Some(rep) = rep.as_mut().filter(|rep| !rep.is_in_txn()) {
                rep.fix_expanded_size();
            }
            Ok::<_, sylvan_core::Error>(rep)
        };
        let cpath = fields.cpath.ok_or_else(|| bad("Missing cpath field"))?;
        let created_path = parse_fspath(cpath).ok_or_else(|| bad("Non-canonical cpath field"))?;
        let copyroot = match fields.copyroot {
            None => CopyRoot {
                revision: id.revision(),
                path: created_path.clone(),
            },
            Some(text) => {
                let parsed = parse_rev_and_path(text);
                let (revision, path) = parsed.ok_or_else(|| bad("Malformed copyroot line"))?;
                CopyRoot { revision, path }
            }
        };
        let copyfrom = match fields.copyfrom {
            None => None,
            Some(text) => match parse_rev_and_path(text) {
                Some((Some(revision), path)) => Some((revision, path)),
                _ => return Err(bad("Malformed copyfrom line")),
            },
        };
        let mut node = Self {
            id,
            kind,
            predecessor: fields.predecessor.map(NodeRevId::parse).transpose()?,
            predecessor_count: count(fields.count, "Malformed count field")?,
            text: rep(fields.text)?,
            props: rep(fields.props)?,
            created_path,
            copyfrom,
            copyroot,
            fresh_txn_root: fields.fresh_txn_root,
            mergeinfo_count: count(fields.mergeinfo_count, "Malformed minfo-cnt field")?,
            has_mergeinfo: fields.has_mergeinfo,
        };
        if matches!(id.place, Place::Revision(..)) {
            // An old program left it in revisions.
            node.fresh_txn_root = false;
        }
        Ok(node)
    }

    /// Appends the node-revision as it is stored.
    pub fn write(&self, format: FormatNumber, out: &mut Vec<u8>) {
        out.reserve(400);
        out.extend_from_slice(b"id: ");
        self.id.put_into(out);
        out.extend_from_slice(b"\ntype: ");
        out.extend_from_slice(self.kind.as_str().as_bytes());
        if let Some(predecessor) = &self.predecessor {
            out.extend_from_slice(b"\npred: ");
            predecessor.put_into(out);
        }
        out.extend_from_slice(b"\ncount: ");
        // It is never negative.
        put_number(self.predecessor_count.unsigned_abs(), out);
        if let Some(rep) = &self.text {
            out.extend_from_slice(b"\ntext: ");
            put_rep(rep, format, self.kind == NodeKind::Dir, out);
        }
        if let Some(rep) = &self.props {
            out.extend_from_slice(b"\nprops: ");
            put_rep(rep, format, true, out);
        }
        out.extend_from_slice(b"\ncpath: ");
        put_fspath(&self.created_path, out);
        if let Some((revision, path)) = &self.copyfrom {
            out.extend_from_slice(b"\ncopyfrom: ");
            put_revnum(*revision, out);
            out.push(b' ');
            put_fspath(path, out);
        }
        if self.copyroot.revision != self.id.revision() || self.copyroot.path != self.created_path {
            out.extend_from_slice(b"\ncopyroot: ");
            match self.copyroot.revision {
                Some(revision) => put_revnum(revision, out),
                None => out.extend_from_slice(b"-1"),
            }
            out.push(b' ');
            put_fspath(&self.copyroot.path, out);
        }
        if self.fresh_txn_root {
            out.extend_from_slice(b"\nis-fresh-txn-root: y");
        }
        if format.has_mergeinfo() {
            if let Ok(count @ 1..) = u64::try_from(self.mergeinfo_count) {
                out.extend_from_slice(b"\nminfo-cnt: ");
                put_number(count, out);
            }
            if self.has_mergeinfo {
                out.extend_from_slice(b"\nminfo-here: y");
            }
        }
        out.extend_from_slice(b"\n\n");
    }
}

fn put_rep(rep: &Representation, format: FormatNumber, truncate: bool, out: &mut Vec<u8>) {
    if truncate && rep.is_in_txn() {
        out.extend_from_slice(b"-1");
    } else {
        rep.put_into(format, out);
    }
}

fn parse_rev_and_path(text: &[u8]) -> Option<(Option<Revnum>, RelPathBuf)> {
    let at = text.iter().position(|byte| *byte == b' ')?;
    let revision = match &text[..at] {
        b"-1" => None,
        number => Some(parse_revnum(number)?),
    };
    Some((revision, parse_fspath(&text[at + 1..])?))
}

/// The fields as they stand there.
#[derive(Default)]
struct Fields<'a> {
    id: Option<&'a [u8]>,
    kind: Option<&'a [u8]>,
    predecessor: Option<&'a [u8]>,
    count: Option<&'a [u8]>,
    text: Option<&'a [u8]>,
    props: Option<&'a [u8]>,
    cpath: Option<&'a [u8]>,
    copyfrom: Option<&'a [u8]>,
    copyroot: Option<&'a [u8]>,
    mergeinfo_count: Option<&'a [u8]>,
    has_mergeinfo: bool,
    fresh_txn_root: bool,
}

impl<'a> Fields<'a> {
    fn parse(data: &'a [u8]) -> Result<Self> {
        let mut fields = Self::default();
        let mut rest = data;
        while let Some(line) = take_line(&mut rest).filter(|line| !line.is_empty()) {
            let malformed = || {
                let text = shown(line.split(|byte| *byte == 0).next().unwrap_or_default());
                corrupt(format!("Found malformed header '{text}' in revision file"))
            };
            // A line ends for Subversion where a NUL is, and nothing that it writes has one.
            if line.contains(&0) {
                return Err(malformed());
            }
            let at = line
                .iter()
                .position(|byte| *byte == b':')
                .ok_or_else(malformed)?;
            let value = line[at + 1..].strip_prefix(b" ").ok_or_else(malformed)?;
            match &line[..at] {
                b"id" => fields.id = Some(value),
                b"type" => fields.kind = Some(value),
                b"pred" => fields.predecessor = Some(value),
                b"count" => fields.count = Some(value),
                b"text" => fields.text = Some(value),
                b"props" => fields.props = Some(value),
                b"cpath" => fields.cpath = Some(value),
                b"copyfrom" => fields.copyfrom = Some(value),
                b"copyroot" => fields.copyroot = Some(value),
                b"minfo-cnt" => fields.mergeinfo_count = Some(value),
                b"minfo-here" => fields.has_mergeinfo = true,
                b"is-fresh-txn-root" => fields.fresh_txn_root = true,
                _ => {}
            }
        }
        Ok(fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODE: &str = "id: 2-1._3.t3-5\ntype: file\npred: 2-1.0.r1/7\ncount: 1\n\
        text: 3 4 30 52 d41d8cd98f00b204e9800998ecf8427f \
        da39a3ee5e6b4b0d3255bfef95601890afd80709 2-3/_6\n\
        props: -1\ncpath: /trunk/file\ncopyfrom: 2 /branch/file\ncopyroot: -1 /x\n\
        minfo-cnt: 2\nminfo-here: y\n\n";

    fn parse(text: &str) -> Result<NodeRev> {
        Ok(NodeRev::parse(text.as_bytes(), false)?.unwrap().0)
    }

    #[test]
    fn what_is_written_is_parsed() {
        let node = parse(NODE).unwrap();
        let mut out = Vec::new();
        node.write(FormatNumber::CURRENT, &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), NODE);
        assert_eq!(NodeRev::parse(&NODE.as_bytes()[..50], true).unwrap(), None);
    }

    #[test]
    fn representations_follow_the_format() {
        let written = |text: &str, format| {
            let rep = Representation::parse(text.as_bytes()).unwrap();
            rep.to_text(FormatNumber::new(format).unwrap())
        };
        let md5 = "1 2 3 4 d41d8cd98f00b204e9800998ecf8427f";
        let sha1 = format!("{md5} da39a3ee5e6b4b0d3255bfef95601890afd80709 2-3/_6");
        assert_eq!(written(&sha1, 3), md5);
        assert_eq!(written(&sha1, 4), sha1);
        assert_eq!(written(&sha1, 8), sha1);
        assert_eq!(written(md5, 7), md5);
        assert_eq!(written(md5, 8), format!("{md5} - -"));
        assert_eq!(
            written(&format!("{md5} - 2-3/_6"), 8),
            format!("{md5} - 2-3/_6")
        );
    }

    #[test]
    fn missing_expanded_size_is_the_size() {
        let size = |text: &str| {
            let node = NODE.replace("3 4 30 52", text).replace("_3.t3-5", "0.r3/5");
            parse(&node).unwrap().text.unwrap().expanded_size
        };
        assert_eq!(size("3 4 30 0"), 30);
        assert_eq!(size("3 4 30 52"), 52);
        let empty = NODE.replace(
            "3 4 30 52 d41d8cd98f00b204e9800998ecf8427f",
            "3 4 4 0 d41d8cd98f00b204e9800998ecf8427e",
        );
        assert_eq!(parse(&empty).unwrap().text.unwrap().expanded_size, 0);
    }

    #[test]
    fn damage_is_named() {
        for (from, to, message) in [
            ("id: 2", "ix: 2", "E160004: Missing id field in node-rev"),
            (
                "2-1._3.t3-5",
                "2-1.t3",
                "E160062: Malformed node revision ID string '2-1.t3'",
            ),
            (
                "type: file",
                "type: link",
                "E160004: Missing kind field in node-rev '2-1._3.t3-5'",
            ),
            (
                "cpath: /trunk",
                "cpath: trunk",
                "E160004: Non-canonical cpath field in node-rev '2-1._3.t3-5'",
            ),
            (
                "cpath: ",
                "cp: ",
                "E160004: Missing cpath field in node-rev '2-1._3.t3-5'",
            ),
            (
                "copyroot: -1 /x",
                "copyroot: -1",
                "E160004: Malformed copyroot line in node-rev '2-1._3.t3-5'",
            ),
            (
                "copyfrom: 2",
                "copyfrom: -1",
                "E160004: Malformed copyfrom line in node-rev '2-1._3.t3-5'",
            ),
            (
                "3 4 30",
                "3 4",
                "E160004: While reading representation offsets for node-revision '2-1._3.t3-5':",
            ),
            (
                "count: 1",
                "count 1",
                "E160004: Found malformed header 'count 1' in revision file",
            ),
            (
                "copyroot: ",
                "copy\0oot: ",
                "E160004: Found malformed header 'copy' in revision file",
            ),
        ] {
            let error = parse(&NODE.replace(from, to)).unwrap_err();
            assert_eq!(error.to_string(), message);
        }
    }
}
