//! The options of `svnlook`. Names and arguments are Subversion's; the words of help are ours.

use sylvan_cmdline::table::{OptionSpec, QUESTION_MARK, flag, short, value};

/// All options. What each subcommand accepts is in its own entry.
pub(crate) static OPTIONS: &[OptionSpec] = &[
    QUESTION_MARK,
    flag("copy-info", "say of copies where they come from"),
    flag("diff-copy-from", "compare copies with their sources"),
    flag(
        "full-paths",
        "print whole paths, not names that are indented",
    ),
    short('h', flag("help", "describe a subcommand")),
    short('l', value("limit", "stop after ARG entries")),
    flag("no-diff-added", "leave out what was added"),
    flag("no-diff-deleted", "leave out what was deleted"),
    value("diff-cmd", "compare with the program ARG"),
    flag("ignore-properties", "leave properties out"),
    flag("properties-only", "compare properties alone"),
    short(
        'M',
        value("memory-cache-size", "megabytes of memory for the cache"),
    ),
    flag("no-newline", "end the output without a newline"),
    short(
        'N',
        flag("non-recursive", "one folder alone, not what is below"),
    ),
    short('r', value("revision", "look at revision ARG")),
    flag(
        "revprop",
        "a property of the revision (or, with -t, of the\ntransaction)",
    ),
    flag("show-ids", "print the IDs of node-revisions too"),
    flag(
        "show-inherited-props",
        "properties of the folders above too",
    ),
    short(
        't',
        value("transaction", "look at the transaction named ARG"),
    ),
    short('v', flag("verbose", "print values too")),
    flag("version", "print the program's version"),
    flag("xml", "print XML"),
    short(
        'x',
        value(
            "extensions",
            "options of the comparison, as one word. The own\n\
             comparison knows:\n  \
             -u, --unified: three lines of context\n  \
             -U N, --context N: N lines of context\n  \
             -b, --ignore-space-change: how much white space\n    \
             there is does not count\n  \
             -w, --ignore-all-space: no white space counts\n  \
             --ignore-eol-style: kinds of line ends do not\n    \
             count\n  \
             -p, --show-c-function: show the C function",
        ),
    ),
    short('q', flag("quiet", "with --version, print the number alone")),
];
