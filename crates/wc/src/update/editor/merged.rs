//! Files with local changes: what comes in is merged, at once and one by one.

use sylvan_core::props::{self, PropKind, SVN_KEYWORDS, SVN_SPECIAL};
use sylvan_core::{Md5, NodeKind, Props, RelPath, RelPathBuf, Result, Revnum, Sha1, skel};
use sylvan_io::file::FileKind;

use super::{
    OpenFile, Origin, PropChanges, TextState, UpdateEditor, accumulate_changed, dav_cache,
    has_magic, has_regular, patched,
};
use crate::conflict::{self, PropConflict, Reason, TextConflict, TreeConflict};
use crate::db::write::BaseRow;
use crate::db::{Db, Layer, Presence};
use crate::merge::props::MergedProps;
use crate::merge::{self, names};
use crate::modified;
use crate::notify::{Action, LockState, Notification, State};
use crate::update::entry::{FileNode, Incoming, Place, Shadowed, Text};
use crate::update::record::lock;
use crate::work_queue::item;

/// What became of a file's text.
struct Content {
    state: State,
    conflict: Option<TextConflict>,
    items: Vec<Vec<u8>>,
    /// Whether the size and time that are recorded stay.
    keep_recorded: bool,
}

impl Content {
    const fn unchanged() -> Self {
        Self {
            state: State::Unchanged,
            conflict: None,
            items: Vec::new(),
            keep_recorded: true,
        }
    }
}

impl<'s, 'e: 's, 'a: 'e> UpdateEditor<'s, 'e, 'a> {
    /// Tells whether a file must be handled one by one.
    pub(super) fn needs_merge(&self, file: &OpenFile) -> Result<bool> {
        if file.local.obstructed || file.local.add_existed {
            return Ok(true);
        }
        let Origin::Opened { layer, local_props } = &file.kind else {
            return Ok(false);
        };
        let has_text = !matches!(file.text, TextState::None);
        let regular = has_regular(&file.prop_changes);
        if !has_text && !regular {
            return Ok(false);
        }
        Ok(local_props.is_some() || self.is_modified(&file.path, layer)?)
    }

    /// Records a file that something local lies over.
    pub(super) fn finish_shadowed(&mut self, file: OpenFile, expected: Option<Md5>) -> Result<()> {
        let mut changed = file.changed.clone();
        accumulate_changed(&mut changed, &file.prop_changes)?;
        let props = patched(&file.base_props, &file.prop_changes, false);
        let (text, added) = match &file.kind {
            Origin::Opened { layer, .. } => (layer.sha1()?, false),
            Origin::Added { .. } => (None, true),
        };
        let lock_gone = self.lock_gone(&file);
        let content = if matches!(file.text, TextState::None) && !added {
            State::Unchanged
        } else {
            State::Changed
        };
        let prop_state = if has_regular(&file.prop_changes) {
            State::Changed
        } else {
            State::Unchanged
        };
        let folder = std::sync::Arc::clone(&self.dir(file.dir)?.folder);
        let node = FileNode {
            dir: file.dir.0,
            folder,
            changed,
            props: skel::props_to_skel(&props),
            dav_cache: dav_cache(&file.prop_changes),
            inherited_props: self.inherited(&file.path),
            recipe: crate::install::Recipe::plain(),
            place: Place::Shadowed(Shadowed {
                text,
                delete: file.local.taken_over,
            }),
            lost_lock: lock_gone.then(|| (self.fixed.repos_id, file.repos_path.clone())),
            repos_path: file.repos_path.clone(),
            path: file.path.clone(),
        };
        let dir = file.dir;
        let notify = (file.edited || lock_gone) && !file.notified;
        let (path, old_rev, edited) = (file.path.clone(), file.old_rev, file.edited);
        self.send_file(node, file.text, expected)?;
        self.dir(dir)?.sent_files += 1;
        if !notify {
            return Ok(());
        }
        let action = match (edited, added) {
            (true, true) => Action::UpdateShadowedAdd,
            (true, false) => Action::UpdateShadowedUpdate,
            (false, _) => Action::UpdateBrokenLock,
        };
        self.tell_merged(
            &path, action, content, prop_state, lock_gone, old_rev, &props,
        )
    }

    /// Merges what came for a file with local changes.
    pub(super) fn finish_merged(
        &mut self,
        mut file: OpenFile,
        expected: Option<Md5>,
    ) -> Result<()> {
        let layer = self.layer_of(&file)?;
        let local = match &file.kind {
            Origin::Opened { local_props, .. } => local_props.clone(),
            Origin::Added { .. } => self.props_of_addition(&file.path)?,
        };
        let actual = super::local::actual_props(&layer, local.as_ref())?;
        if self.becomes_other_kind(&file, &layer, &actual)? {
            self.replace_other_kind(&mut file)?;
            return self.finish_shadowed(file, expected);
        }
        let base_text = match &file.kind {
            Origin::Opened { layer, .. } => layer.sha1()?,
            Origin::Added { .. } => None,
        };
        let incoming = std::mem::replace(&mut file.text, TextState::None);
        let has_text = !matches!(incoming, TextState::None) || base_text.is_none();
        let text = self.text_now(&file.path, base_text, incoming, expected)?;
        let changes = regular(&file.prop_changes);
        let merged = merge::props::merge(
            &file.base_props,
            &actual,
            changes
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_ref())),
        );
        let content = if file.local.obstructed {
            Content {
                state: if has_text {
                    State::Changed
                } else {
                    State::Unchanged
                },
                keep_recorded: !has_text,
                ..Content::unchanged()
            }
        } else {
            self.merge_content(&file, &layer, &actual, base_text, text.filter(|_| has_text))?
        };
        self.record_merged(&file, text, &layer, merged, content)
    }

    /// Returns the layer that the working file is of.
    fn layer_of(&self, file: &OpenFile) -> Result<Layer> {
        if let Origin::Opened { layer, .. } = &file.kind {
            return Ok((**layer).clone());
        }
        let layers = lock(&self.env.db).layers(&file.path)?;
        let top = layers.into_iter().next();
        top.ok_or_else(|| self.not_found(&file.path))
    }

    /// Puts the text of a file into the store, and waits for it.
    fn text_now(
        &mut self,
        path: &RelPath,
        base: Option<Sha1>,
        text: TextState,
        expected: Option<Md5>,
    ) -> Result<Option<Text>> {
        let (incoming, len) = match text {
            TextState::Streaming(stream) => {
                return self
                    .pipeline()?
                    .end_stream_now(stream, path, expected)
                    .map(Some);
            }
            TextState::None => (Incoming::Unchanged, 0),
            TextState::Known(text) => (Incoming::Known(text), 0),
            TextState::Whole(text) => (Incoming::Whole(text), 0),
            TextState::Collecting {
                format,
                chunks,
                len,
            } => {
                let memory = Vec::new();
                let incoming = Incoming::Chunks {
                    format,
                    chunks,
                    memory,
                };
                (incoming, len)
            }
        };
        self.collected = self.collected.saturating_sub(len);
        self.pipeline()?.store_now(path, base, incoming, expected)
    }

    /// Tells whether a file that is modified becomes a symlink or stops being one.
    fn becomes_other_kind(&self, file: &OpenFile, layer: &Layer, actual: &Props) -> Result<bool> {
        if !matches!(file.kind, Origin::Opened { .. }) || file.local.shadows() {
            return Ok(false);
        }
        let was = file.base_props.contains_key(SVN_SPECIAL);
        let change = file
            .prop_changes
            .iter()
            .rfind(|(name, _)| name == SVN_SPECIAL);
        let Some((_, value)) = change else {
            return Ok(false);
        };
        if value.is_some() == was {
            return Ok(false);
        }
        let has_local_props = file.base_props != *actual;
        Ok(has_local_props || self.is_modified_with(&file.path, layer, actual)?)
    }

    /// Makes a modified file a local copy, over which the other kind of node comes.
    fn replace_other_kind(&mut self, file: &mut OpenFile) -> Result<()> {
        let tree = TreeConflict {
            reason: Reason::Edited,
            action: conflict::Action::Replaced,
            ..TreeConflict::default()
        };
        let before = (file.old_repos_path.clone(), file.old_rev);
        let mut conflict = self.change(before, NodeKind::File, &file.repos_path, NodeKind::File)?;
        conflict.tree = Some(tree);
        let (path, stored) = (file.path.clone(), conflict.to_bytes());
        self.now(|db| {
            db.make_copy(&path, false)?;
            db.mark_conflict(&path, &stored)?;
            Ok(Vec::new())
        })?;
        self.tell_action(&path, Action::TreeConflict, NodeKind::File);
        file.local.shadowed = true;
        file.notified = true;
        Ok(())
    }

    pub(super) fn is_modified_with(
        &self,
        path: &RelPath,
        layer: &Layer,
        actual: &Props,
    ) -> Result<bool> {
        let is_special = actual.contains_key(SVN_SPECIAL);
        modified::differs_from(&self.env.site.root, path, layer, is_special, || {
            let recipe = self.recipe(actual, layer.repos_path.as_deref(), &layer.changed());
            Ok(recipe.translation)
        })
    }

    fn merge_content(
        &self,
        file: &OpenFile,
        layer: &Layer,
        actual: &Props,
        base: Option<Sha1>,
        text: Option<Text>,
    ) -> Result<Content> {
        let path = &file.path;
        let is_modified = self.is_modified_with(path, layer, actual)?;
        let times = self.fixed.use_commit_times;
        let Some(text) = text else {
            let retranslate = has_magic(&file.prop_changes) || actual.contains_key(SVN_KEYWORDS);
            if !retranslate {
                return Ok(Content::unchanged());
            }
            let items = if is_modified {
                self.retranslate(path, actual, layer)?
            } else {
                vec![item::file_install(path, times, true)]
            };
            return Ok(Content {
                items,
                keep_recorded: false,
                ..Content::unchanged()
            });
        };
        if !is_modified {
            return Ok(Content {
                state: State::Changed,
                items: vec![item::file_install(path, times, true)],
                keep_recorded: false,
                ..Content::unchanged()
            });
        }
        let options = sylvan_diff::Options::default();
        let target = merge::text::Target {
            site: &self.env.site,
            path,
            props: actual,
            changes: &file.prop_changes,
            labels: self.labels(path, file.old_rev)?,
            diff3: self.fixed.options.diff3.as_deref(),
            options: &options,
            cancel: &self.cancel,
        };
        let left = base.map(|base| crate::pristine::path(&base)).transpose()?;
        let right = crate::pristine::path(&text.sha1)?;
        let merged = merge::text::merge_file(&target, left.as_deref(), &right)?;
        let state = match merged.state {
            State::Conflicted => State::Conflicted,
            _ => State::Merged,
        };
        Ok(Content {
            state,
            conflict: merged.conflict,
            items: merged.items,
            keep_recorded: false,
        })
    }

    /// Lists what writes a modified file anew for other keywords or line ends.
    pub(super) fn retranslate(
        &self,
        path: &RelPath,
        actual: &Props,
        layer: &Layer,
    ) -> Result<Vec<Vec<u8>>> {
        let how = self
            .recipe(actual, layer.repos_path.as_deref(), &layer.changed())
            .translation;
        let times = self.fixed.use_commit_times;
        let from = match how {
            Some(how) => Some(merge::text::normalized(
                &self.env.site,
                path,
                &how,
                &self.cancel,
            )?),
            None => None,
        };
        let mut items = Vec::new();
        match &from {
            Some(from) => {
                items.push(item::file_install_with(path, times, from));
                items.push(item::file_remove(from));
            }
            None => items.push(item::file_install_with(path, times, path)),
        }
        Ok(items)
    }

    fn labels(&self, path: &RelPath, old_rev: Option<Revnum>) -> Result<merge::text::Labels> {
        let options = self.fixed.options;
        let kept = path
            .basename()
            .rsplit_once('.')
            .filter(|(stem, _)| !stem.is_empty())
            .map(|(_, extension)| extension)
            .filter(|extension| {
                options
                    .preserved_extensions
                    .iter()
                    .any(|pattern| sylvan_core::glob::matches(pattern, extension))
            });
        let with = |label: String| match kept {
            Some(extension) => format!("{label}.{extension}"),
            None => label,
        };
        let old = old_rev.map_or(0, Revnum::number);
        Ok(merge::text::Labels {
            left: with(format!(".r{old}")),
            right: with(format!(".r{}", self.rev()?)),
            mine: with(".mine".to_owned()),
            suffix: None,
        })
    }

    pub(super) fn lock_gone(&self, file: &OpenFile) -> bool {
        let gone = file
            .prop_changes
            .iter()
            .any(|(name, value)| name == props::ENTRY_LOCK_TOKEN && value.is_none());
        let same_place = file.old_repos_path.as_ref() == Some(&file.repos_path);
        gone && (self.fixed.switch_path.is_none() || same_place)
    }

    /// Makes the file for property conflicts, and says what writes it.
    pub(super) fn prop_marker(
        &self,
        path: &RelPath,
        conflict: &mut PropConflict,
        items: &mut Vec<Vec<u8>>,
    ) -> Result<()> {
        let root = &self.env.site.root;
        let is_dir = self.look(path)? == Some(FileKind::Dir);
        let (folder, name) = if is_dir {
            (path, "dir_conflicts")
        } else {
            (path.parent().unwrap_or(RelPath::ROOT), path.basename())
        };
        conflict.marker = Some(names::reserve(root, folder, name, ".prej")?);
        items.push(item::prej_install(path));
        Ok(())
    }

    fn record_merged(
        &mut self,
        file: &OpenFile,
        text: Option<Text>,
        layer: &Layer,
        merged: MergedProps,
        content: Content,
    ) -> Result<()> {
        let mut items = content.items;
        let lock_gone = self.lock_gone(file);
        if items.is_empty() && lock_gone {
            items.push(item::sync_file_flags(&file.path));
        }
        let mut prop_conflict = merged.conflict;
        if let Some(conflict) = &mut prop_conflict {
            self.prop_marker(&file.path, conflict, &mut items)?;
        }
        let before = (file.old_repos_path.clone(), file.old_rev);
        let mut conflict = self.change(before, NodeKind::File, &file.repos_path, NodeKind::File)?;
        conflict.text = content.conflict;
        conflict.props = prop_conflict;
        let stored = if conflict.is_empty() {
            None
        } else {
            conflict.tree = self.recorded_tree(&file.path)?;
            Some(conflict.to_bytes())
        };
        let mut changed = file.changed.clone();
        accumulate_changed(&mut changed, &file.prop_changes)?;
        let new_base = patched(&file.base_props, &file.prop_changes, false);
        let local = (merged.props != new_base).then_some(&merged.props);
        let row = RowOf {
            changed: &changed,
            props: skel::props_to_skel(&new_base),
            dav_cache: dav_cache(&file.prop_changes),
            inherited: self.inherited(&file.path),
            checksum: text.map(|text| text.sha1).or(layer.sha1()?),
            recorded: layer.recorded().filter(|_| content.keep_recorded),
        };
        let (repos_id, rev) = (self.fixed.repos_id, self.rev()?);
        let repos_path: &RelPathBuf = &file.repos_path;
        let add_existed = file.local.add_existed;
        self.now(|db| {
            if lock_gone {
                db.delete_lock(repos_id, repos_path)?;
            }
            if let Some(text) = text.filter(|text| text.new) {
                db.put_pristine(&text.sha1, &text.md5, text.size, 0)?;
            }
            row.put(db, file, repos_id, rev)?;
            if add_existed {
                db.delete_top_working(&file.path)?;
            }
            db.put_actual_props(&file.path, local)?;
            if let Some(stored) = &stored {
                db.mark_conflict(&file.path, stored)?;
            }
            Ok(items)
        })?;
        if let Some(text) = &text {
            self.env.store.recorded(std::iter::once(&text.sha1));
        }
        self.env.shared.progress.add_files(1);
        if !file.edited && !lock_gone || file.notified {
            return Ok(());
        }
        let action = if !file.edited {
            Action::UpdateBrokenLock
        } else if file.local.obstructed {
            Action::UpdateShadowedUpdate
        } else if file.local.add_existed && content.state != State::Conflicted {
            Action::Exists
        } else {
            Action::UpdateUpdate
        };
        self.tell_merged(
            &file.path,
            action,
            content.state,
            merged.state,
            lock_gone,
            file.old_rev,
            &merged.props,
        )
    }

    /// Returns the tree conflict that was recorded for a node.
    fn recorded_tree(&self, path: &RelPath) -> Result<Option<TreeConflict>> {
        let node = lock(&self.env.db).node(path)?;
        match node.and_then(|node| node.actual.conflict) {
            Some(stored) => Ok(conflict::Conflict::parse(&stored)?.tree),
            None => Ok(None),
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one notification")]
    fn tell_merged(
        &mut self,
        path: &RelPath,
        action: Action,
        content: State,
        prop_state: State,
        lock_gone: bool,
        old_rev: Option<Revnum>,
        props: &Props,
    ) -> Result<()> {
        let mut notification = Notification::new(self.local(path), action)
            .kind(NodeKind::File)
            .states(content, prop_state)
            .revs(old_rev, Some(self.rev()?));
        notification.lock_state = if lock_gone {
            LockState::Unlocked
        } else {
            LockState::Unchanged
        };
        notification.mime_type = props
            .get(props::SVN_MIME_TYPE)
            .map(|value| String::from_utf8_lossy(value).into_owned());
        self.tell(&notification);
        Ok(())
    }
}

/// The row of a merged file.
struct RowOf<'r> {
    changed: &'r crate::db::write::Changed,
    props: Vec<u8>,
    dav_cache: Option<Vec<u8>>,
    inherited: Option<Vec<u8>>,
    checksum: Option<Sha1>,
    recorded: Option<(i64, i64)>,
}

impl RowOf<'_> {
    fn put(&self, db: &Db, file: &OpenFile, repos_id: i64, rev: Revnum) -> Result<()> {
        let mut row = BaseRow::new(
            &file.path,
            repos_id,
            file.repos_path.as_str(),
            rev,
            Presence::Normal,
            NodeKind::File,
        );
        row.changed = Some(self.changed);
        row.props = Some(&self.props);
        row.dav_cache = self.dav_cache.as_deref();
        row.inherited_props = self.inherited.as_deref();
        row.checksum = self.checksum.as_ref();
        row.recorded = self.recorded;
        db.put_shadowed_base(&row)
    }
}

/// Picks the changes of versioned properties.
pub(super) fn regular(changes: &PropChanges) -> PropChanges {
    let regular = changes
        .iter()
        .filter(|(name, _)| PropKind::of(name) == PropKind::Regular);
    regular.cloned().collect()
}
