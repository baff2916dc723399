//! Differences of texts and properties, found and shown as Subversion does.
//!
//! [`diff`] tells which lines of two [`Source`]s differ; [`unified::write`] shows that as hunks;
//! [`props::write`] shows what changed in properties. Which of several shortest differences is
//! found matters to those who compare our output with Subversion's, so the steps are its own:
//! equal lines at both ends are set aside (`affix`), lines become numbers (`token`), and the
//! longest common subsequence of these is searched in Subversion's order (`lcs`).
//!
//! [`diff3`] finds what two changes of one text do to it, [`merge::write`] writes the text with
//! both, with markers where they conflict.
//!
//! Texts are read in pieces; kept are a number for each line between the equal ends and what the
//! search needs, so that memory grows with the number of lines, not with their length.
//!
//! ```
//! use sylvan_diff::{Options, unified};
//!
//! let (old, new) = (&b"a\nb\n"[..], &b"a\nc\n"[..]);
//! let options = Options::default();
//! let diff = sylvan_diff::diff([&old, &new], &options, &mut || Ok(())).unwrap();
//! let mut out = Vec::new();
//! let mut sink = |bytes: &[u8]| {
//!     out.extend_from_slice(bytes);
//!     Ok(())
//! };
//! unified::write(&diff, [&old, &new], ["x\t(rev 1)", "x\t(rev 2)"], &options, &mut sink).unwrap();
//! assert_eq!(
//!     out,
//!     b"--- x\t(rev 1)\n+++ x\t(rev 2)\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
//! );
//! ```

mod affix;
pub mod binary;
mod lcs;
pub mod merge;
mod normalize;
mod options;
pub mod props;
mod source;
mod three_way;
mod token;
mod two_way;
pub mod unified;

pub use options::{IgnoreSpace, Options};
pub use source::{FileSource, Source};
pub use three_way::{Diff3, Hunk, HunkKind, diff3, diff3_whole};
pub use two_way::{Change, Diff, diff, diff_whole};

use sylvan_core::Result;

/// Where output goes.
pub type Sink<'a> = dyn FnMut(&[u8]) -> Result<()> + 'a;

/// What a long search calls now and then; an error ends it.
pub type Poll<'a> = dyn FnMut() -> Result<()> + 'a;
