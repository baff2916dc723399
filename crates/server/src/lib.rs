//! Serves repositories.
//!
//! [`svn`] speaks the protocol of `svn://`: [`svn::Serving`] is what all connections have in
//! common, [`svn::listen`] serves a socket, [`svn::serve_pipes`] one client on standard input and
//! output.

pub mod svn;
