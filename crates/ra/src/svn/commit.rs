//! The editor of a commit: all calls are sent on, without waiting for an answer.

use std::collections::HashMap;

use bytes::Bytes;
use sylvan_core::{Error, ErrorCode, Md5, Props, RelPath, Result, Revnum, Url, props};
use sylvan_delta::svndiff::Version;
use sylvan_delta::{CopyFrom, Editor, TextFormat, Token};
use sylvan_proto::svn::editor::EditorWriter;

use super::connection::Connection;
use crate::whole_text::WholeText;

/// So much is sent at once.
const BATCH: usize = 64 << 10;

/// Sends a drive to the server. A server that finds a fault says so at once and skips the rest, so
/// before each batch we look whether it has said something.
pub(super) struct CommitEditor<'c> {
    connection: &'c mut Connection,
    writer: EditorWriter,
    version: Version,
    level: u32,
    texts: HashMap<Token, WholeText>,
    /// What the server said to the drive, once it was asked for.
    ended: bool,
    /// Whether all was sent, so that the revision may be there.
    complete: bool,
}

impl<'c> CommitEditor<'c> {
    pub(super) fn new(
        connection: &'c mut Connection,
        root: Url,
        version: Version,
        level: u32,
    ) -> Self {
        Self {
            connection,
            writer: EditorWriter::for_commit(root),
            version,
            level,
            texts: HashMap::new(),
            ended: false,
            complete: false,
        }
    }

    /// Tells whether the drive was closed, and the server is content with it.
    pub(super) const fn is_complete(&self) -> bool {
        self.complete && self.ended
    }

    /// Sends what was written if it is worth it.
    fn send(&mut self) -> Result<()> {
        if self.writer.len() < BATCH {
            return Ok(());
        }
        self.flush()
    }

    fn flush(&mut self) -> Result<()> {
        let bytes = self.writer.take();
        if self.connection.has_input() {
            return self.refused();
        }
        self.connection.send(&bytes)
    }

    /// The server has said something before the end: why it does not want to go on.
    fn refused(&mut self) -> Result<()> {
        self.abort()?;
        Err(Error::new(
            ErrorCode::RA_SVN_MALFORMED_DATA,
            "Successful edit status returned too soon",
        ))
    }

    fn abort(&mut self) -> Result<()> {
        self.ended = true;
        self.writer.take();
        self.writer.abort_edit()?;
        let bytes = self.writer.take();
        self.connection.send(&bytes)?;
        let response = self.connection.response(|_| Ok(()));
        self.connection.settled();
        response
    }
}

impl Editor for CommitEditor<'_> {
    fn set_target_revision(&mut self, rev: Revnum) -> Result<()> {
        self.writer.set_target_revision(rev)
    }

    fn open_root(&mut self, base: Option<Revnum>, root: Token) -> Result<()> {
        self.writer.open_root(base, root)
    }

    fn delete_entry(&mut self, path: &RelPath, rev: Option<Revnum>, parent: Token) -> Result<()> {
        self.writer.delete_entry(path, rev, parent)?;
        self.send()
    }

    fn add_directory(
        &mut self,
        path: &RelPath,
        parent: Token,
        copy_from: Option<CopyFrom>,
        dir: Token,
    ) -> Result<()> {
        self.writer.add_directory(path, parent, copy_from, dir)?;
        self.send()
    }

    fn open_directory(
        &mut self,
        path: &RelPath,
        parent: Token,
        base: Option<Revnum>,
        dir: Token,
    ) -> Result<()> {
        self.writer.open_directory(path, parent, base, dir)?;
        self.send()
    }

    fn change_dir_prop(&mut self, dir: Token, name: &str, value: Option<&[u8]>) -> Result<()> {
        self.writer.change_dir_prop(dir, name, value)?;
        self.send()
    }

    fn close_directory(&mut self, dir: Token) -> Result<()> {
        self.writer.close_directory(dir)?;
        self.send()
    }

    fn absent_directory(&mut self, path: &RelPath, parent: Token) -> Result<()> {
        self.writer.absent_directory(path, parent)
    }

    fn add_file(
        &mut self,
        path: &RelPath,
        parent: Token,
        copy_from: Option<CopyFrom>,
        file: Token,
    ) -> Result<()> {
        self.writer.add_file(path, parent, copy_from, file)?;
        self.send()
    }

    fn open_file(
        &mut self,
        path: &RelPath,
        parent: Token,
        base: Option<Revnum>,
        file: Token,
    ) -> Result<()> {
        self.writer.open_file(path, parent, base, file)?;
        self.send()
    }

    fn apply_text(&mut self, file: Token, base: Option<Md5>, format: TextFormat) -> Result<()> {
        let base = base.filter(|_| format == TextFormat::Svndiff);
        self.writer.apply_text(file, base, TextFormat::Svndiff)?;
        if format == TextFormat::Fulltext {
            let text = WholeText::new(self.version, self.level);
            self.texts.insert(file, text);
        }
        self.send()
    }

    fn text_chunk(&mut self, file: Token, chunk: Bytes) -> Result<()> {
        let chunk = match self.texts.get_mut(&file) {
            Some(text) => text.push(&chunk).into(),
            None => chunk,
        };
        if chunk.is_empty() {
            return Ok(());
        }
        self.writer.text_chunk(file, chunk)?;
        self.send()
    }

    fn text_end(&mut self, file: Token) -> Result<()> {
        if let Some(text) = self.texts.remove(&file) {
            self.writer.text_chunk(file, text.finish().into())?;
        }
        self.writer.text_end(file)?;
        self.send()
    }

    fn change_file_prop(&mut self, file: Token, name: &str, value: Option<&[u8]>) -> Result<()> {
        self.writer.change_file_prop(file, name, value)?;
        self.send()
    }

    fn close_file(&mut self, file: Token, text: Option<Md5>) -> Result<()> {
        self.writer.close_file(file, text)?;
        self.send()
    }

    fn absent_file(&mut self, path: &RelPath, parent: Token) -> Result<()> {
        self.writer.absent_file(path, parent)
    }

    fn close_edit(&mut self) -> Result<()> {
        if self.connection.has_input() {
            return self.refused();
        }
        self.writer.close_edit()?;
        let bytes = self.writer.take();
        self.connection.send(&bytes)?;
        self.complete = true;
        match self.connection.response(|_| Ok(())) {
            Ok(()) => {
                self.ended = true;
                Ok(())
            }
            Err(error) if super::session::is_broken(&error) => Err(unknown_end(error)),
            Err(error) => {
                // It reads on until it is told that there is no more.
                self.ended = true;
                self.writer.abort_edit()?;
                let bytes = self.writer.take();
                self.connection.send(&bytes)?;
                self.connection.settled();
                Err(error)
            }
        }
    }

    fn abort_edit(&mut self) -> Result<()> {
        if self.ended {
            return Ok(());
        }
        self.abort()
    }
}

/// Says that the connection was lost when all was sent.
pub(super) fn unknown_end(error: Error) -> Error {
    error.context(
        "The connection was lost after all changes were sent; it is not known whether the \
         revision was made",
    )
}

/// Completes the properties of a revision to be with what servers want to know of the client.
pub(super) fn with_agent(revprops: &Props, agent: &str, wanted: bool) -> Props {
    let mut all = revprops.clone();
    if wanted {
        for (name, value) in [
            ("svn:txn-client-compat-version", "1.14.2"),
            ("svn:txn-user-agent", agent),
        ] {
            all.insert(name.to_owned(), value.as_bytes().to_vec());
        }
    }
    all
}

/// Returns the log message among the properties.
pub(super) fn message(revprops: &Props) -> &[u8] {
    let message = revprops.get(props::REVISION_LOG);
    message.map(Vec::as_slice).unwrap_or_default()
}
