//! The editor of a client: all calls are sent to it.

use bytes::Bytes;
use sylvan_core::{Error, ErrorCode, Md5, RelPath, Result, Revnum};
use sylvan_delta::{CopyFrom, Editor, TextFormat, Token};
use sylvan_proto::svn::editor::EditorWriter;

use super::connection::Connection;

/// So much is sent at once.
const BATCH: usize = 64 << 10;

/// Sends a drive to the client. One that finds a fault says so at once and skips the rest, so before
/// each batch we look whether it has said something.
pub(crate) struct WireEditor<'c> {
    connection: &'c mut Connection,
    writer: EditorWriter,
    /// The client has said how the drive ended for it.
    ended: bool,
}

impl<'c> WireEditor<'c> {
    pub(crate) fn new(connection: &'c mut Connection) -> Self {
        Self {
            connection,
            writer: EditorWriter::new(),
            ended: false,
        }
    }

    /// Sends what was written if it is worth it.
    fn send(&mut self) -> Result<()> {
        if self.writer.len() < BATCH {
            return Ok(());
        }
        if self.connection.has_input() {
            self.ended = true;
            self.writer.take();
            self.writer.abort_edit()?;
            self.pass();
            self.connection.response()?;
            return Err(Error::new(
                ErrorCode::RA_SVN_MALFORMED_DATA,
                "Successful edit status returned too soon",
            ));
        }
        let bytes = self.writer.take();
        self.connection.send_bytes(&bytes)
    }

    /// Ends a drive that others end in their own way.
    pub(crate) fn finish_replay(mut self) {
        self.pass();
        let out = self.connection.out();
        out.open().word("finish-replay").open().close().close();
    }

    fn pass(&mut self) {
        let bytes = self.writer.take();
        self.connection.out().raw(&bytes);
    }
}

macro_rules! passed_on {
    ($($name:ident($($arg:ident: $kind:ty),*);)*) => {
        $(
            fn $name(&mut self, $($arg: $kind),*) -> Result<()> {
                self.writer.$name($($arg),*)?;
                self.send()
            }
        )*
    };
}

impl Editor for WireEditor<'_> {
    passed_on! {
        set_target_revision(rev: Revnum);
        open_root(base: Option<Revnum>, root: Token);
        delete_entry(path: &RelPath, rev: Option<Revnum>, parent: Token);
        add_directory(path: &RelPath, parent: Token, copy_from: Option<CopyFrom>, dir: Token);
        open_directory(path: &RelPath, parent: Token, base: Option<Revnum>, dir: Token);
        change_dir_prop(dir: Token, name: &str, value: Option<&[u8]>);
        close_directory(dir: Token);
        absent_directory(path: &RelPath, parent: Token);
        add_file(path: &RelPath, parent: Token, copy_from: Option<CopyFrom>, file: Token);
        open_file(path: &RelPath, parent: Token, base: Option<Revnum>, file: Token);
        apply_text(file: Token, base: Option<Md5>, format: TextFormat);
        text_chunk(file: Token, chunk: Bytes);
        text_end(file: Token);
        change_file_prop(file: Token, name: &str, value: Option<&[u8]>);
        close_file(file: Token, text: Option<Md5>);
        absent_file(path: &RelPath, parent: Token);
    }

    fn close_edit(&mut self) -> Result<()> {
        self.writer.close_edit()?;
        self.pass();
        self.ended = true;
        let response = self.connection.response();
        if response.is_err() {
            // It skips what comes up to this.
            self.writer.abort_edit()?;
            self.pass();
        }
        response
    }

    fn abort_edit(&mut self) -> Result<()> {
        if self.ended || self.connection.broken().is_some() {
            return Ok(());
        }
        self.ended = true;
        self.writer.abort_edit()?;
        self.pass();
        self.connection.response()
    }
}
