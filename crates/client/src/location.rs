//! Nodes of a repository at a revision: peg and operative revisions.

use sylvan_core::opt::RevisionSpec;
use sylvan_core::{Error, ErrorCode, RelPath, Result, Revnum, Url};
use sylvan_ra::Session;

/// A node of a repository: where it is at a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The node's URL at `rev`.
    pub url: Url,
    /// The revision.
    pub rev: Revnum,
}

/// Finds the node that is at `url` in the peg revision, and returns where it is in the operative
/// one; the session, open at `url`, is moved there.
///
/// The peg revision defaults to HEAD, the operative one to the peg revision.
///
/// # Errors
/// `CLIENT_BAD_REVISION` for BASE, COMMITTED, PREV and WORKING, which a URL does not have;
/// `CLIENT_UNRELATED_RESOURCES` if the node did not exist in the operative revision.
pub fn resolve_url(
    session: &mut dyn Session,
    url: &Url,
    peg: RevisionSpec,
    operative: RevisionSpec,
) -> Result<Location> {
    let mut youngest = None;
    let peg = default_to(peg, RevisionSpec::Head);
    let operative = default_to(operative, peg);
    let peg_rev = url_revision(session, peg, &mut youngest)?;
    let rev = if operative == peg {
        peg_rev
    } else {
        url_revision(session, operative, &mut youngest)?
    };
    let url = locate(session, url, peg_rev, rev, youngest)?;
    if session.url() != &url {
        session.reparent(&url)?;
    }
    Ok(Location { url, rev })
}

/// Returns `spec`, or `default` if nothing was said.
pub fn default_to(spec: RevisionSpec, default: RevisionSpec) -> RevisionSpec {
    if spec == RevisionSpec::Unspecified {
        default
    } else {
        spec
    }
}

/// Returns the number of a revision that needs no working copy. `youngest` is what HEAD was found
/// to be, so that one command sees one HEAD.
///
/// # Errors
/// `CLIENT_BAD_REVISION` for revisions that only working copies have.
pub fn url_revision(
    session: &mut dyn Session,
    spec: RevisionSpec,
    youngest: &mut Option<Revnum>,
) -> Result<Revnum> {
    match spec {
        RevisionSpec::Number(rev) => Ok(rev),
        RevisionSpec::Head | RevisionSpec::Unspecified => match *youngest {
            Some(rev) => Ok(rev),
            None => Ok(*youngest.insert(session.latest_rev()?)),
        },
        RevisionSpec::Date(time) => {
            let rev = session.dated_rev(time)?;
            Ok(youngest.map_or(rev, |youngest| rev.min(youngest)))
        }
        RevisionSpec::Base
        | RevisionSpec::Working
        | RevisionSpec::Committed
        | RevisionSpec::Previous => Err(Error::new(
            ErrorCode::CLIENT_BAD_REVISION,
            "PREV, BASE, or COMMITTED revision keywords are invalid for URL",
        )),
    }
}

/// Returns the URL in `rev` of the node at `url` in `peg`; the session is open at `url`.
///
/// # Errors
/// `CLIENT_UNRELATED_RESOURCES` if the node did not exist then; `FS_NO_SUCH_REVISION`.
pub fn locate(
    session: &mut dyn Session,
    url: &Url,
    peg: Revnum,
    rev: Revnum,
    youngest: Option<Revnum>,
) -> Result<Url> {
    if rev == peg {
        return Ok(url.clone());
    }
    let root = session.repos_root()?;
    if &root == url {
        let youngest = match youngest {
            Some(youngest) => youngest,
            None => session.latest_rev()?,
        };
        if rev > youngest {
            return Err(Error::new(
                ErrorCode::FS_NO_SUCH_REVISION,
                format!("No such revision {rev}"),
            ));
        }
        return Ok(root);
    }
    let found = session.locations(RelPath::ROOT, peg, &[rev])?;
    match found.into_iter().find(|(at, _)| *at == rev) {
        Some((_, path)) => Ok(root.join(&path)),
        None => Err(Error::new(
            ErrorCode::CLIENT_UNRELATED_RESOURCES,
            format!("Unable to find repository location for '{url}' in revision {rev}"),
        )),
    }
}
