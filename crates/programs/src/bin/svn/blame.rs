//! `svn blame`.

use std::io::Write as _;

use sylvan_client::blame::{self, BlamedRev, Line};
use sylvan_cmdline::print::Output;
use sylvan_cmdline::xml::{Style, Writer};
use sylvan_core::opt::RevisionSpec;
use sylvan_core::time::TimeZone;
use sylvan_core::{Error, ErrorCode, Result, Revnum, Timestamp};

use crate::env::{Env, Exit};
use crate::invocation::{Invocation, Options};
use crate::{targets, xml_parts};

/// What is printed where an author is not known.
const NO_AUTHOR: &[u8] = b"         -";

/// The same for a date, as long as one.
const NO_DATE: &str = "                                           -";

/// Errors that are warned about.
const MISSING: [ErrorCode; 4] = [
    ErrorCode::WC_PATH_NOT_FOUND,
    ErrorCode::ENTRY_NOT_FOUND,
    ErrorCode::FS_NOT_FILE,
    ErrorCode::FS_NOT_FOUND,
];

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let context = env.client(inv)?;
    let arguments = targets::read(env, inv, &context)?;
    if arguments.is_empty() {
        return Err(Error::from_code(ErrorCode::CL_INSUFFICIENT_ARGS));
    }
    let words: Vec<&str> = inv
        .extensions
        .as_deref()
        .unwrap_or_default()
        .split([' ', '\t', '\n', '\r'])
        .filter(|word| !word.is_empty())
        .collect();
    let diff = sylvan_diff::Options::parse(&words)?;
    check_options(inv)?;
    if inv.xml && !inv.incremental {
        xml_parts::begin(&mut env.out, "blame")?;
    }
    let mut attempts = targets::Attempts::new(&MISSING);
    for argument in &arguments {
        context.cancel.check()?;
        let target = argument.target(&context.clock)?;
        let (start, end) = range(inv, &target);
        let options = blame::Options {
            start,
            end,
            merged: inv.use_merge_history,
            force: inv.force,
            diff: diff.clone(),
        };
        let mut printer = Printer::new(inv, &context.clock.zone);
        if inv.xml {
            let path = target.at.to_string();
            printer
                .writer
                .open(Style::Normal, "target", &[("path", &path)]);
        }
        let out = &mut env.out;
        let done = targets::follow(out, inv, &context, target).and_then(|target| {
            blame::blame(&context, &target, &options, &mut |younger, line| {
                printer.line(out, younger, line)
            })
        });
        match done {
            Err(error) if error.code() == ErrorCode::CLIENT_IS_BINARY_FILE => {
                env.out.error(format_args!(
                    "Skipping binary file (use --force to treat as text): '{argument}'\n"
                ));
            }
            Ok(()) if inv.xml => {
                printer.writer.close("target");
                env.out.print(printer.writer.take())?;
            }
            done => attempts.take(env, false, done)?,
        }
    }
    if inv.xml && !inv.incremental {
        xml_parts::end(&mut env.out, "blame")?;
    }
    if attempts.any_failed() {
        return Err(Error::new(
            ErrorCode::ILLEGAL_TARGET,
            "Could not perform blame on all targets because some targets don't exist",
        ));
    }
    Ok(Exit::Success)
}

fn check_options(inv: &Invocation) -> Result<()> {
    let wrong = |message| Err(Error::new(ErrorCode::CL_ARG_PARSING_ERROR, message));
    if inv.xml && inv.verbose {
        return wrong("'verbose' option invalid in XML mode");
    }
    if !inv.xml && inv.incremental {
        return wrong("'incremental' option only valid in XML mode");
    }
    Ok(())
}

/// The revisions of a target: with one revision it is the end.
fn range(inv: &Options, target: &sylvan_client::target::Target) -> (RevisionSpec, RevisionSpec) {
    let first = RevisionSpec::Number(Revnum::ZERO.next());
    let asked = inv.ranges.first().copied().unwrap_or_default();
    match (asked.start, asked.end) {
        (RevisionSpec::Unspecified, RevisionSpec::Unspecified) => {
            let end = match target.peg {
                RevisionSpec::Unspecified if target.at.is_url() => RevisionSpec::Head,
                RevisionSpec::Unspecified => RevisionSpec::Working,
                peg => peg,
            };
            (first, end)
        }
        (RevisionSpec::Unspecified, end) => (first, end),
        (end, RevisionSpec::Unspecified) => (first, end),
        both => both,
    }
}

struct Printer<'a> {
    xml: bool,
    merged: bool,
    verbose: bool,
    zone: &'a TimeZone,
    /// XML that is not printed yet.
    writer: Writer,
}

impl<'a> Printer<'a> {
    fn new(inv: &Options, zone: &'a TimeZone) -> Self {
        Self {
            xml: inv.xml,
            merged: inv.use_merge_history,
            verbose: inv.verbose,
            zone,
            writer: Writer::new(),
        }
    }

    fn line(&mut self, out: &mut Output, younger: Revnum, line: Line<'_>) -> Result<()> {
        if self.xml {
            self.entry(&line);
            return out.print(self.writer.take());
        }
        let mut text = Vec::with_capacity(line.text.len() + 32);
        let number =
            |rev: Option<&BlamedRev>| rev.and_then(|rev| rev.rev).map_or(-1, Revnum::number);
        let mut shown = (line.rev, None);
        if self.merged {
            if number(line.merged) < number(line.rev) {
                text.extend_from_slice(b"G ");
                shown = (line.merged, line.merged.map(|rev| rev.path.as_str()));
            } else {
                text.extend_from_slice(b"  ");
            }
        }
        self.push_info(&mut text, younger, shown.0, shown.1);
        // As C does, up to the first 0.
        let end = line.text.iter().position(|byte| *byte == 0);
        text.extend_from_slice(&line.text[..end.unwrap_or(line.text.len())]);
        text.push(b'\n');
        out.bytes(&text)
    }

    fn push_info(
        &self,
        text: &mut Vec<u8>,
        younger: Revnum,
        rev: Option<&BlamedRev>,
        path: Option<&str>,
    ) {
        // Writing to bytes in memory cannot fail.
        let width = younger.to_string().len().max(6);
        let _ = match rev.and_then(|rev| rev.rev) {
            Some(rev) => write!(text, "{rev:>width$} ", rev = rev.number()),
            None => write!(text, "{:>width$} ", "-"),
        };
        let rev = rev.filter(|rev| rev.rev.is_some());
        let prop = |name: &str| {
            rev.and_then(|rev| rev.revprops.get(name))
                .map(Vec::as_slice)
        };
        let author = prop("svn:author").unwrap_or(NO_AUTHOR);
        text.extend(std::iter::repeat_n(
            b' ',
            10_usize.saturating_sub(author.len()),
        ));
        if !self.verbose {
            text.extend_from_slice(&author[..author.len().min(10)]);
            text.push(b' ');
            return;
        }
        text.extend_from_slice(author);
        let date = prop("svn:date").map(|date| {
            match Timestamp::parse_iso(&String::from_utf8_lossy(date)) {
                Ok(time) => time.to_human(self.zone),
                Err(_) => "(invalid date)".to_owned(),
            }
        });
        let _ = write!(text, " {} ", date.as_deref().unwrap_or(NO_DATE));
        if let Some(path) = path {
            let _ = write!(text, "{path:<14} ");
        }
    }

    fn entry(&mut self, line: &Line<'_>) {
        let number = line.number.to_string();
        let attributes = [("line-number", number.as_str())];
        self.writer.open(Style::Normal, "entry", &attributes);
        if let Some(rev) = line.rev.filter(|rev| rev.rev.is_some()) {
            commit(&mut self.writer, rev);
        }
        if self.merged
            && let Some(merged) = line.merged.filter(|rev| rev.rev.is_some())
        {
            let attributes = [("path", merged.path.as_str())];
            self.writer.open(Style::Normal, "merged", &attributes);
            commit(&mut self.writer, merged);
            self.writer.close("merged");
        }
        self.writer.close("entry");
    }
}

fn commit(writer: &mut Writer, rev: &BlamedRev) {
    let number = rev.rev.map_or(-1, Revnum::number).to_string();
    let prop = |name: &str| {
        let value = rev.revprops.get(name)?;
        Some(String::from_utf8_lossy(value).into_owned())
    };
    writer
        .open(Style::Normal, "commit", &[("revision", &number)])
        .optional("author", prop("svn:author").as_deref())
        .optional("date", prop("svn:date").as_deref())
        .close("commit");
}
