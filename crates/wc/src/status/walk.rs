//! Going through a working copy, the database a few folders ahead of the report.

use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::Arc;

use sylvan_core::{Depth, Error, ErrorCode, NodeKind, RelPath, RelPathBuf, Result};
use sylvan_io::Cancel;

use super::assemble::{self, Facts, Place};
use super::disk::{self, Child, Entry, Folder, Pool, Ticket};
use super::ignores::Ignores;
use super::{Status, StatusKind, StatusOptions};
use crate::conflict::Unresolved;
use crate::db::{Layer, LockRow, Node, NodeState, WcLockRow};
use crate::{WorkingCopy, not_found, props, scan};

/// How many nodes are read ahead at most; the database is not locked while they are reported.
const AHEAD: usize = 16_384;

/// Reports the status of `path` and what is below it, in Subversion's order.
///
/// A path that does not exist is reported with status none; that is for the caller to judge.
///
/// # Errors
/// `E155010` if neither the path nor its folder is under version control, `E200015` when
/// cancelled, errors of the disk and of the database, and what `sink` returns.
pub fn walk(
    wc: &WorkingCopy,
    path: &RelPath,
    options: &StatusOptions,
    cancel: &Cancel,
    sink: &mut dyn FnMut(&RelPath, Status) -> Result<()>,
) -> Result<()> {
    walk_raw(
        wc,
        path,
        options,
        cancel,
        &mut |path, mut status, unresolved| {
            assemble::show_conflicts(&mut status, unresolved);
            sink(path, status)
        },
    )
}

/// Tells whether anything at or below `path` is changed locally. What is not under version control
/// does not count.
///
/// # Errors
/// As [`walk`].
pub fn local_changes(wc: &WorkingCopy, path: &RelPath, cancel: &Cancel) -> Result<bool> {
    let quiet = |kind| matches!(kind, StatusKind::Normal | StatusKind::None);
    let mut found = false;
    let result = walk_raw(
        wc,
        path,
        &StatusOptions::default(),
        cancel,
        &mut |_, status, _| {
            found |= match status.node {
                StatusKind::Normal
                | StatusKind::Ignored
                | StatusKind::None
                | StatusKind::External
                | StatusKind::Unversioned => false,
                StatusKind::Incomplete => !quiet(status.text) || !quiet(status.props),
                _ => true,
            };
            if found {
                return Err(Error::from_code(ErrorCode::CEASE_INVOCATION));
            }
            Ok(())
        },
    );
    match result {
        Err(error) if error.code() == ErrorCode::CEASE_INVOCATION => Ok(true),
        Err(error) => Err(error),
        Ok(()) => Ok(found),
    }
}

type Sink<'a> = dyn FnMut(&RelPath, Status, Unresolved) -> Result<()> + 'a;

fn walk_raw(
    wc: &WorkingCopy,
    path: &RelPath,
    options: &StatusOptions,
    cancel: &Cancel,
    sink: &mut Sink<'_>,
) -> Result<()> {
    // On a local disk listing a folder takes less than handing it to a thread.
    let workers = match wc.options().workers {
        None if !wc.is_far() => 1,
        _ => wc.workers(),
    };
    let pristine = wc.adm_path("pristine");
    let mut walker = Walker {
        wc,
        options,
        cancel,
        sink,
        target: path,
        depth: options.depth.unwrap_or(Depth::Infinity),
        locks: HashMap::new(),
        wc_locks: Vec::new(),
        externals: Vec::new(),
        pool: Pool::new(pristine.as_path(), workers, comparers()),
        todo: Vec::new(),
        ahead: VecDeque::new(),
        ahead_nodes: 0,
    };
    match wc.db().read(|| walker.begin())? {
        Start::Folder(child, place) => walker.folder(&child, &place, pristine.as_path()),
        Start::Single(child, parent, ignores) => {
            walker.single(child.as_deref(), &parent, &ignores, pristine.as_path())
        }
    }
}

/// Texts are compared by as many threads as there are processors, within reason.
fn comparers() -> usize {
    std::thread::available_parallelism().map_or(1, |count| count.get().min(4))
}

/// What a walk begins with.
enum Start {
    /// A folder under version control.
    Folder(Box<Child>, Place),
    /// A file, or something that is not under version control, and its folder.
    Single(Option<Box<Child>>, Place, Arc<Ignores>),
}

struct Walker<'a> {
    wc: &'a WorkingCopy,
    options: &'a StatusOptions,
    cancel: &'a Cancel,
    sink: &'a mut Sink<'a>,
    target: &'a RelPath,
    depth: Depth,
    locks: HashMap<(i64, RelPathBuf), LockRow>,
    wc_locks: Vec<WcLockRow>,
    /// The places of externals, by path.
    externals: Vec<RelPathBuf>,
    pool: Pool,
    /// Folders to read, the next one last.
    todo: Vec<Todo>,
    /// Folders that were read, the next one first.
    ahead: VecDeque<Ahead>,
    ahead_nodes: usize,
}

struct Todo {
    path: RelPathBuf,
    ignores: Arc<Ignores>,
    /// Op-depth and repository path of the folder, for what its children inherit.
    op_depth: usize,
    repos_path: Option<RelPathBuf>,
}

struct Ahead {
    folder: Arc<Folder>,
    ticket: Ticket,
    ignores: Arc<Ignores>,
}

impl Walker<'_> {
    /// Reads what is needed first, all in one transaction.
    fn begin(&mut self) -> Result<Start> {
        let db = self.wc.db();
        let node = db.node(self.target)?;
        if self.depth == Depth::Infinity {
            self.wc.read_ahead(self.target);
        }
        for row in db.locks()? {
            self.locks
                .insert((row.repos_id, row.repos_path.clone()), row);
        }
        self.wc_locks = db.wc_locks()?;
        let Some(node) = node else {
            return self.begin_single(None);
        };
        if node.layers.is_empty() && node.actual.conflict.is_none() {
            return Err(crate::db::corrupt(format_args!(
                "Corrupt data for '{}'",
                self.wc.local_path(self.target)
            )));
        }
        let externals = db.externals_below(self.target)?;
        self.externals = externals.into_iter().map(|row| row.path).collect();
        let child = self.child(node, true)?;
        if !child.descends {
            return self.begin_single(Some(Box::new(child)));
        }
        let location = scan::location(self.wc, &child.node)?;
        let place = Place {
            repository: db.repository(location.repos_id)?,
            path: location.path,
        };
        if self.depth > Depth::Empty {
            let ignores = Ignores::read(self.wc, self.target)?;
            self.todo.push(Todo::new(&child.node, ignores));
            self.read_ahead()?;
        }
        Ok(Start::Folder(Box::new(child), place))
    }

    fn begin_single(&mut self, child: Option<Box<Child>>) -> Result<Start> {
        // The root is always a folder, but a path can be missing below one that is not there.
        let missing = || not_found(self.wc, self.target);
        let parent = self.target.parent().ok_or_else(missing)?;
        let parent = match self.wc.db().node(parent)? {
            Some(node) => node,
            None if child.is_none() => return Err(missing()),
            None => return Err(not_found(self.wc, parent)),
        };
        let location = scan::location(self.wc, &parent)?;
        let place = Place {
            repository: self.wc.db().repository(location.repos_id)?,
            path: location.path,
        };
        let ignores = Ignores::read(self.wc, &parent.path)?;
        Ok(Start::Single(child, place, ignores))
    }

    /// Reports a folder where the walk begins, and all below it.
    fn folder(&mut self, child: &Child, place: &Place, pristine: &Path) -> Result<()> {
        self.cancel.check()?;
        let path = self.wc.local_path(self.target);
        let mut entry = disk::look_at(path.as_path(), None, pristine)?;
        if let Some(entry) = entry
            .as_mut()
            .filter(|entry| entry.kind == super::OnDisk::Symlink)
            && let Ok(found) = std::fs::metadata(path.as_path())
        {
            // The user names the folder by a symlink to it.
            entry.kind = match found {
                found if found.is_dir() => super::OnDisk::Dir,
                found if found.is_file() => super::OnDisk::File,
                _ => super::OnDisk::Other,
            };
        }
        if let Some(top) = child.node.top() {
            self.send(child, top, entry.as_ref(), None, place)?;
        }
        if self.depth > Depth::Empty {
            self.children(place)?;
        }
        Ok(())
    }

    /// Reports what is not a folder, where the walk begins.
    fn single(
        &mut self,
        child: Option<&Child>,
        parent: &Place,
        ignores: &Ignores,
        pristine: &Path,
    ) -> Result<()> {
        self.cancel.check()?;
        let path = self.wc.local_path(self.target);
        let entry = disk::look_at(path.as_path(), child, pristine)?;
        self.one(self.target, child, entry.as_ref(), parent, ignores, true)
    }

    /// Reports the children of the next folder, and what is below them.
    fn children(&mut self, place: &Place) -> Result<()> {
        self.cancel.check()?;
        if self.ahead.is_empty() || self.ahead_nodes < AHEAD / 2 && !self.todo.is_empty() {
            self.wc.db().read(|| self.read_ahead())?;
        }
        let Some(Ahead {
            folder,
            ticket,
            ignores,
        }) = self.ahead.pop_front()
        else {
            return Err(crate::db::corrupt("A folder was not read"));
        };
        self.ahead_nodes -= folder.children.len() + 1;
        let listing = ticket.wait()?;
        let mut known = folder.children.iter().peekable();
        let mut found = listing.entries.iter().peekable();
        loop {
            let name = match (known.peek(), found.peek()) {
                (None, None) => return Ok(()),
                (Some(child), None) => child.name(),
                (None, Some(entry)) => &*entry.name,
                (Some(child), Some(entry)) => child.name().min(&entry.name),
            };
            let child = known.next_if(|child| child.name() == name);
            let entry = found.next_if(|entry| entry.name == name);
            match child {
                Some(child) => {
                    self.one(&child.node.path, Some(child), entry, place, &ignores, false)?;
                }
                None if assemble::is_adm_dir(name) => {}
                None => {
                    let path = folder.relpath.child(name)?;
                    self.one(&path, None, entry, place, &ignores, false)?;
                }
            }
        }
    }

    /// Reports one child of a folder, and what is below it.
    fn one(
        &mut self,
        path: &RelPath,
        child: Option<&Child>,
        entry: Option<&Entry>,
        parent: &Place,
        ignores: &Ignores,
        explicit: bool,
    ) -> Result<()> {
        let visible = child.and_then(|child| Some((child, visible(&child.node)?)));
        if let Some((child, top)) = visible {
            if self.depth == Depth::Files && top.kind == NodeKind::Dir && !explicit {
                return Ok(());
            }
            let place = self.place(top, parent, path)?;
            self.send(child, top, entry, Some(parent), &place)?;
            if child.descends && self.depth == Depth::Infinity && !explicit {
                self.children(&place)?;
            }
            return Ok(());
        }
        let conflicted = child.is_some_and(|child| child.node.actual.conflict.is_some());
        if !conflicted {
            let is_dir = entry.is_some_and(|entry| entry.kind == super::OnDisk::Dir);
            let skipped = (entry.is_none() && !explicit)
                || (self.depth == Depth::Files && is_dir && !explicit)
                || assemble::is_adm_dir(path.basename());
            if skipped {
                return Ok(());
            }
        }
        let ignored = ignores.matches(path.basename(), &self.options.global_ignores);
        let mut status = assemble::unversioned(entry, conflicted, ignored);
        let external = self.is_external(path);
        if external {
            status.node = StatusKind::External;
        }
        if !ignored || conflicted || external || explicit || self.options.no_ignore {
            (self.sink)(path, status, Unresolved::default())?;
        }
        Ok(())
    }

    fn place(&self, top: &Layer, parent: &Place, path: &RelPath) -> Result<Place> {
        match (top.op_depth, top.repos_id, &top.repos_path) {
            (0, Some(repos_id), Some(repos_path)) => Ok(Place {
                repository: self.wc.db().repository(repos_id)?,
                path: repos_path.clone(),
            }),
            _ => parent.child(path),
        }
    }

    fn send(
        &mut self,
        child: &Child,
        top: &Layer,
        entry: Option<&Entry>,
        parent: Option<&Place>,
        place: &Place,
    ) -> Result<()> {
        let path = &child.node.path;
        let lock = match child.node.base() {
            Some(base) if !self.locks.is_empty() => base
                .repos_id
                .zip(base.repos_path.clone())
                .and_then(|at| self.locks.get(&at)),
            _ => None,
        };
        let wc_locked =
            top.kind == NodeKind::Dir && self.wc_locks.iter().any(|lock| lock.covers(path));
        let facts = Facts {
            parent,
            place,
            lock,
            wc_locked,
        };
        let made = assemble::versioned(self.wc, child, top, entry, &facts, self.options.all)?;
        match made {
            Some((status, unresolved)) => (self.sink)(path, status, unresolved),
            None => Ok(()),
        }
    }

    /// Tells whether `path` is the place of an external or above one.
    fn is_external(&self, path: &RelPath) -> bool {
        let at = self
            .externals
            .partition_point(|external| &**external < path);
        self.externals[at..]
            .iter()
            .take_while(|external| external.as_str().starts_with(path.as_str()))
            .any(|external| external.starts_with(path))
    }

    /// Reads folders until enough nodes are at hand, and begins to look at them on disk.
    fn read_ahead(&mut self) -> Result<()> {
        while self.ahead_nodes < AHEAD
            && let Some(todo) = self.todo.pop()
        {
            let children = self.wc.db().children(&todo.path)?;
            let children = children
                .into_iter()
                .map(|node| self.child(node, false))
                .collect::<Result<Vec<_>>>()?;
            one_repository(self.wc, &children)?;
            if self.depth == Depth::Infinity {
                for child in children.iter().rev().filter(|child| child.descends) {
                    let (op_depth, repos_path) = (todo.op_depth, todo.repos_path.as_deref());
                    let ignores = todo.ignores.below(&child.node, op_depth, repos_path)?;
                    self.todo.push(Todo::new(&child.node, ignores));
                }
            }
            self.ahead_nodes += children.len() + 1;
            let folder = Arc::new(Folder {
                path: self.wc.local_path(&todo.path).as_path().to_owned(),
                relpath: todo.path,
                children,
            });
            let ticket = self.pool.submit(&folder);
            self.ahead.push_back(Ahead {
                folder,
                ticket,
                ignores: todo.ignores,
            });
        }
        Ok(())
    }

    /// Finds what the database implies of a node.
    fn child(&self, node: Node, alone: bool) -> Result<Child> {
        let stored = match (&node.actual.properties, node.top()) {
            (Some(stored), _) => Some(stored),
            (None, Some(top)) => top.properties.as_ref(),
            (None, None) => None,
        };
        let special = match stored {
            Some(stored) => props::has(stored, "svn:special")?,
            None => false,
        };
        let descends = match visible(&node) {
            None => false,
            Some(top) if top.kind == NodeKind::Dir => true,
            Some(_) => {
                let was_dir = |layer: &Layer| layer.kind == NodeKind::Dir;
                (alone || node.layers.iter().any(was_dir))
                    && self.wc.db().has_conflict_below(&node.path)?
            }
        };
        Ok(Child {
            node,
            special,
            descends,
        })
    }
}

impl Todo {
    fn new(node: &Node, ignores: Arc<Ignores>) -> Self {
        let top = node.top();
        Self {
            path: node.path.clone(),
            ignores,
            op_depth: top.map_or(0, |top| top.op_depth),
            repos_path: top.and_then(|top| top.repos_path.clone()),
        }
    }
}

/// Returns the highest layer of a node that users see.
fn visible(node: &Node) -> Option<&Layer> {
    node.top().filter(|top| {
        let state = top.state();
        !state.is_hidden() && (top.kind != NodeKind::Unknown || state != NodeState::Normal)
    })
}

/// Refuses a folder whose children come from several repositories.
fn one_repository(wc: &WorkingCopy, children: &[Child]) -> Result<()> {
    let mut known = None;
    for child in children.iter().rev() {
        let top = child.node.top().filter(|top| top.op_depth == 0);
        let Some(repos_id) = top.and_then(|top| top.repos_id) else {
            continue;
        };
        let first = *known.get_or_insert(repos_id);
        if repos_id != first {
            return Err(Error::new(
                ErrorCode::WC_DB_ERROR,
                format!(
                    "The node '{}' comes from unexpected repository '{}', expected '{}'; if this \
                     node is a file external using the correct URL in the external definition can \
                     fix the problem, see issue #4087",
                    child.node.path,
                    wc.db().repository(repos_id)?.root,
                    wc.db().repository(first)?.root
                ),
            ));
        }
    }
    Ok(())
}
