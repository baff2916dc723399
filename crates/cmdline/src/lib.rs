//! What command-line programs share.
//!
//! * [`getopt`]: option parsing with Subversion's rules and texts;
//! * [`table`]: option and subcommand tables as data;
//! * [`print`]: standard output and standard error;
//! * [`xml`]: XML byte for byte as Subversion writes it;
//! * [`revision`]: arguments of `-r` and `-c`.
//!
//! Nothing here knows a particular program.

pub mod error;
pub mod getopt;
pub mod print;
pub mod revision;
pub mod table;
pub mod xml;
