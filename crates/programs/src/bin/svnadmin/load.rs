//! `svnadmin load` and `svnadmin load-revprops`.

use std::io::Read;

use sylvan_core::opt::RevisionSpec;
use sylvan_core::{Dirent, Error, ErrorCode, RelPathBuf, Result, Revnum};
use sylvan_io::file;
use sylvan_repos::{LoadOptions, LoadRevpropsOptions, Notice};

use crate::env::{Env, Exit};
use crate::invocation::{Invocation, UuidAction, bad};
use crate::notice::{self, To};
use crate::repository;

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    inv.no_args()?;
    let range = range(inv)?;
    let repos = repository::open(inv)?;
    let parent = inv.parent_dir.as_deref();
    let options = LoadOptions {
        range,
        uuid: match inv.uuid_action {
            UuidAction::Default => sylvan_repos::UuidAction::IfEmpty,
            UuidAction::Ignore => sylvan_repos::UuidAction::Ignore,
            UuidAction::Force => sylvan_repos::UuidAction::Force,
        },
        parent: parent.map(RelPathBuf::canonicalize).transpose()?,
        pre_commit_hook: inv.use_pre_commit_hook,
        post_commit_hook: inv.use_post_commit_hook,
        validate_props: !inv.bypass_prop_validation,
        ignore_dates: inv.ignore_dates,
        normalize_props: inv.normalize_props,
        now: &|| std::time::SystemTime::now().into(),
    };
    let mut stream = open(inv)?;
    let Env { out, cancel } = env;
    repos
        .load(&mut *stream, &options, cancel, &mut |notice| {
            if inv.quiet {
                return Ok(());
            }
            notice::print(out, To::Stdout, &notice)?;
            // Whoever waits for a revision sees it soon.
            match notice {
                Notice::LoadCommitted { .. } => out.flush_soon(),
                _ => Ok(()),
            }
        })
        .map_err(with_advice)?;
    Ok(Exit::Success)
}

pub(crate) fn run_revprops(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    inv.no_args()?;
    let range = range(inv)?;
    let repos = repository::open(inv)?;
    let options = LoadRevpropsOptions {
        range,
        validate_props: !inv.bypass_prop_validation,
        ignore_dates: inv.ignore_dates,
        normalize_props: inv.normalize_props,
    };
    let mut stream = open(inv)?;
    let Env { out, cancel } = env;
    repos
        .load_revprops(&mut *stream, &options, cancel, &mut |notice| {
            if inv.quiet {
                return Ok(());
            }
            notice::print(out, To::Stdout, &notice)
        })
        .map_err(with_advice)?;
    Ok(Exit::Success)
}

fn open(inv: &Invocation) -> Result<Box<dyn Read>> {
    Ok(match &inv.file {
        Some(path) => Box::new(file::open(Dirent::new(path).as_path())?),
        None => Box::new(std::io::stdin().lock()),
    })
}

/// Returns the revisions of the stream that are wanted, which are numbers.
fn range(inv: &Invocation) -> Result<Option<(Revnum, Revnum)>> {
    let number = |spec| match spec {
        RevisionSpec::Number(revision) => Ok(Some(revision)),
        RevisionSpec::Unspecified => Ok(None),
        _ => Err(bad("Non-numeric revision specified")),
    };
    let (start, end) = (number(inv.revisions.start)?, number(inv.revisions.end)?);
    let Some(range) = start.or(end).zip(end.or(start)) else {
        return Ok(None);
    };
    if range.0 > range.1 {
        return Err(bad("First revision cannot be higher than second"));
    }
    Ok(Some(range))
}

/// Says which option may help.
fn with_advice(error: Error) -> Error {
    if error.has_code(ErrorCode::BAD_PROPERTY_VALUE_EOL) {
        return error.context(
            "A property with invalid line ending found in dumpstream; consider using \
             --normalize-props while loading.",
        );
    }
    if error.code() == ErrorCode::BAD_PROPERTY_VALUE {
        return error.context(
            "Invalid property value found in dumpstream; consider repairing the source or using \
             --bypass-prop-validation while loading.",
        );
    }
    error
}
