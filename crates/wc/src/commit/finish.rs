//! After a commit: what was committed becomes BASE.

use rusqlite::params;
use sylvan_core::props::{SVN_EXECUTABLE, SVN_NEEDS_LOCK};
use sylvan_core::translate::Translation;
use sylvan_core::{NodeKind, RelPath, RelPathBuf, Result, Revnum, Sha1, Timestamp};
use sylvan_io::Cancel;
use sylvan_io::file::FileKind;

use super::{
    APPLY_TO_BASE, DELETE_ALL_LAYERS, DELETE_LOCKS_BELOW, DELETE_SHADOWED, DESCENDANTS_TO_BASE,
    Item, KEEP_CHANGELIST, SELECT_MOVED_SOURCES, SentText, UPDATE_ORIGIN,
};
use crate::db::write::{self as rows, BaseRow, below};
use crate::db::{Db, Layer, Node, Presence, corrupt, path_column};
use crate::site::Site;
use crate::work_queue::{self, item};
use crate::{WorkingCopy, not_found, props};

/// What became of a commit.
#[derive(Clone, Debug)]
pub struct Finish {
    /// The new revision.
    pub rev: Revnum,
    /// Its time, if it is known.
    pub date: Option<Timestamp>,
    /// Its author, if there is one.
    pub author: Option<String>,
    /// Whether locks stay.
    pub keep_locks: bool,
    /// Whether nodes stay in their changelists.
    pub keep_changelists: bool,
}

/// A node that was committed.
#[derive(Clone, Copy, Debug)]
pub struct Committed<'a> {
    /// What was found before.
    pub item: &'a Item,
    /// The text that was sent.
    pub text: Option<&'a SentText>,
}

/// Makes what was committed BASE, in one transaction, and does the work on disk that follows. The
/// items must be in order of path.
///
/// # Errors
/// Those of the database, after which nothing has changed; `E155009` if the work on disk fails,
/// which then stays for `cleanup`.
pub fn finish(
    wc: &WorkingCopy,
    items: &[Committed<'_>],
    how: &Finish,
    cancel: &Cancel,
) -> Result<()> {
    let site = Site::of(wc)?;
    let db = wc.db();
    db.write(|| {
        for text in items.iter().filter_map(|committed| committed.text) {
            db.put_pristine(&text.sha1, &text.md5, text.size, 0)?;
        }
        for committed in items {
            let step = Step {
                wc,
                db,
                site: &site,
                how,
                committed,
            };
            step.run()?;
        }
        Ok(())
    })?;
    work_queue::run(wc, cancel)
}

struct Step<'a> {
    wc: &'a WorkingCopy,
    db: &'a Db,
    site: &'a Site,
    how: &'a Finish,
    committed: &'a Committed<'a>,
}

/// A place in a repository.
struct Place {
    id: i64,
    path: RelPathBuf,
}

impl Step<'_> {
    fn run(&self) -> Result<()> {
        let item = self.committed.item;
        let removes_lock =
            item.deleted || !self.how.keep_locks && (item.locked || item.added || item.deleted);
        if item.is_change() {
            return self.node(&item.path, removes_lock);
        }
        if removes_lock {
            self.unlock(&item.path)?;
        }
        if !self.how.keep_changelists {
            self.db.clear_changelist(&item.path)?;
        }
        Ok(())
    }

    /// Forgets the lock of a node that was not changed.
    fn unlock(&self, path: &RelPath) -> Result<()> {
        let node = self.read(path)?;
        let place = self.place(&node)?;
        self.db
            .execute(rows::DELETE_LOCK, params![place.id, place.path.as_str()])?;
        self.db.put_work_item(&item::sync_file_flags(path))?;
        Ok(())
    }

    fn read(&self, path: &RelPath) -> Result<Node> {
        let node = self.db.node(path)?;
        node.filter(|node| !node.layers.is_empty())
            .ok_or_else(|| not_found(self.wc, path))
    }

    /// Returns where the node is in the repository now.
    fn place(&self, node: &Node) -> Result<Place> {
        let top = node.top().ok_or_else(|| not_found(self.wc, &node.path))?;
        let of = |layer: Option<&Layer>| {
            let layer = layer.filter(|layer| layer.op_depth == 0)?;
            Some(Place {
                id: layer.repos_id?,
                path: layer.repos_path.clone()?,
            })
        };
        let known = match (top.op_depth, top.presence) {
            (0, _) => of(Some(top)),
            (_, Presence::BaseDeleted) => of(node.below()),
            _ => {
                let (parent, name) = node
                    .path
                    .split()
                    .ok_or_else(|| corrupt("The root of a working copy is added"))?;
                let layers = self.db.layers(parent)?;
                let folder = layers.first();
                let folder =
                    of(folder.filter(|layer| layer.op_depth == 0)).or_else(|| of(layers.get(1)));
                match folder {
                    Some(folder) => Some(Place {
                        id: folder.id,
                        path: folder.path.child(name)?,
                    }),
                    None => None,
                }
            }
        };
        known.ok_or_else(|| corrupt(format_args!("No repository location for '{}'", node.path)))
    }

    /// Collapses the layers of a node.
    fn node(&self, path: &RelPath, removes_lock: bool) -> Result<()> {
        let node = self.read(path)?;
        let place = self.place(&node)?;
        let Some(top) = node.top() else {
            return Ok(());
        };
        if top.op_depth == 0 && top.presence == Presence::NotPresent {
            // A leaf of a copy; the next update removes the mark.
            return Ok(());
        }
        let deleted = matches!(top.presence, Presence::BaseDeleted | Presence::NotPresent);
        if top.op_depth > 0 {
            self.collapse(&node, top, &place, deleted)?;
        }
        if deleted {
            let mut row = BaseRow::new(
                path,
                place.id,
                place.path.as_str(),
                self.how.rev,
                Presence::NotPresent,
                top.kind,
            );
            row.kind = top.kind;
            self.db.put_base(&row, true)?;
        } else {
            self.write(&node, top, &place)?;
        }
        self.settle_actual(&node, deleted)?;
        if removes_lock {
            let place_path = place.path.as_str();
            if top.op_depth > 0 {
                let (low, high) = below(&place.path);
                self.db
                    .execute(DELETE_LOCKS_BELOW, params![place.id, place_path, low, high])?;
            } else {
                self.db
                    .execute(rows::DELETE_LOCK, params![place.id, place_path])?;
            }
        }
        Ok(())
    }

    fn collapse(&self, node: &Node, top: &Layer, place: &Place, deleted: bool) -> Result<()> {
        let (id, path) = (self.db.wc_id(), &node.path);
        let (low, high) = below(path);
        for (_, to) in self.moved_sources(path, 0)? {
            self.db.clear_moved_here(&to)?;
        }
        let layers = self
            .db
            .execute(DELETE_ALL_LAYERS, params![id, path.as_str()])?;
        let depth = i64::try_from(top.op_depth).unwrap_or(i64::MAX);
        if layers > 1 {
            self.db
                .execute(DELETE_SHADOWED, params![id, low, high, depth])?;
        }
        if deleted {
            return Ok(());
        }
        if top.kind == NodeKind::Dir {
            self.db.execute(
                DESCENDANTS_TO_BASE,
                params![
                    id,
                    low,
                    high,
                    depth,
                    length(&low),
                    place.id,
                    format!("{}/", place.path),
                    self.how.rev.number()
                ],
            )?;
            let moves = self.moved_sources(path, 0)?;
            self.moved_from(path, place, &moves)?;
        }
        if top.moved_here {
            self.db.clear_move_to(path)?;
        }
        Ok(())
    }

    /// Lists what was moved away from a tree: source and destination.
    fn moved_sources(&self, path: &RelPath, layer: i64) -> Result<Vec<(RelPathBuf, RelPathBuf)>> {
        let (low, high) = below(path);
        self.db.rows(
            SELECT_MOVED_SOURCES,
            params![self.db.wc_id(), path.as_str(), low, high, layer],
            |row| {
                let column =
                    |at| -> Result<RelPathBuf> { Ok(path_column(row, at)?.unwrap_or_default()) };
                Ok((column(0)?, column(1)?))
            },
        )
    }

    /// Lets what was moved out of a tree that was just committed come from its new place.
    fn moved_from(
        &self,
        root: &RelPath,
        place: &Place,
        moves: &[(RelPathBuf, RelPathBuf)],
    ) -> Result<()> {
        for (from, to) in moves {
            let origin = Place {
                id: place.id,
                path: place
                    .path
                    .join(from.strip_prefix(root).unwrap_or(RelPath::ROOT)),
            };
            let (low, high) = below(to);
            let depth = depth_of(to);
            self.db.execute(
                UPDATE_ORIGIN,
                params![
                    self.db.wc_id(),
                    to.as_str(),
                    low,
                    high,
                    length(to.as_str()),
                    depth,
                    origin.id,
                    origin.path.as_str(),
                    self.how.rev.number()
                ],
            )?;
            let further = self.moved_sources(to, depth)?;
            self.moved_from(to, &origin, &further)?;
        }
        Ok(())
    }

    /// Writes the row of a node that is there.
    fn write(&self, node: &Node, top: &Layer, place: &Place) -> Result<()> {
        let path = &node.path;
        let stored = node.actual.properties.as_ref().or(top.properties.as_ref());
        let mut checksum = None;
        let mut recorded = None;
        if top.kind != NodeKind::Dir {
            checksum = match self.committed.text {
                Some(text) => Some(text.sha1),
                None => top.sha1()?,
            };
            recorded = self.recorded(node, stored.map(Vec::as_slice))?;
            if recorded.is_none() {
                self.db.put_work_item(&item::file_commit(path))?;
            }
        }
        let presence = match top.presence {
            Presence::Incomplete => Presence::Incomplete,
            _ => Presence::Normal,
        };
        let depth = top.depth.filter(|_| top.kind == NodeKind::Dir);
        let how = self.how;
        self.db.execute(
            APPLY_TO_BASE,
            params![
                self.db.wc_id(),
                path.as_str(),
                path.parent().map(RelPath::as_str),
                place.id,
                place.path.as_str(),
                how.rev.number(),
                presence.as_str(),
                depth.map(sylvan_core::Depth::as_str),
                top.kind.as_str(),
                how.rev.number(),
                how.date.map_or(0, Timestamp::micros),
                how.author,
                checksum.map(|sha1: Sha1| format!("$sha1${sha1}")),
                stored,
                top.inherited_props,
                recorded.map(|recorded| recorded.0),
                recorded.map(|recorded| recorded.1),
            ],
        )?;
        Ok(())
    }

    /// Returns size and time of the working file if nothing is to be done with it: it is what was
    /// sent, and nothing in it or about it depends on the commit.
    fn recorded(&self, node: &Node, stored: Option<&[u8]>) -> Result<Option<(i64, i64)>> {
        let Some((size, time)) = self.committed.text.and_then(|text| text.found) else {
            return Ok(None);
        };
        let props = match stored {
            Some(stored) => props::parse(stored)?,
            None => sylvan_core::Props::new(),
        };
        let plain = !Translation::is_needed(&props)
            && !props.contains_key(SVN_NEEDS_LOCK)
            && !props.contains_key(SVN_EXECUTABLE);
        if !plain {
            return Ok(None);
        }
        let meta = self.site.root.lstat(&node.path)?;
        let same = meta.is_some_and(|meta| {
            meta.kind == FileKind::File && meta.size == size && meta.mtime == time
        });
        let size = i64::try_from(size).ok().filter(|_| same);
        Ok(size.map(|size| (size, time.micros())))
    }

    fn settle_actual(&self, node: &Node, deleted: bool) -> Result<()> {
        let actual = &node.actual;
        if actual.changelist.is_none() && actual.properties.is_none() && actual.conflict.is_none() {
            return Ok(());
        }
        let id = self.db.wc_id();
        let path = node.path.as_str();
        match actual
            .changelist
            .as_ref()
            .filter(|_| self.how.keep_changelists && !deleted)
        {
            Some(changelist) => {
                let parent = node.path.parent().map(RelPath::as_str);
                self.db
                    .execute(KEEP_CHANGELIST, params![id, path, parent, changelist])?
            }
            None => self.db.execute(rows::DELETE_ACTUAL, params![id, path])?,
        };
        Ok(())
    }
}

fn depth_of(path: &RelPath) -> i64 {
    i64::try_from(path.depth()).unwrap_or(i64::MAX)
}

/// Returns the length of a path in characters.
fn length(path: &str) -> i64 {
    i64::try_from(path.chars().count()).unwrap_or(i64::MAX)
}
