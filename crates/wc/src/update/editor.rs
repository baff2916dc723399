//! The editor: decides what becomes of each node, and sends it on its way.

mod changes;
mod dir;
mod file;
mod known;
mod local;
mod merged;
mod place;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::thread::Scope;

use bytes::Bytes;
use sylvan_core::props::{self, PropKind};
use sylvan_core::{
    Depth, Dirent, Error, ErrorCode, Md5, NodeKind, Props, RelPath, RelPathBuf, Result, Revnum,
    Sha1, Url,
};
use sylvan_delta::{CopyFrom, Editor, Fulltext, TextFormat, Token};
use sylvan_io::Cancel;
use sylvan_io::file::FileKind;

use super::bump_moves::BumpMoves;
use super::entry::{DirDisk, MergedDir, Message, NewDir, Over, Text};
use super::pipeline::{Env, Pipeline, Stream};
use super::record::{Constants, lock};
use super::{UpdateOptions, bump, keywords};
use crate::conflict::{Conflict, TreeConflict};
use crate::db::write::Changed;
use crate::db::{Layer, Presence};
use crate::install::{self, Source};
use crate::notify::{Action, Notification, NotifyFn};

pub(super) use self::changes::{accumulate_changed, dav_cache, inherited_skel, patched};
use self::changes::{has_magic, has_regular};
use self::known::Known;

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
    pub repos_uuid: String,
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
    known: RefCell<HashMap<Token, Known>>,
    /// The working copy is on a network file system.
    is_far: bool,
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
    /// Local properties that differ from those of the base.
    local_props: Option<Props>,
    prop_changes: PropChanges,
    edited: bool,
    skip: bool,
    notified: bool,
    closed: bool,
    open_files: usize,
    sent_files: u64,
    /// Names that were added where a row for something not there stood.
    replaced: BTreeSet<String>,
    local: Local,
    /// Children whose deletion met local changes.
    deletion_conflicts: BTreeMap<String, Conflict>,
    /// Children that were left out, of which the next update is to know.
    not_present: BTreeMap<String, NodeKind>,
    /// What became of local properties.
    merged: Option<MergedDir>,
}

/// What local changes make of a node that is changed.
#[derive(Clone, Debug, Default)]
struct Local {
    /// Something lies over the node: only the BASE tree changes.
    shadowed: bool,
    /// Something else is in its place on the disk.
    obstructed: bool,
    /// It was added locally, and takes part in what comes.
    add_existed: bool,
    /// Something unversioned was in its place.
    taken_over: bool,
    /// A tree conflict that is recorded as soon as the node really changes.
    pending: Option<TreeConflict>,
}

impl Local {
    /// Tells whether children are changed in the BASE tree only.
    const fn shadows(&self) -> bool {
        self.shadowed || self.obstructed
    }
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
    notified: bool,
    local: Local,
}

enum Origin {
    Added {
        replace: bool,
    },
    Opened {
        layer: Box<Layer>,
        local_props: Option<Props>,
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
    Whole(Box<dyn Fulltext>),
}

/// How a node is added.
struct Way {
    /// A row for something not there stood where it is added.
    replace: bool,
    /// It is left out.
    skip: bool,
    /// The tree conflict was told.
    notified: bool,
    local: Local,
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
            known: RefCell::default(),
            is_far: env.is_far,
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
    fn mark_edited(&mut self, token: Token) -> Result<()> {
        let mut chain = Vec::new();
        let mut next = Some(token);
        while let Some(dir) = next.and_then(|token| self.dirs.get(&token))
            && !dir.edited
        {
            chain.extend(next);
            next = dir.parent;
        }
        for token in chain.into_iter().rev() {
            self.edited = true;
            let dir = self.dir(token)?;
            dir.edited = true;
            if let Some(tree) = dir.local.pending.take() {
                dir.notified = true;
                let path = dir.path.clone();
                let left = (dir.old_repos_path.clone(), dir.old_rev);
                let right = dir.repos_path.clone();
                self.raise(&path, tree, left, &right, NodeKind::Dir)?;
            }
        }
        Ok(())
    }

    /// Marks a file and the folders above it as really changed.
    fn mark_file_edited(&mut self, token: Token) -> Result<()> {
        let file = self.file(token)?;
        if file.edited {
            return Ok(());
        }
        let dir = file.dir;
        self.mark_edited(dir)?;
        let file = self.file(token)?;
        file.edited = true;
        if let Some(tree) = file.local.pending.take() {
            file.notified = true;
            let path = file.path.clone();
            let left = (file.old_repos_path.clone(), file.old_rev);
            let right = file.repos_path.clone();
            self.raise(&path, tree, left, &right, NodeKind::File)?;
        }
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
        let raised = bump::finish(
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
                moves: BumpMoves {
                    locked: &self.fixed.anchor,
                    repos_root: &self.fixed.repos_root,
                    repos_uuid: &self.fixed.repos_uuid,
                    depth: options.depth.unwrap_or(Depth::Infinity),
                },
            },
        )?;
        for (path, kind) in raised {
            self.tell_action(&path, Action::TreeConflict, kind);
        }
        if self.fixed.switch_path.is_some() {
            self.expand_keywords_anew()?;
        }
        Ok(())
    }

    /// After a switch, writes files anew that may show their URL.
    fn expand_keywords_anew(&self) -> Result<()> {
        let mut files = keywords::files(&lock(&self.env.db), &self.target_path())?;
        let mut kept = Vec::new();
        for (path, layer) in files.drain(..) {
            self.cancel.check()?;
            if self.is_modified(&path, &layer)? {
                let items = self.retranslate(&path, &layer.props()?, &layer)?;
                self.now(|_| Ok(items))?;
            } else {
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
            )?;
            recorded.extend(installed.map(|(size, time)| (path, size, time)));
        }
        keywords::fulfilled(&lock(&self.env.db), items, &recorded)
    }
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
        let node = lock(&self.env.db).node(&path)?;
        let Some(node) = node else {
            return Err(self.not_found(&path));
        };
        let Some(base) = node.base() else {
            return Err(self.not_found(&path));
        };
        let (skip, local) = self.open_anchor(&node)?;
        if !skip && !local.shadows() {
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
            local_props(&node)?,
        )?;
        self.dirs.insert(
            root,
            Dir {
                anchor_only,
                fresh: self.fixed.clean,
                skip,
                local,
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
        self.mark_edited(parent)?;
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
        self.mark_edited(parent)?;
        let repos_path = {
            let parent = self.dirs.get(&parent);
            self.new_repos_path(&path, parent, None)?
        };
        let way = self.way(parent, &path, &repos_path, NodeKind::Dir)?;
        if way.skip {
            self.dirs.insert(token, skipped_dir(&path, parent));
            return Ok(());
        }
        let depth = self.depth_of_added(parent, &path)?;
        let up = self.dir(parent)?;
        let (up_folder, up_fresh) = (Arc::clone(&up.folder), up.fresh);
        let local = way.local;
        let over = match (local.shadowed, local.taken_over) {
            (true, true) => Over::Unversioned,
            (true, false) => Over::Shadowed,
            (false, _) if local.add_existed => Over::Addition,
            (false, _) => Over::Nothing,
        };
        let folder = if local.shadowed {
            DirDisk::existing(path.clone())
        } else {
            DirDisk::planned(path.clone())
        };
        self.record(Message::Dir(NewDir {
            path: path.clone(),
            repos_path: repos_path.clone(),
            depth,
            replace: way.replace,
            over,
            parent: up_folder,
            folder: Arc::clone(&folder),
        }))?;
        let local_props = if local.add_existed {
            self.props_of_addition(&path)?
        } else {
            None
        };
        let notified = way.notified || !local.add_existed;
        if notified && !way.notified {
            let action = match (local.shadowed, local.taken_over) {
                (true, _) => Action::UpdateShadowedAdd,
                (false, true) => Action::Exists,
                (false, false) => Action::UpdateAdd,
            };
            self.tell_action(&path, action, NodeKind::Dir);
        }
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
                fresh: up_fresh || over == Over::Nothing && !local.taken_over,
                was_incomplete: false,
                depth,
                changed: Changed::default(),
                base_props: Props::new(),
                local_props,
                prop_changes: Vec::new(),
                edited: true,
                skip: false,
                notified,
                closed: false,
                open_files: 0,
                sent_files: 0,
                replaced: BTreeSet::new(),
                local,
                deletion_conflicts: BTreeMap::new(),
                not_present: BTreeMap::new(),
                merged: None,
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
        let Some((node, local)) = self.open_base(parent, &path, NodeKind::Dir)? else {
            self.dirs.insert(token, skipped_dir(&path, parent));
            return Ok(());
        };
        if !local.shadows() {
            self.ensure_folder(&path)?;
        }
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
            local_props(&node)?,
        )?;
        if self.dirs.insert(token, Dir { local, ..dir }).is_some() {
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
            self.mark_edited(token)?;
        }
        Ok(())
    }

    fn close_directory(&mut self, token: Token) -> Result<()> {
        self.step()?;
        self.dir(token)?.closed = true;
        self.close_dir(token)?;
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
        self.mark_edited(parent)?;
        let repos_path = {
            let parent = self.dirs.get(&parent);
            self.new_repos_path(&path, parent, None)?
        };
        let way = self.way(parent, &path, &repos_path, NodeKind::File)?;
        if way.skip {
            return self.open_file_state(token, skipped_file(&path, parent));
        }
        self.open_file_state(
            token,
            OpenFile {
                repos_path,
                kind: Origin::Added {
                    replace: way.replace,
                },
                edited: true,
                skip: false,
                notified: way.notified,
                local: way.local,
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
        if self.is_other_root(&path) {
            self.skip(&path, Action::UpdateSkipObstruction, NodeKind::File);
            return self.open_file_state(token, skipped_file(&path, parent));
        }
        let Some((node, local)) = self.open_base(parent, &path, NodeKind::File)? else {
            return self.open_file_state(token, skipped_file(&path, parent));
        };
        let local_props = local_props(&node)?;
        let Some(base) = node.base().cloned() else {
            return Err(self.not_found(&path));
        };
        let special = base.props()?.contains_key(props::SVN_SPECIAL);
        if !local.shadows() && self.look(&path)? == Some(FileKind::Symlink) && !special {
            return Err(self.in_its_place(&path, "update file"));
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
                local,
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
        file.text = TextState::Collecting {
            format,
            chunks: Vec::new(),
            len: 0,
        };
        let (path, dir) = (file.path.clone(), file.dir);
        let text = match &file.kind {
            Origin::Opened { layer, .. } => layer.sha1()?,
            Origin::Added { .. } => None,
        };
        self.mark_file_edited(token)?;
        let (Some(expected), Some(text)) = (base, text) else {
            return Ok(());
        };
        let recorded = self.md5_in(dir, &text)?;
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
            TextState::None | TextState::Known(_) | TextState::Whole(_) => Err(out_of_order()),
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

    fn fulltext(&mut self, token: Token, text: Box<dyn Fulltext>) -> Result<()> {
        self.step()?;
        let file = self.file(token)?;
        if file.skip {
            return Ok(());
        }
        file.text = TextState::Whole(text);
        self.mark_file_edited(token)
    }

    fn known_text(&mut self, token: Token, sha1: &Sha1) -> Result<bool> {
        self.step()?;
        if self.file(token)?.skip {
            return Ok(true);
        }
        let Some(text) = self.stored_text(sha1)? else {
            return Ok(false);
        };
        self.file(token)?.text = TextState::Known(text);
        self.mark_file_edited(token)?;
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
            self.mark_file_edited(token)?;
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

/// Reads the local properties of a node.
fn local_props(node: &crate::db::Node) -> Result<Option<Props>> {
    let stored = node.actual.properties.as_ref();
    stored.map(|stored| props::from_skel(stored)).transpose()
}

fn opened(
    path: &RelPath,
    parent: Option<Token>,
    base: &Layer,
    repos_path: RelPathBuf,
    folder: Arc<DirDisk>,
    local_props: Option<Props>,
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
        local: Local::default(),
        deletion_conflicts: BTreeMap::new(),
        not_present: BTreeMap::new(),
        merged: None,
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
        local_props: None,
        prop_changes: Vec::new(),
        edited: false,
        skip: true,
        notified: true,
        closed: false,
        open_files: 0,
        sent_files: 0,
        replaced: BTreeSet::new(),
        local: Local::default(),
        deletion_conflicts: BTreeMap::new(),
        not_present: BTreeMap::new(),
        merged: None,
    }
}

fn skipped_file(path: &RelPath, dir: Token) -> OpenFile {
    OpenFile {
        dir,
        path: path.to_owned(),
        repos_path: RelPathBuf::root(),
        old_repos_path: None,
        old_rev: None,
        kind: Origin::Added { replace: false },
        changed: Changed::default(),
        base_props: Props::new(),
        prop_changes: Vec::new(),
        text: TextState::None,
        edited: false,
        skip: true,
        notified: false,
        local: Local::default(),
    }
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
