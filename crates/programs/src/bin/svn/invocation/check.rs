//! What options may not be given together.

use std::io::IsTerminal;

use sylvan_cmdline::table::Subcommand;
use sylvan_core::opt::RevisionSpec;
use sylvan_core::{Depth, Error, ErrorCode, Result};

use super::{Accept, Options, TrustFailures};

fn bad(message: &str) -> Error {
    Error::new(ErrorCode::CL_ARG_PARSING_ERROR, message)
}

fn clash(message: &str) -> Error {
    Error::new(ErrorCode::CL_MUTUALLY_EXCLUSIVE_ARGS, message)
}

/// Decides whether questions may be asked.
pub(super) fn interactive(options: &mut Options) -> Result<()> {
    if options.non_interactive && options.force_interactive {
        return Err(bad(
            "--non-interactive and --force-interactive are mutually exclusive",
        ));
    }
    options.non_interactive =
        !options.force_interactive && (options.non_interactive || !std::io::stdin().is_terminal());
    Ok(())
}

/// Checks what depends on the subcommand alone, in the order of Subversion's own checks.
pub(super) fn exclusions(command: &Subcommand, options: &Options) -> Result<()> {
    if options.ranges.len() > 1 && !["merge", "log"].contains(&command.name) {
        return Err(bad(
            "Multiple revision arguments encountered; can't specify -c twice, or both -c and -r",
        ));
    }
    if options.depth.is_some() && options.set_depth.is_some() {
        return Err(bad("--depth and --set-depth are mutually exclusive"));
    }
    if options.all_revprops && options.no_revprops {
        return Err(bad(
            "--with-all-revprops and --with-no-revprops are mutually exclusive",
        ));
    }
    if !options.revprops.is_empty() && options.no_revprops {
        return Err(bad(
            "--with-revprop and --with-no-revprops are mutually exclusive",
        ));
    }
    if options.file_data.is_some() && options.message.is_some() && command.name != "propset" {
        return Err(bad("--message (-m) and --file (-F) are mutually exclusive"));
    }
    if !options.non_interactive && options.trust != TrustFailures::default() {
        return Err(bad(
            "--trust-server-cert-failures requires --non-interactive",
        ));
    }
    if options.password_from_stdin && !options.non_interactive {
        return Err(bad("--password-from-stdin requires --non-interactive"));
    }
    if options.diff_cmd.is_some() && options.internal_diff {
        return Err(bad("--diff-cmd and --internal-diff are mutually exclusive"));
    }
    Ok(())
}

/// Checks and settles what depends on the subcommand's meaning.
pub(super) fn for_subcommand(command: &Subcommand, options: &mut Options) -> Result<()> {
    if options.relocate {
        if options.depth.is_some() {
            return Err(clash("--relocate and --depth are mutually exclusive"));
        }
        if options.non_recursive {
            return Err(clash(
                "--relocate and --non-recursive (-N) are mutually exclusive",
            ));
        }
    }
    let takes_range = ["blame", "diff", "log", "mergeinfo", "merge"].contains(&command.name);
    let end = options.ranges.first().map(|range| range.end);
    if !takes_range && end.is_some_and(|end| end != RevisionSpec::Unspecified) {
        return Err(Error::from_code(ErrorCode::CLIENT_REVISION_RANGE));
    }
    if options.non_recursive {
        options.depth = Some(match command.name {
            "status" => Depth::Immediates,
            "revert" | "add" | "commit" => Depth::Empty,
            _ => Depth::Files,
        });
    }
    if options.auto_props && options.no_auto_props {
        return Err(clash(
            "--auto-props and --no-auto-props are mutually exclusive",
        ));
    }
    Ok(())
}

/// Settles what `--accept` means where nobody can be asked.
pub(super) fn accept(options: &mut Options) -> Result<()> {
    if !options.non_interactive {
        return Ok(());
    }
    match options.accept {
        Some(Accept::Edit) => Err(bad("--accept=edit incompatible with --non-interactive")),
        Some(Accept::Launch) => Err(bad("--accept=launch incompatible with --non-interactive")),
        Some(_) => Ok(()),
        None => {
            options.accept = Some(Accept::Recommended);
            Ok(())
        }
    }
}
