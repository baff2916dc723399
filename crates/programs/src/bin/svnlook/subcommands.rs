//! The subcommands of `svnlook`: names, options and help. Names and options are Subversion's; the
//! words are ours.

use sylvan_cmdline::table::Subcommand;

/// What `svnlook --version` is taken for.
pub(crate) static VERSION: Subcommand = Subcommand {
    name: "--version",
    options: &["version", "quiet", "verbose"],
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
        name: "author",
        summary: "Print who made the revision.",
        usage: &["svnlook author REPOS_PATH"],
        options: &["revision", "transaction"],
        ..PLAIN
    },
    Subcommand {
        name: "cat",
        summary: "Print the content of a file.",
        usage: &["svnlook cat REPOS_PATH FILE_PATH"],
        options: &["revision", "transaction"],
        ..PLAIN
    },
    Subcommand {
        name: "changed",
        summary: "Print the paths that changed.",
        usage: &["svnlook changed REPOS_PATH"],
        text: "
  Before each path are two letters: A for added, D for deleted, U for changed
  content, and U in the second place for changed properties.
",
        options: &["revision", "transaction", "copy-info"],
        ..PLAIN
    },
    Subcommand {
        name: "date",
        summary: "Print the time of the revision.",
        usage: &["svnlook date REPOS_PATH"],
        options: &["revision", "transaction"],
        ..PLAIN
    },
    Subcommand {
        name: "diff",
        summary: "Print how files and properties changed.",
        usage: &["svnlook diff REPOS_PATH"],
        options: &[
            "revision",
            "transaction",
            "no-diff-deleted",
            "no-diff-added",
            "diff-copy-from",
            "diff-cmd",
            "extensions",
            "ignore-properties",
            "properties-only",
        ],
        ..PLAIN
    },
    Subcommand {
        name: "dirs-changed",
        summary: "Print the folders that changed, or in which files did.",
        usage: &["svnlook dirs-changed REPOS_PATH"],
        options: &["revision", "transaction"],
        ..PLAIN
    },
    Subcommand {
        name: "filesize",
        summary: "Print how many bytes a file has.",
        usage: &["svnlook filesize REPOS_PATH PATH_IN_REPOS"],
        options: &["revision", "transaction"],
        ..PLAIN
    },
    Subcommand {
        name: "help",
        aliases: &["?", "h"],
        summary: "Describe this program or its subcommands.",
        usage: &["svnlook help [SUBCOMMAND...]"],
        ..PLAIN
    },
    Subcommand {
        name: "history",
        summary: "Print in which revisions a path changed, and where it was then.",
        usage: &["svnlook history REPOS_PATH [PATH_IN_REPOS]"],
        options: &["revision", "show-ids", "limit"],
        ..PLAIN
    },
    Subcommand {
        name: "info",
        summary: "Print author, time, length of the log message, and log message.",
        usage: &["svnlook info REPOS_PATH"],
        options: &["revision", "transaction"],
        ..PLAIN
    },
    Subcommand {
        name: "lock",
        summary: "Describe the lock on a path, if there is one.",
        usage: &["svnlook lock REPOS_PATH PATH_IN_REPOS"],
        ..PLAIN
    },
    Subcommand {
        name: "log",
        summary: "Print the log message.",
        usage: &["svnlook log REPOS_PATH"],
        options: &["revision", "transaction"],
        ..PLAIN
    },
    Subcommand {
        name: "propget",
        aliases: &["pget", "pg"],
        summary: "Print the value of a property as it is.",
        usage: &[
            "svnlook propget REPOS_PATH PROPNAME PATH_IN_REPOS",
            "svnlook propget --revprop REPOS_PATH PROPNAME",
        ],
        options: &[
            "revision",
            "transaction",
            "verbose",
            "revprop",
            "show-inherited-props",
        ],
        ..PLAIN
    },
    Subcommand {
        name: "proplist",
        aliases: &["plist", "pl"],
        summary: "Print the names of properties.",
        usage: &[
            "svnlook proplist REPOS_PATH PATH_IN_REPOS",
            "svnlook proplist --revprop REPOS_PATH",
        ],
        options: &[
            "revision",
            "transaction",
            "verbose",
            "revprop",
            "xml",
            "show-inherited-props",
        ],
        ..PLAIN
    },
    Subcommand {
        name: "tree",
        summary: "Print what is at and below a path.",
        usage: &["svnlook tree REPOS_PATH [PATH_IN_REPOS]"],
        options: &[
            "revision",
            "transaction",
            "non-recursive",
            "show-ids",
            "full-paths",
            "memory-cache-size",
        ],
        ..PLAIN
    },
    Subcommand {
        name: "uuid",
        summary: "Print the UUID of the repository.",
        usage: &["svnlook uuid REPOS_PATH"],
        ..PLAIN
    },
    Subcommand {
        name: "youngest",
        summary: "Print the number of the youngest revision.",
        usage: &["svnlook youngest REPOS_PATH"],
        options: &["no-newline"],
        ..PLAIN
    },
]];
