use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::CWD;
use sylvan_core::{Error, ErrorCode, Result};

use super::{Creation, NewFile, durable, remove, rename};

/// A file with a name that nobody else has, removed when it is dropped.
#[derive(Debug)]
pub struct TempFile {
    file: Option<NewFile>,
    path: PathBuf,
}

impl TempFile {
    /// Creates a file in `dir` that only its owner may read.
    ///
    /// # Errors
    /// `Can't create temporary file from template`.
    pub fn new_in(dir: &Path) -> Result<Self> {
        Self::with_mode(dir, super::MODE_PRIVATE)
    }

    /// Creates a file in `dir`.
    ///
    /// # Errors
    /// As [`TempFile::new_in`].
    pub fn with_mode(dir: &Path, mode: u32) -> Result<Self> {
        const ATTEMPTS: u32 = 1000;
        for _ in 0..ATTEMPTS {
            let path = dir.join(unique_name());
            match NewFile::create(CWD, &path, path.clone(), mode, Creation::Exclusive) {
                Ok(file) => {
                    let file = Some(file);
                    return Ok(Self { file, path });
                }
                Err(error) if error.code().number() == rustix::io::Errno::EXIST.raw_os_error() => {}
                Err(error) => {
                    let template = dir.join("svn-XXXXXX");
                    let text = format!(
                        "Can't create temporary file from template '{}': {}",
                        template.display(),
                        error.code().default_text()
                    );
                    return Err(Error::new(error.code(), text));
                }
            }
        }
        Err(Error::new(
            ErrorCode::IO_UNIQUE_NAMES_EXHAUSTED,
            format!("Unable to make name in '{}'", dir.display()),
        ))
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes all of `bytes`.
    ///
    /// # Errors
    /// `Can't write to file`, also after [`TempFile::close`].
    pub fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
        match &mut self.file {
            Some(file) => file.write_all(bytes),
            None => Err(super::failed(
                rustix::io::Errno::BADF,
                "write to file",
                &self.path,
            )),
        }
    }

    /// Returns the file, unless it was closed.
    pub fn file(&mut self) -> Option<&mut NewFile> {
        self.file.as_mut()
    }

    /// Closes the file; it stays until this is dropped.
    pub fn close(&mut self) {
        self.file = None;
    }

    /// Gives the file its final name, atomically; replaces a file that has it.
    ///
    /// # Errors
    /// `Can't move … to …`, and the file is removed.
    pub fn persist(mut self, path: &Path) -> Result<()> {
        self.file = None;
        rename(&self.path, path)?;
        self.path = PathBuf::new();
        Ok(())
    }

    /// Gives the file its final name, atomically, unless that name is taken.
    ///
    /// # Errors
    /// `Can't create file`, with `EEXIST` if the name is taken; the file is removed.
    pub fn persist_new(mut self, path: &Path) -> Result<()> {
        self.file = None;
        match durable(|| rustix::fs::link(&self.path, path)) {
            Ok(()) => Ok(()), // dropping this takes the first name away
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                let action = format!("Can't create file '{}'", path.display());
                Err(Error::io(&error, action))
            }
            // A file system without hard links.
            Err(_) => self.persist(path),
        }
    }

    /// Leaves the file where it is, and returns its path.
    pub fn keep(mut self) -> PathBuf {
        self.file = None;
        std::mem::take(&mut self.path)
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            // There is nobody to tell; `cleanup` removes strays.
            let _ = remove(&self.path);
        }
    }
}

/// Returns a name that hardly anybody has yet.
fn unique_name() -> String {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let count = u128::from(COUNTER.fetch_add(1, Ordering::Relaxed));
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos());
    let mut number = (now << 20) ^ (u128::from(std::process::id()) << 64) ^ (count << 12);
    // Mix, so that near times and processes give far names.
    number = number.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835) >> 48;
    const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let mut name = String::from("svn-");
    for _ in 0..10 {
        name.push(char::from(LETTERS[(number & 31) as usize]));
        number >>= 5;
    }
    name
}
