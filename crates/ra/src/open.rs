use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sylvan_core::{Error, ErrorCode, Result, Url};
use sylvan_io::{Cancel, Config, Progress};

use crate::auth::Auth;
use crate::{Session, svn};

/// What all sessions of a program share.
#[derive(Clone)]
pub struct Context {
    /// The user's configuration.
    pub config: Arc<Config>,
    /// The credentials.
    pub auth: Arc<Mutex<Auth>>,
    /// Polled while a session waits.
    pub cancel: Cancel,
    /// Counts what sessions receive.
    pub progress: Progress,
}

impl Context {
    /// Makes a context with its own flag and counters.
    pub fn new(config: Arc<Config>, auth: Auth) -> Self {
        Self {
            config,
            auth: Arc::new(Mutex::new(auth)),
            cancel: Cancel::new(),
            progress: Progress::new(),
        }
    }

    /// Gives the credentials to one thread at a time, so that the user is asked once.
    pub fn auth(&self) -> MutexGuard<'_, Auth> {
        self.auth.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens a session at a URL, by its scheme.
///
/// # Errors
/// `RA_ILLEGAL_URL` for a scheme that is not known; `RA_CANNOT_CREATE_SESSION` with its cause if
/// the server cannot be reached, refuses, or has no repository there.
pub fn open(url: &Url, context: &Context) -> Result<Box<dyn Session>> {
    let opened = match url.scheme() {
        "svn" => svn::open(url, context),
        tunneled if tunneled.starts_with("svn+") => svn::open(url, context),
        _ => {
            return Err(Error::new(
                ErrorCode::RA_ILLEGAL_URL,
                format!("Unrecognized URL scheme for '{url}'"),
            ));
        }
    };
    opened.map_err(|error| cannot_connect(error, url))
}

/// Says which URL could not be opened, unless the cause says it itself.
fn cannot_connect(error: Error, url: &Url) -> Error {
    if error.code() == ErrorCode::RA_SESSION_URL_MISMATCH {
        return error;
    }
    error.wrap(
        ErrorCode::RA_CANNOT_CREATE_SESSION,
        format!("Unable to connect to a repository at URL '{url}'"),
    )
}
