//! The dialect: sections, options, continuation lines, comments.

use sylvan_core::{Error, ErrorCode, Result};

/// A part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigItem<'a> {
    /// A section begins.
    Section(&'a str),
    /// An option of the section.
    Option {
        /// The section.
        section: &'a str,
        /// The option's name.
        name: &'a str,
        /// Its value, of which continuation lines are a part.
        value: &'a str,
    },
}

/// Reads `text` and calls `add(section, option, value)` for each option, in order.
pub(super) fn parse(text: &[u8], add: &mut dyn FnMut(&str, &str, &str)) -> Result<()> {
    parse_items(text, &mut |item| {
        if let ConfigItem::Option {
            section,
            name,
            value,
        } = item
        {
            add(section, name, value);
        }
        Ok(())
    })
}

/// Reads `text` and gives its sections and options to `take`, in order.
///
/// An option begins in the first column and goes up to `=` or `:`, whichever is first; lines after
/// it that begin with a blank continue its value. Empty lines end a value. In errors, lines are
/// numbered as Subversion does it: section headers do not count.
///
/// # Errors
/// `MALFORMED_FILE` for what breaks the rules of the dialect, and what `take` gives.
pub fn parse_items(text: &[u8], take: &mut dyn FnMut(ConfigItem<'_>) -> Result<()>) -> Result<()> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let text = String::from_utf8_lossy(text);
    let mut lines = text.split('\n').map(Line::new).enumerate().peekable();
    let mut section = String::new();
    let mut headers = 0;
    while let Some((at, line)) = lines.next() {
        let number = at + 1 - headers;
        let bad =
            |what: &str| Error::new(ErrorCode::MALFORMED_FILE, format!("line {number}: {what}"));
        match line.first {
            None => {}
            Some('[') if line.is_indented => {
                return Err(bad("Section header must start in the first column"));
            }
            Some('[') => {
                let (name, _) = line.text[1..]
                    .split_once(']')
                    .ok_or_else(|| bad("Section header must end with ']'"))?;
                headers += 1;
                name.clone_into(&mut section);
                take(ConfigItem::Section(name))?;
            }
            Some('#') if line.is_indented => {
                return Err(bad("Comment must start in the first column"));
            }
            Some('#') => {}
            Some(_) if section.is_empty() => return Err(bad("Section header expected")),
            Some(_) if line.is_indented => return Err(bad("Option expected")),
            Some(_) => {
                let (option, value) = line
                    .text
                    .split_once([':', '='])
                    .ok_or_else(|| bad("Option must end with ':' or '='"))?;
                let mut value = value.trim_matches(is_space).to_owned();
                while let Some((_, next)) = lines.next_if(|(_, next)| next.continues()) {
                    value.push(' ');
                    value.push_str(next.text.trim_matches(is_space));
                }
                take(ConfigItem::Option {
                    section: &section,
                    name: option.trim_end_matches(is_space),
                    value: &value,
                })?;
            }
        }
    }
    Ok(())
}

/// A line without its end.
struct Line<'a> {
    text: &'a str,
    is_indented: bool,
    /// The first character that is not a blank.
    first: Option<char>,
}

impl<'a> Line<'a> {
    fn new(text: &'a str) -> Self {
        let text = text.trim_start_matches('\r');
        let inner = text.trim_start_matches(is_space);
        Self {
            text,
            is_indented: inner.len() < text.len(),
            first: inner.chars().next(),
        }
    }

    fn continues(&self) -> bool {
        self.is_indented && self.first.is_some()
    }
}

/// Tells whether C's `isspace` holds.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n' | '\x0b' | '\x0c')
}
