mod find;

pub(crate) use find::{old_format, too_new};

use std::collections::HashSet;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use sylvan_core::{Depth, Dirent, RelPath, RelPathBuf, Result, Revnum, Url};
use sylvan_io::Cancel;
use sylvan_io::file::{self, Creation, Dir, FileKind};

use crate::Options;
use crate::db::{Db, FirstRows, OpenError};

/// The name of the administrative folder.
pub const ADM_DIR: &str = ".svn";

/// How its name begins until it is whole; it ends with `~`.
const UNBORN_PREFIX: &str = ".svn-new-";

/// The name of the database in it.
const DATABASE: &str = "wc.db";

/// Files that are there so that clients before format 12 keep off.
const FILES_FOR_OLD_CLIENTS: [&str; 2] = ["entries", "format"];

/// What they say.
const NON_ENTRIES: &str = "12\n";

/// The folder of a repository that a new working copy is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootNode {
    /// The repository's root.
    pub repos_root: Url,
    /// The repository's UUID.
    pub repos_uuid: String,
    /// The folder below the repository's root.
    pub repos_path: RelPathBuf,
    /// The revision that the working copy starts with.
    pub revision: Revnum,
    /// How deep the working copy is to be.
    pub depth: Depth,
}

/// One working copy: its root folder and its open database.
#[derive(Debug)]
pub struct WorkingCopy {
    root: Dirent,
    db: Db,
    options: Options,
}

impl WorkingCopy {
    /// Finds the working copy that `path` (absolute) is in, and its path there. The path itself
    /// need not exist.
    ///
    /// A symlink is taken for what it points to if it is not under version control itself and leads
    /// to a folder.
    ///
    /// # Errors
    /// `E155007` if there is none; `E155036` if it needs `svn upgrade`; `E155021` if it is older
    /// than any format that can be upgraded, or newer than this program; `E155016` if it is
    /// damaged; `E200030`/`E200033` if the database cannot be read or is kept locked.
    pub fn open(path: &Dirent, options: &Options) -> Result<(Self, RelPathBuf)> {
        let (root, db, relpath) = find::find(path, options)?;
        let wc = Self {
            root,
            db,
            options: options.clone(),
        };
        Ok((wc, relpath))
    }

    /// Returns the node at `path` (absolute) if it surely belongs to this working copy: no folder
    /// on the way, and not the path itself, is another one's root or a symlink.
    ///
    /// That asks for less than [`WorkingCopy::open`]. `seen` keeps the folders that are known.
    ///
    /// # Errors
    /// An operating system's error if something cannot be looked at.
    pub fn holds(
        &self,
        path: &Dirent,
        seen: &mut HashSet<RelPathBuf>,
    ) -> Result<Option<RelPathBuf>> {
        let Some(relpath) = path.strip_prefix(&self.root) else {
            return Ok(None);
        };
        let relpath = RelPathBuf::new(relpath)?;
        let path_and_above = std::iter::once(&*relpath).chain(relpath.ancestors());
        for folder in path_and_above.filter(|folder| !folder.is_root()) {
            if seen.contains(folder) {
                break;
            }
            let local = self.local_path(folder);
            let Some(meta) = file::lstat_if_exists(local.as_path())? else {
                return Ok(None);
            };
            let is_folder = meta.is_dir();
            if meta.is_symlink() || is_folder && file::exists(local.join(ADM_DIR).as_path())? {
                return Ok(None);
            }
            if is_folder {
                seen.insert(folder.to_owned());
            }
        }
        Ok(Some(relpath))
    }

    /// Makes the administrative folder in the existing folder `root` (absolute) and opens it.
    ///
    /// It is made under another name and gets its own when it is whole: Subversion's `checkout`
    /// refuses a folder with an administrative folder that has no database, so nobody but us could
    /// go on from there. The other name is one that `status` ignores, and each process has its own:
    /// of several that begin at a time, the first to finish makes the working copy.
    ///
    /// # Errors
    /// An operating system's error if something cannot be made.
    pub fn create(root: &Dirent, node: &RootNode, options: &Options) -> Result<Self> {
        let adm = root.join(ADM_DIR);
        if file::exists(adm.as_path())? {
            // Left by a program that is not as careful.
            fill(&Dir::open(adm.as_path())?, node, options)?;
        } else {
            let tree = Dir::open(root.as_path())?;
            let unborn = unborn_name()?;
            let made = tree
                .make_dir(&unborn)
                .and_then(|()| fill(&tree.open_dir(&unborn)?, node, options))
                .and_then(|()| tree.rename(&unborn, RelPath::new(ADM_DIR)?));
            if let Err(error) = made {
                // There is nobody to tell; the next checkout tries again.
                let _ = tree.remove_tree(&unborn, &Cancel::new());
                return Err(error);
            }
            remove_unborn(&tree);
        }
        let db = Db::open(adm.join(DATABASE).as_path(), options).map_err(OpenError::of_new)?;
        Ok(Self {
            root: root.clone(),
            db,
            options: options.clone(),
        })
    }

    /// Mends what interrupted checkouts may have left: files for old clients that are missing or cut
    /// short, and administrative folders that never got their name.
    ///
    /// # Errors
    /// An operating system's error if they cannot be read or written.
    pub fn complete(&self) -> Result<()> {
        for name in FILES_FOR_OLD_CLIENTS {
            let path = self.adm_path(name);
            if file::read_if_exists(path.as_path())?.is_none_or(|text| is_cut_short(&text)) {
                write_for_old_clients(&Dir::open(self.adm_path("").as_path())?, name)?;
            }
        }
        remove_unborn(&Dir::open(self.root.as_path())?);
        Ok(())
    }

    /// Returns the working copy's root folder, absolute.
    pub const fn root(&self) -> &Dirent {
        &self.root
    }

    /// Returns the database.
    pub const fn db(&self) -> &Db {
        &self.db
    }

    /// Tells whether making a working copy at `root` was interrupted before anything was recorded, so
    /// that [`WorkingCopy::create`] may begin anew: there is no database, or one without tables,
    /// and nothing else but what comes before it. (With texts, a missing database is a loss that
    /// the user must hear of.)
    pub fn is_unborn(root: &Dirent, options: &Options) -> bool {
        let adm = root.join(ADM_DIR);
        let database = adm.join(DATABASE);
        if database.as_path().is_file() {
            return Db::is_unborn(database.as_path(), options);
        }
        holds_nothing_else(&adm, &["tmp"])
    }

    /// Has the database file fetched if all of it is going to be read, since the walk begins at
    /// the root, from another machine. Called within a read transaction after its first query.
    pub(crate) fn read_ahead(&self, target: &RelPath) {
        if target.is_root() && self.is_far() {
            self.db.read_ahead();
        }
    }

    /// Tells whether each step on its files is likely to be a round trip.
    pub(crate) fn is_far(&self) -> bool {
        self.options.is_far(self.root.as_path())
    }

    /// Returns how many threads should work on its files.
    pub(crate) fn workers(&self) -> usize {
        self.options.workers_at(self.root.as_path())
    }

    /// Returns the database, for one thread at a time.
    pub(crate) const fn db_mut(&mut self) -> &mut Db {
        &mut self.db
    }

    /// Returns the options it was opened with.
    pub const fn options(&self) -> &Options {
        &self.options
    }

    /// Returns the local path of a node.
    pub fn local_path(&self, path: &RelPath) -> Dirent {
        self.root.join_relpath(path)
    }

    /// Returns the path of something in the administrative folder.
    pub fn adm_path(&self, name: &str) -> Dirent {
        self.root.join(ADM_DIR).join(name)
    }
}

/// Makes what an administrative folder holds at first.
fn fill(adm: &Dir, node: &RootNode, options: &Options) -> Result<()> {
    for name in ["pristine", "tmp"] {
        adm.make_dir_all(RelPath::new(name)?)?;
    }
    for name in FILES_FOR_OLD_CLIENTS {
        write_for_old_clients(adm, name)?;
    }
    Db::create(
        &adm.path().join(DATABASE),
        &adm.path().join("tmp"),
        options,
        &FirstRows {
            repos_root: &node.repos_root,
            repos_uuid: &node.repos_uuid,
            root: Some(node),
        },
    )
}

/// Makes a name for an administrative folder that is not whole.
fn unborn_name() -> Result<RelPathBuf> {
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    RelPathBuf::new(format!("{UNBORN_PREFIX}{:016x}~", hasher.finish()))
}

/// Removes administrative folders that did not get their name, now that one did. A folder of the
/// user's that is called so stays. They are in nobody's way, and another process may still be
/// filling one, so one that cannot be removed is left.
fn remove_unborn(tree: &Dir) {
    for (name, kind) in tree.read_dir(RelPath::ROOT).unwrap_or_default() {
        let Some(name) = String::from_utf8(name)
            .ok()
            .filter(|name| name.starts_with(UNBORN_PREFIX) && name.ends_with('~'))
        else {
            continue;
        };
        let path = Dirent::new(&tree.path().join(&name).to_string_lossy());
        if kind == Some(FileKind::Dir)
            && holds_nothing_else(&path, &["tmp", DATABASE])
            && let Ok(unborn) = RelPath::new(&name)
        {
            let _ = tree.remove_tree(unborn, &Cancel::new());
        }
    }
}

/// Tells whether a folder holds nothing but an empty `pristine`, files for old clients, and what
/// is named in `others`.
fn holds_nothing_else(adm: &Dirent, others: &[&str]) -> bool {
    let Ok(names) = file::read_dir(adm.as_path()) else {
        return false;
    };
    names.iter().all(|(name, _)| {
        let is = |other: &&str| other.as_bytes() == name;
        if others.iter().any(is) {
            true
        } else if name == b"pristine" {
            file::read_dir(adm.join("pristine").as_path()).is_ok_and(|shards| shards.is_empty())
        } else if let Some(name) = FILES_FOR_OLD_CLIENTS.iter().find(|file| is(file)) {
            file::read(adm.join(name).as_path())
                .is_ok_and(|text| text == NON_ENTRIES.as_bytes() || is_cut_short(&text))
        } else {
            false
        }
    })
}

fn write_for_old_clients(adm: &Dir, name: &str) -> Result<()> {
    adm.create(RelPath::new(name)?, file::MODE_FILE, Creation::Fresh)?
        .write_all(NON_ENTRIES.as_bytes())
}

fn is_cut_short(text: &[u8]) -> bool {
    text.len() < NON_ENTRIES.len() && NON_ENTRIES.as_bytes().starts_with(text)
}
