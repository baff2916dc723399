//! `svnadmin dump` and `svnadmin dump-revprops`.

use std::fs::File;
use std::io::Write;

use sylvan_cmdline::print::{Output, write_error};
use sylvan_core::{Dirent, Error, Result};
use sylvan_repos::{DumpOptions, DumpReceiver, Notice, PathFilter};

use crate::env::{Env, Exit};
use crate::invocation::{Invocation, bad};
use crate::notice::{self, To};
use crate::repository;

/// Where a stream goes, and what is told of it.
struct Receiver<'o> {
    out: &'o mut Output,
    file: Option<File>,
}

impl DumpReceiver for Receiver<'_> {
    fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        match &mut self.file {
            Some(file) => file.write_all(bytes).map_err(|error| write_error(&error)),
            None => self.out.bytes(bytes),
        }
    }

    fn notice(&mut self, notice: Notice) -> Result<()> {
        notice::print(self.out, To::Stderr, &notice)
    }
}

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    dump(env, inv, false)
}

pub(crate) fn run_revprops(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    dump(env, inv, true)
}

fn dump(env: &mut Env, inv: &Invocation, revprops_only: bool) -> Result<Exit> {
    inv.no_args()?;
    let repos = repository::open(inv)?;
    let range = repository::dump_range(&repos, inv)?;
    let file = inv.file.as_deref().map(create).transpose()?;
    let options = DumpOptions {
        range: Some(range),
        incremental: inv.incremental,
        deltas: inv.deltas,
        revprops_only,
        notifies: !inv.quiet,
        filter: filter(inv)?,
        threads: 0,
    };
    let mut receiver = Receiver {
        out: &mut env.out,
        file,
    };
    repos.dump(&options, &env.cancel, &mut receiver)?;
    Ok(Exit::Success)
}

fn create(path: &str) -> Result<File> {
    let path = Dirent::new(path);
    File::create(path.as_path()).map_err(|error| {
        let shown = path.local_style();
        Error::io(&error, format!("Can't open file '{shown}'"))
    })
}

fn filter(inv: &Invocation) -> Result<Option<PathFilter>> {
    let (prefixes, exclude) = match (inv.exclude.as_slice(), inv.include.as_slice()) {
        ([], []) => return Ok(None),
        (exclude, []) => (exclude, true),
        ([], include) => (include, false),
        _ => {
            return Err(bad(
                "'--exclude' and '--include' options cannot be used simultaneously",
            ));
        }
    };
    Ok(Some(PathFilter {
        prefixes: prefixes.to_vec(),
        glob: inv.pattern,
        exclude,
    }))
}
