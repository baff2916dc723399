//! Printing errors and warnings as Subversion's programs do.

use sylvan_core::{Error, ErrorCode};

use crate::print::Output;

/// What is printed to standard error as it stands, about a command line that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said(pub Vec<u8>);

/// Prints an error's chain, unless it is only about a reader that went away.
pub fn print(out: &mut Output, program: &str, error: &Error) {
    if error.code() != ErrorCode::IO_PIPE_WRITE_ERROR {
        out.error(error.to_lines(&format!("{program}: ")));
    }
}

/// Prints a warning line.
pub fn warn(out: &mut Output, program: &str, error: &Error) {
    out.error(error.to_warning(&format!("{program}: ")));
}
