//! The subcommands of `svn` from `log` to `upgrade`.

use sylvan_cmdline::table::Subcommand;

/// In the order of help.
pub(crate) static LOG_TO_UPGRADE: &[Subcommand] = &[
    Subcommand {
        name: "log",
        aliases: &[],
        summary: "Show the log messages of revisions.",
        usage: &["log [PATH][@REV]", "log URL[@REV] [PATH...]"],
        text: "
  1. Revisions that changed PATH ('.' by default), from BASE (or REV) back to
     the first.

  2. Revisions that changed one of the PATHs ('.' by default) below URL, from
     HEAD (or REV) back to the first.

  -r and -c choose other revisions and may be given more than once, though not
  mixed. History is followed through copies unless --stop-on-copy is given.

  With -v changed paths are listed, each after a letter:
    A  added or copied
    D  deleted
    R  replaced (deleted and added in one revision)
    M  changed (contents or properties)
  and, for copies, where from. With -q the messages are left out.

  With --search, only revisions where author, date, message (unless -q) or
  changed path (with -v) match. Several --search are alternatives, --search-and
  adds a condition to the one before. --limit counts revisions looked at.

  --depth is for --diff only.

  Examples:
    svn log -l 5 -v             the last five revisions with their paths
    svn log -r BASE:HEAD f.c    what the next update would bring
    svn log --stop-on-copy -r0:HEAD -l 1 ^/branches/b
                                the revision that made the branch
",
        options: &[
            "revision",
            "change",
            "quiet",
            "verbose",
            "use-merge-history",
            "targets",
            "stop-on-copy",
            "incremental",
            "xml",
            "limit",
            "with-all-revprops",
            "with-no-revprops",
            "with-revprop",
            "depth",
            "diff",
            "diff-cmd",
            "internal-diff",
            "extensions",
            "search",
            "search-and",
        ],
        special: &[
            ("with-revprop", "print revision property ARG"),
            ("change", "revision ARG"),
            ("verbose", "list changed paths"),
            ("quiet", "leave the messages out"),
        ],
    },
    Subcommand {
        name: "merge",
        aliases: &[],
        summary: "Bring changes from one place into a working copy.",
        usage: &[
            "merge SOURCE[@REV] [TARGET_WCPATH]\n   (all that is not merged yet)",
            "merge [-c M[,N...] | -r N:M ...] SOURCE[@REV] [TARGET_WCPATH]\n   (chosen revisions)",
            "merge SOURCE1[@REV1] SOURCE2[@REV2] [TARGET_WCPATH]\n   (the difference of two trees)",
        ],
        text: "
  SOURCE is a URL or a path of a working copy, which stands for its URL. What
  was merged is recorded in the property svn:mergeinfo. The working copy should
  be up to date and without local changes.
",
        options: &[
            "revision",
            "change",
            "non-recursive",
            "depth",
            "quiet",
            "force",
            "dry-run",
            "diff3-cmd",
            "record-only",
            "extensions",
            "ignore-ancestry",
            "accept",
            "reintegrate",
            "allow-mixed-revisions",
            "verbose",
        ],
        special: &[
            ("force", "delete locally changed files where the merge does"),
            ("non-recursive", "old form of --depth=files"),
        ],
    },
    Subcommand {
        name: "mergeinfo",
        aliases: &[],
        summary: "Show what was merged, or could be.",
        usage: &[
            "mergeinfo SOURCE[@REV] [TARGET[@REV]]",
            "mergeinfo --show-revs=WHICH SOURCE[@REV] [TARGET[@REV]]",
        ],
        text: "
  1. Draw how the branches SOURCE and TARGET ('.' by default) are related.

  2. List revisions of SOURCE that were merged into TARGET ('merged'), or that
     were not ('eligible').
",
        options: &[
            "revision",
            "recursive",
            "quiet",
            "verbose",
            "depth",
            "show-revs",
            "log",
            "incremental",
        ],
        special: &[],
    },
    Subcommand {
        name: "mkdir",
        aliases: &[],
        summary: "Make folders under version control.",
        usage: &["mkdir PATH...", "mkdir URL..."],
        text: "
  1. Make each PATH in the working copy; the next commit adds it.

  2. Make each URL in the repository by a commit at once.

  Parents must exist unless --parents is given.
",
        options: &[
            "quiet",
            "parents",
            "message",
            "file",
            "force-log",
            "editor-cmd",
            "encoding",
            "with-revprop",
        ],
        special: &[],
    },
    Subcommand {
        name: "move",
        aliases: &["mv", "rename", "ren"],
        summary: "Move or rename files and folders.",
        usage: &["move SRC... DST"],
        text: "
  SRC and DST are paths of one working copy, or URLs of one repository; with
  URLs the move is committed at once. Of several SRCs, each becomes a child of
  DST.
",
        options: &[
            "quiet",
            "force",
            "parents",
            "allow-mixed-revisions",
            "message",
            "file",
            "force-log",
            "editor-cmd",
            "encoding",
            "with-revprop",
            "revision",
        ],
        special: &[],
    },
    Subcommand {
        name: "patch",
        aliases: &[],
        summary: "Apply a patch to a working copy.",
        usage: &["patch PATCHFILE [WCPATH]"],
        text: "
  PATCHFILE is a unified diff, as 'svn diff' makes. Each line of output begins
  with a letter:
    A  added      D  deleted     U  changed
    C  conflict   G  merged with local changes
  Hunks that fit nowhere are written to a file named .svnpatch.rej.
",
        options: &[
            "quiet",
            "dry-run",
            "strip",
            "reverse-diff",
            "ignore-whitespace",
        ],
        special: &[],
    },
    Subcommand {
        name: "propdel",
        aliases: &["pdel", "pd"],
        summary: "Remove a property.",
        usage: &[
            "propdel PROPNAME [PATH...]",
            "propdel PROPNAME --revprop -r REV [TARGET]",
        ],
        text: "
  1. Of files and folders of the working copy.

  2. Of a revision of the repository of TARGET.
",
        options: &[
            "quiet",
            "recursive",
            "depth",
            "revision",
            "revprop",
            "changelist",
        ],
        special: &[],
    },
    Subcommand {
        name: "propedit",
        aliases: &["pedit", "pe"],
        summary: "Change a property in an editor.",
        usage: &[
            "propedit PROPNAME TARGET...",
            "propedit PROPNAME --revprop -r REV [TARGET]",
        ],
        text: "
  1. Of files and folders; for a URL the change is committed at once.

  2. Of a revision of the repository of TARGET.
",
        options: &[
            "revision",
            "revprop",
            "message",
            "file",
            "force-log",
            "editor-cmd",
            "encoding",
            "with-revprop",
            "force",
        ],
        special: &[],
    },
    Subcommand {
        name: "propget",
        aliases: &["pget", "pg"],
        summary: "Print a property.",
        usage: &[
            "propget PROPNAME [TARGET[@REV]...]",
            "propget PROPNAME --revprop -r REV [TARGET]",
        ],
        text: "
  1. Of files and folders. REV (of TARGET@REV) says in which revision they
     are looked up.

  2. Of a revision of the repository of TARGET.

  With several targets, or with -R, each value follows its path.
",
        options: &[
            "verbose",
            "recursive",
            "depth",
            "revision",
            "revprop",
            "strict",
            "no-newline",
            "xml",
            "changelist",
            "show-inherited-props",
        ],
        special: &[
            ("verbose", "print path and name before each value"),
            ("strict", "old form of --no-newline"),
        ],
    },
    Subcommand {
        name: "proplist",
        aliases: &["plist", "pl"],
        summary: "List properties.",
        usage: &[
            "proplist [TARGET[@REV]...]",
            "proplist --revprop -r REV [TARGET]",
        ],
        text: "
  1. Of files and folders. REV (of TARGET@REV) says in which revision they
     are looked up.

  2. Of a revision of the repository of TARGET.
",
        options: &[
            "verbose",
            "recursive",
            "depth",
            "revision",
            "quiet",
            "revprop",
            "xml",
            "changelist",
            "show-inherited-props",
        ],
        special: &[
            ("verbose", "print the values too"),
            ("quiet", "leave the paths out"),
        ],
    },
    Subcommand {
        name: "propset",
        aliases: &["pset", "ps"],
        summary: "Set a property.",
        usage: &[
            "propset PROPNAME PROPVAL PATH...",
            "propset PROPNAME --revprop -r REV PROPVAL [TARGET]",
        ],
        text: "
  1. Of files and folders of the working copy.

  2. Of a revision of the repository of TARGET.

  PROPVAL can come from a file by -F.

  Properties with a meaning of their own, on files:
    svn:eol-style     line ends: native, LF, CR or CRLF
    svn:executable    file is a program
    svn:keywords      keywords to expand: Author, Date, Rev, URL, Id, Header
    svn:mime-type     media type; tells text from other files
    svn:needs-lock    read-only until locked
    svn:special       symbolic link
  on folders:
    svn:auto-props, svn:externals, svn:global-ignores, svn:ignore
",
        options: &[
            "file",
            "encoding",
            "quiet",
            "revision",
            "targets",
            "recursive",
            "depth",
            "revprop",
            "force",
            "changelist",
        ],
        special: &[("file", "value from file ARG")],
    },
    Subcommand {
        name: "relocate",
        aliases: &[],
        summary: "Tell a working copy that its repository has moved.",
        usage: &[
            "relocate FROM-PREFIX TO-PREFIX [PATH...]",
            "relocate TO-URL [PATH]",
        ],
        text: "
  1. Replace FROM-PREFIX at the beginning of URLs by TO-PREFIX.

  2. Make TO-URL the URL of PATH.

  It must be the same repository; for another place in it use 'svn switch'.
",
        options: &["ignore-externals"],
        special: &[],
    },
    Subcommand {
        name: "resolve",
        aliases: &[],
        summary: "Settle conflicts.",
        usage: &["resolve [PATH...]"],
        text: "
  Without --accept questions are asked. --accept says how to settle them:
    base                            as before all changes
    working                         as the file is now
    mine-full, theirs-full          one side's file
    mine-conflict, theirs-conflict  one side where they clash
",
        options: &["targets", "recursive", "depth", "quiet", "accept"],
        special: &[(
            "accept",
            "settle conflicts by ARG: 'postpone' ('p'), 'base',\n'working', 'mine-conflict' ('mc'),\n'theirs-conflict' ('tc'), 'mine-full' ('mf'),\n'theirs-full' ('tf'), 'edit' ('e'), 'launch' ('l')\nor 'recommended' ('r')",
        )],
    },
    Subcommand {
        name: "resolved",
        aliases: &[],
        summary: "Mark conflicts as settled (old form of 'svn resolve').",
        usage: &["resolved PATH..."],
        text: "",
        options: &["targets", "recursive", "depth", "quiet"],
        special: &[],
    },
    Subcommand {
        name: "revert",
        aliases: &[],
        summary: "Undo local changes.",
        usage: &["revert PATH..."],
        text: "
  Files and folders get back the contents and properties they had when they
  came from the repository. Nothing brings the changes back.
",
        options: &[
            "targets",
            "recursive",
            "depth",
            "quiet",
            "changelist",
            "remove-added",
        ],
        special: &[],
    },
    Subcommand {
        name: "status",
        aliases: &["stat", "st"],
        summary: "Show the state of a working copy.",
        usage: &["status [PATH...]"],
        text: "
  Each line has a column for each question, and the path.

  First column, the node:
    ' '  unchanged                   'A'  added
    'C'  in conflict                 'D'  deleted
    'I'  ignored                     'M'  contents changed
    'R'  replaced                    'X'  folder of an external
    '?'  not under version control   '!'  missing, or incomplete
    '~'  of another kind than in the repository
  Second, its properties:     'C'  in conflict   'M'  changed
  Third, the folder:          'L'  locked by svn for work in it
  Fourth, history:            '+'  the next commit copies it
  Fifth, place:               'S'  switched      'X'  file of an external
  Sixth, lock in the repository:
    'K'  locked here; with -u also
    'O'  locked by others   'T'  taken over by others   'B'  gone
  Seventh, trees:             'C'  conflict of trees

  With -u, ninth:             '*'  a newer revision is on the server
  With -u or -v, revision; with -v, the last change and its author too.

  With --depth and -u only what is in that depth is asked for.
",
        options: &[
            "show-updates",
            "verbose",
            "non-recursive",
            "depth",
            "revision",
            "quiet",
            "no-ignore",
            "incremental",
            "xml",
            "ignore-externals",
            "changelist",
        ],
        special: &[
            ("quiet", "leave out what is not under version control"),
            ("non-recursive", "old form of --depth=immediates"),
        ],
    },
    Subcommand {
        name: "switch",
        aliases: &["sw"],
        summary: "Make a working copy follow another place of its repository.",
        usage: &[
            "switch URL[@PEGREV] [PATH]",
            "switch --relocate FROM-PREFIX TO-PREFIX [PATH...]",
        ],
        text: "
  1. Bring PATH to what URL has, keeping local changes.

  2. Old form of 'svn relocate'.
",
        options: &[
            "revision",
            "non-recursive",
            "depth",
            "set-depth",
            "quiet",
            "diff3-cmd",
            "ignore-externals",
            "ignore-ancestry",
            "force",
            "accept",
            "relocate",
        ],
        special: &[
            ("ignore-ancestry", "allow a URL without common history"),
            ("force", "take files that are in the way for the new ones"),
            ("relocate", "old form of 'svn relocate'"),
            ("non-recursive", "old form of --depth=files"),
        ],
    },
    Subcommand {
        name: "unlock",
        aliases: &[],
        summary: "Release locks in the repository.",
        usage: &["unlock TARGET..."],
        text: "
  Locks of others are released only with --force.
",
        options: &["targets", "force", "quiet"],
        special: &[("force", "break locks of others")],
    },
    Subcommand {
        name: "update",
        aliases: &["up"],
        summary: "Bring changes from the repository into a working copy.",
        usage: &["update [PATH...]"],
        text: "
  Each PATH ('.' by default) is brought to the youngest revision, or to that of
  -r. An update that was interrupted goes on when it is run again.

  Each line of output has columns for contents, properties, lock and trees:
    A  added             D  deleted     U  updated
    G  merged with local changes        C  in conflict
    E  was there already  R  replaced
    B  (third column)    lock is gone
    C  (fourth column)   conflict of trees

  --set-depth changes how deep the working copy is, from now on; 'exclude'
  removes PATH from it.

  With --force, files that are in the way and not under version control are
  taken for the new ones; differences then show as local changes.
",
        options: &[
            "revision",
            "non-recursive",
            "depth",
            "set-depth",
            "quiet",
            "diff3-cmd",
            "force",
            "ignore-externals",
            "changelist",
            "editor-cmd",
            "accept",
            "parents",
            "adds-as-modification",
        ],
        special: &[
            ("force", "take files that are in the way for the new ones"),
            ("non-recursive", "old form of --depth=files"),
        ],
    },
    Subcommand {
        name: "upgrade",
        aliases: &[],
        summary: "Give a working copy of an older format the present one.",
        usage: &["upgrade [WCPATH...]"],
        text: "
  Local changes stay.
",
        options: &["quiet"],
        special: &[],
    },
];
