//! The lines that tell how far a dump, a load or a verification is. They are Subversion's.

use sylvan_cmdline::print::Output;
use sylvan_core::Result;
use sylvan_repos::Notice;

/// Where lines go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum To {
    Stdout,
    Stderr,
}

/// Prints a step.
pub(crate) fn print(out: &mut Output, to: To, notice: &Notice) -> Result<()> {
    let text = text(notice);
    match to {
        To::Stdout => out.print(format_args!("{text}")),
        To::Stderr => {
            out.error_bytes(text.as_bytes());
            Ok(())
        }
    }
}

fn text(notice: &Notice) -> String {
    match notice {
        Notice::Warning(kind, message) => format!("WARNING 0x{:04x}: {message}\n", *kind as u32),
        Notice::Dumped(revision) => format!("* Dumped revision {revision}.\n"),
        Notice::Verified(revision) => format!("* Verified revision {revision}.\n"),
        Notice::VerifyingMetadata(None) => "* Verifying repository metadata ...\n".to_owned(),
        Notice::VerifyingMetadata(Some(revision)) => {
            format!("* Verifying metadata at revision {revision} ...\n")
        }
        Notice::LoadStarted(revision) => {
            format!("<<< Started new transaction, based on original revision {revision}\n")
        }
        Notice::LoadSkipped(revision) => format!("<<< Skipped original revision {revision}\n"),
        // Subversion 1.14 says so of whatever is done to a node.
        Notice::LoadNode(_, path) => format!("     * editing path : {path} ..."),
        Notice::LoadCopied => "COPIED...".to_owned(),
        Notice::LoadNormalizedMergeinfo => " removing '\\r' from svn:mergeinfo ...".to_owned(),
        Notice::LoadNodeDone => " done.\n".to_owned(),
        Notice::LoadCommitted { new, old: None } => {
            format!("\n------- Committed revision {new} >>>\n\n")
        }
        Notice::LoadCommitted {
            new,
            old: Some(old),
        } => {
            format!("\n------- Committed new rev {new} (loaded from original rev {old}) >>>\n\n")
        }
        Notice::LoadRevprops(revision) => format!("Properties set on revision {revision}.\n"),
    }
}
