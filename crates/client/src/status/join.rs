//! Local statuses joined with what the repository has changed.

use std::collections::{BTreeMap, HashMap, HashSet};

use sylvan_core::{Lock, RelPath, RelPathBuf, Result};
use sylvan_wc::status::{self, Status, StatusKind};

use super::changes::{Change, Changes, Noted, RepoStatus, WalkKey};
use super::{Anchor, Options, Teller};

/// Locks by path below the repository root.
pub(super) type Locks = HashMap<RelPathBuf, Lock>;

/// Goes along with the walk of the working copy, in its order.
pub(super) struct Join<'a> {
    changes: Changes,
    locks: Locks,
    options: &'a Options,
    /// The anchor, in the working copy.
    anchor: &'a RelPath,
    /// Where folders of the drive are in the repository, as far as they are in the working copy.
    places: BTreeMap<WalkKey, RelPathBuf>,
    /// Local folders whose place another folder has taken.
    replaced: HashSet<WalkKey>,
}

impl<'a> Join<'a> {
    pub(super) fn new(
        changes: Changes,
        locks: Locks,
        options: &'a Options,
        anchor: &'a Anchor,
    ) -> Result<Self> {
        let mut places = BTreeMap::new();
        if let (Some(url), Some(root)) = (anchor.node.url()?, anchor.node.repos_root()?)
            && let Some(path) = url.strip_prefix(&root)
        {
            places.insert(WalkKey::from(RelPath::ROOT), path);
        }
        Ok(Self {
            changes,
            locks,
            options,
            anchor: anchor.node.path(),
            places,
            replaced: HashSet::new(),
        })
    }

    /// Takes the local status of a node.
    pub(super) fn local(
        &mut self,
        path: &RelPath,
        status: Status,
        teller: &mut Teller<'_>,
    ) -> Result<()> {
        let below = path.strip_prefix(self.anchor).unwrap_or(path).to_owned();
        let key = WalkKey::from(&*below);
        self.additions_before(&key, teller)?;
        let noted = self.changes.nodes.remove(&key);
        let mut repos = noted.map_or_else(RepoStatus::default, |noted| noted.status);
        match self.changes.folders.get(&key) {
            Some(replaced) => {
                if *replaced {
                    self.replaced.insert(key.clone());
                }
                if let Some(path) = &status.repos_path {
                    self.places.insert(key, path.clone());
                }
            }
            None if self.is_in_replaced(&below) => repos.node = Change::Deleted,
            None => {}
        }
        let lock = match &status.repos_path {
            Some(path) if status.versioned => self.locks.get(path).cloned(),
            _ => None,
        };
        let told = repos.node != Change::None
            || lock.is_some()
            || self.is_interesting(path, &status, teller)?;
        if told {
            teller.tell(path, status, repos, lock)?;
        }
        Ok(())
    }

    /// Tells what is only in the repository and was not told yet.
    pub(super) fn rest(&mut self, teller: &mut Teller<'_>) -> Result<()> {
        while let Some((_, noted)) = self.changes.nodes.pop_first() {
            self.addition(&noted, teller)?;
        }
        Ok(())
    }

    fn additions_before(&mut self, key: &WalkKey, teller: &mut Teller<'_>) -> Result<()> {
        while let Some(first) = self.changes.nodes.first_entry() {
            if first.key() >= key {
                break;
            }
            let noted = first.remove();
            self.addition(&noted, teller)?;
        }
        Ok(())
    }

    fn addition(&self, noted: &Noted, teller: &mut Teller<'_>) -> Result<()> {
        if !noted.added {
            return Ok(());
        }
        let mut repos = noted.status;
        repos.node = Change::Added;
        let is_folder = self
            .changes
            .folders
            .contains_key(&WalkKey::from(&*noted.path));
        if !is_folder && self.is_in_replaced(&noted.path) {
            repos.node = Change::Deleted;
        }
        let lock = match self.place(&noted.path) {
            Some(place) if !is_folder => self.locks.get(&place).cloned(),
            _ => None,
        };
        let path = self.anchor.join(&noted.path);
        teller.tell(&path, Status::nothing(), repos, lock)
    }

    /// Tells whether the folder of the drive that a node is in has taken the place of a local one.
    fn is_in_replaced(&self, path: &RelPath) -> bool {
        if self.replaced.is_empty() {
            return false;
        }
        path.ancestors()
            .map(WalkKey::from)
            .find(|key| self.changes.folders.contains_key(key))
            .is_some_and(|folder| self.replaced.contains(&folder))
    }

    /// Returns where a node that is only in the repository is there.
    fn place(&self, path: &RelPath) -> Option<RelPathBuf> {
        if self.locks.is_empty() {
            return None;
        }
        path.ancestors().find_map(|above| {
            let place = self.places.get(&WalkKey::from(above))?;
            Some(place.join(path.strip_prefix(above)?))
        })
    }

    /// Tells whether a local status would be told without the repository.
    fn is_interesting(&self, path: &RelPath, status: &Status, teller: &Teller<'_>) -> Result<bool> {
        if status.conflicted {
            return Ok(true);
        }
        if status.node == StatusKind::Ignored && !self.options.no_ignore {
            return Ok(false);
        }
        let marked = status.switched
            || status.lock.is_some()
            || status.changelist.is_some()
            || status.moved_to.is_some();
        if self.options.all || marked {
            return Ok(true);
        }
        let is_dull = status::is_dull(status.node, || {
            let node = teller.node.wc().db().node(path)?;
            Ok(node.is_some_and(|node| node.is_op_root()))
        })?;
        Ok(!is_dull)
    }
}
