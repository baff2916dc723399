//! The options of `svnadmin`. Names and arguments are Subversion's; the words of help are ours.

use sylvan_cmdline::table::{OptionSpec, QUESTION_MARK, flag, short, value};

/// What help says of options that are accepted and change nothing.
const FOR_BERKELEY_DB: &str = "accepted for compatibility (Berkeley DB)";
const OLD_COMPATIBLE: &str = "old form of --compatible-version";

/// All options. What each subcommand accepts is in its own entry.
pub(crate) static OPTIONS: &[OptionSpec] = &[
    short('h', flag("help", "describe a subcommand")),
    QUESTION_MARK,
    flag("version", "print the program's version"),
    short('r', value("revision", "revision ARG, or the range X:Y")),
    short('t', value("transaction", "the transaction named ARG")),
    flag(
        "incremental",
        "only what is not there yet (hotcopy), or only\nchanges (dump)",
    ),
    flag("deltas", "write contents as deltas"),
    flag("bypass-hooks", "run no hooks"),
    flag(
        "bypass-prop-validation",
        "take properties as they are, valid or not",
    ),
    flag(
        "ignore-dates",
        "give revisions the time of loading, not the\nstream's dates",
    ),
    short('q', flag("quiet", "print errors only")),
    flag(
        "ignore-uuid",
        "keep the repository's UUID, whatever the stream says",
    ),
    flag("force-uuid", "take the stream's UUID, if it has one"),
    value(
        "fs-type",
        "kind of file system: 'fsfs' (the default and the\nonly one supported)",
    ),
    value("parent-dir", "load below the folder ARG of the repository"),
    flag("bdb-txn-nosync", FOR_BERKELEY_DB),
    flag("bdb-log-keep", FOR_BERKELEY_DB),
    value(
        "config-dir",
        "read the user's configuration from folder ARG",
    ),
    flag("clean-logs", FOR_BERKELEY_DB),
    flag(
        "use-pre-commit-hook",
        "run the hook pre-commit for each revision",
    ),
    flag(
        "use-post-commit-hook",
        "run the hook post-commit for each revision",
    ),
    flag(
        "use-pre-revprop-change-hook",
        "run the hook pre-revprop-change",
    ),
    flag(
        "use-post-revprop-change-hook",
        "run the hook post-revprop-change",
    ),
    flag("wait", "wait if others use the repository"),
    flag("pre-1.4-compatible", OLD_COMPATIBLE),
    flag("pre-1.5-compatible", OLD_COMPATIBLE),
    flag("pre-1.6-compatible", OLD_COMPATIBLE),
    flag("keep-going", "go on after what is damaged"),
    short(
        'M',
        value("memory-cache-size", "megabytes of memory for the cache"),
    ),
    value(
        "compatible-version",
        "use a format that Subversion ARG can read too\n(\"1.5.5\", \"1.7\", ...)",
    ),
    short(
        'F',
        value("file", "read the paths of repositories from file ARG"),
    ),
    flag(
        "check-normalization",
        "report names in one folder, or in one\nsvn:mergeinfo, that differ in Unicode form alone",
    ),
    flag("metadata-only", "check indexes and checksums, not contents"),
    flag(
        "no-flush-to-disk",
        "do not wait for the disk: faster, but a power cut\nmay damage the repository",
    ),
    flag("normalize-props", "let lines of properties end in LF alone"),
    value("exclude", "leave out what is at or below path ARG"),
    value("include", "leave out all but what is at or below path ARG"),
    flag(
        "pattern",
        "take those paths as patterns with '*', '?', '[]' and\n'\\'; '/' is no special character there",
    ),
];
