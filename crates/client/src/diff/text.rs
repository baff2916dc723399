//! The content of a file, to be compared: in memory, or in a file if it is large or has one.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use md5::Digest as _;
use sylvan_core::{Md5, Result};
use sylvan_diff::{FileSource, Source};
use sylvan_io::file::{self, TempFile};

/// What is kept in memory at most.
const LARGE: usize = 1 << 20;

/// A content.
#[derive(Debug)]
pub enum Text {
    /// One in memory.
    Memory(Vec<u8>),
    /// One in a file that belongs to somebody else.
    File(PathBuf),
    /// One in a file that is removed when this is dropped.
    Temp(TempFile),
}

/// A content that can be read.
#[derive(Debug)]
pub enum OpenText<'t> {
    /// In memory.
    Memory(&'t [u8]),
    /// In a file.
    File(FileSource),
}

impl Text {
    /// Returns an empty content.
    pub const fn empty() -> Self {
        Self::Memory(Vec::new())
    }

    /// Opens the content.
    ///
    /// # Errors
    /// If its file cannot be opened.
    pub fn open(&self) -> Result<OpenText<'_>> {
        let path = match self {
            Self::Memory(bytes) => return Ok(OpenText::Memory(bytes)),
            Self::File(path) => path,
            Self::Temp(temp) => temp.path(),
        };
        FileSource::new(file::open(path)?, path.to_owned()).map(OpenText::File)
    }

    /// Reads all of it.
    ///
    /// # Errors
    /// If its file cannot be read.
    pub fn read(&self) -> Result<Cow<'_, [u8]>> {
        match self {
            Self::Memory(bytes) => Ok(Cow::Borrowed(bytes)),
            Self::File(path) => file::read(path).map(Cow::Owned),
            Self::Temp(temp) => file::read(temp.path()).map(Cow::Owned),
        }
    }

    /// Returns the path of a file with the content; `keeper` holds it if it has to be made.
    ///
    /// # Errors
    /// If the file cannot be made.
    pub fn as_file<'t>(&'t self, keeper: &'t mut Option<TempFile>) -> Result<&'t Path> {
        match self {
            Self::File(path) => Ok(path),
            Self::Temp(temp) => Ok(temp.path()),
            Self::Memory(bytes) => {
                let mut temp = new_temp()?;
                temp.write_all(bytes)?;
                temp.close();
                Ok(keeper.insert(temp).path())
            }
        }
    }
}

impl Source for OpenText<'_> {
    fn len(&self) -> u64 {
        match self {
            Self::Memory(bytes) => bytes.len(),
            Self::File(file) => file.len(),
        }
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        match self {
            Self::Memory(bytes) => bytes.read_at(offset, buffer),
            Self::File(file) => file.read_at(offset, buffer),
        }
    }
}

fn new_temp() -> Result<TempFile> {
    TempFile::new_in(&std::env::temp_dir())
}

/// Collects a content.
#[derive(Debug, Default)]
pub struct Spool {
    bytes: Vec<u8>,
    temp: Option<TempFile>,
    digest: Option<md5::Md5>,
}

impl Spool {
    /// Makes one that digests what it gets.
    pub fn digesting() -> Self {
        Self {
            digest: Some(md5::Md5::new()),
            ..Self::default()
        }
    }

    /// Adds bytes.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn push(&mut self, bytes: &[u8]) -> Result<()> {
        if let Some(digest) = &mut self.digest {
            digest.update(bytes);
        }
        if let Some(temp) = &mut self.temp {
            return temp.write_all(bytes);
        }
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() > LARGE {
            let mut temp = new_temp()?;
            temp.write_all(&self.bytes)?;
            self.bytes = Vec::new();
            self.temp = Some(temp);
        }
        Ok(())
    }

    /// Returns the content and, if it was asked for, its digest.
    pub fn finish(self) -> (Text, Option<Md5>) {
        let digest = self.digest.map(|digest| Md5(digest.finalize().into()));
        let text = match self.temp {
            Some(mut temp) => {
                temp.close();
                Text::Temp(temp)
            }
            None => Text::Memory(self.bytes),
        };
        (text, digest)
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.push(bytes).map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_large_goes_to_the_disk_and_comes_back() {
        for size in [0, 10, LARGE, LARGE + 1, 3 * LARGE] {
            let bytes: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
            let mut spool = Spool::digesting();
            for piece in bytes.chunks(100_000) {
                spool.push(piece).unwrap();
            }
            let (text, digest) = spool.finish();
            assert_eq!(matches!(text, Text::Temp(_)), size > LARGE);
            assert_eq!(digest, Some(Md5(md5::Md5::digest(&bytes).into())));
            assert_eq!(*text.read().unwrap(), bytes);
            let mut keeper = None;
            let path = text.as_file(&mut keeper).unwrap();
            assert_eq!(std::fs::read(path).unwrap(), bytes);
            let open = text.open().unwrap();
            assert_eq!(open.len(), size as u64);
        }
    }
}
