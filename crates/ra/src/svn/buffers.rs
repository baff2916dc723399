//! Buffers for what is received, used again once nobody holds a slice of them.
//!
//! Contents are handed on as slices of the buffer they came in. Memory that has been touched is
//! cheaper than new memory, of which each page is a fault.

use bytes::Bytes;

/// So many buffers are kept at most,
const MOST: usize = 8;
/// and none larger than this; long items have them.
const LARGEST: usize = 512 << 10;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    kept: Vec<Bytes>,
}

impl Buffers {
    /// Returns a buffer that begins with `rest`, the unread end of the last one.
    pub(super) fn next(&mut self, rest: Bytes) -> Vec<u8> {
        // An empty slice holds its buffer, too.
        let rest = if rest.is_empty() { Bytes::new() } else { rest };
        let start = rest.as_ptr();
        let own = self
            .kept
            .iter()
            .position(|kept| kept.as_ptr_range().contains(&start));
        if let Some(at) = own {
            drop(self.kept.swap_remove(at));
        }
        if rest.is_unique() {
            return Vec::from(rest);
        }
        if own.is_some() {
            self.kept.push(rest.clone());
        }
        let mut buffer = match self.kept.iter().position(Bytes::is_unique) {
            Some(at) => Vec::from(self.kept.swap_remove(at)),
            None => Vec::new(),
        };
        buffer.clear();
        buffer.extend_from_slice(&rest);
        buffer
    }

    /// Takes the buffer that was filled, and keeps it for another time.
    pub(super) fn filled(&mut self, buffer: Vec<u8>) -> Bytes {
        let keep = self.kept.len() < MOST && buffer.capacity() <= LARGEST;
        let filled = Bytes::from(buffer);
        if keep {
            self.kept.push(filled.clone());
        }
        filled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(buffers: &mut Buffers, rest: Bytes, len: usize) -> Bytes {
        let mut buffer = buffers.next(rest);
        buffer.reserve(1000);
        let more = len - buffer.len();
        buffer.extend(std::iter::repeat_n(7, more));
        buffers.filled(buffer)
    }

    #[test]
    fn what_nobody_holds_is_used_again() {
        let mut buffers = Buffers::default();
        let mut first = fill(&mut buffers, Bytes::new(), 900);
        let place = first.as_ptr();
        let slice = first.split_to(800);
        let second = fill(&mut buffers, first, 900);
        assert_ne!(second.as_ptr(), place);
        assert_eq!(slice, vec![7; 800]);
        drop(slice);
        let third = fill(&mut buffers, second.slice(900..), 900);
        assert_eq!(third.as_ptr(), place);
        drop(second);
        let fourth = buffers.next(third);
        assert_eq!(fourth.as_ptr(), place, "nobody else held the rest");
        assert_eq!(buffers.kept.len(), 1);
    }

    #[test]
    fn the_rest_comes_first() {
        let mut buffers = Buffers::default();
        let mut input = buffers.filled((0..100).collect());
        let held = input.split_to(90);
        let buffer = buffers.next(input);
        assert_eq!(buffer, (90..100).collect::<Vec<u8>>());
        assert_eq!(held, (0..90).collect::<Vec<u8>>());
    }

    #[test]
    fn few_and_no_large_ones_are_kept() {
        let mut buffers = Buffers::default();
        let large = buffers.filled(vec![0; LARGEST + 1]);
        assert!(buffers.kept.is_empty() && large.is_unique());
        let held: Vec<_> = (0..2 * MOST)
            .map(|_| fill(&mut buffers, Bytes::new(), 10))
            .collect();
        assert_eq!(buffers.kept.len(), MOST);
        assert_eq!(held.len(), 2 * MOST);
    }
}
