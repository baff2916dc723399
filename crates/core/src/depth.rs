use std::fmt;

/// How deep an operation goes, or how much of a folder is in the working copy.
///
/// "Unknown", as in "what the working copy has", is `Option::<Depth>::None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Depth {
    /// Not even the node itself (only with `--set-depth`).
    Exclude,
    /// The node alone.
    Empty,
    /// The node and its file children.
    Files,
    /// The node and its children, folders empty.
    Immediates,
    /// Everything below.
    Infinity,
}

impl Depth {
    /// Returns the word used on the command line, on the wire and in wc.db.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exclude => "exclude",
            Self::Empty => "empty",
            Self::Files => "files",
            Self::Immediates => "immediates",
            Self::Infinity => "infinity",
        }
    }

    /// Reads the word of [`Depth::as_str`]; `None` for any other, `unknown` too.
    pub fn from_word(word: &str) -> Option<Self> {
        Some(match word {
            "exclude" => Self::Exclude,
            "empty" => Self::Empty,
            "files" => Self::Files,
            "immediates" => Self::Immediates,
            "infinity" => Self::Infinity,
            _ => return None,
        })
    }

    /// Returns the depth that an operation of this depth has in a child folder.
    pub const fn below(self) -> Self {
        match self {
            Self::Infinity => Self::Infinity,
            Self::Immediates => Self::Empty,
            Self::Exclude | Self::Empty | Self::Files => Self::Exclude,
        }
    }
}

impl fmt::Display for Depth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
