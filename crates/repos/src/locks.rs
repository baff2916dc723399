//! Locks on paths, with their hooks.

use std::collections::BTreeMap;

use sylvan_core::{Depth, Error, ErrorCode, RelPath, RelPathBuf, Result, Timestamp};
use sylvan_fs::lock::{FsLock, LockRequest, LockTarget};

use crate::repos::Repos;

/// What came of locking paths.
#[derive(Debug)]
pub struct Locked {
    /// Of each path.
    pub paths: BTreeMap<RelPathBuf, Result<FsLock>>,
    /// What failed after that: the hook `post-lock`.
    pub after: Option<Error>,
}

/// What came of unlocking paths.
#[derive(Debug)]
pub struct Unlocked {
    /// Of each path.
    pub paths: BTreeMap<RelPathBuf, Result<()>>,
    /// What failed after that: the hook `post-unlock`.
    pub after: Option<Error>,
}

impl Repos {
    /// Locks files for `user`; runs the hooks `pre-lock` and `post-lock`.
    ///
    /// # Errors
    /// [`ErrorCode::FS_NO_USER`] without a user; [`ErrorCode::XML_UNESCAPABLE_DATA`] for a comment
    /// that XML cannot have; and if nothing could be tried. What holds for one path is in the
    /// result.
    pub fn lock(
        &self,
        targets: &BTreeMap<RelPathBuf, LockTarget>,
        user: Option<&str>,
        request: &LockRequest,
        now: Timestamp,
    ) -> Result<Locked> {
        let mut paths = BTreeMap::new();
        if targets.is_empty() {
            return Ok(Locked { paths, after: None });
        }
        let hooks = self.hooks()?;
        let Some(user) = user else {
            let text = "Cannot lock path, no authenticated username available.";
            return Err(Error::new(ErrorCode::FS_NO_USER, text));
        };
        let comment = request.comment.as_deref();
        let mut allowed = BTreeMap::new();
        for (path, target) in targets {
            match hooks.pre_lock(path, user, comment, request.steal) {
                Ok(token) => {
                    let mut target = target.clone();
                    target.token = token.or(target.token);
                    allowed.insert(path.clone(), target);
                }
                Err(error) => drop(paths.insert(path.clone(), Err(error))),
            }
        }
        if allowed.is_empty() {
            return Ok(Locked { paths, after: None });
        }
        paths.extend(self.lock_without_hooks(&allowed, user, request, now)?);
        let done = done(&paths);
        let after = if done.is_empty() {
            None
        } else {
            hooks.post_lock(&done, user).err().map(|error| {
                error.wrap(
                    ErrorCode::REPOS_POST_LOCK_HOOK_FAILED,
                    "Locking succeeded, but post-lock hook failed",
                )
            })
        };
        Ok(Locked { paths, after })
    }

    /// As [`Repos::lock`], without the hooks.
    ///
    /// # Errors
    /// As [`Repos::lock`].
    pub fn lock_without_hooks(
        &self,
        targets: &BTreeMap<RelPathBuf, LockTarget>,
        user: &str,
        request: &LockRequest,
        now: Timestamp,
    ) -> Result<BTreeMap<RelPathBuf, Result<FsLock>>> {
        if !request.comment.as_deref().is_none_or(is_xml_safe) {
            let text = "Lock comment contains illegal characters";
            return Err(Error::new(ErrorCode::XML_UNESCAPABLE_DATA, text));
        }
        let mut paths = BTreeMap::new();
        let mut allowed = BTreeMap::new();
        for (path, target) in targets {
            match target.token.as_deref().map_or(Ok(()), check_token) {
                Ok(()) => drop(allowed.insert(path.clone(), target.clone())),
                Err(error) => drop(paths.insert(path.clone(), Err(error))),
            }
        }
        if !allowed.is_empty() {
            paths.extend(self.fs().lock(&allowed, user, request, now)?);
        }
        Ok(paths)
    }

    /// Unlocks paths; runs the hooks `pre-unlock` and `post-unlock`. `tokens` has each path's
    /// token; with `break_lock` neither token nor user matter.
    ///
    /// # Errors
    /// [`ErrorCode::FS_NO_USER`] without a user unless locks are broken; and if nothing could be
    /// tried. What holds for one path is in the result.
    pub fn unlock(
        &self,
        tokens: &BTreeMap<RelPathBuf, String>,
        user: Option<&str>,
        break_lock: bool,
        now: Timestamp,
    ) -> Result<Unlocked> {
        let mut paths = BTreeMap::new();
        if tokens.is_empty() {
            return Ok(Unlocked { paths, after: None });
        }
        let hooks = self.hooks()?;
        if user.is_none() && !break_lock {
            let text = "Cannot unlock, no authenticated username available";
            return Err(Error::new(ErrorCode::FS_NO_USER, text));
        }
        let mut allowed = BTreeMap::new();
        for (path, token) in tokens {
            match hooks.pre_unlock(path, user, token, break_lock) {
                Ok(()) => drop(allowed.insert(path.clone(), token.clone())),
                Err(error) => drop(paths.insert(path.clone(), Err(error))),
            }
        }
        if !allowed.is_empty() {
            let name = user.unwrap_or_default();
            paths.extend(self.fs().unlock(&allowed, name, break_lock, now)?);
        }
        let done = done(&paths);
        let after = if done.is_empty() {
            None
        } else {
            hooks.post_unlock(&done, user).err().map(|error| {
                error.wrap(
                    ErrorCode::REPOS_POST_UNLOCK_HOOK_FAILED,
                    "Unlock succeeded, but post-unlock hook failed",
                )
            })
        };
        Ok(Unlocked { paths, after })
    }

    /// Returns the locks on a path and below it that have not ended, in order of path. With `files`
    /// or `immediates`, no deeper than its entries; with `empty`, on the path alone.
    ///
    /// # Errors
    /// Those of [`sylvan_fs::FileSystem::locks_below`].
    pub fn locks(&self, path: &RelPath, depth: Depth, now: Timestamp) -> Result<Vec<FsLock>> {
        let deepest = path.depth() + 1;
        let mut locks = match depth {
            Depth::Empty | Depth::Exclude => {
                return Ok(Vec::from_iter(self.fs().lock_on(path, now)?));
            }
            Depth::Files | Depth::Immediates | Depth::Infinity => {
                self.fs().locks_below(path, now)?
            }
        };
        if depth != Depth::Infinity {
            locks.retain(|lock| lock.lock.path.depth() <= deepest);
        }
        Ok(locks)
    }
}

/// Returns the paths for which all went well.
fn done<T>(paths: &BTreeMap<RelPathBuf, Result<T>>) -> Vec<&RelPath> {
    let done = paths.iter().filter(|(_, result)| result.is_ok());
    done.map(|(path, _)| &**path).collect()
}

/// Tells whether text can stand in XML.
fn is_xml_safe(text: &str) -> bool {
    let is_control = |byte: u8| byte.is_ascii_control() && !matches!(byte, b'\n' | b'\r' | b'\t');
    !text.bytes().any(is_control)
}

fn check_token(token: &str) -> Result<()> {
    let bad = |text: String| Err(Error::new(ErrorCode::FS_BAD_LOCK_TOKEN, text));
    if !token.starts_with("opaquelocktoken:") {
        return bad(format!(
            "Lock token URI '{token}' has bad scheme; expected 'opaquelocktoken'"
        ));
    }
    let is_bad = |byte: u8| !byte.is_ascii() || byte.is_ascii_control();
    match token.bytes().position(is_bad) {
        None => Ok(()),
        Some(at) => bad(format!(
            "Lock token '{token}' is not ASCII or is a control character at byte {at}"
        )),
    }
}
