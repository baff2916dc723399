//! Comparison by a program of the user.

use std::ffi::{OsStr, OsString};
use std::process::Command;

use sylvan_core::{Error, ErrorCode, Result};

use super::text::TempFile;
use crate::look::Env;

/// Runs the program; it prints where this one does.
pub(super) fn run(
    env: &mut Env,
    program: &OsStr,
    words: &[String],
    labels: &[String; 2],
    texts: &[TempFile; 2],
) -> Result<()> {
    let mut args: Vec<OsString> = words.iter().map(OsString::from).collect();
    if args.is_empty() {
        args.push("-u".into());
    }
    for label in labels {
        args.extend(["-L".into(), label.into()]);
    }
    args.extend(texts.iter().map(|text| text.path().into()));
    env.out.flush()?;
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
