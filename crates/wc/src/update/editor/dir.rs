//! The folder side of a drive.

use crossbeam_channel::bounded;
use sylvan_core::{Depth, NodeKind, RelPath, RelPathBuf, Result, skel};
use sylvan_delta::Token;
use sylvan_io::file::FileKind;

use super::{
    Dir, UpdateEditor, accumulate_changed, dav_cache, inherited_skel, out_of_order, patched,
};
use crate::db::{Layer, Presence};
use crate::notify::Action;
use crate::update::delete::Removal;
use crate::update::entry::{DirDone, DirRow, Message};
use crate::update::record::lock;

impl<'s, 'e: 's, 'a: 'e> UpdateEditor<'s, 'e, 'a> {
    /// Returns the inherited properties that are to be stored with a node.
    pub(super) fn inherited(&mut self, path: &RelPath) -> Option<Vec<u8>> {
        let inherited = self.fixed.options.inherited_props.get(path)?;
        self.inherited_done.insert(path.to_owned());
        Some(inherited_skel(inherited))
    }

    /// Says that a folder will be changed: it is incomplete until it is closed.
    pub(super) fn start_dir(
        &mut self,
        base: &Layer,
        path: &RelPath,
        repos_path: &RelPath,
    ) -> Result<()> {
        let rev = self.rev()?;
        let unchanged = base.presence == Presence::Incomplete
            && base.revision == Some(rev)
            && base.repos_path.as_deref() == Some(repos_path);
        if unchanged {
            return Ok(());
        }
        self.record(Message::DirStart {
            path: path.to_owned(),
            repos_path: repos_path.to_owned(),
        })
    }

    /// Tells the recorder that a folder is done, once its files are closed too.
    pub(super) fn dir_done(&mut self, token: Token) -> Result<()> {
        let done = self
            .dirs
            .get(&token)
            .is_some_and(|dir| dir.closed && dir.open_files == 0);
        if !done {
            return Ok(());
        }
        let Some(dir) = self.dirs.remove(&token) else {
            return Ok(());
        };
        if dir.skip {
            return Ok(());
        }
        let row = if dir.anchor_only {
            None
        } else {
            Some(self.dir_row(&dir)?)
        };
        if row.is_none() && dir.sent_files == 0 {
            return Ok(());
        }
        self.record(Message::DirDone(DirDone {
            dir: token.0,
            files: dir.sent_files,
            row,
        }))
    }

    pub(super) fn dir_row(&mut self, dir: &Dir) -> Result<DirRow> {
        let options = self.fixed.options;
        let mut depth = dir.depth;
        if options.depth_is_sticky
            && let Some(wanted) = options.depth
            && (wanted == Depth::Infinity || dir.path == self.target_path() && wanted > depth)
        {
            depth = wanted;
        }
        let props = patched(&dir.base_props, &dir.prop_changes, dir.was_incomplete);
        let mut changed = dir.changed.clone();
        accumulate_changed(&mut changed, &dir.prop_changes)?;
        Ok(DirRow {
            path: dir.path.clone(),
            repos_path: dir.repos_path.clone(),
            depth,
            changed,
            props: skel::props_to_skel(&props),
            dav_cache: dav_cache(&dir.prop_changes),
            inherited_props: self.inherited(&dir.path),
            not_present: self.missing_children(dir, depth)?,
        })
    }

    /// Lists what the repository has in a folder that is updated less deep than it is.
    pub(super) fn missing_children(
        &self,
        dir: &Dir,
        depth: Depth,
    ) -> Result<Vec<(RelPathBuf, RelPathBuf, NodeKind)>> {
        let Some(children) = self.fixed.options.repository_children.get(&dir.repos_path) else {
            return Ok(Vec::new());
        };
        children
            .iter()
            .filter(|(_, kind)| **kind != NodeKind::Dir || depth >= Depth::Immediates)
            .map(|(name, kind)| {
                Ok((
                    dir.path.child(name)?,
                    dir.repos_path.child(name)?,
                    if *kind == NodeKind::Dir {
                        NodeKind::Dir
                    } else {
                        NodeKind::File
                    },
                ))
            })
            .collect()
    }

    pub(super) fn delete_node(&mut self, parent: Token, path: &RelPath) -> Result<()> {
        if self.is_other_root(path) {
            self.skip(path, Action::UpdateSkipObstruction, NodeKind::Unknown);
            return Ok(());
        }
        let node = lock(&self.env.db)
            .node(path)?
            .ok_or_else(|| self.not_found(path))?;
        let Some(base) = node.base().cloned() else {
            return Err(self.not_found(path));
        };
        if node.actual.conflict.is_some() {
            self.skip(path, Action::SkipConflicted, NodeKind::Unknown);
            return Ok(());
        }
        let target = path == &*self.target_path();
        let rev = self.rev()?;
        let there = base.presence.is_present();
        let found = self.look(path)?.filter(|_| there);
        if found.is_some_and(|found| (found == FileKind::Dir) != (base.kind == NodeKind::Dir)) {
            return Err(self.in_its_place(path, "delete"));
        }
        if there
            && (node.work_layers() > 0
                || node.actual.properties.is_some()
                || self.has_local_changes(path, &base)?)
        {
            return Err(self.local_change(path));
        }
        let dir = self.dir(parent)?;
        let switched = dir.old_repos_path.as_ref().is_some_and(|old| {
            old.child(path.basename()).ok().as_ref() != base.repos_path.as_ref()
        });
        let keep = (target || there && switched).then_some((Presence::NotPresent, rev));
        if keep.is_some() && !target {
            self.skipped.insert(path.to_owned());
        }
        self.target_deleted |= target;
        let (answer, answered) = bounded(1);
        self.pipeline()?.record_now(Message::Delete {
            delete: Removal {
                path: path.to_owned(),
                keep,
                on_disk: there,
            },
            answer,
        })?;
        answered.recv().map_err(|_| out_of_order())??;
        if there {
            self.tell_action(path, Action::UpdateDelete, base.kind);
        }
        Ok(())
    }

    /// Returns how deep an added folder is.
    pub(super) fn depth_of_added(&mut self, parent: Token, path: &RelPath) -> Result<Depth> {
        let wanted = self.fixed.options.depth;
        let is_target = path == &*self.target_path();
        let ambient = self.dir(parent)?.depth;
        Ok(if is_target {
            wanted.unwrap_or(Depth::Infinity)
        } else if wanted == Some(Depth::Immediates)
            || wanted.is_none() && ambient == Depth::Immediates
        {
            Depth::Empty
        } else {
            Depth::Infinity
        })
    }
}
