use proptest::prelude::*;

use super::*;
use crate::{Applier, EmptyBase, SeekBase, TextFormat};
use sylvan_core::ErrorCode;

/// A window as a test writes it.
#[derive(Clone, Debug)]
struct Plan {
    source_offset: u64,
    source_len: usize,
    ops: Vec<Op>,
    new_data: Vec<u8>,
}

fn encode(version: Version, windows: &[Plan]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder = Encoder::new(version, 5, &mut out);
    for plan in windows {
        encoder.window(
            plan.source_offset,
            plan.source_len,
            &plan.ops,
            &plan.new_data,
            &mut out,
        );
    }
    out
}

fn decode(stream: &[u8], cut: usize) -> Result<Vec<Plan>, SvndiffError> {
    let mut windows = Vec::new();
    let mut decoder = Decoder::new();
    for chunk in stream.chunks(cut.max(1)) {
        decoder.push(chunk, |window| {
            windows.push(Plan {
                source_offset: window.source_offset(),
                source_len: window.source_len(),
                ops: window.ops().collect(),
                new_data: window.new_data().to_vec(),
            });
            Ok::<_, SvndiffError>(())
        })?;
    }
    decoder.finish()?;
    Ok(windows)
}

fn apply(base: &[u8], stream: &[u8], cut: usize) -> sylvan_core::Result<Vec<u8>> {
    let mut text = Vec::new();
    let mut applier = Applier::new(TextFormat::Svndiff, base);
    for chunk in stream.chunks(cut.max(1)) {
        applier.push(chunk, |piece| {
            text.extend_from_slice(piece);
            Ok(())
        })?;
    }
    applier.finish()?;
    Ok(text)
}

/// Applies as slowly and plainly as can be.
fn model(base: &[u8], windows: &[Plan]) -> Vec<u8> {
    let mut text = Vec::new();
    for plan in windows {
        let start = text.len();
        let mut new = plan.new_data.iter();
        for op in &plan.ops {
            for step in 0..op.len() {
                let byte = match *op {
                    Op::Source { offset, .. } => {
                        base[usize::try_from(plan.source_offset).unwrap() + offset + step]
                    }
                    Op::Target { offset, .. } => text[start + offset + step],
                    Op::New { .. } => *new.next().unwrap(),
                };
                text.push(byte);
            }
        }
    }
    text
}

#[test]
fn known_stream_is_decoded() {
    // Copies from the source, from new data and from what the copy itself writes.
    let stream = [
        &b"SVN\0"[..],
        &[0, 4, 20, 8, 5],
        &[0x04, 0x00, 0x84, 0x44, 0x04, 0x81, 0x47, 0x08],
        b"efghi",
    ]
    .concat();
    for cut in 1..stream.len() {
        assert_eq!(
            apply(b"abcd", &stream, cut).unwrap(),
            b"abcdefghefghiefghief"
        );
    }
}

#[test]
fn fulltext_is_lent_from_the_chunk() {
    let text = vec![7; 3 * WINDOW_SIZE + 5];
    for version in Version::ALL {
        let stream = encode_fulltext(version, &text);
        for cut in [1, 1000, stream.len()] {
            assert_eq!(apply(b"", &stream, cut).unwrap(), text);
        }
    }
    let stream = encode_fulltext(Version::V0, b"hello");
    let range = stream.as_ptr_range();
    let mut applier = Applier::new(TextFormat::Svndiff, EmptyBase);
    applier
        .push(&stream, |piece| {
            assert!(range.contains(&piece.as_ptr()));
            Ok(())
        })
        .unwrap();
}

#[test]
fn empty_stream_has_a_header() {
    for version in Version::ALL {
        let stream = encode_fulltext(version, b"");
        assert_eq!(stream, version.magic());
        assert_eq!(apply(b"", &stream, 1).unwrap(), b"");
    }
}

#[test]
fn corrupt_streams_are_refused() {
    use ErrorCode as E;
    let cases: [(&[u8], ErrorCode); 19] = [
        (b"", E::SVNDIFF_UNEXPECTED_END),
        (b"SV", E::SVNDIFF_UNEXPECTED_END),
        (b"SVX", E::SVNDIFF_INVALID_HEADER),
        (b"SVN\x03", E::SVNDIFF_INVALID_HEADER),
        (b"SVN\x01\0", E::SVNDIFF_UNEXPECTED_END),
        (b"SVN\0\0\0\x01\x01", E::SVNDIFF_UNEXPECTED_END),
        // Target of 102401 bytes.
        (b"SVN\0\0\0\x86\xa0\x01\0\0", E::SVNDIFF_CORRUPT_WINDOW),
        // Huge lengths.
        (
            b"SVN\0\0\0\x81\xff\xff\xff\xff\xff\xff\xff\xff\x7f\0\0",
            E::SVNDIFF_CORRUPT_WINDOW,
        ),
        // An integer of eleven digits.
        (
            b"SVN\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\0\0\0\0",
            E::SVNDIFF_CORRUPT_WINDOW,
        ),
        // An offset beyond all files.
        (
            b"SVN\0\x81\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x01\0\0\0",
            E::SVNDIFF_CORRUPT_WINDOW,
        ),
        // Second view before the first.
        (
            b"SVN\0\x05\x01\x01\x02\0\x01\0\x04\x01\x01\x02\0\x01\0",
            E::SVNDIFF_BACKWARD_VIEW,
        ),
        (b"SVN\0\0\0\x01\x01\0\xc1", E::SVNDIFF_INVALID_OPS),
        (b"SVN\0\0\0\x01\x02\x00\x80\0", E::SVNDIFF_INVALID_OPS),
        (b"SVN\0\0\0\x01\x01\x02\x82ab", E::SVNDIFF_INVALID_OPS),
        (b"SVN\0\0\x01\x01\x02\0\x01\x01", E::SVNDIFF_INVALID_OPS),
        (
            b"SVN\0\0\0\x02\x03\x01\x81\x41\x01a",
            E::SVNDIFF_INVALID_OPS,
        ),
        (b"SVN\0\0\0\x02\x01\x01\x81a", E::SVNDIFF_INVALID_OPS),
        (b"SVN\0\0\0\x01\x01\x02\x81ab", E::SVNDIFF_INVALID_OPS),
        // Version 1, a section of plain length 3 that is no zlib stream.
        (
            b"SVN\x01\0\0\x03\x02\x03\x01\x83\x03ab",
            E::SVNDIFF_INVALID_COMPRESSED_DATA,
        ),
    ];
    for (stream, code) in cases {
        for cut in 1..=stream.len().max(1) {
            let error = apply(b"0123456789", stream, cut).unwrap_err();
            assert_eq!(error.code(), code, "{stream:?}: {error}");
        }
    }
}

#[test]
fn short_base_is_told() {
    let stream = encode(
        Version::V0,
        &[Plan {
            source_offset: 2,
            source_len: 4,
            ops: vec![Op::Source { offset: 0, len: 4 }],
            new_data: vec![],
        }],
    );
    assert_eq!(apply(b"012345", &stream, 9).unwrap(), b"2345");
    for base in [&b""[..], b"01", b"01234"] {
        let error = apply(base, &stream, 9).unwrap_err();
        assert_eq!(error.code(), ErrorCode::INCOMPLETE_DATA);
        let mut applier = Applier::new(
            TextFormat::Svndiff,
            SeekBase::new(std::io::Cursor::new(base)),
        );
        let error = applier.push(&stream, |_| Ok(())).unwrap_err();
        assert_eq!(error.code(), ErrorCode::INCOMPLETE_DATA);
    }
}

#[test]
fn expansion_is_bounded() {
    // A section that says it is small and inflates to much.
    let mut bomb = Vec::new();
    let mut deflate = flate2::Compress::new(flate2::Compression::best(), true);
    bomb.reserve(10_000);
    deflate
        .compress_vec(&vec![0; 1 << 20], &mut bomb, flate2::FlushCompress::Finish)
        .unwrap();
    let mut data = vec![100];
    data.extend_from_slice(&bomb);
    let mut stream = b"SVN\x01\0\0\x64".to_vec();
    stream.push(3);
    varint::encode(data.len() as u64, &mut stream);
    stream.extend_from_slice(&[2, 0x80, 100]);
    stream.extend_from_slice(&data);
    let error = apply(b"", &stream, 100).unwrap_err();
    assert_eq!(error.code(), ErrorCode::SVNDIFF_INVALID_COMPRESSED_DATA);
}

#[test]
fn truncation_at_every_byte_is_told() {
    let text: Vec<u8> = (0..1000u32).flat_map(u32::to_le_bytes).collect();
    for version in Version::ALL {
        let stream = encode_fulltext(version, &text);
        for len in 5..stream.len() {
            let error = apply(b"", &stream[..len], 64).unwrap_err();
            assert_eq!(error.code(), ErrorCode::SVNDIFF_UNEXPECTED_END);
        }
    }
}

#[test]
fn a_failed_decoder_stays_failed_until_reset() {
    let mut decoder = Decoder::new();
    let mut push = |bytes: &[u8]| decoder.push(bytes, |_| Ok::<_, SvndiffError>(()));
    assert!(push(b"XXXX").is_err());
    assert!(push(b"SVN\0").is_err());
    assert!(decoder.finish().is_err());
    decoder.reset();
    decoder
        .push(b"SVN\0", |_| Ok::<_, SvndiffError>(()))
        .unwrap();
    decoder.finish().unwrap();
}

const BASE_LEN: usize = 300;

/// Any valid windows against a base of [`BASE_LEN`] bytes.
fn plans() -> impl Strategy<Value = Vec<Plan>> {
    let op = (0..3u8, any::<u16>(), 1..200usize);
    let window = (
        0..50u64,
        1..=100usize,
        prop::collection::vec(op, 0..12),
        any::<u8>(),
    );
    prop::collection::vec(window, 0..5).prop_map(|raw| {
        let mut source_offset = 0;
        raw.into_iter()
            .map(|(step, source_len, ops, fill)| {
                // Views of one length that only go forward.
                source_offset = (source_offset + step).min(BASE_LEN as u64 - 100);
                plan(source_offset, source_len.max(100), &ops, fill)
            })
            .collect()
    })
}

fn plan(source_offset: u64, source_len: usize, raw: &[(u8, u16, usize)], fill: u8) -> Plan {
    let (mut ops, mut new_data, mut target) = (Vec::new(), Vec::new(), 0);
    for &(kind, at, len) in raw {
        let op = match kind {
            0 => {
                let len = len.min(source_len);
                let offset = usize::from(at) % (source_len - len + 1);
                Op::Source { offset, len }
            }
            1 if target > 0 => Op::Target {
                offset: usize::from(at) % target,
                len,
            },
            _ => {
                new_data.extend((0..len).map(|n| fill.wrapping_add(u8::try_from(n % 3).unwrap())));
                Op::New { len }
            }
        };
        target += op.len();
        ops.push(op);
    }
    Plan {
        source_offset,
        source_len,
        ops,
        new_data,
    }
}

proptest! {
    #[test]
    fn decoding_undoes_encoding(plans in plans(), cut in 1..400usize) {
        let base: Vec<u8> = (0..BASE_LEN).map(|n| u8::try_from(n % 251).unwrap()).collect();
        let expected = model(&base, &plans);
        for version in Version::ALL {
            let stream = encode(version, &plans);
            let decoded = decode(&stream, cut).unwrap();
            prop_assert_eq!(decoded.len(), plans.len());
            for (was, is) in plans.iter().zip(&decoded) {
                prop_assert_eq!(&was.ops, &is.ops);
                prop_assert_eq!(&was.new_data, &is.new_data);
            }
            prop_assert_eq!(&apply(&base, &stream, cut).unwrap(), &expected);
        }
    }

    #[test]
    fn integers_round_trip(value in any::<u64>(), cut in 0..10usize) {
        let mut bytes = Vec::new();
        varint::encode(value, &mut bytes);
        let len = bytes.len();
        prop_assert!(len <= MAX_INT);
        bytes.push(0xff);
        prop_assert!(matches!(varint::decode(&bytes), varint::Int::Complete(v, n) if v == value && n == len));
        if cut < len {
            prop_assert!(matches!(varint::decode(&bytes[..cut]), varint::Int::Incomplete));
        }
    }

    #[test]
    fn garbage_is_no_panic(data in prop::collection::vec(any::<u8>(), 0..200), version in 0..3u8) {
        crate::fuzz::svndiff(&data);
        let mut stream = vec![b'S', b'V', b'N', version];
        stream.extend(data);
        crate::fuzz::svndiff(&stream);
    }

    #[test]
    fn a_changed_byte_is_no_panic(plans in plans(), at in any::<prop::sample::Index>(), to in any::<u8>()) {
        for version in Version::ALL {
            let mut stream = encode(version, &plans);
            let at = at.index(stream.len());
            stream[at] = to;
            crate::fuzz::svndiff(&stream);
        }
    }
}
