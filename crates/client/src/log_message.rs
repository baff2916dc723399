//! Log messages of commits: what an operation tells about a commit to be, and what it gets.

use sylvan_core::{Dirent, Error, ErrorCode, NodeKind, Props, Result, Url, props};

/// What a commit does to one node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// It is added, with history or without.
    pub added: bool,
    /// It is deleted; with `added` it is replaced.
    pub deleted: bool,
    /// Its text is sent.
    pub text: bool,
    /// Its properties change.
    pub props: bool,
    /// It is added with history.
    pub copied: bool,
    /// A lock of it may be given up.
    pub locked: bool,
}

impl Change {
    /// Tells whether anything in the repository changes.
    pub const fn is_change(&self) -> bool {
        self.added || self.deleted || self.text || self.props
    }
}

/// A node of a commit to be.
#[derive(Clone, Debug)]
pub struct CommitItem {
    /// Where it is in the working copy, absolute; nothing if the commit knows only URLs.
    pub path: Option<Dirent>,
    /// Where it is in the repository.
    pub url: Url,
    /// File or folder.
    pub kind: NodeKind,
    /// What is done to it.
    pub change: Change,
}

/// A log message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogMessage {
    /// The text, with LF at the ends of lines.
    pub text: String,
    /// The temporary file in which it was written, which is no part of what is committed.
    pub file: Option<Dirent>,
}

/// Finds the message for a commit of these nodes; `None` gives the commit up.
pub type AskMessage<'a> = dyn FnMut(&[CommitItem]) -> Result<Option<LogMessage>> + 'a;

/// Adds the message to the revision properties that the user has set.
///
/// # Errors
/// `CLIENT_PROPERTY_NAME` if one of those is Subversion's own.
pub(crate) fn with_message(revprops: &Props, message: &LogMessage) -> Result<Props> {
    if revprops.keys().any(|name| props::is_svn(name)) {
        return Err(Error::new(
            ErrorCode::CLIENT_PROPERTY_NAME,
            "Standard properties can't be set explicitly as revision properties",
        ));
    }
    let mut all = revprops.clone();
    let text = message.text.clone().into_bytes();
    all.insert(props::REVISION_LOG.to_owned(), text);
    Ok(all)
}
