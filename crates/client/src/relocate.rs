//! `svn relocate`: following a repository that moved.

use sylvan_core::{Dirent, Error, ErrorCode, NodeKind, RelPath, RelPathBuf, Result, Url};
use sylvan_wc::lock::{Anchor, WcLock};
use sylvan_wc::{WorkingCopy, base};

use crate::{Context, PooledSession};

pub(crate) use sylvan_wc::relocate::relocate;

/// Requires the repository of a session to be the one that a working copy is of.
///
/// # Errors
/// `CLIENT_INVALID_RELOCATION`.
pub(crate) fn check_uuid(session: &mut PooledSession<'_>, expected: &str) -> Result<()> {
    let root = session.repos_root()?;
    check_uuid_at(session, expected, &root)
}

fn check_uuid_at(session: &mut PooledSession<'_>, expected: &str, url: &Url) -> Result<()> {
    let uuid = session.uuid()?;
    if uuid == expected {
        return Ok(());
    }
    Err(Error::new(
        ErrorCode::CLIENT_INVALID_RELOCATION,
        format!("The repository at '{url}' has uuid '{uuid}', but the WC has '{expected}'"),
    ))
}

/// Requires `session` to be of the repository that a working copy comes from.
///
/// # Errors
/// `RA_UUID_MISMATCH`.
pub(crate) fn check_same(session: &mut PooledSession<'_>, expected: &str) -> Result<()> {
    let uuid = session.uuid()?;
    if uuid == expected {
        return Ok(());
    }
    Err(Error::new(
        ErrorCode::RA_UUID_MISMATCH,
        format!("Repository UUID '{uuid}' doesn't match expected UUID '{expected}'"),
    ))
}

/// Says that the working copy whose root is `path` comes from URLs that begin with `to` where they
/// begin with `from`; so do those of its externals that are of the same repository.
///
/// # Errors
/// `E155002` if `path` is no root of a working copy; `E155024` if its URL does not begin so, or
/// would be none; `E195009` if another repository is there, or its root is elsewhere.
pub fn relocate_prefix(
    context: &Context,
    path: &Dirent,
    from: &str,
    to: &str,
    ignore_externals: bool,
) -> Result<()> {
    let path = context.absolute(path);
    if !ignore_externals {
        WorkingCopy::open(&path, &context.wc)?;
    }
    let mut wc = open_root(context, &path)?;
    let base = base::node(&wc, RelPath::ROOT)?
        .ok_or_else(|| Error::from_code(ErrorCode::WC_PATH_NOT_FOUND))?;
    let new_root = new_root(base.url().as_str(), &base.repos_path, from, to)?;
    check_target(context, &new_root, &base.repos_path, &base.repos_uuid)?;
    WcLock::with(&mut wc, RelPath::ROOT, Anchor::Node, |wc, _| {
        relocate(wc, &base.repos_root, &new_root)
    })?;
    if ignore_externals {
        return Ok(());
    }
    let (from, to) = without_common_end(from, to);
    for external in wc.db().externals_below(RelPath::ROOT)? {
        if external.kind != NodeKind::Dir {
            continue;
        }
        let place = wc.local_path(&external.path);
        let is_of_it = match open_root(context, &place) {
            Ok(other) => base::node(&other, RelPath::ROOT)?
                .is_some_and(|node| node.repos_root == base.repos_root),
            Err(_) => false,
        };
        if is_of_it {
            relocate_prefix(context, &place, from, to, false)?;
        }
    }
    Ok(())
}

/// Returns the URL that a working copy's node has.
///
/// # Errors
/// Those of finding the working copy.
pub fn url_of(context: &Context, path: &Dirent) -> Result<Option<Url>> {
    let (wc, at) = WorkingCopy::open(&context.absolute(path), &context.wc)?;
    base::url(&wc, &at)
}

fn open_root(context: &Context, path: &Dirent) -> Result<WorkingCopy> {
    let cannot = |hint: &str| {
        Error::new(
            ErrorCode::WC_INVALID_OP_ON_CWD,
            format!("Cannot relocate '{path}' as it is not the root of a working copy{hint}"),
        )
    };
    match WorkingCopy::open(path, &context.wc) {
        Ok((wc, at)) if at.is_root() => Ok(wc),
        Ok((wc, at)) if wc.db().layers(&at)?.is_empty() => Err(Error::new(
            ErrorCode::WC_PATH_NOT_FOUND,
            format!("The node '{path}' was not found."),
        )),
        Ok((wc, _)) => Err(cannot(&format!("; try relocating '{}' instead", wc.root()))),
        Err(error) if error.code() == ErrorCode::WC_NOT_WORKING_COPY => Err(cannot("")),
        Err(error) => Err(error),
    }
}

/// Returns the root of the repository at its new place.
fn new_root(old: &str, repos_path: &RelPath, from: &str, to: &str) -> Result<Url> {
    let invalid = |text: String| Error::new(ErrorCode::WC_INVALID_RELOCATION, text);
    let Some(rest) = old.strip_prefix(from) else {
        return Err(invalid(format!(
            "Invalid source URL prefix: '{from}' (does not overlap target's URL '{old}')"
        )));
    };
    let new = format!("{to}{rest}");
    if !Url::is_url(&new) {
        return Err(invalid(format!(
            "Invalid relocation destination: '{new}' (not a URL)"
        )));
    }
    let mut root = Url::parse(&new)?;
    let mut below: RelPathBuf = repos_path.to_owned();
    while !below.is_root() {
        let matches = root.basename() == below.basename();
        let Some(parent) = root.parent().filter(|_| matches) else {
            return Err(invalid(format!(
                "Invalid relocation destination: '{new}' (does not point to target)"
            )));
        };
        root = parent;
        below = below.parent().unwrap_or(RelPath::ROOT).to_owned();
    }
    Ok(root)
}

/// Requires the repository to be at its new place.
fn check_target(context: &Context, root: &Url, repos_path: &RelPath, uuid: &str) -> Result<()> {
    let url = root.join(repos_path);
    let mut session = context.sessions.open(&url)?;
    if session.repos_root()? != *root {
        return Err(Error::new(
            ErrorCode::CLIENT_INVALID_RELOCATION,
            format!("'{url}' is not the root of the repository"),
        ));
    }
    check_uuid_at(&mut session, uuid, &url)
}

/// Leaves out what both end with.
fn without_common_end<'a>(from: &'a str, to: &'a str) -> (&'a str, &'a str) {
    let (mut a, mut b) = (from, to);
    while a.len() > 1
        && b.len() > 1
        && let (Some(last), Some(other)) = (a.chars().next_back(), b.chars().next_back())
        && last == other
    {
        a = &a[..a.len() - last.len_utf8()];
        b = &b[..b.len() - last.len_utf8()];
    }
    (a, b)
}
