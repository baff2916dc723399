//! Comparison by a program of the user.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

use sylvan_core::{Error, ErrorCode, Result};

/// Runs the program; it prints where this one does. Without `words` it gets `-u`.
///
/// # Errors
/// If it cannot be run; `EXTERNAL_PROGRAM` if it says that it failed.
pub fn run(program: &OsStr, words: &[String], labels: [&str; 2], files: [&Path; 2]) -> Result<()> {
    let mut args: Vec<OsString> = words.iter().map(OsString::from).collect();
    if args.is_empty() {
        args.push("-u".into());
    }
    for label in labels {
        args.extend(["-L".into(), label.into()]);
    }
    args.extend(files.map(OsString::from));
    let status = Command::new(program).args(args).status().map_err(|error| {
        Error::io(
            &error,
            format!("Can't start process '{}'", program.display()),
        )
    })?;
    match status.code() {
        Some(0 | 1) => Ok(()),
        code => Err(Error::new(
            ErrorCode::EXTERNAL_PROGRAM,
            format!("'{}' returned {}", program.display(), code.unwrap_or(-1)),
        )),
    }
}
