//! Settling conflicts.

mod follow;
mod props;
mod text;
mod tree;

use sylvan_core::{Error, ErrorCode, NodeKind, RelPath, RelPathBuf, Result};

use crate::WorkingCopy;
use crate::conflict::Conflict;
use crate::db::Db;
use crate::notify::{Action, Notification, NotifyFn};
use crate::site::Site;
use crate::work_queue::{Runner, item};

pub use props::{resolve_all as resolve_props, resolve_one as resolve_prop};
pub use text::resolve as resolve_text;
pub(crate) use tree::raise_moved_away;
pub use tree::{TreeChoice, resolve as resolve_tree};

/// Which side a conflict of text or properties is settled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// What was there before both changes.
    Base,
    /// What came in, all of it.
    TheirsFull,
    /// What was local, all of it.
    MineFull,
    /// What came in, where both changed something.
    TheirsConflict,
    /// What was local, where both changed something.
    MineConflict,
    /// What is there now.
    Merged,
}

/// Reads the conflict of a node, as far as it is not resolved; text and property conflicts are when
/// the user has removed their files.
///
/// # Errors
/// `E155010` if there is no such node; those of the database.
pub fn conflict(wc: &WorkingCopy, path: &RelPath) -> Result<Option<Conflict>> {
    let Some(node) = wc.db().node(path)? else {
        return Err(crate::not_found(wc, path));
    };
    let Some(stored) = node.actual.conflict else {
        return Ok(None);
    };
    let mut conflict = Conflict::parse(&stored)?;
    let unresolved = conflict.unresolved(wc);
    if !unresolved.text {
        conflict.text = None;
    }
    if !unresolved.props {
        conflict.props = None;
    }
    Ok((!conflict.is_empty()).then_some(conflict))
}

/// Lists the nodes in conflict at and below `path`, in the order of a walk.
///
/// # Errors
/// Those of the database.
pub fn conflicted(wc: &WorkingCopy, path: &RelPath) -> Result<Vec<RelPathBuf>> {
    let mut found = wc.db().conflicts_below(path)?;
    found.sort_by(|a, b| a.as_str().split('/').cmp(b.as_str().split('/')));
    Ok(found)
}

/// Returns the kind of the highest layer of a node.
///
/// # Errors
/// Those of the database.
pub fn victim_kind(wc: &WorkingCopy, path: &RelPath) -> Result<NodeKind> {
    let layers = wc.db().layers(path)?;
    Ok(layers.first().map_or(NodeKind::None, |top| top.kind))
}

/// Tells whether a file counts as binary by its local properties.
///
/// # Errors
/// Those of the database.
pub fn is_binary(wc: &WorkingCopy, path: &RelPath) -> Result<bool> {
    Ok(sylvan_core::props::is_binary(&props::actual(
        wc.db(),
        path,
    )?))
}

/// The conflict as stored, which is all of it.
fn stored(wc: &WorkingCopy, path: &RelPath) -> Result<Option<Conflict>> {
    let node = wc.db().node(path)?;
    let stored = node.and_then(|node| node.actual.conflict);
    stored.map(|stored| Conflict::parse(&stored)).transpose()
}

/// Records what is left of a conflict.
fn put(db: &Db, path: &RelPath, conflict: &Conflict) -> Result<()> {
    if conflict.is_empty() {
        db.clear_conflict(path)
    } else {
        db.mark_conflict(path, &conflict.to_bytes())
    }
}

/// Adds what removes a file of a conflict, if it is there.
fn remove_marker(
    site: &Site,
    marker: Option<&RelPathBuf>,
    items: &mut Vec<Vec<u8>>,
) -> Result<bool> {
    let Some(marker) = marker else {
        return Ok(false);
    };
    let is_there = site.root.lstat(marker)?.is_some_and(|meta| meta.is_file());
    if is_there {
        items.push(item::file_remove(marker));
    }
    Ok(is_there)
}

/// Changes the database and does the work that this asks for.
fn apply(
    wc: &WorkingCopy,
    site: &Site,
    cancel: &sylvan_io::Cancel,
    work: impl FnOnce(&Db) -> Result<Vec<Vec<u8>>>,
) -> Result<()> {
    let db = wc.db();
    let items = db.write(|| {
        let items = work(db)?;
        let items = items.iter().map(|work| db.put_work_item(work));
        items.collect::<Result<Vec<_>>>()
    })?;
    let runner = Runner {
        db,
        site,
        root: wc.root(),
        zone: &wc.options().time_zone,
        workers: wc.workers(),
    };
    runner.run(Some(&items), cancel)
}

fn failure(text: String) -> Error {
    Error::new(ErrorCode::WC_CONFLICT_RESOLVER_FAILURE, text)
}

fn tell(wc: &WorkingCopy, path: &RelPath, action: Action, notify: &mut NotifyFn<'_>) {
    notify(&Notification::new(wc.local_path(path), action));
}
