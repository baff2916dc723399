//! What the changes of a transaction come to.

use std::collections::BTreeMap;

use sylvan_core::{RelPathBuf, Result};

use crate::change::{Change, ChangeKind};
use crate::text::corrupt;

/// Folds changes in order of time to one for each path.
pub(crate) fn fold(changes: &[Change]) -> Result<BTreeMap<RelPathBuf, Change>> {
    let mut folded: BTreeMap<RelPathBuf, Change> = BTreeMap::new();
    // What was deleted before it was replaced.
    let mut deletions: BTreeMap<RelPathBuf, Change> = BTreeMap::new();
    for change in changes {
        fold_one(&mut folded, &mut deletions, change)?;
        if matches!(change.kind, ChangeKind::Delete | ChangeKind::Replace) {
            remove_below(&mut folded, &change.path);
        }
    }
    Ok(folded)
}

fn fold_one(
    folded: &mut BTreeMap<RelPathBuf, Change>,
    deletions: &mut BTreeMap<RelPathBuf, Change>,
    change: &Change,
) -> Result<()> {
    use ChangeKind::{Add, Delete, Modify, Replace, Reset};
    let Some(old) = folded.get_mut(&change.path) else {
        folded.insert(change.path.clone(), change.clone());
        return Ok(());
    };
    if change.id.is_none() && change.kind != Reset {
        return Err(corrupt("Missing required node revision ID"));
    }
    if change.id.is_some() && old.id != change.id && old.kind != Delete {
        return Err(corrupt(
            "Invalid change ordering: new node revision ID without delete",
        ));
    }
    if old.kind == Delete && !matches!(change.kind, Replace | Reset | Add) {
        return Err(corrupt(
            "Invalid change ordering: non-add change on deleted path",
        ));
    }
    if change.kind == Add && !matches!(old.kind, Delete | Reset) {
        return Err(corrupt(
            "Invalid change ordering: add change on preexisting path",
        ));
    }
    match change.kind {
        Reset => drop(folded.remove(&change.path)),
        Delete => match old.kind {
            Add => drop(folded.remove(&change.path)),
            Replace => {
                let deletion = deletions.get(&change.path).cloned();
                *old = deletion.ok_or_else(|| corrupt("Invalid change ordering: no deletion"))?;
            }
            _ => *old = change.clone(),
        },
        Add | Replace => {
            let mut new = change.clone();
            new.kind = Replace;
            let before = std::mem::replace(old, new);
            deletions.insert(change.path.clone(), before);
        }
        Modify => {
            old.text_mod |= change.text_mod;
            old.prop_mod |= change.prop_mod;
            if change.mergeinfo_mod == Some(true) {
                old.mergeinfo_mod = Some(true);
            }
        }
    }
    Ok(())
}

fn remove_below(folded: &mut BTreeMap<RelPathBuf, Change>, path: &RelPathBuf) {
    let below: Vec<RelPathBuf> = folded
        .range(path.clone()..)
        .take_while(|(other, _)| other.as_str().starts_with(path.as_str()))
        .filter(|(other, _)| *other != path && other.starts_with(path))
        .map(|(other, _)| other.clone())
        .collect();
    for path in below {
        folded.remove(&path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(text: &str) -> Vec<Change> {
        let mut list = Vec::new();
        for line in text.split(", ") {
            let (action, path) = line.split_once(' ').unwrap();
            // What is deleted was there before; `undo` deletes what was added.
            let (id, action) = match action {
                "delete" => ("2-1.0.r1/1", "delete"),
                "undo" => ("1-1.0.t1-0", "delete"),
                _ => ("1-1.0.t1-0", action),
            };
            let text = format!("{id} {action}-file true false /{path}\n\n");
            list.extend(Change::take(&mut text.as_bytes()).unwrap());
        }
        list
    }

    fn folded(text: &str) -> String {
        match fold(&changes(text)) {
            Err(error) => error.message(),
            Ok(folded) => {
                let lines = folded
                    .values()
                    .map(|change| format!("{:?} {}", change.kind, change.path.as_str()));
                lines.collect::<Vec<_>>().join(", ")
            }
        }
    }

    #[test]
    fn changes_fold() {
        for (from, to) in [
            ("modify a, modify a", "Modify a"),
            ("add a, modify a", "Add a"),
            ("delete a, add a", "Replace a"),
            ("delete a, add a, modify a", "Replace a"),
            ("delete a, add a, undo a", "Delete a"),
            ("add a, undo a", ""),
            (
                "modify b, add a/x, modify a/y, modify a-x, delete a",
                "Delete a, Modify a-x, Modify b",
            ),
            (
                "delete a, modify a",
                "Invalid change ordering: non-add change on deleted path",
            ),
            (
                "modify a, add a",
                "Invalid change ordering: add change on preexisting path",
            ),
        ] {
            assert_eq!(folded(from), to, "{from}");
        }
    }
}
