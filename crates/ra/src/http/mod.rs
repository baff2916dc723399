//! Sessions over `http://` and `https://`.
//!
//! The protocol is WebDAV/DeltaV with Subversion's reports, in two versions: servers since 1.7
//! ("HTTP v2") say in their answer to the first `OPTIONS` how URLs of revisions are made; older
//! ones are asked for each with `PROPFIND` ("v1"). Bodies are written and parsed by
//! [`sylvan_proto::dav`].
//!
//! The layers, from below:
//!
//! - `wire`: HTTP/1.1 as bytes (httparse takes heads apart), no sockets;
//! - `conn`: one socket, plain or TLS, that polls the cancellation flag and knows a time limit;
//! - `tls`, `x509`: trust as Subversion decides it, client certificates;
//! - `auth`: Basic and Digest; `client`: requests with credentials, proxies, errors;
//! - `nodes`: revisions and URLs; `session`: the methods, `values`: what they return; `update`:
//!   reports and the fetching of contents, which wait in a `queue`.
//!
//! # Why no HTTP library
//!
//! Blocking sockets and threads are what this side of the program is made of. hyper would add a
//! runtime, its start-up and a copy of each body through channels, and does not pipeline: with
//! many small files that is a round trip each. What is left after httparse and rustls is the
//! framing of bodies, a hundred lines. Several connections are threads with a slot each.
//!
//! # Updates
//!
//! A report with contents inside (`send-all`) comes over one connection and needs no request but
//! itself. Without, each file is got by a request of its own, on several connections at once with
//! several requests under way on each. `http-bulk-updates` chooses, as the server's
//! `SVN-Allow-Bulk-Updates: Off` does. By default files are got one by one, as by Subversion: a
//! checkout of 1,886 files of 48 MB from Debian's Apache on the same machine took 1.0 s instead of
//! 1.8 s (release build, two busy cores, the least of four runs), 0.44 s of the server's CPU time
//! instead of 0.63 s, for it needs no base64, and 0.50 s of ours instead of 0.54 s. Four
//! connections do as well as three, and better than two (1.75 s). Half of a connection's requests
//! are sent at a time while the other half is under way, so 0.5 ms more for each round trip add
//! less than 0.1 s. Where a round trip takes 5 ms or more a first checkout takes the bulk, and so
//! does everything from servers that speak v1 or do not send properties along.

mod auth;
mod client;
mod commit;
mod commit_v1;
mod conn;
mod failure;
mod lock;
mod nodes;
mod queue;
mod session;
mod settings;
mod tls;
mod update;
mod upload;
mod values;
mod wire;
mod x509;

use sylvan_core::{Error, ErrorCode, Result, Url};

use crate::{Context, Session};

pub(crate) use session::Opened;

/// Opens a session.
///
/// # Errors
/// `RA_SESSION_URL_MISMATCH` if the repository has moved; see [`open_or_redirect`].
pub(crate) fn open(url: &Url, context: &Context) -> Result<Box<dyn Session>> {
    match open_or_redirect(url, context)? {
        Opened::Session(session) => Ok(session),
        Opened::Moved(to) => Err(Error::new(
            ErrorCode::RA_SESSION_URL_MISMATCH,
            format!("Repository moved permanently to '{to}'"),
        )),
    }
}

/// Opens a session, or says where the server redirects to for good.
///
/// # Errors
/// `RA_SESSION_URL_MISMATCH` if the repository has moved for a time only.
pub(crate) fn open_or_redirect(url: &Url, context: &Context) -> Result<Opened> {
    session::open(url, context)
}

/// Fuzz targets: each takes arbitrary bytes and must neither panic nor run away.
#[doc(hidden)]
pub mod fuzz {
    /// Takes an HTTP response apart.
    pub fn response(data: &[u8]) {
        super::wire::fuzz(data);
    }

    /// Answers authentication challenges.
    pub fn challenge(data: &[u8]) {
        super::auth::fuzz(data);
    }

    /// Shows a certificate.
    pub fn certificate(data: &[u8]) {
        super::x509::fuzz(data);
    }
}
