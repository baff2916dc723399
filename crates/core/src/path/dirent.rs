use std::fmt;
use std::path::Path;

use super::{RelPath, split_last};

/// A local path in Subversion's internal style: `/` between components, no `.` components, no
/// doubled or trailing slash; empty for the current directory. `..` stays as it was typed.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Dirent(String);

impl Dirent {
    /// Makes a path canonical.
    pub fn new(path: &str) -> Self {
        let kept: Vec<_> = path
            .split('/')
            .filter(|name| !matches!(*name, "" | "."))
            .collect();
        let root = if path.starts_with('/') { "/" } else { "" };
        Self(format!("{root}{}", kept.join("/")))
    }

    /// Returns the path in internal style.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the path in local style, for the user and for system calls: `.` when empty.
    pub fn local_style(&self) -> &str {
        if self.0.is_empty() { "." } else { &self.0 }
    }

    /// Returns the path for system calls.
    pub fn as_path(&self) -> &Path {
        Path::new(self.local_style())
    }

    /// Tells whether the path starts at the root.
    pub fn is_absolute(&self) -> bool {
        self.0.starts_with('/')
    }

    /// Returns the path without its last component; the current directory and `/` are their own.
    #[must_use]
    pub fn dirname(&self) -> Self {
        let (parent, _) = split_last(&self.0);
        if parent.is_empty() && self.is_absolute() {
            return Self("/".to_owned());
        }
        Self(parent.to_owned())
    }

    /// Returns the last component; empty for the current directory, `/` for the root.
    pub fn basename(&self) -> &str {
        if self.0 == "/" {
            "/"
        } else {
            split_last(&self.0).1
        }
    }

    /// Appends a relative path in internal style; an absolute one replaces this.
    #[must_use]
    pub fn join(&self, other: &str) -> Self {
        if other.starts_with('/') || self.0.is_empty() {
            return Self::new(other);
        }
        Self::new(&format!("{}/{other}", self.0))
    }

    /// Appends a path that is canonical already; cheaper than [`Dirent::join`].
    #[must_use]
    pub fn join_relpath(&self, path: &RelPath) -> Self {
        let separator = match self.0.as_str() {
            "" | "/" => "",
            _ if path.is_root() => "",
            _ => "/",
        };
        Self([self.as_str(), separator, path.as_str()].concat())
    }

    /// Makes the path absolute below `current` (an absolute path), and resolves `..` by text as
    /// Subversion does.
    #[must_use]
    pub fn absolute(&self, current: &Self) -> Self {
        let joined = current.join(&self.0);
        let mut kept: Vec<&str> = Vec::new();
        for name in joined.0.split('/').filter(|name| !name.is_empty()) {
            if name == ".." {
                kept.pop();
            } else {
                kept.push(name);
            }
        }
        Self(format!("/{}", kept.join("/")))
    }

    /// Returns what follows `ancestor` in internal style, empty if they are equal; `None` if this
    /// is not below it.
    pub fn strip_prefix(&self, ancestor: &Self) -> Option<&str> {
        if ancestor.0.is_empty() {
            return (!self.is_absolute()).then_some(self.as_str());
        }
        let rest = self.0.strip_prefix(&ancestor.0)?;
        if rest.is_empty() || ancestor.0 == "/" {
            return Some(rest);
        }
        rest.strip_prefix('/')
    }
}

impl fmt::Display for Dirent {
    /// Writes the local style.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.local_style())
    }
}

impl fmt::Debug for Dirent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_canonical_and_absolute_by_text() {
        for (typed, internal) in [
            ("./a//b/", "a/b"),
            (".", ""),
            ("/", "/"),
            ("//x/./y", "/x/y"),
            ("../a", "../a"),
        ] {
            assert_eq!(Dirent::new(typed).as_str(), internal);
        }
        let home = Dirent::new("/home/jo");
        assert_eq!(
            Dirent::new("../x/./y").absolute(&home).as_str(),
            "/home/x/y"
        );
        assert_eq!(Dirent::new("").absolute(&home).as_str(), "/home/jo");
        assert_eq!(
            Dirent::new("/a/b").strip_prefix(&Dirent::new("/a")),
            Some("b")
        );
        assert_eq!(Dirent::new("/ab").strip_prefix(&Dirent::new("/a")), None);
        assert_eq!(Dirent::new("/a").dirname().as_str(), "/");
        for (parent, child, joined) in [
            ("/a", "b/c", "/a/b/c"),
            ("/", "b", "/b"),
            ("", "b", "b"),
            ("/a", "", "/a"),
        ] {
            let child = RelPath::new(child).unwrap();
            assert_eq!(Dirent::new(parent).join_relpath(child).as_str(), joined);
        }
    }
}
