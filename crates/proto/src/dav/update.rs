//! The answer to an `update-report`, turned into calls of an [`Editor`] while it arrives.
//!
//! Two shapes exist. With `send-all` contents come inside, as base64 of svndiff; files are opened,
//! filled and closed one after the other. Without ("skelta") a file's content is named only, and
//! sometimes its properties: such a file stays open and becomes a [`Fetch`], which the caller
//! carries out on other connections, calls the editor for, and closes. Folders are closed when
//! their element ends; an editor lets files be closed later.
//!
//! ```text
//! update-report
//!   target-revision
//!   open-directory (root)
//!     checked-in/href, set-prop, remove-prop, prop/…, delete-entry, absent-directory, absent-file
//!     open-directory, add-directory: as the root
//!     open-file, add-file
//!       checked-in/href, set-prop, remove-prop, txdelta (send-all) or fetch-file, prop/md5-checksum
//! ```

use std::collections::BTreeMap;

use bytes::Bytes;
use sylvan_core::{Error, ErrorCode, Md5, RelPath, RelPathBuf, Result, Revnum, Sha1, text};
use sylvan_delta::{CopyFrom, Editor, TextFormat, Token};

use super::base64::Decoder;
use super::xml::{At, Attrs, Gather, Handler, Ns, Opened, Parser, trimmed};
use super::{VERSION_URL_PROP, decode_value, malformed, parse_optional_rev, parse_rev, repos_path};

/// A file that has to be fetched before it can be closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetch {
    /// The open file.
    pub file: Token,
    /// The path on the server to get, escaped.
    pub url: String,
    /// Whether the content is needed.
    pub text: bool,
    /// Whether the properties are needed.
    pub props: bool,
    /// What the content can be sent against.
    pub delta_base: Option<DeltaBase>,
    /// The checksum of that base, if the server named it.
    pub base_md5: Option<Md5>,
    /// The checksum of the new content, if the server named it.
    pub md5: Option<Md5>,
    /// The SHA-1 of the new content, if the server named it.
    pub sha1: Option<Sha1>,
}

/// A node of an earlier revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeltaBase {
    /// The path below the repository root.
    pub path: RelPathBuf,
    /// The revision.
    pub rev: Revnum,
}

impl Fetch {
    /// Ends the file: the calls that follow content and properties.
    ///
    /// # Errors
    /// The editor's.
    pub fn close(&self, editor: &mut dyn Editor) -> Result<()> {
        close_file(editor, self.file, Some(&self.url), self.md5)
    }
}

/// Carries out what a report without contents asks for.
pub trait Requests {
    /// Takes a file to fetch. It is done later: the editor must not be called for it before this
    /// call has returned.
    fn fetch(&mut self, fetch: Fetch) -> Result<()>;

    /// Returns all properties of the folder at `url` (old servers do not send those of added ones).
    fn dir_props(&mut self, url: &str) -> Result<Vec<(String, Vec<u8>)>>;
}

/// What the parser must know of the request.
#[derive(Clone, Debug, Default)]
pub struct UpdateParams {
    /// Whether contents are wanted; without, a file whose text differs gets an empty one.
    pub text_deltas: bool,
    /// The path of the drive's root below the repository root, as the working copy has it.
    pub root: RelPathBuf,
    /// Paths in the report that come from elsewhere, with their path below the repository root.
    pub switched: BTreeMap<RelPathBuf, RelPathBuf>,
}

/// Parses the answer to an `update-report`.
pub struct UpdateReport {
    parser: Parser<State>,
    drive: Drive,
}

impl UpdateReport {
    /// Makes a parser at the start of a report.
    pub fn new(params: UpdateParams) -> Self {
        Self {
            parser: Parser::default(),
            drive: Drive {
                params,
                ..Drive::default()
            },
        }
    }

    /// Takes the next bytes and calls `editor` and `requests` with what they say.
    ///
    /// # Errors
    /// Those of editor and requests, or `RA_DAV_MALFORMED_DATA`. Nothing may be pushed after one.
    pub fn push(
        &mut self,
        data: &[u8],
        editor: &mut dyn Editor,
        requests: &mut dyn Requests,
    ) -> Result<()> {
        let mut handler = Driver {
            drive: &mut self.drive,
            editor,
            requests,
        };
        self.parser.push(data, &mut handler)
    }

    /// Ends the report. The caller still ends the edit, when all fetches are done.
    ///
    /// # Errors
    /// `RA_DAV_MALFORMED_DATA` if it was cut off.
    pub fn finish(&self) -> Result<()> {
        if self.parser.is_done() && self.drive.done {
            return Ok(());
        }
        Err(malformed("Missing update-report close tag"))
    }

    /// Tells whether the server sends contents inside the report; known once it began.
    pub const fn is_send_all(&self) -> bool {
        self.drive.send_all
    }
}

#[derive(Default)]
struct Drive {
    params: UpdateParams,
    send_all: bool,
    inline_props: bool,
    has_target: bool,
    opened_root: bool,
    done: bool,
    next_token: u32,
    dirs: Vec<Dir>,
    file: Option<File>,
    prop: (String, Option<String>),
    base64: Decoder,
}

struct Dir {
    path: RelPathBuf,
    token: Token,
    url: Option<String>,
    fetch_props: bool,
}

struct File {
    path: RelPathBuf,
    token: Token,
    base: Option<Revnum>,
    copy_from: Option<CopyFrom>,
    url: Option<String>,
    fetch_text: bool,
    fetch_props: bool,
    base_md5: Option<Md5>,
    md5: Option<Md5>,
    sha1: Option<Sha1>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Report,
    Dir,
    File,
    SetProp,
    RemoveProp,
    CheckedIn,
    Href,
    Prop,
    Md5,
    Entry(EntryProp),
    TxDelta,
    IgnoredText,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EntryProp {
    Rev,
    Date,
    Author,
}

struct Driver<'a> {
    drive: &'a mut Drive,
    editor: &'a mut dyn Editor,
    requests: &'a mut dyn Requests,
}

impl Handler for Driver<'_> {
    type State = State;

    fn open(&mut self, at: At<'_, State>, attrs: &Attrs<'_>) -> Opened<State> {
        let inner = |state| Ok(Some((state, Gather::Nothing)));
        let text = |state| Ok(Some((state, Gather::Text)));
        match at {
            (None, Ns::Svn, "update-report") => {
                self.drive.send_all = attrs.get("send-all") == Some("true");
                self.drive.inline_props =
                    self.drive.send_all || attrs.get("inline-props") == Some("true");
                inner(State::Report)
            }
            (Some(State::Report), Ns::Svn, "target-revision") => {
                if self.drive.opened_root || std::mem::replace(&mut self.drive.has_target, true) {
                    return Err(malformed("The REPORT response has a late target revision"));
                }
                self.editor
                    .set_target_revision(parse_rev(attrs.require("rev")?)?)?;
                Ok(None)
            }
            (Some(State::Report), Ns::Svn, "open-directory") => {
                self.open_root(attrs)?;
                inner(State::Dir)
            }
            (Some(State::Dir), Ns::Svn, local) => self.open_in_dir(local, attrs),
            (Some(State::File), Ns::Svn, local) => self.open_in_file(local, attrs),
            (Some(State::Dir | State::File), Ns::Dav, "checked-in") => inner(State::CheckedIn),
            (Some(State::CheckedIn), Ns::Dav, "href") => text(State::Href),
            (Some(State::Prop), Ns::DavSvn, "md5-checksum") => text(State::Md5),
            (Some(State::Prop), Ns::Dav, "version-name") => text(State::Entry(EntryProp::Rev)),
            (Some(State::Prop), Ns::Dav, "creationdate") => text(State::Entry(EntryProp::Date)),
            (Some(State::Prop), Ns::Dav, "creator-displayname") => {
                text(State::Entry(EntryProp::Author))
            }
            _ => Ok(None),
        }
    }

    fn text(&mut self, _state: State, piece: &[u8]) -> Result<()> {
        let Some(file) = &self.drive.file else {
            return Ok(());
        };
        let mut decoded = Vec::new();
        self.drive.base64.push(piece, &mut decoded)?;
        if decoded.is_empty() {
            return Ok(());
        }
        self.editor.text_chunk(file.token, Bytes::from(decoded))
    }

    fn close(&mut self, state: State, text: &str) -> Result<()> {
        match state {
            State::Report => {
                self.drive.done = self.drive.opened_root;
                Ok(())
            }
            State::Dir => self.close_dir(),
            State::File => self.close_file(),
            State::SetProp => {
                let (name, encoding) = std::mem::take(&mut self.drive.prop);
                if encoding.is_none() {
                    return self.change_prop(&name, Some(text.as_bytes()));
                }
                let code = ErrorCode::XML_UNKNOWN_ENCODING;
                let value = decode_value(text, encoding.as_deref(), code)?;
                self.change_prop(&name, Some(&value))
            }
            State::RemoveProp => {
                let (name, _) = std::mem::take(&mut self.drive.prop);
                self.change_prop(&name, None)
            }
            State::Href => {
                self.checked_in(trimmed(text));
                Ok(())
            }
            State::Md5 => {
                if let Some(file) = &mut self.drive.file {
                    file.md5 = Some(Md5::parse_hex(trimmed(text))?);
                }
                Ok(())
            }
            State::Entry(prop) => {
                let name = match prop {
                    EntryProp::Rev => "svn:entry:committed-rev",
                    EntryProp::Date => "svn:entry:committed-date",
                    EntryProp::Author => "svn:entry:last-author",
                };
                self.change_prop(name, Some(text.as_bytes()))
            }
            State::TxDelta => {
                self.drive.base64.finish()?;
                match &self.drive.file {
                    Some(file) => self.editor.text_end(file.token),
                    None => Ok(()),
                }
            }
            State::CheckedIn | State::Prop | State::IgnoredText => Ok(()),
        }
    }
}

impl Driver<'_> {
    fn open_root(&mut self, attrs: &Attrs<'_>) -> Result<()> {
        if self.drive.opened_root {
            return Err(malformed("The REPORT response has a second root directory"));
        }
        self.drive.opened_root = true;
        let token = self.drive.token()?;
        let base = parse_optional_rev(attrs.require("rev")?)?;
        self.drive.dirs.push(Dir {
            path: RelPathBuf::root(),
            token,
            url: None,
            fetch_props: false,
        });
        self.editor.open_root(base, token)
    }

    fn open_in_dir(&mut self, local: &str, attrs: &Attrs<'_>) -> Result<Option<(State, Gather)>> {
        match local {
            "open-directory" | "add-directory" => {
                self.open_dir(local == "add-directory", attrs)?;
                Ok(Some((State::Dir, Gather::Nothing)))
            }
            "open-file" | "add-file" => {
                self.open_file(local == "add-file", attrs)?;
                Ok(Some((State::File, Gather::Nothing)))
            }
            "delete-entry" => {
                let rev = attrs.get("rev").map(parse_optional_rev).transpose()?;
                let (parent, path) = self.drive.child(attrs)?;
                self.editor.delete_entry(&path, rev.flatten(), parent)?;
                Ok(None)
            }
            "absent-directory" => {
                let (parent, path) = self.drive.child(attrs)?;
                self.editor.absent_directory(&path, parent)?;
                Ok(None)
            }
            "absent-file" => {
                let (parent, path) = self.drive.child(attrs)?;
                self.editor.absent_file(&path, parent)?;
                Ok(None)
            }
            "fetch-props" => {
                if let Some(dir) = self.drive.dirs.last_mut() {
                    dir.fetch_props = true;
                }
                Ok(None)
            }
            _ => self.open_common(local, attrs),
        }
    }

    fn open_in_file(&mut self, local: &str, attrs: &Attrs<'_>) -> Result<Option<(State, Gather)>> {
        let text_deltas = self.drive.params.text_deltas;
        let send_all = self.drive.send_all;
        let Some(file) = &mut self.drive.file else {
            return Ok(None);
        };
        match local {
            "txdelta" if !send_all || !text_deltas => {
                file.fetch_text |= !text_deltas;
                Ok(Some((State::IgnoredText, Gather::Nothing)))
            }
            "txdelta" => {
                file.fetch_text = false;
                let base = attrs.get("base-checksum").map(Md5::parse_hex).transpose()?;
                self.editor
                    .apply_text(file.token, base, TextFormat::Svndiff)?;
                self.drive.base64 = Decoder::default();
                Ok(Some((State::TxDelta, Gather::Stream)))
            }
            "fetch-file" => {
                if let Some(sum) = attrs.get("base-checksum") {
                    file.base_md5 = Some(Md5::parse_hex(sum)?);
                }
                if let (Some(sum), None) = (attrs.get("sha1-checksum"), file.sha1) {
                    file.sha1 = Some(Sha1::parse_hex(sum)?);
                }
                file.fetch_text |= !send_all || !text_deltas;
                Ok(None)
            }
            "fetch-props" => {
                file.fetch_props = true;
                Ok(None)
            }
            _ => self.open_common(local, attrs),
        }
    }

    fn open_common(&mut self, local: &str, attrs: &Attrs<'_>) -> Result<Option<(State, Gather)>> {
        match local {
            "set-prop" => {
                let encoding = attrs.get("encoding").map(str::to_owned);
                self.drive.prop = (attrs.require("name")?.to_owned(), encoding);
                Ok(Some((State::SetProp, Gather::Text)))
            }
            "remove-prop" => {
                self.drive.prop = (attrs.require("name")?.to_owned(), None);
                Ok(Some((State::RemoveProp, Gather::Nothing)))
            }
            "prop" => Ok(Some((State::Prop, Gather::Nothing))),
            _ => Ok(None),
        }
    }

    fn open_dir(&mut self, added: bool, attrs: &Attrs<'_>) -> Result<()> {
        let (parent, path) = self.drive.child(attrs)?;
        let token = self.drive.token()?;
        if added {
            let copy_from = copy_from(attrs)?;
            self.editor.add_directory(&path, parent, copy_from, token)?;
        } else {
            let base = parse_optional_rev(attrs.require("rev")?)?;
            self.editor.open_directory(&path, parent, base, token)?;
        }
        self.drive.dirs.push(Dir {
            path,
            token,
            url: None,
            fetch_props: added && !self.drive.inline_props,
        });
        Ok(())
    }

    fn open_file(&mut self, added: bool, attrs: &Attrs<'_>) -> Result<()> {
        let (parent, path) = self.drive.child(attrs)?;
        let token = self.drive.token()?;
        let mut file = File {
            path,
            token,
            base: None,
            copy_from: None,
            url: None,
            fetch_text: added && !self.drive.send_all,
            fetch_props: added && !self.drive.inline_props,
            base_md5: None,
            md5: None,
            sha1: None,
        };
        if added {
            file.copy_from = copy_from(attrs)?;
            file.sha1 = attrs
                .get("sha1-checksum")
                .map(Sha1::parse_hex)
                .transpose()?;
            self.editor
                .add_file(&file.path, parent, file.copy_from.clone(), token)?;
        } else {
            file.base = parse_optional_rev(attrs.require("rev")?)?;
            self.editor
                .open_file(&file.path, parent, file.base, token)?;
        }
        self.drive.file = Some(file);
        Ok(())
    }

    fn change_prop(&mut self, name: &str, value: Option<&[u8]>) -> Result<()> {
        if let Some(file) = &self.drive.file {
            return self.editor.change_file_prop(file.token, name, value);
        }
        match self.drive.dirs.last() {
            Some(dir) => self.editor.change_dir_prop(dir.token, name, value),
            None => Ok(()),
        }
    }

    fn checked_in(&mut self, url: &str) {
        let place = match (&mut self.drive.file, self.drive.dirs.last_mut()) {
            (Some(file), _) => &mut file.url,
            (None, Some(dir)) => &mut dir.url,
            (None, None) => return,
        };
        *place = Some(url.to_owned());
    }

    fn close_dir(&mut self) -> Result<()> {
        let Some(dir) = self.drive.dirs.pop() else {
            return Ok(());
        };
        if dir.fetch_props {
            let url = dir.url.ok_or_else(no_checked_in)?;
            for (name, value) in self.requests.dir_props(&url)? {
                self.editor
                    .change_dir_prop(dir.token, &name, Some(&value))?;
            }
        }
        self.editor.close_directory(dir.token)
    }

    fn close_file(&mut self) -> Result<()> {
        let Some(file) = self.drive.file.take() else {
            return Ok(());
        };
        let text_deltas = self.drive.params.text_deltas;
        if file.fetch_text && !text_deltas {
            self.editor
                .apply_text(file.token, file.base_md5, TextFormat::Svndiff)?;
            self.editor.text_end(file.token)?;
        }
        let text = file.fetch_text && text_deltas;
        if !text && !file.fetch_props {
            let md5 = file.md5.filter(|_| text_deltas);
            return close_file(self.editor, file.token, file.url.as_deref(), md5);
        }
        let delta_base = self.drive.delta_base(&file)?;
        self.requests.fetch(Fetch {
            file: file.token,
            url: file.url.ok_or_else(no_checked_in)?,
            text,
            props: file.fetch_props,
            delta_base,
            base_md5: file.base_md5,
            md5: file.md5.filter(|_| text),
            sha1: file.sha1,
        })
    }
}

impl Drive {
    fn token(&mut self) -> Result<Token> {
        let token = Token(self.next_token);
        self.next_token = self
            .next_token
            .checked_add(1)
            .ok_or_else(|| malformed("The REPORT response has too many nodes"))?;
        Ok(token)
    }

    /// Returns the innermost folder and the path of the child that `attrs` name.
    fn child(&self, attrs: &Attrs<'_>) -> Result<(Token, RelPathBuf)> {
        let dir = self
            .dirs
            .last()
            .ok_or_else(|| malformed("The REPORT response has a node outside of a directory"))?;
        let name = attrs.require("name")?;
        text::check_path(name)?;
        Ok((dir.token, dir.path.child(name)?))
    }

    /// Returns what a file's content can be sent against: what the working copy has of it.
    fn delta_base(&self, file: &File) -> Result<Option<DeltaBase>> {
        if let Some(rev) = file.base {
            let path = self.repos_path(&file.path)?;
            return Ok(Some(DeltaBase { path, rev }));
        }
        Ok(file.copy_from.as_ref().map(|from| DeltaBase {
            path: from.path.clone(),
            rev: from.rev,
        }))
    }

    /// Returns where the working copy has a path from.
    fn repos_path(&self, path: &RelPath) -> Result<RelPathBuf> {
        let mut above = path;
        loop {
            if let Some(from) = self.params.switched.get(above) {
                let below = path.as_str()[above.as_str().len()..].trim_start_matches('/');
                return Ok(from.join(RelPath::new(below)?));
            }
            match above.parent() {
                Some(parent) => above = parent,
                None => return Ok(self.params.root.join(path)),
            }
        }
    }
}

/// The calls that end every file.
fn close_file(
    editor: &mut dyn Editor,
    file: Token,
    url: Option<&str>,
    md5: Option<Md5>,
) -> Result<()> {
    if let Some(url) = url {
        editor.change_file_prop(file, VERSION_URL_PROP, Some(url.as_bytes()))?;
    }
    editor.close_file(file, md5)
}

fn copy_from(attrs: &Attrs<'_>) -> Result<Option<CopyFrom>> {
    let Some(path) = attrs.get("copyfrom-path") else {
        return Ok(None);
    };
    let rev = attrs.get("copyfrom-rev").ok_or_else(|| {
        Error::new(
            ErrorCode::XML_ATTRIB_NOT_FOUND,
            "Missing 'copyfrom-rev' attribute",
        )
    })?;
    Ok(Some(CopyFrom {
        path: repos_path(path)?,
        rev: parse_rev(rev)?,
    }))
}

fn no_checked_in() -> Error {
    malformed("The REPORT response did not include the requested checked-in value")
}

#[cfg(test)]
mod tests;
