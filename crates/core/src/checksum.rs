use std::fmt;

use md5::Digest as _;

use crate::{Error, ErrorCode, Result};

/// An MD5 digest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Md5(pub [u8; 16]);

/// A SHA-1 digest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sha1(pub [u8; 20]);

/// The kind of a [`Checksum`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ChecksumKind {
    /// MD5, the checksum of the wire protocols.
    Md5,
    /// SHA-1, the key of the pristine store.
    Sha1,
}

/// A digest of one of the kinds that Subversion uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Checksum {
    /// MD5, the checksum of the wire protocols.
    Md5(Md5),
    /// SHA-1, the key of the pristine store.
    Sha1(Sha1),
}

impl Md5 {
    /// The digest of no bytes.
    pub const EMPTY: Self = Self([
        0xd4, 0x1d, 0x8c, 0xd9, 0x8f, 0x00, 0xb2, 0x04, 0xe9, 0x80, 0x09, 0x98, 0xec, 0xf8, 0x42,
        0x7e,
    ]);

    /// Tells whether contents with the digest `actual` are what this one, which came with them,
    /// announces. All zeros announce nothing: some servers send that where they do not know.
    pub fn allows(self, actual: Self) -> bool {
        self == actual || self.0 == [0; 16]
    }

    /// Digests `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(md5::Md5::digest(bytes).into())
    }

    /// Parses 32 hexadecimal digits.
    ///
    /// # Errors
    /// [`ErrorCode::BAD_CHECKSUM_PARSE`] for anything else.
    pub fn parse_hex(hex: &str) -> Result<Self> {
        decode_hex(hex)
            .map(Self)
            .ok_or_else(|| bad_digest("MD5", hex))
    }
}

impl Sha1 {
    /// The digest of no bytes.
    pub const EMPTY: Self = Self([
        0xda, 0x39, 0xa3, 0xee, 0x5e, 0x6b, 0x4b, 0x0d, 0x32, 0x55, 0xbf, 0xef, 0x95, 0x60, 0x18,
        0x90, 0xaf, 0xd8, 0x07, 0x09,
    ]);

    /// Digests `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(sha1::Sha1::digest(bytes).into())
    }

    /// Parses 40 hexadecimal digits.
    ///
    /// # Errors
    /// [`ErrorCode::BAD_CHECKSUM_PARSE`] for anything else.
    pub fn parse_hex(hex: &str) -> Result<Self> {
        decode_hex(hex)
            .map(Self)
            .ok_or_else(|| bad_digest("SHA-1", hex))
    }
}

impl Checksum {
    /// Returns the kind of the digest.
    pub const fn kind(self) -> ChecksumKind {
        match self {
            Self::Md5(_) => ChecksumKind::Md5,
            Self::Sha1(_) => ChecksumKind::Sha1,
        }
    }

    /// Formats as wc.db stores it: `$sha1$da39…` or `$md5 $d41d…`.
    pub fn to_db(self) -> String {
        match self {
            Self::Md5(md5) => format!("$md5 ${md5}"),
            Self::Sha1(sha1) => format!("$sha1${sha1}"),
        }
    }

    /// Parses the form of [`Checksum::to_db`].
    ///
    /// # Errors
    /// [`ErrorCode::BAD_CHECKSUM_PARSE`] for anything else.
    pub fn parse_db(text: &str) -> Result<Self> {
        if let Some(hex) = text.strip_prefix("$sha1$") {
            Sha1::parse_hex(hex).map(Self::Sha1)
        } else if let Some(hex) = text.strip_prefix("$md5 $") {
            Md5::parse_hex(hex).map(Self::Md5)
        } else {
            Err(bad_digest("any", text))
        }
    }
}

impl From<Md5> for Checksum {
    fn from(md5: Md5) -> Self {
        Self::Md5(md5)
    }
}

impl From<Sha1> for Checksum {
    fn from(sha1: Sha1) -> Self {
        Self::Sha1(sha1)
    }
}

fn bad_digest(kind: &str, text: &str) -> Error {
    let shown: String = text.chars().take(60).collect();
    Error::new(
        ErrorCode::BAD_CHECKSUM_PARSE,
        format!("Can't parse '{shown}' as {kind} checksum"),
    )
}

fn decode_hex<const N: usize>(hex: &str) -> Option<[u8; N]> {
    let hex = hex.as_bytes();
    if hex.len() != 2 * N {
        return None;
    }
    let mut digest = [0; N];
    for (byte, pair) in digest.iter_mut().zip(hex.chunks_exact(2)) {
        *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
    }
    Some(digest)
}

fn nibble(digit: u8) -> Option<u8> {
    char::from(digit)
        .to_digit(16)
        .and_then(|value| u8::try_from(value).ok())
}

macro_rules! show_hex {
    ($($digest:ident)*) => {$(
        impl fmt::Display for $digest {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                const DIGITS: &[u8; 16] = b"0123456789abcdef";
                let mut hex = [0; 40];
                for (pair, byte) in hex.chunks_exact_mut(2).zip(self.0) {
                    pair[0] = DIGITS[usize::from(byte >> 4)];
                    pair[1] = DIGITS[usize::from(byte & 15)];
                }
                let hex = std::str::from_utf8(&hex[..2 * self.0.len()]);
                f.write_str(hex.unwrap_or_default())
            }
        }

        impl fmt::Debug for $digest {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    )*};
}

show_hex!(Md5 Sha1);

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Md5(md5) => md5.fmt(f),
            Self::Sha1(sha1) => sha1.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_digests_are_those_of_no_bytes() {
        assert_eq!(Md5::of(b""), Md5::EMPTY);
        assert_eq!(Sha1::of(b""), Sha1::EMPTY);
    }

    #[test]
    fn zeros_announce_nothing() {
        let (some, other) = (Md5::of(b"a"), Md5::of(b"b"));
        assert!(some.allows(some) && Md5([0; 16]).allows(some));
        assert!(!some.allows(other) && !some.allows(Md5([0; 16])));
    }

    #[test]
    fn database_form_round_trips() {
        for checksum in [Checksum::from(Md5::EMPTY), Checksum::from(Sha1::EMPTY)] {
            assert_eq!(Checksum::parse_db(&checksum.to_db()).unwrap(), checksum);
        }
        let error = Checksum::parse_db("$sha1$zz").unwrap_err();
        assert_eq!(error.code(), ErrorCode::BAD_CHECKSUM_PARSE);
    }
}
