//! What administrators do with whole repositories.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use sylvan_core::{Dirent, Error, ErrorCode, Result};
use sylvan_fs::{CopiedRevisions, FileSystem, HotcopyMode, Options, UpgradeNotice};
use sylvan_io::Cancel;
use sylvan_io::file::{self, FileKind};

use crate::create::{make_empty_dir, make_locks, write_format};
use crate::repos::{FORMAT, Repos, read_format};

impl Repos {
    /// Copies a repository while others use it. Relative paths are below `current_dir`.
    ///
    /// # Errors
    /// [`ErrorCode::INCORRECT_PARAMS`] if both are one; [`ErrorCode::DIR_NOT_EMPTY`] if `target` is
    /// there and this is no incremental copy; those of [`FileSystem::hotcopy`]. What was copied
    /// stays then, and is no repository yet.
    pub fn hotcopy(
        [source, target]: [&Dirent; 2],
        current_dir: &Dirent,
        mode: HotcopyMode,
        options: Options,
        cancel: &Cancel,
        notify: &mut dyn FnMut(CopiedRevisions) -> Result<()>,
    ) -> Result<()> {
        let source = source.absolute(current_dir);
        let target = target.absolute(current_dir);
        if source == target {
            return Err(Error::new(
                ErrorCode::INCORRECT_PARAMS,
                "Hotcopy source and destination are equal",
            ));
        }
        let (source, target) = (source.as_path(), target.as_path());
        let format = read_format(source)?;
        let copy = Structure {
            target,
            mode,
            cancel,
        };
        copy.make_dir(target)?;
        copy.fill(source, target, &["db", "locks", "format"])?;
        copy.allow_present(make_locks(target))?;
        let db = target.join("db");
        match file::make_dir(&db) {
            // New files belong to the group of the folder.
            Ok(()) => file::set_mode(&db, file::stat(&db)?.mode | 0o2000)?,
            Err(error) => copy.allow_present(Err(error))?,
        }
        FileSystem::hotcopy(&source.join("db"), &db, mode, options, cancel, notify)?;
        write_format(target, format)
    }

    /// Brings a repository to the newest format. `begin` is called when nothing speaks against it.
    ///
    /// # Errors
    /// Those of [`FileSystem::upgrade`] and of `begin`; the repository can be used as before then.
    pub fn upgrade(
        path: &Path,
        options: Options,
        cancel: &Cancel,
        begin: &mut dyn FnMut() -> Result<()>,
        notify: &mut dyn FnMut(UpgradeNotice) -> Result<()>,
    ) -> Result<()> {
        let format = read_format(path)?;
        begin()?;
        // Whether the last step will be possible.
        write_format(path, format)?;
        FileSystem::upgrade(&path.join("db"), options, cancel, notify)?;
        write_format(path, FORMAT)
    }

    /// Finds out anew which revision is the youngest. `begin` is called when nothing speaks against
    /// it.
    ///
    /// # Errors
    /// Those of [`FileSystem::recover`] and of `begin`.
    pub fn recover(
        path: &Path,
        options: Options,
        cancel: &Cancel,
        begin: &mut dyn FnMut() -> Result<()>,
    ) -> Result<()> {
        read_format(path)?;
        begin()?;
        FileSystem::recover(&path.join("db"), options, cancel)
    }

    /// Runs something while nobody can commit to any of several repositories; they are locked in
    /// this order.
    ///
    /// # Errors
    /// If one cannot be opened or locked, and what `work` returned.
    pub fn freeze_all<T>(paths: &[PathBuf], work: impl FnOnce() -> Result<T>) -> Result<T> {
        let Some((first, rest)) = paths.split_first() else {
            return work();
        };
        let repos = Self::open(first)?;
        repos.fs().freeze(|| Self::freeze_all(rest, work))
    }
}

/// Copies what is beside the file system.
struct Structure<'a> {
    target: &'a Path,
    mode: HotcopyMode,
    cancel: &'a Cancel,
}

impl Structure<'_> {
    fn make_dir(&self, path: &Path) -> Result<()> {
        self.allow_present(make_empty_dir(path))
    }

    /// Lets pass that something is there already, where it may be.
    fn allow_present(&self, made: Result<()>) -> Result<()> {
        match made {
            Err(error) if self.mode == HotcopyMode::Incremental => {
                let is_present = error.code() == ErrorCode::DIR_NOT_EMPTY
                    || file::error_kind(&error) == std::io::ErrorKind::AlreadyExists;
                if is_present { Ok(()) } else { Err(error) }
            }
            made => made,
        }
    }

    /// Copies what is in a folder, but for some names.
    fn fill(&self, from: &Path, to: &Path, without: &[&str]) -> Result<()> {
        for (name, kind) in file::read_dir(from)? {
            self.cancel.check()?;
            let name = OsStr::from_bytes(&name);
            let (from, to) = (from.join(name), to.join(name));
            if without.iter().any(|other| name == *other) || from == self.target {
                continue;
            }
            let kind = match kind {
                Some(kind) => kind,
                None => file::lstat(&from)?.kind,
            };
            match kind {
                FileKind::Dir => {
                    self.make_dir(&to)?;
                    self.fill(&from, &to, &[])?;
                }
                FileKind::File => file::copy(&from, &to, true)?,
                FileKind::Symlink => copy_link(&from, &to)?,
                _ => {}
            }
        }
        Ok(())
    }
}

fn copy_link(from: &Path, to: &Path) -> Result<()> {
    file::remove_if_exists(to)?;
    file::make_symlink(OsStr::from_bytes(&file::read_link(from)?), to)
}
