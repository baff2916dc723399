//! `svndumpfilter`, which leaves paths out of dump streams.

mod tables;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::ExitCode;

use sylvan_cmdline::getopt::Parser;
use sylvan_cmdline::help::{Detail, describe_named, overview};
use sylvan_cmdline::print::Output;
use sylvan_cmdline::table::{OptionSpec, Subcommand};
use sylvan_cmdline::{call, signal, utf8, version};
use sylvan_core::{Dirent, Error, ErrorCode, Result, Revnum, path};
use sylvan_io::{Cancel, file};
use sylvan_repos::{
    DumpFilterOptions, DumpFilterReceiver, DumpFilterSummary, PathFilter, filter_dump,
};

use tables::{PROGRAM, VERSION};

const HEADER: &str = "\
general usage: svndumpfilter SUBCOMMAND [ARGS & OPTIONS ...]
Sylvan's tool that leaves paths out of dump streams of Subversion.
Type 'svndumpfilter help <subcommand>' for one of the subcommands below,
     'svndumpfilter --version' for the version.

Available subcommands:
";

fn main() -> ExitCode {
    let mut out = Output::standard();
    let cancel = Cancel::new();
    let words = std::env::args_os().skip(1).collect();
    let ended = run(&mut out, words, &cancel);
    call::end(&mut out, &cancel, PROGRAM.name, ended)
}

/// What was typed.
struct Call {
    options: Vec<&'static OptionSpec>,
    targets: Option<String>,
    command: &'static Subcommand,
    operands: Vec<OsString>,
}

impl Call {
    fn has(&self, key: &str) -> bool {
        self.options.iter().any(|option| option.key == key)
    }
}

fn run(out: &mut Output, words: Vec<OsString>, cancel: &Cancel) -> Result<ExitCode> {
    if words.is_empty() {
        return Ok(usage(out));
    }
    let Some(call) = parse(out, words)? else {
        return Ok(ExitCode::FAILURE);
    };
    if matches!(call.command.name, "help" | "--version") {
        return refuse(out, &call)?.map_or_else(|| help(out, &call), Ok);
    }
    let prefixes = prefixes(&call)?;
    if prefixes.is_empty() {
        out.error("\nError: no prefixes supplied.\n");
        return Ok(ExitCode::FAILURE);
    }
    if let Some(code) = refuse(out, &call)? {
        return Ok(code);
    }
    signal::catch(cancel);
    filter(out, &call, prefixes, cancel)
}

/// Says where help is, for a command line that makes no sense.
fn usage(out: &mut Output) -> ExitCode {
    out.error("Type 'svndumpfilter help' for usage.\n");
    ExitCode::FAILURE
}

/// Goes through the words; `None` if it was said what is wrong with them.
fn parse(out: &mut Output, words: Vec<OsString>) -> Result<Option<Call>> {
    let mut parser = Parser::new(PROGRAM.options, words);
    let (mut options, mut targets) = (Vec::new(), None);
    while let Some(next) = parser.next_option() {
        match next {
            Ok(met) => {
                options.push(met.option);
                if met.option.key == "targets" {
                    targets = Some(utf8::os_text(&met.arg)?.to_owned());
                }
            }
            Err(wrong) => {
                let mut said = format!("{}: ", PROGRAM.name).into_bytes();
                said.extend(wrong.to_bytes());
                said.push(b'\n');
                out.error_bytes(&said);
                usage(out);
                return Ok(None);
            }
        }
    }
    let has = |key: &str| options.iter().any(|option| option.key == key);
    if has("drop-empty-revs") && has("drop-all-empty-revs") {
        return Err(Error::new(
            ErrorCode::CL_MUTUALLY_EXCLUSIVE_ARGS,
            "--drop-empty-revs cannot be used with --drop-all-empty-revs",
        ));
    }
    let mut operands = parser.into_operands();
    let command = match PROGRAM.subcommand("help").filter(|_| has("help")) {
        Some(help) => help,
        None if operands.is_empty() && has("version") => &VERSION,
        None if operands.is_empty() => {
            out.error("Subcommand argument required\n");
            usage(out);
            return Ok(None);
        }
        None => {
            let name = operands.remove(0);
            let name = utf8::os_text(&name)?;
            let Some(command) = PROGRAM.subcommand(name) else {
                out.error(format_args!("Unknown subcommand: '{name}'\n"));
                usage(out);
                return Ok(None);
            };
            command
        }
    };
    Ok(Some(Call {
        options,
        targets,
        command,
        operands,
    }))
}

/// Says so if the subcommand does not accept an option.
fn refuse(out: &mut Output, call: &Call) -> Result<Option<ExitCode>> {
    let refused = call
        .options
        .iter()
        .find(|option| option.key != "help" && !PROGRAM.accepts(call.command, option.key));
    let Some(refused) = refused else {
        return Ok(None);
    };
    let name = call.command.name;
    if name.starts_with('-') {
        return Ok(Some(usage(out)));
    }
    out.error(format_args!(
        "Subcommand '{name}' doesn't accept option '{}'\nType 'svndumpfilter help {name}' for \
         usage.\n",
        refused.spelled()
    ));
    Ok(Some(ExitCode::FAILURE))
}

fn help(out: &mut Output, call: &Call) -> Result<ExitCode> {
    if call.operands.is_empty() && call.has("version") {
        if call.has("quiet") {
            out.line(version::COMPATIBLE)?;
        } else {
            out.print(version::banner(PROGRAM.name))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    if call.operands.is_empty() {
        out.print(overview(&PROGRAM, HEADER, "", Detail::Usual))?;
    }
    describe_named(out, &PROGRAM, &call.operands, |_| "", Detail::Usual)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the prefixes of the operands and those in the file of `--targets`.
fn prefixes(call: &Call) -> Result<Vec<String>> {
    let absolute = |prefix: &str| {
        let slash = if prefix.starts_with('/') { "" } else { "/" };
        format!("{slash}{prefix}")
    };
    let mut prefixes = Vec::new();
    for operand in &call.operands {
        let words = utf8::os_text(operand)?.split('/');
        let kept: Vec<&str> = words.filter(|word| !matches!(*word, "" | ".")).collect();
        prefixes.push(absolute(&kept.join("/")));
    }
    if let Some(targets) = &call.targets {
        let text = file::read(Dirent::new(targets).as_path())?;
        let lines = utf8::text(&text)?.split(['\n', '\r']).map(str::trim);
        prefixes.extend(lines.filter(|line| !line.is_empty()).map(absolute));
    }
    Ok(prefixes)
}

/// Writes the stream, and says what becomes of revisions.
struct Receiver<'o> {
    out: &'o mut Output,
    quiet: bool,
}

impl DumpFilterReceiver for Receiver<'_> {
    fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.bytes(bytes)
    }

    fn revision(&mut self, old: Revnum, new: Option<Revnum>) -> Result<()> {
        if self.quiet {
            return Ok(());
        }
        match new {
            Some(new) => self
                .out
                .error(format_args!("Revision {old} committed as {new}.\n")),
            None => self.out.error(format_args!("Revision {old} skipped.\n")),
        }
        Ok(())
    }
}

fn filter(
    out: &mut Output,
    call: &Call,
    prefixes: Vec<String>,
    cancel: &Cancel,
) -> Result<ExitCode> {
    let options = DumpFilterOptions {
        filter: PathFilter {
            prefixes,
            glob: call.has("pattern"),
            exclude: call.command.name == "exclude",
        },
        drop_empty_revisions: call.has("drop-empty-revs"),
        drop_all_empty_revisions: call.has("drop-all-empty-revs"),
        renumber: call.has("renumber-revs"),
        skip_missing_merge_sources: call.has("skip-missing-merge-sources"),
        preserve_revprops: call.has("preserve-revprops"),
    };
    let quiet = call.has("quiet");
    if !quiet {
        tell_what(out, &options);
    }
    let mut receiver = Receiver { out, quiet };
    let mut stream = std::io::stdin().lock();
    let summary = filter_dump(&mut stream, &options, cancel, &mut receiver)?;
    if !quiet {
        let drops = options.drop_empty_revisions || options.drop_all_empty_revisions;
        summarize(out, &summary, options.renumber && drops);
    }
    Ok(ExitCode::SUCCESS)
}

fn tell_what(out: &mut Output, options: &DumpFilterOptions) {
    let verb = if options.filter.exclude {
        "Excluding"
    } else {
        "Including"
    };
    let drops = options.drop_empty_revisions || options.drop_all_empty_revisions;
    let drops = if drops {
        " (and dropping empty revisions for)"
    } else {
        ""
    };
    let what = if options.filter.glob {
        "prefix patterns"
    } else {
        "prefixes"
    };
    let mut text = format!("{verb}{drops} {what}:\n");
    for prefix in &options.filter.prefixes {
        text.push_str(&format!("   '{prefix}'\n"));
    }
    text.push('\n');
    out.error(text);
}

fn summarize(out: &mut Output, summary: &DumpFilterSummary, renumbered: bool) {
    let mut text = "\n".to_owned();
    match summary.dropped_revisions {
        0 => {}
        1 => text.push_str("Dropped 1 revision.\n\n"),
        count => text.push_str(&format!("Dropped {count} revisions.\n\n")),
    }
    if renumbered {
        text.push_str(&renumbering(&summary.renumbered));
    }
    let dropped = &summary.dropped_nodes;
    match dropped.len() {
        0 => {}
        1 => text.push_str("Dropped 1 node:\n"),
        count => text.push_str(&format!("Dropped {count} nodes:\n")),
    }
    if !dropped.is_empty() {
        debug_assert!(dropped.is_sorted_by(|a, b| path::compare(a, b).is_lt()));
        for path in dropped {
            text.push_str(&format!("   '{path}'\n"));
        }
        text.push('\n');
    }
    out.error(text);
}

fn renumbering(fates: &BTreeMap<Revnum, Option<Revnum>>) -> String {
    let mut text = "Revisions renumbered as follows:\n".to_owned();
    // The youngest comes first.
    for (old, new) in fates.iter().rev() {
        match new {
            Some(new) => text.push_str(&format!("   {old} => {new}\n")),
            None => text.push_str(&format!("   {old} => (dropped)\n")),
        }
    }
    text.push('\n');
    text
}
