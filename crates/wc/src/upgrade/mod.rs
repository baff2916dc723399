//! `svn upgrade`: working copies of older formats.
//!
//! Formats 29 and 30 have a database that gets its changes in one transaction. Those before
//! Subversion 1.7 (formats 4 to 10) have an administrative folder in each folder: all that is in them
//! is brought into a new database `.svn/tmp/wcng/.svn/wc.db` of the root, with the pristine texts
//! beside it. Until that gets its final name nothing of the old working copy is touched, but for lock
//! files that keep old programs away; from then on its work queue says what is left to do: moving
//! the pristine texts, and removing what is old.

mod bump;
mod conflicts;
mod entries;
mod folder;
mod layers;

use std::collections::HashSet;
use std::rc::Rc;

use sylvan_core::{Depth, Dirent, Error, ErrorCode, NodeKind, RelPath, RelPathBuf, Result, Url};
use sylvan_io::Cancel;
use sylvan_io::file::{self, Creation, Dir};

use crate::db::{Db, FirstRows, OpenError, sqlite_error, statements};
use crate::external;
use crate::lock::{Anchor, WcLock};
use crate::notify::{Action, Notification, NotifyFn};
use crate::work_queue::{self, item};
use crate::working_copy::old_format;
use crate::{ADM_DIR, Options, WorkingCopy};
use entries::{Entries, Schedule};
use folder::{Folder, KnownRepositories, Target};

statements!("upgrade.sql":
    INSERT_NODE,
    INSERT_ACTUAL,
    INSERT_TEXT,
    INSERT_LOCK,
    SELECT_LAYERS,
    UPDATE_PROPERTIES,
    SET_LOCAL_PROPERTIES,
    SELECT_FILES,
    UPDATE_DAV_CACHE,
    SELECT_OLD_CONFLICTS,
    SET_CONFLICT,
    TO_30,
    TO_31,
);

/// Where a new database is made, below the root.
const STAGE: &str = ".svn/tmp/wcng";

/// Asks the repository at a URL for its root and UUID.
pub type AskRepository<'a> = dyn FnMut(&Url) -> Result<(Url, String)> + 'a;

/// Brings the working copy whose root is `root` (absolute) to the present format. What an upgrade
/// that was killed has left to do is done.
///
/// # Errors
/// `E155019` if `root` is no root of a working copy; `E155021` for a format that is too new, or that
/// was never released, or for an old working copy that needs cleanup by its own program; `E155016`
/// if it is damaged; what `ask` gives.
pub fn upgrade(
    root: &Dirent,
    options: &Options,
    cancel: &Cancel,
    ask: &mut AskRepository<'_>,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let database = root.join(ADM_DIR).join("wc.db");
    let missing = match open_database(&database, options)? {
        Ok(db) => {
            if bump::raise(&db, root)? {
                notify(&Notification::new(root.clone(), Action::UpgradedPath));
            }
            drop(db);
            return finish(root, options, cancel);
        }
        Err(missing) => missing,
    };
    if let Err(error) = entries::read(root) {
        return Err(missing.attach(error).wrap(
            ErrorCode::WC_INVALID_OP_ON_CWD,
            format!("Can't upgrade '{root}' as it is not a working copy root"),
        ));
    }
    require_root(root)?;
    let tree = Dir::open(root.as_path())?;
    // Held until all is done: what is staged is for one program at a time.
    let held = tree.open_file(RelPath::new(&format!("{ADM_DIR}/entries"))?)?;
    if matches!(held.try_lock(), Err(std::fs::TryLockError::WouldBlock)) {
        return Err(Error::new(
            ErrorCode::WC_LOCKED,
            format!("Working copy '{root}' locked"),
        ));
    }
    if open_database(&database, options)?.is_ok() {
        // Another program was faster.
        return finish(root, options, cancel);
    }
    stage(root, &tree, options, cancel, ask, notify)?;
    tree.rename(
        RelPath::new(&format!("{STAGE}/{ADM_DIR}/wc.db"))?,
        RelPath::new(&format!("{ADM_DIR}/wc.db"))?,
    )?;
    finish(root, options, cancel)
}

/// Opens the database; what is missing if there is none.
fn open_database(path: &Dirent, options: &Options) -> Result<Result<Db, Error>> {
    let kind = std::fs::symlink_metadata(path.as_path());
    if !kind.is_ok_and(|found| found.is_file()) {
        const ENOENT: ErrorCode = ErrorCode::from_errno(2);
        let what = format!("Working copy database '{path}' not found");
        return Ok(Err(Error::new(ENOENT, what)));
    }
    match Db::open(path.as_path(), options) {
        Ok(db) => Ok(Ok(db)),
        Err(OpenError::NoDatabase) => Ok(Err(Error::new(
            ErrorCode::SQLITE_ERROR,
            format!("'{path}' is not a database"),
        ))),
        Err(OpenError::Failed(error)) => Err(error),
    }
}

/// Does what the work queue says after an upgrade, and removes where it was staged.
fn finish(root: &Dirent, options: &Options, cancel: &Cancel) -> Result<()> {
    let (mut wc, at) = WorkingCopy::open(root, options)?;
    if at.is_root() && wc.db().has_work()? {
        WcLock::with(&mut wc, RelPath::ROOT, Anchor::Node, |wc, _| {
            work_queue::run(wc, cancel)
        })?;
    }
    let tree = Dir::open(root.as_path())?;
    let stage = RelPath::new(STAGE)?;
    if tree.lstat(stage)?.is_some() {
        tree.remove_tree(stage, &Cancel::new())?;
    }
    Ok(())
}

/// Requires a folder of an old format not to be a part of the one around it.
fn require_root(root: &Dirent) -> Result<()> {
    let mut top = root.clone();
    loop {
        let parent = top.dirname();
        if parent == top {
            break;
        }
        let Ok(around) = entries::read(&parent) else {
            break;
        };
        let is_part = around.get(top.basename()).is_some_and(|entry| {
            !(entry.absent
                || entry.deleted && entry.schedule != Schedule::Add
                || entry.depth == Depth::Exclude)
        });
        if !is_part {
            break;
        }
        top = parent;
    }
    if top == *root {
        return Ok(());
    }
    Err(Error::new(
        ErrorCode::WC_INVALID_OP_ON_CWD,
        format!("Can't upgrade '{root}' as it is not a working copy root, the root is '{top}'"),
    ))
}

/// Makes the new database and the new pristine store of a working copy before 1.7.
fn stage(
    root: &Dirent,
    tree: &Dir,
    options: &Options,
    cancel: &Cancel,
    ask: &mut AskRepository<'_>,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let mut entries = entries::read(root)?;
    let mut known = KnownRepositories::default();
    let (repos_root, repos_uuid) = complete(&mut known, &mut entries, root, ask)?;
    let stage = RelPath::new(STAGE)?;
    if tree.lstat(stage)?.is_some() {
        tree.remove_tree(stage, cancel)?;
    }
    let adm = stage.child(ADM_DIR)?;
    tree.make_dir_all(&adm)?;
    let store = adm.child("pristine")?;
    tree.make_dir_all(&store)?;
    let first = FirstRows {
        repos_root: &repos_root,
        repos_uuid: &repos_uuid,
        root: None,
    };
    let database = root.join_relpath(&adm).join("wc.db");
    Db::create(
        database.as_path(),
        root.join_relpath(&adm).as_path(),
        options,
        &first,
    )?;
    let db = Db::open(database.as_path(), options).map_err(OpenError::of_new)?;
    // Nothing but this database will know what the old files said.
    db.connection()
        .execute_batch("PRAGMA synchronous = FULL")
        .map_err(sqlite_error)?;
    let repos_id = external::repository_id(&db, &repos_root, &repos_uuid)?;
    let mut target = Target {
        root,
        tree,
        db: &db,
        repos_id,
        store: adm.clone(),
        stored: HashSet::new(),
    };
    db.write(|| {
        let mut walk = Walk {
            target: &mut target,
            known,
            cancel,
            ask,
            notify,
        };
        walk.all()?;
        db.put_work_item(&item::file_move(
            &store,
            RelPath::new(&format!("{ADM_DIR}/pristine"))?,
        ))?;
        db.put_work_item(&item::post_upgrade())?;
        Ok(())
    })
}

/// Names the repository in a folder's own entry.
fn complete(
    known: &mut KnownRepositories,
    entries: &mut Entries,
    place: &Dirent,
    ask: &mut AskRepository<'_>,
) -> Result<(Url, String)> {
    let this_dir = entries
        .get_mut("")
        .ok_or_else(|| Error::from_code(ErrorCode::ENTRY_NOT_FOUND))?;
    known.complete(this_dir, place, ask)
}

/// The walk through the folders of an old working copy.
struct Walk<'w, 't, 'a, 'n> {
    target: &'w mut Target<'t>,
    known: KnownRepositories,
    cancel: &'w Cancel,
    ask: &'w mut AskRepository<'a>,
    notify: &'w mut NotifyFn<'n>,
}

impl Walk<'_, '_, '_, '_> {
    fn all(&mut self) -> Result<()> {
        let mut left: Vec<(RelPathBuf, Option<Rc<Folder>>)> = vec![(RelPathBuf::root(), None)];
        while let Some((path, parent)) = left.pop() {
            self.cancel.check()?;
            let place = self.target.root.join_relpath(&path);
            let Some((folder, children)) = self.folder(&path, &place, parent.as_deref())? else {
                if path.is_root() {
                    return Err(Error::new(
                        ErrorCode::WC_CORRUPT,
                        format!("The format of the working copy '{place}' is not known"),
                    ));
                }
                (self.notify)(&Notification::new(place, Action::Skip));
                continue;
            };
            (self.notify)(&Notification::new(place, Action::UpgradedPath));
            for name in children.into_iter().rev() {
                left.push((path.child(&name)?, Some(folder.clone())));
            }
        }
        Ok(())
    }

    /// Brings one folder; returns the names of the versioned folders in it. `None` if it is no
    /// folder of an old working copy.
    fn folder(
        &mut self,
        path: &RelPath,
        place: &Dirent,
        parent: Option<&Folder>,
    ) -> Result<Option<(Rc<Folder>, Vec<String>)>> {
        let Some(format) = old_format(place)? else {
            return Ok(None);
        };
        let adm = path.child(ADM_DIR)?;
        if self
            .target
            .tree
            .lstat(&adm.child("log")?)?
            .is_some_and(|meta| meta.is_file())
        {
            return Err(Error::new(
                ErrorCode::WC_UNSUPPORTED_FORMAT,
                "Cannot upgrade with existing logs; run a cleanup operation on this working copy \
                 using a client version which is compatible with this working copy's format (such \
                 as the version you are upgrading from), then retry the upgrade with the current \
                 version",
            ));
        }
        // Whoever held it held it long ago.
        let lock = adm.child("lock")?;
        if self.target.tree.lstat(&lock)?.is_none() {
            self.target
                .tree
                .create(&lock, file::MODE_FILE, Creation::Exclusive)?
                .close()?;
        }
        let mut entries = entries::read(place)?;
        complete(&mut self.known, &mut entries, place, self.ask)?;
        let folder = self.target.add(path, format, &entries, parent)?;
        Ok(Some((folder, versioned_folders(&entries))))
    }
}

fn versioned_folders(entries: &Entries) -> Vec<String> {
    entries
        .values()
        .filter(|entry| !entry.name.is_empty() && entry.kind == NodeKind::Dir && !entry.is_hidden())
        .map(|entry| entry.name.clone())
        .collect()
}

/// Parses what old working copies hold, for tests with damaged ones.
pub(crate) fn parse_old(data: &[u8]) {
    if let Ok(entries) = entries::parse(&Dirent::new("/wc"), data) {
        for entry in entries.values() {
            let _ = entry.tree_conflicts.as_deref().map(conflicts::parse_all);
        }
    }
    let _ = conflicts::parse_one(data);
}

/// Removes what an old working copy has left, now that all of it is in the database. A folder that
/// was scheduled for deletion goes too if nothing is in it.
///
/// # Errors
/// `E155016` if the new working copy has no texts, `E200015`, and those of reading entries. What
/// cannot be removed stays.
pub(crate) fn wipe(root: &Dirent, tree: &Dir, cancel: &Cancel) -> Result<()> {
    let store = RelPathBuf::new(format!("{ADM_DIR}/pristine"))?;
    if tree.lstat(&store)?.is_none() {
        return Err(Error::new(
            ErrorCode::WC_CORRUPT,
            format!("The working copy '{root}' has no pristine store"),
        ));
    }
    let mut left = vec![RelPathBuf::root()];
    let mut folders = Vec::new();
    while let Some(path) = left.pop() {
        cancel.check()?;
        let place = root.join_relpath(&path);
        // The root has its new database; another folder with one is a working copy of its own.
        if !path.is_root() && old_format(&place)?.is_none() {
            continue;
        }
        let Some(entries) = entries_left(&place)? else {
            continue;
        };
        for name in versioned_folders(&entries) {
            let child = path.child(&name)?;
            if tree.lstat(&child)?.is_some_and(|meta| meta.is_dir()) {
                left.push(child);
            }
        }
        let is_deleted = entries
            .get("")
            .is_some_and(|entry| entry.schedule == Schedule::Delete && !entry.keep_local);
        folders.push((path, is_deleted));
    }
    // A folder's entries name those below, so it goes after them; and at once, since nobody would
    // find a part of it again. Where it goes to is removed in the end.
    let stage = RelPath::new(STAGE)?;
    tree.make_dir_all(stage)?;
    let folders = folders.iter().rev().filter(|(path, _)| !path.is_root());
    for (number, (path, is_deleted)) in folders.enumerate() {
        let (adm, away) = (path.child(ADM_DIR)?, stage.child(&format!("old-{number}"))?);
        if tree.rename(&adm, &away).is_err() {
            let _ = tree.remove_tree(&adm, cancel);
        }
        if *is_deleted {
            let _ = tree.remove_dir_if_empty(path);
        }
    }
    wipe_root(tree)
}

/// Reads the entries of a folder that may be wiped already.
fn entries_left(place: &Dirent) -> Result<Option<Entries>> {
    match entries::read(place) {
        Ok(entries) => Ok(Some(entries)),
        Err(error)
            if error.code() == ErrorCode::ENTRY_NOT_FOUND
                || file::error_kind(&error) == std::io::ErrorKind::NotFound =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn wipe_root(tree: &Dir) -> Result<()> {
    let adm = RelPath::new(ADM_DIR)?;
    for name in ["wcprops", "text-base", "props", "prop-base"] {
        let _ = tree.remove_tree(&adm.child(name)?, &Cancel::new());
    }
    for name in [
        "empty-file",
        "README.txt",
        "dir-wcprops",
        "all-wcprops",
        "dir-props",
        "dir-prop-base",
        "dir-prop-revert",
        "lock",
    ] {
        let _ = tree.remove_if_exists(&adm.child(name)?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn statements_use_indexes() {
        // Conflicts are looked for everywhere, once.
        crate::db::tests::check_statements(super::ALL, &["SELECT_OLD_CONFLICTS"]);
    }
}
