//! The summary of `svn mergeinfo`: where two branches were together last.

use sylvan_core::mergeinfo::{Mergeinfo, Part, RangeList};
use sylvan_core::opt::RevisionSpec;
use sylvan_core::{Error, ErrorCode, RelPath, Result, Revnum, Url};

use crate::Context;
use crate::mergeinfo::{self, Options};
use crate::resolve::{self, PathRev};
use crate::target::{PathOrUrl, Target};
use crate::wc_node::WcNode;

/// How two branches are related.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Where they parted.
    pub ancestor: (Url, Revnum),
    /// Up to where one is merged into the other: a revision of the source, or of the target if a
    /// merge would be like a reintegration.
    pub base: Revnum,
    /// The tip of the source.
    pub source: (Url, Revnum),
    /// The tip of the target.
    pub target: (Url, Revnum),
    /// The root of the repository.
    pub repos_root: Url,
    /// Whether the target was merged into the source last.
    pub is_reintegration: bool,
}

/// A branch and where it was.
struct Branch {
    tip: PathRev,
    history: Mergeinfo,
}

/// Finds out how the branches `source` and `target` are related.
///
/// # Errors
/// `CLIENT_NOT_READY_TO_MERGE` if they are not, `UNSUPPORTED_FEATURE` without merge tracking.
pub fn summary(context: &Context, source: &Target, target: &Target) -> Result<Summary> {
    if let (PathOrUrl::Path(path), RevisionSpec::Working) = (&target.at, target.peg) {
        let node = WcNode::open(context, path)?;
        if node.origin(false)?.url.is_none() {
            return Err(Error::new(
                ErrorCode::CLIENT_UNRELATED_RESOURCES,
                format!(
                    "Can't perform automatic merge into '{}' because it is locally added and \
                     therefore not related to the merge source",
                    node.abspath()
                ),
            ));
        }
    }
    let source = branch(context, source)?;
    let target = branch(context, target)?;
    let ancestor = youngest_common(&source, &target)?;
    let ancestor_rev = ancestor.1;
    let on_source = last_merged(context, ancestor_rev, &source, &target.tip)?;
    let on_target = last_merged(context, ancestor_rev, &target, &source.tip)?;
    let is_reintegration = on_source < on_target;
    Ok(Summary {
        ancestor,
        base: on_source.max(on_target),
        repos_root: source.tip.repos_root.clone(),
        source: (source.tip.url, source.tip.rev),
        target: (target.tip.url, target.tip.rev),
        is_reintegration,
    })
}

fn branch(context: &Context, target: &Target) -> Result<Branch> {
    let (mut session, tip) = resolve::open(context, target, RevisionSpec::Unspecified)?;
    let history = mergeinfo::history(&mut *session, &tip, None)?;
    session.give_back();
    Ok(Branch { tip, history })
}

fn youngest_common(source: &Branch, target: &Branch) -> Result<(Url, Revnum)> {
    let mut found: Option<(&str, i64)> = None;
    for (path, ranges) in &source.history.0 {
        let Some(others) = target.history.0.get(path) else {
            continue;
        };
        if let Some(last) = ranges.part(others, Part::Inside).0.last()
            && found.is_none_or(|(_, rev)| last.end > rev)
        {
            found = Some((path, last.end));
        }
    }
    let place = found.and_then(|(path, rev)| Some((path, Revnum::new(rev)?)));
    let Some((path, rev)) = place else {
        let (one, other) = (&source.tip, &target.tip);
        return Err(Error::new(
            ErrorCode::CLIENT_NOT_READY_TO_MERGE,
            format!(
                "'{}@{}' must be ancestrally related to '{}@{}'",
                one.url, one.rev, other.url, other.rev
            ),
        ));
    };
    let path = RelPath::new(path.trim_start_matches('/'))?;
    Ok((source.tip.repos_root.join(path), rev))
}

/// Returns up to where a branch was merged into another; that is where they parted if nothing was.
fn last_merged(
    context: &Context,
    ancestor: Revnum,
    from: &Branch,
    into: &PathRev,
) -> Result<Revnum> {
    let at = |place: &PathRev| Target {
        at: PathOrUrl::Url(place.url.clone()),
        peg: RevisionSpec::Number(place.rev),
    };
    let first = |merged: bool, start: Revnum, end: Revnum| -> Result<Option<Revnum>> {
        let options = Options {
            merged,
            below: true,
            range: Some((RevisionSpec::Number(start), RevisionSpec::Number(end))),
            revprops: Vec::new(),
        };
        let mut found = None;
        let done = mergeinfo::revisions(
            context,
            &at(into),
            &at(&from.tip),
            &options,
            &mut |entry, _| {
                found = entry.rev;
                Err(Error::from_code(ErrorCode::CEASE_INVOCATION))
            },
        );
        match done {
            Err(error) if found.is_none() || !error.has_code(ErrorCode::CEASE_INVOCATION) => {
                Err(error)
            }
            _ => Ok(found),
        }
    };
    let Some(youngest) = first(true, from.tip.rev, ancestor)? else {
        return Ok(ancestor);
    };
    let oldest_left = first(false, ancestor, youngest)?;
    let base = oldest_left.and_then(Revnum::previous).unwrap_or(youngest);
    // The branch may not have been there in that revision.
    let span = RangeList::of(ancestor.number().saturating_sub(1).max(0), base.number());
    let histories = from.history.0.values();
    let last = histories
        .filter_map(|ranges| {
            ranges
                .part(&span, Part::Inside)
                .0
                .last()
                .map(|range| range.end)
        })
        .max();
    Ok(last.and_then(Revnum::new).unwrap_or(ancestor))
}
