//! What was typed: one value that holds every option of a call.
//!
//! Options are checked in the order typed, then against what the subcommand accepts, then against
//! each other, so that of several mistakes the same one is reported as by Subversion.

mod check;
mod parse;

use std::ffi::OsString;
use std::ops::Deref;

use sylvan_cmdline::table::Subcommand;
pub(crate) use sylvan_core::opt::{RevisionRange, RevisionSpec};
use sylvan_core::{Depth, Result};
use sylvan_io::config::ConfigOption;

pub(crate) use parse::parse;

/// Which failures of a server's certificate are accepted without asking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TrustFailures {
    pub(crate) unknown_ca: bool,
    pub(crate) cn_mismatch: bool,
    pub(crate) expired: bool,
    pub(crate) not_yet_valid: bool,
    pub(crate) other: bool,
}

/// How conflicts are settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accept {
    Postpone,
    Base,
    Working,
    MineConflict,
    TheirsConflict,
    MineFull,
    TheirsFull,
    Edit,
    Launch,
    Recommended,
}

/// A call of the program, as typed and checked.
#[derive(Clone, Debug)]
pub(crate) struct Invocation {
    /// The subcommand.
    pub(crate) command: &'static Subcommand,
    /// What follows the subcommand and is no option.
    pub(crate) operands: Vec<OsString>,
    /// All options.
    pub(crate) options: Options,
}

impl Deref for Invocation {
    type Target = Options;

    fn deref(&self) -> &Options {
        &self.options
    }
}

impl Invocation {
    /// Settles what options mean for this subcommand, and checks what is left to check.
    pub(crate) fn settle(&mut self) -> Result<()> {
        check::for_subcommand(self.command, &mut self.options)?;
        check::accept(&mut self.options)
    }

    /// Returns what stands before the colon of the first `-r`.
    pub(crate) fn start(&self) -> RevisionSpec {
        self.range().start
    }

    /// Returns the first range.
    pub(crate) fn range(&self) -> RevisionRange {
        self.ranges.first().copied().unwrap_or_default()
    }
}

/// The options of `diff`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DiffFlags {
    /// `--git`.
    pub(crate) git: bool,
    /// `--ignore-properties`.
    pub(crate) ignore_properties: bool,
    /// `--no-diff-added`.
    pub(crate) no_added: bool,
    /// `--no-diff-deleted`.
    pub(crate) no_deleted: bool,
    /// `--notice-ancestry`.
    pub(crate) notice_ancestry: bool,
    /// `--patch-compatible`.
    pub(crate) patch_compatible: bool,
    /// `--properties-only`.
    pub(crate) properties_only: bool,
    /// `--show-copies-as-adds`.
    pub(crate) copies_as_adds: bool,
    /// `--summarize`.
    pub(crate) summarize: bool,
}

/// The options of `patch`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PatchFlags {
    /// `--ignore-whitespace`.
    pub(crate) ignore_whitespace: bool,
    /// `--reverse-diff`.
    pub(crate) reverse: bool,
    /// `--strip`.
    pub(crate) strip: usize,
}

/// The options of a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    /// The lines of the file named by `--targets`.
    pub(crate) targets: Option<Vec<String>>,
    /// `-r` and `-c`, in the order typed.
    pub(crate) ranges: Vec<RevisionRange>,
    /// Whether `-r` was among them.
    pub(crate) used_revision: bool,
    /// Whether `-c` was among them.
    pub(crate) used_change: bool,
    /// `--depth`, `-N` or `-R`; `None` if none was given.
    pub(crate) depth: Option<Depth>,
    /// `--set-depth`.
    pub(crate) set_depth: Option<Depth>,
    /// `-q`.
    pub(crate) quiet: bool,
    /// `-v`.
    pub(crate) verbose: bool,
    /// `-u`.
    pub(crate) show_updates: bool,
    /// `--xml`.
    pub(crate) xml: bool,
    /// `--incremental`.
    pub(crate) incremental: bool,
    /// `--force`.
    pub(crate) force: bool,
    /// `--version`.
    pub(crate) version: bool,
    /// `--non-interactive`, or no terminal to ask at.
    pub(crate) non_interactive: bool,
    /// `--username`.
    pub(crate) username: Option<String>,
    /// `--password`, or what standard input said.
    pub(crate) password: Option<String>,
    /// `--password-from-stdin`.
    pub(crate) password_from_stdin: bool,
    /// `--no-auth-cache`.
    pub(crate) no_auth_cache: bool,
    /// `--trust-server-cert-failures`, `--trust-server-cert`.
    pub(crate) trust: TrustFailures,
    /// `--config-dir`.
    pub(crate) config_dir: Option<String>,
    /// `--config-option`.
    pub(crate) config_options: Vec<ConfigOption>,
    /// `--ignore-externals`.
    pub(crate) ignore_externals: bool,
    /// `--include-externals`.
    pub(crate) include_externals: bool,
    /// `--ignore-keywords`.
    pub(crate) ignore_keywords: bool,
    /// `--no-ignore`.
    pub(crate) no_ignore: bool,
    /// `--native-eol`: `LF`, `CR` or `CRLF`.
    pub(crate) native_eol: Option<String>,
    /// `-l`.
    pub(crate) limit: Option<u32>,
    /// `--stop-on-copy`.
    pub(crate) stop_on_copy: bool,
    /// `--show-revs`.
    pub(crate) show_revs: Option<String>,
    /// `--log`.
    pub(crate) mergeinfo_log: bool,
    /// `-g`.
    pub(crate) use_merge_history: bool,
    /// `--with-all-revprops`.
    pub(crate) all_revprops: bool,
    /// `--with-no-revprops`.
    pub(crate) no_revprops: bool,
    /// `--with-revprop`: name and value (empty if none was given).
    pub(crate) revprops: Vec<(String, Vec<u8>)>,
    /// `--search` and `--search-and`: groups of which one must match; all patterns in it must.
    pub(crate) search: Vec<Vec<String>>,
    /// `--changelist`.
    pub(crate) changelists: Vec<String>,
    /// `--show-item`.
    pub(crate) show_item: Option<String>,
    /// `--no-newline`.
    pub(crate) no_newline: bool,
    /// `-H`.
    pub(crate) human_readable: bool,
    /// `--parents`.
    pub(crate) parents: bool,
    /// `--accept`.
    pub(crate) accept: Option<Accept>,
    /// `--adds-as-modification`.
    pub(crate) adds_as_modification: bool,
    /// `--remove-unversioned`.
    pub(crate) remove_unversioned: bool,
    /// `--remove-ignored`.
    pub(crate) remove_ignored: bool,
    /// `--vacuum-pristines`.
    pub(crate) vacuum_pristines: bool,
    /// `--x-viewspec`.
    pub(crate) viewspec: Option<String>,
    /// `--diff` of `log`.
    pub(crate) show_diff: bool,
    /// `--diff-cmd`.
    pub(crate) diff_cmd: Option<String>,
    /// `--diff3-cmd`.
    pub(crate) diff3_cmd: Option<String>,
    /// `--internal-diff`.
    pub(crate) internal_diff: bool,
    /// `-x`.
    pub(crate) extensions: Option<String>,
    /// `-m`, in the encoding it was typed in.
    pub(crate) message: Option<OsString>,
    /// What the file of `-F` has.
    pub(crate) file_data: Option<Vec<u8>>,
    /// `-F`.
    pub(crate) file: Option<String>,
    /// `--force-log`.
    pub(crate) force_log: bool,
    /// `--no-unlock`.
    pub(crate) no_unlock: bool,
    /// `--keep-changelists`.
    pub(crate) keep_changelists: bool,
    /// `--encoding`.
    pub(crate) encoding: Option<String>,
    /// `--force-interactive`.
    pub(crate) force_interactive: bool,
    /// `-N`.
    pub(crate) non_recursive: bool,
    /// `--ignore-ancestry`.
    pub(crate) ignore_ancestry: bool,
    /// `--relocate`.
    pub(crate) relocate: bool,
    /// `--old`.
    pub(crate) old_target: Option<String>,
    /// `--new`.
    pub(crate) new_target: Option<String>,
    /// What only `diff` takes.
    pub(crate) diff: DiffFlags,
    /// What only `patch` takes.
    pub(crate) patch: PatchFlags,
    /// `--dry-run`.
    pub(crate) dry_run: bool,
    /// `--auto-props`.
    pub(crate) auto_props: bool,
    /// `--no-auto-props`.
    pub(crate) no_auto_props: bool,
    /// `--keep-local`.
    pub(crate) keep_local: bool,
    /// `--remove`.
    pub(crate) remove: bool,
    /// `--remove-added`.
    pub(crate) remove_added: bool,
    /// `--revprop`.
    pub(crate) revprop: bool,
    /// `--show-inherited-props`.
    pub(crate) show_inherited_props: bool,
    /// `--allow-mixed-revisions`.
    pub(crate) allow_mixed_revisions: bool,
    /// `--pin-externals`.
    pub(crate) pin_externals: bool,
    /// `--editor-cmd`.
    pub(crate) editor_cmd: Option<String>,
}
