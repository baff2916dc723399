//! Bodies of fuzz targets.

use bytes::Bytes;
use sylvan_delta::{CheckingEditor, CountingEditor, Editor};

use crate::svn::answer::{Hello, read_choice};
use crate::svn::auth::read_plain;
use crate::svn::editor::{Decoder, Event};
use crate::svn::item::{Parser, Writer};
use crate::svn::{ReportCommand, Request};

/// Parses any bytes as an item, cut in two ways with equal results, and writes it back.
pub fn svn_item(data: &[u8]) {
    let mut whole = Parser::new();
    let mut cut = Parser::new();
    let result = whole.advance(data);
    let cut_result = (0..=data.len()).find_map(|end| cut.advance(&data[..end]).transpose());
    match (&result, cut_result) {
        (Ok(Some(used)), Some(Ok(cut_used))) => assert_eq!(*used, cut_used),
        (Ok(None), None) | (Err(_), Some(Err(_))) => {}
        (whole, cut) => panic!("chunking changes the result: {whole:?} {cut:?}"),
    }
    if let Ok(Some(_)) = result {
        let mut out = Writer::new();
        out.item(whole.item(data));
        let mut again = Parser::new();
        assert_eq!(
            again.advance(out.as_bytes()),
            Ok(Some(out.as_bytes().len()))
        );
        assert_eq!(again.item(out.as_bytes()), whole.item(data));
    }
}

/// Reads any bytes as all that a client may send to a server but edits.
pub fn svn_request(data: &[u8]) {
    let mut parser = Parser::with_limit(1 << 16);
    let mut rest = data;
    while let Ok(Some(used)) = parser.advance(rest) {
        let item = parser.item(rest);
        let request = Request::read(item);
        assert!(!format!("{request:?}").is_empty());
        drop(ReportCommand::read(item));
        drop(Hello::read(item));
        if let Ok((_, Some(token))) = read_choice(item) {
            drop(read_plain(token));
        }
        rest = &rest[used..];
        parser.reset();
    }
}

/// Drives an editor by any bytes, cut in two ways with equal results; the calls must keep the
/// editor's rules.
pub fn svn_edit(data: &[u8]) {
    let whole = edit(data, data.len().max(1));
    let cut = edit(data, 5);
    assert_eq!(whole, cut, "chunking changes the drive");
}

fn edit(data: &[u8], cut: usize) -> (CountingEditor, String) {
    let mut editor = CheckingEditor::new(CountingEditor::default());
    let mut decoder = Decoder::new(None);
    let mut input = Vec::new();
    let mut result = "more".to_owned();
    for chunk in data.chunks(cut) {
        input.extend_from_slice(chunk);
        let mut bytes = Bytes::from(std::mem::take(&mut input));
        match decoder.drive(&mut bytes, &mut editor) {
            Ok(Event::More) => input = bytes.into(),
            Ok(event) => {
                result = format!("{:?}", std::mem::discriminant(&event));
                break;
            }
            Err(_) => {
                result = "failed".to_owned();
                break;
            }
        }
    }
    if !editor.is_ended() {
        let _ = editor.abort_edit();
    }
    (editor.into_inner(), result)
}
