/// The checksum of items: four interleaved 32 bit FNV-1a sums and up to three bytes that are left,
/// summed again.
#[derive(Clone, Debug)]
pub struct Fnv1a32x4 {
    lanes: [u32; 4],
    rest: [u8; 3],
    rest_len: usize,
}

const BASE: u32 = 0x811c_9dc5;
const PRIME: u32 = 0x0100_0193;

impl Default for Fnv1a32x4 {
    fn default() -> Self {
        Self {
            lanes: [BASE; 4],
            rest: [0; 3],
            rest_len: 0,
        }
    }
}

impl Fnv1a32x4 {
    /// Returns the checksum of `bytes`.
    pub fn of(bytes: &[u8]) -> u32 {
        let mut sum = Self::default();
        sum.update(bytes);
        sum.finish()
    }

    /// Adds bytes.
    pub fn update(&mut self, mut bytes: &[u8]) {
        if self.rest_len > 0 {
            while self.rest_len < 3 {
                let Some((byte, later)) = bytes.split_first() else {
                    return;
                };
                self.rest[self.rest_len] = *byte;
                self.rest_len += 1;
                bytes = later;
            }
            let Some((byte, later)) = bytes.split_first() else {
                return;
            };
            let [a, b, c] = self.rest;
            self.add([a, b, c, *byte]);
            self.rest_len = 0;
            bytes = later;
        }
        let (quads, rest) = bytes.as_chunks::<4>();
        for quad in quads {
            self.add(*quad);
        }
        self.rest[..rest.len()].copy_from_slice(rest);
        self.rest_len = rest.len();
    }

    fn add(&mut self, quad: [u8; 4]) {
        for (lane, byte) in self.lanes.iter_mut().zip(quad) {
            *lane = (*lane ^ u32::from(byte)).wrapping_mul(PRIME);
        }
    }

    /// Returns the checksum of what was added.
    pub fn finish(&self) -> u32 {
        let lanes = self.lanes.iter().flat_map(|lane| lane.to_be_bytes());
        let rest = self.rest[..self.rest_len].iter().copied();
        lanes.chain(rest).fold(BASE, |sum, byte| {
            (sum ^ u32::from(byte)).wrapping_mul(PRIME)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn cuts_do_not_matter(bytes in prop::collection::vec(any::<u8>(), 0..40), cut in 1usize..9) {
            let mut sum = Fnv1a32x4::default();
            bytes.chunks(cut).for_each(|chunk| sum.update(chunk));
            prop_assert_eq!(sum.finish(), Fnv1a32x4::of(&bytes));
        }
    }
}
