//! The subcommands of `svnadmin`: names, options and help. Names and options are Subversion's; the
//! words are ours.

use sylvan_cmdline::table::Subcommand;

/// What `svnadmin --version` is taken for.
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

const ONE_REVISION: (&str, &str) = ("revision", "revision number ARG");
const TO_FILE: (&str, &str) = ("file", "write to file ARG, not to standard output");
const FROM_FILE: (&str, &str) = ("file", "read file ARG, not standard input");

/// All subcommands, in the order of help.
pub(crate) static SUBCOMMANDS: &[&[Subcommand]] = &[&[
    Subcommand {
        name: "build-repcache",
        summary: "Let contents of old revisions be shared by new ones.",
        usage: &["svnadmin build-repcache REPOS_PATH [-r LOWER[:UPPER]]"],
        text: "
  Adds to the cache of representations what it lacks of the revisions LOWER to
  UPPER: of LOWER alone without UPPER, of all without -r.
",
        options: &["revision", "quiet", "memory-cache-size"],
        ..PLAIN
    },
    Subcommand {
        name: "create",
        summary: "Make an empty repository.",
        usage: &["svnadmin create REPOS_PATH"],
        text: "
  REPOS_PATH must not exist, or be an empty folder.
",
        options: &[
            "bdb-txn-nosync",
            "bdb-log-keep",
            "config-dir",
            "fs-type",
            "compatible-version",
            "pre-1.4-compatible",
            "pre-1.5-compatible",
            "pre-1.6-compatible",
        ],
        ..PLAIN
    },
    Subcommand {
        name: "delrevprop",
        summary: "Remove a property of a revision or transaction.",
        usage: &[
            "svnadmin delrevprop REPOS_PATH -r REVISION NAME",
            "svnadmin delrevprop REPOS_PATH -t TXN NAME",
        ],
        text: "
  1. Removes the property NAME of a revision. Its value is lost: such
     properties have no history. Hooks run only if options ask for them.

  2. Removes the property NAME of a transaction.
",
        options: &[
            "revision",
            "transaction",
            "use-pre-revprop-change-hook",
            "use-post-revprop-change-hook",
        ],
        special: &[ONE_REVISION],
        ..PLAIN
    },
    Subcommand {
        name: "deltify",
        summary: "Store the contents of revisions as deltas.",
        usage: &["svnadmin deltify [-r LOWER[:UPPER]] REPOS_PATH"],
        text: "
  For revisions LOWER to UPPER, by default the youngest. FSFS stores deltas from
  the beginning, so there is nothing left to do.
",
        options: &["revision", "quiet", "memory-cache-size"],
        ..PLAIN
    },
    Subcommand {
        name: "dump",
        summary: "Write revisions as a dump stream.",
        usage: &["svnadmin dump REPOS_PATH [-r LOWER[:UPPER] [--incremental]]"],
        text: "
  Writes the revisions LOWER to UPPER (LOWER alone without UPPER, all without
  -r) in the portable format that 'svnadmin load' reads, and what it does to
  standard error.

  The first of them has the whole tree, unless --incremental asks for its
  changes alone; all others have their changes.

  With --exclude or --include, a copy of what is left out becomes an addition.
",
        options: &[
            "revision",
            "incremental",
            "deltas",
            "quiet",
            "memory-cache-size",
            "file",
            "exclude",
            "include",
            "pattern",
        ],
        special: &[TO_FILE],
        ..PLAIN
    },
    Subcommand {
        name: "dump-revprops",
        summary: "Write the properties of revisions as a dump stream.",
        usage: &["svnadmin dump-revprops REPOS_PATH [-r LOWER[:UPPER]]"],
        text: "
  As 'svnadmin dump', without the trees.
",
        options: &["revision", "quiet", "file"],
        special: &[TO_FILE],
        ..PLAIN
    },
    Subcommand {
        name: "freeze",
        summary: "Run a program while repositories cannot change.",
        usage: &[
            "svnadmin freeze REPOS_PATH -- PROGRAM [ARG...]",
            "svnadmin freeze -F FILE -- PROGRAM [ARG...]",
        ],
        text: "
  1. Runs PROGRAM, a backup for example, while nobody can commit to the
     repository.

  2. The same for all repositories that FILE names, one a line; they are locked
     in this order.

  What follows '--' is for PROGRAM, even if it begins with '-'.
",
        options: &["file"],
        special: &[("file", "read the paths of repositories from file ARG")],
        ..PLAIN
    },
    Subcommand {
        name: "help",
        aliases: &["?", "h"],
        summary: "Describe this program or its subcommands.",
        usage: &["svnadmin help [SUBCOMMAND...]"],
        ..PLAIN
    },
    Subcommand {
        name: "hotcopy",
        summary: "Copy a repository that others may be using.",
        usage: &["svnadmin hotcopy REPOS_PATH NEW_REPOS_PATH"],
        text: "
  With --incremental, what NEW_REPOS_PATH has already is not copied again.
",
        options: &["clean-logs", "incremental", "quiet"],
        ..PLAIN
    },
    Subcommand {
        name: "info",
        summary: "Tell what kind of repository this is.",
        usage: &["svnadmin info REPOS_PATH"],
        ..PLAIN
    },
    Subcommand {
        name: "list-dblogs",
        summary: "List the log files of Berkeley DB; other kinds have none.",
        usage: &["svnadmin list-dblogs REPOS_PATH"],
        ..PLAIN
    },
    Subcommand {
        name: "list-unused-dblogs",
        summary: "List the log files of Berkeley DB that are not needed.",
        usage: &["svnadmin list-unused-dblogs REPOS_PATH"],
        ..PLAIN
    },
    Subcommand {
        name: "load",
        summary: "Make revisions of a dump stream.",
        usage: &["svnadmin load REPOS_PATH"],
        text: "
  Reads the stream from standard input and commits its revisions, with -r only
  those whose numbers in the stream are in that range. An empty repository gets
  the UUID of the stream. What is done is told on standard output.
",
        options: &[
            "quiet",
            "revision",
            "ignore-uuid",
            "force-uuid",
            "ignore-dates",
            "use-pre-commit-hook",
            "use-post-commit-hook",
            "parent-dir",
            "normalize-props",
            "bypass-prop-validation",
            "memory-cache-size",
            "no-flush-to-disk",
            "file",
        ],
        special: &[FROM_FILE],
        ..PLAIN
    },
    Subcommand {
        name: "load-revprops",
        summary: "Set the properties of revisions from a dump stream.",
        usage: &["svnadmin load-revprops REPOS_PATH"],
        text: "
  As 'svnadmin load', for the properties alone of revisions that exist.
",
        options: &[
            "quiet",
            "revision",
            "force-uuid",
            "normalize-props",
            "bypass-prop-validation",
            "no-flush-to-disk",
            "file",
        ],
        special: &[FROM_FILE],
        ..PLAIN
    },
    Subcommand {
        name: "lock",
        summary: "Lock a path for a user.",
        usage: &["svnadmin lock REPOS_PATH PATH USERNAME COMMENT-FILE [TOKEN]"],
        text: "
  COMMENT-FILE holds the comment of the lock; TOKEN becomes its token. The hooks
  pre-lock and post-lock run unless --bypass-hooks is given.
",
        options: &["bypass-hooks", "quiet"],
        ..PLAIN
    },
    Subcommand {
        name: "lslocks",
        summary: "Describe all locks.",
        usage: &["svnadmin lslocks REPOS_PATH [PATH-IN-REPOS]"],
        text: "
  With PATH-IN-REPOS, those on this path and below it.
",
        ..PLAIN
    },
    Subcommand {
        name: "lstxns",
        summary: "List transactions that were not committed.",
        usage: &["svnadmin lstxns REPOS_PATH"],
        text: "
  With -r, those alone that are based on revision ARG or an older one; they are
  likely to be left over and can be removed with 'svnadmin rmtxns'.
",
        options: &["revision"],
        special: &[("revision", "youngest base revision ARG")],
        ..PLAIN
    },
    Subcommand {
        name: "pack",
        summary: "Store revisions in fewer files.",
        usage: &["svnadmin pack REPOS_PATH"],
        text: "
  Makes one file of each shard that is full. Others may use the repository
  meanwhile.
",
        options: &["quiet", "memory-cache-size"],
        ..PLAIN
    },
    Subcommand {
        name: "recover",
        summary: "Find out which revision is the youngest.",
        usage: &["svnadmin recover REPOS_PATH"],
        text: "
  For a repository whose file 'current' is damaged or too old, after a restore
  for example.
",
        options: &["wait"],
        ..PLAIN
    },
    Subcommand {
        name: "rev-size",
        summary: "Print how many bytes a revision takes on the disk.",
        usage: &["svnadmin rev-size REPOS_PATH -r REVISION"],
        text: "
  Its properties count, indexes do not.
",
        options: &["revision", "quiet", "memory-cache-size"],
        special: &[ONE_REVISION, ("quiet", "print the number alone")],
        ..PLAIN
    },
    Subcommand {
        name: "rmlocks",
        summary: "Remove locks, whoever holds them.",
        usage: &["svnadmin rmlocks REPOS_PATH LOCKED_PATH..."],
        options: &["quiet"],
        ..PLAIN
    },
    Subcommand {
        name: "rmtxns",
        summary: "Remove transactions.",
        usage: &["svnadmin rmtxns REPOS_PATH TXN_NAME..."],
        options: &["quiet"],
        ..PLAIN
    },
    Subcommand {
        name: "setlog",
        summary: "Change the log message of a revision.",
        usage: &["svnadmin setlog REPOS_PATH -r REVISION FILE"],
        text: "
  FILE holds the new message; the old one is lost. The hooks of revision
  properties run unless --bypass-hooks is given; without a hook
  pre-revprop-change nothing may be changed.
",
        options: &["revision", "bypass-hooks"],
        special: &[ONE_REVISION],
        ..PLAIN
    },
    Subcommand {
        name: "setrevprop",
        summary: "Set a property of a revision or transaction.",
        usage: &[
            "svnadmin setrevprop REPOS_PATH -r REVISION NAME FILE",
            "svnadmin setrevprop REPOS_PATH -t TXN NAME FILE",
        ],
        text: "
  1. Sets the property NAME of a revision to what FILE holds. The value before
     is lost: such properties have no history. Hooks run only if options ask
     for them.

  2. Sets the property NAME of a transaction.
",
        options: &[
            "revision",
            "transaction",
            "use-pre-revprop-change-hook",
            "use-post-revprop-change-hook",
        ],
        special: &[ONE_REVISION],
        ..PLAIN
    },
    Subcommand {
        name: "setuuid",
        summary: "Give a repository another UUID.",
        usage: &["svnadmin setuuid REPOS_PATH [NEW_UUID]"],
        text: "
  Without NEW_UUID, one that nobody else has.
",
        ..PLAIN
    },
    Subcommand {
        name: "unlock",
        summary: "Remove the lock of a user on a path.",
        usage: &["svnadmin unlock REPOS_PATH LOCKED_PATH USERNAME TOKEN"],
        text: "
  TOKEN must be that of the lock. The hooks pre-unlock and post-unlock run
  unless --bypass-hooks is given.
",
        options: &["bypass-hooks", "quiet"],
        ..PLAIN
    },
    Subcommand {
        name: "upgrade",
        summary: "Bring a repository to the newest format.",
        usage: &["svnadmin upgrade REPOS_PATH"],
        text: "
  Only what must change is changed; 'svnadmin dump' and 'svnadmin load' bring all
  that newer formats have.
",
        ..PLAIN
    },
    Subcommand {
        name: "verify",
        summary: "Check what is stored.",
        usage: &["svnadmin verify REPOS_PATH"],
        options: &[
            "transaction",
            "revision",
            "quiet",
            "keep-going",
            "memory-cache-size",
            "check-normalization",
            "metadata-only",
        ],
        ..PLAIN
    },
]];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::PROGRAM;

    /// What Subversion accepts, but for `crashtest`.
    const SURFACE: &str = include_str!("../../../tests/fixtures/svnadmin-surface.tsv");

    #[test]
    fn tables_have_the_surface_of_subversion() {
        let expected: BTreeSet<String> = SURFACE
            .lines()
            .filter(|line| !line.starts_with('#'))
            .map(str::to_owned)
            .collect();
        let mut have = BTreeSet::new();
        for command in PROGRAM.all_subcommands() {
            let name = command.name;
            have.insert(format!("{name}\taliases:{}\t", command.aliases.join(",")));
            for key in command.options {
                let option = PROGRAM.option(key).unwrap_or_else(|| panic!("{key}"));
                let arg = if option.takes_arg { "yes" } else { "no" };
                let long = option.long.map(|long| format!("--{long}"));
                let short = option.short.map(|short| format!("-{short}"));
                for spelling in long.into_iter().chain(short) {
                    have.insert(format!("{name}\t{spelling}\t{arg}"));
                }
            }
            for (key, _) in command.special {
                assert!(command.options.contains(key), "{name} {key}");
            }
        }
        let missing: Vec<_> = expected.difference(&have).collect();
        let extra: Vec<_> = have.difference(&expected).collect();
        assert!(
            missing.is_empty() && extra.is_empty(),
            "missing {missing:#?}\nextra {extra:#?}"
        );
    }
}
