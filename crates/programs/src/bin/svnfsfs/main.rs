//! `svnfsfs`, which looks into file systems of the kind FSFS.

mod index;
mod stats;
mod tables;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use sylvan_cmdline::call::Words;
use sylvan_cmdline::error::Said;
use sylvan_cmdline::getopt::Met;
use sylvan_cmdline::help::{Detail, describe_named, overview};
use sylvan_cmdline::print::Output;
use sylvan_cmdline::table::{Program, Subcommand};
use sylvan_cmdline::{call, signal, surroundings, utf8, version};
use sylvan_core::opt::{RevisionRange, RevisionSpec};
use sylvan_core::{Dirent, Error, ErrorCode, Result, Revnum};
use sylvan_fs::{Cache, FileSystem};
use sylvan_io::{Cancel, file};

/// The tables of this program.
static PROGRAM: Program = Program {
    name: "svnfsfs",
    options: tables::OPTIONS,
    subcommands: tables::SUBCOMMANDS,
    globals: &[],
};

const HEADER: &str = "\
general usage: svnfsfs SUBCOMMAND REPOS_PATH  [ARGS & OPTIONS ...]
Looks into Subversion repositories of the kind FSFS.
Type 'svnfsfs help <subcommand>' for one of the subcommands below,
     'svnfsfs --version' for the version.

Available subcommands:
";

/// What a subcommand works with.
struct Env {
    /// Where everything is printed.
    out: Output,
    /// Set by signals.
    cancel: Cancel,
}

/// A call of the program, as typed and checked.
struct Invocation {
    command: &'static Subcommand,
    repository: Dirent,
    /// What else follows; only help looks at it.
    operands: Vec<OsString>,
    options: Options,
}

/// The options of a call.
#[derive(Default)]
struct Options {
    revisions: RevisionRange,
    /// In bytes.
    memory_cache_size: Option<u64>,
    version: bool,
    quiet: bool,
}

fn main() -> ExitCode {
    let mut env = Env {
        out: Output::standard(),
        cancel: Cancel::new(),
    };
    let words = std::env::args_os().skip(1).collect();
    let ended = start(&mut env, words);
    call::end(&mut env.out, &env.cancel, PROGRAM.name, ended)
}

fn start(env: &mut Env, words: Vec<OsString>) -> Result<ExitCode> {
    if words.is_empty() {
        env.out.error_bytes(&call::usage(&PROGRAM, Vec::new()).0);
        return Ok(ExitCode::FAILURE);
    }
    let inv = match parse(words)? {
        Ok(inv) => inv,
        Err(said) => {
            env.out.error_bytes(&said.0);
            return Ok(ExitCode::FAILURE);
        }
    };
    match inv.command.name {
        "help" | "--version" => help(&mut env.out, &inv)?,
        name => {
            signal::catch(&env.cancel);
            match name {
                "dump-index" => index::dump(env, &inv)?,
                "load-index" => index::load(env, &inv)?,
                _ => stats::run(env, &inv)?,
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Goes through the words of a call. The inner error is printed as it stands, the outer one as
/// errors are.
fn parse(words: Vec<OsString>) -> Result<Result<Invocation, Said>> {
    let mut options = Options::default();
    let mut words = match Words::parse(&PROGRAM, words, |met| options.take(met))? {
        Ok(words) => words,
        Err(said) => return Ok(Err(said)),
    };
    let missing = "subcommand argument required";
    let command = match words.choose(&PROGRAM, &tables::VERSION, missing)? {
        Ok(command) => command,
        Err(said) => return Ok(Err(said)),
    };
    let mut repository = Dirent::default();
    if !["help", "--version"].contains(&command.name) {
        repository = call::take_repository(&mut words.operands)?;
    }
    if let Some(said) = words.refuse(&PROGRAM, command) {
        return Ok(Err(said));
    }
    Ok(Ok(Invocation {
        command,
        repository,
        operands: words.operands,
        options,
    }))
}

fn bad(text: impl Into<String>) -> Error {
    Error::new(ErrorCode::CL_ARG_PARSING_ERROR, text)
}

impl Options {
    fn take(&mut self, met: &Met) -> Result<()> {
        match met.option.key {
            "version" => self.version = true,
            "quiet" => self.quiet = true,
            "memory-cache-size" => {
                self.memory_cache_size = Some(call::memory_cache_size(&met.arg)?);
            }
            "revision" => {
                if !self.revisions.start.is_unspecified() {
                    return Err(bad(
                        "Multiple revision arguments encountered; try '-r N:M' instead of '-r N \
                         -r M'",
                    ));
                }
                let text = utf8::os_text(&met.arg)?;
                self.revisions = RevisionRange::parse(text, &surroundings::utc_clock())?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns the revision if it was given as a number; the first one else, as Subversion has it.
    fn revision(&self) -> Revnum {
        match self.revisions.start {
            RevisionSpec::Number(revision) => revision,
            _ => Revnum::ZERO,
        }
    }
}

/// Opens the file system of the repository.
fn open(inv: &Invocation) -> Result<FileSystem> {
    let db = inv.repository.join("db");
    check_type(db.as_path())?;
    let mut options = sylvan_fs::Options::default();
    if let Some(bytes) = inv.options.memory_cache_size {
        options.cache = Cache::new(usize::try_from(bytes).unwrap_or(usize::MAX));
    }
    FileSystem::open_with(db.as_path(), options)
}

fn check_type(db: &Path) -> Result<()> {
    let text = match file::read(&db.join("fs-type")) {
        Ok(text) => text,
        // Before there was a choice, there was no such file.
        Err(_) if db.is_dir() => b"bdb".to_vec(),
        Err(error) => return Err(error),
    };
    let name = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if name == b"fsfs" {
        return Ok(());
    }
    Err(Error::new(
        ErrorCode::FS_UNSUPPORTED_TYPE,
        format!(
            "{} repositories are not supported",
            String::from_utf8_lossy(name)
        ),
    ))
}

fn help(out: &mut Output, inv: &Invocation) -> Result<()> {
    if !inv.operands.is_empty() {
        return describe_named(out, &PROGRAM, &inv.operands, |_| "", Detail::Usual);
    }
    if !inv.options.version {
        return out.print(overview(&PROGRAM, HEADER, "", Detail::Usual));
    }
    if inv.options.quiet {
        return out.line(version::COMPATIBLE);
    }
    out.print(version::banner(PROGRAM.name))
}
