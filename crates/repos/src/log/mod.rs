//! The revisions that changed some paths, and what they changed.

mod changes;
mod merged;
mod ranges;
mod walk;

use std::collections::BTreeSet;

use sylvan_core::mergeinfo::Mergeinfo;
use sylvan_core::repository::{ChangedPath, LogEntry, LogOptions, LogReceiver};
use sylvan_core::{Error, ErrorCode, Props, RelPath, Result, Revnum, props};
use sylvan_fs::revprops::RevpropsReader;

use crate::{ReadAccess, Repos, RevisionAccess};
use changes::Interest;
use walk::Search;

impl Repos {
    /// Gives the revisions that changed paths to `receive`: from `start` to `end`, in that order.
    ///
    /// Where a part of a revision may not be read, the paths concerned are left out, and of the
    /// revision properties only author and date remain; where all of it may not, none.
    ///
    /// With merged revisions, those merged by a revision follow it, up to an entry without a
    /// revision; and so for what they merged. Each is sent once. What a revision changed that is
    /// not sent is not told of either, other than by Subversion, which adds it to the next.
    ///
    /// # Errors
    /// `FS_NO_SUCH_REVISION`, `FS_NOT_FOUND` if a path is not in the younger of both revisions,
    /// `AUTHZ_UNREADABLE` if it may not be read there, and what `receive` gives.
    pub fn log(
        &self,
        options: &LogOptions,
        access: ReadAccess<'_>,
        receive: &mut LogReceiver<'_>,
    ) -> Result<()> {
        let youngest = self.fs().youngest()?;
        let start = options.start.unwrap_or(youngest);
        let end = options.end.unwrap_or(youngest);
        for revision in [start, end] {
            if revision > youngest {
                let text = format!("No such revision {revision}");
                return Err(Error::new(ErrorCode::FS_NO_SUCH_REVISION, text));
            }
        }
        let mut log = Log {
            repos: self,
            options,
            access,
            receive,
            revprops: self.fs().revprops_reader(),
            target_history: Mergeinfo::default(),
            sent: None,
        };
        let is_whole = match &options.paths[..] {
            [] => true,
            [path] => path.is_root(),
            _ => false,
        };
        if is_whole && !options.include_merged_revisions {
            return log.every_revision(start, end);
        }
        let (oldest, newest) = (start.min(end), start.max(end));
        if options.include_merged_revisions {
            log.target_history = log.history_as_mergeinfo(oldest, newest)?;
        }
        let search = Search {
            paths: options.paths.clone(),
            oldest,
            youngest: newest,
            limit: usize::try_from(options.limit).unwrap_or(usize::MAX),
            ascending: start < end,
            nested: None,
        };
        log.search(search, &mut None)
    }
}

/// A log that is going on.
struct Log<'a, 'r> {
    repos: &'a Repos,
    options: &'a LogOptions,
    access: ReadAccess<'a>,
    receive: &'a mut LogReceiver<'r>,
    revprops: RevpropsReader,
    /// The history of the paths asked for, as mergeinfo: its revisions are sent for themselves.
    target_history: Mergeinfo,
    /// Merged revisions that were sent.
    sent: Option<BTreeSet<Revnum>>,
}

/// How a revision comes to be in a log.
#[derive(Clone, Copy, Debug, Default)]
struct Sending {
    /// Whether those merged by it follow.
    has_children: bool,
    /// Whether it was merged by one that was sent before.
    merged: bool,
    /// Whether a merge took it back.
    subtractive: bool,
}

impl Log<'_, '_> {
    /// The root changes in each revision, so that no history need be read.
    fn every_revision(&mut self, start: Revnum, end: Revnum) -> Result<()> {
        self.access.ensure(start.max(end), RelPath::ROOT)?;
        let limit = match self.options.limit {
            0 => usize::MAX,
            limit => usize::try_from(limit).unwrap_or(usize::MAX),
        };
        let (first, last) = (start.number(), end.number());
        let numbers: Box<dyn Iterator<Item = i64>> = if first >= last {
            Box::new((last..=first).rev())
        } else {
            Box::new(first..=last)
        };
        for number in numbers.take(limit) {
            self.send(Revnum::new(number).unwrap_or_default(), Sending::default())?;
        }
        Ok(())
    }

    /// Sends a revision, unless it was merged and is sent elsewhere.
    fn send(&mut self, revision: Revnum, sending: Sending) -> Result<()> {
        let mut interest = Interest::new(revision, sending.merged, &self.target_history);
        let mut level = RevisionAccess::Full;
        let mut changed = Vec::new();
        let wanted = self.options.discover_changed_paths;
        if revision > Revnum::ZERO && (wanted || self.access.is_limited() || interest.is_open()) {
            level = self.detect_changed(revision, &mut interest, |path, change| {
                if wanted {
                    changed.push((path, change));
                }
            })?;
        }
        if !interest.is_given() {
            return Ok(());
        }
        if sending.merged
            && let Some(sent) = &mut self.sent
            && !sent.insert(revision)
        {
            return Ok(());
        }
        let revprops = self.wanted_revprops(revision, level)?;
        (self.receive)(LogEntry {
            rev: Some(revision),
            revprops,
            changed_paths: sorted(changed),
            has_children: sending.has_children,
            subtractive_merge: sending.subtractive,
        })
    }

    fn wanted_revprops(&mut self, revision: Revnum, level: RevisionAccess) -> Result<Props> {
        let wanted = self.options.revprops.as_deref();
        if level == RevisionAccess::None || wanted.is_some_and(<[String]>::is_empty) {
            return Ok(Props::new());
        }
        let mut found = self.revprops.read(revision)?;
        found.retain(|name, _| {
            let is_open = matches!(name.as_str(), props::REVISION_AUTHOR | props::REVISION_DATE);
            (level == RevisionAccess::Full || is_open)
                && wanted.is_none_or(|names| names.contains(name))
        });
        Ok(found)
    }

    /// Returns the history of the paths that were asked for as mergeinfo.
    fn history_as_mergeinfo(&self, oldest: Revnum, youngest: Revnum) -> Result<Mergeinfo> {
        let mut combined = Mergeinfo::default();
        for path in &self.options.paths {
            let (first, last) = (Some(youngest), Some(oldest));
            let segments = self
                .repos
                .location_segments(path, first, first, last, self.access)?;
            combined.merge(&Mergeinfo::from_segments(&segments));
        }
        Ok(combined)
    }
}

/// Orders changed paths; of two changes of one path the later counts. `None` if there are none.
fn sorted(mut changed: Vec<(String, ChangedPath)>) -> Option<Vec<(String, ChangedPath)>> {
    if !changed.is_sorted_by(|a, b| a.0 < b.0) {
        changed.reverse();
        changed.sort_by(|a, b| a.0.cmp(&b.0));
        changed.dedup_by(|a, b| a.0 == b.0);
    }
    (!changed.is_empty()).then_some(changed)
}
