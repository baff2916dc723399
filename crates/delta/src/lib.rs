//! Tree changes and file contents on their way.
//!
//! [`Editor`] is the trait by which a tree change is described, call by call.

mod editor;
mod report;

pub use editor::{CopyFrom, Editor, TextFormat, Token};
pub use report::ReportEntry;
