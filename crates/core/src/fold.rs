//! Folding of text for searches that ignore case and accents (`log --search`, `list --search`).

use caseless::Caseless as _;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::{decompose_canonical, is_combining_mark};

/// Folds case, takes off all marks (accents) and composes what is left, as Subversion does with
/// both pattern and text before they are compared.
///
/// ```
/// assert_eq!(sylvan_core::fold::fold("Straße É"), "strasse e");
/// ```
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut folded = Vec::with_capacity(text.len());
    for c in text.chars().filter(|c| !is_combining_mark(*c)) {
        for case_folded in std::iter::once(c).default_case_fold() {
            decompose_canonical(case_folded, |part| {
                if !is_combining_mark(part) {
                    folded.extend(std::iter::once(part).default_case_fold());
                }
            });
        }
    }
    folded
        .into_iter()
        .filter(|c| !is_combining_mark(*c))
        .nfc()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::fold;

    #[test]
    fn case_and_marks_do_not_matter() {
        for (text, folded) in [
            ("", ""),
            ("ReadMe.TXT", "readme.txt"),
            ("ÄÖÜ", "aou"),
            ("a\u{308}O\u{302}", "ao"),
            ("ﬁ", "fi"),
            ("İstanbul", "istanbul"),
            ("ΣΊΣΥΦΟΣ", "σισυφοσ"),
            ("한국", "한국"),
            ("Ǆ", "ǆ"),
        ] {
            assert_eq!(fold(text), folded, "{text}");
        }
    }
}
