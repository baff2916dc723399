//! Three texts: an original, and two that were made of it.

use std::ops::Range;

use sylvan_core::Result;

use crate::affix::{self, Affix};
use crate::lcs::{self, Run};
use crate::token::{Interner, Token};
use crate::two_way::lines_of;
use crate::{Options, Poll, Source};

/// What became of a part of the original.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HunkKind {
    /// It is in all three texts.
    Common,
    /// The modified text alone has another one.
    Modified,
    /// The latest text alone has another one.
    Latest,
    /// Both have the same other one.
    Both,
    /// Each has another one.
    Conflict,
}

/// Lines that belong together, counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// What became of them.
    pub kind: HunkKind,
    /// Lines of the original text.
    pub original: Range<u32>,
    /// Lines of the modified text, "mine".
    pub modified: Range<u32>,
    /// Lines of the latest text, "theirs".
    pub latest: Range<u32>,
}

/// What two changes did to a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff3 {
    /// All parts of the texts, in order.
    pub hunks: Vec<Hunk>,
}

impl Diff3 {
    /// Tells whether there is a part that each side changed in its own way.
    pub fn has_conflicts(&self) -> bool {
        self.hunks
            .iter()
            .any(|hunk| hunk.kind == HunkKind::Conflict)
    }
}

/// Finds out what the second and the third text made of the first.
///
/// # Errors
/// If a text cannot be read or has 2³² lines, and what `poll` returned.
pub fn diff3(sources: [&dyn Source; 3], options: &Options, poll: &mut Poll<'_>) -> Result<Diff3> {
    compare(sources, affix::find(&sources)?, options, poll)
}

/// As [`diff3`], as Subversion does it for properties: equal lines at both ends are not set aside
/// first.
///
/// # Errors
/// As [`diff3`].
pub fn diff3_whole(
    sources: [&dyn Source; 3],
    options: &Options,
    poll: &mut Poll<'_>,
) -> Result<Diff3> {
    compare(sources, Affix::default(), options, poll)
}

fn compare(
    sources: [&dyn Source; 3],
    affix: Affix,
    options: &Options,
    poll: &mut Poll<'_>,
) -> Result<Diff3> {
    let mut interner = Interner::new();
    let mut read = |source: &dyn Source| {
        let between = (affix.prefix, source.len() - affix.suffix);
        interner.read(source, between, options, &mut *poll)
    };
    let [original, modified, latest] = [read(sources[0])?, read(sources[1])?, read(sources[2])?];
    let numbers = interner.len();
    drop(interner);
    let mine = Matches::find([&original, &modified], &affix, numbers, poll)?;
    let theirs = Matches::find([&original, &latest], &affix, numbers, poll)?;
    let merge = Merge {
        mine,
        theirs,
        sides: [&modified, &latest],
        before: affix.prefix_lines,
        hunks: Vec::new(),
    };
    Ok(Diff3 { hunks: merge.run() })
}

/// The runs that two texts share, the last one an empty run at their ends; with a place in them.
struct Matches {
    runs: Vec<Run>,
    at: usize,
}

impl Matches {
    fn find(
        sides: [&[Token]; 2],
        affix: &Affix,
        numbers: usize,
        poll: &mut Poll<'_>,
    ) -> Result<Self> {
        let lines = [
            lines_of(affix, sides[0].len())?,
            lines_of(affix, sides[1].len())?,
        ];
        let mut runs = Vec::new();
        if affix.prefix_lines > 0 {
            runs.push(Run {
                at: [0, 0],
                len: affix.prefix_lines,
            });
        }
        let found = lcs::longest(sides, numbers, poll)?;
        runs.extend(found.into_iter().map(|run| Run {
            at: run.at.map(|at| at + affix.prefix_lines),
            len: run.len,
        }));
        if affix.suffix_lines > 0 {
            runs.push(Run {
                at: lines.map(|lines| lines - affix.suffix_lines),
                len: affix.suffix_lines,
            });
        }
        runs.push(Run { at: lines, len: 0 });
        Ok(Self { runs, at: 0 })
    }

    fn run(&self) -> Run {
        self.runs[self.at]
    }

    /// Where the run ends in the original.
    fn end(&self) -> u32 {
        self.run().at[0] + self.run().len
    }

    fn is_last(&self) -> bool {
        self.at + 1 == self.runs.len()
    }

    fn advance(&mut self) {
        self.at += usize::from(!self.is_last());
    }

    /// Goes to the run that reaches `sync`, a place of the original; a run that ends there goes
    /// along, except where `at_end` says that all ends there, and text follows it on the other side.
    fn reach(&mut self, sync: u32, at_end: bool) {
        while self.end() < sync && !self.is_last() {
            self.advance();
        }
        if at_end && !self.is_last() && self.end() == sync {
            let next = self.runs[self.at + 1];
            if self.run().at[1] + self.run().len != next.at[1] {
                self.advance();
            }
        }
    }

    /// Leaves runs that end at or before a place of the original.
    fn leave(&mut self, start: u32) {
        while !self.is_last() && start >= self.end() {
            self.advance();
        }
    }
}

struct Merge<'t> {
    mine: Matches,
    theirs: Matches,
    sides: [&'t [Token]; 2],
    /// How many lines are before the numbers of the sides.
    before: u32,
    hunks: Vec<Hunk>,
}

impl Merge<'_> {
    fn run(mut self) -> Vec<Hunk> {
        // Where the three texts are: original, modified, latest.
        let mut start = [0_u32; 3];
        loop {
            let sync = self.sync();
            let (mine, theirs) = (self.mine.run(), self.theirs.run());
            let to = [
                sync,
                mine.at[1] + (sync - mine.at[0]),
                theirs.at[1] + (sync - theirs.at[0]),
            ];
            let is_mine = mine.at[0] > start[0] || mine.at[1] > start[1];
            let is_theirs = theirs.at[0] > start[0] || theirs.at[1] > start[2];
            let kind = match (is_mine, is_theirs) {
                (true, true) if self.are_same(start, to) => Some(HunkKind::Both),
                (true, true) => Some(HunkKind::Conflict),
                (true, false) => Some(HunkKind::Modified),
                (false, true) => Some(HunkKind::Latest),
                (false, false) => None,
            };
            if let Some(kind) = kind {
                self.push(kind, start, to);
            }
            if mine.len == 0 || theirs.len == 0 {
                return self.hunks;
            }
            let common = (mine.at[0] + mine.len - sync).min(theirs.at[0] + theirs.len - sync);
            let end = to.map(|at| at + common);
            if common > 0 {
                self.push(HunkKind::Common, to, end);
            }
            start = end;
            self.mine.leave(start[0]);
            self.theirs.leave(start[0]);
        }
    }

    /// Finds the next place of the original that is in both other texts.
    fn sync(&mut self) -> u32 {
        loop {
            let (mine, theirs) = (self.mine.run(), self.theirs.run());
            let (sync, reached) = if mine.at[0] > theirs.at[0] {
                let sync = mine.at[0];
                self.theirs.reach(sync, mine.len == 0);
                (sync, self.theirs.run().at[0])
            } else {
                let sync = theirs.at[0];
                self.mine.reach(sync, theirs.len == 0);
                (sync, self.mine.run().at[0])
            };
            if reached <= sync {
                return sync;
            }
        }
    }

    /// Tells whether both sides have the same lines.
    fn are_same(&self, from: [u32; 3], to: [u32; 3]) -> bool {
        let lines = |side: usize| {
            let at = |line: u32| line.saturating_sub(self.before) as usize;
            self.sides[side].get(at(from[side + 1])..at(to[side + 1]))
        };
        lines(0).is_some() && lines(0) == lines(1)
    }

    fn push(&mut self, kind: HunkKind, from: [u32; 3], to: [u32; 3]) {
        self.hunks.push(Hunk {
            kind,
            original: from[0]..to[0],
            modified: from[1]..to[1],
            latest: from[2]..to[2],
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(original: &str, mine: &str, theirs: &str) -> Vec<HunkKind> {
        let [original, mine, theirs] = [original, mine, theirs].map(str::as_bytes);
        let diff = diff3(
            [&original, &mine, &theirs],
            &Options::default(),
            &mut || Ok(()),
        );
        let hunks = diff.unwrap().hunks;
        hunks.into_iter().map(|hunk| hunk.kind).collect()
    }

    #[test]
    fn parts_are_told_apart() {
        use HunkKind::{Both, Common, Conflict, Latest, Modified};
        let kinds = |a, b, c| kinds(a, b, c);
        assert_eq!(kinds("", "", ""), []);
        assert_eq!(kinds("a\n", "a\n", "a\n"), [Common]);
        assert_eq!(kinds("a\nb\n", "a\nx\n", "a\nb\n"), [Common, Modified]);
        assert_eq!(kinds("a\nb\n", "a\nb\n", "x\nb\n"), [Latest, Common]);
        assert_eq!(kinds("a\nb\n", "a\nx\n", "a\nx\n"), [Common, Both]);
        assert_eq!(kinds("a\nb\n", "a\nx\n", "a\ny\n"), [Common, Conflict]);
        assert_eq!(kinds("a\n", "", ""), [Both]);
        assert_eq!(kinds("", "a\n", "b\n"), [Conflict]);
        assert_eq!(
            kinds("a\nb\nc\n", "x\nb\nc\n", "a\nb\ny\n"),
            [Modified, Common, Latest]
        );
    }

    proptest::proptest! {
        #[test]
        fn equal_sides_never_conflict(
            a in proptest::collection::vec(0..4_u8, 0..20),
            b in proptest::collection::vec(0..4_u8, 0..20),
        ) {
            let text = |lines: &[u8]| -> String {
                lines.iter().map(|line| format!("{line}\n")).collect()
            };
            let (a, b) = (text(&a), text(&b));
            for kind in kinds(&a, &b, &b) {
                assert!(matches!(kind, HunkKind::Common | HunkKind::Both), "{kind:?}");
            }
            for (x, y) in [(&a, &b), (&b, &a)] {
                assert!(!kinds(&a, x, y).contains(&HunkKind::Conflict));
            }
        }

        #[test]
        fn hunks_cover_all_texts(
            a in proptest::collection::vec(0..4_u8, 0..20),
            b in proptest::collection::vec(0..4_u8, 0..20),
            c in proptest::collection::vec(0..4_u8, 0..20),
        ) {
            let text = |lines: &[u8]| -> Vec<u8> {
                lines.iter().flat_map(|line| [b'0' + line, b'\n']).collect()
            };
            let (x, y, z) = (text(&a), text(&b), text(&c));
            let sources: [&dyn Source; 3] = [&&x[..], &&y[..], &&z[..]];
            let diff = diff3(sources, &Options::default(), &mut || Ok(())).unwrap();
            let mut at = [0; 3];
            for hunk in diff.hunks {
                let from = [hunk.original.start, hunk.modified.start, hunk.latest.start];
                assert_eq!(from, at);
                at = [hunk.original.end, hunk.modified.end, hunk.latest.end];
            }
            assert_eq!(at.map(|at| at as usize), [a.len(), b.len(), c.len()]);
        }
    }
}
