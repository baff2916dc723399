use bytes::Bytes;
use proptest::prelude::*;
use sylvan_core::{Error, ErrorCode, Md5, RelPath, RelPathBuf, Result, Revnum, Url};
use sylvan_delta::{CheckingEditor, CopyFrom, CountingEditor, Editor, TextFormat, Token};

use super::*;

/// Writes down each call; the chunks of a text as one.
#[derive(Debug, Default, PartialEq, Eq)]
struct Recorder {
    calls: Vec<String>,
    text: Vec<u8>,
}

impl Recorder {
    fn note(&mut self, call: String) -> Result<()> {
        self.calls.push(call);
        Ok(())
    }
}

impl Editor for Recorder {
    fn set_target_revision(&mut self, rev: Revnum) -> Result<()> {
        self.note(format!("target {rev}"))
    }

    fn open_root(&mut self, base: Option<Revnum>, root: Token) -> Result<()> {
        self.note(format!("root {base:?} {root:?}"))
    }

    fn delete_entry(&mut self, path: &RelPath, rev: Option<Revnum>, parent: Token) -> Result<()> {
        self.note(format!("delete {} {rev:?} {parent:?}", path.as_str()))
    }

    fn add_directory(
        &mut self,
        path: &RelPath,
        parent: Token,
        copy_from: Option<CopyFrom>,
        dir: Token,
    ) -> Result<()> {
        let path = path.as_str();
        self.note(format!("add dir {path} {parent:?} {copy_from:?} {dir:?}"))
    }

    fn open_directory(
        &mut self,
        path: &RelPath,
        parent: Token,
        base: Option<Revnum>,
        dir: Token,
    ) -> Result<()> {
        let path = path.as_str();
        self.note(format!("open dir {path} {parent:?} {base:?} {dir:?}"))
    }

    fn change_dir_prop(&mut self, dir: Token, name: &str, value: Option<&[u8]>) -> Result<()> {
        self.note(format!("dir prop {dir:?} {name} {value:?}"))
    }

    fn close_directory(&mut self, dir: Token) -> Result<()> {
        self.note(format!("close dir {dir:?}"))
    }

    fn absent_directory(&mut self, path: &RelPath, parent: Token) -> Result<()> {
        self.note(format!("absent dir {} {parent:?}", path.as_str()))
    }

    fn add_file(
        &mut self,
        path: &RelPath,
        parent: Token,
        copy_from: Option<CopyFrom>,
        file: Token,
    ) -> Result<()> {
        let path = path.as_str();
        self.note(format!("add file {path} {parent:?} {copy_from:?} {file:?}"))
    }

    fn open_file(
        &mut self,
        path: &RelPath,
        parent: Token,
        base: Option<Revnum>,
        file: Token,
    ) -> Result<()> {
        let path = path.as_str();
        self.note(format!("open file {path} {parent:?} {base:?} {file:?}"))
    }

    fn apply_text(&mut self, file: Token, base: Option<Md5>, format: TextFormat) -> Result<()> {
        self.note(format!("text {file:?} {base:?} {format:?}"))
    }

    fn text_chunk(&mut self, _: Token, chunk: Bytes) -> Result<()> {
        self.text.extend_from_slice(&chunk);
        Ok(())
    }

    fn text_end(&mut self, file: Token) -> Result<()> {
        let text = std::mem::take(&mut self.text);
        self.note(format!("text end {file:?} {text:?}"))
    }

    fn change_file_prop(&mut self, file: Token, name: &str, value: Option<&[u8]>) -> Result<()> {
        self.note(format!("file prop {file:?} {name} {value:?}"))
    }

    fn close_file(&mut self, file: Token, text: Option<Md5>) -> Result<()> {
        self.note(format!("close file {file:?} {text:?}"))
    }

    fn absent_file(&mut self, path: &RelPath, parent: Token) -> Result<()> {
        self.note(format!("absent file {} {parent:?}", path.as_str()))
    }

    fn close_edit(&mut self) -> Result<()> {
        self.note("close edit".to_owned())
    }

    fn abort_edit(&mut self) -> Result<()> {
        self.note("abort edit".to_owned())
    }
}

fn decode(bytes: &[u8], cut: usize, editor: &mut dyn Editor) -> Result<Option<Event>, Error> {
    let mut decoder = Decoder::new(Some(Url::parse("svn://h/r").unwrap()));
    let mut input = Vec::new();
    for chunk in bytes.chunks(cut.max(1)) {
        input.extend_from_slice(chunk);
        let mut buffer = Bytes::from(std::mem::take(&mut input));
        match decoder.drive(&mut buffer, editor)? {
            Event::More => input = buffer.into(),
            event => {
                assert_eq!(buffer.len(), 0, "the drive ends with its last byte");
                return Ok(Some(event));
            }
        }
    }
    Ok(None)
}

/// A node of a drive.
#[derive(Clone, Debug)]
enum Node {
    Dir(Option<bool>, Vec<Self>),
    File(Option<bool>, Option<Vec<Vec<u8>>>),
    Absent(bool),
    Deleted,
}

fn node() -> impl Strategy<Value = Node> {
    let chunks = prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 0..4);
    let leaf = prop_oneof![
        (any::<Option<bool>>(), prop::option::of(chunks))
            .prop_map(|(how, text)| Node::File(how, text)),
        any::<bool>().prop_map(Node::Absent),
        Just(Node::Deleted),
    ];
    leaf.prop_recursive(3, 20, 5, |inner| {
        (any::<Option<bool>>(), prop::collection::vec(inner, 0..5))
            .prop_map(|(how, children)| Node::Dir(how, children))
    })
}

struct Driver<'a> {
    editor: &'a mut dyn Editor,
    next: u32,
}

impl Driver<'_> {
    fn token(&mut self) -> Token {
        self.next += 1;
        Token(self.next - 1)
    }

    fn drive(&mut self, children: &[Node]) -> Result<()> {
        self.editor.set_target_revision(Revnum::new(9).unwrap())?;
        let root = self.token();
        self.editor.open_root(Revnum::new(3), root)?;
        self.children(RelPath::ROOT, root, children)?;
        self.editor.close_directory(root)?;
        self.editor.close_edit()
    }

    fn children(&mut self, above: &RelPath, parent: Token, nodes: &[Node]) -> Result<()> {
        for (number, node) in nodes.iter().enumerate() {
            let path = above.child(&format!("n{number}")).unwrap();
            self.node(&path, parent, node)?;
        }
        Ok(())
    }

    fn node(&mut self, path: &RelPath, parent: Token, node: &Node) -> Result<()> {
        let from = |yes: bool| {
            yes.then(|| CopyFrom {
                path: RelPathBuf::new("trunk/x").unwrap(),
                rev: Revnum::ZERO,
            })
        };
        match node {
            Node::Dir(how, children) => {
                let dir = self.token();
                match how {
                    Some(copied) => self
                        .editor
                        .add_directory(path, parent, from(*copied), dir)?,
                    None => self.editor.open_directory(path, parent, None, dir)?,
                }
                self.editor.change_dir_prop(dir, "p", Some(b"v\0\xff"))?;
                self.children(path, dir, children)?;
                self.editor.close_directory(dir)
            }
            Node::File(how, text) => {
                let file = self.token();
                match how {
                    Some(copied) => self.editor.add_file(path, parent, from(*copied), file)?,
                    None => self.editor.open_file(path, parent, Revnum::new(7), file)?,
                }
                self.editor.change_file_prop(file, "svn:x", None)?;
                if let Some(chunks) = text {
                    let base = (chunks.len() == 1).then_some(Md5::EMPTY);
                    self.editor.apply_text(file, base, TextFormat::Svndiff)?;
                    for chunk in chunks {
                        self.editor.text_chunk(file, chunk.clone().into())?;
                    }
                    self.editor.text_end(file)?;
                }
                self.editor
                    .close_file(file, text.is_some().then_some(Md5::EMPTY))
            }
            Node::Absent(true) => self.editor.absent_directory(path, parent),
            Node::Absent(false) => self.editor.absent_file(path, parent),
            Node::Deleted => {
                self.editor.delete_entry(path, Revnum::new(5), parent)?;
                let dir = self.token();
                self.editor.add_directory(path, parent, None, dir)?;
                self.editor.close_directory(dir)
            }
        }
    }
}

fn drive(nodes: &[Node], editor: &mut dyn Editor) {
    Driver { editor, next: 0 }.drive(nodes).unwrap();
}

proptest! {
    #[test]
    fn decoding_undoes_writing(nodes in prop::collection::vec(node(), 0..5), cut in 1..200usize) {
        let mut expected = Recorder::default();
        drive(&nodes, &mut expected);
        let mut writer = EditorWriter::new();
        drive(&nodes, &mut writer);
        let mut editor = CheckingEditor::new(Recorder::default());
        let event = decode(&writer.take(), cut, &mut editor).unwrap();
        prop_assert!(matches!(event, Some(Event::Closed)));
        prop_assert_eq!(editor.into_inner(), expected);
    }

    #[test]
    fn a_changed_byte_is_no_panic(
        nodes in prop::collection::vec(node(), 0..4),
        at in any::<prop::sample::Index>(),
        to in prop::sample::select(b" ()0123456789:abdet/.-\xff".to_vec()),
    ) {
        let mut writer = EditorWriter::new();
        drive(&nodes, &mut writer);
        let mut bytes = writer.take();
        let at = at.index(bytes.len());
        bytes[at] = to;
        crate::fuzz::svn_edit(&bytes);
    }

    #[test]
    fn swapped_commands_are_no_panic(
        nodes in prop::collection::vec(node(), 0..4),
        from in any::<prop::sample::Index>(),
        to in any::<prop::sample::Index>(),
    ) {
        let mut writer = EditorWriter::new();
        drive(&nodes, &mut writer);
        let text = String::from_utf8_lossy(&writer.take()).into_owned();
        let mut commands: Vec<&str> = text.split_inclusive(") ) ").collect();
        let (from, to) = (from.index(commands.len()), to.index(commands.len()));
        commands.swap(from, to);
        crate::fuzz::svn_edit(commands.concat().as_bytes());
    }
}

#[test]
fn truncation_awaits_more() {
    let nodes = [Node::File(Some(false), Some(vec![b"abc".to_vec(), vec![]]))];
    let mut writer = EditorWriter::new();
    drive(&nodes, &mut writer);
    let bytes = writer.take();
    for len in 0..bytes.len() {
        let mut editor = CheckingEditor::new(CountingEditor::default());
        assert!(decode(&bytes[..len], 7, &mut editor).unwrap().is_none());
    }
}

#[test]
fn chunks_written_unusually_are_understood() {
    let bytes = b"( open-root ( ( ) 1:r ) ) ( add-file ( 1:f 1:r 1:f ( ) ) ) \
        ( apply-textdelta ( 1:f ( ) ) ) \
        (textdelta-chunk (1:f 2:ab )\n) ( textdelta-chunk ( 1:f 2:cd extra ( 1 ) ) ) \
        ( textdelta-chunk ( 1:f 2:ef )\n) ( textdelta-chunk ( 1:f 0: ) ) ( textdelta-end ( 1:f ) ) \
        ( close-file ( 1:f ( ) ) ) ( close-dir ( 1:r ) ) ( close-edit ( ) ) ";
    for cut in 1..bytes.len() {
        let mut editor = CheckingEditor::new(Recorder::default());
        let event = decode(bytes, cut, &mut editor).unwrap();
        assert!(matches!(event, Some(Event::Closed)));
        let calls = editor.into_inner().calls;
        assert!(
            calls.contains(&format!("text end Token(1) {:?}", b"abcdef")),
            "{calls:?}"
        );
    }
}

#[test]
fn many_digits_before_a_chunk_mean_the_same_however_they_are_cut() {
    for digits in 18..24 {
        let zeros = "0".repeat(digits);
        for rest in ["3:1:f 99:a", "3:1:f ( ) ) "] {
            let bytes = format!("( textdelta-chunk ( {zeros}{rest}");
            crate::fuzz::svn_edit(bytes.as_bytes());
        }
    }
}

#[test]
fn hostile_drives_are_refused() {
    use ErrorCode as E;
    let open = "( open-root ( ( ) 1:r ) ) ";
    let file = "( add-file ( 1:f 1:r 1:f ( ) ) ) ";
    let text = "( apply-textdelta ( 1:f ( ) ) ) ";
    for (commands, code) in [
        ("( add-dir ( 4:../x 1:r 1:d ( ) ) ) ", E::FS_PATH_SYNTAX),
        ("( add-dir ( 2:.. 1:r 1:d ( ) ) ) ", E::FS_PATH_SYNTAX),
        ("( add-dir ( 6:a/../b 1:r 1:d ( ) ) ) ", E::FS_PATH_SYNTAX),
        ("( add-file ( 3:a\x1bb 1:r 1:d ( ) ) ) ", E::FS_PATH_SYNTAX),
        ("( add-file ( 3:a\0b 1:r 1:d ( ) ) ) ", E::FS_PATH_SYNTAX),
        (
            "( add-file ( 4:/etc 1:r 1:d ( ) ) ) ( add-file ( 3:etc 1:r 1:e ( ) ) ) ",
            E::RA_SVN_MALFORMED_DATA,
        ),
        (
            "( add-file ( 11:/etc/passwd 1:r 1:d ( ) ) ) ",
            E::RA_SVN_MALFORMED_DATA,
        ),
        ("( add-file ( 0: 1:r 1:d ( ) ) ) ", E::RA_SVN_MALFORMED_DATA),
        (
            "( add-file ( 2:\u{fc} 1:x 1:d ( ) ) ) ",
            E::RA_SVN_MALFORMED_DATA,
        ),
        ("( add-dir ( 1:d 1:r 1:r ( ) ) ) ", E::RA_SVN_MALFORMED_DATA),
        ("( open-root ( ( ) 1:s ) ) ", E::RA_SVN_MALFORMED_DATA),
        ("( target-rev ( 1 ) ) ", E::RA_SVN_MALFORMED_DATA),
        ("( close-file ( 1:r ( ) ) ) ", E::RA_SVN_MALFORMED_DATA),
        ("( close-edit ( ) ) ", E::FS_INCORRECT_EDITOR_COMPLETION),
        ("( make-tea ( ) ) ", E::RA_SVN_UNKNOWN_CMD),
        (
            "( close-dir ( 1:r ) ) ( close-dir ( 1:r ) ) ",
            E::RA_SVN_MALFORMED_DATA,
        ),
        (
            "( open-file ( 1:x 1:r 1:f ( 99999999999999999999 ) ) ) ",
            E::RA_SVN_MALFORMED_DATA,
        ),
        (
            "( open-file ( 1:x 1:r 1:f ( 9999999999999999999 ) ) ) ",
            E::RA_SVN_MALFORMED_DATA,
        ),
        (
            "( add-file ( 1:x 1:r 1:f ( 9:svn://h/x 1 ) ) ) ",
            E::RA_SVN_MALFORMED_DATA,
        ),
        (
            "( delete-entry ( 1:x ( ) 1:r ) ) ( open-file ( 1:x 1:r 1:f ( ) ) ) ",
            E::RA_SVN_MALFORMED_DATA,
        ),
    ] {
        let bytes = format!("{open}{commands}");
        let mut editor = CheckingEditor::new(CountingEditor::default());
        let error = decode(bytes.as_bytes(), 3, &mut editor).unwrap_err();
        assert_eq!(error.code(), code, "{commands}: {error}");
    }
    for commands in [
        "( textdelta-chunk ( 1:f 1:x ) ) ",
        "( textdelta-end ( 1:f ) ) ",
        "( apply-textdelta ( 1:f ( ) ) ) ( apply-textdelta ( 1:f ( ) ) ) ",
        "( apply-textdelta ( 1:f ( ) ) ) ( close-file ( 1:f ( ) ) ) ",
        "( apply-textdelta ( 1:f ( ) ) ) ( textdelta-chunk ( 1:f 1:xx ) ) ",
    ] {
        let bytes = format!("{open}{file}{commands}");
        let mut editor = CheckingEditor::new(CountingEditor::default());
        let error = decode(bytes.as_bytes(), 3, &mut editor).unwrap_err();
        assert_eq!(error.code(), E::RA_SVN_MALFORMED_DATA, "{commands}");
    }
    let twice = b"( target-rev ( 9 ) ) ( target-rev ( 9 ) ) ";
    let mut editor = CheckingEditor::new(CountingEditor::default());
    let error = decode(twice, 5, &mut editor).unwrap_err();
    assert_eq!(error.code(), E::RA_SVN_MALFORMED_DATA);
    let bad_sum = format!("{open}{file}( close-file ( 1:f ( 3:xyz ) ) ) ");
    let mut editor = CheckingEditor::new(CountingEditor::default());
    let error = decode(bad_sum.as_bytes(), 9, &mut editor).unwrap_err();
    assert_eq!(error.code(), E::BAD_CHECKSUM_PARSE);
    // A chunk of any length is passed on as it comes.
    let endless = format!("{open}{file}{text}( textdelta-chunk ( 1:f 18446744073709551615:");
    let mut editor = CheckingEditor::new(CountingEditor::default());
    let bytes = [endless.as_bytes(), &[b'x'; 5000]].concat();
    assert!(decode(&bytes, 100, &mut editor).unwrap().is_none());
    assert_eq!(editor.into_inner().text_bytes, 5000);
}

#[test]
fn a_failure_ends_the_drive() {
    let bytes = b"( failure ( ( 160013 2:no 0: 0 ) ) ) ";
    let event = decode(bytes, 4, &mut CountingEditor::default()).unwrap();
    let Some(Event::Failure(error)) = event else {
        panic!("no failure");
    };
    assert_eq!(error.code(), ErrorCode::FS_NOT_FOUND);
    let event = decode(b"( abort-edit ( ) ) ", 1, &mut CountingEditor::default());
    assert!(matches!(event, Ok(Some(Event::Aborted))));
}

#[test]
fn commits_need_not_keep_the_order() {
    let commands = b"( open-root ( ( ) 1:r ) ) ( open-dir ( 0: 1:r 1:s ( 1 ) ) ) \
        ( close-dir ( 1:s ) ) ( open-dir ( 1:a 1:r 1:a ( 1 ) ) ) ( open-dir ( 1:b 1:r 1:b ( 1 ) ) ) \
        ( open-file ( 3:a/f 1:a 1:f ( 1 ) ) ) ( close-file ( 1:f ( ) ) ) \
        ( open-file ( 3:a/f 1:a 1:f ( 1 ) ) ) ( close-file ( 1:f ( ) ) ) \
        ( close-dir ( 1:a ) ) ( close-dir ( 1:b ) ) ( close-dir ( 1:r ) ) ( close-edit ( ) ) ";
    let root = Url::parse("svn://h/r").unwrap();
    let mut loose = Decoder::for_commit(root, 1 << 10);
    let mut input = Bytes::from_static(commands);
    let event = loose.drive(&mut input, &mut Recorder::default()).unwrap();
    assert!(matches!(event, Event::Closed));
    let mut strict = Decoder::new(None);
    let mut input = Bytes::from_static(commands);
    assert!(strict.drive(&mut input, &mut Recorder::default()).is_err());
    for outside in [
        "( add-dir ( 0: 1:r 1:s ( ) ) ) ",
        "( open-dir ( 3:a/b 1:r 1:s ( ) ) ) ",
    ] {
        let commands = format!("( open-root ( ( ) 1:r ) ) {outside}");
        let root = Url::parse("svn://h/r").unwrap();
        let mut loose = Decoder::for_commit(root, 1 << 10);
        let driven = loose.drive(&mut commands.into(), &mut Recorder::default());
        assert!(driven.is_err(), "{outside}");
    }
}
