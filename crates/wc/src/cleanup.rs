//! Putting a working copy in order: `svn cleanup`.

use rusqlite::params;
use sylvan_core::{Checksum, Dirent, Error, ErrorCode, NodeKind, RelPath, RelPathBuf, Result};
use sylvan_io::Cancel;
use sylvan_io::file::{FileKind, Meta};

use crate::db::write as rows;
use crate::db::{Db, Layer, Node, sqlite_error};
use crate::lock::{self, WcLock};
use crate::notify::{Action, Notification, NotifyFn};
use crate::site::{self, Site};
use crate::status::{self, StatusKind, StatusOptions};
use crate::{Options, WorkingCopy, install, modified, pristine, survey, work_queue};

/// What is cleaned up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleanupOptions {
    /// Take write locks over, whoever holds them.
    pub break_locks: bool,
    /// Record the times of files that are unchanged but were touched.
    pub fix_recorded_timestamps: bool,
    /// Forget what HTTP servers told about nodes.
    pub clear_dav_cache: bool,
    /// Delete pristine texts that no node uses, and temporary files.
    pub vacuum_pristines: bool,
    /// Delete unversioned files and folders.
    pub remove_unversioned: bool,
    /// Delete ignored files and folders.
    pub remove_ignored: bool,
    /// Do the same in externals.
    pub include_externals: bool,
    /// Patterns of ignored names: `global-ignores` of the user's config.
    pub global_ignores: Vec<String>,
}

impl CleanupOptions {
    /// What `svn cleanup` does without options.
    pub const fn standard() -> Self {
        Self {
            break_locks: true,
            fix_recorded_timestamps: true,
            clear_dav_cache: true,
            vacuum_pristines: true,
            remove_unversioned: false,
            remove_ignored: false,
            include_externals: false,
            global_ignores: Vec::new(),
        }
    }
}

/// Cleans up the working copy that the folder `path` (absolute) is in.
///
/// # Errors
/// `E155007` if it is in none, `E155004` if it is locked and locks are not to be broken, and those
/// of the work items that are finished.
pub fn cleanup(
    path: &Dirent,
    wc_options: &Options,
    options: &CleanupOptions,
    cancel: &Cancel,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let (wc, dir) = open(path, wc_options)?;
    let root = match lock::root_of_lock(&wc, &dir)? {
        Some(root) => root,
        None => dir.clone(),
    };
    let lock = WcLock::obtain(&wc, root, options.break_locks)?;
    put_in_order(&wc, lock.root(), options, cancel)?;
    lock.release(&wc)?;
    if options.clear_dav_cache {
        clear_dav_cache(wc.db(), &dir)?;
    }
    if options.vacuum_pristines {
        wc.db().execute_batch(rows::VACUUM)?;
    }
    if options.remove_unversioned || options.remove_ignored || options.include_externals {
        remove_and_descend(wc, &dir, options, cancel, notify)?;
    }
    Ok(())
}

fn open(path: &Dirent, wc_options: &Options) -> Result<(WorkingCopy, RelPathBuf)> {
    let not_here = || {
        Error::new(
            ErrorCode::WC_NOT_WORKING_COPY,
            format!("'{path}' is not a working copy directory"),
        )
    };
    let (wc, dir) = WorkingCopy::open(path, wc_options).map_err(|error| {
        let is_other = matches!(
            error.code(),
            ErrorCode::WC_NOT_WORKING_COPY
                | ErrorCode::WC_UPGRADE_REQUIRED
                | ErrorCode::WC_UNSUPPORTED_FORMAT
        );
        if is_other { not_here() } else { error }
    })?;
    if !dir.is_root() {
        let node = wc.db().node(&dir)?;
        let top = node.as_ref().and_then(Node::top);
        if top.is_none_or(|top| top.kind != NodeKind::Dir) {
            return Err(not_here());
        }
    }
    Ok((wc, dir))
}

/// Does what needs the lock.
fn put_in_order(
    wc: &WorkingCopy,
    root: &RelPath,
    options: &CleanupOptions,
    cancel: &Cancel,
) -> Result<()> {
    work_queue::run(wc, cancel)?;
    let site = Site::of(wc)?;
    if root.is_root() && options.vacuum_pristines {
        lock::remove_stale_owners(wc)?;
        empty_tmp(&site, cancel)?;
        remove_unused_pristines(wc, &site, cancel)?;
    }
    if options.fix_recorded_timestamps {
        fix_timestamps(wc, &site, root, cancel)?;
    }
    Ok(())
}

fn empty_tmp(site: &Site, cancel: &Cancel) -> Result<()> {
    let tmp = site::tmp();
    if site::kind(site.adm.lstat(tmp)?) == Some(FileKind::Dir) {
        return site.adm.empty(tmp, cancel);
    }
    site.adm.make_dir_all(tmp)
}

fn remove_unused_pristines(wc: &WorkingCopy, site: &Site, cancel: &Cancel) -> Result<()> {
    let db = wc.db();
    let unused = db.read(|| {
        db.exists(rows::ANY_PRISTINE, [])?;
        wc.read_ahead(RelPath::ROOT);
        db.rows(rows::SELECT_UNREFERENCED_PRISTINES, [], |row| {
            row.get::<_, String>(0).map_err(sqlite_error)
        })
    })?;
    let removed = if unused.is_empty() {
        Vec::new()
    } else {
        db.write(|| {
            let mut removed = Vec::new();
            for checksum in unused {
                cancel.check()?;
                if db.execute(rows::DELETE_PRISTINE_IF_UNREFERENCED, [&checksum])? > 0 {
                    removed.push(rows::as_sha1(Checksum::parse_db(&checksum)?)?);
                }
            }
            Ok(removed)
        })?
    };
    removed
        .iter()
        .try_for_each(|sha1| site.adm.remove_if_exists(&pristine::path(sha1)?))
}

/// Records the times of files that were touched, but are unchanged.
fn fix_timestamps(wc: &WorkingCopy, site: &Site, root: &RelPath, cancel: &Cancel) -> Result<()> {
    let files = touched_files(wc, site, root, cancel)?;
    let mut fixed = Vec::new();
    for (path, layer) in files {
        cancel.check()?;
        if modified::is_modified(wc, site, &path, &layer)? {
            continue;
        }
        if let Some((size, time)) = install::stat(&site.root, &path)? {
            fixed.push((path, size, time));
        }
    }
    if fixed.is_empty() {
        return Ok(());
    }
    work_queue::record_files(wc.db(), &fixed)
}

/// Lists files whose recorded size and time are not those on disk.
fn touched_files(
    wc: &WorkingCopy,
    site: &Site,
    root: &RelPath,
    cancel: &Cancel,
) -> Result<Vec<(RelPathBuf, Layer)>> {
    let db = wc.db();
    let (low, high) = rows::below(root);
    let recorded = db.read(|| {
        db.exists(rows::ANY_PRISTINE, [])?;
        wc.read_ahead(root);
        db.rows(
            rows::SELECT_RECORDED_BELOW,
            params![db.wc_id(), low, high],
            |row| {
                Ok((
                    RelPathBuf::new(row.get::<_, String>(0).map_err(sqlite_error)?)?,
                    row.get::<_, Option<i64>>(1).map_err(sqlite_error)?,
                    row.get::<_, Option<i64>>(2).map_err(sqlite_error)?,
                ))
            },
        )
    })?;
    let paths: Vec<&RelPath> = recorded.iter().map(|(path, ..)| &**path).collect();
    let metas = survey::lstat_all(wc, &site.root, &paths, cancel)?;
    let mut touched = Vec::new();
    for ((path, size, time), meta) in recorded.into_iter().zip(metas) {
        let is_text = |meta: &Meta| matches!(meta.kind, FileKind::File | FileKind::Symlink);
        let Some(meta) = meta.filter(is_text) else {
            continue;
        };
        if (i64::try_from(meta.size).ok(), Some(meta.mtime.micros())) == (size, time) {
            continue;
        }
        let top = db.layers(&path)?.into_iter().next();
        if let Some(top) = top.filter(|top| top.presence.is_present()) {
            touched.push((path, top));
        }
    }
    Ok(touched)
}

fn clear_dav_cache(db: &Db, dir: &RelPath) -> Result<()> {
    let (low, high) = rows::below(dir);
    db.write(|| {
        db.execute(rows::CLEAR_DAV_CACHE, params![db.wc_id(), dir.as_str()])?;
        db.execute(rows::CLEAR_DAV_CACHE_BELOW, params![db.wc_id(), low, high])?;
        Ok(())
    })
}

/// Removes what is not under version control, and cleans up externals.
fn remove_and_descend(
    wc: WorkingCopy,
    dir: &RelPath,
    options: &CleanupOptions,
    cancel: &Cancel,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let site = Site::of(&wc)?;
    let lock = WcLock::obtain(&wc, dir.to_owned(), false)?;
    let mut found = Vec::new();
    let walked = status::walk(
        &wc,
        dir,
        &StatusOptions {
            all: true,
            no_ignore: options.remove_ignored,
            global_ignores: options.global_ignores.clone(),
            ..StatusOptions::default()
        },
        cancel,
        &mut |path, status| {
            let wanted = match status.node {
                StatusKind::External => options.include_externals,
                StatusKind::Ignored => options.remove_ignored,
                StatusKind::Unversioned => options.remove_unversioned,
                _ => false,
            };
            if wanted {
                found.push((path.to_owned(), status.node == StatusKind::External));
            }
            Ok(())
        },
    );
    let done = walked.and_then(|()| {
        found.iter().try_for_each(|(path, external)| {
            if *external {
                let local = wc.local_path(path);
                clean_external(&local, wc.options(), options, cancel, notify)
            } else {
                remove(&wc, &site, path, cancel, notify)
            }
        })
    });
    done.and(lock.release(&wc))
}

fn clean_external(
    local: &Dirent,
    wc_options: &Options,
    options: &CleanupOptions,
    cancel: &Cancel,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let found = sylvan_io::file::lstat_if_exists(local.as_path())?;
    if site::kind(found) != Some(FileKind::Dir) {
        return Ok(());
    }
    notify(&Notification::new(local.clone(), Action::CleanupExternal));
    match cleanup(local, wc_options, options, cancel, notify) {
        Err(error) if error.code() == ErrorCode::WC_NOT_WORKING_COPY => Ok(()),
        done => done,
    }
}

fn remove(
    wc: &WorkingCopy,
    site: &Site,
    path: &RelPath,
    cancel: &Cancel,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let kind = match site::kind(site.root.lstat(path)?) {
        Some(FileKind::Dir) => {
            site.root.remove_tree(path, cancel)?;
            NodeKind::Dir
        }
        Some(FileKind::File | FileKind::Symlink) => {
            site.root.remove_if_exists(path)?;
            NodeKind::File
        }
        Some(FileKind::Other) | None => return Ok(()),
    };
    notify(&Notification::new(wc.local_path(path), Action::Delete).kind(kind));
    Ok(())
}
