//! What a revision merged into some paths.

use std::collections::BTreeMap;

use sylvan_core::mergeinfo::{Mergeinfo, MergeinfoDiff};
use sylvan_core::{ErrorCode, RelPath, RelPathBuf, Result, Revnum, props};
use sylvan_fs::Root;
use sylvan_fs::change::{Change, ChangeKind};
use sylvan_fs::tree::{Location, MergeinfoInheritance};

use crate::Repos;
use crate::mergeinfo::{Inherited, mergeinfo_for};

/// How the mergeinfo of paths changed in a revision.
type Catalog = BTreeMap<RelPathBuf, MergeinfoDiff>;

impl Repos {
    /// Returns how a revision changed the mergeinfo of paths, of what is below them, and what they
    /// inherit. Mergeinfo that cannot be read counts as unchanged.
    pub(super) fn merges_into(
        &self,
        paths: &[&RelPath],
        revision: Revnum,
    ) -> Result<MergeinfoDiff> {
        let mut combined = MergeinfoDiff::default();
        if revision == Revnum::ZERO || paths.is_empty() {
            return Ok(combined);
        }
        let catalog = match self.mergeinfo_changed(revision) {
            Ok(catalog) => catalog,
            Err(error) if error.code() == ErrorCode::MERGEINFO_PARSE_ERROR => return Ok(combined),
            Err(error) => return Err(error),
        };
        if catalog.is_empty() {
            return Ok(combined);
        }
        let root = self.fs().revision_root(revision)?;
        for path in paths {
            if !catalog.contains_key(*path)
                && let Some(diff) = self.inherited_change(&root, path)?
            {
                combined.merge(&diff);
            }
        }
        for (changed, diff) in &catalog {
            if paths.iter().any(|path| changed.starts_with(path)) {
                combined.merge(diff);
            }
        }
        Ok(combined)
    }

    /// Returns how the mergeinfo that a path inherits changed.
    fn inherited_change(&self, root: &Root, path: &RelPath) -> Result<Option<MergeinfoDiff>> {
        let Some(before) = ok_unless_missing(self.base_of(path, root.revision()))? else {
            return Ok(None);
        };
        let then = self.fs().revision_root(before.revision)?;
        let adjusted = |root: &Root, path: &RelPath| {
            mergeinfo_for(
                root,
                path,
                MergeinfoInheritance::Inherited,
                Inherited::Adjusted,
            )
        };
        let of_parent = |root: &Root, path: &RelPath| {
            let nearest = MergeinfoInheritance::NearestAncestor;
            mergeinfo_for(root, path, nearest, Inherited::Raw)
        };
        let Some(previous) = ok_unless_missing(adjusted(&then, &before.path))? else {
            return Ok(None);
        };
        // A copy to a place with the same mergeinfo above it is no merge.
        let previous_above = of_parent(&then, &before.path)?;
        let current = adjusted(root, path)?;
        let above = of_parent(root, path)?;
        if previous.is_none() && current.is_none() {
            return Ok(None);
        }
        let is_merge = match (&previous_above, &above) {
            (Some(previous), Some(current)) => !previous.is_same(current),
            (previous, _) => previous.is_some(),
        };
        Ok(is_merge.then(|| diff(previous.as_ref(), current.as_ref())))
    }

    /// Returns what a path was made of in a revision, or where it was before.
    fn base_of(&self, path: &RelPath, revision: Revnum) -> Result<Location> {
        let before = self.previous_location(path, revision)?;
        Ok(match before.filter(|before| before.appeared == revision) {
            Some(before) => Location {
                path: before.path,
                revision: before.revision,
            },
            None => Location {
                path: path.to_owned(),
                revision: revision.previous().unwrap_or_default(),
            },
        })
    }

    /// Returns how a revision changed mergeinfo, by path.
    fn mergeinfo_changed(&self, revision: Revnum) -> Result<Catalog> {
        let mut candidates = Vec::new();
        let mut any_copy = false;
        self.fs().changes(revision, |change| {
            any_copy |= matches!(change.kind, ChangeKind::Add | ChangeKind::Replace);
            if change.prop_mod && change.mergeinfo_mod != Some(false) {
                candidates.push(change);
            }
            Ok(())
        })?;
        let mut catalog = Catalog::new();
        if candidates.is_empty() {
            return Ok(catalog);
        }
        let root = self.fs().revision_root(revision)?;
        for change in candidates {
            let base = match change.kind {
                ChangeKind::Modify if any_copy => Some(self.base_of(&change.path, revision)?),
                ChangeKind::Modify => Some(Location {
                    path: change.path.clone(),
                    revision: revision.previous().unwrap_or_default(),
                }),
                ChangeKind::Add | ChangeKind::Replace => {
                    change.copyfrom().map(|(revision, path)| Location {
                        path: path.to_owned(),
                        revision,
                    })
                }
                ChangeKind::Delete | ChangeKind::Reset => continue,
            };
            if let Some(diff) = self.explicit_change(&root, &change, base)? {
                catalog.insert(change.path, diff);
            }
        }
        Ok(catalog)
    }

    /// Returns how the mergeinfo that a path has itself changed; where it came or went, against what
    /// it inherits.
    fn explicit_change(
        &self,
        root: &Root,
        change: &Change,
        base: Option<Location>,
    ) -> Result<Option<MergeinfoDiff>> {
        let explicit = |root: &Root, path: &RelPath| -> Result<Option<Vec<u8>>> {
            let props = root.node(path)?.props()?;
            Ok(props.get(props::SVN_MERGEINFO).cloned())
        };
        let inherited = |root: &Root, path: &RelPath| {
            mergeinfo_for(
                root,
                path,
                MergeinfoInheritance::Inherited,
                Inherited::Adjusted,
            )
        };
        let base = match base {
            Some(base) => Some((self.fs().revision_root(base.revision)?, base.path)),
            None => None,
        };
        let before = match &base {
            Some((root, path)) => explicit(root, path)?,
            None => None,
        };
        let after = explicit(root, &change.path)?;
        if before == after {
            return Ok(None);
        }
        let parse = |value: &Option<Vec<u8>>| {
            let value = value.as_deref();
            value.map(Mergeinfo::parse).transpose()
        };
        let current = match (&before, &after) {
            (Some(_), None) => inherited(root, &change.path)?,
            _ => parse(&after)?,
        };
        let previous = match (&base, &before) {
            (Some((root, path)), None) => inherited(root, path)?,
            _ => parse(&before)?,
        };
        Ok(Some(diff(previous.as_ref(), current.as_ref())))
    }
}

fn diff(previous: Option<&Mergeinfo>, current: Option<&Mergeinfo>) -> MergeinfoDiff {
    let none = Mergeinfo::default();
    previous.unwrap_or(&none).diff(current.unwrap_or(&none))
}

/// Turns the error that something is not there into `None`.
fn ok_unless_missing<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error)
            if matches!(
                error.code(),
                ErrorCode::FS_NOT_FOUND | ErrorCode::FS_NOT_DIRECTORY
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
