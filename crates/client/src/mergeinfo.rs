//! `svn mergeinfo`: which revisions were merged from one branch to another, and which could be.

use std::collections::{BTreeMap, BTreeSet};

use sylvan_core::mergeinfo::{Mergeinfo, Part, RangeList};
use sylvan_core::opt::RevisionSpec;
use sylvan_core::{Error, ErrorCode, RelPath, RelPathBuf, Result, Revnum};
use sylvan_ra::{LogEntry, LogOptions, MergeinfoInheritance, Session};

use crate::resolve::{self, PathRev};
use crate::target::{PathOrUrl, Target};
use crate::wc_node::WcNode;
use crate::{Context, PooledSession};

const MERGEINFO: &str = "svn:mergeinfo";

/// Which revisions are wanted.
#[derive(Clone, Debug)]
pub struct Options {
    /// Those that were merged, rather than those that could be.
    pub merged: bool,
    /// Whether what was merged into nodes below the target counts too.
    pub below: bool,
    /// The range of the source's revisions, if it is not all.
    pub range: Option<(RevisionSpec, RevisionSpec)>,
    /// The revision properties wanted.
    pub revprops: Vec<String>,
}

/// Receives revisions, and whether they were merged in part only.
pub type RevReceiver<'a> = dyn FnMut(LogEntry, bool) -> Result<()> + 'a;

/// Gives the revisions of `source` that were merged into `target`, or could be, to `receive`.
///
/// # Errors
/// `UNSUPPORTED_FEATURE` without merge tracking, `CLIENT_BAD_REVISION` for a range that only a
/// working copy knows.
pub fn revisions(
    context: &Context,
    target: &Target,
    source: &Target,
    options: &Options,
    receive: &mut RevReceiver<'_>,
) -> Result<()> {
    check_range(options)?;
    let node = match &target.at {
        PathOrUrl::Url(_) => None,
        PathOrUrl::Path(path) => Some(WcNode::open(context, path)?),
    };
    let (mut session, at) =
        resolve::open_node(context, target, node.as_ref(), RevisionSpec::Unspecified)?;
    let own_path = at.repos_path();
    let mut catalog = catalog(&mut session, &at, node.as_ref(), options.below)?;
    if catalog.is_empty() {
        if options.merged {
            return Ok(());
        }
        catalog.insert(own_path.clone(), Mergeinfo::default());
    }
    let target_history = if options.merged {
        Mergeinfo::default()
    } else {
        history(&mut *session, &at, None)?
    };
    session.give_back();
    let (mut session, source_at) = resolve::open(context, source, RevisionSpec::Unspecified)?;
    let range = numbers(context, &mut session, source, options)?;
    let bounds = range.map(|(start, end)| (start.max(end), start.min(end)));
    let source_history = history(&mut *session, &source_at, bounds)?;
    let found = Found::of(
        &catalog,
        &own_path,
        &source_history,
        &target_history,
        options.merged,
    );
    let Some((ranges, youngest)) = found.ranges(&source_history, options.merged) else {
        return Ok(());
    };
    let last = RangeList::of(youngest - 1, youngest);
    let place = source_history
        .0
        .iter()
        .find(|(_, ranges)| !last.part(ranges, Part::Inside).is_empty());
    let Some((place, _)) = place else {
        return Ok(());
    };
    session.move_to(
        &at.repos_root
            .join(RelPath::new(place.trim_start_matches('/'))?),
    )?;
    let filter = Filter {
        merged: options.merged,
        sources: source_history.0.keys().map(String::as_str).collect(),
        target: own_path.to_fspath(),
        catalog: &catalog,
        ranges: &ranges,
    };
    let oldest = ranges.0.first().map_or(0, |range| range.start);
    let (oldest, youngest) = (Revnum::new(oldest), Revnum::new(youngest));
    let backwards = range.is_some_and(|(start, end)| start > end);
    let (start, end) = if backwards {
        (youngest, oldest)
    } else {
        (oldest, youngest)
    };
    let log = LogOptions {
        paths: vec![RelPathBuf::root()],
        start,
        end,
        limit: 0,
        discover_changed_paths: true,
        strict_node_history: false,
        include_merged_revisions: false,
        revprops: Some(options.revprops.clone()),
    };
    session.log(&log, &mut |entry| {
        context.cancel.check()?;
        match filter.judge(&entry) {
            Some(in_part) => receive(entry, in_part),
            None => Ok(()),
        }
    })?;
    session.give_back();
    Ok(())
}

fn check_range(options: &Options) -> Result<()> {
    let is_fit = |spec| {
        matches!(
            spec,
            RevisionSpec::Number(_) | RevisionSpec::Date(_) | RevisionSpec::Head
        )
    };
    match options.range {
        Some((start, end)) if !is_fit(start) || !is_fit(end) => {
            Err(Error::from_code(ErrorCode::CLIENT_BAD_REVISION))
        }
        _ => Ok(()),
    }
}

fn numbers(
    context: &Context,
    session: &mut PooledSession<'_>,
    source: &Target,
    options: &Options,
) -> Result<Option<(Revnum, Revnum)>> {
    let Some((start, end)) = options.range else {
        return Ok(None);
    };
    let node = match &source.at {
        PathOrUrl::Url(_) => None,
        PathOrUrl::Path(path) => Some(WcNode::open(context, path)?),
    };
    let mut head = None;
    let mut number = |spec| resolve::revision(&mut **session, node.as_ref(), spec, &mut head);
    Ok(Some((number(start)?, number(end)?)))
}

/// Returns what was merged into the target, and into nodes below it, by path in the repository.
fn catalog(
    session: &mut PooledSession<'_>,
    at: &PathRev,
    node: Option<&WcNode>,
    below: bool,
) -> Result<BTreeMap<RelPathBuf, Mergeinfo>> {
    let path = at.repos_path();
    let inherited = MergeinfoInheritance::Inherited;
    let found = session.mergeinfo(&[RelPathBuf::root()], Some(at.rev), inherited, below)?;
    let mut catalog: BTreeMap<_, _> = found
        .into_iter()
        .map(|(child, mergeinfo)| (path.join(&child), mergeinfo))
        .collect();
    let local = match node {
        Some(node) => {
            let origin = node.origin(false)?;
            let is_here = origin.url.as_ref() == Some(&at.url) && origin.rev == Some(at.rev);
            if is_here {
                local_mergeinfo(node)?
            } else {
                None
            }
        }
        None => None,
    };
    if let Some(local) = local {
        catalog.insert(path, local);
    }
    Ok(catalog)
}

/// Returns the mergeinfo that a node has in the working copy.
fn local_mergeinfo(node: &WcNode) -> Result<Option<Mergeinfo>> {
    match node.working_props()?.get(MERGEINFO) {
        Some(value) => Mergeinfo::parse(value).map(Some),
        None => Ok(None),
    }
}

/// Returns where a node was, as mergeinfo; `bounds` are the youngest and the oldest revision.
pub(crate) fn history(
    session: &mut dyn Session,
    at: &PathRev,
    bounds: Option<(Revnum, Revnum)>,
) -> Result<Mergeinfo> {
    if session.url() != &at.url {
        session.reparent(&at.url)?;
    }
    let (youngest, oldest) = bounds.unwrap_or((at.rev, Revnum::ZERO));
    let segments =
        session.location_segments(RelPath::ROOT, Some(at.rev), Some(youngest), Some(oldest))?;
    Ok(Mergeinfo::from_segments(&segments))
}

fn intersection(one: &Mergeinfo, other: &Mergeinfo) -> Mergeinfo {
    let mut both = Mergeinfo::default();
    for (path, ranges) in &one.0 {
        let Some(others) = other.0.get(path) else {
            continue;
        };
        let common = ranges.part(others, Part::Inside);
        if !common.is_empty() {
            both.0.insert(path.clone(), common);
        }
    }
    both
}

/// Returns the ranges that hold for everything below, or those that do not.
fn split(ranges: &RangeList, inheritable: bool) -> RangeList {
    let kept = ranges
        .0
        .iter()
        .filter(|range| range.inheritable == inheritable);
    RangeList(kept.copied().collect())
}

fn set_inheritable(ranges: &RangeList, inheritable: bool) -> RangeList {
    let mut set = ranges.clone();
    for range in &mut set.0 {
        range.inheritable = inheritable;
    }
    set
}

/// What was merged from the source, over the target and all nodes below it.
struct Found {
    /// Merged into all of them.
    whole: RangeList,
    /// Merged into some of them, or not into what is below.
    in_part: RangeList,
}

impl Found {
    fn of(
        catalog: &BTreeMap<RelPathBuf, Mergeinfo>,
        target: &RelPath,
        source_history: &Mergeinfo,
        target_history: &Mergeinfo,
        merged: bool,
    ) -> Self {
        let (mut whole, mut in_part) = (RangeList::default(), RangeList::default());
        let mut by_node = Vec::new();
        for (path, mergeinfo) in catalog {
            let below = path.strip_prefix(target).unwrap_or(RelPath::ROOT);
            let source = source_history.for_child(below);
            let mut mergeinfo = mergeinfo.clone();
            if !merged {
                let common = intersection(&target_history.for_child(below), &source);
                mergeinfo.merge(&common);
            }
            let mut here = RangeList::default();
            for (path, ranges) in &mergeinfo.0 {
                let Some(from) = source.0.get(path) else {
                    continue;
                };
                let partly = split(ranges, false).part(from, Part::Inside);
                in_part.merge(&set_inheritable(&partly, false));
                here.merge(&split(ranges, true).part(from, Part::Inside));
            }
            whole.merge(&here);
            by_node.push(here);
        }
        for here in by_node {
            let missing = whole.part(&here, Part::Outside);
            if !missing.is_empty() {
                in_part.merge(&set_inheritable(&missing, false));
                whole = whole.part(&missing, Part::Outside);
            }
        }
        Self { whole, in_part }
    }

    /// Returns the ranges that may be shown, and the youngest revision in them.
    fn ranges(self, source_history: &Mergeinfo, merged: bool) -> Option<(RangeList, i64)> {
        let ranges = if merged {
            let mut all = self.whole;
            all.merge(&self.in_part);
            all
        } else {
            let mut all = RangeList::default();
            for ranges in source_history.0.values() {
                all.merge(ranges);
            }
            let mut all = all.part(&self.in_part, Part::Outside);
            all.merge(&self.in_part);
            let mut left = split(&all, true).part(&self.whole, Part::Outside);
            left.merge(&split(&all, false));
            left
        };
        let youngest = ranges.0.last()?.end;
        Some((ranges, youngest))
    }
}

/// Decides which revisions of the log are shown.
struct Filter<'a> {
    merged: bool,
    sources: BTreeSet<&'a str>,
    target: String,
    catalog: &'a BTreeMap<RelPathBuf, Mergeinfo>,
    ranges: &'a RangeList,
}

impl Filter<'_> {
    /// Returns whether a revision was merged in part only; `None` if it is not shown.
    fn judge(&self, entry: &LogEntry) -> Option<bool> {
        let rev = entry.rev.filter(|rev| *rev > Revnum::ZERO)?;
        let this = RangeList::of(rev.number() - 1, rev.number());
        if self.ranges.part(&this, Part::Inside).is_empty() {
            return None;
        }
        let in_part = split(self.ranges, true)
            .part(&this, Part::Inside)
            .is_empty();
        if !in_part && self.merged {
            return Some(false);
        }
        let Some(changed) = &entry.changed_paths else {
            return Some(in_part);
        };
        let everywhere = changed
            .iter()
            .all(|(path, change)| self.is_merged(path, change.action, rev, &this));
        match (everywhere, self.merged) {
            (true, true) => Some(false),
            (true, false) => None,
            (false, _) => Some(in_part),
        }
    }

    /// Tells whether the change of a path is merged, or is none of the source's.
    fn is_merged(&self, path: &str, action: char, rev: Revnum, this: &RangeList) -> bool {
        let found = self
            .sources
            .iter()
            .find_map(|source| Some((*source, below(source, path)?)));
        let Some((source, rest)) = found else {
            return true;
        };
        if rest.is_empty() && action != 'M' {
            return true;
        }
        let affected = if rest.is_empty() {
            self.target.clone()
        } else {
            format!("{}/{rest}", self.target.trim_end_matches('/'))
        };
        let nearest = self
            .catalog
            .iter()
            .filter(|(node, _)| below(&node.to_fspath(), &affected).is_some())
            .max_by_key(|(node, _)| node.depth());
        let Some((node, mergeinfo)) = nearest else {
            return false;
        };
        let is_self = node.to_fspath() == affected;
        if is_self
            && action != 'M'
            && let Some(last) = mergeinfo.0.get(path).and_then(|ranges| ranges.0.last())
            && last.end > rev.number()
        {
            return true;
        }
        mergeinfo.0.iter().any(|(from, ranges)| {
            let counted = if is_self {
                ranges.clone()
            } else {
                split(ranges, true)
            };
            below(source, from).is_some() && !counted.part(this, Part::Inside).is_empty()
        })
    }
}

/// Returns what is left of a path below another; both begin with a slash.
fn below<'p>(ancestor: &str, path: &'p str) -> Option<&'p str> {
    let rest = path.strip_prefix(ancestor.trim_end_matches('/'))?;
    if rest.is_empty() {
        Some("")
    } else {
        rest.strip_prefix('/')
    }
}
