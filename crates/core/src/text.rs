//! Texts for people.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use crate::{Error, ErrorCode, Result};

/// Returns how alike two texts are, from 0 to 1,000,000: twice the length of their longest common
/// subsequence by the sum of their lengths.
///
/// Subversion offers a known word for an unknown one at 666,667 or more.
pub fn similarity(a: &str, b: &str) -> usize {
    const RANGE: usize = 1_000_000;
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let total = a.len() + b.len();
    if total == 0 {
        return RANGE;
    }
    let mut previous = vec![0_usize; b.len() + 1];
    let mut current = previous.clone();
    for byte in a {
        for (i, other) in b.iter().enumerate() {
            current[i + 1] = if byte == other {
                previous[i] + 1
            } else {
                current[i].max(previous[i + 1])
            };
        }
        std::mem::swap(&mut previous, &mut current);
    }
    (2 * RANGE * previous[b.len()] + total / 2) / total
}

/// Writes text in ASCII alone, for a terminal that knows no more: accents and ligatures are taken
/// apart, blanks, hyphens and some quotes become those of ASCII, any other character is its number
/// as in `{U+65E5}`, and a byte that is no UTF-8 its value as in `?\C4`.
///
/// ```
/// assert_eq!(sylvan_core::text::to_ascii("é½ “日”".as_bytes()), "e1/2 {U+201C}{U+65E5}{U+201D}");
/// ```
pub fn to_ascii(text: &[u8]) -> String {
    let mut ascii = String::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        for c in chunk.valid().nfkd().map(lump) {
            match c {
                '\0' => ascii.push_str("\\0"),
                c if u32::from(c) < 127 => ascii.push(c),
                c if is_combining_mark(c) => {}
                c if u32::from(c) > 0xffff => {
                    ascii.push_str(&format!("{{U+{:06X}}}", u32::from(c)));
                }
                c => ascii.push_str(&format!("{{U+{:04X}}}", u32::from(c))),
            }
        }
        for byte in chunk.invalid() {
            ascii.push_str(&format!("?\\{byte:02X}"));
        }
    }
    ascii
}

/// Replaces characters that look much like one of ASCII.
const fn lump(c: char) -> char {
    match c {
        '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        '\u{2018}' | '\u{2019}' | '\u{2bc}' | '\u{2c8}' => '\'',
        '\u{58a}'
        | '\u{5be}'
        | '\u{1400}'
        | '\u{1806}'
        | '\u{2010}'..='\u{2015}'
        | '\u{2212}'
        | '\u{2e17}'
        | '\u{2e1a}'
        | '\u{2e3a}'
        | '\u{2e3b}'
        | '\u{2e40}'
        | '\u{301c}'
        | '\u{3030}'
        | '\u{30a0}' => '-',
        '\u{2044}' | '\u{2215}' => '/',
        '\u{2236}' => ':',
        '\u{2039}' | '\u{2329}' | '\u{3008}' => '<',
        '\u{203a}' | '\u{232a}' | '\u{3009}' => '>',
        '\u{2216}' => '\\',
        '\u{2c4}' | '\u{2c6}' | '\u{2038}' | '\u{2303}' => '^',
        '\u{203f}' | '\u{2040}' | '\u{2054}' | '\u{2cd}' => '_',
        '\u{2cb}' => '`',
        '\u{2223}' => '|',
        '\u{223c}' => '~',
        c => c,
    }
}

/// Returns a path with each control character as its octal value: `a\012b`.
pub fn escape_control(path: &str) -> Cow<'_, str> {
    if !path.bytes().any(|byte| byte.is_ascii_control()) {
        return Cow::Borrowed(path);
    }
    let mut escaped = String::with_capacity(path.len() + 8);
    for c in path.chars() {
        if c.is_ascii_control() {
            escaped.push_str(&format!("\\{:03o}", u32::from(c)));
        } else {
            escaped.push(c);
        }
    }
    Cow::Owned(escaped)
}

/// Checks that a path has no control character, which Subversion does not allow in a repository.
///
/// # Errors
/// [`ErrorCode::FS_PATH_SYNTAX`] for the first one.
pub fn check_path(path: &str) -> Result<()> {
    match path.bytes().find(u8::is_ascii_control) {
        None => Ok(()),
        Some(byte) => Err(Error::new(
            ErrorCode::FS_PATH_SYNTAX,
            format!(
                "Invalid control character '0x{byte:02x}' in path '{}'",
                escape_control(path)
            ),
        )),
    }
}

/// Takes bytes as UTF-8.
///
/// # Errors
/// `EINVAL` with the bytes around the first that is no UTF-8, as Subversion shows them.
pub fn check_utf8(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|error| {
        const EINVAL: i32 = 22;
        let (valid, invalid) = bytes.split_at(error.valid_up_to());
        let hex =
            |bytes: &[u8]| -> String { bytes.iter().map(|byte| format!(" {byte:02x}")).collect() };
        Error::new(
            ErrorCode::from_errno(EINVAL),
            format!(
                "Valid UTF-8 data\n(hex:{})\nfollowed by invalid UTF-8 sequence\n(hex:{})",
                hex(&valid[valid.len().saturating_sub(24)..]),
                hex(&invalid[..invalid.len().min(4)]),
            ),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alike() {
        assert_eq!(similarity("", ""), 1_000_000);
        assert_eq!(similarity("abc", "abc"), 1_000_000);
        assert_eq!(similarity("abc", "xyz"), 0);
        assert_eq!(similarity("htpp-timeout", "http-timeout"), 916_667);
    }

    #[test]
    fn ascii_for_poor_terminals() {
        for (text, ascii) in [
            (&b"plain\n\ttext"[..], "plain\n\ttext"),
            (
                "Ä ﬁ ½ x\u{a0}y — … ł".as_bytes(),
                "A fi 1/2 x y - ... {U+0142}",
            ),
            ("’\u{1F600}".as_bytes(), "'{U+01F600}"),
            (b"a\xffb\xc3(", "a?\\FFb?\\C3("),
            (b"a\0b", "a\\0b"),
        ] {
            assert_eq!(to_ascii(text), ascii);
        }
    }

    #[test]
    fn odd_paths() {
        assert_eq!(escape_control("a\nb\u{7f}ä"), "a\\012b\\177ä");
        assert_eq!(
            check_path("a\tb").unwrap_err().to_string(),
            "E160005: Invalid control character '0x09' in path 'a\\011b'"
        );
        assert!(check_path("a b/ä").is_ok());
        assert_eq!(
            check_utf8(b"ab\xff\xfe").unwrap_err().to_string(),
            "E000022: Valid UTF-8 data\n(hex: 61 62)\nfollowed by invalid UTF-8 sequence\n(hex: ff fe)"
        );
    }
}
