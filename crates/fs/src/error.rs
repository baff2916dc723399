//! Errors that are met in several places, each text once.

use std::fmt::Display;

use sylvan_core::{Error, ErrorCode, RelPath, Revnum};

use crate::text::fspath;

/// `Checksum mismatch …` with both digests in lines of their own.
pub(crate) fn checksum_mismatch(what: &str, expected: impl Display, actual: impl Display) -> Error {
    Error::new(
        ErrorCode::CHECKSUM_MISMATCH,
        format!("{what}:\n   expected:  {expected}\n     actual:  {actual}\n"),
    )
}

/// Where a path was looked up, for messages.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Where {
    Revision(Revnum),
    Txn(crate::id::TxnId),
}

impl Display for Where {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Revision(revision) => write!(f, "revision {revision}"),
            Self::Txn(txn) => write!(f, "transaction '{txn}'"),
        }
    }
}

pub(crate) fn not_found(place: Where, path: &RelPath) -> Error {
    let path = fspath(path);
    Error::new(
        ErrorCode::FS_NOT_FOUND,
        format!("File not found: {place}, path '{path}'"),
    )
}

/// `fs` is the UUID of the file system.
pub(crate) fn not_directory(fs: &str, place: Where, path: &RelPath) -> Error {
    let path = fspath(path);
    let error = Error::new(
        ErrorCode::FS_NOT_DIRECTORY,
        format!("'{path}' is not a directory in filesystem '{fs}'"),
    );
    error.context(format!("Failure opening '{path}' in {place}"))
}

pub(crate) fn no_such_revision(revision: Revnum) -> Error {
    Error::new(
        ErrorCode::FS_NO_SUCH_REVISION,
        format!("No such revision {revision}"),
    )
}
