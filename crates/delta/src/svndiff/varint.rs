use super::MAX_INT;

/// What the bytes at the front of a slice are.
pub(super) enum Int {
    /// An integer, and how many bytes it took.
    Complete(u64, usize),
    /// The beginning of one.
    Incomplete,
    /// More digits than any integer has.
    TooLong,
}

pub(super) fn decode(bytes: &[u8]) -> Int {
    let mut value = 0u64;
    for (at, byte) in bytes.iter().take(MAX_INT).enumerate() {
        value = value << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Int::Complete(value, at + 1);
        }
    }
    if bytes.len() < MAX_INT {
        Int::Incomplete
    } else {
        Int::TooLong
    }
}

/// Decodes an integer that must be complete and fit a length; advances `at`.
pub(super) fn take(bytes: &[u8], at: &mut usize) -> Option<usize> {
    match decode(bytes.get(*at..)?) {
        Int::Complete(value, used) => {
            *at += used;
            usize::try_from(value).ok()
        }
        Int::Incomplete | Int::TooLong => None,
    }
}

pub(super) fn encode(value: u64, out: &mut Vec<u8>) {
    let digits = (64 - value.leading_zeros()).div_ceil(7).max(1);
    for digit in (1..digits).rev() {
        out.push(low_byte(value >> (7 * digit)) & 0x7f | 0x80);
    }
    out.push(low_byte(value) & 0x7f);
}

const fn low_byte(value: u64) -> u8 {
    value.to_le_bytes()[0]
}
