//! Where a node was in the course of time, found out of the log: for servers before 1.5, which do
//! not tell it themselves.

use sylvan_core::{Error, ErrorCode, RelPath, RelPathBuf, Result, Revnum};

use crate::{ChangedPath, LocationSegment, LogOptions, Session};

/// Finds the segments of a node's history between `start` and `end`, oldest first.
///
/// `path` is below the session's URL, `repos_path` the same below the repository root, both at
/// `peg`.
///
/// # Errors
/// Those of [`Session::log`].
pub(crate) fn from_log(
    session: &mut dyn Session,
    path: &RelPath,
    repos_path: RelPathBuf,
    peg: Revnum,
    start: Option<Revnum>,
    end: Option<Revnum>,
) -> Result<Vec<LocationSegment>> {
    let oldest = end.unwrap_or(Revnum::ZERO);
    let mut trace = Trace {
        path: repos_path,
        youngest: peg,
        found: Vec::new(),
        ended: false,
    };
    let options = LogOptions {
        paths: vec![path.to_owned()],
        start: Some(peg),
        end: Some(oldest),
        limit: 0,
        discover_changed_paths: true,
        strict_node_history: false,
        include_merged_revisions: false,
        revprops: Some(Vec::new()),
    };
    session.log(&options, &mut |entry| {
        if let (Some(rev), Some(changes)) = (entry.rev, &entry.changed_paths) {
            trace.take(rev, changes)?;
        }
        Ok(())
    })?;
    Ok(trace.finish(start.unwrap_or(peg), oldest))
}

/// Follows a node into the past.
struct Trace {
    path: RelPathBuf,
    /// The youngest revision in which it was at `path`.
    youngest: Revnum,
    /// Youngest first.
    found: Vec<LocationSegment>,
    /// Whether it was not there before.
    ended: bool,
}

/// What a revision did to a node.
enum Before {
    /// It was at the same place before.
    Same,
    /// It was a node of another place and time.
    Copied(RelPathBuf, Revnum),
    /// It was not there before.
    Nowhere,
}

impl Trace {
    fn take(&mut self, rev: Revnum, changes: &[(String, ChangedPath)]) -> Result<()> {
        if self.ended {
            return Ok(());
        }
        match before(&self.path, changes)? {
            Before::Same => {}
            Before::Nowhere => {
                self.push(rev);
                self.ended = true;
            }
            Before::Copied(_, source) if source >= rev => {
                return Err(Error::new(
                    ErrorCode::FS_CORRUPT,
                    format!("r{rev} copies from r{source}, which is not older"),
                ));
            }
            Before::Copied(path, source) => {
                self.push(rev);
                if source.next() < rev
                    && let Some(end) = rev.previous()
                {
                    self.found.push(LocationSegment {
                        start: source.next(),
                        end,
                        path: None,
                    });
                }
                self.path = path;
                self.youngest = source;
            }
        }
        Ok(())
    }

    fn push(&mut self, oldest: Revnum) {
        self.found.push(LocationSegment {
            start: oldest,
            end: self.youngest,
            path: Some(self.path.clone()),
        });
    }

    /// Cuts what was found to the revisions that are asked for, and turns it round.
    fn finish(mut self, youngest: Revnum, oldest: Revnum) -> Vec<LocationSegment> {
        if !self.ended {
            self.push(oldest);
        }
        let mut found: Vec<_> = self
            .found
            .into_iter()
            .filter(|segment| segment.start <= youngest && segment.end >= oldest)
            .map(|segment| LocationSegment {
                start: segment.start.max(oldest),
                end: segment.end.min(youngest),
                path: segment.path,
            })
            .collect();
        found.reverse();
        found
    }
}

/// Finds out where a node was before a revision: it, or the nearest folder above it, may have been
/// copied.
fn before(path: &RelPath, changes: &[(String, ChangedPath)]) -> Result<Before> {
    let change_of = |path: &RelPath| {
        changes
            .iter()
            .find(|(changed, _)| changed.strip_prefix('/') == Some(path.as_str()))
            .map(|(_, change)| change)
    };
    let mut at = Some(path);
    while let Some(changed) = at {
        let Some(change) = change_of(changed).filter(|change| matches!(change.action, 'A' | 'R'))
        else {
            at = changed.parent();
            continue;
        };
        match &change.copy_from {
            Some((source, rev)) => {
                let below = path.strip_prefix(changed).unwrap_or(RelPath::ROOT);
                let source = RelPath::new(source.trim_start_matches('/'))?;
                return Ok(Before::Copied(source.join(below), *rev));
            }
            None if changed == path => return Ok(Before::Nowhere),
            None => at = changed.parent(),
        }
    }
    Ok(Before::Same)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sylvan_core::NodeKind;

    fn rev(number: i64) -> Revnum {
        Revnum::new(number).unwrap()
    }

    fn change(path: &str, action: char, from: Option<(&str, i64)>) -> (String, ChangedPath) {
        let changed = ChangedPath {
            action,
            copy_from: from.map(|(path, number)| (path.to_owned(), rev(number))),
            kind: NodeKind::Unknown,
            text_modified: None,
            props_modified: None,
        };
        (path.to_owned(), changed)
    }

    fn shown(segments: &[LocationSegment]) -> Vec<String> {
        segments
            .iter()
            .map(|segment| {
                let path = segment.path.as_deref().map_or("-", RelPath::as_str);
                format!("{}:{} {path}", segment.start, segment.end)
            })
            .collect()
    }

    fn trace() -> Trace {
        Trace {
            path: RelPathBuf::new("branches/b/f").unwrap(),
            youngest: rev(20),
            found: Vec::new(),
            ended: false,
        }
    }

    #[test]
    fn copies_are_followed_to_the_beginning() {
        let mut trace = trace();
        for (number, changes) in [
            (19, vec![change("/branches/b/f", 'M', None)]),
            (
                15,
                vec![
                    change("/branches/b", 'A', Some(("/trunk", 10))),
                    change("/branches/b/f", 'M', None),
                ],
            ),
            (9, vec![change("/trunk/f", 'R', Some(("/old/g", 8)))]),
            (
                3,
                vec![change("/old", 'A', None), change("/old/g", 'A', None)],
            ),
            (2, vec![change("/old/g", 'A', None)]),
        ] {
            trace.take(rev(number), &changes).unwrap();
        }
        let found = trace.finish(rev(18), Revnum::ZERO);
        assert_eq!(
            shown(&found),
            ["3:8 old/g", "9:10 trunk/f", "11:14 -", "15:18 branches/b/f"]
        );
    }

    #[test]
    fn segments_are_cut() {
        let mut trace = trace();
        let copied = [change("/branches/b", 'A', Some(("/trunk", 10)))];
        trace.take(rev(15), &copied).unwrap();
        let found = trace.finish(rev(12), rev(5));
        assert_eq!(shown(&found), ["5:10 trunk/f", "11:12 -"]);
    }

    #[test]
    fn copies_from_the_future_are_refused() {
        let copied = [change("/branches/b", 'A', Some(("/trunk", 15)))];
        assert!(trace().take(rev(15), &copied).is_err());
        let odd = [change("/branches/b", 'A', Some(("/../x", 1)))];
        assert!(trace().take(rev(15), &odd).is_err());
    }
}
