use sylvan_core::{Md5, RelPath, Result, Revnum};
use sylvan_delta::{CopyFrom, Editor, TextFormat, Token};

use super::xml::Handler;
use super::{
    ActivityCollection, Document, ErrorBody, Fetch, InheritedPropsReport, ListReport,
    LocationSegments, Locations, LockDiscovery, LocksReport, LogReport, Multistatus, Options,
    Requests, UpdateParams, UpdateReport, VersionName,
};

/// Pushes `data` in pieces whose length its first byte chooses.
fn document<H: Handler>(handler: H, data: &[u8]) -> Option<H> {
    let (piece, data) = pieces(data);
    let mut document = Document::new(handler);
    for bytes in data.chunks(piece) {
        document.push(bytes).ok()?;
    }
    document.finish().ok()
}

fn pieces(data: &[u8]) -> (usize, &[u8]) {
    match data.split_first() {
        Some((&piece, rest)) => (usize::from(piece) + 1, rest),
        None => (1, data),
    }
}

/// Parses an update report and checks the editor's rules on the way.
pub fn update(data: &[u8]) {
    for text_deltas in [true, false] {
        let mut report = UpdateReport::new(UpdateParams {
            text_deltas,
            ..UpdateParams::default()
        });
        let (piece, data) = pieces(data);
        let mut editor = Nothing;
        let pushed = data
            .chunks(piece)
            .try_for_each(|bytes| report.push(bytes, &mut editor, &mut NoRequests));
        if pushed.is_ok() {
            let _ = report.finish();
        }
    }
}

/// Parses a multistatus.
pub fn multistatus(data: &[u8]) {
    document(
        Multistatus::new(|response| {
            for prop in &response.props {
                super::svn_prop_name(&prop.ns, &prop.name);
            }
            Ok(())
        }),
        data,
    );
}

/// Parses a log.
pub fn log(data: &[u8]) {
    document(LogReport::new(|_| Ok(())), data);
}

/// Parses a listing.
pub fn list(data: &[u8]) {
    document(ListReport::new(|_| Ok(())), data);
}

/// Parses what tells of locks.
pub fn locks(data: &[u8]) {
    document(LocksReport::new(|_| Ok(())), data);
    document(LockDiscovery::default(), data);
}

/// Parses the small reports.
pub fn reports(data: &[u8]) {
    document(Locations::default(), data);
    document(LocationSegments::default(), data);
    document(InheritedPropsReport::default(), data);
    document(VersionName::new("dated-rev-report"), data);
    document(ActivityCollection::default(), data);
}

/// Parses an error body and makes the error.
pub fn error(data: &[u8]) {
    if let Some(body) = document(ErrorBody::default(), data)
        && let Some(error) = body.into_error(500, &|_, _| None)
    {
        error.to_lines("svn: ");
    }
}

/// Takes headers of an `OPTIONS` response, a line each.
pub fn options(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut options = Options::default();
    for line in text.lines() {
        if let Some((name, value)) = line.split_once(':') {
            options.header(name, value);
        }
    }
    options.has("depth");
}

/// Decodes base64; what it decodes to encodes to the same bytes.
pub fn base64(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Ok(bytes) = super::decode_base64(&text) {
        let again = super::encode_base64(&bytes);
        assert_eq!(super::decode_base64(&again).ok(), Some(bytes));
    }
}

struct NoRequests;

impl Requests for NoRequests {
    fn fetch(&mut self, _: Fetch) -> Result<()> {
        Ok(())
    }

    fn dir_props(&mut self, _: &str) -> Result<Vec<(String, Vec<u8>)>> {
        Ok(vec![("p".to_owned(), Vec::new())])
    }
}

struct Nothing;

impl Editor for Nothing {
    fn set_target_revision(&mut self, _: Revnum) -> Result<()> {
        Ok(())
    }
    fn open_root(&mut self, _: Option<Revnum>, _: Token) -> Result<()> {
        Ok(())
    }
    fn delete_entry(&mut self, path: &RelPath, _: Option<Revnum>, _: Token) -> Result<()> {
        assert!(!path.is_root());
        Ok(())
    }
    fn add_directory(
        &mut self,
        path: &RelPath,
        _: Token,
        _: Option<CopyFrom>,
        _: Token,
    ) -> Result<()> {
        assert!(
            path.as_str()
                .split('/')
                .all(|name| !matches!(name, "" | "." | ".."))
        );
        Ok(())
    }
    fn open_directory(&mut self, _: &RelPath, _: Token, _: Option<Revnum>, _: Token) -> Result<()> {
        Ok(())
    }
    fn change_dir_prop(&mut self, _: Token, _: &str, _: Option<&[u8]>) -> Result<()> {
        Ok(())
    }
    fn close_directory(&mut self, _: Token) -> Result<()> {
        Ok(())
    }
    fn absent_directory(&mut self, _: &RelPath, _: Token) -> Result<()> {
        Ok(())
    }
    fn add_file(&mut self, path: &RelPath, _: Token, _: Option<CopyFrom>, _: Token) -> Result<()> {
        assert!(
            path.as_str()
                .split('/')
                .all(|name| !matches!(name, "" | "." | ".."))
        );
        Ok(())
    }
    fn open_file(&mut self, _: &RelPath, _: Token, _: Option<Revnum>, _: Token) -> Result<()> {
        Ok(())
    }
    fn apply_text(&mut self, _: Token, _: Option<Md5>, _: TextFormat) -> Result<()> {
        Ok(())
    }
    fn text_chunk(&mut self, _: Token, _: bytes::Bytes) -> Result<()> {
        Ok(())
    }
    fn text_end(&mut self, _: Token) -> Result<()> {
        Ok(())
    }
    fn change_file_prop(&mut self, _: Token, _: &str, _: Option<&[u8]>) -> Result<()> {
        Ok(())
    }
    fn close_file(&mut self, _: Token, _: Option<Md5>) -> Result<()> {
        Ok(())
    }
    fn absent_file(&mut self, _: &RelPath, _: Token) -> Result<()> {
        Ok(())
    }
    fn close_edit(&mut self) -> Result<()> {
        Ok(())
    }
    fn abort_edit(&mut self) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
