//! `svn list`.

use sylvan_client::list::{self, External, Item};
use sylvan_client::target::PathOrUrl;
use sylvan_cmdline::error::warn;
use sylvan_cmdline::print::Output;
use sylvan_cmdline::xml::{Style, Writer};
use sylvan_core::time::Clock;
use sylvan_core::{Depth, Error, ErrorCode, NodeKind, Result, Timestamp, fold};
use sylvan_ra::DirEntryFields;

use crate::env::{Env, Exit};
use crate::invocation::{Invocation, Options};
use crate::size::{self, Units};
use crate::{targets, xml_parts};

/// Entries older or younger than half a year show their year.
const HALF_A_YEAR: i64 = 365 * 86_400 / 2;

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let context = env.client(inv)?;
    let arguments = targets::read_or_current(env, inv, &context)?;
    check_options(inv)?;
    if inv.xml && !inv.incremental {
        xml_parts::begin(&mut env.out, "lists")?;
    }
    let options = list::Options {
        revision: inv.start(),
        depth: inv.depth.unwrap_or(Depth::Immediates),
        patterns: patterns(inv)?,
        fields: fields(inv),
        locks: inv.xml || inv.verbose,
        externals: inv.include_externals,
    };
    let mut printer = Printer {
        out: &mut env.out,
        options: inv,
        clock: &context.clock,
        author_width: if inv.human_readable { 14 } else { 8 },
        external: None,
        external_failed: false,
    };
    let mut missing = false;
    for argument in &arguments {
        context.cancel.check()?;
        let target = argument.target(&context.clock)?;
        printer.begin_target(&target.at)?;
        let done = targets::follow(printer.out, inv, &context, target)
            .and_then(|target| list::list(&context, &target, &options, &mut printer));
        match done {
            Err(error)
                if [ErrorCode::WC_PATH_NOT_FOUND, ErrorCode::FS_NOT_FOUND]
                    .contains(&error.code()) =>
            {
                warn(printer.out, "svn", &error);
                missing = true;
            }
            result => result?,
        }
        printer.end_target()?;
    }
    let external_failed = printer.external_failed;
    if inv.xml && !inv.incremental {
        xml_parts::end(&mut env.out, "lists")?;
    }
    outcome(external_failed, missing)
}

fn outcome(external_failed: bool, missing: bool) -> Result<Exit> {
    let missing = missing.then(|| {
        Error::new(
            ErrorCode::ILLEGAL_TARGET,
            "Could not list all targets because some targets don't exist",
        )
    });
    let external = external_failed.then(|| {
        Error::new(
            ErrorCode::CL_ERROR_PROCESSING_EXTERNALS,
            "Failure occurred processing one or more externals definitions",
        )
    });
    match (external, missing) {
        (None, None) => Ok(Exit::Success),
        (Some(error), None) | (None, Some(error)) => Err(error),
        (Some(external), Some(missing)) => Err(external.attach(missing)),
    }
}

fn check_options(options: &Options) -> Result<()> {
    let message = if options.xml && options.verbose {
        "--verbose is not valid in --xml mode"
    } else if options.xml && options.human_readable {
        "--human-readable is not valid in --xml mode"
    } else if !options.xml && options.incremental {
        "--incremental is only valid in --xml mode"
    } else {
        return Ok(());
    };
    Err(Error::new(ErrorCode::CL_ARG_PARSING_ERROR, message))
}

fn patterns(options: &Options) -> Result<Vec<String>> {
    options
        .search
        .iter()
        .map(|group| match group.as_slice() {
            [pattern] => Ok(fold::fold(pattern)),
            _ => Err(Error::new(
                ErrorCode::CL_ARG_PARSING_ERROR,
                "'search-and' option is not supported",
            )),
        })
        .collect()
}

const fn fields(options: &Options) -> DirEntryFields {
    if options.xml || options.verbose {
        DirEntryFields {
            has_props: false,
            ..DirEntryFields::ALL
        }
    } else {
        DirEntryFields::KIND
    }
}

struct Printer<'a> {
    out: &'a mut Output,
    options: &'a Options,
    clock: &'a Clock,
    /// Grows with the longest author seen.
    author_width: usize,
    /// The external of the last entry.
    external: Option<External>,
    external_failed: bool,
}

impl Printer<'_> {
    fn begin_target(&mut self, at: &PathOrUrl) -> Result<()> {
        self.external = None;
        if !self.options.xml {
            return Ok(());
        }
        let path = match at {
            PathOrUrl::Url(url) => url.as_str(),
            PathOrUrl::Path(path) => path.local_style(),
        };
        self.out.print(
            Writer::new()
                .open(Style::Normal, "list", &[("path", path)])
                .take(),
        )
    }

    fn end_target(&mut self) -> Result<()> {
        if !self.options.xml {
            return Ok(());
        }
        let mut writer = Writer::new();
        if self.external.take().is_some() {
            writer.close("external");
        }
        self.out.print(writer.close("list").take())
    }

    /// Returns whether an external begins with this entry.
    fn enters_external(&mut self, item: &Item<'_>) -> bool {
        if item.external.is_none() || self.external.as_ref() == item.external {
            return false;
        }
        self.external = item.external.cloned();
        true
    }

    fn text(&mut self, item: &Item<'_>, name: &str) -> Result<()> {
        if self.enters_external(item)
            && let Some(external) = &self.external
        {
            self.out.line(format_args!(
                "Listing external '{}' defined on '{}':",
                external.target, external.parent
            ))?;
        }
        let slash = match item.entry.kind {
            NodeKind::Dir => "/",
            _ => "",
        };
        if !self.options.verbose {
            return self.out.line(format_args!("{name}{slash}"));
        }
        let author = self.author(item.entry.last_author.as_deref());
        let size = self.size(item);
        let size_width = if self.options.human_readable { 4 } else { 10 };
        let lock = if item.lock.is_some() { 'O' } else { ' ' };
        let rev = item.entry.created_rev.map_or(-1, |rev| rev.number());
        let time = self.time(item.entry.time.unwrap_or_default());
        self.out.line(format_args!(
            "{rev:>7} {author} {lock} {size:>size_width$} {time:>12} {name}{slash}"
        ))
    }

    /// Returns the author, cut and padded to the column (by bytes, as Subversion counts).
    fn author(&mut self, author: Option<&str>) -> String {
        let most = if self.options.human_readable { 22 } else { 16 };
        if let Some(author) = author {
            self.author_width = self.author_width.max(author.len().min(most));
        }
        pad_bytes(author.unwrap_or(" ? "), self.author_width)
    }

    fn size(&self, item: &Item<'_>) -> String {
        let size = item.entry.size.unwrap_or(0);
        match item.entry.kind {
            NodeKind::File if self.options.human_readable => size::human(size, Units::Short),
            NodeKind::File => size.to_string(),
            _ => String::new(),
        }
    }

    fn time(&self, time: Timestamp) -> String {
        let human = time.to_human(&self.clock.zone);
        // 2026-01-02 03:04:05 +0000 (Fri, 02 Jan 2026)
        let (year, clock) = (&human[0..4], &human[11..16]);
        let (day, month) = (&human[8..10], month(&human[5..7]));
        let age = self.clock.now.seconds() - time.seconds();
        if age.abs() < HALF_A_YEAR {
            format!("{month} {day} {clock}")
        } else {
            format!("{month} {day}  {year}")
        }
    }

    fn xml(&mut self, item: &Item<'_>, name: &str) -> Result<()> {
        let mut writer = Writer::new();
        let was_in_external = self.external.is_some();
        if self.enters_external(item)
            && let Some(external) = &self.external
        {
            if was_in_external {
                writer.close("external");
            }
            let attributes = [
                ("parent_url", external.parent.as_str()),
                ("target", external.target.as_str()),
            ];
            writer.open(Style::Normal, "external", &attributes);
        }
        let entry = item.entry;
        let kind = xml_parts::kind(entry.kind);
        writer
            .open(Style::Normal, "entry", &[("kind", kind)])
            .element("name", name);
        if entry.kind == NodeKind::File {
            writer.element("size", &entry.size.unwrap_or(0).to_string());
        }
        let author = entry.last_author.as_deref();
        xml_parts::commit(&mut writer, entry.created_rev, author, entry.time);
        if let Some(lock) = item.lock {
            xml_parts::lock(&mut writer, lock);
        }
        self.out.print(writer.close("entry").take())
    }
}

impl list::Receiver for Printer<'_> {
    fn entry(&mut self, item: &Item<'_>) -> Result<()> {
        let name = if !item.path.is_root() {
            item.path.as_str()
        } else if item.entry.kind == NodeKind::File {
            item.base.basename()
        } else if self.options.verbose {
            "."
        } else {
            return Ok(());
        };
        if self.options.xml {
            self.xml(item, name)
        } else {
            self.text(item, name)
        }
    }

    fn external_failed(&mut self, target: &str, error: &Error) {
        self.external_failed = true;
        if self.options.quiet || self.options.xml {
            return;
        }
        let headline = Error::new(
            ErrorCode::CL_ERROR_PROCESSING_EXTERNALS,
            format!("Error handling externals definition for '{target}':"),
        );
        warn(self.out, "svn", &headline);
        warn(self.out, "svn", error);
    }
}

/// Cuts text to `width` bytes (not within a character) and fills it up with spaces.
fn pad_bytes(text: &str, width: usize) -> String {
    let mut end = text.len().min(width);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut padded = text[..end].to_owned();
    padded.extend(std::iter::repeat_n(' ', width - end));
    padded
}

fn month(number: &str) -> &'static str {
    const NAMES: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    number
        .parse::<usize>()
        .ok()
        .and_then(|number| NAMES.get(number.wrapping_sub(1)))
        .unwrap_or(&"???")
}
