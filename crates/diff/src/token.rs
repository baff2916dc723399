//! Lines as numbers: equal lines have one number.

use std::hash::{BuildHasher, Hasher, RandomState};

use sylvan_core::Result;

use crate::affix::too_many_lines;
use crate::normalize::Normalizer;
use crate::options::Options;
use crate::source::{Lines, Source};
use crate::{Poll, source};

/// The number of a line.
pub(crate) type Token = u32;

/// Gives numbers to lines.
///
/// Lines are told apart by 128 bits of a keyed hash, so that they need not be kept; nobody who does
/// not know the keys, which change with each run, can make two lines that count as equal.
pub(crate) struct Interner {
    keys: [RandomState; 2],
    /// The hash of each number's line.
    known: Vec<u128>,
    /// Numbers by their hash: each at the first place that was free from where its hash points to.
    /// A third of the memory of a map that holds the hashes too.
    slots: Vec<Token>,
    line: Vec<u8>,
}

/// A place that is free; no number, since that many lines are refused.
const FREE: Token = Token::MAX;

impl Interner {
    pub(crate) fn new() -> Self {
        Self {
            keys: [RandomState::new(), RandomState::new()],
            known: Vec::new(),
            slots: vec![FREE; 64],
            line: Vec::new(),
        }
    }

    /// Returns how many numbers there are.
    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }

    /// Reads the lines of a part of a text, which begins and ends between lines.
    pub(crate) fn read(
        &mut self,
        source: &dyn Source,
        (start, end): (u64, u64),
        options: &Options,
        poll: &mut Poll<'_>,
    ) -> Result<Vec<Token>> {
        let mut lines = Lines::new(source, start, end);
        let mut tokens = Vec::new();
        let mut hash = self.hash();
        let mut normalizer = Normalizer::default();
        while let Some(piece) = lines.next()? {
            normalizer.push(piece.bytes, options, &mut self.line);
            let is_last = piece.is_last;
            // Cut at the same places in every line, however it was read.
            while self.line.len() >= source::BLOCK {
                hash.push(&self.line[..source::BLOCK]);
                self.line.drain(..source::BLOCK);
            }
            if !is_last {
                continue;
            }
            hash.push(&self.line);
            self.line.clear();
            let key = std::mem::replace(&mut hash, self.hash()).finish();
            tokens.push(self.token(key)?);
            normalizer = Normalizer::default();
            if tokens.len() % 4096 == 0 {
                poll()?;
            }
        }
        Ok(tokens)
    }

    fn hash(&self) -> LineHash {
        LineHash([self.keys[0].build_hasher(), self.keys[1].build_hasher()])
    }

    fn token(&mut self, key: u128) -> Result<Token> {
        if self.known.len() >= self.slots.len() / 4 * 3 {
            self.grow();
        }
        let place = self.place(key);
        if self.slots[place] == FREE {
            let next = Token::try_from(self.known.len()).ok();
            let next = next.filter(|next| *next != FREE);
            self.slots[place] = next.ok_or_else(too_many_lines)?;
            self.known.push(key);
        }
        Ok(self.slots[place])
    }

    /// Returns the place of a hash, or where it would be.
    fn place(&self, key: u128) -> usize {
        // There is a power of two of places, and a quarter of them is free.
        let mask = self.slots.len() - 1;
        let mut place = start(key, mask);
        while self.slots[place] != FREE && self.known[self.slots[place] as usize] != key {
            place = (place + 1) & mask;
        }
        place
    }

    fn grow(&mut self) {
        let len = self.slots.len() * 2;
        self.slots.clear();
        self.slots.resize(len, FREE);
        let mask = len - 1;
        for (token, key) in (0..).zip(&self.known) {
            let mut place = start(*key, mask);
            while self.slots[place] != FREE {
                place = (place + 1) & mask;
            }
            self.slots[place] = token;
        }
    }
}

/// Returns where the search for a hash begins.
fn start(key: u128, mask: usize) -> usize {
    // There are no more places than lines.
    usize::try_from(key & u128::from(u32::MAX)).unwrap_or(0) & mask
}

struct LineHash([<RandomState as BuildHasher>::Hasher; 2]);

impl LineHash {
    fn push(&mut self, bytes: &[u8]) {
        for hasher in &mut self.0 {
            hasher.write(bytes);
        }
    }

    fn finish(&self) -> u128 {
        u128::from(self.0[0].finish()) << 64 | u128::from(self.0[1].finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_lines_have_one_number() {
        let long = vec![b'x'; 3 * source::BLOCK];
        let mut text = b"a\nb\na\n\n\na\r\n".to_vec();
        for _ in 0..2 {
            text.extend_from_slice(&long);
            text.push(b'\n');
        }
        text.extend_from_slice(&long[1..]);
        let source: &dyn Source = &&text[..];
        let mut interner = Interner::new();
        let all = (0, source.len());
        let tokens = interner
            .read(source, all, &Options::default(), &mut || Ok(()))
            .unwrap();
        assert_eq!(tokens, [0, 1, 0, 2, 2, 3, 4, 4, 5]);
        assert_eq!(interner.len(), 6);
    }

    #[test]
    fn what_does_not_count_is_not_hashed() {
        let options = Options {
            ignore_eol_style: true,
            ..Options::default()
        };
        let text: &[u8] = b"a\na\r\na\ra";
        let source: &dyn Source = &text;
        let tokens = Interner::new()
            .read(source, (0, 8), &options, &mut || Ok(()))
            .unwrap();
        assert_eq!(tokens, [0, 0, 0, 1]);
    }

    #[test]
    fn many_lines_keep_their_numbers() {
        let text: String = (0..5000).map(|line| format!("{line}\n")).collect();
        let text = text.repeat(2).into_bytes();
        let source: &dyn Source = &&text[..];
        let mut interner = Interner::new();
        let options = Options::default();
        let tokens = interner
            .read(source, (0, source.len()), &options, &mut || Ok(()))
            .unwrap();
        let expected: Vec<Token> = (0..5000).chain(0..5000).collect();
        assert_eq!(tokens, expected);
    }
}
