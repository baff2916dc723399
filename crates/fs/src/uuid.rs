//! Random UUIDs.

use std::fs::File;
use std::io::Read as _;

use sylvan_core::{Error, ErrorCode, Result};

/// Makes a random UUID (version 4), in its text form.
///
/// # Errors
/// If the system gives no random bytes.
pub fn random() -> Result<String> {
    const SOURCE: &str = "/dev/urandom";
    let mut bytes = [0u8; 16];
    File::open(SOURCE)
        .and_then(|mut file| file.read_exact(&mut bytes))
        .map_err(|error| Error::io(&error, format!("Can't read file '{SOURCE}'")))?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let mut text = String::with_capacity(36);
    for (at, byte) in bytes.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    Ok(text)
}

/// Requires that text is a UUID: 36 hex digits and dashes.
///
/// # Errors
/// [`ErrorCode::BAD_UUID`].
pub fn check(text: &str) -> Result<()> {
    let is_right = |(at, byte): (usize, u8)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    if text.len() == 36 && text.bytes().enumerate().all(is_right) {
        return Ok(());
    }
    Err(Error::new(
        ErrorCode::BAD_UUID,
        format!("Malformed UUID '{text}'"),
    ))
}

#[cfg(test)]
mod tests {
    #[test]
    fn uuids_have_their_form_and_differ() {
        let (a, b) = (super::random().unwrap(), super::random().unwrap());
        assert_ne!(a, b);
        assert_eq!((a.len(), &a[14..15]), (36, "4"));
        assert_eq!(a.matches('-').count(), 4);
    }

    #[test]
    fn what_is_no_uuid_is_refused() {
        assert!(super::check("002616bc-58a5-435C-8fdc-641477f5d51b").is_ok());
        for text in [
            "",
            "x",
            "002616bc-58a5-435c-8fdc641477f5d51b1",
            "002616bc-58a5-435c-8fdc-641477f5d51g",
        ] {
            let error = super::check(text).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("E125008: Malformed UUID '{text}'")
            );
        }
    }
}
