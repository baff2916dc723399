//! The changed paths of a revision, as a log shows them.

use sylvan_core::mergeinfo::Mergeinfo;
use sylvan_core::repository::ChangedPath;
use sylvan_core::{NodeKind, RelPath, Result, Revnum};
use sylvan_fs::change::{Change, ChangeKind};

use super::Log;
use crate::RevisionAccess;

/// Whether a merged revision changed anything that is not in the history of what was asked for.
pub(super) struct Interest<'a> {
    revision: Revnum,
    /// The history of what was asked for, if it counts.
    history: Option<&'a Mergeinfo>,
    given: bool,
}

impl<'a> Interest<'a> {
    pub(super) fn new(revision: Revnum, merged: bool, history: &'a Mergeinfo) -> Self {
        let counts = merged && !history.is_empty();
        Self {
            revision,
            history: counts.then_some(history),
            given: !counts,
        }
    }

    /// Tells whether changed paths must be looked at.
    pub(super) const fn is_open(&self) -> bool {
        !self.given
    }

    pub(super) const fn is_given(&self) -> bool {
        self.given
    }

    fn look_at(&mut self, changed: &RelPath) {
        let Some(history) = self.history.filter(|_| !self.given) else {
            return;
        };
        self.given = !history.0.iter().any(|(source, ranges)| {
            let source = RelPath::new(source.trim_start_matches('/'));
            source.is_ok_and(|source| changed.starts_with(source)) && ranges.contains(self.revision)
        });
    }
}

impl Log<'_, '_> {
    /// Gives each changed path that may be read to `sink`, and tells how many may.
    pub(super) fn detect_changed(
        &self,
        revision: Revnum,
        interest: &mut Interest<'_>,
        mut sink: impl FnMut(String, ChangedPath),
    ) -> Result<RevisionAccess> {
        let (mut readable, mut unreadable) = (false, false);
        let mut any = false;
        self.repos.fs().changes(revision, |change| {
            any = true;
            if !self.access.may_read(revision, &change.path)? {
                unreadable = true;
                return Ok(());
            }
            readable = true;
            let mut copy_from = match change.kind {
                ChangeKind::Add | ChangeKind::Replace => change.copyfrom(),
                _ => None,
            };
            if let Some((source, path)) = copy_from
                && !self.access.may_read(source, path)?
            {
                unreadable = true;
                copy_from = None;
            }
            interest.look_at(&change.path);
            let shown = ChangedPath {
                action: letter(change.kind),
                copy_from: copy_from.map(|(revision, path)| (format!("/{path}"), revision)),
                kind: self.kind_of(revision, &change)?,
                text_modified: Some(change.text_mod),
                props_modified: Some(change.prop_mod),
            };
            sink(format!("/{}", change.path), shown);
            Ok(())
        })?;
        Ok(match (any, readable) {
            (true, false) => RevisionAccess::None,
            _ => RevisionAccess::of(readable, unreadable),
        })
    }

    /// Looks for the kind where the revision does not tell it.
    fn kind_of(&self, revision: Revnum, change: &Change) -> Result<NodeKind> {
        if change.node_kind != NodeKind::Unknown {
            return Ok(change.node_kind);
        }
        let root = self.repos.fs().revision_root(revision)?;
        let parent = change
            .path
            .split()
            .filter(|_| change.kind == ChangeKind::Delete);
        let Some((parent, name)) = parent else {
            return root.kind(&change.path);
        };
        // What is deleted was there when its folder changed before.
        let mut history = root.history(parent)?;
        history.previous(true)?;
        let Some(before) = history.previous(true)? else {
            return Ok(NodeKind::Unknown);
        };
        let root = self.repos.fs().revision_root(before.revision)?;
        root.kind(&before.path.child(name)?)
    }
}

const fn letter(kind: ChangeKind) -> char {
    match kind {
        ChangeKind::Add => 'A',
        ChangeKind::Delete => 'D',
        ChangeKind::Replace => 'R',
        ChangeKind::Modify | ChangeKind::Reset => 'M',
    }
}
