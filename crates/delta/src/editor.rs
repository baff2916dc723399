use bytes::Bytes;
use sylvan_core::{Md5, RelPath, RelPathBuf, Result, Revnum, Sha1};

/// Names an open folder or file of one drive. The driver chooses the numbers; none is used twice
/// in a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Token(pub u32);

/// Where an added node was copied from. `path` is relative to the repository root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyFrom {
    /// The path below the repository root.
    pub path: RelPathBuf,
    /// The revision of the source.
    pub rev: Revnum,
}

/// How the bytes of [`Editor::text_chunk`] describe a file's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextFormat {
    /// An svndiff stream (any version) against the base text; an added file has an empty base.
    Svndiff,
    /// The content itself.
    Fulltext,
}

/// A file's whole content, read piece by piece by whoever needs it, perhaps on another thread.
pub trait Fulltext: Send + std::fmt::Debug {
    /// Returns the length of the whole content.
    fn size(&self) -> u64;

    /// Returns the next piece, `None` at the end. The reader may not check the content's digest:
    /// who takes it hashes it anyway and compares with that of [`Editor::close_file`].
    ///
    /// # Errors
    /// If the content cannot be read or is damaged.
    fn next_piece(&mut self) -> Result<Option<Bytes>>;
}

/// Receives the description of a tree change, call by call.
///
/// All paths are relative to the root of the drive and given in full. The driver:
///
/// 1. may call [`set_target_revision`](Self::set_target_revision) once, first;
/// 2. opens the root once (`open_root`), and then for each open folder, in any order: deletes
///    entries, adds or opens or calls absent its children, changes properties; and closes each
///    folder it opened exactly once, after its child folders are closed;
/// 3. walks depth first: once a child folder is open, no call names another folder than that and
///    those below it, until it is closed. An entry that is replaced is deleted first, then added;
/// 4. names each child at most once, but for delete before add;
/// 5. sends a file's properties and content between its `add_file`/`open_file` and `close_file`.
///    Files are freer than folders: several may be open at a time, their calls may interleave with
///    calls on other nodes, and a file may be closed after its folder (a client that fetches many
///    contents at once needs that). All are closed before [`close_edit`](Self::close_edit);
/// 6. ends with `close_edit`, or `abort_edit` when something failed. After an error from any call
///    but `abort_edit` the driver calls `abort_edit` and nothing else.
///
/// A file's content is `apply_text`, any number of `text_chunk`, `text_end`; a file without
/// `apply_text` keeps the text of its base (an added one is empty, or its copy source's).
/// Chunks may be cut anywhere.
pub trait Editor: Send {
    /// Says which revision the tree will have after the drive (update and switch).
    fn set_target_revision(&mut self, rev: Revnum) -> Result<()>;

    /// Opens the root of the drive. `base` is the revision it is based on.
    fn open_root(&mut self, base: Option<Revnum>, root: Token) -> Result<()>;

    /// Deletes `path` in the open folder `parent`. `rev` is the revision it is based on, if said.
    fn delete_entry(&mut self, path: &RelPath, rev: Option<Revnum>, parent: Token) -> Result<()>;

    /// Adds a folder, with or without history.
    fn add_directory(
        &mut self,
        path: &RelPath,
        parent: Token,
        copy_from: Option<CopyFrom>,
        dir: Token,
    ) -> Result<()>;

    /// Opens an existing folder to change something in it.
    fn open_directory(
        &mut self,
        path: &RelPath,
        parent: Token,
        base: Option<Revnum>,
        dir: Token,
    ) -> Result<()>;

    /// Sets (`Some`) or deletes (`None`) a property of an open folder. Besides versioned properties
    /// a server sends entry properties (`svn:entry:committed-rev` and the like).
    fn change_dir_prop(&mut self, dir: Token, name: &str, value: Option<&[u8]>) -> Result<()>;

    /// Closes a folder: nothing more is said of it or of folders below.
    fn close_directory(&mut self, dir: Token) -> Result<()>;

    /// Says that a folder exists at `path` that the receiver may not see.
    fn absent_directory(&mut self, path: &RelPath, parent: Token) -> Result<()>;

    /// Adds a file, with or without history.
    fn add_file(
        &mut self,
        path: &RelPath,
        parent: Token,
        copy_from: Option<CopyFrom>,
        file: Token,
    ) -> Result<()>;

    /// Opens an existing file to change it.
    fn open_file(
        &mut self,
        path: &RelPath,
        parent: Token,
        base: Option<Revnum>,
        file: Token,
    ) -> Result<()>;

    /// Begins a file's new content. `base` is the checksum of the text that a delta applies to;
    /// the receiver checks it if it is given.
    fn apply_text(&mut self, file: Token, base: Option<Md5>, format: TextFormat) -> Result<()>;

    /// Sends a part of the content, cut anywhere. The receiver may block to bound its memory.
    fn text_chunk(&mut self, file: Token, chunk: Bytes) -> Result<()>;

    /// Ends a file's content.
    fn text_end(&mut self, file: Token) -> Result<()>;

    /// Gives a file's whole new content to be read by the receiver, now or up to the end of the
    /// drive. Instead of `apply_text`, by drivers that have the content at hand; so that a receiver
    /// with many threads reads it on the one that needs it.
    fn fulltext(&mut self, file: Token, mut text: Box<dyn Fulltext>) -> Result<()> {
        self.apply_text(file, None, TextFormat::Fulltext)?;
        while let Some(piece) = text.next_piece()? {
            self.text_chunk(file, piece)?;
        }
        self.text_end(file)
    }

    /// Asks whether the receiver has the content with this digest. If it says so, it has taken that
    /// as the file's new content, and the driver sends none. Asked instead of `apply_text`, and
    /// only by drivers for which sending contents costs a request each.
    fn known_text(&mut self, _file: Token, _text: &Sha1) -> Result<bool> {
        Ok(false)
    }

    /// Sets (`Some`) or deletes (`None`) a property of an open file.
    fn change_file_prop(&mut self, file: Token, name: &str, value: Option<&[u8]>) -> Result<()>;

    /// Closes a file. `text` is the checksum of its new content; the receiver checks it if it is
    /// given and there was a new content.
    fn close_file(&mut self, file: Token, text: Option<Md5>) -> Result<()>;

    /// Says that a file exists at `path` that the receiver may not see.
    fn absent_file(&mut self, path: &RelPath, parent: Token) -> Result<()>;

    /// Ends the drive: all was said, the receiver finishes its work.
    fn close_edit(&mut self) -> Result<()>;

    /// Gives up the drive. The receiver keeps what it can safely keep.
    fn abort_edit(&mut self) -> Result<()>;
}
