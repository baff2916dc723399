//! What was typed: one value that holds every option of a call.
//!
//! Options are checked in the order typed, then against what the subcommand accepts, then against
//! each other, so that of several mistakes the same one is reported as by Subversion.

use std::ffi::{OsStr, OsString};
use std::ops::Deref;

use sylvan_cmdline::error::Said;
use sylvan_cmdline::getopt::{Met, Parser};
use sylvan_cmdline::revision::RevisionSpec;
use sylvan_cmdline::table::{Program, Subcommand};
use sylvan_core::{Depth, Error, ErrorCode, Result};

/// A range of `-r` or `-c`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RevisionRange {
    /// What stands before the colon, or alone.
    pub(crate) start: RevisionSpec,
    /// What stands after the colon.
    pub(crate) end: RevisionSpec,
}

/// Which failures of a server's certificate are accepted without asking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TrustFailures {
    pub(crate) unknown_ca: bool,
    pub(crate) cn_mismatch: bool,
    pub(crate) expired: bool,
    pub(crate) not_yet_valid: bool,
    pub(crate) other: bool,
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
    /// Returns what stands before the colon of the first `-r`.
    pub(crate) fn start(&self) -> RevisionSpec {
        self.range().start
    }

    /// Returns what stands after the colon of the first `-r`.
    pub(crate) fn end(&self) -> RevisionSpec {
        self.range().end
    }

    /// Returns the first range.
    pub(crate) fn range(&self) -> RevisionRange {
        self.ranges.first().copied().unwrap_or_default()
    }
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
    /// `--config-option`, as typed.
    pub(crate) config_options: Vec<String>,
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
    /// `-g`.
    pub(crate) use_merge_history: bool,
    /// `--with-all-revprops`.
    pub(crate) all_revprops: bool,
    /// `--with-no-revprops`.
    pub(crate) no_revprops: bool,
    /// `--with-revprop`: name and value (empty if none was given).
    pub(crate) revprops: Vec<(String, String)>,
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
    pub(crate) accept: Option<String>,
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
}

/// Goes through the words of a call. The inner error is printed as it stands, the outer one as
/// errors are.
pub(crate) fn parse(
    program: &'static Program,
    words: Vec<OsString>,
) -> Result<Result<Invocation, Said>> {
    let mut parser = Parser::new(program.options, words);
    let mut options = Options::default();
    let mut met = Vec::new();
    let mut help = false;
    while let Some(next) = parser.next_option() {
        let option = match next {
            Ok(option) => option,
            Err(error) => return Ok(Err(usage(format!("{}: {error}\n", program.name)))),
        };
        help |= option.option.key == "help";
        met.push(option.option);
        options.take(option)?;
    }
    let mut operands = parser.into_operands();
    let command = match choose(program, help, options.version, &mut operands)? {
        Ok(command) => command,
        Err(said) => return Ok(Err(said)),
    };
    for option in met {
        if option.key == "help" || program.accepts(command, option.key) {
            continue;
        }
        return Ok(Err(Said(format!(
            "Subcommand '{0}' doesn't accept option '{1}'\nType 'svn help {0}' for usage.\n",
            command.name,
            option.spelled()
        ))));
    }
    Ok(Ok(Invocation {
        command,
        operands,
        options,
    }))
}

fn usage(text: String) -> Said {
    Said(format!("{text}Type 'svn help' for usage.\n"))
}

/// Chooses the subcommand and takes its name from the operands.
fn choose(
    program: &'static Program,
    help: bool,
    version: bool,
    operands: &mut Vec<OsString>,
) -> Result<Result<&'static Subcommand, Said>> {
    if help {
        return Ok(program
            .subcommand("help")
            .ok_or_else(|| usage(String::new())));
    }
    if operands.is_empty() {
        if version {
            return Ok(Ok(&crate::subcommands::VERSION));
        }
        return Ok(Err(usage("Subcommand argument required\n".to_owned())));
    }
    let name = operands.remove(0);
    let name = name.to_string_lossy();
    Ok(program
        .subcommand(&name)
        .ok_or_else(|| usage(format!("Unknown subcommand: '{name}'\n"))))
}

fn text(arg: &OsStr) -> Result<String> {
    match arg.to_str() {
        Some(text) => Ok(text.to_owned()),
        None => Err(Error::new(
            ErrorCode::from_errno(22),
            "Valid UTF-8 expected",
        )),
    }
}

impl Options {
    fn take(&mut self, met: Met) -> Result<()> {
        let arg = || text(&met.arg);
        match met.option.key {
            "quiet" => self.quiet = true,
            "verbose" => self.verbose = true,
            "version" => self.version = true,
            "xml" => self.xml = true,
            "force" => self.force = true,
            "depth" => self.depth = Depth::from_word(&arg()?),
            _ => {}
        }
        Ok(())
    }
}
