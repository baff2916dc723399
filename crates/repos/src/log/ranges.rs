//! Mergeinfo, seen by revision.

use std::collections::BTreeMap;

use sylvan_core::Revnum;
use sylvan_core::mergeinfo::{Mergeinfo, MergeinfoDiff};

/// Revisions that were merged from the same sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PathRange {
    pub(super) first: Revnum,
    pub(super) last: Revnum,
    pub(super) sources: Vec<String>,
    /// Whether the merge took them back.
    pub(super) subtractive: bool,
}

/// Cuts what was merged into ranges of the same sources, in order; where the same revisions were
/// merged and taken back, the latter come last.
pub(super) fn by_revision(merges: &MergeinfoDiff) -> Vec<PathRange> {
    let mut ranges = Vec::new();
    cut(&merges.added, false, &mut ranges);
    cut(&merges.deleted, true, &mut ranges);
    ranges.sort_by_key(|range| (range.first, range.last));
    ranges
}

fn cut(mergeinfo: &Mergeinfo, subtractive: bool, found: &mut Vec<PathRange>) {
    // At each edge, the sources that begin and end there.
    let mut edges: BTreeMap<i64, (Vec<&str>, Vec<&str>)> = BTreeMap::new();
    for (source, ranges) in &mergeinfo.0 {
        for range in &ranges.0 {
            edges.entry(range.start).or_default().0.push(source);
            edges.entry(range.end).or_default().1.push(source);
        }
    }
    let mut open: Vec<&str> = Vec::new();
    let mut since = 0;
    for (edge, (begin, end)) in edges {
        if !open.is_empty() {
            found.push(PathRange {
                first: Revnum::new(since + 1).unwrap_or_default(),
                last: Revnum::new(edge).unwrap_or_default(),
                sources: open.iter().map(|source| (*source).to_owned()).collect(),
                subtractive,
            });
        }
        open.retain(|source| !end.contains(source));
        open.extend(begin);
        since = edge;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_have_the_same_sources() {
        let parse = |text: &str| Mergeinfo::parse(text.as_bytes()).unwrap();
        let merges = MergeinfoDiff {
            added: parse("/a:1-10,20\n/b:5-7,10-12\n/c:30-31*,32"),
            deleted: parse("/a:3\n/b:5-7"),
        };
        let shown: Vec<_> = by_revision(&merges)
            .iter()
            .map(|range| {
                let sign = if range.subtractive { "-" } else { "" };
                let sources = range.sources.join(",");
                format!("{sign}{}:{} {sources}", range.first, range.last)
            })
            .collect();
        assert_eq!(
            shown,
            [
                "1:4 /a",
                "-3:3 /a",
                "5:7 /a,/b",
                "-5:7 /b",
                "8:9 /a",
                "10:10 /a,/b",
                "11:12 /b",
                "20:20 /a",
                "30:31 /c",
                "32:32 /c",
            ]
        );
    }
}
