//! Switching the root of a working copy to another URL of its repository.

use std::collections::BTreeMap;

use sylvan_core::{Depth, Error, ErrorCode, NodeKind, RelPath, RelPathBuf, Result};
use sylvan_ra::Capability;
use sylvan_wc::lock::{Anchor, WcLock};
use sylvan_wc::notify::{Action, Notification, NotifyFn};
use sylvan_wc::{WorkingCopy, base, report};

use crate::location::Location;
use crate::{Context, PooledSession, externals};

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
    WcLock::with(wc, RelPath::ROOT, Anchor::Node, |wc, lock| {
        let base = base::node(wc, RelPath::ROOT)?
            .ok_or_else(|| Error::from_code(ErrorCode::WC_PATH_NOT_FOUND))?;
        let anchor_url = base.url();
        let root = session.repos_root()?;
        if anchor_url.strip_prefix(&root).is_none() {
            return Err(Error::new(
                ErrorCode::WC_INVALID_SWITCH,
                format!("'{anchor_url}'\nis not the same repository as\n'{root}'"),
            ));
        }
        let inherited_props = inherited(session, to, &root)?;
        session.move_to(&anchor_url)?;
        let filter_depth = !session.has_capability(Capability::Depth)?;
        let options = sylvan_wc::update::UpdateOptions {
            rev: Some(to.rev),
            depth: Some(Depth::Infinity),
            depth_is_sticky: true,
            switch_url: Some(to.url.clone()),
            inherited_props,
            ..Default::default()
        };
        let report_options = report::ReportOptions {
            depth: Some(Depth::Infinity),
            honor_depth_exclude: false,
            depth_compatibility_trick: filter_depth,
            restore: true,
        };
        let report = report::entries(wc, RelPath::ROOT, &report_options, &context.cancel, notify)?;
        let wanted = sylvan_ra::UpdateOptions {
            rev: Some(to.rev),
            target: String::new(),
            depth: Some(Depth::Infinity),
            send_copyfrom_args: false,
            ignore_ancestry: true,
        };
        let outcome = sylvan_wc::update::run(
            wc,
            lock,
            RelPath::ROOT,
            &options,
            &context.cancel,
            &context.progress,
            notify,
            |editor| session.switch(&wanted, &to.url, &report, editor),
        )?;
        let depth = Some(Depth::Infinity);
        externals::handle_below(context, wc, lock, RelPath::ROOT, depth, session, notify)?;
        let mut done =
            Notification::new(wc.root().clone(), Action::UpdateCompleted).kind(NodeKind::None);
        done.rev = Some(outcome.rev.unwrap_or(to.rev));
        notify(&done);
        Ok(())
    })
}

fn inherited(
    session: &mut PooledSession<'_>,
    to: &Location,
    root: &sylvan_core::Url,
) -> Result<BTreeMap<RelPathBuf, sylvan_wc::update::InheritedProps>> {
    let mut found = BTreeMap::new();
    if to.url != *root {
        session.move_to(&to.url)?;
        let inherited = session.inherited_props(RelPath::ROOT, to.rev)?;
        let inherited = inherited.into_iter().map(|from| (from.path, from.props));
        found.insert(RelPathBuf::root(), inherited.collect());
    }
    Ok(found)
}
