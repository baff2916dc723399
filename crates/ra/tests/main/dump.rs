//! What the tests share: contexts, and an editor that writes down the tree it is told of.

use std::collections::BTreeMap;
use std::sync::Arc;

use sylvan_core::{Md5, RelPath, RelPathBuf, Result, Revnum, Sha1};
use sylvan_delta::{Applier, CopyFrom, Editor, SeekBase, TextFormat, Token};
use sylvan_io::{Category, Config};
use sylvan_ra::Context;
use sylvan_ra::auth::{Auth, AuthOptions, NoPrompt};

/// A context with options of the `servers` file, for nobody.
pub(crate) fn context(options: &[(&str, &str)]) -> Context {
    context_for(options, AuthOptions::default())
}

/// A context with options of the `servers` file and of the command line.
pub(crate) fn context_for(options: &[(&str, &str)], auth: AuthOptions) -> Context {
    let mut config = Config::default();
    for (option, value) in options {
        config.set(Category::Servers, "global", option, value);
    }
    let config = Arc::new(config);
    let auth = AuthOptions {
        non_interactive: true,
        ..auth
    };
    Context::new(
        Arc::clone(&config),
        Auth::new(auth, config, Box::new(NoPrompt)),
    )
}

/// Who the test servers know.
pub(crate) fn jrandom() -> AuthOptions {
    AuthOptions {
        username: Some("jrandom".to_owned()),
        password: Some("rayjandom".to_owned()),
        ..AuthOptions::default()
    }
}

type TextApplier = Applier<SeekBase<std::io::Cursor<Vec<u8>>>>;

/// Writes down a drive, so that two can be compared whatever the order of their calls was.
#[derive(Default)]
pub(crate) struct Dump {
    /// Contents that deltas are against, by path.
    pub(crate) bases: BTreeMap<String, Vec<u8>>,
    /// Contents that are said to be known.
    pub(crate) known: Vec<Sha1>,
    pub(crate) nodes: BTreeMap<Token, RelPathBuf>,
    pub(crate) texts: BTreeMap<Token, (TextApplier, Vec<u8>)>,
    pub(crate) lines: Vec<String>,
    pub(crate) contents: BTreeMap<String, Vec<u8>>,
    pub(crate) props: BTreeMap<String, BTreeMap<String, Vec<u8>>>,
    pub(crate) ended: bool,
    pub(crate) aborted: bool,
}

impl Dump {
    /// Returns the drive's lines, sorted.
    pub(crate) fn lines(mut self) -> Vec<String> {
        for (path, content) in &self.contents {
            self.lines.push(format!("{path} = {}", Md5::of(content)));
        }
        self.lines.sort();
        self.lines
    }

    fn line(&mut self, line: String) -> Result<()> {
        self.lines.push(line);
        Ok(())
    }

    fn add(&mut self, token: Token, path: &RelPath) {
        self.nodes.insert(token, path.to_owned());
    }

    fn path(&self, token: Token) -> String {
        self.nodes[&token].as_str().to_owned()
    }

    fn prop(&mut self, token: Token, name: &str, value: Option<&[u8]>) -> Result<()> {
        let path = self.path(token);
        let text = value.map(String::from_utf8_lossy);
        // Where a server keeps a node differs between the versions of the protocol.
        if !name.starts_with("svn:wc:") {
            self.line(format!("{path} {name}={text:?}"))?;
        }
        let props = self.props.entry(path).or_default();
        match value {
            Some(value) => props.insert(name.to_owned(), value.to_vec()),
            None => props.remove(name),
        };
        Ok(())
    }
}

fn from(copy: Option<CopyFrom>) -> String {
    copy.map_or(String::new(), |copy| {
        format!(" from {}@{}", copy.path.as_str(), copy.rev)
    })
}

impl Editor for Dump {
    fn set_target_revision(&mut self, rev: Revnum) -> Result<()> {
        self.line(format!("target {rev}"))
    }
    fn open_root(&mut self, base: Option<Revnum>, root: Token) -> Result<()> {
        self.add(root, RelPath::ROOT);
        self.line(format!("root {base:?}"))
    }
    fn delete_entry(&mut self, path: &RelPath, rev: Option<Revnum>, _: Token) -> Result<()> {
        let _ = rev;
        self.line(format!("delete {}", path.as_str()))
    }
    fn add_directory(
        &mut self,
        path: &RelPath,
        _: Token,
        copy: Option<CopyFrom>,
        dir: Token,
    ) -> Result<()> {
        self.add(dir, path);
        self.line(format!("add dir {}{}", path.as_str(), from(copy)))
    }
    fn open_directory(
        &mut self,
        path: &RelPath,
        _: Token,
        base: Option<Revnum>,
        dir: Token,
    ) -> Result<()> {
        self.add(dir, path);
        self.line(format!("open dir {} {base:?}", path.as_str()))
    }
    fn change_dir_prop(&mut self, dir: Token, name: &str, value: Option<&[u8]>) -> Result<()> {
        self.prop(dir, name, value)
    }
    fn close_directory(&mut self, dir: Token) -> Result<()> {
        let path = self.path(dir);
        self.line(format!("close {path}"))
    }
    fn absent_directory(&mut self, path: &RelPath, _: Token) -> Result<()> {
        self.line(format!("absent dir {}", path.as_str()))
    }
    fn add_file(
        &mut self,
        path: &RelPath,
        _: Token,
        copy: Option<CopyFrom>,
        file: Token,
    ) -> Result<()> {
        self.add(file, path);
        self.line(format!("add file {}{}", path.as_str(), from(copy)))
    }
    fn open_file(
        &mut self,
        path: &RelPath,
        _: Token,
        base: Option<Revnum>,
        file: Token,
    ) -> Result<()> {
        self.add(file, path);
        self.line(format!("open file {} {base:?}", path.as_str()))
    }
    fn apply_text(&mut self, file: Token, base: Option<Md5>, format: TextFormat) -> Result<()> {
        let content = self
            .bases
            .get(&self.path(file))
            .cloned()
            .unwrap_or_default();
        if let Some(base) = base {
            assert_eq!(base, Md5::of(&content), "base of {}", self.path(file));
        }
        let base = SeekBase::new(std::io::Cursor::new(content));
        self.texts
            .insert(file, (Applier::new(format, base), Vec::new()));
        Ok(())
    }
    fn known_text(&mut self, file: Token, text: &Sha1) -> Result<bool> {
        let known = self.known.contains(text);
        if known {
            let path = self.path(file);
            self.line(format!("known {path}"))?;
        }
        Ok(known)
    }
    fn text_chunk(&mut self, file: Token, chunk: bytes::Bytes) -> Result<()> {
        let (applier, text) = self.texts.get_mut(&file).expect("a text is open");
        applier.push(&chunk, |piece| {
            text.extend_from_slice(piece);
            Ok(())
        })
    }
    fn text_end(&mut self, file: Token) -> Result<()> {
        let (applier, text) = self.texts.remove(&file).expect("a text is open");
        applier.finish()?;
        let path = self.path(file);
        self.contents.insert(path, text);
        Ok(())
    }
    fn change_file_prop(&mut self, file: Token, name: &str, value: Option<&[u8]>) -> Result<()> {
        self.prop(file, name, value)
    }
    fn close_file(&mut self, file: Token, text: Option<Md5>) -> Result<()> {
        let path = self.path(file);
        if let (Some(sum), Some(content)) = (text, self.contents.get(&path)) {
            assert_eq!(sum, Md5::of(content), "content of {path}");
        }
        self.line(format!("close file {path}"))
    }
    fn absent_file(&mut self, path: &RelPath, _: Token) -> Result<()> {
        self.line(format!("absent file {}", path.as_str()))
    }
    fn close_edit(&mut self) -> Result<()> {
        self.ended = true;
        Ok(())
    }
    fn abort_edit(&mut self) -> Result<()> {
        self.aborted = true;
        Ok(())
    }
}
