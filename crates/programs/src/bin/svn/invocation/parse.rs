//! From words to options, in the order typed.

use std::ffi::{OsStr, OsString};
use std::io::Read;

use sylvan_cmdline::call::Words;
use sylvan_cmdline::error::{self, Said};
use sylvan_cmdline::getopt::Met;
use sylvan_cmdline::number::parse_i32;
use sylvan_cmdline::print::Output;
use sylvan_cmdline::table::Program;
use sylvan_cmdline::{surroundings, utf8};
use sylvan_core::opt::RevisionRange;
use sylvan_core::{Depth, Error, ErrorCode, Result};
use sylvan_io::config::ConfigOption;

use super::{Accept, Invocation, Options, TrustFailures, check};

/// Goes through the words of a call. The inner error is printed as it stands, the outer one as
/// errors are.
pub(crate) fn parse(
    program: Program,
    words: Vec<OsString>,
    out: &mut Output,
) -> Result<Result<Invocation, Said>> {
    let mut options = Options::default();
    let mut words = match Words::parse(&program, words, |met| options.take(met, out))? {
        Ok(words) => words,
        Err(said) => return Ok(Err(said)),
    };
    check::interactive(&mut options)?;
    let undo = words.operands.first().is_some_and(|word| word == "undo");
    let missing = "Subcommand argument required";
    let command = match words.choose(&program, &crate::subcommands::VERSION, missing)? {
        Ok(command) => command,
        Err(mut said) => {
            if undo {
                let how: &[u8] =
                    b"Undo is done using either the 'svn revert' or the 'svn merge' command.\n";
                said.0.extend(how);
            }
            return Ok(Err(said));
        }
    };
    if let Some(said) = words.refuse(&program, command) {
        return Ok(Err(said));
    }
    check::exclusions(command, &options)?;
    Ok(Ok(Invocation {
        command,
        operands: words.operands,
        options,
    }))
}

fn text(arg: &OsStr) -> Result<String> {
    utf8::os_text(arg).map(str::to_owned)
}

fn bad(message: String) -> Error {
    Error::new(ErrorCode::CL_ARG_PARSING_ERROR, message)
}

impl Options {
    fn take(&mut self, met: &Met, out: &mut Output) -> Result<()> {
        if met.option.takes_arg {
            self.take_value(met.option.key, &met.arg, out)
        } else {
            self.take_flag(met.option.key);
            Ok(())
        }
    }

    fn take_flag(&mut self, key: &str) {
        match key {
            "recursive" => self.depth = Some(Depth::Infinity),
            "trust-server-cert" => self.trust.unknown_ca = true,
            _ => {
                if let Some(flag) = self.flag(key) {
                    *flag = true;
                }
            }
        }
    }

    fn flag(&mut self, key: &str) -> Option<&mut bool> {
        Some(match key {
            "allow-mixed-revisions" => &mut self.allow_mixed_revisions,
            "keep-local" => &mut self.keep_local,
            "pin-externals" => &mut self.pin_externals,
            "remove" => &mut self.remove,
            "remove-added" => &mut self.remove_added,
            "revprop" => &mut self.revprop,
            "show-inherited-props" => &mut self.show_inherited_props,
            "adds-as-modification" => &mut self.adds_as_modification,
            "auto-props" => &mut self.auto_props,
            "diff" => &mut self.show_diff,
            "force" => &mut self.force,
            "git" => &mut self.diff.git,
            "ignore-properties" => &mut self.diff.ignore_properties,
            "no-diff-added" => &mut self.diff.no_added,
            "no-diff-deleted" => &mut self.diff.no_deleted,
            "notice-ancestry" => &mut self.diff.notice_ancestry,
            "patch-compatible" => &mut self.diff.patch_compatible,
            "properties-only" => &mut self.diff.properties_only,
            "show-copies-as-adds" => &mut self.diff.copies_as_adds,
            "summarize" => &mut self.diff.summarize,
            "dry-run" => &mut self.dry_run,
            "ignore-whitespace" => &mut self.patch.ignore_whitespace,
            "reverse-diff" => &mut self.patch.reverse,
            "force-log" => &mut self.force_log,
            "no-unlock" => &mut self.no_unlock,
            "keep-changelists" => &mut self.keep_changelists,
            "force-interactive" => &mut self.force_interactive,
            "human-readable" => &mut self.human_readable,
            "ignore-ancestry" => &mut self.ignore_ancestry,
            "ignore-externals" => &mut self.ignore_externals,
            "ignore-keywords" => &mut self.ignore_keywords,
            "include-externals" => &mut self.include_externals,
            "incremental" => &mut self.incremental,
            "internal-diff" => &mut self.internal_diff,
            "log" => &mut self.mergeinfo_log,
            "no-auth-cache" => &mut self.no_auth_cache,
            "no-auto-props" => &mut self.no_auto_props,
            "no-ignore" => &mut self.no_ignore,
            "no-newline" | "strict" => &mut self.no_newline,
            "non-interactive" => &mut self.non_interactive,
            "non-recursive" => &mut self.non_recursive,
            "parents" => &mut self.parents,
            "password-from-stdin" => &mut self.password_from_stdin,
            "quiet" => &mut self.quiet,
            "relocate" => &mut self.relocate,
            "remove-ignored" => &mut self.remove_ignored,
            "remove-unversioned" => &mut self.remove_unversioned,
            "show-updates" => &mut self.show_updates,
            "stop-on-copy" => &mut self.stop_on_copy,
            "use-merge-history" => &mut self.use_merge_history,
            "vacuum-pristines" => &mut self.vacuum_pristines,
            "verbose" => &mut self.verbose,
            "version" => &mut self.version,
            "with-all-revprops" => &mut self.all_revprops,
            "with-no-revprops" => &mut self.no_revprops,
            "xml" => &mut self.xml,
            _ => return None,
        })
    }

    fn take_value(&mut self, key: &str, arg: &OsStr, out: &mut Output) -> Result<()> {
        match key {
            "message" => self.message = Some(arg.to_owned()),
            "encoding" => self.encoding = Some(arg.to_string_lossy().into_owned()),
            "depth" => self.depth = Some(depth(arg)?),
            "set-depth" => self.set_depth = Some(set_depth(arg)?),
            "with-revprop" => self.take_revprop(arg)?,
            _ => self.take_text(key, text(arg)?, out)?,
        }
        Ok(())
    }

    fn take_text(&mut self, key: &str, text: String, out: &mut Output) -> Result<()> {
        match key {
            "accept" => self.accept = Some(accept(&text)?),
            "change" => self.take_change(&text)?,
            "changelist" => self.take_changelist(text)?,
            "config-dir" => self.config_dir = Some(text),
            "config-option" => self.take_config_option(&text, out)?,
            "diff-cmd" => self.diff_cmd = Some(text),
            "diff3-cmd" => self.diff3_cmd = Some(text),
            "editor-cmd" => self.editor_cmd = Some(text),
            "extensions" => self.extensions = Some(text),
            "file" => {
                self.file_data = Some(read_file(&text)?);
                self.file = Some(text);
            }
            "limit" => self.limit = Some(limit(&text)?),
            "native-eol" => self.native_eol = Some(native_eol(text)?),
            "new" => self.new_target = Some(text),
            "old" => self.take_old(text)?,
            "password" => self.password = Some(text),
            "revision" => {
                self.used_revision = true;
                self.ranges.push(revision(&text)?);
            }
            "search" => self.search.push(vec![text]),
            "search-and" => match self.search.last_mut() {
                Some(group) => group.push(text),
                None => self.search.push(vec![text]),
            },
            "show-item" => self.show_item = Some(text),
            "show-revs" => {
                one_of(&text, "show-revs", &["merged", "eligible"])?;
                self.show_revs = Some(text);
            }
            "strip" => self.patch.strip = strip(&text)?,
            "targets" => self.targets = Some(target_lines(&text)?),
            "trust-server-cert-failures" => self.trust = trust(&text)?,
            "username" => self.username = Some(text),
            "x-viewspec" => {
                one_of(&text, "x-viewspec", &["classic", "svn11"])?;
                self.viewspec = Some(text);
            }
            _ => {}
        }
        Ok(())
    }

    fn take_change(&mut self, text: &str) -> Result<()> {
        if self.old_target.is_some() {
            return Err(bad("Can't specify -c with --old".to_owned()));
        }
        let ranges = RevisionRange::parse_changes(text)?;
        self.used_change |= !ranges.is_empty();
        self.ranges.extend(ranges);
        Ok(())
    }

    fn take_old(&mut self, text: String) -> Result<()> {
        if self.used_change {
            return Err(bad("Can't specify -c with --old".to_owned()));
        }
        self.old_target = Some(text);
        Ok(())
    }

    fn take_changelist(&mut self, name: String) -> Result<()> {
        if name.is_empty() {
            return Err(bad("Changelist names must not be empty".to_owned()));
        }
        if !self.changelists.contains(&name) {
            self.changelists.push(name);
        }
        Ok(())
    }

    fn take_config_option(&mut self, text: &str, out: &mut Output) -> Result<()> {
        let (option, warning) = ConfigOption::parse(text)?;
        if let Some(warning) = warning {
            error::warn(out, "svn", &warning);
        }
        self.config_options.push(option);
        Ok(())
    }

    fn take_revprop(&mut self, arg: &OsStr) -> Result<()> {
        use std::os::unix::ffi::OsStrExt;
        let bytes = arg.as_bytes();
        if bytes.is_empty() {
            return Err(bad("Revision property pair is empty".to_owned()));
        }
        let (name, value) = match bytes.iter().position(|byte| *byte == b'=') {
            Some(at) => (&bytes[..at], &bytes[at + 1..]),
            None => (bytes, &[][..]),
        };
        let name = utf8::text(name)?.to_owned();
        if !sylvan_core::props::is_valid_name(&name) {
            return Err(Error::new(
                ErrorCode::CLIENT_PROPERTY_NAME,
                format!("'{name}' is not a valid Subversion property name"),
            ));
        }
        self.revprops.retain(|(known, _)| *known != name);
        self.revprops.push((name, value.to_vec()));
        Ok(())
    }
}

fn revision(text: &str) -> Result<RevisionRange> {
    // The clock is needed for dates only; reading the time zone costs.
    let clock = if text.contains('{') {
        surroundings::clock()
    } else {
        surroundings::utc_clock()
    };
    RevisionRange::parse(text, &clock)
}

fn depth(arg: &OsStr) -> Result<Depth> {
    let word = depth_word(arg)?;
    match Depth::from_word(&word) {
        None | Some(Depth::Exclude) => Err(bad(format!(
            "'{word}' is not a valid depth; try 'empty', 'files', 'immediates', or 'infinity'"
        ))),
        Some(depth) => Ok(depth),
    }
}

fn set_depth(arg: &OsStr) -> Result<Depth> {
    let word = depth_word(arg)?;
    Depth::from_word(&word).ok_or_else(|| {
        bad(format!(
            "'{word}' is not a valid depth; try 'exclude', 'empty', 'files', 'immediates', or \
             'infinity'"
        ))
    })
}

fn depth_word(arg: &OsStr) -> Result<String> {
    text(arg).map_err(|error| {
        error.wrap(
            ErrorCode::CL_ARG_PARSING_ERROR,
            "Error converting depth from locale to UTF-8",
        )
    })
}

fn limit(text: &str) -> Result<u32> {
    let number = parse_i32(text).map_err(|error| {
        error.wrap(
            ErrorCode::CL_ARG_PARSING_ERROR,
            "Non-numeric limit argument given",
        )
    })?;
    u32::try_from(number)
        .ok()
        .filter(|number| *number > 0)
        .ok_or_else(|| {
            Error::new(
                ErrorCode::INCORRECT_PARAMS,
                "Argument to --limit must be positive",
            )
        })
}

fn strip(text: &str) -> Result<usize> {
    let number = parse_i32(text).map_err(|error| {
        error.wrap(
            ErrorCode::CL_ARG_PARSING_ERROR,
            format!("Invalid strip count '{text}'"),
        )
    })?;
    usize::try_from(number).map_err(|_| {
        Error::new(
            ErrorCode::INCORRECT_PARAMS,
            "Argument to --strip must be positive",
        )
    })
}

fn native_eol(text: String) -> Result<String> {
    if ["LF", "CR", "CRLF"].contains(&text.as_str()) {
        return Ok(text);
    }
    Err(bad(format!("Syntax error in native-eol argument '{text}'")))
}

fn one_of(text: &str, option: &str, words: &[&str]) -> Result<()> {
    if words.contains(&text) {
        return Ok(());
    }
    Err(bad(format!("'{text}' is not a valid --{option} value")))
}

fn accept(word: &str) -> Result<Accept> {
    Ok(match word {
        "postpone" | "p" | ":-P" => Accept::Postpone,
        "base" => Accept::Base,
        "working" => Accept::Working,
        "mine-conflict" | "mc" | "X-)" => Accept::MineConflict,
        "theirs-conflict" | "tc" | "X-(" => Accept::TheirsConflict,
        "mine-full" | "mf" | ":-)" => Accept::MineFull,
        "theirs-full" | "tf" | ":-(" => Accept::TheirsFull,
        "edit" | "e" | ":-E" => Accept::Edit,
        "launch" | "l" | ":-l" => Accept::Launch,
        "recommended" | "r" => Accept::Recommended,
        _ => return Err(bad(format!("'{word}' is not a valid --accept value"))),
    })
}

fn trust(text: &str) -> Result<TrustFailures> {
    let mut trust = TrustFailures::default();
    let words = text.split([',', ' ', '\n', '\r', '\t', '\x0b']);
    for word in words.filter(|word| !word.is_empty()) {
        *match word {
            "unknown-ca" => &mut trust.unknown_ca,
            "cn-mismatch" => &mut trust.cn_mismatch,
            "expired" => &mut trust.expired,
            "not-yet-valid" => &mut trust.not_yet_valid,
            "other" => &mut trust.other,
            _ => {
                return Err(bad(format!(
                    "Unknown value '{word}' for --trust-server-cert-failures.\nSupported values: \
                     unknown-ca, cn-mismatch, expired, not-yet-valid, other"
                )));
            }
        } = true;
    }
    Ok(trust)
}

/// Reads the file of `--targets`: a target a line, without white space around it.
fn target_lines(path: &str) -> Result<Vec<String>> {
    let data = read_file(path)?;
    Ok(utf8::text(&data)?
        .split(['\n', '\r'])
        .map(|line| line.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b'))
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect())
}

/// Reads a file named on the command line; `-` is standard input.
fn read_file(path: &str) -> Result<Vec<u8>> {
    let mut data = Vec::new();
    if path == "-" {
        std::io::stdin()
            .lock()
            .read_to_end(&mut data)
            .map_err(|error| Error::io(&error, "Can't read stdin"))?;
        return Ok(data);
    }
    std::fs::File::open(path)
        .map_err(|error| Error::io(&error, format!("Can't open file '{path}'")))?
        .read_to_end(&mut data)
        .map_err(|error| Error::io(&error, format!("Can't read file '{path}'")))?;
    Ok(data)
}
