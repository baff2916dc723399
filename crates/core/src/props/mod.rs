//! Versioned and revision properties: their names and kinds.

mod value;

use std::collections::BTreeMap;

pub use value::{canonical_value, check_kind, check_mime_type};

pub use crate::skel::{props_from_skel as from_skel, props_to_skel as to_skel};

/// Properties by name; values are any bytes. Text properties (`svn:*`) are UTF-8 with LF.
pub type Props = BTreeMap<String, Vec<u8>>;

/// The prefix of names that Subversion gives a meaning.
pub const SVN_PREFIX: &str = "svn:";
/// The prefix of entry properties, which tell of a node's last change and are not versioned.
pub const ENTRY_PREFIX: &str = "svn:entry:";
/// The prefix of properties that the network layer keeps in the working copy.
pub const WC_PREFIX: &str = "svn:wc:";
/// The value of a property that is on by being there.
pub const BOOLEAN_TRUE: &[u8] = b"*";

macro_rules! names {
    ($($name:ident = $value:literal, $doc:literal;)*) => {
        $(
            #[doc = concat!("`", $value, "`: ", $doc, ".")]
            pub const $name: &str = $value;
        )*
    };
}

names! {
    SVN_MIME_TYPE = "svn:mime-type", "the MIME type of a file";
    SVN_IGNORE = "svn:ignore", "glob patterns of names ignored in a folder";
    SVN_EOL_STYLE = "svn:eol-style", "the line ends of a file in the working copy";
    SVN_KEYWORDS = "svn:keywords", "the keywords that are expanded in a file";
    SVN_EXECUTABLE = "svn:executable", "the file can be executed";
    SVN_NEEDS_LOCK = "svn:needs-lock", "the file is read-only unless it is locked";
    SVN_SPECIAL = "svn:special", "the file stands for a symlink";
    SVN_EXTERNALS = "svn:externals", "what else is checked out into a folder";
    SVN_MERGEINFO = "svn:mergeinfo", "what was merged";
    SVN_AUTO_PROPS = "svn:auto-props", "properties for files added below a folder";
    SVN_GLOBAL_IGNORES = "svn:global-ignores", "glob patterns of names ignored below a folder";
    SVN_TEXT_TIME = "svn:text-time", "reserved: the time of a file";
    SVN_OWNER = "svn:owner", "reserved: the owner of a file";
    SVN_GROUP = "svn:group", "reserved: the group of a file";
    SVN_UNIX_MODE = "svn:unix-mode", "reserved: the mode of a file";
    ENTRY_COMMITTED_REV = "svn:entry:committed-rev", "the revision of the last change";
    ENTRY_COMMITTED_DATE = "svn:entry:committed-date", "the date of the last change";
    ENTRY_LAST_AUTHOR = "svn:entry:last-author", "the author of the last change";
    ENTRY_UUID = "svn:entry:uuid", "the UUID of the repository";
    ENTRY_LOCK_TOKEN = "svn:entry:lock-token", "the token of a lock; its deletion tells that the lock is gone";
    REVISION_AUTHOR = "svn:author", "who made a revision";
    REVISION_LOG = "svn:log", "the log message of a revision";
    REVISION_DATE = "svn:date", "when a revision was made";
    REVISION_ORIG_DATE = "svn:original-date", "when a revision was made that was copied later";
    REVISION_AUTOVERSIONED = "svn:autoversioned", "a plain DAV client made the revision";
}

/// Revision properties that Subversion gives a meaning and that clients may show.
const REVISION_PROPS: [&str; 5] = [
    REVISION_AUTHOR,
    REVISION_LOG,
    REVISION_DATE,
    REVISION_AUTOVERSIONED,
    REVISION_ORIG_DATE,
];
const COMMON_PROPS: [&str; 5] = [
    SVN_MERGEINFO,
    SVN_TEXT_TIME,
    SVN_OWNER,
    SVN_GROUP,
    SVN_UNIX_MODE,
];
const DIR_PROPS: [&str; 4] = [
    SVN_IGNORE,
    SVN_GLOBAL_IGNORES,
    SVN_AUTO_PROPS,
    SVN_EXTERNALS,
];
const FILE_PROPS: [&str; 6] = [
    SVN_MIME_TYPE,
    SVN_EOL_STYLE,
    SVN_KEYWORDS,
    SVN_EXECUTABLE,
    SVN_NEEDS_LOCK,
    SVN_SPECIAL,
];

/// Where a property belongs, which its name tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PropKind {
    /// Unversioned, of a node's last change: `svn:entry:`….
    Entry,
    /// Unversioned, of the network layer: `svn:wc:`….
    Wc,
    /// Versioned, any other name.
    Regular,
}

impl PropKind {
    /// Returns the kind of a property.
    pub fn of(name: &str) -> Self {
        if name.starts_with(ENTRY_PREFIX) {
            Self::Entry
        } else if name.starts_with(WC_PREFIX) {
            Self::Wc
        } else {
            Self::Regular
        }
    }
}

/// Tells whether the name is one of those that Subversion reserves, and the value thus text.
pub fn is_svn(name: &str) -> bool {
    name.starts_with(SVN_PREFIX)
}

/// Tells whether a property is on by being there.
pub fn is_boolean(name: &str) -> bool {
    matches!(name, SVN_EXECUTABLE | SVN_NEEDS_LOCK | SVN_SPECIAL)
}

/// Tells whether Subversion gives a revision property a meaning.
pub fn is_known_revision_prop(name: &str) -> bool {
    REVISION_PROPS.contains(&name)
}

/// Tells whether Subversion gives a property of files a meaning.
pub fn is_known_file_prop(name: &str) -> bool {
    COMMON_PROPS.contains(&name) || FILE_PROPS.contains(&name)
}

/// Tells whether Subversion gives a property of folders a meaning.
pub fn is_known_dir_prop(name: &str) -> bool {
    COMMON_PROPS.contains(&name) || DIR_PROPS.contains(&name)
}

/// Tells whether a user may give a property this name: a letter, `:` or `_`, then letters, digits
/// and `-.:_`.
pub fn is_valid_name(name: &str) -> bool {
    let first = |c: char| c.is_ascii_alphabetic() || matches!(c, ':' | '_');
    name.starts_with(first)
        && name
            .chars()
            .all(|c| first(c) || c.is_ascii_digit() || matches!(c, '-' | '.'))
}

/// Returns the properties of one kind.
pub fn of_kind(props: &Props, kind: PropKind) -> Props {
    props
        .iter()
        .filter(|(name, _)| PropKind::of(name) == kind)
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// Returns what turns `from` into `to`, by name; `None` is a deletion.
pub fn diff(from: &Props, to: &Props) -> BTreeMap<String, Option<Vec<u8>>> {
    let gone = from
        .keys()
        .filter(|name| !to.contains_key(*name))
        .map(|name| (name.clone(), None));
    let new = to
        .iter()
        .filter(|(name, value)| from.get(*name) != Some(value))
        .map(|(name, value)| (name.clone(), Some(value.clone())));
    gone.chain(new).collect()
}

/// Tells whether a MIME type means that a file is not text.
pub fn mime_type_is_binary(mime_type: &str) -> bool {
    let end = mime_type.find([';', ' ']).unwrap_or(mime_type.len());
    let essence = &mime_type[..end];
    !essence.starts_with("text/") && !matches!(essence, "image/x-xbitmap" | "image/x-xpixmap")
}

/// Tells whether a file's properties mean that it is not text.
pub fn is_binary(props: &Props) -> bool {
    props
        .get(SVN_MIME_TYPE)
        .is_some_and(|value| mime_type_is_binary(&String::from_utf8_lossy(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_kinds() {
        assert_eq!(PropKind::of("svn:entry:committed-rev"), PropKind::Entry);
        assert_eq!(PropKind::of("svn:wc:ra_dav:version-url"), PropKind::Wc);
        assert_eq!(PropKind::of("svn:wcx"), PropKind::Regular);
        for (name, valid) in [
            ("svn:x", true),
            ("_a-b.c:d1", true),
            (":x", true),
            ("1a", false),
            ("a b", false),
            ("", false),
            ("ä", false),
        ] {
            assert_eq!(is_valid_name(name), valid, "{name}");
        }
    }

    #[test]
    fn mime_types_of_text() {
        for (mime, binary) in [
            ("text/plain", false),
            ("text/plain; charset=UTF-8", false),
            ("image/x-xpixmap", false),
            ("image/x-xbitmap;x", false),
            ("image/png", true),
            ("application/octet-stream", true),
            ("text", true),
            ("", true),
        ] {
            assert_eq!(mime_type_is_binary(mime), binary, "{mime}");
        }
    }

    #[test]
    fn diff_tells_every_change() {
        let props = |pairs: &[(&str, &str)]| -> Props {
            pairs
                .iter()
                .map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec()))
                .collect()
        };
        let changes = diff(
            &props(&[("a", "1"), ("b", "2"), ("c", "3")]),
            &props(&[("a", "1"), ("b", "x"), ("d", "4")]),
        );
        let expected = [
            ("b".to_owned(), Some(b"x".to_vec())),
            ("c".to_owned(), None),
            ("d".to_owned(), Some(b"4".to_vec())),
        ];
        assert_eq!(changes, expected.into());
    }
}
