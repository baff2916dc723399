//! `svnadmin verify`.

use sylvan_cmdline::error;
use sylvan_cmdline::print::Output;
use sylvan_core::{Error, ErrorCode, Result, Revnum};
use sylvan_repos::{Notice, VerifyOptions, VerifyReceiver};

use crate::PROGRAM;
use crate::env::{Env, Exit};
use crate::invocation::{Invocation, bad};
use crate::notice::{self, To};
use crate::repository;

/// Prints how it goes, and remembers what is wrong.
struct Receiver<'o> {
    out: &'o mut Output,
    keeps_going: bool,
    failures: Vec<(Option<Revnum>, Error)>,
}

impl VerifyReceiver for Receiver<'_> {
    fn notice(&mut self, notice: Notice) -> Result<()> {
        notice::print(self.out, To::Stdout, &notice)?;
        self.out.flush_soon()
    }

    fn failed(&mut self, revision: Option<Revnum>, failure: Error) -> Result<()> {
        match revision {
            None => self.out.error("* Error verifying repository metadata.\n"),
            Some(revision) => self
                .out
                .error(format_args!("* Error verifying revision {revision}.\n")),
        }
        if !self.keeps_going {
            return Err(failure);
        }
        error::print(self.out, PROGRAM.name, &failure);
        self.failures.push((revision, failure));
        Ok(())
    }
}

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    inv.no_args()?;
    let specs = inv.revisions;
    if inv.transaction.is_some() && !(specs.start.is_unspecified() && specs.end.is_unspecified()) {
        return Err(bad(
            "--revision (-r) and --transaction (-t) are mutually exclusive",
        ));
    }
    let repos = repository::open(inv)?;
    let youngest = repos.fs().youngest()?;
    if let Some(name) = &inv.transaction {
        repos.verify_txn(name, &env.cancel)?;
        return Ok(Exit::Success);
    }
    let start = repository::revnum(&repos, specs.start, youngest)?;
    let end = repository::revnum(&repos, specs.end, youngest)?;
    let first = start.unwrap_or(Revnum::ZERO);
    let last = end.or(start).unwrap_or(youngest);
    let options = VerifyOptions {
        range: Some((first, last)),
        check_normalization: inv.check_normalization,
        metadata_only: inv.metadata_only,
        notifies: !inv.quiet,
        threads: 0,
    };
    let mut receiver = Receiver {
        out: &mut env.out,
        keeps_going: inv.keep_going,
        failures: Vec::new(),
    };
    repos.verify(&options, &env.cancel, &mut receiver)?;
    let failures = receiver.failures;
    if failures.is_empty() {
        return Ok(Exit::Success);
    }
    summarize(&mut env.out, &failures)?;
    Err(Error::new(
        ErrorCode::CL_REPOS_VERIFY_FAILED,
        format!(
            "Failed to verify repository '{}'",
            inv.repository.local_style()
        ),
    ))
}

fn summarize(out: &mut Output, failures: &[(Option<Revnum>, Error)]) -> Result<()> {
    out.line("\n-----Summary of corrupt revisions-----")?;
    let last = failures.iter().rev().find_map(|(revision, _)| *revision);
    let digits = last.map_or(0, |last| last.to_string().len());
    let width = digits.max(6);
    for (revision, failure) in failures {
        let Some(revision) = revision else {
            continue;
        };
        let revision = format!("r{revision}");
        for link in failure.chain() {
            let text = link
                .own_message()
                .map_or_else(|| link.code().default_text(), str::to_owned);
            let number = link.code().number();
            out.line(format_args!("{revision:>width$}: E{number:06}: {text}"))?;
        }
    }
    Ok(())
}
