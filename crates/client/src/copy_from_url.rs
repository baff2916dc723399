//! `svn copy` from a repository to a working copy.

use sylvan_core::mergeinfo::{Mergeinfo, RangeList};
use sylvan_core::opt::RevisionSpec;
use sylvan_core::props::SVN_MERGEINFO;
use sylvan_core::{
    Depth, Dirent, Error, ErrorCode, NodeKind, Props, RelPath, RelPathBuf, Result, Url,
};
use sylvan_wc::copy::adopt::{self, CopySource, TextReceiver};
use sylvan_wc::lock::{Anchor, WcLock};
use sylvan_wc::notify::NotifyFn;
use sylvan_wc::propset::PropSet;
use sylvan_wc::{WorkingCopy, props};

use crate::checkout::{CheckoutOptions, checkout_at};
use crate::copy::check_place;
use crate::location::Location;
use crate::resolve::{self, PathRev};
use crate::target::{PathOrUrl, Target};
use crate::wc_node::WcNode;
use crate::{Context, PooledSession, externals};

/// How nodes of a repository are copied to a working copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FromRepositoryOptions {
    /// The operative revision of the sources.
    pub revision: RevisionSpec,
    /// Make missing folders above the target.
    pub parents: bool,
    /// Leave the externals of copied folders out.
    pub ignore_externals: bool,
}

/// Copies nodes of a repository, with history, to `target` in a working copy; several, or one if
/// the target exists, become children of it.
///
/// # Errors
/// `E160013` if a source does not exist, `E150002` if a target does, `E155010` if its folder is not
/// under version control, and what the session gives.
pub fn from_repository(
    context: &Context,
    sources: &[Target],
    target: &Dirent,
    options: FromRepositoryOptions,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let target = context.absolute(target);
    let mut run = |pairs: Vec<(&Target, Dirent)>| -> Result<()> {
        for (_, to) in &pairs {
            check_place(context, to, options.parents, notify)?;
        }
        for (source, to) in &pairs {
            context.cancel.check()?;
            one(context, source, to, options, notify)?;
        }
        Ok(())
    };
    let into = |target: &Dirent| -> Vec<(&Target, Dirent)> {
        sources
            .iter()
            .map(|source| (source, target.join(&basename(&source.at))))
            .collect()
    };
    let done = match sources {
        [source] => match run(vec![(source, target.clone())]) {
            Err(error) if error.code() == ErrorCode::ENTRY_EXISTS => run(into(&target)),
            done => done,
        },
        _ => run(into(&target)),
    };
    context.progress.note_file();
    context.wait_for_timestamps(&target);
    done
}

fn basename(at: &PathOrUrl) -> String {
    match at {
        PathOrUrl::Url(url) => url.basename(),
        PathOrUrl::Path(path) => path.basename().to_owned(),
    }
}

/// Opens the source. A path stands for where its node comes from.
fn open<'a>(
    context: &'a Context,
    source: &Target,
    operative: RevisionSpec,
) -> Result<(PooledSession<'a>, PathRev)> {
    let PathOrUrl::Path(path) = &source.at else {
        return resolve::open(context, source, operative);
    };
    let origin = WcNode::open(context, path)?.origin(true)?;
    let (Some(url), Some(rev)) = (origin.url, origin.rev) else {
        return Err(Error::new(
            ErrorCode::ENTRY_MISSING_URL,
            format!(
                "'{}' does not have a URL associated with it",
                context.absolute(path)
            ),
        ));
    };
    let number = |spec| match spec {
        RevisionSpec::Base => RevisionSpec::Number(rev),
        spec => spec,
    };
    let is_unset = |spec| matches!(spec, RevisionSpec::Unspecified | RevisionSpec::Working);
    let peg = if is_unset(source.peg) {
        RevisionSpec::Number(rev)
    } else {
        number(source.peg)
    };
    let target = Target {
        at: PathOrUrl::Url(url),
        peg,
    };
    let operative = if is_unset(operative) {
        RevisionSpec::Unspecified
    } else {
        number(operative)
    };
    resolve::open(context, &target, operative)
}

fn one(
    context: &Context,
    source: &Target,
    to: &Dirent,
    options: FromRepositoryOptions,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let (mut session, at) = open(context, source, options.revision)?;
    let kind = session.check_path(RelPath::ROOT, Some(at.rev))?;
    if kind == NodeKind::None {
        return Err(Error::new(
            ErrorCode::FS_NOT_FOUND,
            format!("Path '{}' not found in revision {}", at.url, at.rev),
        ));
    }
    let (mut wc, folder) = WorkingCopy::open(&to.dirname(), &context.wc)?;
    let path = folder.child(to.basename())?;
    let root = WcNode::open(context, &to.dirname())?.repos_root()?;
    if root.as_ref() != Some(&at.repos_root) {
        return Err(foreign(&at.url, root.as_ref()));
    }
    let copy = CopySource {
        path: at.repos_path(),
        revision: at.rev,
    };
    WcLock::with(&mut wc, &folder, Anchor::Node, |wc, lock| {
        if kind == NodeKind::Dir {
            dir(context, &mut session, &at, wc, lock, &path, &copy, notify)?;
        } else {
            file(context, &mut session, &at, wc, lock, &path, &copy, notify)?;
        }
        if kind == NodeKind::Dir && !options.ignore_externals {
            let all = Some(Depth::Infinity);
            externals::handle_below(context, wc, lock, &path, all, &mut session, notify)?;
        }
        record_mergeinfo(context, &mut session, &at, wc, lock, &path)
    })?;
    session.give_back();
    Ok(())
}

fn foreign(url: &Url, root: Option<&Url>) -> Error {
    let root = root.map_or_else(String::new, ToString::to_string);
    Error::new(
        ErrorCode::UNSUPPORTED_FEATURE,
        format!("Can't copy '{url}' to a working copy of another repository '{root}' yet"),
    )
}

#[expect(
    clippy::too_many_arguments,
    reason = "source and target are several values each"
)]
fn dir<'s>(
    context: &'s Context,
    session: &mut PooledSession<'s>,
    at: &PathRev,
    wc: &mut WorkingCopy,
    lock: &WcLock,
    path: &RelPath,
    source: &CopySource,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let place = adopt::checkout_place(wc)?;
    let found = Location {
        url: at.url.clone(),
        rev: at.rev,
    };
    let options = CheckoutOptions {
        depth: Some(Depth::Infinity),
        ignore_externals: true,
        ..CheckoutOptions::default()
    };
    let local = wc.adm_path(place.as_str());
    let made = checkout_at(context, session, &found, &local, &options, &mut |_| {});
    let made =
        made.and_then(|_| adopt::folder(wc, lock, &place, path, source, &context.cancel, notify));
    if made.is_err() {
        // What is left of the checkout is of no use to anybody.
        let _ = sylvan_io::file::remove_tree(local.as_path(), &sylvan_io::Cancel::new());
    }
    made
}

#[expect(
    clippy::too_many_arguments,
    reason = "source and target are several values each"
)]
fn file(
    context: &Context,
    session: &mut PooledSession<'_>,
    at: &PathRev,
    wc: &mut WorkingCopy,
    lock: &WcLock,
    path: &RelPath,
    source: &CopySource,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let mut text = TextReceiver::new(wc)?;
    let (_, props) = session.read_file(RelPath::ROOT, Some(at.rev), Some(&mut text))?;
    adopt::file(
        wc,
        lock,
        text,
        path,
        (source, &props),
        &context.cancel,
        notify,
    )
}

/// Sets what the source inherited of mergeinfo on the copy.
fn record_mergeinfo(
    context: &Context,
    session: &mut PooledSession<'_>,
    at: &PathRev,
    wc: &mut WorkingCopy,
    lock: &WcLock,
    path: &RelPath,
) -> Result<()> {
    if props::actual(wc, path)?.contains_key(SVN_MERGEINFO) {
        return Ok(());
    }
    let above = match session.inherited_props(RelPath::ROOT, at.rev) {
        Err(error)
            if [
                ErrorCode::UNSUPPORTED_FEATURE,
                ErrorCode::RA_NOT_IMPLEMENTED,
            ]
            .contains(&error.code()) =>
        {
            return Ok(());
        }
        read => read?,
    };
    let found = above
        .iter()
        .rev()
        .find_map(|from| Some((&from.path, mergeinfo_of(&from.props)?)));
    let Some((from, mergeinfo)) = found else {
        return Ok(());
    };
    let repos_path = at.repos_path();
    let below = repos_path.strip_prefix(from).unwrap_or(RelPath::ROOT);
    let inherited = inherit(&mergeinfo, below)?;
    if inherited.is_empty() {
        return Ok(());
    }
    let value = inherited.to_text()?;
    let set = PropSet {
        name: SVN_MERGEINFO,
        value: Some(value.as_bytes()),
        depth: Depth::Empty,
        skip_checks: true,
        changelists: &[],
        clock: &context.clock,
    };
    sylvan_wc::propset::set(wc, lock, path, &set, &context.cancel, &mut |_| {})
}

fn mergeinfo_of(props: &Props) -> Option<Mergeinfo> {
    // Mergeinfo that cannot be read is none.
    Mergeinfo::parse(props.get(SVN_MERGEINFO)?).ok()
}

/// Returns what a node `below` inherits: the inheritable ranges, of paths as deep as it is.
fn inherit(mergeinfo: &Mergeinfo, below: &RelPath) -> Result<Mergeinfo> {
    let mut inherited = Mergeinfo::default();
    for (path, ranges) in &mergeinfo.0 {
        let ranges: Vec<_> = ranges
            .0
            .iter()
            .filter(|range| range.inheritable)
            .copied()
            .collect();
        if ranges.is_empty() {
            continue;
        }
        let base = RelPathBuf::new(path.trim_start_matches('/'))?;
        inherited
            .0
            .insert(base.join(below).to_fspath(), RangeList(ranges));
    }
    Ok(inherited)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inheritable_ranges_are_inherited() {
        let mergeinfo = Mergeinfo::parse(b"/branch:3-4,6*\n/other:2*").unwrap();
        let below = RelPath::new("a/b").unwrap();
        let inherited = inherit(&mergeinfo, below).unwrap();
        assert_eq!(inherited.to_text().unwrap(), "/branch/a/b:3-4");
    }
}
