//! Listings of trees.

use sylvan_core::repository::{DirEntryFields, ListReceiver};
use sylvan_core::{Depth, Error, ErrorCode, NodeKind, RelPath, RelPathBuf, Result, fold, glob};
use sylvan_fs::{Node, Root};
use sylvan_io::Cancel;

use crate::dirent::{DirEntryReader, kind_only};
use crate::{ReadAccess, Repos};

/// What a listing has.
#[derive(Clone, Copy, Debug)]
pub struct ListOptions<'a> {
    /// Glob patterns; nodes whose names match none are left out. `None` lets everything in. Names
    /// are compared without case and accents, patterns as they are.
    pub patterns: Option<&'a [String]>,
    /// How deep.
    pub depth: Depth,
    /// What is told of each node.
    pub fields: DirEntryFields,
}

impl Repos {
    /// Lists what is at and below a path: folders before what is in them, names in order. What may
    /// not be read is left out.
    ///
    /// # Errors
    /// `FS_NOT_FOUND`, what `receive` gives, and if something cannot be read.
    pub fn list(
        &self,
        root: &Root,
        path: &RelPath,
        options: ListOptions<'_>,
        access: ReadAccess<'_>,
        cancel: &Cancel,
        receive: &mut ListReceiver<'_>,
    ) -> Result<()> {
        // Before the look whether it exists, which nobody may learn who may not read it.
        if !access.may_read(root.revision(), path)? {
            return Ok(());
        }
        let Some(top) = root.find(path)? else {
            let text = format!("Path '/{path}' not found");
            return Err(Error::new(ErrorCode::FS_NOT_FOUND, text));
        };
        if options.patterns.is_some_and(<[String]>::is_empty) {
            return Ok(());
        }
        let mut walk = Walk {
            root,
            access,
            cancel,
            options,
            reader: self.dir_entry_reader(options.fields),
            receive,
        };
        if walk.is_wanted(path.basename()) {
            walk.report(RelPath::ROOT, top.kind(), Some(&top))?;
        }
        if top.kind() == NodeKind::Dir && options.depth > Depth::Empty {
            walk.dir(&top, RelPath::ROOT)?;
        }
        Ok(())
    }
}

struct Walk<'a, 'b> {
    root: &'a Root,
    access: ReadAccess<'a>,
    cancel: &'a Cancel,
    options: ListOptions<'a>,
    reader: DirEntryReader,
    receive: &'a mut ListReceiver<'b>,
}

impl Walk<'_, '_> {
    fn is_wanted(&self, name: &str) -> bool {
        self.options.patterns.is_none_or(|patterns| {
            let folded = fold::fold(name);
            patterns
                .iter()
                .any(|pattern| glob::matches(pattern, &folded))
        })
    }

    fn report(&mut self, below: &RelPath, kind: NodeKind, node: Option<&Node>) -> Result<()> {
        let entry = match node {
            Some(node) => self.reader.read(node)?,
            None => kind_only(kind),
        };
        (self.receive)(below, &entry)
    }

    fn dir(&mut self, dir: &Node, below: &RelPath) -> Result<()> {
        let listing = dir.entries()?;
        for entry in listing.entries() {
            let is_dir = entry.kind == NodeKind::Dir;
            if is_dir && self.options.depth == Depth::Files {
                continue;
            }
            let wanted = self.is_wanted(&entry.name);
            if !wanted && !is_dir {
                continue;
            }
            let path = dir.path().child(&entry.name)?;
            if !self.access.may_read(self.root.revision(), &path)? {
                continue;
            }
            let deeper = is_dir && self.options.depth == Depth::Infinity;
            let full = wanted && self.options.fields != DirEntryFields::KIND;
            let node = if deeper || full {
                dir.child(&entry.name)?
            } else {
                None
            };
            let child: RelPathBuf = below.child(&entry.name)?;
            if wanted {
                self.report(&child, entry.kind, node.as_ref().filter(|_| full))?;
            }
            self.cancel.check()?;
            if let Some(node) = node.filter(|_| deeper) {
                self.dir(&node, &child)?;
            }
        }
        Ok(())
    }
}
