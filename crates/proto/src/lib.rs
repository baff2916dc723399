//! Subversion's wire protocols without sockets.
//!
//! Codecs take bytes and give messages or ask for more; state machines above them take messages
//! and say what to do. Sockets, threads, TLS and time are outside, so that client and server can
//! be tested against each other in one thread.
//!
//! - [`dav`]: WebDAV/DeltaV with Subversion's reports, for `http://` and `https://`.
//! - [`svn`]: the protocol of `svn://` and its tunnels.

pub mod dav;
#[doc(hidden)]
pub mod fuzz;
pub mod svn;
