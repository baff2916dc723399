//! What queries ask of mergeinfo.

use super::{Mergeinfo, Part, Range, RangeList};
use crate::repository::LocationSegment;
use crate::{RelPath, Revnum};

/// How two pieces of mergeinfo differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergeinfoDiff {
    /// What the first has and the second has not.
    pub deleted: Mergeinfo,
    /// What the second has and the first has not.
    pub added: Mergeinfo,
}

impl MergeinfoDiff {
    /// Tells whether there is no difference.
    pub fn is_empty(&self) -> bool {
        self.deleted.is_empty() && self.added.is_empty()
    }

    /// Adds another difference.
    pub fn merge(&mut self, other: &Self) {
        self.deleted.merge(&other.deleted);
        self.added.merge(&other.added);
    }
}

impl RangeList {
    /// Tells whether a revision is in it.
    pub fn contains(&self, revision: Revnum) -> bool {
        let number = revision.number();
        let within = |range: &Range| range.start < number && number <= range.end;
        self.0.iter().any(within)
    }

    /// Returns what is left without what another list has that holds alike.
    ///
    /// Where ranges overlap that do not hold alike, what is left depends on the walk through both
    /// lists; it is Subversion's.
    #[must_use]
    pub fn without_alike(&self, other: &Self) -> Self {
        let mut left = Self::default();
        let mut ranges = self.0.iter().copied();
        let mut masks = other.0.iter().peekable();
        let mut current = ranges.next();
        while let (Some(range), Some(mask)) = (current, masks.peek()) {
            let overlap = range.inheritable == mask.inheritable
                && mask.start < range.end
                && range.start < mask.end;
            if overlap {
                if range.start < mask.start {
                    let end = mask.start;
                    left.push_alike(Range { end, ..range });
                }
                let is_equal = (range.start, range.end) == (mask.start, mask.end);
                let start = mask.end;
                current = if start < range.end {
                    Some(Range { start, ..range })
                } else {
                    ranges.next()
                };
                if is_equal {
                    masks.next();
                }
            } else if (mask.start, mask.end) < (range.start, range.end) {
                masks.next();
            } else {
                left.push_alike(range);
                current = ranges.next();
            }
        }
        for range in current.into_iter().chain(ranges) {
            left.push_alike(range);
        }
        left
    }

    /// Adds a range, joined with the last one if they touch and hold alike.
    fn push_alike(&mut self, range: Range) {
        match self.0.last_mut() {
            Some(last)
                if last.inheritable == range.inheritable
                    && range.start <= last.end
                    && last.start <= range.end =>
            {
                last.start = last.start.min(range.start);
                last.end = last.end.max(range.end);
            }
            _ => self.0.push(range),
        }
    }
}

impl Mergeinfo {
    /// Makes mergeinfo that says that the revisions of a history were merged from where it was.
    pub fn from_segments(segments: &[LocationSegment]) -> Self {
        let mut mergeinfo = Self::default();
        for segment in segments {
            let (start, end) = (segment.start.number(), segment.end.number());
            if let Some(path) = segment.path.as_ref().filter(|_| end > 0) {
                let ranges = RangeList::of((start - 1).max(0), end);
                mergeinfo.merge(&Self([(format!("/{path}"), ranges)].into()));
            }
        }
        mergeinfo
    }

    /// Returns what holds for everything below too.
    #[must_use]
    pub fn inheritable(&self) -> Self {
        self.map(|_, ranges| {
            let kept = ranges.0.iter().filter(|range| range.inheritable);
            RangeList(kept.copied().collect())
        })
    }

    /// Returns the same for a path below: the sources get it appended.
    #[must_use]
    pub fn for_child(&self, below: &RelPath) -> Self {
        if below.is_root() {
            return self.clone();
        }
        let join = |source: &str| format!("{}/{below}", source.trim_end_matches('/'));
        Self(
            self.0
                .iter()
                .map(|(source, ranges)| (join(source), ranges.clone()))
                .collect(),
        )
    }

    /// Compares with later mergeinfo; what it holds for does not matter.
    #[must_use]
    pub fn diff(&self, later: &Self) -> MergeinfoDiff {
        MergeinfoDiff {
            deleted: self.without(later),
            added: later.without(self),
        }
    }

    /// Returns what is left without that of another.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        self.map(|source, ranges| match other.0.get(source) {
            Some(other) => ranges.part(other, Part::Outside),
            None => ranges.clone(),
        })
    }

    /// Returns what is left without that of another which holds alike.
    #[must_use]
    pub fn without_alike(&self, other: &Self) -> Self {
        self.map(|source, ranges| match other.0.get(source) {
            Some(other) => ranges.without_alike(other),
            None => ranges.clone(),
        })
    }

    /// Tells whether both say the same, also in what it holds for.
    pub fn is_same(&self, other: &Self) -> bool {
        let canonical = |mergeinfo: &Self| {
            mergeinfo.map(|_, ranges| {
                let mut joined = RangeList::default();
                joined.merge(ranges);
                joined
            })
        };
        self == other || canonical(self) == canonical(other)
    }

    fn map(&self, change: impl Fn(&str, &RangeList) -> RangeList) -> Self {
        let changed = self
            .0
            .iter()
            .map(|(source, ranges)| (source.clone(), change(source, ranges)));
        Self(changed.filter(|(_, ranges)| !ranges.is_empty()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RelPathBuf;

    fn parse(text: &str) -> Mergeinfo {
        Mergeinfo::parse(text.as_bytes()).unwrap()
    }

    fn print(mergeinfo: &Mergeinfo) -> String {
        mergeinfo.to_text().unwrap()
    }

    #[test]
    fn differences_have_two_sides() {
        let (a, b) = (parse("/a:1-5,9*\n/b:1"), parse("/a:3-4,9-12\n/c:7"));
        let diff = a.diff(&b);
        assert_eq!(print(&diff.deleted), "/a:1-2,5\n/b:1");
        assert_eq!(print(&diff.added), "/a:10-12\n/c:7");
        assert!(a.diff(&a).is_empty());
    }

    #[test]
    fn what_does_not_hold_alike_is_another() {
        for (from, other, left) in [
            ("1-10", "3-4,7", "/a:1-2,5-6,8-10"),
            ("3-4,7", "1-10", ""),
            ("1-10", "1-10", ""),
            ("1-10", "1-10*", "/a:1-10"),
            ("1-5,8", "2-9", "/a:1"),
            ("5-6*,7-8", "1-10", "/a:5-6*,7-8"),
            ("1-4*,6", "2*,6", "/a:1*,3-4*"),
        ] {
            let of = |text: &str| parse(&format!("/a:{text}"));
            let found = print(&of(from).without_alike(&of(other)));
            assert_eq!(found, left, "{from} without {other}");
        }
    }

    #[test]
    fn what_is_below_inherits() {
        let mergeinfo = parse("/a:1-5,7*\n/b:3*\n/:4").inheritable();
        assert_eq!(
            print(&mergeinfo.for_child(RelPath::new("x/y").unwrap())),
            "/a/x/y:1-5\n/x/y:4"
        );
    }

    #[test]
    fn history_is_mergeinfo() {
        let segment = |start, end, path: &str| LocationSegment {
            start: Revnum::new(start).unwrap(),
            end: Revnum::new(end).unwrap(),
            path: (!path.is_empty()).then(|| RelPathBuf::new(path).unwrap()),
        };
        let segments = [
            segment(8, 9, "b"),
            segment(6, 7, ""),
            segment(3, 5, "a"),
            segment(2, 2, "b"),
            segment(0, 0, "c"),
            segment(0, 1, "d"),
        ];
        let mergeinfo = Mergeinfo::from_segments(&segments);
        assert_eq!(print(&mergeinfo), "/a:3-5\n/b:2,8-9\n/d:1");
    }

    #[test]
    fn what_holds_for_less_is_not_the_same() {
        let same = |a: &str, b: &str| parse(a).is_same(&parse(b));
        assert!(same("/a:1-5", "/a:1-3,4-5"));
        assert!(!same("/a:1-5", "/a:1-5*"));
        assert!(!same("/a:1-5", "/a:1-5\n/b:1"));
        assert!(!same("/a:1-5", "/b:1-5"));
    }
}
