//! Sending the changes of a node to an editor.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::time::SystemTime;

use bytes::Bytes;
use md5::Digest as _;
use sylvan_core::props::{self, SVN_SPECIAL};
use sylvan_core::translate::{Translation, Translator, special};
use sylvan_core::{Error, ErrorCode, Md5, Props, RelPath, Result, Sha1, Timestamp};
use sylvan_delta::svndiff::{Deltifier, TextSource, Version};
use sylvan_delta::{Editor, TextFormat, Token};
use sylvan_io::Cancel;
use sylvan_io::file::FileKind;

use crate::db::Node;
use crate::pristine::{Claim, Store, TempText};
use crate::props::{actual_of, pristine_of};
use crate::site::Site;
use crate::{WorkingCopy, not_found, pristine};

/// A text up to this length is kept in memory until its digest, and so its name, is known.
const IN_MEMORY: u64 = 4 << 20;
/// So much of a file is read at a time.
const PIECE: usize = 256 * 1024;

/// How the editor wants new texts of nodes that had one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// As they are.
    Fulltext,
    /// As deltas against the old text.
    Delta {
        /// The version of the stream.
        version: Version,
        /// How hard zlib tries, if the version uses it.
        level: u32,
    },
}

/// A text that was sent, and is in the pristine store.
#[derive(Clone, Copy, Debug)]
pub struct SentText {
    pub(super) sha1: Sha1,
    pub(super) md5: Md5,
    pub(super) size: u64,
    /// Size and time of the working file, if it surely still has the content that was sent as long
    /// as it has those.
    pub(super) found: Option<(u64, Timestamp)>,
}

/// Reads the nodes of one working copy for a commit.
#[derive(Debug)]
pub struct Transmitter<'a> {
    wc: &'a WorkingCopy,
    site: Site,
    store: Store,
    known: HashMap<Sha1, bool>,
}

impl<'a> Transmitter<'a> {
    /// Opens the folders of the working copy.
    ///
    /// # Errors
    /// An operating system's error.
    pub fn new(wc: &'a WorkingCopy) -> Result<Self> {
        let site = Site::of(wc)?;
        let store = Store::new(&site, false, wc.is_far())?;
        Ok(Self {
            wc,
            site,
            store,
            known: HashMap::new(),
        })
    }

    fn node(&self, path: &RelPath) -> Result<Node> {
        let node = self.wc.db().node(path)?;
        node.filter(|node| !node.layers.is_empty())
            .ok_or_else(|| not_found(self.wc, path))
    }

    /// Returns what changed in the properties of a node, by name; `None` is a deletion.
    ///
    /// # Errors
    /// `E155010` if there is no such node, and those of the database.
    pub fn prop_changes(&self, path: &RelPath) -> Result<Vec<(String, Option<Vec<u8>>)>> {
        let node = self.node(path)?;
        let old = pristine_of(&node).transpose()?.unwrap_or_default();
        let new = actual_of(&node).transpose()?.unwrap_or_default();
        Ok(props::diff(&old, &new).into_iter().collect())
    }

    /// Returns the value of one of the node's properties.
    ///
    /// # Errors
    /// As [`Transmitter::prop_changes`].
    pub fn prop(&self, path: &RelPath, name: &str) -> Result<Option<Vec<u8>>> {
        let node = self.node(path)?;
        Ok(actual_of(&node)
            .transpose()?
            .and_then(|mut props| props.remove(name)))
    }

    /// Sends the text of a file, which is open in the editor, and closes it there. A text that is
    /// new to the working copy is then in the pristine store, without a row.
    ///
    /// # Errors
    /// `E155017` if the old text is damaged, `E135000` and `E135001` for line ends that do not fit
    /// the file's properties, and what reading, writing and the editor give.
    pub fn text(
        &mut self,
        path: &RelPath,
        is_new: bool,
        format: Format,
        editor: &mut dyn Editor,
        file: Token,
        cancel: &Cancel,
    ) -> Result<SentText> {
        let node = self.node(path)?;
        let props = actual_of(&node).transpose()?.unwrap_or_default();
        let base = match is_new {
            true => None,
            false => self.base(path, &node)?,
        };
        let sent = self.send(path, &props, base, format, editor, file, cancel)?;
        // Some ways to a repository send the text only now.
        editor
            .close_file(file, Some(sent.md5))
            .map_err(|error| match error.code() {
                ErrorCode::CHECKSUM_MISMATCH => error,
                _ => self.preparing(path, error),
            })?;
        Ok(sent)
    }

    fn preparing(&self, path: &RelPath, error: Error) -> Error {
        let local = self.wc.local_path(path);
        error.context(format!("While preparing '{local}' for commit"))
    }

    /// Opens the text that a delta is against.
    fn base(&self, path: &RelPath, node: &Node) -> Result<Option<BaseText>> {
        let found = node.layers.iter().find(|layer| layer.checksum.is_some());
        let Some(sha1) = found.map(crate::db::Layer::sha1).transpose()?.flatten() else {
            return Ok(None);
        };
        let Some(md5) = self.wc.db().pristine_md5(&sha1)? else {
            return Err(Error::new(
                ErrorCode::WC_PATH_NOT_FOUND,
                format!("Pristine text '{sha1}' not present"),
            ));
        };
        let file = self.site.adm.open_file(&pristine::path(&sha1)?)?;
        Ok(Some(BaseText {
            file,
            expected: md5,
            digest: md5::Md5::new(),
            name: self.wc.local_path(path).to_string(),
        }))
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "the parts of one text on its way"
    )]
    fn send(
        &mut self,
        path: &RelPath,
        props: &Props,
        base: Option<BaseText>,
        format: Format,
        editor: &mut dyn Editor,
        file: Token,
        cancel: &Cancel,
    ) -> Result<SentText> {
        let preparing = |error| self.preparing(path, error);
        let mut outlet = Outlet::begin(editor, file, base, format).map_err(preparing)?;
        let mut source = self.open(path, props).map_err(preparing)?;
        let mut taken = Taken::new(source.size <= IN_MEMORY);
        let read = source.read(&self.store, &mut taken, &mut outlet, cancel);
        read.and_then(|()| outlet.end()).map_err(|error| {
            if error.code() == ErrorCode::WC_CORRUPT_TEXT_BASE || cancel.is_set() {
                error
            } else {
                preparing(error)
            }
        })?;
        let found = source.found()?;
        let (sha1, md5, size) = self.keep(taken)?;
        Ok(SentText {
            sha1,
            md5,
            size,
            found,
        })
    }

    fn open(&self, path: &RelPath, props: &Props) -> Result<Source> {
        let root = &self.site.root;
        if props.contains_key(SVN_SPECIAL) {
            let meta = root.lstat(path)?;
            if meta.is_some_and(|meta| meta.kind == FileKind::Symlink) {
                let link = special::link_content(&root.read_link(path)?);
                return Ok(Source {
                    size: link.len() as u64,
                    input: Input::Link(Some(link)),
                    translator: None,
                    name: String::new(),
                });
            }
        }
        let file = root.open_file(path)?;
        let name = root.full(path).display().to_string();
        let meta = file
            .metadata()
            .map_err(|error| Error::io(&error, format_args!("Can't stat '{name}'")))?;
        let mut how = Translation::default();
        if Translation::is_needed(props) {
            how = Translation::for_normalization(props);
            how.special = false;
        }
        let unknown = how.eol == sylvan_core::translate::EolStyle::Unknown;
        let translator = match how.is_identity() && !unknown {
            true => None,
            false => Some(how.to_normal(false)?),
        };
        Ok(Source {
            size: meta.len(),
            input: Input::File {
                file,
                before: stamp(&meta),
            },
            translator,
            name,
        })
    }

    /// Puts a text into the store, unless it is there; returns its digests and its length.
    fn keep(&mut self, taken: Taken) -> Result<(Sha1, Md5, u64)> {
        let sha1 = Sha1(taken.sha1.finalize().into());
        let md5 = Md5(taken.md5.finalize().into());
        let db = self.wc.db();
        let has_row = || Ok(db.pristine_md5(&sha1)?.is_some());
        if self.known.contains_key(&sha1) {
            return Ok((sha1, md5, taken.size));
        }
        if self.store.claim(&sha1, has_row, || ())? == Claim::Write {
            let written = match taken.kept {
                Kept::Memory(text) => self.store.write(&sha1, &text),
                Kept::File(Some(temp)) => self.store.install_temp(temp, &sha1),
                Kept::File(None) => self.store.write(&sha1, &[]),
            };
            if let Err(error) = written {
                self.store.failed(&sha1);
                return Err(error);
            }
            self.store.written(std::iter::once(sha1));
        }
        self.known.insert(sha1, true);
        Ok((sha1, md5, taken.size))
    }
}

/// What tells of a working file whether it was changed.
type Stamp = (u64, Timestamp, u32);

fn stamp(meta: &std::fs::Metadata) -> Stamp {
    let micros = meta
        .mtime()
        .saturating_mul(1_000_000)
        .saturating_add(meta.mtime_nsec() / 1000);
    (meta.len(), Timestamp::from_micros(micros), meta.mode())
}

/// A working file that is read.
struct Source {
    size: u64,
    input: Input,
    translator: Option<Translator>,
    name: String,
}

enum Input {
    File { file: File, before: Stamp },
    Link(Option<Vec<u8>>),
}

impl Source {
    fn read(
        &mut self,
        store: &Store,
        taken: &mut Taken,
        outlet: &mut Outlet<'_>,
        cancel: &Cancel,
    ) -> Result<()> {
        let Input::File { file, .. } = &mut self.input else {
            let Input::Link(link) = &mut self.input else {
                return Ok(());
            };
            return taken.take(store, link.take().unwrap_or_default().into(), outlet);
        };
        let first = usize::try_from(self.size)
            .unwrap_or(PIECE)
            .saturating_add(1);
        let mut capacity = first.min(PIECE);
        loop {
            cancel.check()?;
            let mut piece = vec![0; capacity];
            let mut length = 0;
            while length < piece.len() {
                match file.read(&mut piece[length..]) {
                    Ok(0) => break,
                    Ok(more) => length += more,
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(error) => {
                        let name = &self.name;
                        return Err(Error::io(&error, format_args!("Can't read file '{name}'")));
                    }
                }
            }
            let is_last = length < piece.len();
            piece.truncate(length);
            if let Some(translator) = &mut self.translator {
                let mut normal = Vec::with_capacity(length);
                translator.push(&piece, &mut normal)?;
                if is_last {
                    translator.finish(&mut normal)?;
                }
                piece = normal;
            }
            if !piece.is_empty() {
                taken.take(store, piece.into(), outlet)?;
            }
            if is_last {
                return Ok(());
            }
            capacity = PIECE;
        }
    }

    /// Returns size and time of the file if it was not changed while it was read, and not so shortly
    /// before that a later change might not show.
    fn found(&self) -> Result<Option<(u64, Timestamp)>> {
        let Input::File { file, before } = &self.input else {
            return Ok(None);
        };
        let meta = file
            .metadata()
            .map_err(|error| Error::io(&error, format_args!("Can't stat '{}'", self.name)))?;
        let (size, time, mode) = *before;
        let age = Timestamp::from(SystemTime::now()).micros() - time.micros();
        let tick = match time.micros() % 1_000_000 {
            0 => 2_000_000,
            _ => 20_000,
        };
        let plain = mode & 0o111 == 0 && mode & 0o200 != 0;
        Ok((stamp(&meta) == *before && age > tick && plain).then_some((size, time)))
    }
}

/// A text that goes by: its digests, and the text itself for the store.
struct Taken {
    sha1: sha1::Sha1,
    md5: md5::Md5,
    size: u64,
    kept: Kept,
}

enum Kept {
    Memory(Bytes),
    File(Option<TempText>),
}

impl Taken {
    fn new(in_memory: bool) -> Self {
        Self {
            sha1: sha1::Sha1::new(),
            md5: md5::Md5::new(),
            size: 0,
            kept: match in_memory {
                true => Kept::Memory(Bytes::new()),
                false => Kept::File(None),
            },
        }
    }

    fn take(&mut self, store: &Store, piece: Bytes, outlet: &mut Outlet<'_>) -> Result<()> {
        self.sha1.update(&piece);
        self.md5.update(&piece);
        self.size += piece.len() as u64;
        match &mut self.kept {
            Kept::Memory(text) if text.is_empty() => *text = piece.clone(),
            Kept::Memory(text) => {
                let joined = [&text[..], &piece[..]].concat();
                *text = joined.into();
                if text.len() as u64 > 2 * IN_MEMORY {
                    // It has grown since it was opened.
                    let temp = store.create_temp()?;
                    temp.write(text)?;
                    self.kept = Kept::File(Some(temp));
                }
            }
            Kept::File(temp) => {
                if temp.is_none() {
                    *temp = Some(store.create_temp()?);
                }
                if let Some(temp) = temp {
                    temp.write(&piece)?;
                }
            }
        }
        outlet.piece(piece)
    }
}

/// The old text of a file, digested as it is read.
struct BaseText {
    file: File,
    expected: Md5,
    digest: md5::Md5,
    name: String,
}

impl BaseText {
    fn failed(&self, error: &std::io::Error) -> Error {
        let name = &self.name;
        Error::io(error, format_args!("Can't read text base of '{name}'"))
    }

    /// Reads what is left, and compares the digest.
    fn verify(mut self) -> Result<()> {
        let mut buffer = vec![0; PIECE];
        loop {
            match self.file.read(&mut buffer) {
                Ok(0) => break,
                Ok(length) => self.digest.update(&buffer[..length]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failed(&error)),
            }
        }
        let actual = Md5(self.digest.finalize().into());
        if actual == self.expected {
            return Ok(());
        }
        let (name, expected) = (&self.name, self.expected);
        Err(Error::new(
            ErrorCode::CHECKSUM_MISMATCH,
            format!(
                "Checksum mismatch for text base of '{name}':\n   expected:  {expected}\n     \
                 actual:  {actual}\n"
            ),
        )
        .wrap_code(ErrorCode::WC_CORRUPT_TEXT_BASE))
    }
}

impl TextSource for &mut BaseText {
    fn fill(&mut self, buffer: &mut Vec<u8>, len: usize) -> Result<()> {
        let start = buffer.len();
        let read = (&self.file).take(len as u64).read_to_end(buffer);
        read.map_err(|error| self.failed(&error))?;
        self.digest.update(&buffer[start..]);
        Ok(())
    }
}

/// Shares the old text between a delta and the check of its digest.
#[derive(Debug)]
struct Shared(std::sync::Arc<std::sync::Mutex<Option<BaseText>>>);

impl std::fmt::Debug for BaseText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("BaseText").field(&self.name).finish()
    }
}

impl TextSource for Shared {
    fn fill(&mut self, buffer: &mut Vec<u8>, len: usize) -> Result<()> {
        let mut shared = self
            .0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        match shared.as_mut() {
            Some(mut base) => TextSource::fill(&mut base, buffer, len),
            None => Ok(()),
        }
    }
}

/// Where a text goes.
struct Outlet<'e> {
    editor: &'e mut dyn Editor,
    file: Token,
    base: std::sync::Arc<std::sync::Mutex<Option<BaseText>>>,
    delta: Option<Deltifier<Shared>>,
    out: Vec<u8>,
}

impl<'e> Outlet<'e> {
    fn begin(
        editor: &'e mut dyn Editor,
        file: Token,
        base: Option<BaseText>,
        format: Format,
    ) -> Result<Self> {
        let md5 = base.as_ref().map(|base| base.expected);
        let has_base = base.is_some();
        let base = std::sync::Arc::new(std::sync::Mutex::new(base));
        let mut out = Vec::new();
        let delta = match format {
            Format::Delta { version, level } if has_base => {
                let shared = Shared(std::sync::Arc::clone(&base));
                editor.apply_text(file, md5, TextFormat::Svndiff)?;
                Some(Deltifier::new(shared, version, level, &mut out))
            }
            _ => {
                editor.apply_text(file, md5, TextFormat::Fulltext)?;
                None
            }
        };
        Ok(Self {
            editor,
            file,
            base,
            delta,
            out,
        })
    }

    fn piece(&mut self, piece: Bytes) -> Result<()> {
        let Some(delta) = &mut self.delta else {
            return self.editor.text_chunk(self.file, piece);
        };
        delta.push(&piece, &mut self.out)?;
        self.flush(false)
    }

    fn flush(&mut self, all: bool) -> Result<()> {
        if self.out.is_empty() || !all && self.out.len() < 4096 {
            return Ok(());
        }
        let out = std::mem::take(&mut self.out);
        self.editor.text_chunk(self.file, out.into())
    }

    fn end(&mut self) -> Result<()> {
        if let Some(delta) = self.delta.take() {
            delta.finish(&mut self.out)?;
        }
        self.flush(true)?;
        let base = self
            .base
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .take();
        if let Some(base) = base {
            base.verify()?;
        }
        self.editor.text_end(self.file)
    }
}
