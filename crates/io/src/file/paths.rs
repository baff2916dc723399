use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, Timespec, Timestamps, UTIME_OMIT, utimensat};
use rustix::io::Errno;
use sylvan_core::{Error, Result, Timestamp};

use super::{Creation, FileKind, Meta, NewFile, TempFile, durable, failed, is_missing};
use crate::Cancel;

/// Opens a file for reading.
///
/// # Errors
/// `Can't open file`.
pub fn open(path: &Path) -> Result<File> {
    rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
        .map(File::from)
        .map_err(|errno| failed(errno, "open file", path))
}

/// Reads a whole file that is known to be small.
///
/// # Errors
/// `Can't open file`, `Can't read file`.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    const SMALL: usize = 4 << 10;
    let mut file = open(path)?;
    let mut head = [0; SMALL];
    let cannot = |error: std::io::Error| failed(error, "read file", path);
    let filled = loop {
        match file.read(&mut head) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            read => break read.map_err(cannot)?,
        }
    };
    let mut bytes = head[..filled].to_vec();
    // Less than there is room for is all of a file; of a pipe it may not be.
    if filled == SMALL || !is_regular(&file) {
        file.read_to_end(&mut bytes).map_err(cannot)?;
    }
    Ok(bytes)
}

fn is_regular(file: &File) -> bool {
    rustix::fs::fstat(file).is_ok_and(|stat| Meta::from(stat).is_file())
}

/// As [`read`], `None` if there is no such file.
///
/// # Errors
/// As [`read`].
pub fn read_if_exists(path: &Path) -> Result<Option<Vec<u8>>> {
    match read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if is_missing(Errno::from_raw_os_error(error.code().number())) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns what the system tells of what a path leads to.
///
/// # Errors
/// `Can't stat`.
pub fn stat(path: &Path) -> Result<Meta> {
    rustix::fs::stat(path)
        .map(Meta::from)
        .map_err(|errno| failed(errno, "stat", path))
}

/// As [`stat`], of a symlink itself.
///
/// # Errors
/// `Can't stat`.
pub fn lstat(path: &Path) -> Result<Meta> {
    rustix::fs::lstat(path)
        .map(Meta::from)
        .map_err(|errno| failed(errno, "stat", path))
}

/// As [`lstat`], `None` if there is nothing.
///
/// # Errors
/// `Can't check path`.
pub fn lstat_if_exists(path: &Path) -> Result<Option<Meta>> {
    match rustix::fs::lstat(path) {
        Ok(stat) => Ok(Some(stat.into())),
        Err(errno) if is_missing(errno) => Ok(None),
        Err(errno) => Err(failed(errno, "check path", path)),
    }
}

/// Tells whether there is something at a path.
///
/// # Errors
/// As [`lstat_if_exists`].
pub fn exists(path: &Path) -> Result<bool> {
    lstat_if_exists(path).map(|meta| meta.is_some())
}

/// Lists a folder, without `.` and `..`, in no particular order. The kind is `None` where the
/// file system does not tell it here.
///
/// # Errors
/// `Can't open directory`, `Can't read directory`.
pub fn read_dir(path: &Path) -> Result<Vec<(Vec<u8>, Option<FileKind>)>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let fd = rustix::fs::open(path, flags, Mode::empty())
        .map_err(|errno| failed(errno, "open directory", path))?;
    list(fd).map_err(|errno| failed(errno, "read directory", path))
}

/// Lists an open folder.
pub(super) fn list(fd: OwnedFd) -> rustix::io::Result<Vec<(Vec<u8>, Option<FileKind>)>> {
    let mut entries = Vec::new();
    for entry in rustix::fs::Dir::new(fd)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name == b"." || name == b".." {
            continue;
        }
        let kind = match entry.file_type() {
            rustix::fs::FileType::Unknown => None,
            known => Some(known.into()),
        };
        entries.push((name.to_vec(), kind));
    }
    Ok(entries)
}

/// Returns the target of a symlink.
///
/// # Errors
/// `Can't read contents of link`.
pub fn read_link(path: &Path) -> Result<Vec<u8>> {
    rustix::fs::readlink(path, Vec::new())
        .map(std::ffi::CString::into_bytes)
        .map_err(|errno| Error::io(&errno.into(), "Can't read contents of link"))
}

/// Creates a file that must not be there yet.
///
/// # Errors
/// `Can't create file`.
pub fn create_new(path: &Path, mode: u32) -> Result<NewFile> {
    NewFile::create(CWD, path, path.to_owned(), mode, Creation::Exclusive)
}

/// Creates a file under its final name where nobody else creates files; what is there is garbage.
///
/// # Errors
/// `Can't create file`.
pub fn create_final(path: &Path, mode: u32) -> Result<NewFile> {
    NewFile::create(CWD, path, path.to_owned(), mode, Creation::Fresh)
}

/// Opens a file that is there, to write at its end.
///
/// # Errors
/// `Can't open file`.
pub fn append(path: &Path) -> Result<NewFile> {
    NewFile::append(path)
}

/// Writes a file through a temporary one beside it, atomically; replaces a file that is there.
///
/// # Errors
/// `Can't write … atomically`, and the old file stays.
pub fn write_atomic(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    let dir = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let write = || {
        let mut temp = TempFile::with_mode(dir, mode)?;
        temp.write_all(bytes)?;
        temp.persist(path)
    };
    write().map_err(|error: Error| {
        error.context(format!("Can't write '{}' atomically", path.display()))
    })
}

/// Makes a folder.
///
/// # Errors
/// `Can't create directory`.
pub fn make_dir(path: &Path) -> Result<()> {
    make_dir_with_mode(path, 0o777)
}

/// Makes a folder with these permissions, less the umask.
///
/// # Errors
/// `Can't create directory`.
pub fn make_dir_with_mode(path: &Path, mode: u32) -> Result<()> {
    durable(|| rustix::fs::mkdir(path, Mode::from_bits_truncate(mode as _)))
        .map_err(|error| failed(error, "create directory", path))
}

/// Makes a folder and those above it, where they are not there yet.
///
/// # Errors
/// `Can't make directory`.
pub fn make_dir_all(path: &Path) -> Result<()> {
    let made = durable(|| rustix::fs::mkdir(path, Mode::from_bits_truncate(0o777)));
    let Err(error) = made else {
        return Ok(());
    };
    match (error.kind(), path.parent()) {
        (std::io::ErrorKind::NotFound, Some(parent)) if !parent.as_os_str().is_empty() => {
            make_dir_all(parent)?;
            make_dir_all(path)
        }
        (std::io::ErrorKind::AlreadyExists, _) if path.is_dir() => Ok(()),
        _ => Err(failed(error, "make directory", path)),
    }
}

/// Makes a symlink to `target`.
///
/// # Errors
/// `Can't create symbolic link`.
pub fn make_symlink(target: &OsStr, path: &Path) -> Result<()> {
    durable(|| rustix::fs::symlink(target, path))
        .map_err(|error| failed(error, "create symbolic link", path))
}

/// Removes a file or symlink.
///
/// # Errors
/// `Can't remove file`.
pub fn remove(path: &Path) -> Result<()> {
    durable(|| rustix::fs::unlink(path)).map_err(|error| failed(error, "remove file", path))
}

/// Removes a file or symlink; returns whether it was there.
///
/// # Errors
/// `Can't remove file`.
pub fn remove_if_exists(path: &Path) -> Result<bool> {
    durable(|| match rustix::fs::unlink(path) {
        Err(errno) if is_missing(errno) => Ok(false),
        removed => removed.map(|()| true),
    })
    .map_err(|error| failed(error, "remove file", path))
}

/// Removes an empty folder.
///
/// # Errors
/// `Can't remove directory`.
pub fn remove_dir(path: &Path) -> Result<()> {
    durable(|| rustix::fs::rmdir(path)).map_err(|error| failed(error, "remove directory", path))
}

/// Removes a folder and all that is in it; symlinks are removed, not followed.
///
/// # Errors
/// `Can't open directory`, `Can't remove`, …; a part may be removed then.
pub fn remove_tree(path: &Path, cancel: &Cancel) -> Result<()> {
    for (name, kind) in read_dir(path)? {
        cancel.check()?;
        let child = path.join(std::ffi::OsString::from_vec(name));
        let kind = match kind {
            Some(kind) => kind,
            None => lstat(&child)?.kind,
        };
        if kind == FileKind::Dir {
            remove_tree(&child, cancel)?;
        } else {
            remove(&child)
                .map_err(|error| error.context(format!("Can't remove '{}'", child.display())))?;
        }
    }
    remove_dir(path)
}

/// Moves a file or folder within its file system, atomically; replaces a file that is there.
///
/// # Errors
/// `Can't move … to …`.
pub fn rename(from: &Path, to: &Path) -> Result<()> {
    durable(|| rustix::fs::rename(from, to)).map_err(|error| {
        let action = format!("Can't move '{}' to '{}'", from.display(), to.display());
        Error::io(&error, action)
    })
}

/// Copies the content of a file to a new one, with its permissions if `permissions`; atomically,
/// replaces a file that is there.
///
/// # Errors
/// `Can't copy … to …` and those of the single steps.
pub fn copy(from: &Path, to: &Path, permissions: bool) -> Result<()> {
    let cannot = |error: std::io::Error| {
        let action = format!("Can't copy '{}' to '{}'", from.display(), to.display());
        Error::io(&error, action)
    };
    let dir: PathBuf = match to.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    let mut source = open(from)?;
    let mut temp = TempFile::with_mode(&dir, super::MODE_FILE)?;
    if let Some(target) = temp.file() {
        crate::fault::step().map_err(cannot)?;
        std::io::copy(&mut source, target).map_err(cannot)?;
    }
    if permissions {
        let mode = stat(from)?.mode;
        set_mode(temp.path(), mode)?;
    }
    temp.persist(to)
}

/// Copies a file, with its permissions, to a new one under its final name where nobody else creates
/// files; what is there is garbage.
///
/// # Errors
/// `Can't open file`, `Can't create file`, `Can't copy … to …`; a part of it may be there then.
pub fn copy_new(from: &Path, to: &Path) -> Result<()> {
    const SMALL: usize = 64 << 10;
    let cannot = |error: std::io::Error| {
        let action = format!("Can't copy '{}' to '{}'", from.display(), to.display());
        Error::io(&error, action)
    };
    let mut source = open(from)?;
    let stat = rustix::fs::fstat(&source).map_err(|errno| failed(errno, "stat", from))?;
    let wanted = Meta::from(stat);
    let target = create_final(to, wanted.mode)?;
    let mut head = vec![0; SMALL.min(usize::try_from(wanted.size).unwrap_or(SMALL)) + 1];
    let filled = source.read(&mut head).map_err(cannot)?;
    target.write_all(&head[..filled])?;
    // A file's bytes are read one and all, so a buffer that is not full has them all.
    if filled == head.len() || (filled as u64) < wanted.size {
        super::new::copy_rest(&mut source, &target).map_err(cannot)?;
    }
    if target.meta()?.mode != wanted.mode {
        set_mode(to, wanted.mode)?;
    }
    Ok(())
}

/// Sets the permission bits of a file; the umask does not count.
///
/// # Errors
/// `Can't set permissions on`.
pub fn set_mode(path: &Path, mode: u32) -> Result<()> {
    durable(|| rustix::fs::chmod(path, Mode::from_bits_truncate(mode as _)))
        .map_err(|error| failed(error, "set permissions on", path))
}

/// Takes write permission from everybody who may read a file, or gives it to its owner. A symlink
/// stays as it is.
///
/// # Errors
/// `Can't change perms of file`.
pub fn set_read_only(path: &Path, read_only: bool) -> Result<()> {
    change_mode(path, |mode| {
        if read_only {
            mode & !((mode & 0o444) >> 1)
        } else {
            mode | 0o600
        }
    })
}

/// Lets everybody who may read a file execute it, or nobody who may read it. A symlink stays as it
/// is.
///
/// # Errors
/// `Can't change perms of file`.
pub fn set_executable(path: &Path, executable: bool) -> Result<()> {
    change_mode(path, |mode| {
        let readers = (mode & 0o444) >> 2;
        if executable {
            mode | readers
        } else {
            mode & !readers
        }
    })
}

fn change_mode(path: &Path, change: impl FnOnce(u32) -> u32) -> Result<()> {
    let cannot = |error: std::io::Error| failed(error, "change perms of file", path);
    let meta = rustix::fs::lstat(path)
        .map(Meta::from)
        .map_err(|errno| cannot(errno.into()))?;
    let mode = change(meta.mode);
    if meta.is_symlink() || mode == meta.mode {
        return Ok(());
    }
    durable(|| rustix::fs::chmod(path, Mode::from_bits_truncate(mode as _))).map_err(cannot)
}

/// Sets the time at which a file was changed last.
///
/// # Errors
/// `Can't set access time of`.
pub fn set_mtime(path: &Path, time: Timestamp) -> Result<()> {
    let micros = time.micros().rem_euclid(1_000_000);
    let mtime = Timespec {
        tv_sec: time.seconds(),
        tv_nsec: (micros * 1000) as _,
    };
    let times = Timestamps {
        last_access: Timespec {
            tv_sec: 0,
            tv_nsec: UTIME_OMIT,
        },
        last_modification: mtime,
    };
    durable(|| utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW))
        .map_err(|error| failed(error, "set access time of", path))
}

/// Brings the entries of a folder to the disk.
///
/// # Errors
/// `Can't flush file … to disk`.
pub fn sync_dir(path: &Path) -> Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let fd = rustix::fs::open(path, flags, Mode::empty())
        .map_err(|errno| failed(errno, "open directory", path))?;
    match durable(|| rustix::fs::fsync(&fd)) {
        // Some file systems cannot do it for folders.
        Err(error) if error.raw_os_error() != Some(Errno::INVAL.raw_os_error()) => {
            let action = format!("Can't flush file '{}' to disk", path.display());
            Err(Error::io(&error, action))
        }
        _ => Ok(()),
    }
}
