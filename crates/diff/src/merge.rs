//! A text that two others are merged into.

use sylvan_core::Result;

use crate::source::{BLOCK, Lines};
use crate::{Diff3, Hunk, HunkKind, Sink, Source};

/// What is written where both sides changed a part in their own way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// All three parts between markers.
    #[default]
    All,
    /// The two changed parts between markers.
    Sides,
    /// The modified part.
    Modified,
    /// The latest part.
    Latest,
}

/// The lines around conflicts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    /// Before the modified part, `<<<<<<< .mine`.
    pub modified: String,
    /// Before the original part, `||||||| .r1`.
    pub original: String,
    /// Before the latest part, `=======`.
    pub separator: String,
    /// After the latest part, `>>>>>>> .r2`.
    pub latest: String,
}

impl Labels {
    /// Makes the usual ones: markers with a name for each text.
    pub fn new(original: &str, modified: &str, latest: &str) -> Self {
        Self {
            modified: format!("<<<<<<< {modified}"),
            original: format!("||||||| {original}"),
            separator: "=======".to_owned(),
            latest: format!(">>>>>>> {latest}"),
        }
    }
}

/// Writes the merged text.
///
/// # Errors
/// If a text cannot be read, and what `sink` returned.
pub fn write(
    diff: &Diff3,
    sources: [&dyn Source; 3],
    labels: &Labels,
    style: Style,
    sink: &mut Sink<'_>,
) -> Result<()> {
    let mut writer = Writer {
        texts: sources.map(|source| Text {
            lines: Lines::new(source, 0, source.len()),
            at: 0,
        }),
        labels,
        eol: first_eol(sources[MODIFIED])?.unwrap_or("\n"),
        sink,
    };
    for hunk in &diff.hunks {
        match (hunk.kind, style) {
            (HunkKind::Latest, _) | (HunkKind::Conflict, Style::Latest) => {
                writer.lines(LATEST, hunk)?;
            }
            (HunkKind::Common | HunkKind::Modified | HunkKind::Both, _)
            | (HunkKind::Conflict, Style::Modified) => writer.lines(MODIFIED, hunk)?,
            (HunkKind::Conflict, Style::All | Style::Sides) => {
                writer.conflict(hunk, style == Style::All)?;
            }
        }
    }
    Ok(())
}

const ORIGINAL: usize = 0;
const MODIFIED: usize = 1;
const LATEST: usize = 2;

struct Text<'s> {
    lines: Lines<'s>,
    /// How many lines were read.
    at: u32,
}

struct Writer<'s, 'k, 'f> {
    texts: [Text<'s>; 3],
    labels: &'s Labels,
    eol: &'static str,
    sink: &'k mut Sink<'f>,
}

impl Writer<'_, '_, '_> {
    fn conflict(&mut self, hunk: &Hunk, with_original: bool) -> Result<()> {
        let labels = self.labels;
        self.marker(&labels.modified)?;
        self.lines(MODIFIED, hunk)?;
        if with_original {
            self.marker(&labels.original)?;
            self.lines(ORIGINAL, hunk)?;
        }
        self.marker(&labels.separator)?;
        self.lines(LATEST, hunk)?;
        self.marker(&labels.latest)
    }

    fn marker(&mut self, label: &str) -> Result<()> {
        (self.sink)(label.as_bytes())?;
        (self.sink)(self.eol.as_bytes())
    }

    /// Writes the lines that a text has in a hunk.
    fn lines(&mut self, which: usize, hunk: &Hunk) -> Result<()> {
        let range = [&hunk.original, &hunk.modified, &hunk.latest][which];
        let text = &mut self.texts[which];
        while text.at < range.start && text.lines.skip()? {
            text.at += 1;
        }
        while text.at < range.end
            && let Some(piece) = text.lines.next()?
        {
            (self.sink)(piece.bytes)?;
            text.at += u32::from(piece.is_last);
        }
        Ok(())
    }
}

/// Returns the first line end of a text.
fn first_eol(source: &dyn Source) -> Result<Option<&'static str>> {
    let mut at = 0;
    let mut buffer = vec![0; BLOCK];
    while at < source.len() {
        let len = usize::try_from(source.len() - at)
            .unwrap_or(BLOCK)
            .min(BLOCK);
        source.read_at(at, &mut buffer[..len])?;
        if let Some(found) = memchr::memchr2(b'\n', b'\r', &buffer[..len]) {
            if buffer[found] == b'\n' {
                return Ok(Some("\n"));
            }
            let next = at + found as u64 + 1;
            let mut byte = [0];
            if next < source.len() {
                source.read_at(next, &mut byte)?;
            }
            return Ok(Some(if byte == [b'\n'] { "\r\n" } else { "\r" }));
        }
        at += len as u64;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, diff3};

    fn merged(texts: [&str; 3], style: Style) -> String {
        let [a, b, c] = texts.map(str::as_bytes);
        let sources: [&dyn Source; 3] = [&a, &b, &c];
        let diff = diff3(sources, &Options::default(), &mut || Ok(())).unwrap();
        let mut out = Vec::new();
        let mut sink = |bytes: &[u8]| {
            out.extend_from_slice(bytes);
            Ok(())
        };
        let labels = Labels::new(".r1", ".mine", ".r2");
        write(&diff, sources, &labels, style, &mut sink).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn both_changes_are_in_the_merged_text() {
        let texts = ["a\nb\nc\n", "x\nb\nc\n", "a\nb\ny\n"];
        assert_eq!(merged(texts, Style::All), "x\nb\ny\n");
    }

    #[test]
    fn conflicts_have_markers_with_the_line_ends_of_the_modified_text() {
        let texts = ["a\r\nb\r\n", "a\r\nx\r\n", "a\r\ny"];
        let expected = "a\r\n<<<<<<< .mine\r\nx\r\n||||||| .r1\r\nb\r\n=======\r\ny>>>>>>> .r2\r\n";
        assert_eq!(merged(texts, Style::All), expected);
        let expected = "a\r\n<<<<<<< .mine\r\nx\r\n=======\r\ny>>>>>>> .r2\r\n";
        assert_eq!(merged(texts, Style::Sides), expected);
        assert_eq!(merged(texts, Style::Modified), "a\r\nx\r\n");
        assert_eq!(merged(texts, Style::Latest), "a\r\ny");
    }
}
