//! What a client has, and the drive that brings it up to date.
//!
//! A client reports with [`Report::set_path`] and its kin what its working copy has: first the
//! root, then, in order of depth first, each path that differs from what its parent says.
//! [`Report::finish`] compares that with the revision wanted and drives an editor with the
//! difference. The same serves updates, switches, `status --show-updates` and diffs.

mod drive;
mod store;

use sylvan_core::{Depth, Error, ErrorCode, RelPath, RelPathBuf, Result, Revnum, Timestamp};
use sylvan_delta::Editor;
use sylvan_io::Cancel;

use crate::Repos;
use crate::access::ReadAccess;
use crate::send::Texts;
use drive::Drive;
use store::{Item, Store};

/// What is wanted.
#[derive(Clone, Debug)]
pub struct ReportOptions {
    /// The revision that the client wants to have.
    pub rev: Revnum,
    /// What the anchor of the report is in the repository.
    pub base: RelPathBuf,
    /// The one child of the anchor that is brought up to date; empty for the anchor itself.
    pub target: String,
    /// Where the target is switched to.
    pub switch: Option<RelPathBuf>,
    /// How deep; `None` is as deep as reported.
    pub depth: Option<Depth>,
    /// Whether what is not related is changed into each other, instead of replaced.
    pub ignore_ancestry: bool,
    /// Whether files that are copies are sent as such.
    pub send_copyfrom_args: bool,
    /// How contents are sent.
    pub texts: Texts,
    /// The time by which locks have ended or not.
    pub now: Timestamp,
}

/// A report that is being taken.
#[derive(Debug)]
pub struct Report {
    repos: Repos,
    options: ReportOptions,
    items: Store,
}

impl Report {
    /// Begins a report.
    ///
    /// # Errors
    /// `REPOS_BAD_ARGS` for the depth `exclude`; `FS_PATH_SYNTAX` for a target that is no name.
    pub fn begin(repos: &Repos, options: ReportOptions) -> Result<Self> {
        if options.depth == Some(Depth::Exclude) {
            return Err(Error::new(
                ErrorCode::REPOS_BAD_ARGS,
                "Request depth 'exclude' not supported",
            ));
        }
        RelPath::new(&options.target)?;
        Ok(Self {
            repos: repos.clone(),
            options,
            items: Store::default(),
        })
    }

    /// Says that the client has a path at a revision, `depth` deep, and nothing in it yet if
    /// `start_empty`. Paths are below the target.
    ///
    /// # Errors
    /// If the report cannot be stored.
    pub fn set_path(
        &mut self,
        path: &RelPath,
        rev: Revnum,
        depth: Depth,
        start_empty: bool,
        lock_token: Option<&str>,
    ) -> Result<()> {
        self.push(path, Some(rev), None, depth, start_empty, lock_token)
    }

    /// Says that the client has at a path what another path, below the repository's root, has at a
    /// revision.
    ///
    /// # Errors
    /// `REPOS_BAD_ARGS` for the depth `exclude`; if the report cannot be stored.
    pub fn link_path(
        &mut self,
        path: &RelPath,
        link: &RelPath,
        rev: Revnum,
        depth: Depth,
        start_empty: bool,
        lock_token: Option<&str>,
    ) -> Result<()> {
        if depth == Depth::Exclude {
            return Err(Error::new(
                ErrorCode::REPOS_BAD_ARGS,
                "Depth 'exclude' not supported for link",
            ));
        }
        self.push(path, Some(rev), Some(link), depth, start_empty, lock_token)
    }

    /// Says that the client misses a path.
    ///
    /// # Errors
    /// If the report cannot be stored.
    pub fn delete_path(&mut self, path: &RelPath) -> Result<()> {
        self.push(path, None, None, Depth::Infinity, false, None)
    }

    fn push(
        &mut self,
        path: &RelPath,
        rev: Option<Revnum>,
        link: Option<&RelPath>,
        depth: Depth,
        start_empty: bool,
        lock_token: Option<&str>,
    ) -> Result<()> {
        self.items.push(&Item {
            path: RelPath::new(&self.options.target)?.join(path),
            rev,
            link: link.map(RelPath::to_owned),
            depth,
            start_empty,
            lock_token: lock_token.map(str::to_owned),
        })
    }

    /// Drives `editor` with what the client misses, up to `close_edit`, or to `abort_edit` if
    /// something failed. What `access` refuses is sent as absent.
    ///
    /// # Errors
    /// `REPOS_BAD_REVISION_REPORT` for a report that makes no sense, `FS_PATH_SYNTAX` if the target
    /// is not there or a folder would be replaced from within, `FS_NOT_FOUND` if a reported path is
    /// not there, `AUTHZ_ROOT_UNREADABLE`; and the errors of the file system and of the editor.
    pub fn finish(
        self,
        editor: &mut dyn Editor,
        access: ReadAccess<'_>,
        cancel: &Cancel,
    ) -> Result<()> {
        let result = self
            .items
            .into_items()
            .and_then(|items| Drive::run(&self.repos, self.options, items, editor, access, cancel));
        match result {
            Ok(()) => editor.close_edit(),
            Err(error) => Err(match editor.abort_edit() {
                Ok(()) => error,
                Err(other) => error.attach(other),
            }),
        }
    }
}
