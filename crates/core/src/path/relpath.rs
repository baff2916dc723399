use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;

use ref_cast::{RefCastCustom, ref_cast_custom};

use super::{is_component, split_last};
use crate::{Error, ErrorCode, Result};

/// A canonical relative path: components joined by single slashes, none empty, `.` or `..`.
///
/// Checked construction makes it safe to join below a root: a path from a hostile server cannot
/// leave it. (It can still name `.svn`; the working copy refuses that itself.) Names in old
/// repositories that are not UTF-8 are text as [`raw`](super::raw) tells.
#[derive(RefCastCustom, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct RelPath(str);

/// An owned [`RelPath`].
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct RelPathBuf(String);

impl RelPath {
    #[ref_cast_custom]
    const fn from_checked(path: &str) -> &Self;

    /// The root itself.
    pub const ROOT: &'static Self = Self::from_checked("");

    /// Takes a path that must already be canonical.
    ///
    /// # Errors
    /// [`ErrorCode::FS_PATH_SYNTAX`] if a component is empty, `.` or `..`, or has a NUL.
    pub fn new(path: &str) -> Result<&Self> {
        if path.is_empty() || path.split('/').all(is_component) {
            Ok(Self::from_checked(path))
        } else {
            Err(Error::new(
                ErrorCode::FS_PATH_SYNTAX,
                format!("Path '{}' is not in canonical form", path.escape_debug()),
            ))
        }
    }

    /// Returns the path as text.
    pub const fn as_str(&self) -> &str {
        &self.0
    }

    /// Writes the absolute form that repositories use: `/trunk/a`, `/` for the root.
    pub fn to_fspath(&self) -> String {
        format!("/{}", &self.0)
    }

    /// Tells whether this is the root itself.
    pub const fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the path without its last component; the root has none.
    pub fn parent(&self) -> Option<&Self> {
        (!self.is_root()).then(|| Self::from_checked(split_last(&self.0).0))
    }

    /// Returns the last component; empty for the root.
    pub fn basename(&self) -> &str {
        split_last(&self.0).1
    }

    /// Returns parent and last component; the root has none.
    pub fn split(&self) -> Option<(&Self, &str)> {
        let (parent, name) = split_last(&self.0);
        (!self.is_root()).then(|| (Self::from_checked(parent), name))
    }

    /// Appends `other`.
    pub fn join(&self, other: &Self) -> RelPathBuf {
        RelPathBuf(match (self.is_root(), other.is_root()) {
            (true, _) => other.0.to_owned(),
            (_, true) => self.0.to_owned(),
            _ => format!("{}/{}", &self.0, &other.0),
        })
    }

    /// Appends one component.
    ///
    /// # Errors
    /// [`ErrorCode::FS_PATH_SYNTAX`] if `name` is not one component.
    pub fn child(&self, name: &str) -> Result<RelPathBuf> {
        match Self::new(name) {
            Ok(path) if is_component(name) => Ok(self.join(path)),
            Ok(_) => Err(Error::new(
                ErrorCode::FS_PATH_SYNTAX,
                format!("'{name}' is not a name"),
            )),
            Err(error) => Err(error),
        }
    }

    /// Returns what follows `ancestor`, the root if they are equal; `None` if this is not below.
    pub fn strip_prefix(&self, ancestor: &Self) -> Option<&Self> {
        if ancestor.is_root() {
            return Some(self);
        }
        let rest = self.0.strip_prefix(&ancestor.0)?;
        if rest.is_empty() {
            Some(Self::ROOT)
        } else {
            rest.strip_prefix('/').map(Self::from_checked)
        }
    }

    /// Tells whether this is `ancestor` or below it.
    pub fn starts_with(&self, ancestor: &Self) -> bool {
        self.strip_prefix(ancestor).is_some()
    }

    /// Goes through the components, the root has none.
    pub fn components(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/').filter(|name| !name.is_empty())
    }

    /// Goes from the parent up to the root.
    pub fn ancestors(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(self.parent(), |path| path.parent())
    }

    /// Counts the components.
    pub fn depth(&self) -> usize {
        self.components().count()
    }
}

impl RelPathBuf {
    /// Takes a path that must already be canonical.
    ///
    /// # Errors
    /// [`ErrorCode::FS_PATH_SYNTAX`] as [`RelPath::new`].
    pub fn new(path: impl Into<String>) -> Result<Self> {
        let path = path.into();
        RelPath::new(&path)?;
        Ok(Self(path))
    }

    /// Makes a path canonical first: drops `.` and empty components.
    ///
    /// # Errors
    /// [`ErrorCode::FS_PATH_SYNTAX`] if a component is `..` or has a NUL.
    pub fn canonicalize(path: &str) -> Result<Self> {
        let kept: Vec<_> = path
            .split('/')
            .filter(|name| !matches!(*name, "" | "."))
            .collect();
        Self::new(kept.join("/"))
    }

    /// Returns the root itself.
    pub const fn root() -> Self {
        Self(String::new())
    }

    /// Returns the text.
    pub fn into_string(self) -> String {
        self.0
    }
}

impl Deref for RelPathBuf {
    type Target = RelPath;

    fn deref(&self) -> &RelPath {
        RelPath::from_checked(&self.0)
    }
}

impl Borrow<RelPath> for RelPathBuf {
    fn borrow(&self) -> &RelPath {
        self
    }
}

impl AsRef<RelPath> for RelPathBuf {
    fn as_ref(&self) -> &RelPath {
        self
    }
}

impl AsRef<std::path::Path> for RelPath {
    fn as_ref(&self) -> &std::path::Path {
        self.0.as_ref()
    }
}

impl ToOwned for RelPath {
    type Owned = RelPathBuf;

    fn to_owned(&self) -> RelPathBuf {
        RelPathBuf(self.0.to_owned())
    }
}

impl From<&RelPath> for RelPathBuf {
    fn from(path: &RelPath) -> Self {
        path.to_owned()
    }
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for RelPathBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RelPathBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_leaves_the_root_or_is_not_canonical() {
        for bad in ["/a", "a/", "a//b", ".", "..", "a/../b", "a/.", "a\0b", "\0"] {
            assert!(RelPath::new(bad).is_err(), "{bad:?}");
        }
        for good in ["", "a", "a/b c", "...", "a/.svn"] {
            assert!(RelPath::new(good).is_ok(), "{good:?}");
        }
    }

    #[test]
    fn parts_and_prefixes() {
        let path = RelPath::new("a/b/c").unwrap();
        assert_eq!(path.parent().unwrap().as_str(), "a/b");
        assert_eq!(path.basename(), "c");
        assert_eq!(
            path.strip_prefix(RelPath::new("a").unwrap())
                .unwrap()
                .as_str(),
            "b/c"
        );
        assert!(
            RelPath::new("ab")
                .unwrap()
                .strip_prefix(RelPath::new("a").unwrap())
                .is_none()
        );
        assert_eq!(
            path.ancestors().map(RelPath::as_str).collect::<Vec<_>>(),
            ["a/b", "a", ""]
        );
        assert_eq!(RelPath::ROOT.child("x").unwrap().as_str(), "x");
        assert!(RelPath::ROOT.child("").is_err());
        assert!(RelPath::ROOT.child("a/b").is_err());
    }
}
