//! `svn resolve`, and what other subcommands do about conflicts that they met.

use std::process::Command;

use sylvan_client::Context;
use sylvan_client::conflicts::{ConflictFile, Settle, files, settle};
use sylvan_cmdline::error;
use sylvan_cmdline::print::Output;
use sylvan_core::{Depth, Dirent, Error, ErrorCode, Result};
use sylvan_io::Category;
use sylvan_wc::resolve::Choice;

use crate::PROGRAM;
use crate::env::{Env, Exit};
use crate::invocation::{Accept, Invocation};
use crate::log_message::Editor;
use crate::notify::{Notifier, Operation};
use crate::targets;

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let context = env.client(inv)?;
    let arguments = targets::read_or_current(env, inv, &context)?;
    let paths = targets::without_pegs(&arguments)?;
    targets::check_local(&arguments)?;
    let invalid = |text: &str| Error::new(ErrorCode::CL_ARG_PARSING_ERROR, text);
    let how = match inv.accept {
        None => return Err(invalid("missing --accept option")),
        // Nothing is recommended so far.
        Some(Accept::Recommended) => return Ok(Exit::Success),
        Some(accept) => settling(accept).ok_or_else(|| invalid("invalid 'accept' ARG"))?,
    };
    let depth = inv.depth.unwrap_or(Depth::Empty);
    let mut notifier = Notifier::new(Operation::Other, inv.quiet, context.current_dir.clone());
    settle_all(&mut env.out, &context, &paths, depth, how, &mut notifier)?;
    Ok(Exit::Success)
}

/// Settles the conflicts that an operation met, if `--accept` says how.
pub(crate) fn after(
    env: &mut Env,
    inv: &Invocation,
    context: &Context,
    notifier: &mut Notifier,
) -> Result<()> {
    if matches!(inv.accept, Some(Accept::Edit | Accept::Launch)) {
        return run_programs(env, inv, context, notifier);
    }
    let Some(how) = inv.accept.and_then(settling) else {
        return Ok(());
    };
    let paths: Vec<_> = notifier
        .conflicted()
        .iter()
        .map(|path| Dirent::new(path))
        .collect();
    let depth = inv.depth.unwrap_or(Depth::Infinity);
    settle_all(&mut env.out, context, &paths, depth, how, notifier)
}

/// Has the editor or a merge tool settle text conflicts. After a failure the rest stays; what an
/// editor failed at counts as settled, as Subversion has it.
fn run_programs(
    env: &mut Env,
    inv: &Invocation,
    context: &Context,
    notifier: &mut Notifier,
) -> Result<()> {
    let depth = inv.depth.unwrap_or(Depth::Infinity);
    let edits = matches!(inv.accept, Some(Accept::Edit));
    for path in notifier.conflicted() {
        for file in files(context, &Dirent::new(&path), depth)? {
            context.cancel.check()?;
            let settled = if edits {
                Editor::new(inv, &context.config)
                    .edit_file(file.path.as_path())
                    .map(|()| true)
            } else {
                launch(context, &file)
            };
            let failed = settled.is_err();
            match settled {
                Ok(true) => {}
                Ok(false) => continue,
                Err(failure) => {
                    let message = failure.root().message();
                    env.out.error(format_args!("{message}\n"));
                    if !edits {
                        return Err(failure);
                    }
                }
            }
            let (out, paths) = (&mut env.out, [file.path]);
            let how = Settle::Working;
            settle_all(out, context, &paths, Depth::Empty, how, notifier)?;
            if failed {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Runs the merge tool; tells whether it settled the conflict.
fn launch(context: &Context, file: &ConflictFile) -> Result<bool> {
    let Some([old, mine, theirs]) = &file.texts else {
        return Ok(false);
    };
    let none = |text: &str| Error::new(ErrorCode::CL_NO_EXTERNAL_MERGE_TOOL, text);
    let tool = std::env::var("SVN_MERGE").ok().or_else(|| {
        let tool = context
            .config
            .get(Category::Config, "helpers", "merge-tool-cmd");
        tool.map(str::to_owned)
    });
    let tool = tool.ok_or_else(|| {
        none(
            "The environment variable SVN_MERGE and the merge-tool-cmd run-time configuration \
             option were not set.\n",
        )
    })?;
    if tool.trim_ascii().is_empty() {
        return Err(none(
            "The SVN_MERGE environment variable is empty or consists solely of whitespace. \
             Expected a shell command.\n",
        ));
    }
    let merged = &file.path;
    let status = Command::new(&tool)
        .args([old, theirs, mine, merged, merged].map(|path| path.as_path()))
        .status()
        .map_err(|error| Error::io(&error, format!("Can't start process '{tool}'")))?;
    match status.code() {
        Some(0) => Ok(true),
        Some(1) => Ok(false),
        code => Err(Error::new(
            ErrorCode::EXTERNAL_PROGRAM,
            format!(
                "The external merge tool '{tool}' exited with exit code {}.",
                code.unwrap_or(255)
            ),
        )),
    }
}

/// Returns what an answer means; nothing if conflicts stay.
fn settling(accept: Accept) -> Option<Settle> {
    Some(match accept {
        Accept::Working => Settle::Working,
        Accept::Base => Settle::For(Choice::Base),
        Accept::MineConflict => Settle::For(Choice::MineConflict),
        Accept::TheirsConflict => Settle::For(Choice::TheirsConflict),
        Accept::MineFull => Settle::For(Choice::MineFull),
        Accept::TheirsFull => Settle::For(Choice::TheirsFull),
        Accept::Postpone | Accept::Edit | Accept::Launch | Accept::Recommended => return None,
    })
}

/// Settles conflicts at several paths; a failure is told, and the rest goes on.
pub(crate) fn settle_all(
    out: &mut Output,
    context: &Context,
    paths: &[Dirent],
    depth: Depth,
    how: Settle,
    notifier: &mut Notifier,
) -> Result<()> {
    let mut failed = false;
    for path in paths {
        context.cancel.check()?;
        let settled = settle(context, path, depth, how, &mut |what| {
            notifier.notify(out, what);
        });
        match settled {
            Ok(()) => {}
            Err(failure)
                if depth == Depth::Empty
                    && [ErrorCode::WC_PATH_NOT_FOUND, ErrorCode::WC_NOT_WORKING_COPY]
                        .contains(&failure.code()) =>
            {
                return Err(failure);
            }
            Err(failure) if failure.root().code() == ErrorCode::WC_PATH_NOT_FOUND => {}
            Err(failure) if failure.root().code() == ErrorCode::CANCELLED => return Err(failure),
            Err(failure) => {
                error::warn(out, PROGRAM.name, failure.root());
                failed = true;
            }
        }
    }
    if failed {
        return Err(Error::new(
            ErrorCode::WC_CONFLICT_RESOLVER_FAILURE,
            "Failure occurred resolving one or more conflicts",
        ));
    }
    Ok(())
}
