//! The subcommands of `svn`: names, options and help. Names and options are Subversion's; the
//! words are ours.

mod a_to_lock;
mod experimental;
mod log_to_upgrade;

#[cfg(test)]
mod tests;

use sylvan_cmdline::table::Subcommand;

/// What `svn --version` is taken for.
pub(crate) static VERSION: Subcommand = Subcommand {
    name: "--version",
    aliases: &[],
    summary: "",
    usage: &[],
    text: "",
    options: &["version", "quiet", "verbose", "config-dir"],
    special: &[],
};

/// All subcommands, in the order of help.
pub(crate) static SUBCOMMANDS: &[&[Subcommand]] =
    &[a_to_lock::A_TO_LOCK, log_to_upgrade::LOG_TO_UPGRADE];

/// All subcommands and the experimental ones.
pub(crate) static WITH_EXPERIMENTAL: &[&[Subcommand]] = &[
    a_to_lock::A_TO_LOCK,
    log_to_upgrade::LOG_TO_UPGRADE,
    experimental::EXPERIMENTAL,
];
