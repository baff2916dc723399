//! Working copies: the administrative folder `.svn`, its database and pristine texts, and what is
//! read from and done to them.
//!
//! [`WorkingCopy`] is one working copy that was found or made; [`db::Db`] its database. The crate
//! knows no network: what comes from a repository arrives through `sylvan_delta::Editor`.

pub mod add;
pub mod auto_props;
pub mod base;
pub mod changelist;
pub mod cleanup;
pub mod commit;
pub mod conflict;
pub mod copy;
pub mod crop;
pub mod db;
pub mod delete;
pub mod external;
#[doc(hidden)]
pub mod fuzz;
pub mod info;
pub mod install;
pub mod lock;
mod merge;
mod modified;
pub mod notify;
mod options;
mod path_error;
mod prej;
pub mod pristine;
pub mod props;
pub mod propset;
pub mod relocate;
pub mod report;
pub mod repos_lock;
pub mod resolve;
pub mod revert;
pub mod revision_status;
pub mod scan;
mod site;
pub mod status;
mod survey;
pub mod update;
pub mod upgrade;
pub mod work_queue;
mod working;
mod working_copy;

pub use options::Options;
pub use working_copy::{ADM_DIR, RootNode, WorkingCopy};

use sylvan_core::{Dirent, Error, ErrorCode, RelPath};

/// Makes the error for a path that is not under version control.
pub(crate) fn not_found(wc: &WorkingCopy, path: &RelPath) -> Error {
    not_found_at(&wc.local_path(path))
}

/// As [`not_found`], for who has but the local path.
pub(crate) fn not_found_at(path: &Dirent) -> Error {
    Error::new(
        ErrorCode::WC_PATH_NOT_FOUND,
        format!("The node '{path}' was not found."),
    )
}
