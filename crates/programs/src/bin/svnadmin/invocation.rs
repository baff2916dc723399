//! What was typed: one value that holds every option of a call.
//!
//! Of several mistakes the same one is reported as by Subversion: options are checked in the order
//! typed, then the subcommand, then the path of the repository, then what the subcommand accepts.

use std::ffi::{OsStr, OsString};
use std::ops::Deref;

use sylvan_cmdline::call::{self, Words};
use sylvan_cmdline::error::Said;
use sylvan_cmdline::getopt::Met;
use sylvan_cmdline::table::{Program, Subcommand};
use sylvan_cmdline::{surroundings, utf8};
use sylvan_core::opt::{RevisionRange, RevisionSpec};
use sylvan_core::{Dirent, Error, ErrorCode, Result};

use crate::version::Version;

/// A call of the program, as typed and checked.
#[derive(Clone, Debug)]
pub(crate) struct Invocation {
    /// The subcommand.
    pub(crate) command: &'static Subcommand,
    /// The repository's path; empty for the subcommands that have none.
    pub(crate) repository: Dirent,
    /// What follows the repository's path and is no option.
    pub(crate) operands: Vec<OsString>,
    /// All options.
    pub(crate) options: Options,
}

/// What becomes of the repository's UUID when a dump stream brings one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum UuidAction {
    /// It is taken if the repository is empty.
    #[default]
    Default,
    /// It is ignored.
    Ignore,
    /// It is taken.
    Force,
}

/// The options of a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    /// `-r`.
    pub(crate) revisions: RevisionRange,
    /// `-t`.
    pub(crate) transaction: Option<String>,
    /// `-q`.
    pub(crate) quiet: bool,
    /// `--version`.
    pub(crate) version: bool,
    /// `-M`, in bytes.
    pub(crate) memory_cache_size: Option<u64>,
    /// `-F`.
    pub(crate) file: Option<String>,
    /// `--incremental`.
    pub(crate) incremental: bool,
    /// `--deltas`.
    pub(crate) deltas: bool,
    /// `--bypass-hooks`.
    pub(crate) bypass_hooks: bool,
    /// `--bypass-prop-validation`.
    pub(crate) bypass_prop_validation: bool,
    /// `--ignore-dates`.
    pub(crate) ignore_dates: bool,
    /// `--ignore-uuid` or `--force-uuid`, the last one.
    pub(crate) uuid_action: UuidAction,
    /// `--fs-type`.
    pub(crate) fs_type: Option<String>,
    /// `--parent-dir`.
    pub(crate) parent_dir: Option<String>,
    /// `--use-pre-commit-hook`.
    pub(crate) use_pre_commit_hook: bool,
    /// `--use-post-commit-hook`.
    pub(crate) use_post_commit_hook: bool,
    /// `--use-pre-revprop-change-hook`.
    pub(crate) use_pre_revprop_change_hook: bool,
    /// `--use-post-revprop-change-hook`.
    pub(crate) use_post_revprop_change_hook: bool,
    /// `--compatible-version`, or what `--pre-1.x-compatible` says.
    pub(crate) compatible_version: Option<Version>,
    /// `--keep-going`.
    pub(crate) keep_going: bool,
    /// `--check-normalization`.
    pub(crate) check_normalization: bool,
    /// `--metadata-only`.
    pub(crate) metadata_only: bool,
    /// `--no-flush-to-disk`.
    pub(crate) no_flush_to_disk: bool,
    /// `--normalize-props`.
    pub(crate) normalize_props: bool,
    /// `--exclude`.
    pub(crate) exclude: Vec<String>,
    /// `--include`.
    pub(crate) include: Vec<String>,
    /// `--pattern`.
    pub(crate) pattern: bool,
}

impl Deref for Invocation {
    type Target = Options;

    fn deref(&self) -> &Options {
        &self.options
    }
}

impl Invocation {
    /// Returns the operands as text, if there are at least `min` and at most `max`.
    pub(crate) fn args(&self, min: usize, max: usize) -> Result<Vec<&str>> {
        if self.operands.len() < min {
            return Err(Error::new(
                ErrorCode::CL_INSUFFICIENT_ARGS,
                "Not enough arguments",
            ));
        }
        if self.operands.len() > max {
            return Err(bad("Too many arguments"));
        }
        self.all_args()
    }

    /// Returns all operands as text.
    pub(crate) fn all_args(&self) -> Result<Vec<&str>> {
        self.operands
            .iter()
            .map(|word| utf8::os_text(word))
            .collect()
    }

    /// Requires that there are no operands.
    pub(crate) fn no_args(&self) -> Result<()> {
        self.args(0, 0).map(drop)
    }
}

/// Makes the error about arguments that make no sense.
pub(crate) fn bad(message: impl Into<String>) -> Error {
    Error::new(ErrorCode::CL_ARG_PARSING_ERROR, message)
}

/// Goes through the words of a call. The inner error is printed as it stands, the outer one as
/// errors are.
pub(crate) fn parse(
    program: &'static Program,
    words: Vec<OsString>,
) -> Result<Result<Invocation, Said>> {
    let mut options = Options::default();
    let mut words = match Words::parse(program, words, |met| options.take(met))? {
        Ok(words) => words,
        Err(said) => return Ok(Err(said)),
    };
    let missing = "subcommand argument required";
    let command = match words.choose(program, &crate::subcommands::VERSION, missing)? {
        Ok(command) => command,
        Err(said) => return Ok(Err(said)),
    };
    let has_path = match command.name {
        "help" | "--version" => false,
        "freeze" => options.file.is_none(),
        _ => true,
    };
    let repository = if has_path {
        call::take_repository(&mut words.operands)?
    } else {
        Dirent::new("")
    };
    if let Some(said) = words.refuse(program, command) {
        return Ok(Err(said));
    }
    Ok(Ok(Invocation {
        command,
        repository,
        operands: words.operands,
        options,
    }))
}

fn text(arg: &OsStr) -> Result<String> {
    utf8::os_text(arg).map(str::to_owned)
}

impl Options {
    fn take(&mut self, met: &Met) -> Result<()> {
        if met.option.takes_arg {
            return self.take_value(met.option.key, &met.arg);
        }
        match met.option.key {
            "ignore-uuid" => self.uuid_action = UuidAction::Ignore,
            "force-uuid" => self.uuid_action = UuidAction::Force,
            "pre-1.4-compatible" => self.compatible_version = Some(Version::of_minor(3)),
            "pre-1.5-compatible" => self.compatible_version = Some(Version::of_minor(4)),
            "pre-1.6-compatible" => self.compatible_version = Some(Version::of_minor(5)),
            key => {
                if let Some(flag) = self.flag(key) {
                    *flag = true;
                }
            }
        }
        Ok(())
    }

    fn flag(&mut self, key: &str) -> Option<&mut bool> {
        Some(match key {
            "bypass-hooks" => &mut self.bypass_hooks,
            "bypass-prop-validation" => &mut self.bypass_prop_validation,
            "check-normalization" => &mut self.check_normalization,
            "deltas" => &mut self.deltas,
            "ignore-dates" => &mut self.ignore_dates,
            "incremental" => &mut self.incremental,
            "keep-going" => &mut self.keep_going,
            "metadata-only" => &mut self.metadata_only,
            "no-flush-to-disk" => &mut self.no_flush_to_disk,
            "normalize-props" => &mut self.normalize_props,
            "pattern" => &mut self.pattern,
            "quiet" => &mut self.quiet,
            "use-post-commit-hook" => &mut self.use_post_commit_hook,
            "use-post-revprop-change-hook" => &mut self.use_post_revprop_change_hook,
            "use-pre-commit-hook" => &mut self.use_pre_commit_hook,
            "use-pre-revprop-change-hook" => &mut self.use_pre_revprop_change_hook,
            "version" => &mut self.version,
            // What is about Berkeley DB alone changes nothing; no lock keeps anybody waiting.
            _ => return None,
        })
    }

    fn take_value(&mut self, key: &str, arg: &OsStr) -> Result<()> {
        if key == "transaction" {
            self.transaction = Some(arg.to_string_lossy().into_owned());
            return Ok(());
        }
        let text = text(arg)?;
        match key {
            "compatible-version" => self.compatible_version = Some(Version::compatible(&text)?),
            "exclude" => self.exclude.push(text),
            "file" => self.file = Some(text),
            "fs-type" => self.fs_type = Some(text),
            "include" => self.include.push(text),
            "memory-cache-size" => {
                self.memory_cache_size = Some(call::memory_cache_size(arg)?);
            }
            "parent-dir" => self.parent_dir = Some(text),
            "revision" => self.take_revision(&text)?,
            _ => {}
        }
        Ok(())
    }

    fn take_revision(&mut self, text: &str) -> Result<()> {
        if self.revisions.start != RevisionSpec::Unspecified {
            return Err(bad(
                "Multiple revision arguments encountered; try '-r N:M' instead of '-r N -r M'",
            ));
        }
        // The clock is needed for dates only; reading the time zone costs.
        let clock = if text.contains('{') {
            surroundings::clock()
        } else {
            surroundings::utc_clock()
        };
        self.revisions = RevisionRange::parse(text, &clock)?;
        Ok(())
    }
}
