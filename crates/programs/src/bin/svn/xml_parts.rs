//! Pieces of XML that several subcommands print.

use sylvan_cmdline::print::Output;
use sylvan_cmdline::xml::{self, Style, Writer};
use sylvan_core::{Lock, NodeKind, Result, Revnum, Timestamp};

/// Prints the declaration and opens the document's element.
///
/// # Errors
/// Those of [`Output::print`].
pub(crate) fn begin(out: &mut Output, tag: &str) -> Result<()> {
    out.print(Writer::new().header().open(Style::Normal, tag, &[]).take())
}

/// Closes the document's element.
///
/// # Errors
/// Those of [`Output::print`].
pub(crate) fn end(out: &mut Output, tag: &str) -> Result<()> {
    out.print(Writer::new().close(tag).take())
}

/// Returns the word for a kind; empty if it is not known.
pub(crate) const fn kind(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Unknown => "",
        _ => kind.as_str(),
    }
}

/// Writes the last change of a node.
pub(crate) fn commit(
    writer: &mut Writer,
    rev: Option<Revnum>,
    author: Option<&str>,
    date: Option<Timestamp>,
) {
    let rev = rev.map_or(-1, Revnum::number).to_string();
    writer
        .open(Style::Normal, "commit", &[("revision", &rev)])
        .optional("author", author)
        .optional("date", date.map(Timestamp::to_iso).as_deref())
        .close("commit");
}

/// Writes a lock.
pub(crate) fn lock(writer: &mut Writer, lock: &Lock) {
    writer
        .open(Style::Normal, "lock", &[])
        .element("token", &lock.token)
        .element("owner", &lock.owner)
        .optional("comment", lock.comment.as_deref())
        .element("created", &lock.created.to_iso())
        .optional("expires", lock.expires.map(Timestamp::to_iso).as_deref())
        .close("lock");
}

/// Writes a property; what XML cannot hold is in base64.
pub(crate) fn property(writer: &mut Writer, name: &str, value: &[u8]) {
    let text = std::str::from_utf8(value)
        .ok()
        .filter(|_| xml::is_safe(value));
    match text {
        Some(text) => writer
            .open(Style::Protect, "property", &[("name", name)])
            .text(text),
        None => writer
            .open(
                Style::Protect,
                "property",
                &[("name", name), ("encoding", "base64")],
            )
            .text(&base64_lines(value)),
    }
    .close("property");
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Encodes in lines of 76 characters, each with its newline.
fn base64_lines(value: &[u8]) -> String {
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
    fn base64_has_short_lines() {
        assert_eq!(base64_lines(b"\x01"), "AQ==\n");
        assert_eq!(base64_lines(b"\x01\x02"), "AQI=\n");
        assert_eq!(base64_lines(b"abc"), "YWJj\n");
        assert_eq!(base64_lines(b""), "");
        let two = base64_lines(&[0; 58]);
        assert_eq!(two.lines().map(str::len).collect::<Vec<_>>(), [76, 4]);
    }
}
