//! Sessions against real servers, and against servers that lie.

mod apache;
mod dump;
mod hostile;
mod proxy;
mod svn;
mod tls;
