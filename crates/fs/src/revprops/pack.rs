use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use sylvan_core::{Props, Result, Revnum};

use super::parse_revprops;
use crate::text::{corrupt, parse_number, shown, take_line};

/// The most bytes that a packed file has when it is not compressed.
const MAX_PLAIN: u64 = 1 << 30;

/// A file of packed revision properties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevpropPack {
    first: Revnum,
    /// The properties of each revision, as they are stored.
    serialized: Vec<Vec<u8>>,
}

impl RevpropPack {
    /// Makes one.
    pub fn new(first: Revnum, serialized: Vec<Vec<u8>>) -> Self {
        Self { first, serialized }
    }

    /// Parses a packed file that should have `revision`.
    ///
    /// # Errors
    /// [`FS_CORRUPT`](sylvan_core::ErrorCode::FS_CORRUPT).
    pub fn parse(packed: &[u8], revision: Revnum, shard_size: i64) -> Result<Self> {
        let plain = decompress(packed)?;
        let mut rest = &plain[..];
        let mut number = || {
            let line = take_line(&mut rest).ok_or_else(|| corrupt("Unexpected EOF"))?;
            parse_number(line)
                .ok_or_else(|| corrupt(format!("Number '{}' invalid or too large", shown(line))))
        };
        let (first, count) = (number()?.cast_signed(), number()?.cast_signed());
        let last = first.saturating_add(count).saturating_sub(1);
        let size = shard_size.max(1);
        let shard = revision.number() / size;
        if count < 1 || first / size != shard || last / size != shard {
            return Err(corrupt(format!(
                "Revprop pack for revision r{revision} contains revprops for r{first} .. r{last}"
            )));
        }
        if first == 0 {
            return Err(corrupt(format!(
                "Revprop pack for revision r{revision} starts at non-packed revisions r{first}"
            )));
        }
        // Not more than a shard.
        let mut sizes = Vec::new();
        for _ in 0..count {
            sizes.push(number()?);
        }
        let mut rest = rest
            .strip_prefix(b"\n")
            .ok_or_else(|| corrupt("Header end not found"))?;
        let mut serialized = Vec::with_capacity(sizes.len());
        for size in sizes {
            let size = usize::try_from(size).unwrap_or(usize::MAX);
            let (props, later) = rest
                .split_at_checked(size)
                .ok_or_else(|| corrupt("Packed revprop size exceeds pack file size"))?;
            serialized.push(props.to_vec());
            rest = later;
        }
        Ok(Self {
            first: Revnum::new(first).unwrap_or_default(),
            serialized,
        })
    }

    /// Returns the first revision.
    pub fn first(&self) -> Revnum {
        self.first
    }

    /// Returns the properties of all revisions, as they are stored.
    pub fn all(&self) -> &[Vec<u8>] {
        &self.serialized
    }

    /// Tells whether the properties of a revision are here.
    pub fn has(&self, revision: Revnum) -> bool {
        self.serialized(revision).is_some()
    }

    /// Returns the properties of a revision, as they are stored.
    pub fn serialized(&self, revision: Revnum) -> Option<&[u8]> {
        let at = usize::try_from(revision.number() - self.first.number()).ok()?;
        self.serialized.get(at).map(Vec::as_slice)
    }

    /// Parses the properties of a revision.
    ///
    /// # Errors
    /// Those of [`hash_dump::read`](sylvan_core::hash_dump::read); `FS_CORRUPT` if they are not
    /// here.
    pub fn props(&self, revision: Revnum) -> Result<Props> {
        let serialized = self
            .serialized(revision)
            .ok_or_else(|| corrupt(format!("Revprop pack file for r{revision} is corrupt")))?;
        parse_revprops(serialized, revision)
    }

    /// Returns the file's content, compressed with this level of zlib; 0 for not at all.
    pub fn to_bytes(&self, level: u32) -> Vec<u8> {
        let mut plain = format!("{}\n{}\n", self.first, self.serialized.len()).into_bytes();
        for props in &self.serialized {
            plain.extend_from_slice(format!("{}\n", props.len()).as_bytes());
        }
        plain.push(b'\n');
        plain.extend(self.serialized.iter().flatten());
        compress(&plain, level)
    }
}

/// Undoes [`compress`].
fn decompress(packed: &[u8]) -> Result<Vec<u8>> {
    let bad = || corrupt("Decompression of svndiff data failed");
    let (len, used) = read_length(packed).ok_or_else(bad)?;
    let rest = &packed[used..];
    if rest.len() as u64 == len {
        return Ok(rest.to_vec());
    }
    if len > MAX_PLAIN {
        return Err(bad());
    }
    let mut plain = Vec::new();
    let mut decoder = ZlibDecoder::new(rest).take(len + 1);
    decoder.read_to_end(&mut plain).map_err(|_| bad())?;
    if plain.len() as u64 == len {
        Ok(plain)
    } else {
        Err(corrupt(
            "Size of uncompressed data does not match stored original length",
        ))
    }
}

/// Writes the length, base 128 with the most significant digit first, and the bytes, compressed
/// where that is shorter.
fn compress(plain: &[u8], level: u32) -> Vec<u8> {
    let mut out = Vec::with_capacity(plain.len() + 10);
    let digits = (64 - (plain.len() as u64).leading_zeros())
        .div_ceil(7)
        .max(1);
    for digit in (0..digits).rev() {
        let low = ((plain.len() as u64) >> (7 * digit)).to_le_bytes()[0] & 0x7f;
        out.push(if digit > 0 { low | 0x80 } else { low });
    }
    if level > 0 && plain.len() >= 512 {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(level.min(9)));
        // Writing to memory cannot fail.
        let done = encoder.write_all(plain).and_then(|()| encoder.finish());
        if let Ok(packed) = done
            && packed.len() < plain.len()
        {
            out.extend_from_slice(&packed);
            return out;
        }
    }
    out.extend_from_slice(plain);
    out
}

fn read_length(packed: &[u8]) -> Option<(u64, usize)> {
    let mut len = 0u64;
    for (at, byte) in packed.iter().take(10).enumerate() {
        len = len.checked_mul(128)? | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((len, at + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_parsed() {
        let first = Revnum::new(5).unwrap();
        let props = vec![b"END\n".to_vec(), b"K 1\na\nV 700\n".repeat(60), Vec::new()];
        let pack = RevpropPack::new(first, props);
        for level in [0, 5] {
            let bytes = pack.to_bytes(level);
            assert_eq!(RevpropPack::parse(&bytes, first, 10).unwrap(), pack);
            assert_eq!(bytes.len() < 200, level > 0);
        }
        assert!(pack.props(first).unwrap().is_empty());
    }

    #[test]
    fn damage_is_named() {
        let parse = |text: &str| {
            let bytes = compress(text.as_bytes(), 0);
            RevpropPack::parse(&bytes, Revnum::new(5).unwrap(), 10)
                .unwrap_err()
                .message()
        };
        assert_eq!(parse("5\n"), "Unexpected EOF");
        assert_eq!(parse("x\n"), "Number 'x' invalid or too large");
        assert_eq!(
            parse("5\n9\n"),
            "Revprop pack for revision r5 contains revprops for r5 .. r13"
        );
        assert_eq!(
            parse("0\n9\n"),
            "Revprop pack for revision r5 starts at non-packed revisions r0"
        );
        assert_eq!(parse("5\n1\n4\nEND\n"), "Header end not found");
        assert_eq!(
            parse("5\n1\n5\n\nEND\n"),
            "Packed revprop size exceeds pack file size"
        );
    }
}
