//! Changes of properties that come in, and local ones.

use sylvan_core::mergeinfo::Mergeinfo;
use sylvan_core::props::SVN_MERGEINFO;
use sylvan_core::{Props, Result};

use crate::conflict::PropConflict;
use crate::notify::State;

/// What became of a node's properties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MergedProps {
    /// The properties now.
    pub props: Props,
    /// For the notification.
    pub state: State,
    /// What could not be merged; its marker is still to be made.
    pub conflict: Option<PropConflict>,
}

/// A value that may be missing.
type Value<'v> = Option<&'v Vec<u8>>;

/// What became of one property.
enum Merged {
    /// It gets a value, or none, that the other side alone has.
    Set(Option<Vec<u8>>),
    /// It has a value that both sides made.
    Both(Option<Vec<u8>>),
    /// Both sides made the same change.
    Same,
    Conflict,
}

/// Merges changes of the `pristine` properties into the `actual` ones.
pub(crate) fn merge<'c>(
    pristine: &Props,
    actual: &Props,
    changes: impl IntoIterator<Item = (&'c str, Value<'c>)>,
) -> MergedProps {
    merge_from(pristine, pristine, actual, changes)
}

/// Merges changes of the properties `from` into the `actual` ones of a node whose pristine ones are
/// others.
pub(crate) fn merge_from<'c>(
    from: &Props,
    pristine: &Props,
    actual: &Props,
    changes: impl IntoIterator<Item = (&'c str, Value<'c>)>,
) -> MergedProps {
    let mut props = actual.clone();
    let mut theirs = from.clone();
    let mut state = State::Unchanged;
    let mut names = Vec::new();
    for (name, to) in changes {
        set(&mut theirs, name, to.cloned());
        let values = Values {
            base: pristine.get(name),
            from: from.get(name),
            to,
            mine: actual.get(name),
        };
        let now = match values.merge(name) {
            Merged::Set(value) => {
                set(&mut props, name, value);
                State::Changed
            }
            Merged::Both(value) => {
                set(&mut props, name, value);
                State::Merged
            }
            Merged::Same => State::Merged,
            Merged::Conflict => {
                names.push(name.to_owned());
                State::Conflicted
            }
        };
        state = higher(state, now);
    }
    let conflict = (!names.is_empty()).then(|| PropConflict {
        marker: None,
        names,
        old: from.clone(),
        mine: actual.clone(),
        theirs,
    });
    MergedProps {
        props,
        state,
        conflict,
    }
}

fn set(props: &mut Props, name: &str, value: Option<Vec<u8>>) {
    match value {
        Some(value) => drop(props.insert(name.to_owned(), value)),
        None => drop(props.remove(name)),
    }
}

/// Returns the state that says more.
const fn higher(a: State, b: State) -> State {
    const fn rank(state: State) -> u8 {
        match state {
            State::Changed => 1,
            State::Merged => 2,
            State::Conflicted => 3,
            _ => 0,
        }
    }
    if rank(b) > rank(a) { b } else { a }
}

/// The values of one property; the change that comes in is that from `from` to `to`.
struct Values<'v> {
    base: Value<'v>,
    from: Value<'v>,
    to: Value<'v>,
    mine: Value<'v>,
}

impl Values<'_> {
    fn merge(&self, name: &str) -> Merged {
        match (self.from, self.to) {
            (None, Some(to)) => self.add(name, to),
            (_, None) => self.delete(),
            (Some(from), Some(to)) => self.change(name, from, to),
        }
    }

    fn add(&self, name: &str, to: &Vec<u8>) -> Merged {
        match self.mine {
            Some(mine) if mine == to => Merged::Same,
            Some(mine) if name == SVN_MERGEINFO => {
                joined(mine, to).map_or(Merged::Conflict, Merged::Both)
            }
            Some(_) => Merged::Conflict,
            None if self.base.is_some() => Merged::Conflict,
            None => Merged::Set(Some(to.clone())),
        }
    }

    fn delete(&self) -> Merged {
        match (self.base, self.mine) {
            (None, Some(mine)) if Some(mine) != self.from => Merged::Conflict,
            (None, _) if self.from.is_some() => Merged::Both(None),
            (None, _) => Merged::Set(None),
            (base, _) if base != self.from => Merged::Conflict,
            (_, None) => Merged::Same,
            (_, mine) if mine == self.from => Merged::Set(None),
            _ => Merged::Conflict,
        }
    }

    fn change(&self, name: &str, from: &Vec<u8>, to: &Vec<u8>) -> Merged {
        if name == SVN_MERGEINFO
            && let Ok(merged) = self.change_mergeinfo(from, to)
        {
            return merged;
        }
        match self.mine {
            Some(mine) if mine == to => Merged::Same,
            Some(mine) if mine == from => Merged::Set(Some(to.clone())),
            _ => Merged::Conflict,
        }
    }

    /// Fails for what cannot be read, which is then merged as any other property.
    fn change_mergeinfo(&self, from: &Vec<u8>, to: &Vec<u8>) -> Result<Merged> {
        let is_changed = self.mine != self.base;
        Ok(match self.mine {
            None if is_changed => Merged::Conflict,
            None => {
                let added = Mergeinfo::parse(to)?.without_alike(&Mergeinfo::parse(from)?);
                Merged::Set(Some(added.to_text()?.into_bytes()))
            }
            Some(mine) if is_changed && mine == to => Merged::Same,
            Some(_) if !is_changed && self.base == Some(from) => Merged::Set(Some(to.clone())),
            Some(mine) => Merged::Both(Some(forked(from, mine, to)?)),
        })
    }
}

/// Joins mergeinfo that both sides added; `None` if it cannot be read.
fn joined(mine: &[u8], theirs: &[u8]) -> Option<Option<Vec<u8>>> {
    let mut mergeinfo = Mergeinfo::parse(mine).ok()?;
    mergeinfo.merge(&Mergeinfo::parse(theirs).ok()?);
    Some(Some(mergeinfo.to_text().ok()?.into_bytes()))
}

/// Does to mergeinfo what both sides did to it.
fn forked(from: &[u8], mine: &[u8], theirs: &[u8]) -> Result<Vec<u8>> {
    let from = Mergeinfo::parse(from)?;
    let (mine, theirs) = (Mergeinfo::parse(mine)?, Mergeinfo::parse(theirs)?);
    let mut deleted = from.without_alike(&mine);
    deleted.merge(&from.without_alike(&theirs));
    let mut merged = from.clone();
    merged.merge(&mine.without_alike(&from));
    merged.merge(&theirs.without_alike(&from));
    Ok(merged.without_alike(&deleted).to_text()?.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn props(value: Option<&str>) -> Props {
        let value = value.map(|value| ("p".to_owned(), value.as_bytes().to_vec()));
        value.into_iter().collect()
    }

    #[test]
    fn changes_meet_local_ones() {
        use State::{Changed, Conflicted, Merged};
        for (base, mine, to, expected, state) in [
            (None, None, Some("n"), Some("n"), Changed),
            (None, Some("n"), Some("n"), Some("n"), Merged),
            (None, Some("m"), Some("n"), Some("m"), Conflicted),
            (Some("b"), Some("b"), Some("n"), Some("n"), Changed),
            (Some("b"), Some("n"), Some("n"), Some("n"), Merged),
            (Some("b"), Some("m"), Some("n"), Some("m"), Conflicted),
            (Some("b"), None, Some("n"), None, Conflicted),
            (Some("b"), Some("b"), None, None, Changed),
            (Some("b"), None, None, None, Merged),
            (Some("b"), Some("m"), None, Some("m"), Conflicted),
        ] {
            let to = to.map(|to| to.as_bytes().to_vec());
            let merged = merge(&props(base), &props(mine), [("p", to.as_ref())]);
            assert_eq!(merged.props, props(expected), "{base:?} {mine:?} {to:?}");
            assert_eq!(merged.state, state, "{base:?} {mine:?} {to:?}");
            assert_eq!(merged.conflict.is_some(), state == Conflicted);
        }
    }

    #[test]
    fn mergeinfo_is_joined() {
        let of = |value: &str| -> Props {
            [(SVN_MERGEINFO.to_owned(), value.as_bytes().to_vec())].into()
        };
        let to = b"/a:1-3,9".to_vec();
        let merged = merge(&of("/a:1-3"), &of("/a:1-5"), [(SVN_MERGEINFO, Some(&to))]);
        assert_eq!(merged.props, of("/a:1-5,9"));
        assert_eq!(merged.state, State::Merged);
        let merged = merge(&Props::new(), &of("/b:7"), [(SVN_MERGEINFO, Some(&to))]);
        assert_eq!(merged.props, of("/a:1-3,9\n/b:7"));
        let merged = merge(&of("/a:1-3"), &of("nonsense"), [(SVN_MERGEINFO, Some(&to))]);
        assert_eq!(merged.state, State::Conflicted);
    }
}
