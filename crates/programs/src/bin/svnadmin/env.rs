//! What a subcommand works with.

use std::process::ExitCode;
use std::time::SystemTime;

use sylvan_cmdline::error;
use sylvan_cmdline::print::Output;
use sylvan_core::{Error, Timestamp};
use sylvan_io::Cancel;

use crate::PROGRAM;

/// How the program ends when no error is to be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All went well.
    Success,
    /// Something failed and was reported already.
    Failure,
    /// The code of a program that was run.
    Code(u8),
}

impl Exit {
    pub(crate) fn code(self) -> ExitCode {
        match self {
            Self::Success => ExitCode::SUCCESS,
            Self::Failure => ExitCode::FAILURE,
            Self::Code(code) => ExitCode::from(code),
        }
    }
}

/// The program's surroundings.
pub(crate) struct Env {
    /// Where everything is printed.
    pub(crate) out: Output,
    /// Set by signals.
    pub(crate) cancel: Cancel,
}

impl Env {
    /// The process's own surroundings.
    pub(crate) fn standard() -> Self {
        Self {
            out: Output::standard(),
            cancel: Cancel::new(),
        }
    }

    /// Returns the time by this machine's clock.
    pub(crate) fn now(&self) -> Timestamp {
        SystemTime::now().into()
    }

    /// Prints an error that does not end the program.
    pub(crate) fn report(&mut self, error: &Error) {
        error::print(&mut self.out, PROGRAM.name, error);
    }
}
