use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sylvan_core::{Error, ErrorCode, Result, Url};
use sylvan_fs::Cache;
use sylvan_io::{Cancel, Config, Progress};

use crate::auth::Auth;
use crate::{Session, http, local, svn};

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
    /// What is kept of repositories on this machine.
    pub cache: Cache,
}

impl Context {
    /// Makes a context with its own flag and counters.
    pub fn new(config: Arc<Config>, auth: Auth) -> Self {
        Self {
            config,
            auth: Arc::new(Mutex::new(auth)),
            cancel: Cancel::new(),
            progress: Progress::new(),
            cache: Cache::default(),
        }
    }

    /// Gives the credentials to one thread at a time, so that the user is asked once.
    pub fn auth(&self) -> MutexGuard<'_, Auth> {
        self.auth.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// So many redirects are followed.
const MOST_REDIRECTS: usize = 3;

/// Opens a session at a URL, by its scheme.
///
/// # Errors
/// `RA_ILLEGAL_URL` for a scheme that is not known; `RA_CANNOT_CREATE_SESSION` with its cause if
/// the server cannot be reached, refuses, or has no repository there; `RA_SESSION_URL_MISMATCH` if
/// the server says that the repository is elsewhere.
pub fn open(url: &Url, context: &Context) -> Result<Box<dyn Session>> {
    let opened = match url.scheme() {
        "http" | "https" => http::open(url, context),
        "svn" => svn::open(url, context),
        "file" => local::open(url, context),
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

/// As [`open`], but goes where the server says that the repository has moved for good. Each new URL
/// is told to `redirected` first; the session's URL is the last of them.
///
/// # Errors
/// Those of [`open`] and of `redirected`; `CLIENT_CYCLE_DETECTED` if the way comes back to a URL.
pub fn open_following(
    url: &Url,
    context: &Context,
    redirected: &mut dyn FnMut(&Url) -> Result<()>,
) -> Result<Box<dyn Session>> {
    let mut seen = vec![url.clone()];
    while let Some(at) = seen.last().filter(|_| seen.len() <= MOST_REDIRECTS) {
        if !matches!(at.scheme(), "http" | "https") {
            return open(at, context);
        }
        let opened =
            http::open_or_redirect(at, context).map_err(|error| cannot_connect(error, at))?;
        let to = match opened {
            http::Opened::Session(session) => return Ok(session),
            http::Opened::Moved(to) => to,
        };
        redirected(&to)?;
        if seen.contains(&to) {
            return Err(Error::new(
                ErrorCode::CLIENT_CYCLE_DETECTED,
                format!("Redirect cycle detected for URL '{to}'"),
            ));
        }
        seen.push(to);
    }
    open(seen.last().unwrap_or(url), context)
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
