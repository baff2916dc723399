//! A streaming XML parser for what WebDAV servers send.
//!
//! [`Parser`] takes bytes as they come from the network, cut anywhere, and calls a [`Handler`] for
//! the elements it knows. Markup is kept until it is whole (at most [`Limits::markup`] bytes); text
//! is handed on at once, so that a file of gigabytes inside one element needs no memory. quick-xml
//! takes attributes apart and resolves character references.
//!
//! ```text
//!            open(parent, name) = Some((state, gather))
//!   parent ------------------------------------------> state --- text* ---> close(state, text)
//!      |     open(parent, name) = None
//!      +-----------------------------> skipped with all below
//! ```
//!
//! What is refused: a document type (and so every entity but the five built in and character
//! references), elements nested too deep, names, attributes or text too long, end tags that do not
//! match, anything but white space around the root, invalid UTF-8.

use std::borrow::Cow;
use std::sync::Arc;

use memchr::{memchr, memmem};
use quick_xml::escape::unescape;
use quick_xml::events::BytesStart;
use sylvan_core::{Error, ErrorCode, Result};

/// What went wrong in an XML text.
#[derive(Debug, thiserror::Error)]
pub enum XmlError {
    /// The text is not well-formed.
    #[error("Malformed XML: {0}")]
    Malformed(&'static str),
    /// An attribute could not be read.
    #[error("Malformed XML: {0}")]
    Attribute(#[from] quick_xml::events::attributes::AttrError),
    /// A character reference could not be resolved.
    #[error("Malformed XML: {0}")]
    Reference(#[from] quick_xml::escape::EscapeError),
    /// A limit was passed.
    #[error("Malformed XML: {0}")]
    Limit(&'static str),
    /// The text ended too early.
    #[error("XML stream truncated: closing '{0}' missing")]
    Truncated(String),
    /// The root is not what was asked for.
    #[error("XML Parsing failed: Unexpected root element '{0}'")]
    UnexpectedRoot(String),
    /// An element lacks an attribute.
    #[error("Missing XML attribute '{0}' on '{1}' element")]
    MissingAttribute(&'static str, String),
}

impl From<XmlError> for Error {
    fn from(error: XmlError) -> Self {
        let code = match error {
            XmlError::UnexpectedRoot(_) => ErrorCode::XML_UNEXPECTED_ELEMENT,
            XmlError::MissingAttribute(..) => ErrorCode::XML_ATTRIB_NOT_FOUND,
            _ => {
                return Self::new(ErrorCode::XML_MALFORMED, error.to_string()).wrap(
                    ErrorCode::RA_DAV_MALFORMED_DATA,
                    "The XML response contains invalid XML",
                );
            }
        };
        Self::new(code, error.to_string())
    }
}

/// Bounds on what a peer may make us keep.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Elements open at once.
    pub depth: usize,
    /// Bytes of one tag, comment or processing instruction.
    pub markup: usize,
    /// Bytes of text gathered in one element.
    pub text: usize,
}

impl Limits {
    /// What is enough for every real repository: paths of 4,096 bytes, properties of 64 MiB.
    pub const DEFAULT: Self = Self {
        depth: 2_200,
        markup: 1 << 20,
        text: 64 << 20,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// The namespaces of Subversion's DAV protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ns {
    /// `DAV:`
    Dav,
    /// `svn:`, the reports.
    Svn,
    /// Properties that begin with `svn:`.
    SvnProp,
    /// Properties that users made up.
    Custom,
    /// Live properties of Subversion's server.
    DavSvn,
    /// Error texts of mod_dav.
    Apache,
    /// No namespace.
    None,
    /// Any other.
    Other(Arc<str>),
}

impl Ns {
    fn from_uri(uri: &str) -> Self {
        match uri {
            "" => Self::None,
            "DAV:" => Self::Dav,
            "svn:" => Self::Svn,
            super::NS_SVN_PROP => Self::SvnProp,
            super::NS_CUSTOM => Self::Custom,
            super::NS_DAV_SVN => Self::DavSvn,
            "http://apache.org/dav/xmlns" => Self::Apache,
            other => Self::Other(other.into()),
        }
    }
}

/// Where an element begins: the state of the one around it (`None` for the root), its namespace,
/// and its name there.
pub type At<'n, S> = (Option<S>, &'n Ns, &'n str);

/// The state of an element that is known, and what becomes of its text. `None` skips the element
/// with everything below; a skipped root is an error.
pub type Opened<S> = Result<Option<(S, Gather)>>;

/// An element's attributes but for namespace declarations, by their name as written.
#[derive(Debug, Default)]
pub struct Attrs<'a> {
    element: &'a str,
    list: Vec<(&'a str, Cow<'a, str>)>,
}

impl Attrs<'_> {
    /// Returns an attribute's value. A prefix before `name` makes no difference.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.list
            .iter()
            .find(|(key, _)| {
                key.strip_suffix(name)
                    .is_some_and(|prefix| prefix.is_empty() || prefix.ends_with(':'))
            })
            .map(|(_, value)| &**value)
    }

    /// Returns the value of an attribute that must be there.
    ///
    /// # Errors
    /// `XML_ATTRIB_NOT_FOUND` if it is not.
    pub fn require(&self, name: &'static str) -> Result<&str> {
        Ok(self
            .get(name)
            .ok_or_else(|| XmlError::MissingAttribute(name, self.element.to_owned()))?)
    }
}

/// What is done with the text directly in an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gather {
    /// It is ignored.
    Nothing,
    /// It is kept and given to [`Handler::close`].
    Text,
    /// It is given to [`Handler::text`] piece by piece.
    Stream,
}

/// Is told of a document's elements.
pub trait Handler {
    /// Says where in the document we are: one value for each kind of element known.
    type State: Copy;

    /// An element begins.
    fn open(&mut self, at: At<'_, Self::State>, attrs: &Attrs<'_>) -> Opened<Self::State>;

    /// A piece of text in an element with [`Gather::Stream`].
    fn text(&mut self, _state: Self::State, _piece: &[u8]) -> Result<()> {
        Ok(())
    }

    /// An element ends; `text` is empty but for [`Gather::Text`].
    fn close(&mut self, _state: Self::State, _text: &str) -> Result<()> {
        Ok(())
    }
}

struct Open<S> {
    /// `None` in a skipped element.
    state: Option<(S, Gather)>,
    text: Vec<u8>,
    /// Where its name starts in `Parser::names`.
    name: usize,
}

struct Binding {
    depth: usize,
    prefix: Box<str>,
    ns: Ns,
}

/// How far the search for the end of unfinished markup came.
#[derive(Default)]
struct Scan {
    at: usize,
    quote: Option<u8>,
}

/// The parser: bytes in, calls of a [`Handler`] out.
pub struct Parser<S> {
    limits: Limits,
    pending: Vec<u8>,
    scan: Scan,
    open: Vec<Open<S>>,
    names: String,
    bindings: Vec<Binding>,
    spare: Vec<Vec<u8>>,
    seen_root: bool,
}

impl<S: Copy> Default for Parser<S> {
    fn default() -> Self {
        Self::new(Limits::DEFAULT)
    }
}

impl<S: Copy> Parser<S> {
    /// Makes a parser at the start of a document.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            pending: Vec::new(),
            scan: Scan::default(),
            open: Vec::new(),
            names: String::new(),
            bindings: Vec::new(),
            spare: Vec::new(),
            seen_root: false,
        }
    }

    /// Tells whether the root element has ended.
    pub fn is_done(&self) -> bool {
        self.seen_root && self.open.is_empty()
    }

    /// Takes the next bytes.
    ///
    /// # Errors
    /// What the handler returns, or `RA_DAV_MALFORMED_DATA` over an [`XmlError`].
    pub fn push<H: Handler<State = S>>(&mut self, data: &[u8], handler: &mut H) -> Result<()> {
        if self.pending.is_empty() {
            let used = self.run(data, handler)?;
            self.pending.extend_from_slice(&data[used..]);
            return Ok(());
        }
        let mut pending = std::mem::take(&mut self.pending);
        pending.extend_from_slice(data);
        let used = self.run(&pending, handler)?;
        pending.drain(..used);
        self.pending = pending;
        Ok(())
    }

    /// Ends the document.
    ///
    /// # Errors
    /// `RA_DAV_MALFORMED_DATA` if the root has not ended.
    pub fn finish(&self) -> Result<()> {
        if self.is_done() {
            return Ok(());
        }
        let name = self
            .open
            .last()
            .map_or("", |open| self.names.get(open.name..).unwrap_or_default());
        Err(XmlError::Truncated(name.to_owned()).into())
    }

    /// Handles all whole pieces of `data`; returns how much that was.
    fn run<H: Handler<State = S>>(&mut self, data: &[u8], handler: &mut H) -> Result<usize> {
        let mut at = 0;
        while at < data.len() {
            let rest = &data[at..];
            if rest[0] == b'<' {
                let Some(end) = self.markup_end(rest)? else {
                    break;
                };
                self.scan = Scan::default();
                self.markup(&rest[..end], handler)?;
                at += end;
                continue;
            }
            let text = match memchr(b'<', rest) {
                Some(end) => &rest[..end],
                None => &rest[..whole_text(rest)],
            };
            if text.is_empty() {
                break; // an unfinished character reference
            }
            self.text(text, handler)?;
            at += text.len();
        }
        Ok(at)
    }

    /// Finds the end of the markup that `data` starts with.
    fn markup_end(&mut self, data: &[u8]) -> Result<Option<usize>, XmlError> {
        let end = if data.starts_with(b"<!--") {
            self.find(data, 4, b"-->")
        } else if data.starts_with(b"<![CDATA[") {
            self.find(data, 9, b"]]>")
        } else if data.starts_with(b"<?") {
            self.find(data, 2, b"?>")
        } else if data.starts_with(b"<!") {
            let known = |word: &[u8]| word.starts_with(data) || data.starts_with(word);
            if !known(b"<!--") && !known(b"<![CDATA[") {
                return Err(XmlError::Malformed("a document type is not allowed"));
            }
            None
        } else {
            self.tag_end(data)
        };
        if end.unwrap_or(data.len()) > self.limits.markup {
            return Err(XmlError::Limit("a tag is too long"));
        }
        Ok(end)
    }

    fn find(&mut self, data: &[u8], head: usize, tail: &[u8]) -> Option<usize> {
        let from = self.scan.at.max(head);
        let found = memmem::find(data.get(from..)?, tail).map(|at| from + at + tail.len());
        self.scan.at = data.len().saturating_sub(tail.len() - 1);
        found
    }

    fn tag_end(&mut self, data: &[u8]) -> Option<usize> {
        let Scan { at, quote } = &mut self.scan;
        while let Some(&byte) = data.get(*at) {
            *at += 1;
            match (*quote, byte) {
                (Some(open), _) if byte == open => *quote = None,
                (None, b'"' | b'\'') => *quote = Some(byte),
                (None, b'>') => return Some(*at),
                _ => {}
            }
        }
        None
    }

    fn markup<H: Handler<State = S>>(&mut self, markup: &[u8], handler: &mut H) -> Result<()> {
        if let Some(text) = markup.strip_prefix(b"<![CDATA[") {
            return self.plain_text(&text[..text.len() - 3], handler);
        }
        if markup.starts_with(b"<!") || markup.starts_with(b"<?") {
            return Ok(());
        }
        let tag = std::str::from_utf8(&markup[1..markup.len() - 1])
            .map_err(|_| XmlError::Malformed("a tag is not UTF-8"))?;
        if let Some(name) = tag.strip_prefix('/') {
            return self.end(name.trim_ascii_end(), handler);
        }
        match tag.strip_suffix('/') {
            Some(tag) => {
                let name = self.start(tag, handler)?;
                self.end(name, handler)
            }
            None => self.start(tag, handler).map(drop),
        }
    }

    fn start<'t, H: Handler<State = S>>(
        &mut self,
        tag: &'t str,
        handler: &mut H,
    ) -> Result<&'t str> {
        let qname_len = tag
            .find(|c: char| c.is_ascii_whitespace())
            .unwrap_or(tag.len());
        let qname = &tag[..qname_len];
        if qname.is_empty() || qname.starts_with(':') {
            return Err(XmlError::Malformed("a tag has no name").into());
        }
        let depth = self.open.len();
        if depth >= self.limits.depth {
            return Err(XmlError::Limit("elements are nested too deep").into());
        }
        if depth == 0 && self.seen_root {
            return Err(XmlError::Malformed("there is a second root element").into());
        }
        let parent = self.open.last().map(|open| open.state);
        let mut state = None;
        let start = BytesStart::from_content(tag, qname_len);
        if !matches!(parent, Some(None)) {
            let attrs = self.attributes(&start, qname, depth)?;
            let (prefix, local) = qname.split_once(':').unwrap_or(("", qname));
            let parent = parent.flatten().map(|(state, _)| state);
            state = handler.open((parent, self.namespace(prefix), local), &attrs)?;
            if state.is_none() && depth == 0 {
                return Err(XmlError::UnexpectedRoot(local.to_owned()).into());
            }
        }
        self.seen_root = true;
        self.open.push(Open {
            state,
            text: self.spare.pop().unwrap_or_default(),
            name: self.names.len(),
        });
        self.names.push_str(qname);
        Ok(qname)
    }

    /// Takes a start tag's attributes and records the namespaces it declares.
    fn attributes<'t>(
        &mut self,
        start: &'t BytesStart<'_>,
        qname: &'t str,
        depth: usize,
    ) -> Result<Attrs<'t>, XmlError> {
        let mut attrs = Attrs {
            element: qname,
            list: Vec::new(),
        };
        if start.attributes_raw().trim_ascii().is_empty() {
            return Ok(attrs);
        }
        for attribute in start.attributes() {
            let attribute = attribute?;
            let key = attribute.key.0;
            let value = match attribute.value {
                Cow::Borrowed(value) => unescape(value)?,
                Cow::Owned(value) => Cow::Owned(unescape(&value)?.into_owned()),
            };
            match key.strip_prefix("xmlns") {
                Some(rest) if rest.is_empty() || rest.starts_with(':') => {
                    self.bindings.push(Binding {
                        depth,
                        prefix: rest.trim_start_matches(':').into(),
                        ns: Ns::from_uri(&value),
                    });
                }
                _ => attrs.list.push((key, value)),
            }
        }
        Ok(attrs)
    }

    fn namespace(&self, prefix: &str) -> &Ns {
        self.bindings
            .iter()
            .rev()
            .find(|binding| &*binding.prefix == prefix)
            .map_or(&Ns::None, |binding| &binding.ns)
    }

    fn end<H: Handler<State = S>>(&mut self, qname: &str, handler: &mut H) -> Result<()> {
        let Some(mut open) = self.open.pop() else {
            return Err(XmlError::Malformed("an end tag has no start").into());
        };
        if self.names.get(open.name..) != Some(qname) {
            return Err(XmlError::Malformed("an end tag does not match its start").into());
        }
        self.names.truncate(open.name);
        while self
            .bindings
            .pop_if(|binding| binding.depth >= self.open.len())
            .is_some()
        {}
        if let Some((state, _)) = open.state {
            let text = std::str::from_utf8(&open.text)
                .map_err(|_| XmlError::Malformed("text is not UTF-8"))?;
            handler.close(state, text)?;
        }
        open.text.clear();
        if open.text.capacity() <= 1 << 16 && self.spare.len() < 16 {
            self.spare.push(open.text);
        }
        Ok(())
    }

    /// Text as it stands in the document.
    fn text<H: Handler<State = S>>(&mut self, text: &[u8], handler: &mut H) -> Result<()> {
        let wanted = match self.open.last() {
            None if self.is_outside(text) => return Ok(()),
            None => return Err(XmlError::Malformed("there is text outside the root").into()),
            Some(open) => open
                .state
                .is_some_and(|(_, gather)| gather != Gather::Nothing),
        };
        if !wanted {
            return Ok(());
        }
        let mut rest = text;
        while let Some(at) = memchr(b'&', rest) {
            self.plain_text(&rest[..at], handler)?;
            let end = memchr(b';', &rest[at..])
                .ok_or(XmlError::Malformed("a reference has no end"))?
                + at
                + 1;
            let reference = std::str::from_utf8(&rest[at..end])
                .map_err(|_| XmlError::Malformed("a reference is not UTF-8"))?;
            let resolved = unescape(reference).map_err(XmlError::from)?;
            self.plain_text(resolved.as_bytes(), handler)?;
            rest = &rest[end..];
        }
        self.plain_text(rest, handler)
    }

    /// Tells whether `text` may stand outside the root: white space, or a byte order mark first.
    fn is_outside(&self, text: &[u8]) -> bool {
        let mark = |byte: &u8| !self.seen_root && b"\xef\xbb\xbf".contains(byte);
        text.iter()
            .all(|byte| byte.is_ascii_whitespace() || mark(byte))
    }

    fn plain_text<H: Handler<State = S>>(&mut self, text: &[u8], handler: &mut H) -> Result<()> {
        let Some(open) = self.open.last_mut() else {
            return Err(XmlError::Malformed("there is text outside the root").into());
        };
        match open.state {
            Some((state, Gather::Stream)) if !text.is_empty() => handler.text(state, text),
            Some((_, Gather::Text)) => {
                if open.text.len() + text.len() > self.limits.text {
                    return Err(XmlError::Limit("text is too long").into());
                }
                open.text.extend_from_slice(text);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// Returns how much of text without markup can be handled now: all but an unfinished reference.
fn whole_text(text: &[u8]) -> usize {
    let tail = text.len().saturating_sub(LONGEST_REFERENCE);
    match memchr::memrchr(b'&', &text[tail..]) {
        Some(at) if memchr(b';', &text[tail + at..]).is_none() => tail + at,
        _ => text.len(),
    }
}

/// `&#x10FFFF;` with some zeros.
const LONGEST_REFERENCE: usize = 16;

/// A parser with its handler, for documents that are parsed on their own.
pub struct Document<H: Handler> {
    parser: Parser<H::State>,
    handler: H,
}

impl<H: Handler> Document<H> {
    /// Makes a document that `handler` is told of.
    pub fn new(handler: H) -> Self {
        Self {
            parser: Parser::default(),
            handler,
        }
    }

    /// Takes the next bytes.
    ///
    /// # Errors
    /// See [`Parser::push`].
    pub fn push(&mut self, data: &[u8]) -> Result<()> {
        self.parser.push(data, &mut self.handler)
    }

    /// Ends the document and returns the handler.
    ///
    /// # Errors
    /// See [`Parser::finish`].
    pub fn finish(self) -> Result<H> {
        self.parser.finish()?;
        Ok(self.handler)
    }

    /// Returns the handler in its present state.
    pub fn handler(&self) -> &H {
        &self.handler
    }
}

/// Text as XML white space separates it from its surroundings.
pub(super) fn trimmed(text: &str) -> &str {
    text.trim_matches([' ', '\t', '\r', '\n'])
}

#[cfg(test)]
mod tests;
