//! Shell patterns as Subversion matches them: bytes, no character is special but `*`, `?`, `[…]` and
//! `\`.

/// Tells whether `text` as a whole matches `pattern`.
///
/// `*` is any text, slashes and leading dots too, `?` any byte, `[a-z]` one of a set, `[!a-z]` or
/// `[^a-z]` one that is not; a set without its end is a plain `[`. `\` takes the meaning from the
/// next character.
///
/// ```
/// use sylvan_core::glob;
///
/// assert!(glob::matches("*.[oa]", ".libs/x.o"));
/// assert!(!glob::matches("*.[oa]", "x.c"));
/// ```
pub fn matches(pattern: impl AsRef<[u8]>, text: impl AsRef<[u8]>) -> bool {
    matches_folded(pattern.as_ref(), text.as_ref(), |byte| byte)
}

/// Tells whether `text` matches `pattern` where the case of ASCII letters does not count.
pub fn matches_ignore_case(pattern: impl AsRef<[u8]>, text: impl AsRef<[u8]>) -> bool {
    matches_folded(pattern.as_ref(), text.as_ref(), |byte| {
        byte.to_ascii_lowercase()
    })
}

fn matches_folded(pattern: &[u8], text: &[u8], fold: fn(u8) -> u8) -> bool {
    let (mut p, mut t) = (0, 0);
    // Where to go on after the last star, and the text that it has not swallowed yet.
    let mut star = None;
    loop {
        if pattern.get(p) == Some(&b'*') {
            p += 1;
            star = Some((p, t));
            continue;
        }
        let next = match (pattern.get(p), text.get(t)) {
            (None, None) => return true,
            (Some(_), Some(byte)) => match_one(&pattern[p..], *byte, fold),
            _ => None,
        };
        match (next, star) {
            (Some(used), _) => {
                p += used;
                t += 1;
            }
            (None, Some((after, swallowed))) if swallowed < text.len() => {
                star = Some((after, swallowed + 1));
                (p, t) = (after, swallowed + 1);
            }
            _ => return false,
        }
    }
}

/// Matches one byte; returns how much of the pattern that took.
fn match_one(pattern: &[u8], byte: u8, fold: fn(u8) -> u8) -> Option<usize> {
    let same = |a: u8| fold(a) == fold(byte);
    match pattern {
        [b'?', ..] => Some(1),
        [b'[', set @ ..] => match match_set(set, byte, fold) {
            Some((used, matched)) => matched.then_some(used + 1),
            None => same(b'[').then_some(1),
        },
        [b'\\', literal, ..] => same(*literal).then_some(2),
        [literal, ..] => same(*literal).then_some(1),
        [] => None,
    }
}

/// Matches one byte against a set, after its `[`. Returns the set's length and whether the byte is
/// in it; `None` if the set has no end.
fn match_set(set: &[u8], byte: u8, fold: fn(u8) -> u8) -> Option<(usize, bool)> {
    let negated = matches!(set.first(), Some(b'!' | b'^'));
    let mut at = usize::from(negated);
    let first = at;
    let mut found = false;
    loop {
        match set.get(at)? {
            b']' if at > first => return Some((at + 1, found != negated)),
            b'\\' => at += 1,
            _ => {}
        }
        let low = *set.get(at)?;
        let mut high = low;
        if set.get(at + 1) == Some(&b'-') && set.get(at + 2) != Some(&b']') {
            at += if set.get(at + 2) == Some(&b'\\') {
                3
            } else {
                2
            };
            high = *set.get(at)?;
        }
        found |= (low..=high).contains(&byte) || (fold(low)..=fold(high)).contains(&fold(byte));
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, text, expected) in [
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("*", ".x/y", true),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
            ("*.o", "x.o", true),
            ("*.o", "x.so.1", false),
            ("?", "", false),
            ("??", "ä", true),
            ("[ab]c", "bc", true),
            ("[!ab]c", "bc", false),
            ("[^ab]c", "xc", true),
            ("[]a]", "]", true),
            ("[!]a]", "]", false),
            ("[a-c]", "b", true),
            ("[a-c]", "B", false),
            ("[a-]", "-", true),
            ("[\\]]", "]", true),
            ("[a\\-c]", "b", false),
            ("[a-\\c]", "b", true),
            ("[a", "[a", true),
            ("[a", "a", false),
            ("[", "[", true),
            ("\\*", "*", true),
            ("\\*", "x", false),
            ("\\", "\\", true),
            ("a\\", "a\\", true),
            ("*#*", ".#x", true),
            ("#*#", "#x#", true),
            ("**a", "bba", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
        assert!(matches_ignore_case("*.JP[E-G]", "x.jpf"));
        assert!(!matches_ignore_case("*.JPG", "x.jpe"));
    }

    #[test]
    fn many_stars_end_soon() {
        let pattern = "*a".repeat(60);
        assert!(!matches(pattern, "a".repeat(59) + "b"));
    }
}
