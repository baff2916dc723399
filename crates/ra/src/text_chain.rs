//! Texts of which each comes as a delta against the one before.

use std::sync::Arc;

use sylvan_core::Result;
use sylvan_delta::{Applier, TextFormat};

/// The last of the texts.
#[derive(Debug, Default)]
pub(crate) struct TextChain {
    last: Arc<Vec<u8>>,
}

impl TextChain {
    /// Makes the next text.
    ///
    /// # Errors
    /// Those of the svndiff family, `INCOMPLETE_DATA` for a delta that is of another text.
    pub(crate) fn next(&mut self, svndiff: &[u8]) -> Result<Arc<Vec<u8>>> {
        let mut text = Vec::with_capacity(self.last.len());
        let mut applier = Applier::new(TextFormat::Svndiff, &self.last[..]);
        applier.push(svndiff, |piece| {
            text.extend_from_slice(piece);
            Ok(())
        })?;
        applier.finish()?;
        self.last = Arc::new(text);
        Ok(self.last.clone())
    }
}
