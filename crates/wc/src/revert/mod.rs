//! `svn revert`: local changes are undone.
//!
//! One transaction takes back what the database has and writes down, as work items, what the disk
//! needs; the items are done after it. So a crash leaves the state before, or one that `cleanup`
//! turns into the state after.

mod disk;
mod rows;

use std::collections::BTreeSet;

use sylvan_core::{Depth, Error, ErrorCode, NodeKind, RelPath, RelPathBuf, Result};
use sylvan_io::Cancel;

use crate::db::NodeState;
use crate::lock::WcLock;
use crate::notify::{Action, Notification, NotifyFn};
use crate::site::Site;
use crate::{WorkingCopy, work_queue};
use disk::Plan;

/// What is reverted, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevertOptions {
    /// How deep.
    pub depth: Depth,
    /// Only members of these changelists, if there are any.
    pub changelists: Vec<String>,
    /// Remove what was added from the disk too (`--remove-added`).
    pub remove_added: bool,
}

/// Undoes the local changes of a node and of what is below it, as deep as asked for.
///
/// # Errors
/// `E155010` if there is no such node, `E155038` if it cannot be reverted without what is below or
/// above it. Of several nodes those before stay reverted.
pub fn revert(
    wc: &mut WorkingCopy,
    lock: &WcLock,
    path: &RelPath,
    options: &RevertOptions,
    cancel: &Cancel,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    debug_assert!(path.starts_with(lock.root()), "the lock covers the node");
    let mut reverter = Reverter {
        wc,
        site: Site::of(wc)?,
        keep_added: !options.remove_added,
        cancel,
        notify,
    };
    if !options.changelists.is_empty() {
        return reverter.changelists(path, options.depth, &options.changelists);
    }
    match options.depth {
        Depth::Empty => reverter.one(path),
        Depth::Infinity => reverter.tree(path),
        Depth::Files | Depth::Immediates => reverter.partial(path, options.depth),
        Depth::Exclude => Err(Error::from_code(ErrorCode::WC_INVALID_OPERATION_DEPTH)),
    }
}

struct Reverter<'a, 'n> {
    wc: &'a WorkingCopy,
    site: Site,
    keep_added: bool,
    cancel: &'a Cancel,
    notify: &'a mut NotifyFn<'n>,
}

impl Reverter<'_, '_> {
    fn one(&mut self, path: &RelPath) -> Result<()> {
        self.run(path, Depth::Empty)
    }

    fn tree(&mut self, path: &RelPath) -> Result<()> {
        self.run(path, Depth::Infinity)
    }

    /// Reverts a node and its children, each alone.
    fn partial(&mut self, path: &RelPath, depth: Depth) -> Result<()> {
        self.one(path)?;
        for child in self.children(path)? {
            self.cancel.check()?;
            if depth == Depth::Files && !self.is_file(&child)? {
                continue;
            }
            self.one(&child)?;
        }
        Ok(())
    }

    /// Reverts the files in changelists, each alone.
    fn changelists(&mut self, path: &RelPath, depth: Depth, wanted: &[String]) -> Result<()> {
        let db = self.wc.db();
        let mut members = Vec::new();
        let mut take = |current: crate::working::Current| {
            let changelist = current.actual.changelist;
            if changelist.is_some_and(|name| wanted.contains(&name)) {
                members.push(current.path);
            }
        };
        match depth {
            Depth::Empty | Depth::Exclude => db.current(path)?.into_iter().for_each(&mut take),
            Depth::Files | Depth::Immediates => {
                db.current(path)?.into_iter().for_each(&mut take);
                db.current_children(path)?.into_iter().for_each(&mut take);
            }
            Depth::Infinity => db.current_within(path)?.into_iter().for_each(&mut take),
        }
        for member in members {
            self.cancel.check()?;
            self.one(&member)?;
        }
        Ok(())
    }

    /// Lists the children that belong to the working version of a folder.
    fn children(&self, path: &RelPath) -> Result<Vec<RelPathBuf>> {
        let db = self.wc.db();
        let Some(parent) = db.current(path)? else {
            return Ok(Vec::new());
        };
        let op_depth = parent.layer.op_depth;
        let children = db.children(path)?;
        Ok(children
            .into_iter()
            .filter(|child| {
                child.layers.iter().any(|layer| {
                    layer.op_depth > op_depth
                        || (layer.op_depth == op_depth && layer.presence.is_present())
                })
            })
            .map(|child| child.path)
            .collect())
    }

    fn is_file(&self, path: &RelPath) -> Result<bool> {
        let current = self.wc.db().current(path)?;
        Ok(current.is_some_and(|current| {
            current.layer.kind == NodeKind::File && !current.layer.state().is_hidden()
        }))
    }

    fn run(&mut self, path: &RelPath, depth: Depth) -> Result<()> {
        self.cancel.check()?;
        let wc = self.wc;
        let mut raised = Vec::new();
        let plan = wc.db().write(|| {
            let list = rows::revert(wc, path, depth, &mut raised)?;
            let plan = disk::plan(
                wc,
                &self.site,
                path,
                depth,
                self.keep_added,
                list,
                self.cancel,
            )?;
            for item in &plan.items {
                wc.db().put_work_item(item)?;
            }
            work_queue::record_files(wc.db(), &plan.unmodified)?;
            Ok(plan)
        })?;
        let done = if plan.items.is_empty() {
            Ok(())
        } else {
            work_queue::run(wc, self.cancel)
        };
        self.tell(&plan);
        for (path, kind) in raised {
            let told = Notification::new(wc.local_path(&path), Action::TreeConflict);
            (self.notify)(&told.kind(kind));
        }
        done
    }

    fn tell(&mut self, plan: &Plan) {
        let mut paths: BTreeSet<(Vec<&str>, Action)> = BTreeSet::new();
        for path in &plan.reverted {
            paths.insert((path.components().collect(), Action::Revert));
        }
        for path in &plan.obstructed {
            paths.insert((path.components().collect(), Action::UpdateSkipObstruction));
        }
        for (components, action) in paths {
            let local = components
                .iter()
                .fold(self.wc.root().clone(), |path, name| path.join(name));
            (self.notify)(&Notification::new(local, action));
        }
    }
}

/// Tells whether something is expected on disk for a node.
const fn is_expected(state: NodeState) -> bool {
    matches!(
        state,
        NodeState::Normal | NodeState::Incomplete | NodeState::Added
    )
}
