//! What differs between any two files or folders on disk, versioned or not.

use std::collections::{BTreeMap, BTreeSet};

use sylvan_core::props::SVN_MIME_TYPE;
use sylvan_core::{Depth, Dirent, Error, ErrorCode, NodeKind, Props, RelPathBuf, Result};
use sylvan_io::file;
use sylvan_wc::auto_props::PROBED;

use super::change::{Change, Pipe, Side, Take as _};
use super::nodes::normal_text;
use super::text::Text;
use crate::Context;
use crate::auto_props::Rules;
use crate::wc_node::WcNode;

/// Tells what differs between two places on disk.
///
/// # Errors
/// `NODE_UNEXPECTED_KIND` if neither is a file or a folder; those of reading them.
pub(super) fn compare(
    context: &Context,
    places: [&Dirent; 2],
    depth: Option<Depth>,
    pipe: &mut Pipe<'_>,
) -> Result<()> {
    let kinds = [resolved_kind(places[0])?, resolved_kind(places[1])?];
    let mut walker = Walker {
        context,
        rules: Rules::read(&context.config, Some(false))?,
        pipe,
    };
    let depth = depth.unwrap_or(Depth::Infinity);
    let places = Places {
        path: RelPathBuf::root(),
        at: [places[0].clone(), places[1].clone()],
    };
    if kinds
        .iter()
        .all(|kind| *kind == NodeKind::None || *kind == NodeKind::Unknown)
    {
        let at = match kinds[0] {
            NodeKind::None => &places.at[0],
            _ => &places.at[1],
        };
        return Err(Error::new(
            ErrorCode::NODE_UNEXPECTED_KIND,
            format!("'{at}' is not a file or directory"),
        ));
    }
    walker.nodes(&places, kinds, depth, true)
}

/// Returns what is there once symlinks are followed.
pub(super) fn resolved_kind(path: &Dirent) -> Result<NodeKind> {
    match std::fs::metadata(path.as_path()) {
        Ok(found) if found.is_dir() => Ok(NodeKind::Dir),
        Ok(found) if found.is_file() => Ok(NodeKind::File),
        Ok(_) => Ok(NodeKind::Unknown),
        Err(error)
            if matches!(
                error.kind(),
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
            ) =>
        {
            Ok(NodeKind::None)
        }
        Err(error) => Err(Error::io(&error, format!("Can't check path '{path}'"))),
    }
}

/// A path that is looked at on both sides.
struct Places {
    path: RelPathBuf,
    at: [Dirent; 2],
}

struct Walker<'w, 'p> {
    context: &'w Context,
    rules: Rules,
    pipe: &'w mut Pipe<'p>,
}

/// Which sides there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sides {
    Both,
    Left,
    Right,
}

impl Walker<'_, '_> {
    fn nodes(
        &mut self,
        places: &Places,
        kinds: [NodeKind; 2],
        depth: Depth,
        is_root: bool,
    ) -> Result<()> {
        self.context.cancel.check()?;
        let goes_down = is_root || depth >= Depth::Immediates;
        let below = match (is_root, depth) {
            (true, depth) => depth,
            (false, Depth::Infinity) => Depth::Infinity,
            _ => Depth::Empty,
        };
        if kinds[0] == kinds[1] {
            return match kinds[0] {
                NodeKind::File => self.file(places, Sides::Both),
                _ if goes_down => self.dir(places, Sides::Both, below),
                _ => Ok(()),
            };
        }
        for (kind, sides) in [(kinds[0], Sides::Left), (kinds[1], Sides::Right)] {
            match kind {
                NodeKind::File => self.file(places, sides)?,
                NodeKind::Dir if goes_down => self.dir(places, sides, below)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn dir(&mut self, places: &Places, sides: Sides, depth: Depth) -> Result<()> {
        if depth >= Depth::Files {
            self.children(places, sides, depth)?;
        }
        let side = |at: &Dirent| -> Result<Side> {
            Ok(Side {
                rev: None,
                props: self.props(at)?,
                text: None,
            })
        };
        let left = (sides != Sides::Right)
            .then(|| side(&places.at[0]))
            .transpose()?;
        let right = (sides != Sides::Left)
            .then(|| side(&places.at[1]))
            .transpose()?;
        let path = places.path.clone();
        match (left, right) {
            (Some(left), Some(right)) if left.props != right.props => self
                .pipe
                .take(Change::changed(path, NodeKind::Dir, left, right)),
            (Some(left), None) => self.pipe.take(Change::deleted(path, NodeKind::Dir, left)),
            (None, Some(right)) => self.pipe.take(Change::added(path, NodeKind::Dir, right)),
            _ => Ok(()),
        }
    }

    fn children(&mut self, places: &Places, sides: Sides, depth: Depth) -> Result<()> {
        let left = match sides {
            Sides::Right => BTreeMap::new(),
            _ => list(&places.at[0])?,
        };
        let right = match sides {
            Sides::Left => BTreeMap::new(),
            _ => list(&places.at[1])?,
        };
        let names: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
        for name in names {
            if name == sylvan_wc::ADM_DIR {
                continue;
            }
            let kind = |side: &BTreeMap<String, NodeKind>| {
                side.get(name).copied().unwrap_or(NodeKind::None)
            };
            let child = Places {
                path: places.path.child(name)?,
                at: [places.at[0].join(name), places.at[1].join(name)],
            };
            self.nodes(&child, [kind(&left), kind(&right)], depth, false)?;
        }
        Ok(())
    }

    fn file(&mut self, places: &Places, sides: Sides) -> Result<()> {
        let left = (sides != Sides::Right)
            .then(|| self.file_side(&places.at[0]))
            .transpose()?;
        let right = (sides != Sides::Left)
            .then(|| self.file_side(&places.at[1]))
            .transpose()?;
        let path = places.path.clone();
        let kind = NodeKind::File;
        match (left, right) {
            (Some(left), Some(right)) => {
                let differs = match (&left.text, &right.text) {
                    (Some(old), Some(new)) => !same(old, new)?,
                    _ => false,
                };
                if !differs && left.props == right.props {
                    return Ok(());
                }
                self.pipe.take(Change {
                    text: differs,
                    ..Change::changed(path, kind, left, right)
                })
            }
            (Some(left), None) => self.pipe.take(Change::deleted(path, kind, left)),
            (None, Some(right)) => self.pipe.take(Change::added(path, kind, right)),
            (None, None) => Ok(()),
        }
    }

    fn file_side(&self, path: &Dirent) -> Result<Side> {
        let mut props = self.props(path)?;
        let text = without_link(path, &props, &self.context.cancel)?;
        if !props.contains_key(SVN_MIME_TYPE)
            && let Some(mime_type) = self.mime_type(path)?
        {
            props.insert(SVN_MIME_TYPE.to_owned(), mime_type.into_bytes());
        }
        Ok(Side {
            rev: None,
            props,
            text: Some(text),
        })
    }

    fn mime_type(&self, path: &Dirent) -> Result<Option<String>> {
        use std::io::Read as _;
        let mut beginning = Vec::new();
        file::open(path.as_path())?
            .take(PROBED as u64)
            .read_to_end(&mut beginning)
            .map_err(|error| Error::io(&error, format!("Can't read file '{path}'")))?;
        let found = self.rules.for_file(path.basename(), &beginning, false);
        Ok(found
            .get(SVN_MIME_TYPE)
            .map(|value| String::from_utf8_lossy(value).into_owned()))
    }

    /// Returns the properties of what may not be versioned.
    fn props(&self, path: &Dirent) -> Result<Props> {
        match WcNode::open(self.context, path).and_then(|node| node.working_props()) {
            Err(error)
                if [ErrorCode::WC_PATH_NOT_FOUND, ErrorCode::WC_NOT_WORKING_COPY]
                    .contains(&error.code()) =>
            {
                Ok(Props::new())
            }
            props => props,
        }
    }
}

/// Returns the text of a file; symlinks are followed.
fn without_link(path: &Dirent, props: &Props, cancel: &sylvan_io::Cancel) -> Result<Text> {
    let mut props = props.clone();
    props.remove(sylvan_core::props::SVN_SPECIAL);
    normal_text(path, &props, cancel)
}

fn list(dir: &Dirent) -> Result<BTreeMap<String, NodeKind>> {
    let found = match file::read_dir(dir.as_path()) {
        Err(error)
            if matches!(
                file::error_kind(&error),
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
            ) =>
        {
            Vec::new()
        }
        found => found?,
    };
    let mut list = BTreeMap::new();
    for (name, kind) in found {
        let Some(name) = sylvan_core::path::raw::from_bytes(&name).map(|name| name.into_owned())
        else {
            continue;
        };
        let kind = match kind {
            Some(kind) => kind,
            None => file::lstat(dir.join(&name).as_path())?.kind,
        };
        let kind = match kind {
            file::FileKind::Dir => NodeKind::Dir,
            file::FileKind::File | file::FileKind::Symlink => NodeKind::File,
            file::FileKind::Other => NodeKind::Unknown,
        };
        list.insert(name, kind);
    }
    Ok(list)
}

/// Tells whether two contents are the same.
fn same(old: &Text, new: &Text) -> Result<bool> {
    use sylvan_diff::Source as _;
    const BLOCK: usize = 128 << 10;
    let (old, new) = (old.open()?, new.open()?);
    if old.len() != new.len() {
        return Ok(false);
    }
    let mut buffers = [vec![0; BLOCK], vec![0; BLOCK]];
    let mut at = 0;
    while at < old.len() {
        let len = usize::try_from(old.len() - at).map_or(BLOCK, |left| left.min(BLOCK));
        let [a, b] = &mut buffers;
        old.read_at(at, &mut a[..len])?;
        new.read_at(at, &mut b[..len])?;
        if a[..len] != b[..len] {
            return Ok(false);
        }
        at += len as u64;
    }
    Ok(true)
}
