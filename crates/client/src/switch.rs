//! `svn switch`: making a part of a working copy one of another URL of its repository.

use std::collections::BTreeMap;

use sylvan_core::mergeinfo::{Mergeinfo, Part};
use sylvan_core::opt::RevisionSpec;
use sylvan_core::{
    Depth, Dirent, Error, ErrorCode, NodeKind, RelPath, RelPathBuf, Result, Revnum, Url,
};
use sylvan_ra::Capability;
use sylvan_wc::lock::{Anchor, WcLock};
use sylvan_wc::notify::{Action, Notification, NotifyFn};
use sylvan_wc::update::InheritedProps;
use sylvan_wc::{WorkingCopy, base, crop, report};

use crate::location::{Location, resolve_url};
use crate::update::{check_use_commit_times, merge_options, note_restored};
use crate::{Context, PooledSession, externals, relocate};

/// What a working copy is switched to, and how.
#[derive(Clone, Debug, Default)]
pub struct SwitchOptions {
    /// The revision in which the URL is looked for; HEAD by default.
    pub peg: RevisionSpec,
    /// The revision it gets; the peg revision by default.
    pub revision: RevisionSpec,
    /// How deep; `None` is what it has.
    pub depth: Option<Depth>,
    /// Whether `depth` becomes what it has.
    pub depth_is_sticky: bool,
    /// Whether `svn:externals` are left alone.
    pub ignore_externals: bool,
    /// Whether unversioned nodes in the way are taken over.
    pub allow_unversioned_obstructions: bool,
    /// Whether the URL may be one that has no history in common with the working copy.
    pub ignore_ancestry: bool,
}

/// Switches the node at `path`, as the user named it, to `url`.
///
/// # Errors
/// `E155025` if that is in another repository, `E195012` if it is not related, `E200007` for a
/// local addition; what update gives.
pub fn switch(
    context: &Context,
    path: &Dirent,
    url: &Url,
    options: &SwitchOptions,
    notify: &mut NotifyFn<'_>,
) -> Result<Revnum> {
    let path = context.absolute(path);
    let mut notify = |what: &_| note_restored(context, what, notify);
    let done = (|| {
        let (mut wc, at) = WorkingCopy::open(&path, &context.wc)?;
        check_depth(options)?;
        let (rev, session) = WcLock::with(&mut wc, &at, Anchor::Parent, |wc, lock| {
            check_versioned(wc, &at)?;
            let mut session = context.sessions.open(url)?;
            if let Some(base) = base::node(wc, lock.root())? {
                relocate::check_same(&mut session, &base.repos_uuid)?;
            }
            let to = resolve_url(&mut *session, url, options.peg, options.revision)?;
            let switch = Switch {
                context,
                options,
                to: &to,
            };
            let rev = switch.run(wc, lock, &at, &mut session, &mut notify)?;
            Ok((rev, session))
        })?;
        session.give_back();
        Ok(rev)
    })();
    context.wait_for_timestamps(&path);
    done
}

fn check_depth(options: &SwitchOptions) -> Result<()> {
    if options.depth == Some(Depth::Exclude) {
        return Err(Error::new(
            ErrorCode::UNSUPPORTED_FEATURE,
            "Cannot both exclude and switch a path",
        ));
    }
    Ok(())
}

/// Requires the node to be one of the repository.
fn check_versioned(wc: &WorkingCopy, at: &RelPath) -> Result<()> {
    let local = wc.local_path(at);
    let layers = wc.db().layers(at)?;
    match layers.first() {
        None => Err(Error::new(
            ErrorCode::WC_PATH_NOT_FOUND,
            format!("The node '{local}' was not found."),
        )),
        Some(top) if top.op_depth > 0 => Err(Error::new(
            ErrorCode::UNSUPPORTED_FEATURE,
            format!("Cannot switch '{local}' because it is not in the repository yet"),
        )),
        Some(_) => Ok(()),
    }
}

/// Makes the whole working copy one of `to`, whatever its history.
///
/// # Errors
/// `E155025` if that is in another repository; what update gives.
pub(crate) fn switch_root<'s>(
    context: &'s Context,
    wc: &mut WorkingCopy,
    to: &Location,
    session: &mut PooledSession<'s>,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let options = SwitchOptions {
        depth: Some(Depth::Infinity),
        depth_is_sticky: true,
        ignore_ancestry: true,
        ..SwitchOptions::default()
    };
    let switch = Switch {
        context,
        options: &options,
        to,
    };
    WcLock::with(wc, RelPath::ROOT, Anchor::Node, |wc, lock| {
        switch.run(wc, lock, RelPath::ROOT, session, notify)
    })
    .map(drop)
}

/// One switch of one target.
struct Switch<'c, 'o> {
    context: &'c Context,
    options: &'o SwitchOptions,
    to: &'o Location,
}

impl<'c> Switch<'c, '_> {
    fn run(
        &self,
        wc: &mut WorkingCopy,
        lock: &WcLock,
        at: &RelPath,
        session: &mut PooledSession<'c>,
        notify: &mut NotifyFn<'_>,
    ) -> Result<Revnum> {
        let context = self.context;
        let (options, to) = (self.options, self.to);
        let anchor = lock.root();
        check_use_commit_times(&context.config)?;
        let base = base::node(wc, anchor)?.ok_or_else(|| {
            let local = wc.local_path(anchor);
            Error::new(
                ErrorCode::ENTRY_MISSING_URL,
                format!("Directory '{local}' has no URL"),
            )
        })?;
        let anchor_url = base.url();
        let is_sticky = options.depth_is_sticky && options.depth.is_some();
        if let Some(depth) = options
            .depth
            .filter(|depth| is_sticky && *depth < Depth::Infinity)
            && base::kind(wc, at)? == NodeKind::Dir
        {
            crop::crop(wc, lock, at, depth, &context.cancel, notify)?;
        }
        let root = session.repos_root()?;
        if anchor_url.strip_prefix(&root).is_none() {
            return Err(Error::new(
                ErrorCode::WC_INVALID_SWITCH,
                format!("'{anchor_url}'\nis not the same repository as\n'{root}'"),
            ));
        }
        if !options.ignore_ancestry {
            self.check_ancestry(wc, at, session, &root)?;
        }
        let inherited_props = self.inherited(wc, at, session, &root)?;
        session.move_to(&anchor_url)?;
        let filter_depth = !session.has_capability(Capability::Depth)?;
        let (diff3, preserved_extensions) = merge_options(&context.config);
        let editor_options = sylvan_wc::update::UpdateOptions {
            target: if at == anchor {
                String::new()
            } else {
                at.basename().to_owned()
            },
            rev: Some(to.rev),
            depth: options.depth,
            depth_is_sticky: is_sticky,
            allow_unversioned_obstructions: options.allow_unversioned_obstructions,
            switch_url: Some(to.url.clone()),
            inherited_props,
            diff3,
            preserved_extensions,
            ..Default::default()
        };
        let report_options = report::ReportOptions {
            depth: options.depth,
            honor_depth_exclude: !is_sticky,
            depth_compatibility_trick: filter_depth,
            restore: true,
        };
        let report = report::entries(wc, at, &report_options, &context.cancel, notify)?;
        let wanted = sylvan_ra::UpdateOptions {
            rev: Some(to.rev),
            target: editor_options.target.clone(),
            depth: options.depth.filter(|_| is_sticky),
            send_copyfrom_args: false,
            ignore_ancestry: options.ignore_ancestry,
        };
        let outcome = sylvan_wc::update::run(
            wc,
            lock,
            anchor,
            &editor_options,
            &context.cancel,
            &context.progress,
            notify,
            |editor| session.switch(&wanted, &to.url, &report, editor),
        )?;
        let rev = outcome.rev.unwrap_or(to.rev);
        let is_recursive = matches!(options.depth, None | Some(Depth::Infinity));
        if is_recursive && !options.ignore_externals {
            externals::handle_below(context, wc, lock, at, options.depth, session, notify)?;
        }
        let path = wc.local_path(anchor);
        let mut done = Notification::new(path, Action::UpdateCompleted).kind(NodeKind::None);
        done.rev = Some(rev);
        notify(&done);
        Ok(rev)
    }

    /// Requires a common history of what is there and what it is switched to.
    fn check_ancestry(
        &self,
        wc: &WorkingCopy,
        at: &RelPath,
        session: &mut PooledSession<'_>,
        root: &Url,
    ) -> Result<()> {
        let unrelated = || {
            Error::new(
                ErrorCode::CLIENT_UNRELATED_RESOURCES,
                format!(
                    "'{}' shares no common ancestry with '{}'",
                    self.to.url,
                    wc.local_path(at)
                ),
            )
        };
        let Some(base) = base::node(wc, at)? else {
            return Err(unrelated());
        };
        let from = (base.repos_path.clone(), base.rev);
        let to = self.to.url.strip_prefix(root).unwrap_or_default();
        if are_related(session, root, from, (to, self.to.rev))? {
            Ok(())
        } else {
            Err(unrelated())
        }
    }

    /// Reads what the target inherits where it goes, if it is to keep that.
    fn inherited(
        &self,
        wc: &WorkingCopy,
        at: &RelPath,
        session: &mut PooledSession<'_>,
        root: &Url,
    ) -> Result<BTreeMap<RelPathBuf, InheritedProps>> {
        let mut found = BTreeMap::new();
        let to = self.to;
        if to.url == *root {
            return Ok(found);
        }
        if let Some((parent, name)) = at.split() {
            let name = RelPath::new(name)?;
            let unswitched = base::url(wc, parent)?.map(|url| url.join(name));
            if unswitched.as_ref() == Some(&to.url) {
                return Ok(found);
            }
        }
        session.move_to(&to.url)?;
        let inherited = session.inherited_props(RelPath::ROOT, to.rev)?;
        let inherited = inherited.into_iter().map(|from| (from.path, from.props));
        found.insert(at.to_owned(), inherited.collect());
        Ok(found)
    }
}

/// Tells whether two nodes have history in common.
pub(crate) fn are_related(
    session: &mut PooledSession<'_>,
    root: &Url,
    a: (RelPathBuf, Revnum),
    b: (RelPathBuf, Revnum),
) -> Result<bool> {
    if a.0.is_root() && b.0.is_root() || a == b {
        return Ok(true);
    }
    session.move_to(root)?;
    let mut history = |(path, rev): &(RelPathBuf, Revnum)| {
        let segments = session.location_segments(path, Some(*rev), Some(*rev), None)?;
        let from_start = segments
            .iter()
            .any(|segment| segment.start.number() == 0 && segment.path.is_some());
        Ok::<_, Error>((Mergeinfo::from_segments(&segments), from_start))
    };
    let (first, second) = (history(&a)?, history(&b)?);
    if first.1 && second.1 {
        return Ok(true);
    }
    let common = first.0.0.iter().any(|(path, ranges)| {
        let other = second.0.0.get(path);
        other.is_some_and(|other| !ranges.part(other, Part::Inside).is_empty())
    });
    Ok(common)
}
