//! What differs between two trees of a repository: an editor that is told how to get from one to
//! the other and fetches what was there before.

use std::collections::{BTreeMap, HashMap};

use bytes::Bytes;
use sylvan_core::props::PropKind;
use sylvan_core::{Error, ErrorCode, Md5, NodeKind, Props, RelPath, RelPathBuf, Result, Revnum};
use sylvan_delta::{Applier, Base, CopyFrom, Editor, EmptyBase, SeekBase, TextFormat, Token};
use sylvan_io::Cancel;
use sylvan_ra::{DirEntryFields, Session};

use super::change::{Change, Pipe, Side, Take as _};
use super::order::{Kept, Order};
use super::text::{Spool, Text};

/// See the module.
pub(super) struct ReposEditor<'a, 'p> {
    /// A session at the same URL as that which drives, but another.
    session: &'a mut dyn Session,
    /// The revision of the old tree.
    rev: Revnum,
    /// That of the new one.
    target_rev: Option<Revnum>,
    text_deltas: bool,
    cancel: &'a Cancel,
    pipe: Pipe<'p>,
    order: Order,
    dirs: HashMap<Token, Dir>,
    files: HashMap<Token, OpenFile>,
}

/// Property changes as they arrive.
pub(super) type Changes = BTreeMap<String, Option<Vec<u8>>>;

struct Dir {
    path: RelPathBuf,
    is_added: bool,
    base: Option<Revnum>,
    changes: Changes,
}

struct OpenFile {
    path: RelPathBuf,
    is_added: bool,
    base: Revnum,
    changes: Changes,
    kept: Kept,
    /// Nobody wants to know of it.
    skip: bool,
    old: Option<(Text, Props)>,
    new: Option<Receiving>,
    new_text: Option<Text>,
    digest: Option<Md5>,
    text: bool,
}

/// A content that arrives.
pub(super) struct Receiving {
    applier: Applier<Box<dyn Base + Send>>,
    spool: Spool,
}

impl Receiving {
    /// Makes one against the old content.
    pub(super) fn new(format: TextFormat, old: Option<&Text>) -> Result<Self> {
        let base: Box<dyn Base + Send> = match (format, old) {
            (TextFormat::Fulltext, _) | (_, None) => Box::new(EmptyBase),
            (TextFormat::Svndiff, Some(Text::Memory(bytes))) => {
                Box::new(SeekBase::new(std::io::Cursor::new(bytes.clone())))
            }
            (TextFormat::Svndiff, Some(Text::File(path))) => {
                Box::new(SeekBase::new(sylvan_io::file::open(path)?))
            }
            (TextFormat::Svndiff, Some(Text::Temp(temp))) => {
                Box::new(SeekBase::new(sylvan_io::file::open(temp.path())?))
            }
        };
        Ok(Self {
            applier: Applier::new(format, base),
            spool: Spool::digesting(),
        })
    }

    pub(super) fn push(&mut self, chunk: &[u8]) -> Result<()> {
        let spool = &mut self.spool;
        self.applier.push(chunk, |bytes| spool.push(bytes))
    }

    pub(super) fn finish(self) -> Result<(Text, Option<Md5>)> {
        self.applier.finish()?;
        Ok(self.spool.finish())
    }
}

/// Deeper than any tree; only a server that makes things up goes on.
const DEEPEST: usize = 2000;

/// Requires a content to have the digest that was announced.
pub(super) fn check_digest(path: &str, expected: Option<Md5>, found: Option<Md5>) -> Result<()> {
    let (Some(expected), Some(found)) = (expected, found) else {
        return Ok(());
    };
    if expected.allows(found) {
        return Ok(());
    }
    Err(Error::new(
        ErrorCode::CHECKSUM_MISMATCH,
        format!(
            "Checksum mismatch for '{path}':\n   expected:  {expected}\n     actual:  {found}\n"
        ),
    ))
}

/// Applies property changes.
pub(super) fn patched(props: &Props, changes: &Changes) -> Props {
    let mut props = props.clone();
    for (name, value) in changes {
        match value {
            Some(value) => props.insert(name.clone(), value.clone()),
            None => props.remove(name),
        };
    }
    props
}

/// Tells whether any change is one of a versioned property.
pub(super) fn has_regular(changes: &Changes) -> bool {
    changes
        .keys()
        .any(|name| PropKind::of(name) == PropKind::Regular)
}

/// Notes a property change, unless it belongs to the network layer.
pub(super) fn note(changes: &mut Changes, name: &str, value: Option<&[u8]>) {
    if PropKind::of(name) != PropKind::Wc {
        changes.insert(name.to_owned(), value.map(<[u8]>::to_vec));
    }
}

pub(super) fn unknown_token() -> Error {
    Error::new(
        ErrorCode::RA_SVN_MALFORMED_DATA,
        "The server changes a node that is not open",
    )
}

impl<'a, 'p> ReposEditor<'a, 'p> {
    pub(super) fn new(
        session: &'a mut dyn Session,
        rev: Revnum,
        text_deltas: bool,
        cancel: &'a Cancel,
        pipe: Pipe<'p>,
    ) -> Self {
        Self {
            session,
            rev,
            target_rev: None,
            text_deltas,
            cancel,
            pipe,
            order: Order::default(),
            dirs: HashMap::new(),
            files: HashMap::new(),
        }
    }

    fn dir(&mut self, token: Token) -> Result<&mut Dir> {
        self.dirs.get_mut(&token).ok_or_else(unknown_token)
    }

    fn file(&mut self, token: Token) -> Result<&mut OpenFile> {
        self.files.get_mut(&token).ok_or_else(unknown_token)
    }

    fn wants_texts(&self) -> bool {
        self.text_deltas && self.pipe.wants_texts()
    }

    /// Fetches a file as it was.
    fn read_old(
        session: &mut dyn Session,
        path: &RelPath,
        rev: Revnum,
        with_text: bool,
    ) -> Result<(Option<Text>, Props)> {
        if !with_text {
            let (_, props) = session.read_file(path, Some(rev), None)?;
            return Ok((None, props));
        }
        let mut spool = Spool::default();
        let (_, props) = session.read_file(path, Some(rev), Some(&mut spool))?;
        Ok((Some(spool.finish().0), props))
    }

    fn deleted_file(&mut self, path: &RelPath) -> Result<()> {
        self.cancel.check()?;
        if !self.pipe.wants(path, None) {
            return Ok(());
        }
        let mut left = Side {
            rev: Some(self.rev),
            ..Side::default()
        };
        if self.text_deltas {
            let with_text = self.pipe.wants_texts();
            (left.text, left.props) = Self::read_old(self.session, path, self.rev, with_text)?;
        }
        let change = Change::deleted(path.to_owned(), NodeKind::File, left);
        self.order.push(change, &mut self.pipe)
    }

    fn deleted_dir(&mut self, path: &RelPath) -> Result<()> {
        self.cancel.check()?;
        if path.depth() > DEEPEST {
            return Err(Error::new(
                ErrorCode::RA_SVN_MALFORMED_DATA,
                format!("'{path}' is too deep"),
            ));
        }
        let fields = Some(DirEntryFields::KIND);
        let listing = self.session.read_dir(path, Some(self.rev), fields)?;
        for (name, entry) in &listing.entries {
            let child = path.child(name)?;
            match entry.kind {
                NodeKind::File => self.deleted_file(&child)?,
                NodeKind::Dir => self.deleted_dir(&child)?,
                _ => {}
            }
        }
        let left = Side {
            rev: Some(self.rev),
            props: listing.props,
            text: None,
        };
        let change = Change::deleted(path.to_owned(), NodeKind::Dir, left);
        self.order.push(change, &mut self.pipe)
    }

    fn open(&mut self, path: &RelPath, base: Option<Revnum>, is_added: bool, file: Token) {
        let kept = self.order.keep();
        let skip = !self.pipe.wants(path, None);
        self.files.insert(
            file,
            OpenFile {
                path: path.to_owned(),
                is_added,
                base: base.unwrap_or(self.rev),
                changes: Changes::new(),
                kept,
                skip,
                old: None,
                new: None,
                new_text: None,
                digest: None,
                text: false,
            },
        );
    }

    /// Makes what is told of a file that was closed.
    fn file_change(&mut self, mut file: OpenFile) -> Result<Option<Change>> {
        let has_props = has_regular(&file.changes);
        if file.skip || !(file.is_added || file.text || has_props) {
            return Ok(None);
        }
        let right = |props: Props, text: Option<Text>| Side {
            rev: self.target_rev,
            props,
            text,
        };
        if file.is_added {
            let props = patched(&Props::new(), &file.changes);
            let text = match file.new_text {
                None if self.wants_texts() => Some(Text::empty()),
                text => text,
            };
            let right = right(props, text);
            return Ok(Some(Change::added(file.path, NodeKind::File, right)));
        }
        let (old_text, props) = match file.old.take() {
            Some((text, props)) => (Some(text), props),
            None if has_props => {
                let (session, base) = (&mut *self.session, file.base);
                (None, Self::read_old(session, &file.path, base, false)?.1)
            }
            None => (None, Props::new()),
        };
        let left = Side {
            rev: Some(self.rev),
            props,
            text: old_text,
        };
        let right = right(patched(&left.props, &file.changes), file.new_text);
        Ok(Some(Change {
            text: file.text,
            ..Change::changed(file.path, NodeKind::File, left, right)
        }))
    }
}

impl Editor for ReposEditor<'_, '_> {
    fn set_target_revision(&mut self, rev: Revnum) -> Result<()> {
        self.target_rev = Some(rev);
        Ok(())
    }

    fn open_root(&mut self, base: Option<Revnum>, root: Token) -> Result<()> {
        self.open_directory(RelPath::ROOT, root, base, root)
    }

    fn delete_entry(&mut self, path: &RelPath, _: Option<Revnum>, _: Token) -> Result<()> {
        match self.session.check_path(path, Some(self.rev))? {
            NodeKind::File => self.deleted_file(path),
            NodeKind::Dir => self.deleted_dir(path),
            _ => Ok(()),
        }
    }

    fn add_directory(
        &mut self,
        path: &RelPath,
        _: Token,
        _: Option<CopyFrom>,
        dir: Token,
    ) -> Result<()> {
        let added = Dir {
            path: path.to_owned(),
            is_added: true,
            base: None,
            changes: Changes::new(),
        };
        self.dirs.insert(dir, added);
        Ok(())
    }

    fn open_directory(
        &mut self,
        path: &RelPath,
        _: Token,
        base: Option<Revnum>,
        dir: Token,
    ) -> Result<()> {
        let opened = Dir {
            path: path.to_owned(),
            is_added: false,
            base,
            changes: Changes::new(),
        };
        self.dirs.insert(dir, opened);
        Ok(())
    }

    fn change_dir_prop(&mut self, dir: Token, name: &str, value: Option<&[u8]>) -> Result<()> {
        note(&mut self.dir(dir)?.changes, name, value);
        Ok(())
    }

    fn close_directory(&mut self, dir: Token) -> Result<()> {
        let Some(dir) = self.dirs.remove(&dir) else {
            return Err(unknown_token());
        };
        if !self.pipe.shows(&dir.path) {
            return Ok(());
        }
        if dir.is_added {
            let right = Side {
                rev: self.target_rev,
                props: patched(&Props::new(), &dir.changes),
                text: None,
            };
            let change = Change::added(dir.path, NodeKind::Dir, right);
            return self.order.push(change, &mut self.pipe);
        }
        if !has_regular(&dir.changes) {
            return Ok(());
        }
        let base = dir.base.unwrap_or(self.rev);
        let before = self.session.read_dir(&dir.path, Some(base), None)?.props;
        let after = patched(&before, &dir.changes);
        if before == after {
            return Ok(());
        }
        let left = Side {
            rev: Some(self.rev),
            props: before,
            text: None,
        };
        let right = Side {
            rev: self.target_rev,
            props: after,
            text: None,
        };
        let change = Change::changed(dir.path, NodeKind::Dir, left, right);
        self.order.push(change, &mut self.pipe)
    }

    fn absent_directory(&mut self, _: &RelPath, _: Token) -> Result<()> {
        Ok(())
    }

    fn add_file(
        &mut self,
        path: &RelPath,
        _: Token,
        _: Option<CopyFrom>,
        file: Token,
    ) -> Result<()> {
        self.open(path, None, true, file);
        Ok(())
    }

    fn open_file(
        &mut self,
        path: &RelPath,
        _: Token,
        base: Option<Revnum>,
        file: Token,
    ) -> Result<()> {
        self.open(path, base, false, file);
        Ok(())
    }

    fn apply_text(&mut self, file: Token, _: Option<Md5>, format: TextFormat) -> Result<()> {
        let wanted = self.wants_texts();
        let file = self.files.get_mut(&file).ok_or_else(unknown_token)?;
        file.text = true;
        if file.skip || !wanted {
            return Ok(());
        }
        if !file.is_added {
            let (text, props) = Self::read_old(self.session, &file.path, file.base, true)?;
            file.old = text.map(|text| (text, props));
        }
        let old = file.old.as_ref().map(|(text, _)| text);
        file.new = Some(Receiving::new(format, old)?);
        Ok(())
    }

    fn text_chunk(&mut self, file: Token, chunk: Bytes) -> Result<()> {
        self.cancel.check()?;
        match &mut self.file(file)?.new {
            Some(receiving) => receiving.push(&chunk),
            None => Ok(()),
        }
    }

    fn text_end(&mut self, file: Token) -> Result<()> {
        let file = self.file(file)?;
        if let Some(receiving) = file.new.take() {
            let (text, digest) = receiving.finish()?;
            file.new_text = Some(text);
            file.digest = digest;
        }
        Ok(())
    }

    fn change_file_prop(&mut self, file: Token, name: &str, value: Option<&[u8]>) -> Result<()> {
        note(&mut self.file(file)?.changes, name, value);
        Ok(())
    }

    fn close_file(&mut self, file: Token, text: Option<Md5>) -> Result<()> {
        let Some(file) = self.files.remove(&file) else {
            return Err(unknown_token());
        };
        check_digest(file.path.as_str(), text, file.digest)?;
        let kept = file.kept;
        let change = self.file_change(file)?;
        self.order.settle(kept, change, &mut self.pipe)
    }

    fn absent_file(&mut self, _: &RelPath, _: Token) -> Result<()> {
        Ok(())
    }

    fn close_edit(&mut self) -> Result<()> {
        Ok(())
    }

    fn abort_edit(&mut self) -> Result<()> {
        Ok(())
    }
}
