//! `svn log`.

use std::fmt::Write as _;

use sylvan_client::log;
use sylvan_client::target::{Argument, Target};
use sylvan_cmdline::print::Output;
use sylvan_cmdline::xml::{self, Style, Writer};
use sylvan_core::opt::{RevisionRange, RevisionSpec};
use sylvan_core::time::TimeZone;
use sylvan_core::{Dirent, Error, ErrorCode, Props, Result, Revnum, Timestamp, fold, glob};
use sylvan_ra::{ChangedPath, LogEntry};

use crate::env::{Env, Exit};
use crate::invocation::{Invocation, Options};
use crate::{targets, xml_parts};

const AUTHOR: &str = "svn:author";
const DATE: &str = "svn:date";
const MESSAGE: &str = "svn:log";

pub(crate) const RULE: &str =
    "------------------------------------------------------------------------\n";

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    check_options(inv)?;
    let context = env.client(inv)?;
    let arguments = targets::read_or_current(env, inv, &context)?;
    let ranges = ranges(inv)?;
    let (target, paths) = split_targets(&arguments, &context.clock)?;
    let mut printer = Printer {
        zone: &context.clock.zone,
        search: Search::new(&inv.search),
        quiet: inv.quiet,
        merged_via: Vec::new(),
    };
    let out = &mut env.out;
    if inv.xml && !inv.incremental {
        xml_parts::begin(out, "log")?;
    }
    let options = log::Options {
        ranges,
        limit: inv.limit.unwrap_or(0),
        changed_paths: inv.verbose,
        stop_on_copy: inv.stop_on_copy,
        merged: inv.use_merge_history,
        revprops: wanted_revprops(inv)?,
    };
    let target = targets::follow(out, inv, &context, target)?;
    if inv.xml {
        log::log(&context, &target, &paths, &options, &mut |entry| {
            context.cancel.check()?;
            printer.xml(out, entry)
        })?;
        if !inv.incremental {
            xml_parts::end(out, "log")?;
        }
    } else {
        log::log(&context, &target, &paths, &options, &mut |entry| {
            context.cancel.check()?;
            printer.text(out, &entry)
        })?;
        if !inv.incremental {
            out.print(RULE)?;
        }
    }
    Ok(Exit::Success)
}

fn check_options(options: &Options) -> Result<()> {
    let wrong = |message| Err(Error::new(ErrorCode::CL_ARG_PARSING_ERROR, message));
    if options.xml {
        if options.show_diff {
            return wrong("'diff' option is not supported in XML mode");
        }
    } else if options.all_revprops {
        return wrong("'with-all-revprops' option only valid in XML mode");
    } else if options.no_revprops {
        return wrong("'with-no-revprops' option only valid in XML mode");
    } else if !options.revprops.is_empty() {
        return wrong("'with-revprop' option only valid in XML mode");
    }
    if options.show_diff {
        return Err(Error::new(
            ErrorCode::UNSUPPORTED_FEATURE,
            "Option '--diff' is not implemented yet",
        ));
    }
    if options.diff_cmd.is_some() {
        return wrong("'diff-cmd' option requires 'diff' option");
    }
    if options.internal_diff {
        return wrong("'internal-diff' option requires 'diff' option");
    }
    if options.extensions.is_some() {
        return wrong("'extensions' option requires 'diff' option");
    }
    if options.depth.is_some() {
        return wrong("'depth' option requires 'diff' option");
    }
    Ok(())
}

/// The ranges asked for. A change is the range from the revision before it, of which only the
/// later end counts.
fn ranges(options: &Options) -> Result<Vec<RevisionRange>> {
    let mut ranges = options.ranges.clone();
    if ranges.is_empty() {
        ranges.push(RevisionRange::default());
    }
    if !options.used_change {
        return Ok(ranges);
    }
    if options.used_revision && ranges.len() > 1 {
        return Err(Error::new(
            ErrorCode::CLIENT_BAD_REVISION,
            "-c and -r are mutually exclusive",
        ));
    }
    for range in &mut ranges {
        if let (RevisionSpec::Number(start), RevisionSpec::Number(end)) = (range.start, range.end) {
            if start < end {
                range.start = RevisionSpec::Number(start.next());
            } else {
                range.end = RevisionSpec::Number(end.next());
            }
        }
    }
    Ok(ranges)
}

/// The first target, and the paths below it that follow a URL.
fn split_targets(
    arguments: &[Argument],
    clock: &sylvan_core::time::Clock,
) -> Result<(Target, Vec<Dirent>)> {
    let (first, rest) = arguments
        .split_first()
        .ok_or_else(|| Error::from_code(ErrorCode::CL_INSUFFICIENT_ARGS))?;
    let target = first.target(clock)?;
    let mut paths = Vec::with_capacity(rest.len());
    for argument in rest {
        // What looks like a peg revision is part of the name here.
        let text = argument.to_string();
        if target.at.is_url() && (argument.at.is_url() || text.starts_with('/')) {
            return Err(Error::new(
                ErrorCode::CL_ARG_PARSING_ERROR,
                format!(
                    "Only relative paths can be specified after a URL for 'svn log', but '{text}' \
                     is not a relative path"
                ),
            ));
        }
        paths.push(Dirent::new(&text));
    }
    Ok((target, paths))
}

fn wanted_revprops(options: &Options) -> Result<Option<Vec<String>>> {
    if options.xml && options.all_revprops {
        return Ok(None);
    }
    if options.xml && options.no_revprops {
        return Ok(Some(Vec::new()));
    }
    let mut names: Vec<String> = Vec::new();
    if options.revprops.is_empty() {
        names.extend([AUTHOR, DATE].map(str::to_owned));
        if !options.quiet {
            names.push(MESSAGE.to_owned());
        }
    }
    for (name, value) in &options.revprops {
        if !value.is_empty() {
            return Err(Error::new(
                ErrorCode::CL_ARG_PARSING_ERROR,
                "cannot assign with 'with-revprop' option (drop the '=')",
            ));
        }
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    Ok(Some(names))
}

/// Groups of folded patterns: one group must match, all patterns of it must.
struct Search(Vec<Vec<String>>);

/// What a search looks at.
struct Searched<'a> {
    author: Option<&'a str>,
    date: Option<&'a str>,
    message: Option<&'a str>,
    paths: Option<&'a [(String, ChangedPath)]>,
}

impl Search {
    fn new(groups: &[Vec<String>]) -> Self {
        let anywhere = |pattern: &String| format!("*{}*", fold::fold(pattern));
        Self(
            groups
                .iter()
                .map(|group| group.iter().map(anywhere).collect())
                .collect(),
        )
    }

    fn matches(&self, entry: &Searched<'_>) -> bool {
        self.0.is_empty()
            || self
                .0
                .iter()
                .any(|group| group.iter().all(|pattern| entry.matches(pattern)))
    }
}

impl Searched<'_> {
    fn matches(&self, pattern: &str) -> bool {
        let matches = |text: &str| glob::matches(pattern, fold::fold(text));
        let texts = [self.author, self.date, self.message];
        texts.into_iter().flatten().any(matches)
            || self.paths.into_iter().flatten().any(|(path, change)| {
                let source = change.copy_from.as_ref().map(|(source, _)| source.as_str());
                matches(path) || source.is_some_and(matches)
            })
    }
}

/// Prints entries.
pub(crate) struct Printer<'a> {
    zone: &'a TimeZone,
    search: Search,
    quiet: bool,
    /// The revisions whose merged revisions are being printed.
    merged_via: Vec<Revnum>,
}

impl<'a> Printer<'a> {
    /// Makes one that prints all entries.
    pub(crate) fn plain(zone: &'a TimeZone, quiet: bool) -> Self {
        Self {
            zone,
            search: Search::new(&[]),
            quiet,
            merged_via: Vec::new(),
        }
    }
}

impl Printer<'_> {
    /// Prints an entry as text.
    pub(crate) fn text(&mut self, out: &mut Output, entry: &LogEntry) -> Result<()> {
        let message = prop(&entry.revprops, MESSAGE);
        let Some(rev) = entry.rev else {
            self.merged_via.pop();
            return Ok(());
        };
        if rev == Revnum::ZERO && message.is_none() {
            return Ok(());
        }
        let author = prop(&entry.revprops, AUTHOR);
        let author = author.as_deref().unwrap_or("(no author)");
        let date = human_date(prop(&entry.revprops, DATE).as_deref(), self.zone);
        let message = match message {
            None if !self.quiet => Some(String::new()),
            message => message,
        };
        let found = self.search.matches(&Searched {
            author: Some(author),
            date: Some(&date),
            message: message.as_deref(),
            paths: entry.changed_paths.as_deref(),
        });
        if found {
            let mut text = format!("{RULE}r{rev} | {author} | {date}");
            if let Some(message) = &message {
                let lines = count_lines(message);
                let s = if lines == 1 { "" } else { "s" };
                let _ = write!(text, " | {lines} line{s}");
            }
            text.push('\n');
            self.push_paths(&mut text, entry);
            self.push_merged_via(&mut text, entry);
            if let Some(message) = &message {
                let _ = write!(text, "\n{message}\n");
            }
            out.print(text)?;
        }
        if entry.has_children {
            self.merged_via.push(rev);
        }
        Ok(())
    }

    fn push_paths(&self, text: &mut String, entry: &LogEntry) {
        let Some(paths) = &entry.changed_paths else {
            return;
        };
        text.push_str("Changed paths:\n");
        for (path, change) in in_path_order(paths) {
            let _ = write!(text, "   {} {path}", change.action);
            if let Some((source, rev)) = &change.copy_from {
                let _ = write!(text, " (from {source}:{rev})");
            }
            text.push('\n');
        }
    }

    fn push_merged_via(&self, text: &mut String, entry: &LogEntry) {
        if self.merged_via.is_empty() {
            return;
        }
        text.push_str(if entry.subtractive_merge {
            "Reverse merged via:"
        } else {
            "Merged via:"
        });
        let revs: Vec<_> = self
            .merged_via
            .iter()
            .map(|rev| format!(" r{rev}"))
            .collect();
        let _ = writeln!(text, "{}", revs.join(","));
    }

    fn xml(&mut self, out: &mut Output, mut entry: LogEntry) -> Result<()> {
        let mut writer = Writer::new();
        let message = prop(&entry.revprops, MESSAGE);
        let Some(rev) = entry.rev else {
            writer.close("logentry");
            self.merged_via.pop();
            return out.print(writer.take());
        };
        if rev == Revnum::ZERO && message.is_none() {
            return Ok(());
        }
        let author = prop(&entry.revprops, AUTHOR);
        let date = prop(&entry.revprops, DATE);
        let found = self.search.matches(&Searched {
            author: author.as_deref(),
            date: date.as_deref(),
            message: message.as_deref(),
            paths: entry.changed_paths.as_deref(),
        });
        if found {
            self.open_entry(&mut writer, rev, &entry);
            let safe = |text: Option<String>| text.map(|text| xml::fuzzy_escape(&text));
            writer.optional("author", safe(author).as_deref());
            let date = safe(date).filter(|date| !date.is_empty());
            writer.optional("date", date.as_deref());
            if let Some(paths) = &entry.changed_paths {
                write_paths(&mut writer, paths);
            }
            writer.optional("msg", safe(message).as_deref());
            for name in [AUTHOR, DATE, MESSAGE] {
                entry.revprops.remove(name);
            }
            if !entry.revprops.is_empty() {
                writer.open(Style::Normal, "revprops", &[]);
                for (name, value) in &entry.revprops {
                    xml_parts::property(&mut writer, name, value);
                }
                writer.close("revprops");
            }
            if !entry.has_children {
                writer.close("logentry");
            }
        }
        if entry.has_children {
            self.merged_via.push(rev);
        }
        out.print(writer.take())
    }

    fn open_entry(&self, writer: &mut Writer, rev: Revnum, entry: &LogEntry) {
        let rev = rev.to_string();
        let reverse = if entry.subtractive_merge {
            "true"
        } else {
            "false"
        };
        let attributes = [("revision", rev.as_str()), ("reverse-merge", reverse)];
        let shown = if self.merged_via.is_empty() { 1 } else { 2 };
        writer.open(Style::Normal, "logentry", &attributes[..shown]);
    }
}

fn write_paths(writer: &mut Writer, paths: &[(String, ChangedPath)]) {
    writer.open(Style::Normal, "paths", &[]);
    for (path, change) in in_path_order(paths) {
        let action = change.action.to_string();
        let mut attributes = vec![("action", action.as_str())];
        let source_rev;
        if let Some((source, rev)) = &change.copy_from {
            source_rev = rev.to_string();
            attributes.push(("copyfrom-path", source));
            attributes.push(("copyfrom-rev", &source_rev));
        }
        attributes.push(("kind", xml_parts::kind(change.kind)));
        let mods = [
            ("text-mods", change.text_modified),
            ("prop-mods", change.props_modified),
        ];
        for (name, modified) in mods {
            if let Some(modified) = modified {
                attributes.push((name, if modified { "true" } else { "false" }));
            }
        }
        writer
            .open(Style::Protect, "path", &attributes)
            .text(path)
            .close("path");
    }
    writer.close("paths");
}

fn in_path_order(paths: &[(String, ChangedPath)]) -> Vec<&(String, ChangedPath)> {
    let mut sorted: Vec<_> = paths.iter().collect();
    sorted.sort_by(|(a, _), (b, _)| a.split('/').cmp(b.split('/')));
    sorted
}

fn prop(props: &Props, name: &str) -> Option<String> {
    props
        .get(name)
        .map(|value| String::from_utf8_lossy(value).into_owned())
}

fn human_date(date: Option<&str>, zone: &TimeZone) -> String {
    match date {
        None | Some("") => "(no date)".to_owned(),
        Some(date) => match Timestamp::parse_iso(date) {
            Ok(time) => time.to_human(zone),
            Err(_) => "(invalid date)".to_owned(),
        },
    }
}

/// Counts lines as the headline does: line ends of any kind, plus one.
pub(crate) fn count_lines(message: &str) -> usize {
    let mut bytes = message.bytes().peekable();
    let mut lines = 1;
    while let Some(byte) = bytes.next() {
        let other = match byte {
            b'\n' => b'\r',
            b'\r' => b'\n',
            _ => continue,
        };
        lines += 1;
        bytes.next_if_eq(&other);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_may_end_in_any_way() {
        for (message, lines) in [("", 1), ("a", 1), ("a\n", 2), ("a\r\nb\n\rc\rd\n\n", 6)] {
            assert_eq!(count_lines(message), lines, "{message:?}");
        }
    }
}
