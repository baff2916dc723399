//! The equal lines at both ends of two texts.
//!
//! Most files change in one place, so this saves most of the work. Which lines are set aside
//! decides which of several shortest differences is found; the rules are Subversion's: all whole
//! lines that the texts begin with, compared byte for byte whatever options say; and, unless one
//! text ends there, those they end with but for the first [`KEPT`] and the one before.
//!
//! In one point Subversion 1.14 is not followed. If the shorter text has a single byte left behind
//! the equal beginning, it goes on comparing from the end into that beginning, and loses lines of
//! the longer one.

use sylvan_core::{Error, ErrorCode, Result};

use crate::source::{BLOCK, Lines, Source};

/// How many equal lines at the end are compared all the same, so that the search, which prefers
/// lines from the beginning, can choose among them.
const KEPT: usize = 50;

/// Equal ends: how many bytes and lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Affix {
    pub(crate) prefix: u64,
    pub(crate) prefix_lines: u32,
    pub(crate) suffix: u64,
    pub(crate) suffix_lines: u32,
}

/// Finds the equal lines at both ends of all texts, of which there are at least two.
pub(crate) fn find(sources: &[&dyn Source]) -> Result<Affix> {
    let shorter = sources.iter().map(|source| source.len()).min().unwrap_or(0);
    if shorter == 0 {
        return Ok(Affix::default());
    }
    let (equal, lines) = equal_start(sources, shorter)?;
    let mut affix = Affix {
        prefix: lines.end,
        prefix_lines: lines.count,
        ..Affix::default()
    };
    if equal < shorter {
        let suffix = equal_end(sources, shorter - affix.prefix - 1)?;
        (affix.suffix, affix.suffix_lines) = without_kept(sources[0], suffix)?;
    }
    Ok(affix)
}

/// Line ends met so far.
#[derive(Clone, Copy, Debug, Default)]
struct LineEnds {
    count: u32,
    /// Where the line after the last one begins, and the one before.
    end: u64,
    end_before: u64,
    after_cr: bool,
}

impl LineEnds {
    fn push(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
        for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
            let end = offset + at as u64 + 1;
            let joins = bytes[at] == b'\n' && self.after_cr && end == self.end + 1;
            if !joins {
                self.count = self.count.checked_add(1).ok_or_else(too_many_lines)?;
                self.end_before = self.end;
            }
            self.end = end;
            self.after_cr = bytes[at] == b'\r';
        }
        Ok(())
    }

    /// Takes the last line end back.
    fn pop(&mut self) {
        self.count -= 1;
        self.end = self.end_before;
    }
}

/// Returns how many bytes all texts begin with, and the lines in them.
fn equal_start(sources: &[&dyn Source], shorter: u64) -> Result<(u64, LineEnds)> {
    let mut buffers = [vec![0; BLOCK], vec![0; BLOCK]];
    let mut lines = LineEnds::default();
    let mut at = 0;
    while at < shorter {
        let starts = |_: &dyn Source, _| at;
        let (len, equal) = compare(
            sources,
            shorter - at,
            starts,
            first_difference,
            &mut buffers,
        )?;
        lines.push(at, &buffers[0][..equal])?;
        at += equal as u64;
        if equal < len {
            break;
        }
    }
    // A CR that ends a line in one text, and begins a line end of two bytes in the other.
    if at > 0 && lines.after_cr && lines.end == at {
        for source in sources {
            let mut next = [0];
            if at < source.len() {
                source.read_at(at, &mut next)?;
            }
            if next == [b'\n'] {
                lines.pop();
                break;
            }
        }
    }
    Ok((at, lines))
}

/// Returns how many bytes all texts end with, at most `limit`.
fn equal_end(sources: &[&dyn Source], limit: u64) -> Result<u64> {
    let mut buffers = [vec![0; BLOCK], vec![0; BLOCK]];
    let mut suffix = 0;
    while suffix < limit {
        let starts = |source: &dyn Source, len: u64| source.len() - suffix - len;
        let left = limit - suffix;
        let (len, equal) = compare(sources, left, starts, last_difference, &mut buffers)?;
        suffix += equal as u64;
        if equal < len {
            break;
        }
    }
    Ok(suffix)
}

/// Leaves the line the equal end begins in, and some more, to the search.
fn without_kept(source: &dyn Source, suffix: u64) -> Result<(u64, u32)> {
    let mut rest = suffix;
    let mut lines = Lines::new(source, source.len() - suffix, source.len());
    let mut passed = 0;
    let mut left: u32 = 0;
    while let Some(piece) = lines.next()? {
        if passed <= KEPT {
            rest -= piece.bytes.len() as u64;
            passed += usize::from(piece.is_last);
        } else if piece.is_last {
            left = left.checked_add(1).ok_or_else(too_many_lines)?;
        }
    }
    Ok((rest, left))
}

/// Compares a block of all texts with the first one's; returns its length and how much of it is
/// equal. `start` tells where it begins in a text.
fn compare(
    sources: &[&dyn Source],
    most: u64,
    start: impl Fn(&dyn Source, u64) -> u64,
    equal: impl Fn(&[u8], &[u8]) -> usize,
    [first, other]: &mut [Vec<u8>; 2],
) -> Result<(usize, usize)> {
    let len = usize::try_from(most).unwrap_or(BLOCK).min(BLOCK);
    let mut count = len;
    for (which, source) in sources.iter().enumerate() {
        let buffer = if which == 0 { &mut *first } else { &mut *other };
        source.read_at(start(*source, len as u64), &mut buffer[..len])?;
        if which > 0 {
            count = count.min(equal(&first[..len], &other[..len]));
        }
    }
    Ok((len, count))
}

const STEP: usize = 64;

/// Returns how many bytes are equal at the front of two texts of one length.
fn first_difference(a: &[u8], b: &[u8]) -> usize {
    let steps = a.chunks(STEP).zip(b.chunks(STEP));
    let at = STEP * steps.take_while(|(a, b)| a == b).count();
    let at = at.min(a.len());
    let rest = a[at..].iter().zip(&b[at..]);
    at + rest.take_while(|(a, b)| a == b).count()
}

/// Returns how many bytes are equal at the back of two texts of one length.
fn last_difference(a: &[u8], b: &[u8]) -> usize {
    let steps = a.rchunks(STEP).zip(b.rchunks(STEP));
    let at = STEP * steps.take_while(|(a, b)| a == b).count();
    let at = at.min(a.len());
    let end = a.len() - at;
    let rest = a[..end].iter().rev().zip(b[..end].iter().rev());
    at + rest.take_while(|(a, b)| a == b).count()
}

/// The error for a text with more lines than are counted.
pub(crate) fn too_many_lines() -> Error {
    Error::new(
        ErrorCode::INCORRECT_PARAMS,
        "Text has too many lines to be compared",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(a: &[u8], b: &[u8]) -> (u64, u32, u64, u32) {
        let affix = find(&[&a, &b]).unwrap();
        (
            affix.prefix,
            affix.prefix_lines,
            affix.suffix,
            affix.suffix_lines,
        )
    }

    #[test]
    fn whole_lines_are_set_aside() {
        for (a, b, prefix, lines) in [
            ("", "a\n", 0, 0),
            ("a\nb", "a\nb\nc", 2, 1),
            ("a\nb\n", "a\nb\nc", 4, 2),
            ("a\nbc", "a\nbd", 2, 1),
            ("x", "y", 0, 0),
            ("a\r\nb\rx", "a\r\nb\ry", 5, 2),
            // A lone CR here, CR and LF there.
            ("a\nb\r", "a\nb\r\n", 2, 1),
            ("a\nb\rc", "a\nb\r\nc", 2, 1),
            ("a\n\rc", "a\n\r\nc", 2, 1),
            ("a\r\rc", "a\r\r\nc", 2, 1),
            ("a\r\n\nc", "a\r\n\nd", 4, 2),
        ] {
            assert_eq!(
                of(a.as_bytes(), b.as_bytes()),
                (prefix, lines, 0, 0),
                "{a:?} {b:?}"
            );
            assert_eq!(
                of(b.as_bytes(), a.as_bytes()),
                (prefix, lines, 0, 0),
                "{b:?} {a:?}"
            );
        }
    }

    #[test]
    fn fifty_lines_and_the_one_before_are_kept() {
        let tail = |count: usize| "line\r\n".repeat(count);
        let a = format!("1\nx{}", tail(60));
        let b = format!("1\nyy{}z", tail(0));
        assert_eq!(of(a.as_bytes(), b.as_bytes()), (2, 1, 0, 0));
        for (count, left) in [(50, 0), (51, 0), (52, 1), (80, 29)] {
            let (a, b) = (
                format!("1\nx{}", tail(count)),
                format!("1\nyy{}", tail(count)),
            );
            let expected = (2, 1, left * 6, u32::try_from(left).unwrap());
            assert_eq!(of(a.as_bytes(), b.as_bytes()), expected, "{count}");
        }
        // A last line without an end counts.
        let (a, b) = (format!("x{}end", tail(60)), format!("yy{}end", tail(60)));
        assert_eq!(of(a.as_bytes(), b.as_bytes()), (0, 0, 9 * 6 + 3, 10));
    }

    #[test]
    fn the_ends_do_not_overlap() {
        let text = |count: usize| "a\n".repeat(count) + "x";
        let (prefix, _, suffix, _) = of(text(100).as_bytes(), text(300).as_bytes());
        assert_eq!((prefix, suffix), (200, 0));
    }

    #[test]
    fn blocks_do_not_matter() {
        let line = "0123456789abcde\n";
        let count = 3 * BLOCK / line.len();
        for shift in [1, 2, 16] {
            let middle = "m".repeat(shift);
            let a = format!("{}{middle}\n{}", line.repeat(count), line.repeat(count));
            let b = format!("{}{middle}+\n{}", line.repeat(count), line.repeat(count));
            let kept = (line.len() * KEPT + 1) as u64;
            let all = (line.len() * count) as u64;
            let lines = u32::try_from(count).unwrap();
            assert_eq!(
                of(a.as_bytes(), b.as_bytes()),
                (all, lines, all + 1 - kept, lines - 50),
                "{shift}"
            );
        }
    }
}
