//! Numbers as option arguments.

use sylvan_core::{Error, ErrorCode, Result};

/// Reads a decimal number of 32 bits: white space before it and a sign are allowed.
///
/// # Errors
/// `INCORRECT_PARAMS` for what is no number or out of range.
pub fn parse_i32(text: &str) -> Result<i32> {
    let digits = text.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b');
    let unsigned = digits.strip_prefix(['+', '-']).unwrap_or(digits);
    if unsigned.is_empty() || !unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Error::new(
            ErrorCode::INCORRECT_PARAMS,
            format!("Could not convert '{text}' into a number"),
        ));
    }
    digits.parse().map_err(|_| {
        Error::new(
            ErrorCode::INCORRECT_PARAMS,
            format!(
                "Number '{text}' is out of range '[{}, {}]'",
                i32::MIN,
                i32::MAX
            ),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_32_bits() {
        assert_eq!(parse_i32(" 12").unwrap(), 12);
        assert_eq!(parse_i32("-3").unwrap(), -3);
        assert_eq!(parse_i32("+3").unwrap(), 3);
        for (text, message) in [
            ("", "Could not convert '' into a number"),
            ("1x", "Could not convert '1x' into a number"),
            ("--1", "Could not convert '--1' into a number"),
            (
                "3000000000",
                "Number '3000000000' is out of range '[-2147483648, 2147483647]'",
            ),
        ] {
            assert_eq!(parse_i32(text).unwrap_err().message(), message);
        }
    }
}
