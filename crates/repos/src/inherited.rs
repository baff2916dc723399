//! Properties that folders hand down.

use sylvan_core::repository::InheritedProps;
use sylvan_core::{Props, RelPath, Result};
use sylvan_fs::Root;

use crate::{ReadAccess, Repos};

impl Repos {
    /// Returns the properties of the folders above a path, the root first; of one name only, if one
    /// is given. Folders without any and those that may not be read are left out.
    ///
    /// # Errors
    /// Those of [`Root::node`].
    pub fn inherited_props(
        &self,
        root: &Root,
        path: &RelPath,
        name: Option<&str>,
        access: ReadAccess<'_>,
    ) -> Result<Vec<InheritedProps>> {
        let mut inherited = Vec::new();
        for parent in path.ancestors() {
            if !access.may_read(root.revision(), parent)? {
                continue;
            }
            let all = root.node(parent)?.props()?;
            let props: Props = match name {
                None => (*all).clone(),
                Some(name) => all
                    .get_key_value(name)
                    .map(|(name, value)| (name.clone(), value.clone()))
                    .into_iter()
                    .collect(),
            };
            if !props.is_empty() {
                inherited.push(InheritedProps {
                    path: parent.to_owned(),
                    props,
                });
            }
        }
        inherited.reverse();
        Ok(inherited)
    }
}
