//! Where `svn:mergeinfo` is.

use std::sync::Arc;

use sylvan_core::{Error, ErrorCode, Props, RelPath, RelPathBuf, Result};

use super::{Node, Root};
use crate::text::{corrupt, fspath};

/// Which node's `svn:mergeinfo` is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MergeinfoInheritance {
    /// Only the node's own.
    Explicit,
    /// The node's own, or that of the nearest folder above.
    Inherited,
    /// That of the nearest folder above.
    NearestAncestor,
}

impl MergeinfoInheritance {
    /// Returns the word that protocols have for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Explicit => "explicit",
            Self::Inherited => "inherited",
            Self::NearestAncestor => "nearest-ancestor",
        }
    }
}

const MERGEINFO: &str = "svn:mergeinfo";

impl Root {
    fn ensure_mergeinfo(&self) -> Result<()> {
        let number = self.fs.format().number;
        if number.has_mergeinfo() {
            return Ok(());
        }
        Err(Error::new(
            ErrorCode::UNSUPPORTED_FEATURE,
            format!(
                "Querying mergeinfo requires version 3 of the FSFS filesystem schema; filesystem \
                 '{}' uses only version {}",
                self.fs.path().display(),
                number.number()
            ),
        ))
    }

    /// Returns the value of `svn:mergeinfo` that counts for a path, and the path that has it.
    ///
    /// # Errors
    /// Those of [`Root::node`]; [`ErrorCode::UNSUPPORTED_FEATURE`] before format 3.
    pub fn mergeinfo(
        &self,
        path: &RelPath,
        inheritance: MergeinfoInheritance,
    ) -> Result<Option<(RelPathBuf, Vec<u8>)>> {
        self.ensure_mergeinfo()?;
        let nodes = self.node_path(path)?.nodes;
        let mut candidates = nodes.iter().rev();
        match inheritance {
            MergeinfoInheritance::Explicit => {}
            MergeinfoInheritance::Inherited => {}
            MergeinfoInheritance::NearestAncestor => drop(candidates.next()),
        }
        let found = match inheritance {
            MergeinfoInheritance::Explicit => candidates.next().filter(|node| node.has_mergeinfo()),
            _ => candidates.find(|node| node.has_mergeinfo()),
        };
        let Some(node) = found else {
            return Ok(None);
        };
        let value = mergeinfo_of(&node.props()?).ok_or_else(|| {
            let (path, revision) = (fspath(&node.path), self.revision);
            corrupt(format!(
                "Node-revision '{path}@{revision}' claims to have mergeinfo but doesn't"
            ))
        })?;
        Ok(Some((node.path.clone(), value)))
    }

    /// Gives each `svn:mergeinfo` below a path, and its path, to `sink`.
    ///
    /// # Errors
    /// As [`Root::mergeinfo`], and what `sink` returned.
    pub fn mergeinfo_below(
        &self,
        path: &RelPath,
        mut sink: impl FnMut(&RelPath, Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        self.ensure_mergeinfo()?;
        let mut left = vec![self.node(path)?];
        while let Some(node) = left.pop() {
            if !node.has_descendants_with_mergeinfo() {
                continue;
            }
            let entries = node.entries()?;
            let mut below = Vec::new();
            for entry in entries.entries() {
                let child = Node::new(
                    self.fs.clone(),
                    node.path.child(&entry.name)?,
                    self.fs.node_rev(&entry.id)?,
                );
                if child.has_mergeinfo() {
                    let value = mergeinfo_of(&child.props()?).ok_or_else(|| {
                        corrupt(format!(
                            "Node-revision #'{}' claims to have mergeinfo but doesn't",
                            entry.id
                        ))
                    })?;
                    sink(&child.path, value)?;
                }
                below.push(child);
            }
            left.extend(below.into_iter().rev());
        }
        Ok(())
    }
}

fn mergeinfo_of(props: &Arc<Props>) -> Option<Vec<u8>> {
    props.get(MERGEINFO).cloned()
}
