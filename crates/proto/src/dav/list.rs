//! Answers to `list-report`.

use sylvan_core::{ErrorCode, NodeKind, Result, Revnum};

use super::log::parse_bool;
use super::xml::{At, Attrs, Gather, Handler, Ns, Opened};
use super::{decode_value, malformed, parse_rev};

/// One node of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListItem {
    /// Its path below the repository root, with a leading slash.
    pub path: String,
    /// Its kind.
    pub kind: NodeKind,
    /// A file's size.
    pub size: Option<u64>,
    /// Whether it has properties.
    pub has_props: bool,
    /// The revision that changed it last.
    pub created_rev: Option<Revnum>,
    /// When that was, as in `2026-11-30T09:52:45.825184Z`.
    pub date: Option<String>,
    /// Who did it.
    pub author: Option<String>,
}

/// Reads a listing and hands on one node after the other.
pub struct ListReport<F> {
    receive: F,
    item: Option<ListItem>,
    encoding: Option<String>,
}

/// States of [`ListReport`].
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum State {
    Report,
    Item,
    Author,
}

impl<F: FnMut(ListItem) -> Result<()>> ListReport<F> {
    /// Makes a parser that gives each node to `receive`.
    pub fn new(receive: F) -> Self {
        Self {
            receive,
            item: None,
            encoding: None,
        }
    }
}

impl<F: FnMut(ListItem) -> Result<()>> Handler for ListReport<F> {
    type State = State;

    fn open(&mut self, at: At<'_, State>, attrs: &Attrs<'_>) -> Opened<State> {
        Ok(match at {
            (None, Ns::Svn, "list-report") => Some((State::Report, Gather::Nothing)),
            (Some(State::Report), Ns::Svn, "item") => {
                self.item = Some(ListItem {
                    path: String::new(),
                    kind: NodeKind::from_word(attrs.require("node-kind")?),
                    size: attrs.get("size").map_or(Ok(None), parse_size)?,
                    has_props: attrs.get("has-props").and_then(parse_bool) == Some(true),
                    created_rev: attrs.get("created-rev").map(parse_rev).transpose()?,
                    date: attrs.get("date").map(str::to_owned),
                    author: None,
                });
                Some((State::Item, Gather::Text))
            }
            (Some(State::Item), Ns::Dav, "creator-displayname") => {
                self.encoding = attrs.get("encoding").map(str::to_owned);
                Some((State::Author, Gather::Text))
            }
            _ => None,
        })
    }

    fn close(&mut self, state: State, text: &str) -> Result<()> {
        match (state, &mut self.item) {
            (State::Author, Some(item)) => {
                let author = decode_value(
                    text,
                    self.encoding.as_deref(),
                    ErrorCode::RA_DAV_MALFORMED_DATA,
                )?;
                item.author = Some(String::from_utf8_lossy(&author).into_owned());
            }
            (State::Item, item) => {
                if let Some(mut item) = item.take() {
                    text.clone_into(&mut item.path);
                    (self.receive)(item)?;
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// Folders have the size -1.
fn parse_size(text: &str) -> Result<Option<u64>> {
    if text == "-1" {
        return Ok(None);
    }
    text.parse()
        .map(Some)
        .map_err(|_| malformed(format!("Malformed size '{text}'")))
}

#[cfg(test)]
mod tests {
    use super::super::Document;
    use super::*;

    #[test]
    fn reads_items() {
        let body = "<S:list-report xmlns:S=\"svn:\" xmlns:D=\"DAV:\">\n\
            <S:item node-kind=\"dir\" size=\"-1\" has-props=\"false\" created-rev=\"2\"></S:item>\n\
            <S:item node-kind=\"file\" size=\"12\" has-props=\"true\" created-rev=\"1\" \
            date=\"2026-11-30T09:52:45.825184Z\"><D:creator-displayname>jo</D:creator-displayname>\
            /A/f&lt;</S:item>\n</S:list-report>";
        let mut items = Vec::new();
        let mut document = Document::new(ListReport::new(|item| {
            items.push(item);
            Ok(())
        }));
        document.push(body.as_bytes()).unwrap();
        document.finish().unwrap();
        assert_eq!(items.len(), 2);
        assert_eq!(items[0].kind, NodeKind::Dir);
        assert_eq!(items[0].author, None);
        assert_eq!(items[1].path, "/A/f<");
        assert_eq!(items[1].size, Some(12));
        assert!(items[1].has_props);
        assert_eq!(items[1].author.as_deref(), Some("jo"));
    }
}
