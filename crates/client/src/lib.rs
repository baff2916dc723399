//! What a user does with repositories and working copies: one module an operation.
//!
//! Each operation takes a [`Context`], which carries what it may use: the sessions opened so far,
//! the configuration, where notifications go.

mod context;

pub use context::{Context, Opener, PooledSession, Sessions};
