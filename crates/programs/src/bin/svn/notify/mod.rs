//! Prints what operations on working copies tell about their progress.

use std::collections::BTreeSet;

use sylvan_cmdline::error;
use sylvan_cmdline::print::Output;
use sylvan_core::{Dirent, Error, ErrorCode, NodeKind, Result, Revnum};
use sylvan_wc::notify::{Action, LockState, Notification, State};

use crate::PROGRAM;

/// Which operation is told about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Checkout.
    Checkout,
    /// Export.
    Export,
    /// Update, and everything else.
    Other,
}

/// Turns notifications into lines.
pub(crate) struct Notifier {
    operation: Operation,
    /// Whether nothing is printed; failures are noted all the same.
    silent: bool,
    /// Paths are printed relative to it.
    current_dir: Dirent,
    externals_open: u32,
    changed: bool,
    external_failed: bool,
    print_failed: bool,
    /// Whether a line of dots was begun, one for each text sent.
    text_sent: bool,
    conflicts: Conflicts,
    /// Whether all that is resolved is told in the same words, as `resolved` does.
    says_resolved: bool,
    /// The path of which that was told last.
    resolved_last: String,
}

/// What a run left in conflict.
#[derive(Debug, Default)]
pub(crate) struct Conflicts {
    text: BTreeSet<String>,
    props: BTreeSet<String>,
    trees: BTreeSet<String>,
    skipped: u64,
    /// How many were resolved: of texts, properties, trees.
    resolved: [u64; 3],
}

impl Notifier {
    /// Makes one that prints paths relative to `current_dir`, an absolute path.
    pub(crate) fn new(operation: Operation, silent: bool, current_dir: Dirent) -> Self {
        Self {
            operation,
            silent,
            current_dir,
            externals_open: 0,
            changed: false,
            external_failed: false,
            print_failed: false,
            text_sent: false,
            conflicts: Conflicts::default(),
            says_resolved: false,
            resolved_last: String::new(),
        }
    }

    /// Tells of all that is resolved in the same words.
    pub(crate) fn says_resolved(&mut self) {
        self.says_resolved = true;
    }

    /// Prints what one notification tells. A failure to print is reported once; the operation goes
    /// on.
    pub(crate) fn notify(&mut self, out: &mut Output, what: &Notification) {
        if what.action == Action::FailedExternal {
            self.external_failed = true;
        }
        if self.silent {
            return;
        }
        if let Err(failure) = self.print(out, what)
            && !self.print_failed
        {
            self.print_failed = true;
            error::print(out, PROGRAM.name, &failure);
        }
    }

    /// Returns the error with which an operation ends after an external failed.
    pub(crate) fn externals_result(&self) -> Result<()> {
        if self.external_failed {
            return Err(Error::new(
                ErrorCode::CL_ERROR_PROCESSING_EXTERNALS,
                "Failure occurred processing one or more externals definitions",
            ));
        }
        Ok(())
    }

    /// Prints how many conflicts there are, if there are any.
    pub(crate) fn print_conflicts(&self, out: &mut Output) -> Result<()> {
        self.conflicts.print(out)
    }

    /// Lists the paths in conflict, as they were printed.
    pub(crate) fn conflicted(&self) -> Vec<String> {
        let all = [
            &self.conflicts.text,
            &self.conflicts.props,
            &self.conflicts.trees,
        ];
        let mut paths: Vec<_> = all.into_iter().flatten().cloned().collect();
        paths.sort_by(|a, b| a.split('/').cmp(b.split('/')));
        paths.dedup();
        paths
    }

    /// Shows a path as the user would name it from here.
    pub(crate) fn local(&self, path: &Dirent) -> String {
        relative(path, &self.current_dir)
    }

    fn print(&mut self, out: &mut Output, what: &Notification) -> Result<()> {
        let path = match (&what.url, &what.prefix) {
            (Some(url), _) => url.clone(),
            (None, Some(prefix)) => relative(&what.path, prefix),
            (None, None) => self.local(&what.path),
        };
        let is_done = match what.action {
            Action::UpdateStarted
            | Action::UpdateCompleted
            | Action::UpdateExternal
            | Action::FailedExternal => {
                self.print_stage(out, what, &path)?;
                true
            }
            Action::UpdateUpdate | Action::UpdateAdd | Action::Exists | Action::TreeConflict => {
                self.print_columns(out, what, &path)?;
                false
            }
            Action::CommitText | Action::CommitFinalizing => {
                self.print_sending(out, what.action)?;
                false
            }
            Action::FailedLock | Action::FailedUnlock => {
                if let Some(error) = &what.error {
                    error::warn(out, PROGRAM.name, error);
                }
                false
            }
            _ => {
                self.print_line(out, what, &path)?;
                false
            }
        };
        if is_done {
            out.flush()
        } else {
            out.flush_soon()
        }
    }

    /// Prints beginning and end of an operation or of one of its externals.
    fn print_stage(&mut self, out: &mut Output, what: &Notification, path: &str) -> Result<()> {
        match what.action {
            Action::UpdateStarted => {
                if self.externals_open == 0 && self.operation == Operation::Other {
                    out.line(format_args!("Updating '{path}':"))?;
                }
                Ok(())
            }
            Action::UpdateExternal => {
                self.externals_open += 1;
                out.line(format_args!("\nFetching external item into '{path}':"))
            }
            Action::UpdateCompleted => {
                out.line(self.completed(what.rev))?;
                self.leave_external(out)
            }
            _ => {
                if self.externals_open == 0 {
                    let about = Error::new(
                        ErrorCode::CL_ERROR_PROCESSING_EXTERNALS,
                        format!("Error handling externals definition for '{path}':"),
                    );
                    error::warn(out, PROGRAM.name, &about);
                }
                if let Some(failure) = &what.error {
                    error::warn(out, PROGRAM.name, failure);
                }
                self.leave_external(out)
            }
        }
    }

    fn leave_external(&mut self, out: &mut Output) -> Result<()> {
        if self.externals_open > 0 {
            self.externals_open -= 1;
            out.line("")?;
        }
        Ok(())
    }

    /// Says where an operation, or one of its externals, has arrived.
    fn completed(&mut self, rev: Option<Revnum>) -> String {
        let external = self.externals_open > 0;
        let Some(rev) = rev else {
            return match (self.operation, external) {
                (Operation::Export, false) => "Export complete.",
                (Operation::Export, true) => "External export complete.",
                (Operation::Checkout, false) => "Checkout complete.",
                (Operation::Checkout, true) => "External checkout complete.",
                (Operation::Other, false) => "Update complete.",
                (Operation::Other, true) => "External update complete.",
            }
            .to_owned();
        };
        let changed = match self.operation {
            Operation::Other => std::mem::take(&mut self.changed),
            _ => false,
        };
        let words = match (self.operation, external) {
            (Operation::Export, false) => "Exported revision",
            (Operation::Export, true) => "Exported external at revision",
            (Operation::Checkout, false) => "Checked out revision",
            (Operation::Checkout, true) => "Checked out external at revision",
            (Operation::Other, false) if changed => "Updated to revision",
            (Operation::Other, true) if changed => "Updated external to revision",
            (Operation::Other, false) => "At revision",
            (Operation::Other, true) => "External at revision",
        };
        format!("{words} {rev}.")
    }

    /// Prints columns for text, properties, lock and tree, and the path.
    fn print_columns(&mut self, out: &mut Output, what: &Notification, path: &str) -> Result<()> {
        let (text, props, lock, tree) = match what.action {
            Action::TreeConflict => {
                self.conflicts.trees.insert(path.to_owned());
                (' ', ' ', ' ', 'C')
            }
            Action::UpdateAdd => {
                self.changed = true;
                (self.text_column(what, path, 'A'), ' ', ' ', ' ')
            }
            Action::Exists => {
                self.changed = true;
                let props = match self.props_column(what, path) {
                    'U' => ' ',
                    column => column,
                };
                (self.text_column(what, path, 'E'), props, ' ', ' ')
            }
            _ => {
                let text = match what.content {
                    State::Merged if what.kind == NodeKind::File => 'G',
                    State::Changed if what.kind == NodeKind::File => 'U',
                    _ => ' ',
                };
                let text = self.text_column(what, path, text);
                let props = self.props_column(what, path);
                let is_unlocked = what.lock_state == LockState::Unlocked;
                self.changed |= text != ' ' || props != ' ';
                (text, props, if is_unlocked { 'B' } else { ' ' }, ' ')
            }
        };
        if [text, props, lock, tree] == [' '; 4] {
            return Ok(());
        }
        out.line(format_args!("{text}{props}{lock}{tree} {path}"))
    }

    fn text_column(&mut self, what: &Notification, path: &str, usual: char) -> char {
        if what.content == State::Conflicted {
            self.conflicts.text.insert(path.to_owned());
            return 'C';
        }
        usual
    }

    fn props_column(&mut self, what: &Notification, path: &str) -> char {
        match what.props {
            State::Conflicted => {
                self.conflicts.props.insert(path.to_owned());
                'C'
            }
            State::Merged => 'G',
            State::Changed => 'U',
            _ => ' ',
        }
    }

    fn print_sending(&mut self, out: &mut Output, action: Action) -> Result<()> {
        if action == Action::CommitText {
            if !std::mem::replace(&mut self.text_sent, true) {
                out.print("Transmitting file data ")?;
            }
            return out.print(".");
        }
        if self.text_sent {
            out.line("done")?;
        }
        out.line("Committing transaction...")
    }

    /// Prints what needs no columns.
    fn print_line(&mut self, out: &mut Output, what: &Notification, path: &str) -> Result<()> {
        if let Some(line) = self.skipped(what, path) {
            self.conflicts.skipped += 1;
            return out.line(line);
        }
        let line = match what.action {
            Action::UpdateDelete | Action::Exclude => self.change(format!("D    {path}")),
            Action::UpdateReplace => self.change(format!("R    {path}")),
            Action::UpdateShadowedAdd => self.change(format!("   A {path}")),
            Action::UpdateShadowedUpdate => self.change(format!("   U {path}")),
            Action::UpdateShadowedDelete => self.change(format!("   D {path}")),
            Action::UpdateBrokenLock => format!("B    {path}"),
            Action::UpdateExternalRemoved => {
                let why = what.error.as_ref().and_then(Error::own_message);
                self.change(match why {
                    Some(why) => format!("Removed external '{path}': {why}"),
                    None => format!("Removed external '{path}'"),
                })
            }
            Action::LeftLocalModifications => format!("Left local modifications as '{path}'"),
            Action::Restore => format!("Restored '{path}'"),
            Action::Revert => format!("Reverted '{path}'"),
            Action::FailedRevert => {
                format!("Failed to revert '{path}' -- try updating instead.")
            }
            Action::Resolved
            | Action::ResolvedText
            | Action::ResolvedProp
            | Action::ResolvedTree
                if self.says_resolved =>
            {
                if self.resolved_last == path {
                    return Ok(());
                }
                self.resolved_last = path.to_owned();
                format!("Resolved conflicted state of '{path}'")
            }
            Action::Resolved => {
                self.conflicts.resolve(1, path);
                format!("Resolved conflicted state of '{path}'")
            }
            Action::ResolvedText => {
                self.conflicts.resolve(0, path);
                format!("Merge conflicts in '{path}' marked as resolved.")
            }
            Action::ResolvedProp => {
                self.conflicts.resolve(1, path);
                let name = what.prop_name.as_deref().unwrap_or_default();
                format!("Conflict in property '{name}' at '{path}' marked as resolved.")
            }
            Action::ResolvedTree => {
                self.conflicts.resolve(2, path);
                format!("Tree conflict at '{path}' marked as resolved.")
            }
            Action::MoveBroken => format!("Breaking move with source path '{path}'"),
            Action::Add | Action::Copy if is_binary(what) => format!("A  (bin)  {path}"),
            Action::Add => format!("A         {path}"),
            Action::PropertySet => format!("property '{}' set on '{path}'", property(what)),
            Action::PropertyDeleted => {
                format!("property '{}' deleted from '{path}'.", property(what))
            }
            Action::PropertyDeletedNonexistent => format!(
                "Attempting to delete nonexistent property '{}' on '{path}'",
                property(what)
            ),
            Action::ChangelistSet => format!("A [{}] {path}", changelist(what)),
            Action::ChangelistClear => format!("D [{}] {path}", changelist(what)),
            Action::Delete => self.change(format!("D         {path}")),
            Action::StatusExternal => {
                format!("\nPerforming status on external item at '{path}':")
            }
            Action::InfoExternal => format!("\nPerforming info on external item at '{path}':"),
            Action::CleanupExternal => {
                format!("Performing cleanup on external item at '{path}'.")
            }
            Action::StatusCompleted => match what.rev {
                Some(rev) => format!("Status against revision: {:>6}", rev.number()),
                None => return Ok(()),
            },
            Action::UpgradedPath => format!("Upgraded '{path}'"),
            Action::CommitModified => format!("Sending        {path}"),
            Action::CommitAdded | Action::CommitCopied if is_binary(what) => {
                format!("Adding  (bin)  {path}")
            }
            Action::CommitAdded | Action::CommitCopied => format!("Adding         {path}"),
            Action::CommitDeleted => format!("Deleting       {path}"),
            Action::CommitReplaced => format!("Replacing      {path}"),
            Action::Locked => {
                let owner = what.lock.as_ref().map_or("", |lock| &lock.owner);
                format!("'{path}' locked by user '{owner}'.")
            }
            Action::Unlocked => format!("'{path}' unlocked."),
            Action::RevpropSet | Action::RevpropDeleted => revprop_line(what),
            Action::UrlRedirect => format!("Redirecting to URL '{path}':"),
            Action::PathNonexistent => format!("'{path}' is not under version control"),
            _ => return Ok(()),
        };
        out.line(line)
    }

    fn change(&mut self, line: String) -> String {
        self.changed = true;
        line
    }

    fn skipped(&self, what: &Notification, path: &str) -> Option<String> {
        Some(match what.action {
            Action::Skip => match what.content {
                State::Missing => format!("Skipped missing target: '{path}'"),
                State::Obstructed => {
                    format!("Skipped '{path}' -- obstructed by unversioned node")
                }
                _ => format!("Skipped '{path}'"),
            },
            Action::UpdateSkipObstruction => {
                format!("Skipped '{path}' -- An obstructing working copy was found")
            }
            Action::UpdateSkipWorkingOnly => {
                format!("Skipped '{path}' -- Has no versioned parent")
            }
            Action::UpdateSkipAccessDenied => format!("Skipped '{path}' -- Access denied"),
            Action::SkipConflicted => format!("Skipped '{path}' -- Node remains in conflict"),
            _ => return None,
        })
    }
}

/// Shows a path relative to a folder, if it is below.
fn relative(path: &Dirent, folder: &Dirent) -> String {
    match path.strip_prefix(folder) {
        Some("") => ".".to_owned(),
        Some(below) => below.to_owned(),
        None => path.local_style().to_owned(),
    }
}

fn revprop_line(what: &Notification) -> String {
    let name = what.prop_name.as_deref().unwrap_or_default();
    let rev = what.rev.unwrap_or_default();
    if what.action == Action::RevpropSet {
        format!("property '{name}' set on repository revision {rev}")
    } else {
        format!("property '{name}' deleted from repository revision {rev}")
    }
}

fn property(what: &Notification) -> &str {
    what.prop_name.as_deref().unwrap_or_default()
}

fn changelist(what: &Notification) -> &str {
    what.changelist.as_deref().unwrap_or_default()
}

fn is_binary(what: &Notification) -> bool {
    what.mime_type
        .as_deref()
        .is_some_and(sylvan_core::props::mime_type_is_binary)
}

impl Conflicts {
    fn print(&self, out: &mut Output) -> Result<()> {
        let counts = [
            ("Text conflicts", self.text.len() as u64),
            ("Property conflicts", self.props.len() as u64),
            ("Tree conflicts", self.trees.len() as u64),
        ];
        let any_resolved = self.resolved != [0; 3];
        if counts.iter().all(|(_, count)| *count == 0) && !any_resolved && self.skipped == 0 {
            return Ok(());
        }
        out.line("Summary of conflicts:")?;
        for ((what, count), resolved) in counts.into_iter().zip(self.resolved) {
            if count == 0 && resolved == 0 {
                continue;
            }
            if any_resolved {
                let counts = format!("{count} remaining (and {resolved} already resolved)");
                out.line(format_args!("  {what}: {counts}"))?;
            } else {
                out.line(format_args!("  {what}: {count}"))?;
            }
        }
        if self.skipped > 0 {
            out.line(format_args!("  Skipped paths: {}", self.skipped))?;
        }
        Ok(())
    }

    /// Counts a conflict as resolved, if it was counted as one.
    fn resolve(&mut self, which: usize, path: &str) {
        let set = match which {
            0 => &mut self.text,
            1 => &mut self.props,
            _ => &mut self.trees,
        };
        self.resolved[which] += u64::from(set.remove(path));
    }
}

#[cfg(test)]
mod tests;
