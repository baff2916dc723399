//! The folder side of a drive.

use sylvan_core::{Depth, NodeKind, RelPath, RelPathBuf, Result, skel};
use sylvan_delta::Token;

use super::merged::regular;
use super::{
    Dir, PropChanges, UpdateEditor, accumulate_changed, dav_cache, has_regular, inherited_skel,
    patched,
};
use crate::db::{Layer, Presence};
use crate::merge;
use crate::notify::{Action, Notification, State};
use crate::update::entry::{DirDone, DirRow, MergedDir, Message};

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

    /// Merges the properties of a folder that was left, and tells of it.
    pub(super) fn close_dir(&mut self, token: Token) -> Result<()> {
        let rev = self.rev()?;
        let dir = self.dir(token)?;
        if dir.skip {
            return Ok(());
        }
        let is_changed = has_regular(&dir.prop_changes) || dir.was_incomplete;
        let state = if is_changed && !dir.anchor_only {
            self.merge_dir_props(token)?
        } else {
            State::Unknown
        };
        let dir = self.dir(token)?;
        if dir.notified || !dir.edited {
            return Ok(());
        }
        dir.notified = true;
        let action = if dir.local.shadows() {
            Action::UpdateShadowedUpdate
        } else if dir.local.add_existed || dir.local.taken_over {
            Action::Exists
        } else {
            Action::UpdateUpdate
        };
        let (path, old_rev) = (dir.path.clone(), dir.old_rev);
        let notification = Notification::new(self.local(&path), action)
            .kind(NodeKind::Dir)
            .states(State::Unknown, state)
            .revs(old_rev, Some(rev));
        self.tell(&notification);
        Ok(())
    }

    fn merge_dir_props(&mut self, token: Token) -> Result<State> {
        let dir = self.dir(token)?;
        let new_base = patched(&dir.base_props, &dir.prop_changes, dir.was_incomplete);
        let local = dir.local_props.clone().filter(|_| !dir.local.shadowed);
        let Some(actual) = local else {
            return Ok(if new_base == dir.base_props {
                State::Unchanged
            } else {
                State::Changed
            });
        };
        let mut changes: PropChanges = regular(&dir.prop_changes);
        if dir.was_incomplete {
            let gone = dir
                .base_props
                .keys()
                .filter(|name| !new_base.contains_key(*name));
            changes.extend(gone.map(|name| (name.clone(), None)));
        }
        let merged = merge::props::merge(
            &dir.base_props,
            &actual,
            changes
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_ref())),
        );
        let path = dir.path.clone();
        let before = (dir.old_repos_path.clone(), dir.old_rev);
        let after = dir.repos_path.clone();
        let mut items = Vec::new();
        let conflict = match merged.conflict {
            Some(mut props) => {
                self.prop_marker(&path, &mut props, &mut items)?;
                let mut conflict = self.change(before, NodeKind::Dir, &after, NodeKind::Dir)?;
                conflict.props = Some(props);
                Some(conflict.to_bytes())
            }
            None => None,
        };
        self.dir(token)?.merged = Some(MergedDir {
            props: (merged.props != new_base).then_some(merged.props),
            conflict,
            items,
        });
        Ok(merged.state)
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
        self.known.get_mut().remove(&token);
        let Some(mut dir) = self.dirs.remove(&token) else {
            return Ok(());
        };
        if dir.skip {
            return Ok(());
        }
        let row = if dir.anchor_only {
            None
        } else {
            let merged = dir.merged.take();
            Some(self.dir_row(&dir, merged)?)
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

    pub(super) fn dir_row(&mut self, dir: &Dir, merged: Option<MergedDir>) -> Result<DirRow> {
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
            merged,
        })
    }

    /// Lists what the repository has in a folder that is updated less deep than it is.
    pub(super) fn missing_children(
        &self,
        dir: &Dir,
        depth: Depth,
    ) -> Result<Vec<(RelPathBuf, RelPathBuf, NodeKind)>> {
        let children = self.fixed.options.repository_children.get(&dir.repos_path);
        children
            .into_iter()
            .flatten()
            .filter(|(_, kind)| **kind != NodeKind::Dir || depth >= Depth::Immediates)
            .chain(&dir.not_present)
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
