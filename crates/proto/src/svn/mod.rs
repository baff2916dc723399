//! The protocol of `svn://`, version 2.
//!
//! Both sides send [`item`]s. After the handshake the client sends commands, lists of a word and
//! the list of parameters; the server answers each with an authentication request, which mostly
//! is empty, and a response, `( success ( … ) )` or `( failure ( errors ) )`.

mod error;
pub mod item;

pub use error::ProtocolError;
