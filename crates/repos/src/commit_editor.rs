//! Makes a commit of a drive.

use std::collections::HashMap;

use bytes::Bytes;
use sylvan_core::repository::CommitInfo;
use sylvan_core::{
    Error, ErrorCode, Md5, NodeKind, Props, RelPath, RelPathBuf, Result, Revnum, Timestamp, props,
};
use sylvan_delta::{Applier, Base, CopyFrom, Editor, TextFormat, Token};
use sylvan_fs::Txn;
use sylvan_fs::lock::Access;
use sylvan_fs::rep::RepReader;
use sylvan_fs::txn::OpenText;

use crate::Repos;
use crate::commit::post_commit_text;
use crate::revprops::check_node_prop;

/// What somebody needs to be allowed for a step of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// To read a path.
    Read,
    /// To read a path and all below it.
    ReadTree,
    /// To change a path.
    Write,
    /// To change a path and all below it.
    WriteTree,
}

/// Tells whether a step of a commit is allowed at a path; without a path, whether anything may be
/// written at all.
pub type CommitCheck<'a> = dyn Fn(Needs, Option<&RelPath>) -> Result<bool> + Send + Sync + 'a;

/// How a commit is made.
pub struct CommitEditorOptions<'a> {
    /// The folder of the repository that the drive's root is.
    pub base: RelPathBuf,
    /// Properties of the revision to be, `svn:author` and `svn:log` among them.
    pub revprops: Props,
    /// What the client said that it can do.
    pub capabilities: &'a [&'a str],
    /// Who commits, and which lock tokens they have.
    pub access: Access,
    /// What they may do; everything if there is none.
    pub check: Option<&'a CommitCheck<'a>>,
    /// Tells the time.
    pub clock: fn() -> Timestamp,
}

/// Writes a drive into a transaction, and commits it when the drive is closed.
///
/// The drive is based on what the client has; the transaction on the youngest revision. What is
/// changed must be as it was in the revision that the client names, else it is out of date.
pub struct CommitEditor<'a> {
    repos: &'a Repos,
    options: CommitEditorOptions<'a>,
    txn: Option<Txn>,
    /// Something may be locked; otherwise nothing is looked up before the commit itself.
    has_locks: bool,
    dirs: HashMap<Token, Dir>,
    files: HashMap<Token, File>,
    /// The file whose content is being written; there can be only one.
    writing: Option<(Token, Writing)>,
    committed: Option<CommitInfo>,
}

struct Dir {
    /// Below the repository's root.
    path: RelPathBuf,
    base: Option<Revnum>,
    was_copied: bool,
    may_write: bool,
}

struct File {
    path: RelPathBuf,
    may_write: bool,
}

struct Writing {
    text: OpenText,
    applier: Applier<Box<dyn Base + Send>>,
}

impl<'a> CommitEditor<'a> {
    /// Makes an editor.
    ///
    /// # Errors
    /// `AUTHZ_UNWRITABLE` if nothing may be written.
    pub fn new(repos: &'a Repos, options: CommitEditorOptions<'a>) -> Result<Self> {
        if let Some(check) = options.check
            && !check(Needs::Write, None)?
        {
            return Err(Error::new(
                ErrorCode::AUTHZ_UNWRITABLE,
                "Not authorized to open a commit editor.",
            ));
        }
        Ok(Self {
            repos,
            options,
            txn: None,
            has_locks: repos.fs().was_ever_locked()?,
            dirs: HashMap::new(),
            files: HashMap::new(),
            writing: None,
            committed: None,
        })
    }

    /// Returns what there is to tell of the commit, once the drive was closed.
    pub fn into_committed(self) -> Option<CommitInfo> {
        self.committed
    }

    fn full(&self, path: &RelPath) -> RelPathBuf {
        self.options.base.join(path)
    }

    fn txn(&mut self) -> Result<&mut Txn> {
        self.txn.as_mut().ok_or_else(out_of_order)
    }

    fn dir(&self, token: Token) -> Result<&Dir> {
        self.dirs.get(&token).ok_or_else(out_of_order)
    }

    fn allow(&self, needs: Needs, path: &RelPath) -> Result<()> {
        let Some(check) = self.options.check else {
            return Ok(());
        };
        if check(needs, Some(path))? {
            return Ok(());
        }
        let code = match needs {
            Needs::Read | Needs::ReadTree => ErrorCode::AUTHZ_UNREADABLE,
            Needs::Write | Needs::WriteTree => ErrorCode::AUTHZ_UNWRITABLE,
        };
        Err(Error::new(code, "Access denied"))
    }

    /// Checks that no lock forbids a change, as the commit will do again.
    fn check_lock(&self, path: &RelPath, recurse: bool) -> Result<()> {
        if !self.has_locks {
            return Ok(());
        }
        let now = (self.options.clock)();
        let fs = self.repos.fs();
        fs.allow_locked_operation(path, recurse, &self.options.access, now)
    }

    /// Checks that a node is as it was in the revision that the client has.
    fn check_up_to_date(&mut self, path: &RelPath, kind: NodeKind, base: Revnum) -> Result<()> {
        let txn = self.txn()?;
        let node = txn.node(path)?;
        // The root of a transaction in which nothing was changed yet is that of its base.
        let id = if node.fresh_txn_root {
            node.predecessor.as_ref()
        } else {
            Some(&node.id)
        };
        let created = id.and_then(|id| id.revision());
        if created.is_some_and(|created| base < created) {
            return Err(out_of_date(path, kind));
        }
        if created != Some(base) && base > txn.base_revision() {
            return Err(Error::new(
                ErrorCode::FS_NO_SUCH_REVISION,
                format!("No such revision {base}"),
            ));
        }
        Ok(())
    }

    /// Adds or copies a file or folder.
    fn add(
        &mut self,
        path: &RelPath,
        parent: Token,
        copy_from: Option<&CopyFrom>,
        kind: NodeKind,
    ) -> Result<RelPathBuf> {
        check_name(path)?;
        let full = self.full(path);
        let Dir {
            path: parent,
            was_copied,
            ..
        } = self.dir(parent)?;
        let (parent, was_copied) = (parent.clone(), *was_copied);
        let tree = copy_from.is_some() && kind == NodeKind::Dir;
        let (read, write) = if tree {
            (Needs::ReadTree, Needs::WriteTree)
        } else {
            (Needs::Read, Needs::Write)
        };
        self.allow(write, &full)?;
        self.allow(Needs::Write, &parent)?;
        let Some(source) = copy_from else {
            self.check_lock(&full, true)?;
            let txn = self.txn()?;
            match kind {
                NodeKind::Dir => txn.make_dir(&full)?,
                _ => txn.make_file(&full)?,
            }
            return Ok(full);
        };
        // What came with a copy of the folder is replaced.
        let there = self.txn()?.kind(&full)?;
        if there != NodeKind::None && !was_copied {
            return Err(out_of_date(&full, there));
        }
        let root = self.repos.fs().revision_root(source.rev)?;
        self.allow(read, &source.path)?;
        self.check_lock(&full, true)?;
        self.txn()?.copy(&root, &source.path, &full)?;
        Ok(full)
    }

    /// Checks once that a file may be changed.
    fn writable(&mut self, file: Token) -> Result<RelPathBuf> {
        let File { path, may_write } = self.files.get(&file).ok_or_else(out_of_order)?;
        let path = path.clone();
        if !*may_write {
            self.allow(Needs::Write, &path)?;
            self.check_lock(&path, false)?;
            if let Some(file) = self.files.get_mut(&file) {
                file.may_write = true;
            }
        }
        Ok(path)
    }

    fn commit(&mut self) -> Result<CommitInfo> {
        let mut txn = self.txn.take().ok_or_else(|| {
            Error::new(
                ErrorCode::REPOS_BAD_ARGS,
                "No valid transaction supplied to close_edit",
            )
        })?;
        let now = (self.options.clock)();
        let committed = match self.repos.commit(&mut txn, &self.options.access, now) {
            Ok(committed) => committed,
            Err(error) => {
                return Err(match txn.abort() {
                    Ok(()) => error,
                    Err(other) => error.attach(other),
                });
            }
        };
        let revprops = self.repos.fs().revprops(committed.revision)?;
        let text = |name: &str| {
            let value = revprops.get(name)?;
            Some(String::from_utf8_lossy(value).into_owned())
        };
        Ok(CommitInfo {
            rev: committed.revision,
            date: text(props::REVISION_DATE),
            author: text(props::REVISION_AUTHOR),
            post_commit_error: committed.after.as_ref().map(post_commit_text),
        })
    }
}

impl Editor for CommitEditor<'_> {
    fn set_target_revision(&mut self, _: Revnum) -> Result<()> {
        Ok(())
    }

    fn open_root(&mut self, base: Option<Revnum>, root: Token) -> Result<()> {
        let youngest = self.repos.fs().youngest()?;
        if let Some(base) = base.filter(|base| *base > youngest) {
            return Err(Error::new(
                ErrorCode::FS_NO_SUCH_REVISION,
                format!("No such revision {base} (HEAD is {youngest})"),
            ));
        }
        if self.txn.is_some() || self.committed.is_some() {
            return Err(out_of_order());
        }
        let CommitEditorOptions {
            revprops,
            capabilities,
            clock,
            ..
        } = &self.options;
        let txn = self
            .repos
            .begin_commit(youngest, revprops, capabilities, clock())?;
        self.txn = Some(txn);
        let dir = Dir {
            path: self.options.base.clone(),
            base,
            was_copied: false,
            may_write: false,
        };
        self.dirs.insert(root, dir);
        Ok(())
    }

    fn delete_entry(&mut self, path: &RelPath, rev: Option<Revnum>, parent: Token) -> Result<()> {
        let full = self.full(path);
        let parent = self.dir(parent)?.path.clone();
        let kind = self.txn()?.kind(&full)?;
        let needs = if kind == NodeKind::Dir {
            Needs::WriteTree
        } else {
            Needs::Write
        };
        self.allow(needs, &full)?;
        self.allow(Needs::Write, &parent)?;
        if kind == NodeKind::None {
            return Err(out_of_date(&full, kind));
        }
        if let Some(rev) = rev {
            self.check_up_to_date(&full, kind, rev)?;
        }
        self.check_lock(&full, true)?;
        self.txn()?.delete(&full)
    }

    fn add_directory(
        &mut self,
        path: &RelPath,
        parent: Token,
        copy_from: Option<CopyFrom>,
        dir: Token,
    ) -> Result<()> {
        let path = self.add(path, parent, copy_from.as_ref(), NodeKind::Dir)?;
        let new = Dir {
            path,
            base: None,
            was_copied: copy_from.is_some(),
            may_write: true,
        };
        self.dirs.insert(dir, new);
        Ok(())
    }

    fn open_directory(
        &mut self,
        path: &RelPath,
        parent: Token,
        base: Option<Revnum>,
        dir: Token,
    ) -> Result<()> {
        let full = self.full(path);
        let was_copied = self.dir(parent)?.was_copied;
        if self.txn()?.kind(&full)? == NodeKind::None {
            return Err(Error::new(
                ErrorCode::FS_NOT_DIRECTORY,
                format!("Path '{path}' not present"),
            ));
        }
        let opened = Dir {
            path: full,
            base,
            was_copied,
            may_write: false,
        };
        self.dirs.insert(dir, opened);
        Ok(())
    }

    fn change_dir_prop(&mut self, dir: Token, name: &str, value: Option<&[u8]>) -> Result<()> {
        let Dir {
            path,
            base,
            may_write,
            ..
        } = self.dir(dir)?;
        let (path, base) = (path.clone(), *base);
        if !*may_write {
            self.allow(Needs::Write, &path)?;
            if let Some(base) = base {
                self.check_up_to_date(&path, NodeKind::Dir, base)?;
            }
            if let Some(dir) = self.dirs.get_mut(&dir) {
                dir.may_write = true;
            }
        }
        self.set_prop(&path, name, value)
    }

    fn close_directory(&mut self, dir: Token) -> Result<()> {
        self.dirs.remove(&dir).map(drop).ok_or_else(out_of_order)
    }

    fn absent_directory(&mut self, _: &RelPath, _: Token) -> Result<()> {
        Ok(())
    }

    fn add_file(
        &mut self,
        path: &RelPath,
        parent: Token,
        copy_from: Option<CopyFrom>,
        file: Token,
    ) -> Result<()> {
        let path = self.add(path, parent, copy_from.as_ref(), NodeKind::File)?;
        let new = File {
            path,
            may_write: true,
        };
        self.files.insert(file, new);
        Ok(())
    }

    fn open_file(
        &mut self,
        path: &RelPath,
        parent: Token,
        base: Option<Revnum>,
        file: Token,
    ) -> Result<()> {
        self.dir(parent)?;
        let full = self.full(path);
        self.allow(Needs::Read, &full)?;
        // Fails if there is nothing.
        self.txn()?.node(&full)?;
        if let Some(base) = base {
            self.check_up_to_date(&full, NodeKind::File, base)?;
        }
        let opened = File {
            path: full,
            may_write: false,
        };
        self.files.insert(file, opened);
        Ok(())
    }

    fn apply_text(&mut self, file: Token, base: Option<Md5>, format: TextFormat) -> Result<()> {
        let path = self.writable(file)?;
        if self.writing.is_some() {
            let id = self.txn()?.id();
            return Err(Error::new(
                ErrorCode::FS_REP_BEING_WRITTEN,
                format!(
                    "Cannot write to the prototype revision file of transaction '{id}' because a \
                     previous representation is currently being written by this process"
                ),
            ));
        }
        let txn = self.txn()?;
        let mut old = None;
        if format == TextFormat::Svndiff || base.is_some() {
            old = Some(txn.contents(&path)?);
        }
        if let Some(base) = base {
            let actual = stored_md5(txn, &path)?;
            if !base.allows(actual) {
                let what = format!("Base checksum mismatch on '/{path}'");
                return Err(checksum_mismatch(&what, base, actual));
            }
        }
        let base = OldText {
            reader: old,
            start: 0,
            bytes: Vec::new(),
        };
        let writing = Writing {
            text: txn.open_text(&path)?,
            applier: Applier::new(format, Box::new(base)),
        };
        self.writing = Some((file, writing));
        Ok(())
    }

    fn text_chunk(&mut self, file: Token, chunk: Bytes) -> Result<()> {
        let Self { writing, txn, .. } = self;
        match (writing, txn) {
            (Some((token, writing)), Some(txn)) if *token == file => {
                let text = &mut writing.text;
                writing
                    .applier
                    .push(&chunk, |piece| txn.push_text(text, piece))
            }
            _ => Err(out_of_order()),
        }
    }

    fn text_end(&mut self, file: Token) -> Result<()> {
        let writing = self.writing.take().filter(|(token, _)| *token == file);
        let (_, writing) = writing.ok_or_else(out_of_order)?;
        let txn = self.txn()?;
        match writing.applier.finish() {
            Ok(()) => txn.close_text(writing.text, None).map(drop),
            Err(error) => Err(match txn.cancel_text(writing.text) {
                Ok(()) => error,
                Err(other) => error.attach(other),
            }),
        }
    }

    fn change_file_prop(&mut self, file: Token, name: &str, value: Option<&[u8]>) -> Result<()> {
        let path = self.writable(file)?;
        self.set_prop(&path, name, value)
    }

    fn close_file(&mut self, file: Token, text: Option<Md5>) -> Result<()> {
        let File { path, .. } = self.files.remove(&file).ok_or_else(out_of_order)?;
        if matches!(&self.writing, Some((token, _)) if *token == file) {
            return Err(out_of_order());
        }
        let Some(expected) = text else {
            return Ok(());
        };
        let actual = stored_md5(self.txn()?, &path)?;
        if expected.allows(actual) {
            return Ok(());
        }
        let what = format!("Checksum mismatch for resulting fulltext\n(/{path})");
        Err(checksum_mismatch(&what, expected, actual))
    }

    fn absent_file(&mut self, _: &RelPath, _: Token) -> Result<()> {
        Ok(())
    }

    fn close_edit(&mut self) -> Result<()> {
        self.committed = Some(self.commit()?);
        Ok(())
    }

    fn abort_edit(&mut self) -> Result<()> {
        self.writing = None;
        match self.txn.take() {
            Some(txn) => txn.abort(),
            None => Ok(()),
        }
    }
}

impl CommitEditor<'_> {
    fn set_prop(&mut self, path: &RelPath, name: &str, value: Option<&[u8]>) -> Result<()> {
        check_node_prop(path.as_str(), name, value)?;
        self.txn()?
            .set_node_prop(path, name, value.map(<[u8]>::to_vec))
    }
}

impl std::fmt::Debug for CommitEditor<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CommitEditor")
            .field("base", &self.options.base)
            .field("txn", &self.txn)
            .finish_non_exhaustive()
    }
}

/// The text that a delta is against. Windows go forward only, so a part of it suffices.
struct OldText {
    reader: Option<RepReader>,
    /// Where `bytes` begins.
    start: u64,
    bytes: Vec<u8>,
}

impl Base for OldText {
    fn view<'a>(&'a mut self, offset: u64, len: usize, _: &'a mut Vec<u8>) -> Result<&'a [u8]> {
        let short = || {
            Error::new(
                ErrorCode::INCOMPLETE_DATA,
                "Delta source ended unexpectedly",
            )
        };
        let skip = offset.checked_sub(self.start).ok_or_else(short)?;
        let mut skip = usize::try_from(skip).map_err(|_| short())?;
        while self.bytes.len() < skip.checked_add(len).ok_or_else(short)? {
            // What lies before the view is not needed any more.
            let gone = skip.min(self.bytes.len());
            self.bytes.drain(..gone);
            self.start += gone as u64;
            skip -= gone;
            let next = self
                .reader
                .as_mut()
                .map(RepReader::next_piece)
                .transpose()?;
            let piece = next.flatten().ok_or_else(short)?;
            self.bytes.extend_from_slice(&piece);
        }
        Ok(&self.bytes[skip..skip + len])
    }
}

/// Returns the digest of a file's content.
fn stored_md5(txn: &Txn, path: &RelPath) -> Result<Md5> {
    let node = txn.node(path)?;
    match &node.text {
        None => Ok(Md5::EMPTY),
        Some(rep) if rep.md5.0 != [0; 16] => Ok(rep.md5),
        Some(_) => {
            let mut digest = <md5::Md5 as md5::Digest>::new();
            let mut text = txn.contents(path)?;
            while let Some(piece) = text.next_piece()? {
                md5::Digest::update(&mut digest, &piece);
            }
            Ok(Md5(md5::Digest::finalize(digest).into()))
        }
    }
}

fn out_of_date(path: &RelPath, kind: NodeKind) -> Error {
    let what = match kind {
        NodeKind::Dir => "Directory ",
        NodeKind::File => "File ",
        _ => "",
    };
    Error::new(
        ErrorCode::FS_TXN_OUT_OF_DATE,
        format!("{what}'/{path}' is out of date"),
    )
}

/// Refuses names that no program could show or store.
fn check_name(path: &RelPath) -> Result<()> {
    let Some(bad) = path.as_str().bytes().find(u8::is_ascii_control) else {
        return Ok(());
    };
    let shown: String = path
        .as_str()
        .chars()
        .map(|c| match c {
            c if c.is_ascii_control() => format!("\\{:03o}", u32::from(c)),
            c => c.to_string(),
        })
        .collect();
    Err(Error::new(
        ErrorCode::FS_PATH_SYNTAX,
        format!("Invalid control character '0x{bad:02x}' in path '{shown}'"),
    ))
}

fn checksum_mismatch(what: &str, expected: Md5, actual: Md5) -> Error {
    Error::new(
        ErrorCode::CHECKSUM_MISMATCH,
        format!("{what}:\n   expected:  {expected}\n     actual:  {actual}\n"),
    )
}

fn out_of_order() -> Error {
    Error::new(
        ErrorCode::INCORRECT_PARAMS,
        "The description of the commit is out of order",
    )
}
