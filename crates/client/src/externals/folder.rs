//! Folder externals: working copies within a working copy.

use sylvan_core::opt::RevisionSpec;
use sylvan_core::{Depth, Dirent, Error, ErrorCode, NodeKind, RelPathBuf, Result, Url};
use sylvan_wc::external::{self, External};
use sylvan_wc::notify::{Action, Notification, NotifyFn};
use sylvan_wc::{ADM_DIR, WorkingCopy, base};

use super::Wanted;
use super::remove;
use crate::checkout::{CheckoutOptions, checkout_at};
use crate::location::Location;
use crate::update::{self, UpdateOptions};
use crate::{Context, PooledSession, disk, relocate, switch};

/// The repository and the path in it that a folder external is from.
pub(super) struct Place {
    pub(super) repos_root: Url,
    pub(super) repos_uuid: String,
    pub(super) repos_path: RelPathBuf,
}

/// Refuses an external whose place is taken by a versioned node of the defining working copy.
///
/// # Errors
/// `E155035`.
pub(super) fn check_not_versioned(wc: &WorkingCopy, wanted: &Wanted) -> Result<()> {
    if base::node(wc, &wanted.path)?.is_none() {
        return Ok(());
    }
    Err(Error::new(
        ErrorCode::WC_PATH_UNEXPECTED_STATUS,
        format!(
            "The external '{}' defined in svn:externals at '{}' cannot be checked out because \
             '{}' is already a versioned path.",
            wanted.item.url,
            wc.local_path(&wanted.folder),
            wc.local_path(&wanted.path),
        ),
    ))
}

/// Makes the folder `path` a working copy of what was found: updates, switches or relocates the
/// one that is there, or checks it out.
pub(super) fn bring<'s>(
    context: &'s Context,
    path: &Dirent,
    wanted: &Wanted,
    found: &Location,
    session: &mut PooledSession<'s>,
    notify: &mut NotifyFn<'_>,
) -> Result<Place> {
    let is_folder = disk::kind(path)? == NodeKind::Dir;
    if is_folder {
        if !disk::is_wc_root(path)? {
            return Err(Error::new(
                ErrorCode::WC_NOT_WORKING_COPY,
                format!("Can't obtain lock on non-directory '{path}'."),
            ));
        }
        if reuse(context, path, wanted, found, session, notify)? {
            return place_of(context, path, &found.url);
        }
        push_aside(context, path, notify)?;
    } else {
        disk::make_dir_recursively(&path.dirname())?;
    }
    let options = CheckoutOptions {
        peg: wanted.item.peg,
        revision: wanted.item.revision,
        depth: Some(Depth::Infinity),
        ignore_externals: false,
        force: false,
    };
    checkout_at(context, session, found, path, &options, notify)?;
    place_of(context, path, &found.url)
}

/// Updates the working copy at `path` if it is of the wanted URL, or can be switched to it.
/// Returns whether it could.
fn reuse<'s>(
    context: &'s Context,
    path: &Dirent,
    wanted: &Wanted,
    found: &Location,
    session: &mut PooledSession<'s>,
    notify: &mut NotifyFn<'_>,
) -> Result<bool> {
    let (mut wc, at) = WorkingCopy::open(path, &context.wc)?;
    let Some(base) = base::node(&wc, &at)? else {
        return Ok(false);
    };
    if base.url() == found.url {
        let revision = match wanted.item.revision {
            // What was just looked up need not be asked for again.
            RevisionSpec::Unspecified | RevisionSpec::Head => RevisionSpec::Number(found.rev),
            other => other,
        };
        let options = UpdateOptions {
            revision,
            adds_as_modification: true,
            ..UpdateOptions::default()
        };
        update::update_opened(context, &mut wc, &at, session, &options, notify)?;
        return Ok(true);
    }
    if found.url.strip_prefix(&base.repos_root).is_none() {
        let root = session.repos_root()?;
        if session.uuid()? != base.repos_uuid {
            return Ok(false);
        }
        relocate::relocate(&wc, &base.repos_root, &root)?;
    }
    switch::switch_root(context, &mut wc, found, session, notify)?;
    Ok(true)
}

fn place_of(context: &Context, path: &Dirent, url: &Url) -> Result<Place> {
    let (wc, at) = WorkingCopy::open(path, &context.wc)?;
    let base =
        base::node(&wc, &at)?.ok_or_else(|| Error::from_code(ErrorCode::WC_PATH_NOT_FOUND))?;
    let repos_path = url
        .strip_prefix(&base.repos_root)
        .unwrap_or(base.repos_path);
    Ok(Place {
        repos_root: base.repos_root,
        repos_uuid: base.repos_uuid,
        repos_path,
    })
}

/// Takes the working copy at `path` out of version control, and deletes it if nothing in it was
/// changed; else it is renamed and stays.
fn push_aside(context: &Context, path: &Dirent, notify: &mut NotifyFn<'_>) -> Result<()> {
    match remove::working_copy(context, path) {
        Err(error) if error.code() == ErrorCode::WC_LEFT_LOCAL_MOD => {}
        other => return other,
    }
    let aside = disk::unused_name(path, ".OLD")?;
    let renamed = disk::rename(path, &aside);
    let mut told = Notification::new(
        if renamed.is_ok() { aside } else { path.clone() },
        Action::LeftLocalModifications,
    )
    .kind(NodeKind::Dir);
    told.error = renamed.as_ref().err().cloned();
    notify(&told);
    renamed
}

/// Takes out an external that is defined no longer.
pub(super) fn take_out(
    context: &Context,
    wc: &mut WorkingCopy,
    external: &External,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let path = wc.local_path(&external.path);
    let (kind, done) = match external.kind {
        NodeKind::Dir => {
            external::forget(wc, &external.path)?;
            if disk::kind(&path.join(ADM_DIR))? == NodeKind::Dir {
                (NodeKind::Dir, remove::working_copy(context, &path))
            } else {
                (NodeKind::None, Ok(()))
            }
        }
        _ => {
            let done = external::remove(wc, &external.path, &context.cancel);
            (NodeKind::File, done)
        }
    };
    let mut told = Notification::new(path.clone(), Action::UpdateExternalRemoved).kind(kind);
    told.error = done.as_ref().err().cloned();
    notify(&told);
    match done {
        // Subversion deletes a file even if it was changed.
        Ok(()) if kind == NodeKind::File && disk::kind(&path)? != NodeKind::None => {
            notify(&Notification::new(path, Action::LeftLocalModifications).kind(kind));
            Ok(())
        }
        Err(error) if error.code() == ErrorCode::WC_LEFT_LOCAL_MOD => {
            let mut told =
                Notification::new(path, Action::LeftLocalModifications).kind(NodeKind::Dir);
            told.error = Some(error);
            notify(&told);
            Ok(())
        }
        other => other,
    }
}
