//! What is left of a line when differences in white space or line ends do not count.

use crate::options::{IgnoreSpace, Options};

/// Takes the pieces of a line one after the other.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Normalizer {
    after: After,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum After {
    #[default]
    Other,
    Space,
    Cr,
}

impl Normalizer {
    /// Appends what counts of a piece.
    pub(crate) fn push(&mut self, piece: &[u8], options: &Options, out: &mut Vec<u8>) {
        if !options.normalizes() {
            out.extend_from_slice(piece);
            return;
        }
        for &byte in piece {
            self.push_byte(byte, options, out);
        }
    }

    fn push_byte(&mut self, byte: u8, options: &Options, out: &mut Vec<u8>) {
        let before = std::mem::take(&mut self.after);
        match byte {
            b'\r' => {
                out.push(if options.ignore_eol_style {
                    b'\n'
                } else {
                    byte
                });
                self.after = After::Cr;
            }
            b'\n' => {
                if !(before == After::Cr && options.ignore_eol_style) {
                    out.push(byte);
                }
            }
            b' ' | b'\t' | 0x0b | 0x0c if options.ignore_space != IgnoreSpace::None => {
                if before != After::Space && options.ignore_space == IgnoreSpace::Change {
                    out.push(b' ');
                }
                self.after = After::Space;
            }
            _ => out.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_count_is_left_out() {
        let change = IgnoreSpace::Change;
        for (space, eol, line, expected) in [
            (IgnoreSpace::None, false, " a \t b\r\n", " a \t b\r\n"),
            (change, false, " a \t\x0b b \r\n", " a b \r\n"),
            (change, false, "a\n", "a\n"),
            (IgnoreSpace::All, false, " a \t b \x0c\r\n", "ab\r\n"),
            (IgnoreSpace::None, true, "a\r\n", "a\n"),
            (IgnoreSpace::None, true, "a\r", "a\n"),
            (IgnoreSpace::All, true, " a \r", "a\n"),
        ] {
            let options = Options {
                ignore_space: space,
                ignore_eol_style: eol,
                ..Options::default()
            };
            for at in 0..=line.len() {
                let (mut out, mut normalizer) = (Vec::new(), Normalizer::default());
                normalizer.push(&line.as_bytes()[..at], &options, &mut out);
                normalizer.push(&line.as_bytes()[at..], &options, &mut out);
                assert_eq!(out, expected.as_bytes(), "{line:?} cut at {at}");
            }
        }
    }
}
