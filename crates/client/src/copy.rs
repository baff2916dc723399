//! `svn copy` and `svn move` within working copies.

use sylvan_core::{Dirent, Error, ErrorCode, NodeKind, RelPath, RelPathBuf, Result};
use sylvan_wc::WorkingCopy;
use sylvan_wc::copy::MixedRevisions;
use sylvan_wc::lock::{Anchor, WcLock};
use sylvan_wc::notify::NotifyFn;

use crate::wc_node::WcNode;
use crate::{Context, add, disk};

/// What is done with the sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// They stay.
    Copy,
    /// They go.
    Move(MixedRevisions),
}

/// How sources are copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyOptions {
    /// Copy or move.
    pub mode: Mode,
    /// Make missing folders above the target.
    pub parents: bool,
}

pub use crate::copy_from_url::{FromRepositoryOptions, from_repository};

/// A source and its target, absolute.
#[derive(Clone, Debug)]
struct Pair {
    from: Dirent,
    to: Dirent,
}

/// Copies or moves paths of a working copy to `target`; several, or one if the target exists,
/// become children of it.
///
/// # Errors
/// `E200007` for a source above its target, `E150002` if a target exists, `E155010` if a source or
/// the folder of the target is not under version control, and those of [`sylvan_wc::copy`].
pub fn within_wc(
    context: &Context,
    sources: &[Dirent],
    target: &Dirent,
    options: CopyOptions,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let target = context.absolute(target);
    let into = |target: &Dirent| -> Vec<Pair> {
        sources
            .iter()
            .map(|source| {
                let from = context.absolute(source);
                let to = target.join(from.basename());
                Pair { from, to }
            })
            .collect()
    };
    let done = match sources {
        [source] => {
            let pair = Pair {
                from: context.absolute(source),
                to: target.clone(),
            };
            match run(context, &[pair], options, notify) {
                Err(error) if error.code() == ErrorCode::ENTRY_EXISTS => {
                    run(context, &into(&target), options, notify)
                }
                done => done,
            }
        }
        _ => run(context, &into(&target), options, notify),
    };
    context.progress.note_file();
    context.wait_for_timestamps(&target);
    done
}

fn run(
    context: &Context,
    pairs: &[Pair],
    options: CopyOptions,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let is_move = options.mode != Mode::Copy;
    let unsupported = |text: String| Err(Error::new(ErrorCode::UNSUPPORTED_FEATURE, text));
    for pair in pairs {
        if pair.from != pair.to && pair.to.strip_prefix(&pair.from).is_some() {
            return unsupported(format!(
                "Cannot copy path '{}' into its own child '{}'",
                pair.from, pair.to
            ));
        }
    }
    for pair in pairs.iter().filter(|_| is_move) {
        check_external(context, &pair.from)?;
    }
    for pair in pairs.iter().filter(|_| is_move) {
        if pair.from == pair.to {
            return unsupported(format!("Cannot move path '{}' into itself", pair.from));
        }
    }
    for pair in pairs {
        check_source(context, pair)?;
    }
    for pair in pairs {
        check_target(context, pair, options.parents, notify)?;
    }
    for pair in pairs {
        context.cancel.check()?;
        one(context, pair, options.mode, notify)?;
    }
    Ok(())
}

fn check_external(context: &Context, path: &Dirent) -> Result<()> {
    let (wc, target) = WorkingCopy::open(path, &context.wc)?;
    match wc.db().external(&target)? {
        None => Ok(()),
        Some(external) => Err(Error::new(
            ErrorCode::WC_CANNOT_MOVE_FILE_EXTERNAL,
            format!(
                "Cannot move the external at '{path}'; please edit the svn:externals property on \
                 '{}'.",
                wc.local_path(&external.defined_on)
            ),
        )),
    }
}

fn check_source(context: &Context, pair: &Pair) -> Result<()> {
    let node = WcNode::open(context, &pair.from)?;
    if matches!(node.kind(false)?, NodeKind::None | NodeKind::Unknown) {
        return Err(Error::new(
            ErrorCode::WC_PATH_NOT_FOUND,
            format!("Path '{}' does not exist", pair.from),
        ));
    }
    Ok(())
}

/// What the database has at a path; nothing if no working copy is there.
fn versioned_kind(context: &Context, path: &Dirent) -> Result<(NodeKind, bool)> {
    let node = match WcNode::open(context, path) {
        Err(error) if error.code() == ErrorCode::WC_NOT_WORKING_COPY => {
            return Ok((NodeKind::None, false));
        }
        opened => opened?,
    };
    let state = node
        .wc()
        .db()
        .node(node.path())?
        .filter(|node| !node.layers.is_empty())
        .map(|node| node.state());
    use sylvan_wc::db::NodeState;
    Ok(match state {
        None | Some(NodeState::Deleted | NodeState::NotPresent) => (NodeKind::None, false),
        Some(NodeState::Excluded | NodeState::ServerExcluded) => (NodeKind::Unknown, true),
        Some(_) => (node.kind(false)?, false),
    })
}

/// Checks that nothing is in the target's place and that its folder is there.
pub(crate) fn check_place(
    context: &Context,
    to: &Dirent,
    parents: bool,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let (kind, is_excluded) = versioned_kind(context, to)?;
    if is_excluded {
        return Err(Error::new(
            ErrorCode::WC_OBSTRUCTED_UPDATE,
            format!("Path '{to}' exists, but is excluded"),
        ));
    }
    if kind != NodeKind::None {
        return Err(Error::new(
            ErrorCode::ENTRY_EXISTS,
            format!("Path '{to}' already exists"),
        ));
    }
    if disk::kind(to)? != NodeKind::None {
        return Err(Error::new(
            ErrorCode::ENTRY_EXISTS,
            format!("Path '{to}' already exists as unversioned node"),
        ));
    }
    let folder = to.dirname();
    let no_folder = |code| Error::new(code, format!("Path '{folder}' is not a directory"));
    match versioned_kind(context, &folder)?.0 {
        NodeKind::Dir => {}
        NodeKind::None if parents => add::mkdir(context, &folder, true, notify)?,
        NodeKind::None if disk::kind(&folder)? == NodeKind::Dir => {
            return Err(Error::new(
                ErrorCode::WC_PATH_NOT_FOUND,
                format!("Directory '{folder}' is not under version control"),
            ));
        }
        _ => return Err(no_folder(ErrorCode::WC_PATH_NOT_FOUND)),
    }
    if disk::kind(&folder)? != NodeKind::Dir {
        return Err(no_folder(ErrorCode::WC_MISSING));
    }
    Ok(())
}

fn check_target(
    context: &Context,
    pair: &Pair,
    parents: bool,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    check_place(context, &pair.to, parents, notify)
}

fn one(context: &Context, pair: &Pair, mode: Mode, notify: &mut NotifyFn<'_>) -> Result<()> {
    let (mut wc, folder) = WorkingCopy::open(&pair.to.dirname(), &context.wc)?;
    let to = folder.child(pair.to.basename())?;
    let (source_wc, from) = WorkingCopy::open(&pair.from, &context.wc)?;
    if source_wc.root() != wc.root() {
        return between(context, source_wc, &from, wc, &folder, &to, mode, notify);
    }
    drop(source_wc);
    let cancel = &context.cancel;
    let lock = match mode {
        Mode::Copy => folder,
        Mode::Move(_) => common(from.parent().unwrap_or(RelPath::ROOT), &folder),
    };
    WcLock::with(&mut wc, &lock, Anchor::Node, |wc, lock| match mode {
        Mode::Copy => sylvan_wc::copy::copy(wc, lock, &from, &to, cancel, notify),
        Mode::Move(mixed) => sylvan_wc::copy::rename(wc, lock, &from, &to, mixed, cancel, notify),
    })
}

/// Copies or moves between two working copies.
#[expect(
    clippy::too_many_arguments,
    reason = "two working copies with their paths"
)]
fn between(
    context: &Context,
    mut source: WorkingCopy,
    from: &RelPath,
    mut wc: WorkingCopy,
    folder: &RelPath,
    to: &RelPath,
    mode: Mode,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let cancel = &context.cancel;
    let is_move = mode != Mode::Copy;
    WcLock::with(&mut wc, folder, Anchor::Node, |wc, lock| {
        let place = (&source, from);
        sylvan_wc::copy::between(place, wc, lock, to, is_move, cancel, notify)
    })?;
    if !is_move {
        return Ok(());
    }
    WcLock::with(&mut source, from, Anchor::Parent, |source, lock| {
        let targets = [from.to_owned()];
        sylvan_wc::delete::delete(
            source,
            lock,
            &targets,
            sylvan_wc::delete::OnDisk::Remove,
            cancel,
            notify,
        )
    })
}

fn common(a: &RelPath, b: &RelPath) -> RelPathBuf {
    let mut common = a;
    while !b.starts_with(common) {
        common = common.parent().unwrap_or(RelPath::ROOT);
    }
    common.to_owned()
}
