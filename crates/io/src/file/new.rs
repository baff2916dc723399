use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, Mode, OFlags, SeekFrom, fdatasync, fstat, ftruncate, openat, seek, unlinkat,
};
use rustix::io::{Errno, retry_on_intr, write};
use sylvan_core::{Result, Timestamp};

use super::{Meta, durable, failed, times};

/// How a new file meets what may have its name already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Creation {
    /// Nothing can have it: the folder is new, or what is in it is garbage. A file is overwritten,
    /// or removed first if it cannot be. One request less on NFS than [`Creation::Exclusive`].
    Fresh,
    /// Nothing may have it: it is an error if the name is taken, by a symlink too.
    Exclusive,
}

/// A new file that is being written.
///
/// Dropping it closes it and leaves it as it is.
#[derive(Debug)]
pub struct NewFile {
    fd: OwnedFd,
    path: PathBuf,
}

impl NewFile {
    /// Creates a file below `dir` (an open folder, or the current one). `path` is for errors.
    pub(super) fn create(
        dir: BorrowedFd<'_>,
        name: &Path,
        path: PathBuf,
        mode: u32,
        creation: Creation,
    ) -> Result<Self> {
        let mode = Mode::from_bits_truncate(mode as _);
        Self::create_by(
            path,
            creation,
            |flags| openat(dir, name, flags, mode),
            || unlinkat(dir, name, AtFlags::empty()),
        )
    }

    /// Creates a file that `open` opens; `make_room` removes what is in the way.
    pub(super) fn create_by(
        path: PathBuf,
        creation: Creation,
        open: impl Fn(OFlags) -> rustix::io::Result<OwnedFd>,
        make_room: impl FnOnce() -> rustix::io::Result<()>,
    ) -> Result<Self> {
        let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let exclusively = || open(flags | OFlags::EXCL);
        let opened = durable(|| match creation {
            Creation::Exclusive => exclusively(),
            Creation::Fresh => match open(flags | OFlags::TRUNC) {
                // A read-only file or a symlink.
                Err(Errno::ACCESS | Errno::LOOP | Errno::MLINK) => {
                    make_room()?;
                    exclusively()
                }
                opened => opened,
            },
        });
        match opened {
            Ok(fd) => Ok(Self { fd, path }),
            Err(error) => Err(failed(error, "create file", &path)),
        }
    }

    /// Writes all of `bytes`.
    ///
    /// # Errors
    /// `Can't write to file`, and the file has a part of them.
    pub fn write_all(&self, bytes: &[u8]) -> Result<()> {
        let mut rest = bytes;
        durable(|| {
            while !rest.is_empty() {
                let written = retry_on_intr(|| write(&self.fd, rest))?;
                if written == 0 {
                    return Err(Errno::IO);
                }
                rest = &rest[written.min(rest.len())..];
            }
            Ok(())
        })
        .map_err(|error| failed(error, "write to file", &self.path))
    }

    /// Cuts the file off, or makes it longer; what is written next follows.
    ///
    /// # Errors
    /// `Can't truncate file`.
    pub fn truncate(&mut self, len: u64) -> Result<()> {
        durable(|| {
            ftruncate(&self.fd, len)?;
            seek(&self.fd, SeekFrom::Start(len)).map(drop)
        })
        .map_err(|error| failed(error, "truncate file", &self.path))
    }

    /// Opens a file that is there, to write at its end.
    pub(super) fn append(path: &Path) -> Result<Self> {
        let flags = OFlags::WRONLY | OFlags::CLOEXEC;
        let opened = durable(|| {
            let fd = openat(rustix::fs::CWD, path, flags, Mode::empty())?;
            seek(&fd, SeekFrom::End(0))?;
            Ok(fd)
        });
        let path = path.to_owned();
        match opened {
            Ok(fd) => Ok(Self { fd, path }),
            Err(error) => Err(failed(error, "open file", &path)),
        }
    }

    /// Brings the content to the disk, or to the server, which can tell of a full disk only now.
    ///
    /// # Errors
    /// `Can't flush file … to disk`.
    pub fn sync(&self) -> Result<()> {
        durable(|| fdatasync(&self.fd)).map_err(|error| {
            let action = format!("Can't flush file '{}' to disk", self.path.display());
            sylvan_core::Error::io(&error, action)
        })
    }

    /// Sets the times at which it was read and changed last.
    ///
    /// # Errors
    /// `Can't set access time of`.
    pub fn set_time(&self, time: Timestamp) -> Result<()> {
        durable(|| rustix::fs::futimens(&self.fd, &times(time)))
            .map_err(|error| failed(error, "set access time of", &self.path))
    }

    /// Returns what the system tells of the file now.
    ///
    /// # Errors
    /// `Can't stat`.
    pub fn meta(&self) -> Result<Meta> {
        let stat = fstat(&self.fd).map_err(|errno| failed(errno, "stat", &self.path))?;
        Ok(stat.into())
    }

    /// Closes the file and returns what the system tells of it.
    ///
    /// # Errors
    /// As [`NewFile::meta`] and [`NewFile::close`].
    pub fn finish(self) -> Result<Meta> {
        let meta = self.meta()?;
        self.close()?;
        Ok(meta)
    }

    /// Closes the file. Network file systems bring its content to the server then, and tell only
    /// now that it did not arrive.
    ///
    /// # Errors
    /// `Can't close file`.
    pub fn close(self) -> Result<()> {
        let Self { fd, path } = self;
        durable(|| nix::unistd::close(fd).map_err(|errno| Errno::from_raw_os_error(errno as i32)))
            .map_err(|error| failed(error, "close file", &path))
    }

    /// Returns the path it was created under.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes it a plain file of the standard library.
    pub fn into_file(self) -> std::fs::File {
        self.fd.into()
    }
}

/// Copies what is left of a file to the end of a new one, within the system where it can.
pub(super) fn copy_rest(source: &mut std::fs::File, target: &NewFile) -> std::io::Result<()> {
    crate::fault::step()?;
    let mut target = std::fs::File::from(target.fd.try_clone()?);
    std::io::copy(source, &mut target).map(drop)
}

impl AsFd for NewFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        durable(|| retry_on_intr(|| write(&self.fd, bytes)))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
