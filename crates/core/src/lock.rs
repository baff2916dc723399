use crate::{RelPathBuf, Timestamp};

/// A lock in a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lock {
    /// The locked path below the repository root.
    pub path: RelPathBuf,
    /// The token, `opaquelocktoken:…`.
    pub token: String,
    /// Who holds it.
    pub owner: String,
    /// Why; may be empty.
    pub comment: Option<String>,
    /// When it was made.
    pub created: Timestamp,
    /// When it ends, if ever.
    pub expires: Option<Timestamp>,
}
