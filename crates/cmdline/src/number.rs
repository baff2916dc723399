//! Numbers as option arguments.

use std::fmt::Display;

use sylvan_core::{Error, ErrorCode, Result};

/// Reads a decimal number of 32 bits: white space before it and a sign are allowed.
///
/// # Errors
/// `INCORRECT_PARAMS` for what is no number or out of range.
pub fn parse_i32(text: &str) -> Result<i32> {
    let digits = number_in(text)?;
    digits
        .parse()
        .map_err(|_| out_of_range(text, i32::MIN, i32::MAX))
}

/// As [`parse_i32`], for a number of 64 bits that is not negative.
///
/// # Errors
/// As [`parse_i32`].
pub fn parse_u64(text: &str) -> Result<u64> {
    let digits = number_in(text)?;
    let number: Option<i64> = digits.parse().ok();
    number
        .and_then(|number| u64::try_from(number).ok())
        .ok_or_else(|| out_of_range(text, u64::MIN, u64::MAX))
}

/// Returns what stands behind white space, if that is a number.
fn number_in(text: &str) -> Result<&str> {
    let digits = text.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b');
    let unsigned = digits.strip_prefix(['+', '-']).unwrap_or(digits);
    if unsigned.is_empty() || !unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Error::new(
            ErrorCode::INCORRECT_PARAMS,
            format!("Could not convert '{text}' into a number"),
        ));
    }
    Ok(digits)
}

fn out_of_range(text: &str, min: impl Display, max: impl Display) -> Error {
    Error::new(
        ErrorCode::INCORRECT_PARAMS,
        format!("Number '{text}' is out of range '[{min}, {max}]'"),
    )
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

    #[test]
    fn sizes_have_63_bits() {
        assert_eq!(parse_u64("64").unwrap(), 64);
        for (text, message) in [
            ("x", "Could not convert 'x' into a number"),
            (
                "-1",
                "Number '-1' is out of range '[0, 18446744073709551615]'",
            ),
            (
                "9223372036854775808",
                "Number '9223372036854775808' is out of range '[0, 18446744073709551615]'",
            ),
        ] {
            assert_eq!(parse_u64(text).unwrap_err().message(), message);
        }
    }
}
