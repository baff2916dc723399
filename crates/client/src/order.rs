//! The order in which Subversion goes through the entries of a folder that a server sent.
//!
//! It is that of hash tables, fixed by their hash function and their growth: the server's table is
//! filled by name, the client's in the order of the server's. `svn info --recursive URL` shows it.

/// Returns the positions of `names` (sorted) in that order.
pub(crate) fn hashed<'a>(names: impl Iterator<Item = &'a str>) -> Vec<usize> {
    let names: Vec<_> = names.map(|name| hash(name.as_bytes())).collect();
    let on_the_wire = table_order(&names, 0..names.len());
    table_order(&names, on_the_wire.into_iter())
}

/// The number of buckets that a table starts with.
const BUCKETS: usize = 16;

/// Fills a table with hashes, by position, and returns the positions bucket by bucket.
fn table_order(hashes: &[u32], filled: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut buckets: Vec<Vec<usize>> = vec![Vec::new(); BUCKETS];
    let mut count = 0;
    for at in filled {
        let size = buckets.len();
        buckets[hashes[at] as usize & (size - 1)].push(at);
        count += 1;
        if count >= size {
            buckets = grown(hashes, &buckets);
        }
    }
    buckets.concat()
}

/// Doubles a table; entries that meet again in a bucket change their order.
fn grown(hashes: &[u32], buckets: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let size = buckets.len() * 2;
    let mut wider = vec![Vec::new(); size];
    for at in buckets.iter().flatten() {
        wider[hashes[*at] as usize & (size - 1)].insert(0, *at);
    }
    wider
}

/// Hashes a name: words of four bytes, then single bytes, in powers of 33.
fn hash(name: &[u8]) -> u32 {
    let words = name.chunks_exact(4);
    let rest = words.remainder();
    let hash = words.fold(0_u32, |hash, word| {
        let word = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
        hash.wrapping_mul(33_u32.pow(4))
            .wrapping_add(word)
            .wrapping_add(word >> 17)
    });
    rest.iter().fold(hash, |hash, byte| {
        hash.wrapping_mul(33).wrapping_add(u32::from(*byte))
    })
}

#[cfg(test)]
mod tests {
    use super::hashed;

    /// What Subversion 1.14.2 prints for a folder with these entries, over svn://.
    const SEEN: &str = "phi mu epsilon sigma theta rho upsilon pi alpha beta gamma a xi omega b c \
                        iota nu d kappa e f g lambda h i tau j k l psi m n omicron chi zeta eta \
                        delta";

    #[test]
    fn is_the_order_of_subversions_tables() {
        let mut names: Vec<_> = SEEN.split(' ').collect();
        names.sort_unstable();
        let order = hashed(names.iter().copied());
        let ordered: Vec<_> = order.into_iter().map(|at| names[at]).collect();
        assert_eq!(ordered.join(" "), SEEN);
        assert!(hashed(std::iter::empty()).is_empty());
    }
}
