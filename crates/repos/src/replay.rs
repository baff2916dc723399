//! What a revision or transaction did, as a drive.

use std::collections::{BTreeMap, HashSet};

use sylvan_core::{Error, ErrorCode, NodeKind, Props, RelPath, RelPathBuf, Result, Revnum};
use sylvan_delta::{CopyFrom, Editor, TextFormat, Token};
use sylvan_fs::change::{Change, ChangeKind};
use sylvan_fs::{FileSystem, Root, Tree, TreeNode};
use sylvan_io::Cancel;

use crate::access::ReadAccess;
use crate::send::{Opened, Sender, Texts, md5_of};

/// What is replayed.
#[derive(Clone, Debug, Default)]
pub struct ReplayOptions {
    /// Only what is below this folder, and the folders above it.
    pub base: RelPathBuf,
    /// Copies from before this revision are sent as plain additions.
    pub low_water_mark: Revnum,
    /// How contents and properties are sent; without, that they changed is told by an empty text
    /// and a property without a name.
    pub deltas: Option<Texts>,
}

/// Drives `editor` with what a revision or transaction did, path by path, and leaves it to the
/// caller to close or abort the drive. What `access` refuses is left out.
///
/// # Errors
/// `FS_NOT_FOUND` if the list of changed paths does not fit the tree; and the errors of the file
/// system and of the editor.
pub fn replay(
    tree: Tree<'_>,
    editor: &mut dyn Editor,
    options: &ReplayOptions,
    access: ReadAccess<'_>,
    cancel: &Cancel,
) -> Result<()> {
    if let Some(rev) = tree.revision() {
        editor.set_target_revision(rev)?;
        if rev == Revnum::ZERO {
            return Ok(());
        }
    }
    let fs = tree.fs();
    let before = match tree.revision() {
        Some(rev) => rev.previous().unwrap_or_default(),
        None => tree.base_revision(),
    };
    let mut replay = Replay {
        tree,
        fs,
        before: fs.revision_root(before)?,
        options,
        access,
        cancel,
        sender: Sender::new(fs, editor, options.deltas.unwrap_or(Texts::None)),
        changes: BTreeMap::new(),
        done: HashSet::new(),
        open: Vec::new(),
        copies: Vec::new(),
    };
    replay.run()
}

struct Replay<'a, 'e> {
    tree: Tree<'a>,
    fs: &'a FileSystem,
    /// What the changes were made to.
    before: Root,
    options: &'a ReplayOptions,
    access: ReadAccess<'a>,
    cancel: &'a Cancel,
    sender: Sender<'e>,
    changes: BTreeMap<RelPathBuf, Change>,
    /// Paths that were sent with a folder above them.
    done: HashSet<RelPathBuf>,
    open: Vec<(RelPathBuf, Token)>,
    copies: Vec<Copy>,
}

/// A folder that is being added within or as a copy.
struct Copy {
    path: RelPathBuf,
    /// `None` for an addition without history in a copy.
    source: Option<(Revnum, RelPathBuf)>,
}

/// What a node is compared with.
type Source = Option<(Revnum, RelPathBuf)>;

impl<'a> Replay<'a, '_> {
    fn run(&mut self) -> Result<()> {
        let base = &self.options.base;
        for (path, change) in self.tree.paths_changed()? {
            let concerns = path.starts_with(base) || base.starts_with(&path);
            if concerns && self.access.may_read(self.tree.base_revision(), &path)? {
                self.changes.insert(path, change);
            }
        }
        let mut paths: Vec<RelPathBuf> = self.changes.keys().cloned().collect();
        paths.sort_by(|a, b| a.components().cmp(b.components()));
        for path in paths {
            self.cancel.check()?;
            if !self.done.contains(&path) {
                self.path(&path)?;
            }
        }
        while let Some((_, token)) = self.open.pop() {
            self.sender.editor.close_directory(token)?;
        }
        Ok(())
    }

    /// Closes and opens folders until the one above a path is open; returns it.
    fn go_to_parent(&mut self, path: &RelPath) -> Result<Option<Token>> {
        while let Some((folder, token)) = self.open.last() {
            if path.starts_with(folder) && **folder != *path {
                break;
            }
            self.sender.editor.close_directory(*token)?;
            self.open.pop();
        }
        let Some((parent, _)) = path.split() else {
            return Ok(None);
        };
        if self.open.is_empty() {
            let token = self.sender.token()?;
            self.sender.editor.open_root(None, token)?;
            self.open.push((RelPathBuf::root(), token));
        }
        while let Some((folder, above)) = self.open.last() {
            let Some(below) = parent.strip_prefix(folder).filter(|below| !below.is_root()) else {
                break;
            };
            let name = below.components().next().unwrap_or_default();
            let (folder, above) = (folder.child(name)?, *above);
            let token = self.sender.token()?;
            self.sender
                .editor
                .open_directory(&folder, above, None, token)?;
            self.open.push((folder, token));
        }
        Ok(self.open.last().map(|(_, token)| *token))
    }

    fn path(&mut self, path: &RelPath) -> Result<()> {
        let parent = self.go_to_parent(path)?;
        while self
            .copies
            .last()
            .is_some_and(|copy| !path.starts_with(&copy.path))
        {
            self.copies.pop();
        }
        let Some(mut change) = self.changes.get(path).cloned() else {
            return Ok(());
        };
        let (adds, deletes) = match change.kind {
            ChangeKind::Add => (true, false),
            ChangeKind::Delete => (false, true),
            ChangeKind::Replace => (true, true),
            ChangeKind::Modify | ChangeKind::Reset => (false, false),
        };
        if deletes
            && let Some(parent) = parent
            && self.was_readable(path)?
        {
            self.sender.editor.delete_entry(path, None, parent)?;
        }
        if deletes && !adds {
            return Ok(());
        }
        if !matches!(change.node_kind, NodeKind::File | NodeKind::Dir) {
            change.node_kind = self.tree.kind(path)?;
        }
        if !matches!(change.node_kind, NodeKind::File | NodeKind::Dir) {
            return Err(Error::new(
                ErrorCode::FS_NOT_FOUND,
                format!("Filesystem path '{path}' is neither a file nor a directory"),
            ));
        }
        if adds {
            self.added(path, parent, &change)
        } else {
            self.changed(path, parent, &change)
        }
    }

    /// Tells whether what is deleted could be read before.
    fn was_readable(&self, path: &RelPath) -> Result<bool> {
        let copy = self.copies.last().and_then(|copy| {
            let (rev, source) = copy.source.as_ref()?;
            Some((*rev, source.join(path.strip_prefix(&copy.path)?)))
        });
        match copy {
            Some((rev, path)) => self.access.may_read(rev, &path),
            None => self.access.may_read(self.before.revision(), path),
        }
    }

    fn added(&mut self, path: &RelPath, parent: Option<Token>, change: &Change) -> Result<()> {
        let parent = parent.ok_or_else(|| {
            Error::new(
                ErrorCode::FS_ALREADY_EXISTS,
                "Root directory already exists.",
            )
        })?;
        let real = match &change.copyfrom {
            Some(from) => Some(from.clone()),
            None => self.copied_from(path)?,
        };
        let told = match &real {
            Some((rev, from)) => {
                let can_tell = self.access.may_read(*rev, from)?
                    && from.starts_with(&self.options.base)
                    && *rev >= self.options.low_water_mark;
                real.clone().filter(|_| can_tell)
            }
            None => None,
        };
        let downgraded = real.is_some() && told.is_none();
        let copy_from = told.clone().map(|(rev, path)| CopyFrom { path, rev });
        if change.node_kind == NodeKind::File {
            let token = self.sender.token()?;
            self.sender
                .editor
                .add_file(path, parent, copy_from, token)?;
            return self.finish_file(path, token, &told, change, downgraded);
        }
        let token = match (&real, downgraded) {
            (Some((rev, from)), true) => self.add_tree(path, parent, *rev, from)?,
            _ => {
                let token = self.sender.token()?;
                self.sender
                    .editor
                    .add_directory(path, parent, copy_from, token)?;
                token
            }
        };
        self.open.push((path.to_owned(), token));
        if told.is_some() || !self.copies.is_empty() {
            self.copies.push(Copy {
                path: path.to_owned(),
                source: told.clone(),
            });
        }
        // A tree that was added whole has its properties already.
        if change.prop_mod && !downgraded {
            self.props(Opened::Dir(token), path, &told)?;
        }
        Ok(())
    }

    /// Finds the source of a copy, for lists of changed paths without it.
    fn copied_from(&self, path: &RelPath) -> Result<Source> {
        let node = self.tree.find(path)?;
        Ok(node.and_then(|node| {
            let (rev, path) = node.copied_from()?;
            Some((rev, path.to_owned()))
        }))
    }

    fn changed(&mut self, path: &RelPath, parent: Option<Token>, change: &Change) -> Result<()> {
        let source = match self.copies.last() {
            None => Some((self.before.revision(), path.to_owned())),
            Some(copy) => copy.source.as_ref().and_then(|(rev, source)| {
                let below = path.strip_prefix(&copy.path)?;
                Some((*rev, source.join(below)))
            }),
        };
        let token = self.sender.token()?;
        if change.node_kind == NodeKind::Dir {
            match parent {
                Some(parent) => self
                    .sender
                    .editor
                    .open_directory(path, parent, None, token)?,
                None => self.sender.editor.open_root(None, token)?,
            }
            self.open.push((path.to_owned(), token));
            if change.prop_mod {
                self.props(Opened::Dir(token), path, &source)?;
            }
            return Ok(());
        }
        let parent = parent.ok_or_else(|| {
            Error::new(ErrorCode::FS_NOT_DIRECTORY, "The root is not a directory")
        })?;
        self.sender.editor.open_file(path, parent, None, token)?;
        self.finish_file(path, token, &source, change, false)
    }

    fn finish_file(
        &mut self,
        path: &RelPath,
        token: Token,
        source: &Source,
        change: &Change,
        downgraded: bool,
    ) -> Result<()> {
        if change.prop_mod || downgraded {
            self.props(Opened::File(token), path, source)?;
        }
        let node = self.tree.node(path)?;
        if change.text_mod || downgraded {
            self.text(token, source, &node)?;
        }
        self.sender.editor.close_file(token, Some(md5_of(&node)?))
    }

    fn text(&mut self, token: Token, source: &Source, node: &TreeNode<'a>) -> Result<()> {
        if self.options.deltas.is_none() {
            self.sender
                .editor
                .apply_text(token, None, TextFormat::Svndiff)?;
            return self.sender.editor.text_end(token);
        }
        let Some((rev, path)) = source else {
            return self.sender.text(token, None, node);
        };
        let root = self.fs.revision_root(*rev)?;
        self.sender
            .text(token, Some(&Tree::from(&root).node(path)?), node)
    }

    fn props(&mut self, opened: Opened, path: &RelPath, source: &Source) -> Result<()> {
        if self.options.deltas.is_none() {
            return self.sender.prop(opened, "", None);
        }
        let new = self.tree.node(path)?.props()?;
        match source {
            None => self.sender.prop_diffs(opened, &Props::new(), &new),
            Some((rev, path)) => {
                let old = self.fs.revision_root(*rev)?.node(path)?.props()?;
                self.sender.prop_diffs(opened, &old, &new)
            }
        }
    }

    /// Adds a folder that cannot be told to be a copy, with what was copied with it; what was
    /// changed there after the copy is sent too. Returns the folder, still open.
    fn add_tree(
        &mut self,
        path: &RelPath,
        parent: Token,
        rev: Revnum,
        source: &RelPath,
    ) -> Result<Token> {
        let top = self.add_plain_dir(path, parent)?;
        let mut work = vec![Work::Dir(Folder {
            path: path.to_owned(),
            token: top,
            rev,
            source: source.to_owned(),
        })];
        while let Some(next) = work.pop() {
            self.cancel.check()?;
            match next {
                Work::Close(token) => self.sender.editor.close_directory(token)?,
                Work::Dir(folder) => self.add_entries(&folder, top, &mut work)?,
                Work::Entry {
                    path,
                    parent,
                    kind,
                    rev,
                    source,
                } => self.add_entry(path, parent, kind, rev, source, &mut work)?,
            }
        }
        Ok(top)
    }

    fn add_entries(&self, folder: &Folder, top: Token, work: &mut Vec<Work>) -> Result<()> {
        if folder.token != top {
            work.push(Work::Close(folder.token));
        }
        let node = self.fs.revision_root(folder.rev)?.node(&folder.source)?;
        // The last one pushed comes first.
        for entry in node.entries()?.entries().iter().rev() {
            work.push(Work::Entry {
                path: folder.path.child(&entry.name)?,
                parent: folder.token,
                kind: entry.kind,
                rev: folder.rev,
                source: folder.source.child(&entry.name)?,
            });
        }
        Ok(())
    }

    fn add_entry(
        &mut self,
        path: RelPathBuf,
        parent: Token,
        kind: NodeKind,
        mut rev: Revnum,
        mut source: RelPathBuf,
        work: &mut Vec<Work>,
    ) -> Result<()> {
        let mut is_empty = false;
        if let Some(change) = self.changes.remove(&path) {
            self.done.insert(path.clone());
            match change.kind {
                ChangeKind::Delete => return Ok(()),
                ChangeKind::Replace => {
                    let from = match change.copyfrom {
                        Some(from) => Some(from),
                        None => self.copied_from(&path)?,
                    };
                    match from {
                        Some(from) => (rev, source) = from,
                        None => is_empty = true,
                    }
                }
                _ => {}
            }
        }
        if !self.access.may_read(self.tree.base_revision(), &path)? {
            return Ok(());
        }
        if kind == NodeKind::File {
            let token = self.sender.token()?;
            self.sender.editor.add_file(&path, parent, None, token)?;
            let node = self.tree.node(&path)?;
            self.props(Opened::File(token), &path, &None)?;
            self.text(token, &None, &node)?;
            return self.sender.editor.close_file(token, Some(md5_of(&node)?));
        }
        if is_empty {
            let token = self.sender.token()?;
            self.sender
                .editor
                .add_directory(&path, parent, None, token)?;
            return self.sender.editor.close_directory(token);
        }
        let token = self.add_plain_dir(&path, parent)?;
        work.push(Work::Dir(Folder {
            path,
            token,
            rev,
            source,
        }));
        Ok(())
    }

    fn add_plain_dir(&mut self, path: &RelPath, parent: Token) -> Result<Token> {
        let token = self.sender.token()?;
        self.sender
            .editor
            .add_directory(path, parent, None, token)?;
        let props = self.tree.node(path)?.props()?;
        self.sender
            .prop_diffs(Opened::Dir(token), &Props::new(), &props)?;
        Ok(token)
    }
}

/// What is still to be done of a tree that is added.
enum Work {
    Dir(Folder),
    Entry {
        path: RelPathBuf,
        parent: Token,
        kind: NodeKind,
        rev: Revnum,
        source: RelPathBuf,
    },
    Close(Token),
}

/// A folder of such a tree, and what it was copied from.
struct Folder {
    path: RelPathBuf,
    token: Token,
    rev: Revnum,
    source: RelPathBuf,
}
