//! What differs between BASE and the working files of one working copy.

use sylvan_core::{Depth, NodeKind, RelPath, RelPathBuf, Result, Revnum};
use sylvan_wc::db::{Node, NodeState, Presence};
use sylvan_wc::status::{self, OnDisk, Status, StatusKind, StatusOptions};

use super::change::{Change, Pipe, Side, Take as _};
use super::nodes::{Tree, props_of};

/// Tells what differs at and below `target`.
///
/// The status of the tree is walked, which compares texts in parallel; the rows of the nodes that
/// differ are read folder by folder.
///
/// # Errors
/// Those of the status, of the database and of reading files.
pub(super) fn compare(
    tree: &Tree<'_>,
    target: &RelPath,
    depth: Option<Depth>,
    ignore_ancestry: bool,
    pipe: &mut Pipe<'_>,
) -> Result<()> {
    let options = StatusOptions {
        depth,
        // Unchanged nodes of copies are wanted too.
        all: ignore_ancestry,
        no_ignore: true,
        global_ignores: Vec::new(),
    };
    let mut walker = Walker {
        tree,
        ignore_ancestry,
        rows: Rows::default(),
        open: Vec::new(),
        told: None,
        pipe,
    };
    status::walk(
        &tree.wc,
        target,
        &options,
        tree.cancel,
        &mut |path, status| walker.node(path, &status),
    )?;
    walker.leave(None)
}

struct Walker<'w, 'p> {
    tree: &'w Tree<'w>,
    ignore_ancestry: bool,
    rows: Rows,
    /// Folders that the walk is in, with what changed of themselves, which is told at their end.
    open: Vec<(RelPathBuf, Option<Change>)>,
    /// A folder of which all is told.
    told: Option<RelPathBuf>,
    pipe: &'w mut Pipe<'p>,
}

/// How a node is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Nothing,
    Changed,
    /// Whether BASE has one node and the working copy another.
    Apart {
        base: bool,
        local: bool,
    },
}

impl Walker<'_, '_> {
    fn node(&mut self, path: &RelPath, status: &Status) -> Result<()> {
        let is_bare_conflict = status.node == StatusKind::Conflicted
            && status.text == StatusKind::None
            && status.props == StatusKind::None;
        let is_plain = status.node == StatusKind::Normal && !status.copied;
        if !status.versioned || is_bare_conflict || is_plain {
            return Ok(());
        }
        self.leave(Some(path))?;
        if let Some(told) = &self.told {
            if path.starts_with(told) {
                return Ok(());
            }
            self.told = None;
        }
        let Some(node) = self.rows.node(self.tree, path)? else {
            return Ok(());
        };
        let node = node.clone();
        match self.how(&node) {
            How::Nothing => Ok(()),
            How::Changed if status.kind == NodeKind::Dir => self.folder(&node, status),
            How::Changed => {
                let modified = match status.text {
                    _ if node.top().is_some_and(|top| top.op_depth > 0) => None,
                    _ if !matches!(status.on_disk, OnDisk::File | OnDisk::Symlink) => Some(false),
                    StatusKind::Conflicted => None,
                    text => Some(text == StatusKind::Modified),
                };
                self.tree.base_to_working(&node, modified, None, self.pipe)
            }
            How::Apart { base, local } => {
                if base {
                    self.tree.base_only(&node, None, None, self.pipe)?;
                }
                if local && node.state() != NodeState::Deleted {
                    self.tree.local_only(&node, None, self.pipe)?;
                }
                if status.kind == NodeKind::Dir {
                    self.told = Some(path.to_owned());
                }
                Ok(())
            }
        }
    }

    fn how(&self, node: &Node) -> How {
        let Some(top) = node.top() else {
            return How::Nothing;
        };
        let Some(base) = node.base() else {
            return How::Apart {
                base: false,
                local: true,
            };
        };
        let has_base = base.presence.is_present();
        match node.state() {
            NodeState::Normal | NodeState::Incomplete => How::Changed,
            NodeState::Deleted if !has_base => How::Nothing,
            NodeState::Deleted => How::Apart {
                base: true,
                local: false,
            },
            _ if !has_base => How::Apart {
                base: false,
                local: true,
            },
            _ if base.kind != top.kind || !self.ignore_ancestry => How::Apart {
                base: true,
                local: true,
            },
            _ => How::Changed,
        }
    }

    fn folder(&mut self, node: &Node, status: &Status) -> Result<()> {
        let mut change = None;
        if !matches!(status.props, StatusKind::None | StatusKind::Normal)
            && let Some(base) = node
                .base()
                .filter(|base| base.presence != Presence::NotPresent)
        {
            let before = props_of(base)?;
            let after = match (node.actual.properties.as_deref(), node.top()) {
                (Some(stored), _) => sylvan_wc::props::parse(stored)?,
                (None, Some(top)) => props_of(top)?,
                (None, None) => before.clone(),
            };
            let left = Side {
                rev: Some(base.revision.unwrap_or(Revnum::ZERO)),
                props: before,
                text: None,
            };
            let right = Side {
                rev: None,
                props: after,
                text: None,
            };
            let path = self.tree.shown(&node.path);
            // A folder is in no changelist.
            let wanted = self.pipe.wants(&path, None);
            change = wanted.then(|| Change::changed(path, NodeKind::Dir, left, right));
        }
        self.open.push((node.path.clone(), change));
        Ok(())
    }

    /// Tells of the folders that `path` is not in; of all, if there is none.
    fn leave(&mut self, path: Option<&RelPath>) -> Result<()> {
        while let Some((_, change)) = self
            .open
            .pop_if(|(dir, _)| path.is_none_or(|path| !path.starts_with(dir)))
        {
            if let Some(change) = change {
                self.pipe.take(change)?;
            }
        }
        Ok(())
    }
}

/// The rows of the folders above the node that is looked at, each read at once.
#[derive(Default)]
struct Rows {
    folders: Vec<(RelPathBuf, Vec<Node>)>,
    single: Option<Node>,
}

impl Rows {
    fn node(&mut self, tree: &Tree<'_>, path: &RelPath) -> Result<Option<&Node>> {
        let db = tree.wc.db();
        let Some(parent) = path.parent() else {
            self.single = db.node(path)?;
            return Ok(self.single.as_ref());
        };
        while self
            .folders
            .pop_if(|(dir, _)| !parent.starts_with(dir))
            .is_some()
        {}
        let known = self.folders.last().is_some_and(|(dir, _)| **dir == *parent);
        if !known {
            self.folders.push((parent.to_owned(), db.children(parent)?));
        }
        let Some((_, nodes)) = self.folders.last() else {
            return Ok(None);
        };
        let at = nodes.binary_search_by(|node| (*node.path).cmp(path));
        Ok(at.ok().map(|at| &nodes[at]))
    }
}
