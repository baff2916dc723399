//! XML as Subversion's programs write it, byte for byte.
//!
//! Each attribute stands on a line of its own, a tag ends with a newline unless text follows in it.
//! Attributes come in the order given (Subversion's own order differs from run to run).

/// How a tag's end looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// `<x>` and a newline.
    Normal,
    /// `<x>` with text following at once.
    Protect,
    /// `<x/>` and a newline.
    SelfClosing,
}

/// Collects XML; take it out with [`Writer::take`] and print it.
#[derive(Debug, Default)]
pub struct Writer {
    text: String,
}

impl Writer {
    /// Makes an empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes the XML declaration.
    pub fn header(&mut self) -> &mut Self {
        self.text
            .push_str("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        self
    }

    /// Writes an opening (or self-closing) tag.
    pub fn open(&mut self, style: Style, tag: &str, attributes: &[(&str, &str)]) -> &mut Self {
        self.text.push('<');
        self.text.push_str(tag);
        for (name, value) in attributes {
            self.text.push_str("\n   ");
            self.text.push_str(name);
            self.text.push_str("=\"");
            escape_attribute(&mut self.text, value);
            self.text.push('"');
        }
        self.text.push_str(match style {
            Style::Normal => ">\n",
            Style::Protect => ">",
            Style::SelfClosing => "/>\n",
        });
        self
    }

    /// Writes a closing tag.
    pub fn close(&mut self, tag: &str) -> &mut Self {
        self.text.push_str("</");
        self.text.push_str(tag);
        self.text.push_str(">\n");
        self
    }

    /// Writes text, escaped.
    pub fn text(&mut self, text: &str) -> &mut Self {
        escape_text(&mut self.text, text);
        self
    }

    /// Writes `<tag>text</tag>`.
    pub fn element(&mut self, tag: &str, text: &str) -> &mut Self {
        self.open(Style::Protect, tag, &[]).text(text).close(tag)
    }

    /// Writes `<tag>text</tag>` if there is text.
    pub fn optional(&mut self, tag: &str, text: Option<&str>) -> &mut Self {
        match text {
            Some(text) => self.element(tag, text),
            None => self,
        }
    }

    /// Writes a property; what XML cannot hold is in base64.
    pub fn property(&mut self, tag: &str, name: &str, value: &[u8]) -> &mut Self {
        let name = ("name", name);
        let text = std::str::from_utf8(value).ok().filter(|_| is_safe(value));
        match text {
            Some(text) => self.open(Style::Protect, tag, &[name]).text(text),
            None => self
                .open(Style::Protect, tag, &[name, ("encoding", "base64")])
                .text(&base64_lines(value)),
        }
        .close(tag)
    }

    /// Takes what was written so far.
    pub fn take(&mut self) -> String {
        std::mem::take(&mut self.text)
    }

    /// Returns what was written since it was last taken.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

fn escape_text(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\r' => out.push_str("&#13;"),
            _ => out.push(c),
        }
    }
}

fn escape_attribute(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\r' => out.push_str("&#13;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            _ => out.push(c),
        }
    }
}

/// Tells whether bytes can stand in an XML document: valid UTF-8 without control characters other
/// than tab, newline, carriage return and delete.
pub fn is_safe(data: &[u8]) -> bool {
    std::str::from_utf8(data).is_ok()
        && !data
            .iter()
            .any(|byte| *byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r'))
}

/// Makes control characters visible where XML cannot hold them, as `?\001`.
pub fn fuzzy_escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii_control() && !matches!(c, '\n' | '\r' | '\t') {
            out.push_str(&format!("?\\{:03}", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    out
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Encodes in lines of 76 characters, each with its newline.
pub fn base64_lines(value: &[u8]) -> String {
    let mut lines = String::with_capacity(value.len() * 4 / 3 + value.len() / 57 + 8);
    for line in value.chunks(57) {
        for group in line.chunks(3) {
            let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
            let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
            for digit in 0..4 {
                if digit > group.len() {
                    lines.push('=');
                } else {
                    let at = (bits >> (18 - 6 * digit)) & 63;
                    lines.push(char::from(ALPHABET[at as usize]));
                }
            }
        }
        lines.push('\n');
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_look_like_subversions() {
        let mut xml = Writer::new();
        xml.header()
            .open(Style::Normal, "info", &[])
            .open(
                Style::Normal,
                "entry",
                &[("path", "a\"'&<>\r\n\t"), ("kind", "dir")],
            )
            .element("url", "a&<>\"'\r\n")
            .open(Style::SelfClosing, "against", &[("revision", "3")])
            .close("entry")
            .close("info");
        assert_eq!(
            xml.take(),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<info>\n<entry\n   \
             path=\"a&quot;&apos;&amp;&lt;&gt;&#13;&#10;&#9;\"\n   kind=\"dir\">\n\
             <url>a&amp;&lt;&gt;\"'&#13;\n</url>\n<against\n   revision=\"3\"/>\n</entry>\n</info>\n"
        );
        assert_eq!(xml.as_str(), "");
    }

    #[test]
    fn unsafe_bytes_are_found_and_shown() {
        assert!(is_safe("a\tb\r\nü\x7f".as_bytes()));
        assert!(!is_safe(b"\x01"));
        assert!(!is_safe(b"\xff"));
        assert_eq!(fuzzy_escape("a\x01b\x7f\n"), "a?\\001b?\\127\n");
    }

    #[test]
    fn base64_has_short_lines() {
        assert_eq!(base64_lines(b"\x01"), "AQ==\n");
        assert_eq!(base64_lines(b"\x01\x02"), "AQI=\n");
        assert_eq!(base64_lines(b"abc"), "YWJj\n");
        assert_eq!(base64_lines(b""), "");
        let two = base64_lines(&[0; 58]);
        assert_eq!(two.lines().map(str::len).collect::<Vec<_>>(), [76, 4]);
    }
}
