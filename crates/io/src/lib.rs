//! Everything between Sylvan and the operating system that is neither a socket nor a terminal.
//!
//! - [`Cancel`], the flag that a signal sets and every loop polls; [`Progress`], counters that a
//!   program may draw.
//! - [`config`], Subversion's configuration files.

mod cancel;
pub mod config;
mod progress;

pub use cancel::Cancel;
pub use config::{Category, Config};
pub use progress::Progress;
