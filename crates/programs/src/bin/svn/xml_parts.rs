//! Pieces of XML that several subcommands print.

use sylvan_cmdline::print::Output;
use sylvan_cmdline::xml::{Style, Writer};
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
    writer.property("property", name, value);
}
