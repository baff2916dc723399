//! What may be changed where: paths that the peer names, and what stands in the way.

use sylvan_core::{Error, ErrorCode, NodeKind, RelPath, RelPathBuf, Result};
use sylvan_delta::Token;
use sylvan_io::file::FileKind;

use super::{Dir, UpdateEditor, out_of_order};
use crate::db::Layer;
use crate::notify::Action;
use crate::update::record::lock;
use crate::{ADM_DIR, modified, site};

impl<'s, 'e: 's, 'a: 'e> UpdateEditor<'s, 'e, 'a> {
    /// Returns what is on disk at a path.
    pub(super) fn look(&self, path: &RelPath) -> Result<Option<FileKind>> {
        Ok(site::kind(self.env.site.root.lstat(path)?))
    }

    /// Makes sure that a folder that is to be changed is there as a folder, and so are those above
    /// it.
    pub(super) fn ensure_folder(&self, path: &RelPath) -> Result<()> {
        let root = &self.env.site.root;
        let obstructed = match self.look(path)? {
            Some(FileKind::Dir) => return Ok(()),
            Some(_) => true,
            None => self.env.site.is_obstructed(path)?,
        };
        if obstructed {
            return Err(self.in_its_place(path, "update directory"));
        }
        root.make_dir_all(path)
    }

    pub(super) fn in_its_place(&self, path: &RelPath, what: &str) -> Error {
        Error::new(
            ErrorCode::WC_OBSTRUCTED_UPDATE,
            format!(
                "Can't {what} '{}': something else is in its place",
                self.local(path)
            ),
        )
    }

    /// Returns the path of a child, refusing what is not one name in its folder.
    pub(super) fn child_path(&mut self, parent: Token, path: &RelPath) -> Result<RelPathBuf> {
        let child = self.dir(parent)?.path.child(path.basename());
        child.map_err(|_| {
            Error::new(
                ErrorCode::WC_OBSTRUCTED_UPDATE,
                format!("Path '{}' is not in the working copy", self.local(path)),
            )
        })
    }

    pub(super) fn refuse_adm_dir(&self, path: &RelPath, what: &str) -> Result<()> {
        if path.basename() != ADM_DIR {
            return Ok(());
        }
        Err(Error::new(
            ErrorCode::WC_OBSTRUCTED_UPDATE,
            format!(
                "Failed to {what} '{}': object of the same name as the administrative directory",
                self.local(path)
            ),
        ))
    }

    /// Returns where an added or opened node will be in the repository.
    pub(super) fn new_repos_path(
        &self,
        path: &RelPath,
        parent: Option<&Dir>,
        old: Option<&RelPath>,
    ) -> Result<RelPathBuf> {
        let target = &self.fixed.options.target;
        let below = |parent: &Dir| parent.repos_path.child(path.basename());
        match (&self.fixed.switch_path, parent, old) {
            (Some(switch), None, _) if target.is_empty() => Ok(switch.clone()),
            (Some(switch), Some(parent), _)
                if parent.parent.is_none() && path.basename() == target =>
            {
                Ok(switch.clone())
            }
            (Some(_), Some(parent), _) | (None, Some(parent), None) => below(parent),
            (_, _, Some(old)) => Ok(old.to_owned()),
            (_, None, None) => Err(out_of_order()),
        }
    }

    pub(super) fn skip(&mut self, path: &RelPath, action: Action, kind: NodeKind) {
        self.skipped.insert(path.to_owned());
        self.tell_action(path, action, kind);
    }

    /// Tells whether a nested working copy stands in the place of a node.
    pub(super) fn is_other_root(&self, path: &RelPath) -> bool {
        !path.is_root()
            && self
                .local(path)
                .join(ADM_DIR)
                .join("wc.db")
                .as_path()
                .is_file()
    }

    pub(super) fn not_found(&self, path: &RelPath) -> Error {
        Error::new(
            ErrorCode::WC_PATH_NOT_FOUND,
            format!("The node '{}' was not found.", self.local(path)),
        )
    }

    /// Looks for anything local at and below a node that goes.
    pub(super) fn has_local_changes(&self, path: &RelPath, base: &Layer) -> Result<bool> {
        if base.kind != NodeKind::Dir {
            return self.is_modified(path, base);
        }
        let db = lock(&self.env.db);
        if crate::update::local::has_changes_in_db(&db, path)? {
            return Ok(true);
        }
        let files = crate::update::local::files_below(&db, path)?;
        drop(db);
        for (path, layer) in files {
            self.cancel.check()?;
            if self.is_modified(&path, &layer)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(super) fn is_modified(&self, path: &RelPath, layer: &Layer) -> Result<bool> {
        modified::differs(&self.env.site.root, path, layer, || {
            let recipe = self.recipe(
                &layer.props()?,
                layer.repos_path.as_deref(),
                &layer.changed(),
            );
            Ok(recipe.translation)
        })
    }
}
