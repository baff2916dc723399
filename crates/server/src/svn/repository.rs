//! The repository that a client's URL is in.

use std::path::{Path, PathBuf};

use sylvan_core::{Error, ErrorCode, RelPathBuf, Result, Url, path};
use sylvan_fs::Options;
use sylvan_repos::Repos;
use sylvan_repos::authz::AuthzWarnings;

use super::Serving;
use super::config::{ServerConfig, Settings};

/// An open repository, and what is said of it.
pub(crate) struct Repository {
    pub(crate) repos: Repos,
    /// The URL of its root.
    pub(crate) root: Url,
    /// Where the session is in it.
    pub(crate) path: RelPathBuf,
    /// Its name in rules: its path below the served root.
    pub(crate) rules_name: String,
    /// Its name in the log.
    pub(crate) log_name: String,
    pub(crate) settings: Settings,
}

impl Repository {
    /// Finds the repository that a URL is in. What is wrong with its access rules or passwords is
    /// an error with the number alone, after `refused` was told.
    ///
    /// # Errors
    /// `BAD_URL`, `BAD_FILENAME`, `RA_SVN_REPOS_NOT_FOUND`; if it cannot be opened or configured.
    pub(crate) fn find(
        url: &str,
        serving: &Serving,
        warn: &mut AuthzWarnings<'_>,
        refused: &mut dyn FnMut(&Error, &str),
    ) -> Result<Self> {
        let url = Url::parse(url)?;
        if !matches!(url.scheme().split('+').next(), Some("svn")) {
            let text = format!("Non-svn URL passed to svn server: '{url}'");
            return Err(Error::new(ErrorCode::BAD_URL, text));
        }
        let wanted = place_of(&url, serving)?;
        let not_found = || {
            let text = format!("No repository found in '{url}'");
            Error::new(ErrorCode::RA_SVN_REPOS_NOT_FOUND, text)
        };
        let folder = Repos::find_root(&wanted).ok_or_else(not_found)?;
        let options = Options {
            cache: serving.cache.clone(),
            ..Options::default()
        };
        let mut repos = Repos::open_with(&folder, options)?;
        let below = wanted.strip_prefix(&folder).unwrap_or(Path::new(""));
        let path = RelPathBuf::canonicalize(below.to_str().ok_or_else(not_found)?)?;
        let root = (0..path.depth())
            .try_fold(url.clone(), |url, _| url.parent())
            .ok_or_else(not_found)?;
        let rules_name = match folder.strip_prefix(&serving.root) {
            Ok(below) => below.to_string_lossy().into_owned(),
            Err(_) => String::new(),
        };
        let log_name = if rules_name.is_empty() {
            let name = folder.file_name().unwrap_or_default();
            name.to_string_lossy().into_owned()
        } else {
            rules_name.clone()
        };
        let log_name = path::uri_encode(&log_name);
        let own;
        let config = match &serving.config {
            Some(config) => config,
            None => {
                own = ServerConfig::of_repository(&repos)?;
                &own
            }
        };
        let settings = Settings::read(config, &repos, serving.read_only, &serving.rules, warn)
            .map_err(|error| match error.code() {
                ErrorCode::AUTHZ_INVALID_CONFIG | ErrorCode::AUTHN_FAILED => {
                    refused(&error, &log_name);
                    Error::from_code(error.code())
                }
                _ => error,
            })?;
        repos.use_hooks_env(settings.hooks_env.as_deref());
        Ok(Self {
            repos,
            root,
            path,
            rules_name,
            log_name,
            settings,
        })
    }

    /// Returns the path of a URL in the repository.
    ///
    /// # Errors
    /// `RA_ILLEGAL_URL` if it is in another.
    pub(crate) fn path_of(&self, url: &str) -> Result<RelPathBuf> {
        let url = Url::parse(url)?;
        url.strip_prefix(&self.root).ok_or_else(|| {
            let decoded = |url: &Url| {
                let text = path::uri_decode(url.as_str());
                String::from_utf8_lossy(&text).into_owned()
            };
            let (url, root) = (decoded(&url), decoded(&self.root));
            let text = format!("'{url}' is not the same repository as '{root}'");
            Error::new(ErrorCode::RA_ILLEGAL_URL, text)
        })
    }
}

/// Returns the folder that a URL stands for; never one outside of the served root.
fn place_of(url: &Url, serving: &Serving) -> Result<PathBuf> {
    let mut below = url.path();
    if serving.virtual_host {
        let host = String::from_utf8_lossy(&path::uri_decode(url.authority())).into_owned();
        below = format!("{host}/{below}");
    }
    if path::is_backpath_present(&below) || below.contains('\0') {
        let text = "Couldn't determine repository path";
        return Err(Error::new(ErrorCode::BAD_FILENAME, text));
    }
    let names = below.split('/').filter(|name| !matches!(*name, "" | "."));
    Ok(names.fold(serving.root.clone(), |place, name| place.join(name)))
}
