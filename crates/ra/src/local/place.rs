//! Finds the repository that a URL is in.

use std::path::PathBuf;

use sylvan_core::{Dirent, Error, ErrorCode, RelPath, RelPathBuf, Result, Url};
use sylvan_fs::{Cache, Options};
use sylvan_repos::Repos;

/// A repository, and a place in it.
pub(super) struct Place {
    pub(super) repos: Repos,
    /// The URL of its root.
    pub(super) root: Url,
    /// Below the root.
    pub(super) path: RelPathBuf,
}

impl Place {
    /// Opens the repository that a URL is in.
    ///
    /// # Errors
    /// `RA_ILLEGAL_URL` for a URL of another host; `RA_LOCAL_REPOS_OPEN_FAILED` if it is in no
    /// repository, or in one that cannot be opened.
    pub(super) fn find(url: &Url, cache: Cache) -> Result<Self> {
        let path = local_path(url)?;
        let failed = || format!("Unable to open repository '{url}'");
        let Some(root) = Repos::find_root(&path) else {
            return Err(Error::new(ErrorCode::RA_LOCAL_REPOS_OPEN_FAILED, failed()));
        };
        let options = Options {
            cache,
            ..Options::default()
        };
        let repos = Repos::open_with(&root, options)
            .map_err(|error| error.wrap(ErrorCode::RA_LOCAL_REPOS_OPEN_FAILED, failed()))?;
        let below = path.strip_prefix(&root).ok().and_then(|path| path.to_str());
        let below = RelPathBuf::canonicalize(below.unwrap_or_default())?;
        // The root's URL is spelled as this one.
        let root = (0..below.depth()).try_fold(url.clone(), |url, _| url.parent());
        Ok(Self {
            repos,
            root: root.unwrap_or_else(|| url.clone()),
            path: below,
        })
    }

    /// Returns the path of a URL in the repository, if it is there.
    pub(super) fn relative(&self, url: &Url) -> Option<RelPathBuf> {
        url.strip_prefix(&self.root)
    }

    /// Returns the full path of one below a folder of the repository.
    pub(super) fn full(&self, path: &RelPath) -> RelPathBuf {
        self.path.join(path)
    }
}

/// Returns the path that a URL stands for.
fn local_path(url: &Url) -> Result<PathBuf> {
    let host = sylvan_core::path::uri_decode(url.authority());
    if !host.is_empty() && host != b"localhost" {
        return Err(Error::new(
            ErrorCode::RA_ILLEGAL_URL,
            format!("Local URL '{url}' contains unsupported hostname"),
        ));
    }
    let path = Dirent::new(&url.path());
    Ok(if path.as_str().is_empty() {
        PathBuf::from("/")
    } else {
        path.as_path().to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path_of(url: &str) -> String {
        match local_path(&Url::parse(url).unwrap()) {
            Ok(path) => path.to_str().unwrap().to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn urls_stand_for_paths() {
        for (url, path) in [
            ("file:///a/b", "/a/b"),
            ("file://localhost/a", "/a"),
            ("file://LOCALHOST/a", "/a"),
            ("file://", "/"),
            ("file:///", "/"),
            ("file:///a%20b/%C3%A4", "/a b/ä"),
            (
                "file://host/a",
                "E170000: Local URL 'file://host/a' contains unsupported hostname",
            ),
        ] {
            assert_eq!(path_of(url), path, "{url}");
        }
    }
}
