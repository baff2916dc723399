//! The protocol of `svn://`, version 2.
//!
//! Both sides send [`item`]s. After the [`handshake`] the client sends [`Command`]s, lists of a word
//! and the list of parameters, which the server reads as [`Request`]s; it answers each with an
//! [authentication](auth) request, which mostly is empty, and a [`Response`], `( success ( … ) )` or
//! `( failure ( errors ) )`, in which there is what [`answer`] writes and [`reply`] reads.
//! Some commands turn the roles: after a report the server sends the commands of an [`editor`].

pub mod answer;
pub mod auth;
mod command;
pub mod editor;
mod error;
pub mod handshake;
pub mod item;
pub mod message;
pub mod reply;
mod request;

pub use command::{Command, Drive, write_abort_report, write_finish_report, write_report_entry};
pub use error::ProtocolError;
pub use message::Response;
pub use request::{ReportCommand, ReportRequest, Request};

use sylvan_core::{RelPath, RelPathBuf, text};

/// The most components of a path: more than the paths of systems have. What walks through trees
/// needs memory for each level.
const MAX_COMPONENTS: usize = 2048;

/// Makes a path from a peer canonical, and refuses one that leads out of where it belongs or that
/// no repository can have.
fn check_path(given: &str) -> Result<RelPathBuf, ProtocolError> {
    let path = match RelPath::new(given) {
        Ok(path) => path.to_owned(),
        Err(_) => RelPathBuf::canonicalize(given)?,
    };
    text::check_path(path.as_str())?;
    if path.depth() > MAX_COMPONENTS {
        return Err(ProtocolError::unexpected("Path has too many components"));
    }
    Ok(path)
}
