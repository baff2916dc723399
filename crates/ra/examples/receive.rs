//! Receives a checkout of a URL, applies the deltas, and only counts: what the network side of a
//! checkout costs. `receive URL [config-dir]`

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use sylvan_core::{Depth, Md5, RelPath, RelPathBuf, Result, Revnum, Url};
use sylvan_delta::{
    Applier, CopyFrom, CountingEditor, Editor, EmptyBase, ReportEntry, TextFormat, Token,
};
use sylvan_io::Config;
use sylvan_ra::auth::{Auth, AuthOptions, NoPrompt};
use sylvan_ra::{Context, UpdateOptions};

/// Counts, and applies each text to nothing.
struct Receiver {
    count: CountingEditor,
    applier: Applier<EmptyBase>,
    text_bytes: u64,
}

#[expect(clippy::print_stdout, reason = "the result of the measurement")]
fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let url = Url::parse(&arguments.next().unwrap_or_default())?;
    let auth = AuthOptions {
        non_interactive: true,
        ..AuthOptions::default()
    };
    let config = Arc::new(Config::default());
    let context = Context::new(
        Arc::clone(&config),
        Auth::new(auth, config, Box::new(NoPrompt)),
    );
    let begin = Instant::now();
    let mut session = sylvan_ra::open(&url, &context)?;
    let rev = session.latest_rev()?;
    let mut receiver = Receiver {
        count: CountingEditor::default(),
        applier: Applier::new(TextFormat::Svndiff, EmptyBase),
        text_bytes: 0,
    };
    let report = [ReportEntry::SetPath {
        path: RelPathBuf::root(),
        rev,
        depth: Depth::Infinity,
        start_empty: true,
        lock_token: None,
    }];
    let options = UpdateOptions {
        rev: Some(rev),
        target: String::new(),
        depth: Some(Depth::Infinity),
        send_copyfrom_args: false,
        ignore_ancestry: false,
    };
    session.update(&options, &report, &mut receiver)?;
    println!(
        "{:?}\n{} bytes of texts, {} received, {:?}",
        receiver.count,
        receiver.text_bytes,
        context.progress.received(),
        begin.elapsed()
    );
    Ok(())
}

impl Editor for Receiver {
    fn set_target_revision(&mut self, rev: Revnum) -> Result<()> {
        self.count.set_target_revision(rev)
    }

    fn open_root(&mut self, base: Option<Revnum>, root: Token) -> Result<()> {
        self.count.open_root(base, root)
    }

    fn delete_entry(&mut self, path: &RelPath, rev: Option<Revnum>, parent: Token) -> Result<()> {
        self.count.delete_entry(path, rev, parent)
    }

    fn add_directory(
        &mut self,
        path: &RelPath,
        parent: Token,
        copy_from: Option<CopyFrom>,
        dir: Token,
    ) -> Result<()> {
        self.count.add_directory(path, parent, copy_from, dir)
    }

    fn open_directory(
        &mut self,
        path: &RelPath,
        parent: Token,
        base: Option<Revnum>,
        dir: Token,
    ) -> Result<()> {
        self.count.open_directory(path, parent, base, dir)
    }

    fn change_dir_prop(&mut self, dir: Token, name: &str, value: Option<&[u8]>) -> Result<()> {
        self.count.change_dir_prop(dir, name, value)
    }

    fn close_directory(&mut self, dir: Token) -> Result<()> {
        self.count.close_directory(dir)
    }

    fn absent_directory(&mut self, path: &RelPath, parent: Token) -> Result<()> {
        self.count.absent_directory(path, parent)
    }

    fn add_file(
        &mut self,
        path: &RelPath,
        parent: Token,
        copy_from: Option<CopyFrom>,
        file: Token,
    ) -> Result<()> {
        self.count.add_file(path, parent, copy_from, file)
    }

    fn open_file(
        &mut self,
        path: &RelPath,
        parent: Token,
        base: Option<Revnum>,
        file: Token,
    ) -> Result<()> {
        self.count.open_file(path, parent, base, file)
    }

    fn apply_text(&mut self, file: Token, base: Option<Md5>, format: TextFormat) -> Result<()> {
        self.applier.restart(format, EmptyBase);
        self.count.apply_text(file, base, format)
    }

    fn text_chunk(&mut self, file: Token, chunk: Bytes) -> Result<()> {
        let bytes = &mut self.text_bytes;
        self.applier.push(&chunk, |text| {
            *bytes += text.len() as u64;
            Ok(())
        })?;
        self.count.text_chunk(file, chunk)
    }

    fn text_end(&mut self, file: Token) -> Result<()> {
        self.applier.finish()?;
        self.count.text_end(file)
    }

    fn change_file_prop(&mut self, file: Token, name: &str, value: Option<&[u8]>) -> Result<()> {
        self.count.change_file_prop(file, name, value)
    }

    fn close_file(&mut self, file: Token, text: Option<Md5>) -> Result<()> {
        self.count.close_file(file, text)
    }

    fn absent_file(&mut self, path: &RelPath, parent: Token) -> Result<()> {
        self.count.absent_file(path, parent)
    }

    fn close_edit(&mut self) -> Result<()> {
        self.count.close_edit()
    }

    fn abort_edit(&mut self) -> Result<()> {
        self.count.abort_edit()
    }
}
