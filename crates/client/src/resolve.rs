//! From targets to nodes of a repository: peg and operative revisions, sessions.

use sylvan_core::opt::RevisionSpec;
use sylvan_core::{Dirent, Error, ErrorCode, RelPathBuf, Result, Revnum, Url};
use sylvan_ra::Session;
use sylvan_wc::notify::NotifyFn;

use crate::location::{self, default_to, url_revision};
use crate::target::{PathOrUrl, Target};
use crate::wc_node::WcNode;
use crate::{Context, PooledSession};

/// A node of a repository at a revision, with what names its repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathRev {
    /// The node's URL.
    pub url: Url,
    /// The revision in which it has that URL.
    pub rev: Revnum,
    /// The repository's root.
    pub repos_root: Url,
    /// The repository's UUID.
    pub repos_uuid: String,
}

impl PathRev {
    /// Returns the path below the repository root.
    pub fn repos_path(&self) -> RelPathBuf {
        self.url.strip_prefix(&self.repos_root).unwrap_or_default()
    }
}

/// Tells where servers redirect a URL to; the session that learns it waits for the operation that
/// follows. Returns the target as it is to be used from now on; a path is left alone.
///
/// # Errors
/// What opening gives; `CLIENT_CYCLE_DETECTED` if servers send us in circles.
pub fn follow(context: &Context, target: Target, notify: &mut NotifyFn<'_>) -> Result<Target> {
    let PathOrUrl::Url(url) = &target.at else {
        return Ok(target);
    };
    let (session, moved_to) = context.open_following(url, notify)?;
    session.give_back();
    Ok(Target {
        at: PathOrUrl::Url(moved_to),
        peg: target.peg,
    })
}

/// Opens a session at a target as it is in the operative revision.
///
/// The peg revision defaults to HEAD for a URL and to WORKING for a path, the operative revision
/// to the peg revision.
///
/// # Errors
/// `ENTRY_MISSING_URL` if a path has no URL, `WC_PATH_NOT_FOUND` if it is not versioned,
/// `CLIENT_UNRELATED_RESOURCES` if the node did not exist in the operative revision, and what
/// opening gives.
pub fn open<'a>(
    context: &'a Context,
    target: &Target,
    operative: RevisionSpec,
) -> Result<(PooledSession<'a>, PathRev)> {
    let node = match &target.at {
        PathOrUrl::Url(_) => None,
        PathOrUrl::Path(path) => Some(WcNode::open(context, path)?),
    };
    open_node(context, target, node.as_ref(), operative)
}

/// As [`open`]; `node` is the target's, if it is a path.
///
/// # Errors
/// As [`open`].
pub(crate) fn open_node<'a>(
    context: &'a Context,
    target: &Target,
    node: Option<&WcNode>,
    operative: RevisionSpec,
) -> Result<(PooledSession<'a>, PathRev)> {
    let url = match (&target.at, node) {
        (PathOrUrl::Url(url), _) => url.clone(),
        (PathOrUrl::Path(path), Some(node)) => node.url()?.ok_or_else(|| missing_url(path))?,
        (PathOrUrl::Path(_), None) => unreachable!("paths are resolved with their node"),
    };
    // Whoever wants to tell of redirects called `follow` before.
    let mut session = context.sessions.open_following(&url, &mut |_| Ok(()))?;
    let moved_to = PathOrUrl::Url(session.url().clone());
    let at = locate(
        context,
        &mut session,
        if target.at.is_url() {
            &moved_to
        } else {
            &target.at
        },
        node,
        target.peg,
        operative,
    )?;
    if session.url() != &at.url {
        session.reparent(&at.url)?;
    }
    Ok((session, at))
}

/// Says that a node has no URL.
pub(crate) fn missing_url(path: &Dirent) -> Error {
    Error::new(
        ErrorCode::ENTRY_MISSING_URL,
        format!("'{}' has no URL", path.as_str()),
    )
}

/// Finds where a target is in the operative revision; the session is one to its repository.
///
/// # Errors
/// As [`open`].
pub(crate) fn locate<'a>(
    context: &'a Context,
    session: &mut PooledSession<'a>,
    at: &PathOrUrl,
    node: Option<&WcNode>,
    peg: RevisionSpec,
    operative: RevisionSpec,
) -> Result<PathRev> {
    let default = if at.is_url() {
        RevisionSpec::Head
    } else {
        RevisionSpec::Working
    };
    let peg = default_to(peg, default);
    let operative = default_to(operative, peg);
    let mut place = Place::find(at, node, peg)?;
    if place.is_copy && session.url() != &place.url {
        *session = context.sessions.open(&place.url)?;
    }
    let mut youngest = None;
    let peg_rev = match place.peg.take() {
        Some(rev) => rev,
        None => revision(&mut **session, node, peg, &mut youngest)?,
    };
    let rev = revision(&mut **session, node, operative, &mut youngest)?;
    let url = location::locate(&mut **session, &place.url, peg_rev, rev, youngest)?;
    Ok(PathRev {
        url,
        rev,
        repos_root: session.repos_root()?,
        repos_uuid: session.uuid()?,
    })
}

/// Where to look for a target in the repository: its URL, and the peg revision if the working copy
/// says it (a copied node is looked for at its source).
struct Place {
    url: Url,
    peg: Option<Revnum>,
    is_copy: bool,
}

impl Place {
    fn find(at: &PathOrUrl, node: Option<&WcNode>, peg: RevisionSpec) -> Result<Self> {
        let node = match (at, node) {
            (PathOrUrl::Path(_), Some(node)) => node,
            (PathOrUrl::Url(url), _) => {
                return Ok(Self {
                    url: url.clone(),
                    peg: None,
                    is_copy: false,
                });
            }
            (PathOrUrl::Path(_), None) => unreachable!("paths are resolved with their node"),
        };
        if peg == RevisionSpec::Working {
            let origin = node.origin(false)?;
            if let Some(url) = origin.url {
                return Ok(Self {
                    url,
                    peg: origin.rev,
                    is_copy: origin.is_copy,
                });
            }
        }
        match node.url()? {
            Some(url) => Ok(Self {
                url,
                peg: None,
                is_copy: false,
            }),
            None => Err(Error::new(
                ErrorCode::ENTRY_MISSING_URL,
                format!("'{at}' has no URL"),
            )),
        }
    }
}

/// Returns the number of a revision; those that a working copy has are those of `node`.
///
/// # Errors
/// `CLIENT_BAD_REVISION` if it has none, or if there is no node.
pub(crate) fn revision(
    session: &mut dyn Session,
    node: Option<&WcNode>,
    spec: RevisionSpec,
    youngest: &mut Option<Revnum>,
) -> Result<Revnum> {
    match (spec, node) {
        (RevisionSpec::Working | RevisionSpec::Base, Some(node)) => node.base_revision(),
        (RevisionSpec::Committed, Some(node)) => node.committed_revision(),
        (RevisionSpec::Previous, Some(node)) => node.previous_revision(),
        _ => url_revision(session, spec, youngest),
    }
}

/// Tells whether a revision can be read in the working copy alone.
pub(crate) const fn is_local(spec: RevisionSpec) -> bool {
    matches!(
        spec,
        RevisionSpec::Committed | RevisionSpec::Base | RevisionSpec::Working
    )
}

/// Returns the root of the repository that a URL is in.
///
/// # Errors
/// What opening a session gives.
pub fn repos_root(context: &Context, url: &Url) -> Result<Url> {
    let mut session = context.sessions.open(url)?;
    let root = session.repos_root()?;
    session.give_back();
    Ok(root)
}

/// Returns the root of the repository that a working copy's node is from; `None` if it is not
/// versioned.
///
/// # Errors
/// Those of the database.
pub fn path_repos_root(context: &Context, path: &Dirent) -> Result<Option<Url>> {
    let root = WcNode::open(context, path).and_then(|node| node.repos_root());
    match root {
        Err(error)
            if [ErrorCode::WC_PATH_NOT_FOUND, ErrorCode::WC_NOT_WORKING_COPY]
                .contains(&error.code()) =>
        {
            Ok(None)
        }
        root => root,
    }
}
