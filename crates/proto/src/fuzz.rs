//! Bodies of fuzz targets.

use crate::svn::item::{Parser, Writer};

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
