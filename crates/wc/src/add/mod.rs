//! `svn add`: files and folders come under version control.
//!
//! First the disk is walked, then the new files are looked at from several threads, and at last all
//! rows are written in one transaction.

mod walk;

use std::collections::BTreeMap;
use std::io::Read as _;
use std::panic::resume_unwind;

use sylvan_core::props::{self, SVN_EXECUTABLE, SVN_MIME_TYPE, SVN_NEEDS_LOCK, SVN_SPECIAL};
use sylvan_core::time::Clock;
use sylvan_core::{Depth, Error, ErrorCode, NodeKind, Props, RelPath, RelPathBuf, Result};
use sylvan_io::Cancel;
use sylvan_io::file::{Dir, FileKind};

use crate::auto_props::{AutoProps, PROBED};
use crate::lock::WcLock;
use crate::notify::{Action, Notification, NotifyFn};
use crate::propset;
use crate::site::Site;
use crate::work_queue::item;
use crate::working::WorkingRow;
use crate::{WorkingCopy, work_queue};
use walk::{Found, Rules, Walker};

/// What is added, and how.
#[derive(Clone, Debug)]
pub struct AddOptions<'a> {
    /// How deep.
    pub depth: Depth,
    /// Pass over what is under version control already.
    pub force: bool,
    /// The user's ignore patterns; `None` adds ignored files too.
    pub ignores: Option<&'a [String]>,
    /// The user's rules; `None` leaves out those of `svn:auto-props` too.
    pub auto_props: Option<&'a AutoProps>,
    /// MIME types by extension.
    pub mime_types: &'a BTreeMap<String, String>,
    /// For dates in definitions of externals.
    pub clock: &'a Clock,
}

/// Adds a file, or a folder and what is in it, as deep as asked for. Missing folders above it are
/// made and added, if there are any; the caller decides whether there may be.
///
/// # Errors
/// `E150002` for what is under version control, `E155010` for what does not exist, `E155015` for
/// victims of conflicts, `E155013` below a deleted folder, `E150000` without a versioned one. What
/// comes before the node with the error stays added.
pub fn add(
    wc: &mut WorkingCopy,
    lock: &WcLock,
    path: &RelPath,
    options: &AddOptions<'_>,
    cancel: &Cancel,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    debug_assert!(path.starts_with(lock.root()), "the lock covers the node");
    let wc = &*wc;
    let site = Site::of(wc)?;
    let mut walker = Walker::new(wc, &site, options, cancel);
    let walked = walker.target(path);
    let (found, rules) = (walker.found, walker.rules);
    let probed = probe(wc, &site, &found, &rules, options, cancel);
    let mut added = Vec::new();
    let outcome = wc.db().write(|| {
        for (node, props) in found.iter().zip(probed) {
            let props = match props {
                Ok(props) => props,
                // What was added before stays, as it does in Subversion.
                Err(error) => return Ok(Err(error)),
            };
            insert(wc, node, &props)?;
            added.push((node, props));
        }
        Ok(Ok(()))
    })?;
    let run = work_queue::run(wc, cancel);
    for (node, props) in added {
        let mut what = Notification::new(wc.local_path(&node.path), Action::Add).kind(node.kind());
        what.mime_type = props
            .get(SVN_MIME_TYPE)
            .map(|value| String::from_utf8_lossy(value).into_owned());
        notify(&what);
    }
    outcome.and(walked).and(run)
}

/// Adds missing folders above `path`, the topmost first, making those that are not on disk.
///
/// # Errors
/// `E195015` if something else is in place of a folder, and those of [`add`].
pub fn add_parents(
    wc: &mut WorkingCopy,
    lock: &WcLock,
    path: &RelPath,
    options: &AddOptions<'_>,
    cancel: &Cancel,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let site = Site::of(wc)?;
    let above: Vec<_> = path
        .ancestors()
        .take_while(|folder| *folder != lock.root())
        .collect();
    for folder in above.into_iter().rev() {
        cancel.check()?;
        let there = site.root.lstat(folder)?;
        if there.is_some_and(|meta| !meta.is_dir()) {
            return Err(Error::new(
                ErrorCode::CLIENT_NO_VERSIONED_PARENT,
                format!(
                    "'{}' prevents creating parent of '{}'",
                    wc.local_path(folder).as_str(),
                    wc.local_path(path).as_str()
                ),
            ));
        }
        if there.is_none() {
            site.root.make_dir(folder)?;
        }
        let alone = AddOptions {
            depth: Depth::Empty,
            force: false,
            ..options.clone()
        };
        add(wc, lock, folder, &alone, cancel, notify)?;
    }
    Ok(())
}

impl Found {
    fn kind(&self) -> NodeKind {
        match self.on_disk {
            FileKind::Dir => NodeKind::Dir,
            _ => NodeKind::File,
        }
    }
}

/// Finds out the properties of new nodes.
fn probe(
    wc: &WorkingCopy,
    site: &Site,
    found: &[Found],
    rules: &Rules,
    options: &AddOptions<'_>,
    cancel: &Cancel,
) -> Vec<Result<Props>> {
    let probe = |share: &[Found]| -> Vec<Result<Props>> {
        share
            .iter()
            .map(|node| {
                cancel.check()?;
                let props = new_props(&site.root, node, rules, options)?;
                let local = wc_local(site, &node.path);
                propset::canonical_all(
                    node.kind(),
                    &local,
                    (&site.root, &node.path),
                    &props,
                    options.clock,
                )
            })
            .collect()
    };
    let threads = wc.workers();
    let share = found.len().div_ceil(threads.max(1)).max(32);
    if found.len() <= share {
        return probe(found);
    }
    std::thread::scope(|scope| {
        let shares: Vec<_> = found
            .chunks(share)
            .map(|share| scope.spawn(move || probe(share)))
            .collect();
        shares
            .into_iter()
            .flat_map(|share| share.join().unwrap_or_else(|panic| resume_unwind(panic)))
            .collect()
    })
}

fn wc_local(site: &Site, path: &RelPath) -> String {
    site.root.full(path).to_string_lossy().into_owned()
}

fn new_props(root: &Dir, node: &Found, rules: &Rules, options: &AddOptions<'_>) -> Result<Props> {
    match node.on_disk {
        FileKind::Dir => Ok(Props::new()),
        FileKind::Symlink => Ok(Props::from([(
            SVN_SPECIAL.to_owned(),
            props::BOOLEAN_TRUE.to_vec(),
        )])),
        FileKind::File | FileKind::Other => {
            let mut file = root.open_file(&node.path)?;
            let failed = |error: &std::io::Error, action: &str| {
                let path = root.full(&node.path);
                Error::io(error, format_args!("{action} '{}'", path.display()))
            };
            let mut beginning = Vec::with_capacity(PROBED);
            (&mut file)
                .take(PROBED as u64)
                .read_to_end(&mut beginning)
                .map_err(|error| failed(&error, "Can't read file"))?;
            let mode = {
                use std::os::unix::fs::MetadataExt as _;
                file.metadata()
                    .map_err(|error| failed(&error, "Can't stat"))?
                    .mode()
            };
            Ok(rules.of(node).for_file(
                node.path.basename(),
                options.mime_types,
                &beginning,
                mode & 0o100 != 0,
            ))
        }
    }
}

fn insert(wc: &WorkingCopy, node: &Found, props: &Props) -> Result<()> {
    let db = wc.db();
    db.put_working(&WorkingRow::added(&node.path, node.kind()))?;
    if !props.is_empty() {
        db.put_actual_props(&node.path, Some(props))?;
    }
    let has_flags = [SVN_EXECUTABLE, SVN_NEEDS_LOCK]
        .iter()
        .any(|name| props.contains_key(*name));
    if has_flags && node.kind() == NodeKind::File {
        db.put_work_item(&item::sync_file_flags(&node.path))?;
    }
    Ok(())
}

/// Finds the nearest folder at or above `path` that is under version control.
///
/// # Errors
/// `E195015` if there is none in this working copy.
pub fn existing_parent(wc: &WorkingCopy, path: &RelPath) -> Result<RelPathBuf> {
    for folder in std::iter::once(path).chain(path.ancestors()) {
        let current = wc.db().current(folder)?;
        let is_there = current.is_some_and(|current| {
            current.layer.kind == NodeKind::Dir && current.layer.presence.is_present()
        });
        if is_there {
            return Ok(folder.to_owned());
        }
        if folder.basename() == crate::ADM_DIR {
            return Err(Error::new(
                ErrorCode::RESERVED_FILENAME_SPECIFIED,
                format!("'{}' ends in a reserved name", wc.local_path(folder)),
            ));
        }
    }
    Err(Error::from_code(ErrorCode::CLIENT_NO_VERSIONED_PARENT))
}
