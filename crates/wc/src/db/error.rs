//! Errors of SQLite in Subversion's numbers.

use rusqlite::ffi;
use sylvan_core::{Error, ErrorCode};

/// Turns an error of SQLite into ours: `E200033` when another process has the database locked,
/// `E200031` when it is read-only, `E200035` for a broken constraint, else `E200030`.
pub(crate) fn sqlite_error(error: rusqlite::Error) -> Error {
    match error {
        rusqlite::Error::SqliteFailure(error, message) => {
            let primary = error.extended_code & 0xff;
            let text = message.unwrap_or_else(|| ffi::code_to_str(error.extended_code).to_owned());
            Error::new(code(primary), format!("sqlite[S{primary}]: {text}"))
        }
        rusqlite::Error::SqlInputError { error, msg, .. } => {
            let primary = error.extended_code & 0xff;
            Error::new(code(primary), format!("sqlite[S{primary}]: {msg}"))
        }
        other => Error::new(ErrorCode::SQLITE_ERROR, format!("sqlite: {other}")),
    }
}

const fn code(primary: i32) -> ErrorCode {
    match primary {
        ffi::SQLITE_READONLY => ErrorCode::SQLITE_READONLY,
        ffi::SQLITE_BUSY => ErrorCode::SQLITE_BUSY,
        ffi::SQLITE_CONSTRAINT => ErrorCode::SQLITE_CONSTRAINT,
        _ => ErrorCode::SQLITE_ERROR,
    }
}

/// Makes the error for a value in the database that cannot be.
pub(crate) fn corrupt(what: impl std::fmt::Display) -> Error {
    Error::new(ErrorCode::WC_CORRUPT, what.to_string())
}
