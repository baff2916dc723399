//! The text format of properties in files: revision properties, locks, stored credentials.
//!
//! For each property `K`, blank, the length of its name, newline, its name, newline, `V`, blank, the
//! length of its value, newline, its value, newline; at the end a line `END`.
//!
//! ```
//! use sylvan_core::hash_dump;
//!
//! let props = hash_dump::read(b"K 5\ncolor\nV 3\nred\nEND\n")?;
//! assert_eq!(props["color"], b"red");
//! assert_eq!(hash_dump::write(&props), b"K 5\ncolor\nV 3\nred\nEND\n");
//! # Ok::<(), sylvan_core::Error>(())
//! ```

use std::io::Write as _;

use crate::{Error, ErrorCode, Props, Result};

/// Writes properties in order of name.
pub fn write(props: &Props) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, value) in props {
        out.reserve(name.len() + value.len() + 32);
        // Writing to bytes in memory cannot fail.
        let _ = write!(out, "K {}\n{name}\nV {}\n", name.len(), value.len());
        out.extend_from_slice(value);
        out.push(b'\n');
    }
    out.extend_from_slice(b"END\n");
    out
}

/// Reads properties up to `END`.
///
/// # Errors
/// [`ErrorCode::MALFORMED_FILE`] for anything else.
pub fn read(data: &[u8]) -> Result<Props> {
    read_next(&mut { data })
}

/// Reads properties up to `END`, and leaves what follows.
///
/// # Errors
/// As [`read`].
pub fn read_next(rest: &mut &[u8]) -> Result<Props> {
    let mut props = Props::new();
    loop {
        if *rest == b"END" {
            // Subversion takes it without a newline too.
            *rest = &[];
            return Ok(props);
        }
        let line = line(rest).ok_or_else(|| malformed(" missing terminator"))?;
        if line == b"END" {
            return Ok(props);
        }
        let name = counted(b"K ", line, rest, "key")?;
        let line = self::line(rest).ok_or_else(|| malformed(" malformed"))?;
        let value = counted(b"V ", line, rest, "value")?;
        let name =
            String::from_utf8(name.to_vec()).map_err(|_| malformed(" malformed key data"))?;
        props.insert(name, value.to_vec());
    }
}

fn line<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let line = &rest[..end];
    *rest = &rest[end + 1..];
    Some(line)
}

/// Reads the text whose length `line` tells, and the newline after it.
fn counted<'a>(letter: &[u8], line: &[u8], rest: &mut &'a [u8], what: &str) -> Result<&'a [u8]> {
    let digits = line
        .strip_prefix(letter)
        .filter(|digits| !digits.is_empty())
        .ok_or_else(|| malformed(" malformed"))?;
    let len: usize = std::str::from_utf8(digits)
        .ok()
        .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
        .and_then(|digits| digits.parse().ok())
        .ok_or_else(|| malformed(&format!(" malformed {what} length")))?;
    match rest.get(len) {
        Some(b'\n') => {
            let text = &rest[..len];
            *rest = &rest[len + 1..];
            Ok(text)
        }
        _ => Err(malformed(&format!(" malformed {what} data"))),
    }
}

fn malformed(what: &str) -> Error {
    Error::new(ErrorCode::MALFORMED_FILE, format!("Serialized hash{what}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn refuses_malformed_data() {
        for (text, message) in [
            ("", "Serialized hash missing terminator"),
            ("EN", "Serialized hash missing terminator"),
            ("K 1\na\nV 1\nb\n", "Serialized hash missing terminator"),
            ("X\n", "Serialized hash malformed"),
            ("K x\n", "Serialized hash malformed key length"),
            (
                "K 99999999999999999999\n",
                "Serialized hash malformed key length",
            ),
            ("K 5\nab\n", "Serialized hash malformed key data"),
            ("K 1\nabc\n", "Serialized hash malformed key data"),
            ("K 1\na\nK 1\nb\n", "Serialized hash malformed"),
            (
                "K 1\na\nV -1\nb\n",
                "Serialized hash malformed value length",
            ),
            (
                "K 1\na\nV 9\nb\nEND\n",
                "Serialized hash malformed value data",
            ),
        ] {
            let error = read(text.as_bytes()).unwrap_err();
            assert_eq!(error.to_string(), format!("E200002: {message}"), "{text}");
        }
    }

    #[test]
    fn last_newline_may_be_missing() {
        assert_eq!(read(b"K 1\na\nV 0\n\nEND").unwrap()["a"], b"");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            props in prop::collection::btree_map(".{0,9}", prop::collection::vec(any::<u8>(), 0..9), 0..9)
        ) {
            prop_assert_eq!(read(&write(&props)).unwrap(), props);
        }
    }
}
