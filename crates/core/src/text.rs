//! Texts for people.

/// Returns how alike two texts are, from 0 to 1,000,000: twice the length of their longest common
/// subsequence by the sum of their lengths.
///
/// Subversion offers a known word for an unknown one at 666,667 or more.
pub fn similarity(a: &str, b: &str) -> usize {
    const RANGE: usize = 1_000_000;
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let total = a.len() + b.len();
    if total == 0 {
        return RANGE;
    }
    let mut previous = vec![0_usize; b.len() + 1];
    let mut current = previous.clone();
    for byte in a {
        for (i, other) in b.iter().enumerate() {
            current[i + 1] = if byte == other {
                previous[i] + 1
            } else {
                current[i].max(previous[i + 1])
            };
        }
        std::mem::swap(&mut previous, &mut current);
    }
    (2 * RANGE * previous[b.len()] + total / 2) / total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alike() {
        assert_eq!(similarity("", ""), 1_000_000);
        assert_eq!(similarity("abc", "abc"), 1_000_000);
        assert_eq!(similarity("abc", "xyz"), 0);
        assert_eq!(similarity("htpp-timeout", "http-timeout"), 916_667);
    }
}
