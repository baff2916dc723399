//! Receives an exported tree: folders are made at once, files are written by [`Workers`].

use std::collections::HashMap;

use bytes::Bytes;
use sylvan_core::{
    Dirent, Error, ErrorCode, Md5, NodeKind, RelPath, RelPathBuf, Result, Revnum, props,
};
use sylvan_delta::{Applier, CopyFrom, Editor, EmptyBase, Fulltext, TextFormat, Token};
use sylvan_wc::ADM_DIR;
use sylvan_wc::notify::{Action, Notification, NotifyFn};

use super::props::{FileProps, Style};
use super::sink::{Place, Sink};
use super::workers::{Job, Text, Workers};
use crate::resolve::PathRev;
use crate::{Context, disk};

/// Deltas up to this size are collected and applied by a worker; larger ones as they come.
const COLLECTED: usize = 1 << 20;

/// See the module.
pub(super) struct ExportEditor<'a> {
    context: &'a Context,
    found: &'a PathRev,
    root: &'a Dirent,
    force: bool,
    style: &'a Style,
    notify: &'a mut NotifyFn<'a>,
    folders: HashMap<Token, Place>,
    paths: HashMap<Token, RelPathBuf>,
    files: HashMap<Token, OpenFile>,
    workers: Workers,
    externals: Vec<(RelPathBuf, Vec<u8>)>,
    rev: Option<Revnum>,
}

/// What an export has found out.
pub(super) struct Exported {
    /// The revision that the server named.
    pub(super) rev: Option<Revnum>,
    /// Folders with `svn:externals`, and its value.
    pub(super) externals: Vec<(RelPathBuf, Vec<u8>)>,
}

struct OpenFile {
    path: RelPathBuf,
    place: Place,
    props: FileProps,
    text: Option<Receiving>,
}

enum Receiving {
    Collecting {
        format: TextFormat,
        chunks: Vec<Bytes>,
        size: usize,
    },
    Applying(Box<(Applier<EmptyBase>, Sink)>),
    Whole(Box<dyn Fulltext>),
}

impl<'a> ExportEditor<'a> {
    pub(super) fn new(
        context: &'a Context,
        found: &'a PathRev,
        root: &'a Dirent,
        force: bool,
        style: &'a Style,
        notify: &'a mut NotifyFn<'a>,
    ) -> Result<Self> {
        let workers = context.workers(root)?;
        Ok(Self {
            context,
            found,
            root,
            force,
            style,
            notify,
            folders: HashMap::new(),
            paths: HashMap::new(),
            files: HashMap::new(),
            workers: Workers::new(workers, &context.cancel, &context.progress),
            externals: Vec::new(),
            rev: None,
        })
    }

    /// Returns what was found out.
    pub(super) fn finish(mut self) -> Exported {
        self.externals
            .sort_by(|(a, _), (b, _)| a.components().cmp(b.components()));
        Exported {
            rev: self.rev,
            externals: self.externals,
        }
    }

    fn file(&mut self, token: Token) -> Result<&mut OpenFile> {
        self.files.get_mut(&token).ok_or_else(unknown_token)
    }

    fn place(&self, token: Token) -> Result<Place> {
        self.folders.get(&token).copied().ok_or_else(unknown_token)
    }

    fn local(&self, path: &RelPath) -> Dirent {
        self.root.join(path.as_str())
    }

    /// Refuses the name that a working copy's administrative folder has: there may be one.
    fn check_name(&self, path: &RelPath) -> Result<()> {
        if path.basename() != ADM_DIR {
            return Ok(());
        }
        Err(Error::new(
            ErrorCode::WC_OBSTRUCTED_UPDATE,
            format!(
                "Failed to add '{}': object of the same name as the administrative directory",
                self.local(path)
            ),
        ))
    }
}

fn unknown_token() -> Error {
    Error::new(
        ErrorCode::RA_SVN_MALFORMED_DATA,
        "The server changes a node that is not open",
    )
}

/// Makes the folder that is exported to, or checks that it may be used.
///
/// # Errors
/// `E155007` if a file is there, `E155000` if something is there and is not to be overwritten.
pub(super) fn open_root(path: &Dirent, force: bool, notify: &mut NotifyFn<'_>) -> Result<Place> {
    let place = match disk::kind(path)? {
        NodeKind::None => {
            disk::make_dir_recursively(path)?;
            Place::Fresh
        }
        NodeKind::Dir if force => Place::Shared,
        other => return Err(in_the_way(path, other)),
    };
    notify(&Notification::new(path.clone(), Action::UpdateAdd).kind(NodeKind::Dir));
    Ok(place)
}

fn in_the_way(path: &Dirent, kind: NodeKind) -> Error {
    if kind == NodeKind::File {
        return Error::new(
            ErrorCode::WC_NOT_WORKING_COPY,
            format!("'{path}' exists and is not a directory"),
        );
    }
    Error::new(
        ErrorCode::WC_OBSTRUCTED_UPDATE,
        format!("'{path}' already exists"),
    )
}

impl Editor for ExportEditor<'_> {
    fn set_target_revision(&mut self, rev: Revnum) -> Result<()> {
        self.rev = Some(rev);
        Ok(())
    }

    fn open_root(&mut self, _: Option<Revnum>, root: Token) -> Result<()> {
        let place = open_root(self.root, self.force, self.notify)?;
        self.folders.insert(root, place);
        self.paths.insert(root, RelPathBuf::root());
        Ok(())
    }

    fn delete_entry(&mut self, _: &RelPath, _: Option<Revnum>, _: Token) -> Result<()> {
        Ok(())
    }

    fn add_directory(
        &mut self,
        path: &RelPath,
        parent: Token,
        _: Option<CopyFrom>,
        dir: Token,
    ) -> Result<()> {
        self.context.cancel.check()?;
        self.workers.check()?;
        self.check_name(path)?;
        let local = self.local(path);
        let fresh = self.place(parent)? == Place::Fresh;
        let found = if fresh {
            NodeKind::None
        } else {
            disk::kind(&local)?
        };
        let place = match found {
            NodeKind::None => {
                disk::make_dir(&local)?;
                Place::Fresh
            }
            NodeKind::Dir if self.force => Place::Shared,
            other => return Err(in_the_way(&local, other)),
        };
        (self.notify)(&Notification::new(local, Action::UpdateAdd).kind(NodeKind::Dir));
        self.folders.insert(dir, place);
        self.paths.insert(dir, path.to_owned());
        Ok(())
    }

    fn open_directory(
        &mut self,
        path: &RelPath,
        _: Token,
        _: Option<Revnum>,
        dir: Token,
    ) -> Result<()> {
        // Nothing was there before, so there is nothing to open; a server that does so anyway is
        // taken as if what is on disk were meant.
        self.folders.insert(dir, Place::Shared);
        self.paths.insert(dir, path.to_owned());
        Ok(())
    }

    fn change_dir_prop(&mut self, dir: Token, name: &str, value: Option<&[u8]>) -> Result<()> {
        if name == props::SVN_EXTERNALS
            && let (Some(value), Some(path)) = (value, self.paths.get(&dir))
        {
            self.externals.push((path.clone(), value.to_owned()));
        }
        Ok(())
    }

    fn close_directory(&mut self, dir: Token) -> Result<()> {
        self.paths.remove(&dir);
        self.folders.remove(&dir);
        Ok(())
    }

    fn absent_directory(&mut self, _: &RelPath, _: Token) -> Result<()> {
        Ok(())
    }

    fn add_file(
        &mut self,
        path: &RelPath,
        parent: Token,
        _: Option<CopyFrom>,
        file: Token,
    ) -> Result<()> {
        self.context.cancel.check()?;
        self.check_name(path)?;
        let open = OpenFile {
            path: path.to_owned(),
            place: self.place(parent)?,
            props: FileProps::default(),
            text: None,
        };
        self.files.insert(file, open);
        Ok(())
    }

    fn open_file(
        &mut self,
        path: &RelPath,
        parent: Token,
        _: Option<Revnum>,
        file: Token,
    ) -> Result<()> {
        self.add_file(path, parent, None, file)
    }

    fn apply_text(&mut self, file: Token, _: Option<Md5>, format: TextFormat) -> Result<()> {
        self.file(file)?.text = Some(Receiving::Collecting {
            format,
            chunks: Vec::new(),
            size: 0,
        });
        Ok(())
    }

    fn fulltext(&mut self, file: Token, text: Box<dyn Fulltext>) -> Result<()> {
        self.file(file)?.text = Some(Receiving::Whole(text));
        Ok(())
    }

    fn text_chunk(&mut self, file: Token, chunk: Bytes) -> Result<()> {
        self.context.cancel.check()?;
        let root = self.root;
        let open = self.file(file)?;
        let path = &open.path;
        let folder = || root.join(path.parent().unwrap_or(RelPath::ROOT).as_str());
        match &mut open.text {
            Some(receiving) => receiving.push(chunk, folder),
            None => Err(unknown_token()),
        }
    }

    fn text_end(&mut self, _: Token) -> Result<()> {
        Ok(())
    }

    fn change_file_prop(&mut self, file: Token, name: &str, value: Option<&[u8]>) -> Result<()> {
        match value {
            Some(value) => self.file(file)?.props.take(name, value),
            None => Ok(()),
        }
    }

    fn close_file(&mut self, file: Token, text: Option<Md5>) -> Result<()> {
        let open = self.files.remove(&file).ok_or_else(unknown_token)?;
        let Some(receiving) = open.text else {
            return Ok(());
        };
        let local = self.local(&open.path);
        let url = self.found.url.join(&open.path);
        let recipe = open
            .props
            .recipe(Some(&url), Some(&self.found.repos_root), self.style);
        self.workers.send(Job {
            path: local.as_path().to_owned(),
            text: receiving.finish()?,
            expected: text,
            recipe,
            place: open.place,
        })?;
        (self.notify)(&Notification::new(local, Action::UpdateAdd).kind(NodeKind::File));
        Ok(())
    }

    fn absent_file(&mut self, _: &RelPath, _: Token) -> Result<()> {
        Ok(())
    }

    fn close_edit(&mut self) -> Result<()> {
        self.workers.finish()
    }

    fn abort_edit(&mut self) -> Result<()> {
        self.workers.finish()
    }
}

impl Receiving {
    fn push(&mut self, chunk: Bytes, folder: impl FnOnce() -> Dirent) -> Result<()> {
        if let Self::Collecting {
            format,
            chunks,
            size,
        } = self
        {
            *size += chunk.len();
            if *size <= COLLECTED {
                chunks.push(chunk);
                return Ok(());
            }
            let mut applying = (
                Applier::new(*format, EmptyBase),
                Sink::new(folder().as_path()),
            );
            for earlier in std::mem::take(chunks) {
                let (applier, sink) = &mut applying;
                applier.push(&earlier, |bytes| sink.push(bytes))?;
            }
            *self = Self::Applying(Box::new(applying));
        }
        match self {
            Self::Applying(applying) => {
                let (applier, sink) = &mut **applying;
                applier.push(&chunk, |bytes| sink.push(bytes))
            }
            Self::Collecting { .. } => Ok(()),
            Self::Whole(_) => Err(unknown_token()),
        }
    }

    fn finish(self) -> Result<Text> {
        match self {
            Self::Collecting { format, chunks, .. } => Ok(Text::Chunks(format, chunks)),
            Self::Applying(applying) => {
                let (applier, sink) = *applying;
                applier.finish()?;
                Ok(Text::Applied(sink))
            }
            Self::Whole(text) => Ok(Text::Whole(text)),
        }
    }
}
