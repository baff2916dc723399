//! The content of a file, to be compared: in memory, or in a temporary file if it is large.

use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};

use sylvan_core::Result;
use sylvan_diff::{FileSource, Source};
use sylvan_fs::rep::RepReader;
use sylvan_io::file::{self, NewFile};

/// What is kept in memory at most.
const LARGE: usize = 4 << 20;

/// A content.
pub(super) enum Text {
    Memory(Memory),
    File(TempFile),
}

/// A content in memory.
pub(super) struct Memory {
    bytes: Vec<u8>,
}

/// A content in a temporary file, which is removed when this is dropped.
pub(super) struct TempFile {
    path: PathBuf,
    source: FileSource,
}

impl Text {
    /// Reads all of a content; of nothing, nothing.
    pub(super) fn read(contents: Option<RepReader>) -> Result<Self> {
        let mut bytes = Vec::new();
        let Some(mut contents) = contents else {
            return Ok(Self::Memory(Memory { bytes }));
        };
        while let Some(piece) = contents.next_piece()? {
            bytes.extend_from_slice(&piece);
            if bytes.len() > LARGE {
                return Self::spool(&bytes, &mut contents);
            }
        }
        Ok(Self::Memory(Memory { bytes }))
    }

    fn spool(start: &[u8], rest: &mut RepReader) -> Result<Self> {
        let file = Unfinished::create()?;
        file.write(start)?;
        while let Some(piece) = rest.next_piece()? {
            file.write(&piece)?;
        }
        file.finish().map(Self::File)
    }

    pub(super) fn source(&self) -> &dyn Source {
        match self {
            Self::Memory(memory) => memory,
            Self::File(file) => &file.source,
        }
    }

    /// Puts the content in a file.
    pub(super) fn into_file(self) -> Result<TempFile> {
        match self {
            Self::File(file) => Ok(file),
            Self::Memory(memory) => {
                let file = Unfinished::create()?;
                file.write(&memory.bytes)?;
                file.finish()
            }
        }
    }
}

impl Source for Memory {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        (&&*self.bytes as &dyn Source).read_at(offset, buffer)
    }
}

impl TempFile {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        // Nobody needs it; what cannot be removed is in the folder for such files.
        let _ = file::remove_if_exists(&self.path);
    }
}

/// A temporary file that is being written.
struct Unfinished {
    file: Option<NewFile>,
    path: PathBuf,
}

impl Unfinished {
    fn create() -> Result<Self> {
        const ATTEMPTS: usize = 100;
        let dir = std::env::temp_dir();
        let mut attempt = 0;
        loop {
            let number = RandomState::new().build_hasher().finish();
            let path = dir.join(format!("svn-{number:016x}"));
            attempt += 1;
            match file::create_new(&path, 0o600) {
                Ok(file) => {
                    let file = Some(file);
                    return Ok(Self { file, path });
                }
                Err(error)
                    if attempt < ATTEMPTS
                        && file::error_kind(&error) == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn write(&self, bytes: &[u8]) -> Result<()> {
        match &self.file {
            Some(file) => file.write_all(bytes),
            None => Ok(()),
        }
    }

    fn finish(mut self) -> Result<TempFile> {
        self.file.take();
        let path = self.path.clone();
        let file: File = file::open(&path)?;
        let source = FileSource::new(file, path.clone())?;
        // It is the other's to remove from now on.
        self.path = PathBuf::new();
        Ok(TempFile { path, source })
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            let _ = file::remove_if_exists(&self.path);
        }
    }
}
