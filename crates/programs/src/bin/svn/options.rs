//! The options of `svn`. Names and arguments are Subversion's; the words of help are ours.

use sylvan_cmdline::table::{OptionSpec, QUESTION_MARK, flag, short, value};

/// All options. What each subcommand accepts is in its own entry.
pub(crate) static OPTIONS: &[OptionSpec] = &[
    flag("force", "go on where svn would stop for safety's sake"),
    flag(
        "force-log",
        "take the message as it is, even if it names a file",
    ),
    short('h', flag("help", "describe a subcommand")),
    QUESTION_MARK,
    short('m', value("message", "log message ARG")),
    short(
        'q',
        flag("quiet", "print errors and what was asked for, nothing else"),
    ),
    short(
        'R',
        flag("recursive", "go down into all folders, as --depth=infinity"),
    ),
    short('N', flag("non-recursive", "old form of --depth")),
    short(
        'H',
        flag("human-readable", "print sizes with unit suffixes"),
    ),
    short(
        'c',
        value(
            "change",
            "what revision ARG changed, as -r ARG-1:ARG; with a\n\
             minus before it the reverse, as -r ARG:ARG-1;\n\
             ARG1-ARG2 is all changes from ARG1 up to ARG2",
        ),
    ),
    short(
        'r',
        value(
            "revision",
            concat!(
                "revision ARG; ARG1:ARG2 where a range makes sense.\n",
                "Each of them can be\n",
                "   NUMBER       that revision\n",
                "   '{' DATE '}' the youngest one at that time\n",
                "   'HEAD'       the youngest one\n",
                "   'BASE'       what the working copy has\n",
                "   'COMMITTED'  the last change up to BASE\n",
                "   'PREV'       the revision before COMMITTED",
            ),
        ),
    ),
    short('F', value("file", "log message from file ARG")),
    flag(
        "incremental",
        "leave out what prevents outputs from being joined",
    ),
    value("encoding", "ARG is the character set of the value given"),
    flag("version", "print the program's version and what it can do"),
    short('v', flag("verbose", "print more")),
    short(
        'u',
        flag(
            "show-updates",
            "ask the server and show what is out of date",
        ),
    ),
    value("username", "user name ARG"),
    value(
        "password",
        "password ARG (other users of this machine may see\n\
         it in the list of processes)",
    ),
    flag(
        "password-from-stdin",
        "read the password from standard input",
    ),
    short(
        'x',
        value(
            "extensions",
            concat!(
                "options ARG of the diff program, or of the built-in\n",
                "diff and blame, separated by spaces (default '-u'):\n",
                "  -u, --unified             3 lines of context\n",
                "  -b, --ignore-space-change all space is alike\n",
                "  -w, --ignore-all-space    space does not count\n",
                "  --ignore-eol-style        line ends are alike\n",
                "  -U ARG, --context ARG     ARG lines of context\n",
                "  -p, --show-c-function     name the C function",
            ),
        ),
    ),
    value("targets", "take more targets from file ARG, one a line"),
    value(
        "depth",
        "how far to go down: ARG is 'empty' (the target\n\
         alone), 'files' (and the files in it), 'immediates'\n\
         (and the folders in it, empty) or 'infinity'",
    ),
    value(
        "set-depth",
        "make ARG the lasting depth of the working copy:\n\
         'exclude', 'empty', 'files', 'immediates' or\n\
         'infinity'",
    ),
    flag("xml", "print XML"),
    flag("strict", "old form of --no-newline"),
    flag("stop-on-copy", "do not follow history beyond copies"),
    flag("no-ignore", "take ignored files as any others"),
    flag("no-auth-cache", "do not store user names and passwords"),
    flag(
        "trust-server-cert",
        "old form of\n--trust-server-cert-failures=unknown-ca",
    ),
    value(
        "trust-server-cert-failures",
        "with --non-interactive, accept a server certificate\n\
         in spite of ARG, a list with commas of 'unknown-ca'\n\
         (issuer not known), 'cn-mismatch' (another host),\n\
         'expired' (no longer valid), 'not-yet-valid' and\n\
         'other' (any other failure)",
    ),
    flag(
        "non-interactive",
        "never ask (else questions are asked if standard\n\
         input is a terminal)",
    ),
    flag(
        "force-interactive",
        "ask even if standard input is no terminal",
    ),
    flag("dry-run", "change nothing, only print what would be done"),
    flag(
        "ignore-ancestry",
        "compare by path, without regard to common history",
    ),
    flag("ignore-externals", "leave externals alone"),
    value("diff3-cmd", "merge with program ARG"),
    value("editor-cmd", "edit with program ARG"),
    flag(
        "record-only",
        "note revisions as merged without merging them",
    ),
    value("old", "older target ARG"),
    value("new", "newer target ARG"),
    flag("revprop", "a property of the revision given by -r"),
    flag("relocate", "old form of 'svn relocate'"),
    value(
        "config-dir",
        "use folder ARG for configuration and credentials",
    ),
    value(
        "config-option",
        concat!(
            "set an option of the configuration for this call:\n",
            "    FILE:SECTION:OPTION=[VALUE]\n",
            "as in\n",
            "    servers:global:http-timeout=30",
        ),
    ),
    flag("auto-props", "set properties by rules of the configuration"),
    flag(
        "no-auto-props",
        "set no properties by rules of the configuration",
    ),
    value(
        "native-eol",
        "write files of svn:eol-style 'native' with the line\n\
         ends ARG: 'LF', 'CR' or 'CRLF'",
    ),
    short('l', value("limit", "at most ARG log entries")),
    flag("no-unlock", "keep the locks of what is committed"),
    flag("remove", "take files out of their changelist"),
    value("changelist", "only files of changelist ARG"),
    OptionSpec {
        key: "changelist",
        long: Some("cl"),
        short: None,
        takes_arg: true,
        help: "",
    },
    flag(
        "keep-changelists",
        "leave changelists as they are after the commit",
    ),
    flag("keep-local", "leave the files on disk"),
    flag("with-all-revprops", "print all revision properties"),
    flag("with-no-revprops", "print no revision properties"),
    value(
        "with-revprop",
        "give the new revision property ARG, in the form\nNAME[=VALUE]",
    ),
    flag("parents", "make missing parent folders too"),
    short('g', flag("use-merge-history", "follow merges too")),
    value(
        "accept",
        "settle conflicts by ARG: 'postpone' ('p'), 'base',\n\
         'working', 'mine-conflict' ('mc'),\n\
         'theirs-conflict' ('tc'), 'mine-full' ('mf'),\n\
         'theirs-full' ('tf'), 'edit' ('e'), 'launch' ('l')\n\
         or 'recommended' ('r')",
    ),
    value(
        "show-revs",
        "which revisions to show: 'merged' or 'eligible'",
    ),
    flag("reintegrate", "old; not needed any more"),
    value(
        "strip",
        "cut ARG leading components from paths of the patch\n(none by default)",
    ),
    flag("ignore-keywords", "do not expand keywords"),
    flag("reverse-diff", "apply the patch backwards"),
    flag(
        "ignore-whitespace",
        "let white space differ where a patch must match",
    ),
    flag("diff", "print the differences as well"),
    value("diff-cmd", "compare with program ARG"),
    flag(
        "internal-diff",
        "compare without the program of the configuration",
    ),
    flag("no-diff-added", "leave out the contents of added files"),
    flag("no-diff-deleted", "leave out the contents of deleted files"),
    flag("show-copies-as-adds", "show copies and moves in full"),
    flag(
        "notice-ancestry",
        "show unrelated nodes as deleted and added",
    ),
    flag("summarize", "only name what differs"),
    flag("git", "use the diff format of Git"),
    flag("ignore-properties", "leave out properties"),
    flag("properties-only", "nothing but properties"),
    flag(
        "patch-compatible",
        "print what patch programs understand: at present\n\
         --show-copies-as-adds and --ignore-properties",
    ),
    flag(
        "allow-mixed-revisions",
        "go on in a working copy of mixed revisions (better:\n\
         run 'svn update' first)",
    ),
    flag("include-externals", "go into externals too"),
    flag(
        "show-inherited-props",
        "also properties inherited from parents",
    ),
    value(
        "search",
        "only what matches pattern ARG (with * ? [ ], in any\n\
         case, with or without accents; quote it)",
    ),
    value(
        "search-and",
        "and the pattern before it must match, and ARG",
    ),
    flag("log", "print author, date and message too"),
    flag(
        "remove-unversioned",
        "remove what is not under version control",
    ),
    flag("remove-ignored", "remove what is ignored"),
    flag("remove-added", "remove added files from disk too"),
    flag("no-newline", "end the output without a newline"),
    flag("show-passwords", "print stored passwords"),
    flag(
        "pin-externals",
        "tie externals that follow HEAD to the revision they\n\
         have now",
    ),
    value(
        "show-item",
        concat!(
            "print nothing but item ARG:\n",
            "   'kind'                  file or folder\n",
            "   'url'                   URL\n",
            "   'relative-url'          URL below the repository\n",
            "   'repos-root-url'        URL of the repository\n",
            "   'repos-uuid'            UUID of the repository\n",
            "   'repos-size'            a file's size there\n",
            "   'revision'              revision\n",
            "   'last-changed-revision' last change up to it,\n",
            "   'last-changed-date'     its date\n",
            "   'last-changed-author'   and its author\n",
            "   'wc-root'               top of the working copy\n",
            "   'schedule'              what commit will do\n",
            "   'depth'                 depth of the folder\n",
            "   'changelist'            changelist",
        ),
    ),
    flag(
        "adds-as-modification",
        "take what was added here and there as changed, not\n\
         as a conflict of trees (better: 'svn resolve')",
    ),
    flag("vacuum-pristines", "remove unused pristine texts from .svn"),
    flag("drop", "remove the shelf afterwards"),
    value(
        "x-viewspec",
        "print the layout of the working copy in form ARG:\n'classic' or 'svn11'",
    ),
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
