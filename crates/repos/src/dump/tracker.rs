//! Whether a path exists at the moment of a walk through the changes of a revision.

use sylvan_core::{RelPath, RelPathBuf, Revnum};

/// The changes of the tree above and at the current path.
#[derive(Debug)]
pub(super) struct Tracker {
    stack: Vec<Entry>,
    revision: Revnum,
}

#[derive(Debug)]
struct Entry {
    path: RelPathBuf,
    state: State,
}

#[derive(Debug)]
enum State {
    Deleted,
    /// New, and so is all below it.
    Added,
    Copied(Revnum, RelPathBuf),
}

impl Tracker {
    pub(super) const fn new(revision: Revnum) -> Self {
        Self {
            stack: Vec::new(),
            revision,
        }
    }

    pub(super) const fn revision(&self) -> Revnum {
        self.revision
    }

    /// Forgets what is not above a path.
    fn trim(&mut self, path: &RelPath, keeps_itself: bool) {
        while let Some(last) = self.stack.last() {
            if path.starts_with(&last.path) && (keeps_itself || path != &*last.path) {
                return;
            }
            self.stack.pop();
        }
    }

    /// Returns where to look for a path; `None` if it does not exist.
    pub(super) fn lookup(&mut self, path: &RelPath) -> Option<(Revnum, RelPathBuf)> {
        self.trim(path, true);
        let Some(last) = self.stack.last() else {
            let before = self.revision.previous().unwrap_or(Revnum::ZERO);
            return Some((before, path.to_owned()));
        };
        let below = path.strip_prefix(&last.path)?;
        match &last.state {
            State::Copied(revision, source) => Some((*revision, source.join(below))),
            State::Added if below.is_root() => Some((self.revision, path.to_owned())),
            State::Added | State::Deleted => None,
        }
    }

    fn put(&mut self, path: &RelPath, state: State) {
        self.trim(path, false);
        self.stack.push(Entry {
            path: path.to_owned(),
            state,
        });
    }

    pub(super) fn delete(&mut self, path: &RelPath) {
        self.put(path, State::Deleted);
    }

    pub(super) fn add(&mut self, path: &RelPath) {
        self.put(path, State::Added);
    }

    pub(super) fn copy(&mut self, path: &RelPath, revision: Revnum, source: &RelPath) {
        self.put(path, State::Copied(revision, source.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_followed() {
        let path = |path: &'static str| RelPath::new(path).unwrap();
        let revision = |number| Revnum::new(number).unwrap();
        let mut tracker = Tracker::new(revision(9));
        let at = |tracker: &mut Tracker, from: &'static str| {
            tracker
                .lookup(path(from))
                .map(|(revision, path)| format!("{}@{revision}", path.as_str()))
        };
        assert_eq!(at(&mut tracker, "a").as_deref(), Some("a@8"));
        tracker.copy(path("a"), revision(3), path("x"));
        assert_eq!(at(&mut tracker, "a/b").as_deref(), Some("x/b@3"));
        tracker.delete(path("a/b"));
        assert_eq!(at(&mut tracker, "a/b/c"), None);
        tracker.add(path("a/c"));
        assert_eq!(at(&mut tracker, "a/c").as_deref(), Some("a/c@9"));
        assert_eq!(at(&mut tracker, "a/c/d"), None);
        assert_eq!(at(&mut tracker, "a/d").as_deref(), Some("x/d@3"));
        assert_eq!(at(&mut tracker, "b").as_deref(), Some("b@8"));
    }
}
