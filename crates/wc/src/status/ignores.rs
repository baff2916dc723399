//! Which unversioned names are ignored in a folder.

use std::sync::Arc;

use sylvan_core::{Props, RelPath, Result, glob};

use crate::WorkingCopy;
use crate::db::{Layer, Node};
use crate::props::{self, GLOBAL_IGNORES, IGNORE};

/// The patterns that a folder's properties and those above it give. The user's own are apart.
#[derive(Debug, Default)]
pub(super) struct Ignores {
    /// For this folder alone.
    here: Vec<String>,
    /// For this folder and those below.
    global: Vec<String>,
    /// What it inherits.
    above: Option<Arc<Self>>,
}

impl Ignores {
    /// Reads the patterns of the folder where a walk begins, with all that it inherits.
    pub(super) fn read(wc: &WorkingCopy, dir: &RelPath) -> Result<Arc<Self>> {
        let (inherited, own) = match props::inherited(wc, dir) {
            Ok(found) => found,
            Err(error) if error.code() == sylvan_core::ErrorCode::WC_PATH_UNEXPECTED_STATUS => {
                return Ok(Arc::default());
            }
            Err(error) => return Err(error),
        };
        let mut above = Vec::new();
        for (_, props) in inherited {
            above.extend(patterns(&props, GLOBAL_IGNORES));
        }
        let above = (!above.is_empty()).then(|| {
            Arc::new(Self {
                global: above,
                ..Self::default()
            })
        });
        Ok(Arc::new(Self {
            here: patterns(&own, IGNORE),
            global: patterns(&own, GLOBAL_IGNORES),
            above,
        }))
    }

    /// Reads the patterns of the child folder `node`; this is what its parent has, which is at
    /// `op_depth` and `repos_path`.
    pub(super) fn below(
        self: &Arc<Self>,
        node: &Node,
        op_depth: usize,
        repos_path: Option<&RelPath>,
    ) -> Result<Arc<Self>> {
        let Some(top) = node.top().filter(|top| top.presence.is_present()) else {
            return Ok(Arc::default());
        };
        let cached = top.inherited_props.as_deref().filter(|_| top.op_depth == 0);
        let above = if let Some(stored) = cached {
            let mut global = Vec::new();
            for (_, props) in sylvan_core::skel::inherited_props_from_skel(stored)? {
                global.extend(patterns(&props, GLOBAL_IGNORES));
            }
            Some(Arc::new(Self {
                global,
                ..Self::default()
            }))
        } else if top.op_depth == 0 && op_depth == 0 && parent_of(top) != repos_path {
            // It is switched to another folder, and inherits from there.
            None
        } else {
            Some(Arc::clone(self))
        };
        let stored = node
            .actual
            .properties
            .as_deref()
            .or(top.properties.as_deref());
        let own = match stored {
            Some(stored) if props::contains(stored, b"ignore") => props::parse(stored)?,
            _ => Props::new(),
        };
        let (here, global) = (patterns(&own, IGNORE), patterns(&own, GLOBAL_IGNORES));
        Ok(Arc::new(Self {
            here,
            global,
            above,
        }))
    }

    /// Tells whether `name` in this folder matches a pattern, those of the user's config too.
    pub(super) fn matches(&self, name: &str, config: &[String]) -> bool {
        let matching = |pattern: &String| glob::matches(pattern, name);
        config.iter().any(matching)
            || self.here.iter().any(matching)
            || std::iter::successors(Some(self), |ignores| ignores.above.as_deref())
                .any(|ignores| ignores.global.iter().any(matching))
    }
}

fn parent_of(layer: &Layer) -> Option<&RelPath> {
    layer.repos_path.as_deref().and_then(RelPath::parent)
}

fn patterns(props: &Props, name: &str) -> Vec<String> {
    let Some(value) = props.get(name) else {
        return Vec::new();
    };
    let value = String::from_utf8_lossy(value);
    let lines = value.split(['\n', '\r']).filter(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}
