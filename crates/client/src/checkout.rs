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
    let revision = match options.revision {
        RevisionSpec::Number(_) | RevisionSpec::Date(_) | RevisionSpec::Head => options.revision,
        RevisionSpec::Unspecified => match options.peg {
            RevisionSpec::Unspecified => RevisionSpec::Head,
            peg => peg,
        },
        _ => return Err(Error::from_code(ErrorCode::CLIENT_BAD_REVISION)),
    };
    let (mut session, url) = context.open_following(url, notify)?;
    let found = resolve_url(&mut *session, &url, options.peg, revision)?;
    let done = checkout_at(context, &mut session, &found, path, options, notify);
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
    match session.check_path(RelPath::ROOT, Some(found.rev))? {
        NodeKind::None => {
            return Err(Error::new(
                ErrorCode::RA_ILLEGAL_URL,
                format!("URL '{}' doesn't exist", found.url),
            ));
        }
        NodeKind::File => {
            return Err(Error::new(
                ErrorCode::UNSUPPORTED_FEATURE,
                format!("URL '{}' refers to a file, not a directory", found.url),
            ));
        }
        NodeKind::Dir | NodeKind::Unknown => {}
    }
    let mut wc = prepare(context, session, found, path, options.depth)?;
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
    let at = RelPath::ROOT;
    let done = update::update_opened(context, &mut wc, at, session, &options, &mut notify)?;
    Ok(done.unwrap_or(found.rev))
}

/// Opens the working copy at `path`, or makes an empty one that is marked incomplete.
fn prepare<'s>(
    context: &'s Context,
    session: &mut PooledSession<'s>,
    found: &Location,
    path: &Dirent,
    depth: Option<Depth>,
) -> Result<WorkingCopy> {
    match disk::kind(path)? {
        NodeKind::None => {
            disk::make_dir_recursively(path)?;
            create(context, session, found, path, depth)
        }
        NodeKind::Dir if disk::is_wc_root(path)? && !WorkingCopy::is_unborn(path, &context.wc) => {
            let (wc, at) = WorkingCopy::open(path, &context.wc)?;
            let here = base::node(&wc, &at)?;
            if here.is_none_or(|node| node.url() != found.url) {
                return Err(Error::new(
                    ErrorCode::WC_OBSTRUCTED_UPDATE,
                    format!("'{path}' is already a working copy for a different URL"),
                ));
            }
            if at.is_root() {
                wc.complete()?;
            }
            Ok(wc)
        }
        NodeKind::Dir => create(context, session, found, path, depth),
        NodeKind::File | NodeKind::Unknown => Err(Error::new(
            ErrorCode::WC_NODE_KIND_CHANGE,
            format!("'{path}' already exists and is not a directory"),
        )),
    }
}

fn create<'s>(
    context: &'s Context,
    session: &mut PooledSession<'s>,
    found: &Location,
    path: &Dirent,
    depth: Option<Depth>,
) -> Result<WorkingCopy> {
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
    WorkingCopy::create(path, &node, &context.wc)
}
