//! The file side of a drive.

use std::sync::Arc;

use sylvan_core::{Error, Md5, NodeKind, Props, RelPath, Result, Revnum, Sha1, props, skel};
use sylvan_delta::Token;

use super::{
    OpenFile, Origin, TextState, UpdateEditor, accumulate_changed, dav_cache, has_magic,
    out_of_order, patched,
};
use crate::db::write::Changed;
use crate::install::{Recipe, RecipeInfo};
use crate::notify::{Action, LockState, Notification, State};
use crate::update::entry::{Existing, FileJob, FileNode, Incoming, Place, Text};
use crate::update::record::lock;

/// What there is to tell of a file.
struct FileNews<'p> {
    action: Action,
    added: bool,
    edited: bool,
    has_text: bool,
    props_changed: bool,
    lock_gone: bool,
    old_rev: Option<Revnum>,
    mime_type: Option<&'p Vec<u8>>,
}

fn is_denied(error: &Error) -> bool {
    sylvan_io::file::error_kind(error) == std::io::ErrorKind::PermissionDenied
}

impl<'s, 'e: 's, 'a: 'e> UpdateEditor<'s, 'e, 'a> {
    pub(super) fn recipe(
        &self,
        props: &Props,
        repos_path: Option<&RelPath>,
        changed: &Changed,
    ) -> Recipe {
        Recipe::new(
            props,
            &RecipeInfo {
                repos_root: &self.fixed.repos_root,
                repos_path,
                changed,
                locked: false,
                use_commit_times: self.fixed.use_commit_times,
                zone: &self.fixed.zone,
            },
        )
    }

    pub(super) fn open_file_state(&mut self, file: Token, state: OpenFile) -> Result<()> {
        if let Some(dir) = self.dirs.get_mut(&state.dir) {
            dir.open_files += 1;
        }
        if self.files.insert(file, state).is_some() {
            return Err(out_of_order());
        }
        Ok(())
    }

    /// Makes what is sent on of a closed file; `None` if nothing is to be done.
    pub(super) fn finish_file(&mut self, file: OpenFile, expected: Option<Md5>) -> Result<()> {
        if file.local.shadowed {
            return self.finish_shadowed(file, expected);
        }
        match self.needs_merge(&file) {
            Ok(false) => {}
            Ok(true) => return self.finish_merged(file, expected),
            Err(error) if is_denied(&error) => {
                // What is in it is not known, so it is left alone.
                self.skip(&file.path, Action::UpdateSkipAccessDenied, NodeKind::File);
                return Ok(());
            }
            Err(error) => return Err(error),
        }
        let lock_gone = self.lock_gone(&file);
        let OpenFile {
            dir,
            path,
            repos_path,
            kind,
            base_props,
            prop_changes,
            text,
            edited,
            old_rev,
            mut changed,
            local,
            ..
        } = file;
        accumulate_changed(&mut changed, &prop_changes)?;
        let props = patched(&base_props, &prop_changes, false);
        let props_changed = props != base_props;
        let mut recipe = self.recipe(&props, Some(&repos_path), &changed);
        let has_text = !matches!(text, TextState::None);
        let lost_lock = lock_gone.then(|| (self.fixed.repos_id, repos_path.clone()));
        let action;
        let place = match kind {
            Origin::Added { replace } if !local.taken_over => {
                action = Action::UpdateAdd;
                Place::New { replace }
            }
            Origin::Added { replace } => {
                action = Action::Exists;
                Place::TakeOver { replace }
            }
            Origin::Opened { layer, .. } => {
                action = Action::UpdateUpdate;
                recipe.read_only = recipe.read_only
                    && (lock_gone
                        || lock(&self.env.db)
                            .lock(self.fixed.repos_id, &repos_path)?
                            .is_none());
                let retranslate = has_magic(&prop_changes)
                    || recipe
                        .translation
                        .as_ref()
                        .is_some_and(|how| how.keywords.is_some());
                let install = has_text || retranslate && edited;
                Place::Existing(Existing {
                    text: layer.sha1()?.ok_or_else(|| {
                        let local = self.local(&path);
                        crate::db::corrupt(format_args!("The file '{local}' has no checksum."))
                    })?,
                    install,
                    sync_flags: lock_gone,
                    found: self
                        .env
                        .site
                        .root
                        .lstat(&path)?
                        .filter(|meta| meta.is_file())
                        .map(|meta| (meta.size, meta.mtime)),
                    recorded: layer.recorded(),
                })
            }
        };
        let added = !matches!(place, Place::Existing(_));
        let folder = Arc::clone(&self.dir(dir)?.folder);
        let node = FileNode {
            dir: dir.0,
            folder,
            changed,
            props: skel::props_to_skel(&props),
            dav_cache: dav_cache(&prop_changes),
            inherited_props: self.inherited(&path),
            recipe,
            place,
            lost_lock,
            repos_path,
            path,
        };
        let path = node.path.clone();
        self.send_file(node, text, expected)?;
        self.dir(dir)?.sent_files += 1;
        self.tell_file(
            &path,
            FileNews {
                action,
                added,
                edited,
                has_text,
                props_changed,
                lock_gone,
                old_rev,
                mime_type: props.get(props::SVN_MIME_TYPE),
            },
        )
    }

    pub(super) fn send_file(
        &mut self,
        node: FileNode,
        text: TextState,
        expected: Option<Md5>,
    ) -> Result<()> {
        let (incoming, len) = match text {
            TextState::Streaming(stream) => {
                return self.pipeline()?.end_stream(stream, node, expected);
            }
            TextState::None => (Incoming::Unchanged, 0),
            TextState::Known(text) => (Incoming::Known(text), 0),
            TextState::Whole(text) => (Incoming::Whole(text), 0),
            TextState::Collecting {
                format,
                chunks,
                len,
            } => {
                // All texts are made by this thread, so that they share one heap of the allocator.
                let memory = Vec::with_capacity(len.min(self.env.queue.keep()));
                let incoming = Incoming::Chunks {
                    format,
                    chunks,
                    memory,
                };
                (incoming, len)
            }
        };
        self.collected = self.collected.saturating_sub(len);
        self.pipeline()?.send(FileJob {
            file: node,
            incoming,
            expected,
            budget: len,
        })
    }

    fn tell_file(&mut self, path: &RelPath, news: FileNews<'_>) -> Result<()> {
        if !news.edited && !news.lock_gone {
            return Ok(());
        }
        let action = if news.edited {
            news.action
        } else {
            Action::UpdateBrokenLock
        };
        let content = if news.has_text {
            State::Changed
        } else {
            State::Unchanged
        };
        let changed = if news.props_changed {
            State::Changed
        } else {
            State::Unchanged
        };
        let mut notification = Notification::new(self.local(path), action)
            .kind(NodeKind::File)
            .states(content, changed)
            .revs(news.old_rev.filter(|_| !news.added), Some(self.rev()?));
        notification.lock_state = if news.lock_gone {
            LockState::Unlocked
        } else {
            LockState::Unchanged
        };
        notification.mime_type = news
            .mime_type
            .map(|value| String::from_utf8_lossy(value).into_owned());
        self.tell(&notification);
        Ok(())
    }

    /// Looks for a text in the pristine store; one whose file is gone or cut short is not there.
    pub(super) fn stored_text(&self, sha1: &Sha1) -> Result<Option<Text>> {
        let store = &self.env.store;
        if !store.may_be_recorded(sha1) {
            return Ok(None);
        }
        let Some((md5, size)) = lock(&self.env.db).pristine(sha1)? else {
            return Ok(None);
        };
        let found = store.dir().lstat(&store.path(sha1)?)?;
        let is_whole = found.is_some_and(|meta| meta.is_file() && meta.size == size);
        Ok(is_whole.then_some(Text {
            sha1: *sha1,
            md5,
            size,
            new: false,
        }))
    }

    /// Starts a thread for a text that has become too large to be collected.
    pub(super) fn start_stream(&mut self, token: Token) -> Result<()> {
        let file = self.file(token)?;
        let TextState::Collecting {
            format,
            chunks,
            len,
        } = std::mem::replace(&mut file.text, TextState::None)
        else {
            return Ok(());
        };
        let base = match &file.kind {
            Origin::Opened { layer, .. } => layer.sha1()?,
            Origin::Added { .. } => None,
        };
        self.collected = self.collected.saturating_sub(len);
        let stream = self.pipeline()?.stream(base, format)?;
        for chunk in chunks {
            stream.push(chunk)?;
        }
        self.file(token)?.text = TextState::Streaming(stream);
        Ok(())
    }
}
