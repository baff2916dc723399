use bytes::Bytes;
use sylvan_core::{Error, ErrorCode, Md5, RelPath, Result, Revnum, Url};
use sylvan_delta::{CopyFrom, Editor, TextFormat, Token};

use crate::svn::item::Writer;

/// Writes the calls it gets as commands.
///
/// Full texts are not sent: contents must be [`TextFormat::Svndiff`].
#[derive(Clone, Debug, Default)]
pub struct EditorWriter {
    out: Writer,
    root: Option<Url>,
}

impl EditorWriter {
    /// Makes an empty one.
    pub const fn new() -> Self {
        Self {
            out: Writer::new(),
            root: None,
        }
    }

    /// Makes an empty one for a commit to the repository with this root: there sources of copies are
    /// named by URL.
    pub const fn for_commit(root: Url) -> Self {
        Self {
            out: Writer::new(),
            root: Some(root),
        }
    }

    /// Returns how much was written and not taken.
    pub fn len(&self) -> usize {
        self.out.as_bytes().len()
    }

    /// Tells whether all that was written is taken.
    pub fn is_empty(&self) -> bool {
        self.out.as_bytes().is_empty()
    }

    /// Shows the source of a copy.
    fn source(&self, copy_from: Option<CopyFrom>) -> Option<(String, Revnum)> {
        copy_from.map(|from| match &self.root {
            Some(root) => (root.join(&from.path).to_string(), from.rev),
            None => (format!("/{}", from.path.as_str()), from.rev),
        })
    }

    /// Takes what was written since.
    pub fn take(&mut self) -> Vec<u8> {
        self.out.take()
    }

    fn command(&mut self, name: &str, params: impl FnOnce(&mut Writer)) -> Result<()> {
        self.out.open().word(name).open();
        params(&mut self.out);
        self.out.close().close();
        Ok(())
    }

    fn node(
        &mut self,
        name: &str,
        path: &RelPath,
        parent: Token,
        token: Token,
        rest: impl FnOnce(&mut Writer),
    ) -> Result<()> {
        self.command(name, |out| {
            out.string(path.as_str());
            write_token(out, parent);
            write_token(out, token);
            rest(out);
        })
    }

    fn prop(&mut self, name: &str, token: Token, prop: &str, value: Option<&[u8]>) -> Result<()> {
        self.command(name, |out| {
            write_token(out, token);
            out.string(prop).optional_string(value);
        })
    }

    fn token(&mut self, name: &str, token: Token) -> Result<()> {
        self.command(name, |out| write_token(out, token))
    }

    fn absent(&mut self, name: &str, path: &RelPath, parent: Token) -> Result<()> {
        self.command(name, |out| {
            out.string(path.as_str());
            write_token(out, parent);
        })
    }
}

fn write_token(out: &mut Writer, token: Token) {
    out.string(format!("t{}", token.0));
}

fn write_copy_from(out: &mut Writer, source: Option<(String, Revnum)>) {
    out.optional(source, |out, (path, rev)| out.string(path).rev(rev));
}

fn write_checksum(out: &mut Writer, checksum: Option<Md5>) {
    out.optional_string(checksum.map(|checksum| checksum.to_string()));
}

impl Editor for EditorWriter {
    fn set_target_revision(&mut self, rev: Revnum) -> Result<()> {
        self.command("target-rev", |out| {
            out.rev(rev);
        })
    }

    fn open_root(&mut self, base: Option<Revnum>, root: Token) -> Result<()> {
        self.command("open-root", |out| {
            out.optional_rev(base);
            write_token(out, root);
        })
    }

    fn delete_entry(&mut self, path: &RelPath, rev: Option<Revnum>, parent: Token) -> Result<()> {
        self.command("delete-entry", |out| {
            out.string(path.as_str()).optional_rev(rev);
            write_token(out, parent);
        })
    }

    fn add_directory(
        &mut self,
        path: &RelPath,
        parent: Token,
        copy_from: Option<CopyFrom>,
        dir: Token,
    ) -> Result<()> {
        let source = self.source(copy_from);
        self.node("add-dir", path, parent, dir, |out| {
            write_copy_from(out, source);
        })
    }

    fn open_directory(
        &mut self,
        path: &RelPath,
        parent: Token,
        base: Option<Revnum>,
        dir: Token,
    ) -> Result<()> {
        self.node("open-dir", path, parent, dir, |out| {
            out.optional_rev(base);
        })
    }

    fn change_dir_prop(&mut self, dir: Token, name: &str, value: Option<&[u8]>) -> Result<()> {
        self.prop("change-dir-prop", dir, name, value)
    }

    fn close_directory(&mut self, dir: Token) -> Result<()> {
        self.token("close-dir", dir)
    }

    fn absent_directory(&mut self, path: &RelPath, parent: Token) -> Result<()> {
        self.absent("absent-dir", path, parent)
    }

    fn add_file(
        &mut self,
        path: &RelPath,
        parent: Token,
        copy_from: Option<CopyFrom>,
        file: Token,
    ) -> Result<()> {
        let source = self.source(copy_from);
        self.node("add-file", path, parent, file, |out| {
            write_copy_from(out, source);
        })
    }

    fn open_file(
        &mut self,
        path: &RelPath,
        parent: Token,
        base: Option<Revnum>,
        file: Token,
    ) -> Result<()> {
        self.node("open-file", path, parent, file, |out| {
            out.optional_rev(base);
        })
    }

    fn apply_text(&mut self, file: Token, base: Option<Md5>, format: TextFormat) -> Result<()> {
        if format != TextFormat::Svndiff {
            return Err(Error::new(
                ErrorCode::UNSUPPORTED_FEATURE,
                "The svn protocol sends contents as svndiff only",
            ));
        }
        self.command("apply-textdelta", |out| {
            write_token(out, file);
            write_checksum(out, base);
        })
    }

    fn text_chunk(&mut self, file: Token, chunk: Bytes) -> Result<()> {
        self.command("textdelta-chunk", |out| {
            write_token(out, file);
            out.string(chunk);
        })
    }

    fn text_end(&mut self, file: Token) -> Result<()> {
        self.token("textdelta-end", file)
    }

    fn change_file_prop(&mut self, file: Token, name: &str, value: Option<&[u8]>) -> Result<()> {
        self.prop("change-file-prop", file, name, value)
    }

    fn close_file(&mut self, file: Token, text: Option<Md5>) -> Result<()> {
        self.command("close-file", |out| {
            write_token(out, file);
            write_checksum(out, text);
        })
    }

    fn absent_file(&mut self, path: &RelPath, parent: Token) -> Result<()> {
        self.absent("absent-file", path, parent)
    }

    fn close_edit(&mut self) -> Result<()> {
        self.command("close-edit", |_| {})
    }

    fn abort_edit(&mut self) -> Result<()> {
        self.command("abort-edit", |_| {})
    }
}
