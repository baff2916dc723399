//! "Did you mean": known words that resemble one that is not known.

/// Orders known words by how much they resemble `word`, best first, and tells for how many that is
/// at least two thirds. Equal words are not looked for.
pub(crate) fn most_similar<'a>(word: &str, known: &[&'a str]) -> Vec<&'a str> {
    let mut scored: Vec<_> = known
        .iter()
        .map(|candidate| {
            let common = common_length(word.as_bytes(), candidate.as_bytes());
            let difference = word.len().max(candidate.len()) - common;
            (score(word, candidate, common), difference, *candidate)
        })
        .collect();
    scored.sort_by_key(|(score, difference, _)| (std::cmp::Reverse(*score), *difference));
    scored
        .into_iter()
        .take_while(|(score, ..)| *score >= ALIKE)
        .map(|(.., candidate)| candidate)
        .collect()
}

/// The score of equal words.
const EQUAL: usize = 1_000_000;
/// The score from which words are alike.
const ALIKE: usize = (2 * EQUAL + 1) / 3;

fn score(a: &str, b: &str, common: usize) -> usize {
    let total = a.len() + b.len();
    if total == 0 {
        return EQUAL;
    }
    (2 * EQUAL * common + total / 2) / total
}

/// The length of the longest common subsequence.
fn common_length(a: &[u8], b: &[u8]) -> usize {
    let mut above = vec![0; b.len() + 1];
    for byte in a {
        let mut diagonal = 0;
        for (at, other) in b.iter().enumerate() {
            let old = above[at + 1];
            above[at + 1] = if byte == other {
                diagonal + 1
            } else {
                old.max(above[at])
            };
            diagonal = old;
        }
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_similar_words_come_first() {
        let known = ["url", "relative-url", "revision", "wc-root", "depth"];
        assert_eq!(most_similar("revison", &known), ["revision"]);
        assert_eq!(most_similar("uri", &known), ["url"]);
        assert!(most_similar("zzz", &known).is_empty());
    }
}
