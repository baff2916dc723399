//! The options and subcommands of `svnfsfs`. Names and arguments are Subversion's; the words of
//! help are ours.

use sylvan_cmdline::table::{OptionSpec, Subcommand};

const fn option(key: &'static str, short: Option<char>, help: &'static str) -> OptionSpec {
    OptionSpec {
        key,
        long: Some(key),
        short,
        takes_arg: false,
        help,
    }
}

/// All options. What each subcommand accepts is in its own entry.
pub(crate) static OPTIONS: &[OptionSpec] = &[
    option("help", Some('h'), "describe a subcommand"),
    OptionSpec {
        long: None,
        ..option("help", Some('?'), "")
    },
    option("version", None, "print the program's version"),
    option("quiet", Some('q'), "with --version, print the number alone"),
    OptionSpec {
        takes_arg: true,
        ..option("revision", Some('r'), "revision number ARG")
    },
    OptionSpec {
        takes_arg: true,
        ..option(
            "memory-cache-size",
            Some('M'),
            "megabytes of memory for the cache",
        )
    },
];

/// What `svnfsfs --version` is taken for.
pub(crate) static VERSION: Subcommand = Subcommand {
    name: "--version",
    options: &["version", "quiet"],
    ..PLAIN
};

const PLAIN: Subcommand = Subcommand {
    name: "",
    aliases: &[],
    summary: "",
    usage: &[],
    text: "",
    options: &[],
    special: &[],
};

/// All subcommands, in the order of help.
pub(crate) static SUBCOMMANDS: &[&[Subcommand]] = &[&[
    Subcommand {
        name: "help",
        aliases: &["?", "h"],
        summary: "Describe this program or its subcommands.",
        usage: &["svnfsfs help [SUBCOMMAND...]"],
        ..PLAIN
    },
    Subcommand {
        name: "dump-index",
        summary: "Print what is at which place in the file of a revision.",
        usage: &["svnfsfs dump-index REPOS_PATH -r REV"],
        text: "
  The file is that of the revision REV, or the pack file it is in; the file
  system must have logical addressing (format 7 and later). Behind a line of
  titles there is a line for each item, in the order of the file:

    offset   hexadecimal
    length   hexadecimal
    type     none   nothing: zero bytes
             frep   content of a file
             drep   entries of a folder
             fprop  properties of a file
             dprop  properties of a folder
             node   node-revision
             chgs   list of changed paths
    revision the item belongs to, decimal
    number   of the item in it, decimal
    checksum FNV-1a as FSFS uses it, hexadecimal
",
        options: &["revision", "memory-cache-size"],
        ..PLAIN
    },
    Subcommand {
        name: "load-index",
        summary: "Replace the indexes of a file by what standard input says.",
        usage: &["svnfsfs load-index REPOS_PATH"],
        text: "
  The input is in the form that dump-index prints; titles and checksums may be
  missing, and the order is free. It must tell of all that is in the file, which
  is found by the revision of the first item.
",
        options: &["memory-cache-size"],
        ..PLAIN
    },
    Subcommand {
        name: "stats",
        summary: "Print how much of the file system is what.",
        usage: &["svnfsfs stats REPOS_PATH"],
        options: &["memory-cache-size"],
        ..PLAIN
    },
]];
