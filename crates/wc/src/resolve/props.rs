//! Conflicts of properties.

use sylvan_core::props::from_skel;
use sylvan_core::{Props, RelPath, Result};
use sylvan_io::Cancel;

use super::{Choice, apply, put, remove_marker, stored, tell};
use crate::WorkingCopy;
use crate::conflict::PropConflict;
use crate::db::Db;
use crate::notify::{Action, Notification, NotifyFn};
use crate::site::Site;
use crate::work_queue::item;

/// Settles all property conflicts of a node.
///
/// # Errors
/// Those of the database and the file system.
pub fn resolve_all(
    wc: &WorkingCopy,
    path: &RelPath,
    choice: Choice,
    cancel: &Cancel,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    if resolve(wc, path, None, choice, None, cancel)? {
        tell(wc, path, Action::Resolved, notify);
    }
    Ok(())
}

/// Settles the conflict of one property; with [`Choice::Merged`] it may get a value.
///
/// # Errors
/// Those of the database and the file system.
pub fn resolve_one(
    wc: &WorkingCopy,
    path: &RelPath,
    name: &str,
    choice: Choice,
    merged: Option<&[u8]>,
    cancel: &Cancel,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    if resolve(wc, path, Some(name), choice, merged, cancel)? {
        let mut told = Notification::new(wc.local_path(path), Action::ResolvedProp);
        told.prop_name = Some(name.to_owned());
        notify(&told);
    }
    Ok(())
}

fn resolve(
    wc: &WorkingCopy,
    path: &RelPath,
    only: Option<&str>,
    choice: Choice,
    merged: Option<&[u8]>,
    cancel: &Cancel,
) -> Result<bool> {
    let Some(mut conflict) = stored(wc, path)? else {
        return Ok(false);
    };
    let Some(props) = conflict.props.take() else {
        return Ok(false);
    };
    let is_meant = |name: &str| only.is_none_or(|only| only == name);
    if only.is_some() && !props.names.iter().any(|name| is_meant(name)) {
        return Ok(false);
    }
    let site = Site::of(wc)?;
    let mut local = actual(wc.db(), path)?;
    settle(&mut local, &props, choice, merged, &is_meant);
    let mut items = Vec::new();
    let (marker, left) = rest_of(props, &is_meant);
    let did = if left.is_some() {
        items.push(item::prej_install(path));
        true
    } else {
        remove_marker(&site, marker.as_ref(), &mut items)?
    };
    conflict.props = left;
    apply(wc, &site, cancel, |db| {
        put(db, path, &conflict)?;
        let pristine = pristine(db, path)?;
        db.put_actual_props(path, (local != pristine).then_some(&local))?;
        Ok(items)
    })?;
    Ok(did)
}

/// Takes the values that are chosen.
fn settle(
    local: &mut Props,
    props: &PropConflict,
    choice: Choice,
    merged: Option<&[u8]>,
    is_meant: &dyn Fn(&str) -> bool,
) {
    let from = match choice {
        Choice::Base => Some(&props.old),
        Choice::MineFull | Choice::MineConflict => Some(&props.mine),
        Choice::TheirsFull | Choice::TheirsConflict => Some(&props.theirs),
        Choice::Merged => None,
    };
    for name in props.names.iter().filter(|name| is_meant(name)) {
        let value = match (from, merged) {
            (Some(from), _) => from.get(name).cloned(),
            (None, Some(merged)) => Some(merged.to_vec()),
            (None, None) => continue,
        };
        match value {
            Some(value) => drop(local.insert(name.clone(), value)),
            None => drop(local.remove(name)),
        }
    }
}

/// Returns the file of a conflict, and what is left of it.
fn rest_of(
    props: PropConflict,
    is_meant: &dyn Fn(&str) -> bool,
) -> (Option<sylvan_core::RelPathBuf>, Option<PropConflict>) {
    let marker = props.marker.clone();
    let names: Vec<_> = props
        .names
        .iter()
        .filter(|name| !is_meant(name))
        .cloned()
        .collect();
    let left = (!names.is_empty()).then_some(PropConflict { names, ..props });
    (marker, left)
}

/// Returns the properties of the highest layer of a node.
pub(super) fn pristine(db: &Db, path: &RelPath) -> Result<Props> {
    let layers = db.layers(path)?;
    match layers.first() {
        Some(top) => top.props(),
        None => Ok(Props::new()),
    }
}

/// Returns the local properties of a node.
pub(super) fn actual(db: &Db, path: &RelPath) -> Result<Props> {
    let node = db.node(path)?;
    match node
        .as_ref()
        .and_then(|node| node.actual.properties.as_ref())
    {
        Some(stored) => from_skel(stored),
        None => pristine(db, path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_property_is_settled_and_others_stay() {
        let props = |value: &str| -> Props {
            ["a", "b"]
                .map(|name| (name.to_owned(), value.as_bytes().to_vec()))
                .into()
        };
        let conflict = PropConflict {
            marker: None,
            names: vec!["a".to_owned(), "b".to_owned()],
            old: Props::new(),
            mine: props("mine"),
            theirs: props("theirs"),
        };
        let mut local = props("mine");
        let is_a = |name: &str| name == "a";
        settle(&mut local, &conflict, Choice::TheirsFull, None, &is_a);
        assert_eq!(local["a"], b"theirs");
        assert_eq!(local["b"], b"mine");
        settle(&mut local, &conflict, Choice::Base, None, &is_a);
        assert!(!local.contains_key("a"));
        settle(&mut local, &conflict, Choice::Merged, Some(b"x"), &is_a);
        assert_eq!(local["a"], b"x");
        let (_, left) = rest_of(conflict, &is_a);
        assert_eq!(left.unwrap().names, ["b"]);
    }
}
