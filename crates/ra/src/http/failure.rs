//! Errors of connections, with the numbers and words of serf, the library under Subversion's HTTP
//! access; and what a status means.

use std::io;

use sylvan_core::{Error, ErrorCode};

use super::wire::Head;

pub(super) const DECOMPRESSION: ErrorCode = ErrorCode(120_104);
pub(super) const BAD_RESPONSE: ErrorCode = ErrorCode(120_105);
pub(super) const TRUNCATED: ErrorCode = ErrorCode(120_106);
pub(super) const CLOSED: ErrorCode = ErrorCode(120_108);
pub(super) const SSL: ErrorCode = ErrorCode(120_171);
pub(super) const AUTHN_FAILED: ErrorCode = ErrorCode(120_190);
pub(super) const AUTHN_NOT_SUPPORTED: ErrorCode = ErrorCode(120_191);
pub(super) const TUNNEL: ErrorCode = ErrorCode(120_194);

/// Makes the error of a connection's failure.
pub(super) fn of_connection(code: ErrorCode) -> Error {
    let (place, text) = match code {
        DECOMPRESSION => ("ra_serf", "An error occurred during decompression"),
        TRUNCATED => ("ra_serf", "The server sent a truncated HTTP response body."),
        BAD_RESPONSE => (RUNNING, "The server sent an improper HTTP response"),
        CLOSED => (RUNNING, "The server unexpectedly closed the connection."),
        SSL => (RUNNING, "An error occurred during SSL communication"),
        AUTHN_FAILED => (RUNNING, "An error occurred during authentication"),
        AUTHN_NOT_SUPPORTED => (
            RUNNING,
            "The requested authentication type(s) are not supported",
        ),
        _ => (
            RUNNING,
            "The proxy server returned an error while setting up the SSL tunnel.",
        ),
    };
    Error::new(code, format!("{place}: {text}"))
}

const RUNNING: &str = "Error running context";

/// Makes the error of an input or output failure, or takes out the one that a reader put into it.
pub(super) fn of_io(error: io::Error) -> Error {
    match error.downcast::<Error>() {
        Ok(error) => error,
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => of_connection(CLOSED),
        Err(error) => Error::io(&error, RUNNING),
    }
}

/// Puts an error into one that readers can return.
pub(super) fn into_io(error: Error) -> io::Error {
    io::Error::other(error)
}

pub(super) fn timeout() -> Error {
    Error::new(ErrorCode::RA_DAV_CONN_TIMEOUT, "Connection timed out")
}

/// Tells whether a connection that was kept open has turned out to be gone.
pub(super) fn is_closed(error: &Error) -> bool {
    let reset = [rustix::io::Errno::CONNRESET, rustix::io::Errno::PIPE];
    error.code() == CLOSED
        || reset
            .iter()
            .any(|errno| error.code() == ErrorCode::from_errno(errno.raw_os_error()))
}

/// Tells whether a connection ended before an answer came.
pub(super) fn is_lost(error: &Error) -> bool {
    is_closed(error)
        || matches!(error.code(), ErrorCode::RA_DAV_CONN_TIMEOUT)
        || error.code() == TRUNCATED
}

/// Makes the error that a status means by itself; `None` for those of success.
pub(super) fn of_status(head: &Head, path: &str) -> Option<Error> {
    let location = head.location.as_deref().unwrap_or("(null)");
    let (code, message) = match head.status {
        301 => (
            ErrorCode::RA_DAV_RELOCATED,
            format!("Repository moved permanently to '{location}'"),
        ),
        302 | 303 | 307 | 308 => (
            ErrorCode::RA_DAV_RELOCATED,
            format!("Repository moved temporarily to '{location}'"),
        ),
        403 => (
            ErrorCode::RA_DAV_FORBIDDEN,
            format!("Access to '{path}' forbidden"),
        ),
        404 => (ErrorCode::FS_NOT_FOUND, format!("'{path}' path not found")),
        405 => (
            ErrorCode::RA_DAV_METHOD_NOT_ALLOWED,
            format!("HTTP method is not allowed on '{path}'"),
        ),
        409 => (ErrorCode::FS_CONFLICT, format!("'{path}' conflicts")),
        411 => (
            ErrorCode::RA_DAV_REQUEST_FAILED,
            "DAV request failed: 411 Content length required. The server or an intermediate proxy \
             does not accept chunked encoding. Try setting 'http-chunked-requests' to 'auto' or \
             'no' in your client configuration."
                .to_owned(),
        ),
        412 => (
            ErrorCode::RA_DAV_PRECONDITION_FAILED,
            format!("Precondition on '{path}' failed"),
        ),
        423 => (
            ErrorCode::FS_NO_LOCK_TOKEN,
            format!("'{path}': no lock token available"),
        ),
        500 => (
            ErrorCode::RA_DAV_REQUEST_FAILED,
            format!("Unexpected server error 500 '{}' on '{path}'", head.reason),
        ),
        501 => (
            ErrorCode::UNSUPPORTED_FEATURE,
            format!("The requested feature is not supported by '{path}'"),
        ),
        200..=299 => return None,
        other => (
            ErrorCode::RA_DAV_REQUEST_FAILED,
            format!(
                "Unexpected HTTP status {other} '{}' on '{path}'",
                head.reason
            ),
        ),
    };
    Some(Error::new(code, message))
}

/// Makes the error of a response whose status was not the one expected.
pub(super) fn unexpected_status(head: &Head, method: &str, path: &str) -> Error {
    let (code, message) = match head.status {
        201 => (
            ErrorCode::RA_DAV_REQUEST_FAILED,
            format!("Path '{path}' unexpectedly created"),
        ),
        204 => (
            ErrorCode::FS_ALREADY_EXISTS,
            format!("Path '{path}' already exists"),
        ),
        405 => (
            ErrorCode::RA_DAV_METHOD_NOT_ALLOWED,
            format!("The HTTP method '{method}' is not allowed on '{path}'"),
        ),
        status => {
            if let Some(error) = of_status(head, path) {
                return error;
            }
            let message = format!(
                "Unexpected HTTP status {status} '{}' on '{method}' request to '{path}'",
                head.reason
            );
            (ErrorCode::RA_DAV_REQUEST_FAILED, message)
        }
    };
    Error::new(code, message)
}
