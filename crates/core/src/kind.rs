use std::fmt;

/// The kind of a node in a repository or working copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NodeKind {
    /// Nothing is there.
    None,
    /// A regular file (a symlink is one with the property `svn:special`).
    File,
    /// A folder.
    Dir,
    /// Something else, or not known.
    Unknown,
}

impl NodeKind {
    /// Returns the word used on the wire, in wc.db and in XML: `none`, `file`, `dir`, `unknown`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::File => "file",
            Self::Dir => "dir",
            Self::Unknown => "unknown",
        }
    }

    /// Reads the word of [`NodeKind::as_str`]; other words give [`NodeKind::Unknown`].
    pub fn from_word(word: &str) -> Self {
        match word {
            "none" => Self::None,
            "file" => Self::File,
            "dir" => Self::Dir,
            _ => Self::Unknown,
        }
    }
}

impl fmt::Display for NodeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
