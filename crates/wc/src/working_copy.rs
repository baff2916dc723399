mod find;

use std::path::Path;

use sylvan_core::{Depth, Dirent, Error, RelPath, RelPathBuf, Result, Revnum, Url};

use crate::Options;
use crate::db::{Db, FirstRows};

/// The name of the administrative folder.
pub const ADM_DIR: &str = ".svn";

/// What `.svn/entries` and `.svn/format` say, so that clients before format 12 keep off.
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

    /// Makes the administrative folder in the existing folder `root` (absolute) and opens it.
    ///
    /// # Errors
    /// An operating system's error if something cannot be made.
    pub fn create(root: &Dirent, node: &RootNode, options: &Options) -> Result<Self> {
        let adm = root.join(ADM_DIR);
        make_dir(adm.as_path())?;
        for name in ["pristine", "tmp"] {
            make_dir(adm.join(name).as_path())?;
        }
        for name in ["entries", "format"] {
            let path = adm.join(name);
            std::fs::write(path.as_path(), NON_ENTRIES)
                .map_err(|error| Error::io(&error, format_args!("Can't write to file '{path}'")))?;
        }
        let db = Db::create(
            adm.join("wc.db").as_path(),
            adm.join("tmp").as_path(),
            options,
            &FirstRows { root: node },
        )?;
        Ok(Self {
            root: root.clone(),
            db,
            options: options.clone(),
        })
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
    /// and no pristine text. (With texts, a missing database is a loss that the user must hear of.)
    pub fn is_unborn(root: &Dirent, options: &Options) -> bool {
        let adm = root.join(ADM_DIR);
        let file = adm.join("wc.db");
        if file.as_path().is_file() {
            return Db::is_unborn(file.as_path(), options);
        }
        let entries = std::fs::read(adm.join("entries").as_path());
        let pristine = std::fs::read_dir(adm.join("pristine").as_path());
        entries.is_ok_and(|text| text == NON_ENTRIES.as_bytes())
            && pristine.is_ok_and(|mut folder| folder.next().is_none())
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

fn make_dir(path: &Path) -> Result<()> {
    match std::fs::create_dir(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) => Err(Error::io(
            &error,
            format_args!("Can't create directory '{}'", path.display()),
        )),
    }
}
