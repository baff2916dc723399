//! What revert does on the disk: found out within the transaction, written down as work items.

use std::collections::{BTreeSet, HashSet};
use std::io::ErrorKind;

use sylvan_core::props::{SVN_EXECUTABLE, SVN_NEEDS_LOCK, SVN_SPECIAL};
use sylvan_core::{Depth, NodeKind, RelPath, RelPathBuf, Result};
use sylvan_io::Cancel;
use sylvan_io::file::{self, Dir, FileKind, Meta};

use super::is_expected;
use super::rows::{RevertList, Reverted};
use crate::db::NodeState;
use crate::delete::conflict_markers;
use crate::site::Site;
use crate::work_queue::{self, FileInfo, item};
use crate::working::Current;
use crate::{ADM_DIR, WorkingCopy, modified, pristine, survey};

/// What is to be done and told.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Work items, in order.
    pub items: Vec<Vec<u8>>,
    /// Files that turned out to be unmodified.
    pub unmodified: Vec<FileInfo>,
    /// What is told as reverted.
    pub reverted: BTreeSet<RelPathBuf>,
    /// Other working copies in the way.
    pub obstructed: Vec<RelPathBuf>,
}

/// Looks at the disk below a node that was reverted in the database.
pub(super) fn plan(
    wc: &WorkingCopy,
    site: &Site,
    path: &RelPath,
    depth: Depth,
    keep_added: bool,
    mut list: RevertList,
    cancel: &Cancel,
) -> Result<Plan> {
    let mut planner = Planner {
        wc,
        site,
        plan: Plan::default(),
    };
    let Some(target) = wc.db().current(path)? else {
        planner.gone(path, keep_added, &list)?;
        planner.rest(list, path);
        return Ok(planner.plan);
    };
    let is_tree = depth == Depth::Infinity && target.layer.kind == NodeKind::Dir;
    let nodes = if is_tree {
        wc.db().current_within(path)?
    } else {
        vec![target]
    };
    let found = look_at(wc, site, path, &nodes, cancel)?;
    let copies = if is_tree {
        planner.remove_copies(path, &list)?
    } else {
        BTreeSet::new()
    };
    let mut skip: Option<&RelPath> = None;
    let mut hidden = Vec::new();
    for (node, seen) in nodes.iter().zip(found) {
        cancel.check()?;
        if skip.is_some_and(|above| node.path.starts_with(above)) {
            hidden.push(&*node.path);
            continue;
        }
        if seen.is_root {
            skip = Some(&node.path);
            hidden.push(&*node.path);
            planner.plan.obstructed.push(node.path.clone());
            continue;
        }
        let entry = list.remove(&node.path);
        let meta = seen.meta.filter(|_| !copies.contains(&node.path));
        planner.node(node, entry.as_ref(), meta, &list)?;
    }
    for path in hidden {
        list.remove(path);
    }
    planner.rest(list, path);
    Ok(planner.plan)
}

/// What is on disk at a node's place.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    meta: Option<Meta>,
    /// It is the root of another working copy.
    is_root: bool,
}

/// Looks at what is at the places of nodes.
fn look_at(
    wc: &WorkingCopy,
    site: &Site,
    target: &RelPath,
    nodes: &[Current],
    cancel: &Cancel,
) -> Result<Vec<Seen>> {
    let paths: Vec<&RelPath> = nodes.iter().map(|node| &*node.path).collect();
    let metas = survey::lstat_all(wc, &site.root, &paths, cancel)?;
    let may_be_roots = nodes.iter().zip(&metas).filter(|(node, meta)| {
        *node.path != *target
            && node.layer.kind == NodeKind::Dir
            && meta.is_some_and(|meta| meta.is_dir())
    });
    let adms = may_be_roots
        .map(|(node, _)| node.path.child(ADM_DIR))
        .collect::<Result<Vec<_>>>()?;
    let adms: Vec<&RelPath> = adms.iter().map(|path| &**path).collect();
    let roots: HashSet<_> = survey::lstat_all(wc, &site.root, &adms, cancel)?
        .into_iter()
        .zip(&adms)
        .filter(|(meta, _)| meta.is_some_and(|meta| meta.is_dir()))
        .filter_map(|(_, adm)| adm.parent())
        .collect();
    let seen = nodes.iter().zip(metas).map(|(node, meta)| Seen {
        meta,
        is_root: roots.contains(&*node.path),
    });
    Ok(seen.collect())
}

/// As [`Dir::lstat`]; nothing is where a folder above is something else.
fn lstat(root: &Dir, path: &RelPath) -> Result<Option<Meta>> {
    const ELOOP: i32 = 40;
    match root.lstat(path) {
        Err(error)
            if file::error_kind(&error) == ErrorKind::NotADirectory
                || error.code().number() == ELOOP =>
        {
            Ok(None)
        }
        found => found,
    }
}

struct Planner<'a> {
    wc: &'a WorkingCopy,
    site: &'a Site,
    plan: Plan,
}

impl Planner<'_> {
    /// A target that is no node any more.
    fn gone(&mut self, path: &RelPath, keep_added: bool, list: &RevertList) -> Result<()> {
        let entry = list.get(path).cloned().unwrap_or_default();
        let copied = copied_here(path, Some(&entry));
        if keep_added && !copied {
            return Ok(());
        }
        let meta = lstat(&self.site.root, path)?;
        if let Some(meta) = meta {
            if meta.is_dir() {
                self.plan.items.push(item::dir_remove_all(path));
            } else {
                self.plan.items.push(item::file_remove(path));
            }
        }
        self.remove_markers(path, Some(&entry))
    }

    /// Removes the files and emptied folders of copies; returns what may be gone then.
    fn remove_copies(&mut self, path: &RelPath, list: &RevertList) -> Result<BTreeSet<RelPathBuf>> {
        let mut gone = BTreeSet::new();
        let mut dirs = Vec::new();
        for (below, entry) in list {
            let is_below = below.starts_with(path) && **below != *path;
            match entry.node {
                Some((NodeKind::File, _, true)) if is_below => {
                    let meta = lstat(&self.site.root, below)?;
                    if meta.is_some_and(|meta| meta.is_file() || meta.is_symlink()) {
                        self.plan.items.push(item::file_remove(below));
                        gone.insert(below.clone());
                    }
                }
                Some((NodeKind::Dir, _, true)) if is_below => {
                    dirs.push(below);
                    gone.insert(below.clone());
                }
                _ => {}
            }
        }
        for dir in dirs.into_iter().rev() {
            self.plan.items.push(item::dir_remove(dir));
        }
        Ok(gone)
    }

    /// A node that is there after the revert.
    fn node(
        &mut self,
        node: &Current,
        entry: Option<&Reverted>,
        meta: Option<Meta>,
        list: &RevertList,
    ) -> Result<()> {
        let mut told = entry.is_some_and(|entry| entry.node.is_some() || entry.local);
        let state = node.layer.state();
        if !state.is_hidden() {
            told |= self.put_right(node, entry, state, meta, list)?;
        }
        told |= self.remove_markers_of(&node.path, entry)?;
        if told {
            self.plan.reverted.insert(node.path.clone());
        }
        Ok(())
    }

    /// Makes the disk have what the database says; tells whether that took anything.
    fn put_right(
        &mut self,
        node: &Current,
        entry: Option<&Reverted>,
        state: NodeState,
        meta: Option<Meta>,
        list: &RevertList,
    ) -> Result<bool> {
        let path = &*node.path;
        let is_dir = node.layer.kind == NodeKind::Dir;
        let mut there = meta;
        if copied_here(path, entry)
            && let Some(meta) = meta
        {
            let was_dir = entry.is_some_and(|e| matches!(e.node, Some((NodeKind::Dir, ..))));
            if was_dir && meta.is_dir() {
                self.remove_copies(path, list)?;
                self.plan.items.push(item::dir_remove(path));
                if !is_dir {
                    self.plan.items.push(item::dir_remove_all(path));
                }
                there = None;
            } else if !was_dir && !meta.is_dir() {
                self.plan.items.push(item::file_remove(path));
                there = None;
            }
        }
        if let Some(meta) = there {
            match meta.kind {
                FileKind::Dir if !is_dir => {
                    self.plan.items.push(item::dir_remove_all(path));
                    there = None;
                }
                FileKind::File if is_dir => {
                    self.plan.items.push(item::file_remove(path));
                    there = None;
                }
                FileKind::File | FileKind::Symlink if !is_dir && is_expected(state) => {
                    match self.file(node, meta)? {
                        OnDisk::Right => {}
                        OnDisk::Flags => return Ok(true),
                        OnDisk::Wrong => there = None,
                    }
                }
                _ => {}
            }
        }
        if there.is_some() || !is_expected(state) {
            return Ok(false);
        }
        self.plan.items.push(if is_dir {
            item::dir_install(path)
        } else {
            item::file_install(path, self.wc.options().use_commit_times, true)
        });
        Ok(true)
    }

    /// Compares a file with what should be there.
    fn file(&mut self, node: &Current, meta: Meta) -> Result<OnDisk> {
        let props = node.pristine_props()?;
        if props.contains_key(SVN_SPECIAL) != meta.is_symlink() {
            self.plan.items.push(item::file_remove(&node.path));
            return Ok(OnDisk::Wrong);
        }
        let size = i64::try_from(meta.size).unwrap_or(-1);
        if node.layer.recorded() != Some((size, meta.mtime.micros())) {
            if self.differs(node, meta)? {
                return Ok(OnDisk::Wrong);
            }
            if !meta.is_symlink() {
                self.plan
                    .unmodified
                    .push((node.path.clone(), size, meta.mtime.micros()));
            }
        }
        if node.layer.state() != NodeState::Normal || meta.is_symlink() {
            return Ok(OnDisk::Right);
        }
        let has_lock = || -> Result<bool> {
            let place = node.layer.repos_id.zip(node.layer.repos_path.as_deref());
            match place {
                Some((id, path)) => Ok(self.wc.db().lock(id, path)?.is_some()),
                None => Ok(false),
            }
        };
        let read_only = props.contains_key(SVN_NEEDS_LOCK) && !has_lock()?;
        let is_read_only = meta.mode & 0o200 == 0;
        let executable = props.contains_key(SVN_EXECUTABLE);
        let is_executable = meta.mode & 0o100 != 0;
        if read_only == is_read_only && executable == is_executable {
            return Ok(OnDisk::Right);
        }
        self.plan.items.push(item::sync_file_flags(&node.path));
        Ok(OnDisk::Flags)
    }

    fn differs(&self, node: &Current, meta: Meta) -> Result<bool> {
        let Some(sha1) = node.layer.sha1()? else {
            return Ok(false);
        };
        let recipe = work_queue::recipe_of(self.wc, &node.layer, false)?;
        modified::differs_as_installed(
            (&self.site.root, &node.path, meta),
            (&self.site.adm, &pristine::path(&sha1)?, sha1),
            &recipe,
        )
    }

    fn remove_markers(&mut self, path: &RelPath, entry: Option<&Reverted>) -> Result<()> {
        self.remove_markers_of(path, entry).map(drop)
    }

    /// Removes the files that tell of a conflict; tells whether there was any.
    fn remove_markers_of(&mut self, _: &RelPath, entry: Option<&Reverted>) -> Result<bool> {
        let mut any = false;
        let conflict = entry.and_then(|entry| entry.conflict.as_deref());
        for marker in conflict_markers(conflict)? {
            if lstat(&self.site.root, &marker)?.is_some_and(|meta| !meta.is_dir()) {
                self.plan.items.push(item::file_remove(&marker));
                any = true;
            }
        }
        Ok(any)
    }

    /// Tells of what is no node any more.
    fn rest(&mut self, list: RevertList, target: &RelPath) {
        for (path, entry) in list {
            if path.starts_with(target) && (entry.node.is_some() || entry.local) {
                self.plan.reverted.insert(path);
            }
        }
    }
}

/// How a file is on disk.
enum OnDisk {
    Right,
    /// Only its mode is wrong, which is being mended.
    Flags,
    Wrong,
}

/// Tells whether a node was the root of a copy.
fn copied_here(path: &RelPath, entry: Option<&Reverted>) -> bool {
    entry.is_some_and(|entry| {
        entry
            .node
            .is_some_and(|(_, op_depth, is_copy)| is_copy && op_depth == path.depth())
    })
}
