//! Which version programs say they are.

use std::env::consts;

/// The version of Subversion that the programs behave as; other programs decide by it.
pub const COMPATIBLE: &str = "1.14.2";
/// The programs' own version.
pub const SYLVAN: &str = env!("CARGO_PKG_VERSION");

/// What programs for repositories say of file systems, in the form that scripts look through.
pub const FILE_SYSTEMS: &str = "\
The following repository back-end (FS) modules are available:

* fs_fs : Module for working with a plain file (FSFS) repository.

";

/// Returns what `--version` begins with: a line of Subversion's form, which other programs read,
/// and what the program is.
pub fn banner(program: &str) -> String {
    format!(
        "{program}, version {COMPATIBLE} (Sylvan {SYLVAN})\n   compiled for {}-{}\n\n\
         Sylvan {SYLVAN} does what Subversion {COMPATIBLE} does.\n\
         Sylvan is free software under the Apache License, Version 2.0.\n\n",
        consts::ARCH,
        consts::OS,
    )
}
