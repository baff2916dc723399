//! Putting files into changelists, and taking them out.

use rusqlite::params;
use sylvan_core::{Depth, NodeKind, RelPath, Result};
use sylvan_io::Cancel;

use crate::notify::{Action, Notification, NotifyFn, State};
use crate::working::{self, Current};
use crate::{WorkingCopy, not_found};

/// Puts the files at and below a node, as deep as asked for, into `changelist`, or with `None` out
/// of the one they are in. With `only`, just members of these changelists. Folders are skipped.
///
/// No lock is needed: nothing but the files' own rows changes, in one transaction.
///
/// # Errors
/// `E155010` if there is no such node.
pub fn set(
    wc: &mut WorkingCopy,
    path: &RelPath,
    changelist: Option<&str>,
    depth: Depth,
    only: &[String],
    cancel: &Cancel,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let wc = &*wc;
    let mut told = wc.db().write(|| {
        let mut told = Vec::new();
        for node in targets(wc, path, depth)? {
            cancel.check()?;
            let member = |name: &String| only.contains(name);
            if !only.is_empty() && !node.actual.changelist.as_ref().is_some_and(member) {
                continue;
            }
            set_one(wc, node, changelist, &mut told)?;
        }
        Ok(told)
    })?;
    told.sort_by(|a, b| a.path.components().cmp(b.path.components()));
    for one in told {
        let local = wc.local_path(&one.path);
        let mut what = Notification::new(local, one.action).kind(one.kind);
        if one.action == Action::Skip {
            what = what.states(State::Unknown, State::Unknown);
        }
        what.changelist = Some(one.changelist);
        notify(&what);
    }
    Ok(())
}

struct Told {
    path: sylvan_core::RelPathBuf,
    kind: NodeKind,
    action: Action,
    changelist: String,
}

fn targets(wc: &WorkingCopy, path: &RelPath, depth: Depth) -> Result<Vec<Current>> {
    let db = wc.db();
    let node = db.current(path)?.ok_or_else(|| not_found(wc, path))?;
    if depth == Depth::Infinity {
        return db.current_within(path);
    }
    let mut nodes = vec![node];
    if matches!(depth, Depth::Files | Depth::Immediates) {
        nodes.extend(db.current_children(path)?);
    }
    nodes.retain(|node| {
        depth != Depth::Files || *node.path == *path || node.layer.kind == NodeKind::File
    });
    Ok(nodes)
}

fn set_one(
    wc: &WorkingCopy,
    node: Current,
    changelist: Option<&str>,
    told: &mut Vec<Told>,
) -> Result<()> {
    let db = wc.db();
    let mut tell = |action, changelist: &str| {
        told.push(Told {
            path: node.path.clone(),
            kind: node.layer.kind,
            action,
            changelist: changelist.to_owned(),
        });
    };
    if node.layer.kind == NodeKind::Dir {
        if let Some(changelist) = changelist {
            tell(Action::Skip, changelist);
        }
        return Ok(());
    }
    let old = node.actual.changelist.as_deref();
    if old == changelist {
        return Ok(());
    }
    let key = params![db.wc_id(), node.path.as_str(), changelist];
    if db.execute(working::SET_CHANGELIST, key)? == 0 && changelist.is_some() {
        db.execute(
            working::INSERT_CHANGELIST,
            params![
                db.wc_id(),
                node.path.as_str(),
                node.path.parent().map(RelPath::as_str),
                changelist
            ],
        )?;
    }
    if changelist.is_none() {
        db.delete_actual_if_empty(&node.path)?;
    }
    if let Some(old) = old {
        tell(Action::ChangelistClear, old);
    }
    if let Some(changelist) = changelist {
        tell(Action::ChangelistSet, changelist);
    }
    Ok(())
}
