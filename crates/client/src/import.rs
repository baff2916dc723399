//! `svn import`: a tree that is not under version control becomes a part of a repository.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;

use bytes::Bytes;
use md5::Digest as _;
use sylvan_core::props::{BOOLEAN_TRUE, SVN_EOL_STYLE, SVN_SPECIAL};
use sylvan_core::props::{SVN_AUTO_PROPS, SVN_GLOBAL_IGNORES, SVN_IGNORE, SVN_MIME_TYPE};
use sylvan_core::translate::{EolStyle, Translation, Translator, special};
use sylvan_core::{
    Depth, Dirent, Error, ErrorCode, Md5, NodeKind, Props, RelPath, RelPathBuf, Result, Revnum,
    Url, glob, text,
};
use sylvan_delta::{Editor, TextFormat, Token};
use sylvan_io::file::{self, FileKind};
use sylvan_ra::{CommitInfo, CommitOptions, DirEntryFields};
use sylvan_wc::ADM_DIR;
use sylvan_wc::auto_props::PROBED;
use sylvan_wc::notify::{Action, Notification, NotifyFn, State};

use crate::auto_props;
use crate::log_message::{AskMessage, Change, CommitItem, with_message};
use crate::{Context, PooledSession, disk, status};

/// So much of a file is read at a time.
const PIECE: usize = 256 * 1024;

/// How a tree is imported.
#[derive(Clone, Debug)]
pub struct ImportOptions {
    /// How deep.
    pub depth: Depth,
    /// Whether ignored names are imported too.
    pub no_ignore: bool,
    /// Whether rules give properties to new files; `None` leaves it to the configuration.
    pub auto_props: Option<bool>,
    /// Whether what is neither file nor folder is passed over.
    pub force: bool,
    /// More properties of the new revision.
    pub revprops: Props,
}

/// Imports the file or the content of the folder `path` into the folder `url`, which is made with
/// those above it; returns what is told of the commit, nothing if there was nothing to import or no
/// message.
///
/// # Errors
/// `ENTRY_EXISTS` if the URL is a file, `CL_ADM_DIR_RESERVED` for a reserved name,
/// `NODE_UNKNOWN_KIND` for what cannot be imported, and the errors of a commit.
pub fn import(
    context: &Context,
    path: &Dirent,
    url: &Url,
    options: &ImportOptions,
    ask: &mut AskMessage<'_>,
    notify: &mut NotifyFn<'_>,
) -> Result<Option<CommitInfo>> {
    let path = context.absolute(path);
    let item = CommitItem {
        path: Some(path.clone()),
        url: url.clone(),
        kind: disk::kind(&path)?,
        change: Change {
            added: true,
            ..Change::default()
        },
    };
    let Some(message) = ask(&[item])? else {
        return Ok(None);
    };
    let mut session = context.sessions.open(url)?;
    let base = session.latest_rev()?;
    let new = missing_folders(&mut session, url, base)?;
    let commit = CommitOptions {
        revprops: with_message(&options.revprops, &message)?,
        keep_locks: true,
        ..CommitOptions::default()
    };
    let rules = Rules::read(context, &mut session, base, options)?;
    let target = session.url().clone();
    let mut drive = Import {
        context,
        options,
        rules,
        excluded: message.file,
        is_local: target.scheme() == "file",
        tokens: 0,
        buffer: vec![0; PIECE],
        changed: false,
        notify,
    };
    let done = session.commit(&commit, &mut |editor| {
        drive.run(editor, &path, &target, base, &new)
    });
    match done {
        Ok(info) => {
            session.give_back();
            Ok(Some(info))
        }
        Err(error) if error.code() == ErrorCode::CEASE_INVOCATION && !drive.changed => Ok(None),
        Err(error) => Err(error),
    }
}

/// Moves the session up to the first folder that is there; returns the names of those that are not.
fn missing_folders(
    session: &mut PooledSession<'_>,
    url: &Url,
    base: Revnum,
) -> Result<Vec<String>> {
    let mut kind = session.check_path(RelPath::ROOT, Some(base))?;
    if kind == NodeKind::File {
        return Err(Error::new(
            ErrorCode::ENTRY_EXISTS,
            format!("Path '{url}' already exists"),
        ));
    }
    let mut missing = Vec::new();
    let mut at = url.clone();
    while kind == NodeKind::None {
        missing.push(at.basename());
        at = at.parent().ok_or_else(|| {
            Error::new(
                ErrorCode::RA_ILLEGAL_URL,
                format!("URL '{url}' doesn't exist"),
            )
        })?;
        session.move_to(&at)?;
        kind = session.check_path(RelPath::ROOT, Some(base))?;
    }
    if let Some(last) = missing.first().filter(|last| *last == ADM_DIR) {
        return Err(Error::new(
            ErrorCode::CL_ADM_DIR_RESERVED,
            format!("'{last}' is a reserved name and cannot be imported"),
        ));
    }
    missing.reverse();
    Ok(missing)
}

/// What the folder in the repository and the configuration say of new files.
struct Rules {
    new_files: auto_props::Rules,
    /// For the folder alone.
    ignores: Vec<String>,
    global_ignores: Vec<String>,
}

impl Rules {
    fn read(
        context: &Context,
        session: &mut PooledSession<'_>,
        base: Revnum,
        options: &ImportOptions,
    ) -> Result<Self> {
        let mut rules = Self {
            new_files: auto_props::Rules::read(&context.config, options.auto_props)?,
            ignores: Vec::new(),
            global_ignores: Vec::new(),
        };
        let no_auto_props = options.auto_props == Some(false);
        if options.no_ignore && no_auto_props {
            return Ok(rules);
        }
        let folder = session.read_dir(RelPath::ROOT, Some(base), Some(DirEntryFields::KIND))?;
        let inherited = session.inherited_props(RelPath::ROOT, base)?;
        let all = || {
            inherited
                .iter()
                .map(|from| &from.props)
                .chain([&folder.props])
        };
        if !no_auto_props {
            for value in all().filter_map(|props| props.get(SVN_AUTO_PROPS)) {
                rules.new_files.auto_props.add_property(value);
            }
        }
        if !options.no_ignore {
            rules.global_ignores = status::global_ignores(&context.config);
            for props in all() {
                rules
                    .global_ignores
                    .extend(patterns(props, SVN_GLOBAL_IGNORES));
            }
            rules.ignores = patterns(&folder.props, SVN_IGNORE);
        }
        Ok(rules)
    }
}

fn patterns(props: &Props, name: &str) -> Vec<String> {
    let value = props.get(name).map(Vec::as_slice).unwrap_or_default();
    let value = String::from_utf8_lossy(value);
    let words = value.split(['\n', '\r', '\t', '\x0b', ' ']);
    words
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

fn is_matched(name: &str, patterns: &[String]) -> bool {
    patterns.iter().any(|pattern| glob::matches(pattern, name))
}

struct Import<'a, 'n> {
    context: &'a Context,
    options: &'a ImportOptions,
    rules: Rules,
    excluded: Option<Dirent>,
    /// Whether what is sent stays on this machine, where the repository digests it anyway.
    is_local: bool,
    tokens: u32,
    buffer: Vec<u8>,
    changed: bool,
    notify: &'a mut NotifyFn<'n>,
}

impl Import<'_, '_> {
    fn token(&mut self) -> Token {
        self.tokens += 1;
        Token(self.tokens)
    }

    fn run(
        &mut self,
        editor: &mut dyn Editor,
        path: &Dirent,
        url: &Url,
        base: Revnum,
        new: &[String],
    ) -> Result<()> {
        let mut dirs = vec![self.token()];
        editor.open_root(Some(base), dirs[0])?;
        let kind = file::lstat(path.as_path())?.kind;
        let is_file = matches!(kind, FileKind::File | FileKind::Symlink);
        let mut at = RelPathBuf::root();
        for (index, name) in new.iter().enumerate() {
            at = at.child(name)?;
            if is_file && index + 1 == new.len() {
                break;
            }
            let dir = self.token();
            editor.add_directory(&at, dirs[dirs.len() - 1], None, dir)?;
            self.changed = true;
            dirs.push(dir);
        }
        let parent = dirs[dirs.len() - 1];
        match kind {
            FileKind::File | FileKind::Symlink => {
                if new.is_empty() {
                    return Err(Error::new(
                        ErrorCode::NODE_UNKNOWN_KIND,
                        "New entry name required when importing a file",
                    ));
                }
                let ignored = is_matched(path.as_str(), &self.rules.global_ignores)
                    || is_matched(path.as_str(), &self.rules.ignores);
                if !ignored {
                    self.file(editor, path, &at, parent, kind == FileKind::Symlink)?;
                }
            }
            FileKind::Dir => {
                let children = self.list(path, new.is_empty())?;
                self.children(editor, path, children, &at, parent, self.options.depth)?;
            }
            FileKind::Other => {
                return Err(Error::new(
                    ErrorCode::NODE_UNKNOWN_KIND,
                    format!("'{path}' does not exist"),
                ));
            }
        }
        for dir in dirs.into_iter().rev() {
            editor.close_directory(dir)?;
        }
        if !self.changed {
            return Err(Error::from_code(ErrorCode::CEASE_INVOCATION));
        }
        let mut told = Notification::new(Dirent::default(), Action::CommitFinalizing);
        told.url = Some(url.to_string());
        (self.notify)(&told);
        editor.close_edit()
    }

    /// Lists what is to be imported of a folder, by name; `is_target` says that the patterns of the
    /// folder in the repository count.
    fn list(&mut self, dir: &Dirent, is_target: bool) -> Result<Vec<(String, FileKind)>> {
        let mut kept = Vec::new();
        for (name, kind) in file::read_dir(dir.as_path())? {
            let name = text::check_utf8(&name)?.to_owned();
            let path = dir.join(&name);
            if name == ADM_DIR {
                let told = Notification::new(path.join(&name), Action::Skip);
                (self.notify)(
                    &told
                        .kind(NodeKind::Dir)
                        .states(State::Inapplicable, State::Inapplicable),
                );
                continue;
            }
            if self.excluded.as_ref() == Some(&path)
                || is_target && is_matched(&name, &self.rules.ignores)
                || is_matched(&name, &self.rules.global_ignores)
            {
                continue;
            }
            let kind = match kind {
                Some(kind) => kind,
                None => file::lstat(path.as_path())?.kind,
            };
            kept.push((name, kind));
        }
        kept.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
        Ok(kept)
    }

    fn children(
        &mut self,
        editor: &mut dyn Editor,
        dir: &Dirent,
        children: Vec<(String, FileKind)>,
        at: &RelPath,
        parent: Token,
        depth: Depth,
    ) -> Result<()> {
        for (name, kind) in children {
            self.context.cancel.check()?;
            let path = dir.join(&name);
            match kind {
                FileKind::Dir if depth >= Depth::Immediates => {
                    let below = match depth {
                        Depth::Immediates => Depth::Empty,
                        depth => depth,
                    };
                    self.folder(editor, &path, &at.child(&name)?, parent, below)?;
                }
                FileKind::File | FileKind::Symlink if depth >= Depth::Files => {
                    let is_link = kind == FileKind::Symlink;
                    self.file(editor, &path, &at.child(&name)?, parent, is_link)?;
                }
                FileKind::Other if self.options.force => {
                    let told = Notification::new(path, Action::Skip);
                    (self.notify)(
                        &told
                            .kind(NodeKind::Dir)
                            .states(State::Inapplicable, State::Inapplicable),
                    );
                }
                FileKind::Other => {
                    return Err(Error::new(
                        ErrorCode::NODE_UNKNOWN_KIND,
                        format!("Unknown or unversionable type for '{path}'"),
                    ));
                }
                FileKind::Dir | FileKind::File | FileKind::Symlink => {}
            }
        }
        Ok(())
    }

    fn folder(
        &mut self,
        editor: &mut dyn Editor,
        path: &Dirent,
        at: &RelPath,
        parent: Token,
        depth: Depth,
    ) -> Result<()> {
        text::check_path(path.as_str())?;
        let children = self.list(path, false)?;
        let dir = self.token();
        editor.add_directory(at, parent, None, dir)?;
        self.changed = true;
        self.tell(path, NodeKind::Dir, None);
        self.children(editor, path, children, at, dir, depth)?;
        editor.close_directory(dir)
    }

    fn tell(&mut self, path: &Dirent, kind: NodeKind, mime_type: Option<String>) {
        let mut told = Notification::new(path.clone(), Action::CommitAdded)
            .kind(kind)
            .states(State::Inapplicable, State::Inapplicable);
        told.mime_type = mime_type;
        (self.notify)(&told);
    }

    fn file(
        &mut self,
        editor: &mut dyn Editor,
        path: &Dirent,
        at: &RelPath,
        parent: Token,
        is_link: bool,
    ) -> Result<()> {
        text::check_path(path.as_str())?;
        let file = self.token();
        editor.add_file(at, parent, None, file)?;
        self.changed = true;
        if is_link {
            self.tell(path, NodeKind::File, None);
            editor.change_file_prop(file, SVN_SPECIAL, Some(BOOLEAN_TRUE))?;
            let target = std::fs::read_link(path.as_path())
                .map_err(|error| Error::io(&error, "Can't read contents of link"))?;
            let content = special::link_content(target.as_os_str().as_bytes());
            let md5 = (!self.is_local).then(|| Md5::of(&content));
            editor.apply_text(file, None, TextFormat::Fulltext)?;
            editor.text_chunk(file, content.into())?;
            editor.text_end(file)?;
            return editor.close_file(file, md5);
        }
        let mut source = Source::open(path)?;
        let mut first = source.read(&mut self.buffer)?;
        while first < PROBED.min(self.buffer.len()) {
            match source.read(&mut self.buffer[first..])? {
                0 => break,
                more => first += more,
            }
        }
        let head = &self.buffer[..first];
        let rules = &self.rules.new_files;
        let props = rules.for_file(path.basename(), head, source.is_executable);
        for (name, value) in &props {
            editor.change_file_prop(file, name, Some(value))?;
        }
        let mime_type = props.get(SVN_MIME_TYPE);
        self.tell(
            path,
            NodeKind::File,
            mime_type.map(|mime_type| String::from_utf8_lossy(mime_type).into_owned()),
        );
        let mut sender = Sender {
            editor,
            file,
            translator: translator(&props, path)?,
            digest: (!self.is_local).then(md5::Md5::new),
        };
        sender.editor.apply_text(file, None, TextFormat::Fulltext)?;
        let mut length = first;
        while length > 0 {
            sender.piece(&self.buffer[..length])?;
            self.context.cancel.check()?;
            length = source.read(&mut self.buffer)?;
        }
        let md5 = sender.finish()?;
        editor.close_file(file, md5)
    }
}

/// A file that is read.
struct Source<'a> {
    path: &'a Dirent,
    file: File,
    is_executable: bool,
}

impl<'a> Source<'a> {
    fn open(path: &'a Dirent) -> Result<Self> {
        use std::os::unix::fs::PermissionsExt as _;
        let failed = |error| Error::io(&error, format_args!("Can't open file '{path}'"));
        let file = File::open(path.as_path()).map_err(failed)?;
        let mode = file.metadata().map_err(failed)?.permissions().mode();
        Ok(Self {
            path,
            file,
            is_executable: mode & 0o111 != 0,
        })
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        loop {
            match self.file.read(buffer) {
                Ok(length) => return Ok(length),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let path = self.path;
                    return Err(Error::io(&error, format_args!("Can't read file '{path}'")));
                }
            }
        }
    }
}

/// Returns what makes the file's content into that of the repository, if it differs.
fn translator(props: &Props, path: &Dirent) -> Result<Option<Translator>> {
    if !Translation::is_needed(props) {
        return Ok(None);
    }
    let mut how = Translation::for_normalization(props);
    how.special = false;
    if how.eol == EolStyle::Unknown {
        let style = props.get(SVN_EOL_STYLE).map(Vec::as_slice);
        let style = String::from_utf8_lossy(style.unwrap_or_default());
        return Err(Error::new(
            ErrorCode::IO_UNKNOWN_EOL,
            format!(
                "{SVN_EOL_STYLE} property on '{path}' contains unrecognized EOL-style '{style}'"
            ),
        ));
    }
    if how.is_identity() {
        return Ok(None);
    }
    how.to_normal(true).map(Some)
}

/// Sends the content of a file piece by piece.
struct Sender<'e> {
    editor: &'e mut dyn Editor,
    file: Token,
    translator: Option<Translator>,
    digest: Option<md5::Md5>,
}

impl Sender<'_> {
    fn piece(&mut self, piece: &[u8]) -> Result<()> {
        match &mut self.translator {
            None => self.send(Bytes::copy_from_slice(piece)),
            Some(translator) => {
                let mut out = Vec::with_capacity(piece.len());
                translator.push(piece, &mut out)?;
                self.send(out.into())
            }
        }
    }

    fn send(&mut self, piece: Bytes) -> Result<()> {
        if let Some(digest) = &mut self.digest {
            digest.update(&piece);
        }
        if piece.is_empty() {
            return Ok(());
        }
        self.editor.text_chunk(self.file, piece)
    }

    fn finish(mut self) -> Result<Option<Md5>> {
        if let Some(translator) = &mut self.translator {
            let mut out = Vec::new();
            translator.finish(&mut out)?;
            self.send(out.into())?;
        }
        self.editor.text_end(self.file)?;
        Ok(self.digest.map(|digest| Md5(digest.finalize().into())))
    }
}
