//! `svn info`.

mod item;
mod viewspec;

use std::fmt::{Display, Write as _};

use sylvan_client::Context;
use sylvan_client::info::{self, Info, WcInfo};
use sylvan_cmdline::error::warn;
use sylvan_cmdline::print::Output;
use sylvan_cmdline::xml::{Style, Writer};
use sylvan_core::opt::RevisionSpec;
use sylvan_core::path::uri_encode;
use sylvan_core::time::TimeZone;
use sylvan_core::{Depth, Dirent, Error, ErrorCode, Lock, NodeKind, Result, Timestamp};
use sylvan_wc::conflict::{Conflict, Location};
use sylvan_wc::info::ConflictInfo;

use crate::env::{Env, Exit};
use crate::invocation::{Invocation, Options};
use crate::size::{self, Units};
use crate::{conflict_text, targets, xml_parts};
use item::ItemPrinter;

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let context = env.client(inv)?;
    let arguments = targets::read_or_current(env, inv, &context)?;
    if let Some(format) = &inv.viewspec {
        viewspec::print(&mut env.out, &context, format, &arguments)?;
        return Ok(Exit::Success);
    }
    check_options(inv, arguments.len())?;
    let printer: &mut dyn Print = match (&inv.show_item, inv.xml) {
        (_, true) => &mut Xml,
        (Some(item), false) => &mut ItemPrinter::new(item, inv, is_plural(inv, arguments.len()))?,
        (None, false) => &mut Text {
            human_readable: inv.human_readable,
        },
    };
    if inv.xml && !inv.incremental {
        xml_parts::begin(&mut env.out, "info")?;
    }
    let mut missing = false;
    let mut teller = Teller {
        out: &mut env.out,
        context: &context,
        announce: !inv.quiet && !inv.xml,
        is_path: false,
        printer,
    };
    for argument in &arguments {
        context.cancel.check()?;
        let mut target = argument.target(&context.clock)?;
        if target.at.is_url() && target.peg == RevisionSpec::Unspecified {
            target.peg = RevisionSpec::Head;
        }
        teller.is_path = !target.at.is_url();
        let options = info::Options {
            revision: inv.start(),
            depth: inv.depth.unwrap_or(Depth::Empty),
            externals: inv.include_externals,
            changelists: inv.changelists.clone(),
        };
        let done = targets::follow(teller.out, inv, &context, target)
            .and_then(|target| info::info(&context, &target, &options, &mut teller));
        match done {
            Err(error)
                if [ErrorCode::WC_PATH_NOT_FOUND, ErrorCode::RA_ILLEGAL_URL]
                    .contains(&error.code()) =>
            {
                warn(teller.out, "svn", &error);
                teller.out.error("\n");
                missing = true;
            }
            result => result?,
        }
    }
    teller.printer.end(teller.out)?;
    if inv.xml && !inv.incremental {
        xml_parts::end(&mut env.out, "info")?;
    }
    if missing {
        return Err(Error::new(
            ErrorCode::ILLEGAL_TARGET,
            "Could not display info for all targets because some targets don't exist",
        ));
    }
    Ok(Exit::Success)
}

/// Tells whether values may be shown of more than one node.
fn is_plural(options: &Options, targets: usize) -> bool {
    targets > 1 || options.depth.is_some_and(|depth| depth > Depth::Empty)
}

fn check_options(options: &Options, targets: usize) -> Result<()> {
    let has_item = options.show_item.is_some();
    let message = if options.xml {
        if has_item {
            "--show-item is not valid in --xml mode"
        } else if options.no_newline {
            "--no-newline is not valid in --xml mode"
        } else if options.human_readable {
            "--human-readable is not valid in --xml mode"
        } else {
            return Ok(());
        }
    } else if options.incremental {
        "--incremental is only valid in --xml mode"
    } else if has_item && options.no_newline && is_plural(options, targets) {
        "--no-newline is only available for single-target, non-recursive info operations"
    } else if !has_item && options.no_newline {
        "--no-newline' is only valid with --show-item"
    } else {
        return Ok(());
    };
    Err(Error::new(ErrorCode::CL_ARG_PARSING_ERROR, message))
}

/// One way to print what is known of nodes.
trait Print {
    /// Prints what is known of a node.
    fn info(&mut self, out: &mut Output, at: &Place<'_>, info: &Info) -> Result<()>;

    /// Ends the output.
    fn end(&mut self, _out: &mut Output) -> Result<()> {
        Ok(())
    }
}

/// Where a node is, for printing.
struct Place<'a> {
    /// The path as it was told.
    path: &'a str,
    /// Whether the target is a local path.
    is_path: bool,
    context: &'a Context,
}

impl Place<'_> {
    fn zone(&self) -> &TimeZone {
        &self.context.clock.zone
    }

    /// Returns the path, below the current directory if it is there.
    fn shown(&self) -> String {
        self.relative(&Dirent::new(self.path))
    }

    fn relative(&self, path: &Dirent) -> String {
        match path.strip_prefix(&self.context.current_dir) {
            Some(below) => Dirent::new(below).to_string(),
            None => path.to_string(),
        }
    }
}

struct Teller<'a> {
    out: &'a mut Output,
    context: &'a Context,
    /// Whether externals are announced.
    announce: bool,
    is_path: bool,
    printer: &'a mut dyn Print,
}

impl info::Receiver for Teller<'_> {
    fn info(&mut self, path: &str, info: &Info) -> Result<()> {
        let place = Place {
            path,
            is_path: self.is_path,
            context: self.context,
        };
        self.printer.info(self.out, &place, info)
    }

    fn external(&mut self, path: &Dirent) -> Result<()> {
        if !self.announce {
            return Ok(());
        }
        let place = Place {
            path: path.as_str(),
            is_path: true,
            context: self.context,
        };
        self.out.line(format_args!(
            "\nPerforming info on external item at '{}':",
            place.shown()
        ))
    }
}

/// Returns the URL below the repository root, `^/…`.
fn relative_url(info: &Info) -> Option<String> {
    let (url, root) = info.url.as_ref().zip(info.repos_root.as_ref())?;
    let below = url.strip_prefix(root)?;
    Some(format!("^/{}", uri_encode(below.as_str())))
}

/// Prints a block of lines a node.
struct Text {
    human_readable: bool,
}

/// The lines of one node.
#[derive(Default)]
struct Lines(String);

impl Lines {
    fn add(&mut self, name: &str, value: impl Display) {
        let _ = writeln!(self.0, "{name}: {value}");
    }

    fn add_some(&mut self, name: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.add(name, value);
        }
    }
}

impl Print for Text {
    fn info(&mut self, out: &mut Output, at: &Place<'_>, info: &Info) -> Result<()> {
        let mut lines = Lines::default();
        lines.add("Path", at.shown());
        if info.kind != NodeKind::Dir {
            let name = at.path.rsplit('/').next().unwrap_or_default();
            lines.add("Name", name);
        }
        let root = info.wc.as_ref().and_then(|wc| wc.root.as_ref());
        lines.add_some("Working Copy Root Path", root);
        lines.add_some("URL", info.url.as_ref());
        lines.add_some("Relative URL", relative_url(info));
        lines.add_some("Repository Root", info.repos_root.as_ref());
        lines.add_some("Repository UUID", info.repos_uuid.as_ref());
        lines.add_some("Revision", info.rev);
        let kind = match info.kind {
            NodeKind::Dir => "directory",
            kind => kind.as_str(),
        };
        lines.add("Node Kind", kind);
        if let Some(size) = info.size.filter(|_| info.kind == NodeKind::File) {
            lines.add("Size in Repository", show_size(size, self.human_readable));
        }
        if let Some(wc) = &info.wc {
            add_schedule(&mut lines, at, wc);
        }
        lines.add_some("Last Changed Author", info.changed_author.as_ref());
        lines.add_some("Last Changed Rev", info.changed_rev);
        let human = |time: Timestamp| time.to_human(at.zone());
        lines.add_some("Last Changed Date", info.changed_date.map(human));
        if let Some(wc) = &info.wc {
            lines.add_some("Text Last Updated", wc.recorded_time.map(human));
            lines.add_some("Checksum", wc.checksum);
            if let Some(conflict) = &wc.conflict {
                add_conflict(&mut lines, at, info, conflict);
            }
        }
        if let Some(lock) = &info.lock {
            add_lock(&mut lines, at, lock);
        }
        let changelist = info.wc.as_ref().and_then(|wc| wc.changelist.as_ref());
        lines.add_some("Changelist", changelist);
        out.line(lines.0)
    }
}

fn show_size(size: u64, human_readable: bool) -> String {
    if human_readable {
        size::human(size, Units::Long)
    } else {
        size.to_string()
    }
}

fn add_schedule(lines: &mut Lines, at: &Place<'_>, wc: &WcInfo) {
    lines.add("Schedule", wc.schedule.as_str());
    let depth = wc.depth.filter(|depth| *depth != Depth::Infinity);
    lines.add_some("Depth", depth);
    if let Some((url, rev)) = &wc.copied_from {
        lines.add("Copied From URL", url);
        lines.add("Copied From Rev", rev);
    }
    let relative = |path| at.relative(path);
    lines.add_some("Moved From", wc.moved_from.as_ref().map(relative));
    lines.add_some("Moved To", wc.moved_to.as_ref().map(relative));
}

fn add_conflict(lines: &mut Lines, at: &Place<'_>, info: &Info, found: &ConflictInfo) {
    let conflict = &found.conflict;
    let root = info.wc.as_ref().and_then(|wc| wc.root.as_ref());
    if let Some(text) = &conflict.text {
        for (name, path) in [
            ("Conflict Previous Base File", &text.old),
            ("Conflict Previous Working File", &text.mine),
            ("Conflict Current Base File", &text.theirs),
        ] {
            if let Some((path, root)) = path.as_ref().zip(root) {
                lines.add(name, at.relative(&root.join(path.as_str())));
            }
        }
    }
    if let Some(tree) = &conflict.tree {
        let text = conflict_text::tree(conflict, tree, found.local_kind);
        lines.add("Tree conflict", text);
    }
    if let Some(props) = &conflict.props {
        lines.add("Conflicted Properties", props.names.join(" "));
    }
    if conflict.tree.is_none() {
        lines.add("Conflict Details", conflict_text::edit(conflict, info.kind));
    }
    let location = |location: &Option<Location>| {
        conflict_text::location(location.as_ref(), info.repos_root.as_ref())
    };
    lines.add("  Source  left", location(&conflict.left));
    lines.add("  Source right", location(&conflict.right));
}

fn add_lock(lines: &mut Lines, at: &Place<'_>, lock: &Lock) {
    lines.add("Lock Token", &lock.token);
    lines.add("Lock Owner", &lock.owner);
    lines.add("Lock Created", lock.created.to_human(at.zone()));
    let expires = lock.expires.map(|time| time.to_human(at.zone()));
    lines.add_some("Lock Expires", expires);
    if let Some(comment) = &lock.comment {
        let count = crate::log::count_lines(comment);
        let s = if count == 1 { "" } else { "s" };
        let _ = writeln!(lines.0, "Lock Comment ({count} line{s}):\n{comment}");
    }
}

/// Prints an XML element a node.
struct Xml;

impl Print for Xml {
    fn info(&mut self, out: &mut Output, at: &Place<'_>, info: &Info) -> Result<()> {
        let mut writer = Writer::new();
        let path = at.shown();
        let rev = match info.rev {
            Some(rev) => rev.to_string(),
            None => "Resource is not under version control.".to_owned(),
        };
        let size = info.size.filter(|_| info.kind == NodeKind::File);
        let size = size.map(|size| size.to_string());
        let mut attributes = vec![
            ("path", path.as_str()),
            ("kind", xml_parts::kind(info.kind)),
            ("revision", &rev),
        ];
        if let Some(size) = &size {
            attributes.push(("size", size));
        }
        writer.open(Style::Normal, "entry", &attributes);
        write_repository(&mut writer, info);
        if let Some(wc) = &info.wc {
            write_wc(&mut writer, info, wc);
        }
        let author = info.changed_author.as_deref();
        if author.is_some() || info.changed_rev.is_some() || info.changed_date.is_some() {
            // A date that is not known is the beginning of time.
            let date = info.changed_date.unwrap_or_default();
            xml_parts::commit(&mut writer, info.changed_rev, author, Some(date));
        }
        if let Some(wc) = &info.wc
            && let Some(found) = &wc.conflict
        {
            // Subversion writes all of it once for each conflict.
            for _ in 0..count_conflicts(&found.conflict) {
                write_conflict(&mut writer, at, wc, found);
            }
        }
        if let Some(lock) = &info.lock {
            xml_parts::lock(&mut writer, lock);
        }
        out.print(writer.close("entry").take())
    }
}

fn write_repository(writer: &mut Writer, info: &Info) {
    writer.optional("url", info.url.as_ref().map(|url| url.as_str()));
    writer.optional("relative-url", relative_url(info).as_deref());
    if info.repos_root.is_some() || info.repos_uuid.is_some() {
        writer
            .open(Style::Normal, "repository", &[])
            .optional("root", info.repos_root.as_ref().map(|root| root.as_str()))
            .optional("uuid", info.repos_uuid.as_deref())
            .close("repository");
    }
}

fn write_wc(writer: &mut Writer, info: &Info, wc: &WcInfo) {
    writer.open(Style::Normal, "wc-info", &[]);
    writer.optional("wcroot-abspath", wc.root.as_ref().map(Dirent::as_str));
    writer.element("schedule", wc.schedule.as_str());
    let depth = match (wc.depth, info.kind) {
        (None, NodeKind::File) => "infinity",
        (None, _) => "unknown",
        (Some(depth), _) => depth.as_str(),
    };
    writer.element("depth", depth);
    if let Some((url, rev)) = &wc.copied_from {
        writer.element("copy-from-url", url.as_str());
        writer.element("copy-from-rev", &rev.to_string());
    }
    let updated = wc.recorded_time.map(Timestamp::to_iso);
    writer.optional("text-updated", updated.as_deref());
    let checksum = wc.checksum.map(|checksum| checksum.to_string());
    writer.optional("checksum", checksum.as_deref());
    writer.optional("changelist", wc.changelist.as_deref());
    for (tag, path) in [("moved-from", &wc.moved_from), ("moved-to", &wc.moved_to)] {
        if let Some(path) = path {
            let below = wc.root.as_ref().and_then(|root| path.strip_prefix(root));
            let below = below.filter(|below| !below.is_empty());
            writer.element(tag, below.unwrap_or(path.as_str()));
        }
    }
    writer.close("wc-info");
}

fn count_conflicts(conflict: &Conflict) -> usize {
    let props = conflict
        .props
        .as_ref()
        .map_or(0, |props| props.names.len().max(1));
    props + usize::from(conflict.text.is_some()) + usize::from(conflict.tree.is_some())
}

fn write_conflict(writer: &mut Writer, at: &Place<'_>, wc: &WcInfo, found: &ConflictInfo) {
    let conflict = &found.conflict;
    let operation = ("operation", conflict.operation.as_str());
    if let Some(tree) = &conflict.tree {
        let attributes = [
            ("victim", at.path.rsplit('/').next().unwrap_or_default()),
            ("kind", xml_parts::kind(found.local_kind)),
            operation,
            ("action", conflict_text::action_word(tree.action)),
            ("reason", conflict_text::reason_word(tree.reason)),
        ];
        writer.open(Style::Normal, "tree-conflict", &attributes);
        write_versions(writer, conflict);
        writer.close("tree-conflict");
        return;
    }
    let absolute = |path: Option<&sylvan_core::RelPathBuf>| {
        let (path, root) = path.zip(wc.root.as_ref())?;
        Some(root.join(path.as_str()).to_string())
    };
    if let Some(text) = &conflict.text {
        writer.open(Style::Normal, "conflict", &[operation, ("type", "text")]);
        write_versions(writer, conflict);
        writer.optional("prev-base-file", absolute(text.old.as_ref()).as_deref());
        writer.optional("prev-wc-file", absolute(text.mine.as_ref()).as_deref());
        writer.optional("cur-base-file", absolute(text.theirs.as_ref()).as_deref());
        writer.close("conflict");
    }
    if let Some(props) = &conflict.props {
        writer.open(
            Style::Normal,
            "conflict",
            &[operation, ("type", "property")],
        );
        write_versions(writer, conflict);
        // Subversion mixes the two up.
        let file = match &conflict.text {
            Some(text) => text.theirs.as_ref(),
            None => props.marker.as_ref(),
        };
        writer.optional("prop-file", absolute(file).as_deref());
        writer.close("conflict");
    }
}

fn write_versions(writer: &mut Writer, conflict: &Conflict) {
    for (side, location) in [
        ("source-left", &conflict.left),
        ("source-right", &conflict.right),
    ] {
        let Some(location) = location else { continue };
        let rev = location.revision.map(|rev| rev.to_string());
        let mut attributes = vec![
            ("side", side),
            ("repos-url", location.repos_root.as_str()),
            ("path-in-repos", location.path.as_str()),
        ];
        if let Some(rev) = &rev {
            attributes.push(("revision", rev));
        }
        if location.kind != NodeKind::Unknown {
            attributes.push(("kind", location.kind.as_str()));
        }
        writer.open(Style::SelfClosing, "version", &attributes);
    }
}
