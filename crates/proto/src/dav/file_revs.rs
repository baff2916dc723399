//! Answers to `file-revs-report` and `mergeinfo-report`.

use sylvan_core::{ErrorCode, Props, RelPathBuf, Result, Revnum};

use super::xml::{At, Attrs, Gather, Handler, Ns, Opened};
use super::{base64, decode_value, parse_rev, repos_path};

/// A file as it was in one revision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileRevItem {
    /// The path with a leading slash.
    pub path: String,
    /// The revision.
    pub rev: Revnum,
    /// The revision's properties.
    pub revprops: Props,
    /// Properties that are other than before; `None` where they are gone.
    pub prop_changes: Vec<(String, Option<Vec<u8>>)>,
    /// Whether it came by a merge.
    pub merged: bool,
    /// The text as svndiff against that of the revision before.
    pub delta: Option<Vec<u8>>,
}

/// Reads the revisions of a file and hands on one after the other.
pub struct FileRevsReport<F> {
    receive: F,
    item: FileRevItem,
    prop: (String, Option<String>),
    decoder: base64::Decoder,
}

/// States of [`FileRevsReport`].
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Report,
    Item,
    Revprop,
    SetProp,
    Merged,
    Delta,
}

impl<F: FnMut(FileRevItem) -> Result<()>> FileRevsReport<F> {
    /// Makes a parser that gives each revision to `receive`.
    pub fn new(receive: F) -> Self {
        Self {
            receive,
            item: FileRevItem::default(),
            prop: Default::default(),
            decoder: base64::Decoder::default(),
        }
    }

    fn property(&mut self, attrs: &Attrs<'_>) -> Result<()> {
        let name = attrs.require("name")?.to_owned();
        self.prop = (name, attrs.get("encoding").map(str::to_owned));
        Ok(())
    }

    fn value(&self, text: &str) -> Result<Vec<u8>> {
        let encoding = self.prop.1.as_deref();
        decode_value(text, encoding, ErrorCode::RA_DAV_MALFORMED_DATA)
    }
}

impl<F: FnMut(FileRevItem) -> Result<()>> Handler for FileRevsReport<F> {
    type State = State;

    fn open(&mut self, at: At<'_, State>, attrs: &Attrs<'_>) -> Opened<State> {
        Ok(match at {
            (None, Ns::Svn, "file-revs-report") => Some((State::Report, Gather::Nothing)),
            (Some(State::Report), Ns::Svn, "file-rev") => {
                self.item = FileRevItem {
                    path: attrs.require("path")?.to_owned(),
                    rev: parse_rev(attrs.require("rev")?)?,
                    ..FileRevItem::default()
                };
                Some((State::Item, Gather::Nothing))
            }
            (Some(State::Item), Ns::Svn, "rev-prop") => {
                self.property(attrs)?;
                Some((State::Revprop, Gather::Text))
            }
            (Some(State::Item), Ns::Svn, "set-prop") => {
                self.property(attrs)?;
                Some((State::SetProp, Gather::Text))
            }
            (Some(State::Item), Ns::Svn, "remove-prop") => {
                let name = attrs.require("name")?.to_owned();
                self.item.prop_changes.push((name, None));
                None
            }
            (Some(State::Item), Ns::Svn, "merged-revision") => {
                self.item.merged = true;
                Some((State::Merged, Gather::Nothing))
            }
            (Some(State::Item), Ns::Svn, "txdelta") => {
                self.item.delta = Some(Vec::new());
                self.decoder = base64::Decoder::default();
                Some((State::Delta, Gather::Stream))
            }
            _ => None,
        })
    }

    fn text(&mut self, state: State, piece: &[u8]) -> Result<()> {
        match (&mut self.item.delta, state) {
            (Some(delta), State::Delta) => self.decoder.push(piece, delta),
            _ => Ok(()),
        }
    }

    fn close(&mut self, state: State, text: &str) -> Result<()> {
        match state {
            State::Report | State::Merged => {}
            State::Item => (self.receive)(std::mem::take(&mut self.item))?,
            State::Revprop => {
                let value = self.value(text)?;
                self.item.revprops.insert(self.prop.0.clone(), value);
            }
            State::SetProp => {
                let value = self.value(text)?;
                let name = self.prop.0.clone();
                self.item.prop_changes.push((name, Some(value)));
            }
            State::Delta => self.decoder.finish()?,
        }
        Ok(())
    }
}

/// Reads what was merged into paths.
#[derive(Debug, Default)]
pub struct MergeinfoReport {
    /// Paths and the values of their property.
    pub found: Vec<(RelPathBuf, Vec<u8>)>,
    path: Option<RelPathBuf>,
}

/// States of [`MergeinfoReport`].
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum MergeinfoState {
    Report,
    Item,
    Path,
    Info,
}

impl Handler for MergeinfoReport {
    type State = MergeinfoState;

    fn open(&mut self, at: At<'_, MergeinfoState>, _: &Attrs<'_>) -> Opened<MergeinfoState> {
        use MergeinfoState as State;
        Ok(match at {
            (None, Ns::Svn, "mergeinfo-report") => Some((State::Report, Gather::Nothing)),
            (Some(State::Report), Ns::Svn, "mergeinfo-item") => {
                self.path = None;
                Some((State::Item, Gather::Nothing))
            }
            (Some(State::Item), Ns::Svn, "mergeinfo-path") => Some((State::Path, Gather::Text)),
            (Some(State::Item), Ns::Svn, "mergeinfo-info") => Some((State::Info, Gather::Text)),
            _ => None,
        })
    }

    fn close(&mut self, state: MergeinfoState, text: &str) -> Result<()> {
        match state {
            MergeinfoState::Path => self.path = Some(repos_path(text)?),
            MergeinfoState::Info => {
                if let Some(path) = self.path.take() {
                    self.found.push((path, text.as_bytes().to_vec()));
                }
            }
            MergeinfoState::Report | MergeinfoState::Item => {}
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
        for piece in body.as_bytes().chunks(5) {
            document.push(piece)?;
        }
        document.finish()
    }

    #[test]
    fn revisions_of_a_file() {
        let body = "<S:file-revs-report xmlns:S=\"svn:\" xmlns:D=\"DAV:\">\n\
                    <S:file-rev path=\"/f\" rev=\"7\">\
                    <S:rev-prop name=\"svn:author\" encoding=\"base64\">am8=</S:rev-prop>\n\
                    <S:set-prop name=\"p\">v</S:set-prop>\n<S:remove-prop name=\"q\"/>\n\
                    <S:merged-revision/><S:txdelta>U1ZO\nAA==</S:txdelta></S:file-rev>\
                    <S:file-rev path=\"/f\" rev=\"8\"></S:file-rev></S:file-revs-report>";
        let mut found = Vec::new();
        let report = FileRevsReport::new(|item| {
            found.push(item);
            Ok(())
        });
        drop(parse(report, body).unwrap());
        assert_eq!(found[0].revprops["svn:author"], b"jo");
        assert_eq!(
            found[0].prop_changes,
            [
                ("p".to_owned(), Some(b"v".to_vec())),
                ("q".to_owned(), None)
            ]
        );
        assert!(found[0].merged && !found[1].merged);
        assert_eq!(found[0].delta.as_deref(), Some(&b"SVN\0"[..]));
        assert_eq!(found[1].delta, None);
    }

    #[test]
    fn mergeinfo_of_paths() {
        let body = "<S:mergeinfo-report xmlns:S=\"svn:\" xmlns:D=\"DAV:\"><S:mergeinfo-item>\
                    <S:mergeinfo-path>/a</S:mergeinfo-path><S:mergeinfo-info>/b:1-2\
                    </S:mergeinfo-info></S:mergeinfo-item></S:mergeinfo-report>";
        let found = parse(MergeinfoReport::default(), body).unwrap().found;
        assert_eq!(found[0].0.as_str(), "a");
        assert_eq!(found[0].1, b"/b:1-2");
    }
}
