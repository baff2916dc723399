//! What the repository has changed, as `status --show-updates` shows it: an editor that notes it.

use std::collections::{BTreeMap, HashMap};

use bytes::Bytes;
use sylvan_core::props::PropKind;
use sylvan_core::{Depth, Error, ErrorCode, Md5, RelPath, RelPathBuf, Result, Revnum};
use sylvan_delta::{CopyFrom, Editor, TextFormat, Token};

/// How the repository's node differs from BASE, in one respect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Change {
    /// Not at all.
    #[default]
    None,
    /// It is new.
    Added,
    /// It is gone.
    Deleted,
    /// It is another one.
    Replaced,
    /// It has changed.
    Modified,
}

impl Change {
    /// Returns the word for XML.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Added => "added",
            Self::Deleted => "deleted",
            Self::Replaced => "replaced",
            Self::Modified => "modified",
        }
    }
}

/// How the repository's node differs from BASE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RepoStatus {
    /// The node as a whole.
    pub node: Change,
    /// Its text; of a folder: whether it has lost or got entries.
    pub text: Change,
    /// Its properties.
    pub props: Change,
}

impl RepoStatus {
    /// That of a node that is gone.
    pub const DELETED: Self = Self {
        node: Change::Deleted,
        text: Change::None,
        props: Change::None,
    };
}

/// A path as a key: components are compared one by one, as a walk meets them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct WalkKey(String);

impl From<&RelPath> for WalkKey {
    fn from(path: &RelPath) -> Self {
        Self(path.as_str().replace('/', "\0"))
    }
}

/// What was noted of a path.
#[derive(Clone, Debug)]
pub(super) struct Noted {
    pub(super) path: RelPathBuf,
    pub(super) status: RepoStatus,
    /// Whether the repository has a new node there, which is told even if nothing is there locally.
    pub(super) added: bool,
}

/// All that was noted, by path below the anchor.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) nodes: BTreeMap<WalkKey, Noted>,
    /// Folders that the drive opened or added: whether another folder has taken their place.
    pub(super) folders: BTreeMap<WalkKey, bool>,
    /// The revision compared with.
    pub(super) rev: Option<Revnum>,
}

impl Changes {
    /// Notes what the drive says of a path; what it says nothing of stays as it was.
    fn note(&mut self, path: &RelPath, said: Said) {
        let noted = self
            .nodes
            .entry(WalkKey::from(path))
            .or_insert_with(|| Noted {
                path: path.to_owned(),
                status: RepoStatus::default(),
                added: false,
            });
        let status = &mut noted.status;
        match said.node {
            Change::Added => {
                noted.added = true;
                status.node = match status.node {
                    Change::Deleted => Change::Replaced,
                    _ => Change::Added,
                };
            }
            node => status.node = node,
        }
        status.text = said.text.unwrap_or(status.text);
        status.props = said.props.unwrap_or(status.props);
    }

    fn is_replaced(&self, path: &RelPath) -> bool {
        self.nodes
            .get(&WalkKey::from(path))
            .is_some_and(|noted| matches!(noted.status.node, Change::Deleted | Change::Replaced))
    }
}

/// What one call of the drive says of a node.
#[derive(Clone, Copy)]
struct Said {
    node: Change,
    text: Option<Change>,
    props: Option<Change>,
}

/// Notes what the drive says; nothing is kept of contents.
pub(super) struct Noter {
    changes: Changes,
    /// Whether only one child of the anchor is asked for.
    has_target: bool,
    depth: Option<Depth>,
    folders: HashMap<Token, Folder>,
    files: HashMap<Token, File>,
}

struct Folder {
    path: RelPathBuf,
    parent: Option<Token>,
    /// How deep statuses are told below; `None` if not at all. The inner one is "as deep as the
    /// working copy has it".
    depth: Option<Option<Depth>>,
    added: bool,
    entries_changed: bool,
    props_changed: bool,
    /// Whether the drive says which revision changed it last. Then what it has lost marks it no
    /// longer (so it is in Subversion).
    is_dated: bool,
}

struct File {
    path: RelPathBuf,
    told: bool,
    added: bool,
    text_changed: bool,
    props_changed: bool,
}

impl Noter {
    pub(super) fn new(has_target: bool, depth: Option<Depth>) -> Self {
        Self {
            changes: Changes::default(),
            has_target,
            depth,
            folders: HashMap::new(),
            files: HashMap::new(),
        }
    }

    pub(super) fn into_changes(self) -> Changes {
        self.changes
    }

    fn folder(&mut self, token: Token) -> Result<&mut Folder> {
        self.folders.get_mut(&token).ok_or_else(unknown_token)
    }

    fn file(&mut self, token: Token) -> Result<&mut File> {
        self.files.get_mut(&token).ok_or_else(unknown_token)
    }

    fn enter(&mut self, path: &RelPath, parent: Token, dir: Token, added: bool) -> Result<()> {
        let above = self.folder(parent)?;
        above.entries_changed |= added;
        let depth = match above.depth {
            Some(None) => Some(None),
            Some(Some(Depth::Infinity)) => Some(Some(Depth::Infinity)),
            Some(Some(Depth::Immediates)) => Some(Some(Depth::Empty)),
            Some(Some(_)) | None => None,
        };
        let folder = Folder {
            path: path.to_owned(),
            parent: Some(parent),
            depth,
            added,
            entries_changed: false,
            props_changed: false,
            is_dated: false,
        };
        self.folders.insert(dir, folder);
        Ok(())
    }

    fn begin_file(
        &mut self,
        path: &RelPath,
        parent: Token,
        file: Token,
        added: bool,
    ) -> Result<()> {
        let above = self.folder(parent)?;
        above.entries_changed |= added;
        let told = above.depth.is_some();
        let begun = File {
            path: path.to_owned(),
            told,
            added,
            text_changed: false,
            props_changed: false,
        };
        self.files.insert(file, begun);
        Ok(())
    }
}

fn unknown_token() -> Error {
    Error::new(
        ErrorCode::RA_SVN_MALFORMED_DATA,
        "The server talks of a node that it has not opened",
    )
}

fn change(changed: bool, kind: Change) -> Change {
    if changed { kind } else { Change::None }
}

impl Editor for Noter {
    fn set_target_revision(&mut self, rev: Revnum) -> Result<()> {
        self.changes.rev = Some(rev);
        Ok(())
    }

    fn open_root(&mut self, _base: Option<Revnum>, root: Token) -> Result<()> {
        let folder = Folder {
            path: RelPathBuf::root(),
            parent: None,
            depth: Some(self.depth),
            added: false,
            entries_changed: false,
            props_changed: false,
            is_dated: false,
        };
        self.folders.insert(root, folder);
        Ok(())
    }

    fn delete_entry(&mut self, path: &RelPath, _rev: Option<Revnum>, parent: Token) -> Result<()> {
        let has_target = self.has_target;
        let folder = self.folder(parent)?;
        let told = folder.depth.is_some();
        // The anchor itself is not marked by what it has lost.
        let marked = (folder.parent.is_some() && !has_target).then(|| folder.path.clone());
        if told {
            let said = Said {
                node: Change::Deleted,
                text: None,
                props: None,
            };
            self.changes.note(path, said);
        }
        if let Some(folder) = marked {
            let said = Said {
                node: Change::Modified,
                text: Some(Change::Modified),
                props: None,
            };
            self.changes.note(&folder, said);
        }
        Ok(())
    }

    fn add_directory(
        &mut self,
        path: &RelPath,
        parent: Token,
        _copy_from: Option<CopyFrom>,
        dir: Token,
    ) -> Result<()> {
        self.enter(path, parent, dir, true)
    }

    fn open_directory(
        &mut self,
        path: &RelPath,
        parent: Token,
        _base: Option<Revnum>,
        dir: Token,
    ) -> Result<()> {
        self.enter(path, parent, dir, false)
    }

    fn change_dir_prop(&mut self, dir: Token, name: &str, value: Option<&[u8]>) -> Result<()> {
        let folder = self.folder(dir)?;
        folder.props_changed |= is_regular(name);
        folder.is_dated |= name == "svn:entry:committed-rev" && value.is_some();
        Ok(())
    }

    fn close_directory(&mut self, dir: Token) -> Result<()> {
        let folder = self.folders.remove(&dir).ok_or_else(unknown_token)?;
        let changed = folder.entries_changed || folder.props_changed;
        let said = if folder.added {
            Said {
                node: Change::Added,
                text: Some(Change::None),
                props: Some(change(folder.props_changed, Change::Added)),
            }
        } else {
            Said {
                node: change(changed, Change::Modified),
                text: Some(change(folder.entries_changed, Change::Modified)),
                props: Some(change(folder.props_changed, Change::Modified)),
            }
        };
        let told_above = match folder.parent {
            Some(parent) => self.folder(parent)?.depth.is_some(),
            None => true,
        };
        if told_above && (folder.added || changed || folder.is_dated) {
            self.changes.note(&folder.path, said);
        }
        if folder.depth.is_some() {
            let replaced = folder.parent.is_some() && self.changes.is_replaced(&folder.path);
            self.changes
                .folders
                .insert(WalkKey::from(&*folder.path), replaced);
        }
        Ok(())
    }

    fn absent_directory(&mut self, _path: &RelPath, _parent: Token) -> Result<()> {
        Ok(())
    }

    fn add_file(
        &mut self,
        path: &RelPath,
        parent: Token,
        _copy_from: Option<CopyFrom>,
        file: Token,
    ) -> Result<()> {
        self.begin_file(path, parent, file, true)
    }

    fn open_file(
        &mut self,
        path: &RelPath,
        parent: Token,
        _base: Option<Revnum>,
        file: Token,
    ) -> Result<()> {
        self.begin_file(path, parent, file, false)
    }

    fn apply_text(&mut self, file: Token, _base: Option<Md5>, _format: TextFormat) -> Result<()> {
        self.file(file)?.text_changed = true;
        Ok(())
    }

    fn text_chunk(&mut self, _file: Token, _chunk: Bytes) -> Result<()> {
        Ok(())
    }

    fn text_end(&mut self, _file: Token) -> Result<()> {
        Ok(())
    }

    fn change_file_prop(&mut self, file: Token, name: &str, _value: Option<&[u8]>) -> Result<()> {
        self.file(file)?.props_changed |= is_regular(name);
        Ok(())
    }

    fn close_file(&mut self, file: Token, _text: Option<Md5>) -> Result<()> {
        let file = self.files.remove(&file).ok_or_else(unknown_token)?;
        let changed = file.text_changed || file.props_changed;
        if !file.told || !(file.added || changed) {
            return Ok(());
        }
        let some = |changed: bool| changed.then_some(Change::Modified);
        let said = Said {
            node: if file.added {
                Change::Added
            } else {
                Change::Modified
            },
            text: some(file.text_changed),
            props: some(file.props_changed),
        };
        self.changes.note(&file.path, said);
        Ok(())
    }

    fn absent_file(&mut self, _path: &RelPath, _parent: Token) -> Result<()> {
        Ok(())
    }

    fn close_edit(&mut self) -> Result<()> {
        Ok(())
    }

    fn abort_edit(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Tells whether a property is the user's (and not about the entry or for the client).
fn is_regular(name: &str) -> bool {
    PropKind::of(name) == PropKind::Regular
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> &RelPath {
        RelPath::new(text).unwrap()
    }

    fn noted(changes: &Changes) -> Vec<String> {
        changes
            .nodes
            .values()
            .map(|noted| {
                let RepoStatus { node, text, props } = noted.status;
                let words = [node, text, props].map(Change::as_str).join(" ");
                format!("{}: {words}", noted.path)
            })
            .collect()
    }

    /// Opens the root and the folder `a` in it, lets `drive` go on in `a`, and closes both.
    fn noted_in_a(
        depth: Option<Depth>,
        drive: impl FnOnce(&mut Noter, Token) -> Result<()>,
    ) -> Vec<String> {
        let mut noter = Noter::new(false, depth);
        let (root, a) = (Token(0), Token(1));
        noter.open_root(None, root).unwrap();
        noter.open_directory(path("a"), root, None, a).unwrap();
        drive(&mut noter, a).unwrap();
        noter.close_directory(a).unwrap();
        noter.close_directory(root).unwrap();
        noted(&noter.into_changes())
    }

    #[test]
    fn a_deletion_marks_its_folder_unless_the_folder_is_dated() {
        let lost = noted_in_a(None, |noter, a| noter.delete_entry(path("a/x"), None, a));
        assert_eq!(
            lost,
            ["a: modified modified none", "a/x: deleted none none"]
        );
        let dated = noted_in_a(None, |noter, a| {
            noter.delete_entry(path("a/x"), None, a)?;
            noter.change_dir_prop(a, "svn:entry:committed-rev", Some(b"7"))
        });
        assert_eq!(dated, ["a: none none none", "a/x: deleted none none"]);
    }

    #[test]
    fn delete_and_add_is_a_replacement() {
        let noted = noted_in_a(None, |noter, a| {
            noter.delete_entry(path("a/x"), None, a)?;
            noter.add_file(path("a/x"), a, None, Token(2))?;
            noter.apply_text(Token(2), None, TextFormat::Fulltext)?;
            noter.text_end(Token(2))?;
            noter.close_file(Token(2), None)
        });
        assert_eq!(
            noted,
            ["a: modified modified none", "a/x: replaced modified none"]
        );
    }

    #[test]
    fn a_file_without_changes_is_not_noted() {
        let noted = noted_in_a(None, |noter, a| {
            noter.open_file(path("a/x"), a, None, Token(2))?;
            noter.change_file_prop(Token(2), "svn:entry:committed-rev", Some(b"7"))?;
            noter.close_file(Token(2), None)?;
            noter.open_file(path("a/y"), a, None, Token(3))?;
            noter.change_file_prop(Token(3), "p", None)?;
            noter.close_file(Token(3), None)
        });
        assert_eq!(noted, ["a/y: modified none modified"]);
    }

    #[test]
    fn depth_limits_what_is_noted() {
        let add = |noter: &mut Noter, a: Token| {
            noter.add_directory(path("a/d"), a, None, Token(2))?;
            noter.add_file(path("a/d/x"), Token(2), None, Token(3))?;
            noter.close_file(Token(3), None)?;
            noter.close_directory(Token(2))
        };
        let everything = [
            "a: modified modified none",
            "a/d: added none none",
            "a/d/x: added none none",
        ];
        assert_eq!(noted_in_a(Some(Depth::Infinity), add), everything);
        assert_eq!(noted_in_a(Some(Depth::Immediates), add), everything[..2]);
        assert_eq!(noted_in_a(Some(Depth::Files), add), everything[..1]);
    }

    #[test]
    fn unknown_tokens_are_errors() {
        let mut noter = Noter::new(false, None);
        assert!(noter.close_directory(Token(9)).is_err());
        assert!(noter.close_file(Token(9), None).is_err());
        assert!(noter.add_file(path("x"), Token(9), None, Token(1)).is_err());
    }
}
