//! What the rows of a node are, by its entry and the rows of its folder.
//!
//! Old formats have one entry for a node, which says what is scheduled; the layers below must be
//! told from that. Without merges only files can be replaced; with them a whole tree may be deleted
//! and another laid over it, each of whose nodes is then scheduled by itself.

use sylvan_core::{
    Checksum, Depth, Dirent, Error, ErrorCode, Md5, NodeKind, RelPath, RelPathBuf, Result, Revnum,
    Sha1,
};

use super::entries::{Changed, Entry, Schedule};
use crate::db::Presence;

/// A row of NODES.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) op_depth: usize,
    pub(super) repos_path: Option<RelPathBuf>,
    pub(super) revision: Option<Revnum>,
    pub(super) presence: Presence,
    pub(super) kind: NodeKind,
    pub(super) depth: Depth,
    pub(super) checksum: Option<Sha1>,
    pub(super) changed: Changed,
    pub(super) size: Option<i64>,
    pub(super) time: i64,
    pub(super) is_file_external: bool,
    /// Whether it is not what its folder has under its name in the repository.
    pub(super) is_switched: bool,
}

/// The rows of a node.
#[derive(Clone, Debug, Default)]
pub(super) struct Layers {
    /// What is checked out.
    pub(super) base: Option<Row>,
    /// A copy that is below another change.
    pub(super) below: Option<Row>,
    /// The local change.
    pub(super) work: Option<Row>,
    /// Where a copied node has taken the place of one in the copy around it: that it is not there.
    pub(super) hole: Option<Row>,
}

/// The digests of a pristine text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text {
    pub(super) sha1: Sha1,
    pub(super) md5: Md5,
}

/// The pristine texts of a file.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Texts {
    /// What the entry is about.
    pub(super) normal: Option<Text>,
    /// What it has replaced.
    pub(super) revert: Option<Text>,
}

/// A node that is being looked at.
pub(super) struct Subject<'a> {
    pub(super) root: &'a Dirent,
    pub(super) path: &'a RelPath,
    pub(super) entry: &'a Entry,
    /// The entry of the folder itself, in the file where this entry is.
    pub(super) this_dir: &'a Entry,
    /// The rows of the folder around it; the root has none.
    pub(super) parent: Option<&'a Layers>,
    pub(super) texts: Texts,
}

impl Subject<'_> {
    /// Finds the rows of the node.
    ///
    /// # Errors
    /// `E155016` for what cannot be, or for a text that is not what the entry says.
    pub(super) fn layers(&self) -> Result<Layers> {
        let which = self.which()?;
        let mut work = None;
        let mut hole = None;
        if which.work {
            let mut row = self.row(0, Presence::Normal);
            if self.entry.copied {
                hole = self.place_copy(&mut row, which.below)?;
            }
            work = Some(row);
        } else if self.entry.copied {
            return Err(self.impossible());
        }
        let base = if which.base {
            Some(self.base(which.work)?)
        } else {
            None
        };
        let below = if which.below {
            Some(self.below(work.as_mut())?)
        } else {
            None
        };
        if let Some(row) = &mut work {
            self.finish_work(row);
        }
        Ok(Layers {
            base,
            below,
            work,
            hole,
        })
    }

    fn impossible(&self) -> Error {
        let place = self.root.join_relpath(self.path);
        Error::new(
            ErrorCode::WC_CORRUPT,
            format!("Unable to upgrade '{place}'"),
        )
    }

    fn is_this_dir(&self) -> bool {
        self.entry.name.is_empty()
    }

    /// Tells whether this is what its folder says of a folder, which knows itself better.
    fn is_subfolder(&self) -> bool {
        self.entry.kind == NodeKind::Dir && !self.is_this_dir()
    }

    fn which(&self) -> Result<Which> {
        let entry = self.entry;
        let (in_base, in_work) = match self.parent {
            Some(parent) => {
                if parent.base.is_none() && parent.below.is_none() && parent.work.is_none() {
                    return Err(self.impossible());
                }
                (parent.base.is_some(), parent.work.is_some())
            }
            None if entry.schedule == Schedule::Normal && !entry.copied => (false, false),
            None => return Err(self.impossible()),
        };
        let mut which = match entry.schedule {
            Schedule::Normal => {
                let is_left_out = entry.depth == Depth::Exclude && !in_base && in_work;
                let work = entry.copied || is_left_out;
                Which {
                    base: !work,
                    below: false,
                    work,
                }
            }
            Schedule::Add => Which {
                base: entry.deleted && in_base,
                below: entry.deleted && !in_base,
                work: true,
            },
            Schedule::Delete => Which {
                base: in_base,
                below: in_work,
                work: true,
            },
            Schedule::Replace => Which {
                base: in_base,
                below: !in_base,
                work: true,
            },
        };
        let gone = which.base || which.below;
        let hidden = which.base && !which.work && !which.below;
        if entry.deleted && (!gone || entry.incomplete)
            || !entry.deleted && entry.absent && (!hidden || entry.incomplete)
        {
            return Err(self.impossible());
        }
        which.base |= entry.is_file_external;
        Ok(which)
    }

    /// Makes a row that has what all rows have.
    fn row(&self, op_depth: usize, presence: Presence) -> Row {
        Row {
            op_depth,
            repos_path: None,
            revision: None,
            presence,
            kind: self.entry.kind,
            depth: match self.entry.depth {
                Depth::Exclude => Depth::Infinity,
                depth => depth,
            },
            checksum: None,
            changed: Changed::default(),
            size: self.entry.working_size,
            time: self.entry.text_time,
            is_file_external: false,
            is_switched: false,
        }
    }

    fn child_of(&self, folder: Option<&RelPathBuf>) -> Result<Option<RelPathBuf>> {
        folder
            .map(|folder| folder.child(self.path.basename()))
            .transpose()
    }

    /// Says where a copy comes from, and to which layer it belongs; returns the row that makes room
    /// for it in the copy around it.
    fn place_copy(&self, row: &mut Row, has_below: bool) -> Result<Option<Row>> {
        let parent = self.parent.ok_or_else(|| self.impossible())?;
        let around = parent.work.as_ref().or(parent.below.as_ref());
        if let Some(url) = &self.entry.copyfrom_url {
            let repos = self.this_dir.repos.as_ref();
            row.repos_path = repos.and_then(|repos| url.strip_prefix(repos));
            row.revision = self.entry.copyfrom_rev;
            row.op_depth = self.path.depth();
            if let Some(around) = around
                && around.revision == row.revision
                && around.repos_path.is_some()
                && self.child_of(around.repos_path.as_ref())? == row.repos_path
            {
                row.op_depth = around.op_depth;
            }
        } else {
            let with_path = |row: &&Row| row.repos_path.is_some();
            let from = around
                .filter(with_path)
                .or_else(|| parent.below.as_ref().filter(with_path))
                .ok_or_else(|| {
                    Error::new(
                        ErrorCode::ENTRY_MISSING_URL,
                        format!("No copyfrom URL for '{}'", self.path),
                    )
                })?;
            row.repos_path = self.child_of(from.repos_path.as_ref())?;
            row.revision = from.revision;
            row.op_depth = from.op_depth;
        }
        let hole = around.filter(|around| {
            around.op_depth != row.op_depth
                && around.repos_path.is_some()
                && around.presence == Presence::Normal
                && !has_below
        });
        Ok(hole.map(|around| Row {
            kind: NodeKind::None,
            size: None,
            ..self.row(around.op_depth, Presence::NotPresent)
        }))
    }

    fn base(&self, has_work: bool) -> Result<Row> {
        let entry = self.entry;
        let mut row = self.row(0, Presence::Normal);
        let around = self.parent.and_then(|parent| parent.base.as_ref());
        row.revision = entry.revision;
        if entry.depth == Depth::Exclude {
            row.presence = Presence::Excluded;
        } else if entry.deleted {
            row.presence = Presence::NotPresent;
        } else if entry.absent {
            row.presence = Presence::ServerExcluded;
            row.revision = row
                .revision
                .or_else(|| around.and_then(|around| around.revision));
        } else if self.is_subfolder() {
            // Until its own entries are read.
            row.presence = Presence::Incomplete;
            row.revision = around.map_or(row.revision, |around| around.revision);
        } else if entry.incomplete {
            row.presence = Presence::Incomplete;
        }
        if entry.kind != NodeKind::Dir {
            let text = self.texts.revert.or(self.texts.normal);
            row.checksum = text.map(|text| text.sha1);
            if !(has_work && entry.copied) {
                self.check(text)?;
            }
        }
        row.repos_path = self.base_path()?;
        row.changed = entry.changed.clone();
        row.is_file_external = entry.is_file_external;
        if let Some(around) = around {
            let straight = self.child_of(around.repos_path.as_ref())?;
            row.is_switched = straight.is_some() && straight != row.repos_path;
        }
        Ok(row)
    }

    fn base_path(&self) -> Result<Option<RelPathBuf>> {
        let Some(repos) = &self.this_dir.repos else {
            return Ok(None);
        };
        if let Some(url) = &self.entry.url {
            return url
                .strip_prefix(repos)
                .map(Some)
                .ok_or_else(|| self.impossible());
        }
        let folder = self
            .this_dir
            .url
            .as_ref()
            .and_then(|url| url.strip_prefix(repos));
        Ok(Some(folder.unwrap_or_default().child(&self.entry.name)?))
    }

    /// Requires a text to be the one that the entry speaks of.
    fn check(&self, text: Option<Text>) -> Result<()> {
        let (Some(expected), Some(text)) = (&self.entry.checksum, text) else {
            return Ok(());
        };
        let expected = Md5::parse_hex(expected)?;
        if expected.allows(text.md5) {
            return Ok(());
        }
        Err(Error::new(
            ErrorCode::WC_CORRUPT,
            format!(
                "Bad base MD5 checksum for '{}'; expected: '{expected}'; found '{}'; ",
                self.root.join_relpath(self.path),
                text.md5
            ),
        ))
    }

    /// Finds the layer below; it takes from `work` what that knows if that but deletes it.
    fn below(&self, work: Option<&mut Row>) -> Result<Row> {
        let around = self
            .parent
            .and_then(|parent| parent.below.as_ref().or(parent.work.as_ref()))
            .ok_or_else(|| self.impossible())?;
        let is_deleted = self.entry.schedule == Schedule::Delete;
        let text = if is_deleted {
            self.texts.normal
        } else {
            self.texts.revert
        };
        let mut row = Row {
            repos_path: self.child_of(around.repos_path.as_ref())?,
            revision: around.revision,
            checksum: text.map(|text| text.sha1),
            depth: Depth::Infinity,
            size: Some(0),
            time: 0,
            ..self.row(around.op_depth, Presence::Normal)
        };
        if let Some(work) = work
            && is_deleted
            && work.repos_path.is_some()
        {
            row.repos_path = work.repos_path.take();
            row.revision = work.revision.take();
            row.changed = self.entry.changed.clone();
        }
        Ok(row)
    }

    fn finish_work(&self, row: &mut Row) {
        let entry = self.entry;
        if entry.kind != NodeKind::Dir {
            row.checksum = self.texts.normal.map(|text| text.sha1);
        }
        if entry.depth == Depth::Exclude {
            row.presence = Presence::Excluded;
        } else if self.is_subfolder() {
            row.presence = Presence::Incomplete;
        } else if entry.schedule == Schedule::Delete {
            row.presence = Presence::BaseDeleted;
        } else if entry.incomplete {
            row.presence = Presence::Incomplete;
        }
        if row.presence != Presence::BaseDeleted {
            row.changed = entry.changed.clone();
        }
        let around = self.parent.and_then(|parent| parent.work.as_ref());
        let goes_with = around.filter(|around| {
            row.presence == Presence::Excluded
                || entry.schedule == Schedule::Delete && around.presence == Presence::BaseDeleted
        });
        if let Some(around) = goes_with {
            row.op_depth = around.op_depth;
        } else if !entry.copied {
            row.op_depth = self.path.depth();
        }
    }
}

/// Which layers a node has.
#[derive(Clone, Copy)]
struct Which {
    base: bool,
    below: bool,
    work: bool,
}

impl Row {
    /// Returns the checksum as the database has it.
    pub(super) fn stored_checksum(&self) -> Option<String> {
        self.checksum.map(|sha1| Checksum::Sha1(sha1).to_db())
    }
}
