//! Two texts.

use std::ops::Range;

use sylvan_core::Result;

use crate::affix::{self, Affix, too_many_lines};
use crate::lcs::{self, Run};
use crate::token::Interner;
use crate::{Options, Poll, Source};

/// Lines that differ, counted from 0: those of the first text are replaced by those of the second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Lines of the first text.
    pub original: Range<u32>,
    /// Lines of the second text.
    pub modified: Range<u32>,
}

/// How two texts differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// What differs, in order; at least one equal line is between two of them.
    pub changes: Vec<Change>,
    /// How many lines the texts have.
    pub lines: [u32; 2],
}

impl Diff {
    /// Tells whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}

/// Finds out how two texts differ, as Subversion does for files.
///
/// # Errors
/// If a text cannot be read or has 2³² lines, and what `poll` returned.
pub fn diff(sources: [&dyn Source; 2], options: &Options, poll: &mut Poll<'_>) -> Result<Diff> {
    compare(sources, affix::find(&sources)?, options, poll)
}

/// Finds out how two texts differ, as Subversion does for properties: equal lines at both ends are
/// not set aside first.
///
/// # Errors
/// As [`diff`].
pub fn diff_whole(
    sources: [&dyn Source; 2],
    options: &Options,
    poll: &mut Poll<'_>,
) -> Result<Diff> {
    compare(sources, Affix::default(), options, poll)
}

fn compare(
    sources: [&dyn Source; 2],
    affix: Affix,
    options: &Options,
    poll: &mut Poll<'_>,
) -> Result<Diff> {
    let mut interner = Interner::new();
    let mut read = |source: &dyn Source| {
        let between = (affix.prefix, source.len() - affix.suffix);
        interner.read(source, between, options, &mut *poll)
    };
    let sides = [read(sources[0])?, read(sources[1])?];
    let numbers = interner.len();
    drop(interner);
    let lines = [
        lines_of(&affix, sides[0].len())?,
        lines_of(&affix, sides[1].len())?,
    ];
    let runs = lcs::longest([&sides[0], &sides[1]], numbers, poll)?;
    let changes = changes(&runs, affix.prefix_lines, affix.suffix_lines, lines);
    Ok(Diff { changes, lines })
}

pub(crate) fn lines_of(affix: &Affix, between: usize) -> Result<u32> {
    u32::try_from(between)
        .ok()
        .and_then(|lines| lines.checked_add(affix.prefix_lines))
        .and_then(|lines| lines.checked_add(affix.suffix_lines))
        // One more is needed behind the end.
        .filter(|lines| *lines < u32::MAX)
        .ok_or_else(too_many_lines)
}

/// What is between the runs.
fn changes(runs: &[Run], before: u32, after: u32, lines: [u32; 2]) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut from = [before, before];
    let mut gap = |to: [u32; 2], len: u32| {
        if from != to {
            changes.push(Change {
                original: from[0]..to[0],
                modified: from[1]..to[1],
            });
        }
        from = to.map(|at| at + len);
    };
    for run in runs {
        gap(run.at.map(|at| at + before), run.len);
    }
    gap(lines.map(|lines| lines - after), after);
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    type Changes = Vec<(Range<u32>, Range<u32>)>;

    fn of(a: &str, b: &str) -> Changes {
        let (a, b) = (a.as_bytes(), b.as_bytes());
        let options = Options::default();
        let found = diff([&a, &b], &options, &mut || Ok(())).unwrap();
        let changes = found.changes.into_iter();
        changes.map(|c| (c.original, c.modified)).collect()
    }

    #[test]
    fn changes_are_between_equal_lines() {
        assert_eq!(of("", ""), []);
        assert_eq!(of("a\n", "a\n"), []);
        assert_eq!(of("", "a\nb"), [(0..0, 0..2)]);
        assert_eq!(of("a\nb\nc\n", "a\nx\nc\n"), [(1..2, 1..2)]);
        assert_eq!(of("a\nb\nc", "b\nc\n"), [(0..1, 0..0), (2..3, 1..2)]);
    }

    #[test]
    fn no_line_of_a_repetitive_text_is_lost() {
        let text = |count: usize| "a\n".repeat(count) + "x";
        assert_eq!(of(&text(100), &text(300)), [(100..100, 100..300)]);
    }
}
