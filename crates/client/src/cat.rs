//! `svn cat`: the content of a file, from the repository or the working copy.

use std::fs::File;
use std::io::{self, Read, Write};

use sylvan_core::opt::RevisionSpec;
use sylvan_core::props::{SVN_EOL_STYLE, SVN_KEYWORDS, SVN_SPECIAL};
use sylvan_core::translate::{Eol, KeywordInfo, Keywords, Translator};
use sylvan_core::{
    Dirent, Error, ErrorCode, NodeKind, Props, RelPath, Result, Revnum, Timestamp, Url,
};

use crate::location::default_to;
use crate::resolve::{self, is_local};
use crate::target::{PathOrUrl, Target};
use crate::wc_node::WcNode;
use crate::{Context, PooledSession};

const CHUNK: usize = 64 * 1024;

/// Whether keywords are expanded in the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeywordMode {
    /// As the working file would have them.
    Expand,
    /// As the repository has them (of a working file: contracted).
    Contract,
}

/// Writes the content of a file, translated as `svn:eol-style` and `svn:keywords` ask for.
///
/// Without a revision a URL is read at HEAD, a path in the pristine store (BASE).
///
/// # Errors
/// `CLIENT_IS_DIRECTORY` for a folder, `UNVERSIONED_RESOURCE` and `ENTRY_NOT_FOUND` for a path
/// that is not versioned, `FS_NOT_FOUND` if the repository has no such file, `ILLEGAL_TARGET` for
/// a file that is only added.
pub fn cat(
    context: &Context,
    target: &Target,
    revision: RevisionSpec,
    keywords: KeywordMode,
    out: &mut dyn Write,
) -> Result<()> {
    let is_url = target.at.is_url();
    let (peg, revision) = if target.peg != RevisionSpec::Unspecified {
        (target.peg, default_to(revision, target.peg))
    } else if is_url {
        let head = RevisionSpec::Head;
        (head, default_to(revision, head))
    } else {
        let base = RevisionSpec::Base;
        (RevisionSpec::Working, default_to(revision, base))
    };
    match &target.at {
        PathOrUrl::Path(path) if is_local(peg) && is_local(revision) => {
            cat_local(context, path, revision, keywords, out)
        }
        _ => {
            let target = Target {
                peg,
                ..target.clone()
            };
            cat_remote(context, &target, revision, keywords, out)
        }
    }
}

fn cat_local(
    context: &Context,
    path: &Dirent,
    revision: RevisionSpec,
    mode: KeywordMode,
    out: &mut dyn Write,
) -> Result<()> {
    let node = WcNode::open(context, path)?;
    let working = revision == RevisionSpec::Working;
    let kind = node.kind(!working)?;
    let shown = node.abspath();
    match kind {
        NodeKind::File => {}
        NodeKind::Dir => {
            return Err(Error::new(
                ErrorCode::CLIENT_IS_DIRECTORY,
                format!("'{shown}' refers to a directory"),
            ));
        }
        NodeKind::None | NodeKind::Unknown => {
            return Err(Error::new(
                ErrorCode::UNVERSIONED_RESOURCE,
                format!("'{shown}' is not under version control"),
            ));
        }
    }
    let (file, name, props) = if working {
        (open_file(shown)?, shown.clone(), node.working_props()?)
    } else {
        let pristine = node.pristine_file()?.ok_or_else(|| {
            Error::new(
                ErrorCode::ILLEGAL_TARGET,
                format!("'{shown}' has no pristine version until it is committed"),
            )
        })?;
        (open_file(&pristine)?, pristine, node.pristine_props()?)
    };
    let translation = local_translation(context, &node, &props, working, mode)?;
    copy(context, file, &name, translation, out)
}

/// Returns the text of a working file as the repository would have it.
pub(crate) fn normalized(context: &Context, node: &WcNode) -> Result<Vec<u8>> {
    let props = node.working_props()?;
    let translation = local_translation(context, node, &props, true, KeywordMode::Contract)?;
    let mut text = Vec::new();
    let name = node.abspath();
    copy(context, open_file(name)?, name, translation, &mut text)?;
    Ok(text)
}

/// How the content of a working copy's file is translated.
fn local_translation(
    context: &Context,
    node: &WcNode,
    props: &Props,
    working: bool,
    mode: KeywordMode,
) -> Result<Option<Translator>> {
    let Some(value) = props.get(SVN_KEYWORDS) else {
        return Ok(translator(props, None, mode));
    };
    let changed = node.changed()?;
    let mut rev = changed.rev.map_or(-1, Revnum::number).to_string();
    let mut author = changed.author.unwrap_or_default();
    let mut date = changed.date;
    if working && !node.is_unmodified(context)? {
        rev.push('M');
        "(local)".clone_into(&mut author);
        if !props.contains_key(SVN_SPECIAL) {
            date = Some(file_time(node.abspath())?);
        }
    }
    let url = node.url()?;
    let root = node.repos_root()?;
    let info = KeywordInfo {
        rev: &rev,
        url: url.as_ref(),
        repos_root: root.as_ref(),
        author: &author,
        date,
        zone: &context.clock.zone,
    };
    Ok(translator(
        props,
        Some(Keywords::from_prop(value, &info)),
        mode,
    ))
}

fn translator(props: &Props, keywords: Option<Keywords>, mode: KeywordMode) -> Option<Translator> {
    let eol = props
        .get(SVN_EOL_STYLE)
        .and_then(|style| Eol::from_prop(style));
    let keywords = keywords.filter(|keywords| !keywords.is_empty());
    if eol.is_none() && keywords.is_none() {
        return None;
    }
    Some(Translator::new(
        eol.map(Eol::in_working_copy),
        false,
        keywords.and_then(Into::into),
        mode == KeywordMode::Expand,
    ))
}

fn cat_remote(
    context: &Context,
    target: &Target,
    revision: RevisionSpec,
    mode: KeywordMode,
    out: &mut dyn Write,
) -> Result<()> {
    let (mut session, at) = resolve::open(context, target, revision)?;
    let props = read_props(&mut session, &at.url, at.rev)?;
    let mut keywords = None;
    if mode == KeywordMode::Expand
        && let Some(value) = props.get(SVN_KEYWORDS)
    {
        let date = text(&props, "svn:entry:committed-date");
        let info = KeywordInfo {
            rev: text(&props, "svn:entry:committed-rev").unwrap_or_default(),
            url: Some(&at.url),
            repos_root: Some(&at.repos_root),
            author: text(&props, "svn:entry:last-author").unwrap_or_default(),
            date: date.map(Timestamp::parse_iso).transpose()?,
            zone: &context.clock.zone,
        };
        keywords = Some(Keywords::from_prop(value, &info));
    }
    match translator(&props, keywords, KeywordMode::Expand) {
        None => {
            session.read_file(RelPath::ROOT, Some(at.rev), Some(out))?;
        }
        Some(translator) => {
            let mut translated = Translated::new(translator, out);
            translated.writes_partly = true;
            let read = session.read_file(RelPath::ROOT, Some(at.rev), Some(&mut translated));
            translated.finish(read.map(|_| ()))?;
        }
    }
    session.give_back();
    Ok(())
}

/// Translates what is written to it.
struct Translated<'a> {
    translator: Translator,
    out: &'a mut dyn Write,
    buffer: Vec<u8>,
    /// Whether what comes before a line end that does not fit is written all the same.
    writes_partly: bool,
    /// Why the content cannot be translated.
    failed: Option<Error>,
}

impl<'a> Translated<'a> {
    fn new(translator: Translator, out: &'a mut dyn Write) -> Self {
        Self {
            translator,
            out,
            buffer: Vec::new(),
            writes_partly: false,
            failed: None,
        }
    }

    /// Writes what is held back. `written` is how the writing went.
    fn finish(mut self, written: Result<()>) -> Result<()> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        written?;
        self.translator.finish(&mut self.buffer)?;
        self.out.write_all(&self.buffer).map_err(write_error)
    }
}

impl Write for Translated<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.clear();
        if let Err(error) = self.translator.push(bytes, &mut self.buffer) {
            self.failed = Some(error.clone());
            if self.writes_partly {
                self.out.write_all(&self.buffer)?;
            }
            return Err(io::Error::other(error));
        }
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn write_error(error: io::Error) -> Error {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return Error::from_code(ErrorCode::IO_PIPE_WRITE_ERROR);
    }
    Error::io(&error, "Write error")
}

/// Reads the properties of the file that the session is at.
fn read_props(session: &mut PooledSession<'_>, url: &Url, rev: Revnum) -> Result<Props> {
    match session.read_file(RelPath::ROOT, Some(rev), None) {
        Ok((_, props)) => Ok(props),
        Err(error) if error.code() == ErrorCode::FS_NOT_FILE => Err(error.wrap(
            ErrorCode::CLIENT_IS_DIRECTORY,
            format!("URL '{url}' refers to a directory"),
        )),
        Err(error) => Err(error),
    }
}

fn text<'a>(props: &'a Props, name: &str) -> Option<&'a str> {
    std::str::from_utf8(props.get(name)?).ok()
}

fn open_file(path: &Dirent) -> Result<File> {
    File::open(path.as_path())
        .map_err(|error| Error::io(&error, format_args!("Can't open file '{path}'")))
}

fn file_time(path: &Dirent) -> Result<Timestamp> {
    let modified = std::fs::symlink_metadata(path.as_path())
        .and_then(|meta| meta.modified())
        .map_err(|error| Error::io(&error, format_args!("Can't stat '{path}'")))?;
    Ok(Timestamp::from(modified))
}

fn copy(
    context: &Context,
    from: File,
    name: &Dirent,
    translator: Option<Translator>,
    out: &mut dyn Write,
) -> Result<()> {
    match translator {
        None => copy_bytes(context, from, name, out),
        Some(translator) => {
            let mut translated = Translated::new(translator, out);
            let copied = copy_bytes(context, from, name, &mut translated);
            translated.finish(copied)
        }
    }
}

fn copy_bytes(context: &Context, mut from: File, name: &Dirent, out: &mut dyn Write) -> Result<()> {
    let mut chunk = vec![0; CHUNK];
    loop {
        context.cancel.check()?;
        let read = from
            .read(&mut chunk)
            .map_err(|error| Error::io(&error, format_args!("Can't read file '{name}'")))?;
        if read == 0 {
            return Ok(());
        }
        out.write_all(&chunk[..read]).map_err(write_error)?;
    }
}
