//! What a subcommand works with.

use sylvan_cmdline::print::Output;

/// How the program ends when no error is to be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All went well.
    Success,
    /// Something failed and was reported already.
    Failure,
}

/// The program's surroundings. What costs time (configuration, credentials) is loaded when first
/// asked for.
pub(crate) struct Env {
    /// Where everything is printed.
    pub(crate) out: Output,
}

impl Env {
    /// The process's own surroundings.
    pub(crate) fn standard() -> Self {
        Self {
            out: Output::standard(),
        }
    }
}
