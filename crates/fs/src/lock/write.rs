//! Locking and unlocking.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use sylvan_core::{
    Error, ErrorCode, Lock, NodeKind, RelPath, RelPathBuf, Result, Revnum, Timestamp, hash_dump,
};
use sylvan_io::file::{self, TempFile};

use super::{DigestFile, FsLock, digest, no_such_lock};
use crate::error::no_such_revision;
use crate::fs::FileSystem;
use crate::guard::WriteLock;
use crate::layout;
use crate::text::fspath;
use crate::tree::Root;
use crate::uuid;

/// Who works on the file system, and which lock tokens they have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// The user's name.
    pub user: Option<String>,
    /// The tokens, each with the path that the user says it is for.
    pub tokens: BTreeMap<String, RelPathBuf>,
}

/// What is to be locked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockTarget {
    /// The token; one is made if there is none.
    pub token: Option<String>,
    /// The revision of the file that the user has; the lock is refused if it changed since.
    pub current: Option<Revnum>,
}

/// What all locks of one request have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockRequest {
    /// Why.
    pub comment: Option<String>,
    /// Whether the comment is XML of a DAV client.
    pub is_dav_comment: bool,
    /// When the locks end.
    pub expires: Option<Timestamp>,
    /// Whether locks of others are taken over.
    pub steal: bool,
}

impl FileSystem {
    /// Locks files for `user`. Returns what came of each.
    ///
    /// # Errors
    /// If nothing could be tried; what holds for one path is in the result.
    pub fn lock(
        &self,
        targets: &BTreeMap<RelPathBuf, LockTarget>,
        user: &str,
        request: &LockRequest,
        now: Timestamp,
    ) -> Result<BTreeMap<RelPathBuf, Result<FsLock>>> {
        let guard = self.write_lock()?;
        let root = self.revision_root(self.youngest()?)?;
        let mut results = BTreeMap::new();
        let mut allowed = Vec::new();
        for (path, target) in targets {
            match self.check_lock(&guard, path, target, &root, request, now)? {
                Ok(()) => allowed.push((path, target)),
                Err(error) => drop(results.insert(path.clone(), Err(error))),
            }
        }
        // Above first: a path that has no lock after all is harmless there.
        let paths: Vec<&RelPath> = allowed.iter().map(|(path, _)| &***path).collect();
        for (above, below) in by_ancestor(&paths) {
            self.change_children(&above, |children| children.extend(below.iter().cloned()))?;
        }
        for (path, target) in allowed {
            let token = match &target.token {
                Some(token) => token.clone(),
                None => format!("opaquelocktoken:{}", uuid::random()?),
            };
            let lock = FsLock {
                lock: Lock {
                    path: path.clone(),
                    token,
                    owner: user.to_owned(),
                    comment: request.comment.clone(),
                    created: now,
                    expires: request.expires,
                },
                is_dav_comment: request.is_dav_comment,
            };
            let key = digest(path);
            let mut file = self.read_digest_file(&key)?;
            file.lock = Some(lock.clone());
            let written = self.write_digest_file(&key, &file);
            results.insert(path.clone(), written.map(|()| lock));
        }
        Ok(results)
    }

    fn check_lock(
        &self,
        guard: &WriteLock,
        path: &RelPath,
        target: &LockTarget,
        root: &Root,
        request: &LockRequest,
        now: Timestamp,
    ) -> Result<Result<()>> {
        let shown = fspath(path);
        let Some(node) = root.find(path)? else {
            let code = if target.current.is_some() {
                ErrorCode::FS_OUT_OF_DATE
            } else {
                ErrorCode::FS_NOT_FOUND
            };
            let text = format!("Path '{shown}' doesn't exist in HEAD revision");
            return Ok(Err(Error::new(code, text)));
        };
        if node.kind() == NodeKind::Dir {
            let db = self.uuid();
            let text = format!("'{shown}' is not a file in filesystem '{db}'");
            return Ok(Err(Error::new(ErrorCode::FS_NOT_FILE, text)));
        }
        if let Some(current) = target.current {
            if current > root.revision() {
                return Ok(Err(no_such_revision(current)));
            }
            if node
                .created_revision()
                .is_some_and(|created| current < created)
            {
                let text = format!("Lock failed: newer version of '{shown}' exists");
                return Ok(Err(Error::new(ErrorCode::FS_OUT_OF_DATE, text)));
            }
        }
        let existing = self.live_lock(guard, path, now)?;
        if let Some(existing) = existing.filter(|_| !request.steal) {
            let (owner, db) = (existing.lock.owner, self.uuid());
            let text =
                format!("Path '{shown}' is already locked by user '{owner}' in filesystem '{db}'");
            return Ok(Err(Error::new(ErrorCode::FS_PATH_ALREADY_LOCKED, text)));
        }
        Ok(Ok(()))
    }

    /// Returns the lock on a path; removes one that has ended.
    fn live_lock(
        &self,
        guard: &WriteLock,
        path: &RelPath,
        now: Timestamp,
    ) -> Result<Option<FsLock>> {
        let Some(lock) = self.read_digest_file(&digest(path))?.lock else {
            return Ok(None);
        };
        if lock.is_expired(now) {
            self.remove_locks(guard, &[path])?;
            return Ok(None);
        }
        Ok(Some(lock))
    }

    /// Unlocks paths. `tokens` has each path's token; with `break_lock` neither token nor user
    /// matter. Returns what came of each.
    ///
    /// # Errors
    /// If nothing could be tried; what holds for one path is in the result.
    pub fn unlock(
        &self,
        tokens: &BTreeMap<RelPathBuf, String>,
        user: &str,
        break_lock: bool,
        now: Timestamp,
    ) -> Result<BTreeMap<RelPathBuf, Result<()>>> {
        let guard = self.write_lock()?;
        let mut results = BTreeMap::new();
        let mut allowed = Vec::new();
        for (path, token) in tokens {
            match self.check_unlock(&guard, path, token, user, break_lock, now)? {
                Ok(()) => allowed.push(&**path),
                Err(error) => drop(results.insert(path.clone(), Err(error))),
            }
        }
        self.remove_locks(&guard, &allowed)?;
        results.extend(allowed.into_iter().map(|path| (path.to_owned(), Ok(()))));
        Ok(results)
    }

    fn check_unlock(
        &self,
        guard: &WriteLock,
        path: &RelPath,
        token: &str,
        user: &str,
        break_lock: bool,
        now: Timestamp,
    ) -> Result<Result<()>> {
        let db = self.uuid();
        let Some(lock) = self.read_digest_file(&digest(path))?.lock else {
            return Ok(Err(no_such_lock(self, path)));
        };
        if lock.is_expired(now) {
            self.remove_locks(guard, &[path])?;
            let token = lock.lock.token;
            let text = format!("Lock has expired: lock-token '{token}' in filesystem '{db}'");
            return Ok(Err(Error::new(ErrorCode::FS_LOCK_EXPIRED, text)));
        }
        if break_lock {
            return Ok(Ok(()));
        }
        if lock.lock.token != token {
            return Ok(Err(no_such_lock(self, path)));
        }
        let owner = lock.lock.owner;
        if owner != user {
            let text = format!(
                "User '{user}' is trying to use a lock owned by '{owner}' in filesystem '{db}'"
            );
            return Ok(Err(Error::new(ErrorCode::FS_LOCK_OWNER_MISMATCH, text)));
        }
        Ok(Ok(()))
    }

    /// Removes locks; first themselves, then what names them above.
    fn remove_locks(&self, _guard: &WriteLock, paths: &[&RelPath]) -> Result<()> {
        for path in paths {
            file::remove_if_exists(&self.digest_path(&digest(path)))?;
        }
        for (above, below) in by_ancestor(paths) {
            self.change_children(&above, |children| {
                for digest in &below {
                    children.remove(digest);
                }
            })?;
        }
        Ok(())
    }

    fn change_children(
        &self,
        path: &RelPath,
        change: impl FnOnce(&mut BTreeSet<String>),
    ) -> Result<()> {
        let key = digest(path);
        let mut file = self.read_digest_file(&key)?;
        let before = file.children.len();
        change(&mut file.children);
        if file.children.is_empty() && file.lock.is_none() {
            file::remove_if_exists(&self.digest_path(&key)).map(drop)
        } else if file.children.len() == before {
            Ok(())
        } else {
            self.write_digest_file(&key, &file)
        }
    }

    fn write_digest_file(&self, key: &str, content: &DigestFile) -> Result<()> {
        let path = self.digest_path(key);
        let dir = path.parent().unwrap_or(&path);
        self.ensure_dir(&self.layout().file(layout::LOCKS))?;
        self.ensure_dir(dir)?;
        let mut props = content
            .lock
            .as_ref()
            .map(FsLock::to_props)
            .unwrap_or_default();
        if !content.children.is_empty() {
            let lines: String = content
                .children
                .iter()
                .map(|line| format!("{line}\n"))
                .collect();
            props.insert("children".to_owned(), lines.into_bytes());
        }
        let mut temp = TempFile::new_in(dir)?;
        temp.write_all(&hash_dump::write(&props))?;
        file::set_mode(temp.path(), self.reference_mode()?)?;
        temp.persist(&path)
    }

    /// Makes a folder with the permissions of the file system's own, unless it is there.
    pub(crate) fn ensure_dir(&self, path: &Path) -> Result<()> {
        match file::make_dir(path) {
            Err(error) if error.code().number() == rustix::io::Errno::EXIST.raw_os_error() => {
                Ok(())
            }
            Err(error) => Err(error),
            Ok(()) => file::set_mode(path, file::stat(self.path())?.mode),
        }
    }

    /// The permissions of revision 0, which new files get.
    fn reference_mode(&self) -> Result<u32> {
        let path = if self.is_packed(Revnum::ZERO) {
            self.layout().rev_packed(Revnum::ZERO, layout::PACK)
        } else {
            self.layout().rev(Revnum::ZERO)
        };
        Ok(file::stat(&path)?.mode)
    }

    /// Tells whether anything was ever locked.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn was_ever_locked(&self) -> Result<bool> {
        file::exists(&self.layout().file(layout::LOCKS))
    }

    /// Checks that `access` may change a path, and what is below it if `recurse`.
    ///
    /// # Errors
    /// [`ErrorCode::FS_NO_USER`], [`ErrorCode::FS_LOCK_OWNER_MISMATCH`],
    /// [`ErrorCode::FS_BAD_LOCK_TOKEN`].
    pub fn allow_locked_operation(
        &self,
        path: &RelPath,
        recurse: bool,
        access: &Access,
        now: Timestamp,
    ) -> Result<()> {
        if recurse {
            let locks = self.locks_below(path, now)?;
            locks.iter().try_for_each(|lock| verify(&lock.lock, access))
        } else {
            let lock = self.lock_on(path, now)?;
            lock.map_or(Ok(()), |lock| verify(&lock.lock, access))
        }
    }
}

fn verify(lock: &Lock, access: &Access) -> Result<()> {
    let path = fspath(&lock.path);
    let Some(user) = &access.user else {
        return Err(Error::new(
            ErrorCode::FS_NO_USER,
            format!("Cannot verify lock on path '{path}'; no username available"),
        ));
    };
    if *user != lock.owner {
        let owner = &lock.owner;
        return Err(Error::new(
            ErrorCode::FS_LOCK_OWNER_MISMATCH,
            format!(
                "User '{user}' does not own lock on path '{path}' (currently locked by '{owner}')"
            ),
        ));
    }
    if !access.tokens.contains_key(&lock.token) {
        return Err(Error::new(
            ErrorCode::FS_BAD_LOCK_TOKEN,
            format!("Cannot verify lock on path '{path}'; no matching lock-token available"),
        ));
    }
    Ok(())
}

/// For each folder above one of the paths, the digests of the paths below it.
fn by_ancestor(paths: &[&RelPath]) -> BTreeMap<RelPathBuf, Vec<String>> {
    let mut found: BTreeMap<RelPathBuf, Vec<String>> = BTreeMap::new();
    for path in paths {
        for above in path.ancestors() {
            found
                .entry(above.to_owned())
                .or_default()
                .push(digest(path));
        }
    }
    found
}
