//! The longest common subsequence of two sequences of numbers.
//!
//! The search is that of Wu, Manber, Myers and Miller, "An O(NP) Sequence Comparison Algorithm":
//! for growing numbers of steps away from the straight way, the furthest place on each diagonal.
//! As in Subversion, numbers that only one side has are passed for free, and of two ways to a place
//! the one through the sequence's own diagonal order is taken; that order is what makes our
//! differences the same ones.
//!
//! Places on a diagonal are remembered in an array, the ways to them in lists that share their
//! ends, in one vector whose dead members are used again.

use sylvan_core::Result;

use crate::Poll;
use crate::token::Token;

/// A run of equal numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) at: [u32; 2],
    pub(crate) len: u32,
}

const NONE: u32 = u32::MAX;

/// A run on the way to a place, and the one before.
#[derive(Clone, Copy)]
struct Link {
    run: Run,
    before: u32,
    /// How many links and diagonals lead here.
    uses: u32,
}

/// The furthest place on a diagonal.
#[derive(Clone, Copy)]
struct Furthest {
    /// The place in the second sequence plus one; 0 before there is any.
    reach: u32,
    at: [u32; 2],
    link: u32,
}

struct Search<'t> {
    sides: [&'t [Token]; 2],
    /// How often each number is in a side.
    counts: [Vec<u32>; 2],
    furthest: Vec<Furthest>,
    /// Where the diagonal 0 is in `furthest`.
    origin: usize,
    links: Vec<Link>,
    free: Vec<u32>,
}

/// Finds a longest common subsequence, as runs in order. `numbers` is how many numbers there are;
/// both sides are shorter than `u32::MAX`.
pub(crate) fn longest(
    sides: [&[Token]; 2],
    numbers: usize,
    poll: &mut Poll<'_>,
) -> Result<Vec<Run>> {
    if sides.iter().any(|side| side.is_empty()) {
        return Ok(Vec::new());
    }
    let counts = sides.map(|side| count(side, numbers));
    let shared = [0, 1].map(|which: usize| {
        let other = &counts[1 - which];
        let shared = sides[which]
            .iter()
            .filter(|token| other[**token as usize] > 0);
        shared.count()
    });
    let blank = Furthest {
        reach: 0,
        at: [0, 0],
        link: NONE,
    };
    let mut search = Search {
        sides,
        counts,
        furthest: vec![blank; shared[0] + shared[1] + 3],
        origin: shared[1] + 1,
        links: Vec::new(),
        free: Vec::new(),
    };
    search.run(shared, poll)
}

fn count(side: &[Token], numbers: usize) -> Vec<u32> {
    let mut counts = vec![0; numbers];
    for token in side {
        counts[*token as usize] += 1;
    }
    counts
}

impl Search<'_> {
    fn run(&mut self, shared: [usize; 2], poll: &mut Poll<'_>) -> Result<Vec<Run>> {
        // Diagonals count from the one that ends at both ends.
        let origin = self.origin;
        let first = origin + shared[0] - shared[1];
        // Before the beginning: the next place of the second side is its first.
        self.furthest[first - 1].at = [0, self.end(1)];
        let (low, high) = (first.min(origin), first.max(origin));
        let mut steps = 0;
        loop {
            for diagonal in low - steps..origin {
                self.advance(diagonal);
            }
            for diagonal in (origin..=high + steps).rev() {
                self.advance(diagonal);
            }
            if self.furthest[origin].at[1] == self.end(1) {
                return Ok(self.way(self.furthest[origin].link));
            }
            steps += 1;
            if steps % 64 == 0 {
                poll()?;
            }
        }
    }

    /// The place behind the last of a side.
    fn end(&self, side: usize) -> u32 {
        // `longest` demands that it fits.
        u32::try_from(self.sides[side].len()).unwrap_or(NONE)
    }

    /// The place after another; the first follows the end.
    fn next(&self, side: usize, at: u32) -> u32 {
        if at == self.end(side) { 0 } else { at + 1 }
    }

    fn token(&self, side: usize, at: u32) -> Option<Token> {
        self.sides[side].get(at as usize).copied()
    }

    /// Finds the furthest place on a diagonal from those on its neighbours.
    fn advance(&mut self, diagonal: usize) {
        self.release(self.furthest[diagonal].link);
        let (below, above) = (self.furthest[diagonal - 1], self.furthest[diagonal + 1]);
        let (mut from, mut link) = if below.reach >= above.reach {
            ([below.at[0], self.next(1, below.at[1])], below.link)
        } else {
            ([self.next(0, above.at[0]), above.at[1]], above.link)
        };
        if link != NONE {
            self.links[link as usize].uses += 1;
        }
        let mut at = from;
        loop {
            while let Some(token) = self.token(0, at[0])
                && self.token(1, at[1]) == Some(token)
            {
                at = [at[0] + 1, at[1] + 1];
            }
            if at != from {
                let len = at[1] - from[1];
                link = self.link(Run { at: from, len }, link);
            }
            let Some(side) = (0..2).find(|side| self.is_alone(*side, at[*side])) else {
                break;
            };
            at[side] += 1;
            from = at;
        }
        self.furthest[diagonal] = Furthest {
            reach: at[1] + 1,
            at,
            link,
        };
    }

    /// Tells whether only this side has the number at a place.
    fn is_alone(&self, side: usize, at: u32) -> bool {
        self.token(side, at)
            .is_some_and(|token| self.counts[1 - side][token as usize] == 0)
    }

    fn link(&mut self, run: Run, before: u32) -> u32 {
        let link = Link {
            run,
            before,
            uses: 1,
        };
        if let Some(at) = self.free.pop() {
            self.links[at as usize] = link;
            return at;
        }
        self.links.push(link);
        u32::try_from(self.links.len() - 1).unwrap_or(NONE)
    }

    /// Gives back a link that nothing leads to any more, and those before it.
    fn release(&mut self, mut at: u32) {
        while at != NONE {
            let link = &mut self.links[at as usize];
            link.uses -= 1;
            if link.uses > 0 {
                return;
            }
            self.free.push(at);
            at = link.before;
        }
    }

    fn way(&self, mut at: u32) -> Vec<Run> {
        let mut runs = Vec::new();
        while at != NONE {
            let link = &self.links[at as usize];
            runs.push(link.run);
            at = link.before;
        }
        runs.reverse();
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn longest_of(a: &[Token], b: &[Token]) -> Vec<Run> {
        longest([a, b], 16, &mut || Ok(())).unwrap()
    }

    /// The length by the textbook.
    fn length(a: &[Token], b: &[Token]) -> u32 {
        let mut row = vec![0; b.len() + 1];
        for x in a {
            let mut diagonal = 0;
            for (at, y) in b.iter().enumerate() {
                let above = row[at + 1];
                row[at + 1] = if x == y {
                    diagonal + 1
                } else {
                    above.max(row[at])
                };
                diagonal = above;
            }
        }
        row[b.len()]
    }

    #[test]
    fn runs_are_found_in_order() {
        let run = |a, b, len| Run { at: [a, b], len };
        assert_eq!(longest_of(&[], &[1]), []);
        assert_eq!(longest_of(&[1, 2, 3], &[1, 2, 3]), [run(0, 0, 3)]);
        assert_eq!(longest_of(&[1, 2, 3], &[4, 5]), []);
        assert_eq!(
            longest_of(&[1, 9, 3], &[1, 8, 3]),
            [run(0, 0, 1), run(2, 2, 1)]
        );
        assert_eq!(longest_of(&[1, 2], &[2, 1]), [run(0, 1, 1)]);
        assert_eq!(longest_of(&[2], &[2, 2, 2]), [run(0, 0, 1)]);
    }

    proptest::proptest! {
        #[test]
        fn they_are_common_and_as_long_as_can_be(
            a in proptest::collection::vec(0..6_u32, 0..40),
            b in proptest::collection::vec(0..7_u32, 0..40),
        ) {
            let runs = longest_of(&a, &b);
            let mut last = [0, 0];
            for run in &runs {
                let [x, y] = run.at.map(|at| at as usize);
                assert!(run.at[0] >= last[0] && run.at[1] >= last[1]);
                let len = run.len as usize;
                assert_eq!(a[x..x + len], b[y..y + len]);
                last = run.at.map(|at| at + run.len);
            }
            assert_eq!(runs.iter().map(|run| run.len).sum::<u32>(), length(&a, &b));
        }
    }
}
