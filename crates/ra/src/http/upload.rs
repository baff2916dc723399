//! What is sent to a server: in memory if it is short, else in a temporary file.

use std::fs::File;
use std::io::Read as _;

use sylvan_core::{Error, Result};
use sylvan_io::file::TempFile;

/// So much stays in memory.
const IN_MEMORY: usize = 1 << 20;

/// A body that can be sent again if need be.
#[derive(Debug, Default)]
pub(super) struct Upload {
    memory: Vec<u8>,
    file: Option<TempFile>,
    len: u64,
}

impl Upload {
    /// Makes one of bytes.
    pub(super) fn of(bytes: Vec<u8>) -> Self {
        Self {
            len: bytes.len() as u64,
            memory: bytes,
            file: None,
        }
    }

    pub(super) const fn len(&self) -> u64 {
        self.len
    }

    /// Returns the body, if it is in memory.
    pub(super) fn in_memory(&self) -> &[u8] {
        &self.memory
    }

    /// Appends to it.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.len += bytes.len() as u64;
        if let Some(file) = &mut self.file {
            return file.write_all(bytes);
        }
        self.memory.extend_from_slice(bytes);
        if self.memory.len() > IN_MEMORY {
            let mut file = TempFile::new_in(&std::env::temp_dir())?;
            file.write_all(&self.memory)?;
            self.memory = Vec::new();
            self.file = Some(file);
        }
        Ok(())
    }

    /// Gives the body to `take`, piece by piece, if it is in a file.
    pub(super) fn each_in_file(&self, take: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let Some(temp) = &self.file else {
            return Ok(());
        };
        let path = temp.path();
        let failed =
            |error| Error::io(&error, format_args!("Can't read file '{}'", path.display()));
        let mut file = File::open(path).map_err(failed)?;
        let mut buffer = vec![0; 128 * 1024];
        loop {
            match file.read(&mut buffer).map_err(failed)? {
                0 => return Ok(()),
                length => take(&buffer[..length])?,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_bodies_are_kept_in_a_file() {
        let mut upload = Upload::default();
        let piece = vec![7; 300_000];
        for _ in 0..5 {
            upload.push(&piece).unwrap();
        }
        assert_eq!(upload.len(), 1_500_000);
        assert!(upload.in_memory().is_empty());
        let mut read = 0;
        upload
            .each_in_file(&mut |bytes| {
                read += bytes.len();
                Ok(())
            })
            .unwrap();
        assert_eq!(read, 1_500_000);
    }
}
