//! Daemons: the program started again, without its terminal.
//!
//! The parent has bound the socket, which the child gets as its standard input, and waits for the
//! child's standard output to be closed: then the child serves. If the child ends before, it has
//! said why, and the parent ends as it did.

use std::fs::File;
use std::io::Read as _;
use std::net::TcpListener;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;
use std::process::{Command, Stdio};

use sylvan_core::{Error, Result};

/// Set in the environment of the child.
const CHILD: &str = "SYLVAN_SVNSERVE_CHILD";

/// Tells whether this process is the child.
pub(crate) fn is_one() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// Returns the socket that the parent has bound.
pub(crate) fn inherited() -> Option<TcpListener> {
    if !is_one() {
        return None;
    }
    let socket: OwnedFd = std::io::stdin().as_fd().try_clone_to_owned().ok()?;
    Some(socket.into())
}

/// Starts the child, and waits until it serves.
pub(crate) fn start(listener: TcpListener) -> Result<()> {
    let failed = |error: std::io::Error| Error::io(&error, "Can't start the daemon");
    let program = std::env::current_exe().map_err(failed)?;
    let mut child = Command::new(program)
        .args(std::env::args_os().skip(1))
        .env(CHILD, "1")
        .stdin(Stdio::from(OwnedFd::from(listener)))
        .stdout(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    if let Some(mut output) = child.stdout.take() {
        let mut said = [0];
        if output.read(&mut said).map_err(failed)? > 0 {
            return Ok(());
        }
    }
    // It has ended, and has said why.
    let _ = child.wait();
    Err(Error::new(
        sylvan_core::ErrorCode::BASE,
        "The daemon did not start",
    ))
}

/// In the child: tells the parent that all is well, and lets go of what belongs to the terminal.
pub(crate) fn leave_terminal() {
    if !is_one() {
        return;
    }
    let _ = rustix::io::write(rustix::stdio::stdout(), b".");
    let _ = rustix::process::setsid();
    // Else the folder could not be unmounted.
    let _ = std::env::set_current_dir(Path::new("/"));
    if let Ok(null) = File::options().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdin(&null);
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
}
