//! Tree changes and file contents on their way.
//!
//! [`Editor`] is the trait by which a tree change is described, call by call; [`CheckingEditor`]
//! asserts the order of the calls in tests. File contents travel as [`svndiff`] streams, which an
//! [`Applier`] turns into the new text.

mod apply;
mod check;
mod count;
mod editor;
mod report;
pub mod svndiff;

#[doc(hidden)]
pub mod fuzz;

pub use apply::{Applier, Base, EmptyBase, SeekBase};
pub use check::CheckingEditor;
pub use count::CountingEditor;
pub use editor::{CopyFrom, Editor, Fulltext, TextFormat, Token};
pub use report::ReportEntry;
