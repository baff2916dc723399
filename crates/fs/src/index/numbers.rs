//! The integers of the indexes.

use sylvan_core::Result;

use super::damaged;

/// Appends an unsigned integer.
pub(crate) fn put(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

/// Appends unsigned integers.
pub(crate) fn put_all<'n>(values: impl IntoIterator<Item = &'n u64>, out: &mut Vec<u8>) {
    for value in values {
        put(*value, out);
    }
}

/// Appends a signed integer.
pub(crate) fn put_signed(value: i64, out: &mut Vec<u8>) {
    let doubled = value.wrapping_shl(1);
    put((doubled ^ (value >> 63)).cast_unsigned(), out);
}

/// Reads integers from a slice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Numbers<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Checks the index's first bytes and makes a reader of what follows.
    pub(crate) fn after_prefix(bytes: &'a [u8], prefix: &str) -> Result<Self> {
        let rest = bytes.strip_prefix(prefix.as_bytes()).ok_or_else(|| {
            let found = String::from_utf8_lossy(&bytes[..bytes.len().min(prefix.len())]);
            damaged(format!(
                "Index stream header prefix mismatch.\n  expected: {prefix}  found: {found}"
            ))
        })?;
        Ok(Self::new(rest))
    }

    /// Where the next integer is.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }

    pub(crate) fn next(&mut self) -> Result<u64> {
        let mut value = 0u64;
        let mut shift = 0;
        loop {
            let byte = self.bytes.get(self.at).copied();
            let byte = byte.ok_or_else(|| damaged("Unexpected end of index"))?;
            self.at += 1;
            let digit = u64::from(byte & 0x7f);
            if shift > 63 || (shift == 63 && digit > 1) {
                return Err(damaged("Corrupt index: number too large"));
            }
            value |= digit << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
            shift += 7;
        }
    }

    pub(crate) fn next_signed(&mut self) -> Result<i64> {
        let value = self.next()?;
        let half = (value >> 1).cast_signed();
        Ok(if value & 1 == 0 { half } else { !half })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(value: u64, signed: i64) {
            let mut out = Vec::new();
            put(value, &mut out);
            put_signed(signed, &mut out);
            let mut numbers = Numbers::new(&out);
            prop_assert_eq!(numbers.next().unwrap(), value);
            prop_assert_eq!(numbers.next_signed().unwrap(), signed);
            prop_assert!(numbers.is_at_end());
        }
    }

    #[test]
    fn too_long_or_cut_is_refused() {
        assert!(Numbers::new(&[0xff; 20]).next().is_err());
        assert!(Numbers::new(&[0x80]).next().is_err());
        let mut out = Vec::new();
        put_signed(-1, &mut out);
        put_signed(-2, &mut out);
        assert_eq!(out, [1, 3]);
    }
}
