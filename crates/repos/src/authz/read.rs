//! Where rules are: in a file, or in a repository.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use sylvan_core::{Error, ErrorCode, NodeKind, RelPathBuf, Result, Url};
use sylvan_fs::Tree;
use sylvan_io::file;

use super::{Authz, AuthzWarnings};
use crate::Repos;

/// The most bytes that a file of rules may have.
const LARGEST: u64 = 256 << 20;

/// Where a file of rules, or of groups, is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthzSource {
    /// A file.
    File(PathBuf),
    /// A file in the youngest revision of a repository: `file://…/repository/path`.
    Url(Url),
}

impl std::fmt::Display for AuthzSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Url(url) => f.write_str(url.as_str()),
        }
    }
}

impl Authz {
    /// Reads rules, and groups if they are in a file of their own. `known` is a repository that is
    /// open already; others are opened.
    ///
    /// # Errors
    /// Those of [`Authz::parse`], naming the file of rules; `ILLEGAL_TARGET` for what is no file,
    /// which a missing one is only if it `must_exist`; and if it cannot be read.
    pub fn read(
        rules: &AuthzSource,
        groups: Option<&AuthzSource>,
        must_exist: bool,
        known: Option<&Repos>,
        warn: &mut AuthzWarnings<'_>,
    ) -> Result<Self> {
        let text = read_source(rules, must_exist, known)?;
        let groups = groups
            .map(|source| read_source(source, must_exist, known))
            .transpose()?;
        Self::parse_named(rules, &text, groups.as_deref(), warn)
    }

    fn parse_named(
        source: &AuthzSource,
        rules: &[u8],
        groups: Option<&[u8]>,
        warn: &mut AuthzWarnings<'_>,
    ) -> Result<Self> {
        Self::parse(rules, groups, warn)
            .map_err(|error| error.context(format!("Error while parsing authz file: '{source}':")))
    }
}

/// Rules that were read before, for servers: files that are as they were are not parsed again.
#[derive(Debug, Default)]
pub struct AuthzCache(Mutex<HashMap<(String, Option<String>), Parsed>>);

#[derive(Debug)]
struct Parsed {
    rules: Vec<u8>,
    groups: Option<Vec<u8>>,
    authz: Authz,
}

/// How many files of rules are kept.
const KEPT: usize = 64;

impl AuthzCache {
    /// As [`Authz::read`], where files must exist. Warnings are told when a file is new.
    ///
    /// # Errors
    /// Those of [`Authz::read`].
    pub fn read(
        &self,
        rules: &AuthzSource,
        groups: Option<&AuthzSource>,
        known: Option<&Repos>,
        warn: &mut AuthzWarnings<'_>,
    ) -> Result<Authz> {
        let text = read_source(rules, true, known)?;
        let groups_text = groups
            .map(|source| read_source(source, true, known))
            .transpose()?;
        let key = (rules.to_string(), groups.map(AuthzSource::to_string));
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(parsed) = cached.get(&key)
            && parsed.rules == text
            && parsed.groups == groups_text
        {
            return Ok(parsed.authz.clone());
        }
        let authz = Authz::parse_named(rules, &text, groups_text.as_deref(), warn)?;
        if cached.len() >= KEPT {
            cached.clear();
        }
        let parsed = Parsed {
            rules: text,
            groups: groups_text,
            authz: authz.clone(),
        };
        cached.insert(key, parsed);
        Ok(authz)
    }
}

fn read_source(source: &AuthzSource, must_exist: bool, known: Option<&Repos>) -> Result<Vec<u8>> {
    let found = match source {
        AuthzSource::File(path) => match std::fs::metadata(path) {
            Ok(meta) if !meta.is_dir() => Some(file::read(path)?),
            Ok(_) => return Err(not_a_file(source)),
            Err(error) if is_missing(&error) => None,
            Err(error) => {
                let text = format!("Can't check path '{}'", path.display());
                return Err(Error::io(&error, text));
            }
        },
        AuthzSource::Url(url) => read_url(source, url, known)?,
    };
    match found {
        Some(text) => Ok(text),
        None if must_exist => Err(not_a_file(source)),
        None => Ok(Vec::new()),
    }
}

fn is_missing(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn not_a_file(source: &AuthzSource) -> Error {
    let text = format!("'{source}' is not a file");
    Error::new(ErrorCode::ILLEGAL_TARGET, text)
}

/// Reads from the youngest revision; `None` if there is no such repository or path.
fn read_url(source: &AuthzSource, url: &Url, known: Option<&Repos>) -> Result<Option<Vec<u8>>> {
    let path = local_path(url)?;
    let opened;
    let repos = match known.filter(|repos| path.starts_with(repos.path())) {
        Some(repos) => repos,
        None => {
            let Some(root) = Repos::find_root(&path) else {
                return Ok(None);
            };
            opened = Repos::open(&root)?;
            &opened
        }
    };
    let below = path.strip_prefix(repos.path()).unwrap_or(Path::new(""));
    let below = RelPathBuf::canonicalize(&below.to_string_lossy())?;
    let root = repos.fs().revision_root(repos.fs().youngest()?)?;
    match root.kind(&below)? {
        NodeKind::None => Ok(None),
        NodeKind::File => read_node(&Tree::from(&root), &below).map(Some),
        _ => Err(not_a_file(source)),
    }
}

/// Reads a file of a tree whole.
///
/// # Errors
/// `FS_NOT_FILE`, and if it cannot be read.
pub fn read_node(tree: &Tree<'_>, path: &RelPathBuf) -> Result<Vec<u8>> {
    let node = tree.find(path)?;
    let Some(node) = node.filter(|node| node.kind() == NodeKind::File) else {
        let text = format!("Path '/{path}' is not a file");
        return Err(Error::new(ErrorCode::FS_NOT_FILE, text));
    };
    if node.len()? > LARGEST {
        let text = format!("File '/{path}' is too large for rules");
        return Err(Error::new(ErrorCode::AUTHZ_INVALID_CONFIG, text));
    }
    let mut text = Vec::new();
    let mut reader = node.contents()?;
    while let Some(piece) = reader.next_piece()? {
        text.extend_from_slice(&piece);
    }
    Ok(text)
}

/// Returns the path of a `file://` URL on this machine.
fn local_path(url: &Url) -> Result<PathBuf> {
    let bad = |what: &str| {
        let text = format!("Local URL '{}' {what}", url.as_str());
        Error::new(ErrorCode::RA_ILLEGAL_URL, text)
    };
    if url.scheme() != "file" {
        return Err(bad("does not contain 'file://' prefix"));
    }
    if !matches!(url.authority(), "" | "localhost") {
        return Err(bad("contains unsupported hostname"));
    }
    Ok(PathBuf::from(url.path()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authz::{Reach, Rights};

    #[test]
    fn files_are_parsed_when_they_change() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rules");
        let source = AuthzSource::File(path.clone());
        let cache = AuthzCache::default();
        let write = |text: &str| std::fs::write(&path, text).unwrap();
        let may_read = || {
            let authz = cache.read(&source, None, None, &mut |_| {}).unwrap();
            let user = authz.for_user("", Some("jo"));
            user.allows("/", Rights::READ, Reach::Path)
        };
        write("[/]\njo = r\n");
        assert!(may_read() && may_read());
        write("[/]\njo = \n");
        assert!(!may_read());
        write("[/\n");
        assert!(cache.read(&source, None, None, &mut |_| {}).is_err());
        std::fs::remove_file(&path).unwrap();
        assert!(cache.read(&source, None, None, &mut |_| {}).is_err());
    }
}
