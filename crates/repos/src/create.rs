//! Makes a new repository.
//!
//! ```text
//! README.txt
//! conf/        svnserve.conf, passwd, authz, hooks-env.tmpl
//! dav/         before format 1.5
//! db/          the file system
//! format       5; 3 before 1.4; written last
//! hooks/       a template of each hook, NAME.tmpl
//! locks/       db.lock, db-logs.lock: for Subversion 1.2
//! ```

use std::path::Path;

use sylvan_core::{Dirent, Error, ErrorCode, Result, Timestamp};
use sylvan_fs::format::FormatNumber;
use sylvan_fs::{FileSystem, Options};
use sylvan_io::file;

use crate::repos::{FORMAT, FORMAT_BEFORE_1_4, Repos};
use crate::templates;

/// What a new repository is like.
#[derive(Clone, Debug)]
pub struct CreateOptions {
    /// What its file system is like.
    pub fs: sylvan_fs::CreateOptions,
    /// The kind of file system; `fsfs` is the only one there is.
    pub fs_type: String,
    /// The oldest minor version of Subversion 1 that can use it.
    pub compatible_minor: u32,
}

impl Default for CreateOptions {
    fn default() -> Self {
        Self {
            fs: sylvan_fs::CreateOptions::default(),
            fs_type: FSFS.to_owned(),
            compatible_minor: NEWEST_MINOR,
        }
    }
}

const FSFS: &str = "fsfs";
const NEWEST_MINOR: u32 = 14;

impl CreateOptions {
    /// Makes the options for a repository that Subversion 1.`minor` can use.
    ///
    /// # Errors
    /// [`ErrorCode::FS_UNSUPPORTED_FORMAT`] for 1.0.
    pub fn compatible_with(minor: u32) -> Result<Self> {
        let mut options = Self {
            compatible_minor: minor,
            ..Self::default()
        };
        options.fs.format = FormatNumber::for_minor_version(minor)?;
        Ok(options)
    }

    const fn format(&self) -> u32 {
        if self.compatible_minor < 4 {
            FORMAT_BEFORE_1_4
        } else {
            FORMAT
        }
    }
}

impl Repos {
    /// Makes a repository in the folder `path`, which must not be there or be empty, and opens it.
    /// Relative paths are below `current_dir`. `now` is the date of revision 0.
    ///
    /// # Errors
    /// [`ErrorCode::REPOS_BAD_ARGS`] for a path that is in a repository or is one;
    /// [`ErrorCode::FS_UNKNOWN_FS_TYPE`]; [`ErrorCode::DIR_NOT_EMPTY`]; and if something cannot be
    /// written, where what was written stays.
    pub fn create(
        path: &Dirent,
        current_dir: &Dirent,
        create: &CreateOptions,
        options: Options,
        now: Timestamp,
    ) -> Result<Self> {
        ensure_outside(&path.absolute(current_dir))?;
        check_fs_type(&create.fs_type)?;
        let root = path.as_path();
        make_structure(root, create)
            .map_err(|error| error.context("Repository creation failed"))?;
        FileSystem::create(&root.join("db"), &create.fs, options.clone(), now)?;
        write_format(root, create.format())?;
        Self::open_with(root, options)
    }
}

/// Requires that a path is not in a repository.
fn ensure_outside(path: &Dirent) -> Result<()> {
    let Some(root) = Repos::find_root(path.as_path()) else {
        return Ok(());
    };
    let text = if root == path.as_path() {
        format!("'{}' is an existing repository", root.display())
    } else {
        format!(
            "'{path}' is a subdirectory of an existing repository rooted at '{}'",
            root.display()
        )
    };
    Err(Error::new(ErrorCode::REPOS_BAD_ARGS, text))
}

fn check_fs_type(name: &str) -> Result<()> {
    let what = match name {
        FSFS => return Ok(()),
        "bdb" | "fsx" => "Failed to load module for FS type",
        _ => "Unknown FS type",
    };
    Err(Error::new(
        ErrorCode::FS_UNKNOWN_FS_TYPE,
        format!("{what} '{name}'"),
    ))
}

/// Makes everything but the file system and the file `format`.
fn make_structure(root: &Path, create: &CreateOptions) -> Result<()> {
    let said = |what: &'static str| move |error: Error| error.context(what);
    make_empty_dir(root).map_err(said("Could not create top-level directory"))?;
    if create.compatible_minor < 5 {
        make_empty_dir(&root.join("dav")).map_err(said("Creating DAV sandbox dir"))?;
    }
    make_locks(root)?;
    let hooks = root.join("hooks");
    make_empty_dir(&hooks).map_err(said("Creating hook directory"))?;
    for hook in templates::HOOKS {
        let path = hooks.join(format!("{}.tmpl", hook.name));
        put(&path, &hook.text())
            .and_then(|()| file::set_executable(&path, true))
            .map_err(|error| error.context(format!("Creating {} hook", hook.name)))?;
    }
    let conf = root.join("conf");
    make_empty_dir(&conf).map_err(said("Creating conf directory"))?;
    for (name, text) in templates::CONF {
        let shown = name.strip_suffix(".tmpl").unwrap_or(name);
        put(&conf.join(name), text)
            .map_err(|error| error.context(format!("Creating {shown} file")))?;
    }
    put(&root.join("README.txt"), templates::README)
}

/// Makes the folder `locks`.
pub(crate) fn make_locks(root: &Path) -> Result<()> {
    let dir = root.join("locks");
    make_empty_dir(&dir).map_err(|error| error.context("Creating lock dir"))?;
    for (name, what) in [
        ("db.lock", "Creating db lock file"),
        ("db-logs.lock", "Creating db logs lock file"),
    ] {
        put(&dir.join(name), templates::LOCK).map_err(|error| error.context(what))?;
    }
    Ok(())
}

/// Makes a folder, unless it is there and empty.
pub(crate) fn make_empty_dir(path: &Path) -> Result<()> {
    let Err(error) = file::make_dir(path) else {
        return Ok(());
    };
    if file::error_kind(&error) != std::io::ErrorKind::AlreadyExists {
        return Err(error);
    }
    let shown = path.display();
    let mut entries = std::fs::read_dir(path)
        .map_err(|error| Error::io(&error, format!("Can't check directory '{shown}'")))?;
    if entries.next().is_none() {
        return Ok(());
    }
    Err(Error::new(
        ErrorCode::DIR_NOT_EMPTY,
        format!("'{shown}' exists and is non-empty"),
    ))
}

fn put(path: &Path, text: &str) -> Result<()> {
    file::create_new(path, file::MODE_FILE)?.write_all(text.as_bytes())
}

/// Writes the file `format`, which makes the folder a repository.
pub(crate) fn write_format(root: &Path, format: u32) -> Result<()> {
    let path = root.join("format");
    file::write_atomic(&path, format!("{format}\n").as_bytes(), file::MODE_FILE)?;
    file::set_read_only(&path, true)
}
