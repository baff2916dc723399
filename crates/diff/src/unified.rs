//! Unified output.

use sylvan_core::Result;

use crate::source::Lines;
use crate::two_way::Change;
use crate::{Diff, Options, Sink, Source};

/// How hunks look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Style {
    /// What stands around the numbers of lines.
    pub(crate) delimiter: &'static str,
    /// What is said behind a line without an end.
    pub(crate) no_newline: &'static str,
}

/// The hunks of a file.
pub(crate) const FILE: Style = Style {
    delimiter: "@@",
    no_newline: "\n\\ No newline at end of file\n",
};

/// The hunks of a property.
pub(crate) const PROPERTY: Style = Style {
    delimiter: "##",
    no_newline: "\n\\ No newline at end of property\n",
};

/// The longest line of a function's beginning that is shown.
const LONGEST_CONTEXT: usize = 50;

/// Writes the two lines above hunks.
///
/// # Errors
/// What `sink` returned.
pub fn write_header(labels: [&str; 2], sink: &mut Sink<'_>) -> Result<()> {
    sink(format!("--- {}\n+++ {}\n", labels[0], labels[1]).as_bytes())
}

/// Writes a difference of two files, if there is any.
///
/// # Errors
/// If a text cannot be read, and what `sink` returned.
pub fn write(
    diff: &Diff,
    sources: [&dyn Source; 2],
    labels: [&str; 2],
    options: &Options,
    sink: &mut Sink<'_>,
) -> Result<()> {
    if diff.is_empty() {
        return Ok(());
    }
    write_header(labels, sink)?;
    write_hunks(diff, sources, options, FILE, sink)
}

pub(crate) fn write_hunks(
    diff: &Diff,
    sources: [&dyn Source; 2],
    options: &Options,
    style: Style,
    sink: &mut Sink<'_>,
) -> Result<()> {
    let mut writer = Writer {
        sides: sources.map(|source| Side {
            lines: Lines::new(source, 0, source.len()),
            at: 0,
        }),
        style,
        function: options.show_c_function.then(Vec::new),
        sink,
    };
    let mut rest = &diff.changes[..];
    while !rest.is_empty() {
        let (hunk, after) = rest.split_at(hunk_len(rest, options.context));
        writer.hunk(hunk, diff.lines[0], options.context)?;
        rest = after;
    }
    Ok(())
}

/// Returns how many of the changes make the first hunk: those whose context touches.
fn hunk_len(changes: &[Change], context: u32) -> usize {
    let apart = |pair: &[Change]| {
        let end = u64::from(pair[0].original.end);
        let next = u64::from(pair[1].original.start);
        let next = next - u64::from(context).min(next);
        end < next && end + u64::from(context) <= next
    };
    changes.windows(2).take_while(|pair| !apart(pair)).count() + 1
}

struct Side<'s> {
    lines: Lines<'s>,
    /// How many lines were read.
    at: u32,
}

struct Writer<'s, 'k, 'f> {
    sides: [Side<'s>; 2],
    style: Style,
    /// The last line that looks like the beginning of a function, if that is asked for.
    function: Option<Vec<u8>>,
    sink: &'k mut Sink<'f>,
}

impl Writer<'_, '_, '_> {
    fn hunk(&mut self, changes: &[Change], lines: u32, context: u32) -> Result<()> {
        let [first, .., last] = changes else {
            return match changes {
                [only] => self.hunk_of(changes, only, only, lines, context),
                _ => Ok(()),
            };
        };
        self.hunk_of(changes, first, last, lines, context)
    }

    fn hunk_of(
        &mut self,
        changes: &[Change],
        first: &Change,
        last: &Change,
        lines: u32,
        context: u32,
    ) -> Result<()> {
        let before = first.original.start.min(context);
        let start = first.original.start - before;
        let end = last.original.end.saturating_add(context).min(lines);
        let after = end - last.original.end;
        let modified_start = first.modified.start.saturating_sub(before);
        let modified_end = u64::from(last.modified.end) + u64::from(after);
        self.skip(0, start)?;
        self.head(
            (start, u64::from(end - start)),
            (modified_start, modified_end - u64::from(modified_start)),
        )?;
        for change in changes {
            self.lines(0, b" ", change.original.start)?;
            self.skip(1, change.modified.start)?;
            self.lines(0, b"-", change.original.end)?;
            self.lines(1, b"+", change.modified.end)?;
        }
        self.lines(0, b" ", end)
    }

    fn head(&mut self, old: (u32, u64), new: (u32, u64)) -> Result<()> {
        let range = |(start, len): (u32, u64)| {
            // Lines count from 1, but an empty range stands behind the line before.
            let start = u64::from(start) + u64::from(len > 0);
            if len == 1 {
                start.to_string()
            } else {
                format!("{start},{len}")
            }
        };
        let delimiter = self.style.delimiter;
        let mut text = format!("{delimiter} -{} +{} {delimiter}", range(old), range(new));
        let function = self.function.as_deref().map(shown_function);
        if let Some(function) = function.filter(|function| !function.is_empty()) {
            text.push(' ');
            text.push_str(function);
        }
        text.push('\n');
        (self.sink)(text.as_bytes())
    }

    fn skip(&mut self, side: usize, until: u32) -> Result<()> {
        while self.sides[side].at < until {
            let looks = side == 0 && self.function.is_some();
            self.sides[side].at += 1;
            if looks {
                self.line(0, None)?;
            } else {
                self.sides[side].lines.skip()?;
            }
        }
        Ok(())
    }

    fn lines(&mut self, side: usize, mark: &[u8], until: u32) -> Result<()> {
        while self.sides[side].at < until {
            self.sides[side].at += 1;
            self.line(side, Some(mark))?;
        }
        Ok(())
    }

    /// Goes past a line, which is written behind `mark` if there is one.
    fn line(&mut self, side: usize, mark: Option<&[u8]>) -> Result<()> {
        let is_common = side == 0 && mark.is_none_or(|mark| mark == b" ");
        let function = self.function.as_mut().filter(|_| is_common);
        let mut function = Beginning::Unseen(function);
        let mut is_first = true;
        while let Some(piece) = self.sides[side].lines.next()? {
            function.push(piece.bytes);
            if let Some(mark) = mark {
                if is_first {
                    (self.sink)(mark)?;
                }
                (self.sink)(piece.bytes)?;
                if piece.is_last && !piece.has_eol() {
                    (self.sink)(self.style.no_newline.as_bytes())?;
                }
            }
            is_first = false;
            if piece.is_last {
                break;
            }
        }
        Ok(())
    }
}

/// Keeps the front of a line that looks like the beginning of a function.
enum Beginning<'f> {
    Unseen(Option<&'f mut Vec<u8>>),
    Kept(&'f mut Vec<u8>),
    Other,
}

impl Beginning<'_> {
    fn push(&mut self, piece: &[u8]) {
        if let Self::Unseen(function) = self {
            *self = match function.take() {
                Some(function) if begins_function(piece) => {
                    function.clear();
                    Self::Kept(function)
                }
                _ => Self::Other,
            };
        }
        if let Self::Kept(function) = self {
            let room = LONGEST_CONTEXT.saturating_sub(function.len());
            function.extend_from_slice(&piece[..piece.len().min(room)]);
        }
    }
}

fn begins_function(line: &[u8]) -> bool {
    const LABELS: [&[u8]; 3] = [b"public:", b"private:", b"protected:"];
    line.first()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'$' | b'_'))
        && !LABELS.iter().any(|label| line.starts_with(label))
}

/// What of such a line is shown: up to a NUL or what is no UTF-8, without white space at its end.
fn shown_function(line: &[u8]) -> &str {
    let end = line.iter().position(|byte| *byte == 0);
    let mut line = &line[..end.unwrap_or(line.len())];
    while let [rest @ .., b' ' | b'\t'..=b'\r'] = line {
        line = rest;
    }
    match std::str::from_utf8(line) {
        Ok(text) => text,
        Err(error) => {
            let valid = &line[..error.valid_up_to()];
            std::str::from_utf8(valid).unwrap_or_default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(a: &str, b: &str, words: &[&str]) -> String {
        let options = Options::parse(words).unwrap();
        let (a, b) = (a.as_bytes(), b.as_bytes());
        let diff = crate::diff([&a, &b], &options, &mut || Ok(())).unwrap();
        let mut out = Vec::new();
        let mut sink = |bytes: &[u8]| {
            out.extend_from_slice(bytes);
            Ok(())
        };
        write_hunks(&diff, [&a, &b], &options, FILE, &mut sink).unwrap();
        String::from_utf8_lossy(&out).into_owned()
    }

    #[test]
    fn hunks_have_heads_and_context() {
        assert_eq!(shown("a\n", "a\n", &[]), "");
        assert_eq!(
            shown("", "a\nb", &[]),
            "@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n"
        );
        assert_eq!(shown("a\n", "", &[]), "@@ -1 +0,0 @@\n-a\n");
        assert_eq!(
            shown("a\nb", "a\nb\n", &[]),
            "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"
        );
        // A CR is an end.
        assert_eq!(shown("a\r", "b\r", &[]), "@@ -1 +1 @@\n-a\r+b\r");
    }

    #[test]
    fn changes_whose_context_touches_are_one_hunk() {
        let text = |changed: &[u32]| {
            (0..30).fold(String::new(), |text, line| {
                let mark = if changed.contains(&line) { "x" } else { "" };
                text + &format!("{line}{mark}\n")
            })
        };
        let heads = |second: u32, words: &[&str]| {
            let shown = shown(&text(&[]), &text(&[5, second]), words);
            shown.matches("@@ -").count()
        };
        assert_eq!(heads(11, &[]), 1);
        assert_eq!(heads(12, &[]), 2);
        assert_eq!(heads(7, &["-U0"]), 2);
        assert_eq!(heads(8, &["-U1"]), 2);
        assert_eq!(heads(7, &["-U1"]), 1);
    }

    #[test]
    fn heads_show_functions() {
        let body = "  1\n  2\n  3\n  4\n";
        let long = "f".repeat(60);
        for (line, expected) in [
            ("int f(void)  \r\n", " int f(void)"),
            ("_x\n", " _x"),
            ("public: int x\n", ""),
            ("{\n", ""),
            (&format!("{long}\n"), &format!(" {}", &long[..50])),
            ("é\n", ""),
            (&format!("{}é\n", &long[..49]), &format!(" {}", &long[..49])),
        ] {
            let shown = shown(
                &format!("{line}{body}x\n"),
                &format!("{line}{body}y\n"),
                &["-p"],
            );
            let head = shown.lines().next().unwrap();
            assert_eq!(head, format!("@@ -3,4 +3,4 @@{expected}"), "{line:?}");
        }
    }
}
