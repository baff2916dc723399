use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use sylvan_core::mergeinfo::Mergeinfo;
use sylvan_core::{
    Depth, Error, ErrorCode, Lock, NodeKind, Props, RelPath, RelPathBuf, Result, Revnum, Timestamp,
    Url,
};
use sylvan_delta::svndiff::Version;
use sylvan_delta::{Editor, ReportEntry};

pub use sylvan_fs::tree::MergeinfoInheritance;

pub use sylvan_core::repository::{
    ChangedPath, CommitInfo, DirEntry, DirEntryFields, InheritedProps, ListReceiver,
    LocationSegment, LogEntry, LogOptions, LogReceiver,
};

/// What a session can be asked whether the server knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Capability {
    /// Depth in reports.
    Depth,
    /// Merge tracking.
    Mergeinfo,
    /// Log with chosen revision properties.
    LogRevprops,
    /// Replay of a part of a repository.
    PartialReplay,
    /// Revision properties set with a commit.
    CommitRevprops,
    /// Revision properties changed only if they have an expected value.
    AtomicRevprops,
    /// Properties inherited from parents.
    InheritedProps,
    /// Revision properties for a transaction only.
    EphemeralTxnprops,
    /// `file_revs` from younger to older.
    FileRevsReverse,
    /// The `list` operation.
    List,
}

/// What an update brings.
#[derive(Clone, Debug)]
pub struct UpdateOptions {
    /// The revision wanted; `None` is the youngest.
    pub rev: Option<Revnum>,
    /// One child of the anchor to be updated, or empty for the anchor itself.
    pub target: String,
    /// How deep; `None` is what the report says of each folder.
    pub depth: Option<Depth>,
    /// Whether added nodes are sent with where they were copied from.
    pub send_copyfrom_args: bool,
    /// Whether a node of other ancestry at the same path may be sent as a change.
    pub ignore_ancestry: bool,
}

/// What a commit is made with.
#[derive(Clone, Debug, Default)]
pub struct CommitOptions {
    /// Properties of the revision to be, `svn:log` among them; the author is added.
    pub revprops: Props,
    /// The tokens of locks that the user holds, by path below the session's URL.
    pub lock_tokens: BTreeMap<RelPathBuf, String>,
    /// Whether the locks stay.
    pub keep_locks: bool,
}

/// How a session wants the new texts of nodes that had one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeltaFormat {
    /// As they are.
    Fulltext,
    /// As svndiff against the old text.
    Svndiff {
        /// The version that the server reads.
        version: Version,
        /// How hard zlib is to try, if the version uses it.
        level: u32,
    },
}

/// Drives an editor with what is to be committed, up to `close_edit` (which makes the commit), or
/// fails.
pub type CommitDrive<'a> = dyn FnMut(&mut dyn Editor) -> Result<()> + 'a;

/// Is told of each file what became of locking or unlocking it; locks come with what is known of
/// them.
pub type LockTold<'a> = dyn FnMut(&RelPath, Result<Option<Lock>>) -> Result<()> + 'a;

/// A folder's listing with what else was asked for.
#[derive(Clone, Debug, Default)]
pub struct Directory {
    /// Children by name.
    pub entries: BTreeMap<String, DirEntry>,
    /// The revision that was read.
    pub rev: Revnum,
    /// The folder's properties, entry properties too.
    pub props: Props,
}

/// A file as it was in one revision, and what changed since the revision sent before.
#[derive(Clone, Debug)]
pub struct FileRev {
    /// The path below the repository root, with a leading slash.
    pub path: String,
    /// The revision.
    pub rev: Revnum,
    /// The revision's properties.
    pub revprops: Props,
    /// Whether the revision came by a merge.
    pub merged: bool,
    /// Properties that are other than in the revision sent before; `None` where they are gone.
    pub prop_changes: Vec<(String, Option<Vec<u8>>)>,
    /// The whole text, unless it is as in the revision sent before.
    pub text: Option<Arc<Vec<u8>>>,
}

/// Receives the revisions of a file.
pub type FileRevReceiver<'a> = dyn FnMut(FileRev) -> Result<()> + 'a;

/// An open repository, seen from one URL in it (the session URL). Paths are relative to that URL
/// unless they are said to be below the repository root. A revision of `None` is the youngest.
///
/// Sessions are blocking. One session is used by one thread at a time; it may use several
/// connections inside. They poll the cancellation flag they were opened with.
pub trait Session: Send {
    /// Returns the session URL.
    fn url(&self) -> &Url;

    /// Moves the session to another URL of the same repository.
    ///
    /// # Errors
    /// `RA_ILLEGAL_URL` if `url` is not below the repository root.
    fn reparent(&mut self, url: &Url) -> Result<()>;

    /// Returns the URL of the repository's root.
    fn repos_root(&mut self) -> Result<Url>;

    /// Returns the repository's UUID.
    fn uuid(&mut self) -> Result<String>;

    /// Tells whether the server has a capability.
    fn has_capability(&mut self, capability: Capability) -> Result<bool>;

    /// Returns the youngest revision.
    fn latest_rev(&mut self) -> Result<Revnum>;

    /// Returns the youngest revision at a moment.
    fn dated_rev(&mut self, time: Timestamp) -> Result<Revnum>;

    /// Returns all revision properties of a revision.
    fn rev_proplist(&mut self, rev: Revnum) -> Result<Props>;

    /// Returns one revision property.
    fn rev_prop(&mut self, rev: Revnum, name: &str) -> Result<Option<Vec<u8>>>;

    /// Returns the kind of a node, [`NodeKind::None`] if there is none.
    fn check_path(&mut self, path: &RelPath, rev: Option<Revnum>) -> Result<NodeKind>;

    /// Returns what is known of a node, `None` if there is none.
    fn stat(&mut self, path: &RelPath, rev: Option<Revnum>) -> Result<Option<DirEntry>>;

    /// Writes a file's content to `out` (if given) and returns the revision read and the file's
    /// properties (entry properties too). The content's checksum is checked.
    fn read_file(
        &mut self,
        path: &RelPath,
        rev: Option<Revnum>,
        out: Option<&mut dyn Write>,
    ) -> Result<(Revnum, Props)>;

    /// Reads a folder; `entries` says which fields of its children, `None` for no children.
    fn read_dir(
        &mut self,
        path: &RelPath,
        rev: Option<Revnum>,
        entries: Option<DirEntryFields>,
    ) -> Result<Directory>;

    /// Lists a tree, filtered by glob `patterns` on the last component (none: everything).
    fn list(
        &mut self,
        path: &RelPath,
        rev: Option<Revnum>,
        patterns: Option<&[String]>,
        depth: Depth,
        fields: DirEntryFields,
        receive: &mut ListReceiver<'_>,
    ) -> Result<()>;

    /// Sends log entries to `receive`.
    fn log(&mut self, options: &LogOptions, receive: &mut LogReceiver<'_>) -> Result<()>;

    /// Reports what the client has and drives `editor` with what brings it up to date. Calls
    /// `close_edit`, or `abort_edit` on any error.
    fn update(
        &mut self,
        options: &UpdateOptions,
        report: &[ReportEntry],
        editor: &mut dyn Editor,
    ) -> Result<()>;

    /// As [`Session::update`], to another URL.
    fn switch(
        &mut self,
        options: &UpdateOptions,
        url: &Url,
        report: &[ReportEntry],
        editor: &mut dyn Editor,
    ) -> Result<()>;

    /// As [`Session::update`], without file contents: for `status --show-updates`. A file whose text
    /// differs gets an `apply_text` and a `text_end` with nothing between them.
    fn status(
        &mut self,
        options: &UpdateOptions,
        report: &[ReportEntry],
        editor: &mut dyn Editor,
    ) -> Result<()>;

    /// As [`Session::switch`], for nothing but the difference: the editor is told how to get from
    /// what is reported to `url`. Contents come only if `text_deltas`, else as with
    /// [`Session::status`].
    fn diff(
        &mut self,
        options: &UpdateOptions,
        url: &Url,
        text_deltas: bool,
        report: &[ReportEntry],
        editor: &mut dyn Editor,
    ) -> Result<()> {
        let _ = (options, url, text_deltas, report, editor);
        Err(Error::from_code(ErrorCode::RA_NOT_IMPLEMENTED))
    }

    /// Tells how the commit editor wants new texts; new nodes' texts are always sent as they are.
    fn delta_format(&mut self) -> Result<DeltaFormat> {
        Ok(DeltaFormat::Fulltext)
    }

    /// Commits what `drive` says to the editor that it is called with, whose root is the session's
    /// URL. Calls `abort_edit` if the drive fails.
    ///
    /// # Errors
    /// `FS_TXN_OUT_OF_DATE` and `FS_CONFLICT` if others were faster, and the errors of locks, hooks
    /// and permissions; `RA_NOT_IMPLEMENTED` where there is none yet.
    fn commit(
        &mut self,
        options: &CommitOptions,
        drive: &mut CommitDrive<'_>,
    ) -> Result<CommitInfo> {
        let _ = (options, drive);
        Err(Error::from_code(ErrorCode::RA_NOT_IMPLEMENTED))
    }

    /// Sets (`Some`) or deletes a property of a revision. With `expected`, only if it has that value
    /// before (`Some(None)`: if it is not there).
    ///
    /// # Errors
    /// `FS_PROP_BASEVALUE_MISMATCH` if it has not; the errors of hooks and permissions.
    fn change_rev_prop(
        &mut self,
        rev: Revnum,
        name: &str,
        expected: Option<Option<&[u8]>>,
        value: Option<&[u8]>,
    ) -> Result<()> {
        let _ = (rev, name, expected, value);
        Err(Error::from_code(ErrorCode::RA_NOT_IMPLEMENTED))
    }

    /// Locks files, each of which must not have changed since the revision that is given with it;
    /// `told` hears what became of each. With `steal`, locks of others are taken over.
    ///
    /// # Errors
    /// What concerns all of them, and what `told` returns.
    fn lock_files(
        &mut self,
        targets: &BTreeMap<RelPathBuf, Option<Revnum>>,
        comment: Option<&str>,
        steal: bool,
        told: &mut LockTold<'_>,
    ) -> Result<()> {
        let _ = (targets, comment, steal, told);
        Err(Error::from_code(ErrorCode::RA_NOT_IMPLEMENTED))
    }

    /// Unlocks files, each with the token of its lock; with `break_locks`, locks of others too, and
    /// without tokens.
    ///
    /// # Errors
    /// As [`Session::lock_files`].
    fn unlock_files(
        &mut self,
        targets: &BTreeMap<RelPathBuf, Option<String>>,
        break_locks: bool,
        told: &mut LockTold<'_>,
    ) -> Result<()> {
        let _ = (targets, break_locks, told);
        Err(Error::from_code(ErrorCode::RA_NOT_IMPLEMENTED))
    }

    /// Returns where `path` at `peg` was at each of `revs` (paths below the repository root);
    /// revisions where it did not exist are left out.
    fn locations(
        &mut self,
        path: &RelPath,
        peg: Revnum,
        revs: &[Revnum],
    ) -> Result<Vec<(Revnum, RelPathBuf)>>;

    /// Returns the history of `path` at `peg` from `start` (younger) down to `end`, youngest first.
    fn location_segments(
        &mut self,
        path: &RelPath,
        peg: Option<Revnum>,
        start: Option<Revnum>,
        end: Option<Revnum>,
    ) -> Result<Vec<LocationSegment>>;

    /// Gives the revisions from `start` to `end` in which a file changed to `receive`, and the one
    /// before; younger first if `start` is younger. With `include_merged`, merged revisions come too.
    ///
    /// # Errors
    /// `FS_NOT_FILE` if it is no file; `RA_NOT_IMPLEMENTED` where a server has no such command.
    fn file_revs(
        &mut self,
        path: &RelPath,
        start: Option<Revnum>,
        end: Option<Revnum>,
        include_merged: bool,
        receive: &mut FileRevReceiver<'_>,
    ) -> Result<()> {
        let _ = (path, start, end, include_merged, receive);
        Err(Error::from_code(ErrorCode::RA_NOT_IMPLEMENTED))
    }

    /// Returns what was merged into paths, by path; those with nothing are left out.
    ///
    /// # Errors
    /// `UNSUPPORTED_FEATURE` if the repository or the server has no merge tracking;
    /// `FS_NOT_FOUND` if a path is not there.
    fn mergeinfo(
        &mut self,
        paths: &[RelPathBuf],
        rev: Option<Revnum>,
        inheritance: MergeinfoInheritance,
        include_descendants: bool,
    ) -> Result<BTreeMap<RelPathBuf, Mergeinfo>> {
        let _ = (paths, rev, inheritance, include_descendants);
        Err(Error::from_code(ErrorCode::RA_NOT_IMPLEMENTED))
    }

    /// Returns the lock on a path.
    fn lock(&mut self, path: &RelPath) -> Result<Option<Lock>>;

    /// Returns the locks on and below a path, by path below the repository root.
    fn locks(&mut self, path: &RelPath, depth: Depth) -> Result<Vec<Lock>>;

    /// Returns the properties that `path` inherits, root first.
    fn inherited_props(&mut self, path: &RelPath, rev: Revnum) -> Result<Vec<InheritedProps>>;

    /// Returns the revision in which `path`, present at `peg`, was first deleted up to `end`.
    fn deleted_rev(&mut self, path: &RelPath, peg: Revnum, end: Revnum) -> Result<Option<Revnum>>;
}
