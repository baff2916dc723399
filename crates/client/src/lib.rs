//! What a user does with repositories and working copies: one module an operation.
//!
//! Each operation takes a [`Context`], which carries what it may use: the sessions opened so far,
//! the configuration, the cancellation flag.

mod context;
pub mod location;

pub use context::{Context, Opener, PooledSession, Sessions};
