//! The tables: options and subcommands.

use sylvan_cmdline::table::{OptionSpec, QUESTION_MARK, Subcommand, flag, short, value};

pub(crate) const HEADER: &str = "\
general usage: svnauthz SUBCOMMAND TARGET [ARGS & OPTIONS ...]
               svnauthz-validate TARGET

Checks files of access rules, and tells what they allow.
Started under a name that begins with 'svnauthz-validate', the program does
what 'svnauthz validate' does and has no options.

Type 'svnauthz help <subcommand>' for one of the subcommands below,
     'svnauthz --version' for the version and the kinds of file systems.

Available subcommands:
";

pub(crate) static OPTIONS: &[OptionSpec] = &[
    short('h', flag("help", "print help on a subcommand")),
    QUESTION_MARK,
    flag("version", "print the program's version"),
    value("username", "whose access is asked for"),
    value("path", "the path in the repository"),
    value("repository", "the name of the repository in the rules"),
    short('t', value("transaction", "the name of a transaction")),
    value(
        "is",
        "print nothing, but test for this access:\n\
         'rw' is reading and writing, 'r' reading alone,\n\
         'no' none",
    ),
    value("groups-file", "take the groups from this file"),
    short(
        'R',
        flag("recursive", "what holds for all that is below the path too"),
    ),
];

pub(crate) static SUBCOMMANDS: &[&[Subcommand]] = &[&[
    Subcommand {
        name: "help",
        aliases: &["?", "h"],
        summary: "Describe the program or its subcommands.",
        usage: &["svnauthz help [SUBCOMMAND...]"],
        text: "",
        options: &[],
        special: &[],
    },
    Subcommand {
        name: "validate",
        aliases: &[],
        summary: "Check a file of access rules for mistakes.",
        usage: &[
            "svnauthz validate TARGET",
            "svnauthz validate --transaction TXN REPOS_PATH FILE_PATH",
        ],
        text: "
  1. TARGET is a file, or the file:// URL of one in a repository.
  2. FILE_PATH is a file in a transaction of the repository.

  The exit code is 0 if there are no mistakes, 1 if there are, and 2 if the
  check is not possible.
",
        options: &["transaction"],
        special: &[],
    },
    Subcommand {
        name: "accessof",
        aliases: &[],
        summary: "Print or test what a file of access rules allows.",
        usage: &[
            "svnauthz accessof TARGET",
            "svnauthz accessof -t TXN REPOS_PATH FILE_PATH",
        ],
        text: "
  1. TARGET is a file, or the file:// URL of one in a repository.
  2. FILE_PATH is a file in a transaction of the repository.

  Without --username it is the access of those who are not authenticated,
  without --path the most that is allowed for any path.

  Prints 'rw' for reading and writing, 'r' for reading, 'no' for neither.
  The exit code is 0 if all went well, 1 if the file has mistakes, 2 if
  something else failed, and 3 if the access is not that of --is.
",
        options: &[
            "transaction",
            "username",
            "path",
            "repository",
            "is",
            "groups-file",
            "recursive",
        ],
        special: &[],
    },
]];

/// What `svnauthz --version` is taken for.
pub(crate) static VERSION: Subcommand = Subcommand {
    name: "--version",
    aliases: &[],
    summary: "",
    usage: &[],
    text: "",
    options: &["version"],
    special: &[],
};
