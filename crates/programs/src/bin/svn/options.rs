//! The options of `svn`.

use sylvan_cmdline::table::OptionSpec;

const fn flag(key: &'static str, help: &'static [&'static str]) -> OptionSpec {
    OptionSpec {
        key,
        long: Some(key),
        short: None,
        takes_arg: false,
        help,
    }
}

const fn value(key: &'static str, help: &'static [&'static str]) -> OptionSpec {
    OptionSpec {
        takes_arg: true,
        ..flag(key, help)
    }
}

const fn short(short: char, option: OptionSpec) -> OptionSpec {
    OptionSpec {
        short: Some(short),
        ..option
    }
}

/// All options, in no particular order; what each subcommand accepts is in its own entry.
pub(crate) static OPTIONS: &[OptionSpec] = &[
    flag("force", &[]),
    flag("force-log", &[]),
    short('h', flag("help", &[])),
    OptionSpec {
        key: "help",
        long: None,
        short: Some('?'),
        takes_arg: false,
        help: &[],
    },
    short('m', value("message", &[])),
    short('q', flag("quiet", &[])),
    short('R', flag("recursive", &[])),
    short('N', flag("non-recursive", &[])),
    short('H', flag("human-readable", &[])),
    short('c', value("change", &[])),
    short('r', value("revision", &[])),
    short('F', value("file", &[])),
    flag("incremental", &[]),
    value("encoding", &[]),
    flag("version", &[]),
    short('v', flag("verbose", &[])),
    short('u', flag("show-updates", &[])),
    value("username", &[]),
    value("password", &[]),
    flag("password-from-stdin", &[]),
    short('x', value("extensions", &[])),
    value("targets", &[]),
    value("depth", &[]),
    value("set-depth", &[]),
    flag("xml", &[]),
    flag("strict", &[]),
    flag("stop-on-copy", &[]),
    flag("no-ignore", &[]),
    flag("no-auth-cache", &[]),
    flag("trust-server-cert", &[]),
    value("trust-server-cert-failures", &[]),
    flag("non-interactive", &[]),
    flag("force-interactive", &[]),
    flag("dry-run", &[]),
    flag("ignore-ancestry", &[]),
    flag("ignore-externals", &[]),
    value("diff3-cmd", &[]),
    value("editor-cmd", &[]),
    flag("record-only", &[]),
    value("old", &[]),
    value("new", &[]),
    flag("revprop", &[]),
    flag("relocate", &[]),
    value("config-dir", &[]),
    value("config-option", &[]),
    flag("auto-props", &[]),
    flag("no-auto-props", &[]),
    value("native-eol", &[]),
    short('l', value("limit", &[])),
    flag("no-unlock", &[]),
    flag("remove", &[]),
    value("changelist", &[]),
    flag("keep-changelists", &[]),
    flag("keep-local", &[]),
    flag("with-all-revprops", &[]),
    flag("with-no-revprops", &[]),
    value("with-revprop", &[]),
    flag("parents", &[]),
    short('g', flag("use-merge-history", &[])),
    value("accept", &[]),
    value("show-revs", &[]),
    flag("reintegrate", &[]),
    value("strip", &[]),
    flag("ignore-keywords", &[]),
    flag("reverse-diff", &[]),
    flag("ignore-whitespace", &[]),
    flag("diff", &[]),
    value("diff-cmd", &[]),
    flag("internal-diff", &[]),
    flag("no-diff-added", &[]),
    flag("no-diff-deleted", &[]),
    flag("show-copies-as-adds", &[]),
    flag("notice-ancestry", &[]),
    flag("summarize", &[]),
    flag("git", &[]),
    flag("ignore-properties", &[]),
    flag("properties-only", &[]),
    flag("patch-compatible", &[]),
    flag("allow-mixed-revisions", &[]),
    flag("include-externals", &[]),
    flag("show-inherited-props", &[]),
    value("search", &[]),
    value("search-and", &[]),
    flag("log", &[]),
    flag("remove-unversioned", &[]),
    flag("remove-ignored", &[]),
    flag("remove-added", &[]),
    flag("no-newline", &[]),
    flag("show-passwords", &[]),
    flag("pin-externals", &[]),
    value("show-item", &[]),
    flag("adds-as-modification", &[]),
    flag("vacuum-pristines", &[]),
    flag("drop", &[]),
    value("x-viewspec", &[]),
    OptionSpec {
        key: "changelist",
        long: Some("cl"),
        short: None,
        takes_arg: true,
        help: &[],
    },
];

/// Options that every subcommand accepts.
pub(crate) static GLOBALS: &[&str] = &[
    "username",
    "password",
    "password-from-stdin",
    "no-auth-cache",
    "non-interactive",
    "force-interactive",
    "trust-server-cert",
    "trust-server-cert-failures",
    "config-dir",
    "config-option",
];
