//! Rows of NODES and ACTUAL_NODE as types.

use std::collections::HashMap;

use rusqlite::Row;
use rusqlite::types::ValueRef;
use sylvan_core::{
    Checksum, Depth, Md5, NodeKind, RelPath, RelPathBuf, Result, Revnum, Sha1, Timestamp,
};

use super::{Db, corrupt, read, sqlite_error};

/// The tree state of one layer, column `presence`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Presence {
    /// Everything about the node is known.
    Normal,
    /// Only the name is sure; an operation was interrupted.
    Incomplete,
    /// In BASE: the revision has no such node. In WORKING: a copy without it.
    NotPresent,
    /// In WORKING: the layers below are deleted.
    BaseDeleted,
    /// The user does not want it (sparse working copy).
    Excluded,
    /// The server does not show it.
    ServerExcluded,
}

impl Presence {
    /// Returns the word in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Incomplete => "incomplete",
            Self::NotPresent => "not-present",
            Self::BaseDeleted => "base-deleted",
            Self::Excluded => "excluded",
            Self::ServerExcluded => "server-excluded",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        Some(match word {
            "normal" => Self::Normal,
            "incomplete" => Self::Incomplete,
            "not-present" => Self::NotPresent,
            "base-deleted" => Self::BaseDeleted,
            "excluded" => Self::Excluded,
            "server-excluded" => Self::ServerExcluded,
            _ => return None,
        })
    }

    /// Tells whether a node of this layer is there, with properties and a checksum.
    pub const fn is_present(self) -> bool {
        matches!(self, Self::Normal | Self::Incomplete)
    }
}

/// What a node is in the working copy, by its highest layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeState {
    /// Checked out and not touched structurally.
    Normal,
    /// As normal, but not wholly fetched.
    Incomplete,
    /// Added, copied or moved here.
    Added,
    /// Deleted or moved away.
    Deleted,
    /// Known not to be there.
    NotPresent,
    /// Not wanted by the user.
    Excluded,
    /// Not shown by the server.
    ServerExcluded,
}

impl NodeState {
    /// Tells whether the node is kept as a mere mark that users do not see.
    pub const fn is_hidden(self) -> bool {
        matches!(
            self,
            Self::NotPresent | Self::Excluded | Self::ServerExcluded
        )
    }
}

/// One row of NODES: a node as one layer sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// 0 for BASE, else the depth of the folder or file at which the operation was done.
    pub op_depth: usize,
    /// The tree state.
    pub presence: Presence,
    /// File or folder (a symlink is a file), or unknown.
    pub kind: NodeKind,
    /// The repository's id; in WORKING of the copy source, `None` for a plain addition.
    pub repos_id: Option<i64>,
    /// The path below the repository's root; in WORKING of the copy source.
    pub repos_path: Option<RelPathBuf>,
    /// The revision; in WORKING of the copy source.
    pub revision: Option<Revnum>,
    /// How deep a folder is.
    pub depth: Option<Depth>,
    /// The checksum of a file's pristine text.
    pub checksum: Option<Checksum>,
    /// The revision of the last change.
    pub changed_rev: Option<Revnum>,
    /// The time of the last change.
    pub changed_date: Option<Timestamp>,
    /// The author of the last change.
    pub changed_author: Option<String>,
    /// The size of the working file when it was last known to be unmodified.
    pub recorded_size: Option<u64>,
    /// The modification time of the working file then.
    pub recorded_time: Option<Timestamp>,
    /// The pristine properties as stored, a skel.
    pub properties: Option<Vec<u8>>,
    /// It was moved here, not copied.
    pub moved_here: bool,
    /// Where it was moved to; set on the root of a move only.
    pub moved_to: Option<RelPathBuf>,
    /// It is a file external.
    pub file_external: bool,
    /// The properties inherited from above the working copy's root, as stored.
    pub inherited_props: Option<Vec<u8>>,
}

impl Layer {
    /// Tells whether there are pristine properties.
    pub fn has_props(&self) -> bool {
        self.properties
            .as_ref()
            .is_some_and(|stored| stored.len() > EMPTY_PROPS.len())
    }

    /// Returns what the node is by this layer.
    pub const fn state(&self) -> NodeState {
        match (self.presence, self.op_depth) {
            (Presence::Excluded, _) => NodeState::Excluded,
            (Presence::Normal, 0) => NodeState::Normal,
            (Presence::Incomplete, 0) => NodeState::Incomplete,
            (Presence::NotPresent, 0) => NodeState::NotPresent,
            (Presence::ServerExcluded, _) => NodeState::ServerExcluded,
            (Presence::NotPresent | Presence::BaseDeleted, _) => NodeState::Deleted,
            (Presence::Normal | Presence::Incomplete, _) => NodeState::Added,
        }
    }

    pub(crate) fn read(row: &Row<'_>) -> Result<Self> {
        let presence = text(row, 2)?;
        let kind = text(row, 3)?;
        Ok(Self {
            op_depth: integer(row, 1)?
                .and_then(|depth| usize::try_from(depth).ok())
                .ok_or_else(|| corrupt("A node has no op-depth"))?,
            presence: presence
                .and_then(Presence::from_word)
                .ok_or_else(|| unknown_word("presence", presence))?,
            kind: match kind {
                Some("dir") => NodeKind::Dir,
                Some("file" | "symlink") => NodeKind::File,
                Some("unknown") => NodeKind::Unknown,
                _ => return Err(unknown_word("kind", kind)),
            },
            repos_id: integer(row, 4)?,
            repos_path: path(row, 5)?,
            revision: integer(row, 6)?.and_then(Revnum::new),
            depth: text(row, 7)?.and_then(Depth::from_word),
            checksum: text(row, 8)?.map(Checksum::parse_db).transpose()?,
            changed_rev: integer(row, 9)?.and_then(Revnum::new),
            changed_date: time(row, 10)?,
            changed_author: text(row, 11)?.map(str::to_owned),
            recorded_size: integer(row, 12)?.and_then(|size| u64::try_from(size).ok()),
            recorded_time: time(row, 13)?,
            properties: blob(row, 14)?.map(<[u8]>::to_vec),
            moved_here: integer(row, 15)?.is_some_and(|moved| moved != 0),
            moved_to: path(row, 16)?,
            file_external: integer(row, 17)?.is_some_and(|external| external != 0),
            inherited_props: blob(row, 18)?.map(<[u8]>::to_vec),
        })
    }
}

/// What the database stores for no properties.
const EMPTY_PROPS: &[u8] = b"()";

/// A row of ACTUAL_NODE: what is local to a node.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Actual {
    /// The changelist it is in.
    pub changelist: Option<String>,
    /// The local properties as stored, if they differ from the pristine ones.
    pub properties: Option<Vec<u8>>,
    /// The conflict as stored, a skel.
    pub conflict: Option<Vec<u8>>,
}

impl Actual {
    fn read(row: &Row<'_>) -> Result<Self> {
        Self::read_at(row, 1)
    }

    /// Reads the three columns from `first` on.
    pub(crate) fn read_at(row: &Row<'_>, first: usize) -> Result<Self> {
        Ok(Self {
            changelist: text(row, first)?.map(str::to_owned),
            properties: blob(row, first + 1)?.map(<[u8]>::to_vec),
            conflict: blob(row, first + 2)?.map(<[u8]>::to_vec),
        })
    }
}

/// A node with all its layers and what is local to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The path below the working copy's root.
    pub path: RelPathBuf,
    /// The layers, the highest first. None: the path is only the victim of a tree conflict.
    pub layers: Vec<Layer>,
    /// What is local.
    pub actual: Actual,
}

impl Node {
    /// Returns the highest layer.
    pub fn top(&self) -> Option<&Layer> {
        self.layers.first()
    }

    /// Returns the BASE layer.
    pub fn base(&self) -> Option<&Layer> {
        self.layers.last().filter(|layer| layer.op_depth == 0)
    }

    /// Returns the layer that an operation of the highest one covers.
    pub fn below(&self) -> Option<&Layer> {
        self.layers.get(1)
    }

    /// Counts the layers above BASE.
    pub fn work_layers(&self) -> usize {
        self.layers.len() - usize::from(self.base().is_some())
    }

    /// Returns what the node is.
    pub fn state(&self) -> NodeState {
        self.top().map_or(NodeState::NotPresent, Layer::state)
    }

    /// Tells whether the highest layer's operation was done at this very node.
    pub fn is_op_root(&self) -> bool {
        self.top()
            .is_some_and(|top| top.op_depth > 0 && top.op_depth == self.path.depth())
    }

    /// Tells whether an added node covers one that would otherwise be there.
    pub fn is_replaced(&self) -> bool {
        self.below().is_some_and(|below| {
            // With work layers below, their words are meant; else those of BASE.
            let state = if self.layers[1..].iter().any(|layer| layer.op_depth > 0) {
                working_state(below.presence)
            } else {
                below.state()
            };
            !matches!(state, NodeState::NotPresent | NodeState::Deleted)
        })
    }
}

const fn working_state(presence: Presence) -> NodeState {
    match presence {
        Presence::Normal | Presence::Incomplete => NodeState::Added,
        Presence::NotPresent | Presence::BaseDeleted => NodeState::Deleted,
        Presence::Excluded => NodeState::Excluded,
        Presence::ServerExcluded => NodeState::ServerExcluded,
    }
}

impl Db {
    /// Reads a node with all its layers; `None` if nothing is known of the path.
    ///
    /// # Errors
    /// `E155016` for a value that cannot be, `E200030` and its kin.
    pub fn node(&self, path: &RelPath) -> Result<Option<Node>> {
        let (layers, actual) = self.read(|| {
            let key = (self.wc_id(), path.as_str());
            let actual = self.row(read::SELECT_ACTUAL, key, Actual::read)?;
            Ok((self.layers(path)?, actual))
        })?;
        if layers.is_empty() && actual.is_none() {
            return Ok(None);
        }
        Ok(Some(Node {
            path: path.to_owned(),
            layers,
            actual: actual.unwrap_or_default(),
        }))
    }

    /// Reads the layers of a node, the highest first.
    ///
    /// # Errors
    /// As [`Db::node`].
    pub fn layers(&self, path: &RelPath) -> Result<Vec<Layer>> {
        self.rows(
            read::SELECT_NODE,
            (self.wc_id(), path.as_str()),
            Layer::read,
        )
    }

    /// Reads the MD5 of the BASE texts in a folder.
    ///
    /// # Errors
    /// As [`Db::node`].
    pub(crate) fn base_md5s(&self, dir: &RelPath) -> Result<HashMap<Sha1, Md5>> {
        let mut md5s = HashMap::new();
        let params = (self.wc_id(), dir.as_str());
        self.each(read::SELECT_BASE_MD5S, params, |row| {
            let checksum = |at| Checksum::parse_db(text(row, at)?.unwrap_or_default());
            if let (Checksum::Sha1(sha1), Checksum::Md5(md5)) = (checksum(0)?, checksum(1)?) {
                md5s.insert(sha1, md5);
            }
            Ok(())
        })?;
        Ok(md5s)
    }

    /// Lists the BASE folders at and below a folder, in no order.
    ///
    /// # Errors
    /// As [`Db::node`].
    pub(crate) fn base_folders(&self, at: &RelPath) -> Result<Vec<RelPathBuf>> {
        let (low, high) = super::write::below(at);
        let select = read::SELECT_BASE_FOLDERS_BELOW;
        let mut folders = self.rows(select, (self.wc_id(), low, high), |row| {
            RelPathBuf::new(text(row, 0)?.unwrap_or_default())
        })?;
        if !at.is_root() {
            folders.push(at.to_owned());
        }
        Ok(folders)
    }

    /// Reads all children of a folder, by name, those too that are only conflict victims.
    ///
    /// # Errors
    /// As [`Db::node`].
    pub fn children(&self, dir: &RelPath) -> Result<Vec<Node>> {
        let mut nodes: Vec<Node> = Vec::new();
        self.each(read::SELECT_CHILDREN, (self.wc_id(), dir.as_str()), |row| {
            let layer = Layer::read(row)?;
            let path = text(row, 0)?.unwrap_or_default();
            match nodes.last_mut() {
                Some(node) if node.path.as_str() == path => node.layers.insert(0, layer),
                _ => nodes.push(Node {
                    path: RelPathBuf::new(path)?,
                    layers: vec![layer],
                    actual: Actual::default(),
                }),
            }
            Ok(())
        })?;
        self.each(
            read::SELECT_ACTUAL_CHILDREN,
            (self.wc_id(), dir.as_str()),
            |row| {
                let path = text(row, 0)?.unwrap_or_default();
                let actual = Actual::read(row)?;
                match nodes.binary_search_by(|node| node.path.as_str().cmp(path)) {
                    Ok(at) => nodes[at].actual = actual,
                    Err(at) => nodes.insert(
                        at,
                        Node {
                            path: RelPathBuf::new(path)?,
                            layers: Vec::new(),
                            actual,
                        },
                    ),
                }
                Ok(())
            },
        )?;
        Ok(nodes)
    }

    /// Returns the root of the move whose target is `to`, and the op-depth of its deletion.
    ///
    /// # Errors
    /// As [`Db::node`].
    pub fn moved_from(&self, to: &RelPath) -> Result<Option<(RelPathBuf, usize)>> {
        self.row(
            read::SELECT_MOVED_FROM,
            (self.wc_id(), to.as_str()),
            |row| {
                let from = path(row, 0)?.ok_or_else(|| corrupt("A node has no path"))?;
                let depth = integer(row, 1)?.unwrap_or(0);
                Ok((from, usize::try_from(depth).unwrap_or(0)))
            },
        )
    }

    /// Tells whether something below `path` is in conflict.
    ///
    /// # Errors
    /// As [`Db::node`].
    pub fn has_conflict_below(&self, path: &RelPath) -> Result<bool> {
        let found = self.row(
            read::SELECT_ACTUAL_CONFLICT_BELOW,
            (self.wc_id(), path.as_str()),
            |_| Ok(()),
        )?;
        Ok(found.is_some())
    }
}

fn unknown_word(column: &str, word: Option<&str>) -> sylvan_core::Error {
    let word: String = word.unwrap_or("NULL").chars().take(60).collect();
    corrupt(format_args!("Unknown {column} '{word}' in the database"))
}

/// Reads text that may be NULL.
pub(crate) fn text<'a>(row: &'a Row<'_>, column: usize) -> Result<Option<&'a str>> {
    match row.get_ref(column).map_err(sqlite_error)? {
        ValueRef::Null => Ok(None),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => std::str::from_utf8(bytes)
            .map(Some)
            .map_err(|_| corrupt("Text in the database is not UTF-8")),
        ValueRef::Integer(_) | ValueRef::Real(_) => {
            Err(corrupt("A number stands where text belongs"))
        }
    }
}

/// Reads bytes that may be NULL.
pub(crate) fn blob<'a>(row: &'a Row<'_>, column: usize) -> Result<Option<&'a [u8]>> {
    match row.get_ref(column).map_err(sqlite_error)? {
        ValueRef::Null => Ok(None),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Ok(Some(bytes)),
        ValueRef::Integer(_) | ValueRef::Real(_) => {
            Err(corrupt("A number stands where bytes belong"))
        }
    }
}

/// Reads a number that may be NULL.
pub(crate) fn integer(row: &Row<'_>, column: usize) -> Result<Option<i64>> {
    match row.get_ref(column).map_err(sqlite_error)? {
        ValueRef::Null => Ok(None),
        ValueRef::Integer(number) => Ok(Some(number)),
        ValueRef::Text(digits) => Ok(std::str::from_utf8(digits)
            .ok()
            .and_then(|digits| digits.parse().ok())),
        ValueRef::Real(_) | ValueRef::Blob(_) => Err(corrupt("A number in the database is none")),
    }
}

/// Reads a time in microseconds; 0 and NULL are none.
pub(crate) fn time(row: &Row<'_>, column: usize) -> Result<Option<Timestamp>> {
    Ok(integer(row, column)?
        .filter(|micros| *micros != 0)
        .map(Timestamp::from_micros))
}

/// Reads a relative path that may be NULL.
pub(crate) fn path(row: &Row<'_>, column: usize) -> Result<Option<RelPathBuf>> {
    text(row, column)?.map(RelPathBuf::new).transpose()
}
