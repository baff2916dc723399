//! Binary contents as Git prints them: packed by zlib, in lines of base 85.
//!
//! ```text
//! GIT binary patch
//! literal <length of the new content>
//! <lines>
//!
//! literal <length of the old content>
//! <lines>
//! ```
//!
//! A line is a letter that tells how many bytes it stands for (`A` 1 … `Z` 26, `a` 27 … `z` 52)
//! and five digits for each four bytes.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use sylvan_core::{Error, Result};

use crate::{Poll, Sink, Source};

/// The digits of base 85.
pub(crate) const DIGITS: &[u8; 85] =
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
const LENGTHS: &[u8; 52] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// So many bytes are in a line.
const LINE: usize = 52;
const BLOCK: usize = 128 << 10;

/// Writes how to get from the first content to the second and back.
///
/// # Errors
/// If a content cannot be read, and what `sink` and `poll` returned.
pub fn write(sources: [&dyn Source; 2], sink: &mut Sink<'_>, poll: &mut Poll<'_>) -> Result<()> {
    sink(b"GIT binary patch\n")?;
    write_literal(sources[1], sink, poll)?;
    sink(b"\n")?;
    write_literal(sources[0], sink, poll)
}

fn write_literal(source: &dyn Source, sink: &mut Sink<'_>, poll: &mut Poll<'_>) -> Result<()> {
    sink(format!("literal {}\n", source.len()).as_bytes())?;
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::default());
    let mut buffer = vec![0; BLOCK];
    let mut at = 0;
    while at < source.len() {
        poll()?;
        let len = usize::try_from(source.len() - at).map_or(BLOCK, |left| left.min(BLOCK));
        source.read_at(at, &mut buffer[..len])?;
        packed.write_all(&buffer[..len]).map_err(failed)?;
        at += len as u64;
        write_lines(packed.get_mut(), false, sink)?;
    }
    let mut rest = packed.finish().map_err(failed)?;
    write_lines(&mut rest, true, sink)
}

fn failed(error: std::io::Error) -> Error {
    Error::io(&error, "Can't compress")
}

/// Writes the lines that are full, and the last one if there is no more to come.
fn write_lines(packed: &mut Vec<u8>, is_end: bool, sink: &mut Sink<'_>) -> Result<()> {
    let full = if is_end {
        packed.len()
    } else {
        packed.len() / LINE * LINE
    };
    let mut text = Vec::with_capacity(full * 2);
    for line in packed[..full].chunks(LINE) {
        text.push(LENGTHS[line.len() - 1]);
        for four in line.chunks(4) {
            let mut bytes = [0; 4];
            bytes[..four.len()].copy_from_slice(four);
            let mut number = u32::from_be_bytes(bytes);
            let mut digits = [0; 5];
            for digit in digits.iter_mut().rev() {
                *digit = DIGITS[(number % 85) as usize];
                number /= 85;
            }
            text.extend_from_slice(&digits);
        }
        text.push(b'\n');
    }
    packed.drain(..full);
    sink(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_packed_as_git_does() {
        let mut out = Vec::new();
        let mut sink = |bytes: &[u8]| {
            out.extend_from_slice(bytes);
            Ok(())
        };
        let (old, new) = (&b""[..], &b"\0\x01\x02"[..]);
        write([&old, &new], &mut sink, &mut || Ok(())).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "GIT binary patch\nliteral 3\nKc${NkWC8#H2LJ>B\n\nliteral 0\nHc$@<O00001\n"
        );
    }
}
