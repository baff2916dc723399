//! What command-line programs share.
//!
//! * [`getopt`]: option parsing with Subversion's rules and texts;
//! * [`table`]: option and subcommand tables as data;
//! * [`mod@print`]: standard output and standard error;
//! * [`xml`]: XML byte for byte as Subversion writes it;
//!
//! Nothing here knows a particular program.

pub mod call;
pub mod error;
pub mod getopt;
pub mod help;
pub mod number;
pub mod print;
pub mod progress;
pub mod prompt;
pub mod screen;
pub mod signal;
pub mod surroundings;
pub mod table;
pub mod utf8;
pub mod version;
pub mod xml;
