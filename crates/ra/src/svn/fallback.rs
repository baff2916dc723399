//! What servers of old do not do themselves, and what they do too much.

use bytes::Bytes;
use sylvan_core::{ErrorCode, Md5, NodeKind, RelPath, RelPathBuf, Result, Revnum, props::PropKind};
use sylvan_delta::{CopyFrom, Editor, TextFormat, Token};

use crate::{DirEntry, DirEntryFields, InheritedProps, Session};

/// Looks a node up in its parent's listing (servers before 1.2). The root is known to be there.
pub(super) fn stat(
    session: &mut dyn Session,
    path: &RelPath,
    rev: Option<Revnum>,
) -> Result<Option<DirEntry>> {
    let kind = session.check_path(path, rev)?;
    if kind == NodeKind::None {
        return Ok(None);
    }
    let url = session.url().clone();
    let (parent, name) = match path.split() {
        Some((parent, name)) => (parent.to_owned(), name.to_owned()),
        None if url == session.repos_root()? => return stat_root(session, rev).map(Some),
        None => {
            let Some(above) = url.parent() else {
                return stat_root(session, rev).map(Some);
            };
            session.reparent(&above)?;
            (RelPathBuf::root(), url.basename())
        }
    };
    let listing = session.read_dir(&parent, rev, Some(DirEntryFields::ALL));
    session.reparent(&url)?;
    Ok(listing?.entries.remove(&name))
}

fn stat_root(session: &mut dyn Session, rev: Option<Revnum>) -> Result<DirEntry> {
    let rev = match rev {
        Some(rev) => rev,
        None => session.latest_rev()?,
    };
    let has_props = session
        .read_dir(RelPath::ROOT, Some(rev), None)?
        .props
        .keys()
        .any(|name| PropKind::of(name) == PropKind::Regular);
    let text = |value: Option<Vec<u8>>| value.and_then(|value| String::from_utf8(value).ok());
    let date = text(session.rev_prop(rev, "svn:date")?);
    Ok(DirEntry {
        kind: NodeKind::Dir,
        size: None,
        has_props,
        created_rev: Some(rev),
        time: date.and_then(|date| sylvan_core::Timestamp::parse_iso(&date).ok()),
        last_author: text(session.rev_prop(rev, "svn:author")?),
    })
}

/// Collects the properties of all parents (servers before 1.8).
pub(super) fn inherited_props(
    session: &mut dyn Session,
    path: &RelPath,
    rev: Revnum,
) -> Result<Vec<InheritedProps>> {
    let here = session.url().clone();
    let root = session.repos_root()?;
    let below_root = here.join(path).strip_prefix(&root).unwrap_or_default();
    session.reparent(&root)?;
    let collected = collect_parents(session, &below_root, rev);
    session.reparent(&here)?;
    collected
}

fn collect_parents(
    session: &mut dyn Session,
    below_root: &RelPath,
    rev: Revnum,
) -> Result<Vec<InheritedProps>> {
    let mut inherited = Vec::new();
    for parent in below_root.ancestors() {
        let mut props = match session.read_dir(parent, Some(rev), None) {
            Ok(directory) => directory.props,
            // A parent that may not be read hands nothing down.
            Err(error) if error.code() == ErrorCode::RA_NOT_AUTHORIZED => continue,
            Err(error) => return Err(error),
        };
        props.retain(|name, _| PropKind::of(name) == PropKind::Regular);
        if !props.is_empty() {
            inherited.push(InheritedProps {
                path: parent.to_owned(),
                props,
            });
        }
    }
    inherited.reverse();
    Ok(inherited)
}

/// Leaves file contents out of a drive: that a text changed is said, but not how.
pub(super) struct WithoutTexts<'a>(&'a mut dyn Editor);

impl<'a> WithoutTexts<'a> {
    pub(super) fn new(editor: &'a mut dyn Editor) -> Self {
        Self(editor)
    }
}

impl Editor for WithoutTexts<'_> {
    fn set_target_revision(&mut self, rev: Revnum) -> Result<()> {
        self.0.set_target_revision(rev)
    }

    fn open_root(&mut self, base: Option<Revnum>, root: Token) -> Result<()> {
        self.0.open_root(base, root)
    }

    fn delete_entry(&mut self, path: &RelPath, rev: Option<Revnum>, parent: Token) -> Result<()> {
        self.0.delete_entry(path, rev, parent)
    }

    fn add_directory(
        &mut self,
        path: &RelPath,
        parent: Token,
        copy_from: Option<CopyFrom>,
        dir: Token,
    ) -> Result<()> {
        self.0.add_directory(path, parent, copy_from, dir)
    }

    fn open_directory(
        &mut self,
        path: &RelPath,
        parent: Token,
        base: Option<Revnum>,
        dir: Token,
    ) -> Result<()> {
        self.0.open_directory(path, parent, base, dir)
    }

    fn change_dir_prop(&mut self, dir: Token, name: &str, value: Option<&[u8]>) -> Result<()> {
        self.0.change_dir_prop(dir, name, value)
    }

    fn close_directory(&mut self, dir: Token) -> Result<()> {
        self.0.close_directory(dir)
    }

    fn absent_directory(&mut self, path: &RelPath, parent: Token) -> Result<()> {
        self.0.absent_directory(path, parent)
    }

    fn add_file(
        &mut self,
        path: &RelPath,
        parent: Token,
        copy_from: Option<CopyFrom>,
        file: Token,
    ) -> Result<()> {
        self.0.add_file(path, parent, copy_from, file)
    }

    fn open_file(
        &mut self,
        path: &RelPath,
        parent: Token,
        base: Option<Revnum>,
        file: Token,
    ) -> Result<()> {
        self.0.open_file(path, parent, base, file)
    }

    fn apply_text(&mut self, file: Token, base: Option<Md5>, format: TextFormat) -> Result<()> {
        self.0.apply_text(file, base, format)
    }

    fn text_chunk(&mut self, _: Token, _: Bytes) -> Result<()> {
        Ok(())
    }

    fn text_end(&mut self, file: Token) -> Result<()> {
        self.0.text_end(file)
    }

    fn change_file_prop(&mut self, file: Token, name: &str, value: Option<&[u8]>) -> Result<()> {
        self.0.change_file_prop(file, name, value)
    }

    fn close_file(&mut self, file: Token, _: Option<Md5>) -> Result<()> {
        self.0.close_file(file, None)
    }

    fn absent_file(&mut self, path: &RelPath, parent: Token) -> Result<()> {
        self.0.absent_file(path, parent)
    }

    fn close_edit(&mut self) -> Result<()> {
        self.0.close_edit()
    }

    fn abort_edit(&mut self) -> Result<()> {
        self.0.abort_edit()
    }
}
