//! Sessions against real servers, and against servers that lie.

mod apache;
mod dump;
mod hostile;
mod local;
mod proxy;
mod svn;
mod tls;
