//! Base64 as svn servers write it: lines of any length.

use sylvan_core::{Error, ErrorCode, Result};

const SKIP: u8 = 0xfe;
const BAD: u8 = 0xff;
const PAD: u8 = 0xfd;

const TABLE: [u8; 256] = table();

const fn table() -> [u8; 256] {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut table = [BAD; 256];
    let mut at = 0;
    while at < 64 {
        table[alphabet[at] as usize] = at as u8;
        at += 1;
    }
    table[b' ' as usize] = SKIP;
    table[b'\t' as usize] = SKIP;
    table[b'\r' as usize] = SKIP;
    table[b'\n' as usize] = SKIP;
    table[b'=' as usize] = PAD;
    table
}

/// Decodes base64 that comes in pieces.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    bits: u32,
    digits: u8,
    padded: bool,
}

impl Decoder {
    /// Decodes a piece and appends the bytes to `out`.
    ///
    /// # Errors
    /// `RA_DAV_MALFORMED_DATA` for a character that is neither a digit nor white space.
    pub(super) fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) -> Result<()> {
        out.reserve(piece.len() / 4 * 3 + 3);
        let mut rest = piece;
        while !rest.is_empty() {
            if self.digits == 0 && !self.padded {
                rest = decode_groups(rest, out);
            }
            let Some((&byte, tail)) = rest.split_first() else {
                break;
            };
            rest = tail;
            self.digit(byte, out)?;
        }
        Ok(())
    }

    fn digit(&mut self, byte: u8, out: &mut Vec<u8>) -> Result<()> {
        match TABLE[usize::from(byte)] {
            SKIP => {}
            PAD if self.digits >= 2 || self.padded => self.pad(out),
            BAD | PAD => return Err(malformed()),
            _ if self.padded => return Err(malformed()),
            value => {
                self.bits = self.bits << 6 | u32::from(value);
                self.digits += 1;
                if self.digits == 4 {
                    out.extend_from_slice(&self.bits.to_be_bytes()[1..]);
                    (self.bits, self.digits) = (0, 0);
                }
            }
        }
        Ok(())
    }

    fn pad(&mut self, out: &mut Vec<u8>) {
        self.padded = true;
        match self.digits {
            2 => out.push((self.bits >> 4) as u8),
            3 => out.extend_from_slice(&((self.bits >> 2) as u16).to_be_bytes()),
            _ => {}
        }
        (self.bits, self.digits) = (0, 0);
    }

    /// Ends the text.
    ///
    /// # Errors
    /// `RA_DAV_MALFORMED_DATA` if it stops within a group.
    pub(super) fn finish(&self) -> Result<()> {
        if self.digits == 0 {
            Ok(())
        } else {
            Err(malformed())
        }
    }
}

/// Decodes groups of four digits from the start of `text` until something else comes.
fn decode_groups<'t>(text: &'t [u8], out: &mut Vec<u8>) -> &'t [u8] {
    let (groups, _) = text.as_chunks::<4>();
    let mut done = 0;
    for group in groups {
        let values = group.map(|byte| TABLE[usize::from(byte)]);
        if values.iter().any(|&value| value >= 64) {
            break;
        }
        let bits = values
            .iter()
            .fold(0, |bits, &value| bits << 6 | u32::from(value));
        out.extend_from_slice(&bits.to_be_bytes()[1..]);
        done += 4;
    }
    &text[done..]
}

/// Decodes a whole text.
///
/// # Errors
/// `RA_DAV_MALFORMED_DATA` if it is not base64.
pub fn decode(text: &str) -> Result<Vec<u8>> {
    let mut decoder = Decoder::default();
    let mut out = Vec::new();
    decoder.push(text.as_bytes(), &mut out)?;
    decoder.finish()?;
    Ok(out)
}

/// Encodes bytes as one line.
pub fn encode(bytes: &[u8]) -> String {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let at = |index: usize| u32::from(group.get(index).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for digit in 0..4 {
            if digit <= group.len() {
                let value = bits >> (18 - 6 * digit) & 63;
                text.push(char::from(alphabet[value as usize]));
            } else {
                text.push('=');
            }
        }
    }
    text
}

fn malformed() -> Error {
    Error::new(
        ErrorCode::RA_DAV_MALFORMED_DATA,
        "Malformed base64 data in the response",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_what_it_encodes_cut_anywhere() {
        let bytes: Vec<u8> = (0..=255).cycle().take(700).collect();
        for len in [0, 1, 2, 3, 4, 5, 57, 256, 700] {
            let text = encode(&bytes[..len]);
            assert_eq!(decode(&text).unwrap(), &bytes[..len]);
            let lines: String = text
                .as_bytes()
                .chunks(76)
                .map(|line| format!("{}\r\n", std::str::from_utf8(line).unwrap()))
                .collect();
            for piece in [1, 3, 7, 100] {
                let mut decoder = Decoder::default();
                let mut out = Vec::new();
                for part in lines.as_bytes().chunks(piece) {
                    decoder.push(part, &mut out).unwrap();
                }
                decoder.finish().unwrap();
                assert_eq!(out, &bytes[..len], "{len} in pieces of {piece}");
            }
        }
    }

    #[test]
    fn refuses_what_is_not_base64() {
        for text in [
            "A",
            "AB",
            "AB=C",
            "=",
            "A===",
            "A-B=",
            "é",
            "AAAA=AAAA",
            "AB=",
        ] {
            let result = decode(text);
            if text == "AB=" {
                assert!(result.is_ok(), "one of two pads is enough, as in svn");
            } else {
                assert!(result.is_err(), "{text}");
            }
        }
    }
}
