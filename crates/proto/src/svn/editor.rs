//! The editor command set: a tree change on the wire.
//!
//! [`Decoder`] turns bytes into calls of a [`delta::Editor`](sylvan_delta::Editor), [`EditorWriter`] turns calls
//! into bytes. The driver sends commands without waiting; only the end is answered.
//!
//! The decoder trusts nothing: whatever bytes come, the calls keep the rules in the trait's
//! documentation, and no path leaves the root of the drive.

mod decode;
mod tree;
mod write;

pub use decode::{Decoder, DriveError, Event};
pub use write::EditorWriter;

#[cfg(test)]
mod tests;
