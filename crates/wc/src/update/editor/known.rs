//! What the database says of the files in a folder, read at once where several of them change.

use std::collections::HashMap;

use sylvan_core::{Md5, RelPath, RelPathBuf, Result, Sha1};
use sylvan_delta::Token;

use super::UpdateEditor;
use crate::db::Node;
use crate::update::record::lock;

/// Where each question is a round trip, the first file has its folder read,
const WORTH_READING_FAR: usize = 1;
/// else a later one: the folder may have many more files than change.
const WORTH_READING_NEAR: usize = 8;

/// The files of one folder.
#[derive(Debug, Default)]
pub(super) struct Known {
    asked: usize,
    /// Nodes that were not asked for yet.
    nodes: HashMap<RelPathBuf, Node>,
    /// The MD5 of their BASE texts.
    md5s: HashMap<Sha1, Md5>,
}

impl<'s, 'e: 's, 'a: 'e> UpdateEditor<'s, 'e, 'a> {
    /// Reads a file in a folder that is open.
    pub(super) fn file_in(&self, folder: Token, path: &RelPath) -> Result<Option<Node>> {
        let mut known = self.known.borrow_mut();
        let known = known.entry(folder).or_default();
        known.asked += 1;
        let worth = if self.is_far {
            WORTH_READING_FAR
        } else {
            WORTH_READING_NEAR
        };
        let db = lock(&self.env.db);
        if known.asked == worth
            && let Some(parent) = path.parent()
        {
            db.read(|| {
                let children = db.children(parent)?.into_iter();
                known.nodes = children.map(|node| (node.path.clone(), node)).collect();
                known.md5s = db.base_md5s(parent)?;
                Ok(())
            })?;
        }
        match known.nodes.remove(path) {
            Some(node) => Ok(Some(node)),
            None => db.node(path),
        }
    }

    /// Reads a folder in a folder that is open.
    pub(super) fn folder_in(&self, folder: Token, path: &RelPath) -> Result<Option<Node>> {
        let mut known = self.known.borrow_mut();
        match known
            .get_mut(&folder)
            .and_then(|known| known.nodes.remove(path))
        {
            Some(node) => Ok(Some(node)),
            None => lock(&self.env.db).node(path),
        }
    }

    /// Reads the MD5 of the BASE text of a file in a folder that is open.
    pub(super) fn md5_in(&self, folder: Token, text: &Sha1) -> Result<Option<Md5>> {
        let known = self.known.borrow();
        match known.get(&folder).and_then(|known| known.md5s.get(text)) {
            Some(md5) => Ok(Some(*md5)),
            None => lock(&self.env.db).pristine_md5(text),
        }
    }

    /// Forgets what was read, since layers of nodes change.
    pub(super) fn forget_nodes(&self) {
        self.known.borrow_mut().clear();
    }
}
