//! The answer to `get-file-revs`: entries, each followed by the chunks of its text's delta.

use sylvan_core::Result;
use sylvan_proto::svn::ProtocolError;
use sylvan_proto::svn::item::Item;
use sylvan_proto::svn::reply;

use crate::FileRev;
use crate::text_chain::TextChain;

/// Puts entries and chunks together.
#[derive(Default)]
pub(super) struct FileRevReader {
    entry: Option<reply::FileRev>,
    delta: Vec<u8>,
    texts: TextChain,
}

impl FileRevReader {
    /// Takes the next item; returns a revision that it completes.
    ///
    /// # Errors
    /// `RA_SVN_MALFORMED_DATA`, and those of deltas.
    pub(super) fn take(&mut self, item: Item<'_>) -> Result<Option<FileRev>> {
        let Some(entry) = self.entry.take() else {
            self.entry = Some(reply::read_file_rev(item.list()?)?);
            return Ok(None);
        };
        let Item::String(chunk) = item else {
            return Err(ProtocolError::Malformed.into());
        };
        if !chunk.is_empty() {
            self.delta.extend_from_slice(chunk);
            self.entry = Some(entry);
            return Ok(None);
        }
        let text = if self.delta.is_empty() {
            None
        } else {
            let text = self.texts.next(&self.delta)?;
            self.delta.clear();
            Some(text)
        };
        Ok(Some(FileRev {
            path: entry.path,
            rev: entry.rev,
            revprops: entry.revprops,
            merged: entry.merged,
            prop_changes: entry.prop_changes,
            text,
        }))
    }

    /// Tells whether no revision has begun.
    pub(super) const fn is_between(&self) -> bool {
        self.entry.is_none()
    }
}
