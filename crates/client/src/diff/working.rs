//! What differs between a tree of a repository and a working copy: an editor that is told how to
//! get from BASE to that tree.
//!
//! What it is told of is compared with the working nodes; what it is not told of is BASE, and
//! compared with the working nodes when their folder is closed.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use bytes::Bytes;
use sylvan_core::{Depth, Md5, NodeKind, RelPath, RelPathBuf, Result, Revnum};
use sylvan_delta::{CopyFrom, Editor, TextFormat, Token};
use sylvan_wc::db::{Node, NodeState, Presence};

use super::change::{Change, Pipe, Side, Take};
use super::nodes::{Tree, below, props_of};
use super::order::{Kept, Order, Ordered};
use super::repos::{Changes, Receiving, check_digest, note, patched, unknown_token};
use super::text::Text;

/// How the working copy is compared.
#[derive(Clone, Debug)]
pub(super) struct WorkingOptions {
    /// The one child of the anchor that is compared; empty for the anchor.
    pub(super) target: String,
    pub(super) depth: Option<Depth>,
    pub(super) ignore_ancestry: bool,
    /// Left and right are exchanged, so that what comes first comes last.
    pub(super) reverse: bool,
}

/// See the module.
pub(super) struct WorkingEditor<'a, 'p> {
    tree: Tree<'a>,
    options: WorkingOptions,
    pipe: Pipe<'p>,
    order: Order,
    rev: Option<Revnum>,
    root_opened: bool,
    dirs: HashMap<Token, Dir>,
    files: HashMap<Token, OpenFile>,
}

struct Dir {
    /// Below the anchor.
    path: RelPathBuf,
    depth: Option<Depth>,
    is_added: bool,
    /// There is no working node that it is compared with.
    repos_only: bool,
    is_incomplete: bool,
    /// Nothing is told of the folder itself.
    skip: bool,
    nodes: Option<BTreeMap<String, Node>>,
    deletes: BTreeSet<String>,
    /// Children that were compared.
    compared: BTreeSet<String>,
    changes: Changes,
}

struct OpenFile {
    path: RelPathBuf,
    kept: Kept,
    repos_only: bool,
    is_added: bool,
    node: Option<Node>,
    skip: bool,
    changes: Changes,
    new: Option<Receiving>,
    new_text: Option<Text>,
    digest: Option<Md5>,
}

/// What of a child is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Matched {
    repos_only: bool,
    compared: bool,
    is_incomplete: bool,
}

impl<'a, 'p> WorkingEditor<'a, 'p> {
    pub(super) fn new(tree: Tree<'a>, options: WorkingOptions, pipe: Pipe<'p>) -> Self {
        Self {
            tree,
            options,
            pipe,
            order: Order::default(),
            rev: None,
            root_opened: false,
            dirs: HashMap::new(),
            files: HashMap::new(),
        }
    }

    fn dir(&mut self, token: Token) -> Result<&mut Dir> {
        self.dirs.get_mut(&token).ok_or_else(unknown_token)
    }

    fn file(&mut self, token: Token) -> Result<&mut OpenFile> {
        self.files.get_mut(&token).ok_or_else(unknown_token)
    }

    /// Reads the children of a folder, once.
    fn child(&mut self, parent: Token, name: &str) -> Result<Option<Node>> {
        let dir = self.dirs.get_mut(&parent).ok_or_else(unknown_token)?;
        if dir.nodes.is_none() {
            let at = self.tree.anchor.join(&dir.path);
            dir.nodes = Some(children(&self.tree, &at)?);
        }
        Ok(dir
            .nodes
            .as_ref()
            .and_then(|nodes| nodes.get(name))
            .cloned())
    }

    /// Finds what a node that the repository adds is compared with.
    fn match_added(&self, node: Option<&Node>, kind: NodeKind) -> Matched {
        let is_added = |node: &Node| is_kind(node, kind) && node.state() == NodeState::Added;
        let found = self.options.ignore_ancestry && node.is_some_and(is_added);
        Matched {
            repos_only: !found,
            compared: found,
            is_incomplete: false,
        }
    }

    /// Finds what a node that the repository changes is compared with.
    fn match_opened(&self, node: Option<&Node>, kind: NodeKind) -> Matched {
        let none = Matched {
            repos_only: true,
            compared: false,
            is_incomplete: false,
        };
        let Some(node) = node.filter(|node| is_kind(node, kind)) else {
            return none;
        };
        let base_incomplete = node
            .base()
            .is_some_and(|base| base.presence == Presence::Incomplete);
        let repos_only = match node.state() {
            NodeState::Deleted => true,
            NodeState::Added => !self.options.ignore_ancestry,
            _ => false,
        };
        let is_single_delete = node.state() == NodeState::Deleted && node.work_layers() <= 1;
        Matched {
            repos_only,
            compared: !repos_only || is_single_delete,
            is_incomplete: base_incomplete,
        }
    }

    fn enter(&mut self, path: &RelPath, parent: Token, is_added: bool, dir: Token) -> Result<()> {
        let node = self.child(parent, path.basename())?;
        let above = self.dir(parent)?;
        let depth = below(above.depth);
        let under_repos_only = above.repos_only;
        let matched = match (under_repos_only, is_added) {
            (true, _) => Matched {
                repos_only: true,
                compared: false,
                is_incomplete: false,
            },
            (false, true) => self.match_added(node.as_ref(), NodeKind::Dir),
            (false, false) => self.match_opened(node.as_ref(), NodeKind::Dir),
        };
        if matched.compared {
            let name = path.basename().to_owned();
            self.dir(parent)?.compared.insert(name);
        }
        self.dirs.insert(
            dir,
            Dir {
                depth,
                is_added,
                repos_only: matched.repos_only,
                is_incomplete: matched.is_incomplete,
                ..Dir::new(path)
            },
        );
        Ok(())
    }

    fn enter_file(
        &mut self,
        path: &RelPath,
        parent: Token,
        is_added: bool,
        file: Token,
    ) -> Result<()> {
        let node = self.child(parent, path.basename())?;
        let under_repos_only = self.dir(parent)?.repos_only;
        let mut matched = Matched {
            repos_only: true,
            compared: false,
            is_incomplete: false,
        };
        if !under_repos_only {
            matched = match is_added {
                true => self.match_added(node.as_ref(), NodeKind::File),
                false => self.match_opened(node.as_ref(), NodeKind::File),
            };
        }
        if matched.compared {
            let name = path.basename().to_owned();
            self.dir(parent)?.compared.insert(name);
        }
        let changelist = node
            .as_ref()
            .and_then(|node| node.actual.changelist.as_deref());
        let skip = !self.pipe.wants(path, changelist);
        let kept = self.order.keep();
        self.files.insert(
            file,
            OpenFile {
                path: path.to_owned(),
                kept,
                repos_only: matched.repos_only,
                is_added,
                node,
                skip,
                changes: Changes::new(),
                new: None,
                new_text: None,
                digest: None,
            },
        );
        Ok(())
    }

    /// Makes what is told of a file that was closed.
    fn file_change(&self, file: OpenFile) -> Result<Option<Change>> {
        if file.skip {
            return Ok(None);
        }
        let base = file.node.as_ref().and_then(Node::base);
        let base = base.filter(|_| !file.is_added);
        let base_props = base.map(props_of).transpose()?.unwrap_or_default();
        let changelist = file
            .node
            .as_ref()
            .and_then(|node| node.actual.changelist.clone());
        let mut left = Side {
            rev: self.rev,
            props: patched(&base_props, &file.changes),
            text: file.new_text,
        };
        let wants_texts = self.pipe.wants_texts();
        if left.text.is_none() && file.is_added && wants_texts {
            left.text = Some(Text::empty());
        }
        let node = match file.node {
            Some(node) if !file.repos_only => node,
            _ => {
                return Ok(Some(Change {
                    changelist,
                    ..Change::deleted(file.path, NodeKind::File, left)
                }));
            }
        };
        if left.text.is_none()
            && wants_texts
            && let Some(checksum) = node.base().and_then(|base| base.checksum)
        {
            left.text = Some(Text::File(self.tree.pristine_path(checksum)?));
        }
        let right = self.tree.local_side(&node, wants_texts)?;
        Ok(Some(Change {
            text: true,
            changelist,
            ..Change::changed(file.path, NodeKind::File, left, right)
        }))
    }

    fn ordered(&mut self) -> Ordered<'_, 'p> {
        Ordered {
            order: &mut self.order,
            pipe: &mut self.pipe,
        }
    }

    /// Tells of a working node whose place in the repository was deleted.
    fn deleted_in_repos(&mut self, dir: &Dir, name: &str) -> Result<()> {
        let at = self.tree.anchor.join(&dir.path);
        let nodes = match &dir.nodes {
            Some(nodes) => nodes,
            None => &children(&self.tree, &at)?,
        };
        let Some(node) = nodes.get(name).filter(|node| !node.state().is_hidden()) else {
            return Ok(());
        };
        if node.state() == NodeState::Deleted && !self.tree.pristine {
            return Ok(());
        }
        let mut out = Ordered {
            order: &mut self.order,
            pipe: &mut self.pipe,
        };
        self.tree.local_only(node, Some(Depth::Infinity), &mut out)
    }

    fn close(&mut self, mut dir: Dir) -> Result<()> {
        for name in std::mem::take(&mut dir.deletes) {
            self.deleted_in_repos(&dir, &name)?;
            dir.compared.insert(name);
        }
        if !dir.repos_only {
            let mut walk = LocalWalk {
                tree: &self.tree,
                options: &self.options,
                rev: self.rev,
                out: &mut Ordered {
                    order: &mut self.order,
                    pipe: &mut self.pipe,
                },
            };
            walk.children(&dir.path, dir.depth, &dir.compared)?;
        }
        if dir.skip || dir.changes.is_empty() && !dir.repos_only {
            return Ok(());
        }
        let at = self.tree.anchor.join(&dir.path);
        let node = self.tree.wc.db().node(&at)?;
        let base = node.as_ref().and_then(Node::base);
        let base = base.filter(|_| !dir.is_added && !dir.is_incomplete);
        let base_props = base.map(props_of).transpose()?.unwrap_or_default();
        let left = Side {
            rev: self.rev,
            props: patched(&base_props, &dir.changes),
            text: None,
        };
        let change = match node {
            Some(node) if !dir.repos_only => {
                let right = self.tree.local_side(&node, false)?;
                if left.props == right.props {
                    return Ok(());
                }
                Change::changed(dir.path, NodeKind::Dir, left, right)
            }
            _ => Change::deleted(dir.path, NodeKind::Dir, left),
        };
        self.ordered().take(change)
    }
}

impl Dir {
    fn new(path: &RelPath) -> Self {
        Self {
            path: path.to_owned(),
            depth: None,
            is_added: false,
            repos_only: false,
            is_incomplete: false,
            skip: false,
            nodes: None,
            deletes: BTreeSet::new(),
            compared: BTreeSet::new(),
            changes: Changes::new(),
        }
    }
}

fn is_kind(node: &Node, kind: NodeKind) -> bool {
    let is_dir = |kind: NodeKind| kind == NodeKind::Dir;
    !node.state().is_hidden()
        && node
            .top()
            .is_some_and(|top| is_dir(top.kind) == is_dir(kind))
}

fn children(tree: &Tree<'_>, dir: &RelPath) -> Result<BTreeMap<String, Node>> {
    let nodes = tree.wc.db().children(dir)?;
    Ok(nodes
        .into_iter()
        .filter(|node| !node.layers.is_empty())
        .map(|node| (node.path.basename().to_owned(), node))
        .collect())
}

/// Goes through what the repository did not say anything of.
struct LocalWalk<'w> {
    tree: &'w Tree<'w>,
    options: &'w WorkingOptions,
    rev: Option<Revnum>,
    out: &'w mut dyn Take,
}

impl LocalWalk<'_> {
    /// Compares the children of a folder, but those that were compared before.
    fn children(
        &mut self,
        dir: &RelPath,
        depth: Option<Depth>,
        compared: &BTreeSet<String>,
    ) -> Result<()> {
        if self.tree.pristine || depth == Some(Depth::Empty) {
            return Ok(());
        }
        let target = &self.options.target;
        let only_target = dir.is_root() && !target.is_empty();
        let at = self.tree.anchor.join(dir);
        for (name, node) in children(self.tree, &at)? {
            self.tree.cancel.check()?;
            if only_target && *target != name || compared.contains(&name) {
                continue;
            }
            if !node.state().is_hidden() {
                self.node(&node, depth)?;
            }
        }
        Ok(())
    }

    fn node(&mut self, node: &Node, depth: Option<Depth>) -> Result<()> {
        let Some(top) = node.top() else {
            return Ok(());
        };
        let wants_dirs = depth.is_none_or(|depth| depth >= Depth::Immediates);
        let base = node.base();
        let base_there = base.filter(|base| base.presence.is_present());
        let state = node.state();
        let (mut repos_only, mut local_only) = (false, false);
        match (base, base_there, state) {
            (None, _, NodeState::Deleted) => return Ok(()),
            (None, ..) => local_only = true,
            (_, _, NodeState::Normal | NodeState::Incomplete) => {}
            (_, None, NodeState::Deleted) => return Ok(()),
            (_, Some(_), NodeState::Deleted) => repos_only = true,
            (_, None, _) => local_only = true,
            (_, Some(base), _) => {
                if base.kind != top.kind || !self.options.ignore_ancestry {
                    (repos_only, local_only) = (true, true);
                }
            }
        }
        let deeper = below(depth);
        let shows = |kind: NodeKind| kind != NodeKind::Dir || wants_dirs;
        if local_only && self.options.reverse && shows(top.kind) {
            self.tree.local_only(node, deeper, self.out)?;
        }
        match (repos_only, local_only, base_there) {
            (true, _, Some(base)) if shows(base.kind) => {
                self.tree.base_only(node, self.rev, deeper, self.out)?;
            }
            (false, false, _) if top.kind == NodeKind::Dir && wants_dirs => {
                self.folder(node, deeper)?;
            }
            (false, false, _) if top.kind != NodeKind::Dir => {
                self.tree.base_to_working(node, None, self.rev, self.out)?;
            }
            _ => {}
        }
        if local_only && !self.options.reverse && shows(top.kind) {
            self.tree.local_only(node, deeper, self.out)?;
        }
        Ok(())
    }

    fn folder(&mut self, node: &Node, depth: Option<Depth>) -> Result<()> {
        let path = self.tree.shown(&node.path);
        self.children(&path, depth, &BTreeSet::new())?;
        self.folder_props(node)
    }

    fn folder_props(&mut self, node: &Node) -> Result<()> {
        let (Some(stored), Some(top)) = (node.actual.properties.as_deref(), node.top()) else {
            return Ok(());
        };
        let left = Side {
            rev: top.revision.filter(|_| top.op_depth == 0),
            props: props_of(top)?,
            text: None,
        };
        let right = Side {
            rev: None,
            props: sylvan_wc::props::parse(stored)?,
            text: None,
        };
        let path = self.tree.shown(&node.path);
        self.out
            .take(Change::changed(path, NodeKind::Dir, left, right))
    }
}

impl Editor for WorkingEditor<'_, '_> {
    fn set_target_revision(&mut self, rev: Revnum) -> Result<()> {
        self.rev = Some(rev);
        Ok(())
    }

    fn open_root(&mut self, _: Option<Revnum>, root: Token) -> Result<()> {
        self.root_opened = true;
        let dir = Dir {
            depth: self.options.depth,
            skip: !self.options.target.is_empty(),
            ..Dir::new(RelPath::ROOT)
        };
        self.dirs.insert(root, dir);
        Ok(())
    }

    fn delete_entry(&mut self, path: &RelPath, _: Option<Revnum>, parent: Token) -> Result<()> {
        let name = path.basename().to_owned();
        self.dir(parent)?.deletes.insert(name);
        Ok(())
    }

    fn add_directory(
        &mut self,
        path: &RelPath,
        parent: Token,
        _: Option<CopyFrom>,
        dir: Token,
    ) -> Result<()> {
        self.enter(path, parent, true, dir)
    }

    fn open_directory(
        &mut self,
        path: &RelPath,
        parent: Token,
        _: Option<Revnum>,
        dir: Token,
    ) -> Result<()> {
        self.enter(path, parent, false, dir)
    }

    fn change_dir_prop(&mut self, dir: Token, name: &str, value: Option<&[u8]>) -> Result<()> {
        note(&mut self.dir(dir)?.changes, name, value);
        Ok(())
    }

    fn close_directory(&mut self, dir: Token) -> Result<()> {
        self.tree.cancel.check()?;
        let dir = self.dirs.remove(&dir).ok_or_else(unknown_token)?;
        self.close(dir)
    }

    fn absent_directory(&mut self, _: &RelPath, _: Token) -> Result<()> {
        Ok(())
    }

    fn add_file(
        &mut self,
        path: &RelPath,
        parent: Token,
        _: Option<CopyFrom>,
        file: Token,
    ) -> Result<()> {
        self.enter_file(path, parent, true, file)
    }

    fn open_file(
        &mut self,
        path: &RelPath,
        parent: Token,
        _: Option<Revnum>,
        file: Token,
    ) -> Result<()> {
        self.enter_file(path, parent, false, file)
    }

    fn apply_text(&mut self, file: Token, _: Option<Md5>, format: TextFormat) -> Result<()> {
        let wanted = self.pipe.wants_texts();
        let file = self.files.get_mut(&file).ok_or_else(unknown_token)?;
        if file.skip || !wanted {
            return Ok(());
        }
        let base = file.node.as_ref().and_then(Node::base);
        let base = base.filter(|_| !file.is_added);
        let old = match base.and_then(|base| base.checksum) {
            Some(checksum) => Some(Text::File(self.tree.pristine_path(checksum)?)),
            None => None,
        };
        file.new = Some(Receiving::new(format, old.as_ref())?);
        Ok(())
    }

    fn text_chunk(&mut self, file: Token, chunk: Bytes) -> Result<()> {
        self.tree.cancel.check()?;
        match &mut self.file(file)?.new {
            Some(receiving) => receiving.push(&chunk),
            None => Ok(()),
        }
    }

    fn text_end(&mut self, file: Token) -> Result<()> {
        let file = self.file(file)?;
        if let Some(receiving) = file.new.take() {
            let (text, digest) = receiving.finish()?;
            file.new_text = Some(text);
            file.digest = digest;
        }
        Ok(())
    }

    fn change_file_prop(&mut self, file: Token, name: &str, value: Option<&[u8]>) -> Result<()> {
        note(&mut self.file(file)?.changes, name, value);
        Ok(())
    }

    fn close_file(&mut self, file: Token, text: Option<Md5>) -> Result<()> {
        let file = self.files.remove(&file).ok_or_else(unknown_token)?;
        let at = self.tree.wc.local_path(&self.tree.anchor.join(&file.path));
        check_digest(at.local_style(), text, file.digest)?;
        let kept = file.kept;
        let change = self.file_change(file)?;
        self.order.settle(kept, change, &mut self.pipe)
    }

    fn absent_file(&mut self, _: &RelPath, _: Token) -> Result<()> {
        Ok(())
    }

    fn close_edit(&mut self) -> Result<()> {
        if self.root_opened {
            return Ok(());
        }
        let mut out = Ordered {
            order: &mut self.order,
            pipe: &mut self.pipe,
        };
        let mut walk = LocalWalk {
            tree: &self.tree,
            options: &self.options,
            rev: self.rev,
            out: &mut out,
        };
        walk.children(RelPath::ROOT, self.options.depth, &BTreeSet::new())?;
        if !self.options.target.is_empty() || self.tree.pristine {
            return Ok(());
        }
        match self.tree.wc.db().node(&self.tree.anchor)? {
            Some(node) => walk.folder_props(&node),
            None => Ok(()),
        }
    }

    fn abort_edit(&mut self) -> Result<()> {
        Ok(())
    }
}
