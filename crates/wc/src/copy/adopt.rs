//! Copies from the repository: a folder that was checked out in the administrative folder, or the
//! text of a file, becomes part of the working copy.

use std::io::Write;

use md5::Digest as _;
use rusqlite::params;
use sylvan_core::{Error, ErrorCode, Md5, NodeKind, Props, RelPath, RelPathBuf, Result, Revnum};
use sylvan_core::{Sha1, props};
use sylvan_io::Cancel;
use sylvan_io::file::{Creation, NewFile};

use super::rows::RowCopier;
use crate::db::write::Changed;
use crate::db::{Presence, path_column, sqlite_error};
use crate::lock::WcLock;
use crate::notify::{Action, Notification, NotifyFn};
use crate::site::{self, Site};
use crate::work_queue::item;
use crate::working::{self, WorkingRow, as_i64};
use crate::{ADM_DIR, WorkingCopy, install, pristine, work_queue};

/// Pristine texts can only be read.
const MODE_READ_ONLY: u32 = 0o444;

/// Where a copy from the repository comes from.
#[derive(Clone, Debug)]
pub struct CopySource {
    /// The path below the repository's root.
    pub path: RelPathBuf,
    /// The revision.
    pub revision: Revnum,
}

/// Returns a path for a checkout that [`folder`] adopts: its name in the administrative folder,
/// where nothing is.
///
/// # Errors
/// An operating system's error if the folder for temporary files cannot be made.
pub fn checkout_place(wc: &WorkingCopy) -> Result<RelPathBuf> {
    let site = Site::of(wc)?;
    site.adm.make_dir_all(site::tmp())?;
    site::tmp().child(&install::temp_name())
}

/// Makes a copy with history of a folder that was checked out at `place`
/// ([`checkout_place`]); the checkout is gone after that.
///
/// # Errors
/// Those of the database and the file system; nothing but the checkout has changed then.
pub fn folder(
    wc: &mut WorkingCopy,
    lock: &WcLock,
    place: &RelPath,
    to: &RelPath,
    source: &CopySource,
    cancel: &Cancel,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    debug_assert!(to.starts_with(lock.root()), "the lock covers the target");
    let wc = &*wc;
    let site = Site::of(wc)?;
    let admin = RelPathBuf::new(format!("{place}-adm"))?;
    site.adm.rename(&place.child(ADM_DIR)?, &admin)?;
    take_pristines(&site, &admin)?;
    let db = wc.db();
    let file = site.adm.full(&admin).join("wc.db");
    let attach = |sql: &str| {
        db.connection()
            .execute(sql, [file.to_string_lossy().as_ref()])
            .map(drop)
            .map_err(sqlite_error)
    };
    attach("ATTACH DATABASE ?1 AS source")?;
    let told = db.write(|| insert_rows(wc, place, to, source));
    let detached = db
        .connection()
        .execute_batch("DETACH DATABASE source")
        .map_err(sqlite_error);
    let told = told?;
    detached?;
    let run = work_queue::run(wc, cancel);
    let removed = site.adm.remove_tree(&admin, &Cancel::new());
    for (path, kind) in told {
        notify(&Notification::new(wc.local_path(&path), Action::Add).kind(kind));
    }
    run.and(removed)
}

/// Moves pristine texts into the store. One that is there already stays: it has the same content if
/// it has a row, and if not it is garbage that is replaced.
fn take_pristines(site: &Site, admin: &RelPath) -> Result<()> {
    let theirs = admin.child(pristine::FOLDER)?;
    let ours = RelPath::new(pristine::FOLDER)?;
    for (shard, _) in site.adm.read_dir(&theirs)? {
        let Ok(shard) = std::str::from_utf8(&shard) else {
            continue;
        };
        let (from, to) = (theirs.child(shard)?, ours.child(shard)?);
        site.adm.make_dir_all(&to)?;
        for (name, _) in site.adm.read_dir(&from)? {
            if let Ok(name) = std::str::from_utf8(&name) {
                site.adm.rename(&from.child(name)?, &to.child(name)?)?;
            }
        }
    }
    Ok(())
}

fn insert_rows(
    wc: &WorkingCopy,
    place: &RelPath,
    to: &RelPath,
    source: &CopySource,
) -> Result<Vec<(RelPathBuf, NodeKind)>> {
    let db = wc.db();
    let repos_id = repository_of(wc, to)?;
    let from = (repos_id, source.path.clone(), Some(source.revision));
    let (op_depth, not_present) = RowCopier::copy(wc).place_of(&from, to)?;
    db.execute_batch(working::ADOPT_PRISTINES)?;
    let parent = to.parent().unwrap_or(RelPath::ROOT);
    db.execute(
        working::ADOPT_NODES,
        params![
            db.wc_id(),
            to.as_str(),
            as_i64(op_depth),
            parent.as_str(),
            repos_id
        ],
    )?;
    if let Some(depth) = not_present {
        put_not_present(wc, to, depth, &from, NodeKind::Dir)?;
    }
    let mut told = db.rows(working::SELECT_ADOPTED, [], |row| {
        let path = path_column(row, 0)?.unwrap_or_default();
        let kind: String = row.get(1).map_err(sqlite_error)?;
        Ok((to.join(&path), NodeKind::from_word(&kind)))
    })?;
    told.sort_by(|a, b| a.0.components().cmp(b.0.components()));
    let adm = RelPath::new(ADM_DIR)?;
    db.put_work_item(&item::file_move(&adm.join(place), to))?;
    Ok(told)
}

fn put_not_present(
    wc: &WorkingCopy,
    to: &RelPath,
    depth: usize,
    (id, path, rev): &(i64, RelPathBuf, Option<Revnum>),
    kind: NodeKind,
) -> Result<()> {
    wc.db().execute(
        working::INSERT_NOT_PRESENT,
        params![
            wc.db().wc_id(),
            to.as_str(),
            as_i64(depth),
            to.parent().map(RelPath::as_str),
            id,
            path.as_str(),
            rev.map(Revnum::number),
            kind.as_str()
        ],
    )?;
    Ok(())
}

/// Returns the repository that a new node will be in.
fn repository_of(wc: &WorkingCopy, to: &RelPath) -> Result<i64> {
    let parent = to.parent().unwrap_or(RelPath::ROOT);
    let node = wc
        .db()
        .versioned(parent)?
        .ok_or_else(|| crate::not_found(wc, parent))?;
    Ok(crate::scan::location(wc, &node)?.repos_id)
}

/// Receives the text of a file that is copied from the repository.
pub struct TextReceiver {
    site: Site,
    path: RelPathBuf,
    file: Option<NewFile>,
    sha1: sha1::Sha1,
    md5: md5::Md5,
    size: u64,
}

impl TextReceiver {
    /// Makes a temporary file for the text.
    ///
    /// # Errors
    /// An operating system's error if it cannot be made.
    pub fn new(wc: &WorkingCopy) -> Result<Self> {
        let path = checkout_place(wc)?;
        let site = Site::of(wc)?;
        let file = site
            .adm
            .create(&path, MODE_READ_ONLY, Creation::Exclusive)?;
        Ok(Self {
            site,
            path,
            file: Some(file),
            sha1: sha1::Sha1::new(),
            md5: md5::Md5::new(),
            size: 0,
        })
    }

    /// Ends the text: it becomes a file of the pristine store.
    fn keep(mut self) -> Result<(Sha1, Md5, u64)> {
        if let Some(file) = self.file.take() {
            file.close()?;
        }
        let sha1 = Sha1(std::mem::take(&mut self.sha1).finalize().into());
        let md5 = Md5(std::mem::take(&mut self.md5).finalize().into());
        let to = pristine::path(&sha1)?;
        if let Some(shard) = to.parent() {
            self.site.adm.make_dir_all(shard)?;
        }
        self.site.adm.rename(&self.path, &to)?;
        Ok((sha1, md5, self.size))
    }
}

impl Write for TextReceiver {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let Some(file) = &self.file else {
            return Ok(0);
        };
        file.write_all(bytes)
            .map_err(|error| std::io::Error::other(error.message()))?;
        self.sha1.update(bytes);
        self.md5.update(bytes);
        self.size += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Drop for TextReceiver {
    fn drop(&mut self) {
        // Where it was kept there is nothing left to remove.
        let _ = self.site.adm.remove_if_exists(&self.path);
    }
}

/// Makes a copy with history of a file, whose text was received, and whose properties are given, the
/// entry properties too.
///
/// # Errors
/// Those of the database and the file system; nothing has changed then.
pub fn file(
    wc: &mut WorkingCopy,
    lock: &WcLock,
    text: TextReceiver,
    to: &RelPath,
    (source, all_props): (&CopySource, &Props),
    cancel: &Cancel,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    debug_assert!(to.starts_with(lock.root()), "the lock covers the target");
    let wc = &*wc;
    let (sha1, md5, size) = text.keep()?;
    let regular = props::of_kind(all_props, props::PropKind::Regular);
    let changed = changed_of(all_props)?;
    let db = wc.db();
    db.write(|| {
        let repos_id = repository_of(wc, to)?;
        let from = (repos_id, source.path.clone(), Some(source.revision));
        let (op_depth, not_present) = RowCopier::copy(wc).place_of(&from, to)?;
        db.put_pristine(&sha1, &md5, size, 0)?;
        db.put_working(&WorkingRow {
            op_depth,
            source: Some((repos_id, &source.path, Some(source.revision))),
            changed: Some(&changed),
            checksum: Some(&sha1),
            props: Some(&props::to_skel(&regular)),
            ..WorkingRow::mark(to, op_depth, Presence::Normal, NodeKind::File)
        })?;
        if let Some(depth) = not_present {
            put_not_present(wc, to, depth, &from, NodeKind::File)?;
        }
        db.put_work_item(&item::file_install(to, false, true))?;
        Ok(())
    })?;
    let run = work_queue::run(wc, cancel);
    notify(&Notification::new(wc.local_path(to), Action::Add).kind(NodeKind::File));
    run
}

fn changed_of(all: &Props) -> Result<Changed> {
    let text = |name| {
        all.get(name)
            .map(|value| String::from_utf8_lossy(value).into_owned())
    };
    let rev = text(props::ENTRY_COMMITTED_REV)
        .map(|rev| {
            rev.parse().ok().and_then(Revnum::new).ok_or_else(|| {
                Error::new(
                    ErrorCode::BAD_PROPERTY_VALUE,
                    format!("Invalid revision '{rev}'"),
                )
            })
        })
        .transpose()?;
    let date = text(props::ENTRY_COMMITTED_DATE)
        .map(|date| sylvan_core::Timestamp::parse_iso(&date))
        .transpose()?;
    Ok(Changed {
        rev,
        date: date.map_or(0, sylvan_core::Timestamp::micros),
        author: text(props::ENTRY_LAST_AUTHOR),
    })
}
