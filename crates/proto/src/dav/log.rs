//! Answers to `log-report`.

use sylvan_core::{NodeKind, Props, Result, Revnum};

use super::xml::{At, Attrs, Gather, Handler, Ns, Opened};
use super::{decode_value, malformed, parse_optional_rev, parse_rev};

/// One revision of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogItem {
    /// The revision; `None` ends the children of a merged revision.
    pub rev: Option<Revnum>,
    /// The revision properties sent.
    pub revprops: Props,
    /// Changed paths in the server's order.
    pub paths: Vec<LogPath>,
    /// Whether revisions merged by this one follow.
    pub has_children: bool,
    /// Whether they are subtracted.
    pub subtractive_merge: bool,
}

/// A path that a revision changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogPath {
    /// The path with a leading slash.
    pub path: String,
    /// `A`, `D`, `M` or `R`.
    pub action: char,
    /// Path and revision of the copy source.
    pub copy_from: Option<(String, Revnum)>,
    /// The node's kind.
    pub kind: NodeKind,
    /// Whether the text changed, if the server says.
    pub text_modified: Option<bool>,
    /// Whether properties changed, if the server says.
    pub props_modified: Option<bool>,
}

/// Reads a log and hands on one revision after the other.
pub struct LogReport<F> {
    receive: F,
    item: LogItem,
    path: Option<LogPath>,
    prop: Option<(String, Option<String>)>,
}

/// States of [`LogReport`].
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum State {
    Report,
    Item,
    Version,
    Revprop,
    HasChildren,
    Subtractive,
    Path,
}

impl<F: FnMut(LogItem) -> Result<()>> LogReport<F> {
    /// Makes a parser that gives each revision to `receive`.
    pub fn new(receive: F) -> Self {
        Self {
            receive,
            item: LogItem::default(),
            path: None,
            prop: None,
        }
    }

    fn revprop(&mut self, name: &str, attrs: &Attrs<'_>) -> Option<(State, Gather)> {
        self.prop = Some((name.to_owned(), attrs.get("encoding").map(str::to_owned)));
        Some((State::Revprop, Gather::Text))
    }

    fn changed(&mut self, action: char, attrs: &Attrs<'_>) -> Result<Option<(State, Gather)>> {
        let copy_from = match (attrs.get("copyfrom-path"), attrs.get("copyfrom-rev")) {
            (Some(path), Some(rev)) => parse_optional_rev(rev)?.map(|rev| (path.to_owned(), rev)),
            _ => None,
        };
        self.path = Some(LogPath {
            path: String::new(),
            action,
            copy_from,
            kind: attrs
                .get("node-kind")
                .map_or(NodeKind::Unknown, NodeKind::from_word),
            text_modified: attrs.get("text-mods").and_then(parse_bool),
            props_modified: attrs.get("prop-mods").and_then(parse_bool),
        });
        Ok(Some((State::Path, Gather::Text)))
    }
}

/// Reads the words that svn takes for yes and no.
pub(super) fn parse_bool(word: &str) -> Option<bool> {
    match word.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}

impl<F: FnMut(LogItem) -> Result<()>> Handler for LogReport<F> {
    type State = State;

    fn open(&mut self, at: At<'_, State>, attrs: &Attrs<'_>) -> Opened<State> {
        Ok(match at {
            (None, Ns::Svn, "log-report") => Some((State::Report, Gather::Nothing)),
            (Some(State::Report), Ns::Svn, "log-item") => {
                self.item = LogItem::default();
                Some((State::Item, Gather::Nothing))
            }
            (Some(State::Item), Ns::Dav, "version-name") => Some((State::Version, Gather::Text)),
            (Some(State::Item), Ns::Dav, "creator-displayname") => {
                self.revprop("svn:author", attrs)
            }
            (Some(State::Item), Ns::Svn, "date") => self.revprop("svn:date", attrs),
            (Some(State::Item), Ns::Dav, "comment") => self.revprop("svn:log", attrs),
            (Some(State::Item), Ns::Svn, "revprop") => {
                let name = attrs.require("name")?.to_owned();
                self.revprop(&name, attrs)
            }
            (Some(State::Item), Ns::Svn, "has-children") => {
                Some((State::HasChildren, Gather::Nothing))
            }
            (Some(State::Item), Ns::Svn, "subtractive-merge") => {
                Some((State::Subtractive, Gather::Nothing))
            }
            (Some(State::Item), Ns::Svn, "added-path") => self.changed('A', attrs)?,
            (Some(State::Item), Ns::Svn, "replaced-path") => self.changed('R', attrs)?,
            (Some(State::Item), Ns::Svn, "deleted-path") => self.changed('D', attrs)?,
            (Some(State::Item), Ns::Svn, "modified-path") => self.changed('M', attrs)?,
            _ => None,
        })
    }

    fn close(&mut self, state: State, text: &str) -> Result<()> {
        match state {
            State::Version => {
                self.item.rev = match text {
                    "-1" => None,
                    text => Some(parse_rev(text)?),
                }
            }
            State::Revprop => {
                if let Some((name, encoding)) = self.prop.take() {
                    let value = decode_value(
                        text,
                        encoding.as_deref(),
                        sylvan_core::ErrorCode::RA_DAV_MALFORMED_DATA,
                    )
                    .map_err(|error| match encoding.as_deref() {
                        Some("base64") | None => error,
                        Some(other) => malformed(format!("Unsupported encoding '{other}'")),
                    })?;
                    self.item.revprops.insert(name, value);
                }
            }
            State::HasChildren => self.item.has_children = true,
            State::Subtractive => self.item.subtractive_merge = true,
            State::Path => {
                if let Some(mut path) = self.path.take() {
                    text.clone_into(&mut path.path);
                    self.item.paths.push(path);
                }
            }
            State::Item => (self.receive)(std::mem::take(&mut self.item))?,
            State::Report => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Document;
    use super::*;

    #[test]
    fn reads_items_with_nested_merges() {
        let body = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n\
            <S:log-report xmlns:S=\"svn:\" xmlns:D=\"DAV:\">\n<S:log-item>\n\
            <S:modified-path node-kind=\"file\" text-mods=\"true\" prop-mods=\"false\">/A/f</S:modified-path>\n\
            <S:added-path copyfrom-path=\"/A\" copyfrom-rev=\"1\" node-kind=\"dir\">/C &amp; D</S:added-path>\n\
            <D:version-name>2</D:version-name>\n\
            <D:creator-displayname>jo</D:creator-displayname>\n\
            <D:comment encoding=\"base64\">YQFi</D:comment>\n\
            <S:revprop name=\"x:y\">v</S:revprop>\n\
            <S:has-children/>\n<S:date>2026-11-30T09:52:45.825184Z</S:date>\n</S:log-item>\n\
            <S:log-item>\n<D:version-name>-1</D:version-name>\n</S:log-item>\n</S:log-report>\n";
        let mut items = Vec::new();
        let mut document = Document::new(LogReport::new(|item| {
            items.push(item);
            Ok(())
        }));
        for piece in body.as_bytes().chunks(3) {
            document.push(piece).unwrap();
        }
        document.finish().unwrap();
        let [first, end] = &items[..] else {
            panic!("{items:?}");
        };
        assert_eq!(first.rev, Revnum::new(2));
        assert!(first.has_children && !first.subtractive_merge);
        assert_eq!(first.revprops["svn:log"], b"a\x01b");
        assert_eq!(first.revprops["svn:author"], b"jo");
        assert_eq!(first.revprops["x:y"], b"v");
        assert_eq!(first.paths[0].text_modified, Some(true));
        assert_eq!(first.paths[1].path, "/C & D");
        assert_eq!(
            first.paths[1].copy_from,
            Some(("/A".to_owned(), Revnum::new(1).unwrap()))
        );
        assert_eq!(*end, LogItem::default());
    }
}
