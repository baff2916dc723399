//! `svn update`: bringing working copies to a revision of their repository.

use std::collections::BTreeMap;

use sylvan_core::opt::RevisionSpec;
use sylvan_core::{
    Depth, Dirent, Error, ErrorCode, NodeKind, RelPath, RelPathBuf, Result, Revnum, Url,
};
use sylvan_io::{Category, Config};
use sylvan_ra::{Capability, DirEntryFields};
use sylvan_wc::lock::{Anchor, WcLock};
use sylvan_wc::notify::{Action, Notification, NotifyFn};
use sylvan_wc::update::InheritedProps;
use sylvan_wc::{WorkingCopy, base, crop, report};

use crate::{Context, PooledSession, externals, location, relocate};

/// How working copies are updated.
#[derive(Clone, Debug, Default)]
pub struct UpdateOptions {
    /// The revision they get; HEAD by default.
    pub revision: RevisionSpec,
    /// How deep; `None` is what they have.
    pub depth: Option<Depth>,
    /// Whether `depth` becomes what they have.
    pub depth_is_sticky: bool,
    /// Whether `svn:externals` are left alone.
    pub ignore_externals: bool,
    /// Whether unversioned nodes in the way are taken over.
    pub allow_unversioned_obstructions: bool,
    /// Whether local additions in the way become local modifications.
    pub adds_as_modification: bool,
    /// Whether missing folders above the target are brought, empty.
    pub parents: bool,
}

/// Updates the nodes at `paths` one after the other, as the user named them. Returns for each the
/// revision it has now, `None` for one that was skipped.
///
/// # Errors
/// `E155007` if no path is in a working copy; what each update gives, which ends the rest.
pub fn update(
    context: &Context,
    paths: &[Dirent],
    options: &UpdateOptions,
    notify: &mut NotifyFn<'_>,
) -> Result<Vec<Option<Revnum>>> {
    let done = update_paths(context, paths, options, &mut |what| {
        note_restored(context, what, notify);
    });
    if let Some(last) = paths.last() {
        context.wait_for_timestamps(&context.absolute(last));
    }
    done
}

/// Passes a notification on; files that are made again were written just now.
pub(crate) fn note_restored(context: &Context, what: &Notification, notify: &mut NotifyFn<'_>) {
    if what.action == Action::Restore {
        context.progress.note_file();
    }
    notify(what);
}

fn update_paths(
    context: &Context,
    paths: &[Dirent],
    options: &UpdateOptions,
    notify: &mut NotifyFn<'_>,
) -> Result<Vec<Option<Revnum>>> {
    let mut revs = Vec::with_capacity(paths.len());
    let mut found_any = false;
    for path in paths {
        context.cancel.check()?;
        let absolute = context.absolute(path);
        match update_path(context, &absolute, options, notify) {
            Ok(rev) => {
                found_any = true;
                revs.push(rev);
            }
            Err(error) if error.code() == ErrorCode::WC_NOT_WORKING_COPY => {
                notify(&Notification::new(absolute, Action::Skip));
                revs.push(None);
            }
            Err(error) => return Err(error),
        }
    }
    if found_any {
        Ok(revs)
    } else {
        Err(Error::new(
            ErrorCode::WC_NOT_WORKING_COPY,
            "None of the targets are working copies",
        ))
    }
}

/// Updates the node at `path` (absolute).
fn update_path(
    context: &Context,
    path: &Dirent,
    options: &UpdateOptions,
    notify: &mut NotifyFn<'_>,
) -> Result<Option<Revnum>> {
    if options.parents {
        return update_with_parents(context, path, options, notify);
    }
    let (mut wc, at) = WorkingCopy::open(path, &context.wc)?;
    let mut slot = Slot::Own(None);
    let done = WcLock::with(&mut wc, &at, Anchor::Parent, |wc, lock| {
        Update::new(context, options, true).run(wc, lock, &at, &mut slot, notify)
    })?;
    slot.give_back();
    Ok(done)
}

/// Updates the node at `path` of an open working copy with a session of its repository.
pub(crate) fn update_opened<'s>(
    context: &'s Context,
    wc: &mut WorkingCopy,
    at: &RelPath,
    session: &mut PooledSession<'s>,
    options: &UpdateOptions,
    notify: &mut NotifyFn<'_>,
) -> Result<Option<Revnum>> {
    WcLock::with(wc, at, Anchor::Node, |wc, lock| {
        let mut slot = Slot::Lent(session);
        Update::new(context, options, true).run(wc, lock, at, &mut slot, notify)
    })
}

/// Where an update gets its session from.
enum Slot<'x, 's> {
    /// It uses this one.
    Lent(&'x mut PooledSession<'s>),
    /// It opens one when it needs it, and leaves it here for the next.
    Own(Option<PooledSession<'s>>),
}

impl<'s> Slot<'_, 's> {
    /// Returns the session, opened at `url` or where the repository moved to.
    fn at(
        &mut self,
        context: &'s Context,
        url: &Url,
        notify: &mut NotifyFn<'_>,
    ) -> Result<&mut PooledSession<'s>> {
        match self {
            Self::Lent(session) => {
                session.move_to(url)?;
                Ok(session)
            }
            Self::Own(Some(session)) => {
                session.move_to(url)?;
                Ok(session)
            }
            Self::Own(none) => {
                let (session, _) = context.open_following(url, notify)?;
                Ok(none.insert(session))
            }
        }
    }

    fn give_back(self) {
        if let Self::Own(Some(session)) = self {
            session.give_back();
        }
    }
}

/// Brings the missing folders above `path` one by one, empty, then updates `path`.
fn update_with_parents(
    context: &Context,
    path: &Dirent,
    options: &UpdateOptions,
    notify: &mut NotifyFn<'_>,
) -> Result<Option<Revnum>> {
    let (mut wc, at) = WorkingCopy::open(path, &context.wc)?;
    let missing = missing_parents(&wc, &at)?;
    let lowest = missing.last().map_or(&*at, |path| path);
    WcLock::with(&mut wc, lowest, Anchor::Parent, |wc, lock| {
        let mut session = Slot::Own(None);
        let mut options = options.clone();
        for parent in missing.iter().rev() {
            let empty = UpdateOptions {
                depth: Some(Depth::Empty),
                depth_is_sticky: false,
                ..options.clone()
            };
            let anchor = parent.parent().unwrap_or(RelPath::ROOT);
            let update = Update::new(context, &empty, false);
            if let Some(rev) = update.run_below(wc, lock, anchor, parent, &mut session, notify)? {
                options.revision = RevisionSpec::Number(rev);
            }
        }
        let update = Update::new(context, &options, true);
        match missing.first() {
            Some(anchor) => update.run_below(wc, lock, anchor, &at, &mut session, notify),
            None => update.run(wc, lock, &at, &mut session, notify),
        }
    })
}

/// Lists the folders above `at` that are not versioned, the nearest first.
fn missing_parents(wc: &WorkingCopy, at: &RelPath) -> Result<Vec<RelPathBuf>> {
    let mut missing = Vec::new();
    for parent in at.ancestors() {
        if base::kind(wc, parent)? == NodeKind::Dir {
            break;
        }
        missing.push(parent.to_owned());
    }
    Ok(missing)
}

/// One update of one target.
struct Update<'c, 'o> {
    context: &'c Context,
    options: &'o UpdateOptions,
    depth_is_sticky: bool,
    tell_summary: bool,
}

impl<'c, 'o> Update<'c, 'o> {
    const fn new(context: &'c Context, options: &'o UpdateOptions, tell_summary: bool) -> Self {
        Self {
            context,
            options,
            depth_is_sticky: options.depth.is_some() && options.depth_is_sticky,
            tell_summary,
        }
    }

    /// Updates `at`; the lock says which folder is the anchor.
    fn run(
        &self,
        wc: &mut WorkingCopy,
        lock: &WcLock,
        at: &RelPath,
        slot: &mut Slot<'_, 'c>,
        notify: &mut NotifyFn<'_>,
    ) -> Result<Option<Revnum>> {
        self.run_below(wc, lock, lock.root(), at, slot, notify)
    }

    fn run_below(
        &self,
        wc: &mut WorkingCopy,
        lock: &WcLock,
        anchor: &RelPath,
        at: &RelPath,
        slot: &mut Slot<'_, 'c>,
        notify: &mut NotifyFn<'_>,
    ) -> Result<Option<Revnum>> {
        let local = wc.local_path(at);
        let (base, is_conflicted) = wc
            .db()
            .read(|| Ok((base::node(wc, anchor)?, base::is_conflicted(wc, at)?)))?;
        let Some(base) = base else {
            notify(&Notification::new(local, Action::UpdateSkipWorkingOnly));
            return Ok(None);
        };
        if is_conflicted {
            notify(&Notification::new(local, Action::SkipConflicted));
            return Ok(None);
        }
        let mut anchor_url = base.url();
        let crops = self.crops();
        if crops && self.options.depth == Some(Depth::Exclude) {
            return self.exclude(wc, lock, at, &anchor_url, slot, notify);
        }
        if crops && base::kind(wc, at)? == NodeKind::Dir {
            let depth = self.options.depth.unwrap_or(Depth::Infinity);
            crop::crop(wc, lock, at, depth, &self.context.cancel, notify)?;
        }
        check_use_commit_times(&self.context.config)?;
        if self.tell_summary {
            notify(&Notification::new(local.clone(), Action::UpdateStarted).kind(NodeKind::None));
        }
        let open = slot.at(self.context, &anchor_url, notify)?;
        if open.url() != &anchor_url {
            let root = open.repos_root()?;
            relocate::check_uuid(open, &base.repos_uuid)?;
            relocate::relocate(wc, &base.repos_root, &root)?;
            anchor_url = open.url().clone();
        } else {
            relocate::check_same(open, &base.repos_uuid)?;
        }
        let rev = self.revision(wc, at, open)?;
        let options = self.editor_options(wc, anchor, at, rev, &anchor_url, open)?;
        let outcome = self.drive(wc, lock, anchor, at, &options, open, notify)?;
        let rev = outcome.rev.unwrap_or(rev);
        let is_recursive = matches!(self.options.depth, None | Some(Depth::Infinity));
        if (is_recursive || crops) && !self.options.ignore_externals {
            externals::handle_below(self.context, wc, lock, at, self.options.depth, open, notify)?;
        }
        if self.tell_summary {
            let mut done = Notification::new(local, Action::UpdateCompleted).kind(NodeKind::None);
            done.rev = Some(rev);
            notify(&done);
        }
        Ok(Some(rev))
    }
}

/// Returns the program that merges texts, and the extensions that files of conflicts keep.
pub(crate) fn merge_options(config: &Config) -> (Option<String>, Vec<String>) {
    let diff3 = config.get(Category::Config, "helpers", "diff3-cmd");
    let kept = config.get(
        Category::Config,
        "miscellany",
        "preserved-conflict-file-exts",
    );
    let kept = kept.unwrap_or_default().split_ascii_whitespace();
    (diff3.map(str::to_owned), kept.map(str::to_owned).collect())
}

/// Requires the option to make sense; it is in [`sylvan_wc::Options`], where nonsense counts as not
/// set.
pub(crate) fn check_use_commit_times(config: &Config) -> Result<()> {
    let (section, option) = ("miscellany", "use-commit-times");
    config
        .get_bool(Category::Config, section, option, false)
        .map(drop)
}

impl<'c> Update<'c, '_> {
    /// Tells whether what is deeper than asked for is to be taken out.
    fn crops(&self) -> bool {
        self.depth_is_sticky
            && self
                .options
                .depth
                .is_some_and(|depth| depth < Depth::Infinity)
    }

    fn exclude(
        &self,
        wc: &mut WorkingCopy,
        lock: &WcLock,
        at: &RelPath,
        anchor_url: &Url,
        slot: &mut Slot<'_, 'c>,
        notify: &mut NotifyFn<'_>,
    ) -> Result<Option<Revnum>> {
        crop::exclude(wc, lock, at, &self.context.cancel, notify)?;
        if !self.options.ignore_externals && externals::any_defined_below(wc, at)? {
            let open = slot.at(self.context, anchor_url, notify)?;
            let depth = self.options.depth;
            externals::handle_below(self.context, wc, lock, at, depth, open, notify)?;
        }
        Ok(None)
    }

    /// Returns the number of the revision that is wanted.
    fn revision(
        &self,
        wc: &WorkingCopy,
        at: &RelPath,
        session: &mut PooledSession<'_>,
    ) -> Result<Revnum> {
        match self.options.revision {
            RevisionSpec::Base | RevisionSpec::Working => base::base_revision(wc, at),
            RevisionSpec::Committed => base::committed_revision(wc, at),
            RevisionSpec::Previous => base::previous_revision(wc, at),
            other => location::url_revision(&mut **session, other, &mut None),
        }
    }

    fn editor_options(
        &self,
        wc: &WorkingCopy,
        anchor: &RelPath,
        at: &RelPath,
        rev: Revnum,
        anchor_url: &Url,
        session: &mut PooledSession<'_>,
    ) -> Result<sylvan_wc::update::UpdateOptions> {
        let target = if at == anchor { "" } else { at.basename() };
        let depth = self.options.depth;
        let inherited_props = self.inherited_props(wc, at, rev, anchor_url, session)?;
        let repository_children = if self.depth_is_sticky {
            BTreeMap::new()
        } else {
            self.hidden_children(wc, at, rev, session)?
        };
        let (diff3, preserved_extensions) = merge_options(&self.context.config);
        Ok(sylvan_wc::update::UpdateOptions {
            diff3,
            preserved_extensions,
            target: target.to_owned(),
            rev: Some(rev),
            depth,
            depth_is_sticky: self.depth_is_sticky,
            allow_unversioned_obstructions: self.options.allow_unversioned_obstructions,
            adds_as_modification: self.options.adds_as_modification,
            switch_url: None,
            inherited_props,
            repository_children,
        })
    }

    /// Reports and lets the server drive the editor.
    #[expect(clippy::too_many_arguments, reason = "the parts of one drive")]
    fn drive(
        &self,
        wc: &mut WorkingCopy,
        lock: &WcLock,
        anchor: &RelPath,
        at: &RelPath,
        options: &sylvan_wc::update::UpdateOptions,
        session: &mut PooledSession<'_>,
        notify: &mut NotifyFn<'_>,
    ) -> Result<sylvan_wc::update::Outcome> {
        let context = self.context;
        let filter_depth = !session.has_capability(Capability::Depth)?;
        let report_options = report::ReportOptions {
            depth: self.options.depth,
            honor_depth_exclude: !self.depth_is_sticky,
            depth_compatibility_trick: filter_depth,
            restore: true,
        };
        let report = report::entries(wc, at, &report_options, &context.cancel, notify)?;
        let wanted = sylvan_ra::UpdateOptions {
            rev: options.rev,
            target: options.target.clone(),
            depth: if filter_depth || self.depth_is_sticky {
                self.options.depth
            } else {
                None
            },
            send_copyfrom_args: false,
            ignore_ancestry: false,
        };
        sylvan_wc::update::run(
            wc,
            lock,
            anchor,
            options,
            &context.cancel,
            &context.progress,
            notify,
            |editor| session.update(&wanted, &report, editor),
        )
    }

    /// Reads what the working copy's root and switched folders inherit in `rev`, for those that
    /// keep it.
    fn inherited_props(
        &self,
        wc: &WorkingCopy,
        at: &RelPath,
        rev: Revnum,
        anchor_url: &Url,
        session: &mut PooledSession<'_>,
    ) -> Result<BTreeMap<RelPathBuf, InheritedProps>> {
        let root = session.repos_root()?;
        let mut found = BTreeMap::new();
        for (path, url) in base::inheriting(wc, at, self.options.depth)? {
            if url == root {
                continue;
            }
            let inherited = match url.strip_prefix(anchor_url) {
                Some(below) => session.inherited_props(&below, rev),
                None => {
                    session.move_to(&url)?;
                    let inherited = session.inherited_props(RelPath::ROOT, rev);
                    session.move_to(anchor_url)?;
                    inherited
                }
            };
            match inherited {
                Ok(inherited) => {
                    let inherited = inherited.into_iter().map(|from| (from.path, from.props));
                    found.insert(path, inherited.collect());
                }
                Err(error) if error.code() == ErrorCode::FS_NOT_FOUND => {}
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// Lists what is in the repository folders that are updated less deep than they are, of which
    /// the server tells nothing.
    fn hidden_children(
        &self,
        wc: &WorkingCopy,
        at: &RelPath,
        rev: Revnum,
        session: &mut PooledSession<'_>,
    ) -> Result<BTreeMap<RelPathBuf, BTreeMap<String, NodeKind>>> {
        let mut found = BTreeMap::new();
        let Some(depth) = self.options.depth.filter(|depth| *depth < Depth::Infinity) else {
            return Ok(found);
        };
        let session_url = session.url().clone();
        for (url, repos_path) in base::deeper_than(wc, at, depth)? {
            let below = url.strip_prefix(&session_url);
            if below.is_none() {
                session.move_to(&url)?;
            }
            let below = below.unwrap_or_default();
            if session.check_path(&below, Some(rev))? == NodeKind::Dir {
                let listed = session.read_dir(&below, Some(rev), Some(DirEntryFields::KIND))?;
                let children = listed.entries.into_iter();
                let kinds = children.map(|(name, entry)| (name, entry.kind));
                found.insert(repos_path, kinds.collect());
            }
            if session.url() != &session_url {
                session.move_to(&session_url)?;
            }
        }
        Ok(found)
    }
}
