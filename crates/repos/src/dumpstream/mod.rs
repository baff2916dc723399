//! Dump streams: the history of a repository as a portable text.
//!
//! A stream is a sequence of records. Each is a block of headers, one a line, `name: value`, ended
//! by an empty line, and perhaps a content; any number of empty lines follows.
//!
//! ```text
//! SVN-fs-dump-format-version: 2
//!
//! UUID: 7bf7a5ef-cabf-0310-b7d4-93df341afa7e
//!
//! Revision-number: 1
//! Prop-content-length: 56
//! Content-length: 56
//!
//! K 7
//! svn:log
//! V 5
//! first
//! PROPS-END
//!
//! Node-path: trunk/file
//! Node-kind: file
//! Node-action: add
//! Prop-content-length: 10
//! Text-content-length: 3
//! Content-length: 13
//!
//! PROPS-END
//! a
//! ```
//!
//! Version 1 has only `Content-length`. Version 3 has deltas: `Prop-delta: true`, where `D` and a
//! name remove a property, and `Text-delta: true`, where the text is svndiff against the node before
//! or the source of its copy.
//!
//! [`parse`] drives a [`Sink`]; the functions and [`NodeRecord`] write.

mod input;
mod parse;
#[cfg(test)]
mod tests;
mod write;

pub use parse::{Body, Deltas, parse};
pub use write::{NodeRecord, PropBlock, revision_record, stream_start, uuid_record};

use std::borrow::Cow;

use sylvan_core::path::raw;
use sylvan_core::{Error, ErrorCode, RelPathBuf, Result, Revnum};

/// The newest version of the format, the first with deltas.
pub const VERSION: i32 = 3;

/// The names of headers.
pub mod header {
    macro_rules! names {
        ($($name:ident = $value:literal;)*) => {
            $(
                #[doc = concat!("`", $value, "`.")]
                pub const $name: &str = $value;
            )*
        };
    }

    names! {
        MAGIC = "SVN-fs-dump-format-version";
        UUID = "UUID";
        CONTENT_LENGTH = "Content-length";
        REVISION_NUMBER = "Revision-number";
        NODE_PATH = "Node-path";
        NODE_KIND = "Node-kind";
        NODE_ACTION = "Node-action";
        NODE_COPYFROM_PATH = "Node-copyfrom-path";
        NODE_COPYFROM_REV = "Node-copyfrom-rev";
        TEXT_COPY_SOURCE_MD5 = "Text-copy-source-md5";
        TEXT_COPY_SOURCE_SHA1 = "Text-copy-source-sha1";
        TEXT_CONTENT_MD5 = "Text-content-md5";
        TEXT_CONTENT_SHA1 = "Text-content-sha1";
        PROP_CONTENT_LENGTH = "Prop-content-length";
        TEXT_CONTENT_LENGTH = "Text-content-length";
        PROP_DELTA = "Prop-delta";
        TEXT_DELTA = "Text-delta";
        TEXT_DELTA_BASE_MD5 = "Text-delta-base-md5";
        TEXT_DELTA_BASE_SHA1 = "Text-delta-base-sha1";
    }
}

/// The headers of a record, in the order of the stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headers(Vec<(Vec<u8>, Vec<u8>)>);

impl Headers {
    /// Returns the value of a header.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        let found = self.0.iter().find(|(key, _)| key == name.as_bytes());
        found.map(|(_, value)| value.as_slice())
    }

    /// Returns the value of a header, as text.
    pub fn text(&self, name: &str) -> Option<String> {
        let value = self.get(name)?;
        Some(String::from_utf8_lossy(value).into_owned())
    }

    /// Tells whether a header says `true`.
    pub fn is_true(&self, name: &str) -> bool {
        self.get(name) == Some(b"true")
    }

    /// Returns a number, of the digits with which a value begins.
    pub fn number(&self, name: &str) -> Option<i64> {
        self.get(name).map(leading_number)
    }

    /// Returns a revision; `None` for one below 0.
    pub fn revision(&self, name: &str) -> Option<Revnum> {
        self.number(name).and_then(Revnum::new)
    }

    /// Returns a path, which need not be canonical in the stream.
    ///
    /// # Errors
    /// [`FS_PATH_SYNTAX`](sylvan_core::ErrorCode::FS_PATH_SYNTAX) if it is none.
    pub fn path(&self, name: &str) -> Result<Option<RelPathBuf>> {
        let path = self.path_text(name)?;
        path.map(|path| RelPathBuf::canonicalize(&path)).transpose()
    }

    /// Returns a path as it stands in the stream, which need not be UTF-8 there.
    ///
    /// # Errors
    /// [`FS_PATH_SYNTAX`](sylvan_core::ErrorCode::FS_PATH_SYNTAX) if it has a NUL.
    pub(crate) fn path_text(&self, name: &str) -> Result<Option<Cow<'_, str>>> {
        let text = |value| {
            raw::from_bytes(value).ok_or_else(|| {
                let shown = value.escape_ascii();
                let message = format!("Path '{shown}' is not in canonical form");
                Error::new(ErrorCode::FS_PATH_SYNTAX, message)
            })
        };
        self.get(name).map(text).transpose()
    }

    /// Goes through the headers.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.0.iter().map(|(name, value)| (&name[..], &value[..]))
    }

    /// Sets a header.
    pub fn set(&mut self, name: &[u8], value: &[u8]) {
        match self.0.iter_mut().find(|(key, _)| key == name) {
            Some((_, known)) => *known = value.to_vec(),
            None => self.0.push((name.to_vec(), value.to_vec())),
        }
    }

    /// Removes a header.
    pub fn remove(&mut self, name: &str) {
        self.0.retain(|(key, _)| key != name.as_bytes());
    }
}

/// What a stream is given to, record by record.
///
/// [`parse`] calls `magic` first. Within a record come: `revision` or `node`; `remove_node_props`,
/// if a node's properties are not a delta; the properties; the text; and for a node `end_node`. A
/// revision ends with `end_revision`, before the next begins or at the end of the stream. After an
/// error nothing more is called.
pub trait Sink {
    /// The version of the stream's format.
    ///
    /// # Errors
    /// Ends the parse, as those of all others do.
    fn magic(&mut self, version: i32) -> Result<()> {
        let _ = version;
        Ok(())
    }

    /// The UUID of the repository.
    ///
    /// # Errors
    /// As [`Sink::magic`].
    fn uuid(&mut self, uuid: &[u8]) -> Result<()> {
        let _ = uuid;
        Ok(())
    }

    /// A revision begins.
    ///
    /// # Errors
    /// As [`Sink::magic`].
    fn revision(&mut self, headers: &Headers) -> Result<()>;

    /// A property of the revision.
    ///
    /// # Errors
    /// As [`Sink::magic`].
    fn revision_prop(&mut self, name: &str, value: Vec<u8>) -> Result<()>;

    /// A changed node begins.
    ///
    /// # Errors
    /// As [`Sink::magic`].
    fn node(&mut self, headers: &Headers) -> Result<()> {
        let _ = headers;
        Ok(())
    }

    /// The properties that follow are all that the node has.
    ///
    /// # Errors
    /// As [`Sink::magic`].
    fn remove_node_props(&mut self) -> Result<()> {
        Ok(())
    }

    /// A property of the node.
    ///
    /// # Errors
    /// As [`Sink::magic`].
    fn node_prop(&mut self, name: &str, value: Vec<u8>) -> Result<()> {
        let _ = (name, value);
        Ok(())
    }

    /// A property that the node has no more.
    ///
    /// # Errors
    /// As [`Sink::magic`].
    fn delete_node_prop(&mut self, name: &str) -> Result<()> {
        let _ = name;
        Ok(())
    }

    /// The text of the node, or svndiff data if `is_delta`. What is not read of it is skipped.
    ///
    /// # Errors
    /// As [`Sink::magic`].
    fn text(&mut self, is_delta: bool, body: &mut Body<'_>) -> Result<()> {
        let _ = (is_delta, body);
        Ok(())
    }

    /// The node is complete.
    ///
    /// # Errors
    /// As [`Sink::magic`].
    fn end_node(&mut self) -> Result<()> {
        Ok(())
    }

    /// The revision is complete.
    ///
    /// # Errors
    /// As [`Sink::magic`].
    fn end_revision(&mut self) -> Result<()>;
}

/// Reads the digits with which a text begins, as Subversion does: blanks before them and anything
/// after do not count, and what is no number is 0.
fn leading_number(text: &[u8]) -> i64 {
    let text = text.trim_ascii_start();
    let (sign, text) = match text {
        [b'-', rest @ ..] => (-1, rest),
        [b'+', rest @ ..] => (1, rest),
        _ => (1, text),
    };
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(0i64, |number, byte| {
        number
            .saturating_mul(10)
            .saturating_add(sign * i64::from(byte - b'0'))
    })
}
