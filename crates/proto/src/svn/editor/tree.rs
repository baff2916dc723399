use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};

use bytes::Bytes;
use sylvan_core::{Error, ErrorCode, Md5, RelPath, RelPathBuf, Url};
use sylvan_delta::{CopyFrom, Editor, TextFormat, Token};

use super::decode::{DriveError, Event};
use crate::svn::item::Fields;
use crate::svn::{ProtocolError, check_path};

type Result<T, E = DriveError> = std::result::Result<T, E>;

/// The open nodes of a drive.
#[derive(Debug)]
pub(super) struct Tree {
    root: Option<Url>,
    order: Order,
    phase: Phase,
    /// By the peer's tokens.
    nodes: HashMap<Box<[u8]>, Node>,
    /// The open folders, innermost last, where the order is strict.
    open: Vec<Token>,
    open_dirs: usize,
    open_files: usize,
    has_target: bool,
    next: u32,
    hasher: RandomState,
}

/// How much of the editor's order a peer has to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// All of it, which servers do.
    Strict,
    /// What makes sense without it. Clients that commit open nodes twice, the root as its own child,
    /// and go on in folders that are not the innermost.
    Loose,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Start,
    Open,
    RootClosed,
    Ended,
}

#[derive(Debug)]
enum Node {
    Dir(Dir),
    File { token: Token, text: Text },
}

#[derive(Debug)]
struct Dir {
    token: Token,
    path: RelPathBuf,
    /// Hashes of the children named so far. 64 bits: of a million names, two share one with a
    /// chance of 3 in 100 million; that would end the drive, not harm anything.
    named: HashSet<u64>,
    deleted: HashSet<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Text {
    Unchanged,
    Open,
    Changed,
}

/// How a child is named.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Naming {
    Added,
    Opened,
    Deleted,
}

impl Tree {
    pub(super) fn new(root: Option<Url>, order: Order) -> Self {
        Self {
            root,
            order,
            phase: Phase::Start,
            nodes: HashMap::new(),
            open: Vec::new(),
            open_dirs: 0,
            open_files: 0,
            has_target: false,
            next: 0,
            hasher: RandomState::new(),
        }
    }

    pub(super) fn is_started(&self) -> bool {
        self.phase != Phase::Start
    }

    /// Finds the file whose text is being sent.
    pub(super) fn open_text(&mut self, wire: &[u8]) -> Result<Token, ProtocolError> {
        match self.file(wire)? {
            (token, Text::Open) => Ok(*token),
            _ => Err(ProtocolError::unexpected("Apply-textdelta not active")),
        }
    }

    /// Makes the call that a command stands for. `bytes` has the command whole.
    pub(super) fn call(
        &mut self,
        name: &str,
        mut fields: Fields<'_>,
        bytes: &Bytes,
        editor: &mut dyn Editor,
    ) -> Result<Event> {
        let fields = &mut fields;
        match name {
            "change-file-prop" => self.change_file_prop(fields, editor)?,
            "add-file" => self.add_file(fields, editor)?,
            "open-file" => self.open_file(fields, editor)?,
            "apply-textdelta" => self.apply_textdelta(fields, editor)?,
            "textdelta-chunk" => {
                let token = self.open_text(fields.bytes()?)?;
                let chunk = fields.bytes()?;
                if !chunk.is_empty() {
                    call(editor.text_chunk(token, bytes.slice_ref(chunk)))?;
                }
            }
            "textdelta-end" => {
                let wire = fields.bytes()?;
                let token = self.open_text(wire)?;
                *self.file(wire)?.1 = Text::Changed;
                call(editor.text_end(token))?;
            }
            "close-file" => self.close_file(fields, editor)?,
            "absent-file" | "absent-dir" => self.absent(name, fields, editor)?,
            "add-dir" => self.add_dir(fields, editor)?,
            "open-dir" => self.open_dir(fields, editor)?,
            "change-dir-prop" => self.change_dir_prop(fields, editor)?,
            "close-dir" => self.close_dir(fields, editor)?,
            "delete-entry" => self.delete_entry(fields, editor)?,
            "target-rev" => {
                self.expect(Phase::Start)?;
                if std::mem::replace(&mut self.has_target, true) {
                    return Err(ProtocolError::unexpected("A second target revision").into());
                }
                call(editor.set_target_revision(fields.rev()?))?;
            }
            "open-root" => self.open_root(fields, editor)?,
            "close-edit" => return self.close_edit(editor),
            "abort-edit" => return Ok(Event::Aborted),
            "finish-replay" => return Ok(Event::Finished),
            _ => {
                return Err(ProtocolError::UnknownCommand(format!(
                    "Unknown editor command '{name}'"
                ))
                .into());
            }
        }
        Ok(Event::More)
    }

    fn expect(&self, phase: Phase) -> Result<(), ProtocolError> {
        if self.phase == phase {
            Ok(())
        } else {
            Err(ProtocolError::unexpected("Editor command out of order"))
        }
    }

    fn new_token(&mut self) -> Result<Token, ProtocolError> {
        let token = Token(self.next);
        self.next = self.next.checked_add(1).ok_or(ProtocolError::TooLong)?;
        Ok(token)
    }

    fn file(&mut self, wire: &[u8]) -> Result<(&mut Token, &mut Text), ProtocolError> {
        match self.nodes.get_mut(wire) {
            Some(Node::File { token, text }) => Ok((token, text)),
            _ => Err(bad_token()),
        }
    }

    /// Finds an open folder: the innermost, if the order is strict.
    fn dir(&mut self, wire: &[u8]) -> Result<&mut Dir, ProtocolError> {
        let innermost = self.open.last();
        match self.nodes.get_mut(wire) {
            Some(Node::Dir(dir)) if self.order == Order::Loose || innermost == Some(&dir.token) => {
                Ok(dir)
            }
            _ => Err(bad_token()),
        }
    }

    /// Notes that a folder's child is named, and returns the folder.
    fn name_child(
        &mut self,
        wire: &[u8],
        path: &RelPath,
        naming: Naming,
    ) -> Result<Token, ProtocolError> {
        if self.order == Order::Loose {
            let dir = self.dir(wire)?;
            let above = match path.parent() {
                None if naming == Naming::Opened => RelPath::ROOT,
                None => return Err(wrong_child(path)),
                Some(above) => above,
            };
            return if *above == *dir.path {
                Ok(dir.token)
            } else {
                Err(wrong_child(path))
            };
        }
        let (above, name) = path.split().ok_or_else(|| wrong_child(path))?;
        let hash = self.hasher.hash_one(name);
        let dir = self.dir(wire)?;
        let fits = *above == *dir.path
            && !dir.named.contains(&hash)
            && (naming == Naming::Added || !dir.deleted.contains(&hash));
        if !fits {
            return Err(wrong_child(path));
        }
        match naming {
            Naming::Deleted => dir.deleted.insert(hash),
            Naming::Added | Naming::Opened => dir.named.insert(hash),
        };
        Ok(dir.token)
    }

    fn insert(&mut self, wire: &[u8], node: Node) -> Result<(), ProtocolError> {
        // A token that is in use stands for a node that is still open.
        match self.nodes.insert(wire.into(), node) {
            None => Ok(()),
            Some(_) => Err(bad_token()),
        }
    }

    fn insert_dir(&mut self, wire: &[u8], path: RelPathBuf) -> Result<Token, ProtocolError> {
        let token = self.new_token()?;
        self.open_dirs += 1;
        if self.order == Order::Strict {
            self.open.push(token);
        }
        self.insert(
            wire,
            Node::Dir(Dir {
                token,
                path,
                named: HashSet::new(),
                deleted: HashSet::new(),
            }),
        )?;
        Ok(token)
    }

    fn insert_file(&mut self, wire: &[u8]) -> Result<Token, ProtocolError> {
        let token = self.new_token()?;
        self.open_files += 1;
        self.insert(
            wire,
            Node::File {
                token,
                text: Text::Unchanged,
            },
        )?;
        Ok(token)
    }

    fn open_root(&mut self, fields: &mut Fields<'_>, editor: &mut dyn Editor) -> Result<()> {
        self.expect(Phase::Start)?;
        let base = fields.optional(Fields::rev)?;
        self.phase = Phase::Open;
        let token = self.insert_dir(fields.bytes()?, RelPathBuf::root())?;
        call(editor.open_root(base, token))
    }

    fn delete_entry(&mut self, fields: &mut Fields<'_>, editor: &mut dyn Editor) -> Result<()> {
        let path = check_path(fields.text()?)?;
        let rev = fields.optional(Fields::rev)?;
        let parent = self.name_child(fields.bytes()?, &path, Naming::Deleted)?;
        call(editor.delete_entry(&path, rev, parent))
    }

    fn add_dir(&mut self, fields: &mut Fields<'_>, editor: &mut dyn Editor) -> Result<()> {
        let path = check_path(fields.text()?)?;
        let parent = self.name_child(fields.bytes()?, &path, Naming::Added)?;
        let wire = fields.bytes()?;
        let copy_from = self.copy_from(fields)?;
        let token = self.insert_dir(wire, path.clone())?;
        call(editor.add_directory(&path, parent, copy_from, token))
    }

    fn open_dir(&mut self, fields: &mut Fields<'_>, editor: &mut dyn Editor) -> Result<()> {
        let path = check_path(fields.text()?)?;
        let parent = self.name_child(fields.bytes()?, &path, Naming::Opened)?;
        let wire = fields.bytes()?;
        let base = fields.optional(Fields::rev)?;
        let token = self.insert_dir(wire, path.clone())?;
        call(editor.open_directory(&path, parent, base, token))
    }

    fn change_dir_prop(&mut self, fields: &mut Fields<'_>, editor: &mut dyn Editor) -> Result<()> {
        let token = self.dir(fields.bytes()?)?.token;
        let name = fields.text()?;
        let value = fields.optional(Fields::bytes)?;
        call(editor.change_dir_prop(token, name, value))
    }

    fn close_dir(&mut self, fields: &mut Fields<'_>, editor: &mut dyn Editor) -> Result<()> {
        let wire = fields.bytes()?;
        let token = self.dir(wire)?.token;
        self.nodes.remove(wire);
        if self.order == Order::Strict {
            self.open.pop();
        }
        self.open_dirs -= 1;
        if self.open_dirs == 0 {
            self.phase = Phase::RootClosed;
        }
        call(editor.close_directory(token))
    }

    fn absent(
        &mut self,
        name: &str,
        fields: &mut Fields<'_>,
        editor: &mut dyn Editor,
    ) -> Result<()> {
        let path = check_path(fields.text()?)?;
        let parent = self.name_child(fields.bytes()?, &path, Naming::Added)?;
        call(if name == "absent-dir" {
            editor.absent_directory(&path, parent)
        } else {
            editor.absent_file(&path, parent)
        })
    }

    fn add_file(&mut self, fields: &mut Fields<'_>, editor: &mut dyn Editor) -> Result<()> {
        let path = check_path(fields.text()?)?;
        let parent = self.name_child(fields.bytes()?, &path, Naming::Added)?;
        let wire = fields.bytes()?;
        let copy_from = self.copy_from(fields)?;
        let token = self.insert_file(wire)?;
        call(editor.add_file(&path, parent, copy_from, token))
    }

    fn open_file(&mut self, fields: &mut Fields<'_>, editor: &mut dyn Editor) -> Result<()> {
        let path = check_path(fields.text()?)?;
        let parent = self.name_child(fields.bytes()?, &path, Naming::Opened)?;
        let wire = fields.bytes()?;
        let base = fields.optional(Fields::rev)?;
        let token = self.insert_file(wire)?;
        call(editor.open_file(&path, parent, base, token))
    }

    fn apply_textdelta(&mut self, fields: &mut Fields<'_>, editor: &mut dyn Editor) -> Result<()> {
        let (token, text) = self.file(fields.bytes()?)?;
        if *text != Text::Unchanged {
            return Err(ProtocolError::unexpected("Apply-textdelta already active").into());
        }
        let base = read_checksum(fields)?;
        *text = Text::Open;
        call(editor.apply_text(*token, base, TextFormat::Svndiff))
    }

    fn change_file_prop(&mut self, fields: &mut Fields<'_>, editor: &mut dyn Editor) -> Result<()> {
        let token = *self.file(fields.bytes()?)?.0;
        let name = fields.text()?;
        let value = fields.optional(Fields::bytes)?;
        call(editor.change_file_prop(token, name, value))
    }

    fn close_file(&mut self, fields: &mut Fields<'_>, editor: &mut dyn Editor) -> Result<()> {
        let wire = fields.bytes()?;
        let (token, text) = self.file(wire)?;
        if *text == Text::Open {
            return Err(ProtocolError::unexpected("File closed before its text ended").into());
        }
        let token = *token;
        let checksum = read_checksum(fields)?;
        self.nodes.remove(wire);
        self.open_files -= 1;
        call(editor.close_file(token, checksum))
    }

    fn close_edit(&mut self, editor: &mut dyn Editor) -> Result<Event> {
        if !matches!(self.phase, Phase::Start | Phase::RootClosed) || self.open_files > 0 {
            return Err(ProtocolError::Other(Error::new(
                ErrorCode::FS_INCORRECT_EDITOR_COMPLETION,
                "Closing editor with directories or files open",
            ))
            .into());
        }
        self.phase = Phase::Ended;
        call(editor.close_edit())?;
        Ok(Event::Closed)
    }

    /// Reads a copy source: a path from the root, or a URL below it.
    fn copy_from(&self, fields: &mut Fields<'_>) -> Result<Option<CopyFrom>, ProtocolError> {
        let source = fields.optional(|fields| Ok((fields.text()?, fields.rev()?)))?;
        let Some((text, rev)) = source else {
            return Ok(None);
        };
        let path = if Url::is_url(text) {
            let url = Url::parse(text)?;
            self.root
                .as_ref()
                .and_then(|root| url.strip_prefix(root))
                .ok_or(ProtocolError::Malformed)?
        } else {
            RelPathBuf::canonicalize(text)?
        };
        Ok(Some(CopyFrom { path, rev }))
    }
}

fn call<T>(result: sylvan_core::Result<T>) -> Result<T> {
    result.map_err(DriveError::Editor)
}

fn read_checksum(fields: &mut Fields<'_>) -> Result<Option<Md5>, ProtocolError> {
    match fields.optional(|fields| fields.text())? {
        Some(hex) => Ok(Some(Md5::parse_hex(hex)?)),
        None => Ok(None),
    }
}

fn bad_token() -> ProtocolError {
    ProtocolError::unexpected("Invalid file or dir token during edit")
}

fn wrong_child(path: &RelPath) -> ProtocolError {
    ProtocolError::unexpected(format!("Path '{}' is out of place in edit", path.as_str()))
}
