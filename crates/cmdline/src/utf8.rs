//! Text from the command line and from files named there.
//!
//! Bytes are UTF-8 whatever the locale says.

use std::ffi::OsStr;
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;

use sylvan_core::{Error, ErrorCode, Result};

/// `EINVAL`, which Subversion gives for what is not UTF-8.
const EINVAL: i32 = 22;
/// How much of the valid part before the fault an error shows, and how much of the rest.
const SHOWN: (usize, usize) = (24, 4);

/// Takes bytes as text.
///
/// # Errors
/// `E000022` with the bytes around the first fault, if they are not UTF-8.
pub fn text(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|error| {
        let (valid, rest) = bytes.split_at(error.valid_up_to());
        let valid = &valid[valid.len().saturating_sub(SHOWN.0)..];
        let rest = &rest[..rest.len().min(SHOWN.1)];
        Error::new(
            ErrorCode::from_errno(EINVAL),
            format!(
                "Valid UTF-8 data\n(hex:{})\nfollowed by invalid UTF-8 sequence\n(hex:{})",
                hex(valid),
                hex(rest)
            ),
        )
    })
}

/// Takes a word of the command line as text.
///
/// # Errors
/// As [`text`].
pub fn os_text(word: &OsStr) -> Result<&str> {
    text(word.as_bytes())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, " {byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_shown_with_what_is_before() {
        assert_eq!(text("aü".as_bytes()).unwrap(), "aü");
        assert_eq!(
            text(b"a\xff\xfe").unwrap_err().message(),
            "Valid UTF-8 data\n(hex: 61)\nfollowed by invalid UTF-8 sequence\n(hex: ff fe)"
        );
        let long = [&[b'x'; 30][..], b"\xff12345"].concat();
        let message = text(&long).unwrap_err().message();
        assert_eq!(message.matches("78").count(), 24);
        assert!(message.ends_with("(hex: ff 31 32 33)"));
    }
}
