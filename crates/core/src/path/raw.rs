//! Paths in repositories that are not UTF-8.
//!
//! Programs before Subversion 1.6 let such names in, so repositories have them, and a dump has to
//! bring them out as they are. In memory paths are text; a byte that is not UTF-8 is written there
//! as a NUL and the character with the byte's number, and as no name has a NUL of its own, both
//! directions are exact. What stores paths or reads stored ones goes through here, and so does what
//! shows them; no program makes new ones.

use std::borrow::Cow;

/// Takes the stored bytes of a path; `None` if they have a NUL.
///
/// ```
/// use sylvan_core::path::raw;
///
/// let path = raw::from_bytes(b"caf\xe9/menu").unwrap();
/// assert_eq!(raw::shown(&path), "caf?\\E9/menu");
/// assert_eq!(*raw::to_bytes(&path), *b"caf\xe9/menu");
/// ```
pub fn from_bytes(bytes: &[u8]) -> Option<Cow<'_, str>> {
    if bytes.contains(&0) {
        return None;
    }
    if let Ok(path) = std::str::from_utf8(bytes) {
        return Some(Cow::Borrowed(path));
    }
    let mut path = String::with_capacity(bytes.len() + 8);
    for chunk in bytes.utf8_chunks() {
        path.push_str(chunk.valid());
        for byte in chunk.invalid() {
            path.extend(['\0', char::from(*byte)]);
        }
    }
    Some(Cow::Owned(path))
}

/// Returns a path as it is stored.
pub fn to_bytes(path: &str) -> Cow<'_, [u8]> {
    if is_utf8(path) {
        return Cow::Borrowed(path.as_bytes());
    }
    let mut bytes = Vec::with_capacity(path.len());
    for piece in pieces(path) {
        match piece {
            Piece::Text(text) => bytes.extend_from_slice(text.as_bytes()),
            Piece::Byte(byte) => bytes.push(byte),
        }
    }
    Cow::Owned(bytes)
}

/// Replaces bytes that are not UTF-8 by their number, as in `?\E6`, for people.
pub fn shown(text: &str) -> Cow<'_, str> {
    if is_utf8(text) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for piece in pieces(text) {
        match piece {
            Piece::Text(text) => shown.push_str(text),
            Piece::Byte(byte) => shown.push_str(&format!("?\\{byte:02X}")),
        }
    }
    Cow::Owned(shown)
}

/// Tells whether a path is UTF-8 as it is stored.
pub fn is_utf8(path: &str) -> bool {
    !path.as_bytes().contains(&0)
}

/// Tells whether each NUL of a path stands for a byte.
pub(crate) fn is_path(path: &str) -> bool {
    is_utf8(path) || pieces(path).all(|piece| !matches!(piece, Piece::Text(text) if !is_utf8(text)))
}

enum Piece<'a> {
    Text(&'a str),
    Byte(u8),
}

/// Cuts text before and after what stands for a byte. A NUL that does not is text.
fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if let Some((byte, later)) = byte_at_front(rest) {
            rest = later;
            return Some(Piece::Byte(byte));
        }
        let mut nuls = rest.match_indices('\0').map(|(at, _)| at);
        let end = nuls.find(|at| byte_at_front(&rest[*at..]).is_some());
        let (text, later) = rest.split_at(end.unwrap_or(rest.len()));
        rest = later;
        (!text.is_empty()).then_some(Piece::Text(text))
    })
}

fn byte_at_front(text: &str) -> Option<(u8, &str)> {
    let mut chars = text.strip_prefix('\0')?.chars();
    let byte = u8::try_from(u32::from(chars.next()?)).ok()?;
    (!byte.is_ascii()).then_some((byte, chars.as_str()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_is_itself() {
        for text in ["", "a/ü/日", "\u{10ffff}"] {
            assert!(
                matches!(from_bytes(text.as_bytes()), Some(Cow::Borrowed(path)) if path == text)
            );
            assert!(is_path(text) && is_utf8(text));
            assert_eq!(shown(text), text);
        }
    }

    #[test]
    fn bytes_are_shown_by_number() {
        for (bytes, expected) in [
            (&b"a\xe6/f"[..], "a?\\E6/f"),
            (b"\xff\xfe", "?\\FF?\\FE"),
            (b"\xc3\xa6\xc3", "æ?\\C3"),
        ] {
            let path = from_bytes(bytes).unwrap();
            assert!(is_path(&path) && !is_utf8(&path));
            assert_eq!(shown(&path), expected);
        }
        assert_eq!(from_bytes(b"a\0b"), None);
        for no_path in ["\0", "a\0b", "\0\u{100}", "\0\0æ"] {
            assert!(!is_path(no_path), "{no_path:?}");
        }
        assert_eq!(shown("\0a\0æ\0"), "\0a?\\E6\0");
    }

    proptest! {
        #[test]
        fn bytes_come_back(bytes in prop::collection::vec(1u8.., 0..20)) {
            let path = from_bytes(&bytes).unwrap();
            prop_assert!(is_path(&path));
            prop_assert_eq!(&*to_bytes(&path), &bytes[..]);
        }
    }
}
