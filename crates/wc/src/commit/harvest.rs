//! Finding the nodes to commit.

use std::collections::{BTreeMap, HashMap};

use rusqlite::params;
use sylvan_core::{Depth, Error, ErrorCode, NodeKind, RelPath, RelPathBuf, Result, Revnum, Url};
use sylvan_io::Cancel;

use super::{
    Item, SELECT_LOCK_TOKENS_BELOW, SELECT_NOT_PRESENT_BELOW, SELECT_NOT_PRESENT_CHILDREN,
};
use crate::conflict::Conflict;
use crate::db::write::below;
use crate::db::{Node, NodeState, corrupt, integer, path_column};
use crate::scan;
use crate::status::{self, Status, StatusKind, StatusOptions};
use crate::{WorkingCopy, not_found};

/// Asks the repository what is at a URL in a revision.
pub type CheckKind<'a> = dyn FnMut(&Url, Revnum) -> Result<NodeKind> + 'a;

/// What is looked for.
#[derive(Clone, Debug, Default)]
pub struct HarvestOptions {
    /// How deep; `None` is all.
    pub depth: Option<Depth>,
    /// Whether nodes that are only locked count, since their locks are to be given up.
    pub just_locked: bool,
    /// Only nodes in one of these changelists, if there are any.
    pub changelists: Vec<String>,
    /// Where a copy of the target as it is here is to be made, below the repository's root; nothing
    /// for a commit.
    pub copy_to: Option<RelPathBuf>,
}

/// What was found so far, in one working copy.
#[derive(Debug, Default)]
pub struct Harvest {
    /// The nodes to commit, by path.
    pub items: BTreeMap<RelPathBuf, Item>,
    /// The tokens of locks, by URL.
    pub lock_tokens: HashMap<String, String>,
    /// Parents that are not in the repository yet, each with a child that is to be committed.
    danglers: BTreeMap<RelPathBuf, RelPathBuf>,
    /// The roots of repositories.
    pub(super) roots: Vec<Url>,
}

impl Harvest {
    /// Returns the roots of the repositories that the nodes belong to.
    pub fn roots(&self) -> &[Url] {
        &self.roots
    }

    fn add(&mut self, item: Item) {
        if !self.roots.contains(&item.repos_root) {
            self.roots.push(item.repos_root.clone());
        }
        self.items.insert(item.path.clone(), item);
    }

    /// Completes what was found: looks after what copies have not, and requires the parents of
    /// additions.
    ///
    /// # Errors
    /// `E200009` if a node is to be committed, but not the folder that it is added in.
    pub fn complete(&mut self, wc: &WorkingCopy, check: &mut CheckKind<'_>) -> Result<()> {
        self.descendants(wc, check)?;
        for (parent, child) in &self.danglers {
            if !self.items.contains_key(parent) {
                return Err(Error::new(
                    ErrorCode::ILLEGAL_TARGET,
                    format!(
                        "'{}' is not known to exist in the repository and is not part of the \
                         commit, yet its child '{}' is part of the commit",
                        wc.local_path(parent),
                        wc.local_path(child)
                    ),
                ));
            }
        }
        Ok(())
    }

    /// Deletes from copies what the working copy has not.
    fn descendants(&mut self, wc: &WorkingCopy, check: &mut CheckKind<'_>) -> Result<()> {
        let copies: Vec<Item> = self
            .items
            .values()
            .filter(|item| item.added && item.copy_from.is_some())
            .cloned()
            .collect();
        for copy in copies {
            let Some((from, rev)) = &copy.copy_from else {
                continue;
            };
            let (low, high) = below(&copy.path);
            let depth = i64::try_from(copy.path.depth()).unwrap_or(i64::MAX);
            let absent = wc.db().rows(
                SELECT_NOT_PRESENT_BELOW,
                params![wc.db().wc_id(), low, high, depth],
                |row| Ok(path_column(row, 0)?.unwrap_or_default()),
            )?;
            for path in absent {
                if let Some(item) = self.items.get(&path)
                    && (item.deleted || !item.added || self.is_covered(&path, &copy.path))
                {
                    continue;
                }
                let rest = path.strip_prefix(&copy.path).unwrap_or(RelPath::ROOT);
                let source = copy.repos_root.join(&from.join(rest));
                let kind = check(&source, *rev)?;
                if kind == NodeKind::None {
                    continue;
                }
                if let Some(item) = self.items.get_mut(&path) {
                    item.deleted = true;
                    continue;
                }
                self.add(deletion(
                    &copy,
                    path.clone(),
                    copy.repos_path.join(rest),
                    kind,
                ));
            }
        }
        Ok(())
    }

    /// Tells whether a folder between both is added or deleted.
    fn is_covered(&self, path: &RelPath, root: &RelPath) -> bool {
        path.ancestors()
            .take_while(|ancestor| *ancestor != root)
            .any(|ancestor| {
                let item = self.items.get(ancestor);
                item.is_some_and(|item| item.added || item.deleted)
            })
    }
}

fn deletion(of: &Item, path: RelPathBuf, repos_path: RelPathBuf, kind: NodeKind) -> Item {
    Item {
        path,
        kind,
        repos_root: of.repos_root.clone(),
        repos_path,
        revision: None,
        copy_from: None,
        moved_from: None,
        added: false,
        deleted: true,
        text: false,
        props: false,
        locked: false,
    }
}

/// Looks for nodes to commit at and below `target`, and adds them to `found`.
///
/// # Errors
/// `E155015` if something is in conflict, `E200009` if the target is not under version control,
/// `E145001` if a node has become something else on disk, `E155010` if an added one is missing.
pub fn harvest(
    wc: &WorkingCopy,
    target: &RelPath,
    options: &HarvestOptions,
    check: &mut CheckKind<'_>,
    cancel: &Cancel,
    found: &mut Harvest,
) -> Result<()> {
    let node = wc.db().node(target)?;
    if node.is_some_and(|node| node.top().is_some_and(|top| top.kind != NodeKind::Dir)) {
        // It is one node: the database is locked once for all that is asked of it.
        return wc
            .db()
            .read(|| walk(wc, target, options, check, cancel, found));
    }
    walk(wc, target, options, check, cancel, found)
}

fn walk(
    wc: &WorkingCopy,
    target: &RelPath,
    options: &HarvestOptions,
    check: &mut CheckKind<'_>,
    cancel: &Cancel,
    found: &mut Harvest,
) -> Result<()> {
    if options.copy_to.is_none() {
        wc.db().read(|| refuse_tree_conflicts_above(wc, target))?;
    }
    let walk = StatusOptions {
        depth: options.depth,
        all: options.copy_to.is_some(),
        ..StatusOptions::default()
    };
    let mut harvester = Harvester {
        wc,
        target,
        options,
        check,
        found,
        skip: None,
    };
    status::walk(wc, target, &walk, cancel, &mut |path, status| {
        harvester.node(path, &status)
    })
}

fn refuse_tree_conflicts_above(wc: &WorkingCopy, target: &RelPath) -> Result<()> {
    for folder in target.ancestors().filter(|folder| *folder != target) {
        let node = wc.db().node(folder)?;
        let stored = node.and_then(|node| node.actual.conflict);
        let conflicted = match &stored {
            Some(stored) => Conflict::parse(stored)?.unresolved(wc).tree,
            None => false,
        };
        if conflicted {
            return Err(Error::new(
                ErrorCode::WC_FOUND_CONFLICT,
                format!(
                    "Aborting commit: '{}' remains in tree-conflict",
                    wc.local_path(folder)
                ),
            ));
        }
    }
    Ok(())
}

struct Harvester<'a, 'c> {
    wc: &'a WorkingCopy,
    target: &'a RelPath,
    options: &'a HarvestOptions,
    check: &'a mut CheckKind<'c>,
    found: &'a mut Harvest,
    /// A deleted folder; what is below needs no word.
    skip: Option<RelPathBuf>,
}

impl Harvester<'_, '_> {
    fn node(&mut self, path: &RelPath, status: &Status) -> Result<()> {
        if let Some(skip) = &self.skip {
            if path.starts_with(skip) {
                return Ok(());
            }
            self.skip = None;
        }
        let is_root = path == self.target;
        let copying = self.options.copy_to.is_some();
        match status.node {
            StatusKind::Unversioned
            | StatusKind::Ignored
            | StatusKind::External
            | StatusKind::None => {
                return if is_root {
                    Err(Error::new(
                        ErrorCode::ILLEGAL_TARGET,
                        format!(
                            "'{}' is not under version control",
                            self.wc.local_path(path)
                        ),
                    ))
                } else {
                    Ok(())
                };
            }
            StatusKind::Normal
                if !(copying
                    || status.conflicted
                    || self.options.just_locked && status.lock.is_some()) =>
            {
                return Ok(());
            }
            _ => {}
        }
        if self.found.items.contains_key(path) {
            return Ok(());
        }
        let chosen = self.is_chosen(status);
        if status.kind != NodeKind::Dir && !chosen {
            return Ok(());
        }
        self.refuse(path, status, chosen)?;
        if status.conflicted && status.kind == NodeKind::Unknown || status.file_external && !is_root
        {
            return Ok(());
        }
        let node = self
            .wc
            .db()
            .node(path)?
            .ok_or_else(|| not_found(self.wc, path))?;
        let facts = Facts::of(&node)?;
        if status.node == StatusKind::Missing && chosen {
            if facts.added && facts.op_root {
                return Err(Error::new(
                    ErrorCode::WC_PATH_NOT_FOUND,
                    format!(
                        "'{}' is scheduled for addition, but is missing",
                        self.wc.local_path(path)
                    ),
                ));
            }
            return Ok(());
        }
        if facts.deleted && !facts.op_root {
            return Ok(());
        }
        let item = self.item(path, status, &facts)?;
        self.take(item, path, status, &facts, chosen, is_root)?;
        if facts.deleted {
            if status.kind == NodeKind::Dir {
                self.skip = Some(path.to_owned());
            }
            return Ok(());
        }
        if copying && !facts.added && status.kind == NodeKind::Dir {
            self.not_present_children(path, status)?;
        }
        Ok(())
    }

    fn is_chosen(&self, status: &Status) -> bool {
        let changelists = &self.options.changelists;
        changelists.is_empty()
            || status
                .changelist
                .as_ref()
                .is_some_and(|changelist| changelists.contains(changelist))
    }

    fn refuse(&self, path: &RelPath, status: &Status, chosen: bool) -> Result<()> {
        let local = self.wc.local_path(path);
        if status.conflicted && chosen {
            return Err(Error::new(
                ErrorCode::WC_FOUND_CONFLICT,
                format!("Aborting commit: '{local}' remains in conflict"),
            ));
        }
        if status.node == StatusKind::Obstructed {
            return Err(Error::new(
                ErrorCode::NODE_UNEXPECTED_KIND,
                format!("Node '{local}' has unexpectedly changed kind"),
            ));
        }
        Ok(())
    }

    fn repos_path(&self, path: &RelPath, status: &Status) -> RelPathBuf {
        match &self.options.copy_to {
            Some(to) => to.join(path.strip_prefix(self.target).unwrap_or(RelPath::ROOT)),
            None => status.repos_path.clone().unwrap_or_default(),
        }
    }

    fn item(&mut self, path: &RelPath, status: &Status, facts: &Facts) -> Result<Item> {
        let repository = status.repository.as_ref();
        let repository = repository.ok_or_else(|| corrupt("A node has no repository"))?;
        let copying = self.options.copy_to.is_some();
        let mut item = Item {
            path: path.to_owned(),
            kind: status.kind,
            repos_root: repository.root.clone(),
            repos_path: self.repos_path(path, status),
            revision: facts.revision.filter(|_| !copying),
            copy_from: None,
            moved_from: None,
            added: false,
            deleted: facts.deleted || facts.replaced,
            text: false,
            props: false,
            locked: false,
        };
        if facts.added && facts.op_root {
            item.added = true;
            item.copy_from.clone_from(&facts.original);
            if item.copy_from.is_some() && !copying {
                item.moved_from.clone_from(&status.moved_from);
            }
        } else if copying && !item.deleted {
            self.copy(path, status, facts, &mut item)?;
        }
        if !item.deleted || item.added {
            let is_new = item.added && item.copy_from.is_none();
            item.text =
                status.kind == NodeKind::File && (is_new || status.text != StatusKind::Normal);
            item.props = !matches!(status.props, StatusKind::Normal | StatusKind::None);
        }
        Ok(item)
    }

    /// A node that does not come from where its folder does is a copy of its own.
    fn copy(
        &mut self,
        path: &RelPath,
        status: &Status,
        facts: &Facts,
        item: &mut Item,
    ) -> Result<()> {
        let is_root = path == self.target;
        let mut folder = None;
        if !is_root && !facts.added {
            let parent = path.parent().unwrap_or(RelPath::ROOT);
            let layers = self.wc.db().layers(parent)?;
            let base = layers.last().filter(|layer| layer.op_depth == 0);
            folder = base.and_then(|base| Some((base.repos_path.clone()?, base.revision?)));
        }
        let folder_rev = folder.as_ref().map(|(_, rev)| *rev);
        if !is_root && !status.switched && facts.revision == folder_rev {
            return Ok(());
        }
        item.added = true;
        item.copy_from = if status.copied {
            facts.original.clone()
        } else {
            status.repos_path.clone().zip(status.revision)
        };
        if !is_root
            && !facts.added
            && let Some((folder, rev)) = folder
        {
            let there = item.repos_root.join(&folder.child(path.basename())?);
            item.deleted = (self.check)(&there, rev)? != NodeKind::None;
        }
        Ok(())
    }

    fn take(
        &mut self,
        mut item: Item,
        path: &RelPath,
        status: &Status,
        facts: &Facts,
        chosen: bool,
        is_root: bool,
    ) -> Result<()> {
        let copying = self.options.copy_to.is_some();
        let lock = status.lock.as_ref().filter(|_| !copying);
        item.locked = lock.is_some() && (item.is_change() || self.options.just_locked);
        let counts = item.is_change() || item.locked;
        if !chosen || !counts {
            return Ok(());
        }
        if let Some(lock) = lock.filter(|_| item.locked) {
            let url = item.url().to_string();
            self.found.lock_tokens.insert(url, lock.token.clone());
        }
        let deletes_base = item.deleted && !copying && facts.revision.is_some();
        if (is_root || !self.options.changelists.is_empty())
            && !copying
            && (facts.added || facts.deleted && facts.op_root && status.copied)
        {
            self.require_parent(path)?;
        }
        self.found.add(item);
        if deletes_base {
            self.lock_tokens_below(path)?;
        }
        Ok(())
    }

    /// Remembers that the folder of an addition must be in the repository, or get there.
    fn require_parent(&mut self, path: &RelPath) -> Result<()> {
        let Some(parent) = path.parent() else {
            return Ok(());
        };
        if self.found.items.contains_key(parent) {
            return Ok(());
        }
        let Some(node) = self.wc.db().node(parent)? else {
            return Ok(());
        };
        let Some(top) = node.top().filter(|_| node.state() == NodeState::Added) else {
            return Ok(());
        };
        let required = match scan::origin(self.wc, &node)? {
            scan::Origin::Copied | scan::Origin::MovedHere => scan::prefix(parent, top.op_depth),
            scan::Origin::Added | scan::Origin::Incomplete => parent,
        };
        self.found
            .danglers
            .entry(required.to_owned())
            .or_insert_with(|| path.to_owned());
        Ok(())
    }

    fn lock_tokens_below(&mut self, path: &RelPath) -> Result<()> {
        let db = self.wc.db();
        let (low, high) = below(path);
        let tokens = &mut self.found.lock_tokens;
        db.each(
            SELECT_LOCK_TOKENS_BELOW,
            params![db.wc_id(), low, high],
            |row| {
                let id = integer(row, 0)?.ok_or_else(|| corrupt("A node has no repository"))?;
                let url = db
                    .repository(id)?
                    .root
                    .join(&path_column(row, 1)?.unwrap_or_default());
                let token: String = row.get(2).map_err(crate::db::sqlite_error)?;
                tokens.insert(url.to_string(), token);
                Ok(())
            },
        )
    }

    /// A copy of a folder is to have what the folder has.
    fn not_present_children(&mut self, path: &RelPath, status: &Status) -> Result<()> {
        let db = self.wc.db();
        let children = db.rows(
            SELECT_NOT_PRESENT_CHILDREN,
            params![db.wc_id(), path.as_str()],
            |row| Ok(path_column(row, 0)?.unwrap_or_default()),
        )?;
        let Some(repository) = &status.repository else {
            return Ok(());
        };
        for child in children {
            let node = db.node(&child)?;
            if node.is_none_or(|node| node.state() != NodeState::NotPresent) {
                continue;
            }
            let layers = db.layers(path)?;
            let base = layers.last().filter(|layer| layer.op_depth == 0);
            let Some((folder, rev)) =
                base.and_then(|base| Some((base.repos_path.clone()?, base.revision?)))
            else {
                continue;
            };
            let there = repository.root.join(&folder.child(child.basename())?);
            let kind = (self.check)(&there, rev)?;
            if kind == NodeKind::None {
                continue;
            }
            let repos_path = self.repos_path(&child, status);
            let mut item = Item {
                path: child.clone(),
                kind,
                repos_root: repository.root.clone(),
                repos_path,
                revision: None,
                copy_from: None,
                moved_from: None,
                added: false,
                deleted: true,
                text: false,
                props: false,
                locked: false,
            };
            item.kind = kind;
            self.found.add(item);
        }
        Ok(())
    }
}

/// What the layers of a node say.
struct Facts {
    added: bool,
    deleted: bool,
    replaced: bool,
    op_root: bool,
    /// Of BASE, if that is what is changed.
    revision: Option<Revnum>,
    /// Source of the copy that it is in.
    original: Option<(RelPathBuf, Revnum)>,
}

impl Facts {
    fn of(node: &Node) -> Result<Self> {
        let top = node.top().ok_or_else(|| corrupt("A node has no layers"))?;
        let state = node.state();
        let op_root = node.is_op_root();
        let base_revision = node.base().and_then(|base| base.revision);
        let revision = if top.op_depth == 0 {
            top.revision
        } else {
            base_revision.filter(|_| op_root && node.work_layers() == 1)
        };
        let original = top.repos_path.clone().zip(top.revision);
        Ok(Self {
            added: state == NodeState::Added,
            deleted: state == NodeState::Deleted,
            replaced: state == NodeState::Added && op_root && node.is_replaced(),
            op_root,
            revision,
            original: original.filter(|_| top.op_depth > 0 && top.presence.is_present()),
        })
    }
}

/// Requires both halves of a move to be committed.
///
/// # Errors
/// `E200009` if only one is.
pub fn check_moves(wc: &WorkingCopy, found: &Harvest) -> Result<()> {
    let refuse = |what: String, other: &RelPath| {
        Err(Error::new(
            ErrorCode::ILLEGAL_TARGET,
            format!(
                "Cannot commit {what} '{}' which is not part of the commit; both sides of the move \
                 must be committed together",
                wc.local_path(other)
            ),
        ))
    };
    for item in found.items.values() {
        let local = wc.local_path(&item.path);
        if item.moved_from.is_some()
            && let Some((from, depth)) = wc.db().moved_from(&item.path)?
        {
            let root = scan::prefix(&from, depth);
            if !found.items.contains_key(root) {
                return refuse(format!("'{local}' because it was moved from"), root);
            }
        }
        if !item.deleted {
            continue;
        }
        let node = wc.db().node(&item.path)?;
        let Some(node) = node.filter(|node| node.state() == NodeState::Deleted) else {
            continue;
        };
        let to = node.top().and_then(|top| top.moved_to.as_ref());
        if let Some(to) = to
            && !found.items.contains_key(to)
        {
            return refuse(format!("'{local}' because it was moved to"), to);
        }
    }
    Ok(())
}

/// Tells whether a node was moved from one whose deletion is committed as of the revision of the
/// copy, so that the copy may as well be made from a later revision.
///
/// # Errors
/// Those of the database.
pub fn follows_its_source(wc: &WorkingCopy, found: &Harvest, item: &Item) -> Result<bool> {
    let Some((_, rev)) = item
        .copy_from
        .as_ref()
        .filter(|_| item.moved_from.is_some())
    else {
        return Ok(false);
    };
    let Some((from, depth)) = wc.db().moved_from(&item.path)? else {
        return Ok(false);
    };
    let source = found.items.get(scan::prefix(&from, depth));
    Ok(source.is_some_and(|source| source.revision == Some(*rev)))
}
