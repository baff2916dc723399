//! `svn status`: local changes, and with `--show-updates` those of the repository.
//!
//! The working copy is walked once. For `--show-updates` the repository is asked first: what it has
//! changed is noted (`changes`) and joined with what the walk finds.

mod changes;
mod join;

use sylvan_core::opt::RevisionSpec;
use sylvan_core::{
    Depth, Dirent, Error, ErrorCode, Lock, NodeKind, RelPath, RelPathBuf, Result, Revnum, Url,
};
use sylvan_delta::ReportEntry;
use sylvan_io::{Category, Config};
use sylvan_ra::UpdateOptions;
use sylvan_wc::info::{self as wc_info, ConflictInfo};
use sylvan_wc::report::{self, ReportOptions};
use sylvan_wc::status::{self as wc_status, Status, StatusOptions};

use crate::wc_node::WcNode;
use crate::{Context, PooledSession, resolve};
pub use changes::{Change, RepoStatus};
use changes::{Changes, Noter};
use join::{Join, Locks};

/// What is told.
#[derive(Clone, Debug)]
pub struct Options {
    /// How deep; `None` as deep as the working copy is.
    pub depth: Option<Depth>,
    /// Whether unchanged nodes are told too.
    pub all: bool,
    /// Whether ignored nodes are told too.
    pub no_ignore: bool,
    /// Whether externals are left out.
    pub ignore_externals: bool,
    /// Whether the repository is asked, and for which revision.
    pub updates: Option<RevisionSpec>,
    /// Only members of these changelists, if there are any.
    pub changelists: Vec<String>,
    /// The patterns of the user's config.
    pub global_ignores: Vec<String>,
}

/// The status of one node, as it is told.
#[derive(Clone, Debug)]
pub struct Item {
    /// The path, absolute or below the current directory as the target is.
    pub path: Dirent,
    /// The root of the working copy.
    pub wc_root: Dirent,
    /// What is local.
    pub status: Status,
    /// What the repository has changed.
    pub repos: RepoStatus,
    /// The lock in the repository.
    pub repos_lock: Option<Lock>,
    /// The tree conflict that it is in.
    pub tree_conflict: Option<ConflictInfo>,
}

/// Who is told.
pub trait Receiver {
    /// Takes the status of a node.
    ///
    /// # Errors
    /// Ends the operation.
    fn status(&mut self, item: Item) -> Result<()>;

    /// Says that the nodes of an external follow; `path` is absolute.
    ///
    /// # Errors
    /// Ends the operation.
    fn external(&mut self, path: &Dirent) -> Result<()>;

    /// Says that all of a working copy was told, and which revision it was compared with.
    ///
    /// # Errors
    /// Ends the operation.
    fn completed(&mut self, rev: Option<Revnum>) -> Result<()>;
}

/// Tells the status of a node and what is below; returns the revision it was compared with.
///
/// # Errors
/// `WC_NOT_WORKING_COPY` and `WC_PATH_NOT_FOUND` if it is not in a working copy.
pub fn status(
    context: &Context,
    target: &Dirent,
    options: &Options,
    receiver: &mut dyn Receiver,
) -> Result<Option<Revnum>> {
    let abspath = context.absolute(target);
    let rev = match options.updates {
        None => {
            local(context, target, options, receiver)?;
            None
        }
        Some(revision) => {
            let rev = with_updates(context, target, revision, options, receiver)?;
            receiver.completed(rev)?;
            rev
        }
    };
    if !options.ignore_externals && matches!(options.depth, None | Some(Depth::Infinity)) {
        externals(context, target, &abspath, options, receiver)?;
    }
    Ok(rev)
}

/// Returns the ignore patterns of the user's config.
pub fn global_ignores(config: &Config) -> Vec<String> {
    config
        .get(Category::Config, "miscellany", "global-ignores")
        .unwrap_or(StatusOptions::DEFAULT_IGNORES)
        .split(['\n', '\r', '\t', '\x0b', ' '])
        .filter(|pattern| !pattern.is_empty())
        .map(str::to_owned)
        .collect()
}

fn walk_options(options: &Options, everything: bool) -> StatusOptions {
    StatusOptions {
        depth: options.depth,
        all: options.all || everything,
        no_ignore: options.no_ignore || everything,
        global_ignores: options.global_ignores.clone(),
    }
}

fn local(
    context: &Context,
    target: &Dirent,
    options: &Options,
    receiver: &mut dyn Receiver,
) -> Result<()> {
    let node = WcNode::open(context, target)?;
    let mut teller = Teller {
        node: &node,
        shown: Shown::new(target.clone(), node.abspath().clone()),
        changelists: &options.changelists,
        receiver,
    };
    let walk = walk_options(options, false);
    wc_status::walk(
        node.wc(),
        node.path(),
        &walk,
        &context.cancel,
        &mut |path, status| teller.tell(path, status, RepoStatus::default(), None),
    )
}

/// Which folder the repository is asked about, and which child of it if it is not all of it.
struct Anchor {
    node: WcNode,
    target: RelPathBuf,
    name: String,
    shown: Shown,
}

impl Anchor {
    /// A server compares folders. For anything else it is the folder above.
    fn find(context: &Context, target: &Dirent) -> Result<Self> {
        let node = WcNode::open(context, target)?;
        let kind = node.kind(true)?;
        let path = node.path().to_owned();
        if kind == NodeKind::Dir {
            return Ok(Self {
                shown: Shown::new(target.clone(), node.abspath().clone()),
                node,
                target: path,
                name: String::new(),
            });
        }
        let above = WcNode::open(context, &node.abspath().dirname());
        let is_dir = |above: &WcNode| matches!(above.kind(false), Ok(NodeKind::Dir));
        let above = match above {
            Ok(above) if kind == NodeKind::File || is_dir(&above) => above,
            Err(error) if kind == NodeKind::File => return Err(error),
            _ => {
                return Err(Error::new(
                    ErrorCode::WC_NOT_WORKING_COPY,
                    format!("'{target}' is not a working copy"),
                ));
            }
        };
        Ok(Self {
            shown: Shown::new(target.dirname(), above.abspath().clone()),
            node: above,
            target: path,
            name: node.abspath().basename().to_owned(),
        })
    }
}

fn with_updates(
    context: &Context,
    target: &Dirent,
    revision: RevisionSpec,
    options: &Options,
    receiver: &mut dyn Receiver,
) -> Result<Option<Revnum>> {
    let anchor = Anchor::find(context, target)?;
    let url = anchor.node.url()?.ok_or_else(|| {
        Error::new(
            ErrorCode::ENTRY_MISSING_URL,
            format!("Entry '{}' has no URL", anchor.shown.shown),
        )
    })?;
    let mut session = context.sessions.open(&url)?;
    let mut teller = Teller {
        node: &anchor.node,
        shown: anchor.shown.clone(),
        changelists: &options.changelists,
        receiver,
    };
    if session.check_path(RelPath::ROOT, None)? == NodeKind::None {
        let gone = if anchor.node.is_added()? {
            RepoStatus::default()
        } else {
            RepoStatus::DELETED
        };
        let walk = walk_options(options, false);
        wc_status::walk(
            anchor.node.wc(),
            &anchor.target,
            &walk,
            &context.cancel,
            &mut |path, status| teller.tell(path, status, gone, None),
        )?;
        return Ok(None);
    }
    let (changes, locks) = ask_repository(context, &anchor, &mut session, &url, revision, options)?;
    session.give_back();
    let rev = changes.rev;
    let mut join = Join::new(changes, locks, options, &anchor)?;
    let walk = walk_options(options, true);
    let walked = wc_status::walk(
        anchor.node.wc(),
        &anchor.target,
        &walk,
        &context.cancel,
        &mut |path, status| join.local(path, status, &mut teller),
    );
    match walked {
        // The repository may have what is not here.
        Err(error) if !anchor.name.is_empty() && error.code() == ErrorCode::WC_PATH_NOT_FOUND => {}
        walked => walked?,
    }
    join.rest(&mut teller)?;
    Ok(rev)
}

/// Lets the repository tell its changes and its locks.
fn ask_repository(
    context: &Context,
    anchor: &Anchor,
    session: &mut PooledSession<'_>,
    url: &Url,
    revision: RevisionSpec,
    options: &Options,
) -> Result<(Changes, Locks)> {
    let rev = match revision {
        RevisionSpec::Head | RevisionSpec::Unspecified => None,
        revision => {
            let node = WcNode::open(context, &anchor.node.wc().local_path(&anchor.target))?;
            Some(resolve::revision(
                &mut **session,
                Some(&node),
                revision,
                &mut None,
            )?)
        }
    };
    let is_file = !anchor.name.is_empty();
    let depth = match options.depth {
        Some(Depth::Empty) if is_file => Some(Depth::Files),
        depth => depth,
    };
    let how = ReportOptions {
        depth,
        honor_depth_exclude: true,
        ..ReportOptions::default()
    };
    let (mut wc, _) = sylvan_wc::WorkingCopy::open(anchor.node.abspath(), &context.wc)?;
    let mut quiet = |_: &sylvan_wc::notify::Notification| {};
    let report = report::entries(&mut wc, &anchor.target, &how, &context.cancel, &mut quiet)?;
    let locks = read_locks(session, url, &report, depth)?;
    let update = UpdateOptions {
        rev,
        target: anchor.name.clone(),
        depth: None,
        send_copyfrom_args: false,
        ignore_ancestry: false,
    };
    let mut noter = Noter::new(is_file, depth);
    session.status(&update, &report, &mut noter)?;
    Ok((noter.into_changes(), locks))
}

/// Reads the locks below the place that everything reported is in.
fn read_locks(
    session: &mut PooledSession<'_>,
    url: &Url,
    report: &[ReportEntry],
    depth: Option<Depth>,
) -> Result<Locks> {
    let mut depth = depth.unwrap_or(Depth::Infinity);
    let mut above = url.clone();
    for entry in report {
        if let ReportEntry::LinkPath { url, .. } = entry
            && url.strip_prefix(&above).is_none()
        {
            depth = Depth::Infinity;
            above = above.common_ancestor(url).unwrap_or(above);
        }
    }
    if above != *url {
        session.reparent(&above)?;
    }
    let locks = match session.locks(RelPath::ROOT, depth) {
        Err(error) if error.code() == ErrorCode::RA_NOT_IMPLEMENTED => Vec::new(),
        locks => locks?,
    };
    if above != *url {
        session.reparent(url)?;
    }
    Ok(locks
        .into_iter()
        .map(|lock| (lock.path.clone(), lock))
        .collect())
}

fn externals(
    context: &Context,
    target: &Dirent,
    abspath: &Dirent,
    options: &Options,
    receiver: &mut dyn Receiver,
) -> Result<()> {
    let node = WcNode::open(context, target)?;
    let (dir, anchor) = match options.updates {
        Some(_) if node.kind(true)? != NodeKind::Dir => (target.dirname(), abspath.dirname()),
        _ => (target.clone(), abspath.clone()),
    };
    let shown = Shown::new(dir, anchor);
    for external in sylvan_wc::external::list(node.wc(), node.path())? {
        let path = node.wc().local_path(&external.path);
        if external.kind != NodeKind::Dir || !is_dir(&path) {
            continue;
        }
        receiver.external(&path)?;
        let options = Options {
            updates: options.updates.map(|_| match external.rev {
                Some(rev) => RevisionSpec::Number(rev),
                None => RevisionSpec::Unspecified,
            }),
            ignore_externals: false,
            ..options.clone()
        };
        status(context, &shown.path(&path), &options, receiver)?;
    }
    Ok(())
}

fn is_dir(path: &Dirent) -> bool {
    std::fs::symlink_metadata(path.as_path()).is_ok_and(|found| found.is_dir())
}

/// How paths are shown: below the target as it was named.
#[derive(Clone, Debug)]
struct Shown {
    shown: Dirent,
    abspath: Dirent,
}

impl Shown {
    const fn new(shown: Dirent, abspath: Dirent) -> Self {
        Self { shown, abspath }
    }

    fn path(&self, abspath: &Dirent) -> Dirent {
        match abspath.strip_prefix(&self.abspath) {
            Some(below) if !self.shown.is_absolute() => self.shown.join(below),
            _ => abspath.clone(),
        }
    }
}

/// Completes statuses and hands them over.
struct Teller<'a> {
    node: &'a WcNode,
    shown: Shown,
    changelists: &'a [String],
    receiver: &'a mut dyn Receiver,
}

impl Teller<'_> {
    fn tell(
        &mut self,
        path: &RelPath,
        mut status: Status,
        repos: RepoStatus,
        repos_lock: Option<Lock>,
    ) -> Result<()> {
        let wanted = match &status.changelist {
            Some(changelist) => {
                self.changelists.is_empty() || self.changelists.contains(changelist)
            }
            None => self.changelists.is_empty(),
        };
        if !wanted {
            return Ok(());
        }
        let wc = self.node.wc();
        let covers_base = matches!(
            status.node,
            wc_status::StatusKind::Deleted | wc_status::StatusKind::Replaced
        );
        if status.versioned && status.revision.is_none() && !status.copied && covers_base {
            show_base(wc, path, &mut status)?;
        }
        let tree_conflict = if status.tree_conflicted {
            victim(wc, path)?
        } else {
            None
        };
        self.receiver.status(Item {
            path: self.shown.path(&wc.local_path(path)),
            wc_root: wc.root().clone(),
            status,
            repos,
            repos_lock,
            tree_conflict,
        })
    }
}

/// Shows for a deleted or replaced node what is below: its revision, and if it is deleted its last
/// change.
fn show_base(wc: &sylvan_wc::WorkingCopy, path: &RelPath, status: &mut Status) -> Result<()> {
    let Some(node) = wc.db().node(path)? else {
        return Ok(());
    };
    let base = node.base().filter(|_| node.work_layers() == 1);
    if let Some(base) = base {
        status.revision = base.revision;
    }
    let is_deleted = status.node == wc_status::StatusKind::Deleted;
    if let Some(layer) = base.or_else(|| node.below()).filter(|_| is_deleted) {
        status.changed_rev = layer.changed_rev;
        status.changed_date = layer.changed_date;
        status.changed_author.clone_from(&layer.changed_author);
    }
    Ok(())
}

fn victim(wc: &sylvan_wc::WorkingCopy, path: &RelPath) -> Result<Option<ConflictInfo>> {
    Ok(wc_info::read(wc, path)?.and_then(|info| info.conflict))
}
