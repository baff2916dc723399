//! The walk through the history of several paths at a time.

use std::collections::{BTreeMap, BTreeSet};

use sylvan_core::mergeinfo::{MergeinfoDiff, RangeList};
use sylvan_core::repository::LogEntry;
use sylvan_core::{ErrorCode, RelPath, RelPathBuf, Result, Revnum};
use sylvan_fs::tree::History;

use super::ranges::{self, PathRange};
use super::{Log, Sending};

/// How deep merges of merges are followed; each must be older than the one before, so that only
/// made-up mergeinfo goes deeper.
const MAX_NESTING: usize = 500;

/// What is searched for.
pub(super) struct Search {
    pub(super) paths: Vec<RelPathBuf>,
    pub(super) oldest: Revnum,
    pub(super) youngest: Revnum,
    /// Most revisions; 0 is no limit.
    pub(super) limit: usize,
    /// Whether the oldest comes first.
    pub(super) ascending: bool,
    /// If this is what a revision merged.
    pub(super) nested: Option<Nested>,
}

/// A search for what a revision merged.
#[derive(Clone, Copy)]
pub(super) struct Nested {
    depth: usize,
    subtractive: bool,
}

/// The paths and revisions that were searched already: up to one after the youngest.
pub(super) type Processed = BTreeMap<RelPathBuf, RangeList>;

/// Where the walk through the history of one path is.
struct PathHistory {
    history: History,
    /// Where it changed next, or the last it was found at.
    path: RelPathBuf,
    revision: Revnum,
    done: bool,
}

impl Log<'_, '_> {
    /// Sends the revisions that changed one of the paths.
    pub(super) fn search(
        &mut self,
        mut search: Search,
        processed: &mut Option<Processed>,
    ) -> Result<()> {
        if let Some(processed) = processed {
            reduce(&mut search, processed);
            if !search.paths.is_empty() {
                store(&search, processed);
            }
        }
        if search.paths.is_empty() {
            return Ok(());
        }
        let mut histories = self.open_histories(&search)?;
        let mut found = Vec::new();
        let mut count = 0;
        let mut current = Some(search.youngest);
        while let Some(revision) = current {
            let mut changed = false;
            for history in &mut histories {
                if !history.done && history.revision >= revision {
                    changed = true;
                    self.advance(history, &search)?;
                }
            }
            if changed {
                let merges = self.merges_of(revision, &histories)?;
                if search.ascending {
                    found.push((revision, merges));
                } else {
                    self.send_with_merges(revision, merges, &search, processed)?;
                    count += 1;
                    if count == search.limit {
                        break;
                    }
                }
            }
            let left = histories.iter().filter(|history| !history.done);
            current = left.map(|history| history.revision).max();
        }
        let limit = if search.limit == 0 {
            usize::MAX
        } else {
            search.limit
        };
        for (revision, merges) in found.into_iter().rev().take(limit) {
            self.send_with_merges(revision, merges, &search, processed)?;
        }
        Ok(())
    }

    fn send_with_merges(
        &mut self,
        revision: Revnum,
        merges: Option<MergeinfoDiff>,
        search: &Search,
        processed: &mut Option<Processed>,
    ) -> Result<()> {
        let merges = merges.filter(|merges| !merges.is_empty());
        let sending = Sending {
            has_children: merges.is_some(),
            merged: search.nested.is_some(),
            subtractive: search.nested.is_some_and(|nested| nested.subtractive),
        };
        self.send(revision, sending)?;
        let Some(merges) = merges else {
            return Ok(());
        };
        if self.sent.is_none() {
            self.sent = Some(BTreeSet::new());
            // As in Subversion, which forgets to do so in the other order.
            if !search.ascending {
                *processed = Some(Processed::new());
            }
        }
        let depth = search.nested.map_or(0, |nested| nested.depth) + 1;
        if depth <= MAX_NESTING {
            for range in ranges::by_revision(&merges).into_iter().rev() {
                self.search_merged(range, depth, processed)?;
            }
        }
        (self.receive)(LogEntry::default())
    }

    fn search_merged(
        &mut self,
        range: PathRange,
        depth: usize,
        processed: &mut Option<Processed>,
    ) -> Result<()> {
        let paths = range.sources.iter();
        let search = Search {
            // A path that cannot be is missing.
            paths: paths
                .filter_map(|source| RelPathBuf::new(source.trim_start_matches('/')).ok())
                .collect(),
            oldest: range.first,
            youngest: range.last,
            limit: 0,
            ascending: false,
            nested: Some(Nested {
                depth,
                subtractive: range.subtractive,
            }),
        };
        self.search(search, processed)
    }

    fn open_histories(&self, search: &Search) -> Result<Vec<PathHistory>> {
        let root = self.repos.fs().revision_root(search.youngest)?;
        let mut histories = Vec::with_capacity(search.paths.len());
        for path in &search.paths {
            self.access.ensure(search.youngest, path)?;
            let open = || -> Result<PathHistory> {
                let mut opened = PathHistory {
                    history: root.history(path)?,
                    path: path.clone(),
                    revision: search.youngest,
                    done: false,
                };
                self.advance(&mut opened, search)?;
                Ok(opened)
            };
            match open() {
                Ok(opened) => histories.push(opened),
                Err(error) if search.nested.is_some() && is_missing(error.code()) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(histories)
    }

    /// Goes to the next older change of a path.
    fn advance(&self, at: &mut PathHistory, search: &Search) -> Result<()> {
        let cross_copies = !self.options.strict_node_history;
        let Some(location) = at.history.previous(cross_copies)? else {
            at.done = true;
            return Ok(());
        };
        (at.path, at.revision) = (location.path, location.revision);
        at.done = at.revision < search.oldest || !self.access.may_read(at.revision, &at.path)?;
        Ok(())
    }

    fn merges_of(
        &self,
        revision: Revnum,
        histories: &[PathHistory],
    ) -> Result<Option<MergeinfoDiff>> {
        if !self.options.include_merged_revisions {
            return Ok(None);
        }
        let paths: Vec<&RelPath> = histories.iter().map(|history| &*history.path).collect();
        self.repos.merges_into(&paths, revision).map(Some)
    }
}

pub(super) fn is_missing(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::FS_NOT_FOUND | ErrorCode::FS_NOT_DIRECTORY | ErrorCode::FS_NO_SUCH_REVISION
    )
}

/// Leaves out what was searched already.
fn reduce(search: &mut Search, processed: &Processed) {
    let (mut first, mut last) = (search.oldest.number(), search.youngest.number());
    let (start, end) = (first, last + 1);
    let mut paths = std::mem::take(&mut search.paths);
    let mut at = 0;
    while at < paths.len() {
        let ranges = processed.get(&paths[at]).map_or(&[][..], |list| &list.0);
        if ranges
            .iter()
            .any(|range| range.start <= start && range.end >= end)
        {
            paths.remove(at);
            continue;
        }
        if paths.len() == 1 {
            // A part of it may have been: one at either end.
            for range in ranges {
                if range.start <= start && range.end > start {
                    first = range.end - 1;
                    break;
                }
                if range.start < end && range.end >= end {
                    last = range.start;
                    break;
                }
            }
        }
        at += 1;
    }
    search.paths = paths;
    search.oldest = Revnum::new(first).unwrap_or_default();
    search.youngest = Revnum::new(last).unwrap_or_default();
}

/// Notes that this is searched.
fn store(search: &Search, processed: &mut Processed) {
    let searched = RangeList::of(search.oldest.number(), search.youngest.number() + 1);
    for path in &search.paths {
        processed.entry(path.clone()).or_default().merge(&searched);
    }
}
