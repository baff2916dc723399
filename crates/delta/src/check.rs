use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use sylvan_core::{Md5, RelPath, RelPathBuf, Result, Revnum, Sha1};

use crate::{CopyFrom, Editor, Fulltext, TextFormat, Token};

/// Passes calls on to an editor and asserts the rules in [`Editor`]'s documentation. For tests: it
/// panics where a driver breaks one.
///
/// ```should_panic
/// use sylvan_delta::{CheckingEditor, Editor, Token};
/// # use sylvan_delta::CountingEditor;
///
/// let mut editor = CheckingEditor::new(CountingEditor::default());
/// editor.open_root(None, Token(0)).unwrap();
/// editor.close_edit().unwrap(); // the root is still open
/// ```
#[derive(Debug)]
pub struct CheckingEditor<E> {
    inner: E,
    phase: Phase,
    target_rev_set: bool,
    used: HashSet<Token>,
    /// Open folders, the root first, each the child of the one before.
    open: Vec<Dir>,
    files: HashMap<Token, File>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Start,
    Open,
    RootClosed,
    Failed,
    Ended,
}

#[derive(Debug)]
struct Dir {
    token: Token,
    path: RelPathBuf,
    deleted: HashSet<String>,
    named: HashSet<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum File {
    NoText,
    Text,
    TextEnded,
}

impl<E: Editor> CheckingEditor<E> {
    /// Wraps an editor.
    pub fn new(inner: E) -> Self {
        Self {
            inner,
            phase: Phase::Start,
            target_rev_set: false,
            used: HashSet::new(),
            open: Vec::new(),
            files: HashMap::new(),
        }
    }

    /// Returns the wrapped editor.
    pub fn into_inner(self) -> E {
        self.inner
    }

    /// Tells whether the drive was ended by `close_edit` or `abort_edit`.
    pub fn is_ended(&self) -> bool {
        self.phase == Phase::Ended
    }

    /// After an error only `abort_edit` may come.
    fn note<T>(&mut self, result: Result<T>) -> Result<T> {
        if result.is_err() {
            self.phase = Phase::Failed;
        }
        result
    }

    fn new_token(&mut self, token: Token) {
        assert!(self.used.insert(token), "{token:?} is used twice");
    }

    fn dir(&mut self, token: Token) -> &mut Dir {
        assert_eq!(self.phase, Phase::Open, "a call needs an open root");
        let dir = self
            .open
            .last_mut()
            .expect("a folder is open in this phase");
        assert_eq!(dir.token, token, "only the innermost open folder is named");
        dir
    }

    fn name_child(&mut self, path: &RelPath, parent: Token, is_added: bool) {
        let dir = self.dir(parent);
        let (above, name) = path.split().expect("a child's path is not empty");
        assert_eq!(*above, *dir.path, "'{path}' is not a child of its parent");
        let first = dir.named.insert(name.to_owned());
        assert!(first, "'{path}' is named twice");
        assert!(
            is_added || !dir.deleted.contains(name),
            "'{path}' is opened after it was deleted"
        );
    }

    fn push_dir(&mut self, path: RelPathBuf, token: Token) {
        self.new_token(token);
        self.open.push(Dir {
            token,
            path,
            deleted: HashSet::new(),
            named: HashSet::new(),
        });
    }

    fn file(&mut self, token: Token) -> &mut File {
        assert!(
            matches!(self.phase, Phase::Open | Phase::RootClosed),
            "a call on a file outside of the drive"
        );
        self.files
            .get_mut(&token)
            .unwrap_or_else(|| panic!("{token:?} is no open file"))
    }
}

impl<E: Editor> Editor for CheckingEditor<E> {
    fn set_target_revision(&mut self, rev: Revnum) -> Result<()> {
        assert_eq!(self.phase, Phase::Start, "the target revision comes first");
        assert!(!self.target_rev_set, "the target revision is set twice");
        self.target_rev_set = true;
        let result = self.inner.set_target_revision(rev);
        self.note(result)
    }

    fn open_root(&mut self, base: Option<Revnum>, root: Token) -> Result<()> {
        assert_eq!(self.phase, Phase::Start, "the root is opened once");
        self.phase = Phase::Open;
        self.push_dir(RelPathBuf::root(), root);
        let result = self.inner.open_root(base, root);
        self.note(result)
    }

    fn delete_entry(&mut self, path: &RelPath, rev: Option<Revnum>, parent: Token) -> Result<()> {
        let dir = self.dir(parent);
        let (above, name) = path.split().expect("a child's path is not empty");
        assert_eq!(*above, *dir.path, "'{path}' is not a child of its parent");
        assert!(!dir.named.contains(name), "'{path}' is deleted after use");
        let first = dir.deleted.insert(name.to_owned());
        assert!(first, "'{path}' is deleted twice");
        let result = self.inner.delete_entry(path, rev, parent);
        self.note(result)
    }

    fn add_directory(
        &mut self,
        path: &RelPath,
        parent: Token,
        copy_from: Option<CopyFrom>,
        dir: Token,
    ) -> Result<()> {
        self.name_child(path, parent, true);
        self.push_dir(path.to_owned(), dir);
        let result = self.inner.add_directory(path, parent, copy_from, dir);
        self.note(result)
    }

    fn open_directory(
        &mut self,
        path: &RelPath,
        parent: Token,
        base: Option<Revnum>,
        dir: Token,
    ) -> Result<()> {
        self.name_child(path, parent, false);
        self.push_dir(path.to_owned(), dir);
        let result = self.inner.open_directory(path, parent, base, dir);
        self.note(result)
    }

    fn change_dir_prop(&mut self, dir: Token, name: &str, value: Option<&[u8]>) -> Result<()> {
        self.dir(dir);
        let result = self.inner.change_dir_prop(dir, name, value);
        self.note(result)
    }

    fn close_directory(&mut self, dir: Token) -> Result<()> {
        self.dir(dir);
        self.open.pop();
        if self.open.is_empty() {
            self.phase = Phase::RootClosed;
        }
        let result = self.inner.close_directory(dir);
        self.note(result)
    }

    fn absent_directory(&mut self, path: &RelPath, parent: Token) -> Result<()> {
        self.name_child(path, parent, true);
        let result = self.inner.absent_directory(path, parent);
        self.note(result)
    }

    fn add_file(
        &mut self,
        path: &RelPath,
        parent: Token,
        copy_from: Option<CopyFrom>,
        file: Token,
    ) -> Result<()> {
        self.name_child(path, parent, true);
        self.new_token(file);
        self.files.insert(file, File::NoText);
        let result = self.inner.add_file(path, parent, copy_from, file);
        self.note(result)
    }

    fn open_file(
        &mut self,
        path: &RelPath,
        parent: Token,
        base: Option<Revnum>,
        file: Token,
    ) -> Result<()> {
        self.name_child(path, parent, false);
        self.new_token(file);
        self.files.insert(file, File::NoText);
        let result = self.inner.open_file(path, parent, base, file);
        self.note(result)
    }

    fn apply_text(&mut self, file: Token, base: Option<Md5>, format: TextFormat) -> Result<()> {
        let state = self.file(file);
        assert_eq!(*state, File::NoText, "a file has one text");
        *state = File::Text;
        let result = self.inner.apply_text(file, base, format);
        self.note(result)
    }

    fn known_text(&mut self, file: Token, text: &Sha1) -> Result<bool> {
        assert_eq!(*self.file(file), File::NoText, "a file has one text");
        let result = self.inner.known_text(file, text);
        let known = self.note(result)?;
        if known {
            *self.file(file) = File::TextEnded;
        }
        Ok(known)
    }

    fn fulltext(&mut self, file: Token, text: Box<dyn Fulltext>) -> Result<()> {
        let state = self.file(file);
        assert_eq!(*state, File::NoText, "a file has one text");
        *state = File::TextEnded;
        let result = self.inner.fulltext(file, text);
        self.note(result)
    }

    fn text_chunk(&mut self, file: Token, chunk: Bytes) -> Result<()> {
        assert_eq!(*self.file(file), File::Text, "a chunk outside of a text");
        let result = self.inner.text_chunk(file, chunk);
        self.note(result)
    }

    fn text_end(&mut self, file: Token) -> Result<()> {
        let state = self.file(file);
        assert_eq!(*state, File::Text, "an end without a text");
        *state = File::TextEnded;
        let result = self.inner.text_end(file);
        self.note(result)
    }

    fn change_file_prop(&mut self, file: Token, name: &str, value: Option<&[u8]>) -> Result<()> {
        self.file(file);
        let result = self.inner.change_file_prop(file, name, value);
        self.note(result)
    }

    fn close_file(&mut self, file: Token, text: Option<Md5>) -> Result<()> {
        assert_ne!(*self.file(file), File::Text, "a file is closed in its text");
        self.files.remove(&file);
        let result = self.inner.close_file(file, text);
        self.note(result)
    }

    fn absent_file(&mut self, path: &RelPath, parent: Token) -> Result<()> {
        self.name_child(path, parent, true);
        let result = self.inner.absent_file(path, parent);
        self.note(result)
    }

    fn close_edit(&mut self) -> Result<()> {
        assert!(
            matches!(self.phase, Phase::Start | Phase::RootClosed),
            "the edit is closed in phase {:?}",
            self.phase
        );
        assert!(self.files.is_empty(), "files are open: {:?}", self.files);
        self.phase = Phase::Ended;
        let result = self.inner.close_edit();
        self.note(result)
    }

    fn abort_edit(&mut self) -> Result<()> {
        assert_ne!(self.phase, Phase::Ended, "the edit is over");
        self.phase = Phase::Ended;
        self.inner.abort_edit()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CountingEditor;

    fn path(path: &str) -> &RelPath {
        RelPath::new(path).unwrap()
    }

    #[test]
    fn passes_a_drive_that_keeps_the_rules() {
        let mut editor = CheckingEditor::new(CountingEditor::default());
        let tokens: Vec<_> = (0..4).map(Token).collect();
        editor.set_target_revision(Revnum::ZERO).unwrap();
        editor.open_root(None, tokens[0]).unwrap();
        editor.delete_entry(path("a"), None, tokens[0]).unwrap();
        editor
            .add_directory(path("a"), tokens[0], None, tokens[1])
            .unwrap();
        editor
            .add_file(path("a/f"), tokens[1], None, tokens[2])
            .unwrap();
        editor.close_directory(tokens[1]).unwrap();
        editor
            .apply_text(tokens[2], None, TextFormat::Fulltext)
            .unwrap();
        editor.absent_file(path("b"), tokens[0]).unwrap();
        editor
            .text_chunk(tokens[2], Bytes::from_static(b"x"))
            .unwrap();
        editor.text_end(tokens[2]).unwrap();
        editor.close_directory(tokens[0]).unwrap();
        editor.close_file(tokens[2], None).unwrap();
        editor.close_edit().unwrap();
        assert!(editor.is_ended());
        assert_eq!(editor.into_inner().text_bytes, 1);
    }

    #[test]
    fn panics_where_a_rule_is_broken() {
        let root = Token(0);
        type Drive = fn(&mut dyn Editor) -> Result<()>;
        let drives: [(&str, Drive); 8] = [
            ("root twice", |e| e.open_root(None, Token(9))),
            ("child of another folder", |e| {
                e.absent_file(path("x/y"), Token(0))
            }),
            ("child named twice", |e| {
                e.absent_file(path("x"), Token(0))?;
                e.absent_directory(path("x"), Token(0))
            }),
            ("token used twice", |e| {
                e.add_file(path("x"), Token(0), None, Token(0))
            }),
            ("parent named below its child", |e| {
                e.add_directory(path("x"), Token(0), None, Token(1))?;
                e.absent_file(path("y"), Token(0))
            }),
            ("deleted after use", |e| {
                e.absent_file(path("x"), Token(0))?;
                e.delete_entry(path("x"), None, Token(0))
            }),
            ("text without apply", |e| {
                e.add_file(path("x"), Token(0), None, Token(1))?;
                e.text_chunk(Token(1), Bytes::new())
            }),
            ("file left open", |e| {
                e.add_file(path("x"), Token(0), None, Token(1))?;
                e.close_directory(Token(0))?;
                e.close_edit()
            }),
        ];
        for (name, drive) in drives {
            let broken = std::panic::catch_unwind(|| {
                let mut editor = CheckingEditor::new(CountingEditor::default());
                editor.open_root(None, root).unwrap();
                drive(&mut editor)
            });
            assert!(broken.is_err(), "{name}");
        }
    }
}
