//! Bringing nodes from a repository into the working copy: checkout, update, switch.

mod budget;
mod bump;
mod bump_moves;
mod delete;
mod editor;
mod entry;
mod file_external;
mod keywords;
mod local;
mod pipeline;
mod queue;
mod record;
mod shared;
mod workers;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use sylvan_core::{
    Depth, Error, ErrorCode, NodeKind, Props, RelPath, RelPathBuf, Result, Revnum, Url,
};
use sylvan_delta::Editor;
use sylvan_io::{Cancel, Progress};

use crate::WorkingCopy;
use crate::db::Presence;
use crate::db::write as rows;
use crate::lock::WcLock;
use crate::notify::NotifyFn;
use crate::pristine::Store;
use crate::site::Site;
pub(crate) use delete::{Removal, remove_rows};
use editor::Fixed;
pub use editor::UpdateEditor;
pub(crate) use file_external::run as run_file_external;
use pipeline::Env;
use queue::{Inbox, Queue, Workers};
use shared::Shared;

/// Properties that a node inherits from above the working copy: the parent's path below the
/// repository root and its inheritable properties, root first.
pub type InheritedProps = Vec<(RelPathBuf, Props)>;

/// What is to be updated, and how.
#[derive(Clone, Debug, Default)]
pub struct UpdateOptions {
    /// The child of the anchor that is updated; empty for the anchor itself.
    pub target: String,
    /// The revision that the target will have. A drive's `set_target_revision` overrides it.
    pub rev: Option<Revnum>,
    /// How deep; `None` is what the working copy has.
    pub depth: Option<Depth>,
    /// Whether `depth` becomes what the working copy has (checkout, `--set-depth`).
    pub depth_is_sticky: bool,
    /// Whether unversioned nodes in the way are taken over (`--force`).
    pub allow_unversioned_obstructions: bool,
    /// Whether local additions in the way become local modifications.
    pub adds_as_modification: bool,
    /// A program that merges texts.
    pub diff3: Option<String>,
    /// Patterns of extensions that files of conflicts keep at the end of their names.
    pub preserved_extensions: Vec<String>,
    /// Where the target is switched to; `None` is an update.
    pub switch_url: Option<Url>,
    /// The inherited properties of the working copy's root and of switched folders, by their path
    /// in the working copy.
    pub inherited_props: BTreeMap<RelPathBuf, InheritedProps>,
    /// What is in the repository folders that are updated less deep than they are (path below the
    /// repository root; names and kinds), so that new children are remembered as not present.
    pub repository_children: BTreeMap<RelPathBuf, BTreeMap<String, NodeKind>>,
}

/// What an update did.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The revision that is there now.
    pub rev: Option<Revnum>,
    /// Whether anything but revision numbers changed.
    pub edited: bool,
    /// Nodes that were left out.
    pub skipped: BTreeSet<RelPathBuf>,
}

/// Lets `drive` change the nodes below `anchor` by an editor. When it returns, all is on disk and
/// recorded; after an error, what arrived completely is, and the rest is marked incomplete so that
/// the same update again brings it.
///
/// # Errors
/// Those of `drive` and of the editor: `E155000` for obstructions, `E155016` and `E200014` for
/// wrong checksums, `E200015` when cancelled, and those of the database and the file system.
#[expect(
    clippy::too_many_arguments,
    reason = "each is something else the operation needs"
)]
pub fn run(
    wc: &mut WorkingCopy,
    lock: &WcLock,
    anchor: &RelPath,
    options: &UpdateOptions,
    cancel: &Cancel,
    progress: &Progress,
    notify: &mut NotifyFn<'_>,
    drive: impl FnOnce(&mut dyn Editor) -> Result<()>,
) -> Result<Outcome> {
    debug_assert!(
        anchor.starts_with(lock.root()),
        "the lock covers the anchor"
    );
    let site = Site::of(wc)?;
    wc.db().execute_batch(rows::USE_LARGE_CACHE)?;
    let (fixed, fresh_store) = wc.db().read(|| {
        let fixed = fix(wc, anchor, options)?;
        Ok((fixed, !wc.db().exists(rows::ANY_PRISTINE, [])?))
    })?;
    let env = Env {
        store: Store::new(&site, fresh_store, wc.is_far())?,
        site,
        root: wc.root().clone(),
        zone: wc.options().time_zone.clone(),
        workers: wc.workers(),
        is_far: wc.is_far(),
        shared: Shared::new(IN_FLIGHT, progress.clone()),
        inbox: Inbox::default(),
        queue: Queue::new(workers(wc)),
        db: Mutex::new(wc.db_mut()),
    };
    std::thread::scope(|scope| {
        let mut editor = UpdateEditor::new(scope, &env, fixed, cancel.clone(), notify);
        let driven = drive(&mut editor);
        let finished = if driven.is_ok() && editor.is_finished() {
            Ok(())
        } else {
            editor.wind_up()
        };
        // What went wrong behind the editor is the cause of what the driver met.
        finished.and(driven)?;
        Ok(Outcome {
            rev: editor.target_rev(),
            edited: editor.edited,
            skipped: std::mem::take(&mut editor.skipped),
        })
    })
}

/// So many bytes may be in memory between receiving and installing, besides what workers hold.
const IN_FLIGHT: usize = 20 << 20;

/// Returns how many workers there may be.
fn workers(wc: &WorkingCopy) -> Workers {
    match wc.options().workers {
        Some(count) => Workers::Fixed(count.get().min(256)),
        None => Workers::UpTo(sylvan_io::fs_type(wc.root().as_path()).workers()),
    }
}

fn fix<'o>(wc: &WorkingCopy, anchor: &RelPath, options: &'o UpdateOptions) -> Result<Fixed<'o>> {
    let db = wc.db();
    let layers = db.layers(anchor)?;
    let base = layers.last().filter(|layer| layer.op_depth == 0);
    let not_found = || {
        Error::new(
            ErrorCode::WC_PATH_NOT_FOUND,
            format!("The node '{}' was not found.", wc.local_path(anchor)),
        )
    };
    let base = base.ok_or_else(not_found)?;
    let repos_id = base.repos_id.ok_or_else(not_found)?;
    let repos = db.repository(repos_id)?;
    let switch_path = options
        .switch_url
        .as_ref()
        .map(|url| {
            url.strip_prefix(&repos.root).ok_or_else(|| {
                Error::new(
                    ErrorCode::WC_INVALID_SWITCH,
                    format!("'{url}'\nis not the same repository as\n'{}'", repos.root),
                )
            })
        })
        .transpose()?;
    let clean = options.target.is_empty()
        && anchor.is_root()
        && base.presence == Presence::Incomplete
        && db.children(anchor)?.is_empty()
        && has_only_adm_dir(wc);
    Ok(Fixed {
        root: wc.root().clone(),
        anchor: anchor.to_owned(),
        repos_id,
        repos_root: repos.root.clone(),
        repos_uuid: repos.uuid.clone(),
        switch_path,
        options,
        use_commit_times: wc.options().use_commit_times,
        zone: wc.options().time_zone.clone(),
        clean,
    })
}

/// Tells whether nothing is in the working copy's root yet.
fn has_only_adm_dir(wc: &WorkingCopy) -> bool {
    std::fs::read_dir(wc.root().as_path()).is_ok_and(|mut entries| {
        entries.all(|entry| entry.is_ok_and(|entry| entry.file_name() == crate::ADM_DIR))
    })
}
