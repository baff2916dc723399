//! Makes mergeinfo of a dump stream tell of the revisions that its own became.

use sylvan_core::mergeinfo::{Mergeinfo, Part};
use sylvan_core::{RelPath, Result, Revnum};

use super::RevisionMap;

/// Returns mergeinfo with the numbers and, below `parent`, the paths of the repository. `offset` is
/// how much numbers in the stream are larger.
pub(super) fn adjusted(
    value: &[u8],
    map: &RevisionMap,
    offset: i64,
    parent: Option<&RelPath>,
) -> Result<Vec<u8>> {
    let mut mergeinfo = Mergeinfo::parse(value)?;
    let oldest = map.oldest.map_or(-1, Revnum::number);
    let mut older = None;
    if oldest > 1 {
        older = Some(mergeinfo.part(0, oldest - 1, Part::Inside).shifted(-offset));
        mergeinfo = mergeinfo.part(0, oldest - 1, Part::Outside);
    }
    let mapped = |revision: i64| {
        let new = Revnum::new(revision).and_then(|revision| map.get(revision));
        new.map(Revnum::number)
    };
    for ranges in mergeinfo.0.values_mut() {
        for range in &mut ranges.0 {
            if let Some(start) = mapped(range.start) {
                range.start = start;
            } else if range.start == oldest - 1 {
                // The revision before the first of the stream became none, but is the start of a
                // range that begins with it.
                range.start = mapped(oldest).map_or(range.start, |first| first - 1);
            } else {
                // With its end mapped alone, the range might be reversed.
                continue;
            }
            range.end = mapped(range.end).unwrap_or(range.end);
        }
    }
    if let Some(older) = older {
        mergeinfo.merge(&older);
    }
    mergeinfo.canonicalize()?;
    if let Some(parent) = parent {
        // Subversion writes and parses it in between.
        mergeinfo = Mergeinfo::parse(mergeinfo.to_text()?.as_bytes())?;
        let below = mergeinfo.0.into_iter().map(|(source, ranges)| {
            let source = source.trim_start_matches('/').to_owned();
            let slash = if parent.is_root() || source.is_empty() {
                ""
            } else {
                "/"
            };
            (format!("/{}{slash}{source}", parent.as_str()), ranges)
        });
        mergeinfo = Mergeinfo(below.collect());
    }
    Ok(mergeinfo.to_text()?.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revisions_are_mapped() {
        let revision = |number| Revnum::new(number).unwrap();
        let mut map = RevisionMap::default();
        for (old, new) in [(5, 3), (6, 4), (9, 5)] {
            map.oldest.get_or_insert(revision(old));
            map.insert(revision(old), revision(new));
        }
        let text = |value: &str, parent: Option<&str>| {
            let parent = parent.map(|parent| RelPath::new(parent).unwrap());
            let value = adjusted(value.as_bytes(), &map, 5, parent).unwrap();
            String::from_utf8(value).unwrap()
        };
        assert_eq!(text("/a:5-6", None), "/a:3-4");
        assert_eq!(text("/a:5*,6", Some("x/y")), "/x/y/a:3-4");
        assert_eq!(text("/:6", Some("x")), "/x:4");
        // What is older than the stream keeps its distance, and may fall out.
        assert_eq!(text("/a:2-3\n/b:6", None), "/b:4");
        let value = adjusted(b"/a:2-3", &map, -5, None).unwrap();
        assert_eq!(value, b"/a:7-8");
    }
}
