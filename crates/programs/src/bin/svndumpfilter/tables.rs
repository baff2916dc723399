//! The options and subcommands of `svndumpfilter`. Names are Subversion's; the words of help are
//! ours.

use sylvan_cmdline::table::{OptionSpec, Program, QUESTION_MARK, Subcommand, flag, short, value};

static OPTIONS: &[OptionSpec] = &[
    short('h', flag("help", "describe a subcommand")),
    QUESTION_MARK,
    flag("version", "print the program's version"),
    flag("quiet", "do not tell what was left out"),
    flag(
        "pattern",
        "take prefixes as patterns with '*', '?', '[]' and\n'\\'; '/' is no special character there",
    ),
    flag("drop-empty-revs", "drop revisions of which nothing is left"),
    flag(
        "drop-all-empty-revs",
        "drop all revisions without a change, but revision 0",
    ),
    flag("renumber-revs", "number what is left without gaps"),
    flag(
        "skip-missing-merge-sources",
        "drop from svn:mergeinfo what is left out",
    ),
    flag(
        "preserve-revprops",
        "let revisions of which nothing is left keep their\nproperties",
    ),
    value("targets", "read more prefixes from file ARG, one a line"),
];

const PLAIN: Subcommand = Subcommand {
    name: "",
    aliases: &[],
    summary: "",
    usage: &[],
    text: "",
    options: &[],
    special: &[],
};

const FILTER: &[&str] = &[
    "drop-empty-revs",
    "drop-all-empty-revs",
    "renumber-revs",
    "skip-missing-merge-sources",
    "targets",
    "preserve-revprops",
    "quiet",
    "pattern",
];

/// What `svndumpfilter --version` is taken for.
pub(crate) static VERSION: Subcommand = Subcommand {
    name: "--version",
    options: &["version", "quiet"],
    ..PLAIN
};

static SUBCOMMANDS: &[&[Subcommand]] = &[&[
    Subcommand {
        name: "exclude",
        summary: "Leave paths out of a dump stream.",
        usage: &["svndumpfilter exclude PATH_PREFIX..."],
        text: "
  Copies a stream from standard input to standard output without the nodes at
  and below each PATH_PREFIX.
",
        options: FILTER,
        ..PLAIN
    },
    Subcommand {
        name: "include",
        summary: "Leave all but some paths out of a dump stream.",
        usage: &["svndumpfilter include PATH_PREFIX..."],
        text: "
  Copies of a stream from standard input to standard output the nodes at and
  below each PATH_PREFIX.
",
        options: FILTER,
        ..PLAIN
    },
    Subcommand {
        name: "help",
        aliases: &["?", "h"],
        summary: "Describe this program or its subcommands.",
        usage: &["svndumpfilter help [SUBCOMMAND...]"],
        ..PLAIN
    },
]];

/// The tables of this program.
pub(crate) static PROGRAM: Program = Program {
    name: "svndumpfilter",
    options: OPTIONS,
    subcommands: SUBCOMMANDS,
    globals: &[],
};
