//! Side-by-side runs with Debian's svn of what is easily seen from outside.
//!
//! They are ignored by default, as svn need not be installed: `cargo test -- --include-ignored`.

mod dates;
mod externals;
mod globs;
mod sandbox;
mod translation;
