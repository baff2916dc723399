//! Files that stand for symlinks (`svn:special`).
//!
//! The content of such a file is `link `, then the target of the link, without an end of line.

/// What the content of a symlink's file starts with.
pub const LINK_PREFIX: &[u8] = b"link ";

/// Returns the target of the link that `content` stands for; `None` if it stands for none, and is
/// then installed as a plain file.
pub fn link_target(content: &[u8]) -> Option<&[u8]> {
    content
        .strip_prefix(LINK_PREFIX)
        .filter(|target| !target.contains(&0))
}

/// Returns the content that stands for a link to `target`.
pub fn link_content(target: &[u8]) -> Vec<u8> {
    [LINK_PREFIX, target].concat()
}
