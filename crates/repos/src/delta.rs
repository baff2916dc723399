//! The difference of two trees.

use std::sync::Arc;

use sylvan_core::{Depth, Error, ErrorCode, NodeKind, RelPath, RelPathBuf, Result, Revnum};
use sylvan_delta::{Editor, Token};
use sylvan_fs::dir::{DirEntry, Directory};
use sylvan_fs::id::NodeRelation;
use sylvan_fs::tree::Strictness;
use sylvan_fs::{Tree, TreeNode};
use sylvan_io::Cancel;

use crate::access::ReadAccess;
use crate::send::{Opened, Sender, Texts, md5_of};

/// How a difference is sent.
#[derive(Clone, Copy, Debug)]
pub struct DeltaOptions {
    /// How contents are sent.
    pub texts: Texts,
    /// How deep; [`Depth::Infinity`] is everything.
    pub depth: Depth,
    /// Whether it is told when a node changed last.
    pub entry_props: bool,
    /// Whether what is not related is changed into each other, instead of replaced.
    pub ignore_ancestry: bool,
}

/// Drives `editor` with what makes `entry` in the folder `source_dir` of one tree what `target_path`
/// is in another: up to `close_edit`, or to `abort_edit` if something failed. With an empty `entry`
/// it is the folder itself. What `access` refuses is sent as absent.
///
/// # Errors
/// `FS_PATH_SYNTAX` if one of both is no folder and there is no `entry`; `REPOS_BAD_ARGS` for the
/// depth `exclude`; `AUTHZ_ROOT_UNREADABLE`; and the errors of the file system and of the editor.
#[expect(clippy::too_many_arguments, reason = "two places, and who gets what")]
pub fn dir_delta(
    source: Tree<'_>,
    source_dir: &RelPath,
    entry: &str,
    target: Tree<'_>,
    target_path: &RelPath,
    editor: &mut dyn Editor,
    options: DeltaOptions,
    access: ReadAccess<'_>,
    cancel: &Cancel,
) -> Result<()> {
    let mut delta = Delta {
        source,
        target,
        options,
        access,
        cancel,
        sender: Sender::new(target.fs(), editor, options.texts),
        frames: Vec::new(),
    };
    match delta.run(source_dir, entry, target_path) {
        Ok(()) => editor.close_edit(),
        Err(error) => Err(match editor.abort_edit() {
            Ok(()) => error,
            Err(other) => error.attach(other),
        }),
    }
}

struct Delta<'a, 'e> {
    source: Tree<'a>,
    target: Tree<'a>,
    options: DeltaOptions,
    access: ReadAccess<'a>,
    cancel: &'a Cancel,
    sender: Sender<'e>,
    frames: Vec<Frame<'a>>,
}

/// A folder that is compared.
struct Frame<'a> {
    token: Token,
    path: RelPathBuf,
    depth: Depth,
    source: Option<(TreeNode<'a>, Arc<Directory>)>,
    target: TreeNode<'a>,
    entries: Arc<Directory>,
    next: usize,
}

/// Of what is shallow, nothing is sent below its children.
const fn demoted(depth: Depth) -> Depth {
    match depth {
        Depth::Immediates | Depth::Files => Depth::Empty,
        other => other,
    }
}

/// Tells whether an entry is within a depth.
fn is_within(depth: Depth, kind: NodeKind) -> bool {
    kind != NodeKind::Dir || matches!(depth, Depth::Infinity | Depth::Immediates)
}

fn open<'a>(folder: &TreeNode<'a>, entry: &DirEntry) -> Result<TreeNode<'a>> {
    folder.child(&entry.name)?.ok_or_else(|| {
        Error::new(
            ErrorCode::FS_NOT_FOUND,
            format!("File not found: path '/{}/{}'", folder.path(), entry.name),
        )
    })
}

impl<'a> Delta<'a, '_> {
    fn run(&mut self, source_dir: &RelPath, entry: &str, target_path: &RelPath) -> Result<()> {
        if self.options.depth == Depth::Exclude {
            return Err(Error::new(
                ErrorCode::REPOS_BAD_ARGS,
                "Delta depth 'exclude' not supported",
            ));
        }
        let entry = RelPath::new(entry)?;
        let source = self.source.find(&source_dir.join(entry))?;
        let target = self.target.find(target_path)?;
        let is_dir = |node: &Option<TreeNode<'_>>| {
            node.as_ref()
                .is_some_and(|node| node.kind() == NodeKind::Dir)
        };
        if source.is_none() && target.is_none() {
            return Ok(());
        }
        if entry.is_root() && !(is_dir(&source) && is_dir(&target)) {
            return Err(Error::new(
                ErrorCode::FS_PATH_SYNTAX,
                "Invalid editor anchoring; at least one of the input paths is not a directory and \
                 there was no source entry",
            ));
        }
        let base = self.target.base_revision();
        self.sender.editor.set_target_revision(base)?;
        if let (Some(source), Some(target)) = (&source, &target)
            && target.relation(source) == NodeRelation::Unchanged
        {
            return Ok(());
        }
        let anchor = if entry.is_root() {
            target_path
        } else {
            target_path.parent().unwrap_or(RelPath::ROOT)
        };
        if !self.access.may_read(base, anchor)? {
            return Err(Error::new(
                ErrorCode::AUTHZ_ROOT_UNREADABLE,
                "Unable to open root of edit",
            ));
        }
        let root = self.sender.token()?;
        let rev = match self.source.revision() {
            Some(rev) => Some(rev),
            None => self
                .source
                .find(source_dir)?
                .and_then(|node| node.created_revision()),
        };
        self.sender.editor.open_root(rev, root)?;
        let depth = self.options.depth;
        if let (true, Some(source), Some(target)) = (entry.is_root(), &source, &target) {
            let frame = self.frame(
                root,
                RelPathBuf::root(),
                depth,
                Some(source),
                target.clone(),
            )?;
            self.frames.push(frame);
            return self.drain();
        }
        self.compare(entry.to_owned(), root, depth, source, target)?;
        self.drain()?;
        self.sender.editor.close_directory(root)
    }

    fn drain(&mut self) -> Result<()> {
        while let Some(frame) = self.frames.pop() {
            self.step(frame)?;
        }
        Ok(())
    }

    /// Makes one node another.
    fn compare(
        &mut self,
        path: RelPathBuf,
        parent: Token,
        depth: Depth,
        source: Option<TreeNode<'a>>,
        target: Option<TreeNode<'a>>,
    ) -> Result<()> {
        let Some(target) = target else {
            return self.sender.editor.delete_entry(&path, None, parent);
        };
        let Some(source) = source else {
            return self.send(path, parent, depth, None, target);
        };
        let relation = target.relation(&source);
        if relation == NodeRelation::Unchanged {
            return Ok(());
        }
        let unrelated = relation == NodeRelation::Unrelated && !self.options.ignore_ancestry;
        if source.kind() != target.kind() || unrelated {
            self.sender.editor.delete_entry(&path, None, parent)?;
            return self.send(path, parent, depth, None, target);
        }
        self.send(path, parent, depth, Some(source), target)
    }

    /// Adds a node, or changes `source` into it.
    fn send(
        &mut self,
        path: RelPathBuf,
        parent: Token,
        depth: Depth,
        source: Option<TreeNode<'a>>,
        target: TreeNode<'a>,
    ) -> Result<()> {
        let is_dir = target.kind() == NodeKind::Dir;
        let rev = self.target.base_revision();
        if !self.access.may_read(rev, target.path())? {
            return if is_dir {
                self.sender.editor.absent_directory(&path, parent)
            } else {
                self.sender.editor.absent_file(&path, parent)
            };
        }
        let token = self.sender.token()?;
        let base = source.as_ref().map(|source| self.base_rev(source));
        let editor = &mut *self.sender.editor;
        match (is_dir, base) {
            (true, None) => editor.add_directory(&path, parent, None, token)?,
            (true, Some(base)) => editor.open_directory(&path, parent, base, token)?,
            (false, None) => editor.add_file(&path, parent, None, token)?,
            (false, Some(base)) => editor.open_file(&path, parent, base, token)?,
        }
        if is_dir {
            let frame = self.frame(token, path, demoted(depth), source.as_ref(), target)?;
            self.frames.push(frame);
            return Ok(());
        }
        self.props(Opened::File(token), source.as_ref(), &target)?;
        let changed = match &source {
            Some(source) => target.contents_differ(source, Strictness::Strict)?,
            None => true,
        };
        if changed {
            self.sender.text(token, source.as_ref(), &target)?;
        }
        self.sender.editor.close_file(token, Some(md5_of(&target)?))
    }

    fn base_rev(&self, source: &TreeNode<'_>) -> Option<Revnum> {
        self.source.revision().or(source.created_revision())
    }

    fn props(
        &mut self,
        opened: Opened,
        source: Option<&TreeNode<'a>>,
        target: &TreeNode<'a>,
    ) -> Result<()> {
        if self.options.entry_props {
            self.sender.entry_props(opened, target, source.is_some())?;
        }
        self.sender.prop_changes(opened, source, target)
    }

    fn frame(
        &mut self,
        token: Token,
        path: RelPathBuf,
        depth: Depth,
        source: Option<&TreeNode<'a>>,
        target: TreeNode<'a>,
    ) -> Result<Frame<'a>> {
        self.props(Opened::Dir(token), source, &target)?;
        let source = match source {
            Some(source) => Some((source.clone(), source.entries()?)),
            None => None,
        };
        Ok(Frame {
            token,
            path,
            depth,
            source,
            entries: target.entries()?,
            target,
            next: 0,
        })
    }

    /// Compares the next entry of a folder; after the last one, deletes what is gone.
    fn step(&mut self, mut frame: Frame<'a>) -> Result<()> {
        self.cancel.check()?;
        let Some(entry) = frame.entries.entries().get(frame.next) else {
            return self.close(&frame);
        };
        let entry = entry.clone();
        frame.next += 1;
        let source = frame
            .source
            .as_ref()
            .and_then(|(node, entries)| Some((node, entries.get(&entry.name)?)));
        let kind = source.map_or(entry.kind, |(_, entry)| entry.kind);
        let unchanged = source.is_some_and(|(_, other)| other.id == entry.id);
        if unchanged || !is_within(frame.depth, kind) {
            self.frames.push(frame);
            return Ok(());
        }
        let source = source.map(|(node, entry)| open(node, entry)).transpose()?;
        let target = open(&frame.target, &entry)?;
        let path = frame.path.child(&entry.name)?;
        let (token, depth) = (frame.token, demoted(frame.depth));
        self.frames.push(frame);
        self.compare(path, token, depth, source, Some(target))
    }

    fn close(&mut self, frame: &Frame<'a>) -> Result<()> {
        let gone = frame.source.iter().flat_map(|(_, entries)| {
            let there = |entry: &&DirEntry| frame.entries.get(&entry.name).is_none();
            entries.entries().iter().filter(there)
        });
        for entry in gone.filter(|entry| is_within(frame.depth, entry.kind)) {
            let path = frame.path.child(&entry.name)?;
            self.sender.editor.delete_entry(&path, None, frame.token)?;
        }
        self.sender.editor.close_directory(frame.token)
    }
}
