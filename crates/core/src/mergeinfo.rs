//! Mergeinfo: which revisions of which paths were merged, as `svn:mergeinfo` has it.
//!
//! A line for each source, its path, `:`, and ranges of revisions; `*` marks those that were not
//! merged into everything below.
//!
//! ```
//! use sylvan_core::mergeinfo::Mergeinfo;
//!
//! let mergeinfo = Mergeinfo::parse(b"/trunk:4,2-3,9*\n/branches/a:7")?;
//! assert_eq!(mergeinfo.to_text()?, "/branches/a:7\n/trunk:2-4,9*");
//! # Ok::<(), sylvan_core::Error>(())
//! ```

mod compare;

use std::collections::BTreeMap;

use crate::{Error, ErrorCode, Result, path};

pub use compare::MergeinfoDiff;

/// Revisions from after `start` to `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Range {
    /// The revision before the first.
    pub start: i64,
    /// The last.
    pub end: i64,
    /// Whether it holds for everything below too.
    pub inheritable: bool,
}

/// Ranges, mostly in order and apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RangeList(pub Vec<Range>);

/// The merge sources, absolute paths in the repository, and their ranges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mergeinfo(pub BTreeMap<String, RangeList>);

/// Which part of a list is wanted, seen from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// What is in both.
    Inside,
    /// What is not in the other.
    Outside,
}

impl Range {
    /// Writes the range as in a property.
    ///
    /// # Errors
    /// [`ErrorCode::ASSERTION_FAIL`] for an empty one.
    pub fn to_text(self) -> Result<String> {
        let mark = if self.inheritable { "" } else { "*" };
        let Self { start, end, .. } = self;
        if start == end {
            let inheritable = u8::from(self.inheritable);
            return Err(Error::new(
                ErrorCode::ASSERTION_FAIL,
                format!("bad range {{start={start},end={end},inheritable={inheritable}}}"),
            ));
        }
        Ok(if start == end - 1 {
            format!("{end}{mark}")
        } else if start - 1 == end {
            format!("-{start}{mark}")
        } else if start < end {
            format!("{}-{end}{mark}", start + 1)
        } else {
            format!("{start}-{}{mark}", end + 1)
        })
    }

    fn shown(self) -> String {
        self.to_text().unwrap_or_else(|error| error.message())
    }
}

impl RangeList {
    /// Makes a list of one range that holds for everything below too.
    pub fn of(start: i64, end: i64) -> Self {
        Self(vec![Range {
            start,
            end,
            inheritable: true,
        }])
    }

    /// Tells whether there is no range.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Tells whether ranges are in order, apart, and none could be joined.
    pub fn is_canonical(&self) -> bool {
        self.0.iter().all(|range| range.start < range.end)
            && self.0.windows(2).all(|pair| {
                pair[0].end < pair[1].start
                    || pair[0].end == pair[1].start && pair[0].inheritable != pair[1].inheritable
            })
    }

    /// Sorts the ranges and joins those that touch.
    ///
    /// # Errors
    /// [`ErrorCode::MERGEINFO_PARSE_ERROR`] if some overlap that differ in what they hold for.
    pub fn canonicalize(&mut self) -> Result<()> {
        if self.is_canonical() {
            return Ok(());
        }
        self.0.sort_by_key(|range| (range.start, range.end));
        let mut joined: Vec<Range> = Vec::with_capacity(self.0.len());
        for range in &self.0 {
            let Some(last) = joined.last_mut() else {
                joined.push(*range);
                continue;
            };
            let touches = last.start <= range.end && range.start <= last.end;
            if touches && range.start < last.end && range.inheritable != last.inheritable {
                let (a, b) = (last.shown(), range.shown());
                return Err(parse_error(format!(
                    "Unable to parse overlapping revision ranges '{a}' and '{b}' with different \
                     inheritance types"
                )));
            }
            if touches && range.inheritable == last.inheritable {
                last.end = last.end.max(range.end);
            } else {
                joined.push(*range);
            }
        }
        self.0 = joined;
        Ok(())
    }

    /// Adds the ranges of another list. What holds for everything below in one does so then.
    pub fn merge(&mut self, other: &Self) {
        let mut ends: Vec<i64> = (self.0.iter().chain(&other.0))
            .flat_map(|range| [range.start, range.end])
            .collect();
        ends.sort_unstable();
        ends.dedup();
        let (mut ours, mut theirs) = (Cursor::new(self), Cursor::new(other));
        let mut merged: Vec<Range> = Vec::new();
        for pair in ends.windows(2) {
            let kind = ours.kind_at(pair[0]).max(theirs.kind_at(pair[0]));
            let Some(inheritable) = kind else {
                continue;
            };
            match merged.last_mut() {
                Some(last) if last.end == pair[0] && last.inheritable == inheritable => {
                    last.end = pair[1];
                }
                _ => merged.push(Range {
                    start: pair[0],
                    end: pair[1],
                    inheritable,
                }),
            }
        }
        self.0 = merged;
    }

    /// Returns the part of this list that is in another or not. What touches is joined, and holds
    /// for everything below if one part does.
    #[must_use]
    pub fn part(&self, other: &Self, part: Part) -> Self {
        let mut found = Self::default();
        for range in &self.0 {
            let mut start = range.start;
            for mask in &other.0 {
                let (from, to) = (mask.start.max(start), mask.end.min(range.end));
                if from >= to {
                    continue;
                }
                if part == Part::Inside {
                    let inheritable = range.inheritable || mask.inheritable;
                    found.push_joined(from, to, inheritable);
                } else if start < from {
                    found.push_joined(start, from, range.inheritable);
                }
                start = to;
            }
            if part == Part::Outside && start < range.end {
                found.push_joined(start, range.end, range.inheritable);
            }
        }
        found
    }

    fn push_joined(&mut self, start: i64, end: i64, inheritable: bool) {
        match self.0.last_mut() {
            Some(last) if start <= last.end && last.start <= end => {
                last.start = last.start.min(start);
                last.end = last.end.max(end);
                last.inheritable |= inheritable;
            }
            _ => self.0.push(Range {
                start,
                end,
                inheritable,
            }),
        }
    }

    /// Writes the list as in a property.
    ///
    /// # Errors
    /// [`ErrorCode::ASSERTION_FAIL`] if there is an empty range.
    pub fn to_text(&self) -> Result<String> {
        let texts: Result<Vec<_>> = self.0.iter().map(|range| range.to_text()).collect();
        Ok(texts?.join(","))
    }
}

impl Mergeinfo {
    /// Parses the value of a property.
    ///
    /// # Errors
    /// [`ErrorCode::MERGEINFO_PARSE_ERROR`].
    pub fn parse(value: &[u8]) -> Result<Self> {
        // It ends where a string of C does.
        let end = value.iter().position(|byte| *byte == 0);
        let value = &value[..end.unwrap_or(value.len())];
        parse_lines(value).map_err(|error| {
            if error.code() == ErrorCode::MERGEINFO_PARSE_ERROR {
                return error;
            }
            let shown = String::from_utf8_lossy(value);
            error.wrap(
                ErrorCode::MERGEINFO_PARSE_ERROR,
                format!("Could not parse mergeinfo string '{shown}'"),
            )
        })
    }

    /// Writes the value of a property.
    ///
    /// # Errors
    /// [`ErrorCode::ASSERTION_FAIL`] if there is an empty range.
    pub fn to_text(&self) -> Result<String> {
        let mut sources: Vec<_> = self.0.iter().collect();
        sources.sort_by(|(a, _), (b, _)| path::compare(a, b));
        let mut lines = Vec::with_capacity(sources.len());
        for (source, ranges) in sources {
            let slash = if source.starts_with('/') { "" } else { "/" };
            lines.push(format!("{slash}{source}:{}", ranges.to_text()?));
        }
        Ok(lines.join("\n"))
    }

    /// Tells whether there is no source.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns what is inside or outside of the revisions after `oldest` up to `youngest`; sources
    /// of which nothing is left are dropped.
    #[must_use]
    pub fn part(&self, oldest: i64, youngest: i64, part: Part) -> Self {
        let mask = RangeList::of(oldest, youngest);
        let parts = self.0.iter().map(|(source, ranges)| {
            let ranges = ranges.part(&mask, part);
            (source.clone(), ranges)
        });
        Self(parts.filter(|(_, ranges)| !ranges.is_empty()).collect())
    }

    /// Adds `offset` to all revisions, and drops ranges that would begin before the first.
    #[must_use]
    pub fn shifted(&self, offset: i64) -> Self {
        let shift = |range: &Range| {
            let shifted = Range {
                start: range.start.checked_add(offset)?,
                end: range.end.checked_add(offset)?,
                ..*range
            };
            (shifted.start > 0 && shifted.end > 0).then_some(shifted)
        };
        let shifted = self.0.iter().map(|(source, ranges)| {
            let ranges = RangeList(ranges.0.iter().filter_map(shift).collect());
            (source.clone(), ranges)
        });
        Self(shifted.filter(|(_, ranges)| !ranges.is_empty()).collect())
    }

    /// Adds other mergeinfo.
    pub fn merge(&mut self, other: &Self) {
        for (source, ranges) in &other.0 {
            match self.0.get_mut(source) {
                Some(known) => known.merge(ranges),
                None => drop(self.0.insert(source.clone(), ranges.clone())),
            }
        }
    }

    /// Sorts all ranges and joins those that touch.
    ///
    /// # Errors
    /// Those of [`RangeList::canonicalize`].
    pub fn canonicalize(&mut self) -> Result<()> {
        self.0.values_mut().try_for_each(RangeList::canonicalize)
    }
}

/// Goes through a list once, from its oldest revision on.
struct Cursor {
    ranges: Vec<Range>,
    at: usize,
}

impl Cursor {
    fn new(list: &RangeList) -> Self {
        let mut ranges = list.0.clone();
        ranges.sort_by_key(|range| (range.start, range.end));
        Self { ranges, at: 0 }
    }

    /// Returns whether what comes after a revision is inheritable; `None` if it is in no range.
    fn kind_at(&mut self, start: i64) -> Option<bool> {
        while self
            .ranges
            .get(self.at)
            .is_some_and(|range| range.end <= start)
        {
            self.at += 1;
        }
        let range = self.ranges.get(self.at)?;
        (range.start <= start).then_some(range.inheritable)
    }
}

fn parse_error(message: impl Into<String>) -> Error {
    Error::new(ErrorCode::MERGEINFO_PARSE_ERROR, message)
}

fn parse_lines(value: &[u8]) -> Result<Mergeinfo> {
    let mut mergeinfo = Mergeinfo::default();
    let mut rest = value;
    while !rest.is_empty() {
        let end = rest.iter().position(|byte| *byte == b'\n');
        let line = &rest[..end.unwrap_or(rest.len())];
        let colon = line.iter().rposition(|byte| *byte == b':');
        let colon = colon.ok_or_else(|| parse_error("Pathname not terminated by ':'"))?;
        let source = fspath(&line[..colon])?;
        let mut ranges = parse_ranges(rest, colon + 1, line.len())?;
        if ranges.is_empty() {
            return Err(parse_error(format!(
                "Mergeinfo for '{source}' maps to an empty revision range"
            )));
        }
        ranges.canonicalize()?;
        // Paths may have been written without their first slash too.
        if let Some(known) = mergeinfo.0.get(&source) {
            ranges.merge(known);
        }
        mergeinfo.0.insert(source, ranges);
        rest = rest.get(line.len() + 1..).unwrap_or_default();
    }
    Ok(mergeinfo)
}

/// Makes a path absolute and canonical.
fn fspath(text: &[u8]) -> Result<String> {
    let text = std::str::from_utf8(text)
        .map_err(|_| parse_error("Mergeinfo has a path that is not encoded in UTF-8"))?;
    let kept: Vec<_> = text
        .split('/')
        .filter(|name| !matches!(*name, "" | "."))
        .collect();
    Ok(format!("/{}", kept.join("/")))
}

/// Parses the ranges from `at` to `end` of `rest`, which goes on with further lines.
fn parse_ranges(rest: &[u8], mut at: usize, end: usize) -> Result<RangeList> {
    let mut ranges = RangeList::default();
    let byte = |at: usize| (at < end).then(|| rest[at]);
    let invalid = |byte: u8, what: &str| {
        let shown = char::from(byte);
        Err(parse_error(format!(
            "Invalid character '{shown}' found in {what}"
        )))
    };
    while byte(at).is_some_and(|byte| byte.is_ascii_whitespace() || byte == 0x0b) {
        at += 1;
    }
    while at < end {
        let first = parse_revision(rest, &mut at)?;
        if let Some(byte) = byte(at)
            && !matches!(byte, b'-' | b',' | b'*')
        {
            return invalid(byte, "revision list");
        }
        if first == 0 {
            return Err(parse_error(
                "Invalid revision number '0' found in range list",
            ));
        }
        let mut range = Range {
            start: first - 1,
            end: first,
            inheritable: true,
        };
        if byte(at) == Some(b'-') {
            at += 1;
            range.end = parse_second(rest, &mut at, first)?;
        }
        if byte(at) == Some(b'*') {
            range.inheritable = false;
            at += 1;
        }
        match byte(at) {
            None => {}
            Some(b',') => at += 1,
            Some(byte) => return invalid(byte, "range list"),
        }
        ranges.0.push(range);
        if at == end && rest[at - 1] == b',' && at == rest.len() {
            return Err(parse_error(
                "Range list parsing ended before hitting newline",
            ));
        }
    }
    Ok(ranges)
}

fn parse_second(rest: &[u8], at: &mut usize, first: i64) -> Result<i64> {
    let second = parse_revision(rest, at)?;
    if first > second {
        return Err(parse_error(format!(
            "Unable to parse reversed revision range '{first}-{second}'"
        )));
    }
    if first == second {
        return Err(parse_error(format!(
            "Unable to parse revision range '{first}-{second}' with same start and end revisions"
        )));
    }
    Ok(second)
}

/// Parses a revision number of at most ten digits.
fn parse_revision(rest: &[u8], at: &mut usize) -> Result<i64> {
    let text = &rest[*at..];
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let failed = |what: &str| {
        let shown = String::from_utf8_lossy(text);
        Err(Error::new(
            ErrorCode::REVNUM_PARSE_FAILURE,
            format!("{what} '{shown}'"),
        ))
    };
    if digits == 0 {
        return failed(if text.first() == Some(&b'-') {
            "Negative revision number found parsing"
        } else {
            "Invalid revision number found parsing"
        });
    }
    if digits > 10 {
        return failed("Revision number longer than 10 digits");
    }
    let fold = |number: i64, byte: &u8| number * 10 + i64::from(byte - b'0');
    let number = text[..digits].iter().fold(0, fold);
    if number > i64::from(i32::MAX) {
        return failed("Revision number too large");
    }
    *at += digits;
    Ok(number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(value: &str) -> Result<String> {
        Mergeinfo::parse(value.as_bytes())?.to_text()
    }

    #[test]
    fn values_become_canonical() {
        for (value, canonical) in [
            ("", ""),
            ("/a:1", "/a:1"),
            ("/a:1\n", "/a:1"),
            ("a/:3,1-2\n/a:7*", "/a:1-3,7*"),
            ("/a b:c:5", "/a b:c:5"),
            ("/a/b:1\n/a-b:1\n/a:1", "/a:1\n/a/b:1\n/a-b:1"),
            ("/a: 1,2*,3", "/a:1,2*,3"),
            ("/a:1\0junk", "/a:1"),
            ("/a:3-5\na:4*", "/a:3-5"),
        ] {
            assert_eq!(text(value).unwrap(), canonical, "{value:?}");
        }
    }

    #[test]
    fn errors_are_subversions() {
        let list = "Could not parse mergeinfo string";
        for (value, message) in [
            ("/a", "Pathname not terminated by ':'"),
            ("/a:", "Mergeinfo for '/a' maps to an empty revision range"),
            ("/a:0", "Invalid revision number '0' found in range list"),
            ("/a:5-3", "Unable to parse reversed revision range '5-3'"),
            (
                "/a:5-5",
                "Unable to parse revision range '5-5' with same start and end revisions",
            ),
            ("/a:5x", "Invalid character 'x' found in revision list"),
            ("/a:5-7x", "Invalid character 'x' found in range list"),
            ("/a:5*x", "Invalid character 'x' found in range list"),
            ("/a:5,", "Range list parsing ended before hitting newline"),
            (
                "/a:3-5,4*",
                "Unable to parse overlapping revision ranges '3-5' and '4*' with different \
                 inheritance types",
            ),
            ("/a:x", &format!("{list} '/a:x'")),
            ("/a:12345678901", &format!("{list} '/a:12345678901'")),
            ("/a:9999999999", &format!("{list} '/a:9999999999'")),
        ] {
            let error = text(value).unwrap_err();
            assert_eq!(error.code(), ErrorCode::MERGEINFO_PARSE_ERROR);
            assert_eq!(error.message(), message, "{value}");
        }
    }

    #[test]
    fn parts() {
        let mergeinfo = Mergeinfo::parse(b"/a:1-5,7*,8\n/b:9").unwrap();
        let part = |part| mergeinfo.part(0, 6, part).to_text().unwrap();
        assert_eq!(part(Part::Inside), "/a:1-5");
        assert_eq!(part(Part::Outside), "/a:7-8\n/b:9");
        let inside = mergeinfo.part(0, 7, Part::Inside).to_text().unwrap();
        assert_eq!(inside, "/a:1-5,7");
        assert_eq!(mergeinfo.shifted(-6).to_text().unwrap(), "/a:2\n/b:3");
        assert_eq!(
            mergeinfo.shifted(10).to_text().unwrap(),
            "/a:11-15,17*,18\n/b:19"
        );
    }

    fn ranges() -> impl Strategy<Value = RangeList> {
        let range = (0i64..40, 1i64..6).prop_map(|(start, len)| Range {
            start,
            end: start + len,
            inheritable: true,
        });
        prop::collection::vec(range, 0..8).prop_map(|ranges| {
            let mut list = RangeList(ranges);
            list.canonicalize().unwrap();
            list
        })
    }

    fn has(list: &RangeList, revision: i64) -> bool {
        let mut ranges = list.0.iter();
        ranges.any(|range| range.start < revision && revision <= range.end)
    }

    proptest! {
        #[test]
        fn lists_are_sets(a in ranges(), b in ranges()) {
            let mut both = a.clone();
            both.merge(&b);
            prop_assert!(both.is_canonical() && a.is_canonical());
            let (inside, outside) = (a.part(&b, Part::Inside), a.part(&b, Part::Outside));
            for revision in 0..50 {
                let (in_a, in_b) = (has(&a, revision), has(&b, revision));
                prop_assert_eq!(has(&both, revision), in_a || in_b);
                prop_assert_eq!(has(&inside, revision), in_a && in_b);
                prop_assert_eq!(has(&outside, revision), in_a && !in_b);
            }
        }
    }
}
