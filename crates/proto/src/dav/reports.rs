//! Answers to the small reports.

use sylvan_core::{Error, ErrorCode, Props, RelPathBuf, Result, Revnum};

use super::xml::{At, Attrs, Gather, Handler, Ns, Opened, trimmed};
use super::{decode_value, parse_optional_rev, parse_rev, repos_path};

/// Reads the one `D:version-name` in a `dated-rev-report` or `get-deleted-rev-report`.
#[derive(Debug)]
pub struct VersionName {
    root: &'static str,
    /// The revision, if one was named.
    pub rev: Option<Revnum>,
}

impl VersionName {
    /// Makes a parser for a report whose root is `root`.
    pub const fn new(root: &'static str) -> Self {
        Self { root, rev: None }
    }
}

/// States of the parsers in this module.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum State {
    Report,
    Item,
    Path,
    PropName,
    PropValue,
}

impl Handler for VersionName {
    type State = State;

    fn open(&mut self, at: At<'_, State>, _attrs: &Attrs<'_>) -> Opened<State> {
        Ok(match at {
            (None, Ns::Svn, local) if local == self.root => Some((State::Report, Gather::Nothing)),
            (Some(State::Report), Ns::Dav, "version-name") => Some((State::Item, Gather::Text)),
            _ => None,
        })
    }

    fn close(&mut self, state: State, text: &str) -> Result<()> {
        if matches!(state, State::Item) {
            self.rev = parse_optional_rev(trimmed(text))?;
        }
        Ok(())
    }
}

/// Reads the answer to `get-locations`.
#[derive(Debug, Default)]
pub struct Locations {
    /// Revisions and paths below the repository root.
    pub found: Vec<(Revnum, RelPathBuf)>,
}

impl Handler for Locations {
    type State = State;

    fn open(&mut self, at: At<'_, State>, attrs: &Attrs<'_>) -> Opened<State> {
        Ok(match at {
            (None, Ns::Svn, "get-locations-report") => Some((State::Report, Gather::Nothing)),
            (Some(State::Report), Ns::Svn, "location") => {
                if let (Some(rev), Some(path)) = (attrs.get("rev"), attrs.get("path")) {
                    self.found.push((parse_rev(rev)?, repos_path(path)?));
                }
                None
            }
            _ => None,
        })
    }
}

/// Part of a node's history at one location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Oldest revision.
    pub start: Revnum,
    /// Youngest revision.
    pub end: Revnum,
    /// Path below the repository root; `None` in a gap.
    pub path: Option<RelPathBuf>,
}

/// Reads the answer to `get-location-segments`.
#[derive(Debug, Default)]
pub struct LocationSegments {
    /// The segments in the server's order.
    pub found: Vec<Segment>,
}

impl Handler for LocationSegments {
    type State = State;

    fn open(&mut self, at: At<'_, State>, attrs: &Attrs<'_>) -> Opened<State> {
        Ok(match at {
            (None, Ns::Svn, "get-location-segments-report") => {
                Some((State::Report, Gather::Nothing))
            }
            (Some(State::Report), Ns::Svn, "location-segment") => {
                self.found.push(Segment {
                    start: parse_rev(attrs.require("range-start")?)?,
                    end: parse_rev(attrs.require("range-end")?)?,
                    path: attrs.get("path").map(repos_path).transpose()?,
                });
                None
            }
            _ => None,
        })
    }
}

/// The properties that one parent hands down.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InheritedItem {
    /// The parent's path below the repository root.
    pub path: RelPathBuf,
    /// Its properties.
    pub props: Props,
}

/// Reads the answer to `inherited-props-report`.
#[derive(Debug, Default)]
pub struct InheritedPropsReport {
    /// What was inherited, in the server's order (root first).
    pub found: Vec<InheritedItem>,
    item: InheritedItem,
    name: Option<String>,
    encoding: Option<String>,
    has_path: bool,
}

impl Handler for InheritedPropsReport {
    type State = State;

    fn open(&mut self, at: At<'_, State>, attrs: &Attrs<'_>) -> Opened<State> {
        Ok(match at {
            (None, Ns::Svn, "inherited-props-report") => Some((State::Report, Gather::Nothing)),
            (Some(State::Report), Ns::Svn, "iprop-item") => {
                self.item = InheritedItem::default();
                self.name = None;
                self.has_path = false;
                Some((State::Item, Gather::Nothing))
            }
            (Some(State::Item), Ns::Svn, "iprop-path") => Some((State::Path, Gather::Text)),
            (Some(State::Item), Ns::Svn, "iprop-propname") => Some((State::PropName, Gather::Text)),
            (Some(State::Item), Ns::Svn, "iprop-propval") => {
                self.encoding = attrs.get("encoding").map(str::to_owned);
                Some((State::PropValue, Gather::Text))
            }
            _ => None,
        })
    }

    fn close(&mut self, state: State, text: &str) -> Result<()> {
        let malformed = || Error::from_code(ErrorCode::XML_MALFORMED);
        match state {
            State::Path if self.has_path => return Err(malformed()),
            State::Path => {
                self.item.path = repos_path(text)?;
                self.has_path = true;
            }
            State::PropName if self.name.is_some() => return Err(malformed()),
            State::PropName => self.name = Some(text.to_owned()),
            State::PropValue => {
                let name = self.name.take().ok_or_else(malformed)?;
                let value = decode_value(text, self.encoding.as_deref(), ErrorCode::XML_MALFORMED)?;
                self.item.props.insert(name, value);
            }
            State::Item => self.found.push(std::mem::take(&mut self.item)),
            State::Report => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Document;
    use super::*;

    fn parse<H: Handler>(handler: H, body: &str) -> Result<H> {
        let mut document = Document::new(handler);
        for piece in body.as_bytes().chunks(7) {
            document.push(piece)?;
        }
        document.finish()
    }

    fn rev(number: i64) -> Revnum {
        Revnum::new(number).unwrap()
    }

    #[test]
    fn version_name_of_a_report() {
        let body = "<S:dated-rev-report xmlns:S=\"svn:\" xmlns:D=\"DAV:\">\n\
                    <D:version-name>7</D:version-name></S:dated-rev-report>";
        let found = parse(VersionName::new("dated-rev-report"), body).unwrap();
        assert_eq!(found.rev, Some(rev(7)));
        let error = parse(VersionName::new("get-deleted-rev-report"), body).unwrap_err();
        assert!(
            error.has_code(ErrorCode::XML_UNEXPECTED_ELEMENT),
            "{error:?}"
        );
    }

    #[test]
    fn locations_and_segments() {
        let found = parse(
            Locations::default(),
            "<S:get-locations-report xmlns:S=\"svn:\">\n<S:location rev=\"3\" path=\"/a/b\"/>\
             <S:location rev=\"1\" path=\"/\"/></S:get-locations-report>",
        )
        .unwrap();
        assert_eq!(found.found[0].1.as_str(), "a/b");
        assert_eq!(found.found[1], (rev(1), RelPathBuf::root()));
        let found = parse(
            LocationSegments::default(),
            "<S:get-location-segments-report xmlns:S=\"svn:\">\
             <S:location-segment path=\"a\" range-start=\"2\" range-end=\"5\"/>\
             <S:location-segment range-start=\"1\" range-end=\"1\"/></S:get-location-segments-report>",
        )
        .unwrap();
        assert_eq!(found.found.len(), 2);
        assert_eq!(found.found[1].path, None);
        for bad in [
            "<S:get-location-segments-report xmlns:S=\"svn:\"><S:location-segment path=\"../x\" range-start=\"2\" range-end=\"5\"/></S:get-location-segments-report>",
            "<S:get-location-segments-report xmlns:S=\"svn:\"><S:location-segment range-end=\"5\"/></S:get-location-segments-report>",
        ] {
            assert!(parse(LocationSegments::default(), bad).is_err());
        }
    }

    #[test]
    fn inherited_props() {
        let found = parse(
            InheritedPropsReport::default(),
            "<S:inherited-props-report xmlns:S=\"svn:\" xmlns:V=\"v\">\n<S:iprop-item>\
             <S:iprop-path>trunk</S:iprop-path>\n<S:iprop-propname>a</S:iprop-propname>\n\
             <S:iprop-propval>1</S:iprop-propval>\n<S:iprop-propname>b</S:iprop-propname>\n\
             <S:iprop-propval V:encoding=\"base64\">AQ==</S:iprop-propval></S:iprop-item>\
             </S:inherited-props-report>",
        )
        .unwrap();
        assert_eq!(found.found.len(), 1);
        assert_eq!(found.found[0].path.as_str(), "trunk");
        assert_eq!(found.found[0].props["b"], b"\x01");
    }
}
