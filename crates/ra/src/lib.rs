//! Access to repositories.
//!
//! [`Session`] is one connection (or several, hidden) to a repository, opened at a URL in it.

mod session;

pub use session::*;
