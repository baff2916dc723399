//! Externals: the EXTERNALS table, and files from elsewhere inside the working copy.

use rusqlite::params;
use sylvan_core::{
    Depth, Error, ErrorCode, NodeKind, RelPath, RelPathBuf, Result, Revnum, Url, props,
};
use sylvan_delta::Editor;
use sylvan_io::{Cancel, Progress};

use crate::base::{self, below};
use crate::db::write::BaseRow;
use crate::db::{Db, Presence, corrupt, sqlite_error, statements};
use crate::lock::WcLock;
use crate::notify::NotifyFn;
use crate::site::Site;
use crate::update::{InheritedProps, Outcome};
use crate::{WorkingCopy, modified, update, work_queue};

statements!("external.sql":
    SELECT_FOLDER_PROPERTIES,
    SELECT_FOLDER_PROPERTIES_BELOW,
    INSERT_EXTERNAL,
    DELETE_EXTERNAL,
    SELECT_REPOSITORY_ID,
    INSERT_REPOSITORY,
);

/// An external that is in the working copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct External {
    /// Where it is.
    pub path: RelPathBuf,
    /// A file, or a folder that is a working copy of its own.
    pub kind: NodeKind,
    /// The folder whose `svn:externals` defines it.
    pub defined_at: RelPathBuf,
    /// The root of its repository.
    pub repos_root: Url,
    /// The UUID of its repository.
    pub repos_uuid: String,
    /// Where it comes from, below the root of its repository.
    pub repos_path: RelPathBuf,
    /// The peg revision of the definition.
    pub peg: Option<Revnum>,
    /// The revision of the definition.
    pub rev: Option<Revnum>,
}

/// Lists the externals that are defined by folders at and below `path`, in order of path.
///
/// # Errors
/// Those of the database.
pub fn list(wc: &WorkingCopy, path: &RelPath) -> Result<Vec<External>> {
    let db = wc.db();
    db.externals_below(path)?
        .into_iter()
        .map(|row| {
            let repository = db.repository(row.repos_id)?;
            Ok(External {
                path: row.path,
                kind: row.kind,
                defined_at: row.defined_on,
                repos_root: repository.root.clone(),
                repos_uuid: repository.uuid.clone(),
                repos_path: row.repos_path,
                peg: row.peg,
                rev: row.revision,
            })
        })
        .collect()
}

/// Remembers an external; one at the same path is replaced.
///
/// # Errors
/// `E155035` if a versioned node is at its path; those of the database.
pub fn register(wc: &WorkingCopy, external: &External) -> Result<()> {
    let db = wc.db();
    db.write(|| {
        let base = base::node(wc, &external.path)?;
        if base.is_some_and(|base| !base.is_file_external) {
            return Err(Error::from_code(ErrorCode::WC_PATH_UNEXPECTED_STATUS));
        }
        let repos_id = repository_id(db, &external.repos_root, &external.repos_uuid)?;
        insert(db, external, repos_id)
    })
}

/// Remembers an external as the definition says, whatever else is known of its path.
///
/// # Errors
/// Those of the database.
pub fn note(wc: &WorkingCopy, external: &External) -> Result<()> {
    let db = wc.db();
    db.write(|| {
        let repos_id = repository_id(db, &external.repos_root, &external.repos_uuid)?;
        insert(db, external, repos_id)
    })
}

/// Writes the row of an external, in the transaction that is open.
pub(crate) fn insert(db: &Db, external: &External, repos_id: i64) -> Result<()> {
    let parent = external.path.parent().unwrap_or(RelPath::ROOT);
    db.execute(
        INSERT_EXTERNAL,
        params![
            db.wc_id(),
            external.path.as_str(),
            parent.as_str(),
            external.kind.as_str(),
            external.defined_at.as_str(),
            repos_id,
            external.repos_path.as_str(),
            external.peg.map(Revnum::number),
            external.rev.map(Revnum::number),
        ],
    )?;
    Ok(())
}

/// Forgets the external at `path`; what is on disk stays.
///
/// # Errors
/// `E155010` if none is registered there; those of the database.
pub fn forget(wc: &WorkingCopy, path: &RelPath) -> Result<()> {
    let db = wc.db();
    if db.execute(DELETE_EXTERNAL, params![db.wc_id(), path.as_str()])? == 0 {
        return Err(Error::new(
            ErrorCode::WC_PATH_NOT_FOUND,
            format!("The node '{}' is not an external.", wc.local_path(path)),
        ));
    }
    Ok(())
}

/// Returns the row id of a repository, a new one if it is not known yet.
pub(crate) fn repository_id(db: &Db, root: &Url, uuid: &str) -> Result<i64> {
    let known = db.row(SELECT_REPOSITORY_ID, params![root.as_str()], |row| {
        row.get(0).map_err(sqlite_error)
    })?;
    match known {
        Some(id) => Ok(id),
        None => db.insert(INSERT_REPOSITORY, params![root.as_str(), uuid]),
    }
}

/// Forgets an external; of a file it deletes the file too unless it is modified.
///
/// # Errors
/// Those of the database and the file system; `E155017` kin if it is no external.
pub fn remove(wc: &mut WorkingCopy, path: &RelPath, cancel: &Cancel) -> Result<()> {
    let node = wc.db().node(path)?;
    let base = node.as_ref().and_then(crate::db::Node::base);
    let changed = match base {
        Some(base) if base.file_external => modified::is_modified(wc, &Site::of(wc)?, path, base)?,
        _ => false,
    };
    let items = wc.db().write(|| {
        forget(wc, path)?;
        let Some(base) = base.filter(|base| base.file_external) else {
            return Ok(Vec::new());
        };
        let items = update::remove_rows(
            wc.db(),
            &update::Removal {
                path: path.to_owned(),
                keep: None,
                on_disk: !changed,
            },
        )?;
        mark_absent(wc, path, base.repos_id)?;
        Ok(items)
    })?;
    if items.is_empty() {
        return Ok(());
    }
    work_queue::run(wc, cancel)
}

/// As Subversion does, a row says until the next update that the folder is without the file.
fn mark_absent(wc: &WorkingCopy, path: &RelPath, repos_id: Option<i64>) -> Result<()> {
    let (Some((folder, name)), Some(repos_id)) = (path.split(), repos_id) else {
        return Ok(());
    };
    let Some(folder) = base::node(wc, folder)? else {
        return Ok(());
    };
    let repos_path = folder.repos_path.child(name)?;
    let row = BaseRow::new(
        path,
        repos_id,
        repos_path.as_str(),
        Revnum::ZERO,
        Presence::NotPresent,
        NodeKind::File,
    );
    wc.db().put_base(&row, true)
}

/// What is needed to bring a file external.
#[derive(Clone, Debug)]
pub struct FileExternal {
    /// What becomes its row; `kind` is a file.
    pub external: External,
    /// The URL whose parent the session for the drive is at; the drive's target is its last part.
    pub url: Url,
    /// Inherited properties of the file.
    pub inherited_props: Option<InheritedProps>,
    /// Take an unversioned file in its place over.
    pub allow_unversioned_obstructions: bool,
}

/// Lets `drive` bring a file external: the editor's root is the folder of the URL, and names one
/// file in it.
///
/// # Errors
/// As `update::run`.
pub fn update_file(
    wc: &mut WorkingCopy,
    lock: &WcLock,
    file: &FileExternal,
    cancel: &Cancel,
    progress: &Progress,
    notify: &mut NotifyFn<'_>,
    drive: impl FnOnce(&mut dyn Editor) -> Result<()>,
) -> Result<Outcome> {
    update::run_file_external(wc, lock, file, cancel, progress, notify, drive)
}

/// Makes the working file of a file external again if it is missing; tells whether it was.
///
/// # Errors
/// Those of the database and the file system.
pub fn restore(wc: &WorkingCopy, path: &RelPath, cancel: &Cancel) -> Result<bool> {
    let found = Site::of(wc)?.root.lstat(path)?;
    let is_external = base::node(wc, path)?.is_some_and(|base| base.is_file_external);
    if found.is_some() || !is_external {
        return Ok(false);
    }
    let times = wc.options().use_commit_times;
    let work = work_queue::item::file_install(path, times, true);
    wc.db().put_work_item(&work)?;
    work_queue::run(wc, cancel)?;
    Ok(true)
}

/// A folder that defines externals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The folder.
    pub folder: RelPathBuf,
    /// How deep the folder is; `None` if it does not say.
    pub depth: Option<Depth>,
    /// The value of its `svn:externals`, with local changes.
    pub value: Vec<u8>,
}

/// Lists the folders at and below `path` that define externals, in order of path.
///
/// # Errors
/// Those of the database; `E155016` for properties that cannot be read.
pub fn definitions(wc: &WorkingCopy, path: &RelPath) -> Result<Vec<Definition>> {
    let db = wc.db();
    let mut found = definition_of(wc, path)?.into_iter().collect::<Vec<_>>();
    let (first, end) = below(path);
    db.each(
        SELECT_FOLDER_PROPERTIES_BELOW,
        params![db.wc_id(), first, end],
        |row| {
            found.extend(read_definition(row)?);
            Ok(())
        },
    )?;
    found.sort_by(|a, b| a.folder.components().cmp(b.folder.components()));
    Ok(found)
}

/// Returns what the folder `path` itself defines.
///
/// # Errors
/// As [`definitions`].
pub fn definition_of(wc: &WorkingCopy, path: &RelPath) -> Result<Option<Definition>> {
    let db = wc.db();
    let found = db.row(
        SELECT_FOLDER_PROPERTIES,
        params![db.wc_id(), path.as_str()],
        read_definition,
    )?;
    Ok(found.flatten())
}

fn read_definition(row: &rusqlite::Row<'_>) -> Result<Option<Definition>> {
    let skel: Option<Vec<u8>> = row.get(0).map_err(sqlite_error)?;
    let Some(skel) = skel else {
        return Ok(None);
    };
    // Most folders have none; do not parse what cannot have it.
    let name = props::SVN_EXTERNALS.as_bytes();
    if !skel.windows(name.len()).any(|window| window == name) {
        return Ok(None);
    }
    let Some(value) = props::from_skel(&skel)?.remove(props::SVN_EXTERNALS) else {
        return Ok(None);
    };
    let folder: String = row.get(1).map_err(sqlite_error)?;
    let depth: Option<String> = row.get(2).map_err(sqlite_error)?;
    Ok(Some(Definition {
        folder: RelPathBuf::new(folder).map_err(corrupt)?,
        depth: depth.as_deref().and_then(Depth::from_word),
        value,
    }))
}

#[cfg(test)]
mod tests {
    #[test]
    fn statements_use_indexes() {
        crate::db::tests::check_statements(super::ALL, &[]);
    }
}
