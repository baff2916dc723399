//! Properties that come from clients: what is accepted, and how those of revisions are changed.

use std::borrow::Cow;

use sylvan_core::mergeinfo::Mergeinfo;
use sylvan_core::props::{self, PropKind};
use sylvan_core::{Error, ErrorCode, Result, Revnum, Timestamp, text};

use crate::hooks::{Action, RevpropChange};
use crate::repos::Repos;

/// Which hooks run when a revision property is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RevpropHooks {
    /// Whether `pre-revprop-change` runs, without which no change is allowed.
    pub pre: bool,
    /// Whether `post-revprop-change` runs.
    pub post: bool,
}

impl RevpropHooks {
    /// Both hooks, as for every client.
    pub const ALL: Self = Self {
        pre: true,
        post: true,
    };
    /// No hooks, as for an administrator who says so.
    pub const NONE: Self = Self {
        pre: false,
        post: false,
    };
}

impl Repos {
    /// Sets or removes a property of a revision. With `expected`, only if it has that value before.
    /// Whether `author` may see the revision is for the caller to find out.
    ///
    /// # Errors
    /// Those of [`check_prop`]; [`ErrorCode::REPOS_DISABLED_FEATURE`] if there is no hook
    /// `pre-revprop-change`; [`ErrorCode::REPOS_HOOK_FAILURE`], where the change is made if it was
    /// the hook `post-revprop-change`; [`ErrorCode::FS_PROP_BASEVALUE_MISMATCH`]; and those of
    /// [`sylvan_fs::FileSystem::revprops`].
    pub fn change_revprop(
        &self,
        revision: Revnum,
        author: Option<&str>,
        name: &str,
        expected: Option<Option<&[u8]>>,
        value: Option<&[u8]>,
        run: RevpropHooks,
    ) -> Result<()> {
        check_prop(name, value)?;
        let old = match expected {
            Some(expected) => expected.map(<[u8]>::to_vec),
            None => self.fs().revprops(revision)?.remove(name),
        };
        let old = old.as_deref();
        let change = RevpropChange {
            revision,
            author,
            name,
            action: Action::of(old, value),
        };
        let hooks = if run == RevpropHooks::NONE {
            None
        } else {
            Some(self.hooks()?)
        };
        if let Some(hooks) = hooks.as_ref().filter(|_| run.pre) {
            hooks.pre_revprop_change(change, value)?;
        }
        self.fs().change_revprop(revision, name, Some(old), value)?;
        match hooks.filter(|_| run.post) {
            Some(hooks) => hooks.post_revprop_change(change, old),
            None => Ok(()),
        }
    }
}

/// Checks a property, of a node, a revision or a transaction, that a client wants to set. Every one
/// may be removed.
///
/// # Errors
/// [`ErrorCode::REPOS_BAD_ARGS`] for one that is not stored in repositories;
/// [`ErrorCode::BAD_PROPERTY_VALUE`] for a property `svn:…` that is no text with lines ended by LF,
/// and a date that is none.
pub fn check_prop(name: &str, value: Option<&[u8]>) -> Result<()> {
    let Some(value) = value else {
        return Ok(());
    };
    if PropKind::of(name) != PropKind::Regular {
        return Err(Error::new(
            ErrorCode::REPOS_BAD_ARGS,
            format!(
                "Storage of non-regular property '{name}' is disallowed through the repository \
                 interface, and could indicate a bug in your client"
            ),
        ));
    }
    if !props::is_svn(name) {
        return Ok(());
    }
    if text::check_utf8(value).is_err() {
        return Err(Error::new(
            ErrorCode::BAD_PROPERTY_VALUE,
            format!("Cannot accept '{name}' property because it is not encoded in UTF-8"),
        ));
    }
    // Subversion looks no further than a NUL.
    let seen = value.split(|byte| *byte == 0).next().unwrap_or_default();
    if seen.contains(&b'\r') {
        let error = Error::new(
            ErrorCode::BAD_PROPERTY_VALUE_EOL,
            format!("Cannot accept non-LF line endings in '{name}' property"),
        );
        return Err(error.wrap(ErrorCode::BAD_PROPERTY_VALUE, "Invalid property value"));
    }
    if name == "svn:date" {
        Timestamp::parse_iso(&String::from_utf8_lossy(seen))
            .map_err(|error| error.wrap_code(ErrorCode::BAD_PROPERTY_VALUE))?;
    }
    Ok(())
}

/// As [`check_prop`], for a property of the node at `path` (`/trunk/a`).
///
/// # Errors
/// As [`check_prop`]; and those of mergeinfo that makes no sense.
pub fn check_node_prop(path: &str, name: &str, value: Option<&[u8]>) -> Result<()> {
    if let Some(value) = value.filter(|_| name == "svn:mergeinfo") {
        check_mergeinfo(path, value)?;
    }
    check_prop(name, value)
}

fn check_mergeinfo(path: &str, value: &[u8]) -> Result<()> {
    if value.contains(&0) {
        return Err(Error::new(
            ErrorCode::MERGEINFO_PARSE_ERROR,
            format!(
                "Commit rejected because mergeinfo on '{path}' contains unexpected string \
                 terminator"
            ),
        ));
    }
    Mergeinfo::parse(value).map(drop).map_err(|error| {
        error.context(format!(
            "Commit rejected because mergeinfo on '{path}' is syntactically invalid"
        ))
    })
}

/// Returns the value that a property has in a repository: of text, every line ended by LF.
pub fn normalized_prop<'a>(name: &str, value: &'a [u8]) -> Cow<'a, [u8]> {
    if !props::is_svn(name) || !value.contains(&b'\r') {
        return Cow::Borrowed(value);
    }
    let mut lines = Vec::with_capacity(value.len());
    let mut bytes = value.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte == b'\r' {
            bytes.next_if_eq(&b'\n');
            lines.push(b'\n');
        } else {
            lines.push(byte);
        }
    }
    Cow::Owned(lines)
}
