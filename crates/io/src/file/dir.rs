use std::ffi::OsStr;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
#[cfg(target_os = "linux")]
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{
    AtFlags, Mode, OFlags, mkdirat, openat, readlinkat, renameat, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;
use sylvan_core::{Error, RelPath, Result, Timestamp};

use super::{Creation, FileKind, Meta, NewFile, durable, failed, is_missing, times};
use crate::Cancel;

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

const READ: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

#[cfg(target_os = "linux")]
const HANDLE: OFlags = OFlags::PATH
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const HANDLE: OFlags = READ.union(OFlags::DIRECTORY);

impl Dir {
    /// Opens a folder; symlinks on the way to it are followed.
    ///
    /// # Errors
    /// `Can't open directory`.
    pub fn open(path: &Path) -> Result<Self> {
        let fd = rustix::fs::open(path, HANDLE.difference(OFlags::NOFOLLOW), Mode::empty())
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
            .resolve(path, HANDLE)
            .map_err(|errno| failed(errno, "open directory", &self.full(path)))?;
        let path = self.full(path);
        Ok(Self { fd, path })
    }

    /// Opens a file below this folder for reading.
    ///
    /// # Errors
    /// `Can't open file`.
    pub fn open_file(&self, path: &RelPath) -> Result<std::fs::File> {
        self.resolve(path, READ)
            .map(std::fs::File::from)
            .map_err(|errno| failed(errno, "open file", &self.full(path)))
    }

    /// Reads a whole file below this folder that is known to be small.
    ///
    /// # Errors
    /// `Can't open file`, `Can't read file`.
    pub fn read(&self, path: &RelPath) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut self.open_file(path)?, &mut bytes)
            .map_err(|error| failed(error, "read file", &self.full(path)))?;
        Ok(bytes)
    }

    /// Lists a folder, as [`super::read_dir`] does.
    ///
    /// # Errors
    /// `Can't open directory`, `Can't read directory`.
    pub fn read_dir(&self, path: &RelPath) -> Result<Vec<(Vec<u8>, Option<FileKind>)>> {
        let fd = self
            .resolve(path, READ | OFlags::DIRECTORY)
            .map_err(|errno| failed(errno, "open directory", &self.full(path)))?;
        super::list(fd).map_err(|errno| failed(errno, "read directory", &self.full(path)))
    }

    /// Creates a file below this folder with its final name and mode (less the umask).
    ///
    /// # Errors
    /// `Can't create file`.
    pub fn create(&self, path: &RelPath, mode: u32, creation: Creation) -> Result<NewFile> {
        let mode = Mode::from_bits_truncate(mode as _);
        NewFile::create_by(
            self.full(path),
            creation,
            |flags| self.resolve_with_mode(path, flags, mode),
            || {
                let (dir, name) = self.parent_of(path)?;
                unlinkat(&dir, name, AtFlags::empty())
            },
        )
    }

    /// Makes a folder.
    ///
    /// # Errors
    /// `Can't create directory`.
    pub fn make_dir(&self, path: &RelPath) -> Result<()> {
        durable(|| {
            let (dir, name) = self.parent_of(path)?;
            mkdirat(&dir, name, Mode::from_bits_truncate(0o777))
        })
        .map_err(|error| failed(error, "create directory", &self.full(path)))
    }

    /// Makes a folder and those above it, where they are not there yet.
    ///
    /// # Errors
    /// `Can't create directory`, also if something else is in the way.
    pub fn make_dir_all(&self, path: &RelPath) -> Result<()> {
        let Err(error) = self.make_dir(path) else {
            return Ok(());
        };
        match (super::error_kind(&error), path.parent()) {
            (std::io::ErrorKind::NotFound, Some(parent)) if !parent.is_root() => {
                self.make_dir_all(parent)?;
                match self.make_dir(path) {
                    Err(error) if !self.is_dir(path)? => Err(error),
                    _ => Ok(()),
                }
            }
            _ if self.is_dir(path)? => Ok(()),
            _ => Err(error),
        }
    }

    fn is_dir(&self, path: &RelPath) -> Result<bool> {
        Ok(self.lstat(path)?.is_some_and(|meta| meta.is_dir()))
    }

    /// Makes a symlink to `target`.
    ///
    /// # Errors
    /// `Can't create symbolic link`.
    pub fn make_symlink(&self, target: &OsStr, path: &RelPath) -> Result<()> {
        durable(|| {
            let (dir, name) = self.parent_of(path)?;
            symlinkat(target, &dir, name)
        })
        .map_err(|error| failed(error, "create symbolic link", &self.full(path)))
    }

    /// Returns what the system tells of a path, of a symlink itself; `None` if it is not there, or
    /// not below real folders.
    ///
    /// # Errors
    /// `Can't check path`.
    pub fn lstat(&self, path: &RelPath) -> Result<Option<Meta>> {
        if path.is_root() {
            let stat = rustix::fs::fstat(&self.fd);
            return match stat {
                Ok(stat) => Ok(Some(stat.into())),
                Err(errno) => Err(failed(errno, "stat", &self.path)),
            };
        }
        let found = self
            .parent_of(path)
            .and_then(|(dir, name)| statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW));
        match found {
            Ok(stat) => Ok(Some(stat.into())),
            // A symlink in place of a folder has nothing below it.
            Err(errno) if is_missing(errno) || errno == Errno::LOOP => Ok(None),
            Err(errno) => Err(failed(errno, "check path", &self.full(path))),
        }
    }

    /// Returns the target of a symlink.
    ///
    /// # Errors
    /// `Can't read contents of link`.
    pub fn read_link(&self, path: &RelPath) -> Result<Vec<u8>> {
        self.parent_of(path)
            .and_then(|(dir, name)| readlinkat(&dir, name, Vec::new()))
            .map(std::ffi::CString::into_bytes)
            .map_err(|errno| Error::io(&errno.into(), "Can't read contents of link"))
    }

    /// Removes a file or symlink.
    ///
    /// # Errors
    /// `Can't remove file`.
    pub fn remove(&self, path: &RelPath) -> Result<()> {
        self.unlink(path, AtFlags::empty())
            .map_err(|error| failed(error, "remove file", &self.full(path)))
    }

    /// Removes a file or symlink, unless it is not there, or not below real folders.
    ///
    /// # Errors
    /// `Can't remove file`.
    pub fn remove_if_exists(&self, path: &RelPath) -> Result<()> {
        match self.unlink(path, AtFlags::empty()) {
            Err(error) if !is_gone(&error) => Err(failed(error, "remove file", &self.full(path))),
            _ => Ok(()),
        }
    }

    /// Removes a folder, unless it is not there, or something is in it.
    ///
    /// # Errors
    /// `Can't remove directory`.
    pub fn remove_dir_if_empty(&self, path: &RelPath) -> Result<()> {
        match self.unlink(path, AtFlags::REMOVEDIR) {
            Err(error)
                if !is_gone(&error) && error.kind() != std::io::ErrorKind::DirectoryNotEmpty =>
            {
                Err(failed(error, "remove directory", &self.full(path)))
            }
            _ => Ok(()),
        }
    }

    fn unlink(&self, path: &RelPath, flags: AtFlags) -> std::io::Result<()> {
        durable(|| {
            let (dir, name) = self.parent_of(path)?;
            unlinkat(&dir, name, flags)
        })
    }

    /// Removes a folder and all that is in it; symlinks are removed, not followed. It is fine if
    /// there is no such folder.
    ///
    /// # Errors
    /// `Can't remove directory`, and a part may be removed then; `E200015` when cancelled.
    pub fn remove_tree(&self, path: &RelPath, cancel: &Cancel) -> Result<()> {
        let cannot = |errno: std::io::Error| failed(errno, "remove directory", &self.full(path));
        let (parent, name) = match self.parent_of(path) {
            Ok(found) => found,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(()),
            Err(errno) => return Err(cannot(errno.into())),
        };
        match openat(&parent, name, READ | OFlags::DIRECTORY, Mode::empty()) {
            Ok(fd) => empty(fd, cancel, &cannot)?,
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(()),
            Err(errno) => return Err(cannot(errno.into())),
        }
        durable(|| unlinkat(&parent, name, AtFlags::REMOVEDIR)).map_err(cannot)
    }

    /// Removes all that is in a folder; symlinks are removed, not followed.
    ///
    /// # Errors
    /// `Can't remove directory`, and a part may be removed then; `E200015` when cancelled.
    pub fn empty(&self, path: &RelPath, cancel: &Cancel) -> Result<()> {
        let cannot = |errno: std::io::Error| failed(errno, "remove directory", &self.full(path));
        let fd = self
            .resolve(path, READ | OFlags::DIRECTORY)
            .map_err(|errno| cannot(errno.into()))?;
        empty(fd, cancel, &cannot)
    }

    /// Sets the permission bits of a file; the umask does not count.
    ///
    /// # Errors
    /// `Can't set permissions on`.
    pub fn set_mode(&self, path: &RelPath, mode: u32) -> Result<()> {
        let mode = Mode::from_bits_truncate(mode as _);
        durable(|| match self.resolve(path, READ | OFlags::NONBLOCK) {
            Ok(fd) => rustix::fs::fchmod(&fd, mode),
            // A file that may not be read. The handle cannot be of a symlink's target.
            Err(Errno::ACCESS) => {
                let fd = self.resolve(path, HANDLE.difference(OFlags::DIRECTORY))?;
                rustix::fs::chmod(format!("/proc/self/fd/{}", fd.as_raw_fd()), mode)
            }
            Err(errno) => Err(errno),
        })
        .map_err(|error| failed(error, "set permissions on", &self.full(path)))
    }

    /// Sets the times at which a file was read and changed last; of a symlink itself.
    ///
    /// # Errors
    /// `Can't set access time of`.
    pub fn set_time(&self, path: &RelPath, time: Timestamp) -> Result<()> {
        durable(|| {
            let (dir, name) = self.parent_of(path)?;
            rustix::fs::utimensat(&dir, name, &times(time), AtFlags::SYMLINK_NOFOLLOW)
        })
        .map_err(|error| failed(error, "set access time of", &self.full(path)))
    }

    /// Removes an empty folder.
    ///
    /// # Errors
    /// `Can't remove directory`.
    pub fn remove_dir(&self, path: &RelPath) -> Result<()> {
        self.unlink(path, AtFlags::REMOVEDIR)
            .map_err(|error| failed(error, "remove directory", &self.full(path)))
    }

    /// Moves what is below this folder to another place below it, atomically; replaces a file that
    /// is there.
    ///
    /// # Errors
    /// `Can't move … to …`.
    pub fn rename(&self, from: &RelPath, to: &RelPath) -> Result<()> {
        self.rename_to(from, self, to)
    }

    /// As [`Dir::rename`], to a place below another folder of the same file system.
    ///
    /// # Errors
    /// `Can't move … to …`.
    pub fn rename_to(&self, from: &RelPath, dir: &Self, to: &RelPath) -> Result<()> {
        durable(|| {
            let (from_dir, from_name) = self.parent_of(from)?;
            let (to_dir, to_name) = dir.parent_of(to)?;
            renameat(&from_dir, from_name, &to_dir, to_name)
        })
        .map_err(|error| {
            let (from, to) = (self.full(from), dir.full(to));
            let action = format!("Can't move '{}' to '{}'", from.display(), to.display());
            Error::io(&error, action)
        })
    }

    /// Returns the full path of `path`, for errors and for those who do not mind symlinks.
    pub fn full(&self, path: &RelPath) -> PathBuf {
        let mut full =
            PathBuf::with_capacity(self.path.as_os_str().len() + 1 + path.as_str().len());
        full.push(&self.path);
        if !path.is_root() {
            full.push(path.as_str());
        }
        full
    }

    /// Opens the parent of a path, if that is another folder than this.
    fn parent_of<'a>(&'a self, path: &'a RelPath) -> rustix::io::Result<(Parent<'a>, &'a str)> {
        match path.split() {
            None => Err(Errno::INVAL),
            Some((parent, name)) if parent.is_root() => Ok((Parent::Here(self.fd.as_fd()), name)),
            Some((parent, name)) => {
                let fd = self.resolve(parent, HANDLE)?;
                Ok((Parent::Below(fd), name))
            }
        }
    }

    /// Opens a path below this folder. `flags` say not to follow a symlink at its end.
    fn resolve(&self, path: &RelPath, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        self.resolve_with_mode(path, flags, Mode::empty())
    }

    /// As [`Dir::resolve`], for flags that may create a file.
    fn resolve_with_mode(
        &self,
        path: &RelPath,
        flags: OFlags,
        mode: Mode,
    ) -> rustix::io::Result<OwnedFd> {
        debug_assert!(flags.contains(OFlags::NOFOLLOW), "no symlink is followed");
        if path.is_root() {
            return openat(&self.fd, ".", flags, mode);
        }
        if path.depth() == 1 {
            return openat(&self.fd, path.as_str(), flags, mode);
        }
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{ResolveFlags, openat2};
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
            if !WITHOUT_OPENAT2.load(Ordering::Relaxed) {
                match openat2(&self.fd, path.as_str(), flags, mode, resolve) {
                    // An old kernel.
                    Err(Errno::NOSYS) => WITHOUT_OPENAT2.store(true, Ordering::Relaxed),
                    // A sandbox that does not know the call, or what the call below says too.
                    Err(Errno::PERM) => {}
                    resolved => return resolved,
                }
            }
        }
        self.resolve_by_component(path, flags, mode)
    }

    /// Opens one folder after the other on the way.
    fn resolve_by_component(
        &self,
        path: &RelPath,
        flags: OFlags,
        mode: Mode,
    ) -> rustix::io::Result<OwnedFd> {
        let Some((parent, name)) = path.split() else {
            return Err(Errno::INVAL);
        };
        let mut dir: Option<OwnedFd> = None;
        for component in parent.components() {
            let at = dir.as_ref().map_or(self.fd.as_fd(), AsFd::as_fd);
            dir = Some(openat(at, component, HANDLE, Mode::empty())?);
        }
        let at = dir.as_ref().map_or(self.fd.as_fd(), AsFd::as_fd);
        openat(at, name, flags, mode)
    }
}

/// Whether the system has been seen to lack `openat2`.
#[cfg(target_os = "linux")]
pub(super) static WITHOUT_OPENAT2: AtomicBool = AtomicBool::new(false);

/// Removes all that is in an open folder.
fn empty(dir: OwnedFd, cancel: &Cancel, cannot: &dyn Fn(std::io::Error) -> Error) -> Result<()> {
    let at = dir.try_clone().map_err(cannot)?;
    for (name, kind) in super::list(dir).map_err(|errno| cannot(errno.into()))? {
        cancel.check()?;
        let name = &*name;
        let kind = match kind {
            Some(kind) => kind,
            None => statat(&at, name, AtFlags::SYMLINK_NOFOLLOW)
                .map(|stat| Meta::from(stat).kind)
                .map_err(|errno| cannot(errno.into()))?,
        };
        if kind == FileKind::Dir {
            let child = openat(&at, name, READ | OFlags::DIRECTORY, Mode::empty())
                .map_err(|errno| cannot(errno.into()))?;
            empty(child, cancel, cannot)?;
            durable(|| unlinkat(&at, name, AtFlags::REMOVEDIR)).map_err(cannot)?;
        } else {
            durable(|| unlinkat(&at, name, AtFlags::empty())).map_err(cannot)?;
        }
    }
    Ok(())
}

/// Tells whether an error means that there is nothing to remove, or nothing below real folders.
fn is_gone(error: &std::io::Error) -> bool {
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    errno.is_some_and(|errno| is_missing(errno) || errno == Errno::LOOP)
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
