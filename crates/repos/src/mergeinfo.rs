//! What was merged into paths.

use std::collections::BTreeMap;

use sylvan_core::mergeinfo::Mergeinfo;
use sylvan_core::{ErrorCode, RelPath, RelPathBuf, Result, Revnum};
use sylvan_fs::Root;
use sylvan_fs::tree::MergeinfoInheritance;

use crate::{ReadAccess, Repos};

impl Repos {
    /// Returns what was merged into paths as of a revision, by path; paths with nothing, with a
    /// value that cannot be read, and that may not be read are left out.
    ///
    /// # Errors
    /// `UNSUPPORTED_FEATURE` before format 3, and if a path is not there.
    pub fn mergeinfo(
        &self,
        paths: &[RelPathBuf],
        revision: Option<Revnum>,
        inheritance: MergeinfoInheritance,
        include_descendants: bool,
        access: ReadAccess<'_>,
    ) -> Result<BTreeMap<RelPathBuf, Mergeinfo>> {
        let revision = match revision {
            Some(revision) => revision,
            None => self.fs().youngest()?,
        };
        let root = self.fs().revision_root(revision)?;
        let mut catalog = BTreeMap::new();
        for path in paths {
            if !access.may_read(revision, path)? {
                continue;
            }
            if let Some(mergeinfo) = mergeinfo_for(&root, path, inheritance, Inherited::Adjusted)? {
                catalog.insert(path.clone(), mergeinfo);
            }
            if !include_descendants {
                continue;
            }
            root.mergeinfo_below(path, |child, value| {
                if let Some(mergeinfo) = parse(&value)? {
                    catalog.insert(child.to_owned(), mergeinfo);
                }
                Ok(())
            })?;
        }
        Ok(catalog)
    }
}

/// What becomes of the mergeinfo of a folder above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inherited {
    /// It is made to be that of the path below.
    Adjusted,
    /// It stays as it is there.
    Raw,
}

/// Returns what was merged into a path. A value that cannot be read counts as none.
pub(crate) fn mergeinfo_for(
    root: &Root,
    path: &RelPath,
    inheritance: MergeinfoInheritance,
    inherited: Inherited,
) -> Result<Option<Mergeinfo>> {
    let Some((owner, value)) = root.mergeinfo(path, inheritance)? else {
        return Ok(None);
    };
    let found = parse(&value)?;
    if inherited == Inherited::Raw || &*owner == path {
        return Ok(found);
    }
    let below = path.strip_prefix(&owner).unwrap_or(RelPath::ROOT);
    Ok(found.map(|mergeinfo| mergeinfo.inheritable().for_child(below)))
}

/// Parses a value; `None` if it cannot be.
fn parse(value: &[u8]) -> Result<Option<Mergeinfo>> {
    match Mergeinfo::parse(value) {
        Ok(mergeinfo) => Ok(Some(mergeinfo)),
        Err(error) if error.code() == ErrorCode::MERGEINFO_PARSE_ERROR => Ok(None),
        Err(error) => Err(error),
    }
}
