//! Keeps a delta until its length is known.

use std::io::{Read, Seek, Write};

use sylvan_core::{Error, Result};

/// What is kept in memory; more goes to a file.
const IN_MEMORY: usize = 1 << 20;

/// Bytes that are written, and then read once.
#[derive(Default)]
pub(super) struct Spool {
    pub(super) buffer: Vec<u8>,
    file: Option<std::fs::File>,
    in_file: u64,
}

fn failed(error: &std::io::Error) -> Error {
    Error::io(error, "Can't write temporary file")
}

impl Spool {
    /// Moves what was appended to the buffer to a file, if it is much.
    pub(super) fn spill(&mut self) -> Result<()> {
        if self.buffer.len() < IN_MEMORY {
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile().map_err(|error| failed(&error))?),
        };
        file.write_all(&self.buffer)
            .map_err(|error| failed(&error))?;
        self.in_file += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    pub(super) fn len(&self) -> u64 {
        self.in_file + self.buffer.len() as u64
    }

    /// Gives all to `sink`, in pieces.
    pub(super) fn drain(self, mut sink: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        if let Some(mut file) = self.file {
            file.rewind().map_err(|error| failed(&error))?;
            let mut piece = vec![0; 64 << 10];
            loop {
                let count = file.read(&mut piece).map_err(|error| failed(&error))?;
                if count == 0 {
                    break;
                }
                sink(&piece[..count])?;
            }
        }
        sink(&self.buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn much_and_little_come_back() {
        for count in [0usize, 10, 700_000] {
            let mut spool = Spool::default();
            let mut expected = Vec::new();
            for number in 0..count {
                let bytes = number.to_le_bytes();
                spool.buffer.extend_from_slice(&bytes);
                expected.extend_from_slice(&bytes);
                spool.spill().unwrap();
            }
            assert_eq!(spool.len(), expected.len() as u64);
            let mut found = Vec::new();
            spool
                .drain(|piece| {
                    found.extend_from_slice(piece);
                    Ok(())
                })
                .unwrap();
            assert!(found == expected);
        }
    }
}
