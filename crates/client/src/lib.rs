//! What a user does with repositories and working copies: one module an operation.
//!
//! Each operation takes a [`Context`], which carries what it may use: the sessions opened so far,
//! the configuration, the cancellation flag.

pub mod changelist;
pub mod checkout;
pub mod cleanup;
mod context;
mod disk;
pub mod externals;
pub mod location;
mod relocate;
mod switch;
pub mod update;

pub use context::{Context, Opener, PooledSession, Sessions};
