use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, Mode, OFlags, mkdirat, openat, readlinkat, renameat, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;
use sylvan_core::{Error, RelPath, Result};

use super::{Creation, Meta, NewFile, durable, failed, is_missing};

/// A handle of a folder. Paths below it are resolved without following any symlink, whatever others
/// do to the tree meanwhile.
///
/// Resolving is one system call, however long the path (`openat2` on Linux, elsewhere one a
/// component).
#[derive(Debug)]
pub struct Dir {
    fd: OwnedFd,
    path: PathBuf,
}

#[cfg(target_os = "linux")]
const HANDLE: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const HANDLE: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

impl Dir {
    /// Opens a folder; symlinks on the way to it are followed.
    ///
    /// # Errors
    /// `Can't open directory`.
    pub fn open(path: &Path) -> Result<Self> {
        let fd = rustix::fs::open(path, HANDLE, Mode::empty())
            .map_err(|errno| failed(errno, "open directory", path))?;
        let path = path.to_owned();
        Ok(Self { fd, path })
    }

    /// Returns the path it was opened under.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a folder below this one.
    ///
    /// # Errors
    /// `Can't open directory`; with `ELOOP` or `ENOTDIR` if there is a symlink on the way or at the
    /// end.
    pub fn open_dir(&self, path: &RelPath) -> Result<Self> {
        let fd = self
            .resolve(path, HANDLE | OFlags::NOFOLLOW)
            .map_err(|errno| failed(errno, "open directory", &self.full(path)))?;
        let path = self.full(path);
        Ok(Self { fd, path })
    }

    /// Opens a file below this folder for reading.
    ///
    /// # Errors
    /// `Can't open file`.
    pub fn open_file(&self, path: &RelPath) -> Result<std::fs::File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        self.resolve(path, flags)
            .map(std::fs::File::from)
            .map_err(|errno| failed(errno, "open file", &self.full(path)))
    }

    /// Creates a file below this folder with its final name and mode (less the umask).
    ///
    /// # Errors
    /// `Can't create file`.
    pub fn create(&self, path: &RelPath, mode: u32, creation: Creation) -> Result<NewFile> {
        let (dir, name) = self.parent_of(path)?;
        NewFile::create(dir.as_fd(), name.as_ref(), self.full(path), mode, creation)
    }

    /// Makes a folder.
    ///
    /// # Errors
    /// `Can't create directory`.
    pub fn make_dir(&self, path: &RelPath) -> Result<()> {
        let (dir, name) = self.parent_of(path)?;
        durable(|| mkdirat(&dir, name, Mode::from_bits_truncate(0o777)))
            .map_err(|error| failed(error, "create directory", &self.full(path)))
    }

    /// Makes a symlink to `target`.
    ///
    /// # Errors
    /// `Can't create symbolic link`.
    pub fn make_symlink(&self, target: &OsStr, path: &RelPath) -> Result<()> {
        let (dir, name) = self.parent_of(path)?;
        durable(|| symlinkat(target, &dir, name))
            .map_err(|error| failed(error, "create symbolic link", &self.full(path)))
    }

    /// Returns what the system tells of a path, of a symlink itself; `None` if it is not there, or
    /// not below real folders.
    ///
    /// # Errors
    /// `Can't stat`.
    pub fn lstat(&self, path: &RelPath) -> Result<Option<Meta>> {
        if path.is_root() {
            let stat = rustix::fs::fstat(&self.fd);
            return match stat {
                Ok(stat) => Ok(Some(stat.into())),
                Err(errno) => Err(failed(errno, "stat", &self.path)),
            };
        }
        let found = self
            .try_parent_of(path)
            .and_then(|(dir, name)| statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW));
        match found {
            Ok(stat) => Ok(Some(stat.into())),
            Err(errno) if is_missing(errno) => Ok(None),
            Err(errno) => Err(failed(errno, "stat", &self.full(path))),
        }
    }

    /// Returns the target of a symlink.
    ///
    /// # Errors
    /// `Can't read contents of link`.
    pub fn read_link(&self, path: &RelPath) -> Result<Vec<u8>> {
        let (dir, name) = self.parent_of(path)?;
        readlinkat(&dir, name, Vec::new())
            .map(std::ffi::CString::into_bytes)
            .map_err(|errno| Error::io(&errno.into(), "Can't read contents of link"))
    }

    /// Removes a file or symlink.
    ///
    /// # Errors
    /// `Can't remove file`.
    pub fn remove(&self, path: &RelPath) -> Result<()> {
        let (dir, name) = self.parent_of(path)?;
        durable(|| unlinkat(&dir, name, AtFlags::empty()))
            .map_err(|error| failed(error, "remove file", &self.full(path)))
    }

    /// Removes an empty folder.
    ///
    /// # Errors
    /// `Can't remove directory`.
    pub fn remove_dir(&self, path: &RelPath) -> Result<()> {
        let (dir, name) = self.parent_of(path)?;
        durable(|| unlinkat(&dir, name, AtFlags::REMOVEDIR))
            .map_err(|error| failed(error, "remove directory", &self.full(path)))
    }

    /// Moves what is below this folder to another place below it, atomically; replaces a file that
    /// is there.
    ///
    /// # Errors
    /// `Can't move … to …`.
    pub fn rename(&self, from: &RelPath, to: &RelPath) -> Result<()> {
        let (from_dir, from_name) = self.parent_of(from)?;
        let (to_dir, to_name) = self.parent_of(to)?;
        durable(|| renameat(&from_dir, from_name, &to_dir, to_name)).map_err(|error| {
            let (from, to) = (self.full(from), self.full(to));
            let action = format!("Can't move '{}' to '{}'", from.display(), to.display());
            Error::io(&error, action)
        })
    }

    /// Returns the full path of `path`, for errors and for those who do not mind symlinks.
    pub fn full(&self, path: &RelPath) -> PathBuf {
        if path.is_root() {
            self.path.clone()
        } else {
            self.path.join(path.as_str())
        }
    }

    /// Opens the parent of a path, if that is another folder than this.
    fn parent_of<'a>(&'a self, path: &'a RelPath) -> Result<(Parent<'a>, &'a str)> {
        self.try_parent_of(path)
            .map_err(|errno| failed(errno, "open directory", &self.full(path)))
    }

    fn try_parent_of<'a>(&'a self, path: &'a RelPath) -> rustix::io::Result<(Parent<'a>, &'a str)> {
        match path.split() {
            None => Err(Errno::INVAL),
            Some((parent, name)) if parent.is_root() => Ok((Parent::Here(self.fd.as_fd()), name)),
            Some((parent, name)) => {
                let fd = self.resolve(parent, HANDLE | OFlags::NOFOLLOW)?;
                Ok((Parent::Below(fd), name))
            }
        }
    }

    /// Opens a path below this folder.
    fn resolve(&self, path: &RelPath, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        if path.is_root() {
            return openat(&self.fd, ".", flags, Mode::empty());
        }
        if path.depth() == 1 {
            return openat(&self.fd, path.as_str(), flags, Mode::empty());
        }
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{ResolveFlags, openat2};
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
            match openat2(&self.fd, path.as_str(), flags, Mode::empty(), resolve) {
                // Old kernels, and sandboxes that do not know the call.
                Err(Errno::NOSYS | Errno::PERM) => {}
                resolved => return resolved,
            }
        }
        self.resolve_by_component(path, flags)
    }

    fn resolve_by_component(&self, path: &RelPath, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        let Some((parent, name)) = path.split() else {
            return Err(Errno::INVAL);
        };
        let mut dir: Option<OwnedFd> = None;
        for component in parent.components() {
            let at = dir.as_ref().map_or(self.fd.as_fd(), AsFd::as_fd);
            dir = Some(openat(
                at,
                component,
                HANDLE | OFlags::NOFOLLOW,
                Mode::empty(),
            )?);
        }
        let at = dir.as_ref().map_or(self.fd.as_fd(), AsFd::as_fd);
        openat(at, name, flags, Mode::empty())
    }
}

impl AsFd for Dir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// The folder that a path's last component is in.
enum Parent<'a> {
    Here(BorrowedFd<'a>),
    Below(OwnedFd),
}

impl AsFd for Parent<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Here(fd) => *fd,
            Self::Below(fd) => fd.as_fd(),
        }
    }
}
