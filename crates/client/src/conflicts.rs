//! `svn resolve`: settling conflicts.

use std::collections::BTreeSet;

use sylvan_core::{Depth, Dirent, Error, ErrorCode, NodeKind, RelPath, RelPathBuf, Result};
use sylvan_wc::conflict::{Action, Conflict, Operation, Reason};
use sylvan_wc::lock::{Anchor, WcLock};
use sylvan_wc::notify::NotifyFn;
use sylvan_wc::resolve::{self, Choice, TreeChoice};
use sylvan_wc::{WorkingCopy, base};

use crate::Context;

/// How conflicts are settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settle {
    /// As it is in the working copy now.
    Working,
    /// For one side, or none.
    For(Choice),
}

/// Settles the conflicts at and below `path`, as deep as `depth` says.
///
/// # Errors
/// `E195024` if a conflict cannot be settled so; those of the working copy.
pub fn settle(
    context: &Context,
    path: &Dirent,
    depth: Depth,
    how: Settle,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let path = context.absolute(path);
    let (mut wc, at) = WorkingCopy::open(&path, &context.wc)?;
    let nodes = if depth == Depth::Empty {
        vec![at.clone()]
    } else {
        nodes_in_conflict(&wc, &at, depth)?
    };
    let done = settle_nodes(context, &mut wc, &at, depth, nodes, how, notify);
    context.wait_for_timestamps(&path);
    done
}

/// Settles nodes, and those that come into conflict by that.
fn settle_nodes(
    context: &Context,
    wc: &mut WorkingCopy,
    at: &RelPath,
    depth: Depth,
    nodes: Vec<RelPathBuf>,
    how: Settle,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let mut tried = BTreeSet::new();
    let mut nodes = nodes;
    while !nodes.is_empty() {
        for node in nodes {
            context.cancel.check()?;
            settle_node(context, wc, &node, how, notify)?;
            tried.insert(node);
        }
        nodes = if depth == Depth::Empty {
            Vec::new()
        } else {
            nodes_in_conflict(wc, at, depth)?
        };
        nodes.retain(|node| !tried.contains(node));
    }
    Ok(())
}

/// A file whose text is in conflict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConflictFile {
    /// The file.
    pub path: Dirent,
    /// The text before both changes, the local one, and the one that came in, if they are there.
    pub texts: Option<[Dirent; 3]>,
}

/// Lists the files at and below `path` whose texts are in conflict.
///
/// # Errors
/// Those of the working copy.
pub fn files(context: &Context, path: &Dirent, depth: Depth) -> Result<Vec<ConflictFile>> {
    let path = context.absolute(path);
    let (wc, at) = WorkingCopy::open(&path, &context.wc)?;
    let mut found = Vec::new();
    for node in nodes_in_conflict(&wc, &at, depth)? {
        let conflict = resolve::conflict(&wc, &node)?;
        if let Some(text) = conflict.and_then(|conflict| conflict.text) {
            let local = |path: &RelPathBuf| wc.local_path(path);
            let texts = match (&text.old, &text.mine, &text.theirs) {
                (Some(old), Some(mine), Some(theirs)) => {
                    Some([local(old), local(mine), local(theirs)])
                }
                _ => None,
            };
            let path = wc.local_path(&node);
            found.push(ConflictFile { path, texts });
        }
    }
    Ok(found)
}

/// Lists the nodes in conflict as deep as asked for.
fn nodes_in_conflict(wc: &WorkingCopy, at: &RelPath, depth: Depth) -> Result<Vec<RelPathBuf>> {
    let found = resolve::conflicted(wc, at)?;
    let mut nodes = Vec::new();
    for node in found {
        let below = node.strip_prefix(at).map_or(0, RelPath::depth);
        let is_meant = match depth {
            Depth::Infinity => true,
            Depth::Immediates => below <= 1,
            Depth::Files => below == 0 || below == 1 && base::kind(wc, &node)? != NodeKind::Dir,
            _ => below == 0,
        };
        if is_meant {
            nodes.push(node);
        }
    }
    Ok(nodes)
}

fn settle_node(
    context: &Context,
    wc: &mut WorkingCopy,
    at: &RelPath,
    how: Settle,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let Some(conflict) = resolve::conflict(wc, at)? else {
        return Ok(());
    };
    let cancel = &context.cancel;
    let plan = Plan::of(wc, at, &conflict, how)?;
    let locked = lock_for(wc, at, &conflict);
    WcLock::with(wc, &locked, Anchor::Node, |wc, _| {
        if conflict.text.is_some() {
            let choice = plan.text.ok_or_else(|| inapplicable(wc, at))?;
            resolve::resolve_text(wc, at, choice, cancel, notify)?;
        }
        if conflict.props.is_some() {
            let choice = plan.props.ok_or_else(|| inapplicable(wc, at))?;
            resolve::resolve_props(wc, at, choice, cancel, notify)?;
        }
        if conflict.tree.is_some() {
            let choice = plan.tree.ok_or_else(|| inapplicable(wc, at))?;
            resolve::resolve_tree(wc, at, choice, cancel, notify)?;
        }
        Ok(())
    })
}

/// Returns what is locked: all for moves, which may go anywhere, else the folder of the node, or
/// the nearest one that is there.
fn lock_for(wc: &WorkingCopy, at: &RelPath, conflict: &Conflict) -> RelPathBuf {
    if conflict.tree.is_some() {
        return RelPath::ROOT.to_owned();
    }
    match base::kind(wc, at) {
        Ok(NodeKind::Dir) => at.to_owned(),
        _ => at.parent().unwrap_or(RelPath::ROOT).to_owned(),
    }
}

/// What is done about each kind of conflict; nothing if it cannot be done.
struct Plan {
    text: Option<Choice>,
    props: Option<Choice>,
    tree: Option<TreeChoice>,
}

impl Plan {
    fn of(wc: &WorkingCopy, at: &RelPath, conflict: &Conflict, how: Settle) -> Result<Self> {
        let is_binary = conflict.text.is_some() && resolve::is_binary(wc, at)?;
        Ok(match how {
            Settle::Working if conflict.text.is_some() => {
                let choice = if is_binary {
                    Choice::MineFull
                } else {
                    Choice::Merged
                };
                Self {
                    text: Some(choice),
                    props: Some(choice),
                    tree: None,
                }
            }
            Settle::Working if conflict.tree.is_some() => Self {
                text: None,
                props: None,
                tree: Some(TreeChoice::AcceptCurrent),
            },
            Settle::Working => Self {
                text: None,
                props: Some(Choice::Merged),
                tree: None,
            },
            Settle::For(choice) => {
                let by_part = matches!(choice, Choice::MineConflict | Choice::TheirsConflict);
                let tree = if choice == Choice::MineConflict {
                    mine_conflict(wc, at, conflict)?
                } else {
                    None
                };
                Self {
                    text: Some(choice).filter(|_| !(is_binary && by_part) && tree.is_none()),
                    props: Some(choice).filter(|_| tree.is_none()),
                    tree,
                }
            }
        })
    }
}

/// What `mine-conflict` means for a tree conflict, if anything.
fn mine_conflict(
    wc: &WorkingCopy,
    at: &RelPath,
    conflict: &Conflict,
) -> Result<Option<TreeChoice>> {
    let Some(tree) = &conflict.tree else {
        return Ok(None);
    };
    if !matches!(conflict.operation, Operation::Update | Operation::Switch)
        || tree.action != Action::Edited
    {
        return Ok(None);
    }
    Ok(match tree.reason {
        Reason::MovedAway => Some(TreeChoice::UpdateMoveDestination),
        Reason::Deleted | Reason::Replaced if resolve::victim_kind(wc, at)? == NodeKind::Dir => {
            Some(TreeChoice::UpdateMovedAwayChildren)
        }
        _ => None,
    })
}

fn inapplicable(wc: &WorkingCopy, at: &RelPath) -> Error {
    Error::new(
        ErrorCode::CLIENT_CONFLICT_OPTION_NOT_APPLICABLE,
        format!(
            "Inapplicable conflict resolution option given for conflicted path '{}'",
            wc.local_path(at)
        ),
    )
}
