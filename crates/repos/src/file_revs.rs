//! The revisions in which a file changed, for blame.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::ops::ControlFlow;

use sylvan_core::mergeinfo::{Mergeinfo, MergeinfoDiff};
use sylvan_core::{Error, ErrorCode, NodeKind, Props, RelPath, Result, Revnum};
use sylvan_fs::Node;
use sylvan_fs::revprops::RevpropsReader;
use sylvan_fs::tree::{Location, MergeinfoInheritance, Strictness};

use crate::history::HistoryReceiver;
use crate::mergeinfo::{Inherited, mergeinfo_for};
use crate::{ReadAccess, Repos};

/// What is asked of a file's revisions.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileRevsOptions {
    /// The first revision wanted, and the one before it in which the file changed; `None` is the
    /// youngest.
    pub start: Option<Revnum>,
    /// The last; `None` is the youngest. If it is older than `start`, the younger come first.
    pub end: Option<Revnum>,
    /// Whether merged revisions come too.
    pub include_merged_revisions: bool,
}

/// A file as it was in one revision, and what changed since the revision sent before.
#[derive(Debug)]
pub struct FileRev<'a> {
    /// The path.
    pub path: &'a RelPath,
    /// The revision.
    pub revision: Revnum,
    /// The revision's properties.
    pub revprops: &'a Props,
    /// Whether the revision came by a merge.
    pub merged: bool,
    /// Properties that are other than in the revision sent before; `None` where they are gone.
    pub prop_changes: &'a [(String, Option<Vec<u8>>)],
    /// Whether a text delta belongs to it: the content differs, or it is the first.
    pub text_changed: bool,
    /// The file.
    pub node: &'a Node,
    /// The file as it was sent before; the delta is from its content, or from nothing.
    pub previous: Option<&'a Node>,
}

/// Receives the revisions of a file.
pub type FileRevReceiver<'a> = dyn FnMut(FileRev<'_>) -> Result<()> + 'a;

impl Repos {
    /// Gives the revisions in which a file changed to `receive`, oldest first unless they are asked
    /// for in reverse.
    ///
    /// # Errors
    /// `FS_NOT_FILE` if it is no file in the youngest of them, `UNSUPPORTED_FEATURE` for merged
    /// revisions in reverse, and what `receive` gives.
    pub fn file_revs(
        &self,
        path: &RelPath,
        options: FileRevsOptions,
        access: ReadAccess<'_>,
        receive: &mut FileRevReceiver<'_>,
    ) -> Result<()> {
        let youngest = self.fs().youngest()?;
        let start = options.start.unwrap_or(youngest);
        let end = options.end.unwrap_or(youngest);
        let merged = options.include_merged_revisions;
        let mut sender = Sender {
            repos: self,
            revprops: self.fs().revprops_reader(),
            always_at_new_path: merged,
            last: None,
            receive,
        };
        if end < start {
            if merged {
                return Err(Error::from_code(ErrorCode::UNSUPPORTED_FEATURE));
            }
            // They come as they are found.
            return self.each_revision(path, (end, start), access, &mut |location| {
                sender.send(&location.path, location.revision, false)?;
                Ok(ControlFlow::Continue(()))
            });
        }
        let mut collector = Collector {
            repos: self,
            access,
            merged,
            seen: HashSet::new(),
        };
        let mut mainline = collector.collect(path, (start, end))?;
        let mut others = if merged {
            collector.collect_merged(&mainline, start)?
        } else {
            Vec::new()
        };
        loop {
            let next = match (mainline.last(), others.last()) {
                (Some(ours), Some(other)) if ours.at.revision > other.at.revision => others.pop(),
                (None, _) => others.pop(),
                _ => mainline.pop(),
            };
            let Some(next) = next else {
                return Ok(());
            };
            sender.send(&next.at.path, next.at.revision, next.merged)?;
        }
    }

    /// Gives the places at which a file changed to `receive`, youngest first, down to one that is
    /// not younger than the first of two revisions.
    fn each_revision(
        &self,
        path: &RelPath,
        (start, end): (Revnum, Revnum),
        access: ReadAccess<'_>,
        receive: &mut HistoryReceiver<'_>,
    ) -> Result<()> {
        let root = self.fs().revision_root(end)?;
        if root.kind(path)? != NodeKind::File {
            let text = format!("'/{path}' is not a file in revision {end}");
            return Err(Error::new(ErrorCode::FS_NOT_FILE, text));
        }
        let mut history = root.history(path)?;
        while let Some(location) = history.previous(true)? {
            if !access.may_read(location.revision, &location.path)?
                || receive(&location)?.is_break()
                || location.revision <= start
            {
                break;
            }
        }
        Ok(())
    }

    /// Returns what a revision merged into a file or took back from it.
    fn merged_into(&self, at: &Location) -> Result<Option<Mergeinfo>> {
        let mut may_have_changed = false;
        self.fs().changes(at.revision, |change| {
            may_have_changed |= change.prop_mod
                && change.mergeinfo_mod != Some(false)
                && at.path.starts_with(&change.path);
            Ok(())
        })?;
        let Some(before) = at.revision.previous().filter(|_| may_have_changed) else {
            return Ok(None);
        };
        let mergeinfo_at = |revision: Revnum| {
            let root = self.fs().revision_root(revision)?;
            let inherited = MergeinfoInheritance::Inherited;
            mergeinfo_for(&root, &at.path, inherited, Inherited::Adjusted)
        };
        let current = mergeinfo_at(at.revision)?.unwrap_or_default();
        let previous = match mergeinfo_at(before) {
            Ok(mergeinfo) => mergeinfo.unwrap_or_default(),
            // It was not there, so nothing was merged into it.
            Err(error) if is_missing(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        let MergeinfoDiff { mut added, deleted } = previous.diff(&current);
        added.merge(&deleted);
        Ok((!added.is_empty()).then_some(added))
    }
}

fn is_missing(error: &Error) -> bool {
    matches!(
        error.code(),
        ErrorCode::FS_NOT_FOUND | ErrorCode::FS_NOT_DIRECTORY
    )
}

/// A revision that is to be sent.
struct PathRevision {
    at: Location,
    /// What it merged.
    merges: Option<Mergeinfo>,
    /// Whether it came by a merge.
    merged: bool,
}

/// Finds the revisions to be sent.
struct Collector<'a> {
    repos: &'a Repos,
    access: ReadAccess<'a>,
    /// Whether merged revisions are wanted.
    merged: bool,
    seen: HashSet<Location>,
}

impl Collector<'_> {
    /// Returns the revisions of a file, youngest first, down to one that was found before.
    fn collect(&mut self, path: &RelPath, range: (Revnum, Revnum)) -> Result<Vec<PathRevision>> {
        let mut found = Vec::new();
        let (repos, access) = (self.repos, self.access);
        repos.each_revision(path, range, access, &mut |location| {
            let mut merges = None;
            if self.merged {
                if !self.seen.insert(location.clone()) {
                    return Ok(ControlFlow::Break(()));
                }
                merges = repos.merged_into(location)?;
            }
            found.push(PathRevision {
                at: location.clone(),
                merges,
                merged: false,
            });
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(found)
    }

    /// Returns what was merged by revisions and again by those, youngest first.
    fn collect_merged(
        &mut self,
        mainline: &[PathRevision],
        start: Revnum,
    ) -> Result<Vec<PathRevision>> {
        let mut all = self.merged_by(mainline, start)?;
        let mut done = 0;
        while done < all.len() {
            let more = self.merged_by(&all[done..], start)?;
            done = all.len();
            all.extend(more);
        }
        all.sort_by_key(|revision| Reverse(revision.at.revision));
        Ok(all)
    }

    fn merged_by(
        &mut self,
        revisions: &[PathRevision],
        start: Revnum,
    ) -> Result<Vec<PathRevision>> {
        let mut found = Vec::new();
        let merges = revisions.iter().filter_map(|found| found.merges.as_ref());
        for (source, ranges) in merges.flat_map(|mergeinfo| &mergeinfo.0) {
            let Ok(source) = RelPath::new(source.trim_start_matches('/')) else {
                continue;
            };
            for range in &ranges.0 {
                let (Some(first), Some(last)) = (Revnum::new(range.start), Revnum::new(range.end))
                else {
                    continue;
                };
                let fs = self.repos.fs();
                if last < start || fs.revision_root(last)?.kind(source)? != NodeKind::File {
                    continue;
                }
                found.extend(self.collect(source, (first, last))?);
            }
        }
        for revision in &mut found {
            revision.merged = true;
        }
        Ok(found)
    }
}

/// Sends revisions and remembers the last one.
struct Sender<'a, 'r> {
    repos: &'a Repos,
    revprops: RevpropsReader,
    /// Whether a text delta is sent whenever the path is another: clients that ask for merged
    /// revisions expect it.
    always_at_new_path: bool,
    last: Option<Node>,
    receive: &'a mut FileRevReceiver<'r>,
}

impl Sender<'_, '_> {
    fn send(&mut self, path: &RelPath, revision: Revnum, merged: bool) -> Result<()> {
        let revprops = self.revprops.read(revision)?;
        let node = self.repos.fs().revision_root(revision)?.node(path)?;
        let last = self.last.as_ref();
        let prop_changes = match last {
            Some(last) if !node.props_differ(last, Strictness::Quick)? => Vec::new(),
            Some(last) => prop_changes(&*last.props()?, &*node.props()?),
            None => prop_changes(&Props::new(), &*node.props()?),
        };
        let text_changed = match last {
            None => true,
            Some(last) if self.always_at_new_path && last.path() != path => true,
            Some(last) => node.contents_differ(last, Strictness::Strict)?,
        };
        (self.receive)(FileRev {
            path,
            revision,
            revprops: &revprops,
            merged,
            prop_changes: &prop_changes,
            text_changed,
            node: &node,
            previous: last,
        })?;
        self.last = Some(node);
        Ok(())
    }
}

/// Lists what is gone, then what is new or other.
fn prop_changes(before: &Props, after: &Props) -> Vec<(String, Option<Vec<u8>>)> {
    let gone = before.keys().filter(|name| !after.contains_key(*name));
    let set = after
        .iter()
        .filter(|(name, value)| before.get(*name) != Some(value));
    gone.map(|name| (name.clone(), None))
        .chain(set.map(|(name, value)| (name.clone(), Some(value.clone()))))
        .collect()
}
