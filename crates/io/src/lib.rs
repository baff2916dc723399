//! Everything between Sylvan and the operating system that is neither a socket nor a terminal.
//!
//! - [`Cancel`], the flag that a signal sets and every loop polls; [`Progress`], counters that a
//!   program may draw.
//! - [`config`], Subversion's configuration files; [`auth_store`], its stored credentials.
//! - [`mod@file`], steps on files and folders, counted by [`fault`]; [`fs_type`], what they are on.
//! - [`time_zone`], the user's.

pub mod auth_store;
mod cancel;
pub mod config;
pub mod fault;
pub mod file;
mod fs_type;
#[doc(hidden)]
pub mod fuzz;
mod progress;
mod time_zone;

pub use cancel::Cancel;
pub use config::{Category, Config};
pub use fs_type::{FsType, fs_type, worker_count};
pub use progress::Progress;
pub use time_zone::{clock, time_zone};
