//! What is known of single nodes.

use std::collections::{BTreeMap, HashMap};

use sylvan_core::repository::{DirEntry, DirEntryFields};
use sylvan_core::{NodeKind, RelPath, Result, Revnum, Timestamp, props};
use sylvan_fs::revprops::RevpropsReader;
use sylvan_fs::{Node, Root};

use crate::Repos;

/// The last change of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommittedInfo {
    /// The revision.
    pub revision: Revnum,
    /// Its date, as its property has it.
    pub date: Option<String>,
    /// Its author.
    pub author: Option<String>,
}

/// How many revisions' dates and authors are kept.
const KEPT: usize = 10_000;

/// Fills in [`DirEntry`] for many nodes; reads the properties of a revision once.
#[derive(Debug)]
pub struct DirEntryReader {
    fields: DirEntryFields,
    revprops: RevpropsReader,
    known: HashMap<Revnum, (Option<Timestamp>, Option<String>)>,
}

impl DirEntryReader {
    /// Returns what is known of a node, as far as the fields are wanted.
    ///
    /// # Errors
    /// If the properties of a revision cannot be read; `BAD_DATE`.
    pub fn read(&mut self, node: &Node) -> Result<DirEntry> {
        let wanted = self.fields;
        let of_revision = wanted.created_rev || wanted.time || wanted.last_author;
        let created_rev = node.created_revision().filter(|_| of_revision);
        let (time, last_author) = match created_rev {
            Some(revision) if wanted.time || wanted.last_author => self.of_revision(revision)?,
            _ => (None, None),
        };
        let size = match node.kind() {
            NodeKind::File if wanted.size => Some(node.len()?),
            _ => None,
        };
        Ok(DirEntry {
            kind: if wanted.kind {
                node.kind()
            } else {
                NodeKind::Unknown
            },
            size,
            has_props: wanted.has_props && node.has_props(),
            created_rev,
            time,
            last_author,
        })
    }

    fn of_revision(&mut self, revision: Revnum) -> Result<(Option<Timestamp>, Option<String>)> {
        if let Some(known) = self.known.get(&revision) {
            return Ok(known.clone());
        }
        let props = self.revprops.read(revision)?;
        let text = |name: &str| {
            let value = props.get(name)?;
            Some(String::from_utf8_lossy(value).into_owned())
        };
        let date = text(props::REVISION_DATE);
        let time = date.map(|date| Timestamp::parse_iso(&date)).transpose()?;
        let found = (time, text(props::REVISION_AUTHOR));
        if self.known.len() >= KEPT {
            self.known.clear();
        }
        self.known.insert(revision, found.clone());
        Ok(found)
    }
}

impl Repos {
    /// Makes a reader that fills in `fields`.
    pub fn dir_entry_reader(&self, fields: DirEntryFields) -> DirEntryReader {
        DirEntryReader {
            fields,
            revprops: self.fs().revprops_reader(),
            known: HashMap::new(),
        }
    }

    /// Returns what is known of a path, `None` if nothing is there.
    ///
    /// # Errors
    /// Those of [`Root::find`] and [`DirEntryReader::read`].
    pub fn stat(&self, root: &Root, path: &RelPath) -> Result<Option<DirEntry>> {
        let Some(node) = root.find(path)? else {
            return Ok(None);
        };
        let entry = self.dir_entry_reader(DirEntryFields::ALL).read(&node)?;
        Ok(Some(entry))
    }

    /// Returns what is known of the children of a folder, by name.
    ///
    /// # Errors
    /// `FS_NOT_DIRECTORY`, those of [`Root::node`] and [`DirEntryReader::read`].
    pub fn read_dir(
        &self,
        root: &Root,
        path: &RelPath,
        fields: DirEntryFields,
    ) -> Result<BTreeMap<String, DirEntry>> {
        let mut reader = self.dir_entry_reader(fields);
        let dir = root.node(path)?;
        let listing = dir.entries()?;
        let mut entries = BTreeMap::new();
        for found in listing.entries() {
            let entry = if fields == DirEntryFields::KIND {
                kind_only(found.kind)
            } else {
                match dir.child(&found.name)? {
                    Some(node) => reader.read(&node)?,
                    None => continue,
                }
            };
            entries.insert(found.name.clone(), entry);
        }
        Ok(entries)
    }

    /// Returns when and by whom a node was changed last.
    ///
    /// # Errors
    /// If the properties of the revision cannot be read.
    pub fn committed_info(&self, node: &Node) -> Result<CommittedInfo> {
        let revision = node.created_revision().unwrap_or_default();
        let props = self.fs().revprops(revision)?;
        let text = |name: &str| {
            let value = props.get(name)?;
            Some(String::from_utf8_lossy(value).into_owned())
        };
        Ok(CommittedInfo {
            revision,
            date: text(props::REVISION_DATE),
            author: text(props::REVISION_AUTHOR),
        })
    }
}

/// An entry of which the kind alone is known.
pub(crate) const fn kind_only(kind: NodeKind) -> DirEntry {
    DirEntry {
        kind,
        size: None,
        has_props: false,
        created_rev: None,
        time: None,
        last_author: None,
    }
}
