//! Access to repositories.
//!
//! [`Session`] is one connection (or several, hidden) to a repository, opened at a URL in it by
//! [`open`]. What all sessions of a program share is a [`Context`]: configuration, credentials
//! ([`auth`]), the cancellation flag and counters.

pub mod auth;
#[doc(hidden)]
pub mod fuzz;
pub mod http;
mod local;
mod open;
mod segments;
mod session;
mod svn;
mod text_chain;
pub mod tunnel;
mod whole_text;

pub use sylvan_fs::Cache;

pub use open::{Context, open, open_following};
pub use session::*;
