//! `svn cat`.

use sylvan_client::cat::{self, KeywordMode};
use sylvan_cmdline::error::warn;
use sylvan_core::{Error, ErrorCode, Result};

use crate::env::{Env, Exit};
use crate::invocation::Invocation;
use crate::targets;

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let context = env.client(inv)?;
    let arguments = targets::read(env, inv, &context)?;
    if arguments.is_empty() {
        return Err(Error::from_code(ErrorCode::CL_INSUFFICIENT_ARGS));
    }
    let keywords = if inv.ignore_keywords {
        KeywordMode::Contract
    } else {
        KeywordMode::Expand
    };
    let mut failures = Vec::new();
    for argument in &arguments {
        context.cancel.check()?;
        let target = argument.target(&context.clock)?;
        let out = &mut env.out;
        let done = targets::follow(out, inv, &context, target)
            .and_then(|target| cat::cat(&context, &target, inv.start(), keywords, out));
        let Err(error) = done else {
            continue;
        };
        let code = error.code();
        if reason(code).is_none() {
            return Err(error);
        }
        warn(&mut env.out, "svn", &error);
        if !failures.contains(&code) {
            failures.push(code);
        }
    }
    if failures.is_empty() {
        return Ok(Exit::Success);
    }
    let mut error = Error::from_code(ErrorCode::ILLEGAL_TARGET);
    for reason in failures.into_iter().filter_map(reason) {
        error = error.context(format!(
            "Could not cat all targets because some targets {reason}"
        ));
    }
    Err(error)
}

/// Says what is wrong with targets that failed in a way that lets others go on.
fn reason(code: ErrorCode) -> Option<&'static str> {
    Some(match code {
        ErrorCode::ENTRY_NOT_FOUND | ErrorCode::FS_NOT_FOUND => "don't exist",
        ErrorCode::UNVERSIONED_RESOURCE => "are not versioned",
        ErrorCode::CLIENT_IS_DIRECTORY => "are directories",
        _ => return None,
    })
}
