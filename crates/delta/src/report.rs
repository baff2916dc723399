use sylvan_core::{Depth, RelPathBuf, Revnum, Url};

/// One statement of what the client has, for an update, switch, status or diff report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportEntry {
    /// `path` is at `rev`.
    SetPath {
        /// Path below the report's anchor; the first entry names the root.
        path: RelPathBuf,
        /// The revision it has.
        rev: Revnum,
        /// How deep it is there.
        depth: Depth,
        /// A folder of which nothing is there yet (an interrupted checkout, or a new one).
        start_empty: bool,
        /// The lock token held for it, so that the server can tell whether it is gone.
        lock_token: Option<String>,
    },
    /// `path` is missing.
    DeletePath {
        /// Path below the report's anchor.
        path: RelPathBuf,
    },
    /// `path` is there but comes from another URL (switched).
    LinkPath {
        /// Path below the report's anchor.
        path: RelPathBuf,
        /// The URL it comes from.
        url: Url,
        /// The revision it has.
        rev: Revnum,
        /// How deep it is there.
        depth: Depth,
        /// A folder of which nothing is there yet.
        start_empty: bool,
        /// The lock token held for it.
        lock_token: Option<String>,
    },
}
