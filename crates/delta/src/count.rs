use bytes::Bytes;
use sylvan_core::{Md5, RelPath, Result, Revnum};

use crate::{CopyFrom, Editor, TextFormat, Token};

/// Only counts what it is told: a receiver for tests and measurements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CountingEditor {
    /// Folders added or opened, the root too.
    pub directories: u64,
    /// Files added or opened.
    pub files: u64,
    /// Entries deleted.
    pub deletions: u64,
    /// Properties changed.
    pub props: u64,
    /// Nodes that may not be seen.
    pub absent: u64,
    /// Bytes of text chunks.
    pub text_bytes: u64,
    /// The target revision, if it was set.
    pub target_rev: Option<Revnum>,
    /// Whether the drive was closed.
    pub is_closed: bool,
    /// Whether the drive was aborted.
    pub is_aborted: bool,
}

impl Editor for CountingEditor {
    fn set_target_revision(&mut self, rev: Revnum) -> Result<()> {
        self.target_rev = Some(rev);
        Ok(())
    }

    fn open_root(&mut self, _: Option<Revnum>, _: Token) -> Result<()> {
        self.directories += 1;
        Ok(())
    }

    fn delete_entry(&mut self, _: &RelPath, _: Option<Revnum>, _: Token) -> Result<()> {
        self.deletions += 1;
        Ok(())
    }

    fn add_directory(
        &mut self,
        _: &RelPath,
        _: Token,
        _: Option<CopyFrom>,
        _: Token,
    ) -> Result<()> {
        self.directories += 1;
        Ok(())
    }

    fn open_directory(&mut self, _: &RelPath, _: Token, _: Option<Revnum>, _: Token) -> Result<()> {
        self.directories += 1;
        Ok(())
    }

    fn change_dir_prop(&mut self, _: Token, _: &str, _: Option<&[u8]>) -> Result<()> {
        self.props += 1;
        Ok(())
    }

    fn close_directory(&mut self, _: Token) -> Result<()> {
        Ok(())
    }

    fn absent_directory(&mut self, _: &RelPath, _: Token) -> Result<()> {
        self.absent += 1;
        Ok(())
    }

    fn add_file(&mut self, _: &RelPath, _: Token, _: Option<CopyFrom>, _: Token) -> Result<()> {
        self.files += 1;
        Ok(())
    }

    fn open_file(&mut self, _: &RelPath, _: Token, _: Option<Revnum>, _: Token) -> Result<()> {
        self.files += 1;
        Ok(())
    }

    fn apply_text(&mut self, _: Token, _: Option<Md5>, _: TextFormat) -> Result<()> {
        Ok(())
    }

    fn text_chunk(&mut self, _: Token, chunk: Bytes) -> Result<()> {
        self.text_bytes += chunk.len() as u64;
        Ok(())
    }

    fn text_end(&mut self, _: Token) -> Result<()> {
        Ok(())
    }

    fn change_file_prop(&mut self, _: Token, _: &str, _: Option<&[u8]>) -> Result<()> {
        self.props += 1;
        Ok(())
    }

    fn close_file(&mut self, _: Token, _: Option<Md5>) -> Result<()> {
        Ok(())
    }

    fn absent_file(&mut self, _: &RelPath, _: Token) -> Result<()> {
        self.absent += 1;
        Ok(())
    }

    fn close_edit(&mut self) -> Result<()> {
        self.is_closed = true;
        Ok(())
    }

    fn abort_edit(&mut self) -> Result<()> {
        self.is_aborted = true;
        Ok(())
    }
}
