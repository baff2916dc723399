//! `svn checkout`: a new working copy of a folder of a repository.

use sylvan_core::opt::RevisionSpec;
use sylvan_core::{
    Depth, Dirent, Error, ErrorCode, NodeKind, RelPath, RelPathBuf, Result, Revnum, Url,
};
use sylvan_io::Category;
use sylvan_wc::notify::NotifyFn;
use sylvan_wc::{RootNode, WorkingCopy, base};

use crate::location::{Location, resolve_url};
use crate::update::{self, UpdateOptions};
use crate::{Context, PooledSession, disk};

/// What is checked out, and how.
#[derive(Clone, Debug, Default)]
pub struct CheckoutOptions {
    /// The revision in which `url` names the folder; HEAD by default.
    pub peg: RevisionSpec,
    /// The revision that is checked out; the peg revision by default.
    pub revision: RevisionSpec,
    /// How deep; `None` is all, or what an existing working copy has.
    pub depth: Option<Depth>,
    /// Whether `svn:externals` are left out.
    pub ignore_externals: bool,
    /// Whether unversioned nodes in the way are taken over.
    pub force: bool,
}

/// Checks out the folder `url` into the folder `path` (absolute), which is made if it is missing.
/// An existing working copy of the same URL is brought up to date, so that an interrupted checkout
/// goes on.
///
/// # Errors
/// `E170000` if the URL does not exist, `E200007` if it is a file, `E155000` if there is a working
/// copy of another URL, `E155018` if something else is in the way; what update gives.
pub fn checkout(
    context: &Context,
    url: &Url,
    path: &Dirent,
    options: &CheckoutOptions,
    notify: &mut NotifyFn<'_>,
) -> Result<Revnum> {
    let revision = match (options.revision, options.peg) {
        (RevisionSpec::Unspecified, RevisionSpec::Unspecified) => RevisionSpec::Head,
        (RevisionSpec::Unspecified, peg) => peg,
        (revision, _) => revision,
    };
    if !matches!(
        revision,
        RevisionSpec::Number(_) | RevisionSpec::Date(_) | RevisionSpec::Head
    ) {
        return Err(Error::from_code(ErrorCode::CLIENT_BAD_REVISION));
    }
    let (mut session, url) = context.open_following(url, notify)?;
    let found = resolve_url(&mut *session, &url, options.peg, revision)?;
    check_kind(&mut session, &found)?;
    let wc = match versioned_folder(context, path)? {
        Some((wc, at)) => opened(wc, &at, &found, path)?,
        None => prepare(context, &mut session, &found, path, options.depth)?,
    };
    let done = fill(context, wc, &mut session, &found, options, notify);
    context.wait_for_timestamps(path);
    let rev = done?;
    session.give_back();
    Ok(rev)
}

/// Checks out what was found, with the session that is open there.
pub(crate) fn checkout_at<'s>(
    context: &'s Context,
    session: &mut PooledSession<'s>,
    found: &Location,
    path: &Dirent,
    options: &CheckoutOptions,
    notify: &mut NotifyFn<'_>,
) -> Result<Revnum> {
    check_kind(session, found)?;
    let wc = prepare(context, session, found, path, options.depth)?;
    fill(context, wc, session, found, options, notify)
}

/// Requires a folder.
fn check_kind(session: &mut PooledSession<'_>, found: &Location) -> Result<()> {
    match session.check_path(RelPath::ROOT, Some(found.rev))? {
        NodeKind::None => Err(Error::new(
            ErrorCode::RA_ILLEGAL_URL,
            format!("URL '{}' doesn't exist", found.url),
        )),
        NodeKind::File => Err(Error::new(
            ErrorCode::UNSUPPORTED_FEATURE,
            format!("URL '{}' refers to a file, not a directory", found.url),
        )),
        NodeKind::Dir | NodeKind::Unknown => Ok(()),
    }
}

/// Finds the folder `path` in a working copy whose root is above it, if it is versioned there.
fn versioned_folder(context: &Context, path: &Dirent) -> Result<Option<(WorkingCopy, RelPathBuf)>> {
    if disk::kind(path)? != NodeKind::Dir || disk::is_wc_root(path)? {
        return Ok(None);
    }
    match WorkingCopy::open(path, &context.wc) {
        Ok((wc, at)) if base::kind(&wc, &at)? == NodeKind::Dir => Ok(Some((wc, at))),
        Ok(_) => Ok(None),
        Err(error) if error.code() == ErrorCode::WC_NOT_WORKING_COPY => Ok(None),
        Err(error) => Err(error),
    }
}

/// Brings what was found into the working copy.
fn fill<'s>(
    context: &'s Context,
    (mut wc, at): (WorkingCopy, RelPathBuf),
    session: &mut PooledSession<'s>,
    found: &Location,
    options: &CheckoutOptions,
    notify: &mut NotifyFn<'_>,
) -> Result<Revnum> {
    let options = UpdateOptions {
        revision: RevisionSpec::Number(found.rev),
        depth: options.depth,
        depth_is_sticky: true,
        ignore_externals: options.ignore_externals,
        allow_unversioned_obstructions: options.force,
        adds_as_modification: true,
        parents: false,
    };
    let mut notify = |what: &_| update::note_restored(context, what, notify);
    let done = update::update_opened(context, &mut wc, &at, session, &options, &mut notify)?;
    Ok(done.unwrap_or(found.rev))
}

/// Opens the working copy at `path`, or makes an empty one that is marked incomplete.
fn prepare<'s>(
    context: &'s Context,
    session: &mut PooledSession<'s>,
    found: &Location,
    path: &Dirent,
    depth: Option<Depth>,
) -> Result<(WorkingCopy, RelPathBuf)> {
    match disk::kind(path)? {
        NodeKind::None => {
            disk::make_dir_recursively(path)?;
            created(context, session, found, path, depth)
        }
        NodeKind::Dir if disk::is_wc_root(path)? && !WorkingCopy::is_unborn(path, &context.wc) => {
            let (wc, at) = WorkingCopy::open(path, &context.wc)?;
            opened(wc, &at, found, path)
        }
        NodeKind::Dir => created(context, session, found, path, depth),
        NodeKind::File | NodeKind::Unknown => Err(Error::new(
            ErrorCode::WC_NODE_KIND_CHANGE,
            format!("'{path}' already exists and is not a directory"),
        )),
    }
}

/// Requires the folder to be one of the URL that was found, and lets an interrupted checkout go on.
fn opened(
    wc: WorkingCopy,
    at: &RelPath,
    found: &Location,
    path: &Dirent,
) -> Result<(WorkingCopy, RelPathBuf)> {
    let here = base::node(&wc, at)?;
    if here.is_none_or(|node| node.url() != found.url) {
        return Err(Error::new(
            ErrorCode::WC_OBSTRUCTED_UPDATE,
            format!("'{path}' is already a working copy for a different URL"),
        ));
    }
    if at.is_root() {
        wc.complete()?;
    }
    Ok((wc, at.to_owned()))
}

fn created<'s>(
    context: &'s Context,
    session: &mut PooledSession<'s>,
    found: &Location,
    path: &Dirent,
    depth: Option<Depth>,
) -> Result<(WorkingCopy, RelPathBuf)> {
    // Elsewhere nonsense counts as not set.
    let (section, option) = ("working-copy", "exclusive-locking");
    context
        .config
        .get_bool(Category::Config, section, option, false)?;
    let repos_root = session.repos_root()?;
    let repos_path = found
        .url
        .strip_prefix(&repos_root)
        .unwrap_or_else(RelPathBuf::root);
    let node = RootNode {
        repos_path,
        repos_uuid: session.uuid()?,
        repos_root,
        revision: found.rev,
        depth: depth.unwrap_or(Depth::Infinity),
    };
    Ok((
        WorkingCopy::create(path, &node, &context.wc)?,
        RelPathBuf::root(),
    ))
}
