//! `svnadmin freeze`.

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};

use sylvan_cmdline::utf8;
use sylvan_core::{Error, ErrorCode, Result};
use sylvan_io::file;
use sylvan_repos::Repos;

use crate::env::{Env, Exit};
use crate::invocation::{Invocation, bad};

/// What Subversion's child process ends with if it cannot become the program.
const NO_PROGRAM: u8 = 255;

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let args = inv.all_args()?;
    let Some((program, args)) = args.split_first() else {
        return Err(bad("No program provided"));
    };
    let paths = match &inv.file {
        Some(list) => read_paths(list)?,
        None => vec![inv.repository.as_path().to_owned()],
    };
    env.out.flush()?;
    let out = &mut env.out;
    Repos::freeze_all(&paths, || match Command::new(program).args(args).status() {
        Ok(status) => exit_of(program, status),
        Err(error) => {
            let text = Error::io(&error, format!("exec of '{program}' failed")).message();
            out.error(text);
            Ok(Exit::Code(NO_PROGRAM))
        }
    })
}

fn exit_of(program: &str, status: ExitStatus) -> Result<Exit> {
    if let Some(signal) = status.signal() {
        let core = if status.core_dumped() {
            ", core dumped"
        } else {
            ""
        };
        return Err(Error::new(
            ErrorCode::EXTERNAL_PROGRAM,
            format!("Process '{program}' failed (signal {signal}{core})"),
        ));
    }
    let code = status.code().unwrap_or_default();
    Ok(match u8::try_from(code).unwrap_or(NO_PROGRAM) {
        0 => Exit::Success,
        code => Exit::Code(code),
    })
}

/// Reads the paths of repositories, one a line.
fn read_paths(list: &str) -> Result<Vec<PathBuf>> {
    let text = file::read(list.as_ref())?;
    let lines = utf8::text(&text)?.split(['\r', '\n']);
    Ok(lines
        .filter(|line| !line.is_empty())
        .map(PathBuf::from)
        .collect())
}
