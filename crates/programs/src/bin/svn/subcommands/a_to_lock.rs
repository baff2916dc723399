//! The subcommands of `svn` from `add` to `lock`.

use sylvan_cmdline::table::Subcommand;

/// In the order of help.
pub(crate) static A_TO_LOCK: &[Subcommand] = &[
    Subcommand {
        name: "add",
        aliases: &[],
        summary: "Put files and folders under version control.",
        usage: &["add PATH..."],
        text: "
  The next commit adds each PATH to the repository, and what is below it
  unless --depth says less. 'svn status' shows what is not yet under version
  control (a '?'), 'svn revert' takes an addition back before it is committed.

  Ignored files are left out (see --no-ignore) unless named as a PATH. The
  'auto-props' rules of the configuration set properties of new files.

  A PATH that is under version control already is an error; with --force it is
  not, and new files below it are added.
",
        options: &[
            "targets",
            "non-recursive",
            "depth",
            "quiet",
            "force",
            "no-ignore",
            "auto-props",
            "no-auto-props",
            "parents",
        ],
        special: &[
            ("parents", "add missing parent folders too"),
            ("non-recursive", "old form of --depth=empty"),
            ("force", "pass over what is under version control already"),
        ],
    },
    Subcommand {
        name: "auth",
        aliases: &[],
        summary: "List or remove stored user names, passwords and certificates.",
        usage: &[
            "svn auth [PATTERN ...]",
            "svn auth --remove PATTERN [PATTERN ...]",
        ],
        text: "
  1. List what is stored: user names, passwords, server certificates and
     passphrases of client certificates. With PATTERNs, only what matches all
     of them.

  2. Remove what matches all PATTERNs.

  A PATTERN is compared with each attribute; case matters; *, ? and [ ] are
  wildcards (quote them, or the shell may take them).
",
        options: &["remove", "show-passwords"],
        special: &[("remove", "remove what matches")],
    },
    Subcommand {
        name: "blame",
        aliases: &["praise", "annotate", "ann"],
        summary: "Show who changed each line of a file, and when.",
        usage: &["blame [-rM:N] TARGET[@REV]..."],
        text: "
  Each line of TARGET in revision N is printed with the last revision from M to
  N that changed it, and its author. Without -r that is the whole history.

  If M is younger than N, the next revision that changed or removed the line is
  shown instead, looking no further than M.

  REV (of TARGET@REV) says in which revision TARGET is looked up.
",
        options: &[
            "revision",
            "verbose",
            "use-merge-history",
            "incremental",
            "xml",
            "extensions",
            "force",
        ],
        special: &[],
    },
    Subcommand {
        name: "cat",
        aliases: &[],
        summary: "Print the contents of files.",
        usage: &["cat TARGET[@REV]..."],
        text: "
  REV (of TARGET@REV) says in which revision TARGET is looked up.
",
        options: &["revision", "ignore-keywords"],
        special: &[],
    },
    Subcommand {
        name: "changelist",
        aliases: &["cl"],
        summary: "Put files into a changelist, or take them out.",
        usage: &["changelist CLNAME PATH...", "changelist --remove PATH..."],
        text: "
  A changelist is a name for some files of the working copy; --changelist of
  other subcommands chooses files by it.
",
        options: &[
            "quiet",
            "recursive",
            "depth",
            "remove",
            "targets",
            "changelist",
        ],
        special: &[],
    },
    Subcommand {
        name: "checkout",
        aliases: &["co"],
        summary: "Make a working copy of a folder of a repository.",
        usage: &["checkout URL[@REV]... [PATH]"],
        text: "
  REV says in which revision URL is looked up.

  The working copy is made at PATH; without PATH, in a folder named as the last
  part of URL. Of several URLs each becomes a folder of its own, below PATH.

  A checkout that was interrupted goes on when the same command is given again.

  Files and folders that are at PATH already and not under version control stop
  the checkout. With --force they stay as they are: what has the name and kind
  of something in the repository is taken for it, and differences then show as
  local changes.

  'svn help update' says what the letters mean.
",
        options: &[
            "revision",
            "quiet",
            "non-recursive",
            "depth",
            "force",
            "ignore-externals",
        ],
        special: &[("non-recursive", "old form of --depth=files")],
    },
    Subcommand {
        name: "cleanup",
        aliases: &[],
        summary: "Put a working copy in order after an interruption, or tidy it up.",
        usage: &[
            "cleanup [WCPATH...]",
            "cleanup --remove-unversioned [WCPATH...]\ncleanup --remove-ignored [WCPATH...]",
            "cleanup --vacuum-pristines [WCPATH...]",
        ],
        text: "
  1. Finish what an interrupted operation left undone, and remove its locks.
     While another svn works in the same working copy this may do harm.

  2. Remove files and folders that are not under version control, or those
     that are ignored. Nothing brings them back.

  3. Remove pristine texts that no file uses any more. This may be combined
     with 2.

  Without WCPATH, the current folder.
",
        options: &[
            "remove-unversioned",
            "remove-ignored",
            "vacuum-pristines",
            "include-externals",
            "quiet",
            "diff3-cmd",
        ],
        special: &[("diff3-cmd", "no longer of use")],
    },
    Subcommand {
        name: "commit",
        aliases: &["ci"],
        summary: "Send changes to the repository.",
        usage: &["commit [PATH...]"],
        text: "
  A log message is given by -m or -F; without them an editor is started.
  Locks on committed files are released (see --no-unlock).
",
        options: &[
            "quiet",
            "non-recursive",
            "depth",
            "targets",
            "no-unlock",
            "message",
            "file",
            "force-log",
            "editor-cmd",
            "encoding",
            "with-revprop",
            "changelist",
            "keep-changelists",
            "include-externals",
        ],
        special: &[("non-recursive", "old form of --depth=files")],
    },
    Subcommand {
        name: "copy",
        aliases: &["cp"],
        summary: "Copy files and folders, in the working copy or the repository.",
        usage: &["copy SRC[@REV]... DST"],
        text: "
  SRC and DST can be paths of a working copy (WC) or URLs:

    WC to WC     copy with history; the next commit sends it
    WC to URL    commit a copy of the working copy at once
    URL to WC    copy with history; the next commit sends it
    URL to URL   commit a copy at once, on the server; for branches and tags

  Of several SRCs, each becomes a child of DST.
",
        options: &[
            "revision",
            "quiet",
            "ignore-externals",
            "parents",
            "message",
            "file",
            "force-log",
            "editor-cmd",
            "encoding",
            "with-revprop",
            "pin-externals",
        ],
        special: &[],
    },
    Subcommand {
        name: "delete",
        aliases: &["del", "remove", "rm"],
        summary: "Remove files and folders from version control.",
        usage: &["delete PATH...", "delete URL..."],
        text: "
  1. Remove each PATH from disk, and from the repository with the next commit.
     What has local changes or is not under version control stops this, unless
     --force or --keep-local is given.

  2. Remove each URL from the repository by a commit at once.
",
        options: &[
            "force",
            "quiet",
            "targets",
            "message",
            "file",
            "force-log",
            "editor-cmd",
            "encoding",
            "with-revprop",
            "keep-local",
        ],
        special: &[],
    },
    Subcommand {
        name: "diff",
        aliases: &["di"],
        summary: "Show differences between revisions, paths or URLs.",
        usage: &[
            "diff",
            "diff [-c M | -r N[:M]] [TARGET[@REV]...]",
            "diff [-r N[:M]] --old=OLD-TGT[@OLDREV] [--new=NEW-TGT[@NEWREV]] \\\n     [PATH...]",
            "diff OLD-URL[@OLDREV] NEW-URL[@NEWREV]",
            "diff OLD-URL[@OLDREV] NEW-PATH[@NEWREV]",
            "diff OLD-PATH[@OLDREV] NEW-URL[@NEWREV]",
        ],
        text: "
  1. The local changes of the working copy.

  2. The changes of TARGET between two revisions; with only N given, from N to
     the working copy.

  3. The changes from OLD-TGT to NEW-TGT, or of each PATH below them.

  4. 5. 6. Shorter forms of 3 for two targets.
",
        options: &[
            "revision",
            "change",
            "old",
            "new",
            "non-recursive",
            "depth",
            "diff-cmd",
            "internal-diff",
            "extensions",
            "no-diff-added",
            "no-diff-deleted",
            "ignore-properties",
            "properties-only",
            "show-copies-as-adds",
            "notice-ancestry",
            "summarize",
            "changelist",
            "force",
            "xml",
            "git",
            "patch-compatible",
        ],
        special: &[("non-recursive", "old form of --depth=files")],
    },
    Subcommand {
        name: "export",
        aliases: &[],
        summary: "Write a tree without making it a working copy.",
        usage: &[
            "export [-r REV] URL[@PEGREV] [PATH]",
            "export [-r REV] PATH1[@PEGREV] [PATH2]",
        ],
        text: "
  1. Write what URL has in revision REV (HEAD by default) to PATH; without
     PATH, to the last part of URL.

  2. Write what the working copy at PATH1 has to PATH2: with its local changes,
     or, with -r, as it was in REV. Files not under version control are left
     out.

  PEGREV says in which revision the source is looked up. A PATH that exists is
  an error unless --force is given; then files in it are overwritten.
",
        options: &[
            "revision",
            "quiet",
            "non-recursive",
            "depth",
            "force",
            "native-eol",
            "ignore-externals",
            "ignore-keywords",
        ],
        special: &[("non-recursive", "old form of --depth=files")],
    },
    Subcommand {
        name: "help",
        aliases: &["?", "h"],
        summary: "Describe this program or its subcommands.",
        usage: &["help [SUBCOMMAND...]"],
        text: "",
        options: &["verbose"],
        special: &[("verbose", "describe experimental and global options too")],
    },
    Subcommand {
        name: "import",
        aliases: &[],
        summary: "Commit a tree that is not under version control.",
        usage: &["import [PATH] URL"],
        text: "
  What is below PATH (the current folder by default) is committed below URL.
  Missing parents are made. PATH does not become a working copy. A file that
  URL has already is an error. Ignored files are left out (see --no-ignore).
",
        options: &[
            "quiet",
            "non-recursive",
            "depth",
            "auto-props",
            "force",
            "no-auto-props",
            "message",
            "file",
            "force-log",
            "editor-cmd",
            "encoding",
            "with-revprop",
            "no-ignore",
        ],
        special: &[("non-recursive", "old form of --depth=files")],
    },
    Subcommand {
        name: "info",
        aliases: &[],
        summary: "Show what is known of files, folders and URLs.",
        usage: &["info [TARGET[@REV]...]"],
        text: "
  Without TARGET, the current folder.

  REV (of TARGET@REV) says in which revision TARGET is looked up.
  With --show-item, one item alone, followed by the path if there are several
  targets.
",
        options: &[
            "revision",
            "recursive",
            "human-readable",
            "depth",
            "targets",
            "incremental",
            "xml",
            "changelist",
            "include-externals",
            "show-item",
            "no-newline",
            "x-viewspec",
        ],
        special: &[("human-readable", "print sizes with unit suffixes")],
    },
    Subcommand {
        name: "list",
        aliases: &["ls"],
        summary: "List folders of a repository.",
        usage: &["list [TARGET[@REV]...]"],
        text: "
  Names in the folder TARGET, as it is in the repository. Without TARGET, the
  URL of the current folder.

  REV (of TARGET@REV) says in which revision TARGET is looked up.

  With --verbose each line begins with

    last revision that changed it
    author of that revision
    an 'O' if it is locked
    size in bytes
    date of that revision
",
        options: &[
            "revision",
            "verbose",
            "recursive",
            "human-readable",
            "depth",
            "incremental",
            "xml",
            "include-externals",
            "search",
        ],
        special: &[(
            "human-readable",
            "with --verbose, print sizes with unit suffixes",
        )],
    },
    Subcommand {
        name: "lock",
        aliases: &[],
        summary: "Lock files in the repository, so that nobody else commits them.",
        usage: &["lock TARGET..."],
        text: "
  A lock of somebody else can be taken over with --force.
",
        options: &[
            "targets",
            "message",
            "file",
            "force-log",
            "encoding",
            "force",
            "quiet",
        ],
        special: &[
            ("file", "lock comment from file ARG"),
            ("message", "lock comment ARG"),
            (
                "force-log",
                "take the comment as it is, even if it names a file",
            ),
            ("force", "take over locks of others"),
        ],
    },
];
