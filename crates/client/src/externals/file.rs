//! File externals: single files from elsewhere in a folder of a working copy.

use sylvan_core::{Depth, Error, ErrorCode, NodeKind, RelPath, RelPathBuf, Result, Revnum};
use sylvan_delta::ReportEntry;
use sylvan_wc::external::{self, External, FileExternal};
use sylvan_wc::lock::WcLock;
use sylvan_wc::notify::{Action, Notification, NotifyFn};
use sylvan_wc::{WorkingCopy, base};

use super::{Wanted, number};
use crate::location::Location;
use crate::{Context, PooledSession, disk, relocate};

/// Makes the file of `wanted` what was found; the session is open there.
///
/// # Errors
/// `E195017` if a versioned node is in the way, `E155014` if an unversioned one is, `E155022` if
/// the file would be in another working copy, `E200007` if it is from another repository.
pub(super) fn bring<'s>(
    context: &'s Context,
    wc: &mut WorkingCopy,
    lock: &WcLock,
    wanted: &Wanted,
    found: &Location,
    session: &mut PooledSession<'s>,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let found = in_own_repository(wc, wanted, found, session)?;
    check_place(context, wc, wanted, &found)?;
    let repos_root = session.repos_root()?;
    let repos_uuid = session.uuid()?;
    let repos_path = found.url.strip_prefix(&repos_root).unwrap_or_default();
    let inherited = session.inherited_props(RelPath::ROOT, found.rev)?;
    let inherited = inherited.into_iter().map(|from| (from.path, from.props));
    let inherited = inherited.collect();
    let parent = found.url.parent().unwrap_or_else(|| repos_root.clone());
    session.move_to(&parent)?;
    let report = report(context, wc, &wanted.path)?;
    let options = sylvan_ra::UpdateOptions {
        rev: Some(found.rev),
        target: wanted.path.basename().to_owned(),
        depth: None,
        send_copyfrom_args: false,
        ignore_ancestry: true,
    };
    let file = FileExternal {
        external: External {
            path: wanted.path.clone(),
            kind: NodeKind::File,
            defined_at: wanted.folder.clone(),
            repos_root,
            repos_uuid,
            repos_path,
            peg: number(wanted.item.peg),
            rev: number(wanted.item.revision),
        },
        url: found.url.clone(),
        inherited_props: Some(inherited),
        allow_unversioned_obstructions: false,
    };
    let outcome = external::update_file(
        wc,
        lock,
        &file,
        &context.cancel,
        &context.progress,
        notify,
        |editor| session.switch(&options, &found.url, &report, editor),
    )?;
    let rev = outcome.rev.unwrap_or(found.rev);
    let mut done = Notification::new(wc.local_path(&wanted.path), Action::UpdateCompleted)
        .kind(NodeKind::None);
    done.rev = Some(rev);
    notify(&done);
    Ok(())
}

/// Says to the server what is there of the file, and makes a missing one again.
fn report(context: &Context, wc: &WorkingCopy, path: &RelPath) -> Result<Vec<ReportEntry>> {
    let root = RelPathBuf::root();
    let at = |rev| ReportEntry::SetPath {
        path: RelPathBuf::root(),
        rev,
        depth: Depth::Infinity,
        start_empty: false,
        lock_token: None,
    };
    let Some(base) = base::node(wc, path)?.filter(|base| base.is_file_external) else {
        return Ok(vec![
            at(Revnum::ZERO),
            ReportEntry::DeletePath { path: root },
        ]);
    };
    if external::restore(wc, path, &context.cancel)? {
        context.progress.note_file();
    }
    Ok(vec![
        at(base.rev),
        ReportEntry::LinkPath {
            path: root,
            url: base.url(),
            rev: base.rev,
            depth: Depth::Infinity,
            start_empty: false,
            lock_token: base.lock_token,
        },
    ])
}

/// A file external must be from the repository of its folder; that may be known by another URL.
fn in_own_repository(
    wc: &WorkingCopy,
    wanted: &Wanted,
    found: &Location,
    session: &mut PooledSession<'_>,
) -> Result<Location> {
    let root = session.repos_root()?;
    let own = base::node(wc, &wanted.folder)?;
    let foreign = || {
        let own_root = own.as_ref().map_or(&root, |own| &own.repos_root);
        Error::new(
            ErrorCode::UNSUPPORTED_FEATURE,
            format!(
                "Unsupported external: URL of file external '{}' is not in repository '{own_root}'",
                found.url
            ),
        )
    };
    let Some(own) = &own else {
        return Err(foreign());
    };
    if own.repos_root == root {
        return Ok(found.clone());
    }
    let below = found.url.strip_prefix(&root).ok_or_else(foreign)?;
    if relocate::check_uuid(session, &own.repos_uuid).is_err() {
        return Err(foreign());
    }
    Ok(Location {
        url: own.repos_root.join(&below),
        rev: found.rev,
    })
}

fn check_place(
    context: &Context,
    wc: &WorkingCopy,
    wanted: &Wanted,
    found: &Location,
) -> Result<()> {
    let path = wc.local_path(&wanted.path);
    for parent in wanted.path.ancestors() {
        if parent == &*wanted.folder || !parent.starts_with(&wanted.folder) {
            break;
        }
        let inner = wc.local_path(parent);
        if disk::is_wc_root(&inner)? {
            return Err(Error::new(
                ErrorCode::WC_BAD_PATH,
                format!(
                    "Cannot insert a file external defined on '{}' into the working copy \
                     '{inner}'.",
                    wc.local_path(&wanted.folder)
                ),
            ));
        }
    }
    let _ = context;
    if base::kind(wc, &wanted.path)? != NodeKind::None {
        let registered = wc.db().external(&wanted.path)?;
        if registered.is_none_or(|external| external.kind != NodeKind::File) {
            return Err(Error::new(
                ErrorCode::CLIENT_FILE_EXTERNAL_OVERWRITE_VERSIONED,
                format!(
                    "The file external from '{}' cannot overwrite the existing versioned item at \
                     '{path}'",
                    found.url
                ),
            ));
        }
        return Ok(());
    }
    if matches!(disk::kind(&path)?, NodeKind::File | NodeKind::Dir) {
        return Err(Error::new(
            ErrorCode::WC_PATH_FOUND,
            format!("The file external '{path}' can not be created because the node exists."),
        ));
    }
    Ok(())
}
