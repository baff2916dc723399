//! Where a node was in the course of time.

use std::cmp::Reverse;

use sylvan_core::repository::LocationSegment;
use sylvan_core::{Error, ErrorCode, RelPath, RelPathBuf, Result, Revnum};
use sylvan_fs::id::NodeRelation;

use crate::{ReadAccess, Repos};

/// Where a node was before a copy, of itself or of a folder above it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviousLocation {
    /// The revision of the copy: since then it is where it was asked for.
    pub appeared: Revnum,
    /// Where it was.
    pub path: RelPathBuf,
    /// The revision that was copied.
    pub revision: Revnum,
}

impl Repos {
    /// Returns where a node was before the youngest copy that brought it to `path`.
    ///
    /// # Errors
    /// Those of [`Root::node`](sylvan_fs::Root::node).
    pub fn previous_location(
        &self,
        path: &RelPath,
        revision: Revnum,
    ) -> Result<Option<PreviousLocation>> {
        let root = self.fs().revision_root(revision)?;
        let Some(copy) = root.closest_copy(path)? else {
            return Ok(None);
        };
        let node = self.fs().revision_root(copy.revision)?.node(&copy.path)?;
        Ok(match (node.copied_from(), path.strip_prefix(&copy.path)) {
            (Some((revision, source)), Some(below)) => Some(PreviousLocation {
                appeared: copy.revision,
                path: source.join(below),
                revision,
            }),
            _ => None,
        })
    }

    /// Returns where the node at `path` in `peg` was or is in each of `revisions`, youngest first;
    /// those are left out in which it was not.
    ///
    /// # Errors
    /// `AUTHZ_UNREADABLE`; those of [`Root::node`](sylvan_fs::Root::node).
    pub fn trace_locations(
        &self,
        path: &RelPath,
        peg: Revnum,
        revisions: &[Revnum],
        access: ReadAccess<'_>,
    ) -> Result<Vec<(Revnum, RelPathBuf)>> {
        ensure_readable(access, peg, path)?;
        let mut wanted = revisions.to_vec();
        wanted.sort_unstable_by_key(|revision| Reverse(*revision));
        wanted.dedup();
        let mut left = &wanted[..];
        // Of those younger than the peg revision only those count in which the path comes from it.
        let mut revision = peg;
        while let Some((&first, rest)) = left.split_first().filter(|(first, _)| **first > peg) {
            if self.comes_from(path, peg, first)? {
                revision = first;
                break;
            }
            left = rest;
        }
        ensure_readable(access, revision, path)?;
        let mut found = Vec::new();
        let mut path = path.to_owned();
        while !left.is_empty() {
            let Some(before) = self.previous_location(&path, revision)? else {
                break;
            };
            let here = left.partition_point(|revision| *revision >= before.appeared);
            found.extend(
                left[..here]
                    .iter()
                    .map(|revision| (*revision, path.clone())),
            );
            left = &left[left.partition_point(|revision| *revision > before.revision)..];
            (path, revision) = (before.path, before.revision);
            if !access.may_read(revision, &path)? {
                return Ok(found);
            }
        }
        // No copies any more: it was there, or nowhere.
        let root = self.fs().revision_root(revision)?;
        for &wanted in left {
            let other = self.fs().revision_root(wanted)?;
            if other.find(&path)?.is_none()
                || root.relation(&path, &other, &path)? == NodeRelation::Unrelated
            {
                break;
            }
            found.push((wanted, path.clone()));
        }
        Ok(found)
    }

    /// Tells whether `path` in a younger revision is at the same place in `peg`, by its history.
    fn comes_from(&self, path: &RelPath, peg: Revnum, younger: Revnum) -> Result<bool> {
        let mut history = self.fs().revision_root(younger)?.history(path)?;
        let mut first = None;
        while let Some(location) = history.previous(true)? {
            let first = first.get_or_insert_with(|| location.path.clone());
            if location.revision <= peg {
                return Ok(location.path == *first);
            }
        }
        Ok(false)
    }

    /// Returns the history of `path` in `peg` (or the youngest revision) in segments, from `start`
    /// (or `peg`) down to `end` (or 0), youngest first; with the gaps in which it was not.
    ///
    /// # Errors
    /// `FS_NO_SUCH_REVISION` if the revisions are not in order, `AUTHZ_UNREADABLE`; those of
    /// [`Root::node`](sylvan_fs::Root::node).
    pub fn location_segments(
        &self,
        path: &RelPath,
        peg: Option<Revnum>,
        start: Option<Revnum>,
        end: Option<Revnum>,
        access: ReadAccess<'_>,
    ) -> Result<Vec<LocationSegment>> {
        let youngest = self.fs().youngest()?;
        let peg = peg.unwrap_or(youngest);
        let start = start.unwrap_or(peg);
        let end = end.unwrap_or_default();
        for (revision, limit) in [(peg, youngest), (start, peg), (end, start)] {
            if revision > limit {
                let text = format!("No such revision {revision}");
                return Err(Error::new(ErrorCode::FS_NO_SUCH_REVISION, text));
            }
        }
        ensure_readable(access, peg, path)?;
        let mut segments = Vec::new();
        let mut push = |first: Revnum, last: Revnum, path: Option<&RelPath>| {
            if first <= start && last >= end {
                segments.push(LocationSegment {
                    start: first.max(end),
                    end: last.min(start),
                    path: path.map(RelPath::to_owned),
                });
            }
        };
        let (mut path, mut revision) = (path.to_owned(), peg);
        while revision >= end {
            let before = self.previous_location(&path, revision)?;
            let first = match &before {
                Some(before) => before.appeared,
                None => self.fs().revision_root(revision)?.origin_revision(&path)?,
            };
            if !access.may_read(revision, &path)? {
                break;
            }
            push(first, revision, Some(&path));
            let Some(before) = before else {
                break;
            };
            if let Some(last) = first.previous().filter(|last| *last > before.revision) {
                push(before.revision.next(), last, None);
            }
            (path, revision) = (before.path, before.revision);
        }
        Ok(segments)
    }
}

fn ensure_readable(access: ReadAccess<'_>, revision: Revnum, path: &RelPath) -> Result<()> {
    if access.may_read(revision, path)? {
        return Ok(());
    }
    Err(Error::new(
        ErrorCode::AUTHZ_UNREADABLE,
        "Unreadable path encountered; access denied",
    ))
}
