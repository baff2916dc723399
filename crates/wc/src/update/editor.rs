//! The editor: decides what becomes of each node, and sends it on its way.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::thread::Scope;

use bytes::Bytes;
use crossbeam_channel::bounded;
use sylvan_core::props::{self, PropKind};
use sylvan_core::{
    Depth, Dirent, Error, ErrorCode, Md5, NodeKind, Props, RelPath, RelPathBuf, Result, Revnum,
    Sha1, Timestamp, Url, skel,
};
use sylvan_delta::{CopyFrom, Editor, TextFormat, Token};
use sylvan_io::Cancel;
use sylvan_io::file::FileKind;

use super::delete::Removal;
use super::entry::{
    DirDisk, DirDone, DirRow, Existing, FileJob, FileNode, Incoming, Marker, Message, NewDir,
    Place, Text,
};
use super::pipeline::{Env, Pipeline, Stream};
use super::record::{Constants, lock};
use super::{UpdateOptions, bump, keywords};
use crate::db::write::Changed;
use crate::db::{Layer, Node, Presence};
use crate::install::{self, Recipe, RecipeInfo, Source};
use crate::notify::{Action, LockState, Notification, NotifyFn, State};
use crate::{ADM_DIR, modified, site};

/// Chunks of a text are collected up to this length; then it is streamed.
const COLLECT: usize = 256 << 10;
/// So much may be collected for all open files together.
const COLLECT_ALL: usize = 8 << 20;

/// What does not change during a drive.
pub(super) struct Fixed<'o> {
    pub root: Dirent,
    pub anchor: RelPathBuf,
    pub repos_id: i64,
    pub repos_root: Url,
    pub switch_path: Option<RelPathBuf>,
    pub options: &'o UpdateOptions,
    pub use_commit_times: bool,
    pub zone: sylvan_core::TimeZone,
    /// Nothing is in the anchor but what this drive brings.
    pub clean: bool,
}

/// Brings the changes of a drive into the working copy.
pub struct UpdateEditor<'s, 'e, 'a> {
    scope: &'s Scope<'s, 'e>,
    env: &'e Env<'a>,
    fixed: Fixed<'e>,
    cancel: Cancel,
    notify: &'e mut NotifyFn<'e>,
    pipeline: Option<Pipeline<'s, 'e, 'a>>,
    target_rev: Option<Revnum>,
    dirs: HashMap<Token, Dir>,
    files: HashMap<Token, OpenFile>,
    collected: usize,
    root_opened: bool,
    target_deleted: bool,
    pub(super) edited: bool,
    pub(super) skipped: BTreeSet<RelPathBuf>,
    inherited_done: BTreeSet<RelPathBuf>,
    finished: bool,
}

pub(super) type PropChanges = Vec<(String, Option<Vec<u8>>)>;

struct Dir {
    path: RelPathBuf,
    parent: Option<Token>,
    folder: Arc<DirDisk>,
    repos_path: RelPathBuf,
    old_repos_path: Option<RelPathBuf>,
    old_rev: Option<Revnum>,
    /// Only the way to the target.
    anchor_only: bool,
    /// Nothing is in it but what this drive brings, neither on disk nor in the database.
    fresh: bool,
    was_incomplete: bool,
    depth: Depth,
    changed: Changed,
    base_props: Props,
    local_props: bool,
    prop_changes: PropChanges,
    edited: bool,
    skip: bool,
    notified: bool,
    closed: bool,
    open_files: usize,
    sent_files: u64,
    /// Names that were added where a row for something not there stood.
    replaced: BTreeSet<String>,
}

struct OpenFile {
    dir: Token,
    path: RelPathBuf,
    repos_path: RelPathBuf,
    old_repos_path: Option<RelPathBuf>,
    old_rev: Option<Revnum>,
    kind: Origin,
    changed: Changed,
    base_props: Props,
    prop_changes: PropChanges,
    text: TextState,
    edited: bool,
    skip: bool,
}

enum Origin {
    Added {
        replace: bool,
        taken_over: bool,
    },
    Opened {
        layer: Box<Layer>,
        local_props: bool,
    },
}

enum TextState {
    None,
    Known(Text),
    Collecting {
        format: TextFormat,
        chunks: Vec<Bytes>,
        len: usize,
    },
    Streaming(Stream),
}

/// What is where something is to be added.
enum Way {
    Free { replace: bool },
    TakeOver { replace: bool },
    Skip(NodeKind),
}

impl<'s, 'e: 's, 'a: 'e> UpdateEditor<'s, 'e, 'a> {
    pub(super) fn new(
        scope: &'s Scope<'s, 'e>,
        env: &'e Env<'a>,
        fixed: Fixed<'e>,
        cancel: Cancel,
        notify: &'e mut NotifyFn<'e>,
    ) -> Self {
        let target_rev = fixed.options.rev;
        Self {
            scope,
            env,
            fixed,
            cancel,
            notify,
            pipeline: None,
            target_rev,
            dirs: HashMap::new(),
            files: HashMap::new(),
            collected: 0,
            root_opened: false,
            target_deleted: false,
            edited: false,
            skipped: BTreeSet::new(),
            inherited_done: BTreeSet::new(),
            finished: false,
        }
    }

    /// Waits for what was sent; for drives that failed.
    pub(super) fn wind_up(&mut self) -> Result<()> {
        self.dirs.clear();
        self.files.clear();
        match self.pipeline.as_mut() {
            Some(pipeline) => pipeline.finish(),
            None => Ok(()),
        }
    }

    pub(super) const fn target_rev(&self) -> Option<Revnum> {
        self.target_rev
    }

    pub(super) const fn is_finished(&self) -> bool {
        self.finished
    }

    fn rev(&self) -> Result<Revnum> {
        self.target_rev.ok_or_else(|| {
            Error::new(
                ErrorCode::CLIENT_BAD_REVISION,
                "The server did not say which revision it sends",
            )
        })
    }

    fn pipeline(&mut self) -> Result<&mut Pipeline<'s, 'e, 'a>> {
        let rev = self.rev()?;
        let (scope, env, fixed) = (self.scope, self.env, &self.fixed);
        Ok(self.pipeline.get_or_insert_with(|| {
            Pipeline::start(
                scope,
                env,
                Constants {
                    repos_id: fixed.repos_id,
                    revision: rev,
                    use_commit_times: fixed.use_commit_times,
                },
            )
        }))
    }

    fn record(&mut self, message: Message) -> Result<()> {
        self.pipeline()?.record(message)
    }

    fn step(&self) -> Result<()> {
        self.cancel.check()?;
        self.env.shared.check()
    }

    fn dir(&mut self, token: Token) -> Result<&mut Dir> {
        self.dirs.get_mut(&token).ok_or_else(out_of_order)
    }

    fn file(&mut self, token: Token) -> Result<&mut OpenFile> {
        self.files.get_mut(&token).ok_or_else(out_of_order)
    }

    fn local(&self, path: &RelPath) -> Dirent {
        self.fixed.root.join_relpath(path)
    }

    fn target_path(&self) -> RelPathBuf {
        match RelPath::new(&self.fixed.options.target) {
            Ok(target) => self.fixed.anchor.join(target),
            Err(_) => self.fixed.anchor.clone(),
        }
    }

    fn tell(&mut self, notification: &Notification) {
        (self.notify)(notification);
    }

    fn tell_action(&mut self, path: &RelPath, action: Action, kind: NodeKind) {
        let notification = Notification::new(self.local(path), action).kind(kind);
        self.tell(&notification);
    }

    /// Marks a folder and those above it as really changed.
    fn mark_edited(&mut self, token: Token) {
        let mut next = Some(token);
        while let Some(dir) = next.and_then(|token| self.dirs.get_mut(&token)) {
            if dir.edited {
                return;
            }
            dir.edited = true;
            self.edited = true;
            next = dir.parent;
        }
    }

    /// Returns what is on disk at a path.
    fn look(&self, path: &RelPath) -> Result<Option<FileKind>> {
        Ok(site::kind(self.env.site.root.lstat(path)?))
    }

    /// Makes sure that a folder that is to be changed is there as a folder, and so are those above
    /// it.
    fn ensure_folder(&self, path: &RelPath) -> Result<()> {
        let root = &self.env.site.root;
        let obstructed = match self.look(path)? {
            Some(FileKind::Dir) => return Ok(()),
            Some(_) => true,
            None => self.env.site.is_obstructed(path)?,
        };
        if obstructed {
            return Err(self.in_its_place(path, "update directory"));
        }
        root.make_dir_all(path)
    }

    fn in_its_place(&self, path: &RelPath, what: &str) -> Error {
        Error::new(
            ErrorCode::WC_OBSTRUCTED_UPDATE,
            format!(
                "Can't {what} '{}': something else is in its place",
                self.local(path)
            ),
        )
    }

    /// Returns the path of a child, refusing what is not one name in its folder.
    fn child_path(&mut self, parent: Token, path: &RelPath) -> Result<RelPathBuf> {
        let child = self.dir(parent)?.path.child(path.basename());
        child.map_err(|_| {
            Error::new(
                ErrorCode::WC_OBSTRUCTED_UPDATE,
                format!("Path '{}' is not in the working copy", self.local(path)),
            )
        })
    }

    fn refuse_adm_dir(&self, path: &RelPath, what: &str) -> Result<()> {
        if path.basename() != ADM_DIR {
            return Ok(());
        }
        Err(Error::new(
            ErrorCode::WC_OBSTRUCTED_UPDATE,
            format!(
                "Failed to {what} '{}': object of the same name as the administrative directory",
                self.local(path)
            ),
        ))
    }

    /// Returns where an added or opened node will be in the repository.
    fn new_repos_path(
        &self,
        path: &RelPath,
        parent: Option<&Dir>,
        old: Option<&RelPath>,
    ) -> Result<RelPathBuf> {
        let target = &self.fixed.options.target;
        let below = |parent: &Dir| parent.repos_path.child(path.basename());
        match (&self.fixed.switch_path, parent, old) {
            (Some(switch), None, _) if target.is_empty() => Ok(switch.clone()),
            (Some(switch), Some(parent), _)
                if parent.parent.is_none() && path.basename() == target =>
            {
                Ok(switch.clone())
            }
            (Some(_), Some(parent), _) | (None, Some(parent), None) => below(parent),
            (_, _, Some(old)) => Ok(old.to_owned()),
            (_, None, None) => Err(out_of_order()),
        }
    }

    /// Looks at what is where a node is to be added.
    fn way(&mut self, parent: Token, path: &RelPath, kind: NodeKind) -> Result<Way> {
        let dir = self.dir(parent)?;
        if dir.fresh {
            return Ok(Way::Free { replace: false });
        }
        let name = path.basename().to_owned();
        if dir.replaced.contains(&name) {
            return Err(self.obstructed(path, kind, "it was added before"));
        }
        let node = lock(&self.env.db).node(path)?;
        let replace = match node.as_ref().and_then(Node::top) {
            None => false,
            Some(top) if top.op_depth > 0 => return Err(self.local_change(path)),
            Some(top) => match top.presence {
                Presence::Normal | Presence::Incomplete => return Ok(Way::Skip(top.kind)),
                _ => true,
            },
        };
        if node.is_some_and(|node| node.actual.conflict.is_some()) {
            return Err(self.local_change(path));
        }
        let found = self.look(path)?;
        let same = matches!(
            (kind, found),
            (NodeKind::Dir, Some(FileKind::Dir)) | (NodeKind::File, Some(FileKind::File))
        );
        if replace {
            self.dir(parent)?.replaced.insert(name);
        }
        match found {
            None => Ok(Way::Free { replace }),
            _ if same && self.fixed.options.allow_unversioned_obstructions => {
                Ok(Way::TakeOver { replace })
            }
            Some(FileKind::Dir) => Err(self.obstructed(
                path,
                kind,
                "an unversioned directory of the same name already exists",
            )),
            _ => Err(self.obstructed(
                path,
                kind,
                "an unversioned file of the same name already exists",
            )),
        }
    }

    fn obstructed(&self, path: &RelPath, kind: NodeKind, why: &str) -> Error {
        let what = if kind == NodeKind::Dir {
            "directory"
        } else {
            "file"
        };
        Error::new(
            ErrorCode::WC_OBSTRUCTED_UPDATE,
            format!("Failed to add {what} '{}': {why}", self.local(path)),
        )
    }

    fn local_change(&self, path: &RelPath) -> Error {
        Error::new(
            ErrorCode::WC_FOUND_CONFLICT,
            format!(
                "Can't update '{}': it has local changes, which are not merged yet",
                self.local(path)
            ),
        )
    }

    fn skip(&mut self, path: &RelPath, action: Action, kind: NodeKind) {
        self.skipped.insert(path.to_owned());
        self.tell_action(path, action, kind);
    }

    /// Tells whether a nested working copy stands in the place of a node.
    fn is_other_root(&self, path: &RelPath) -> bool {
        !path.is_root()
            && self
                .local(path)
                .join(ADM_DIR)
                .join("wc.db")
                .as_path()
                .is_file()
    }

    /// Returns the inherited properties that are to be stored with a node.
    fn inherited(&mut self, path: &RelPath) -> Option<Vec<u8>> {
        let inherited = self.fixed.options.inherited_props.get(path)?;
        self.inherited_done.insert(path.to_owned());
        Some(inherited_skel(inherited))
    }

    /// Reads the BASE layer of a node that is to be opened, if nothing local is in the way.
    fn open_base(&mut self, path: &RelPath, kind: NodeKind) -> Result<Option<Node>> {
        let node = lock(&self.env.db)
            .node(path)?
            .ok_or_else(|| self.not_found(path))?;
        let Some(base) = node.base() else {
            return Err(self.not_found(path));
        };
        if node.actual.conflict.is_some() {
            self.skip(path, Action::SkipConflicted, NodeKind::Unknown);
            return Ok(None);
        }
        if base.kind != kind || !base.presence.is_present() {
            return Err(Error::new(
                ErrorCode::WC_OBSTRUCTED_UPDATE,
                format!("'{}' is not what the server takes it for", self.local(path)),
            ));
        }
        if node.work_layers() > 0 && !path.is_root() {
            return Err(self.local_change(path));
        }
        Ok(Some(node))
    }

    fn not_found(&self, path: &RelPath) -> Error {
        Error::new(
            ErrorCode::WC_PATH_NOT_FOUND,
            format!("The node '{}' was not found.", self.local(path)),
        )
    }

    /// Says that a folder will be changed: it is incomplete until it is closed.
    fn start_dir(&mut self, base: &Layer, path: &RelPath, repos_path: &RelPath) -> Result<()> {
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
    fn dir_done(&mut self, token: Token) -> Result<()> {
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

    fn dir_row(&mut self, dir: &Dir) -> Result<DirRow> {
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
    fn missing_children(
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

    fn delete_node(&mut self, parent: Token, path: &RelPath) -> Result<()> {
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

    /// Looks for anything local at and below a node that goes.
    fn has_local_changes(&self, path: &RelPath, base: &Layer) -> Result<bool> {
        if base.kind != NodeKind::Dir {
            return self.is_modified(path, base);
        }
        let db = lock(&self.env.db);
        if super::local::has_changes_in_db(&db, path)? {
            return Ok(true);
        }
        let files = super::local::files_below(&db, path)?;
        drop(db);
        for (path, layer) in files {
            self.cancel.check()?;
            if self.is_modified(&path, &layer)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_modified(&self, path: &RelPath, layer: &Layer) -> Result<bool> {
        modified::differs(&self.env.site.root, path, layer, || {
            let recipe = self.recipe(
                &layer.props()?,
                layer.repos_path.as_deref(),
                &layer.changed(),
            );
            Ok(recipe.translation)
        })
    }

    fn recipe(&self, props: &Props, repos_path: Option<&RelPath>, changed: &Changed) -> Recipe {
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

    fn open_file_state(&mut self, file: Token, state: OpenFile) -> Result<()> {
        if let Some(dir) = self.dirs.get_mut(&state.dir) {
            dir.open_files += 1;
        }
        if self.files.insert(file, state).is_some() {
            return Err(out_of_order());
        }
        Ok(())
    }

    /// Makes what is sent on of a closed file; `None` if nothing is to be done.
    fn finish_file(&mut self, file: OpenFile, expected: Option<Md5>) -> Result<()> {
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
            old_repos_path,
            mut changed,
            ..
        } = file;
        accumulate_changed(&mut changed, &prop_changes)?;
        let props = patched(&base_props, &prop_changes, false);
        let props_changed = props != base_props;
        let mut recipe = self.recipe(&props, Some(&repos_path), &changed);
        let has_text = !matches!(text, TextState::None);
        let lock_gone = prop_changes
            .iter()
            .any(|(name, value)| name == props::ENTRY_LOCK_TOKEN && value.is_none())
            && (self.fixed.switch_path.is_none() || old_repos_path.as_ref() == Some(&repos_path));
        let lost_lock = lock_gone.then(|| (self.fixed.repos_id, repos_path.clone()));
        let action;
        let place = match kind {
            Origin::Added {
                replace,
                taken_over: false,
            } => {
                action = Action::UpdateAdd;
                Place::New { replace }
            }
            Origin::Added { replace, .. } => {
                action = Action::Exists;
                Place::TakeOver { replace }
            }
            Origin::Opened { layer, local_props } => {
                action = Action::UpdateUpdate;
                let regular = has_regular(&prop_changes);
                if (has_text || regular) && (local_props || self.is_modified(&path, &layer)?) {
                    return Err(self.local_change(&path));
                }
                recipe.read_only &= lock_gone
                    || lock(&self.env.db)
                        .lock(self.fixed.repos_id, &repos_path)?
                        .is_none();
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

    fn send_file(&mut self, node: FileNode, text: TextState, expected: Option<Md5>) -> Result<()> {
        let (incoming, len) = match text {
            TextState::Streaming(stream) => {
                return self.pipeline()?.end_stream(stream, node, expected);
            }
            TextState::None => (Incoming::Unchanged, 0),
            TextState::Known(text) => (Incoming::Known(text), 0),
            TextState::Collecting {
                format,
                chunks,
                len,
            } => (Incoming::Chunks { format, chunks }, len),
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
    fn stored_text(&self, sha1: &Sha1) -> Result<Option<Text>> {
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
    fn start_stream(&mut self, token: Token) -> Result<()> {
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

    fn close_all(&mut self) -> Result<()> {
        if !self.files.is_empty() || self.dirs.values().any(|dir| !dir.closed) {
            return Err(out_of_order());
        }
        match self.pipeline.as_mut() {
            Some(pipeline) => pipeline.finish()?,
            None => self.env.shared.check()?,
        }
        let rev = self.rev()?;
        let options = self.fixed.options;
        let inherited: BTreeMap<_, _> = options
            .inherited_props
            .iter()
            .filter(|(path, _)| !self.inherited_done.contains(*path))
            .map(|(path, inherited)| (path.clone(), inherited_skel(inherited)))
            .collect();
        bump::finish(
            &lock(&self.env.db),
            &bump::Bump {
                anchor: &self.fixed.anchor,
                target: &self.target_path(),
                target_is_child: !options.target.is_empty(),
                root_opened: self.root_opened,
                target_deleted: self.target_deleted,
                depth: options.depth.unwrap_or(Depth::Infinity),
                repos_id: self.fixed.repos_id,
                repos_path: self.fixed.switch_path.as_deref(),
                rev,
                skipped: &self.skipped,
                inherited: &inherited,
                all_new: self.fixed.clean && self.skipped.is_empty(),
            },
        )?;
        if self.fixed.switch_path.is_some() {
            self.expand_keywords_anew()?;
        }
        Ok(())
    }

    /// After a switch, writes unmodified files anew that may show their URL.
    fn expand_keywords_anew(&self) -> Result<()> {
        let mut files = keywords::files(&lock(&self.env.db), &self.target_path())?;
        let mut kept = Vec::new();
        for (path, layer) in files.drain(..) {
            self.cancel.check()?;
            if !self.is_modified(&path, &layer)? {
                kept.push((path, layer));
            }
        }
        if kept.is_empty() {
            return Ok(());
        }
        let times = self.fixed.use_commit_times;
        let items = keywords::promise(&lock(&self.env.db), &kept, times)?;
        let mut recorded = Vec::new();
        for (path, layer) in kept {
            let Some(sha1) = layer.sha1()? else {
                continue;
            };
            let mut recipe = self.recipe(
                &layer.props()?,
                layer.repos_path.as_deref(),
                &layer.changed(),
            );
            if let Some(repos_path) = &layer.repos_path {
                let held = lock(&self.env.db).lock(self.fixed.repos_id, repos_path)?;
                recipe.read_only &= held.is_none();
            }
            let text = self.env.store.path(&sha1)?;
            let installed = install::by_rename(
                &self.env.site.root,
                &path,
                Source::File(self.env.store.dir(), &text),
                &recipe,
                self.env.site.tmp(),
                self.env.shared.settle,
            )?;
            recorded.extend(installed.map(|(size, time)| (path, size, time)));
        }
        keywords::fulfilled(&lock(&self.env.db), items, &recorded)
    }
}

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

impl<'s, 'e: 's, 'a: 'e> Editor for UpdateEditor<'s, 'e, 'a> {
    fn set_target_revision(&mut self, rev: Revnum) -> Result<()> {
        self.target_rev = Some(rev);
        Ok(())
    }

    fn open_root(&mut self, _base: Option<Revnum>, root: Token) -> Result<()> {
        self.step()?;
        self.root_opened = true;
        let path = self.fixed.anchor.clone();
        let anchor_only = !self.fixed.options.target.is_empty();
        let node = self.open_base(&path, NodeKind::Dir)?;
        let skip = node.is_none();
        let Some(node) = node.or(lock(&self.env.db).node(&path)?) else {
            return Err(self.not_found(&path));
        };
        let Some(base) = node.base() else {
            return Err(self.not_found(&path));
        };
        if !skip {
            self.ensure_folder(&path)?;
        }
        let repos_path = self.new_repos_path(&path, None, base.repos_path.as_deref())?;
        if !anchor_only && !skip {
            self.start_dir(base, &path, &repos_path)?;
        }
        let dir = opened(
            &path,
            None,
            base,
            repos_path,
            DirDisk::existing(path.clone()),
            node.actual.properties.is_some(),
        )?;
        self.dirs.insert(
            root,
            Dir {
                anchor_only,
                fresh: self.fixed.clean,
                skip,
                ..dir
            },
        );
        Ok(())
    }

    fn delete_entry(&mut self, path: &RelPath, _: Option<Revnum>, parent: Token) -> Result<()> {
        self.step()?;
        if self.dir(parent)?.skip {
            return Ok(());
        }
        let path = self.child_path(parent, path)?;
        self.mark_edited(parent);
        self.delete_node(parent, &path)
    }

    fn add_directory(
        &mut self,
        path: &RelPath,
        parent: Token,
        copy_from: Option<CopyFrom>,
        token: Token,
    ) -> Result<()> {
        self.step()?;
        refuse_copy(copy_from.as_ref())?;
        let path = self.child_path(parent, path)?;
        if self.dir(parent)?.skip {
            self.dirs.insert(token, skipped_dir(&path, parent));
            return Ok(());
        }
        self.refuse_adm_dir(&path, "add directory")?;
        let (replace, taken_over) = match self.way(parent, &path, NodeKind::Dir)? {
            Way::Free { replace } => (replace, false),
            Way::TakeOver { replace } => (replace, true),
            Way::Skip(kind) => {
                self.skip(&path, Action::UpdateSkipObstruction, kind);
                self.dirs.insert(token, skipped_dir(&path, parent));
                return Ok(());
            }
        };
        self.mark_edited(parent);
        let depth = self.depth_of_added(parent, &path)?;
        let up = self.dir(parent)?;
        let (up_folder, up_fresh) = (Arc::clone(&up.folder), up.fresh);
        let repos_path = {
            let parent = self.dirs.get(&parent);
            self.new_repos_path(&path, parent, None)?
        };
        let folder = DirDisk::planned(path.clone());
        self.record(Message::Dir(NewDir {
            path: path.clone(),
            repos_path: repos_path.clone(),
            depth,
            replace,
            parent: up_folder,
            folder: Arc::clone(&folder),
        }))?;
        let action = if taken_over {
            Action::Exists
        } else {
            Action::UpdateAdd
        };
        self.tell_action(&path, action, NodeKind::Dir);
        let known = self.dirs.insert(
            token,
            Dir {
                path,
                parent: Some(parent),
                folder,
                repos_path,
                old_repos_path: None,
                old_rev: None,
                anchor_only: false,
                fresh: up_fresh || !taken_over,
                was_incomplete: false,
                depth,
                changed: Changed::default(),
                base_props: Props::new(),
                local_props: false,
                prop_changes: Vec::new(),
                edited: true,
                skip: false,
                notified: true,
                closed: false,
                open_files: 0,
                sent_files: 0,
                replaced: BTreeSet::new(),
            },
        );
        if known.is_some() {
            return Err(out_of_order());
        }
        Ok(())
    }

    fn open_directory(
        &mut self,
        path: &RelPath,
        parent: Token,
        _base: Option<Revnum>,
        token: Token,
    ) -> Result<()> {
        self.step()?;
        let path = self.child_path(parent, path)?;
        if self.dir(parent)?.skip {
            self.dirs.insert(token, skipped_dir(&path, parent));
            return Ok(());
        }
        if self.is_other_root(&path) {
            self.skip(&path, Action::UpdateSkipObstruction, NodeKind::Dir);
            self.dirs.insert(token, skipped_dir(&path, parent));
            return Ok(());
        }
        let Some(node) = self.open_base(&path, NodeKind::Dir)? else {
            self.dirs.insert(token, skipped_dir(&path, parent));
            return Ok(());
        };
        self.ensure_folder(&path)?;
        let Some(base) = node.base() else {
            return Err(self.not_found(&path));
        };
        let repos_path = {
            let parent = self.dirs.get(&parent);
            self.new_repos_path(&path, parent, base.repos_path.as_deref())?
        };
        self.start_dir(base, &path, &repos_path)?;
        let dir = opened(
            &path,
            Some(parent),
            base,
            repos_path,
            DirDisk::existing(path.clone()),
            node.actual.properties.is_some(),
        )?;
        if self.dirs.insert(token, dir).is_some() {
            return Err(out_of_order());
        }
        Ok(())
    }

    fn change_dir_prop(&mut self, token: Token, name: &str, value: Option<&[u8]>) -> Result<()> {
        let dir = self.dir(token)?;
        if dir.skip {
            return Ok(());
        }
        dir.prop_changes
            .push((name.to_owned(), value.map(<[u8]>::to_vec)));
        if PropKind::of(name) == PropKind::Regular {
            if dir.local_props {
                let path = dir.path.clone();
                return Err(self.local_change(&path));
            }
            self.mark_edited(token);
        }
        Ok(())
    }

    fn close_directory(&mut self, token: Token) -> Result<()> {
        self.step()?;
        let rev = self.rev()?;
        let dir = self.dir(token)?;
        dir.closed = true;
        if !dir.skip && !dir.notified && dir.edited && !dir.anchor_only {
            dir.notified = true;
            let state = if has_regular(&dir.prop_changes) || dir.was_incomplete {
                let new = patched(&dir.base_props, &dir.prop_changes, dir.was_incomplete);
                if new == dir.base_props {
                    State::Unchanged
                } else {
                    State::Changed
                }
            } else {
                State::Unknown
            };
            let (path, old_rev) = (dir.path.clone(), dir.old_rev);
            let notification = Notification::new(self.local(&path), Action::UpdateUpdate)
                .kind(NodeKind::Dir)
                .states(State::Unknown, state)
                .revs(old_rev, Some(rev));
            self.tell(&notification);
        }
        self.dir_done(token)
    }

    fn absent_directory(&mut self, path: &RelPath, parent: Token) -> Result<()> {
        self.absent(path, parent, NodeKind::Dir)
    }

    fn add_file(
        &mut self,
        path: &RelPath,
        parent: Token,
        copy_from: Option<CopyFrom>,
        token: Token,
    ) -> Result<()> {
        self.step()?;
        refuse_copy(copy_from.as_ref())?;
        let path = self.child_path(parent, path)?;
        if self.dir(parent)?.skip {
            return self.open_file_state(token, skipped_file(&path, parent));
        }
        self.refuse_adm_dir(&path, "add file")?;
        let (replace, taken_over) = match self.way(parent, &path, NodeKind::File)? {
            Way::Free { replace } => (replace, false),
            Way::TakeOver { replace } => (replace, true),
            Way::Skip(kind) => {
                self.skip(&path, Action::UpdateSkipObstruction, kind);
                return self.open_file_state(token, skipped_file(&path, parent));
            }
        };
        self.mark_edited(parent);
        let repos_path = {
            let parent = self.dirs.get(&parent);
            self.new_repos_path(&path, parent, None)?
        };
        self.open_file_state(
            token,
            OpenFile {
                repos_path,
                kind: Origin::Added {
                    replace,
                    taken_over,
                },
                edited: true,
                skip: false,
                ..skipped_file(&path, parent)
            },
        )
    }

    fn open_file(
        &mut self,
        path: &RelPath,
        parent: Token,
        _base: Option<Revnum>,
        token: Token,
    ) -> Result<()> {
        self.step()?;
        let path = self.child_path(parent, path)?;
        if self.dir(parent)?.skip {
            return self.open_file_state(token, skipped_file(&path, parent));
        }
        let Some(node) = self.open_base(&path, NodeKind::File)? else {
            return self.open_file_state(token, skipped_file(&path, parent));
        };
        let local_props = node.actual.properties.is_some();
        let Some(base) = node.base().cloned() else {
            return Err(self.not_found(&path));
        };
        let special = base.props()?.contains_key(props::SVN_SPECIAL);
        match self.look(&path)? {
            Some(FileKind::File) | None => {}
            Some(FileKind::Symlink) if special => {}
            _ => return Err(self.in_its_place(&path, "update file")),
        }
        let repos_path = {
            let parent = self.dirs.get(&parent);
            self.new_repos_path(&path, parent, base.repos_path.as_deref())?
        };
        self.open_file_state(
            token,
            OpenFile {
                repos_path,
                old_repos_path: base.repos_path.clone(),
                old_rev: base.revision,
                changed: base.changed(),
                base_props: base.props()?,
                kind: Origin::Opened {
                    layer: Box::new(base),
                    local_props,
                },
                skip: false,
                ..skipped_file(&path, parent)
            },
        )
    }

    fn apply_text(&mut self, token: Token, base: Option<Md5>, format: TextFormat) -> Result<()> {
        self.step()?;
        let file = self.file(token)?;
        if file.skip {
            return Ok(());
        }
        file.edited = true;
        file.text = TextState::Collecting {
            format,
            chunks: Vec::new(),
            len: 0,
        };
        let (dir, path) = (file.dir, file.path.clone());
        let text = match &file.kind {
            Origin::Opened { layer, .. } => layer.sha1()?,
            Origin::Added { .. } => None,
        };
        self.mark_edited(dir);
        let (Some(expected), Some(text)) = (base, text) else {
            return Ok(());
        };
        let recorded = lock(&self.env.db).pristine_md5(&text)?;
        if !recorded.is_some_and(|recorded| expected.allows(recorded)) {
            return Err(Error::new(
                ErrorCode::WC_CORRUPT_TEXT_BASE,
                format!(
                    "Checksum mismatch for '{}':\n   expected:  {expected}\n   recorded:  {}\n",
                    self.local(&path),
                    recorded.map_or_else(|| "(no checksum)".to_owned(), |md5| md5.to_string())
                ),
            ));
        }
        Ok(())
    }

    fn text_chunk(&mut self, token: Token, chunk: Bytes) -> Result<()> {
        let all = self.collected;
        let file = self.file(token)?;
        match &mut file.text {
            _ if file.skip => Ok(()),
            TextState::None | TextState::Known(_) => Err(out_of_order()),
            TextState::Streaming(stream) => {
                stream.push(chunk)?;
                self.step()
            }
            TextState::Collecting { chunks, len, .. } => {
                let count = chunk.len();
                *len += count;
                chunks.push(chunk);
                let large = *len > COLLECT || all + count > COLLECT_ALL;
                self.collected += count;
                if large {
                    self.start_stream(token)?;
                    self.step()?;
                }
                Ok(())
            }
        }
    }

    fn text_end(&mut self, token: Token) -> Result<()> {
        self.file(token).map(|_| ())
    }

    fn known_text(&mut self, token: Token, sha1: &Sha1) -> Result<bool> {
        self.step()?;
        if self.file(token)?.skip {
            return Ok(true);
        }
        let Some(text) = self.stored_text(sha1)? else {
            return Ok(false);
        };
        let file = self.file(token)?;
        file.edited = true;
        file.text = TextState::Known(text);
        let dir = file.dir;
        self.mark_edited(dir);
        Ok(true)
    }

    fn change_file_prop(&mut self, token: Token, name: &str, value: Option<&[u8]>) -> Result<()> {
        let file = self.file(token)?;
        if file.skip {
            return Ok(());
        }
        file.prop_changes
            .push((name.to_owned(), value.map(<[u8]>::to_vec)));
        if PropKind::of(name) == PropKind::Regular {
            file.edited = true;
            let dir = file.dir;
            self.mark_edited(dir);
        }
        Ok(())
    }

    fn close_file(&mut self, token: Token, text: Option<Md5>) -> Result<()> {
        self.step()?;
        let file = self.files.remove(&token).ok_or_else(out_of_order)?;
        let dir = file.dir;
        if !file.skip {
            self.finish_file(file, text)?;
        }
        if let Some(state) = self.dirs.get_mut(&dir) {
            state.open_files = state.open_files.saturating_sub(1);
        }
        self.dir_done(dir)
    }

    fn absent_file(&mut self, path: &RelPath, parent: Token) -> Result<()> {
        self.absent(path, parent, NodeKind::File)
    }

    fn close_edit(&mut self) -> Result<()> {
        self.step()?;
        self.close_all()?;
        self.finished = true;
        Ok(())
    }

    fn abort_edit(&mut self) -> Result<()> {
        self.wind_up()
    }
}

impl<'s, 'e: 's, 'a: 'e> UpdateEditor<'s, 'e, 'a> {
    fn absent(&mut self, path: &RelPath, parent: Token, kind: NodeKind) -> Result<()> {
        self.step()?;
        let path = self.child_path(parent, path)?;
        if self.dir(parent)?.skip {
            return Ok(());
        }
        self.refuse_adm_dir(&path, "add")?;
        let node = lock(&self.env.db).node(&path)?;
        let top = node.as_ref().and_then(Node::top);
        if top.is_none_or(|top| top.presence != Presence::ServerExcluded) {
            self.mark_edited(parent);
        }
        match top {
            Some(top) if top.op_depth > 0 => return Err(self.local_change(&path)),
            Some(top) if top.file_external => {
                self.tell_action(&path, Action::UpdateSkipObstruction, NodeKind::Unknown);
                return Ok(());
            }
            Some(top) if top.presence.is_present() => self.delete_node(parent, &path)?,
            _ => {}
        }
        let repos_path = self.dir(parent)?.repos_path.child(path.basename())?;
        self.record(Message::Marker(Marker {
            path,
            repos_path,
            presence: Presence::ServerExcluded,
            kind,
        }))
    }

    /// Returns how deep an added folder is.
    fn depth_of_added(&mut self, parent: Token, path: &RelPath) -> Result<Depth> {
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

fn opened(
    path: &RelPath,
    parent: Option<Token>,
    base: &Layer,
    repos_path: RelPathBuf,
    folder: Arc<DirDisk>,
    local_props: bool,
) -> Result<Dir> {
    Ok(Dir {
        path: path.to_owned(),
        parent,
        folder,
        repos_path,
        old_repos_path: base.repos_path.clone(),
        old_rev: base.revision,
        anchor_only: false,
        fresh: false,
        was_incomplete: base.presence == Presence::Incomplete,
        depth: base.depth.unwrap_or(Depth::Infinity),
        changed: base.changed(),
        base_props: base.props()?,
        local_props,
        prop_changes: Vec::new(),
        edited: false,
        skip: false,
        notified: false,
        closed: false,
        open_files: 0,
        sent_files: 0,
        replaced: BTreeSet::new(),
    })
}

fn skipped_dir(path: &RelPath, parent: Token) -> Dir {
    Dir {
        path: path.to_owned(),
        parent: Some(parent),
        folder: DirDisk::existing(RelPathBuf::root()),
        repos_path: RelPathBuf::root(),
        old_repos_path: None,
        old_rev: None,
        anchor_only: false,
        fresh: false,
        was_incomplete: false,
        depth: Depth::Infinity,
        changed: Changed::default(),
        base_props: Props::new(),
        local_props: false,
        prop_changes: Vec::new(),
        edited: false,
        skip: true,
        notified: true,
        closed: false,
        open_files: 0,
        sent_files: 0,
        replaced: BTreeSet::new(),
    }
}

fn skipped_file(path: &RelPath, dir: Token) -> OpenFile {
    OpenFile {
        dir,
        path: path.to_owned(),
        repos_path: RelPathBuf::root(),
        old_repos_path: None,
        old_rev: None,
        kind: Origin::Added {
            replace: false,
            taken_over: false,
        },
        changed: Changed::default(),
        base_props: Props::new(),
        prop_changes: Vec::new(),
        text: TextState::None,
        edited: false,
        skip: true,
    }
}

/// Returns properties after changes; `all` says that those not mentioned are gone.
pub(super) fn patched(base: &Props, changes: &PropChanges, all: bool) -> Props {
    let mut props = if all { Props::new() } else { base.clone() };
    for (name, value) in changes {
        if PropKind::of(name) != PropKind::Regular {
            continue;
        }
        match value {
            Some(value) => drop(props.insert(name.clone(), value.clone())),
            None => drop(props.remove(name)),
        }
    }
    props
}

fn has_regular(changes: &PropChanges) -> bool {
    changes
        .iter()
        .any(|(name, _)| PropKind::of(name) == PropKind::Regular)
}

/// Tells whether a property is among the changes that decides what the working file looks like.
fn has_magic(changes: &PropChanges) -> bool {
    changes.iter().any(|(name, _)| {
        [
            props::SVN_EXECUTABLE,
            props::SVN_KEYWORDS,
            props::SVN_EOL_STYLE,
            props::SVN_SPECIAL,
            props::SVN_NEEDS_LOCK,
        ]
        .contains(&name.as_str())
    })
}

/// Returns what an HTTP server wants to be kept, as a skel.
pub(super) fn dav_cache(changes: &PropChanges) -> Option<Vec<u8>> {
    let props: Props = changes
        .iter()
        .filter(|(name, _)| PropKind::of(name) == PropKind::Wc)
        .filter_map(|(name, value)| Some((name.clone(), value.clone()?)))
        .collect();
    (!props.is_empty()).then(|| skel::props_to_skel(&props))
}

pub(super) fn inherited_skel(inherited: &super::InheritedProps) -> Vec<u8> {
    skel::inherited_props_to_skel(inherited.iter().map(|(path, props)| (path.as_str(), props)))
}

/// Takes revision, date and author of the last change from entry properties.
pub(super) fn accumulate_changed(changed: &mut Changed, changes: &PropChanges) -> Result<()> {
    for (name, value) in changes {
        let Some(value) = value else {
            continue;
        };
        let text = || String::from_utf8_lossy(value);
        match name.as_str() {
            props::ENTRY_COMMITTED_REV => {
                let text = text();
                changed.rev = Some(Revnum::parse(&text).ok_or_else(|| {
                    Error::new(
                        ErrorCode::BAD_PROPERTY_VALUE,
                        format!("'{}' is not a revision number", text.escape_debug()),
                    )
                })?);
            }
            props::ENTRY_COMMITTED_DATE => {
                changed.date = Timestamp::parse_iso(&text())?.micros();
            }
            props::ENTRY_LAST_AUTHOR => changed.author = Some(text().into_owned()),
            _ => {}
        }
    }
    Ok(())
}

fn refuse_copy(copy_from: Option<&CopyFrom>) -> Result<()> {
    match copy_from {
        None => Ok(()),
        Some(_) => Err(Error::new(
            ErrorCode::UNSUPPORTED_FEATURE,
            "The server sent a copy, which was not asked for",
        )),
    }
}

pub(super) fn out_of_order() -> Error {
    Error::new(
        ErrorCode::INCORRECT_PARAMS,
        "The server's description of the tree is out of order",
    )
}
