//! Small pieces of the text formats: numbers in base 36, paths, words and lines.

use sylvan_core::path::raw;
use sylvan_core::{Error, ErrorCode, RelPath, RelPathBuf, Result, Revnum};

/// Writes a number in base 36, lower case.
pub(crate) fn base36(number: u64) -> String {
    let mut out = Vec::with_capacity(13);
    put_base36(number, &mut out);
    into_text(out)
}

/// Appends a number in base 36, lower case.
pub(crate) fn put_base36(number: u64, out: &mut Vec<u8>) {
    put_digits(number, 36, out);
}

/// Appends a number in decimal.
pub(crate) fn put_number(number: u64, out: &mut Vec<u8>) {
    put_digits(number, 10, out);
}

fn put_digits(mut number: u64, base: u64, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = DIGITS[(number % base) as usize];
        number /= base;
        if number == 0 {
            out.extend_from_slice(&digits[at..]);
            return;
        }
    }
}

/// Appends a revision.
pub(crate) fn put_revnum(revision: Revnum, out: &mut Vec<u8>) {
    put_number(revision.number().unsigned_abs(), out);
}

/// Appends a digest in hexadecimal digits.
pub(crate) fn put_hex(digest: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.extend(digest.iter().flat_map(|byte| {
        let (high, low) = (usize::from(byte >> 4), usize::from(byte & 15));
        [DIGITS[high], DIGITS[low]]
    }));
}

/// Makes a string of what was written here, which is one.
pub(crate) fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_default()
}

/// Reads a number in base 36; `None` for anything else.
pub(crate) fn parse_base36(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0u64, |number, byte| {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'z' => byte - b'a' + 10,
            _ => return None,
        };
        number.checked_mul(36)?.checked_add(u64::from(digit))
    })
}

/// Reads a decimal number without sign; `None` for anything else and beyond 63 bits.
pub(crate) fn parse_number(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    let number = text.iter().try_fold(0u64, |number, byte| {
        let digit = byte.wrapping_sub(b'0');
        let larger = number.checked_mul(10)?.checked_add(u64::from(digit))?;
        (digit < 10).then_some(larger)
    })?;
    i64::try_from(number).is_ok().then_some(number)
}

/// Reads a revision; `None` for anything else.
pub(crate) fn parse_revnum(text: &[u8]) -> Option<Revnum> {
    Revnum::new(parse_number(text)?.cast_signed())
}

/// Reads the absolute path form (`/trunk/a`); `None` if it is not canonical.
pub(crate) fn parse_fspath(text: &[u8]) -> Option<RelPathBuf> {
    let path = raw::from_bytes(text.strip_prefix(b"/")?)?;
    RelPathBuf::new(path).ok()
}

/// Writes the absolute path form, for messages.
pub(crate) fn fspath(path: &RelPath) -> String {
    format!("/{}", path.as_str())
}

/// Appends the absolute path form as it is stored.
pub(crate) fn put_fspath(path: &RelPath, out: &mut Vec<u8>) {
    out.push(b'/');
    out.extend_from_slice(&raw::to_bytes(path.as_str()));
}

/// Cuts the next line, without its newline, off `rest`; what is left if there is no newline;
/// `None` at the end.
pub(crate) fn take_line<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    if rest.is_empty() {
        return None;
    }
    let (line, later) = match memchr::memchr(b'\n', rest) {
        Some(at) => (&rest[..at], &rest[at + 1..]),
        None => (*rest, &[][..]),
    };
    *rest = later;
    Some(line)
}

/// Cuts the next word, up to a blank, off `rest`; `None` at the end.
pub(crate) fn take_word<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    while let [b' ', later @ ..] = *rest {
        *rest = later;
    }
    if rest.is_empty() {
        return None;
    }
    let end = rest.iter().position(|byte| *byte == b' ');
    let (word, later) = match end {
        Some(at) => (&rest[..at], &rest[at + 1..]),
        None => (*rest, &[][..]),
    };
    *rest = later;
    Some(word)
}

/// Makes bytes from outside fit for a message.
pub(crate) fn shown(text: &[u8]) -> String {
    String::from_utf8_lossy(&text[..text.len().min(200)]).into_owned()
}

/// Makes the error for damage.
pub(crate) fn corrupt(message: impl Into<String>) -> Error {
    Error::new(ErrorCode::FS_CORRUPT, message)
}

/// Turns `None` into the error for damage.
pub(crate) fn or_corrupt<T>(value: Option<T>, message: &str) -> Result<T> {
    value.ok_or_else(|| corrupt(message))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn base36_round_trips(number: u64) {
            prop_assert_eq!(parse_base36(base36(number).as_bytes()), Some(number));
        }
    }

    #[test]
    fn numbers_beyond_their_range_are_refused() {
        assert_eq!(parse_base36(b"3w5e11264sgsg"), None);
        assert_eq!(parse_base36(b"3w5e11264sgsf"), Some(u64::MAX));
        assert_eq!(parse_number(b"9223372036854775808"), None);
        assert_eq!(parse_number(b"+1"), None);
        assert_eq!(parse_number(b"9223372036854775807"), Some(i64::MAX as u64));
    }

    #[test]
    fn words_and_lines_are_cut() {
        let mut rest: &[u8] = b"a  b c";
        assert_eq!(take_word(&mut rest), Some(&b"a"[..]));
        assert_eq!(take_word(&mut rest), Some(&b"b"[..]));
        assert_eq!(rest, b"c");
        let mut rest: &[u8] = b"x\n\ny";
        assert_eq!(take_line(&mut rest), Some(&b"x"[..]));
        assert_eq!(take_line(&mut rest), Some(&b""[..]));
        assert_eq!(take_line(&mut rest), Some(&b"y"[..]));
        assert_eq!(take_line(&mut rest), None);
    }
}
