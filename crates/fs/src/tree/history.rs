//! Where a node comes from.

use sylvan_core::{Error, Props, RelPath, RelPathBuf, Result, Revnum, hash_dump};
use sylvan_io::file;

use super::Root;
use crate::fs::FileSystem;
use crate::id::NodeRevId;
use crate::layout;

/// A path in a revision.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Location {
    /// The path.
    pub path: RelPathBuf,
    /// The revision.
    pub revision: Revnum,
}

/// Goes back through the revisions in which a node changed.
///
/// ```no_run
/// # fn f(fs: &sylvan_fs::FileSystem) -> sylvan_core::Result<()> {
/// let root = fs.revision_root(fs.youngest()?)?;
/// let mut history = root.history(sylvan_core::RelPath::new("trunk/file")?)?;
/// while let Some(location) = history.previous(true)? {
///     println!("r{} {}", location.revision, location.path.as_str());
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct History {
    fs: FileSystem,
    at: Point,
}

/// Where the walk is.
#[derive(Clone, Debug)]
struct Point {
    location: Location,
    /// Where to go on, if a copy was reported.
    source: Option<Location>,
    /// Whether the location was reported, or is only where the walk begins or goes on.
    reported: bool,
    /// The youngest copy before here: as long as changes are younger, predecessors suffice.
    next_copy: Option<Revnum>,
    id: Option<NodeRevId>,
}

impl Point {
    const fn plain(location: Location, reported: bool) -> Self {
        Self {
            location,
            source: None,
            reported,
            next_copy: None,
            id: None,
        }
    }
}

impl Root {
    /// Begins a walk through the history of a path.
    ///
    /// # Errors
    /// Those of [`Root::node`].
    pub fn history(&self, path: &RelPath) -> Result<History> {
        self.node(path)?;
        let location = Location {
            path: path.to_owned(),
            revision: self.revision,
        };
        Ok(History {
            fs: self.fs.clone(),
            at: Point::plain(location, false),
        })
    }

    /// Returns the youngest copy by which a path came here: where it was copied to.
    ///
    /// # Errors
    /// Those of [`Root::node`].
    pub fn closest_copy(&self, path: &RelPath) -> Result<Option<Location>> {
        let nodes = self.node_path(path)?;
        let (revision, copy_path) = nodes.youngest_copyroot();
        if revision == Revnum::ZERO {
            return Ok(None);
        }
        let root = self.fs.revision_root(revision)?;
        // It is a copy of this path only if the path was there after it, as the same node.
        let Some(then) = root.find(path)? else {
            return Ok(None);
        };
        if !then.id().is_related(nodes.last().id()) {
            return Ok(None);
        }
        // What was added in the same revision as the copy of a folder above did not come by it.
        let created = then.created_revision() == Some(revision);
        if created && then.node_rev().predecessor.is_none() {
            return Ok(None);
        }
        Ok(Some(Location {
            path: copy_path,
            revision,
        }))
    }

    /// Returns where a path was before the closest copy.
    ///
    /// # Errors
    /// Those of [`Root::node`].
    pub fn location_before_copy(&self, path: &RelPath) -> Result<Option<Location>> {
        let Some(copy) = self.closest_copy(path)? else {
            return Ok(None);
        };
        let node = self.fs.revision_root(copy.revision)?.node(&copy.path)?;
        let below = path.strip_prefix(&copy.path);
        Ok(match (node.copied_from(), below) {
            (Some((revision, source)), Some(below)) => Some(Location {
                path: source.join(below),
                revision,
            }),
            _ => None,
        })
    }

    /// Returns the revision in which a node was made.
    ///
    /// # Errors
    /// Those of [`Root::node`].
    pub fn origin_revision(&self, path: &RelPath) -> Result<Revnum> {
        let node = self.node(path)?;
        let part = node.id().node;
        match part.revision {
            Some(revision) if revision != Revnum::ZERO || part.number == 0 => return Ok(revision),
            _ => {}
        }
        if let Some(id) = self.fs.cached_node_origin(node.id())? {
            return Ok(id.revision().unwrap_or_default());
        }
        let mut at = Location {
            path: path.to_owned(),
            revision: self.revision,
        };
        while let Some(before) = self
            .fs
            .revision_root(at.revision)?
            .location_before_copy(&at.path)?
        {
            at = before;
        }
        let mut node = self.fs.revision_root(at.revision)?.node(&at.path)?.rev;
        while let Some(predecessor) = node.predecessor {
            node = self.fs.node_rev(&predecessor)?;
        }
        self.fs.cache_node_origin(&node.id)?;
        Ok(node.id.revision().unwrap_or_default())
    }
}

impl FileSystem {
    /// Notes where a node of formats 1 and 2 was made, if that can be written.
    fn cache_node_origin(&self, id: &NodeRevId) -> Result<()> {
        let dir = self.layout().file(layout::NODE_ORIGINS);
        let path = self.layout().node_origin(id.node);
        let write = || {
            self.ensure_dir(&dir)?;
            let mut origins = match file::read_if_exists(&path)? {
                Some(text) => hash_dump::read(&text)?,
                None => Props::new(),
            };
            let (name, value) = (id.node.to_string(), id.to_string());
            if let Some(old) = origins.get(&name).filter(|old| **old != value.as_bytes()) {
                let old = crate::text::shown(old);
                return Err(crate::text::corrupt(format!(
                    "Node origin for '{name}' exists with a different value ({old}) than what we \
                     were about to store ({value})"
                )));
            }
            origins.insert(name, value.into_bytes());
            // Of two at the same time one note is lost, and made again when it is wanted.
            let mut temp = file::TempFile::new_in(&dir)?;
            temp.write_all(&hash_dump::write(&origins))?;
            temp.persist(&path)
        };
        match write() {
            Err(error) if is_forbidden(&error) => Ok(()),
            done => done,
        }
    }

    /// Looks up where a node of formats 1 and 2 was made, if somebody noted it.
    fn cached_node_origin(&self, id: &NodeRevId) -> Result<Option<NodeRevId>> {
        let path = self.layout().node_origin(id.node);
        let Some(text) = file::read_if_exists(&path)? else {
            return Ok(None);
        };
        let origins = hash_dump::read(&text).map_err(|error| {
            error.context(format!(
                "malformed node origin data in '{}'",
                path.display()
            ))
        })?;
        let origin = origins.get(&id.node.to_string());
        origin.map(|text| NodeRevId::parse(text)).transpose()
    }
}

/// Tells whether an error says that nothing may be written here.
fn is_forbidden(error: &Error) -> bool {
    use rustix::io::Errno;
    let number = error.code().number();
    [Errno::ACCESS, Errno::PERM, Errno::ROFS]
        .iter()
        .any(|errno| errno.raw_os_error() == number)
}

impl History {
    /// Returns the next older location at which the node changed or was copied; `None` at the end.
    /// Without `cross_copies` the end is where the node was copied.
    ///
    /// # Errors
    /// [`FS_CORRUPT`](sylvan_core::ErrorCode::FS_CORRUPT).
    pub fn previous(&mut self, cross_copies: bool) -> Result<Option<Location>> {
        if self.at.location.path.is_root() {
            return Ok(self.previous_of_root());
        }
        loop {
            let Some(next) = self.step(cross_copies)? else {
                return Ok(None);
            };
            self.at = next;
            if self.at.reported {
                return Ok(Some(self.at.location.clone()));
            }
        }
    }

    /// The root changes in each revision, and nobody can copy over it.
    fn previous_of_root(&mut self) -> Option<Location> {
        let at = &mut self.at;
        if at.reported {
            at.location.revision = at.location.revision.previous()?;
        }
        at.reported = true;
        Some(at.location.clone())
    }

    fn step(&self, cross_copies: bool) -> Result<Option<Point>> {
        if let Some(point) = self.step_without_copies()? {
            return Ok(point);
        }
        let (mut location, mut reported) = (self.at.location.clone(), self.at.reported);
        if let Some(source) = &self.at.source {
            if !cross_copies {
                return Ok(None);
            }
            (location, reported) = (source.clone(), false);
        }
        let root = self.fs.revision_root(location.revision)?;
        let nodes = root.node_path(&location.path)?;
        let mut node = nodes.last().rev.clone();
        let mut predecessor = None;
        if Some(location.revision) == node.id.revision() {
            if !reported {
                let here = Location {
                    path: node.created_path.clone(),
                    revision: location.revision,
                };
                return Ok(Some(Point::plain(here, true)));
            }
            let Some(id) = node.predecessor else {
                return Ok(None);
            };
            node = self.fs.node_rev(&id)?;
            predecessor = Some(id);
        }
        let changed = Location {
            path: node.created_path.clone(),
            revision: node.id.revision().unwrap_or_default(),
        };
        let (copy_revision, copy_path) = nodes.youngest_copyroot();
        if copy_revision > changed.revision
            && let Some(source) = self.copy_source(copy_revision, &copy_path, &location.path)?
        {
            let seen = copy_revision == location.revision && reported;
            location.revision = copy_revision;
            let mut point = Point::plain(location, !seen);
            point.source = Some(source);
            return Ok(Some(point));
        }
        let mut point = Point::plain(changed, true);
        (point.next_copy, point.id) = (Some(copy_revision), predecessor);
        Ok(Some(point))
    }

    /// Follows predecessors while no copy is near; `None` if that does not suffice.
    #[expect(clippy::option_option, reason = "the inner one is the end of history")]
    fn step_without_copies(&self) -> Result<Option<Option<Point>>> {
        let (Some(next_copy), Some(id)) = (self.at.next_copy, self.at.id) else {
            return Ok(None);
        };
        if self.at.location.revision <= next_copy {
            return Ok(None);
        }
        let Some(before) = self.fs.node_rev(&id)?.predecessor else {
            return Ok(Some(None));
        };
        let Some(revision) = before.revision().filter(|revision| *revision > next_copy) else {
            return Ok(None);
        };
        let path = self.fs.node_rev(&before)?.created_path.clone();
        let mut point = Point::plain(Location { path, revision }, true);
        (point.next_copy, point.id) = (Some(next_copy), Some(before));
        Ok(Some(Some(point)))
    }

    /// Returns where a path was before a copy, if it is in what was copied.
    fn copy_source(
        &self,
        revision: Revnum,
        copy_path: &RelPath,
        path: &RelPath,
    ) -> Result<Option<Location>> {
        let node = self.fs.revision_root(revision)?.node(copy_path)?;
        let below = path.strip_prefix(node.created_path());
        Ok(match (node.copied_from(), below) {
            (Some((revision, source)), Some(below)) => Some(Location {
                path: source.join(below),
                revision,
            }),
            _ => None,
        })
    }
}
