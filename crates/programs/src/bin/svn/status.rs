//! `svn status`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use sylvan_client::Context;
use sylvan_client::status::{self, Change, Item, RepoStatus};
use sylvan_cmdline::error::warn;
use sylvan_cmdline::print::Output;
use sylvan_cmdline::xml::{Style, Writer};
use sylvan_core::opt::RevisionSpec;
use sylvan_core::{Dirent, Error, ErrorCode, RelPathBuf, Result, Revnum};
use sylvan_wc::status::{Status, StatusKind};

use crate::env::{Env, Exit};
use crate::invocation::{Invocation, Options};
use crate::{conflict_text, targets, xml_parts};

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let context = env.client(inv)?;
    let arguments = targets::read_or_current(env, inv, &context)?;
    targets::check_local(&arguments)?;
    let revision = revision(inv)?;
    if inv.xml && !inv.incremental {
        xml_parts::begin(&mut env.out, "status")?;
    } else if !inv.xml && inv.incremental {
        return Err(Error::new(
            ErrorCode::CL_ARG_PARSING_ERROR,
            "'incremental' option only valid in XML mode",
        ));
    }
    let options = status::Options {
        depth: inv.depth,
        all: inv.verbose,
        no_ignore: inv.no_ignore,
        ignore_externals: inv.ignore_externals,
        updates: inv.show_updates.then_some(revision),
        changelists: inv.changelists.clone(),
        global_ignores: status::global_ignores(&context.config),
    };
    let mut printer = Printer {
        out: &mut env.out,
        context: &context,
        options: inv,
        target: Target::default(),
        changelists: BTreeMap::new(),
        conflicts: Conflicts::default(),
    };
    for target in targets::without_pegs(&arguments)? {
        printer.target(target, &options)?;
    }
    printer.changelists()?;
    let conflicts = printer.conflicts;
    if inv.xml && !inv.incremental {
        xml_parts::end(&mut env.out, "status")?;
    }
    if !inv.quiet && !inv.xml {
        conflicts.print(&mut env.out)?;
    }
    Ok(Exit::Success)
}

/// The revision that is compared with.
fn revision(inv: &Invocation) -> Result<RevisionSpec> {
    match inv.start() {
        RevisionSpec::Unspecified => Ok(RevisionSpec::Head),
        revision if inv.show_updates => Ok(revision),
        _ => Err(Error::new(
            ErrorCode::CL_ARG_PARSING_ERROR,
            "--revision (-r) option valid only with --show-updates (-u) option",
        )),
    }
}

/// A target, as it was named and absolute.
#[derive(Clone, Debug, Default)]
struct Target {
    named: Dirent,
    abspath: Dirent,
}

/// How many nodes in conflict were printed, by kind of conflict.
#[derive(Clone, Copy, Debug, Default)]
struct Conflicts {
    text: u32,
    props: u32,
    tree: u32,
}

impl Conflicts {
    fn print(self, out: &mut Output) -> Result<()> {
        if self.text + self.props + self.tree > 0 {
            out.line("Summary of conflicts:")?;
        }
        for (name, count) in [
            ("Text", self.text),
            ("Property", self.props),
            ("Tree", self.tree),
        ] {
            if count > 0 {
                out.line(format_args!("  {name} conflicts: {count}"))?;
            }
        }
        Ok(())
    }
}

struct Printer<'a> {
    out: &'a mut Output,
    context: &'a Context,
    options: &'a Options,
    target: Target,
    /// Members of changelists, which are printed last.
    changelists: BTreeMap<String, Vec<(Target, Item)>>,
    conflicts: Conflicts,
}

impl Printer<'_> {
    fn target(&mut self, named: Dirent, options: &status::Options) -> Result<()> {
        self.context.cancel.check()?;
        self.target = Target {
            abspath: self.context.absolute(&named),
            named: named.clone(),
        };
        if self.options.xml {
            let path = [("path", named.local_style())];
            let mut writer = Writer::new();
            self.out
                .print(writer.open(Style::Normal, "target", &path).take())?;
        }
        let rev = match status::status(self.context, &named, options, self) {
            Err(error)
                if [ErrorCode::WC_NOT_WORKING_COPY, ErrorCode::WC_PATH_NOT_FOUND]
                    .contains(&error.code()) =>
            {
                if !self.options.quiet {
                    warn(self.out, "svn", &error);
                }
                None
            }
            rev => rev?,
        };
        if self.options.xml {
            let mut writer = Writer::new();
            if let Some(rev) = rev {
                let rev = [("revision", &*rev.to_string())];
                writer.open(Style::SelfClosing, "against", &rev);
            }
            self.out.print(writer.close("target").take())?;
        }
        Ok(())
    }

    /// Prints the members of changelists, each under its headline.
    fn changelists(&mut self) -> Result<()> {
        for (name, members) in std::mem::take(&mut self.changelists) {
            if self.options.xml {
                let mut writer = Writer::new();
                writer.open(Style::Normal, "changelist", &[("name", &name)]);
                self.out.print(writer.take())?;
            } else {
                self.out.line(format_args!("\n--- Changelist '{name}':"))?;
            }
            for (target, item) in members {
                self.target = target;
                self.print(&item)?;
            }
            if self.options.xml {
                self.out.print(Writer::new().close("changelist").take())?;
            }
        }
        Ok(())
    }

    fn print(&mut self, item: &Item) -> Result<()> {
        if item.status.node == StatusKind::None && item.repos.node == Change::None {
            return Ok(());
        }
        if self.options.xml {
            return self.xml(item);
        }
        if self.is_hidden(item) {
            return Ok(());
        }
        self.text(item)
    }

    /// Tells whether `--quiet` leaves a node out.
    fn is_hidden(&self, item: &Item) -> bool {
        let status = &item.status;
        if !self.options.quiet {
            return false;
        }
        if !status.versioned && !status.conflicted && status.node != StatusKind::External {
            return true;
        }
        let quiet = |kind| matches!(kind, StatusKind::Normal | StatusKind::None);
        if self.options.verbose || item.repos.node != Change::None || status.conflicted {
            return false;
        }
        status.node == StatusKind::External
            || (status.file_external
                && quiet(status.node)
                && quiet(status.props)
                && status.changelist.is_none()
                && status.lock.is_none()
                && !status.wc_locked)
    }

    fn text(&mut self, item: &Item) -> Result<()> {
        let status = &item.status;
        let tree_conflicted = status.conflicted && (status.tree_conflicted || !status.versioned);
        self.count_conflict(status, tree_conflicted);
        // Property changes of additions are not shown, of replacements they are.
        let props = match status.node {
            StatusKind::Added => StatusKind::None,
            _ => status.props,
        };
        let flag = |set: bool, letter: char| if set { letter } else { ' ' };
        let mut line = String::from_iter([
            letter(combined(status)),
            letter(props),
            flag(status.wc_locked, 'L'),
            flag(status.copied, '+'),
            if status.switched {
                'S'
            } else {
                flag(status.file_external, 'X')
            },
            self.lock_letter(item),
            flag(tree_conflicted, 'C'),
            ' ',
        ]);
        if self.options.verbose || self.options.show_updates {
            line.push(flag(item.repos.node != Change::None, '*'));
            let _ = write!(line, " {:>8} ", working_revision(status));
            if self.options.verbose {
                let rev = status.changed_rev.map(|rev| rev.to_string());
                let unknown = if status.versioned { " ? " } else { "" };
                let _ = write!(
                    line,
                    "{:>8} {:<12} ",
                    rev.as_deref().unwrap_or(unknown),
                    status.changed_author.as_deref().unwrap_or(unknown)
                );
            } else {
                line.push_str("  ");
            }
        }
        let _ = write!(line, "{}", item.path);
        self.push_moves(&mut line, item);
        if tree_conflicted && let Some(found) = &item.tree_conflict {
            let text = found
                .conflict
                .tree
                .as_ref()
                .map(|tree| conflict_text::tree(&found.conflict, tree, found.local_kind));
            let _ = write!(line, "\n      >   {}", text.unwrap_or_default());
        }
        self.out.line(line)
    }

    fn count_conflict(&mut self, status: &Status, tree_conflicted: bool) {
        if !status.conflicted {
            return;
        }
        if tree_conflicted {
            self.conflicts.tree += 1;
        } else if status.text == StatusKind::Conflicted {
            self.conflicts.text += 1;
        } else if status.props == StatusKind::Conflicted {
            self.conflicts.props += 1;
        }
    }

    fn lock_letter(&self, item: &Item) -> char {
        match (&item.status.lock, &item.repos_lock) {
            (None, _) if !self.options.show_updates => ' ',
            (Some(_), _) if !self.options.show_updates => 'K',
            (None, None) => ' ',
            (Some(_), None) => 'B',
            (None, Some(_)) => 'O',
            (Some(ours), Some(theirs)) if ours.token == theirs.token => 'K',
            (Some(_), Some(_)) => 'T',
        }
    }

    fn push_moves(&self, line: &mut String, item: &Item) {
        let shown = |path: &RelPathBuf| self.relative(&item.wc_root.join(path.as_str()));
        match (&item.status.moved_from, &item.status.moved_to) {
            (Some(from), Some(to)) if from == to => {
                let _ = write!(line, "\n        > swapped places with {}", shown(from));
            }
            (from, to) => {
                if let Some(to) = to {
                    let _ = write!(line, "\n        > moved to {}", shown(to));
                }
                if let Some(from) = from {
                    let _ = write!(line, "\n        > moved from {}", shown(from));
                }
            }
        }
    }

    /// Returns the way from the target to a path, with `..` where it is not below.
    fn relative(&self, path: &Dirent) -> String {
        if let Some(below) = path.strip_prefix(&self.target.abspath) {
            return self.target.named.join(below).to_string();
        }
        let from: Vec<_> = components(&self.target.abspath);
        let to: Vec<_> = components(path);
        let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
        let mut way = vec![".."; from.len() - shared];
        way.extend(&to[shared..]);
        way.join("/")
    }

    fn xml(&mut self, item: &Item) -> Result<()> {
        let status = &item.status;
        let mut writer = Writer::new();
        let path = [("path", item.path.local_style())];
        writer.open(Style::Normal, "entry", &path);
        self.write_wc_status(&mut writer, item);
        if let Some(rev) = status.changed_rev {
            // A date that is not known is the beginning of time.
            let date = status.changed_date.unwrap_or_default();
            let author = status.changed_author.as_deref();
            xml_parts::commit(&mut writer, Some(rev), author, Some(date));
        }
        if let Some(lock) = &status.lock {
            xml_parts::lock(&mut writer, lock);
        }
        writer.close("wc-status");
        if item.repos.node != Change::None || item.repos_lock.is_some() {
            write_repos_status(&mut writer, item);
        }
        self.out.print(writer.close("entry").take())
    }

    fn write_wc_status(&self, writer: &mut Writer, item: &Item) {
        let status = &item.status;
        let shown = |path: &RelPathBuf| self.relative(&item.wc_root.join(path.as_str()));
        let rev = status.revision.map_or(-1, Revnum::number).to_string();
        let moved_from = status.moved_from.as_ref().map(shown);
        let moved_to = status.moved_to.as_ref().map(shown);
        let props = match status.node {
            StatusKind::Deleted => StatusKind::None,
            _ => status.props,
        };
        let mut attributes = vec![
            ("props", props.as_str()),
            ("item", combined(status).as_str()),
        ];
        for (name, set) in [
            ("wc-locked", status.wc_locked),
            ("copied", status.copied),
            ("switched", status.switched),
            ("file-external", status.file_external),
            (
                "tree-conflicted",
                status.conflicted && status.tree_conflicted,
            ),
        ] {
            if set {
                attributes.push((name, "true"));
            }
        }
        if status.versioned && !status.copied {
            attributes.push(("revision", &rev));
        }
        if let Some(from) = &moved_from {
            attributes.push(("moved-from", from));
        }
        if let Some(to) = &moved_to {
            attributes.push(("moved-to", to));
        }
        writer.open(Style::Normal, "wc-status", &attributes);
    }
}

impl status::Receiver for Printer<'_> {
    fn status(&mut self, item: Item) -> Result<()> {
        match &item.status.changelist {
            None => self.print(&item),
            Some(name) => {
                let members = self.changelists.entry(name.clone()).or_default();
                members.push((self.target.clone(), item));
                Ok(())
            }
        }
    }

    fn external(&mut self, path: &Dirent) -> Result<()> {
        if self.options.xml || (self.options.quiet && !self.options.verbose) {
            return Ok(());
        }
        let shown = match path.strip_prefix(&self.context.current_dir) {
            Some(below) => Dirent::new(below),
            None => path.clone(),
        };
        self.out.line(format_args!(
            "\nPerforming status on external item at '{shown}':"
        ))
    }

    fn completed(&mut self, rev: Option<Revnum>) -> Result<()> {
        let told = !self.options.xml && (!self.options.quiet || self.options.verbose);
        match rev.filter(|_| told) {
            Some(rev) => self
                .out
                .line(format_args!("Status against revision: {rev:>6}")),
            None => Ok(()),
        }
    }
}

fn write_repos_status(writer: &mut Writer, item: &Item) {
    let RepoStatus { node, text, props } = item.repos;
    let combined = match node {
        Change::Modified => text,
        node => node,
    };
    let attributes = [("props", props.as_str()), ("item", combined.as_str())];
    writer.open(Style::Normal, "repos-status", &attributes);
    if let Some(lock) = &item.repos_lock {
        xml_parts::lock(writer, lock);
    }
    writer.close("repos-status");
}

fn components(path: &Dirent) -> Vec<&str> {
    path.as_str()
        .split('/')
        .filter(|component| !component.is_empty())
        .collect()
}

/// The revision column: nothing for what has none, a dash for additions.
fn working_revision(status: &Status) -> String {
    match status.revision {
        _ if !status.versioned => String::new(),
        Some(rev) if !status.copied => rev.to_string(),
        _ => "-".to_owned(),
    }
}

/// The first column: the node as a whole, or its text if that says more.
fn combined(status: &Status) -> StatusKind {
    match status.node {
        StatusKind::Conflicted if !status.versioned && status.conflicted => StatusKind::Missing,
        StatusKind::Conflicted | StatusKind::Modified => status.text,
        node => node,
    }
}

const fn letter(kind: StatusKind) -> char {
    match kind {
        StatusKind::None | StatusKind::Normal => ' ',
        StatusKind::Added => 'A',
        StatusKind::Missing | StatusKind::Incomplete => '!',
        StatusKind::Deleted => 'D',
        StatusKind::Replaced => 'R',
        StatusKind::Modified => 'M',
        StatusKind::Conflicted => 'C',
        StatusKind::Obstructed => '~',
        StatusKind::Ignored => 'I',
        StatusKind::External => 'X',
        StatusKind::Unversioned => '?',
    }
}
