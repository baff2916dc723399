//! `svn info`: what is known of nodes, in the repository or the working copy.

use std::collections::BTreeMap;

use sylvan_core::opt::RevisionSpec;
use sylvan_core::{
    Checksum, Depth, Dirent, Error, ErrorCode, Lock, NodeKind, RelPath, RelPathBuf, Result, Revnum,
    Timestamp, Url,
};
use sylvan_ra::{DirEntry, DirEntryFields, Session};
use sylvan_wc::WorkingCopy;
use sylvan_wc::info::{self as wc_info, ConflictInfo, InfoOptions, Schedule};

use crate::resolve::{self, PathRev};
use crate::target::{PathOrUrl, Target};
use crate::wc_node::WcNode;
use crate::{Context, order};

/// What is told.
#[derive(Clone, Debug)]
pub struct Options {
    /// The revision; without it (and without a peg revision) the working copy is asked.
    pub revision: RevisionSpec,
    /// How deep.
    pub depth: Depth,
    /// Whether externals below the target are told too.
    pub externals: bool,
    /// Only members of these changelists, if there are any.
    pub changelists: Vec<String>,
}

/// What is known of a node.
#[derive(Clone, Debug)]
pub struct Info {
    /// Its URL.
    pub url: Option<Url>,
    /// The revision.
    pub rev: Option<Revnum>,
    /// The repository's root.
    pub repos_root: Option<Url>,
    /// The repository's UUID.
    pub repos_uuid: Option<String>,
    /// Its kind.
    pub kind: NodeKind,
    /// The size of a file in the repository, where it was asked.
    pub size: Option<u64>,
    /// The revision that changed it last.
    pub changed_rev: Option<Revnum>,
    /// When that was.
    pub changed_date: Option<Timestamp>,
    /// Who did it.
    pub changed_author: Option<String>,
    /// The lock on it.
    pub lock: Option<Lock>,
    /// What the working copy knows, if that was asked.
    pub wc: Option<WcInfo>,
}

/// What only a working copy knows of a node.
#[derive(Clone, Debug)]
pub struct WcInfo {
    /// The root of the working copy; `None` for the victim of a tree conflict that is not there.
    pub root: Option<Dirent>,
    /// What is scheduled.
    pub schedule: Schedule,
    /// How deep a folder is.
    pub depth: Option<Depth>,
    /// The source of a copy.
    pub copied_from: Option<(Url, Revnum)>,
    /// Where it was before it was moved, absolute.
    pub moved_from: Option<Dirent>,
    /// Where it was moved to, absolute.
    pub moved_to: Option<Dirent>,
    /// The time of the working file when it was last known to be unmodified.
    pub recorded_time: Option<Timestamp>,
    /// The checksum of the pristine text.
    pub checksum: Option<Checksum>,
    /// The changelist.
    pub changelist: Option<String>,
    /// What is in conflict.
    pub conflict: Option<ConflictInfo>,
}

/// Who is told.
pub trait Receiver {
    /// Takes what is known of a node. `path` is absolute for a node of a working copy, else the
    /// name of the target or a path below it.
    ///
    /// # Errors
    /// Ends the operation.
    fn info(&mut self, path: &str, info: &Info) -> Result<()>;

    /// Says that the nodes of an external follow.
    ///
    /// # Errors
    /// Ends the operation.
    fn external(&mut self, path: &Dirent) -> Result<()>;
}

/// Tells what is known of a target.
///
/// # Errors
/// `WC_PATH_NOT_FOUND` if a path is not versioned, `RA_ILLEGAL_URL` if the repository does not
/// have it, and what the session gives.
pub fn info(
    context: &Context,
    target: &Target,
    options: &Options,
    receiver: &mut dyn Receiver,
) -> Result<()> {
    match &target.at {
        PathOrUrl::Path(path)
            if options.revision == RevisionSpec::Unspecified
                && target.peg == RevisionSpec::Unspecified =>
        {
            local(context, path, options, receiver)
        }
        _ => remote(context, target, options, receiver),
    }
}

fn local(
    context: &Context,
    path: &Dirent,
    options: &Options,
    receiver: &mut dyn Receiver,
) -> Result<()> {
    let node = WcNode::open(context, path)?;
    let wc = node.wc();
    let how = InfoOptions {
        depth: options.depth,
        changelists: options.changelists.clone(),
    };
    wc_info::walk(wc, node.path(), &how, &context.cancel, &mut |found| {
        let path = wc.local_path(&found.path);
        receiver.info(path.as_str(), &Info::of_node(wc, found))
    })?;
    if !options.externals || options.depth != Depth::Infinity {
        return Ok(());
    }
    for external in sylvan_wc::external::list(wc, node.path())? {
        let path = wc.local_path(&external.path);
        if external.kind != NodeKind::Dir || !is_dir(&path) {
            continue;
        }
        receiver.external(&path)?;
        local(context, &path, options, receiver)?;
    }
    Ok(())
}

fn is_dir(path: &Dirent) -> bool {
    std::fs::symlink_metadata(path.as_path()).is_ok_and(|found| found.is_dir())
}

const FIELDS: DirEntryFields = DirEntryFields {
    has_props: false,
    ..DirEntryFields::ALL
};

fn remote(
    context: &Context,
    target: &Target,
    options: &Options,
    receiver: &mut dyn Receiver,
) -> Result<()> {
    let (mut session, at) = resolve::open(context, target, options.revision)?;
    let Some(entry) = session.stat(RelPath::ROOT, Some(at.rev))? else {
        return Err(Error::new(
            ErrorCode::RA_ILLEGAL_URL,
            format!("URL '{}' non-existent in revision {}", at.url, at.rev),
        ));
    };
    let lock = if same_in_head(&mut *session, &at)? {
        tolerate(session.lock(RelPath::ROOT))?
    } else {
        None
    };
    let name = at.url.basename();
    receiver.info(&name, &Info::of_entry(&at.url, &at, &entry, lock))?;
    if options.depth > Depth::Empty && entry.kind == NodeKind::Dir {
        let locks = if target.peg == RevisionSpec::Head {
            tolerate(session.locks(RelPath::ROOT, options.depth))?
        } else {
            Vec::new()
        };
        let walk = RemoteWalk {
            context,
            at: &at,
            depth: options.depth,
            locks: locks
                .into_iter()
                .map(|lock| (lock.path.clone(), lock))
                .collect(),
        };
        walk.folder(&mut *session, RelPath::ROOT, receiver)?;
    }
    session.give_back();
    Ok(())
}

/// Old servers know no locks.
fn tolerate<T: Default>(result: Result<T>) -> Result<T> {
    match result {
        Err(error) if error.code() == ErrorCode::RA_NOT_IMPLEMENTED => Ok(T::default()),
        result => result,
    }
}

/// Tells whether the node is still at its URL in HEAD.
fn same_in_head(session: &mut dyn Session, at: &PathRev) -> Result<bool> {
    let head = session.latest_rev()?;
    match crate::location::locate(session, &at.url, head, at.rev, Some(head)) {
        Ok(url) => Ok(url == at.url),
        Err(error)
            if matches!(
                error.code(),
                ErrorCode::CLIENT_UNRELATED_RESOURCES
                    | ErrorCode::FS_NOT_DIRECTORY
                    | ErrorCode::FS_NOT_FOUND
            ) =>
        {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

struct RemoteWalk<'a> {
    context: &'a Context,
    at: &'a PathRev,
    depth: Depth,
    locks: BTreeMap<RelPathBuf, Lock>,
}

impl RemoteWalk<'_> {
    fn folder(
        &self,
        session: &mut dyn Session,
        dir: &RelPath,
        receiver: &mut dyn Receiver,
    ) -> Result<()> {
        let read = session.read_dir(dir, Some(self.at.rev), Some(FIELDS))?;
        let entries: Vec<_> = read.entries.iter().collect();
        for at in order::hashed(entries.iter().map(|(name, _)| name.as_str())) {
            let (name, entry) = entries[at];
            self.context.cancel.check()?;
            let path = dir.child(name)?;
            let url = self.at.url.join(&path);
            let lock = match self.locks.is_empty() {
                true => None,
                false => self.locks.get(&self.at.repos_path().join(&path)).cloned(),
            };
            if self.depth >= Depth::Immediates || entry.kind == NodeKind::File {
                let info = Info::of_entry(&url, self.at, entry, lock);
                receiver.info(path.as_str(), &info)?;
            }
            if self.depth == Depth::Infinity && entry.kind == NodeKind::Dir {
                self.folder(session, &path, receiver)?;
            }
        }
        Ok(())
    }
}

impl Info {
    fn of_node(wc: &WorkingCopy, found: wc_info::Info) -> Self {
        let is_victim = found.kind == NodeKind::None && found.repos_path.is_none();
        let absolute = |path: RelPathBuf| wc.local_path(&path);
        Self {
            url: found.url(),
            rev: found.revision,
            repos_root: found.repository.as_ref().map(|found| found.root.clone()),
            repos_uuid: found.repository.as_ref().map(|found| found.uuid.clone()),
            kind: found.kind,
            size: None,
            changed_rev: found.changed_rev,
            changed_date: found.changed_date,
            changed_author: found.changed_author,
            lock: found.lock,
            wc: Some(WcInfo {
                root: (!is_victim).then(|| wc.root().clone()),
                schedule: found.schedule,
                depth: found.depth,
                copied_from: found.copied_from,
                moved_from: found.moved_from.map(absolute),
                moved_to: found.moved_to.map(absolute),
                recorded_time: found.recorded_time,
                checksum: found.checksum,
                changelist: found.changelist,
                conflict: found.conflict,
            }),
        }
    }

    fn of_entry(url: &Url, at: &PathRev, entry: &DirEntry, lock: Option<Lock>) -> Self {
        Self {
            url: Some(url.clone()),
            rev: Some(at.rev),
            repos_root: Some(at.repos_root.clone()),
            repos_uuid: Some(at.repos_uuid.clone()),
            kind: entry.kind,
            size: entry.size,
            changed_rev: entry.created_rev,
            changed_date: entry.time,
            changed_author: entry.last_author.clone(),
            lock,
            wc: None,
        }
    }
}
