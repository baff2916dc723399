//! Bodies of fuzz targets.

use crate::svndiff::{Decoder, Encoder, Op, SvndiffError, Version};
use crate::{Applier, TextFormat};

/// Decodes any bytes as an svndiff stream, cut in two ways with equal results, applies it, and
/// decodes what it writes back.
pub fn svndiff(data: &[u8]) {
    let base = [b'x'; 4096];
    let whole = apply(&base, data, data.len().max(1));
    let cut = apply(&base, data, 7);
    assert_eq!(whole.0, cut.0, "chunking changes the text");
    assert_eq!(
        whole.1.is_ok(),
        cut.1.is_ok(),
        "chunking changes the result"
    );
    rewrite(data);
}

fn apply(base: &[u8], data: &[u8], cut: usize) -> (Vec<u8>, sylvan_core::Result<()>) {
    let mut text = Vec::new();
    let mut applier = Applier::new(TextFormat::Svndiff, base);
    let result = data
        .chunks(cut)
        .try_for_each(|chunk| {
            applier.push(chunk, |piece| {
                text.extend_from_slice(piece);
                Ok(())
            })
        })
        .and_then(|()| applier.finish());
    (text, result)
}

/// Each decoded window encoded again is decoded to the same instructions.
fn rewrite(data: &[u8]) {
    let mut decoder = Decoder::new();
    let _ = decoder.push(data, |window| {
        let ops: Vec<Op> = window.ops().collect();
        for version in Version::ALL {
            let mut out = Vec::new();
            let mut encoder = Encoder::new(version, 5, &mut out);
            encoder.window(
                window.source_offset(),
                window.source_len(),
                &ops,
                window.new_data(),
                &mut out,
            );
            let mut again = Decoder::new();
            again.push(&out, |second| {
                assert!(second.ops().eq(ops.iter().copied()));
                assert_eq!(second.new_data(), window.new_data());
                Ok::<_, SvndiffError>(())
            })?;
            again.finish()?;
        }
        Ok::<_, SvndiffError>(())
    });
}
