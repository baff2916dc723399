//! Whether two nodes are the same.

use sylvan_core::{Error, ErrorCode, NodeKind, Result};

use super::Node;
use crate::node_rev::Representation;
use crate::text::fspath;

/// How sure an answer must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strictness {
    /// "Changed" may be said of what is the same after all; nothing is read.
    Quick,
    /// What might be the same is compared.
    Strict,
}

impl Node {
    /// Tells whether the properties differ from those of another node.
    ///
    /// # Errors
    /// Those of [`Node::props`], if they must be compared.
    pub fn props_differ(&self, other: &Self, strictness: Strictness) -> Result<bool> {
        let (a, b) = (self.rev.props.as_ref(), other.rev.props.as_ref());
        if strictness == Strictness::Quick {
            return Ok(!Representation::same_key(a, b));
        }
        if let (Some(a), Some(b)) = (a, b) {
            if (a.revision, a.item_index) == (b.revision, b.item_index) {
                return Ok(false);
            }
            if a.md5 != b.md5 {
                return Ok(true);
            }
        }
        Ok(self.props()? != other.props()?)
    }

    /// Tells whether the content differs from that of another file.
    ///
    /// # Errors
    /// [`ErrorCode::FS_NOT_FILE`]; those of [`Node::contents`], if they must be compared.
    pub fn contents_differ(&self, other: &Self, strictness: Strictness) -> Result<bool> {
        for node in [self, other] {
            if node.kind() != NodeKind::File {
                let path = fspath(&node.path);
                return Err(Error::new(
                    ErrorCode::FS_NOT_FILE,
                    format!("'{path}' is not a file"),
                ));
            }
        }
        let (a, b) = (self.rev.text.as_ref(), other.rev.text.as_ref());
        if strictness == Strictness::Quick {
            return Ok(!Representation::same_key(a, b));
        }
        let len = |rep: Option<&Representation>| rep.map_or(0, |rep| rep.expanded_size);
        let (Some(a), Some(b)) = (a, b) else {
            return Ok(len(a) != len(b));
        };
        if a.expanded_size != b.expanded_size || a.md5 != b.md5 {
            return Ok(true);
        }
        if let (Some(a), Some(b)) = (a.sha1, b.sha1) {
            return Ok(a != b);
        }
        if self.id() == other.id() || a.expanded_size == 0 {
            return Ok(false);
        }
        self.texts_differ(other)
    }

    fn texts_differ(&self, other: &Self) -> Result<bool> {
        Ok(!self.contents()?.is_equal(&mut other.contents()?)?)
    }
}
