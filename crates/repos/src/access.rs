//! What somebody may read.

use sylvan_core::{Error, ErrorCode, RelPath, Result, Revnum};

/// Tells whether a path of a revision may be read.
pub type ReadCheck<'a> = dyn Fn(Revnum, &RelPath) -> Result<bool> + 'a;

/// What somebody may read: everything, or what a [`ReadCheck`] allows.
///
/// ```
/// use sylvan_core::{RelPath, Revnum};
/// use sylvan_repos::ReadAccess;
///
/// let public = |_: Revnum, path: &RelPath| Ok(!path.starts_with(RelPath::new("secret")?));
/// let access = ReadAccess::new(&public);
/// let may_read = |path| access.may_read(Revnum::ZERO, RelPath::new(path).unwrap()).unwrap();
/// assert!(may_read("open/file") && !may_read("secret/file"));
/// ```
#[derive(Clone, Copy, Default)]
pub struct ReadAccess<'a>(Option<&'a ReadCheck<'a>>);

impl<'a> ReadAccess<'a> {
    /// Everything may be read; nothing is asked.
    pub const ALL: ReadAccess<'static> = ReadAccess(None);

    /// Asks `check`.
    pub const fn new(check: &'a ReadCheck<'a>) -> Self {
        Self(Some(check))
    }

    /// Tells whether anything may be unreadable.
    pub const fn is_limited(&self) -> bool {
        self.0.is_some()
    }

    /// Tells whether a path may be read.
    ///
    /// # Errors
    /// What the check gives.
    pub fn may_read(&self, revision: Revnum, path: &RelPath) -> Result<bool> {
        self.0.map_or(Ok(true), |check| check(revision, path))
    }

    /// Checks that a path may be read.
    ///
    /// # Errors
    /// `AUTHZ_UNREADABLE`, and what the check gives.
    pub(crate) fn ensure(&self, revision: Revnum, path: &RelPath) -> Result<()> {
        if self.may_read(revision, path)? {
            return Ok(());
        }
        Err(Error::from_code(ErrorCode::AUTHZ_UNREADABLE))
    }
}

impl std::fmt::Debug for ReadAccess<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.is_limited() { "Limited" } else { "All" })
    }
}
