//! The order in which Subversion goes through a table of names.
//!
//! Where it does so without sorting them, its output has the order of the Apache Portable Runtime's
//! hash table: buckets one after the other, each a list. A full table gets twice the buckets, and
//! what was last in the old order comes first in its new bucket.

const FIRST_BUCKETS: usize = 16;

/// Returns the places of names, in the order of a table into which they were put one by one.
pub(crate) fn order<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> Vec<usize> {
    let mut table = Table {
        buckets: vec![Vec::new(); FIRST_BUCKETS],
        count: 0,
    };
    for (place, name) in names.enumerate() {
        table.put(place, hash(name.as_bytes()));
    }
    table.places().collect()
}

struct Table {
    /// Place and hash of each name.
    buckets: Vec<Vec<(usize, u32)>>,
    count: usize,
}

impl Table {
    fn put(&mut self, place: usize, hash: u32) {
        let bucket = hash as usize & (self.buckets.len() - 1);
        self.buckets[bucket].push((place, hash));
        self.count += 1;
        if self.count >= self.buckets.len() {
            self.grow();
        }
    }

    fn grow(&mut self) {
        let mut wider = vec![Vec::new(); self.buckets.len() * 2];
        // From the end, so that what would be put in front can be put behind.
        for (place, hash) in self
            .buckets
            .iter()
            .rev()
            .flat_map(|bucket| bucket.iter().rev())
        {
            wider[*hash as usize & (self.buckets.len() * 2 - 1)].push((*place, *hash));
        }
        self.buckets = wider;
    }

    fn places(&self) -> impl Iterator<Item = usize> {
        self.buckets.iter().flatten().map(|(place, _)| *place)
    }
}

/// Subversion's hash of a name, as it is on machines that read four bytes at once from anywhere.
fn hash(name: &[u8]) -> u32 {
    let mut hash = 0u32;
    let mut chunks = name.chunks_exact(4);
    for chunk in &mut chunks {
        let chunk = chunk
            .iter()
            .rev()
            .fold(0, |word, byte| word << 8 | u32::from(*byte));
        hash = hash
            .wrapping_mul(33u32.pow(4))
            .wrapping_add(chunk)
            .wrapping_add(chunk >> 17);
    }
    for byte in chunks.remainder() {
        hash = hash.wrapping_mul(33).wrapping_add(u32::from(*byte));
    }
    hash
}
