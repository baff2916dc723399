//! Removing nodes that the repository has no more.

use std::sync::Mutex;

use rusqlite::params;
use sylvan_core::skel::Skel;
use sylvan_core::{NodeKind, RelPath, RelPathBuf, Result, Revnum};
use sylvan_io::file::Dir;

use super::record::lock;
use crate::db::write::{self as rows, BaseRow, below};
use crate::db::{Db, Presence, corrupt, sqlite_error};
use crate::work_queue::item;

/// A node that goes, with all below it.
#[derive(Debug)]
pub(crate) struct Removal {
    pub path: RelPathBuf,
    /// A row that stays to say that the node is not there, of this presence and revision.
    pub keep: Option<(Presence, Revnum)>,
    /// Whether there is something on disk.
    pub on_disk: bool,
}

/// Removes the rows; returns the work items that remove the files.
pub(crate) fn remove_rows(db: &Db, removal: &Removal) -> Result<Vec<i64>> {
    let path = &removal.path;
    let Some(node) = db.node(path)? else {
        return Ok(Vec::new());
    };
    let Some(base) = node.base() else {
        return Ok(Vec::new());
    };
    let (low, high) = below(path);
    let mut items = Vec::new();
    if removal.on_disk && base.presence.is_present() {
        if base.kind == NodeKind::Dir {
            let nodes = db.rows(
                rows::SELECT_PRESENT_BELOW,
                params![db.wc_id(), low, high],
                |row| {
                    let path: String = row.get(0).map_err(sqlite_error)?;
                    let kind: String = row.get(1).map_err(sqlite_error)?;
                    Ok((RelPathBuf::new(path)?, NodeKind::from_word(&kind)))
                },
            )?;
            for (path, kind) in nodes {
                items.push(db.put_work_item(&remove_item(&path, kind))?);
            }
        }
        items.push(db.put_work_item(&remove_item(path, base.kind))?);
    }
    db.execute(rows::DELETE_ACTUAL, params![db.wc_id(), path.as_str()])?;
    db.execute(rows::DELETE_ACTUAL_BELOW, params![db.wc_id(), low, high])?;
    db.execute(rows::DELETE_BASE_BELOW, params![db.wc_id(), low, high])?;
    db.execute(rows::DELETE_BASE, params![db.wc_id(), path.as_str()])?;
    if let Some((presence, rev)) = removal.keep {
        let repos_id = base
            .repos_id
            .ok_or_else(|| corrupt("A BASE node has no repository"))?;
        let repos_path = base.repos_path.clone().unwrap_or_default();
        let row = BaseRow::new(
            path,
            repos_id,
            repos_path.as_str(),
            rev,
            presence,
            base.kind,
        );
        db.put_base(&row, true)?;
    }
    Ok(items)
}

fn remove_item(path: &RelPathBuf, kind: NodeKind) -> Vec<u8> {
    if kind == NodeKind::Dir {
        item::dir_remove(path)
    } else {
        item::file_remove(path)
    }
}

/// Does the work items that [`remove_rows`] returned.
pub(super) fn run(tree: &Dir, db: &Mutex<&mut Db>, items: &[i64]) -> Result<()> {
    for item in items {
        let work: Option<Vec<u8>> =
            lock(db).row(rows::NEXT_WORK_ITEM, [item - 1], crate::work_queue::work)?;
        let skel = Skel::parse(&work.unwrap_or_default())?;
        let args = skel.elements().unwrap_or_default();
        let (Some(word), Some(path)) = (
            args.first().and_then(Skel::as_str),
            args.get(1).and_then(Skel::as_str),
        ) else {
            return Err(corrupt("A work item has no path"));
        };
        let path = RelPath::new(path)?;
        if word == "dir-remove" {
            tree.remove_dir_if_empty(path)?;
        } else {
            tree.remove_if_exists(path)?;
        }
    }
    Ok(())
}
